//! The report of a run: one document, with the same contents in memory, as JSON and as tables.
//!
//! A figure that is not defined (a percentile of no requests, an amplification of no writes) is `None`, and `null` in JSON. No number is
//! ever infinite or NaN.
//!
//! The same inputs give the same bytes, except for `wall_s` and the rates and memory in `perf`: see [`Report::without_wall_clock`].

mod build;
mod cache;
mod drives;
mod little;
mod marks;
mod schema;
mod table;
mod verdict;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::config::ScaleBy;
use flashraid_model::metrics::trend::SAMPLES_BEYOND;
use flashraid_model::ssd::Figures;

pub(crate) use build::{DriveInputs, ReportInputs};
pub(crate) use cache::cache;
pub use drives::{DieTime, DriveReport, FrontReport, HandleReport, PlacementReport, SlcReport, UpkeepReport};
pub(crate) use little::check_closed_loop;
pub use marks::Mark;
pub use schema::schema;
pub use table::{GUESS, Row, Section, format_figure};
pub use verdict::{Load, Verdict};

/// Percentiles of response times: their names in documents, and the shares of requests that do not exceed them.
pub const PERCENTILES: [(&str, f64); 6] = [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99_9", 0.999), ("p99_99", 0.9999)];

/// Name and version of the format of a report.
pub const REPORT_SCHEMA: &str = "flashraid.report/2";

/// The report of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Report {
    /// Name and version of the format: [`REPORT_SCHEMA`].
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
    /// Simulated time, in nanoseconds, with the part that the statistics skip.
    pub simulated_ns: u64,
    /// Time that the run took, with its warm-up, in seconds of the wall clock.
    pub wall_s: f64,
    /// Number of requests that are done and counted.
    pub requests: Requests,
    /// Response times, in microseconds.
    pub response_us: ByDirection<ResponseTime>,
    /// Figures of each stream of a mix, in order; left out for other workloads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<StreamReport>,
    /// Bandwidth, in MB/s (10^6 bytes per second).
    pub bandwidth_mb_s: Bandwidth,
    /// Counts of reads, programs and erases on flash.
    pub flash: Flash,
    /// Garbage collection of all members.
    pub gc: Gc,
    /// Policy and counts of the write cache; empty without a cache.
    #[schemars(schema_with = "cache::schema")]
    pub cache: serde_json::Map<String, Value>,
    /// Waits at the limits of the array's controller; `None` without limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<Controller>,
    /// Counts of parity; `None` for levels without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parity: Option<Parity>,
    /// The first failure of a member and its rebuilding, if a failure was set. Its counts are those of all failures together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// All members for which a failure was set, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailedMember>,
    /// The members in order, with the spares behind them.
    pub members: Vec<Member>,
    /// Speed of the simulator.
    pub perf: Perf,
    /// Findings about how far the figures can be trusted.
    #[serde(default)]
    pub verdict: Verdict,
    /// Requests done per second of the measured time.
    #[serde(default)]
    pub iops: Iops,
    /// Number of bytes that the array offers. If scaled-down drives are simulated, it refers to the full-size drives.
    #[serde(default)]
    pub capacity_bytes: u64,
    /// Response times of ten batches of the measured requests, for confidence intervals of a difference with a single seed.
    #[serde(default)]
    pub batches: Batches,
    /// Parts of the time of the requests.
    #[serde(default)]
    pub time_us: TimeByShare,
    /// Figures of the run, interval by interval.
    #[serde(default)]
    pub over_time: OverTime,
    /// Requests that were not served because too many members had failed.
    #[serde(default)]
    pub lost: Lost,
    /// Counts of drives with superblocks, all together; left out for other members.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drive: Option<DriveReport>,
    /// Counts of queues, cores and buffers before the dies of other members, all together. Left out without `ssd.buffer`, `ssd.queues` and
    /// `ssd.firmware`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front: Option<FrontReport>,
    /// Counts of the members' mechanisms, all together, with a table for each mechanism; left out without any.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    #[schemars(schema_with = "Figures::schema")]
    pub mechanisms: serde_json::Map<String, Value>,
    /// Time at which the statistics begin, in nanoseconds.
    pub measured_from_ns: u64,
    /// Time at which the statistics end, in nanoseconds: the last answer of a measured request, or their begin if there is none. All rates
    /// are over this time.
    pub measured_to_ns: u64,
    /// Time by which requests per second and bandwidth are divided, in nanoseconds. It is the measured time. In a closed loop, it is the
    /// mean time for which places of its depth were in use, think times included.
    pub load_ns: u64,
    /// Work for written data that was still to be done at the end of the measured time.
    pub owed: Owed,
    /// True if the run was stopped before its end.
    pub partial: bool,
    /// Reason why the run was stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial_reason: Option<String>,
    /// Note about the workload: named enterprise workloads are stand-ins with published statistics.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload_note: Option<String>,
    /// Assumptions made, and parts left out, in reading traces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace_notes: Vec<String>,
    /// Warnings that the user should know before trusting the figures.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Free blocks of every member over time, in multiples of the threshold at which collection starts. Each point has its begin in ms,
    /// least, mean and greatest value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub free_blocks: Vec<Vec<(f64, f64, f64, f64)>>,
    /// Single requests and collections, if a window was asked for.
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

    /// Returns the distance of the array from a load under which remedies matter, if it was idle. The dies of the busiest member decide. It
    /// is `None` for a closed loop.
    #[must_use]
    pub fn idle(&self) -> Option<crate::idle::Idle> {
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
        (self.verdict.load == Load::Stable).then(|| crate::idle::Idle::of(busy, busy, collection)).flatten()
    }

    /// Returns the report without the values that differ between two runs of the same inputs: times of the wall clock, rates, memory.
    #[must_use]
    pub fn without_wall_clock(&self) -> Self {
        let perf = Perf { host_page_ops: self.perf.host_page_ops, flash_page_ops: self.perf.flash_page_ops, ..Perf::default() };
        Self { wall_s: 0.0, perf, ..self.clone() }
    }
}

