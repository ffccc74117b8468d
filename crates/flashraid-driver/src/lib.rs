//! The loop that connects a workload, an array and the metrics: it sends requests and records completions.
//!
//! It is a separate crate because a run spends its time here and in the model. This crate is fully optimised. Configurations, checks,
//! reports and the program are not, so that they are built quickly.

mod live;
mod overwrite;
mod upcoming;

pub use live::{Answer, RefusedCall, RunningArray};
pub use overwrite::overwrite_untimed;

use flashraid_model::TimeNs;
pub use flashraid_model::array::ArrayCounters;
use flashraid_model::array::{Array, ArrayEvent, ArrayHealth, MappingUnitsProgrammed, RequestDone, RequestInPages, RunMilestone};
use flashraid_model::events::{Slab, TIME_MAX_NS, VictimBlockCollection};
use flashraid_model::metrics::{ArrayStateSample, CompletedRequest, MetricsParams, MetricsRecorder, UnmeasuredStart};
use flashraid_model::space::EraseCountSummary;
use flashraid_model::ssd::{CollectionOutlook, PendingFlashWork, Ssd};
use flashraid_workload::{HostLoop, OpKind, Request, RequestSource, SourceError};
use std::collections::VecDeque;
use std::num::NonZeroU64;
use upcoming::Upcoming;

/// Maximum number of requests, and approximate maximum number of pages, that are submitted together ahead of their time.
const AHEAD: (u64, u64) = (1 << 14, 1 << 20);
/// Number of requests between two calls of the watcher, if they are small.
const REQUESTS_PER_TICK: u64 = 4096;
/// Number of pages after which the watcher is called even if requests are large.
const PAGES_PER_TICK: u64 = 1 << 17;
/// Number of steps between two calls that ask whether to continue, while no request comes.
const STEPS_PER_QUESTION: u32 = 1 << 10;
/// Number of requests that a closed loop may send within one nanosecond, beyond its queue depth. A loop that sends more would never end.
const REQUESTS_PER_NANOSECOND_MAX: u64 = 10_000_000;
/// Longest step of simulated time between two arrivals. It takes at most a second of real time, however large the array is.
const STEP_NS: u64 = 10_000_000;

/// Error that ends a simulation without an outcome.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// The source of requests cannot continue, or it addresses pages that the array does not have.
    #[error("{0}")]
    RequestSource(#[from] SourceError),
    /// Simulated time would exceed the last moment that the clock can hold.
    #[error(
        "the run was stopped: simulated time passed 2^62 ns (146 years), which is as far as it goes; requests wait or think so long that \
         shorter times (ssd.timing, workload.arrivals), fewer requests (workload.requests) or an end (workload.duration) are needed"
    )]
    SimulatedTimeOverflow,
    /// A closed loop gets its answers in no time, so that simulated time would never pass.
    #[error(
        "the run was stopped: the closed loop sent {REQUESTS_PER_NANOSECOND_MAX} requests within one nanosecond, because answers take no \
         time, so that no duration is ever over; bound the number of requests (workload.requests), or let answers or the host take time \
         (ssd.timing, workload.arrivals.think)"
    )]
    SimulatedTimeStandsStill,
}

/// Limits of a run. It ends at the first limit that is reached, and in any case at the end of the workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunLimit {
    /// Number of requests after which the run ends; `None` for no limit.
    pub max_requests: Option<u64>,
    /// Simulated time at which the run ends, in nanoseconds. No request is sent then or later.
    pub max_duration_ns: Option<u64>,
}

/// Way in which the host sends the requests of a workload. A counterfactual run changes it, and nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HostConduct {
    /// The host sends all requests, as the workload says.
    #[default]
    AsGiven,
    /// The host sends the reads at their times, and leaves out everything else. Meant for open loops. Each read keeps its number: requests
    /// that are left out still count for [`RunLimit`], and for the part of the run that the statistics skip.
    ReadsAlone,
    /// The host sends a request at its time, or when the request before it is answered if that is later. Response times begin there. A
    /// closed loop has a depth of 1.
    OneAtATime,
}

/// Watches a simulation and may stop it.
pub trait RunWatcher {
    /// Reports the progress from time to time. The simulation stops if it returns false.
    fn report_progress(&mut self, progress: &Progress) -> bool;
    /// Reports a completed request.
    fn request_completed(&mut self, request: &CompletedRequest);
    /// Returns false if [`RunWatcher::request_completed`] does nothing, so that the driver need not call it. The driver asks once, at the
    /// beginning.
    fn wants_completed_requests(&self) -> bool {
        true
    }
    /// Reports that the collection of one victim block has ended: its valid pages are moved, and it is erased.
    fn victim_cleaned(&mut self, _clean: &VictimBlockCollection) {}
    /// Reports the number of units that a drive with superblocks has just programmed, padding and parity included. A unit is what the
    /// mapping of such a drive places: one page or several.
    fn mapping_units_programmed(&mut self, _units: u64) {}
}

