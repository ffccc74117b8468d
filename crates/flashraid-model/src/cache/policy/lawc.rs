//! LAWC (section 3): caches of the members that destage at the same time, behind a small cache of write groups.

use super::{DirtyStripeCacheSettings, MemberCacheSettings, SYNC_TIMEOUT, StripeAndMemberCaches, WritePolicy, any_timeout};
use crate::rng::{self, RandomStream};
use crate::units::{Duration, Fraction};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A small cache of write groups in front of a cache for each member. A write group is all dirty pages of one stripe. All member caches
/// destage at the same time as each other. Parity is computed when pages enter the member caches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LayoutAwareWriteCache {
    /// Share of the cache memory for the small cache in front of the member caches. The member caches share the rest equally.
    pub first_level_fraction: Fraction,
    /// Maximum time that a member cache with something to destage waits until all other member caches have something to destage, too.
    /// After this time, the caches with something to destage begin without the others.
    pub sync_timeout: Duration,
}

impl LayoutAwareWriteCache {
    /// Caches of this policy: a cache of write groups in front of a cache for each member. A write group is all dirty pages of one
    /// stripe. All member caches destage at the same time as each other.
    pub const STRIPE_AND_MEMBER_CACHES: StripeAndMemberCaches = StripeAndMemberCaches {
        dirty_stripe_cache: Some(DirtyStripeCacheSettings { has_separate_ring_for_sequential_writes: false }),
        member_caches: Some(MemberCacheSettings { member_caches_destage_together: true }),
    };
}

impl Default for LayoutAwareWriteCache {
    /// Returns the settings of the paper; the share is that of LAWC Fig. 6.
    fn default() -> Self {
        Self { first_level_fraction: Fraction(0.25), sync_timeout: SYNC_TIMEOUT }
    }
}

impl WritePolicy for LayoutAwareWriteCache {
    fn stripe_and_member_caches(&self) -> StripeAndMemberCaches {
        Self::STRIPE_AND_MEMBER_CACHES
    }

    fn first_level_fraction(&self) -> Fraction {
        self.first_level_fraction
    }

    fn sync_timeout(&self) -> Duration {
        self.sync_timeout
    }

    fn random_for_tests(stream: &mut RandomStream) -> Self {
        Self { first_level_fraction: Fraction((1 + rng::below(stream, 9)) as f64 / 10.0), sync_timeout: any_timeout(stream) }
    }
}