/// Work for written data that was still to be done at the end of the measured time.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Owed {
    /// Data in write caches and in buffers of drives that are not programmed, in bytes.
    pub buffered_bytes: u64,
    /// Number of pages that collections must still move.
    pub moves_pages: u64,
    /// Time of dies that is left of collections which have begun or are decided, in microseconds.
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

/// The measured reads and writes in ten batches, by their position in the order of arrival. Each list has a figure for each batch, and is
/// empty with fewer than 100 requests.
///
/// Two runs of the same workload have the same requests in the same batches.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Batches {
    /// Number of reads and writes that are done.
    pub requests: Vec<u64>,
    /// Mean response times, in microseconds; `None` if no request of the batch is done.
    pub mean_us: Vec<Option<f64>>,
    /// The 99th percentiles, in microseconds, at most a 64th too long. Left out unless ten requests of each batch lie beyond it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub p99_us: Vec<f64>,
    /// The 99.9th percentiles, in microseconds, at most a 64th too long. Left out unless ten requests of each batch lie beyond it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub p99_9_us: Vec<f64>,
}

/// Parts of the time of requests, in microseconds: means over all requests and over the slowest; `None` without requests.
///
/// Of n requests, the slowest tenth are the ⌈n/10⌉ slowest, and so on.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TimeByShare {
    /// Mean over all requests.
    pub all: Option<TimeSpent>,
    /// Mean over the slowest tenth of the requests.
    pub slowest_10_percent: Option<TimeSpent>,
    /// Mean over the slowest hundredth of the requests.
    pub slowest_1_percent: Option<TimeSpent>,
    /// Mean over the slowest thousandth of the requests.
    pub slowest_0_1_percent: Option<TimeSpent>,
}

impl TimeByShare {
    /// Returns the shares with their names for people.
    #[must_use]
    pub fn named(&self) -> [(&'static str, Option<TimeSpent>); 4] {
        [
            ("all", self.all),
            ("slowest 10 %", self.slowest_10_percent),
            ("slowest 1 %", self.slowest_1_percent),
            ("slowest 0.1 %", self.slowest_0_1_percent),
        ]
    }
}

/// Parts of a response time, in microseconds, along the path that decided the request's end. They add up to the response time.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TimeSpent {
    /// Time behind other requests' operations and full queues.
    pub queue: f64,
    /// Time behind collection of any kind.
    pub collection: f64,
    /// Time for reads before writes, locks, and writes of parity.
    pub parity: f64,
    /// Time waiting for room in the write cache, and the cache's own time.
    pub cache: f64,
    /// Time of channels and links, with the wait for them.
    pub transfer: f64,
    /// Time that the flash array takes for the request's own operations.
    pub flash: f64,
    /// Time of firmware and buffers, and everything else.
    pub other: f64,
}

