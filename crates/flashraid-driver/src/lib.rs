//! The loop that brings a workload, an array and the metrics together: requests in, completions out.
//!
//! It is a crate of its own, since this is the part above the model in which a run spends its time: it is optimised to the full, while the
//! configurations, checks and reports of `flashraid`, in which no run waits, are built quickly.

mod overwrite;
mod upcoming;

pub use overwrite::overwrite_untimed;

use flashraid_model::TimeNs;
pub use flashraid_model::array::Counts;
use flashraid_model::array::{Array, Done, Event, Health, Milestone, PageRequest, Programmed};
use flashraid_model::events::{GcInterval, Slab, TIME_MAX_NS};
use flashraid_model::metrics::{CompletedRequest, Metrics, MetricsParams, Sample, Skip};
use flashraid_model::space::Wear;
use flashraid_model::ssd::Owed;
use flashraid_workload::{HostLoop, OpKind, Request, Source, SourceError};
use std::collections::VecDeque;
use upcoming::Upcoming;

/// Requests, and about how many pages, that are taken ahead of their turn.
const AHEAD: (u64, u64) = (1 << 14, 1 << 18);
/// Requests between two calls of the observer, unless they are large.
const REQUESTS_PER_TICK: u64 = 4096;
/// Pages between two calls of the observer.
const PAGES_PER_TICK: u64 = 1 << 17;
/// Steps between two questions whether to go on, where no request comes.
const STEPS_PER_QUESTION: u32 = 1 << 10;
/// Longest step between two arrivals: a second of the wall clock at the very most, however large the array.
const STEP_NS: u64 = 10_000_000;

/// Why a simulation gave no outcome.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// The source of requests can't go on, or addresses what the array does not have.
    #[error("{0}")]
    Source(#[from] SourceError),
    /// Simulated time would pass its last moment.
    #[error(
        "the run was stopped: simulated time passed 2^62 ns (146 years), which is as far as it goes; requests wait or think so long that \
         shorter times (ssd.timing, workload.arrivals), fewer requests (workload.requests) or an end (workload.duration) are needed"
    )]
    ClockEnds,
}

/// When a run ends; whichever comes first, and the end of the workload in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limit {
    /// After this many requests.
    pub requests: Option<u64>,
    /// At this simulated time, in nanoseconds: no request is sent then or later.
    pub duration_ns: Option<u64>,
}

/// Watches a simulation and may stop it.
pub trait Watch {
    /// Called now and then; returning false stops the simulation.
    fn tick(&mut self, progress: &Progress) -> bool;
    /// Called for every completed request.
    fn completed(&mut self, request: &CompletedRequest);
    /// Called for every victim that was cleaned.
    fn collected(&mut self, _clean: &GcInterval) {}
    /// Called when drives with superblocks have programmed so many units.
    fn programmed(&mut self, _units: u64) {}
}

/// How far a simulation is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Share of the work done, from 0 to 1, if the end is known.
    pub fraction: Option<f64>,
    /// Requests sent.
    pub requests: u64,
    /// Simulated time, in nanoseconds.
    pub simulated_ns: u64,
}

/// What a simulation leaves.
///
/// The measured time ends with the last answer of a measured request; the run goes on until nothing is left to do, which counts nowhere.
#[derive(Debug)]
pub struct Outcome {
    /// The array in its last state.
    pub array: Array,
    /// What was measured.
    pub metrics: Metrics,
    /// Counts over the measured time.
    pub counts: Counts,
    /// Erases of the members' blocks until the end of the measured time, in order.
    pub wear: Vec<Wear>,
    /// What each of them had still to do then, in order.
    pub owed: Vec<Owed>,
    /// Pages that were in the write cache then.
    pub cached_pages: u64,
    /// The end of the measured time, in nanoseconds.
    pub measured_to_ns: TimeNs,
    /// How a closed loop used its depth in the measured time.
    pub slots: Option<Slots>,
    /// The end of the run, in nanoseconds.
    pub end_ns: TimeNs,
    /// Requests of the measured time of which pages were lost, and which no other figure counts.
    pub requests_lost: u64,
    /// Requests sent.
    pub requests: u64,
    /// It was stopped before its end.
    pub stopped: bool,
    /// It ended before the part that the statistics leave out was over, so that nothing was measured.
    pub skipped_all: bool,
    /// What was assumed or left out in reading the workload.
    pub notes: Vec<String>,
}