/// Progress of a simulation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Share of the work done, from 0 to 1, or `None` if the end is not known.
    pub fraction_done: Option<f64>,
    /// Number of requests sent so far.
    pub requests_sent: u64,
    /// Simulated time so far, in nanoseconds.
    pub simulated_time_ns: u64,
}

/// Result of a simulation.
///
/// The measured time ends when the last measured request is answered. The run continues until nothing is left to do, but no statistics
/// count that time.
#[derive(Debug)]
pub struct RunOutcome {
    /// The array in its last state.
    pub array: Array,
    /// Measurements over the measured time.
    pub metrics: MetricsRecorder,
    /// Counts of what happened in the measured time, such as the pages that garbage collection moved.
    pub measured_counters: ArrayCounters,
    /// Erase counts of each member's blocks at the end of the measured time, in order of members.
    pub wear: Vec<EraseCountSummary>,
    /// Work that the host's writes left to each member at the end of the measured time: data in buffers, and collection. In order of
    /// members.
    pub pending_flash_work_by_member: Vec<PendingFlashWork>,
    /// Estimates of how much the host would have to write until each member collects, made at the end of the measured time. In order of
    /// members.
    pub collection_outlook_by_member: Vec<CollectionOutlook>,
    /// Number of pages that the members could take, at the start of the measured time, before the host met collection.
    pub pages_taken_before_collection: u64,
    /// Number of pages that the members had to move for earlier writes, at the start of the measured time.
    pub pages_to_move_at_start: u64,
    /// Number of pages in the write cache at the end of the measured time.
    pub pages_in_cache_at_end: u64,
    /// The end of the measured time, in nanoseconds.
    pub measured_until_ns: TimeNs,
    /// Use of the queue depth of a closed loop in the measured time: busy and idle times of its slots. A slot is room for one outstanding
    /// request. `None` for an open loop.
    pub depth_use: Option<QueueDepthUse>,
    /// The end of the run, in nanoseconds.
    pub run_end_ns: TimeNs,
    /// Number of requests in the measured time of which a page was lost. A page of a read or write is lost if more members have failed
    /// than parity or copies can replace. No other statistics of requests count these requests (rule 157).
    pub requests_with_lost_pages: u64,
    /// Number of requests sent.
    pub requests_sent: u64,
    /// True if the run was stopped before its end.
    pub was_stopped: bool,
    /// True if the run ended before measuring began, so that there are no measurements.
    pub ended_before_measuring: bool,
    /// Assumptions made while reading the workload, and parts of it that were left out.
    pub workload_notes: Vec<String>,
}

/// Use that a closed loop made of its queue depth in the measured time. A slot of the queue depth is room for one outstanding request.
/// The check of Little's law needs these values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueDepthUse {
    /// Queue depth of the closed loop: its constant number of slots. One request occupies a slot from its sending until the think time
    /// after its answer has passed.
    pub depth: u32,
    /// Number of slots that have had a request. It is less than `depth` if the workload has fewer requests than slots.
    pub used_slots: u32,
    /// Time between an answer and the next request, in nanoseconds.
    pub think_ns_per_request: u64,
    /// Idle time of slots of the queue depth that send no more requests, because the workload is exhausted. It is in nanoseconds,
    /// summed over these slots. A slot is idle from the end of the think time after its last answer until the end of the measured time.
    /// A think time that ends after the measured time counts as negative idle time, because Little's law counts whole think times.
    pub slot_idle_ns_after_last_request: i128,
    /// Time for which requests that the statistics do not count occupied slots of the queue depth, in nanoseconds, summed over these
    /// requests. They are trims, flushes, and requests of which a page was lost because too many members failed. The think time after
    /// each answer is included.
    pub slot_ns_of_trims_flushes_and_lost_requests: u128,
}

/// Free units of each pool of blocks, by member.
type FreeSpace = Vec<Vec<u64>>;

/// Returns the free space of each member. A blank spare has none in this sense: what it will be filled with is no credit.
fn free_space(array: &Array) -> FreeSpace {
    let mut free: FreeSpace = array.members().iter().map(|ssd| ssd.mapping().free_units_by_pool()).collect();
    let blank = free.len() - array.shape().blank_spares as usize;
    free[blank..].iter_mut().for_each(|pools| pools.fill(0));
    free
}

/// State of the members at the start of the measured time.
#[derive(Debug, Clone)]
struct Start {
    free: FreeSpace,
    pages_taken_before_collection: u64,
    pages_to_move: u64,
}

