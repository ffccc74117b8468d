//! IWC (LAWC section 3): a cache for each member.

use super::{MemberCacheSettings, StripeAndMemberCaches, WritePolicy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A cache for each member; parity is computed when a write arrives.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IndependentMemberCaches {}

impl IndependentMemberCaches {
    /// Caches of this policy: one cache for each member. The caches destage independently of each other.
    pub const STRIPE_AND_MEMBER_CACHES: StripeAndMemberCaches = StripeAndMemberCaches {
        dirty_stripe_cache: None,
        member_caches: Some(MemberCacheSettings { member_caches_destage_together: false }),
    };
}

impl WritePolicy for IndependentMemberCaches {
    fn stripe_and_member_caches(&self) -> StripeAndMemberCaches {
        Self::STRIPE_AND_MEMBER_CACHES
    }
}
