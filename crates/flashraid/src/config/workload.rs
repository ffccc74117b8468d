//! What users write about the workload: `[workload]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashraid_workload::quantities::Gap;
use flashraid_workload::synthetic::{AddressSpec, ArrivalSpec, SizeSpec};
use flashraid_workload::units::{Duration, Fraction, Numbers, Quantity, Size, UnitError};

/// The workload that a configuration which names none builds on.
pub const DEFAULT_PRESET: &str = "hpc-w";

/// Requests of a run that says neither `requests` nor `duration`, unless a trace ends it.
pub const DEFAULT_REQUESTS: u64 = 20_000;

/// Where requests come from. Everything not written here comes from the preset.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct WorkloadConfig {
    /// The workload to build on, one of those that `flashraid preset list` names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Generated, read from a trace, or a mix of streams; found out from the other keys if it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// The run ends after this many requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 9_223_372_036_854_775_807_u64))]
    pub requests: Option<u64>,
    /// The run ends at this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Duration>,

    /// Synthetic: when requests arrive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<ArrivalSpec>,
    /// Synthetic: share of reads among the requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_fraction: Option<Fraction>,
    /// Synthetic: size of requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<SizeSpec>,
    /// Synthetic: size of reads, if it differs from `size`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_size: Option<SizeSpec>,
    /// Synthetic: size of writes, if it differs from `size`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_size: Option<SizeSpec>,
    /// Synthetic: share of requests that start where the one before ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequential_fraction: Option<Fraction>,
    /// Synthetic: a request that starts where the one before ended repeats its size and direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequential_repeats: Option<bool>,
    /// Synthetic: gaps before requests that start where the one before ended are uniform from 0 to this, rather than as all others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequential_gap: Option<Gap>,
    /// Synthetic: where requests go.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<AddressSpec>,
    /// Share of writes that must not wait for garbage collection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high_priority_fraction: Option<Fraction>,

    /// Trace: the file, plain or compressed; relative to the configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Trace: its format, if it shall not be found out from the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<flashraid_workload::trace::Format>,
    /// Trace: the unit of its time stamps, where the format has variants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_unit: Option<flashraid_workload::trace::TimeUnit>,
    /// Trace: bytes of a sector, where the format counts sectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_073_741_824))]
    pub sector_bytes: Option<u32>,
    /// Trace: what becomes of several devices: laid end to end (`"concat"`), on the same addresses (`"fold"`), or only some, as a list of numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub devices: Option<TraceDevices>,
    /// Trace: how far requests may be out of order: a number of requests that are held back and sorted, or `"sort"` for the whole trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorder: Option<TraceReorder>,
    /// Trace: lines that can't be read are counted and left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip_bad_lines: Option<bool>,
    /// Trace: a request that repeats another within this time is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drop_repeats_within: Option<Duration>,
    /// Trace: what becomes of discards: `"trim"` (the default) or `"ignore"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discards: Option<flashraid_workload::trace::Discards>,
    /// Trace: direction of requests where the trace does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<TraceDirection>,

    /// Mix: the streams, merged in order of arrival; each is a workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub streams: Option<Vec<WorkloadConfig>>,

    /// Requests come this many times faster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.000_001, max = 1_000_000.0))]
    pub rate_scale: Option<f64>,
    /// Requests are this many times larger.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.000_001, max = 1_000_000.0))]
    pub size_scale: Option<f64>,
    /// What is done with addresses beyond the array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address_fit: Option<AddressFit>,
    /// With `address_fit = "scale"`: bytes that the original addresses; without it a trace is read once beforehand to find out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address_extent: Option<Size>,
    /// What to leave out at the start: a number of requests or a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<RequestsOrTime>,
    /// Where the stream ends: after a number of requests or a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<RequestsOrTime>,
}

/// Where requests come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A generator.
    Synthetic,
    /// A recorded trace.
    Trace,
    /// Several streams merged.
    Mix,
}

/// What becomes of several devices of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TraceDevices {
    /// All of them.
    All(AllDevices),
    /// Only these, laid end to end in this order.
    List(Vec<u32>),
}

/// What becomes of all devices of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AllDevices {
    /// Laid end to end.
    Concat,
    /// On the same addresses.
    Fold,
}

/// How far requests of a trace may be out of order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceReorder {
    /// This many requests are held back.
    Window(u32),
    /// The whole trace is sorted in memory.
    Sort,
}

impl Quantity for TraceReorder {
    const NAME: &'static str = "reorder";
    const ALLOWED: &'static str = "\"sort\", or the number of requests to hold back, such as 1000";
    const PATTERN: &'static str = r"^\s*sort\s*$";
    const NUMBERS: Option<Numbers> = Some(Numbers { min: 0.0, max: 4_294_967_295.0, whole: true });

    fn parse(text: &str) -> Result<Self, UnitError> {
        if text.trim() == "sort" { Ok(Self::Sort) } else { Err(UnitError::new("the only word is \"sort\"")) }
    }

    fn from_number(number: f64) -> Result<Self, UnitError> {
        Ok(Self::Window(number as u32))
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Window(requests) => (*requests).into(),
            Self::Sort => "sort".into(),
        }
    }
}

/// Direction of requests where a trace does not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TraceDirection {
    /// All are reads.
    Read,
    /// All are writes.
    Write,
}

/// What is done with addresses beyond the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AddressFit {
    /// They stop the run.
    Error,
    /// They start again at 0.
    Wrap,
    /// All addresses are multiplied so that the end of the original is the end of the array.
    Scale,
}

/// A number of requests or a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestsOrTime {
    /// That many requests.
    Requests(u64),
    /// That much time.
    Time(Duration),
}

impl Quantity for RequestsOrTime {
    const NAME: &'static str = "requests-or-time";
    const ALLOWED: &'static str = "a number of requests, such as 10000, or a duration with a unit, such as \"60s\"";
    const PATTERN: &'static str = Duration::PATTERN;
    const NUMBERS: Option<Numbers> = Some(Numbers { min: 0.0, max: 9_007_199_254_740_991.0, whole: true });

    fn parse(text: &str) -> Result<Self, UnitError> {
        Duration::parse(text).map(Self::Time)
    }

    fn from_number(number: f64) -> Result<Self, UnitError> {
        Ok(Self::Requests(number as u64))
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Requests(requests) => (*requests).into(),
            Self::Time(time) => time.to_json(),
        }
    }
}