impl Start {
    fn of(array: &Array, now: TimeNs) -> Self {
        let free = free_space(array);
        // Of a blank spare, nothing that happens to it is due to the host.
        let written = array.members().len() - array.shape().blank_spares as usize;
        let members = || array.members()[..written].iter().zip(&free);
        Self {
            pages_taken_before_collection: members().map(|(ssd, _)| ssd.pages_taken_before_collection()).sum(),
            pages_to_move: members().map(|(ssd, free)| ssd.unfinished_work(now, free).pages_to_move).sum(),
            free,
        }
    }
}

/// State at the end of the measured time.
#[derive(Debug)]
struct End {
    at: TimeNs,
    counts: ArrayCounters,
    wear: Vec<EraseCountSummary>,
    owed: Vec<PendingFlashWork>,
    outlook: Vec<CollectionOutlook>,
    cached_pages: u64,
}

/// Sends the requests of `source` to `array` until the run ends.
///
/// If [`MetricsParams::timeline_window`] is set, the outcome lists the requests, collections and destages in this window of simulated
/// time (a timeline). Destages are listed only if the array was made with `ArrayExecutionOptions::reports_destage_events`.
///
/// # Errors
/// Returns an error in these cases:
///
/// - The source cannot be read, or it addresses pages that the array does not have.
/// - Simulated time would exceed [`TIME_MAX_NS`].
/// - Simulated time stands still, because a closed loop gets its answers in no time.
pub fn simulate(
    array: Array,
    source: Box<dyn RequestSource>,
    limit: RunLimit,
    params: &MetricsParams,
    watch: &mut dyn RunWatcher,
) -> Result<RunOutcome, DriverError> {
    simulate_host(array, source, HostConduct::AsGiven, limit, params, watch)
}

/// Sends requests like [`simulate`], in the way that `conduct` says.
///
/// # Errors
/// Returns the errors of [`simulate`].
pub fn simulate_host(
    array: Array,
    source: Box<dyn RequestSource>,
    conduct: HostConduct,
    limit: RunLimit,
    params: &MetricsParams,
    watch: &mut dyn RunWatcher,
) -> Result<RunOutcome, DriverError> {
    let mut loop_ = Loop::new(array, source, conduct, limit, params);
    let host = loop_.host;
    loop_.watches_requests = watch.wants_completed_requests();
    loop_.begin();
    let ended = match host {
        HostLoop::Open => loop_.run_open(watch),
        HostLoop::Closed { depth, think_ns } => loop_.run_closed(depth, think_ns, watch),
    };
    let stopped = match ended {
        Err(DriverError::RequestSource(SourceError::Stopped)) if loop_.sent > 0 => true,
        ended => ended?,
    };
    Ok(loop_.finish(stopped, watch))
}

/// A request that has been sent and is not done.
#[derive(Debug, Clone, Copy)]
struct InFlight {
    request: Request,
    index: u64,
    arrival_ns: TimeNs,
    /// Health of the array when the request was sent.
    health: ArrayHealth,
    flush: FollowingFlush,
}

/// Role of a request in a write that its host flushes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FollowingFlush {
    /// No flush follows the request.
    None,
    /// The request is a write, and a flush follows when it is done.
    Due,
    /// The request is the flush that follows a write which arrived at this time.
    Of { write_arrival_ns: TimeNs },
}

/// Flushes that the host of one stream sends by itself after writes.
#[derive(Debug, Clone, Copy, Default)]
struct StreamFlushes {
    writes_per_flush: Option<NonZeroU64>,
    /// Number of writes sent since the last one that a flush follows.
    writes: u64,
}

/// A flush that must be sent now, because the write before it is done.
#[derive(Debug, Clone, Copy)]
struct DueFlush {
    stream: u8,
    /// Number of the write.
    index: u64,
    write_arrival_ns: TimeNs,
}

