//! The report of a run. It has the same contents in memory, as JSON and as tables.
//!
//! A value that is not defined (a percentile of no requests, an amplification of no writes) is `None`, and `null` in JSON. No number is
//! ever infinite or NaN. The same inputs give the same bytes, except for `wall_s` and the rates and memory in `perf`: see
//! [`Report::without_wall_clock`].

#[macro_use]
mod figures;

mod array;
mod build;
mod cache;
mod drives;
mod flash;
mod gc;
mod little;
mod marks;
mod members;
mod schema;
mod table;
mod verdict;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::config::ScaleBy;
use flashraid_model::metrics::trend::SAMPLES_BEYOND_QUANTILE_MIN;
use flashraid_model::ssd::Figures;

pub use array::{ByHealth, Controller, FailedMember, FailureReport, HedgedReads, Lost, Parity, PredictedReads, ReadPlanReport};
pub(crate) use build::{DriveInputs, ReportInputs};
pub(crate) use cache::cache;
pub use drives::{DieTimeShares, DriveReport, FrontEndReport, HandleReport, PlacementReport, SlcReport, UpkeepReport};
pub use flash::{Flash, ImpliedLife, Lifetime, WearReport};
pub use gc::{Gc, UncoordinatedCleans};
pub(crate) use little::check_closed_loop;
pub use marks::Mark;
pub use members::Member;
pub use schema::report_schema;
pub use table::{FEW_SAMPLES_MARK, TableRow, TableSection, format_figure};
pub use verdict::{LoadVerdict, Verdict};

