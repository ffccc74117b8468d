//! The report of a run. It has the same contents in memory, as JSON and as tables.
//!
//! A value that is not defined (a percentile of no requests, an amplification of no writes) is `None`, and `null` in JSON. No number is
//! ever infinite or NaN. The same inputs give the same bytes, except for `wall_s` and the rates and memory in `perf`: see
//! [`Report::without_wall_clock`].

#[macro_use]
mod figures;

mod array;
mod because;
mod build;
mod cache;
mod counters;
mod cycles;
mod drives;
mod flash;
mod gc;
mod little;
mod marks;
mod members;
mod schema;
mod table;
mod upper_bounds;
mod verdict;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::config::ScaledDriveDimension;
use crate::load_rise::LoadRiseUntilGcMatters;
use flashraid_model::array::ReadPlanCounters;
use flashraid_model::metrics::trend::SAMPLES_BEYOND_QUANTILE_MIN;
use flashraid_workload::trace::MeasuredResponseTimes;

pub use array::{ControllerThrottlingReport, FailedMember, FailureReport, LostPagesReport, Parity, ResponseTimesByHealth};
pub use because::{
    Because, Change, ChangeLeftOut, PairedDifference, PairedFigure, PairedFigures, WHY_THEY_DIFFER, WaitedAndCaused, WaitedAndCausedShares,
};
pub(crate) use build::{ReportInputs, SuperblockDriveInputs};
pub(crate) use cache::cache;
pub use counters::OptionalTables;
use counters::mechanisms_schema;
pub use cycles::{CREDIT_SHARE_MAX, CYCLES_MIN, CycleCounts, CycleKind, Cycles, Shortfall};
pub use drives::{
    DieTimeShares, DriveQueuesAndBuffersReport, HandleReport, PlacementHandleBytesReport, RefreshAndWearLevellingReport, SlcReport,
    SuperblockDriveReport,
};
pub use flash::{FlashCountersReport, ImpliedLife, Lifetime, WearReport};
pub use gc::{Gc, UncoordinatedCleans};
pub(crate) use little::check_closed_loop;
pub use marks::{MarkEffect, MayWin, WarningMark};
pub use members::Member;
pub use schema::report_schema;
pub use table::{FEW_SAMPLES_MARK, TableRow, TableSection, WAITED_TITLE, format_figure};
pub(crate) use upper_bounds::{DoneInRun, check_upper_bounds};
pub(crate) use verdict::is_short_loop;
pub use verdict::{LoadVerdict, Verdict};