/// How a closed loop used its depth in the measured time: what Little's law has to account for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slots {
    /// Requests outstanding or thought about at any time.
    pub depth: u32,
    /// Time between an answer and the next request, in nanoseconds.
    pub think_ns: u64,
    /// Time in which places of the depth had nothing to send any more, less what they would think about their last answer behind the end
    /// of the measured time; in nanoseconds.
    pub idle_ns: i128,
    /// Time in which places of the depth had requests that no figure counts: trims, flushes and what was lost; in nanoseconds.
    pub uncounted_ns: u128,
}

/// The end of the measured time.
#[derive(Debug)]
struct End {
    at: TimeNs,
    counts: Counts,
    wear: Vec<Wear>,
    owed: Vec<Owed>,
    cached_pages: u64,
}

/// Runs `source` through `array`, which records destages if the timeline is to show them.
///
/// # Errors
/// The source can't be read on, or addresses what the array does not have; simulated time would pass [`TIME_MAX_NS`].
pub fn simulate(
    array: Array,
    source: Box<dyn Source>,
    limit: Limit,
    params: &MetricsParams,
    watch: &mut dyn Watch,
) -> Result<Outcome, DriverError> {
    let shape = *array.shape();
    let metrics = Metrics::new(params, shape.members, shape.dies).with_phases(if shape.may_fail { Health::ALL.len() } else { 0 });
    let host = source.host_loop();
    let takes_ahead = host == HostLoop::Open && shape.takes_ahead;
    let mut loop_ = Loop {
        upcoming: Upcoming::new(source, &array, takes_ahead),
        takes_ahead,
        at_restart: array.counters(0),
        end: None,
        slots: match host {
            HostLoop::Open => None,
            HostLoop::Closed { depth, think_ns } => Some(Slots { depth, think_ns, idle_ns: 0, uncounted_ns: 0 }),
        },
        idle_since: Vec::new(),
        thinking: VecDeque::new(),
        samples: shape.may_fail || shape.cache_pages.is_some(),
        may_fail: shape.may_fail,
        start_free_blocks: shape.start_free_blocks,
        health: Health::Normal,
        first_measured: 0,
        measured_from_ns: 0,
        measured_done: 0,
        last_done_ns: 0,
        requests_lost: 0,
        array,
        metrics,
        params: *params,
        limit,
        measuring: params.skip == Skip::Nothing,
        in_flight: Slab::default(),
        events: Vec::new(),
        ahead: Vec::new(),
        sent: 0,
        now: 0,
        steps_since_question: 0,
        idle_is_over: false,
    };
    if loop_.measuring {
        loop_.array.reach(0, Milestone::MeasuringBegins, &mut loop_.events);
    }
    let ended = match host {
        HostLoop::Open => loop_.run_open(watch),
        HostLoop::Closed { depth, think_ns } => loop_.run_closed(depth, think_ns, watch),
    };
    let stopped = match ended {
        Err(DriverError::Source(SourceError::Stopped)) if loop_.sent > 0 => true,
        ended => ended?,
    };
    Ok(loop_.finish(stopped, watch))
}

/// A request on its way through the array.
#[derive(Debug, Clone, Copy)]
struct InFlight {
    request: Request,
    index: u64,
    arrival_ns: TimeNs,
    /// What it met.
    health: Health,
}

struct Loop {
    upcoming: Upcoming,
    array: Array,
    metrics: Metrics,
    params: MetricsParams,
    limit: Limit,
    /// The array takes requests ahead of their turn, and the host sends them so.
    takes_ahead: bool,
    /// The part of the run that the statistics leave out is over.
    measuring: bool,
    /// The counts of that moment.
    at_restart: Counts,
    /// All measured requests have been answered.
    end: Option<End>,
    /// How a closed loop uses its depth.
    slots: Option<Slots>,
    /// Since when places of its depth have nothing to send any more.
    idle_since: Vec<TimeNs>,
    /// Moments at which a thinking host sends its next request; in order, since all think equally long.
    thinking: VecDeque<TimeNs>,
    /// There is something to sample: a write cache, or members that fail.
    samples: bool,
    /// A member fails in the course of the run.
    may_fail: bool,
    /// Free blocks of a pool at which it is collected.
    start_free_blocks: u32,
    /// Health of the array that requests meet which are sent now.
    health: Health,
    /// The first request that the statistics do not leave out, once that is known.
    first_measured: u64,
    /// When it was sent.
    measured_from_ns: TimeNs,
    /// Requests from it on that have been answered.
    measured_done: u64,
    /// The last answer.
    last_done_ns: TimeNs,
    /// Requests from it on of which pages were lost.
    requests_lost: u64,
    in_flight: Slab<InFlight>,
    /// What has come out of the array.
    events: Vec<Event>,
    /// Requests that are handed over together.
    ahead: Vec<(TimeNs, PageRequest)>,
    sent: u64,
    now: TimeNs,
    steps_since_question: u32,
    /// The last request is done.
    idle_is_over: bool,
}

