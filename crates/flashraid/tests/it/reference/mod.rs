//! A second implementation of the rules (`docs/rules.md`) in the plainest code, to hold the model against.
//!
//! Everything is looked up in lists from front to end, and the next event is found by reading through all of them. It shares with the
//! model only the parameters, the request and the random streams.

mod by_hand;
mod cache;
mod coordination;
mod flash;
mod layout;
mod parity;
mod preempt;

use std::collections::{BTreeMap, BTreeSet};

use flashraid_model::array::{Spare, WarmUpPattern};
use flashraid_model::ssd::{Allocation, Blocking, MemberCounters, SsdParams, Trigger};
use flashraid_workload::{OpKind, HostLoop};

use crate::outcome::{self, Case, MemberOutcome, Outcome, RequestOutcome};
use cache::{Awaited, Caches};
use coordination::{Controller, Message, Protocol};
use flash::{Clean, Flash, Page};
pub use layout::{array_pages, fits_one_member};
use parity::Stripes;
use preempt::Stepper;

/// Runs a case until nothing is left to happen.
pub fn simulate(case: &Case) -> Outcome {
    let ssd = &case.params.ssd;
    let spare = case.params.failure.and_then(|failure| failure.rebuild).map(|rebuild| rebuild.spare);
    let count = case.params.members as usize + usize::from(spare.is_some());
    let by_workload = case.warm_up.pattern == WarmUpPattern::Workload;
    let is_fresh = |member: usize| by_workload || (member == case.params.members as usize && spare == Some(Spare::Fresh));
    let mut simulation = Simulation {
        case,
        ssd,
        now: 0,
        events: Vec::new(),
        events_scheduled: 0,
        members: (0..count).map(|member| Member::new(case, member, !is_fresh(member))).collect(),
        requests: Vec::new(),
        requests_done: 0,
        controller: case.params.coordination.as_ref().map(|params| Controller::new(params, count)),
        stripes: Stripes::new(&case.params),
        caches: case.params.cache.as_ref().map(|params| Caches::new(params, case.params.members as usize)),
        jobs: Vec::new(),
        cache_orders: 0,
    };
    if by_workload {
        simulation.warm_up_by_workload();
    }
    simulation.start_checks();
    simulation.expect_failure();
    if simulation.is_stepwise() {
        for member in 0..simulation.members.len() {
            for die in 0..ssd.geometry.dies as usize {
                simulation.rests(member, die);
            }
        }
    }
    match case.host {
        HostLoop::Open => simulation.run_open(),
        HostLoop::Closed { depth, .. } => simulation.run_closed(depth as usize),
    }
    simulation.outcome()
}

struct Simulation<'a> {
    case: &'a Case,
    ssd: &'a SsdParams,
    now: u64,
    events: Vec<Scheduled>,
    events_scheduled: u64,
    members: Vec<Member>,
    /// Those that have arrived, in order of arrival.
    requests: Vec<RequestState>,
    requests_done: usize,
    controller: Option<Controller>,
    stripes: Option<Stripes>,
    caches: Option<Caches>,
    jobs: Vec<Job>,
    /// Order of what the caches wait for (rule 85).
    cache_orders: u64,
}

struct RequestState {
    arrival_ns: u64,
    done_ns: u64,
    members_met: BTreeSet<usize>,
}

/// An operation on the array or on members: a host request, or what a cache orders.
struct Job {
    /// Page operations and parts with locks that are not done.
    left: usize,
    purpose: Purpose,
}

#[derive(Clone, Copy)]
enum Purpose {
    Host { request: usize },
    Cache { order: u64, awaited: Awaited },
}

const PHASE_RANK: u8 = 1;
const CACHE_RANK: u8 = 2;
const FAILURE_RANK: u8 = 3;
const REBUILD_RANK: u8 = 4;
const CACHE_STEP_RANK: u8 = 5;

#[derive(Clone, Copy)]
struct Scheduled {
    time: u64,
    /// What comes after what happens in the members at the same nanosecond (rules 42 and 55).
    rank: u8,
    order: u64,
    event: Event,
}

