//! Scheme `reactive-selective` (GGC 4.3.1): members register when a pool comes down to T_soft. The first of them that reaches its start
//! threshold asks to collect. Then all members that have registered are forced.

use super::Scheme;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Members that must collect soon do so as soon as one of them must.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReactiveSelective {}

impl Scheme for ReactiveSelective {
    fn has_registration(&self) -> bool {
        true
    }
}
