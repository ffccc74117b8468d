//! Keys of the workload: `[workload]`.

use std::num::NonZeroU64;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashraid_workload::quantities::MeanRequestInterval;
use flashraid_workload::synthetic::{AddressSpec, ArrivalSpec, SizeSpec};
use flashraid_workload::trace::{DevicePlacement, DiscardPolicy, FlushPolicy, Format, TimeUnit, TraceColumns, TraceSortMethod};
use flashraid_workload::units::{AllowedUnitlessRange, Duration, Fraction, Quantity, Size, UnitError};

/// Name of the workload that is used if the configuration names none.
pub const DEFAULT_PRESET: &str = "hpc-w";

/// Number of requests of a run with neither `requests` nor `duration`, unless a trace ends it.
pub const DEFAULT_REQUESTS: u64 = 20_000;

/// Settings of the workload: the requests of the host. Keys that are left out take their values from the built-in workload that the
/// key `preset` names. If `preset`, `kind`, `path` and `streams` are all left out, the built-in workload `hpc-w` is used.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct WorkloadConfig {
    /// The workload to build on, one of those that `flashraid preset list` names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Kind of workload: generated, read from a trace, or a mix of several workloads. By default, the other keys decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<WorkloadKind>,
    /// Number of requests after which the run ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 9_223_372_036_854_775_807_u64))]
    pub requests: Option<u64>,
    /// Simulated time at which the run ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Duration>,

    /// Keys of generated workloads.
    #[serde(flatten)]
    pub synthetic: SyntheticKeys,
    /// Share of writes that must not wait for garbage collection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high_priority_fraction: Option<Fraction>,

    /// Keys of recorded workloads.
    #[serde(flatten)]
    pub trace: TraceKeys,

    /// Workloads whose requests are merged in order of arrival, called streams. Only with `kind = "mix"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub streams: Option<Vec<WorkloadConfig>>,

    /// Factor by which more requests arrive per second: 2 halves the times between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.000_001, max = 1_000_000.0))]
    pub rate_scale: Option<f64>,
    /// Factor by which the sizes of requests are multiplied.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.000_001, max = 1_000_000.0))]
    pub size_scale: Option<f64>,
    /// Treatment of requests whose addresses lie beyond the end of the array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address_fit: Option<AddressFit>,
    /// Length of the address range of the requests before scaling, in bytes: from 0 to the end of the farthest request. By default, a
    /// trace is read once in advance to find it. Only with `address_fit = "scale"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address_extent: Option<Size>,
    /// Part of the workload to skip at the start: a number of requests, or a time before which requests are skipped. Skipped requests are
    /// not simulated at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<RequestsOrTime>,
    /// End of the workload: a number of requests after which, or a time from which on, no more requests come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<RequestsOrTime>,
}

/// Keys of a generator of requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[non_exhaustive]
pub struct SyntheticKeys {
    /// Process by which requests arrive. Only with `kind = "synthetic"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<ArrivalSpec>,
    /// Share of reads among the requests. Only with `kind = "synthetic"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_fraction: Option<Fraction>,
    /// Size of the requests, reads and writes. Only with `kind = "synthetic"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<SizeSpec>,
    /// Size of reads, if it differs from `size`. Only with `kind = "synthetic"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_size: Option<SizeSpec>,
    /// Size of writes, if it differs from `size`. Only with `kind = "synthetic"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_size: Option<SizeSpec>,
    /// Share of sequential requests, which start at the address where the request before ended. Only with `kind = "synthetic"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequential_fraction: Option<Fraction>,
    /// True if a sequential request has the same size and direction as the request before. A request is sequential if it starts at the
    /// address where the request before ended. Only with `kind = "synthetic"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequential_repeats: Option<bool>,
    /// Maximum time between the arrivals of a sequential request and of the request before. A request is sequential if it starts at
    /// the address where the request before ended. The times are uniform from 0 to this maximum. By default, they are drawn like the
    /// times before other requests. Only with `kind = "synthetic"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequential_gap: Option<MeanRequestInterval>,
    /// Distribution of the addresses of the requests. Only with `kind = "synthetic"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<AddressSpec>,
    /// Number of writes after which the host flushes. It sends the flush when the last of these writes is done, and waits for it where it
    /// waits for that write. Only with `kind = "synthetic"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush_every: Option<NonZeroU64>,
    /// True for writes with "force unit access", which are done only when a loss of power can do them no harm. Only with
    /// `kind = "synthetic"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fua: Option<bool>,
}

