//! Limits of the array's controller towards the host: requests in work, its processor, and the bandwidth of their data (rules 150 to
//! 152 and 283).
//!
//! ```text
//!  write ─▶ waits for its turn ─▶ is handled ─▶ its data pass ─▶ the array ─▶ done
//!  read  ─▶ waits for its turn ─▶ is handled ─▶ the array ─▶ its data pass ─▶ done
//! ```

use super::processor::{Handling, Processor};
use super::{ControllerLimits, RequestDone};
use crate::TimeNs;
use crate::events::Slab;
use crate::placement::{ArrayLayout, RequestInPages};
use crate::request::OpKind;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

counts! {
    /// Counters of requests that waited because of the controller's limits on requests in progress and on bandwidth.
    pub struct ControllerThrottlingCounters {
        /// Number of requests that waited because the allowed number of others was in progress.
        waits,
        /// Total time that requests waited because the allowed number of others was in progress, in nanoseconds.
        wait_ns: u128,
        /// Time in which data were transferred, in nanoseconds.
        busy_ns,
        /// Number of requests that waited for a core of the processor or for what all requests share.
        processor_waits,
        /// Total time of these waits, in nanoseconds.
        processor_wait_ns: u128,
        /// Time for which cores were occupied, all added up, in nanoseconds.
        processor_busy_ns: u128,
    }
}

/// A request from its arrival to its end.
#[derive(Debug, Clone, Copy)]
struct HostRequest {
    request: RequestInPages,
    /// Position in the order of arrival.
    sequence: u64,
    arrival_ns: TimeNs,
    /// Time at which the request was allowed to begin.
    turn_ns: TimeNs,
    /// Time on the processor, if there is one.
    handling: Handling,
    /// Nanoseconds from the request to transfer its data until the end of the transfer.
    passage_ns: u64,
    /// Result of a read whose data have not been transferred to the host yet.
    read: Option<RequestDone>,
}

/// Result of one step of the host port.
#[derive(Debug, Clone, Copy)]
pub(super) enum PortStep {
    /// The array must start this request. The request carries a tag that the host port has given to it, instead of the host's tag.
    RequestEntersArray(RequestInPages),
    /// A request is done. Its tag is again the one that the host gave to it, instead of the one that the host port gave to it.
    Done(RequestDone),
    /// Nothing outside the port changes.
    Nothing,
}

/// The controller's port to the host, which all requests pass on their way in and out.
#[derive(Debug, Clone)]
pub(super) struct HostPort {
    params: ControllerLimits,
    page_bytes: u32,
    requests: Slab<HostRequest>,
    arrived: u64,
    waiting: VecDeque<u32>,
    in_work: u32,
    processor: Option<Processor>,
    /// Requests on the processor or before it: the end of their handling, their position in the order of arrival, and their number.
    handled: BTreeSet<(TimeNs, u64, u32)>,
    /// Transfers in order: the end time of each, and the request.
    passing: VecDeque<(TimeNs, u32)>,
    /// Reads that the array has finished at this nanosecond, in order of arrival.
    read: BTreeMap<u64, u32>,
    /// Time at which a request or a transfer last ended. Requests that wait may continue at that time.
    ended_ns: TimeNs,
    pub(crate) counters: ControllerThrottlingCounters,
}

impl HostPort {
    pub(super) fn new(params: ControllerLimits, page_bytes: u32, layout: ArrayLayout) -> Self {
        Self {
            params,
            page_bytes,
            requests: Slab::default(),
            arrived: 0,
            waiting: VecDeque::new(),
            in_work: 0,
            processor: params.processor.map(|processor| Processor::new(processor, layout)),
            handled: BTreeSet::new(),
            passing: VecDeque::new(),
            read: BTreeMap::new(),
            ended_ns: 0,
            counters: ControllerThrottlingCounters::default(),
        }
    }

    /// Returns the counters at `now`. Transfers follow one another without gaps, and cores are occupied until their requests end.
    pub(crate) fn counters_at(&self, now: TimeNs) -> ControllerThrottlingCounters {
        let ahead_ns = self.passing.back().map_or(0, |&(end, _)| end.saturating_sub(now));
        let handled = self.handled.iter().map(|&(end, _, id)| u128::from(end - self.requests[id].handling.begin_ns.max(now)));
        ControllerThrottlingCounters {
            busy_ns: self.counters.busy_ns - ahead_ns,
            processor_busy_ns: self.counters.processor_busy_ns - handled.sum::<u128>(),
            ..self.counters
        }
    }

    fn has_turn(&self) -> bool {
        self.params.outstanding.is_none_or(|most| self.in_work < most)
    }

    /// Accepts an arriving request. Returns it if the array must start it at once.
    pub(super) fn request_arrives(&mut self, now: TimeNs, request: &RequestInPages) -> Option<RequestInPages> {
        let id = self.requests.insert(HostRequest {
            request: *request,
            sequence: self.arrived,
            arrival_ns: now,
            turn_ns: now,
            handling: Handling::default(),
            passage_ns: 0,
            read: None,
        });
        self.arrived += 1;
        if self.waiting.is_empty() && self.has_turn() {
            return self.begin_turn(now, id);
        }
        self.waiting.push_back(id);
        None
    }

