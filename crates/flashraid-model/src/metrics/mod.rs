//! Measurements of a run: response times, bandwidth, garbage collection over time.
//! ```text
//!  CompletedRequest ─▶ latency · bandwidth ─┐
//!  collections ──────▶ gc ──────────────────┼─ into_results ─▶ MeasuredResults ─▶ report
//!  free blocks ──────▶ free_blocks ─────────┤
//!  both, in a window ▶ timeline ────────────┘
//! ```
//!
//! [`MetricsRecorder`] records while the simulation runs. It allocates nothing per call, and its memory is bounded however long the run is.
//! [`MeasuredResults`] holds the results.

pub mod bandwidth;
pub mod batches;
pub mod breakdown;
pub mod confidence_interval;
mod counts;
pub mod free_blocks;
pub mod gc;
pub mod latency;
pub mod moments;
pub mod over_time;
pub mod timeline;
pub mod trend;

use crate::TimeNs;
use crate::events::{OperationTimeParts, VictimBlockCollection, WriteCacheDestageToMember};
use crate::request::{OpKind, Request};
use crate::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use bandwidth::BandwidthSummary;
pub use batches::{DirectionBatchResults, RequestBatchResults};
pub use breakdown::ResponseHistogramWithCauses;
pub use confidence_interval::Estimate;
pub use free_blocks::FreeBlocksSeriesPoint;
pub use gc::GcActivity;
pub use latency::{CdfPoint, LatencyHistogram, ResponseTimes};
pub use moments::Moments;
pub use over_time::{ArrayStateSample, IntervalResults, ResultsOverTime};
pub use timeline::EventTimeline;
pub use trend::{ResponseAndGcTrend, TenthOfRun};

/// A request that is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompletedRequest {
    /// Position in the order of arrival, from 0.
    pub arrival_index: u64,
    /// The request as the host sent it.
    pub request: Request,
    /// Time at which the request reached the array, in nanoseconds. In a closed loop, this is the time at which it was sent.
    pub arrival_ns: TimeNs,
    /// Time at which the last byte of the request was done, in nanoseconds.
    pub done_ns: TimeNs,
    /// Number of members on which at least one page of the request waited for garbage collection.
    pub gc_members_met: u32,
    /// Division of the response time of the request into causes.
    pub time: OperationTimeParts,
}

/// Settings that say what is measured, and with which resolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MetricsParams {
    /// Length of an interval of the bandwidth series.
    pub bandwidth_interval: Duration,
    /// Length of a time slice. All members that collect during the same slice count as collecting together.
    pub gc_slice: Duration,
    /// Window `[from, to)` of simulated time whose requests and collections are kept one by one, in nanoseconds.
    #[serde(skip)]
    pub timeline_window: Option<(TimeNs, TimeNs)>,
    /// The beginning of the run that the statistics leave out.
    #[serde(skip)]
    pub skip: UnmeasuredStart,
    /// Number of streams, the workloads that are merged into one (a mix). Response times are also recorded separately for each stream.
    /// It is 0 without a mix.
    #[serde(skip)]
    pub streams: u32,
}

impl Default for MetricsParams {
    fn default() -> Self {
        Self {
            bandwidth_interval: Duration { ns: 1_000_000_000 },
            // The paper LAWC uses slices of this length (section 4.2).
            gc_slice: Duration { ns: 100_000 },
            timeline_window: None,
            skip: UnmeasuredStart::Nothing,
            streams: 0,
        }
    }
}

/// The beginning of a run that its statistics leave out, for example because the array is not in a steady state yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnmeasuredStart {
    /// The statistics cover the whole run.
    #[default]
    Nothing,
    /// The statistics leave out this number of requests, the first ones to arrive.
    Requests(u64),
    /// The statistics leave out everything before this time, in nanoseconds.
    UntilTime(TimeNs),
}

impl UnmeasuredStart {
    /// Returns true if measuring has begun when the request with the number `index`, counted from 0, arrives at `now`.
    ///
    /// If the statistics leave out the beginning of the run, the driver calls [`MetricsRecorder::restart_measuring`] at the first request
    /// for which this is true. At that moment it also copies the counters of the members.
    #[inline]
    #[must_use]
    pub fn is_over_at(self, index: u64, now: TimeNs) -> bool {
        match self {
            Self::Nothing => true,
            Self::Requests(skipped) => index >= skipped,
            Self::UntilTime(from_ns) => now >= from_ns,
        }
    }
}

