//! IWC (LAWC section 3): a cache for each member.

use super::{MemberPart, Parts, WritePolicy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A cache for each member; parity is computed when a write arrives.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Iwc {}

impl Iwc {
    /// Caches of the members that destage independently.
    pub const PARTS: Parts = Parts { groups: None, members: Some(MemberPart { together: false }) };
}

impl WritePolicy for Iwc {
    fn parts(&self) -> Parts {
        Self::PARTS
    }
}
