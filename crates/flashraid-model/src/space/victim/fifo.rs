//! Victim policy `fifo`: picks the useful block that was opened first (the LRU cleaning of Desnoyers, SYSTOR 2012).

use super::{Blocks, Draws, Theory, Victim};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The block that was opened first.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fifo {}

impl Victim for Fifo {
    fn pick(&self, blocks: &Blocks<'_>, _: &mut Draws<'_>) -> Option<usize> {
        blocks.useful().map(|(b, _)| b).min_by_key(|&b| blocks.sequence(b))
    }

    fn theory(&self) -> Theory {
        Theory::OldestFirst
    }
}