#[derive(Clone, Copy)]
enum Event {
    /// A page has arrived at the other end of the host link.
    Travelled {
        member: usize,
        lane: usize,
    },
    /// A wait of some work is over.
    Waited {
        member: usize,
        worker: Worker,
    },
    /// A transfer over a channel is over.
    Transferred {
        member: usize,
        worker: Worker,
    },
    /// A step of a die of section 10 is over.
    Step {
        member: usize,
        die: usize,
        number: u64,
    },
    /// A die of section 10 is done with an operation.
    HostDone {
        member: usize,
        operation: Operation,
    },
    /// Something that a cache waits for.
    Cache {
        awaited: Awaited,
    },
    /// A slot of a cache may have become rested, or the timer of rule 84 is due.
    CacheStep,
    /// A phase of an operation on a stripe is over.
    PhaseOver {
        number: usize,
    },
    Failure,
    /// A further stripe may be rebuilt.
    Rebuild,
    /// A member asks for collection if it has reason to.
    Asks {
        member: usize,
        die: usize,
    },
    /// A message to or from a member arrives.
    Arrives {
        member: usize,
        message: Message,
    },
    /// A cycle that was asked for begins.
    CycleBegins,
    /// A check of a proactive scheme.
    Check,
}

/// What works through a list of steps: the command of a die or the clean of one of its pools.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Worker {
    Command { die: usize },
    Clean { die: usize, pool: usize },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Wait(u64),
    /// Takes the channel for so long.
    Transfer(u64),
}

struct Work {
    steps: Vec<Step>,
    /// When it will end if it waits for no transfer but one that it has asked for.
    plain_end: u64,
}

struct Member {
    flash: Flash,
    dies: Vec<DieState>,
    steppers: Vec<Stepper>,
    protocol: Protocol,
    work: BTreeMap<Worker, Work>,
    channels: Vec<Channel>,
    lanes: Vec<Lane>,
    /// Operations that wait for a die that accepts a write, in order (rule 8).
    unplaced: Vec<Operation>,
    die_chosen_last: Option<usize>,
    counters: MemberCounters,
    /// By die, and with `blocking = "plane"` by plane.
    collections: BTreeMap<(usize, Option<usize>), Vec<Collection>>,
}

#[derive(Default)]
struct DieState {
    queue: Vec<Operation>,
    serving: Option<Operation>,
    waits_for: Option<WaitsFor>,
}

/// Why an idle die leaves its queue alone (rule 15).
#[derive(Clone, Copy, PartialEq, Eq)]
enum WaitsFor {
    Plane(usize),
    AnyPlane,
}

/// One page of a request on one member.
#[derive(Clone, Copy)]
struct Operation {
    job: Option<usize>,
    stripe_operation: Option<usize>,
    page: Page,
    write: bool,
    high_priority: bool,
    reached_member_ns: u64,
    waited_for_plane: bool,
    refused_ns: Option<u64>,
}

#[derive(Default)]
struct Channel {
    user: Option<Worker>,
    /// Who asked, and for how long, in order of asking.
    waiting: Vec<(Worker, u64)>,
    /// When all of them will have been served.
    free_ns: u64,
}

#[derive(Default)]
struct Lane {
    travelling: Option<Operation>,
    waiting: Vec<Operation>,
}

struct Collection {
    start: u64,
    /// `None` while its last clean goes on.
    end: Option<u64>,
    victims: u32,
    pages_moved: u32,
    forced: bool,
}

impl Member {
    fn new(case: &Case, member: usize, warm: bool) -> Member {
        let ssd = &case.params.ssd;
        let dies = ssd.geometry.dies as usize;
        let mut flash = Flash::filled(ssd, case.seed, member);
        if warm {
            flash.warm_up(case.warm_up.overwrites, case.seed, member);
        }
        let channels = ssd.channel.map_or(0, |channel| dies.div_ceil(channel.dies_per_channel as usize));
        let lanes = ssd.link.map_or(0, |link| if link.full_duplex { 2 } else { 1 });
        Member {
            flash,
            dies: (0..dies).map(|_| DieState::default()).collect(),
            steppers: (0..dies).map(|_| Stepper::default()).collect(),
            protocol: Protocol::default(),
            work: BTreeMap::new(),
            channels: (0..channels).map(|_| Channel::default()).collect(),
            lanes: (0..lanes).map(|_| Lane::default()).collect(),
            unplaced: Vec::new(),
            die_chosen_last: None,
            counters: MemberCounters::default(),
            collections: BTreeMap::new(),
        }
    }

