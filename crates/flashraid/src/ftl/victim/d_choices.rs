//! d-choices: the fewest valid pages among `d` useful blocks drawn with replacement; the first drawn among equals
//! (Van Houdt, SIGMETRICS 2013).

use super::Blocks;
use crate::rng::{Stream, below};

pub(super) fn pick(blocks: &Blocks, d: u32, stream: &mut Stream) -> Option<usize> {
    let useful: Vec<_> = blocks.useful().collect();
    if useful.is_empty() {
        return None;
    }
    (0..d).map(|_| useful[below(stream, useful.len() as u64) as usize]).min_by_key(|&(_, valid)| valid).map(|(b, _)| b)
}