/// Number of reads and writes that were done in a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RequestCounts {
    /// Number of reads done.
    pub reads: u64,
    /// Number of writes done.
    pub writes: u64,
}

impl RequestCounts {
    #[inline]
    fn count(&mut self, kind: OpKind) {
        match kind {
            OpKind::Write => self.writes += 1,
            _ => self.reads += 1,
        }
    }
}

counts! {
    /// Lengths of cleans (collections of one victim block), in nanoseconds, summed over the cleans. Two fields tell for which part of
    /// this time requests could still be served between the steps of a clean.
    pub struct CollectionTimeSums {
        /// Total time of the cleans from start to end, in nanoseconds.
        total_ns,
        /// Time in which any request could be served between two steps of the clean, in nanoseconds. This is state 1 in section III.D of
        /// the paper on preemptive collection (PGC).
        preemptible_by_all_requests_ns,
        /// Time in which reads could be served between two steps of the clean but writes had to wait, in nanoseconds. This is state 2 in
        /// section III.D of the paper on preemptive collection (PGC). In the rest of the total time, all requests had to wait.
        preemptible_by_reads_only_ns,
    }
}

impl CollectionTimeSums {
    fn count(&mut self, clean: &VictimBlockCollection) {
        self.total_ns += clean.end_ns - clean.start_ns;
        self.preemptible_by_all_requests_ns += clean.writes_blocked_from_ns - clean.start_ns;
        self.preemptible_by_reads_only_ns += clean.all_requests_blocked_from_ns - clean.writes_blocked_from_ns;
    }
}

/// Maximum number of streams, whose numbers are bytes.
const STREAMS_MAX: usize = 1 << u8::BITS;

/// Records the events of a run.
///
/// Times may come in any order, with one exception: see [`MetricsRecorder::compact_collection_records_before`].
#[derive(Debug, Clone)]
pub struct MetricsRecorder {
    from_ns: TimeNs,
    first_index: u64,
    /// The end of the measured time, once it is known.
    until_ns: TimeNs,
    done: RequestCounts,
    done_by_stream: Vec<RequestCounts>,
    response: latency::LatencyRecorder,
    /// Times until data were safe from a loss of power, once one has been recorded.
    sync: Option<Box<LatencyHistogram>>,
    /// Response time of the last write of each stream that has ended since the last flush of the stream, in nanoseconds.
    last_write_ns: Box<[u64; STREAMS_MAX]>,
    response_by_phase: Vec<latency::LatencyRecorder>,
    response_by_stream: Vec<latency::LatencyRecorder>,
    batches: batches::Recorder,
    breakdown: breakdown::Breakdown,
    requests_by_members_met: Vec<u64>,
    bandwidth: bandwidth::BandwidthRecorder,
    gc: gc::GcTracker,
    cleans: Vec<CollectionTimeSums>,
    trend: trend::TrendRecorder,
    /// Trends over the whole run from time 0, which [`MetricsRecorder::restart_measuring`] does not clear.
    whole_trend: trend::TrendRecorder,
    over_time: over_time::Recorder,
    timeline: Option<EventTimeline>,
    free_blocks: Vec<free_blocks::FreeBlocksRecorder>,
}

impl MetricsRecorder {
    /// Starts measuring at time 0, so that all requests count from the first one on. [`MetricsRecorder::restart_measuring`] can move the
    /// start.
    #[must_use]
    pub fn new(params: &MetricsParams, members: u32, dies_per_member: u32) -> Self {
        Self {
            from_ns: 0,
            first_index: 0,
            until_ns: TimeNs::MAX,
            done: RequestCounts::default(),
            done_by_stream: vec![RequestCounts::default(); params.streams as usize],
            response: latency::LatencyRecorder::default(),
            sync: None,
            last_write_ns: Box::new([0; STREAMS_MAX]),
            response_by_phase: Vec::new(),
            response_by_stream: vec![latency::LatencyRecorder::default(); params.streams as usize],
            batches: batches::Recorder::default(),
            breakdown: breakdown::Breakdown::default(),
            requests_by_members_met: vec![0; members as usize + 1],
            bandwidth: bandwidth::BandwidthRecorder::new(0, params.bandwidth_interval.ns),
            gc: gc::GcTracker::new(members, dies_per_member, params.gc_slice.ns),
            cleans: vec![CollectionTimeSums::default(); members as usize],
            trend: trend::TrendRecorder::new(0),
            whole_trend: trend::TrendRecorder::new(0),
            over_time: over_time::Recorder::new(0),
            timeline: params.timeline_window.map(|(from_ns, to_ns)| EventTimeline::new(from_ns, to_ns)),
            free_blocks: vec![free_blocks::FreeBlocksRecorder::default(); members as usize],
        }
    }