struct Loop<S> {
    upcoming: Upcoming<S>,
    host: HostLoop,
    conduct: HostConduct,
    array: Array,
    metrics: MetricsRecorder,
    params: MetricsParams,
    limit: RunLimit,
    /// True if the array serves requests ahead of their time, and the host sends them in an open loop.
    serves_ahead_of_time: bool,
    /// True if the part of the run that the statistics leave out is over.
    measuring: bool,
    /// Counters at the start of the measured time.
    at_restart: ArrayCounters,
    /// State of the members at the start of the measured time.
    start: Start,
    /// State at the time when all measured requests had been answered.
    end: Option<End>,
    /// Use of the queue depth of a closed loop.
    slots: Option<QueueDepthUse>,
    /// Times from which slots of the queue depth have no more requests to send, one time for each such slot.
    idle_since: Vec<TimeNs>,
    /// Times at which the host sends its next requests after thinking, in ascending order, because all thinks are equally long.
    thinking: VecDeque<TimeNs>,
    /// True if samples of the array's state are needed, because it has a write cache or members fail.
    samples: bool,
    /// True if the watcher wants to see completed requests.
    watches_requests: bool,
    /// True if the configuration makes a member fail during the run.
    may_fail: bool,
    /// Start threshold of collection: blocks of a pool of blocks are collected when it has this number of free blocks or fewer.
    start_free_blocks: u32,
    /// Health of the array for the next request that is sent.
    health: ArrayHealth,
    /// Index of the first request that the statistics count, once it is known.
    first_measured: u64,
    /// Time at which that request was sent.
    measured_from_ns: TimeNs,
    /// Number of measured requests that have been answered.
    measured_done: u64,
    /// Time of the last answer.
    last_done_ns: TimeNs,
    /// Number of measured requests of which a page was lost, because too many members had failed.
    requests_lost: u64,
    in_flight: Slab<InFlight>,
    /// Flushes that the host sends by itself, for each stream.
    flushes: Vec<StreamFlushes>,
    /// True if the host of a stream flushes by itself.
    flushes_by_itself: bool,
    due_flush: Option<DueFlush>,
    /// Events that the array has reported.
    events: Vec<ArrayEvent>,
    /// Requests that are submitted together, ahead of their time.
    ahead: Vec<(TimeNs, RequestInPages)>,
    sent: u64,
    now: TimeNs,
    steps_since_question: u32,
    /// True if the array knows that no more requests come, so that idle time has ended.
    idle_is_over: bool,
}

impl<S: RequestSource> Loop<S> {
    /// Connects the parts at time 0.
    fn new(array: Array, source: S, conduct: HostConduct, limit: RunLimit, params: &MetricsParams) -> Self {
        let shape = *array.shape();
        let metrics = MetricsRecorder::new(params, shape.members_including_spares, shape.dies_per_member)
            .with_run_phases(if shape.member_failures_configured { ArrayHealth::ALL.len() } else { 0 });
        let host = match source.host_loop() {
            HostLoop::Closed { think_ns, .. } if conduct == HostConduct::OneAtATime => HostLoop::Closed { depth: 1, think_ns },
            host => host,
        };
        let flushes: Vec<StreamFlushes> = (0..=u8::MAX)
            .map(|stream| StreamFlushes { writes_per_flush: source.writes_per_flush(stream), ..StreamFlushes::default() })
            .collect();
        let flushes_by_itself = flushes.iter().any(|stream| stream.writes_per_flush.is_some());
        let times_are_given = host == HostLoop::Open && conduct != HostConduct::OneAtATime && !flushes_by_itself;
        let serves_ahead_of_time = times_are_given && shape.completion_time_known_at_arrival;
        Self {
            upcoming: Upcoming::new(source, &array, serves_ahead_of_time),
            flushes,
            flushes_by_itself,
            due_flush: None,
            host,
            conduct,
            serves_ahead_of_time,
            at_restart: array.counters(0),
            start: Start::of(&array, 0),
            end: None,
            slots: match host {
                HostLoop::Open => None,
                HostLoop::Closed { depth, think_ns } => Some(QueueDepthUse {
                    depth,
                    used_slots: 0,
                    think_ns_per_request: think_ns,
                    slot_idle_ns_after_last_request: 0,
                    slot_ns_of_trims_flushes_and_lost_requests: 0,
                }),
            },
            idle_since: Vec::new(),
            thinking: VecDeque::new(),
            samples: shape.member_failures_configured || shape.cache_capacity_pages.is_some(),
            watches_requests: true,
            may_fail: shape.member_failures_configured,
            start_free_blocks: shape.start_threshold_free_blocks,
            health: ArrayHealth::Normal,
            first_measured: 0,
            measured_from_ns: 0,
            measured_done: 0,
            last_done_ns: 0,
            requests_lost: 0,
            array,
            metrics,
            params: *params,
            limit,
            measuring: params.skip == UnmeasuredStart::Nothing,
            in_flight: Slab::default(),
            events: Vec::new(),
            ahead: Vec::new(),
            sent: 0,
            now: 0,
            steps_since_question: 0,
            idle_is_over: false,
        }
    }

    /// Starts measuring at once, unless the statistics leave out the beginning.
    fn begin(&mut self) {
        if self.measuring {
            self.array.announce_milestone(0, RunMilestone::MeasuringBegins, &mut self.events);
        }
    }