impl Loop {
    /// Sends requests at the times they carry; says whether it was stopped.
    fn run_open(&mut self, watch: &mut dyn Watch) -> Result<bool, DriverError> {
        let mut last_arrival = 0;
        loop {
            let arrival = self.next_arrival()?;
            if arrival.is_none() {
                self.metrics.arrivals_end(last_arrival);
                self.end_measured_time();
                self.end_idle_collection();
            }
            match (arrival, self.array.next_time()) {
                // Arrivals come before what happens at the same nanosecond (rule 25).
                (Some(at), event) if event.is_none_or(|event| at <= event) => {
                    // The sources promise order; a clock that stood still is safer than one that runs back.
                    last_arrival = at.max(last_arrival);
                    if self.takes_ahead {
                        last_arrival = self.send_ahead(last_arrival)?;
                    } else {
                        self.send(last_arrival)?;
                    }
                    if self.ticks_now() && !self.tick(watch)? {
                        return Ok(true);
                    }
                }
                (arrival, Some(event)) => {
                    // Nothing that happens before the next arrival can change it. When none is to come the last answer is not to be passed.
                    self.advance(arrival.map_or(event, |at| (at - 1).min(event + STEP_NS)))?;
                    let mut events = std::mem::take(&mut self.events);
                    for event in events.drain(..) {
                        self.take_event(&event, watch);
                    }
                    self.events = events;
                    if !self.may_step(watch) {
                        return Ok(true);
                    }
                }
                _ => return Ok(false),
            }
        }
    }

