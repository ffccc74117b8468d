//! STOW (Gill et al., USENIX ATC 2009): like WOW, with a separate ring for sequential writes.

use super::{CacheLevels, WriteGroupCacheSettings, WritePolicy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One cache of write groups (the dirty pages of one stripe each), destaged in order of address, as with `wow`. Groups of sequential
/// writes are kept and destaged separately, as the paper STOW proposes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StowCache {}

impl StowCache {
    /// Kinds of caches of this policy: one cache of write groups (the dirty pages of one stripe each), without member caches. Groups
    /// of sequential writes form a ring of their own. The CLOCK algorithm goes round each ring to find the next group to destage.
    pub const LEVELS: CacheLevels =
        CacheLevels { group_cache: Some(WriteGroupCacheSettings { has_separate_ring_for_sequential_writes: true }), member_caches: None };
}

impl WritePolicy for StowCache {
    fn cache_levels(&self) -> CacheLevels {
        Self::LEVELS
    }
}
