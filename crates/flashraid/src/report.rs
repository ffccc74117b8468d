//! What a run reports: one document, the same in memory, as JSON and as tables.
//!
//! A figure that isn't defined (a percentile of no requests, an amplification of no writes) is `None`, in JSON `null`; no number is ever infinite or NaN.
//! The same inputs give the same bytes, but for `wall_s` and the rates and memory in `perf`: see [`Report::without_wall_clock`].

mod build;
mod cache;
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
use flashraid_model::metrics::course::SAMPLES_BEYOND;
use flashraid_model::ssd::Figures;

pub(crate) use build::{DriveInputs, ReportInputs};
pub(crate) use cache::cache;
pub(crate) use little::check_closed_loop;
pub use marks::Mark;
pub use schema::schema;
pub use table::{GUESS, Row, Section, format_figure};
pub use verdict::{Load, Verdict};

/// Percentiles of response times, by their names in documents, and the shares of requests that do not exceed them.
pub const PERCENTILES: [(&str, f64); 6] = [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99_9", 0.999), ("p99_99", 0.9999)];

/// Name and version of the format of a report.
pub const REPORT_SCHEMA: &str = "flashraid.report/2";

/// Everything that one run reports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Report {
    /// [`REPORT_SCHEMA`].
    pub schema: String,
    /// Version of the program.
    pub version: String,
    /// Seed of the run.
    pub seed: u64,
    /// Hash of the resolved configuration.
    pub config_hash: String,
    /// The resolved configuration.
    #[schemars(with = "crate::config::Config")]
    pub config: Value,
    /// Simulated time, in nanoseconds, what the statistics skip included.
    pub simulated_ns: u64,
    /// Time that the run took, warm-up included, in seconds of the wall clock.
    pub wall_s: f64,
    /// Requests that are done and counted.
    pub requests: Requests,
    /// Response times, in microseconds.
    pub response_us: ByDirection<ResponseTime>,
    /// The streams of a mix, in order; left out for other workloads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<StreamReport>,
    /// Bandwidth, in MB/s (10^6).
    pub bandwidth_mb_s: Bandwidth,
    /// What happened on flash.
    pub flash: Flash,
    /// Garbage collection.
    pub gc: Gc,
    /// Write cache: its policy and counts; empty without a cache.
    #[schemars(schema_with = "cache::schema")]
    pub cache: serde_json::Map<String, Value>,
    /// What the limits of the array's controller cost; `None` without limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<Controller>,
    /// Parity; `None` for levels without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parity: Option<Parity>,
    /// The first failure of a member and its rebuilding, if one was to fail; what is counted of failures, of all together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// All members that were to fail, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailedMember>,
    /// The members in order, spares behind them.
    pub members: Vec<Member>,
    /// Speed of the simulator.
    pub perf: Perf,
    /// How far the figures can be trusted.
    #[serde(default)]
    pub verdict: Verdict,
    /// Requests done per second of the measured time.
    #[serde(default)]
    pub iops: Iops,
    /// Bytes that the array offers: of the drives that are meant, where smaller ones are simulated in their place.
    #[serde(default)]
    pub capacity_bytes: u64,
    /// Response times of ten batches of the measured requests, for intervals of a difference with a single seed.
    #[serde(default)]
    pub batches: Batches,
    /// Where the time of the requests went.
    #[serde(default)]
    pub time_us: TimeByShare,
    /// The run interval by interval.
    #[serde(default)]
    pub over_time: OverTime,
    /// What was asked for and not served, because too many members had failed.
    #[serde(default)]
    pub lost: Lost,
    /// What drives with superblocks counted, all together; left out for other members.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drive: Option<DriveReport>,
    /// What stands before the dies of other members counted, all together; left out without `ssd.buffer`, `ssd.queues` and `ssd.firmware`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front: Option<FrontReport>,
    /// Counters of the members' mechanisms, all together: a table for each that the members have; left out if they have none.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    #[schemars(schema_with = "Figures::schema")]
    pub mechanisms: serde_json::Map<String, Value>,
    /// When the statistics begin, in nanoseconds.
    pub measured_from_ns: u64,
    /// When they end, in nanoseconds: the last answer of a measured request, or their begin if there is none. All rates are over this time.
    pub measured_to_ns: u64,
    /// The time over which requests per second and bandwidth are taken, in nanoseconds: the measured time or, in a closed loop, as long as
    /// places of its depth were in use on average, the think time after their last answers included.
    pub load_ns: u64,
    /// What was still to be done then for what had been written.
    pub owed: Owed,
    /// The run was stopped before its end.
    pub partial: bool,
    /// Why it was stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial_reason: Option<String>,
    /// What the workload stands for: named enterprise workloads are stand-ins with published statistics.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload_note: Option<String>,
    /// What was assumed or left out in reading traces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace_notes: Vec<String>,
    /// What the user should know before trusting the figures.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Free blocks of every member over time: points (begin in ms, least, mean, most), in multiples of the threshold at which collection starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub free_blocks: Vec<Vec<(f64, f64, f64, f64)>>,
    /// Single requests and collections, if a window was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeline: Option<TimelineReport>,
}

