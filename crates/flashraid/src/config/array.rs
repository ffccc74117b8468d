//! Keys of the array: `[array]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashraid_model::array::ArrayProcessor;
use flashraid_workload::units::{AllowedUnitlessRange, ByteRate, Duration, Fraction, Quantity, Size, UnitError};

/// The array of SSDs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ArrayConfig {
    /// The array to build on, one of those that `flashraid preset list` names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// RAID level, which decides how addresses spread over the members.
    pub level: Level,
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
    pub parity_handle: Option<ParityHandleConfig>,
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
    pub controller: Option<ControllerLimitsConfig>,
}

impl Default for ArrayConfig {
    fn default() -> Self {
        Self {
            preset: None,
            level: Level::Raid0,
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

/// Choice of the placement handle of parity. A handle is a label of a write; drives put data with different handles into different
/// superblocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParityHandleConfig {
    /// Parity has the handle of the request that it is written for.
    OfData,
    /// Parity has the last handle of the drives, which no stream of a mix gets.
    Own,
    /// Parity has the handle with this number, which streams may have, too.
    Number(u8),
}

impl Quantity for ParityHandleConfig {
    const JSON_SCHEMA_FORMAT: &'static str = "parity-handle";
    const ALLOWED_VALUES: &'static str = "\"data\", \"own\", or the number of a placement handle, such as 1";
    const JSON_SCHEMA_PATTERN: &'static str = r"^\s*(data|own)\s*$";
    const UNITLESS_RANGE: Option<AllowedUnitlessRange> = Some(AllowedUnitlessRange { min: 0.0, max: 15.0, only_whole_numbers: true });

    fn parse(text: &str) -> Result<Self, UnitError> {
        match text.trim() {
            "data" => Ok(Self::OfData),
            "own" => Ok(Self::Own),
            _ => Err(UnitError::new("the words are \"data\" and \"own\"")),
        }
    }

    fn from_unitless_number(number: f64) -> Result<Self, UnitError> {
        Ok(Self::Number(number as u8))
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            Self::OfData => "data".into(),
            Self::Own => "own".into(),
            Self::Number(handle) => (*handle).into(),
        }
    }
}

/// Limits of an array's controller on host requests: how many it serves at a time, its processor, and its bandwidth. They hold even if
/// the members could serve more.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ControllerLimitsConfig {
    /// Maximum number of host requests that the array serves at a time. Others wait, in order of arrival. By default, there is no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_048_576))]
    pub outstanding: Option<u32>,
    /// Bandwidth of the controller for the data that hosts read and write, all together. Requests use it one after another, each at the
    /// full rate. By default, the passage of data takes no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<ByteRate>,
    /// Processor on which the software of the array handles requests. By default, that takes no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processor: Option<ArrayProcessor>,
}

/// A member that fails, or several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FailureList {
    /// One member that fails.
    One(FailureConfig),
    /// Several members that fail, each at most once.
    Several(#[schemars(length(min = 1))] Vec<FailureConfig>),
}

impl FailureList {
    /// Returns all failures with their keys.
    pub(super) fn with_keys(&self) -> Vec<(String, &FailureConfig)> {
        match self {
            Self::One(failure) => vec![("array.failure".to_owned(), failure)],
            Self::Several(list) => list.iter().enumerate().map(|(at, failure)| (format!("array.failure[{at}]"), failure)).collect(),
        }
    }
}

/// A member that fails. It gets no more operations, but operations that it has already are still served.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FailureConfig {
    /// Number of the member that fails, from 0.
    #[schemars(range(min = 0, max = 127))]
    pub member: u32,
    /// Simulated time of the failure, from the start of the run. The member does not fail if the last request is done before.
    pub at: Duration,
}

/// One period of time in which a member is slow, or several periods.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OneOrMoreSlowPeriods {
    /// One period of time in which a member is slow.
    One(SlowMemberConfig),
    /// Several periods of time in which members are slow. Periods of the same member do not overlap.
    Several(#[schemars(length(min = 1))] Vec<SlowMemberConfig>),
}