    /// Sends requests at the times that they carry. Returns true if the watcher stopped the run.
    fn run_open(&mut self, watch: &mut dyn RunWatcher) -> Result<bool, DriverError> {
        let mut last_arrival = 0;
        loop {
            let arrival = self.next_arrival()?;
            if arrival.is_none() {
                self.metrics.record_last_arrival(last_arrival, 0);
                self.end_measured_time();
                self.forbid_new_idle_collection();
            }
            let must_wait = self.conduct == HostConduct::OneAtATime && !self.in_flight.is_empty();
            match (arrival, self.array.next_time()) {
                // Arrivals come before other events of the same nanosecond (rule 25).
                (Some(at), event) if !must_wait && event.is_none_or(|event| at <= event) => {
                    // Sources promise arrivals in order. If one breaks the promise, the clock stands still instead of running back.
                    last_arrival = at.max(last_arrival);
                    if self.conduct == HostConduct::OneAtATime {
                        last_arrival = last_arrival.max(self.now);
                    }
                    if self.serves_ahead_of_time {
                        last_arrival = self.send_ahead(last_arrival)?;
                    } else {
                        self.send(last_arrival)?;
                    }
                    if self.ticks_now() && !self.tick(watch)? {
                        return Ok(true);
                    }
                }
                (arrival, Some(event)) => {
                    // No event before the next arrival can change that arrival. If no more request arrives, or the next one waits for an
                    // answer, the loop must not pass the answer.
                    let until = arrival.filter(|_| !must_wait).map_or(event, |at| (at - 1).min(event + STEP_NS));
                    // A flush that follows a write is sent at the end of that write.
                    self.advance(if self.flushes_by_itself { event } else { until })?;
                    let mut events = std::mem::take(&mut self.events);
                    for event in &events {
                        self.take_event(event, watch);
                        if self.due_flush.is_some() {
                            self.send_due_flush(self.now)?;
                        }
                    }
                    events.clear();
                    self.events = events;
                    if !self.may_step(watch) {
                        return Ok(true);
                    }
                }
                _ => return Ok(false),
            }
        }
    }

    /// Keeps `depth` requests outstanding. Returns true if the watcher stopped the run.
    fn run_closed(&mut self, depth: u32, think_ns: u64, watch: &mut dyn RunWatcher) -> Result<bool, DriverError> {
        let mut used_slots = 0;
        while used_slots < depth && self.can_send(0)? {
            self.send(0)?;
            used_slots += 1;
        }
        if let Some(slots) = &mut self.slots {
            slots.used_slots = used_slots;
        }
        // Nanosecond of the last event, and the number of requests that had been sent before it.
        let (mut nanosecond, mut sent_before) = (0, self.sent);
        loop {
            if self.end.is_none() && self.all_measured_are_done() {
                let goes_on = match self.thinking.front() {
                    Some(&at) => self.can_send(at)?,
                    None => false,
                };
                if !goes_on {
                    self.end_measured_time();
                }
            }
            if self.thinking.is_empty() {
                self.forbid_new_idle_collection();
            }
            match (self.thinking.front().copied(), self.array.next_time()) {
                (Some(at), event) if event.is_none_or(|event| at <= event) => {
                    self.thinking.pop_front();
                    self.send_next(at)?;
                }
                (_, Some(event)) => {
                    if event > nanosecond {
                        (nanosecond, sent_before) = (event, self.sent);
                    } else if self.sent - sent_before > u64::from(depth) + REQUESTS_PER_NANOSECOND_MAX {
                        return Err(DriverError::SimulatedTimeStandsStill);
                    }
                    self.advance(event)?;
                    let mut events = std::mem::take(&mut self.events);
                    for event in &events {
                        self.take_event(event, watch);
                        match event {
                            ArrayEvent::RequestDone(done) if self.due_flush.is_some() => self.send_due_flush(done.at)?,
                            ArrayEvent::RequestDone(done) if think_ns > 0 => self.thinking.push_back(done.at + think_ns),
                            ArrayEvent::RequestDone(done) => self.send_next(done.at)?,
                            _ => {}
                        }
                    }
                    events.clear();
                    self.events = events;
                }
                _ => return Ok(false),
            }
            if (self.ticks_now() && !self.tick(watch)?) || !self.may_step(watch) {
                return Ok(true);
            }
        }
    }

    /// Tells the array that no more requests come, after the last one has ended. This ends collection in idle time for good.
    #[inline]
    fn forbid_new_idle_collection(&mut self) {
        if !self.idle_is_over && self.in_flight.is_empty() {
            self.idle_is_over = true;
            self.array.announce_milestone(self.now, RunMilestone::LastRequestDone, &mut self.events);
        }
    }

    /// Returns true if all measured requests that have been sent are done.
    #[inline]
    fn all_measured_are_done(&self) -> bool {
        self.measuring && self.measured_done == self.sent - self.first_measured
    }

    /// Ends the measured time at the last answer of a measured request, because no more requests come.
    #[inline]
    fn end_measured_time(&mut self) {
        if self.end.is_none() && self.all_measured_are_done() {
            self.end_at(self.now);
        }
    }