impl Report {
    /// The JSON document, as `flashraid run --json` prints it.
    #[must_use]
    pub fn to_json(&self) -> String {
        let document = serde_json::to_value(self).expect("a report is plain data");
        format!("{document:#}\n")
    }

    /// How far the array was from a load under which remedies matter, if it was idle: by the share of the measured time in which the dies of the
    /// busiest member worked. `None` for a closed loop.
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

    /// The report without what differs between two runs of the same inputs: times of the wall clock, rates, memory.
    #[must_use]
    pub fn without_wall_clock(&self) -> Self {
        let perf = Perf { host_page_ops: self.perf.host_page_ops, flash_page_ops: self.perf.flash_page_ops, ..Perf::default() };
        Self { wall_s: 0.0, perf, ..self.clone() }
    }
}

/// What was still to be done at the end of the measured time for what had been written.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Owed {
    /// Data in write caches and in buffers of drives that are not programmed, in bytes.
    pub buffered_bytes: u64,
    /// Pages that collections are to move.
    pub moves_pages: u64,
    /// Time of dies that collections still take which have begun or are decided, in microseconds.
    pub collection_us: f64,
}

/// Number of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Requests {
    /// Reads and writes.
    pub all: u64,
    /// Reads.
    pub read: u64,
    /// Writes.
    pub write: u64,
    /// Trims; left out if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub trim: u64,
    /// Flushes; left out if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub flush: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Requests per second; `None` over no time.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Iops {
    /// Reads and writes.
    pub all: Option<f64>,
    /// Reads.
    pub read: Option<f64>,
    /// Writes.
    pub write: Option<f64>,
}

/// The measured reads and writes in ten batches, by their position in the order of arrival: lists with a figure for each batch, empty with
/// fewer than 100 requests. Two runs of the same workload have the same requests in the same batches.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Batches {
    /// Reads and writes that are done.
    pub requests: Vec<u64>,
    /// Mean response times, in microseconds; `None` if no request of the batch is done.
    pub mean_us: Vec<Option<f64>>,
    /// 99th percentiles, in microseconds, at most a 64th too long; left out unless ten requests of each batch lie beyond it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub p99_us: Vec<f64>,
    /// 99.9th percentiles, in microseconds, at most a 64th too long; left out unless ten requests of each batch lie beyond it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub p99_9_us: Vec<f64>,
}

/// Where the time of requests went, in microseconds: means of all requests and of the slowest; `None` without requests.
///
/// Of n requests the slowest tenth are the ⌈n/10⌉ slowest, and so on.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names of the shares say all")]
#[non_exhaustive]
pub struct TimeByShare {
    pub all: Option<TimeSpent>,
    pub slowest_10_percent: Option<TimeSpent>,
    pub slowest_1_percent: Option<TimeSpent>,
    pub slowest_0_1_percent: Option<TimeSpent>,
}