impl TimeSpent {
    /// Returns the parts with their names, in order.
    #[must_use]
    pub fn named(&self) -> [(&'static str, f64); 7] {
        let Self { queue, collection, parity, cache, transfer, flash, other } = *self;
        let parts = [queue, collection, parity, cache, transfer, flash, other];
        std::array::from_fn(|index| (flashraid_model::metrics::breakdown::PARTS[index], parts[index]))
    }

    /// Returns the response time, which is the sum of the parts.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.named().iter().map(|(_, part)| part).sum()
    }
}

/// The measured time, interval by interval. Each list has a figure for each interval. Requests count where they are done.
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
    /// Median response time, in microseconds, at most 1.6 % too long.
    pub p50_us: Vec<Option<f64>>,
    /// The 99th percentile, in microseconds, at most 1.6 % too long.
    pub p99_us: Vec<Option<f64>>,
    /// Longest response time, in microseconds.
    pub max_us: Vec<Option<f64>>,
    /// Mean number of requests between arrival and end.
    pub outstanding: Vec<f64>,
    /// Write amplification: (pages that requests write + pages that collections move) / pages that requests write. `None` without writes.
    pub write_amplification: Vec<Option<f64>>,
    /// Share of the write cache that is full at the end of the interval; empty without a cache.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cache_occupancy: Vec<Option<f64>>,
    /// Share of the strips of all failed members that are rebuilt; empty if none fails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rebuilt_fraction: Vec<Option<f64>>,
    /// Use of the members, with the spares behind the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<MemberOverTime>,
    /// Failures of members and their rebuilding, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<TimelineMark>,
}

/// Use of a member, interval by interval.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct MemberOverTime {
    /// Share of the time in which its dies worked, for the host or for collection.
    pub utilisation: Vec<f64>,
    /// Mean response time of the page operations that ended, in microseconds, from their arrival at the member; `None` without any.
    pub response_us: Vec<Option<f64>>,
    /// Mean number of page operations in the member, with those that are being served.
    pub queue: Vec<f64>,
}

/// A figure for all requests, for reads and for writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ByDirection<T> {
    /// Figure for reads and writes together.
    pub all: T,
    /// Figure for reads alone.
    pub read: T,
    /// Figure for writes alone.
    pub write: T,
}

/// Figures of one stream of a mix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct StreamReport {
    /// Requests per second over the measured time.
    pub iops: Iops,
    /// Response times, in microseconds.
    pub response_us: ByDirection<ResponseTime>,
}

/// Response times, in microseconds. Moments are exact, and percentiles at most 0.1 % too long. All except the count are `None` without
/// requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ResponseTime {
    /// Number of measured requests.
    pub count: u64,
    /// Mean of all response times, exact.
    pub mean: Option<f64>,
    /// Standard deviation, exact: divided by n, since these are all requests and not a sample.
    pub stddev: Option<f64>,
    /// Shortest of all response times.
    pub min: Option<f64>,
    /// Longest of all response times.
    pub max: Option<f64>,
    /// Median: half of the requests took no longer.
    pub p50: Option<f64>,
    /// 90th percentile: 90 % of the requests took no longer; at most 0.1 % too long.
    pub p90: Option<f64>,
    /// 95th percentile: 95 % of the requests took no longer; at most 0.1 % too long.
    pub p95: Option<f64>,
    /// 99th percentile: 99 % of the requests took no longer; at most 0.1 % too long.
    pub p99: Option<f64>,
    /// 99.9th percentile: of a thousand requests one took longer; at most 0.1 % too long.
    pub p99_9: Option<f64>,
    /// 99.99th percentile: of ten thousand requests one took longer; at most 0.1 % too long.
    pub p99_99: Option<f64>,
    /// Variance, exact, in µs².
    pub variance: Option<f64>,
    /// Distribution as points (response time, share of the requests that took at most this time).
    pub cdf: Vec<(f64, f64)>,
}

