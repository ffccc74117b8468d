//! Greedy with wear awareness: greedy's order, but a worn block is passed over at times (Agrawal et al., USENIX ATC 2008, 3.5).
//!
//! Useful blocks are tried from the fewest valid pages on, among equals the highest block number first. A block whose remaining
//! life (endurance − erases, at least 0) is below `threshold` × the pool's mean is taken only with probability
//! `remaining / (threshold × mean)`, for which one number is drawn; if all are passed over, the first is taken.

use super::Blocks;
use crate::rng::{Stream, unit};

pub(super) fn pick(blocks: &Blocks, threshold: f64, endurance_erases: u32, stream: &mut Stream) -> Option<usize> {
    // Both sides are multiplied by the number of blocks, so that only whole numbers are compared with the limit.
    let life = |b: usize| u64::from(endurance_erases.saturating_sub(blocks.erases(b)));
    let limit = threshold * (0..blocks.scores.len()).map(life).sum::<u64>() as f64;
    let mut candidates: Vec<_> = blocks.useful().rev().collect();
    candidates.sort_by_key(|&(_, valid)| valid);
    let scaled_life = |b: usize| (life(b) * blocks.scores.len() as u64) as f64;
    candidates
        .iter()
        .find(|&&(b, _)| scaled_life(b) >= limit || unit(stream) * limit < scaled_life(b))
        .or(candidates.first())
        .map(|&(b, _)| b)
}
