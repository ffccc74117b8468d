//! What a run measures: response times, bandwidth, garbage collection over time.
//!
//! ```text
//!  CompletedRequest ─▶ latency · bandwidth ─┐
//!  GcInterval ───────▶ gc ──────────────────┼─ finish ─▶ Measured ─▶ report
//!  free blocks ──────▶ free_blocks ─────────┤
//!  both, in a window ▶ timeline ────────────┘
//! ```
//!
//! [`Metrics`] records while the simulation runs: nothing here allocates per call, and memory is bounded whatever the length of the run.
//! [`Measured`] holds the results.

pub mod bandwidth;
pub mod batches;
pub mod breakdown;
mod counts;
pub mod course;
pub mod free_blocks;
pub mod gc;
pub mod interval;
pub mod latency;
pub mod moments;
pub mod over_time;
pub mod timeline;

use crate::TimeNs;
use crate::events::{DestageInterval, GcInterval, TimeParts};
use crate::request::{OpKind, Request};

pub use bandwidth::BandwidthSummary;
pub use batches::Batch;
pub use breakdown::TimeSums;
pub use course::{CourseSummary, Tenth};
pub use free_blocks::FreeBlocksPoint;
pub use gc::GcActivity;
pub use interval::Estimate;
pub use latency::{CdfPoint, Latency, ResponseTimes};
pub use moments::Moments;
pub use over_time::{Course as OverTime, IntervalPoint, Sample};
pub use timeline::Timeline;

/// A request that is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompletedRequest {
    /// Position in the order of arrival, from 0.
    pub index: u64,
    /// The request.
    pub request: Request,
    /// When it reached the array (for closed loops the moment of issue), in nanoseconds.
    pub arrival_ns: TimeNs,
    /// When its last byte was done, in nanoseconds.
    pub done_ns: TimeNs,
    /// Members on which at least one of its pages waited for garbage collection.
    pub gc_members_met: u32,
    /// Where the time from its arrival to its end went.
    pub time: TimeParts,
}

/// What is measured, and how finely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetricsParams {
    /// Length of an interval of the bandwidth series, in nanoseconds; at least 1.
    pub bandwidth_interval_ns: u64,
    /// Length of a slice in which members are counted as collecting together, in nanoseconds; at least 1 (LAWC 4.2 uses 0.1 ms).
    pub gc_slice_ns: u64,
    /// Window `[from, to)` of simulated time for which single requests and collections are kept.
    pub timeline: Option<(TimeNs, TimeNs)>,
    /// The beginning of the run that the statistics leave out.
    pub skip: Skip,
    /// Streams of a mix, whose response times are kept apart, too; 0 if there is none.
    pub streams: u32,
}

impl Default for MetricsParams {
    fn default() -> Self {
        Self { bandwidth_interval_ns: 1_000_000_000, gc_slice_ns: 100_000, timeline: None, skip: Skip::Nothing, streams: 0 }
    }
}

/// The beginning of a run that its statistics leave out, so that they show the steady state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Skip {
    /// Everything counts.
    #[default]
    Nothing,
    /// The first requests in order of arrival.
    Requests(u64),
    /// Everything before this time, in nanoseconds.
    Time(TimeNs),
}

impl Skip {
    /// Whether measuring has begun when request `index` arrives at `now`: the loop calls [`Metrics::restart`] at the first request for which this holds
    /// (and remembers the members' counters of that moment), unless nothing is skipped.
    #[inline]
    #[must_use]
    pub fn is_over(self, index: u64, now: TimeNs) -> bool {
        match self {
            Self::Nothing => true,
            Self::Requests(skipped) => index >= skipped,
            Self::Time(from_ns) => now >= from_ns,
        }
    }
}

/// Reads and writes that were done in a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DoneCounts {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
}

impl DoneCounts {
    #[inline]
    fn count(&mut self, kind: OpKind) {
        match kind {
            OpKind::Write => self.writes += 1,
            _ => self.reads += 1,
        }
    }
}

/// Time that the cleaning of victims took, from its begin to its end, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CleanTimes {
    /// All of it.
    pub whole_ns: u64,
    /// Part in which any request might go in (state 1 of PGC III.D).
    pub free_for_all_ns: u64,
    /// Part in which writes had to wait (state 2); the rest is state 3.
    pub writes_wait_ns: u64,
}

