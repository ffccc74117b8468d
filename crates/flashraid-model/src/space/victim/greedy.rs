//! Victim policy `greedy`: picks the block with the fewest valid pages. Among equals, the highest block number wins, as in the reference
//! simulator.

use super::{Blocks, Draws, Theory, Victim};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The block with the fewest valid pages.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Greedy {}

impl Victim for Greedy {
    fn pick(&self, blocks: &Blocks<'_>, _: &mut Draws<'_>) -> Option<usize> {
        blocks.emptiest()
    }

    fn theory(&self) -> Theory {
        Theory::Greedy
    }
}
