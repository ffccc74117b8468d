//! Scheme `local` (GGC's baseline): there is no controller, and every member collects when it must.

use super::{JoinsCycles, Scheme};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// No coordination: every member collects when it must.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Local {}

impl Scheme for Local {
    type Duty = JoinsCycles;

    fn has_coordinating_controller(&self) -> bool {
        false
    }
}
