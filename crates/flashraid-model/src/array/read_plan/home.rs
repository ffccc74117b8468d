//! Plan `home`: each stripe has one fixed copy to read from, and stripes take turns among the copies (rule 2).

use super::Plan;
use crate::placement::Redundancy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Copies take turns by stripe, whatever happens.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Home {}

impl Plan for Home {
    fn has_choice(&self, _redundancy: Redundancy) -> bool {
        false
    }
}