/// Bandwidth, in MB/s (10^6): bytes done per interval. See [`flashraid_model::metrics::bandwidth`] for the intervals that count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Bandwidth {
    /// Mean over the whole intervals.
    pub mean: Option<f64>,
    /// Standard deviation over the whole intervals.
    pub stddev: Option<f64>,
    /// Coefficient of variation: deviation over mean.
    pub cv: Option<f64>,
    /// Length of an interval, in milliseconds.
    pub interval_ms: f64,
    /// Number of whole intervals.
    pub intervals: u64,
    /// All bytes over the whole measured time.
    pub overall: Option<f64>,
    /// Length of an interval of the series, in milliseconds.
    pub series_interval_ms: f64,
    /// Bandwidth of each interval of the series.
    pub series: Vec<f64>,
    /// Density of (x − mean)/stddev, as points (z, density).
    pub z_density: Vec<(f64, f64)>,
}

/// Counts on flash, summed over the members.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Flash {
    /// Number of pages read for the host.
    pub host_pages_read: u64,
    /// Number of pages that were sent to the members to be written.
    pub host_pages_written: u64,
    /// Number of pages of members that trims have unmapped, with parity; left out if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub host_pages_trimmed: u64,
    /// Number of valid pages that collections moved.
    pub gc_pages_moved: u64,
    /// Number of blocks erased.
    pub erases: u64,
    /// Pages programmed (data, moves, parity within drives, places without data) divided by the pages sent to the members. Summary pages do
    /// not count.
    pub write_amplification: Option<f64>,
    /// Write amplification if all work that was owed at the end of the measured time were done: an upper bound for short runs.
    pub write_amplification_max: Option<f64>,
    /// Number of summary pages programmed.
    pub summary_programs: u64,
    /// Erase counts of all blocks, with those of the warm-up.
    pub wear: WearReport,
    /// Projected life of the member with the shortest one at this load. `None` below a mean of 20 erases a block in the measured time.
    pub lifetime: Option<Lifetime>,
    /// Life that follows from write amplification and rated cycles alone, as if the blocks wore evenly, for the same member.
    pub implied_life: Option<ImpliedLife>,
}

/// Number of erases per block.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct WearReport {
    /// Erases of the least erased block.
    pub min: u32,
    /// Mean over all blocks.
    pub mean: f64,
    /// Erases of the most erased block.
    pub max: u32,
    /// Standard deviation over all blocks.
    pub stddev: f64,
}

/// Projected life of a new member at the measured rate of erases.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Lifetime {
    /// Number of erases that a block endures.
    pub endurance_cycles: u32,
    /// Days until the mean block has had them, as with perfect wear levelling.
    pub days_levelled: f64,
    /// Days until the most worn block has had them, if wear stays as uneven as it is.
    pub days_worst_block: f64,
    /// True if the member levels wear. The figures below then refer to the mean block, otherwise to the most worn one.
    pub levels_wear: bool,
    /// Years until that block has had its erases.
    #[serde(default)]
    pub years: Option<f64>,
    /// Terabytes (10^12) that can be written to it in this time at this load, as data sheets give TBW.
    #[serde(default)]
    pub tbw: Option<f64>,
    /// Drive writes per day (DWPD) at this load: writes of its whole capacity.
    #[serde(default)]
    pub dwpd: Option<f64>,
    /// Drive writes per day with which it would last five years.
    #[serde(default)]
    pub dwpd_five_years: Option<f64>,
}

impl Lifetime {
    /// Returns the days until the relevant block has had its erases: the mean one if the member levels wear, otherwise the most worn one.
    #[must_use]
    pub fn days(&self) -> f64 {
        if self.levels_wear { self.days_levelled } else { self.days_worst_block }
    }
}

/// Life that follows from write amplification and rated cycles alone, as if all blocks wore evenly.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ImpliedLife {
    /// Number of erases that a block endures.
    pub endurance_cycles: u32,
    /// Pages programmed by this member divided by the pages sent to it.
    pub write_amplification: f64,
    /// Terabytes (10^12) that can be written to it.
    pub tbw: f64,
    /// Drive writes per day with which it would last five years.
    pub dwpd_five_years: f64,
    /// Days that it lasts at this load; `None` for a measured time of no length.
    pub days: Option<f64>,
}

