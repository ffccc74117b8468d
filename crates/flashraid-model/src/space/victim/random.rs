//! Victim policy `random`: picks any useful block, each equally likely. It draws block numbers of the pool until one is useful.

use super::{VictimCandidates, VictimRandomness, VictimRule, WriteAmplificationTheory};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Chooses a random block as the next victim of garbage collection, among those whose collection gains room. Each of them is equally
/// likely.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Random {}

impl VictimRule for Random {
    fn pick_victim(&self, blocks: &VictimCandidates<'_>, draws: &mut VictimRandomness<'_>) -> Option<usize> {
        blocks.blocks_worth_collecting().next()?;
        Some(draws.draw_block_that_gains_room(blocks))
    }

    fn needs_random_numbers(&self) -> bool {
        true
    }

    fn write_amplification_theory(&self) -> WriteAmplificationTheory {
        WriteAmplificationTheory::Random
    }
}
