//! FIFO: the useful block that was opened first (the LRU cleaning of Desnoyers, SYSTOR 2012).

use super::Blocks;

pub(super) fn pick(blocks: &Blocks) -> Option<usize> {
    blocks.useful().map(|(b, _)| b).min_by_key(|&b| blocks.sequence(b))
}
