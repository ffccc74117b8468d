//! STOW (Gill et al., USENIX ATC 2009): like WOW, with a separate ring for sequential writes.

use super::{DirtyStripeCacheSettings, StripeAndMemberCaches, WritePolicy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One cache of write groups for the whole array. A write group is all dirty pages of one stripe, and groups are destaged in order of
/// address. Groups of sequential writes and groups of other writes are kept and destaged separately, as the paper STOW proposes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StowCache {}

impl StowCache {
    /// Caches of this policy: one cache of write groups, without member caches. A write group is all dirty pages of one stripe. Groups
    /// of sequential writes and groups of other writes form two separate rings. The CLOCK algorithm goes round a ring to find the next
    /// group to destage.
    pub const STRIPE_AND_MEMBER_CACHES: StripeAndMemberCaches = StripeAndMemberCaches {
        dirty_stripe_cache: Some(DirtyStripeCacheSettings { has_separate_ring_for_sequential_writes: true }),
        member_caches: None,
    };
}

impl WritePolicy for StowCache {
    fn stripe_and_member_caches(&self) -> StripeAndMemberCaches {
        Self::STRIPE_AND_MEMBER_CACHES
    }
}