    fn held_pools(&self, die: usize) -> Vec<usize> {
        let cleaned = |worker: &Worker| match worker {
            Worker::Clean { die: of, pool } if *of == die => Some(*pool),
            _ => None,
        };
        self.work.keys().filter_map(cleaned).collect()
    }
}

// The host.
impl Simulation<'_> {
    fn run_open(&mut self) {
        loop {
            let next_event = self.earliest_event().map(|index| self.events[index].time);
            let next_arrival = self.case.requests.get(self.requests.len()).map(|request| request.arrival_ns);
            match (next_arrival, next_event) {
                // Arrivals come before events of the same nanosecond (rule 25).
                (Some(arrival), event) if event.is_none_or(|event| arrival <= event) => {
                    self.now = arrival;
                    self.submit_next();
                }
                (_, Some(_)) => self.next_event(),
                (_, None) => return,
            }
        }
    }

    fn run_closed(&mut self, depth: usize) {
        for _ in 0..depth {
            self.submit_next();
        }
        while let Some(index) = self.earliest_event() {
            let time = self.events[index].time;
            let done_before = self.requests_done;
            while self.earliest_event().is_some_and(|index| self.events[index].time == time) {
                self.next_event();
            }
            for _ in done_before..self.requests_done {
                self.submit_next();
            }
        }
    }

    /// The next request of the case arrives now.
    fn submit_next(&mut self) {
        let index = self.requests.len();
        let Some(request) = self.case.requests.get(index) else { return };
        self.requests.push(RequestState { arrival_ns: self.now, done_ns: 0, members_met: BTreeSet::new() });
        if self.caches.is_some() {
            return self.cache_sees_arrival(index, request);
        }
        let write = request.kind == OpKind::Write;
        let job = self.begin_job(Purpose::Host { request: index });
        let parts = self.parts(layout::pages_of(&self.case.params, request), write);
        self.take_parts(job, parts, write, request.high_priority);
    }

    fn begin_job(&mut self, purpose: Purpose) -> usize {
        self.controller_sees_arrival();
        self.jobs.push(Job { left: 0, purpose });
        self.jobs.len() - 1
    }

    fn operation_done(&mut self, operation: Operation) {
        match (operation.stripe_operation, operation.job) {
            (Some(number), _) => self.stripe_page_done(number),
            (None, Some(job)) => self.part_of_job_done(job),
            (None, None) => unreachable!("somebody wants every page"),
        }
    }

    fn part_of_job_done(&mut self, job: usize) {
        self.jobs[job].left -= 1;
        if self.jobs[job].left > 0 {
            return;
        }
        self.controller_sees_end();
        match self.jobs[job].purpose {
            Purpose::Host { request } => {
                self.requests[request].done_ns = self.now;
                self.requests_done += 1;
            }
            Purpose::Cache { order, awaited } => self.schedule_ordered(self.now, CACHE_RANK, order, Event::Cache { awaited }),
        }
    }

    /// The nanosecond at which the last request of the run was done has passed.
    fn run_is_over(&self) -> bool {
        self.requests_done == self.case.requests.len() && self.requests.iter().all(|request| request.done_ns < self.now)
    }
}