/// Percentiles of response times: their names in documents, and the share of requests that are at most as long.
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
    pub requests: Requests,
    /// Response times, in microseconds.
    pub response_us: ByDirection<ResponseTime>,
    /// Results of each stream of a workload with `kind = "mix"`, in order; left out for other workloads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<StreamReport>,
    /// Bandwidth, in MB/s (10^6 bytes per second).
    pub bandwidth_mb_s: Bandwidth,
    /// Counts of reads, programs and erases on flash.
    pub flash: Flash,
    /// Garbage collection of all members.
    pub gc: Gc,
    /// Policy and counts of the write cache; empty without a cache.
    #[schemars(schema_with = "cache::cache_report_schema")]
    pub cache: serde_json::Map<String, Value>,
    /// Waits caused by the limits of the array's controller; `None` without limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<Controller>,
    /// Counters of the writes, reads and waits that parity costs; `None` for array levels without parity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parity: Option<Parity>,
    /// Counters of reads with `read.plan = "avoid"`: the array reads elsewhere if garbage is being collected where a wanted strip lies.
    /// `None` with other read plans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned_reads: Option<ReadPlanReport>,
    /// Counters of reads with a read plan that also reads elsewhere if no answer has come after a time (`read.plan = "hedge"`, for
    /// example). `None` with other read plans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hedged_reads: Option<HedgedReads>,
    /// Counters of reads with `read.plan = "predict"`: a read that is predicted to be slow is made from another copy or the rest of the
    /// stripe. `None` with other read plans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted_reads: Option<PredictedReads>,
    /// The first failure of a member and the rebuilding of this member; `None` if no failure was set. Counts of pages, and response
    /// times, cover all failures together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureReport>,
    /// All members for which a failure was set, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailedMember>,
    /// The members in order, followed by the spares.
    pub members: Vec<Member>,
    /// Speed of the simulator.
    pub perf: Perf,
    /// Findings about how far the results can be trusted.
    #[serde(default)]
    pub verdict: Verdict,
    /// Requests done per second of the measured time.
    #[serde(default)]
    pub iops: Iops,
    /// Number of bytes that the array offers. If scaled-down drives are simulated, it refers to the full-size drives.
    #[serde(default)]
    pub capacity_bytes: u64,
    /// Response times of the measured requests in ten batches. Two runs of the same workload can be compared batch by batch, which gives a
    /// confidence interval even with a single seed.
    #[serde(default)]
    pub batches: Batches,
    /// Response times divided into their causes, in microseconds.
    #[serde(default)]
    pub time_us: ResponseTimeParts,
    /// Results of the run, interval by interval.
    #[serde(default)]
    pub over_time: OverTime,
    /// Requests that were not served because too many members had failed.
    #[serde(default)]
    pub lost: Lost,
    /// Counters kept by drives with superblocks, summed over the drives; left out if the members have no superblocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drive: Option<DriveReport>,
    /// Counters kept by the queues, processor cores and write buffers of members without superblocks, summed over the members. Left out
    /// if the members have superblocks, or if none of `ssd.buffer`, `ssd.queues` and `ssd.firmware` is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front: Option<FrontEndReport>,
    /// Counters of optional effects in the members, such as read retries or background work of dies, summed over the members. Each
    /// effect has a table; left out if the members have no such effects.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    #[schemars(schema_with = "Figures::schema")]
    pub mechanisms: serde_json::Map<String, Value>,
    /// Time at which the statistics begin, in nanoseconds.
    pub measured_from_ns: u64,
    /// Time at which the statistics end, in nanoseconds. It is the time of the last answer to a measured request or, if no request was
    /// measured, `measured_from_ns`.
    pub measured_to_ns: u64,
    /// Time by which numbers of requests and bytes are divided to get requests per second and bandwidth, in nanoseconds. In an open
    /// loop, it is the measured time. In a closed loop, it is the mean time for which a slot of the queue depth was in use, think times
    /// included. A slot is the room for one outstanding request.
    pub load_ns: u64,
    /// Work that the host's writes left to the members at the end of the measured time: data in buffers, and collection.
    pub owed: Owed,
    /// True if the run was stopped before its end.
    pub partial: bool,
    /// Reason why the run was stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial_reason: Option<String>,
    /// Note about the origin of the requests; left out if there is none. It says, for example, that a named workload is a stand-in with
    /// published statistics.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload_note: Option<String>,
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
    pub timeline: Option<TimelineReport>,
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
    pub fn light_load(&self) -> Option<crate::light_load::LightLoad> {
        let mean = |member: &MemberOverTime| {
            let intervals = member.utilisation.len();
            (intervals > 0).then(|| member.utilisation.iter().sum::<f64>() / intervals as f64)
        };
        let busy = self.over_time.members.iter().filter_map(mean).reduce(f64::max)?;
        if self.config["coordination"]["scheme"] == "ideal" {
            return None;
        }
        let share = |time: TimeSpent| time.collection / time.total().max(f64::MIN_POSITIVE);
        let collection = [self.time_us.all, self.time_us.slowest_1_percent].into_iter().flatten().map(share).fold(0.0, f64::max);
        (self.verdict.load == LoadVerdict::Stable).then(|| crate::light_load::LightLoad::from_shares(busy, busy, collection)).flatten()
    }

    /// Returns the report without values that differ between two runs of the same inputs: times of the wall clock, rates, and memory.
    #[must_use]
    pub fn without_wall_clock(&self) -> Self {
        let perf = Perf { host_page_ops: self.perf.host_page_ops, flash_page_ops: self.perf.flash_page_ops, ..Perf::default() };
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
    /// Number of valid pages in victim blocks whose collection was in progress at the end of the measured time. It is 0 if collection
    /// cannot be preempted, because its moves then count as done when it begins. In drives with superblocks, it counts pages whose
    /// moves were due because of host writes, or had begun.
    pub moves_pages: u64,
    /// Time that dies still needed, at the end of the measured time, for collections that had begun or were waiting for their die. It is
    /// in microseconds, summed over all dies.
    pub collection_us: f64,
}

/// Number of requests of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Requests {
    /// Number of reads and writes.
    pub all: u64,
    /// Number of all reads.
    pub read: u64,
    /// Number of all writes.
    pub write: u64,
    /// Number of trims; left out if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub trim: u64,
    /// Number of flushes; left out if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub flush: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Requests per second; `None` for a measured time of no length.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Iops {
    /// Reads and writes per second.
    pub all: Option<f64>,
    /// Reads alone per second.
    pub read: Option<f64>,
    /// Writes alone per second.
    pub write: Option<f64>,
}

