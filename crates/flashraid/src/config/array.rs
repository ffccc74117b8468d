//! Keys of the array: `[array]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashraid_model::array::{ControllerLimits, MemberFailure, ParityHandle, RaidLevel, Rebuilding, SlowMemberPeriod};
use flashraid_workload::units::{ByteRate, Size};

/// The array of SSDs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ArrayConfig {
    /// The array to build on, one of those that `flashraid preset list` names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// RAID level, which decides how addresses spread over the members.
    pub level: RaidLevel,
    /// Number of members. By default, it is 1 for `single`, 2 for `raid1`, 8 for `raid0` and `raid10`, 9 for `raid4` and `raid5`, and
    /// 10 for `raid6`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 128))]
    pub members: Option<u32>,
    /// Consecutive bytes of the array that stay on one member, a multiple of the page size. By default, it is 64 KiB for drives
    /// with superblocks, 4 KiB for others, and at least a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stripe_unit: Option<Size>,
    /// Placement handle of parity. By default (`"data"`), it is that of the request that the parity is written for. `"own"` is the last
    /// handle of the drives, which no stream of a mix then gets. A number is the handle with that number. Only at levels with parity, and
    /// with `ssd.placement_handles`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parity_handle: Option<ParityHandle>,
    /// Members that fail during the run, as one table or several (`[[array.failure]]`). By default, none fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureList>,
    /// Members that are slow for a period of time, as one table or several (`[[array.slow]]`). By default, none is slow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow: Option<OneOrMoreSlowPeriods>,
    /// Rebuilding of failed members on spares. Without this table, the array stays degraded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rebuild: Option<RebuildConfig>,
    /// Limits of the array's controller on host requests: how many it serves at a time, its processor, and its bandwidth.
    /// Without this table, there are no limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<ControllerLimits>,
}

impl Default for ArrayConfig {
    fn default() -> Self {
        Self {
            preset: None,
            level: RaidLevel::Raid0,
            members: None,
            stripe_unit: None,
            parity_handle: None,
            failure: None,
            slow: None,
            rebuild: None,
            controller: None,
        }
    }
}

/// A member that fails, or several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FailureList {
    /// One member that fails.
    One(MemberFailure),
    /// Several members that fail, each at most once.
    Several(#[schemars(length(min = 1))] Vec<MemberFailure>),
}

impl FailureList {
    /// Returns all failures with their keys.
    pub(super) fn with_keys(&self) -> Vec<(String, &MemberFailure)> {
        match self {
            Self::One(failure) => vec![("array.failure".to_owned(), failure)],
            Self::Several(list) => list.iter().enumerate().map(|(at, failure)| (format!("array.failure[{at}]"), failure)).collect(),
        }
    }
}

/// One period of time in which a member is slow, or several periods.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OneOrMoreSlowPeriods {
    /// One period of time in which a member is slow.
    One(SlowMemberPeriod),
    /// Several periods of time in which members are slow. Periods of the same member do not overlap.
    Several(#[schemars(length(min = 1))] Vec<SlowMemberPeriod>),
}

impl OneOrMoreSlowPeriods {
    /// Returns all periods in which members are slow, with their keys.
    pub(super) fn with_keys(&self) -> Vec<(String, &SlowMemberPeriod)> {
        match self {
            Self::One(slow) => vec![("array.slow".to_owned(), slow)],
            Self::Several(list) => list.iter().enumerate().map(|(at, slow)| (format!("array.slow[{at}]"), slow)).collect(),
        }
    }
}

/// Rebuilding of failed members, each on its own spare, strip by strip, while the load continues.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct RebuildConfig {
    /// Maximum rate at which rebuilding writes to each spare, in bytes per second. The actual rate is lower if members are busy.
    pub rate: ByteRate,
    /// Settings that hold as they are written.
    #[serde(flatten)]
    pub settings: Rebuilding,
}

impl Default for RebuildConfig {
    fn default() -> Self {
        let rate = ByteRate { bytes_per_s: 100_000_000 };
        Self { rate, settings: Rebuilding::default() }
    }
}