// Events.
impl Simulation<'_> {
    fn schedule(&mut self, delay: u64, event: Event) {
        self.schedule_with_rank(delay, 0, event);
    }

    fn schedule_with_rank(&mut self, delay: u64, rank: u8, event: Event) {
        self.events.push(Scheduled { time: self.now + delay, rank, order: self.events_scheduled, event });
        self.events_scheduled += 1;
    }

    fn schedule_ordered(&mut self, time: u64, rank: u8, order: u64, event: Event) {
        self.events.push(Scheduled { time, rank, order, event });
    }

    fn next_cache_order(&mut self) -> u64 {
        self.cache_orders += 1;
        self.cache_orders
    }

    fn schedule_cache_event(&mut self, time: u64, awaited: Awaited) {
        let order = self.next_cache_order();
        self.schedule_ordered(time, CACHE_RANK, order, Event::Cache { awaited });
    }

    fn schedule_cache_step(&mut self, time: u64) {
        let is_known = |scheduled: &Scheduled| scheduled.time == time && matches!(scheduled.event, Event::CacheStep);
        if !self.events.iter().any(is_known) {
            self.schedule_with_rank(time - self.now, CACHE_STEP_RANK, Event::CacheStep);
        }
    }

    fn schedule_failure(&mut self, at_ns: u64) {
        self.schedule_with_rank(at_ns, FAILURE_RANK, Event::Failure);
    }

    fn schedule_rebuild(&mut self, delay: u64) {
        self.schedule_with_rank(delay, REBUILD_RANK, Event::Rebuild);
    }

    fn earliest_event(&self) -> Option<usize> {
        (0..self.events.len()).min_by_key(|&index| (self.events[index].time, self.events[index].rank, self.events[index].order))
    }

    fn next_event(&mut self) {
        let index = self.earliest_event().expect("an event is pending");
        let Scheduled { time, event, .. } = self.events.remove(index);
        self.now = time;
        match event {
            Event::Travelled { member, lane } => self.travelled(member, lane),
            Event::Waited { member, worker } => self.go_on(member, worker),
            Event::Transferred { member, worker } => self.transferred(member, worker),
            Event::Step { member, die, number } => self.step_over(member, die, number),
            Event::HostDone { member, operation } => self.leaves_die(member, operation),
            Event::Cache { awaited } => self.cache_event(awaited),
            Event::CacheStep => self.cache_step(),
            Event::PhaseOver { number } => self.next_phase(number),
            Event::Failure => self.fails(),
            Event::Rebuild => self.rebuild_next(),
            Event::Asks { member, die } => self.asks(member, die),
            Event::Arrives { member, message } => self.arrives(member, message),
            Event::CycleBegins => self.cycle_begins(),
            Event::Check => self.check(),
        }
    }
}

// The host link (rule 6). Lane 0 goes to the member; lane 1, or lane 0 if there is only one, goes to the host.
impl Simulation<'_> {
    fn join_lane(&mut self, member: usize, lane: usize, operation: Operation) {
        self.members[member].lanes[lane].waiting.push(operation);
        self.start_travel(member, lane);
    }

    fn start_travel(&mut self, member: usize, lane: usize) {
        let state = &mut self.members[member].lanes[lane];
        if state.travelling.is_none() && !state.waiting.is_empty() {
            state.travelling = Some(state.waiting.remove(0));
            let page_ns = self.ssd.link.expect("there is a link").page_ns;
            self.schedule(page_ns, Event::Travelled { member, lane });
        }
    }

    fn travelled(&mut self, member: usize, lane: usize) {
        let operation = self.members[member].lanes[lane].travelling.expect("a page travels");
        if operation.write {
            self.reach_member(member, operation);
        } else {
            self.operation_done(operation);
        }
        self.members[member].lanes[lane].travelling = None;
        self.start_travel(member, lane);
    }
}