    /// Records the response times of each of `phases` phases of the run, in addition to those of the whole run. The driver has a phase
    /// for each state of the array's health, such as degraded; see [`MetricsRecorder::record_request_of_run_phase`].
    #[must_use]
    pub fn with_run_phases(mut self, phases: usize) -> Self {
        self.response_by_phase = vec![latency::LatencyRecorder::default(); phases];
        self
    }

    /// Records a request that belongs to this phase of the run, such as the time in which the array is degraded (see
    /// [`MetricsRecorder::with_run_phases`]). The caller also passes the request to [`MetricsRecorder::record_request`].
    #[inline]
    pub fn record_request_of_run_phase(&mut self, phase: usize, done: &CompletedRequest) {
        if done.arrival_index >= self.first_index {
            self.response_by_phase[phase].record(done.request.kind, done.done_ns.saturating_sub(done.arrival_ns));
        }
    }

    /// Records a request that is done. Trims and flushes move no data and are not counted. A flush gives a time until data were safe, with
    /// the write of its stream before it.
    ///
    /// Bandwidth and requests per second count everything that is done in the measured time. Response times, and figures made of them,
    /// leave out requests that arrived before it began.
    #[inline]
    pub fn record_request(&mut self, done: &CompletedRequest) {
        let response_ns = done.done_ns.saturating_sub(done.arrival_ns);
        let last_write_ns = &mut self.last_write_ns[usize::from(done.request.stream)];
        match done.request.kind {
            OpKind::Read => {}
            OpKind::Write if done.request.fua => self.record_sync(done.arrival_index, response_ns),
            OpKind::Write => *last_write_ns = response_ns,
            OpKind::Trim => return,
            OpKind::Flush => {
                let sync_ns = response_ns + std::mem::take(last_write_ns);
                return self.record_sync(done.arrival_index, sync_ns);
            }
        }
        // Three parts count response times by these buckets.
        let bucket = breakdown::bucket_of(response_ns);
        if self.has(done) {
            self.bandwidth.record(done.done_ns, done.request.length_bytes);
            self.done.count(done.request.kind);
            if let Some(of_stream) = self.done_by_stream.get_mut(usize::from(done.request.stream)) {
                of_stream.count(done.request.kind);
            }
            self.over_time.record_request(done.request.kind, done.arrival_ns, done.done_ns, done.request.length_bytes, bucket);
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.record_request(done);
        }
        let written = if done.request.kind == OpKind::Write { done.request.length_bytes } else { 0 };
        self.whole_trend.record_request(done.arrival_ns, done.done_ns, written);
        if done.arrival_index < self.first_index {
            return;
        }
        self.response.record(done.request.kind, response_ns);
        if let Some(of_stream) = self.response_by_stream.get_mut(usize::from(done.request.stream)) {
            of_stream.record(done.request.kind, response_ns);
        }
        self.breakdown.record(bucket, &done.time);
        self.batches.record_request(done.arrival_index - self.first_index, done.request.kind, response_ns, bucket);
        self.trend.record_request(done.arrival_ns, done.done_ns, written);
        let met = (done.gc_members_met as usize).min(self.requests_by_members_met.len() - 1);
        self.requests_by_members_met[met] += 1;
    }

    /// Records how long it took until data of the host were safe from a loss of power. That is the time of a write with "force unit
    /// access", or of a flush with the write before it. `arrival_index` is the number of that request.
    #[inline]
    pub fn record_sync(&mut self, arrival_index: u64, sync_ns: u64) {
        if arrival_index >= self.first_index {
            self.sync.get_or_insert_default().record(sync_ns);
        }
    }

