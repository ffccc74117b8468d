//! Local (GGC's baseline): no controller, every member collects when it must.

use super::Scheme;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Not at all: every member collects when it must.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Local {}

impl Scheme for Local {
    fn has_controller(&self) -> bool {
        false
    }
}
