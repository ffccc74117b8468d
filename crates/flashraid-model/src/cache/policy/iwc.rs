//! IWC (LAWC section 3): a cache for each member.

use super::{CacheLevels, MemberCacheSettings, WritePolicy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A cache for each member; parity is computed when a write arrives.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IwcCache {}

impl IwcCache {
    /// Caches of this policy: one cache for each member. The caches destage independently of each other.
    pub const LEVELS: CacheLevels =
        CacheLevels { group_cache: None, member_caches: Some(MemberCacheSettings { member_caches_destage_together: false }) };
}

impl WritePolicy for IwcCache {
    fn cache_levels(&self) -> CacheLevels {
        Self::LEVELS
    }
}