    /// Notes a measured request that the host leaves out, so that the others stay in the same batches as with it.
    pub fn note_left_out_request(&mut self, arrival_index: u64) {
        self.batches.slot_of(arrival_index - self.first_index);
    }

    /// Returns true if a request ends in the measured time. A request that arrived before the measured time must end after its beginning.
    #[inline]
    fn has(&self, done: &CompletedRequest) -> bool {
        (done.done_ns > self.from_ns || done.arrival_index >= self.first_index) && done.done_ns <= self.until_ns
    }

    /// Returns the time at which measuring began, in nanoseconds.
    #[must_use]
    pub fn measured_from_ns(&self) -> TimeNs {
        self.from_ns
    }

    /// Returns the number of reads and writes with a response time so far.
    #[must_use]
    pub fn measured_requests(&self) -> u64 {
        self.response.count()
    }

    /// Ends the measured time. Later events count only in the timeline.
    pub fn end_measuring(&mut self, now: TimeNs) {
        self.until_ns = now;
    }

    /// Announces that the last request of an open loop arrived at `last_ns`. The trends count the requests that arrived before
    /// `last_ns` and were not done at `last_ns` ([`ResponseAndGcTrend::outstanding_at_last_arrival`]).
    ///
    /// [`MetricsRecorder::record_request`] counts those that it records after this call. The caller counts the others, and passes their
    /// number as `outstanding`. There are two kinds of these others:
    ///
    /// - Requests that have already been recorded, because their end after `last_ns` was known early.
    /// - Requests that will never be recorded, because the caller ends the statistics before they are done.
    pub fn record_last_arrival(&mut self, last_ns: TimeNs, outstanding: u64) {
        self.trend.arrivals_end(last_ns, outstanding);
        self.whole_trend.arrivals_end(last_ns, outstanding);
    }

    /// Records pages that garbage collection has moved, as drives with superblocks report them with each program. For other drives,
    /// [`MetricsRecorder::record_gc_interval`] records all pages that were moved from a victim block at once.
    #[inline]
    pub fn record_moved_pages(&mut self, at: TimeNs, pages: u64) {
        if at <= self.until_ns {
            self.trend.moved(at, pages);
            self.over_time.moved(at, pages);
        }
    }

    /// Records a clean (the collection of one victim block) whose start and end are both known. It must be recorded before
    /// [`MetricsRecorder::compact_collection_records_before`] is called with a time after the start of the clean.
    #[inline]
    pub fn record_gc_interval(&mut self, interval: &VictimBlockCollection) {
        self.record_moved_pages(interval.start_ns, u64::from(interval.pages_moved));
        // A clean that began before the measured time, or ends after it, counts with the part inside.
        let (start_ns, end_ns) = (interval.start_ns.max(self.from_ns), interval.end_ns.min(self.until_ns));
        self.gc.record_interval(interval.member, interval.die, start_ns, end_ns);
        if interval.start_ns >= self.from_ns && interval.start_ns <= self.until_ns {
            self.cleans[interval.member as usize].count(interval);
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.gc(interval);
        }
    }

    /// Returns true if [`MetricsRecorder::record_sample`] should be called, because the series over time lacks a sample of the array's
    /// state. The series has one sample for each interval of time, and none yet for the interval that contains `now`.
    #[inline]
    #[must_use]
    pub fn wants_sample(&self, now: TimeNs) -> bool {
        now <= self.until_ns && self.over_time.wants_sample(now)
    }

    /// Records a sample of the array's state, once for each interval of the series over time.
    pub fn record_sample(&mut self, now: TimeNs, sample: ArrayStateSample) {
        self.over_time.sample(now, sample);
    }

    /// Adds the collections before `now` to the statistics of collecting dies and members, and frees the memory of their records. The
    /// caller promises that it has recorded every collection that starts before `now` with [`MetricsRecorder::record_gc_interval`].
    ///
    /// Frequent calls save memory. A call with few records to add costs only a comparison.
    #[inline]
    pub fn compact_collection_records_before(&mut self, now: TimeNs) {
        self.gc.advance(now);
    }

