//! Section 17 of the rules: limits of the controller towards the host, and its processor.

use std::collections::{BTreeSet, VecDeque};

use flashraid_model::array::StripeLock;
use flashraid_model::request::OpKind;

use super::{Event, PORT_RANK, RequestState, Simulation};

/// Requests, by their index, on their way in and out.
#[derive(Default)]
pub(super) struct Port {
    waiting: VecDeque<usize>,
    in_work: usize,
    /// All stretches of time for which a core was occupied, in the order in which they began.
    occupied: Vec<(u64, u64)>,
    /// End of the last stretch in which a request held what all share.
    lock_ends_ns: u64,
    /// Requests that the processor handles or will handle: end, and request.
    handled: BTreeSet<(u64, usize)>,
    /// Passages of data: end, and request.
    passing: VecDeque<(u64, usize)>,
    /// Reads that the array is done with.
    read: BTreeSet<usize>,
    last_passage_ends_ns: u64,
    pub waits: u64,
    pub wait_ns: u128,
    pub busy_ns: u64,
    pub processor_waits: u64,
    pub processor_wait_ns: u128,
    pub processor_busy_ns: u128,
}

impl Port {
    pub(super) fn rests(&self) -> bool {
        self.waiting.is_empty() && self.in_work == 0 && self.passing.is_empty() && self.handled.is_empty() && self.read.is_empty()
    }
}