/// Percentiles of response times that a report has. Each has its name in documents and a share: the share of requests whose response
/// time is at most the percentile (0.99 for `p99`).
pub const REPORTED_PERCENTILES: [(&str, f64); 6] =
    [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99_9", 0.999), ("p99_99", 0.9999)];

/// Name and version of the format of a report.
pub const REPORT_SCHEMA_NAME: &str = "flashraid.report/2";

/// The report of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Report {
    /// Name and version of the format: [`REPORT_SCHEMA_NAME`].
    pub schema: String,
    /// Version of the program that made the report.
    pub version: String,
    /// Seed of the run.
    pub seed: u64,
    /// Hash of the resolved configuration.
    pub config_hash: String,
    /// The resolved configuration, with all defaults filled in.
    #[schemars(with = "crate::config::Config")]
    pub config: Value,
    /// Simulated time, in nanoseconds, including the part that the statistics skip.
    pub simulated_ns: u64,
    /// Time that the run took, including its warm-up, in seconds of the wall clock.
    pub wall_s: f64,
    /// Number of requests that the statistics count.
    pub requests: RequestCountsByKind,
    /// Response times, in microseconds.
    pub response_us: TotalReadWrite<ResponseTime>,
    /// Results of each stream of a workload with `kind = "mix"`, in order; left out for other workloads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<MixStreamReport>,
    /// Bandwidth, in MB/s (10^6 bytes per second).
    pub bandwidth_mb_s: HostBandwidthPerInterval,
    /// Counts of reads, programs and erases on flash.
    pub flash: FlashCountersReport,
    /// Counters, times and shares of garbage collection, over all members.
    pub gc: Gc,
    /// Policy and counts of the write cache; empty without a cache.
    #[schemars(schema_with = "cache::cache_report_schema")]
    pub cache: serde_json::Map<String, Value>,
    /// Waits caused by the limits of the array's controller; `None` without limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<ControllerThrottlingReport>,
    /// Counters of the writes, reads and waits that parity costs; `None` for array levels without parity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parity: Option<Parity>,
    /// Counters of the read plan, in tables of their own that stand beside the other parts of the report.
    #[serde(flatten)]
    pub read_plan: OptionalTables<ReadPlanCounters>,
    /// The first failure of a member and the rebuilding of this member; `None` if no failure was set. If several members fail, the counts
    /// of pages and the response times here are those of all failures together. Everything else is about the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureReport>,
    /// All members for which a failure was set, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailedMember>,
    /// The members in order, followed by the spares.
    pub members: Vec<Member>,
    /// Speed of the simulator.
    pub perf: SimulatorSpeed,
    /// Findings about how far the results can be trusted.
    #[serde(default)]
    pub verdict: Verdict,
    /// Requests done per second of simulated time: their number in the measured time, divided by `load_ns`.
    #[serde(default)]
    pub iops: Iops,
    /// Number of bytes that the array offers. If scaled-down drives are simulated, it refers to the full-size drives.
    #[serde(default)]
    pub capacity_bytes: u64,
    /// Response times of the measured requests in ten batches. Two runs of the same workload can be compared batch by batch, which gives a
    /// confidence interval even with a single seed.
    #[serde(default)]
    pub batches: RequestBatches,
    /// Response times divided by what requests waited for, in microseconds.
    #[serde(default)]
    pub time_us: ResponseTimeParts,
    /// Causes of the response times: the same requests once more with one thing changed, and the differences. Left out unless it was
    /// asked for (`run --because`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<Because>,
    /// Results over the measured time, which is divided into intervals of equal length.
    #[serde(default)]
    pub over_time: ResultsOverTime,
    /// Requests that were not served because too many members had failed.
    #[serde(default)]
    pub lost: LostPagesReport,
    /// Counters kept by drives with superblocks, summed over the drives; left out if the members have no superblocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drive: Option<SuperblockDriveReport>,
    /// Counters kept by the queues, processor cores and write buffers of members without superblocks, summed over the members. Left out
    /// if the members have superblocks, or if none of `ssd.buffer`, `ssd.queues` and `ssd.firmware` is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front: Option<DriveQueuesAndBuffersReport>,
    /// Counters of optional mechanisms that take time of the members' dies, such as read retries and background work, summed over the
    /// members. Each configured mechanism has a table of its counters. Left out if no mechanism is configured.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    #[schemars(schema_with = "mechanisms_schema")]
    pub mechanisms: serde_json::Map<String, Value>,
    /// Time at which the statistics begin, in nanoseconds.
    pub measured_from_ns: u64,
    /// Time at which the statistics end, in nanoseconds. It is the time of the last answer to a measured request or, if no request was
    /// measured, `measured_from_ns`.
    pub measured_to_ns: u64,
    /// Time by which numbers of requests and bytes are divided to get requests per second and bandwidth, in nanoseconds. In an open
    /// loop, it is the measured time. In a closed loop, the queue depth is a number of places, each for one outstanding request. The
    /// time is then the mean time for which a place had a request, or waited for the think time before its next request. Places that
    /// never had a request do not count.
    pub load_ns: u64,
    /// Number of cycles of collection in the measured time, by kind. They say if collection happened often enough to judge the run.
    #[serde(default)]
    pub cycles: Cycles,
    /// Work that the host's writes left to the members at the end of the measured time: data in buffers, and collection.
    pub owed: Owed,
    /// True if the run was stopped before its end.
    pub partial: bool,
    /// Reason why the run was stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial_reason: Option<String>,
    /// Note about the origin of the requests; left out if there is none. It says, for example, that the requests of a named workload
    /// (`workload.preset`) are not a recorded trace. They are then generated to match the published statistics of a trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload_note: Option<String>,
    /// Response times that the trace of the workload tells, in microseconds: how long its requests took when they were recorded. Left out
    /// if it tells none, or if there is no trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_response_us: Option<MeasuredResponseTimes>,
    /// Assumptions made, and parts left out, in reading traces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace_notes: Vec<String>,
    /// Warnings that the user should know before trusting the results.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Numbers of free blocks over time, as multiples of the threshold at which collection starts; one list of points for each member.
    /// A pool of blocks (of a plane or die) is sampled when collection of one of its blocks begins, and just before the block's erase. A
    /// point has the begin of a period in ms, and the least, mean and greatest sample of all pools in the period. Periods are 1 ms long,
    /// doubled as often as needed to have at most 256 points.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub free_blocks: Vec<Vec<(f64, f64, f64, f64)>>,
    /// Single requests and collections in the window of simulated time that `report.timeline` sets; left out if that key is not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeline: Option<EventTimelineReport>,
}