/// The measured reads and writes in ten batches, by their position in the order of arrival. Each list has a value for each batch, and is
/// empty with fewer than 100 requests. Two runs of the same workload have the same requests in the same batches.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Batches {
    /// Number of reads and writes that were done, one entry for each batch (a tenth of the measured reads and writes, in order of
    /// arrival).
    pub requests: Vec<u64>,
    /// Mean response time of each batch (a tenth of the measured reads and writes, in order of arrival), in microseconds. It is `None`
    /// if no request of the batch was done.
    pub mean_us: Vec<Option<f64>>,
    /// The 99th percentile of the response times of each batch (a tenth of the measured reads and writes, in order of arrival), in
    /// microseconds. A value exceeds the exact one by at most 1/64. Left out unless at least ten requests of each batch took longer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub p99_us: Vec<f64>,
    /// The 99.9th percentile of the response times of each batch (a tenth of the measured reads and writes, in order of arrival), in
    /// microseconds. A value exceeds the exact one by at most 1/64. Left out unless at least ten requests of each batch took longer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub p99_9_us: Vec<f64>,
}

/// Mean response times divided into their causes, in microseconds: of all requests, and of the slowest 10 %, 1 % and 0.1 %. Numbers of
/// slowest requests are rounded up: 10 % of n requests are the ⌈n/10⌉ slowest. Without requests, each mean is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ResponseTimeParts {
    /// Mean response time of all requests, divided into its causes.
    pub all: Option<TimeSpent>,
    /// Mean response time of the slowest tenth of the requests, divided into its causes.
    pub slowest_10_percent: Option<TimeSpent>,
    /// Mean response time of the slowest hundredth of the requests, divided into its causes.
    pub slowest_1_percent: Option<TimeSpent>,
    /// Mean response time of the slowest thousandth of the requests, divided into its causes.
    pub slowest_0_1_percent: Option<TimeSpent>,
}

impl ResponseTimeParts {
    /// Returns the means over all requests and over the slowest 10 %, 1 % and 0.1 %, each with its name for people.
    #[must_use]
    pub fn means_of_all_and_of_slowest(&self) -> [(&'static str, Option<TimeSpent>); 4] {
        [
            ("all", self.all),
            ("slowest 10 %", self.slowest_10_percent),
            ("slowest 1 %", self.slowest_1_percent),
            ("slowest 0.1 %", self.slowest_0_1_percent),
        ]
    }
}

/// Mean response time of a group of requests, divided into its causes, in microseconds. Of operations that run at the same time, only
/// those count that decided the end of the request. The causes therefore add up to the response time.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TimeSpent {
    /// Mean time per request spent waiting for other requests, in microseconds: for their operations, for full queues, and for the
    /// controller's limit of outstanding requests.
    pub queue: f64,
    /// Mean time per request spent waiting for garbage collection of any kind, in microseconds.
    pub collection: f64,
    /// Mean time per request that parity costs before the final reads or writes of the request begin, in microseconds. It covers waits for
    /// the lock of a stripe, and reads of old data and parity before a write. It also covers the time until the array reads from other
    /// members, if it does so because a member is slow or collects garbage.
    pub parity: f64,
    /// Mean time per request in the write cache or in a drive's write buffer, including waits for room, in microseconds.
    pub cache: f64,
    /// Mean time per request of transfers over channels, links and the controller of the array, including the wait for them, in
    /// microseconds.
    pub transfer: f64,
    /// Mean time per request that the flash array takes for the request's own reads and programs, in microseconds.
    pub flash: f64,
    /// Mean time per request for the overhead of commands and for firmware, and all other time, in microseconds.
    pub other: f64,
}

impl TimeSpent {
    /// Returns the mean time of each cause with the cause's name, in microseconds. The causes are in the order of the fields, from
    /// `queue` to `other`.
    #[must_use]
    pub fn named_causes(&self) -> [(&'static str, f64); 7] {
        let Self { queue, collection, parity, cache, transfer, flash, other } = *self;
        let parts = [queue, collection, parity, cache, transfer, flash, other];
        std::array::from_fn(|index| (flashraid_model::metrics::breakdown::CAUSE_NAMES[index], parts[index]))
    }

    /// Returns the mean response time, which is the sum of all causes, in microseconds.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.named_causes().iter().map(|(_, part)| part).sum()
    }
}

