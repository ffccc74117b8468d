//! The policy without a write cache.

use super::{WriteCacheParts, WritePolicy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// No cache: a write completes when it is on flash.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoCache {}

impl WritePolicy for NoCache {
    fn write_cache_parts(&self) -> WriteCacheParts {
        WriteCacheParts { dirty_stripe_cache: None, member_caches: None }
    }
}
