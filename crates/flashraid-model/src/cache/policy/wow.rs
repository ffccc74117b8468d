//! WOW (Gill and Modha, FAST 2005): one cache of write groups.

use super::{CacheLevels, WriteGroupCacheSettings, WritePolicy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One cache of write groups (the dirty pages of a stripe), destaged in order of address (WOW).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WowCache {}

impl WowCache {
    /// The kinds of caches: a cache of write groups, all of which take turns in one ring (CLOCK).
    pub const PARTS: CacheLevels =
        CacheLevels { group_cache: Some(WriteGroupCacheSettings { has_separate_ring_for_sequential_writes: false }), member_caches: None };
}

impl WritePolicy for WowCache {
    fn cache_levels(&self) -> CacheLevels {
        Self::PARTS
    }
}
