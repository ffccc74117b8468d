//! An array that another program drives: it submits requests one by one, at times that it chooses, and receives the answers.

use crate::upcoming::Upcoming;
use crate::{AHEAD, HostConduct, Loop, Progress, REQUESTS_PER_TICK, RunOutcome, RunWatcher, STEP_NS};
use flashraid_model::TimeNs;
use flashraid_model::array::{Array, ArrayEvent, RunMilestone, page_request_of};
use flashraid_model::events::{OperationTimeParts, TIME_MAX_NS};
use flashraid_model::metrics::{CompletedRequest, MetricsParams};
use flashraid_workload::{HostLoop, OpKind, Request, RequestSource, SourceError};
use std::collections::VecDeque;

/// Number of pages above which a single request is served as a batch: die by die, with prefetching.
const PAGES_OF_A_BATCH: u64 = 64;

/// Answer of the simulated array to one request of the caller (a read, write, trim or flush).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// Tag of the request: the number that the caller passed to [`RunningArray::submit`].
    pub tag: u64,
    /// Time at which the request reached the array, in nanoseconds.
    pub arrival_ns: TimeNs,
    /// Time at which the last byte of the request was done, in nanoseconds. The array answers at this time.
    pub done_ns: TimeNs,
    /// Kind of the requested operation.
    pub kind: OpKind,
    /// Number of members on which at least one page of the request waited for garbage collection.
    pub gc_members_met: u32,
    /// Number of pages of the request that were not read or written because too many members had failed.
    pub pages_lost: u32,
    /// Division of the response time of the request into causes.
    pub time_parts: OperationTimeParts,
}

/// Reason why a call was refused. A refused call changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RefusedCall {
    /// The time lies before a time that has already passed.
    #[error("time goes back: the call says {at_ns} ns, but simulated time is {now_ns} ns already")]
    TimeGoesBack {
        /// Time of the call, in nanoseconds.
        at_ns: TimeNs,
        /// Time up to which the simulation has run, in nanoseconds.
        now_ns: TimeNs,
    },
    /// Simulated time would exceed the last moment that the clock can hold.
    #[error("simulated time ends at {TIME_MAX_NS} ns (146 years), but the call says {at_ns} ns")]
    SimulatedTimeOverflow {
        /// Time of the call, in nanoseconds.
        at_ns: TimeNs,
    },
    /// The request is a read, write or trim without bytes.
    #[error("a {} of 0 bytes: only a flush has no length", kind.name())]
    EmptyRequest {
        /// Kind of the requested operation.
        kind: OpKind,
    },
    /// The request reaches beyond the array.
    #[error("{length_bytes} bytes at byte {offset_bytes} reach beyond the {capacity_bytes} bytes of the array")]
    BeyondTheArray {
        /// Byte offset in the array at which the request begins.
        offset_bytes: u64,
        /// Number of bytes in the request.
        length_bytes: u64,
        /// Number of bytes in the array.
        capacity_bytes: u64,
    },
}

/// An array with its statistics, and the requests that it is serving.
pub struct RunningArray {
    inner: Loop<Nothing>,
    /// Tags of the caller, by the internal number of the request.
    tags: Vec<u64>,
    /// Answers that the caller has not taken yet.
    answers: VecDeque<Answer>,
    /// Time up to which, and including which, the caller has run the simulation.
    advanced_to: Option<TimeNs>,
    last_arrival_ns: TimeNs,
    /// Number of requests that arrived before `last_arrival_ns` and were answered after it.
    answered_since: u64,
    /// Number of unanswered requests that arrived at `last_arrival_ns`.
    arrived_last: u64,
    /// Number of pages in the requests of [`Loop::ahead`].
    pages_ahead: u64,
    page_bytes: u64,
    exported_pages: u64,
}

