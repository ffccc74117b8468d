//! Scheme `ideal`: collection takes no time but still moves and erases (rules 15 and 109), so that nothing needs to be coordinated.

use super::{JoinsCycles, Scheme};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Collection takes no time but still moves pages and erases blocks; everything else is unchanged. It is a yardstick, neither a remedy nor
/// a bound.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZeroTimeCollection {}

impl Scheme for ZeroTimeCollection {
    type Duty = JoinsCycles;

    fn has_coordinating_controller(&self) -> bool {
        false
    }

    fn collection_takes_no_time(&self) -> bool {
        true
    }
}
