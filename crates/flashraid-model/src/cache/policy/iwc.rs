//! IWC (LAWC section 3): a cache for each member.

use super::{MemberCacheSettings, WriteCacheParts, WritePolicy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A cache for each member; parity is computed when a write arrives.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IndependentMemberCaches {}

impl IndependentMemberCaches {
    /// Caches of this policy: one cache for each member. The caches destage independently of each other.
    pub const WRITE_CACHE_PARTS: WriteCacheParts =
        WriteCacheParts { dirty_stripe_cache: None, member_caches: Some(MemberCacheSettings { member_caches_destage_together: false }) };
}

impl WritePolicy for IndependentMemberCaches {
    fn write_cache_parts(&self) -> WriteCacheParts {
        Self::WRITE_CACHE_PARTS
    }
}