    /// Ends the measured time now. Events of this nanosecond still belong to it.
    #[cold]
    fn end_at(&mut self, now: TimeNs) {
        self.array.announce_milestone(now, RunMilestone::MeasuringEnds, &mut self.events);
        self.metrics.end_measuring(now);
        if let Some(slots) = &mut self.slots {
            slots.slot_idle_ns_after_last_request =
                self.idle_since.iter().chain(&self.thinking).map(|&since| i128::from(now) - i128::from(since)).sum();
        }
        let counts = self.array.counters(now);
        let cached_pages = counts.pages_now_in_cache;
        self.end = Some(End {
            at: now,
            counts: counts.since(&self.at_restart),
            wear: self.array.members().iter().map(|ssd| ssd.mapping().wear()).collect(),
            owed: self.array.members().iter().zip(&self.start.free).map(|(ssd, free)| ssd.unfinished_work(now, free)).collect(),
            outlook: self.array.members().iter().map(Ssd::collection_outlook).collect(),
            cached_pages,
        });
    }

    #[inline]
    fn may_send(&self) -> bool {
        self.limit.max_requests.is_none_or(|limit| self.sent < limit)
    }

    /// Returns the time of the next request of an open loop, if one arrives.
    #[inline]
    fn next_arrival(&mut self) -> Result<Option<TimeNs>, SourceError> {
        let arrival = if self.may_send() { self.upcoming.next_arrival()? } else { None };
        Ok(arrival.filter(|&at| self.limit.max_duration_ns.is_none_or(|end| at < end)))
    }

    /// Returns true if a closed loop has a request to send at `now`.
    #[inline]
    fn can_send(&mut self, now: TimeNs) -> Result<bool, DriverError> {
        check_clock(now)?;
        let in_time = self.limit.max_duration_ns.is_none_or(|end| now < end);
        Ok(in_time && self.may_send() && self.upcoming.next_arrival()?.is_some())
    }

    /// Sends the next request of a closed loop. If there is none, a slot of the queue depth stays empty from now on.
    #[inline]
    fn send_next(&mut self, now: TimeNs) -> Result<(), DriverError> {
        if self.can_send(now)? {
            self.send(now)?;
        } else {
            self.idle_since.push(now);
        }
        Ok(())
    }

    /// Sends the request that [`Upcoming::next_arrival`] returned last.
    #[inline]
    fn send(&mut self, now: TimeNs) -> Result<(), DriverError> {
        if self.begins_to_measure(now) {
            self.restart(now);
        }
        if let Some(pages) = self.take(now) {
            self.array.submit(now, &pages).map_err(|error| SourceError::InvalidInput(error.to_string()))?;
        }
        Ok(())
    }

    /// Sends the request that arrives at `now` together with many that follow it. Returns the arrival time of the last one.
    fn send_ahead(&mut self, now: TimeNs) -> Result<TimeNs, DriverError> {
        if self.begins_to_measure(now) {
            self.restart(now);
        }
        let mut last_arrival = now;
        let (sent_max, pages_max) = (self.sent + AHEAD.0, self.upcoming.pages_since_tick + AHEAD.1);
        loop {
            if let Some(pages) = self.take(last_arrival) {
                self.ahead.push((last_arrival, pages));
            }
            if self.sent == sent_max || self.upcoming.pages_since_tick >= pages_max {
                break;
            }
            let Some(arrival) = self.next_arrival()?.map(|at| at.max(last_arrival)) else { break };
            // The counters at the beginning of the measured time must be those of all requests before it, and of no others.
            if self.begins_to_measure(arrival) {
                break;
            }
            last_arrival = arrival;
        }
        let taken = self.array.submit_many(&self.ahead);
        self.ahead.clear();
        taken.map_err(|error| SourceError::InvalidInput(error.to_string()))?;
        Ok(last_arrival)
    }

    /// Returns true if the next request, which arrives at `now`, is the first that the statistics count.
    #[inline]
    fn begins_to_measure(&self, now: TimeNs) -> bool {
        !self.measuring && self.params.skip.is_over_at(self.sent, now)
    }

    /// Removes the next request from the source, as one that arrives at `now`. Returns nothing if the host leaves it out.
    #[inline]
    fn take(&mut self, now: TimeNs) -> Option<RequestInPages> {
        // The request is copied once, from one table to the other: with code between, it would be kept in between.
        let (&request, pages) = self.upcoming.first();
        let is_left_out = self.conduct == HostConduct::ReadsAlone && request.kind != OpKind::Read;
        let taken = (!is_left_out).then(|| self.register_request(now, request, pages));
        self.upcoming.remove_first(&self.array);
        if is_left_out {
            if self.measuring {
                self.metrics.note_left_out_request(self.sent);
                self.measured_done += 1;
            }
            self.sent += 1;
            self.now = now;
        }
        taken
    }

