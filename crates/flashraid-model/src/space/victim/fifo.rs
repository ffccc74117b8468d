//! Victim policy `fifo`: picks the useful block that was opened first (the LRU cleaning of Desnoyers, SYSTOR 2012).

use super::{VictimCandidates, VictimRandomness, VictimRule, WriteAmplificationTheory};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Chooses the block that was opened first as the next victim of garbage collection, among those whose collection gains room.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fifo {}

impl VictimRule for Fifo {
    fn pick_victim(&self, blocks: &VictimCandidates<'_>, _: &mut VictimRandomness<'_>) -> Option<usize> {
        blocks.blocks_worth_collecting().map(|(b, _)| b).min_by_key(|&b| blocks.open_sequence_number(b))
    }

    fn write_amplification_theory(&self) -> WriteAmplificationTheory {
        WriteAmplificationTheory::OldestFirst
    }
}