impl CleanTimes {
    fn count(&mut self, clean: &GcInterval) {
        self.whole_ns += clean.end_ns - clean.start_ns;
        self.free_for_all_ns += clean.writes_wait_from_ns - clean.start_ns;
        self.writes_wait_ns += clean.all_wait_from_ns - clean.writes_wait_from_ns;
    }
}

impl std::iter::Sum for CleanTimes {
    fn sum<I: Iterator<Item = Self>>(members: I) -> Self {
        members.fold(Self::default(), |sum, member| Self {
            whole_ns: sum.whole_ns + member.whole_ns,
            free_for_all_ns: sum.free_for_all_ns + member.free_for_all_ns,
            writes_wait_ns: sum.writes_wait_ns + member.writes_wait_ns,
        })
    }
}

/// Records what happens in a run.
///
/// Times may come in any order, with one exception: see [`Metrics::advance`].
#[derive(Debug, Clone)]
pub struct Metrics {
    from_ns: TimeNs,
    first_index: u64,
    /// The end of the measured time, once it is known.
    until_ns: TimeNs,
    done: DoneCounts,
    done_by_stream: Vec<DoneCounts>,
    response: latency::LatencyRecorder,
    response_by_phase: Vec<latency::LatencyRecorder>,
    response_by_stream: Vec<latency::LatencyRecorder>,
    batches: batches::Recorder,
    breakdown: breakdown::Breakdown,
    requests_by_members_met: Vec<u64>,
    bandwidth: bandwidth::BandwidthRecorder,
    gc: gc::GcTracker,
    cleans: Vec<CleanTimes>,
    course: course::Course,
    over_time: over_time::Recorder,
    timeline: Option<Timeline>,
    free_blocks: Vec<free_blocks::FreeBlocksRecorder>,
}

impl Metrics {
    /// Starts measuring at time 0 with the first request.
    #[must_use]
    pub fn new(params: &MetricsParams, members: u32, dies_per_member: u32) -> Self {
        Self {
            from_ns: 0,
            first_index: 0,
            until_ns: TimeNs::MAX,
            done: DoneCounts::default(),
            done_by_stream: vec![DoneCounts::default(); params.streams as usize],
            response: latency::LatencyRecorder::default(),
            response_by_phase: Vec::new(),
            response_by_stream: vec![latency::LatencyRecorder::default(); params.streams as usize],
            batches: batches::Recorder::default(),
            breakdown: breakdown::Breakdown::default(),
            requests_by_members_met: vec![0; members as usize + 1],
            bandwidth: bandwidth::BandwidthRecorder::new(0, params.bandwidth_interval_ns),
            gc: gc::GcTracker::new(members, dies_per_member, params.gc_slice_ns),
            cleans: vec![CleanTimes::default(); members as usize],
            course: course::Course::new(0),
            over_time: over_time::Recorder::new(0),
            timeline: params.timeline.map(|(from_ns, to_ns)| Timeline::new(from_ns, to_ns)),
            free_blocks: vec![free_blocks::FreeBlocksRecorder::default(); members as usize],
        }
    }

    /// Keeps response times of so many phases of the run apart, too; see [`Metrics::request_of_phase`].
    #[must_use]
    pub fn with_phases(mut self, phases: usize) -> Self {
        self.response_by_phase = vec![latency::LatencyRecorder::default(); phases];
        self
    }

    /// A request of a phase is done; [`Metrics::request`] counts it besides.
    #[inline]
    pub fn request_of_phase(&mut self, phase: usize, done: &CompletedRequest) {
        if done.index >= self.first_index {
            self.response_by_phase[phase].record(done.request.kind, done.done_ns.saturating_sub(done.arrival_ns));
        }
    }