impl TimeByShare {
    /// The shares with their names for people.
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

/// Parts of a response time, in microseconds, along the path that decided the request's end; they add up to it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TimeSpent {
    /// Behind other requests' operations and full queues.
    pub queue: f64,
    /// Behind collection of any kind.
    pub collection: f64,
    /// Reads ahead of writes, locks and writes of parity.
    pub parity: f64,
    /// Waiting for room in the write cache, and the cache's own time.
    pub cache: f64,
    /// Channel and link, waiting for them included.
    pub transfer: f64,
    /// Array times of its own operations.
    pub flash: f64,
    /// Firmware, buffers, the rest.
    pub other: f64,
}

impl TimeSpent {
    /// The parts with their names, in order.
    #[must_use]
    pub fn named(&self) -> [(&'static str, f64); 7] {
        let Self { queue, collection, parity, cache, transfer, flash, other } = *self;
        let parts = [queue, collection, parity, cache, transfer, flash, other];
        std::array::from_fn(|index| (flashraid_model::metrics::breakdown::PARTS[index], parts[index]))
    }

    /// The response time that they add up to.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.named().iter().map(|(_, part)| part).sum()
    }
}

/// The measured time interval by interval: lists with a figure for each. Requests count where they are done.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct OverTime {
    /// Length of an interval, in milliseconds; the last one is cut off by the end of the run.
    pub interval_ms: f64,
    /// Beginnings, in milliseconds.
    pub from_ms: Vec<f64>,
    /// Reads and writes per second.
    pub iops: Vec<f64>,
    /// Mean response time, in microseconds; `None` without requests, like those that follow.
    pub mean_us: Vec<Option<f64>>,
    /// Median, in microseconds, at most 1.6 % too long.
    pub p50_us: Vec<Option<f64>>,
    /// 99th percentile, in microseconds, at most 1.6 % too long.
    pub p99_us: Vec<Option<f64>>,
    /// Longest response time, in microseconds.
    pub max_us: Vec<Option<f64>>,
    /// Mean number of requests between arrival and end.
    pub outstanding: Vec<f64>,
    /// (Pages that requests write + pages that collections move) / pages that requests write; `None` without writes.
    pub write_amplification: Vec<Option<f64>>,
    /// Share of the write cache that is full at the end of the interval; empty without a cache.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cache_occupancy: Vec<Option<f64>>,
    /// Share of the strips of all failed members that are rebuilt; empty if none fails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rebuilt_fraction: Vec<Option<f64>>,
    /// How the members were used, spares behind the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<MemberOverTime>,
    /// Failures of members and their rebuilding, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<TimelineMark>,
}

/// How a member was used, interval by interval.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct MemberOverTime {
    /// Share of the time of its dies in which they worked, for the host or for collection.
    pub utilisation: Vec<f64>,
    /// Mean response time of the page operations that ended, in microseconds, from their arrival at the member; `None` without any.
    pub response_us: Vec<Option<f64>>,
    /// Mean number of page operations in the member, those that are being served included.
    pub queue: Vec<f64>,
}

/// A figure for all requests, reads and writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ByDirection<T> {
    /// Reads and writes.
    pub all: T,
    /// Reads.
    pub read: T,
    /// Writes.
    pub write: T,
}

/// What the requests of one stream of a mix met.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct StreamReport {
    /// Requests per second over the measured time.
    pub iops: Iops,
    /// Response times, in microseconds.
    pub response_us: ByDirection<ResponseTime>,
}

/// Response times, in microseconds. Moments are exact, percentiles at most 0.1 % too long; all but the count are `None` without requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names of the figures say all")]
#[non_exhaustive]
pub struct ResponseTime {
    pub count: u64,
    pub mean: Option<f64>,
    pub stddev: Option<f64>,
    pub min: Option<f64>,
    pub max: Option<f64>,
    pub p50: Option<f64>,
    pub p90: Option<f64>,
    pub p95: Option<f64>,
    pub p99: Option<f64>,
    pub p99_9: Option<f64>,
    pub p99_99: Option<f64>,
    /// In µs².
    pub variance: Option<f64>,
    /// Points (response time, share of the requests that took no longer).
    pub cdf: Vec<(f64, f64)>,
}

