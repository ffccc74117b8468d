//! After STOW (Gill et al., USENIX ATC 2009): WOW, with a ring of its own for sequential writes.

use super::{GroupPart, Parts, WritePolicy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Like wow; sequential writes have a queue of their own (after STOW).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stow {}

impl Stow {
    /// A cache of write groups, with two rings.
    pub const PARTS: Parts = Parts { groups: Some(GroupPart { sequential_ring: true }), members: None };
}

impl WritePolicy for Stow {
    fn parts(&self) -> Parts {
        Self::PARTS
    }
}
