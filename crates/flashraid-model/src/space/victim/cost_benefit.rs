//! Victim policy `cost-benefit`: picks the block with the greatest `age × (1 − u) / 2u`, where u is the share of valid pages. It was
//! proposed by Rosenblum & Ousterhout (SOSP 1991), and in this form by Kawaguchi et al. (USENIX 1995).
//!
//! The age is the number of blocks that the die has opened since this block, plus one. Values are compared exactly, as fractions of
//! integers: `age × (n − v)` over `2v`, for v valid pages of n. A block without valid pages beats every other, and among equals the highest
//! block number wins.

use super::{VictimCandidates, VictimRandomness, VictimRule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Chooses the block with the best ratio of benefit to cost as the next victim of garbage collection (Rosenblum & Ousterhout, SOSP
/// 1991). With the share u of valid pages, the ratio is `age × (1 − u) / 2u`. The age is the number of blocks opened since this one,
/// plus one.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CostBenefit {}

impl VictimRule for CostBenefit {
    fn pick_victim(&self, blocks: &VictimCandidates<'_>, _: &mut VictimRandomness<'_>) -> Option<usize> {
        let value =
            |b: usize| (u128::from(blocks.age_in_opened_blocks(b)) * blocks.invalid_pages(b) as u128, blocks.valid_pages(b) as u128);
        let beats = |a: (u128, u128), b: (u128, u128)| match (a.1, b.1) {
            (0, 0) => a.0 >= b.0,
            (0, _) => true,
            (_, 0) => false,
            _ => a.0 * b.1 >= b.0 * a.1,
        };
        let mut best: Option<(usize, (u128, u128))> = None;
        for (b, _) in blocks.blocks_worth_collecting() {
            let candidate = value(b);
            if best.is_none_or(|(_, value)| beats(candidate, value)) {
                best = Some((b, candidate));
            }
        }
        best.map(|(b, _)| b)
    }
}