// The way to a die (rules 7 and 8).
impl Simulation<'_> {
    fn reach_member(&mut self, member: usize, mut operation: Operation) {
        operation.reached_member_ns = self.now;
        match self.ssd.allocation {
            Allocation::Dynamic => {
                self.members[member].unplaced.push(operation);
                self.place_operations(member);
            }
            Allocation::Static => {
                let pages_per_die = u64::from(self.ssd.geometry.exported_pages_per_die());
                self.join_queue(member, (operation.page / pages_per_die) as usize, operation);
            }
        }
    }

    fn place_operations(&mut self, member: usize) {
        while let Some(&operation) = self.members[member].unplaced.first() {
            let waits_for_same_page = |die: &DieState| die.queue.iter().any(|other| other.write && other.page == operation.page);
            let follows = self.members[member].dies.iter().position(waits_for_same_page);
            let die = if follows.is_some() {
                follows
            } else if operation.write {
                let chosen = self.die_for_write(member);
                if chosen.is_some() {
                    self.members[member].die_chosen_last = chosen;
                }
                chosen
            } else {
                Some(self.members[member].flash.places[&operation.page].die)
            };
            let Some(die) = die else { return };
            self.members[member].unplaced.remove(0);
            self.join_queue(member, die, operation);
        }
    }

    fn die_for_write(&self, member: usize) -> Option<usize> {
        let dies = self.members[member].dies.len();
        let first = self.members[member].die_chosen_last.map_or(0, |last| last + 1);
        let mut best: Option<usize> = None;
        for die in (0..dies).map(|step| (first + step) % dies) {
            let earlier = || best.is_none_or(|best| self.estimated_start(member, die) < self.estimated_start(member, best));
            if self.accepts_write(member, die) && earlier() {
                best = Some(die);
            }
        }
        best
    }

    fn accepts_write(&self, member: usize, die: usize) -> bool {
        let Member { flash, dies, .. } = &self.members[member];
        let waiting = dies[die].queue.iter().filter(|operation| operation.write).count();
        let pools = flash.dies[die].pools.len();
        let blocks_per_pool = self.ssd.geometry.blocks_per_die() as usize / pools;
        let data_pages = self.ssd.geometry.data_pages_per_block() as usize;
        let limit = pools * (blocks_per_pool - 2 - self.ssd.gc.start_free_blocks as usize) * data_pages;
        flash.valid_pages(die) + waiting < limit
    }

    fn estimated_start(&self, member: usize, die: usize) -> u64 {
        let Member { dies, work, .. } = &self.members[member];
        let occupies = |worker: &Worker| match *worker {
            Worker::Command { die: of } => of == die,
            Worker::Clean { die: of, .. } => of == die && self.ssd.gc.blocking == Blocking::Die,
        };
        let current_end = work.iter().filter(|(worker, _)| occupies(worker)).map(|(_, work)| work.plain_end).max();
        let timing = &self.ssd.timing;
        let plain_duration = |operation: &Operation| {
            let array_time = if operation.write { timing.page_program_ns } else { timing.page_read_ns };
            timing.command_overhead_ns + timing.page_transfer_ns + array_time
        };
        let waiting: u64 = dies[die].queue.iter().map(plain_duration).sum();
        current_end.unwrap_or(0).max(self.now) + waiting
    }

    fn join_queue(&mut self, member: usize, die: usize, operation: Operation) {
        self.members[member].dies[die].queue.push(operation);
        if self.is_stepwise() {
            return self.stepper_has_more(member, die, operation);
        }
        // A die that waits for a plane (rule 15) does not look at what comes behind.
        if self.members[member].dies[die].waits_for.is_none() {
            self.serve_next(member, die);
        }
    }
}