/// The measured time, interval by interval. Each list has a value for each interval. Requests count in the interval in which they end.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct OverTime {
    /// Length of an interval, in milliseconds. The end of the run cuts off the last one.
    pub interval_ms: f64,
    /// Times at which the intervals begin, in milliseconds.
    pub from_ms: Vec<f64>,
    /// Reads and writes per second.
    pub iops: Vec<f64>,
    /// Mean response time, in microseconds. This and the percentiles are `None` without requests.
    pub mean_us: Vec<Option<f64>>,
    /// Median response time, in microseconds. It exceeds the exact value by at most 1.6 %.
    pub p50_us: Vec<Option<f64>>,
    /// The 99th percentile of the response times, in microseconds. It exceeds the exact value by at most 1.6 %.
    pub p99_us: Vec<Option<f64>>,
    /// Longest response time, in microseconds.
    pub max_us: Vec<Option<f64>>,
    /// Mean number of outstanding requests: those that have arrived and not ended.
    pub outstanding: Vec<f64>,
    /// Write amplification: (pages that requests write + pages that collections move) / pages that requests write. `None` without writes.
    pub write_amplification: Vec<Option<f64>>,
    /// Share of the write cache that is full at the end of the interval; empty without a cache.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cache_occupancy: Vec<Option<f64>>,
    /// Share of the strips of all failed members that are rebuilt; empty if none fails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rebuilt_fraction: Vec<Option<f64>>,
    /// Use of the members, followed by that of the spares.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<MemberOverTime>,
    /// Failures of members and their rebuilding, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<TimelineMark>,
}

/// Use of a member over time. Each list has a value for each interval of the measured time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct MemberOverTime {
    /// Share of each interval for which the member's dies worked, for the host, for collection or for rebuilding.
    pub utilisation: Vec<f64>,
    /// Mean time from the arrival of a page operation at the member to its end, in microseconds. It covers the operations that ended in
    /// the interval; `None` if none did.
    pub response_us: Vec<Option<f64>>,
    /// Mean number of page operations in the member during each interval, waiting or being served.
    pub queue: Vec<f64>,
}

/// A result for all requests, for reads and for writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ByDirection<T> {
    /// Result for reads and writes together.
    pub all: T,
    /// Result for reads alone.
    pub read: T,
    /// Result for writes alone.
    pub write: T,
}

/// Results of one stream, which is one of the workloads that a workload with `kind = "mix"` merges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct StreamReport {
    /// Requests per second over the measured time.
    pub iops: Iops,
    /// Response times, in microseconds.
    pub response_us: ByDirection<ResponseTime>,
}

/// Response times, in microseconds. Moments are exact, and percentiles exceed the exact values by at most 0.1 %. All except the count are
/// `None` without requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ResponseTime {
    /// Number of measured requests.
    pub count: u64,
    /// Mean of all response times, exact, in microseconds.
    pub mean: Option<f64>,
    /// Standard deviation in microseconds, exact: divided by n, since these are all requests and not a sample.
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
    /// 99th percentile: 99 % of the requests took no longer. The value exceeds the exact one by at most 0.1 %.
    pub p99: Option<f64>,
    /// 99.9th percentile, in microseconds: of a thousand requests one took longer. The value exceeds the exact one by at most 0.1 %.
    pub p99_9: Option<f64>,
    /// 99.99th percentile, in microseconds: of ten thousand requests one took longer. The value exceeds the exact one by at most 0.1 %.
    pub p99_99: Option<f64>,
    /// Variance, exact, in µs².
    pub variance: Option<f64>,
    /// Distribution as points (response time in microseconds, share of the requests that took at most this time).
    pub cdf: Vec<(f64, f64)>,
}

/// Bandwidth, in MB/s (10^6): bytes done per interval. See [`flashraid_model::metrics::bandwidth`] for the intervals that count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Bandwidth {
    /// Mean bandwidth of the complete intervals, in MB/s (10^6 bytes per second). The last interval is left out if the measured time
    /// ends within it. Without a complete interval, the value is that of `overall`.
    pub mean: Option<f64>,
    /// Standard deviation of the bandwidth over the complete intervals, in MB/s (10^6 bytes per second).
    pub stddev: Option<f64>,
    /// Coefficient of variation: the standard deviation divided by the mean.
    pub cv: Option<f64>,
    /// Length of an interval, in milliseconds.
    pub interval_ms: f64,
    /// Number of complete intervals over which mean and standard deviation are computed.
    pub intervals: u64,
    /// All bytes divided by `load_ns` of the report, in MB/s (10^6 bytes per second). `load_ns` is the measured time or, in a closed
    /// loop, often a little less.
    pub overall: Option<f64>,
    /// Length of an interval of the series, in milliseconds.
    pub series_interval_ms: f64,
    /// Bandwidth of each interval of the series, in MB/s (10^6 bytes per second).
    pub series: Vec<f64>,
    /// Distribution of the intervals' bandwidth x, as points (z, density) with z = (x − mean) / stddev.
    pub z_density: Vec<(f64, f64)>,
}

