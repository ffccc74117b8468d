//! IWC (LAWC section 3): a cache for each member.

use super::{CachesUsed, MemberCacheSettings, WritePolicy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A cache for each member; parity is computed when a write arrives.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IndependentMemberCaches {}

impl IndependentMemberCaches {
    /// Caches of this policy: one cache for each member. The caches destage independently of each other.
    pub const CACHES_USED: CachesUsed =
        CachesUsed { group_cache: None, member_caches: Some(MemberCacheSettings { member_caches_destage_together: false }) };
}

impl WritePolicy for IndependentMemberCaches {
    fn caches_used(&self) -> CachesUsed {
        Self::CACHES_USED
    }
}