// Dies (rules 9, 10, 15, 19 and 20).
impl Simulation<'_> {
    fn is_busy(&self, member: usize, die: usize) -> bool {
        let Member { dies, .. } = &self.members[member];
        let cleans = self.ssd.gc.blocking == Blocking::Die && !self.members[member].held_pools(die).is_empty();
        dies[die].serving.is_some() || cleans
    }

    /// An idle die checks its pools and turns to the head of its queue.
    fn serve_next(&mut self, member: usize, die: usize) {
        if self.is_busy(member, die) || self.members[member].dies[die].queue.is_empty() {
            return;
        }
        let head = self.members[member].dies[die].queue[0];
        let checks = self.ssd.gc.trigger == Trigger::Request || head.write;
        if checks && self.ssd.gc.instantaneous {
            while let Some(clean) = self.members[member].flash.check(die) {
                self.start_clean(member, die, &clean);
            }
        } else if checks && self.ssd.gc.blocking == Blocking::Die {
            if let Some(clean) = self.members[member].flash.check(die) {
                self.start_clean(member, die, &clean);
                return;
            }
        } else if checks {
            let held = self.members[member].held_pools(die);
            for clean in self.members[member].flash.check_all(die, &held) {
                self.start_clean(member, die, &clean);
            }
        }

        let held = self.members[member].held_pools(die);
        let flash = &mut self.members[member].flash;
        let place = flash.places[&head.page];
        let steps;
        if head.write {
            let Some(pool) = flash.pool_for_write(die, head.page, &held) else {
                assert!(!held.is_empty(), "a pool has room");
                self.wait_for(member, die, WaitsFor::AnyPlane);
                return;
            };
            let fills_block = flash.write(die, pool, head.page);
            steps = self.write_steps(fills_block);
            self.members[member].counters.host_pages_written += 1;
            self.members[member].counters.summary_programs += u64::from(fills_block && self.ssd.geometry.summary_page);
        } else {
            if place.die == die && held.contains(&place.pool) {
                self.wait_for(member, die, WaitsFor::Plane(place.pool));
                return;
            }
            steps = self.read_steps();
            self.members[member].counters.host_pages_read += 1;
        }
        if self.met_gc(member, die, &head) {
            self.mark_met(member, &head);
        }
        let state = &mut self.members[member].dies[die];
        state.serving = Some(state.queue.remove(0));
        self.start_work(member, Worker::Command { die }, steps);
        self.place_operations(member);
    }

    fn wait_for(&mut self, member: usize, die: usize, what: WaitsFor) {
        let state = &mut self.members[member].dies[die];
        state.waits_for = Some(what);
        state.queue[0].waited_for_plane = true;
    }

    fn mark_met(&mut self, member: usize, operation: &Operation) {
        let request = match operation.job.map(|job| self.jobs[job].purpose) {
            Some(Purpose::Host { request }) => Some(request),
            Some(Purpose::Cache { awaited, .. }) => self.request_that_waits(awaited),
            None => None,
        };
        if let Some(request) = request {
            self.requests[request].members_met.insert(member);
        }
    }

    /// Rule 28.
    fn met_gc(&self, member: usize, die: usize, operation: &Operation) -> bool {
        if self.ssd.gc.instantaneous {
            return false;
        }
        if self.ssd.gc.blocking == Blocking::Plane {
            return operation.waited_for_plane;
        }
        let collections = self.members[member].collections.get(&(die, None));
        let overlaps =
            |collection: &Collection| collection.start < self.now && collection.end.is_none_or(|end| end > operation.reached_member_ns);
        collections.is_some_and(|collections| collections.iter().any(overlaps))
    }

    fn command_done(&mut self, member: usize, die: usize) {
        let operation = self.members[member].dies[die].serving.take().expect("an operation is served");
        if !operation.write && self.ssd.link.is_some() {
            let lane = self.members[member].lanes.len() - 1;
            self.join_lane(member, lane, operation);
        } else {
            self.operation_done(operation);
        }
        self.serve_next(member, die);
    }
}

// Cleans (rules 14 and 15).
impl Simulation<'_> {
    fn run_key(&self, die: usize, pool: usize) -> (usize, Option<usize>) {
        let by_plane = self.ssd.gc.blocking == Blocking::Plane && !self.ssd.gc.instantaneous;
        (die, by_plane.then_some(pool))
    }

    fn start_clean(&mut self, member: usize, die: usize, clean: &Clean) {
        let now = self.now;
        let key = self.run_key(die, clean.pool);
        let collections = self.members[member].collections.entry(key).or_default();
        if collections.last().is_none_or(|collection| collection.end != Some(now)) {
            collections.push(Collection { start: now, end: None, victims: 0, pages_moved: 0, forced: false });
        }
        let collection = collections.last_mut().expect("a collection has begun");
        collection.end = None;
        collection.victims += 1;
        collection.pages_moved += clean.moves.len() as u32;
        let filled_blocks = clean.moves.iter().filter(|&&fills_block| fills_block).count();
        let counters = &mut self.members[member].counters;
        counters.erases += 1;
        counters.gc_pages_moved += clean.moves.len() as u64;
        counters.summary_programs += if self.ssd.geometry.summary_page { filled_blocks as u64 } else { 0 };
        if self.ssd.gc.instantaneous {
            self.end_collection(member, die, clean.pool);
        } else {
            let steps = self.clean_steps(&clean.moves);
            self.start_work(member, Worker::Clean { die, pool: clean.pool }, steps);
        }
    }

    fn end_collection(&mut self, member: usize, die: usize, pool: usize) {
        let key = self.run_key(die, pool);
        let collections = self.members[member].collections.get_mut(&key).expect("a collection goes on");
        collections.last_mut().expect("a collection goes on").end = Some(self.now);
    }

    fn clean_done(&mut self, member: usize, die: usize, pool: usize) {
        self.end_collection(member, die, pool);
        let mut released = vec![pool];
        // Cleans of the die that end at the same nanosecond end together (rule 15).
        while let Some((index, pool)) = self.clean_that_ends_now(member, die) {
            self.events.remove(index);
            self.members[member].work.remove(&Worker::Clean { die, pool });
            self.end_collection(member, die, pool);
            released.push(pool);
        }
        let state = &mut self.members[member].dies[die];
        if self.ssd.gc.blocking == Blocking::Plane {
            match state.waits_for {
                Some(WaitsFor::AnyPlane) => {}
                Some(WaitsFor::Plane(plane)) if released.contains(&plane) => {}
                _ => return,
            }
            state.waits_for = None;
        }
        self.serve_next(member, die);
    }

    /// The event that ends another clean of the die at this nanosecond, and the pool cleaned.
    fn clean_that_ends_now(&self, member: usize, die: usize) -> Option<(usize, usize)> {
        let ends_now = |(index, scheduled): (usize, &Scheduled)| match scheduled.event {
            Event::Waited { member: of_member, worker: Worker::Clean { die: of_die, pool } }
                if (scheduled.time, of_member, of_die) == (self.now, member, die) =>
            {
                Some((index, pool))
            }
            _ => None,
        };
        self.events.iter().enumerate().find_map(ends_now)
    }
}

