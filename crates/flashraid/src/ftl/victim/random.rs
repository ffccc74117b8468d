//! Random: any useful block, each equally likely; one draw per victim.

use super::Blocks;
use crate::rng::{Stream, below};

pub(super) fn pick(blocks: &Blocks, stream: &mut Stream) -> Option<usize> {
    let useful = blocks.useful().count() as u64;
    if useful == 0 {
        return None;
    }
    blocks.useful().nth(below(stream, useful) as usize).map(|(b, _)| b)
}