/// Keys of a recorded trace of requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[non_exhaustive]
pub struct TraceKeys {
    /// Path of the trace file, plain or compressed, relative to the configuration. Only with `kind = "trace"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Format of the trace file. By default, the contents decide. Only with `kind = "trace"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// Unit of the time stamps in the trace file. By default, the format and the contents decide. The key is not allowed for a format
    /// that writes seconds and microseconds in two fields. Only with `kind = "trace"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_unit: Option<TimeUnit>,
    /// Number of bytes in a sector, if the format of the trace file counts sectors. Only with `kind = "trace"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_073_741_824))]
    pub sector_bytes: Option<u32>,
    /// Placement of the addresses of several devices in a trace. They are laid end to end in order of number (`"concat"`), or share
    /// the same addresses (`"fold"`). With a list of numbers, only these devices are used, laid end to end in the order of the list.
    /// Only with `kind = "trace"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub devices: Option<DevicePlacement>,
    /// Number of requests of a trace that are held back to put them in order of time, or `"sort"` to sort the whole trace. Only with
    /// `kind = "trace"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorder: Option<TraceSortMethod>,
    /// True to count lines of the trace file that cannot be read, and leave them out. Only with `kind = "trace"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip_bad_lines: Option<bool>,
    /// Time within which a request of a trace that repeats another one is left out. Only with `kind = "trace"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drop_repeats_within: Option<Duration>,
    /// Number of times that a trace is sent, one after another, with unchanged addresses. The first request of a repetition follows the
    /// last one before it at the mean distance between arrivals. Only with `kind = "trace"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub repeat: Option<u64>,
    /// Treatment of discards in a trace. They become trims (`"trim"`, the default), or are left out (`"ignore"`). Only with
    /// `kind = "trace"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discards: Option<DiscardPolicy>,
    /// Treatment of flushes in a trace. They are sent to the array (`"send"`, the default), or left out (`"ignore"`). Only with
    /// `kind = "trace"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flushes: Option<FlushPolicy>,
    /// Meanings of the columns of a trace, in their order, with their units: `"time:us,op,address:512,length:512,device,-,response"`. Or
    /// names of the header: `"time=Start:s,op=Kind,address=LBA:512,length=Bytes"`. Only with `kind = "trace"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<TraceColumns>,
    /// Direction of all requests, for a trace that does not distinguish reads from writes. Only with `kind = "trace"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<AssumedTraceDirection>,
}

/// Origin of a workload's requests: a generator, a recorded trace, or a mix of several workloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorkloadKind {
    /// A generator of synthetic requests.
    Synthetic,
    /// A recorded trace of requests.
    Trace,
    /// Several workloads (streams), whose requests are merged in order of arrival.
    Mix,
}

/// Direction that all requests of a trace get if the trace does not distinguish reads from writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AssumedTraceDirection {
    /// All requests count as reads, because the trace does not say which of them are reads.
    Read,
    /// All requests count as writes, because the trace does not say which of them are writes.
    Write,
}

/// Treatment of requests whose addresses lie beyond the end of the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AddressFit {
    /// Stops the run with an error at the first request that reaches beyond the end of the array.
    Error,
    /// Continues at address 0 after the end of the array.
    Wrap,
    /// Multiplies all addresses by the same factor, so that the end of the requests' original address range (`address_extent`) becomes
    /// the end of the array.
    Scale,
}

/// A number of requests or a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestsOrTime {
    /// A number of requests.
    Requests(u64),
    /// A period of time.
    Time(Duration),
}

impl Quantity for RequestsOrTime {
    const JSON_SCHEMA_FORMAT: &'static str = "requests-or-time";
    const ALLOWED_VALUES: &'static str = "a number of requests, such as 10000, or a duration with a unit, such as \"60s\"";
    const JSON_SCHEMA_PATTERN: &'static str = Duration::JSON_SCHEMA_PATTERN;
    const UNITLESS_RANGE: Option<AllowedUnitlessRange> =
        Some(AllowedUnitlessRange { min: 0.0, max: 9_007_199_254_740_991.0, only_whole_numbers: true });

    fn parse(text: &str) -> Result<Self, UnitError> {
        Duration::parse(text).map(Self::Time)
    }

    fn from_unitless_number(number: f64) -> Result<Self, UnitError> {
        Ok(Self::Requests(number as u64))
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Requests(requests) => (*requests).into(),
            Self::Time(time) => time.to_json(),
        }
    }
}