    /// Keeps `depth` requests outstanding; says whether it was stopped.
    fn run_closed(&mut self, depth: u32, think_ns: u64, watch: &mut dyn Watch) -> Result<bool, DriverError> {
        for _ in 0..depth {
            self.send_next(0)?;
        }
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
                self.end_idle_collection();
            }
            match (self.thinking.front().copied(), self.array.next_time()) {
                (Some(at), event) if event.is_none_or(|event| at <= event) => {
                    self.thinking.pop_front();
                    self.send_next(at)?;
                }
                (_, Some(event)) => {
                    self.advance(event)?;
                    let mut events = std::mem::take(&mut self.events);
                    for event in events.drain(..) {
                        self.take_event(&event, watch);
                        match event {
                            Event::Done(done) if think_ns > 0 => self.thinking.push_back(done.at + think_ns),
                            Event::Done(done) => self.send_next(done.at)?,
                            _ => {}
                        }
                    }
                    self.events = events;
                }
                _ => return Ok(false),
            }
            if (self.ticks_now() && !self.tick(watch)?) || !self.may_step(watch) {
                return Ok(true);
            }
        }
    }

    /// No request is to come: when the last one is done, idle time is over.
    #[inline]
    fn end_idle_collection(&mut self) {
        if !self.idle_is_over && self.in_flight.is_empty() {
            self.idle_is_over = true;
            self.array.reach(self.now, Milestone::RequestsEnd, &mut self.events);
        }
    }

    /// Every request that the statistics count and that has been sent is done.
    #[inline]
    fn all_measured_are_done(&self) -> bool {
        self.measuring && self.measured_done == self.sent - self.first_measured
    }

    /// No request is to come: with the last answer of a measured one the measured time is over.
    #[inline]
    fn end_measured_time(&mut self) {
        if self.end.is_none() && self.all_measured_are_done() {
            self.end_at(self.now);
        }
    }

    /// The measured time ends now; what has happened at this nanosecond belongs to it.
    #[cold]
    fn end_at(&mut self, now: TimeNs) {
        self.array.reach(now, Milestone::MeasuringEnds, &mut self.events);
        self.metrics.end(now);
        if let Some(slots) = &mut self.slots {
            slots.idle_ns = self.idle_since.iter().chain(&self.thinking).map(|&since| i128::from(now) - i128::from(since)).sum();
        }
        let counts = self.array.counters(now);
        let cached_pages = counts.cached_pages;
        self.end = Some(End {
            at: now,
            counts: counts.since(&self.at_restart),
            wear: self.array.members().iter().map(|ssd| ssd.space().wear()).collect(),
            owed: self.array.members().iter().map(|ssd| ssd.owed(now)).collect(),
            cached_pages,
        });
    }

    #[inline]
    fn may_send(&self) -> bool {
        self.limit.requests.is_none_or(|limit| self.sent < limit)
    }

    /// When the next request of an open loop comes, if one does.
    #[inline]
    fn next_arrival(&mut self) -> Result<Option<TimeNs>, SourceError> {
        let arrival = if self.may_send() { self.upcoming.next_arrival()? } else { None };
        Ok(arrival.filter(|&at| self.limit.duration_ns.is_none_or(|end| at < end)))
    }

    /// Whether a closed loop has a request to send at `now`.
    #[inline]
    fn can_send(&mut self, now: TimeNs) -> Result<bool, DriverError> {
        in_clock(now)?;
        let in_time = self.limit.duration_ns.is_none_or(|end| now < end);
        Ok(in_time && self.may_send() && self.upcoming.next_arrival()?.is_some())
    }

    /// Sends the next request of a closed loop, if there is one; else a place of its depth stays empty.
    #[inline]
    fn send_next(&mut self, now: TimeNs) -> Result<(), DriverError> {
        if self.can_send(now)? {
            self.send(now)?;
        } else {
            self.idle_since.push(now);
        }
        Ok(())
    }

    /// Sends the request that [`Upcoming::next_arrival`] has shown.
    #[inline]
    fn send(&mut self, now: TimeNs) -> Result<(), DriverError> {
        if self.begins_to_measure(now) {
            self.restart(now);
        }
        let pages = self.take(now);
        self.array.submit(now, &pages).map_err(|error| SourceError::Input(error.to_string()))?;
        Ok(())
    }

    /// Sends the request that comes at `now` and many that follow it; returns when the last of them comes.
    fn send_ahead(&mut self, now: TimeNs) -> Result<TimeNs, DriverError> {
        if self.begins_to_measure(now) {
            self.restart(now);
        }
        let mut last_arrival = now;
        let (sent_max, pages_max) = (self.sent + AHEAD.0, self.upcoming.pages_since_tick + AHEAD.1);
        loop {
            let pages = self.take(last_arrival);
            self.ahead.push((last_arrival, pages));
            if self.sent == sent_max || self.upcoming.pages_since_tick >= pages_max {
                break;
            }
            let Some(arrival) = self.next_arrival()?.map(|at| at.max(last_arrival)) else { break };
            // The counts at the beginning of the measured time are those of all requests before it and of no other.
            if self.begins_to_measure(arrival) {
                break;
            }
            last_arrival = arrival;
        }
        let taken = self.array.submit_many(&self.ahead);
        self.ahead.clear();
        taken.map_err(|error| SourceError::Input(error.to_string()))?;
        Ok(last_arrival)
    }

    /// Whether the next request, which comes at `now`, is the first that the statistics do not leave out.
    #[inline]
    fn begins_to_measure(&self, now: TimeNs) -> bool {
        !self.measuring && self.params.skip.is_over(self.sent, now)
    }

    /// Takes the next request on its way at `now`.
    #[inline]
    fn take(&mut self, now: TimeNs) -> PageRequest {
        let (request, mut pages) = self.upcoming.take(&self.array);
        let in_flight = InFlight { request, index: self.sent, arrival_ns: now, health: self.health };
        pages.tag = u64::from(self.in_flight.insert(in_flight));
        self.sent += 1;
        self.now = now;
        pages
    }

    fn restart(&mut self, now: TimeNs) {
        self.measuring = true;
        (self.first_measured, self.measured_from_ns) = (self.sent, now);
        let reached = self.array.reach(now, Milestone::MeasuringBegins, &mut self.events);
        self.metrics.advance(reached.collections_known_until);
        self.metrics.restart(now, self.sent);
        self.at_restart = self.array.counters(now);
    }

    #[inline]
    fn advance(&mut self, until: TimeNs) -> Result<(), DriverError> {
        in_clock(until)?;
        self.array.advance(until, &mut self.events);
        self.now = until;
        if self.samples && self.metrics.wants_sample(until) {
            self.sample(until);
        }
        Ok(())
    }

    /// Notes how full the cache is and how far rebuilding has come.
    #[cold]
    fn sample(&mut self, now: TimeNs) {
        let counts = self.array.counters(now);
        let strips_rebuilt = counts.failures.iter().map(|failure| failure.strips_rebuilt).sum();
        self.metrics.sample(now, Sample { cached_pages: counts.cached_pages, strips_rebuilt });
    }

    /// Counts a step, and asks now and then whether to go on.
    #[inline]
    fn may_step(&mut self, watch: &mut dyn Watch) -> bool {
        self.steps_since_question += 1;
        self.steps_since_question < STEPS_PER_QUESTION || self.may_go_on(watch)
    }

    fn may_go_on(&mut self, watch: &mut dyn Watch) -> bool {
        self.steps_since_question = 0;
        let by_requests = self.limit.requests.map(|limit| self.sent as f64 / limit as f64);
        let by_time = self.limit.duration_ns.map(|end| self.now as f64 / end as f64);
        let fraction = [by_requests, by_time, self.upcoming.source.progress()].into_iter().flatten().max_by(f64::total_cmp);
        watch.tick(&Progress { fraction, requests: self.sent, simulated_ns: self.now })
    }

    #[inline]
    fn take_event(&mut self, event: &Event, watch: &mut dyn Watch) {
        match event {
            Event::Done(done) => self.complete(done, watch),
            Event::Collection(clean) => {
                watch.collected(clean);
                self.metrics.gc(clean);
                let start = self.start_free_blocks;
                self.metrics.free_blocks(clean.member, clean.start_ns, clean.free_blocks_before, start);
                self.metrics.free_blocks(clean.member, clean.end_ns, clean.free_blocks_min, start);
            }
            Event::Destage(destage) => self.metrics.destage(destage),
            Event::Programmed(Programmed { at, units, pages_moved, .. }) => {
                self.metrics.moved(*at, *pages_moved);
                watch.programmed(*units);
            }
            Event::Health { health, .. } => self.health = *health,
        }
    }

    #[inline]
    fn complete(&mut self, done: &Done, watch: &mut dyn Watch) {
        let InFlight { request, index, arrival_ns, health } = self.in_flight.remove(done.tag as u32);
        let is_measured = self.measuring && index >= self.first_measured;
        self.measured_done += u64::from(is_measured);
        self.last_done_ns = self.last_done_ns.max(done.at);
        if let Some(slots) = &mut self.slots
            && self.measuring
            && (done.pages_lost > 0 || matches!(request.kind, OpKind::Trim | OpKind::Flush))
        {
            let from_ns = arrival_ns.max(self.measured_from_ns);
            slots.uncounted_ns += u128::from(done.at - from_ns) + u128::from(slots.think_ns);
        }
        if done.pages_lost > 0 {
            self.requests_lost += u64::from(is_measured);
            return;
        }
        let Done { at, gc_members_met, parts, .. } = *done;
        let completed = CompletedRequest { index, request, arrival_ns, done_ns: at, gc_members_met, time: parts };
        self.metrics.request(&completed);
        if self.may_fail {
            self.metrics.request_of_phase(health as usize, &completed);
        }
        watch.completed(&completed);
    }

    #[inline]
    fn ticks_now(&self) -> bool {
        self.upcoming.requests_since_tick >= REQUESTS_PER_TICK || self.upcoming.pages_since_tick >= PAGES_PER_TICK
    }

    fn tick(&mut self, watch: &mut dyn Watch) -> Result<bool, DriverError> {
        self.upcoming.requests_since_tick = 0;
        self.upcoming.pages_since_tick = 0;
        let reached = self.array.reach(self.now, Milestone::Count, &mut self.events);
        self.metrics.advance(reached.collections_known_until);
        // What has been taken may end long after it came.
        in_clock(reached.busy_until)?;
        Ok(self.may_go_on(watch))
    }

    fn finish(mut self, stopped: bool, watch: &mut dyn Watch) -> Outcome {
        let skipped_all = !self.measuring;
        if skipped_all {
            self.restart(self.now);
        }
        let mut events = std::mem::take(&mut self.events);
        self.array.reach(self.now, Milestone::RunEnds, &mut events);
        events.iter().for_each(|event| self.take_event(event, watch));
        if self.end.is_none() {
            // It was stopped, or nothing was measured.
            self.end_at(self.now.max(self.last_done_ns));
        }
        let Some(End { at, counts, wear, owed, cached_pages }) = self.end else { unreachable!("the measured time has just ended") };
        Outcome {
            counts,
            wear,
            owed,
            cached_pages,
            measured_to_ns: at,
            slots: self.slots,
            notes: self.upcoming.source.notes(),
            array: self.array,
            metrics: self.metrics,
            requests_lost: self.requests_lost,
            end_ns: self.now,
            requests: self.sent,
            stopped,
            skipped_all,
        }
    }
}

/// Refuses to go on after the last moment of simulated time.
#[inline]
fn in_clock(at: TimeNs) -> Result<(), DriverError> {
    if at <= TIME_MAX_NS { Ok(()) } else { Err(DriverError::ClockEnds) }
}
