//! Greedy with wear awareness: greedy's order, but a worn block is passed over at times (Agrawal et al., USENIX ATC 2008, 3.5).
//!
//! Useful blocks are tried from the fewest valid pages on, among equals the highest block number first. A block whose remaining
//! life (endurance − erases, at least 0) is below `threshold` × the pool's mean remaining life is taken only with probability
//! `remaining / (threshold × mean)`, for which one number is drawn; the last candidate is always taken.

use super::Blocks;
use crate::rng::{Stream, unit};

pub(super) fn pick(blocks: &Blocks, threshold: f64, endurance_erases: u32, stream: &mut Stream) -> Option<usize> {
    let remaining = |b: usize| f64::from(endurance_erases.saturating_sub(blocks.erases(b)));
    let mean = (0..blocks.scores.len()).map(remaining).sum::<f64>() / blocks.scores.len() as f64;
    let mut candidates: Vec<_> = blocks.useful().rev().collect();
    candidates.sort_by_key(|&(_, valid)| valid);
    let last = candidates.len().checked_sub(1)?;
    candidates
        .iter()
        .enumerate()
        .find(|&(i, &(b, _))| i == last || remaining(b) >= threshold * mean || unit(stream) < remaining(b) / (threshold * mean))
        .map(|(_, &(b, _))| b)
}
