//! Limits of the array's controller towards the host: requests in work, and the bandwidth of their data (rules 150 to 152).
//!
//! ```text
//!  write ─▶ waits for its turn ─▶ its data pass ─▶ the array ─▶ done
//!  read  ─▶ waits for its turn ─▶ the array ─▶ its data pass ─▶ done
//! ```

use super::{ControllerLimits, RequestDone};
use crate::TimeNs;
use crate::events::Slab;
use crate::placement::RequestInPages;
use crate::request::OpKind;
use std::collections::{BTreeMap, VecDeque};

counts! {
    /// Counters of requests that waited because of the controller's limits on requests in progress and on bandwidth.
    pub struct ControllerThrottlingCounters {
        /// Number of requests that waited because the allowed number of others was in progress.
        waits,
        /// Total time that requests waited because the allowed number of others was in progress, in nanoseconds.
        wait_ns: u128,
        /// Time in which data were transferred, in nanoseconds.
        busy_ns,
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
    /// Transfers in order: the end time of each, and the request.
    passing: VecDeque<(TimeNs, u32)>,
    /// Reads that the array has finished at this nanosecond, in order of arrival.
    read: BTreeMap<u64, u32>,
    /// Time at which a request or a transfer last ended. Requests that wait may continue at that time.
    ended_ns: TimeNs,
    pub(crate) counters: ControllerThrottlingCounters,
}

impl HostPort {
    pub(super) fn new(params: ControllerLimits, page_bytes: u32) -> Self {
        Self {
            params,
            page_bytes,
            requests: Slab::default(),
            arrived: 0,
            waiting: VecDeque::new(),
            in_work: 0,
            passing: VecDeque::new(),
            read: BTreeMap::new(),
            ended_ns: 0,
            counters: ControllerThrottlingCounters::default(),
        }
    }

    /// Returns the counters at `now`. Transfers follow one another without gaps.
    pub(crate) fn counters_at(&self, now: TimeNs) -> ControllerThrottlingCounters {
        let ahead_ns = self.passing.back().map_or(0, |&(end, _)| end.saturating_sub(now));
        ControllerThrottlingCounters { busy_ns: self.counters.busy_ns - ahead_ns, ..self.counters }
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
        let HostRequest { request, arrival_ns, ref mut turn_ns, .. } = self.requests[id];
        *turn_ns = now;
        if now > arrival_ns {
            self.counters.waits += 1;
            self.counters.wait_ns += u128::from(now - arrival_ns);
        }
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
        let HostRequest { request, arrival_ns, turn_ns, passage_ns, .. } = self.requests.remove(id);
        let mut parts = done.time;
        parts.queue_ns += turn_ns - arrival_ns;
        parts.transfer_ns += passage_ns;
        RequestDone { tag: request.tag, time: parts, ..done }
    }

    /// Returns the time at which [`HostPort::step`] is due.
    pub(super) fn next_time(&self) -> Option<TimeNs> {
        if !self.read.is_empty() || (!self.waiting.is_empty() && self.has_turn()) {
            return Some(self.ended_ns);
        }
        self.passing.front().map(|&(end, _)| end)
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
        self.requests.is_empty() && self.in_work == 0 && self.passing.is_empty()
    }
}