/// Bandwidth, in MB/s (10^6): bytes done per interval; see [`flashraid_model::metrics::bandwidth`] for the intervals that count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Bandwidth {
    /// Mean over the intervals.
    pub mean: Option<f64>,
    /// Standard deviation over the intervals.
    pub stddev: Option<f64>,
    /// Deviation over mean.
    pub cv: Option<f64>,
    /// Length of an interval, in milliseconds.
    pub interval_ms: f64,
    /// Whole intervals.
    pub intervals: u64,
    /// All bytes over the whole measured time.
    pub overall: Option<f64>,
    /// Length of an interval of the series, in milliseconds.
    pub series_interval_ms: f64,
    /// Bandwidth over time.
    pub series: Vec<f64>,
    /// Density of (x − mean)/stddev: points (z, density).
    pub z_density: Vec<(f64, f64)>,
}

/// What stands before the dies of members without superblocks, all together (section 25 of the rules).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct FrontReport {
    /// Commands: what an operation of the array brings to a drive at a time.
    pub commands: u64,
    /// Commands that waited in a queue until they were fetched; left out without `ssd.queues`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetch_waits: Option<u64>,
    /// Mean of these waits, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetch_wait_mean_us: Option<f64>,
    /// Pages that replaced one in the buffer, and were not programmed by themselves.
    pub overwritten: u64,
    /// Pages read from the buffer.
    pub buffer_hits: u64,
    /// Pages that a trim took out of the buffer before a die had them.
    pub trimmed: u64,
    /// Write commands that waited for room in the buffer.
    pub room_waits: u64,
    /// Mean of these waits, in microseconds.
    pub room_wait_mean_us: Option<f64>,
    /// Writes with "force unit access" that waited for their programs; left out if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub forced_waits: u64,
}

/// Drives with superblocks, all together (section 24 of the rules).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct DriveReport {
    /// Rows of a superblock, or what `scale_by` says, are so many times fewer than in the drive that is meant.
    pub scale: u32,
    /// `width` if dies, channels, cores and link are; left out else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale_by: Option<ScaleBy>,
    /// All units programmed, those of padding and parity included, for each unit's worth of pages that the host sent: that of `flash`.
    pub write_amplification: Option<f64>,
    /// What parity contributes to it; left out without `ssd.superblock.rain`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_amplification_of_parity: Option<f64>,
    /// Commands: what an operation of the array brings to a drive at a time.
    pub commands: u64,
    /// Commands that waited in a queue until they were fetched; left out without `ssd.queues`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetch_waits: Option<u64>,
    /// Mean of these waits, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetch_wait_mean_us: Option<f64>,
    /// Units programmed for the host.
    pub units_programmed: u64,
    /// Units that collection programmed.
    pub units_moved: u64,
    /// Units that the host replaced while collection moved them.
    pub units_dropped: u64,
    /// Places without data in superpages that were closed early.
    pub units_padded: u64,
    /// Places that were programmed with parity; left out if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub units_parity: u64,
    /// Units that replaced one in the buffer.
    pub overwritten: u64,
    /// Pages read from the buffer.
    pub buffer_hits: u64,
    /// Units of which the host wrote a part, and whose rest was read from flash.
    pub rmw_reads: u64,
    /// Array reads for the host.
    pub array_reads: u64,
    /// Reads that shared the array read of another.
    pub joined: u64,
    /// Pages of trims that covered a unit only in part, and were ignored.
    pub trimmed_in_part: u64,
    /// Superblocks that collection began to move.
    pub victims: u64,
    /// Write commands that waited for room in the buffer.
    pub room_waits: u64,
    /// Mean of these waits, in microseconds.
    pub room_wait_mean_us: Option<f64>,
    /// Writes with "force unit access" that waited for their programs; left out if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub forced_waits: u64,
    /// Superpages of the host that waited because moves were owed.
    pub debt_waits: u64,
    /// Superpages of the host that waited because too few superblocks were free.
    pub foreground: u64,
    /// Sum of these waits, in milliseconds.
    pub foreground_ms: f64,
    /// Pages of host reads that waited for collection at their die.
    pub reads_behind_collection: u64,
    /// Mean of these waits, in microseconds.
    pub reads_behind_collection_mean_us: Option<f64>,
    /// Shares of the time of all dies.
    pub die_time: DieTime,
    /// What was written with each placement handle; left out without `ssd.placement_handles`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<PlacementReport>,
    /// What went to superblocks with one bit per cell; left out without `ssd.slc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slc: Option<SlcReport>,
    /// What was moved for its own sake; left out without `ssd.superblock.refresh_reads` and `wear_difference`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upkeep: Option<UpkeepReport>,
}