    /// Records that a request is sent at `now`, and gives its pages the number under which it is found when it ends.
    #[inline]
    fn register_request(&mut self, now: TimeNs, request: Request, mut pages: RequestInPages) -> RequestInPages {
        let in_flight = InFlight { request, index: self.sent, arrival_ns: now, health: self.health, flush: self.flush_after(&request) };
        pages.tag = u64::from(self.in_flight.insert(in_flight));
        self.sent += 1;
        self.now = now;
        pages
    }

    /// Returns whether the host flushes after a request, and counts the writes of its stream.
    #[inline]
    fn flush_after(&mut self, request: &Request) -> FollowingFlush {
        if !self.flushes_by_itself || request.kind != OpKind::Write {
            return FollowingFlush::None;
        }
        let stream = &mut self.flushes[usize::from(request.stream)];
        let Some(writes_per_flush) = stream.writes_per_flush else { return FollowingFlush::None };
        stream.writes += 1;
        if stream.writes < writes_per_flush.get() {
            return FollowingFlush::None;
        }
        stream.writes = 0;
        FollowingFlush::Due
    }

    /// Sends the flush that follows the write that has just ended. It has the number of the write, and is no request of the workload.
    #[cold]
    fn send_due_flush(&mut self, now: TimeNs) -> Result<(), DriverError> {
        let Some(DueFlush { stream, index, write_arrival_ns }) = self.due_flush.take() else { return Ok(()) };
        let request = Request { stream, ..Request::new(OpKind::Flush, now, 0, 0) };
        let mut pages = self.upcoming.pages_of(&request)?;
        let flush = FollowingFlush::Of { write_arrival_ns };
        let in_flight = InFlight { request, index, arrival_ns: now, health: self.health, flush };
        pages.tag = u64::from(self.in_flight.insert(in_flight));
        self.array.submit(now, &pages).map_err(|error| SourceError::InvalidInput(error.to_string()))?;
        Ok(())
    }

    fn restart(&mut self, now: TimeNs) {
        self.measuring = true;
        (self.first_measured, self.measured_from_ns) = (self.sent, now);
        let reached = self.array.announce_milestone(now, RunMilestone::MeasuringBegins, &mut self.events);
        self.metrics.compact_collection_records_before(reached.all_collection_starts_reported_until);
        self.metrics.restart_measuring(now, self.sent);
        self.at_restart = self.array.counters(now);
        self.start = Start::of(&self.array, now);
    }

    #[inline]
    fn advance(&mut self, until: TimeNs) -> Result<(), DriverError> {
        check_clock(until)?;
        self.array.advance(until, &mut self.events);
        self.now = until;
        if self.samples && self.metrics.wants_sample(until) {
            self.sample(until);
        }
        Ok(())
    }

    /// Records a sample of the write cache's occupancy and of the progress of rebuilding.
    #[cold]
    fn sample(&mut self, now: TimeNs) {
        let counts = self.array.counters(now);
        let strips_rebuilt = counts.failures.iter().map(|failure| failure.strips_rebuilt).sum();
        self.metrics.record_sample(now, ArrayStateSample { cached_pages: counts.pages_now_in_cache, strips_rebuilt });
    }

    /// Counts a step. From time to time, asks the watcher whether to continue.
    #[inline]
    fn may_step(&mut self, watch: &mut dyn RunWatcher) -> bool {
        self.steps_since_question += 1;
        self.steps_since_question < STEPS_PER_QUESTION || self.may_continue(watch)
    }

    fn may_continue(&mut self, watch: &mut dyn RunWatcher) -> bool {
        self.steps_since_question = 0;
        let by_requests = self.limit.max_requests.map(|limit| self.sent as f64 / limit as f64);
        let by_time = self.limit.max_duration_ns.map(|end| self.now as f64 / end as f64);
        let fraction = [by_requests, by_time, self.upcoming.source.progress()].into_iter().flatten().max_by(f64::total_cmp);
        watch.report_progress(&Progress { fraction_done: fraction, requests_sent: self.sent, simulated_time_ns: self.now })
    }

    #[inline]
    fn take_event(&mut self, event: &ArrayEvent, watch: &mut dyn RunWatcher) {
        match event {
            ArrayEvent::RequestDone(done) => self.complete(done, watch),
            ArrayEvent::VictimCollectionEnded(clean) => {
                watch.victim_cleaned(clean);
                self.metrics.record_gc_interval(clean);
                let start = self.start_free_blocks;
                self.metrics.record_pool_free_blocks(clean.member, clean.start_ns, clean.free_blocks_before, start);
                self.metrics.record_pool_free_blocks(clean.member, clean.end_ns, clean.pool_free_blocks_min, start);
            }
            ArrayEvent::DestageEnded(destage) => self.metrics.record_destage(destage),
            ArrayEvent::SuperblockUnitsProgrammed(MappingUnitsProgrammed { at, units, pages_moved, .. }) => {
                self.metrics.record_moved_pages(*at, *pages_moved);
                watch.mapping_units_programmed(*units);
            }
            ArrayEvent::HealthChanged { health, .. } => self.health = *health,
        }
    }

