//! The policy without a write cache.

use super::{StripeAndMemberCaches, WritePolicy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// No cache: a write completes when it is on flash.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoCache {}

impl WritePolicy for NoCache {
    fn stripe_and_member_caches(&self) -> StripeAndMemberCaches {
        StripeAndMemberCaches { dirty_stripe_cache: None, member_caches: None }
    }
}