    /// Lets a request begin whose turn has come. Returns it if the array must start it at once.
    fn begin_turn(&mut self, now: TimeNs, id: u32) -> Option<RequestInPages> {
        self.in_work += 1;
        let HostRequest { request, sequence, arrival_ns, ref mut turn_ns, ref mut handling, .. } = self.requests[id];
        *turn_ns = now;
        if now > arrival_ns {
            self.counters.waits += 1;
            self.counters.wait_ns += u128::from(now - arrival_ns);
        }
        if let Some(processor) = &mut self.processor {
            *handling = processor.handle(now, &request);
            let wait_ns = handling.wait_ns(now);
            self.counters.processor_waits += u64::from(wait_ns > 0);
            self.counters.processor_wait_ns += u128::from(wait_ns);
            self.counters.processor_busy_ns += u128::from(handling.end_ns - handling.begin_ns);
            self.handled.insert((handling.end_ns, sequence, id));
            return None;
        }
        self.is_handled(now, id)
    }

    /// Goes on with a request that has been handled. Returns it if the array must start it now.
    fn is_handled(&mut self, now: TimeNs, id: u32) -> Option<RequestInPages> {
        let request = self.requests[id].request;
        if request.is_write() && self.params.bandwidth.is_some() {
            self.ask_to_pass(now, id);
            return None;
        }
        Some(RequestInPages { tag: u64::from(id), ..request })
    }

    fn ask_to_pass(&mut self, now: TimeNs, id: u32) {
        let bytes = u64::from(self.requests[id].request.pages) * u64::from(self.page_bytes);
        let passing_ns = self.params.transfer_ns(bytes);
        let end = self.passing.back().map_or(now, |&(end, _)| end).saturating_add(passing_ns);
        self.passing.push_back((end, id));
        self.requests[id].passage_ns = end - now;
        self.counters.busy_ns += passing_ns;
    }

    /// Accepts a request that the array has finished. Returns it as done unless its data must be transferred first.
    pub(super) fn request_ended(&mut self, done: RequestDone) -> Option<RequestDone> {
        self.ended_ns = done.at;
        let id = done.tag as u32;
        if self.requests[id].request.kind == OpKind::Read && self.params.bandwidth.is_some() {
            self.requests[id].read = Some(done);
            self.read.insert(self.requests[id].sequence, id);
            return None;
        }
        Some(self.leaves(id, done))
    }

    fn leaves(&mut self, id: u32, done: RequestDone) -> RequestDone {
        self.in_work -= 1;
        let HostRequest { request, arrival_ns, turn_ns, handling, passage_ns, .. } = self.requests.remove(id);
        let mut parts = done.time;
        parts.queue_ns += turn_ns - arrival_ns;
        if self.processor.is_some() {
            parts.queue_ns += handling.wait_ns(turn_ns);
            parts.other_ns += handling.work_ns();
        }
        parts.transfer_ns += passage_ns;
        RequestDone { tag: request.tag, time: parts, ..done }
    }

    /// Returns the time at which [`HostPort::step`] is due.
    pub(super) fn next_time(&self) -> Option<TimeNs> {
        if !self.read.is_empty() || (!self.waiting.is_empty() && self.has_turn()) {
            return Some(self.ended_ns);
        }
        let passed = self.passing.front().map(|&(end, _)| end);
        let handled = self.handled.first().map(|&(end, ..)| end);
        passed.into_iter().chain(handled).min()
    }

    /// Performs the next step that is due now (rule 152).
    pub(super) fn step(&mut self, now: TimeNs) -> PortStep {
        if let Some(&(end, id)) = self.passing.front()
            && end == now
        {
            self.passing.pop_front();
            let HostRequest { request, read, .. } = self.requests[id];
            let Some(done) = read else { return PortStep::RequestEntersArray(RequestInPages { tag: u64::from(id), ..request }) };
            self.ended_ns = now;
            return PortStep::Done(self.leaves(id, RequestDone { at: now, ..done }));
        }
        if let Some(&(end, _, id)) = self.handled.first()
            && end == now
        {
            self.handled.pop_first();
            return self.is_handled(now, id).map_or(PortStep::Nothing, PortStep::RequestEntersArray);
        }
        if let Some((_, id)) = self.read.pop_first() {
            self.ask_to_pass(now, id);
        } else if let Some(id) = self.waiting.pop_front()
            && let Some(request) = self.begin_turn(now, id)
        {
            return PortStep::RequestEntersArray(request);
        }
        PortStep::Nothing
    }

    /// Returns true if no request is in progress.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.requests.is_empty() && self.in_work == 0 && self.passing.is_empty() && self.handled.is_empty()
    }
}
