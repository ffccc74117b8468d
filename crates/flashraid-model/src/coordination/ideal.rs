//! Ideal: collection takes no time but still moves and erases (rules 15 and 109), so that nothing is left to coordinate.

use super::Scheme;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Collection takes no time but still moves and erases; all else is as it is. A yardstick, neither a remedy nor a bound.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ideal {}

impl Scheme for Ideal {
    fn has_controller(&self) -> bool {
        false
    }

    fn is_instantaneous(&self) -> bool {
        true
    }
}