impl Simulation<'_> {
    fn port(&mut self) -> &mut Port {
        self.port.as_mut().expect("there are limits")
    }

    fn has_turn(&self) -> bool {
        let most = self.case.params.host_port.and_then(|limits| limits.outstanding).unwrap_or(u32::MAX);
        self.port.as_ref().is_some_and(|port| port.in_work < most as usize)
    }

    fn has_to_pass(&self, request: usize, kind: OpKind) -> bool {
        let limited = self.case.params.host_port.is_some_and(|limits| limits.bandwidth.is_some());
        limited && self.case.requests[request].kind == kind
    }

    /// Lets a request arrive at the port (rule 150).
    pub(super) fn arrives_at_port(&mut self, request: usize) {
        if self.caches.is_none() {
            self.controller_sees_arrival();
        }
        if self.port().waiting.is_empty() && self.has_turn() {
            self.gets_turn(request);
        } else {
            self.port().waiting.push_back(request);
        }
    }

    fn gets_turn(&mut self, request: usize) {
        let waited_ns = self.now - self.requests[request].arrival_ns;
        let port = self.port();
        port.in_work += 1;
        port.waits += u64::from(waited_ns > 0);
        port.wait_ns += u128::from(waited_ns);
        self.requests[request].parts.queue_ns = waited_ns;
        if self.case.params.host_port.is_some_and(|limits| limits.processor.is_some()) {
            self.comes_to_the_processor(request);
        } else {
            self.is_handled(request);
        }
    }

    /// Plans when the processor handles a request (rule 283). No request overtakes another on its way to a core.
    fn comes_to_the_processor(&mut self, request: usize) {
        let params = &self.case.params;
        let processor = params.host_port.and_then(|limits| limits.processor).expect("there is a processor");
        let columns = super::parity::data_columns(params) as u64;
        let strip_pages = u64::from(params.stripe_unit_pages);
        let parities = u64::from(params.level.parity_strips());
        let mut stripes_ns = 0;
        if parities > 0 && self.case.requests[request].kind == OpKind::Write {
            let pages = super::layout::pages_of(params, &self.case.requests[request]);
            let stripe = |page: u64| page / (strip_pages * columns);
            let stripes: BTreeSet<u64> = pages.iter().map(|&page| stripe(page)).collect();
            let parity_pages: BTreeSet<(u64, u64)> = pages.iter().map(|&page| (stripe(page), page % strip_pages)).collect();
            stripes_ns = stripes.len() as u64 * processor.stripe.ns + parity_pages.len() as u64 * parities * processor.parity_page.ns;
        }
        let one_at_a_time = processor.lock == StripeLock::All;
        let shared_ns = processor.shared.ns + if one_at_a_time { stripes_ns } else { 0 };
        let own_ns = processor.request.ns + if one_at_a_time { 0 } else { stripes_ns };
        let now = self.now;
        let port = self.port.as_mut().expect("there are limits");
        let earliest_ns = now.max(port.occupied.last().map_or(0, |&(begin, _)| begin));
        let mut moments: Vec<u64> = port.occupied.iter().map(|&(_, end)| end).filter(|&end| end > earliest_ns).collect();
        moments.push(earliest_ns);
        moments.sort_unstable();
        let cores_in_use = |at: u64| port.occupied.iter().filter(|&&(begin, end)| begin <= at && at < end).count();
        let begin = moments.into_iter().find(|&at| cores_in_use(at) < processor.cores as usize).expect("all end at some time");
        let mut locked = begin;
        if shared_ns > 0 {
            locked = begin.max(port.lock_ends_ns);
            port.lock_ends_ns = locked + shared_ns;
        }
        let end = locked + shared_ns + own_ns;
        port.occupied.push((begin, end));
        port.handled.insert((end, request));
        port.processor_waits += u64::from(locked > now);
        port.processor_wait_ns += u128::from(locked - now);
        port.processor_busy_ns += u128::from(end - begin);
        let parts = &mut self.requests[request].parts;
        parts.queue_ns += locked - now;
        parts.other_ns += end - locked;
        self.schedule_with_rank(end - now, PORT_RANK, Event::Port);
    }

    /// Goes on with a request that needs nothing more of the processor.
    fn is_handled(&mut self, request: usize) {
        if self.has_to_pass(request, OpKind::Write) {
            self.asks_to_pass(request);
        } else {
            self.begin_request(request);
        }
    }

    /// Asks for the passage of a request's data (rule 151).
    fn asks_to_pass(&mut self, request: usize) {
        let params = &self.case.params;
        let page_bytes = u128::from(params.ssd.geometry.page_bytes);
        let bytes_per_s = u128::from(params.host_port.and_then(|limits| limits.bandwidth).expect("there is a limit").bytes_per_s);
        let pages = super::layout::pages_of(params, &self.case.requests[request]).len() as u128;
        let length_ns = (pages * page_bytes * 1_000_000_000).div_ceil(bytes_per_s) as u64;
        let now = self.now;
        let port = self.port();
        let end = port.last_passage_ends_ns.max(now) + length_ns;
        port.last_passage_ends_ns = end;
        port.busy_ns += length_ns;
        port.passing.push_back((end, request));
        self.requests[request].parts.transfer_ns += end - now;
        self.schedule_with_rank(end - now, PORT_RANK, Event::Port);
    }

    /// The array is done with a request.
    pub(super) fn array_is_done_with(&mut self, request: usize) {
        // The rest of the time is the cache's (rule 116).
        let RequestState { arrival_ns, parts, .. } = &mut self.requests[request];
        let left_ns = self.now - *arrival_ns - parts.total_ns();
        assert!(left_ns == 0 || self.caches.is_some(), "of request {request} {left_ns} ns are nobody's");
        parts.cache_ns += left_ns;
        if self.port.is_some() && self.has_to_pass(request, OpKind::Read) {
            self.port().read.insert(request);
            self.schedule_with_rank(0, PORT_RANK, Event::Port);
        } else {
            self.request_is_done(request);
        }
    }

    fn request_is_done(&mut self, request: usize) {
        let RequestState { arrival_ns, done_ns, parts, .. } = &mut self.requests[request];
        *done_ns = self.now;
        assert_eq!(parts.total_ns(), self.now - *arrival_ns, "{parts:?} of request {request}");
        self.requests_done += 1;
        if self.port.is_some() {
            if self.caches.is_none() {
                self.controller_sees_end();
            }
            self.port().in_work -= 1;
            self.schedule_with_rank(0, PORT_RANK, Event::Port);
        }
    }

    /// Performs one step of the port at a time (rule 152).
    pub(super) fn port_step(&mut self) {
        let now = self.now;
        let has_turn = self.has_turn();
        let port = self.port();
        if port.passing.front().is_some_and(|&(end, _)| end == now) {
            let (_, request) = port.passing.pop_front().expect("it is there");
            if self.has_to_pass(request, OpKind::Read) {
                self.request_is_done(request);
            } else {
                self.begin_request(request);
            }
        } else if port.handled.first().is_some_and(|&(end, _)| end == now) {
            let (_, request) = port.handled.pop_first().expect("it is there");
            self.is_handled(request);
        } else if let Some(request) = port.read.pop_first() {
            self.asks_to_pass(request);
        } else if has_turn && !port.waiting.is_empty() {
            let request = port.waiting.pop_front().expect("it is there");
            self.gets_turn(request);
        } else {
            return;
        }
        self.schedule_with_rank(0, PORT_RANK, Event::Port);
    }
}
