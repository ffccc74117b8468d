//! Scheme `reactive-selective` (GGC 4.3.1): a member registers with the controller when one of its pools of blocks comes down to
//! `t_soft` free blocks. When one of them asks to collect, the controller forces all members that have registered to collect.

use super::{JoinsCycles, Scheme};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Members with few free blocks (at most `t_soft` in a pool of blocks) collect together. The controller orders this when one of them
/// asks to collect.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReactiveSelective {}

impl Scheme for ReactiveSelective {
    type Duty = JoinsCycles;

    fn members_report_low_free_blocks(&self) -> bool {
        true
    }
}