impl Report {
    /// Returns the JSON document, as `flashraid run --json` prints it.
    #[must_use]
    pub fn to_json(&self) -> String {
        let document = serde_json::to_value(self).expect("a report is plain data");
        format!("{document:#}\n")
    }

    /// Returns the factors by which the load would have to rise until remedies (settings that reduce the effects of garbage collection)
    /// matter. Returns `None` for a closed loop, and for an array that is not lightly loaded.
    #[must_use]
    pub fn load_rise_until_gc_matters(&self) -> Option<LoadRiseUntilGcMatters> {
        if self.config["coordination"]["scheme"] == "ideal" {
            return None;
        }
        let Self { over_time, time_us, because, verdict, .. } = self;
        let parts = json!({ "over_time": over_time, "time_us": time_us, "because": because, "verdict": verdict });
        LoadRiseUntilGcMatters::of_report(&parts, 0.0)
    }

    /// Returns the reason why the run is not judged, if it is not. A comparison then says nothing about its figures.
    #[must_use]
    pub fn shortfall(&self) -> Option<Shortfall> {
        self.cycles.shortfall(self.owed.credit_share)
    }

    /// Returns the report without the values that differ between two runs of the same inputs. These are times of the wall clock, speeds
    /// of the simulator (such as requests per second of the wall clock), and its memory.
    #[must_use]
    pub fn without_wall_clock(&self) -> Self {
        let perf = SimulatorSpeed {
            host_page_ops: self.perf.host_page_ops,
            flash_page_ops: self.perf.flash_page_ops,
            ..SimulatorSpeed::default()
        };
        Self { wall_s: 0.0, perf, ..self.clone() }
    }
}

/// Work that the host's writes left to the members at the end of the measured time: data in buffers, and collection.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Owed {
    /// Number of bytes in write caches and in drives' write buffers that were not yet programmed into flash at the end of the measured
    /// time.
    pub buffered_bytes: u64,
    /// Number of valid pages that collection still had to move out of victim blocks at the end of the measured time. Without preemption,
    /// it is 0, because all moves of a victim block count as done when its collection begins. In drives with superblocks, each host
    /// write makes some moves due, which are made later. The pages of such moves, due or in progress, count there.
    pub moves_pages: u64,
    /// Number of pages that collection would have to program, beyond `moves_pages`, to win back the free space that the run used up. Each
    /// pool of blocks must have as much as at the start of the measured time. The victims are those with the fewest valid pages.
    #[serde(default)]
    pub credit_pages: u64,
    /// The same as a share of the pages that were programmed; `None` if none were.
    #[serde(default)]
    pub credit_share: Option<f64>,
    /// Time that dies still needed, at the end of the measured time, for collections that had begun or were waiting for their die. It is
    /// in microseconds, summed over all dies.
    pub collection_us: f64,
}

/// Number of requests of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct RequestCountsByKind {
    /// Number of measured reads and writes: those that arrived in the measured time and were served.
    pub all: u64,
    /// Number of measured reads: those that arrived in the measured time and were served.
    pub read: u64,
    /// Number of measured writes: those that arrived in the measured time and were served.
    pub write: u64,
    /// Number of trims in the measured time; left out if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub trim: u64,
    /// Number of flushes in the measured time; left out if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub flush: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Requests done per second of simulated time: their number in the measured time, divided by `load_ns` of the report. In an open loop,
/// `load_ns` is the measured time. In a closed loop, it is the mean time for which a slot of the queue depth was in use. Slots that never
/// had a request do not count. `None` if `load_ns` is 0.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Iops {
    /// Number of reads and writes together that were done per second of simulated time. `None` if `load_ns` of the report, the time by
    /// which the number is divided, is 0.
    pub all: Option<f64>,
    /// Number of reads that were done per second of simulated time. `None` if `load_ns` of the report, the time by which the number is
    /// divided, is 0.
    pub read: Option<f64>,
    /// Number of writes that were done per second of simulated time. `None` if `load_ns` of the report, the time by which the number is
    /// divided, is 0.
    pub write: Option<f64>,
}