/// Number of cleans of members that had asked to be forced and could wait no longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct UncoordinatedCleans {
    /// Number of these while other members were forced, so that they had to wait.
    pub during_cycles: u64,
    /// Number of these at other times. It is 0 unless messages take time or are not answered.
    pub unanswered: u64,
}

/// Garbage collection of all members.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Gc {
    /// Number of collections. Each is an uninterrupted sequence of cleans of one die, or one superblock of a drive with superblocks.
    pub runs: u64,
    /// Number of collections that the array's controller forced.
    pub forced_runs: u64,
    /// Share of their time that all dies spent collecting. For drives with superblocks, these are moves, their parity, and erases.
    pub busy_fraction: Option<f64>,
    /// Mean length of a collection, in microseconds; `None` for drives with superblocks, which collect in small steps.
    pub mean_length_us: Option<f64>,
    /// Mean number of members that collect in a slice in which at least one does.
    pub synchronised_mean: Option<f64>,
    /// Number of page operations that were served between the steps of a collection.
    pub preemptions: u64,
    /// Number of page operations served from the register of a page move.
    pub merges: u64,
    /// Number of page operations overlapped with a step of a collection.
    pub pipelined: u64,
    /// Number of messages between controller and members, by kind.
    pub messages: BTreeMap<String, u64>,
    /// Number of cleans that members began because they must, although they had asked to be forced (`coordination.notify = "soft"`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncoordinated_cleans: Option<UncoordinatedCleans>,
    /// Number of collections that members began by themselves.
    pub own_runs: u64,
    /// Number of victims cleaned.
    pub cleans: u64,
    /// Time that dies spent collecting, in milliseconds. It counts whole cleans that began in the measured time. For drives with
    /// superblocks, it counts the part in the measured time.
    pub time_ms: f64,
    /// Length of a slice, in microseconds.
    pub slice_us: f64,
    /// Number of slices in which no member, one, two … members collected.
    pub slices_by_members: Vec<u64>,
    /// Number of requests that met collections on no member, one, two … members.
    pub requests_by_members_met: Vec<u64>,
    /// Number of programs and erases suspended for a read.
    pub suspensions: u64,
    /// Number of page writes that waited because no pool had room for them.
    pub exhausted: u64,
    /// Sum of these waits, in milliseconds.
    pub exhausted_ms: f64,
    /// Number of cleans that began because a die had nothing else to do.
    pub idle_cleans: u64,
    /// Time that dies collected in states 1, 2 and 3 (PGC III.D), in milliseconds. In state 1 any request is served between steps, in state
    /// 2 no write, in state 3 none.
    pub state_ms: [f64; 3],
}

/// Cost of parity. A request has one sub-request for every stripe that it writes to. Pages are counted when their operations are issued.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Parity {
    /// Number of sub-requests that needed no reads.
    pub full_stripe_writes: u64,
    /// Number of sub-requests that read the rest of the stripe's data.
    pub reconstruct_writes: u64,
    /// Number of sub-requests that read old data and old parity.
    pub read_modify_writes: u64,
    /// Number of sub-requests that wrote to a stripe whose parity was on a failed member.
    pub no_parity_writes: u64,
    /// Number of data pages read by writes.
    pub data_pages_read: u64,
    /// Number of parity pages read by writes.
    pub parity_pages_read: u64,
    /// Number of parity pages written.
    pub parity_pages_written: u64,
    /// Number of sub-requests, reads included, that waited for the lock of their stripe.
    pub lock_waits: u64,
    /// Mean of these waits, in microseconds.
    pub lock_wait_mean_us: Option<f64>,
}

/// Waits at the limits of the array's controller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Controller {
    /// Number of requests that waited because the allowed number was in work.
    pub waits: u64,
    /// Mean of these waits, in microseconds.
    pub wait_mean_us: Option<f64>,
    /// Share of the time in which data passed; `None` for a run of no length.
    pub busy_fraction: Option<f64>,
}