impl RunningArray {
    /// Returns a run that starts at time 0 with a warmed-up `array`.
    pub fn new(array: Array, params: &MetricsParams) -> Self {
        let shape = *array.shape();
        let mut inner = Loop::new(array, Nothing, HostConduct::AsGiven, Default::default(), params);
        inner.serves_ahead_of_time = shape.completion_time_known_at_arrival;
        inner.begin();
        Self {
            inner,
            tags: Vec::new(),
            answers: VecDeque::new(),
            advanced_to: None,
            last_arrival_ns: 0,
            answered_since: 0,
            arrived_last: 0,
            pages_ahead: 0,
            page_bytes: u64::from(shape.page_bytes),
            exported_pages: shape.layout.exported_pages(),
        }
    }

    /// Returns the present simulated time, in nanoseconds. It is the arrival time of the last submitted request or the time up to
    /// which [`RunningArray::advance`] has run, whichever is later.
    #[inline]
    pub fn now_ns(&self) -> TimeNs {
        self.inner.now
    }

    /// Returns the number of requests that have not been answered.
    #[inline]
    pub fn requests_under_way(&self) -> usize {
        self.inner.in_flight.len()
    }

    /// Returns the number of bytes that the array offers.
    #[inline]
    pub fn capacity_bytes(&self) -> u64 {
        self.exported_pages * self.page_bytes
    }

    /// Submits a request that arrives at its `arrival_ns`. The request comes before all events of that nanosecond that have not been
    /// simulated yet (rule 25 of docs/rules.md). Its [`Answer`] carries `tag`, a number that the caller chooses.
    ///
    /// # Errors
    /// Returns an error in these cases:
    ///
    /// - The arrival is earlier than [`RunningArray::now_ns`], or lies beyond the last moment of the clock.
    /// - The request has no bytes and is no flush, or it reaches beyond the array.
    #[inline]
    pub fn submit(&mut self, request: &Request, tag: u64) -> Result<(), RefusedCall> {
        let now = request.arrival_ns;
        self.check_time(now)?;
        let Some(pages) = page_request_of(request, self.page_bytes, self.exported_pages) else {
            return Err(self.reason_to_refuse(request));
        };
        let inner = &mut self.inner;
        if inner.begins_to_measure(now) {
            self.hand_over();
            self.run_before(now);
            self.inner.restart(now);
        } else if !inner.serves_ahead_of_time {
            self.run_before(now);
        }
        let inner = &mut self.inner;
        let pages = inner.register_request(now, *request, pages);
        let number = pages.tag as usize;
        if number >= self.tags.len() {
            self.tags.resize(number + 1, 0);
        }
        self.tags[number] = tag;
        if self.last_arrival_ns != now {
            (self.last_arrival_ns, self.answered_since, self.arrived_last) = (now, 0, 0);
        }
        self.arrived_last += 1;
        if inner.serves_ahead_of_time {
            self.pages_ahead += u64::from(pages.pages);
            inner.ahead.push((now, pages));
            // What comes at a moment that is over is an answer's successor, and goes its own way.
            if inner.ahead.len() as u64 >= AHEAD.0 || self.pages_ahead >= AHEAD.1 || self.advanced_to == Some(now) {
                self.hand_over();
            }
        } else {
            inner.array.submit(now, &pages).expect("the extent has been checked");
        }
        if self.inner.sent.is_multiple_of(REQUESTS_PER_TICK) {
            self.count();
        }
        Ok(())
    }

    /// Returns the earliest time at which something may happen, or `None` if nothing can happen. If answers wait to be taken, it is the
    /// present time.
    #[inline]
    pub fn next_event_time(&mut self) -> Option<TimeNs> {
        self.hand_over();
        if !self.answers.is_empty() {
            return Some(self.inner.now);
        }
        self.inner.array.next_time().map(|at| at.max(self.inner.now))
    }