    /// A request is done; trims and flushes move no data and count nowhere here.
    ///
    /// Bandwidth and requests per second count all that is done in the measured time; response times and what comes of them leave out
    /// requests that arrived before it began.
    #[inline]
    pub fn request(&mut self, done: &CompletedRequest) {
        if matches!(done.request.kind, OpKind::Trim | OpKind::Flush) {
            return;
        }
        if self.has(done) {
            self.bandwidth.record(done.done_ns, done.request.length_bytes);
            self.done.count(done.request.kind);
            if let Some(of_stream) = self.done_by_stream.get_mut(usize::from(done.request.stream)) {
                of_stream.count(done.request.kind);
            }
            self.over_time.request(done.request.kind, done.arrival_ns, done.done_ns, done.request.length_bytes);
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.request(done);
        }
        if done.index < self.first_index {
            return;
        }
        let response_ns = done.done_ns.saturating_sub(done.arrival_ns);
        self.response.record(done.request.kind, response_ns);
        if let Some(of_stream) = self.response_by_stream.get_mut(usize::from(done.request.stream)) {
            of_stream.record(done.request.kind, response_ns);
        }
        self.breakdown.record(response_ns, &done.time);
        self.batches.request(done.index - self.first_index, response_ns);
        if matches!(done.request.kind, OpKind::Read | OpKind::Write) {
            let written = if done.request.kind == OpKind::Write { done.request.length_bytes } else { 0 };
            self.course.request(done.arrival_ns, done.done_ns, written);
        }
        let met = (done.gc_members_met as usize).min(self.requests_by_members_met.len() - 1);
        self.requests_by_members_met[met] += 1;
    }

    /// Whether a request is done in the measured time: what came before it must end after its begin.
    #[inline]
    fn has(&self, done: &CompletedRequest) -> bool {
        (done.done_ns > self.from_ns || done.index >= self.first_index) && done.done_ns <= self.until_ns
    }

    /// When measuring began, in nanoseconds.
    #[must_use]
    pub fn from_ns(&self) -> TimeNs {
        self.from_ns
    }

    /// The measured time ends now: what happens later counts nowhere but in the timeline.
    pub fn end(&mut self, now: TimeNs) {
        self.until_ns = now;
    }

    /// The last request of an open loop has arrived, and everything that was done by then has been told.
    pub fn arrivals_end(&mut self, last_ns: TimeNs) {
        self.course.arrivals_end(last_ns);
    }

    /// Pages that collection has moved; those of a collection are told with it ([`Metrics::gc`]).
    #[inline]
    pub fn moved(&mut self, at: TimeNs, pages: u64) {
        if at <= self.until_ns {
            self.course.moved(at, pages);
            self.over_time.moved(at, pages);
        }
    }

    /// A collection whose start and end are both known, reported when it is decided on or at any time before [`Metrics::advance`] passes its start.
    #[inline]
    pub fn gc(&mut self, interval: &GcInterval) {
        self.moved(interval.start_ns, u64::from(interval.pages_moved));
        // Of what began before the measured time or ends after it, the part in it counts.
        let (start_ns, end_ns) = (interval.start_ns.max(self.from_ns), interval.end_ns.min(self.until_ns));
        self.gc.interval(interval.member, interval.die, start_ns, end_ns);
        if interval.start_ns >= self.from_ns && interval.start_ns <= self.until_ns {
            self.cleans[interval.member as usize].count(interval);
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.gc(interval);
        }
    }

    /// Whether [`Metrics::sample`] would add something at this moment.
    #[inline]
    #[must_use]
    pub fn wants_sample(&self, now: TimeNs) -> bool {
        now <= self.until_ns && self.over_time.wants_sample(now)
    }

    /// What the array is like at this moment, once for each interval of the figures over time.
    pub fn sample(&mut self, now: TimeNs, sample: Sample) {
        self.over_time.sample(now, sample);
    }

    /// Promises that every collection that starts before `now` has been reported.
    ///
    /// The more often it is called, the less has to be kept; a call that finds little to do costs a comparison.
    #[inline]
    pub fn advance(&mut self, now: TimeNs) {
        self.gc.advance(now);
    }

    /// Free blocks of a member (or of its poorest pool, as the caller likes, always the same), and how many there are when collection starts (PGC's T_soft).
    #[inline]
    pub fn free_blocks(&mut self, member: u32, now: TimeNs, free: u32, start_threshold: u32) {
        if now <= self.until_ns {
            self.free_blocks[member as usize].record(now, free, start_threshold);
        }
    }

    /// A destage of the write cache is done.
    pub fn destage(&mut self, destage: &DestageInterval) {
        if let Some(timeline) = &mut self.timeline {
            timeline.destage(destage);
        }
    }