/// Requests that were not served. A request with a lost page counts in no other figure of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Lost {
    /// Number of host requests with a lost page.
    pub requests: u64,
    /// Number of pages of reads, writes and destages that were lost.
    pub pages: u64,
}

/// A member that failed, and its rebuilding.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct FailedMember {
    /// Number of the failed member.
    pub member: u32,
    /// Number of the spare that replaces it.
    pub spare: Option<u32>,
    /// Time at which it failed, in milliseconds; `None` if the run was over before.
    pub failed_ms: Option<f64>,
    /// Time at which rebuilding began, in milliseconds.
    pub rebuild_began_ms: Option<f64>,
    /// Time at which the last strip was rebuilt or given up, in milliseconds.
    pub rebuild_ended_ms: Option<f64>,
    /// Share of the strips that have been rebuilt.
    pub rebuilt_fraction: f64,
    /// Number of strips that were given up, because too much of their stripe was lost.
    pub strips_lost: u64,
    /// Rate at which the spare was written, in MB/s (10^6).
    pub rebuild_mb_s: Option<f64>,
}

/// The failure of a member, and its rebuilding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Failure {
    /// Number of the failed member.
    pub member: u32,
    /// Number of the spare that replaces it.
    pub spare: Option<u32>,
    /// Time at which it failed, in milliseconds; `None` if the run was over before.
    pub failed_ms: Option<f64>,
    /// Time at which rebuilding began, in milliseconds.
    pub rebuild_began_ms: Option<f64>,
    /// Time at which the last strip was rebuilt, in milliseconds.
    pub rebuild_ended_ms: Option<f64>,
    /// Share of the strips that have been rebuilt.
    pub rebuilt_fraction: f64,
    /// Number of pages read to rebuild.
    pub rebuild_pages_read: u64,
    /// Number of pages written to rebuild.
    pub rebuild_pages_written: u64,
    /// Rate at which the spare was written, in MB/s (10^6).
    pub rebuild_mb_s: Option<f64>,
    /// Number of pages of the failed member that reads asked for.
    pub pages_reconstructed: u64,
    /// Number of pages read to reconstruct these, beyond the pages that were asked for.
    pub pages_read_to_reconstruct: u64,
    /// Response times, in microseconds, by the health of the array when the request arrived.
    pub response_us: ByHealth,
}

/// Response times by the health of the array when the request arrived.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ByHealth {
    /// No member had failed.
    pub normal: ByDirection<ResponseTime>,
    /// A member had failed and was not rebuilt, and none was being rebuilt.
    pub degraded: ByDirection<ResponseTime>,
    /// A member was being rebuilt.
    pub rebuilding: ByDirection<ResponseTime>,
    /// Spares had replaced all members that had failed.
    pub rebuilt: ByDirection<ResponseTime>,
}

/// Counts of one member.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Member {
    /// Number of blocks erased.
    pub erases: u64,
    /// Number of pages that were sent to it to be written.
    pub host_pages_written: u64,
    /// Number of pages read for the host.
    pub host_pages_read: u64,
    /// Number of valid pages that collections moved.
    pub gc_pages_moved: u64,
    /// Number of summary pages programmed.
    pub summary_programs: u64,
    /// Pages programmed divided by the pages sent to it, as in `flash`.
    pub write_amplification: Option<f64>,
    /// Number of collections, as in `gc`.
    pub gc_runs: u64,
    /// Number of collections that the array's controller forced.
    pub gc_forced_runs: u64,
    /// Time that dies spent collecting, in milliseconds, as in `gc`.
    pub gc_time_ms: f64,
    /// Share of their time that the member's dies spent collecting.
    pub gc_busy_fraction: Option<f64>,
    /// Share of the time in which at least one die collected.
    pub gc_any_fraction: Option<f64>,
    /// Erases per block, with those of the warm-up.
    pub wear: WearReport,
    /// Projected life at this load, as in `flash`.
    pub lifetime: Option<Lifetime>,
    /// Life that follows from write amplification and rated cycles, as in `flash`.
    pub implied_life: Option<ImpliedLife>,
}