/// What drives have moved for its own sake (rule 223), in superblocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct UpkeepReport {
    /// Those that had been read often.
    pub refreshed: u64,
    /// Those that had been erased seldom.
    pub levelled: u64,
}

/// What drives have written with one bit per cell (rule 222).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct SlcReport {
    /// Of the units programmed for the host, those with one bit per cell.
    pub units_programmed: u64,
    /// Of the units that collection programmed, those moved out of superblocks with one bit per cell.
    pub units_folded: u64,
}

/// What drives with placement handles were sent and have programmed (rule 221).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PlacementReport {
    /// Bytes that the host sent.
    pub host_bytes: u64,
    /// Bytes programmed: for the host, by collection, without data and with parity.
    pub media_bytes: u64,
    /// Of these what collection programmed into superblocks that all handles share; left out if what it moves stays with its handle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_media_bytes: Option<u64>,
    /// By handle.
    pub handles: Vec<HandleReport>,
}

/// One placement handle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct HandleReport {
    /// Bytes that the host sent with it.
    pub host_bytes: u64,
    /// Bytes programmed into its superblocks.
    pub media_bytes: u64,
}

/// Shares of the time of all dies; what they leave is reads of the host, or nothing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct DieTime {
    /// Programs of the host, transfers included.
    pub host_programs: Option<f64>,
    /// Programs of collection, transfers included.
    pub collection_programs: Option<f64>,
    /// Programs of parity, transfers included; left out without `ssd.superblock.rain`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parity_programs: Option<f64>,
    /// Reads of collection, transfers included.
    pub collection_reads: Option<f64>,
    /// Erases.
    pub erases: Option<f64>,
}

/// Counts on flash, sums over the members.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Flash {
    /// Pages read for the host.
    pub host_pages_read: u64,
    /// Pages that were sent to the members to be written.
    pub host_pages_written: u64,
    /// Pages of members that trims have unmapped, parity included; left out if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub host_pages_trimmed: u64,
    /// Valid pages that collections moved.
    pub gc_pages_moved: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Pages programmed (data, moves, parity within drives, places without data) for each page that was sent to the members, summary pages
    /// apart.
    pub write_amplification: Option<f64>,
    /// The same if all that was owed at the end of the measured time were programmed, too: an upper bound for short runs.
    pub write_amplification_max: Option<f64>,
    /// Summary pages programmed.
    pub summary_programs: u64,
    /// Erase counts of all blocks, warm-up included.
    pub wear: WearReport,
    /// How long the most strained member lasts at this load; `None` below a mean of 20 erases a block in the measured time.
    pub lifetime: Option<Lifetime>,
    /// The life that write amplification and rated cycles alone imply for the most strained member, as if its blocks wore evenly.
    pub implied_life: Option<ImpliedLife>,
}

/// Erases per block.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names of the figures say all")]
#[non_exhaustive]
pub struct WearReport {
    pub min: u32,
    pub mean: f64,
    pub max: u32,
    pub stddev: f64,
}

/// Projected life of a new member under the measured rate of erases.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Lifetime {
    /// Erases that a block endures.
    pub endurance_cycles: u32,
    /// Days until the mean block has had them, as with perfect wear levelling.
    pub days_levelled: f64,
    /// Days until the most worn block has had them, if wear stays as uneven as it is.
    pub days_worst_block: f64,
    /// The member levels wear, so that the figures that follow are of the mean block; else they are of the most worn one.
    pub levels_wear: bool,
    /// Years until the block that counts has had them.
    #[serde(default)]
    pub years: Option<f64>,
    /// Terabytes (10^12) that can be written to it in this time at this load, as data sheets give TBW.
    #[serde(default)]
    pub tbw: Option<f64>,
    /// How often a day its whole capacity is written at this load (DWPD).
    #[serde(default)]
    pub dwpd: Option<f64>,
    /// How often a day it could be, to last five years.
    #[serde(default)]
    pub dwpd_five_years: Option<f64>,
}