    /// Records the number of free blocks in one pool of blocks (of a plane or of a die) of a member. `start_threshold` is the number
    /// of free blocks at which garbage collection in a pool starts. (The paper on preemptive collection, PGC, calls it T_soft.)
    ///
    /// The caller does this twice for each victim block, with the free blocks of the pool that holds the block. `now` is first the
    /// time at which the collection of the block begins, then the time at which it ends.
    #[inline]
    pub fn record_pool_free_blocks(&mut self, member: u32, now: TimeNs, free: u32, start_threshold: u32) {
        if now <= self.until_ns {
            self.free_blocks[member as usize].record(now, free, start_threshold);
        }
    }

    /// Records a destage of the write cache that is done.
    pub fn record_destage(&mut self, destage: &WriteCacheDestageToMember) {
        if let Some(timeline) = &mut self.timeline {
            timeline.record_destage(destage);
        }
    }

    /// Discards the statistics so far. Measures anew from the time `now` on, beginning with the request number `first_request`.
    ///
    /// A collection in progress at `now` counts with its part after `now`, even if it is recorded only after this call. The timeline,
    /// the free blocks and the trends of the whole run are kept, because they have absolute times.
    pub fn restart_measuring(&mut self, now: TimeNs, first_request: u64) {
        self.from_ns = now;
        self.first_index = first_request;
        self.response = latency::LatencyRecorder::default();
        self.sync = None;
        self.breakdown = breakdown::Breakdown::default();
        self.batches = batches::Recorder::default();
        self.response_by_phase.fill(latency::LatencyRecorder::default());
        self.response_by_stream.fill(latency::LatencyRecorder::default());
        (self.done, self.until_ns) = (RequestCounts::default(), TimeNs::MAX);
        self.done_by_stream.fill(RequestCounts::default());
        self.cleans.fill(CollectionTimeSums::default());
        self.requests_by_members_met.fill(0);
        self.bandwidth = bandwidth::BandwidthRecorder::new(now, self.bandwidth.initial_interval_ns());
        self.trend = trend::TrendRecorder::new(now);
        self.over_time = over_time::Recorder::new(now);
        self.gc.restart(now);
    }

    /// Makes the intervals of the series over time at least `interval_ns` long. The caller uses this to match another series whose
    /// intervals have become longer.
    pub fn lengthen_intervals(&mut self, interval_ns: u64) {
        self.over_time.lengthen(interval_ns);
    }

    /// Returns the results of a measured time that ended at `end_ns`. Series over time leave out later events. The numbers of requests
    /// and bytes are divided by `rate_divisor_ns` to get rates per second.
    ///
    /// This divisor is shorter than the measured time if a closed loop ran out of requests (see [`MeasuredResults::rate_divisor_ns`]).
    #[must_use]
    pub fn into_results(mut self, end_ns: TimeNs, rate_divisor_ns: u64) -> MeasuredResults {
        let end_ns = end_ns.max(self.from_ns);
        MeasuredResults {
            from_ns: self.from_ns,
            end_ns,
            rate_divisor_ns,
            requests_done: self.done,
            requests_done_by_stream: self.done_by_stream,
            response_times: self.response.finish(),
            sync_times: self.sync,
            response_times_by_health_phase: self.response_by_phase.into_iter().map(latency::LatencyRecorder::finish).collect(),
            response_times_by_stream: self.response_by_stream.into_iter().map(latency::LatencyRecorder::finish).collect(),
            request_batch_results: self.batches.finish(),
            response_time_sums_by_cause: self.breakdown.finish(),
            requests_by_collecting_members_waited_for: self.requests_by_members_met,
            bandwidth: self.bandwidth.finish(end_ns, rate_divisor_ns),
            gc: self.gc.finish(end_ns),
            victim_collection_times_by_member: self.cleans,
            response_and_gc_trend_of_measured_time: self.trend.finish(),
            response_and_gc_trend_of_whole_run: self.whole_trend.finish(),
            over_time: self.over_time.finish(end_ns),
            timeline: self.timeline,
            free_blocks: self.free_blocks.iter().map(free_blocks::FreeBlocksRecorder::points).collect(),
        }
    }
}