    /// Forgets the statistics so far and measures from `now` on, counting the requests from `first_index` on; collections in progress go on.
    ///
    /// Every start before `now` must have been reported, as for [`Metrics::advance`]. The timeline and the free blocks are kept: they have absolute times.
    pub fn restart(&mut self, now: TimeNs, first_index: u64) {
        self.from_ns = now;
        self.first_index = first_index;
        self.response = latency::LatencyRecorder::default();
        self.breakdown = breakdown::Breakdown::default();
        self.batches = batches::Recorder::default();
        self.response_by_phase.fill(latency::LatencyRecorder::default());
        self.response_by_stream.fill(latency::LatencyRecorder::default());
        (self.done, self.until_ns) = (DoneCounts::default(), TimeNs::MAX);
        self.done_by_stream.fill(DoneCounts::default());
        self.cleans.fill(CleanTimes::default());
        self.requests_by_members_met.fill(0);
        self.bandwidth = bandwidth::BandwidthRecorder::new(now, self.bandwidth.initial_interval_ns());
        self.course = course::Course::new(now);
        self.over_time = over_time::Recorder::new(now);
        self.gc.restart(now);
    }

    /// Makes the intervals of the figures over time at least so long, in nanoseconds, where something else that has the same intervals has
    /// come to longer ones.
    pub fn lengthen_intervals(&mut self, interval_ns: u64) {
        self.over_time.lengthen(interval_ns);
    }

    /// The results, for a measured time that ended at `end_ns`: what happens later is left out of the figures over time. What is done per second
    /// is taken over `load_ns`.
    #[must_use]
    pub fn finish(mut self, end_ns: TimeNs, load_ns: u64) -> Measured {
        let end_ns = end_ns.max(self.from_ns);
        Measured {
            from_ns: self.from_ns,
            end_ns,
            load_ns,
            done: self.done,
            done_by_stream: self.done_by_stream,
            response: self.response.finish(),
            response_by_phase: self.response_by_phase.into_iter().map(latency::LatencyRecorder::finish).collect(),
            response_by_stream: self.response_by_stream.into_iter().map(latency::LatencyRecorder::finish).collect(),
            batches: self.batches.finish(),
            time: self.breakdown.finish(),
            requests_by_members_met: self.requests_by_members_met,
            bandwidth: self.bandwidth.finish(end_ns, load_ns),
            gc: self.gc.finish(end_ns),
            cleans: self.cleans,
            course: self.course.finish(),
            over_time: self.over_time.finish(end_ns),
            timeline: self.timeline,
            free_blocks: self.free_blocks.iter().map(free_blocks::FreeBlocksRecorder::points).collect(),
        }
    }
}

