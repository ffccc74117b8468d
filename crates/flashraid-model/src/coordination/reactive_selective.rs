//! Reactive-selective (GGC 4.3.1): members register when a pool comes down to T_soft; when the first of them is at its start
//! threshold and asks, those that have registered are forced.

use super::Scheme;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Members that soon must collect do so as soon as one must.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReactiveSelective {}

impl Scheme for ReactiveSelective {
    fn registers(&self) -> bool {
        true
    }
}
