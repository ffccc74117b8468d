//! What users write about the write cache: `[cache]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashraid_workload::units::{Duration, Fraction, Size};

/// The write cache of the array.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CacheConfig {
    /// The policy.
    pub policy: CachePolicy,
    /// Bytes of all its caches together; without it 32 KiB for each member, as in LAWC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    /// Share of the size that the first level of `lawc` gets; without it 25 %. The rest is shared out over the members.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_level_fraction: Option<Fraction>,
    /// Occupancy of a cache up to which nothing is destaged; without it 0, as in LAWC. WOW's own value is 80 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<Fraction>,
    /// Occupancy from which on a cache destages at the full rate, which rises linearly from `low`; without it `low`. WOW's own value is 90 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<Fraction>,
    /// Destages that each cache may have under way; without it 1, as in LAWC. Real controllers use up to 20.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024))]
    pub in_flight: Option<u32>,
    /// How long a member cache that has something to destage waits for the others (iwc-sync, lawc); without it 1 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync_timeout: Option<Duration>,
    /// Time in which the memory of the cache reads a page; without it 125 ns (phase-change memory, LAWC Table 2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nvm_read: Option<Duration>,
    /// Time in which the memory of the cache writes a page; without it 1 µs (phase-change memory, LAWC Table 2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nvm_write: Option<Duration>,
}

/// The policy of the write cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CachePolicy {
    /// No cache: a write completes when it is on flash.
    #[default]
    None,
    /// One cache of write groups (the dirty pages of a stripe), destaged in order of address (WOW).
    Wow,
    /// The same, with sequential writes in a queue of their own (after STOW).
    Stow,
    /// A cache for each member; parity is computed when a write arrives.
    Iwc,
    /// The same; all caches destage together.
    IwcSync,
    /// The same, behind a small cache of write groups.
    Lawc,
}

impl CachePolicy {
    /// Whether caches wait for one another.
    pub(super) fn is_synchronised(self) -> bool {
        matches!(self, Self::IwcSync | Self::Lawc)
    }

    /// The name in a file.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Wow => "wow",
            Self::Stow => "stow",
            Self::Iwc => "iwc",
            Self::IwcSync => "iwc-sync",
            Self::Lawc => "lawc",
        }
    }
}
