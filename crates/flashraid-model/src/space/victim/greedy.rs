//! Victim policy `greedy`: picks the block with the fewest valid pages. Among equals, the highest block number wins, as in the reference
//! simulator.

use super::{VictimCandidates, VictimRandomness, VictimRule, WriteAmplificationTheory};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Chooses the block with the fewest valid pages as the next victim of garbage collection.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Greedy {}

impl VictimRule for Greedy {
    fn pick_victim(&self, blocks: &VictimCandidates<'_>, _: &mut VictimRandomness<'_>) -> Option<usize> {
        blocks.block_with_fewest_valid_pages()
    }

    fn write_amplification_theory(&self) -> WriteAmplificationTheory {
        WriteAmplificationTheory::Greedy
    }
}