/// Speed of the simulator in this run. It covers the whole run, including the part that the statistics skip.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Perf {
    /// Number of pages read and programmed for the host.
    pub host_page_ops: u64,
    /// Number of page reads and programs on flash.
    pub flash_page_ops: u64,
    /// Host page operations per second of the wall clock, without warm-up.
    pub host_page_ops_per_s: f64,
    /// Time of the warm-up, in seconds of the wall clock.
    pub warm_up_s: f64,
    /// Greatest amount of memory that was resident, in bytes; `None` if the operating system does not tell.
    pub peak_rss_bytes: Option<u64>,
    /// Flash page operations per second of the wall clock, without warm-up.
    pub flash_page_ops_per_s: f64,
    /// Requests per second of the wall clock, without warm-up.
    pub requests_per_s: f64,
    /// Time of the simulation without warm-up, in seconds of the wall clock.
    pub run_s: f64,
}

impl ResponseTime {
    /// Returns true if at least ten requests took longer than this percentile, so that it is more than a guess.
    #[must_use]
    pub fn has_enough_samples_for(&self, quantile: f64) -> bool {
        self.count as f64 * (1.0 - quantile) >= SAMPLES_BEYOND_QUANTILE_MIN as f64 - 1e-6
    }
}

impl Perf {
    /// Computes rates from counts and times. A rate over no time is 0.
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
pub struct TimelineReport {
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
    pub requests: Vec<TimelineRequest>,
    /// Collections of single victim blocks that ran at some time in the window, from `from_ns` to `to_ns`.
    pub gc: Vec<TimelineGc>,
    /// Destages of the write cache that ran at some time in the window, from `from_ns` to `to_ns`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub destages: Vec<TimelineDestage>,
    /// Failures of members and their rebuilding, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<TimelineMark>,
    /// The slowest request that ended in the window, from `from_ns` to `to_ns`; left out if none ended there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowest: Option<TimelineSlowest>,
}

/// The slowest request that ended in the window of a timeline (a stretch of simulated time), and the collection for which it waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TimelineSlowest {
    /// Index in `requests` of the slowest request of the timeline.
    pub request: usize,
    /// Part of the slowest request's response time that was spent waiting for garbage collection, in nanoseconds.
    pub collection_ns: u64,
    /// Index in `gc` of the collection for which the slowest request waited.
    ///
    /// Of several collections, the one that overlaps longest with the request counts. Only collections of members with the request's data
    /// are considered. If the array has parity, a write cache or failures of members, the collections of all members are. The index is
    /// left out if the request waited for no collection that the timeline contains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gc: Option<usize>,
}

/// An event on a timeline: a member has failed, or its rebuilding has begun or ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TimelineMark {
    /// Time of the event, in nanoseconds.
    pub at_ns: u64,
    /// Kind of the event.
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
pub struct TimelineDestage {
    /// Number of the member.
    pub member: u32,
    /// True if the pages come from the member's own cache, false if they come from a cache of write groups (pages of a stripe).
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
pub struct TimelineRequest {
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
pub struct TimelineGc {
    /// Number of the member.
    pub member: u32,
    /// Number of the die in the member.
    #[serde(rename = "element")]
    pub die: u32,
    /// Number of the pool of blocks in the die. If each plane has a pool, it is the number of the plane; otherwise, it is 0.
    pub pool: u32,
    /// Time at which the collection of the victim block starts, in nanoseconds. Until `writes_wait_from_ns`, any request of the die may
    /// be served between two steps (state 1 in section III.D of the paper on preemptive collection, PGC).
    pub start_ns: u64,
    /// Time from which writes of the die wait for the end of the collection, in nanoseconds; `end_ns` if they never have to. Reads may
    /// still be served between two steps (state 2 in section III.D of the paper on preemptive collection, PGC).
    pub writes_wait_from_ns: u64,
    /// Time from which all requests of the die wait for the end of the collection, in nanoseconds. This is state 3 in section III.D of
    /// the paper on preemptive collection, PGC. The time is `start_ns` without preemption, and `end_ns` if requests never have to wait.
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
