//! Scheme `reactive-inclusive` (GGC 4.3.1): when one member asks to collect, all members are forced, whatever their state.

use super::{Cycle, JoinsCycles, Scheme};
use crate::ids::MemberSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All members collect as soon as one must.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReactiveInclusive {}

impl Scheme for ReactiveInclusive {
    type Duty = JoinsCycles;

    fn members_of_cycle(&self, cycle: &Cycle) -> MemberSet {
        cycle.everyone()
    }
}
