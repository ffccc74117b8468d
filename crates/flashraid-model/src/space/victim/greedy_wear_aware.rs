//! Victim policy `greedy-wear-aware`: greedy, except that a worn block is sometimes passed over (Agrawal et al., USENIX ATC 2008, 3.5).
//!
//! Useful blocks are tried in order of their valid pages, the fewest first. Among equals, the highest block number comes first.
//!
//! The remaining life of a block is endurance − erases, at least 0. If it is below `threshold` × the pool's mean, the block is taken only
//! with the probability `remaining / (threshold × mean)`. One random number is drawn for that. If all blocks are passed over, the first is
//! taken.

use super::{VictimCandidates, VictimRandomness, VictimRule};
use crate::policy::ParameterProblem;
use crate::rng::{self, RandomStream};
use crate::units::Fraction;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Chooses the block with the fewest valid pages as the next victim of garbage collection, like `greedy`, but sometimes passes over
/// worn blocks. It thereby levels wear (Agrawal et al., USENIX ATC 2008).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GreedyWearAware {
    /// Share of the mean remaining life, above 0 and below 1. A block with less remaining life than this share of the mean is
    /// sometimes passed over as a victim. The remaining life is the number of erases that a block still endures. The mean is over all
    /// blocks of its pool.
    pub threshold: Fraction,
    /// Number of erases that a block endures. Users do not write it here, because it is taken from the settings of the SSD.
    #[serde(skip)]
    pub endurance_erases: u32,
}

impl Default for GreedyWearAware {
    /// Returns the threshold of the authors: 80 % of the mean remaining life.
    fn default() -> Self {
        Self { threshold: Fraction(0.8), endurance_erases: 0 }
    }
}

impl VictimRule for GreedyWearAware {
    fn pick_victim(&self, blocks: &VictimCandidates<'_>, draws: &mut VictimRandomness<'_>) -> Option<usize> {
        // Both sides are multiplied by the number of blocks, so that the limit is compared with whole numbers only.
        let life = |b: usize| u64::from(self.endurance_erases.saturating_sub(blocks.erases(b)));
        let limit = self.threshold.0 * (0..blocks.len()).map(life).sum::<u64>() as f64;
        let mut candidates: Vec<_> = blocks.blocks_worth_collecting().rev().collect();
        candidates.sort_by_key(|&(_, valid)| valid);
        let scaled_life = |b: usize| (life(b) * blocks.len() as u64) as f64;
        candidates
            .iter()
            .find(|&&(b, _)| scaled_life(b) >= limit || draws.uniform() * limit < scaled_life(b))
            .or(candidates.first())
            .map(|&(b, _)| b)
    }

    fn needs_random_numbers(&self) -> bool {
        true
    }

    fn prefers_less_worn_blocks(&self) -> bool {
        true
    }

    fn set_endurance(&mut self, erases: u32) {
        self.endurance_erases = erases;
    }

    fn problems(&self) -> Vec<ParameterProblem> {
        if self.threshold.0 > 0.0 && self.threshold.0 < 1.0 {
            return Vec::new();
        }
        vec![ParameterProblem { key: "threshold", message: "but must lie between 0 and 1, both excluded".to_owned() }]
    }

    fn random_for_tests(stream: &mut RandomStream) -> Self {
        // Blocks wear out soon in these cases, so that some are spared.
        let threshold = Fraction((500 + rng::below(stream, 491)) as f64 / 1000.0);
        Self { threshold, endurance_erases: 2 + rng::below(stream, 59) as u32 }
    }
}
