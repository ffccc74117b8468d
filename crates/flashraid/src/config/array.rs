//! What users write about the array: `[array]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashraid_workload::units::{Duration, Rate, Size};

/// The array.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ArrayConfig {
    /// The array to build on, one of those that `flashraid preset list` names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// How addresses spread over the members.
    pub level: Level,
    /// Number of members; without it what is common for the level: 1, 2, or 8 for data and those for parity.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 128))]
    pub members: Option<u32>,
    /// Consecutive bytes of the array that stay on one member, a multiple of the page size; without it a page, at least 4 KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stripe_unit: Option<Size>,
    /// Members that fail during the run, one table or several (`[[array.failure]]`); without it none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureList>,
    /// How failed members are rebuilt on spares; without it the array stays degraded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rebuild: Option<RebuildConfig>,
    /// Limits of the array's controller towards the host; without it there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<ControllerConfig>,
}

impl Default for ArrayConfig {
    fn default() -> Self {
        Self { preset: None, level: Level::Raid0, members: None, stripe_unit: None, failure: None, rebuild: None, controller: None }
    }
}

/// What the controller of an array sets bounds to, whatever its members could do.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ControllerConfig {
    /// Host requests in work at a time; others wait, in order of arrival. Without it any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_048_576))]
    pub outstanding: Option<u32>,
    /// Bytes per second of all data that hosts read and write, which pass one after another. Without it data take no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Rate>,
}

/// A member that fails, or several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FailureList {
    /// One.
    One(FailureConfig),
    /// Several, each member once.
    Several(#[schemars(length(min = 1))] Vec<FailureConfig>),
}

impl FailureList {
    /// All of them, with their keys.
    pub(super) fn with_keys(&self) -> Vec<(String, &FailureConfig)> {
        match self {
            Self::One(failure) => vec![("array.failure".to_owned(), failure)],
            Self::Several(list) => list.iter().enumerate().map(|(at, failure)| (format!("array.failure[{at}]"), failure)).collect(),
        }
    }
}

/// A member that fails: it gets no operations any more, and what it has been given is still served.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FailureConfig {
    /// The member, from 0.
    #[schemars(range(min = 0, max = 127))]
    pub member: u32,
    /// When it fails, in simulated time since the start of the run. If the last request is done before, it does not.
    pub at: Duration,
}

/// The rebuilding of failed members, each on a spare of its own, strip by strip, while the load goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct RebuildConfig {
    /// The most bytes per second that are brought to a spare; it is less if members are busy.
    pub rate: Rate,
    /// From the failure to the begin of rebuilding.
    pub delay: Duration,
    /// Strips of a member that are rebuilt at a time.
    #[schemars(range(min = 1, max = 1024))]
    pub in_flight: u32,
    /// Spares: so many members that fail, the first in time, are rebuilt.
    #[schemars(range(min = 1, max = 127))]
    pub spares: u32,
    /// The state of the spares when they are needed.
    pub spare: Spare,
    /// Goes on to the end of rebuilding after the last request; else rebuilding ends with the load.
    pub finish: bool,
}

impl Default for RebuildConfig {
    fn default() -> Self {
        let rate = Rate { bytes_per_s: 100_000_000 };
        Self { rate, delay: Duration { ns: 0 }, in_flight: 1, spares: 1, spare: Spare::Warm, finish: false }
    }
}

/// The state of a spare when it is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spare {
    /// Used before: filled and warmed up like the members.
    Warm,
    /// Filled in order of address and never overwritten.
    Fresh,
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
    /// Stripes with parity on the last member.
    Raid4,
    /// Stripes with parity on each member in turn (left-symmetric).
    Raid5,
    /// Stripes with two parities on each pair of neighbours in turn.
    Raid6,
}

impl Level {
    /// Members of an array of this level if nothing else is said.
    pub(super) fn default_members(self) -> u32 {
        match self {
            Self::Single => 1,
            Self::Raid1 => 2,
            Self::Raid0 | Self::Raid10 => 8,
            Self::Raid4 | Self::Raid5 => 9,
            Self::Raid6 => 10,
        }
    }

    /// The name in a file.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Raid0 => "raid0",
            Self::Raid1 => "raid1",
            Self::Raid10 => "raid10",
            Self::Raid4 => "raid4",
            Self::Raid5 => "raid5",
            Self::Raid6 => "raid6",
        }
    }
}