impl Lifetime {
    /// Days until the block that counts has had its erases: the mean one where the member levels wear, else the most worn one.
    #[must_use]
    pub fn days(&self) -> f64 {
        if self.levels_wear { self.days_levelled } else { self.days_worst_block }
    }
}

/// The life that write amplification and rated cycles alone imply, as if all blocks wore evenly.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ImpliedLife {
    /// Erases that a block endures.
    pub endurance_cycles: u32,
    /// Pages programmed for each page that was sent, of this member.
    pub write_amplification: f64,
    /// Terabytes (10^12) that can be written to it.
    pub tbw: f64,
    /// How often a day its whole capacity could be written, to last five years.
    pub dwpd_five_years: f64,
    /// Days that it lasts at this load; `None` over no time.
    pub days: Option<f64>,
}

/// Cleans of members that had asked to be forced and could wait no longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct UncoordinatedCleans {
    /// While others were forced, so that they had to wait.
    pub during_cycles: u64,
    /// At other times: none, unless messages take time or are not answered.
    pub unanswered: u64,
}

/// Garbage collection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Gc {
    /// Collections: each an uninterrupted sequence of cleans of one die; of drives with superblocks each of a superblock.
    pub runs: u64,
    /// Collections that the array's controller forced.
    pub forced_runs: u64,
    /// Share of the time of all dies that they spent collecting: of drives with superblocks in moves, their parity and erases.
    pub busy_fraction: Option<f64>,
    /// Mean length of a collection, in microseconds; `None` for drives with superblocks, which collect little by little.
    pub mean_length_us: Option<f64>,
    /// Mean number of members that collect in a slice in which at least one does.
    pub synchronised_mean: Option<f64>,
    /// Page operations that went in between the steps of a collection.
    pub preemptions: u64,
    /// Page operations served from the register of a page move.
    pub merges: u64,
    /// Page operations overlapped with a step of a collection.
    pub pipelined: u64,
    /// Messages between controller and members, by kind.
    pub messages: BTreeMap<String, u64>,
    /// Cleans that members began because they must, although they had asked to be forced (`coordination.notify = "soft"`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncoordinated_cleans: Option<UncoordinatedCleans>,
    /// Collections that members began by themselves.
    pub own_runs: u64,
    /// Victims cleaned.
    pub cleans: u64,
    /// Time that dies spent collecting, in milliseconds: whole cleans that began in the measured time, and of drives with superblocks what lies
    /// in it.
    pub time_ms: f64,
    /// Length of a slice, in microseconds.
    pub slice_us: f64,
    /// Slices in which none, one, two … members collected.
    pub slices_by_members: Vec<u64>,
    /// Requests that met collections on no, one, two … members.
    pub requests_by_members_met: Vec<u64>,
    /// Programs and erases suspended for a read.
    pub suspensions: u64,
    /// Page writes that waited because no pool had room for them.
    pub exhausted: u64,
    /// Sum of these waits, in milliseconds.
    pub exhausted_ms: f64,
    /// Cleans that began because a die had nothing to do.
    pub idle_cleans: u64,
    /// Time that dies collected in states 1, 2 and 3 (PGC III.D), in milliseconds: any request, no write, nothing may go in.
    pub state_ms: [f64; 3],
}

/// What parity costs. A request has one sub-request for every stripe that it writes to; pages are counted when their operations are issued.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Parity {
    /// Sub-requests that needed no reads.
    pub full_stripe_writes: u64,
    /// Sub-requests that read the rest of the stripe's data.
    pub reconstruct_writes: u64,
    /// Sub-requests that read old data and old parity.
    pub read_modify_writes: u64,
    /// Sub-requests that wrote to a stripe without its parity, which a failed member had.
    pub no_parity_writes: u64,
    /// Data pages read by writes.
    pub data_pages_read: u64,
    /// Parity pages read by writes.
    pub parity_pages_read: u64,
    /// Parity pages written.
    pub parity_pages_written: u64,
    /// Sub-requests, also those that read, that waited for the lock of their stripe.
    pub lock_waits: u64,
    /// Mean of these waits, in microseconds.
    pub lock_wait_mean_us: Option<f64>,
}

