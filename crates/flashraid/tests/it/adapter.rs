//! Runs a case on the model (`flashraid_model::array`) and lays its outcome out for comparison.

use crate::outcome::{Case, Collection, MemberOutcome, Outcome, PhysicalPage, RequestOutcome};
use flashraid_model::array::{Array, Done, PageRequest, WarmUpPattern};
use flashraid_model::events::GcInterval;
use flashraid_model::ids::Lpn;
use flashraid_workload::{OpKind, HostLoop, Request};

/// The outcome of a case by the model.
pub fn fast(case: &Case) -> Outcome {
    let mut array = Array::new(&case.params, case.seed);
    match case.warm_up.pattern {
        WarmUpPattern::Random => {
            for member in array.members_to_warm_up() {
                member.warm_up(case.warm_up.overwrites, case.seed);
            }
        }
        WarmUpPattern::Workload => {
            for request in case.requests.iter().filter(|request| request.kind == OpKind::Write) {
                array.overwrite_untimed(request);
            }
        }
    }
    let page_bytes = u64::from(case.params.ssd.geometry.page_bytes);
    let pages = |tag: usize, request: &Request| {
        let first_page = request.offset_bytes / page_bytes;
        let last_page = (request.offset_bytes + request.length_bytes - 1) / page_bytes;
        PageRequest {
            tag: tag as u64,
            first_page,
            pages: (last_page - first_page + 1) as u32,
            write: request.kind == OpKind::Write,
            high_priority: request.high_priority,
            one_member: request.one_member,
        }
    };
    let mut outcomes = vec![RequestOutcome { arrival_ns: 0, done_ns: 0, gc_members_met: 0 }; case.requests.len()];
    let mut done: Vec<Done> = Vec::new();
    let mut next = 0;
    // Some cases hand requests over ahead of their turn, as many at a time as their seed says.
    let ahead = if case.host == HostLoop::Open && array.takes_ahead() { case.seed as usize % 7 } else { 0 };
    // And some of them are served by several threads.
    array.serve_ahead_by(case.seed as usize / 7 % 4, Some(1));
    let issue = |array: &mut Array, outcomes: &mut [RequestOutcome], now: u64, next: &mut usize| {
        outcomes[*next].arrival_ns = now;
        if ahead == 0 {
            array.submit(now, &pages(*next, &case.requests[*next]));
            *next += 1;
            return;
        }
        let mut arrival = now;
        for request in case.requests.iter().skip(*next).take(ahead) {
            arrival = arrival.max(request.arrival_ns);
            outcomes[*next].arrival_ns = arrival;
            array.submit_ahead(arrival, &pages(*next, request));
            *next += 1;
        }
        array.serve_ahead();
    };
    if let HostLoop::Closed { depth, .. } = case.host {
        while next < case.requests.len().min(depth as usize) {
            issue(&mut array, &mut outcomes, 0, &mut next);
        }
    }
    let mut done_count = 0;
    let mut now = 0;
    let mut idle_is_over = false;
    loop {
        if done_count == case.requests.len() && !idle_is_over {
            idle_is_over = true;
            array.end_idle_collection(now);
        }
        let arrival = match case.host {
            HostLoop::Open => case.requests.get(next).map(|r| r.arrival_ns),
            HostLoop::Closed { .. } => None,
        };
        match (arrival, array.next_time()) {
            (Some(at), event) if event.is_none_or(|event| at <= event) => issue(&mut array, &mut outcomes, at, &mut next),
            (_, Some(event)) => {
                now = event;
                array.advance(event, &mut done);
                done_count += done.len();
                for done in done.drain(..) {
                    let outcome = &mut outcomes[done.tag as usize];
                    (outcome.done_ns, outcome.gc_members_met) = (done.at, done.gc_members_met);
                    if case.host != HostLoop::Open && next < case.requests.len() {
                        issue(&mut array, &mut outcomes, done.at, &mut next);
                    }
                }
            }
            _ => break,
        }
    }
    array.verify().expect("the state is consistent at the end");
    let cache_counters = array.cache_counters(now).map(|(mut counters, _)| {
        let later = array.cache_counters(now + 1).map(|(counters, _)| counters.occupancy_page_ns);
        if later != Some(counters.occupancy_page_ns) {
            // It is not empty.
            counters.occupancy_page_ns = 0;
        }
        counters
    });
    let mut cleans = Vec::new();
    array.take_cleans(&mut cleans);
    let planes = case.params.ssd.geometry.planes;
    let exported = case.params.ssd.geometry.exported_pages_per_die();
    let place = |(die, pool, block, page)| {
        let (plane, block) = match case.params.ssd.gc.pool {
            flashraid_model::ssd::Pool::Plane => (pool, block),
            flashraid_model::ssd::Pool::Die => (block % planes, block / planes),
        };
        PhysicalPage { die, plane, block, page }
    };
    let by_plane = case.params.ssd.gc.blocking == flashraid_model::ssd::Blocking::Plane && !case.params.ssd.gc.instantaneous;
    let members = array.members().iter().map(|ssd| {
        let counts = ssd.ftl().erase_counts();
        let (dies, blocks) = (case.params.ssd.geometry.dies, case.params.ssd.geometry.blocks_per_plane);
        let mut block_erases = vec![0; counts.len()];
        for (index, &count) in counts.iter().enumerate() {
            let (die, within) = (index as u32 / (planes * blocks), index as u32 % (planes * blocks));
            let (plane, block) = match case.params.ssd.gc.pool {
                flashraid_model::ssd::Pool::Plane => (within / blocks, within % blocks),
                flashraid_model::ssd::Pool::Die => (within % planes, within / planes),
            };
            block_erases[((die * planes + plane) * blocks + block) as usize] = count;
        }
        MemberOutcome {
            counters: *ssd.counters(),
            block_erases,
            pages: (0..dies * exported).map(|lpn| place(ssd.ftl().location(Lpn(lpn)))).collect(),
        }
    });
    Outcome {
        requests: outcomes,
        members: members.collect(),
        gc_intervals: collections(cleans, by_plane),
        messages: array.messages(),
        cache_counters,
        stripe_counters: array.stripe_counters(),
    }
}

/// Cleans of one die (of one plane, if only that is busy) back to back are one collection.
fn collections(mut cleans: Vec<GcInterval>, by_plane: bool) -> Vec<Collection> {
    let worker = |c: &GcInterval| (c.member, c.die, if by_plane { c.pool } else { 0 });
    cleans.sort_by_key(|c| (worker(c), c.start_ns));
    let mut collections: Vec<Collection> = Vec::new();
    let mut last = None;
    for clean in &cleans {
        let GcInterval { member, die, start_ns, end_ns, pages_moved, forced, .. } = *clean;
        match collections.last_mut() {
            Some(collection) if last == Some(worker(clean)) && collection.end_ns == start_ns => {
                collection.end_ns = end_ns;
                collection.victims += 1;
                collection.pages_moved += pages_moved;
            }
            _ => collections.push(Collection { member, die, start_ns, end_ns, victims: 1, pages_moved, forced }),
        }
        last = Some(worker(clean));
    }
    collections.sort_by_key(|gc| (gc.member, gc.die, gc.start_ns, gc.end_ns, gc.victims, gc.pages_moved));
    collections
}