/// Results of the measurement of a run.
#[derive(Debug, Clone)]
pub struct MeasuredResults {
    /// Time at which measuring began, in nanoseconds.
    pub from_ns: TimeNs,
    /// Time at which measuring ended, in nanoseconds.
    pub end_ns: TimeNs,
    /// Time by which the numbers of requests and bytes are divided to get requests per second and bandwidth, in nanoseconds. In an open
    /// loop, it is the length of the measured time.
    ///
    /// In a closed loop, the mean idle time of the places of the queue depth is subtracted. A place holds one outstanding request at a
    /// time. It is idle when the workload has no more requests to send. Places that never had a request do not count.
    pub rate_divisor_ns: u64,
    /// Number of reads and writes that were done in the measured time.
    pub requests_done: RequestCounts,
    /// Number of reads and writes done by each stream, in the order of the streams' numbers; empty without a mix. A stream is one of
    /// the workloads that are merged into a mix.
    pub requests_done_by_stream: Vec<RequestCounts>,
    /// Response times of all requests that arrived in the measured time.
    pub response_times: ResponseTimes,
    /// Times until data were safe from a loss of power: of flushes, each with the write before it, and of writes with "force unit access".
    /// They are `None` if there were none.
    pub sync_times: Option<Box<LatencyHistogram>>,
    /// Response times of the requests that arrived in each phase of the run; empty without phases. The phases are the states of the
    /// array's health, such as degraded.
    pub response_times_by_health_phase: Vec<ResponseTimes>,
    /// Response times of the requests of each stream, in the order of the streams' numbers; empty without a mix. A stream is one of the
    /// workloads that are merged into a mix.
    pub response_times_by_stream: Vec<ResponseTimes>,
    /// Results of ten batches, into which the measured requests are divided in the order of arrival; empty if there are too few requests.
    pub request_batch_results: Vec<RequestBatchResults>,
    /// Sums of the requests' response times by cause.
    pub response_time_sums_by_cause: ResponseHistogramWithCauses,
    /// Number of requests that waited for a collection on no member, on one member, on two, and so on, up to all members. Each entry
    /// stands for one number of members.
    pub requests_by_collecting_members_waited_for: Vec<u64>,
    /// Bandwidth over the measured time.
    pub bandwidth: BandwidthSummary,
    /// Time for which dies and members collected garbage in the measured time.
    pub gc: GcActivity,
    /// Duration of the cleans (collections of one victim block) that began in the measured time, by member.
    pub victim_collection_times_by_member: Vec<CollectionTimeSums>,
    /// Change of response times and pages moved during the measured time, as means over ten equal parts of the time in which requests
    /// arrived.
    pub response_and_gc_trend_of_measured_time: ResponseAndGcTrend,
    /// Change of response times and pages moved during the whole run, as means over ten equal parts of the time in which requests
    /// arrived. It includes the start of the run that the other statistics leave out.
    pub response_and_gc_trend_of_whole_run: ResponseAndGcTrend,
    /// Series over time of the main results of the run.
    pub over_time: ResultsOverTime,
    /// Records of each request, collection and destage in a window of simulated time, one by one. It is `None` unless
    /// [`MetricsParams::timeline_window`] sets the window.
    pub timeline: Option<EventTimeline>,
    /// Free blocks over time, by member.
    pub free_blocks: Vec<Vec<FreeBlocksSeriesPoint>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(index: u64, arrival_ns: TimeNs, done_ns: TimeNs, gc_members_met: u32) -> CompletedRequest {
        let request = Request {
            arrival_ns,
            offset_bytes: 0,
            length_bytes: 1000,
            kind: OpKind::Read,
            fua: false,
            zeroes: false,
            high_priority: false,
            stream: 0,
            contiguous_on_one_member: false,
        };
        CompletedRequest { arrival_index: index, request, arrival_ns, done_ns, gc_members_met, time: OperationTimeParts::default() }
    }

