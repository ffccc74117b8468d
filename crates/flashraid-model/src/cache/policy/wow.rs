//! WOW (Gill and Modha, FAST 2005): one cache of write groups.

use super::{DirtyStripeCacheSettings, StripeAndMemberCaches, WritePolicy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One cache of write groups (the dirty pages of a stripe), destaged in order of address (WOW).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WowCache {}

impl WowCache {
    /// Kinds of caches of this policy: one cache of write groups (the dirty pages of one stripe each), without member caches. All
    /// groups form one ring. The CLOCK algorithm goes round the ring to find the next group to destage.
    pub const STRIPE_AND_MEMBER_CACHES: StripeAndMemberCaches = StripeAndMemberCaches {
        dirty_stripe_cache: Some(DirtyStripeCacheSettings { has_separate_ring_for_sequential_writes: false }),
        member_caches: None,
    };
}

impl WritePolicy for WowCache {
    fn stripe_and_member_caches(&self) -> StripeAndMemberCaches {
        Self::STRIPE_AND_MEMBER_CACHES
    }
}
