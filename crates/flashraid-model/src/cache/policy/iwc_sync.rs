//! IWC-sync (LAWC section 3): the caches of the members destage together.

use super::{MemberCacheSettings, SYNC_TIMEOUT, StripeAndMemberCaches, WritePolicy, any_timeout};
use crate::rng::RandomStream;
use crate::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A cache for each member, all of which destage at the same time; parity is computed when a write arrives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MemberCachesDestagingTogether {
    /// Maximum time that a member cache with something to destage waits for the other member caches. All destage together as soon as
    /// each has something to destage. After this time, the caches that are ready begin without the others.
    pub sync_timeout: Duration,
}

impl MemberCachesDestagingTogether {
    /// Caches of this policy: one cache for each member. All these caches destage at the same time.
    pub const STRIPE_AND_MEMBER_CACHES: StripeAndMemberCaches = StripeAndMemberCaches {
        dirty_stripe_cache: None,
        member_caches: Some(MemberCacheSettings { member_caches_destage_together: true }),
    };
}

impl Default for MemberCachesDestagingTogether {
    fn default() -> Self {
        Self { sync_timeout: SYNC_TIMEOUT }
    }
}

impl WritePolicy for MemberCachesDestagingTogether {
    fn stripe_and_member_caches(&self) -> StripeAndMemberCaches {
        Self::STRIPE_AND_MEMBER_CACHES
    }

    fn sync_timeout(&self) -> Duration {
        self.sync_timeout
    }

    fn random_for_tests(stream: &mut RandomStream) -> Self {
        Self { sync_timeout: any_timeout(stream) }
    }
}