/// Speed of the simulator in this run. The whole run counts, with the part that the statistics skip.
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
    /// Most memory that was resident, in bytes; `None` if the system does not tell.
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
    pub fn supports(&self, quantile: f64) -> bool {
        self.count as f64 * (1.0 - quantile) >= SAMPLES_BEYOND as f64 - 1e-6
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

/// Single requests and collections of a window of simulated time, in the order in which they were reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TimelineReport {
    /// Time at which the window begins, in nanoseconds.
    pub from_ns: u64,
    /// Time at which the window ends, in nanoseconds.
    pub to_ns: u64,
    /// Number of entries left out because there were too many.
    pub omitted: u64,
    /// Number of free blocks at or below which a pool is collected: T_soft of PGC.
    pub t_soft_free_blocks: u32,
    /// Requests that overlap the window.
    pub requests: Vec<TimelineRequest>,
    /// Collections that overlap the window.
    pub gc: Vec<TimelineGc>,
    /// Destages of the write cache that overlap the window.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub destages: Vec<TimelineDestage>,
    /// Failures of members and their rebuilding, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<TimelineMark>,
    /// The slowest request that is done in the window; left out if none is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowest: Option<TimelineSlowest>,
}

/// The slowest request that is done in a window, and the collection that it met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TimelineSlowest {
    /// Position of the request in `requests`.
    pub request: usize,
    /// The part of its response time that it waited for collections, in nanoseconds.
    pub collection_ns: u64,
    /// Position in `gc` of the collection that it met: of those on members with its data, the one that overlaps with it longest.
    ///
    /// With parity or a write cache all members count. Left out if it met none, or if that one ended before the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gc: Option<usize>,
}

/// A moment of a failure, on a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TimelineMark {
    /// Time of the moment, in nanoseconds.
    pub at_ns: u64,
    /// Kind of the moment.
    pub what: Happened,
    /// Number of the failed member.
    pub member: u32,
}

/// Moments of a member that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Happened {
    /// The member failed at this time.
    Failed,
    /// Rebuilding of the member began.
    RebuildBegan,
    /// Rebuilding of the member ended.
    RebuildEnded,
}

/// The share of one member in a destage, on a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TimelineDestage {
    /// Number of the member.
    pub member: u32,
    /// True if the pages come from the member's own cache, false if they come from a cache of write groups.
    pub own_cache: bool,
    /// Number of the stripe, which all pages of a write group share.
    pub stripe: u64,
    /// Number of pages written to the member.
    pub pages: u32,
    /// Time at which the destage began, in nanoseconds.
    pub begun_ns: u64,
    /// Time at which the member was done, in nanoseconds. For a write group with parity, the time at which all members were.
    pub ended_ns: u64,
    /// Time at which all members were done, in nanoseconds.
    pub done_ns: u64,
}

/// A request on a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TimelineRequest {
    /// Position in the order of arrival.
    pub index: u64,
    /// Time of arrival, in nanoseconds.
    pub arrival_ns: u64,
    /// Time at which it was done, in nanoseconds.
    pub done_ns: u64,
    /// True for a write, false for a read.
    pub write: bool,
    /// Number of the first byte.
    pub offset_bytes: u64,
    /// Number of its bytes.
    pub length_bytes: u64,
    /// Number of members on which it met a collection.
    pub gc_members_met: u32,
}

/// A collection on a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TimelineGc {
    /// Number of the member.
    pub member: u32,
    /// Number of the die in the member.
    #[serde(rename = "element")]
    pub die: u32,
    /// Number of the pool in the die, which is its plane if planes are pools.
    pub pool: u32,
    /// Time at which it begins, in nanoseconds: state 0 of PGC until then, then state 1.
    pub start_ns: u64,
    /// Time from which writes wait (state 2), in nanoseconds.
    pub writes_wait_from_ns: u64,
    /// Time from which all requests wait (state 3), in nanoseconds.
    pub all_wait_from_ns: u64,
    /// Time at which it ends, in nanoseconds.
    pub end_ns: u64,
    /// Free blocks of the pool at the begin.
    pub free_blocks_before: u32,
    /// Free blocks of the pool before the victim was erased, the fewest during the collection.
    #[serde(rename = "free_blocks_least")]
    pub free_blocks_min: u32,
    /// Number of valid pages moved.
    pub pages_moved: u32,
    /// True if the array's controller forced it.
    pub forced: bool,
}