// Steps of commands and cleans, and the channels they share (rule 22).
impl Simulation<'_> {
    fn read_steps(&self) -> Vec<Step> {
        let timing = &self.ssd.timing;
        vec![Step::Wait(timing.command_overhead_ns + timing.page_read_ns), Step::Transfer(timing.page_transfer_ns)]
    }

    fn write_steps(&self, fills_block: bool) -> Vec<Step> {
        let timing = &self.ssd.timing;
        let mut steps =
            vec![Step::Wait(timing.command_overhead_ns), Step::Transfer(timing.page_transfer_ns), Step::Wait(timing.page_program_ns)];
        steps.extend(self.summary_steps(fills_block));
        steps
    }

    fn clean_steps(&self, moves: &[bool]) -> Vec<Step> {
        let timing = &self.ssd.timing;
        let mut steps = Vec::new();
        for &fills_block in moves {
            steps.push(Step::Wait(timing.page_read_ns));
            if !self.ssd.gc.copy_back {
                steps.push(Step::Transfer(timing.page_transfer_ns));
                steps.push(Step::Transfer(timing.page_transfer_ns));
            }
            steps.push(Step::Wait(timing.page_program_ns));
            steps.extend(self.summary_steps(fills_block));
        }
        steps.push(Step::Wait(timing.block_erase_ns));
        steps
    }

    fn summary_steps(&self, fills_block: bool) -> Vec<Step> {
        if !fills_block || !self.ssd.geometry.summary_page {
            return Vec::new();
        }
        vec![Step::Transfer(self.ssd.timing.summary_transfer_ns), Step::Wait(self.ssd.timing.page_program_ns)]
    }

    fn start_work(&mut self, member: usize, worker: Worker, steps: Vec<Step>) {
        let without_channels = self.ssd.channel.is_none();
        let mut merged: Vec<Step> = Vec::new();
        let mut total = 0;
        for step in steps {
            // Waits that follow each other are one; without channels a transfer is a wait like any other.
            let (Step::Wait(ns) | Step::Transfer(ns)) = step;
            total += ns;
            match (merged.last_mut(), step) {
                (Some(Step::Wait(before)), Step::Wait(_)) => *before += ns,
                (Some(Step::Wait(before)), Step::Transfer(_)) if without_channels => *before += ns,
                (_, Step::Transfer(_)) if without_channels => merged.push(Step::Wait(ns)),
                _ => merged.push(step),
            }
        }
        self.members[member].work.insert(worker, Work { steps: merged, plain_end: self.now + total });
        self.go_on(member, worker);
    }

    /// Begins the next step of some work, or ends it.
    fn go_on(&mut self, member: usize, worker: Worker) {
        let work = self.members[member].work.get_mut(&worker).expect("the work goes on");
        if work.steps.first() == Some(&Step::Wait(0)) {
            work.steps.remove(0);
        }
        if work.steps.is_empty() {
            self.members[member].work.remove(&worker);
            match worker {
                Worker::Command { die } => self.command_done(member, die),
                Worker::Clean { die, pool } => self.clean_done(member, die, pool),
            }
            return;
        }
        match work.steps.remove(0) {
            Step::Wait(ns) => self.schedule(ns, Event::Waited { member, worker }),
            Step::Transfer(ns) => {
                let channel = self.channel_of(worker);
                self.members[member].channels[channel].waiting.push((worker, ns));
                self.expect_end_of_transfer(member, channel, worker, ns);
                self.start_transfer(member, channel);
            }
        }
    }

    /// From the moment at which a transfer is asked for, its end is known: those before it come first.
    fn expect_end_of_transfer(&mut self, member: usize, channel: usize, worker: Worker, ns: u64) {
        let free = self.members[member].channels[channel].free_ns.max(self.now) + ns;
        self.members[member].channels[channel].free_ns = free;
        let work = self.members[member].work.get_mut(&worker).expect("the work goes on");
        let rest: u64 = work
            .steps
            .iter()
            .map(|step| {
                let (Step::Wait(ns) | Step::Transfer(ns)) = step;
                ns
            })
            .sum();
        work.plain_end = free + rest;
    }

    fn channel_of(&self, worker: Worker) -> usize {
        let (Worker::Command { die } | Worker::Clean { die, .. }) = worker;
        die / self.ssd.channel.expect("there are channels").dies_per_channel as usize
    }

    fn start_transfer(&mut self, member: usize, channel: usize) {
        let state = &mut self.members[member].channels[channel];
        if state.user.is_none() && !state.waiting.is_empty() {
            let (worker, ns) = state.waiting.remove(0);
            state.user = Some(worker);
            self.schedule(ns, Event::Transferred { member, worker });
        }
    }

    fn transferred(&mut self, member: usize, worker: Worker) {
        self.go_on(member, worker);
        let channel = self.channel_of(worker);
        self.members[member].channels[channel].user = None;
        self.start_transfer(member, channel);
    }
}

