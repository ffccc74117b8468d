//! Victim policy `random`: picks any useful block, each equally likely. It draws block numbers of the pool until one is useful.

use super::{Blocks, Draws, Theory, Victim};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Any block with invalid pages.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Random {}

impl Victim for Random {
    fn pick(&self, blocks: &Blocks<'_>, draws: &mut Draws<'_>) -> Option<usize> {
        blocks.useful().next()?;
        Some(draws.useful(blocks))
    }

    fn draws(&self) -> bool {
        true
    }

    fn theory(&self) -> Theory {
        Theory::Random
    }
}