/// The measured reads and writes in ten batches, by their position in the order of arrival. Each list has a value for each batch, and is
/// empty with fewer than 100 requests. Two runs of the same workload have the same requests in the same batches.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct RequestBatches {
    /// Reads and writes together. Requests that were lost or not done at the end are left out.
    #[serde(flatten)]
    pub all: BatchFigures,
    /// The reads among the requests of each batch; left out without reads.
    #[serde(default, skip_serializing_if = "BatchFigures::is_empty")]
    pub read: BatchFigures,
    /// The writes among the requests of each batch; left out without writes.
    #[serde(default, skip_serializing_if = "BatchFigures::is_empty")]
    pub write: BatchFigures,
}

/// Figures of some requests in each of the ten batches. A batch is a tenth of the measured reads and writes together, in order of arrival.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct BatchFigures {
    /// Number of these requests in each batch that were done.
    pub requests: Vec<u64>,
    /// Mean response time of these requests in each batch, in microseconds. It is `None` if the batch has none of them.
    pub mean_us: Vec<Option<f64>>,
    /// The 99th percentile of these response times in each batch, in microseconds. A value exceeds the exact one by at most 1/64 of it.
    /// Left out unless, in each batch, at least ten of these requests took longer than the percentile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub p99_us: Vec<f64>,
    /// The 99.9th percentile of these response times in each batch, in microseconds. A value exceeds the exact one by at most 1/64 of it.
    /// Left out unless, in each batch, at least ten of these requests took longer than the percentile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub p99_9_us: Vec<f64>,
}

impl BatchFigures {
    fn is_empty(&self) -> bool {
        self.requests.iter().all(|requests| *requests == 0)
    }
}

/// Mean response times divided by what requests waited for, in microseconds: of all requests, and of the slowest 10 %, 1 % and 0.1 %. The
/// parts say where requests waited. They do not say what would change without collection, parity or other requests; `because` says that.
/// Numbers of slowest requests are rounded up: 10 % of n requests are the ⌈n/10⌉ slowest. Without requests, each mean is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ResponseTimeParts {
    /// Mean response time of all requests, divided by what they waited for.
    pub all: Option<MeanResponseTimeByCause>,
    /// Mean response time of the slowest tenth of the requests, divided by what they waited for.
    pub slowest_10_percent: Option<MeanResponseTimeByCause>,
    /// Mean response time of the slowest hundredth of the requests, divided by what they waited for.
    pub slowest_1_percent: Option<MeanResponseTimeByCause>,
    /// Mean response time of the slowest thousandth of the requests, divided by what they waited for.
    pub slowest_0_1_percent: Option<MeanResponseTimeByCause>,
}

impl ResponseTimeParts {
    /// Returns the mean response time, divided by what requests waited for, of all requests and of the slowest 10 %, 1 % and 0.1 %. Each
    /// comes with a label for people, such as `slowest 1 %`, and is `None` without requests.
    #[must_use]
    pub fn means_of_all_and_slowest_percents(&self) -> [(&'static str, Option<MeanResponseTimeByCause>); 4] {
        [
            ("all", self.all),
            ("slowest 10 %", self.slowest_10_percent),
            ("slowest 1 %", self.slowest_1_percent),
            ("slowest 0.1 %", self.slowest_0_1_percent),
        ]
    }
}

/// Mean response time of a group of requests, divided by what they waited for, in microseconds. Of operations that run at the same time,
/// only those count that decided the end of the request. The parts therefore add up to the response time.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct MeanResponseTimeByCause {
    /// Mean time per request spent waiting for other requests, in microseconds: for their operations, for full queues, and for the
    /// controller's limit of outstanding requests.
    pub queue: f64,
    /// Mean time per request spent waiting for garbage collection of any kind, in microseconds.
    pub collection: f64,
    /// Mean time per request that is lost before its final reads or writes begin, in microseconds. Before a write with parity, this is
    /// the wait for the lock of a stripe, and reads of old data and parity. An array may first try one member, and then read from others
    /// because the first is slow or collects garbage. The time until then counts here, too.
    pub parity: f64,
    /// Mean time per request in the write cache or in a drive's write buffer, including waits for room, in microseconds.
    pub cache: f64,
    /// Mean time per request of transfers over channels, links and the controller of the array, including the wait for them, in
    /// microseconds.
    pub transfer: f64,
    /// Mean time per request that the flash cells take for the request's own reads and programs, in microseconds. Waits and transfers do
    /// not count.
    pub flash: f64,
    /// Mean time per request that belongs to no other part, in microseconds, such as the overhead of commands and the work of firmware.
    pub other: f64,
}