impl OneOrMoreSlowPeriods {
    /// Returns all periods in which members are slow, with their keys.
    pub(super) fn with_keys(&self) -> Vec<(String, &SlowMemberConfig)> {
        match self {
            Self::One(slow) => vec![("array.slow".to_owned(), slow)],
            Self::Several(list) => list.iter().enumerate().map(|(at, slow)| (format!("array.slow[{at}]"), slow)).collect(),
        }
    }
}

/// A member that is slow for a period of time. It does not fail and is not rebuilt: its answers only come later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SlowMemberConfig {
    /// Number of the member, from 0.
    #[schemars(range(min = 0, max = 127))]
    pub member: u32,
    /// Simulated time from which the member is slow, counted from the start of the run. By default, the member is slow from the start.
    #[serde(default = "no_time")]
    pub from: Duration,
    /// Simulated time until which the member is slow, counted from the start of the run. By default, the member is slow until the end of
    /// the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Duration>,
    /// Number by which the flash times of a slow operation are multiplied.
    #[serde(default = "no_factor")]
    #[schemars(range(min = 1.0, max = 10_000.0))]
    pub factor: f64,
    /// Time that is added to each slow operation.
    #[serde(default = "no_time")]
    pub add: Duration,
    /// Share of the operations sent to the member that are slow; above 0. The flash time of a slow operation is multiplied by the key
    /// `factor`, and the time in the key `add` is added.
    #[serde(default = "all_operations")]
    pub share: Fraction,
    /// Length of a stall, in which the member gives no answer. By default, there are no stalls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stall: Option<Duration>,
    /// Time from the begin of a stall to the begin of the next one; longer than a stall. The first one begins at `from`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Duration>,
}

fn no_time() -> Duration {
    Duration { ns: 0 }
}

fn no_factor() -> f64 {
    1.0
}

fn all_operations() -> Fraction {
    Fraction(1.0)
}

/// Rebuilding of failed members, each on its own spare, strip by strip, while the load continues.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct RebuildConfig {
    /// Maximum rate at which rebuilding writes to each spare, in bytes per second. The actual rate is lower if members are busy.
    pub rate: ByteRate,
    /// Time from the failure to the start of rebuilding.
    pub delay: Duration,
    /// Number of strips of a member that are rebuilt at a time.
    #[schemars(range(min = 1, max = 1024))]
    pub in_flight: u32,
    /// Number of spares. As many failed members are rebuilt as there are spares; earlier failures come first.
    #[schemars(range(min = 1, max = 127))]
    pub spares: u32,
    /// State of the spares before a failed member is rebuilt on them. They hold no data, as drives are delivered (`"blank"`), or they have
    /// been filled and overwritten like the members (`"used"`).
    pub spare: SpareInitialState,
    /// True to continue rebuilding to its end after the last request, false to end it with the load.
    pub finish: bool,
}

impl Default for RebuildConfig {
    fn default() -> Self {
        let rate = ByteRate { bytes_per_s: 100_000_000 };
        Self { rate, delay: Duration { ns: 0 }, in_flight: 1, spares: 1, spare: SpareInitialState::Blank, finish: false }
    }
}

/// State of a spare before a failed member is rebuilt on it: without data, or filled and overwritten like the members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpareInitialState {
    /// The spare holds no data, as it is delivered or after formatting.
    Blank,
    /// The spare has been filled with other data and overwritten, like the members in their warm-up, and nobody has discarded that.
    Used,
}

/// RAID level, which decides how addresses spread over the members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// One SSD without striping.
    Single,
    /// Stripes over all members, without redundancy.
    Raid0,
    /// Full copies on all members. Data are read from one copy; by default, consecutive strips are read from the members in rotation.
    Raid1,
    /// Stripes over pairs of mirrors.
    Raid10,
    /// Stripes with parity on the last member.
    Raid4,
    /// Stripes with parity on each member in turn (left-symmetric).
    Raid5,
    /// Stripes with two parities, on each pair of neighbouring members in turn.
    Raid6,
}

impl Level {
    /// Returns the default number of members of an array of this level.
    pub(super) fn default_members(self) -> u32 {
        match self {
            Self::Single => 1,
            Self::Raid1 => 2,
            Self::Raid0 | Self::Raid10 => 8,
            Self::Raid4 | Self::Raid5 => 9,
            Self::Raid6 => 10,
        }
    }

    /// Returns the name in a file.
    pub(crate) fn name(self) -> &'static str {
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
