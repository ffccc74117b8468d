//! What users write about the array: `[array]`, `[cache]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Size;

/// The array.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ArrayConfig {
    /// The array to build on, one of those that `flashraid preset list` names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// How addresses spread over the members.
    pub level: Level,
    /// Number of members; without it the least that is common for the level (1, 2 or 8).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 128))]
    pub members: Option<u32>,
    /// Consecutive bytes of the array that stay on one member, a multiple of the page size; without it a page, at least 4 KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stripe_unit: Option<Size>,
}

impl Default for ArrayConfig {
    fn default() -> Self {
        Self { preset: None, level: Level::Raid0, members: None, stripe_unit: None }
    }
}

/// How addresses spread over the members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// One SSD.
    Single,
    /// Striping.
    Raid0,
    /// All members hold the same; reads take turns.
    Raid1,
    /// Stripes over mirrored pairs.
    Raid10,
}

impl Level {
    /// Members of an array of this level if nothing else is said.
    pub(super) fn default_members(self) -> u32 {
        match self {
            Self::Single => 1,
            Self::Raid1 => 2,
            Self::Raid0 | Self::Raid10 => 8,
        }
    }

    /// The name in a file.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Raid0 => "raid0",
            Self::Raid1 => "raid1",
            Self::Raid10 => "raid10",
        }
    }
}

/// The write cache of the array.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CacheConfig {
    /// The policy.
    pub policy: CachePolicy,
}

impl Default for CacheConfig {
    fn default() -> Self {
        Self { policy: CachePolicy::None }
    }
}

/// The policy of the write cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CachePolicy {
    /// No cache: a write completes when it is on flash.
    None,
}