impl MeanResponseTimeByCause {
    /// Returns each part of the response time: its name, and its mean time per request in microseconds. The parts are in the order of the
    /// fields, from `queue` to `other`.
    #[must_use]
    pub fn named_causes(&self) -> [(&'static str, f64); 7] {
        let Self { queue, collection, parity, cache, transfer, flash, other } = *self;
        let parts = [queue, collection, parity, cache, transfer, flash, other];
        std::array::from_fn(|index| (flashraid_model::metrics::breakdown::RESPONSE_TIME_CAUSE_NAMES[index], parts[index]))
    }

    /// Returns the mean response time, which is the sum of all parts, in microseconds.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.named_causes().iter().map(|(_, part)| part).sum()
    }
}

/// Results over the measured time of a run, which is divided into intervals of equal length. Each list of results has a value for each
/// interval. Requests count in the interval in which they end.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ResultsOverTime {
    /// Length of an interval of the measured time, in milliseconds. The end of the run cuts off the last one.
    pub interval_ms: f64,
    /// Times at which the intervals of the measured time begin, in milliseconds.
    pub from_ms: Vec<f64>,
    /// Number of reads and writes per second, for each interval of the measured time.
    pub iops: Vec<f64>,
    /// Mean response time of each interval of the measured time, in microseconds. It is `None` if no request ended in the interval.
    pub mean_us: Vec<Option<f64>>,
    /// Median response time of each interval of the measured time, in microseconds; `None` if no request ended in the interval. It exceeds
    /// the exact value by at most 1.6 %.
    pub p50_us: Vec<Option<f64>>,
    /// The 99th percentile of the response times of each interval of the measured time, in microseconds; `None` if no request ended in the
    /// interval. It exceeds the exact value by at most 1.6 %.
    pub p99_us: Vec<Option<f64>>,
    /// Longest response time of each interval of the measured time, in microseconds; `None` if no request ended in the interval.
    pub max_us: Vec<Option<f64>>,
    /// Mean number of outstanding requests (those that have arrived and not ended), for each interval of the measured time.
    pub outstanding: Vec<f64>,
    /// Write amplification of each interval of the measured time: (pages that requests write + pages that collections move) / pages that
    /// requests write. It is `None` for an interval without writes.
    pub write_amplification: Vec<Option<f64>>,
    /// Share of the write cache that is full at the end of each interval of the measured time. It is `None` if it was not sampled in the
    /// interval. The list is empty without a cache.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cache_occupancy: Vec<Option<f64>>,
    /// Share of the strips of all failed members that are rebuilt at the end of each interval of the measured time. It is `None` if it
    /// was not sampled in the interval. The list is empty if no member fails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rebuilt_fraction: Vec<Option<f64>>,
    /// Use of each member over time: how busy its dies are, how long its page operations take, and how many it has at a time. The spares
    /// follow the members.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<MemberUtilisationOverTime>,
    /// Failures of members and their rebuilding, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<TimelineMark>,
}

/// Use of a member over time. Each list has a value for each interval of the measured time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct MemberUtilisationOverTime {
    /// Share of each interval of the measured time for which the member's dies worked, for the host, for collection or for rebuilding.
    pub utilisation: Vec<f64>,
    /// Mean time from the arrival of a page operation at the member to its end, in microseconds, for each interval of the measured time. It
    /// covers the operations that ended in the interval; `None` if none did.
    pub response_us: Vec<Option<f64>>,
    /// Mean number of page operations in the member, waiting or being served, during each interval of the measured time.
    pub queue: Vec<f64>,
}

/// Returns true for a value that is left out of documents.
fn is_none<T>(value: &Option<T>) -> bool {
    value.is_none()
}