// The end.
impl Simulation<'_> {
    fn outcome(mut self) -> Outcome {
        let cache_counters = self.caches.is_some().then(|| self.cache_counters());
        let mut gc_intervals = Vec::new();
        let mut members = Vec::new();
        let steppers_rest: Vec<bool> = (0..self.members.len()).map(|member| self.steppers_rest(member)).collect();
        for (number, member) in self.members.iter_mut().enumerate() {
            assert!(member.work.is_empty() && member.unplaced.is_empty(), "nothing is left to happen");
            assert!(steppers_rest[number], "no clean is left in the middle");
            assert!(member.dies.iter().all(|die| die.queue.is_empty() && die.serving.is_none()));
            for (&(die, _), collections) in &member.collections {
                for collection in collections {
                    let end = collection.end.expect("every collection has ended");
                    member.counters.collections += 1;
                    member.counters.forced_collections += u64::from(collection.forced);
                    member.counters.gc_time_ns += end - collection.start;
                    gc_intervals.push(outcome::Collection {
                        member: number as u32,
                        die: die as u32,
                        start_ns: collection.start,
                        end_ns: end,
                        victims: collection.victims,
                        pages_moved: collection.pages_moved,
                        forced: collection.forced,
                    });
                }
            }
            members.push(MemberOutcome {
                counters: member.counters,
                block_erases: member.flash.block_erases(),
                pages: member.flash.physical_pages(),
            });
        }
        gc_intervals.sort_by_key(|gc| (gc.member, gc.die, gc.start_ns, gc.end_ns, gc.victims, gc.pages_moved));
        assert!(self.stripes.as_ref().is_none_or(Stripes::are_free), "no lock is held");
        assert!(self.caches.as_ref().is_none_or(Caches::rest), "no write waits for a cache");
        assert_eq!(self.requests_done, self.case.requests.len(), "every request is done");
        let requests = self.requests.iter().map(|request| RequestOutcome {
            arrival_ns: request.arrival_ns,
            done_ns: request.done_ns,
            gc_members_met: request.members_met.len() as u32,
        });
        Outcome {
            requests: requests.collect(),
            members,
            gc_intervals,
            cache_counters,
            stripe_counters: self.stripes.as_ref().map(Stripes::counters),
            messages: self.controller.as_ref().map(Controller::messages),
        }
    }
}