    #[inline]
    fn complete(&mut self, done: &RequestDone, watch: &mut dyn RunWatcher) {
        // The request is read in place, because a copy of it costs more than recording it.
        self.in_flight.release(done.tag as u32);
        let InFlight { request, index, arrival_ns, health, flush } = &self.in_flight[done.tag as u32];
        let (index, arrival_ns, health, flush) = (*index, *arrival_ns, *health, *flush);
        let is_measured = self.measuring && index >= self.first_measured;
        // A write that a flush follows is done with it.
        if flush == FollowingFlush::Due {
            self.due_flush = Some(DueFlush { stream: request.stream, index, write_arrival_ns: arrival_ns });
        } else {
            self.measured_done += u64::from(is_measured);
        }
        self.last_done_ns = self.last_done_ns.max(done.at);
        if let Some(slots) = &mut self.slots
            && self.measuring
            && (done.pages_lost > 0 || matches!(request.kind, OpKind::Trim | OpKind::Flush))
        {
            let from_ns = arrival_ns.max(self.measured_from_ns);
            // The host thinks once for a write and the flush that follows it.
            let think_ns = if matches!(flush, FollowingFlush::Of { .. }) { 0 } else { slots.think_ns_per_request };
            slots.slot_ns_of_trims_flushes_and_lost_requests += u128::from(done.at - from_ns) + u128::from(think_ns);
        }
        if done.pages_lost > 0 {
            self.requests_lost += u64::from(is_measured);
            return;
        }
        let RequestDone { at, gc_members_met, time: parts, .. } = *done;
        let completed = CompletedRequest { arrival_index: index, request: *request, arrival_ns, done_ns: at, gc_members_met, time: parts };
        match flush {
            FollowingFlush::Of { write_arrival_ns } => self.metrics.record_sync(index, at - write_arrival_ns),
            FollowingFlush::None | FollowingFlush::Due => self.metrics.record_request(&completed),
        }
        if self.may_fail {
            self.metrics.record_request_of_run_phase(health as usize, &completed);
        }
        if self.watches_requests {
            watch.request_completed(&completed);
        }
    }

    #[inline]
    fn ticks_now(&self) -> bool {
        self.upcoming.requests_since_tick >= REQUESTS_PER_TICK || self.upcoming.pages_since_tick >= PAGES_PER_TICK
    }

    fn tick(&mut self, watch: &mut dyn RunWatcher) -> Result<bool, DriverError> {
        self.upcoming.requests_since_tick = 0;
        self.upcoming.pages_since_tick = 0;
        let reached = self.array.announce_milestone(self.now, RunMilestone::BeforeReadingArrayCounters, &mut self.events);
        self.metrics.compact_collection_records_before(reached.all_collection_starts_reported_until);
        // Operations that have been taken may end long after they arrived.
        check_clock(reached.latest_scheduled_operation_end)?;
        Ok(self.may_continue(watch))
    }

    fn finish(mut self, stopped: bool, watch: &mut dyn RunWatcher) -> RunOutcome {
        let skipped_all = !self.measuring;
        if skipped_all {
            self.restart(self.now);
        }
        let mut events = std::mem::take(&mut self.events);
        self.array.announce_milestone(self.now, RunMilestone::RunEnds, &mut events);
        events.iter().for_each(|event| self.take_event(event, watch));
        if self.end.is_none() {
            // The run was stopped, or nothing was measured.
            self.end_at(self.now.max(self.last_done_ns));
        }
        let Some(End { at, counts, wear, owed, outlook, cached_pages }) = self.end else {
            unreachable!("the measured time has just ended")
        };
        RunOutcome {
            measured_counters: counts,
            wear,
            pending_flash_work_by_member: owed,
            collection_outlook_by_member: outlook,
            pages_taken_before_collection: self.start.pages_taken_before_collection,
            pages_to_move_at_start: self.start.pages_to_move,
            pages_in_cache_at_end: cached_pages,
            measured_until_ns: at,
            depth_use: self.slots,
            workload_notes: self.upcoming.source.notes(),
            array: self.array,
            metrics: self.metrics,
            requests_with_lost_pages: self.requests_lost,
            run_end_ns: self.now,
            requests_sent: self.sent,
            was_stopped: stopped,
            ended_before_measuring: skipped_all,
        }
    }
}

/// Returns an error if `at` is later than the last moment of simulated time.
#[inline]
fn check_clock(at: TimeNs) -> Result<(), DriverError> {
    if at <= TIME_MAX_NS { Ok(()) } else { Err(DriverError::SimulatedTimeOverflow) }
}