/// What the limits of the array's controller cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Controller {
    /// Requests that waited for their turn because as many as allowed were in work.
    pub waits: u64,
    /// Mean of these waits, in microseconds.
    pub wait_mean_us: Option<f64>,
    /// Share of the time in which data passed; `None` for a run of no time.
    pub busy_fraction: Option<f64>,
}

/// What was asked for and not served. Requests of which a page was lost count in no other figure of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Lost {
    /// Requests of the host of which a page was lost.
    pub requests: u64,
    /// Pages of reads, writes and destages that were lost.
    pub pages: u64,
}

/// A member that failed, and its rebuilding.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct FailedMember {
    /// The member.
    pub member: u32,
    /// The spare that replaces it.
    pub spare: Option<u32>,
    /// When it failed, in milliseconds; `None` if the run was over before.
    pub failed_ms: Option<f64>,
    /// When rebuilding began, in milliseconds.
    pub rebuild_began_ms: Option<f64>,
    /// When the last strip was rebuilt or given up, in milliseconds.
    pub rebuild_ended_ms: Option<f64>,
    /// Share of the strips that have been rebuilt.
    pub rebuilt_fraction: f64,
    /// Strips that were given up, since too much of their stripe was lost.
    pub strips_lost: u64,
    /// What was brought to the spare, in MB/s (10^6).
    pub rebuild_mb_s: Option<f64>,
}

/// The failure of a member, and its rebuilding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Failure {
    /// The member.
    pub member: u32,
    /// The spare that replaces it.
    pub spare: Option<u32>,
    /// When it failed, in milliseconds; `None` if the run was over before.
    pub failed_ms: Option<f64>,
    /// When rebuilding began, in milliseconds.
    pub rebuild_began_ms: Option<f64>,
    /// When the last strip was rebuilt, in milliseconds.
    pub rebuild_ended_ms: Option<f64>,
    /// Share of the strips that have been rebuilt.
    pub rebuilt_fraction: f64,
    /// Pages read to rebuild.
    pub rebuild_pages_read: u64,
    /// Pages written to rebuild.
    pub rebuild_pages_written: u64,
    /// What was brought to the spare, in MB/s (10^6).
    pub rebuild_mb_s: Option<f64>,
    /// Pages of the failed member that reads asked for.
    pub pages_reconstructed: u64,
    /// Pages read for these beyond what was asked for.
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
    /// One had that was not rebuilt, and none was being rebuilt.
    pub degraded: ByDirection<ResponseTime>,
    /// One was being rebuilt.
    pub rebuilding: ByDirection<ResponseTime>,
    /// Spares had replaced all that had failed.
    pub rebuilt: ByDirection<ResponseTime>,
}

/// One member.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Member {
    /// Blocks erased.
    pub erases: u64,
    /// Pages that were sent to it to be written.
    pub host_pages_written: u64,
    /// Pages read for the host.
    pub host_pages_read: u64,
    /// Valid pages that collections moved.
    pub gc_pages_moved: u64,
    /// Summary pages programmed.
    pub summary_programs: u64,
    /// Pages programmed for each page that was sent to it, as in `flash`.
    pub write_amplification: Option<f64>,
    /// Collections, as in `gc`.
    pub gc_runs: u64,
    /// Collections that the array's controller forced.
    pub gc_forced_runs: u64,
    /// Time that dies spent collecting, in milliseconds, as in `gc`.
    pub gc_time_ms: f64,
    /// Share of the time of the member's dies that they spent collecting.
    pub gc_busy_fraction: Option<f64>,
    /// Share of the time in which at least one die collected.
    pub gc_any_fraction: Option<f64>,
    /// Erases per block, warm-up included.
    pub wear: WearReport,
    /// How long it lasts at this load, as in `flash`.
    pub lifetime: Option<Lifetime>,
    /// The life that is implied, as in `flash`.
    pub implied_life: Option<ImpliedLife>,
}

