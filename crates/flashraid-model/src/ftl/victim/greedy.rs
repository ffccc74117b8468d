//! Greedy: the fewest valid pages, among equals the highest block number (the reference simulator's order).
//!
//! A plain scan of the pool's scores: 2 bytes a block, so that 2048 blocks are 64 cache lines that the processor reads ahead and
//! compares eight at a time. Buckets of equal counts would cost every overwrite several scattered writes to keep in order, and a
//! clean comes only once in a dozen overwrites.

use super::{Blocks, Draws, Theory, Victim};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Fewest valid pages.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Greedy {}

/// Blocks whose least score is found before the next ones are looked at.
const CHUNK: usize = 64;

impl Victim for Greedy {
    fn pick(&self, blocks: &Blocks<'_>, _: &mut Draws<'_>) -> Option<usize> {
        let mut min = blocks.data_pages - 1;
        let mut in_chunk = None;
        for (index, chunk) in blocks.scores.chunks(CHUNK).enumerate() {
            let chunk_min = chunk.iter().copied().fold(i16::MAX, i16::min);
            if chunk_min <= min {
                min = chunk_min;
                in_chunk = Some(index * CHUNK);
            }
        }
        let from = in_chunk?;
        blocks.scores[from..].iter().take(CHUNK).rposition(|&s| s == min).map(|i| from + i)
    }

    fn theory(&self) -> Theory {
        Theory::Greedy
    }
}