/// A result for all requests, for reads and for writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TotalReadWrite<T> {
    /// Result for reads and writes together.
    pub all: T,
    /// Result for reads alone.
    pub read: T,
    /// Result for writes alone.
    pub write: T,
    /// Result for what makes data safe from a loss of power: flushes, each with the write before it, and writes with "force unit access".
    /// Left out if there are none.
    #[serde(skip_serializing_if = "is_none")]
    pub sync: Option<T>,
}

/// Results of one stream, which is one of the workloads that a workload with `kind = "mix"` merges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct MixStreamReport {
    /// Requests per second over the measured time.
    pub iops: Iops,
    /// Response times, in microseconds.
    pub response_us: TotalReadWrite<ResponseTime>,
}

/// Response times, in microseconds. Moments are exact, and percentiles exceed the exact values by at most 0.1 %. All except the count are
/// `None` without requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ResponseTime {
    /// Number of measured requests.
    pub count: u64,
    /// Mean of all response times, in microseconds. It is exact, unlike the percentiles, and `None` without requests.
    pub mean: Option<f64>,
    /// Standard deviation of all response times, in microseconds. It is exact, and `None` without requests. It is divided by n, because
    /// these are all requests and not a sample.
    pub stddev: Option<f64>,
    /// Shortest of all response times, in microseconds.
    pub min: Option<f64>,
    /// Longest of all response times, in microseconds.
    pub max: Option<f64>,
    /// Median, in microseconds: half of the requests took no longer. The value exceeds the exact one by at most 0.1 %.
    pub p50: Option<f64>,
    /// 90th percentile, in microseconds: 90 % of the requests took no longer. The value exceeds the exact one by at most 0.1 %.
    pub p90: Option<f64>,
    /// 95th percentile, in microseconds: 95 % of the requests took no longer. The value exceeds the exact one by at most 0.1 %.
    pub p95: Option<f64>,
    /// 99th percentile, in microseconds: 99 % of the requests took no longer. The value exceeds the exact one by at most 0.1 %.
    pub p99: Option<f64>,
    /// 99.9th percentile, in microseconds: of a thousand requests one took longer. The value exceeds the exact one by at most 0.1 %.
    pub p99_9: Option<f64>,
    /// 99.99th percentile, in microseconds: of ten thousand requests one took longer. The value exceeds the exact one by at most 0.1 %.
    pub p99_99: Option<f64>,
    /// Variance of all response times, in µs². It is exact, unlike the percentiles, and `None` without requests.
    pub variance: Option<f64>,
    /// Distribution of the response times, as points (response time in microseconds, share of the requests that took at most this time).
    pub cdf: Vec<(f64, f64)>,
}

/// Bandwidth, in MB/s (10^6): bytes done per interval. See [`flashraid_model::metrics::bandwidth`] for the intervals that count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct HostBandwidthPerInterval {
    /// Mean bandwidth of the complete intervals of the measured time, in MB/s (10^6 bytes per second). The last interval is left out if
    /// the measured time ends within it. Without a complete interval, the value is that of `overall`.
    pub mean: Option<f64>,
    /// Standard deviation of the bandwidth of intervals of the measured time, in MB/s (10^6 bytes per second). The last interval is left
    /// out if the measured time ends within it. Without a complete interval, the value is 0, or `None` if `overall` is `None`.
    pub stddev: Option<f64>,
    /// Coefficient of variation of the bandwidth of intervals of the measured time: `stddev` divided by `mean`. `None` if the mean is 0
    /// or `None`.
    pub cv: Option<f64>,
    /// Length of an interval over which bandwidth is measured, in milliseconds. The measured time is divided into such intervals.
    pub interval_ms: f64,
    /// Number of complete intervals of the measured time, over which mean and standard deviation of the bandwidth are computed.
    pub intervals: u64,
    /// Bandwidth over the whole measured time: all bytes divided by `load_ns` of the report, in MB/s (10^6 bytes per second). `load_ns`
    /// is the measured time. In a closed loop, it is often a little less, because the queue depth is not fully used at the end. `None`
    /// if `load_ns` is 0.
    pub overall: Option<f64>,
    /// Length of an interval of `series`, in milliseconds. It is `interval_ms` or a multiple of it.
    pub series_interval_ms: f64,
    /// Bandwidth over the measured time, in MB/s (10^6 bytes per second): one value for each interval of `series_interval_ms`.
    pub series: Vec<f64>,
    /// Distribution of the bandwidth x of the complete intervals of the measured time, as points (z, density) with z = (x − mean) /
    /// stddev.
    pub z_density: Vec<(f64, f64)>,
}

