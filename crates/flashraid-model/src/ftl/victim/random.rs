//! Random: any useful block, each equally likely: block numbers of the pool are drawn until one is a useful victim.

use super::Blocks;
use crate::rng::{Stream, below};

pub(super) fn pick(blocks: &Blocks, stream: &mut Stream) -> Option<usize> {
    blocks.useful().next()?;
    Some(draw(blocks, stream))
}

/// A useful block; there must be one.
pub(super) fn draw(blocks: &Blocks, stream: &mut Stream) -> usize {
    loop {
        let block = below(stream, blocks.scores.len() as u64) as usize;
        if blocks.scores[block] < blocks.data_pages {
            return block;
        }
    }
}
