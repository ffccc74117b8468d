//! d-choices: the fewest valid pages among `d` useful blocks drawn with replacement, among equals the highest block number
//! (Van Houdt, SIGMETRICS 2013).

use super::{Blocks, random};
use crate::rng::Stream;
use std::cmp::Reverse;

pub(super) fn pick(blocks: &Blocks, d: u32, stream: &mut Stream) -> Option<usize> {
    blocks.useful().next()?;
    (0..d).map(|_| random::draw(blocks, stream)).min_by_key(|&b| (blocks.scores[b], Reverse(b)))
}