/// Speed of the simulator in this run. It covers the whole run, including the part that the statistics skip.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct SimulatorSpeed {
    /// Number of pages read and programmed for the host.
    pub host_page_ops: u64,
    /// Number of page reads and programs on flash.
    pub flash_page_ops: u64,
    /// Page operations for the host, simulated per second of the wall clock; the warm-up is left out.
    pub host_page_ops_per_s: f64,
    /// Time of the warm-up, in seconds of the wall clock.
    pub warm_up_s: f64,
    /// Greatest amount of memory that was resident, in bytes; `None` if the operating system does not tell.
    pub peak_rss_bytes: Option<u64>,
    /// Page operations on flash, simulated per second of the wall clock; the warm-up is left out.
    pub flash_page_ops_per_s: f64,
    /// Requests simulated per second of the wall clock; the warm-up is left out.
    pub requests_per_s: f64,
    /// Time of the simulation without warm-up, in seconds of the wall clock.
    pub run_s: f64,
}

impl ResponseTime {
    /// Returns true if at least ten requests took longer than the percentile `quantile` (0.99 for the 99th). With fewer requests, the
    /// value of the percentile depends too much on chance.
    #[must_use]
    pub fn has_enough_samples_for(&self, quantile: f64) -> bool {
        self.count as f64 * (1.0 - quantile) >= SAMPLES_BEYOND_QUANTILE_MIN as f64 - 1e-6
    }
}

impl SimulatorSpeed {
    /// Computes the speed of the simulator from counts of page operations and requests, and from times of the wall clock in seconds. A
    /// speed over no time is 0.
    #[must_use]
    pub fn new(host_page_ops: u64, flash_page_ops: u64, requests: u64, run_s: f64, warm_up_s: f64, peak_rss_bytes: Option<u64>) -> Self {
        let per_second = |count: u64| if run_s > 0.0 { count as f64 / run_s } else { 0.0 };
        Self {
            host_page_ops,
            flash_page_ops,
            host_page_ops_per_s: per_second(host_page_ops),
            warm_up_s,
            peak_rss_bytes,
            flash_page_ops_per_s: per_second(flash_page_ops),
            requests_per_s: per_second(requests),
            run_s,
        }
    }
}

/// Single requests and collections in a window of simulated time (`report.timeline`), in the order in which they were reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct EventTimelineReport {
    /// Beginning of the window of simulated time that the timeline shows, in nanoseconds.
    pub from_ns: u64,
    /// End of the window of simulated time that the timeline shows, in nanoseconds.
    pub to_ns: u64,
    /// Number of requests, collections and destages left out because there were too many of their kind.
    pub omitted: u64,
    /// Number of free blocks at or below which garbage collection starts in a pool of blocks (of a plane or of a die). The paper on
    /// preemptive collection, PGC, calls it T_soft.
    pub t_soft_free_blocks: u32,
    /// Host requests that were in progress at some time in the window, from `from_ns` to `to_ns`.
    pub requests: Vec<RequestOnTimeline>,
    /// Garbage collections that ran at some time in the window, from `from_ns` to `to_ns`. Each entry is the collection of one victim
    /// block.
    pub gc: Vec<TimelineBlockCollection>,
    /// Destages of the write cache that ran at some time in the window, from `from_ns` to `to_ns`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub destages: Vec<TimelineMemberDestage>,
    /// Failures of members and their rebuilding, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<TimelineMark>,
    /// The slowest request that ended in the window, from `from_ns` to `to_ns`; left out if none ended there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowest: Option<TimelineSlowestRequest>,
}

/// The slowest request that ended in the window of a timeline (a stretch of simulated time), and the collection for which it waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TimelineSlowestRequest {
    /// Index in `requests` of the slowest request of the timeline.
    pub request: usize,
    /// Part of the slowest request's response time that was spent waiting for garbage collection, in nanoseconds.
    pub collection_ns: u64,
    /// Index in `gc` of the collection for which the slowest request waited.
    ///
    /// Of several collections, the one that overlaps longest with the request is chosen. Only collections of members with the request's
    /// data are considered. With parity, a write cache or failures of members, the collections of all members are considered. The
    /// request may then have waited for any member. The index is left out if the request waited for no collection that the timeline
    /// contains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gc: Option<usize>,
}

