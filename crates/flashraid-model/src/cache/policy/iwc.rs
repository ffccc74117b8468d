//! IWC (LAWC section 3): a cache for each member.

use super::{CacheLevels, MemberCacheSettings, WritePolicy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A cache for each member; parity is computed when a write arrives.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IwcCache {}

impl IwcCache {
    /// The kinds of caches: one for each member, which destage independently.
    pub const LEVELS: CacheLevels =
        CacheLevels { group_cache: None, member_caches: Some(MemberCacheSettings { destages_together: false }) };
}

impl WritePolicy for IwcCache {
    fn cache_levels(&self) -> CacheLevels {
        Self::LEVELS
    }
}