    /// Runs the simulation up to and including `until`. It passes at most `answers_max` answers to `take_answer`, in the order of their
    /// ends, and returns their number.
    ///
    /// After `answers_max` answers, time stops at the last of them, so that the caller can react to it. Another call continues from there.
    /// With fewer answers, the simulation has reached `until`. [`TimeNs::MAX`] means "until all requests are answered", and time then stops
    /// at the last answer.
    ///
    /// # Errors
    /// Returns an error if the time goes back, or lies beyond the last moment of the clock.
    #[inline]
    pub fn advance(&mut self, until: TimeNs, answers_max: usize, mut take_answer: impl FnMut(&Answer)) -> Result<usize, RefusedCall> {
        let to_the_last_answer = until == TimeNs::MAX;
        if !to_the_last_answer {
            self.check_time(until)?;
        }
        self.hand_over();
        let mut given = 0;
        loop {
            while given < answers_max
                && let Some(answer) = self.answers.pop_front()
            {
                take_answer(&answer);
                given += 1;
            }
            let under_way = self.inner.in_flight.len();
            // A call for no answers only lets time pass.
            if (given == answers_max && answers_max > 0) || (to_the_last_answer && under_way == 0) {
                return Ok(given);
            }
            let Some(next) = self.inner.array.next_time().filter(|&next| next <= until) else { break };
            // Steps as those of a run: a longer one would pass moments at which something is sampled.
            let is_safe = !to_the_last_answer && (answers_max == 0 || answers_max - given > under_way);
            let to = if is_safe { until.min(next.saturating_add(STEP_NS)) } else { next };
            if to > TIME_MAX_NS {
                // Answers that have been given are told first.
                return if given > 0 { Ok(given) } else { Err(RefusedCall::SimulatedTimeOverflow { at_ns: to }) };
            }
            self.run_to(to.max(self.inner.now));
            if self.inner.now >= until && self.answers.is_empty() {
                break;
            }
        }
        if !to_the_last_answer && self.inner.now < until {
            self.run_to(until);
        }
        Ok(given)
    }

    /// Returns the statistics up to now, as if the run had ended here. Unanswered requests do not count. The array and the statistics are
    /// copied, so that the run can continue.
    pub fn outcome_so_far(&mut self) -> RunOutcome {
        self.hand_over();
        let mut copy = self.inner.copy();
        let outstanding = self.answered_since + copy.in_flight.len() as u64 - self.arrived_last;
        copy.metrics.record_last_arrival(self.last_arrival_ns, outstanding);
        copy.end_measured_time();
        copy.forbid_new_idle_collection();
        let stopped = !copy.in_flight.is_empty();
        // A run goes on until nothing is left to do, such as a collection under way. Nothing of it counts, but some of it is shown.
        while !stopped
            && let Some(next) = copy.array.next_time()
            && copy.advance(next).is_ok()
        {
            let mut events = std::mem::take(&mut copy.events);
            events.drain(..).for_each(|event| copy.take_event(&event, &mut Unwatched));
            copy.events = events;
        }
        copy.finish(stopped, &mut Unwatched)
    }

    #[inline]
    fn check_time(&self, at_ns: TimeNs) -> Result<(), RefusedCall> {
        if at_ns > TIME_MAX_NS {
            return Err(RefusedCall::SimulatedTimeOverflow { at_ns });
        }
        let now_ns = self.inner.now;
        if at_ns < now_ns { Err(RefusedCall::TimeGoesBack { at_ns, now_ns }) } else { Ok(()) }
    }

    #[cold]
    fn reason_to_refuse(&self, request: &Request) -> RefusedCall {
        let Request { offset_bytes, length_bytes, kind, .. } = *request;
        match length_bytes {
            0 if kind != OpKind::Flush => RefusedCall::EmptyRequest { kind },
            _ => RefusedCall::BeyondTheArray { offset_bytes, length_bytes, capacity_bytes: self.capacity_bytes() },
        }
    }

    /// Submits all requests that were gathered to be submitted together.
    #[inline]
    fn hand_over(&mut self) {
        if !self.inner.ahead.is_empty() {
            self.hand_over_some();
        }
    }

    fn hand_over_some(&mut self) {
        let Loop { array, ahead, .. } = &mut self.inner;
        let checked = "the extents have been checked";
        // A small request alone, or one at a moment that is over, is what a closed loop sends.
        let first = ahead[0].0;
        let is_small = ahead.len() == 1 && self.pages_ahead < PAGES_OF_A_BATCH;
        if self.advanced_to == Some(first) || (is_small && array.next_time().is_none_or(|next| next >= first)) {
            let late = ahead.iter().take_while(|(at, _)| *at == first).count();
            ahead.drain(..late).for_each(|(at, pages)| array.submit(at, &pages).expect(checked));
        }
        if !ahead.is_empty() {
            array.submit_many(ahead).expect(checked);
            ahead.clear();
        }
        self.pages_ahead = 0;
    }

