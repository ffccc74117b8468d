//! STOW (Gill et al., USENIX ATC 2009): like WOW, with a separate ring for sequential writes.

use super::{CacheParts, GroupPart, WritePolicy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Like wow; sequential writes have a queue of their own (after STOW).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StowCache {}

impl StowCache {
    /// The kinds of caches: a cache of write groups with two rings.
    pub const PARTS: CacheParts = CacheParts { groups: Some(GroupPart { sequential_ring: true }), members: None };
}

impl WritePolicy for StowCache {
    fn parts(&self) -> CacheParts {
        Self::PARTS
    }
}