/// What a run measured.
#[derive(Debug, Clone)]
pub struct Measured {
    /// When measuring began, in nanoseconds.
    pub from_ns: TimeNs,
    /// When measuring ended, in nanoseconds.
    pub end_ns: TimeNs,
    /// The time over which requests per second and bandwidth are taken: from begin to end or, in a closed loop, as long as places of its depth
    /// were in use on average, in nanoseconds.
    pub load_ns: u64,
    /// Reads and writes that were done in between.
    pub done: DoneCounts,
    /// The same of each stream of a mix, in order.
    pub done_by_stream: Vec<DoneCounts>,
    /// Response times.
    pub response: ResponseTimes,
    /// Response times of the requests of each phase, if phases are kept apart.
    pub response_by_phase: Vec<ResponseTimes>,
    /// Response times of the requests of each stream of a mix, in order.
    pub response_by_stream: Vec<ResponseTimes>,
    /// The measured requests in ten batches by their position in the order of arrival; none if there are too few.
    pub batches: Vec<Batch>,
    /// Where the time of the requests went.
    pub time: TimeSums,
    /// Requests by the number of members on which they met a collection, from 0 to the number of members.
    pub requests_by_members_met: Vec<u64>,
    /// Bandwidth.
    pub bandwidth: BandwidthSummary,
    /// Collections over time.
    pub gc: GcActivity,
    /// Time of the victims whose cleaning began in the measured time, by member.
    pub cleans: Vec<CleanTimes>,
    /// Response times and pages moved over the measured time.
    pub course: CourseSummary,
    /// The run interval by interval.
    pub over_time: OverTime,
    /// Single requests and collections, if a window was asked for.
    pub timeline: Option<Timeline>,
    /// Free blocks over time, per member.
    pub free_blocks: Vec<Vec<FreeBlocksPoint>>,
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
            one_member: false,
        };
        CompletedRequest { index, request, arrival_ns, done_ns, gc_members_met, time: TimeParts::default() }
    }

    #[test]
    fn a_restart_leaves_out_earlier_requests_but_not_their_bytes() {
        let mut metrics = Metrics::new(&MetricsParams { bandwidth_interval_ns: 100, ..MetricsParams::default() }, 2, 1);
        metrics.request(&completed(0, 0, 90, 2));
        metrics.gc(&GcInterval {
            member: 0,
            die: 0,
            pool: 0,
            start_ns: 50,
            end_ns: 150,
            pages_moved: 0,
            free_blocks_before: 0,
            free_blocks_min: 0,
            writes_wait_from_ns: 50,
            all_wait_from_ns: 50,
            forced: false,
        });
        metrics.restart(100, 2);
        metrics.request(&completed(2, 100, 140, 1));
        metrics.request(&completed(1, 10, 150, 2));
        let measured = metrics.finish(200, 100);
        assert_eq!((measured.from_ns, measured.end_ns), (100, 200));
        assert_eq!((measured.response.all.moments().count(), measured.response.all.moments().max()), (1, Some(40)));
        assert_eq!(measured.requests_by_members_met, [0, 1, 0]);
        assert_eq!(measured.bandwidth.total_bytes, 2000);
        assert_eq!(measured.gc.member_busy_fraction(0), Some(0.5));
    }

    fn clean(start_ns: TimeNs, end_ns: TimeNs) -> GcInterval {
        GcInterval {
            member: 0,
            die: 0,
            pool: 0,
            start_ns,
            end_ns,
            pages_moved: 3,
            free_blocks_before: 0,
            free_blocks_min: 0,
            writes_wait_from_ns: start_ns,
            all_wait_from_ns: end_ns,
            forced: false,
        }
    }

    #[test]
    fn nothing_counts_that_happens_after_the_end() {
        let mut metrics = Metrics::new(&MetricsParams::default(), 1, 1);
        metrics.request(&completed(0, 0, 100, 0));
        // Of a clean that is under way the part in the measured time counts, but its whole length.
        metrics.gc(&clean(60, 160));
        metrics.end(100);
        metrics.gc(&clean(200, 300));
        metrics.moved(101, 50);
        metrics.free_blocks(0, 150, 1, 1);
        assert!(!metrics.wants_sample(150));
        let measured = metrics.finish(100, 100);
        assert_eq!((measured.gc.member_busy_fraction(0), measured.gc.members[0].die_time_ns), (Some(0.4), 40));
        assert_eq!(measured.cleans, [CleanTimes { whole_ns: 100, free_for_all_ns: 0, writes_wait_ns: 100 }]);
        assert_eq!(measured.over_time.points.iter().map(|point| point.pages_moved).sum::<u64>(), 3);
        assert_eq!(measured.done, DoneCounts { reads: 1, writes: 0 });
        assert!(measured.free_blocks[0].is_empty());
    }

    #[test]
    fn what_came_before_counts_as_done_if_it_ends_after_the_beginning() {
        let mut metrics = Metrics::new(&MetricsParams::default(), 1, 1);
        metrics.restart(100, 3);
        metrics.request(&completed(0, 0, 100, 0));
        metrics.request(&completed(1, 0, 101, 0));
        // What arrives at the beginning, and takes no time.
        metrics.request(&completed(3, 100, 100, 0));
        metrics.end(200);
        metrics.request(&completed(2, 0, 201, 0));
        let measured = metrics.finish(200, 100);
        assert_eq!((measured.done.reads, measured.response.all.moments().count()), (2, 1));
        assert_eq!((measured.bandwidth.total_bytes, measured.bandwidth.overall), (2000, Some(20_000.0)));
    }

    #[test]
    fn skipping_is_over_at_the_first_that_counts() {
        assert!(Skip::Nothing.is_over(0, 0));
        assert!(!Skip::Requests(5).is_over(4, u64::MAX) && Skip::Requests(5).is_over(5, 0));
        assert!(!Skip::Time(100).is_over(u64::MAX, 99) && Skip::Time(100).is_over(0, 100));
    }
}