    /// Runs all events before `now`.
    #[inline]
    fn run_before(&mut self, now: TimeNs) {
        while let Some(next) = self.inner.array.next_time().filter(|&next| next < now) {
            self.run_to((now - 1).min(next.saturating_add(STEP_NS)).max(self.inner.now));
        }
    }

    /// Runs all events up to and including `to`, and keeps the answers.
    #[inline]
    fn run_to(&mut self, to: TimeNs) {
        self.inner.advance(to).expect("the clock has been checked");
        self.advanced_to = Some(to);
        self.take_events();
    }

    #[inline]
    fn take_events(&mut self) {
        let Self { inner, tags, answers, last_arrival_ns, answered_since, arrived_last, .. } = self;
        let mut events = std::mem::take(&mut inner.events);
        for event in events.drain(..) {
            if let ArrayEvent::RequestDone(done) = &event {
                let entry = inner.in_flight[done.tag as u32];
                if entry.arrival_ns == *last_arrival_ns {
                    *arrived_last -= 1;
                } else {
                    *answered_since += u64::from(done.at > *last_arrival_ns);
                }
                answers.push_back(Answer {
                    tag: tags[done.tag as usize],
                    arrival_ns: entry.arrival_ns,
                    done_ns: done.at,
                    kind: entry.request.kind,
                    gc_members_met: done.gc_members_met,
                    pages_lost: done.pages_lost,
                    time_parts: done.time,
                });
            }
            inner.take_event(&event, &mut Unwatched);
        }
        inner.events = events;
    }

    /// Lets the statistics process all events that are final, so that they need little memory.
    #[cold]
    fn count(&mut self) {
        self.hand_over();
        let Loop { array, metrics, events, now, .. } = &mut self.inner;
        let reached = array.announce_milestone(*now, RunMilestone::BeforeReadingArrayCounters, events);
        metrics.compact_collection_records_before(reached.all_collection_starts_reported_until);
        self.take_events();
    }
}

impl Loop<Nothing> {
    /// Returns a copy of the run without its source of requests, which cannot be copied.
    fn copy(&self) -> Self {
        Self {
            upcoming: Upcoming::new(Nothing, &self.array, self.serves_ahead_of_time),
            flushes: self.flushes.clone(),
            flushes_by_itself: self.flushes_by_itself,
            due_flush: self.due_flush,
            host: self.host,
            conduct: self.conduct,
            array: self.array.clone(),
            metrics: self.metrics.clone(),
            params: self.params,
            limit: self.limit,
            serves_ahead_of_time: self.serves_ahead_of_time,
            measuring: self.measuring,
            at_restart: self.at_restart.clone(),
            start: self.start.clone(),
            end: None,
            slots: self.slots,
            idle_since: self.idle_since.clone(),
            thinking: self.thinking.clone(),
            samples: self.samples,
            watches_requests: self.watches_requests,
            may_fail: self.may_fail,
            start_free_blocks: self.start_free_blocks,
            health: self.health,
            first_measured: self.first_measured,
            measured_from_ns: self.measured_from_ns,
            measured_done: self.measured_done,
            last_done_ns: self.last_done_ns,
            requests_lost: self.requests_lost,
            in_flight: self.in_flight.clone(),
            events: self.events.clone(),
            ahead: self.ahead.clone(),
            sent: self.sent,
            now: self.now,
            steps_since_question: self.steps_since_question,
            idle_is_over: self.idle_is_over,
        }
    }
}

/// A source without requests.
struct Nothing;

impl RequestSource for Nothing {
    fn host_loop(&self) -> HostLoop {
        HostLoop::Open
    }

    fn next_request(&mut self) -> Result<Option<Request>, SourceError> {
        Ok(None)
    }
}

/// A watcher that ignores every event.
struct Unwatched;

impl RunWatcher for Unwatched {
    fn report_progress(&mut self, _: &Progress) -> bool {
        true
    }

    fn request_completed(&mut self, _: &CompletedRequest) {}
}
