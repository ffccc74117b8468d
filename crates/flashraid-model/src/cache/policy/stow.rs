//! STOW (Gill et al., USENIX ATC 2009): like WOW, with a separate ring for sequential writes.

use super::{CacheLevels, WriteGroupCacheSettings, WritePolicy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Like wow; sequential writes have a queue of their own (after STOW).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StowCache {}

impl StowCache {
    /// The kinds of caches: a cache of write groups. Groups of sequential writes take turns in a ring (CLOCK) of their own.
    pub const PARTS: CacheLevels =
        CacheLevels { group_cache: Some(WriteGroupCacheSettings { has_separate_ring_for_sequential_writes: true }), member_caches: None };
}

impl WritePolicy for StowCache {
    fn cache_levels(&self) -> CacheLevels {
        Self::PARTS
    }
}
