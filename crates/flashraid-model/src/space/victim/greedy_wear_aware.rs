//! Greedy with wear awareness: greedy's order, but a worn block is passed over at times (Agrawal et al., USENIX ATC 2008, 3.5).
//!
//! Useful blocks are tried from the fewest valid pages on, among equals the highest block number first. A block whose remaining
//! life (endurance − erases, at least 0) is below `threshold` × the pool's mean is taken only with probability
//! `remaining / (threshold × mean)`, for which one number is drawn; if all are passed over, the first is taken.

use super::{Blocks, Draws, Victim};
use crate::policy::PolicyProblem;
use crate::rng::{self, Stream};
use crate::units::Fraction;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Greedy that spares worn blocks (Agrawal et al., USENIX ATC 2008).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GreedyWearAware {
    /// Share of the mean remaining life below which a block is spared, above 0 and below 1.
    pub threshold: Fraction,
    /// Erases that a block endures, from the SSD.
    #[serde(skip)]
    pub endurance_erases: u32,
}

impl Default for GreedyWearAware {
    /// The authors spare a block whose remaining life is below 80 % of the mean.
    fn default() -> Self {
        Self { threshold: Fraction(0.8), endurance_erases: 0 }
    }
}

impl Victim for GreedyWearAware {
    fn pick(&self, blocks: &Blocks<'_>, draws: &mut Draws<'_>) -> Option<usize> {
        // Both sides are multiplied by the number of blocks, so that only whole numbers are compared with the limit.
        let life = |b: usize| u64::from(self.endurance_erases.saturating_sub(blocks.erases(b)));
        let limit = self.threshold.0 * (0..blocks.len()).map(life).sum::<u64>() as f64;
        let mut candidates: Vec<_> = blocks.useful().rev().collect();
        candidates.sort_by_key(|&(_, valid)| valid);
        let scaled_life = |b: usize| (life(b) * blocks.len() as u64) as f64;
        candidates
            .iter()
            .find(|&&(b, _)| scaled_life(b) >= limit || draws.unit() * limit < scaled_life(b))
            .or(candidates.first())
            .map(|&(b, _)| b)
    }

    fn draws(&self) -> bool {
        true
    }

    fn levels_wear(&self) -> bool {
        true
    }

    fn set_endurance(&mut self, erases: u32) {
        self.endurance_erases = erases;
    }

    fn problems(&self) -> Vec<PolicyProblem> {
        if self.threshold.0 > 0.0 && self.threshold.0 < 1.0 {
            return Vec::new();
        }
        vec![PolicyProblem { key: "threshold", message: "but must lie between 0 and 1, both excluded".to_owned() }]
    }

    fn any(stream: &mut Stream) -> Self {
        // Blocks that are worn out soon, so that some are spared.
        let threshold = Fraction((500 + rng::below(stream, 491)) as f64 / 1000.0);
        Self { threshold, endurance_erases: 2 + rng::below(stream, 59) as u32 }
    }
}