    #[test]
    fn a_restart_leaves_out_earlier_requests_but_not_their_bytes() {
        let mut metrics =
            MetricsRecorder::new(&MetricsParams { bandwidth_interval: Duration { ns: 100 }, ..MetricsParams::default() }, 2, 1);
        metrics.record_request(&completed(0, 0, 90, 2));
        metrics.record_gc_interval(&VictimBlockCollection {
            member: 0,
            die: 0,
            pool: 0,
            start_ns: 50,
            end_ns: 150,
            pages_moved: 0,
            free_blocks_before: 0,
            pool_free_blocks_min: 0,
            writes_blocked_from_ns: 50,
            all_requests_blocked_from_ns: 50,
            is_caused_by_coordination: false,
        });
        metrics.restart_measuring(100, 2);
        metrics.record_request(&completed(2, 100, 140, 1));
        metrics.record_request(&completed(1, 10, 150, 2));
        let measured = metrics.into_results(200, 100);
        assert_eq!((measured.from_ns, measured.end_ns), (100, 200));
        assert_eq!((measured.response_times.all.moments().count(), measured.response_times.all.moments().max()), (1, Some(40)));
        assert_eq!(measured.requests_by_collecting_members_waited_for, [0, 1, 0]);
        assert_eq!(measured.bandwidth.total_bytes, 2000);
        assert_eq!(measured.gc.mean_die_busy_fraction_of_member(0), Some(0.5));
    }

    fn clean(start_ns: TimeNs, end_ns: TimeNs) -> VictimBlockCollection {
        VictimBlockCollection {
            member: 0,
            die: 0,
            pool: 0,
            start_ns,
            end_ns,
            pages_moved: 3,
            free_blocks_before: 0,
            pool_free_blocks_min: 0,
            writes_blocked_from_ns: start_ns,
            all_requests_blocked_from_ns: end_ns,
            is_caused_by_coordination: false,
        }
    }

    #[test]
    fn nothing_counts_that_happens_after_the_end() {
        let mut metrics = MetricsRecorder::new(&MetricsParams::default(), 1, 1);
        metrics.record_request(&completed(0, 0, 100, 0));
        // A clean in progress counts with its part in the measured time, but its length counts as a whole.
        metrics.record_gc_interval(&clean(60, 160));
        metrics.end_measuring(100);
        metrics.record_gc_interval(&clean(200, 300));
        metrics.record_moved_pages(101, 50);
        metrics.record_pool_free_blocks(0, 150, 1, 1);
        assert!(!metrics.wants_sample(150));
        let measured = metrics.into_results(100, 100);
        assert_eq!((measured.gc.mean_die_busy_fraction_of_member(0), measured.gc.members[0].collecting_die_ns), (Some(0.4), 40));
        assert_eq!(
            measured.victim_collection_times_by_member,
            [CollectionTimeSums { total_ns: 100, preemptible_by_all_requests_ns: 0, preemptible_by_reads_only_ns: 100 }]
        );
        assert_eq!(measured.over_time.points.iter().map(|point| point.pages_moved).sum::<u64>(), 3);
        assert_eq!(measured.requests_done, RequestCounts { reads: 1, writes: 0 });
        assert!(measured.free_blocks[0].is_empty());
    }

    #[test]
    fn what_came_before_counts_as_done_if_it_ends_after_the_beginning() {
        let mut metrics = MetricsRecorder::new(&MetricsParams::default(), 1, 1);
        metrics.restart_measuring(100, 3);
        metrics.record_request(&completed(0, 0, 100, 0));
        metrics.record_request(&completed(1, 0, 101, 0));
        // This request arrives at the beginning and takes no time.
        metrics.record_request(&completed(3, 100, 100, 0));
        metrics.end_measuring(200);
        metrics.record_request(&completed(2, 0, 201, 0));
        let measured = metrics.into_results(200, 100);
        assert_eq!((measured.requests_done.reads, measured.response_times.all.moments().count()), (2, 1));
        assert_eq!((measured.bandwidth.total_bytes, measured.bandwidth.overall_mb_s), (2000, Some(20_000.0)));
    }

    #[test]
    fn skipping_is_over_at_the_first_that_counts() {
        assert!(UnmeasuredStart::Nothing.is_over_at(0, 0));
        assert!(!UnmeasuredStart::Requests(5).is_over_at(4, u64::MAX) && UnmeasuredStart::Requests(5).is_over_at(5, 0));
        assert!(!UnmeasuredStart::UntilTime(100).is_over_at(u64::MAX, 99) && UnmeasuredStart::UntilTime(100).is_over_at(0, 100));
    }
}