/// An event on a timeline: a member has failed, or its rebuilding has begun or ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TimelineMark {
    /// Simulated time at which the member failed, or its rebuilding began or ended, in nanoseconds from the start of the run.
    pub at_ns: u64,
    /// Kind of the event: the failure of a member, or the begin or end of its rebuilding.
    pub what: FailureEventKind,
    /// Number of the failed member.
    pub member: u32,
}

/// Kinds of events in the failure of a member: the failure itself, and the begin and end of its rebuilding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FailureEventKind {
    /// The member failed at this time.
    Failed,
    /// Rebuilding of the member began.
    RebuildBegan,
    /// Rebuilding of the member ended.
    RebuildEnded,
}

/// The part of one member in a destage, on a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TimelineMemberDestage {
    /// Number of the member to which the pages were written.
    pub member: u32,
    /// True if the destaged pages come from the write cache of this member alone. False if they come from a write cache of the whole
    /// array, which destages its pages of a stripe together (a write group).
    pub own_cache: bool,
    /// Number of the stripe to which the destaged pages belong.
    pub stripe: u64,
    /// Number of pages written to the member.
    pub pages: u32,
    /// Time at which the destage began, in nanoseconds.
    pub begun_ns: u64,
    /// Time at which the member had written its pages, in nanoseconds. If the pages of a whole stripe are destaged with parity (a write
    /// group), it is the time at which all members had.
    pub ended_ns: u64,
    /// Time at which all members had written their pages, in nanoseconds.
    pub done_ns: u64,
}

/// A request on a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct RequestOnTimeline {
    /// Number of the request in the order of arrival, from 0. All requests of the run are counted, including those outside the timeline.
    pub index: u64,
    /// Time of arrival, in nanoseconds.
    pub arrival_ns: u64,
    /// Time at which the request was done, in nanoseconds.
    pub done_ns: u64,
    /// True for a write, false for a read.
    pub write: bool,
    /// Address in the array of the request's first byte.
    pub offset_bytes: u64,
    /// Number of bytes of the request.
    pub length_bytes: u64,
    /// Number of members on which the request waited for a collection.
    pub gc_members_met: u32,
}

/// The collection of one victim block, on a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TimelineBlockCollection {
    /// Number of the member that has the victim block.
    pub member: u32,
    /// Number of the die in the member.
    #[serde(rename = "element")]
    pub die: u32,
    /// Number of the pool of blocks in the die. If each plane has a pool, it is the number of the plane; otherwise, it is 0.
    pub pool: u32,
    /// Time at which the collection of the victim block starts, in nanoseconds. Until `writes_wait_from_ns`, any request of the die may
    /// be served between two steps of the collection, such as moves of pages. This is called state 1 in section III.D of the paper on
    /// preemptive collection, PGC.
    pub start_ns: u64,
    /// Time from which writes of the die wait for the end of the collection, in nanoseconds; `end_ns` if they never have to. Reads of
    /// the die may still be served between two steps of the collection, such as moves of pages. This is called state 2 in section III.D
    /// of the paper on preemptive collection, PGC.
    pub writes_wait_from_ns: u64,
    /// Time from which all requests of the die wait for the end of the collection, in nanoseconds. This is called state 3 in section
    /// III.D of the paper on preemptive collection, PGC. The time is `start_ns` without preemption, and `end_ns` if requests never have
    /// to wait.
    pub all_wait_from_ns: u64,
    /// Time at which the collection ends with the erase of the victim block, in nanoseconds.
    pub end_ns: u64,
    /// Number of free blocks in the victim block's pool of blocks (of a plane or of a die) when the collection of the block started.
    pub free_blocks_before: u32,
    /// Number of free blocks in the victim block's pool of blocks (of a plane or of a die) just before the erase of the block. It is the
    /// least number during the collection of the block.
    #[serde(rename = "free_blocks_least")]
    pub free_blocks_min: u32,
    /// Number of valid pages moved out of the victim block.
    pub pages_moved: u32,
    /// True if the array's controller forced this collection, false if the member began it by itself.
    pub forced: bool,
}