/// Speed of the simulator in this run; the whole run counts, what the statistics skip included.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Perf {
    /// Pages read and programmed for the host.
    pub host_page_ops: u64,
    /// Page reads and programs on flash.
    pub flash_page_ops: u64,
    /// Per second of the wall clock, without warm-up.
    pub host_page_ops_per_s: f64,
    /// Warm-up, in seconds of the wall clock.
    pub warm_up_s: f64,
    /// Most memory that was resident; `None` if the system doesn't tell.
    pub peak_rss_bytes: Option<u64>,
    /// Per second of the wall clock, without warm-up.
    pub flash_page_ops_per_s: f64,
    /// Per second of the wall clock, without warm-up.
    pub requests_per_s: f64,
    /// Simulation without warm-up, in seconds of the wall clock.
    pub run_s: f64,
}

impl ResponseTime {
    /// Whether at least ten requests took longer than the percentile of this share, so that it is more than a guess.
    #[must_use]
    pub fn supports(&self, quantile: f64) -> bool {
        self.count as f64 * (1.0 - quantile) >= SAMPLES_BEYOND as f64 - 1e-6
    }
}

impl Perf {
    /// Rates from counts and times; a rate over no time is 0.
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

/// Single requests and collections of a window of simulated time, in order of report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TimelineReport {
    /// Begin of the window, in nanoseconds.
    pub from_ns: u64,
    /// End of the window, in nanoseconds.
    pub to_ns: u64,
    /// Entries left out because there were too many.
    pub omitted: u64,
    /// Free blocks of a pool at or below which it is collected: T_soft of PGC.
    pub t_soft_free_blocks: u32,
    /// Requests.
    pub requests: Vec<TimelineRequest>,
    /// Collections.
    pub gc: Vec<TimelineGc>,
    /// Destages of the write cache.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub destages: Vec<TimelineDestage>,
    /// Failures of members and their rebuilding, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<TimelineMark>,
}

/// A moment of a failure, on a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TimelineMark {
    /// When, in nanoseconds.
    pub at_ns: u64,
    /// What happened.
    pub what: Happened,
    /// The failed member.
    pub member: u32,
}

/// What happens to a member that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Happened {
    /// It failed.
    Failed,
    /// Rebuilding began.
    RebuildBegan,
    /// Rebuilding ended.
    RebuildEnded,
}

/// What one member got of a destage, on a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TimelineDestage {
    /// Member.
    pub member: u32,
    /// From the member's own cache; else from a cache of write groups.
    pub own_cache: bool,
    /// Stripe: what a write group has in common.
    pub stripe: u64,
    /// Pages written to the member.
    pub pages: u32,
    /// Begin, in nanoseconds.
    pub begun_ns: u64,
    /// When the member was done, in nanoseconds; of a write group with parity, when all members were.
    pub ended_ns: u64,
    /// When all members were done, in nanoseconds.
    pub done_ns: u64,
}

/// A request on a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TimelineRequest {
    /// Position in the order of arrival.
    pub index: u64,
    /// Arrival, in nanoseconds.
    pub arrival_ns: u64,
    /// End, in nanoseconds.
    pub done_ns: u64,
    /// A write; else a read.
    pub write: bool,
    /// First byte.
    pub offset_bytes: u64,
    /// Bytes.
    pub length_bytes: u64,
    /// Members on which it met a collection.
    pub gc_members_met: u32,
}

/// A collection on a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TimelineGc {
    /// Member.
    pub member: u32,
    /// Die of the member.
    #[serde(rename = "element")]
    pub die: u32,
    /// Pool of the die: its plane, where pools are planes.
    pub pool: u32,
    /// Begin, in nanoseconds: state 0 of PGC until here, then state 1.
    pub start_ns: u64,
    /// From here on writes wait (state 2), in nanoseconds.
    pub writes_wait_from_ns: u64,
    /// From here on all requests wait (state 3), in nanoseconds.
    pub all_wait_from_ns: u64,
    /// End, in nanoseconds.
    pub end_ns: u64,
    /// Free blocks of the pool at the begin.
    pub free_blocks_before: u32,
    /// Free blocks of the pool before the victim was erased, the fewest of the collection.
    #[serde(rename = "free_blocks_least")]
    pub free_blocks_min: u32,
    /// Valid pages moved.
    pub pages_moved: u32,
    /// Forced by the array's controller.
    pub forced: bool,
}
