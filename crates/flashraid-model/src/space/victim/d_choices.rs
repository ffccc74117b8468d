//! Victim policy `d-choices`: draws `d` useful blocks with replacement, and picks the one with the fewest valid pages (Van Houdt,
//! SIGMETRICS 2013). Among equals, the highest block number wins.

use super::{VictimCandidates, VictimRandomness, VictimRule, WriteAmplificationTheory};
use crate::rng::{self, RandomStream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// Chooses the next victim of garbage collection among `d` random blocks: the one with the fewest valid pages (Van Houdt, SIGMETRICS
/// 2013).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DChoices {
    /// Number of blocks that are chosen at random for each choice of a victim. The one with the fewest valid pages is then collected.
    #[schemars(range(min = 1, max = 65_536))]
    pub d: u32,
}

impl Default for DChoices {
    /// Returns `d` = 10, which the author finds within a few percent of greedy.
    fn default() -> Self {
        Self { d: 10 }
    }
}

impl VictimRule for DChoices {
    fn pick_victim(&self, blocks: &VictimCandidates<'_>, draws: &mut VictimRandomness<'_>) -> Option<usize> {
        blocks.blocks_worth_collecting().next()?;
        (0..self.d).map(|_| draws.draw_block_that_gains_room(blocks)).min_by_key(|&b| (blocks.valid_pages(b), Reverse(b)))
    }

    fn needs_random_numbers(&self) -> bool {
        true
    }

    fn write_amplification_theory(&self) -> WriteAmplificationTheory {
        if self.d == 1 { WriteAmplificationTheory::Random } else { WriteAmplificationTheory::GreedyIsLowerBound }
    }

    fn random_for_tests(stream: &mut RandomStream) -> Self {
        Self { d: 1 + rng::below(stream, 5) as u32 }
    }
}
