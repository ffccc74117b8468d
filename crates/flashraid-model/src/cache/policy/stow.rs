//! STOW (Gill et al., USENIX ATC 2009): like WOW, with a separate ring for sequential writes.

use super::{CacheParts, GroupCachePart, WritePolicy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Like wow; sequential writes have a queue of their own (after STOW).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StowCache {}

impl StowCache {
    /// The kinds of caches: a cache of write groups. Groups of sequential writes take turns in a ring (CLOCK) of their own.
    pub const PARTS: CacheParts = CacheParts { group_cache: Some(GroupCachePart { has_sequential_ring: true }), member_caches: None };
}

impl WritePolicy for StowCache {
    fn parts(&self) -> CacheParts {
        Self::PARTS
    }
}
