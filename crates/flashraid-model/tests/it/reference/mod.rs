//! A second implementation of the rules (`docs/rules.md`) in the plainest code, to hold the model against.
//!
//! Everything is looked up in lists from front to end, and the next event is found by reading through all of them. It shares with the
//! model only the parameters, the request and the random streams.

mod buffer_of_pages;
mod by_hand;
mod by_hand_mixed;
mod cache;
mod clean;
mod coordination;
mod die;
mod flash;
mod front;
mod hedge;
mod host_port;
mod idle_and_forced;
mod layout;
mod leave;
mod parity;
mod passes;
mod placement;
mod points;
mod predict;
mod read_around;
mod retries;
mod rotation;
mod shortest_queue;
mod slow;
mod stalls;
mod superblocks;
mod suspend;
mod together;
mod transfer;
mod turns;
mod work;

use std::collections::{BTreeMap, BTreeSet};

use flashraid_model::array::{InitialSpareState, InjectedSlownessCounters, ReadPlanCounters, WarmUpPattern};
use flashraid_model::events::OperationTimeParts;
use flashraid_model::request::{HostLoop, OpKind};
use flashraid_model::ssd::{DieDelayMechanismCounters, Duplex, MemberCounters, SsdParams};

use crate::outcome::{Case, Collection, DriveOutcome, MemberOutcome, Outcome, RequestOutcome};
use buffer_of_pages::BufferedPage;
use cache::{Awaited, Caches};
use coordination::{Controller, Message, Protocol};
use die::DieState;
use flash::{Flash, Page};
use front::{Front, FrontEvent, Origin};
use host_port::Port;
pub(crate) use layout::{array_pages, fits_one_member, stripes};
use parity::Stripes;
use stalls::StallSchedule;
use superblocks::{Drive, DriveEvent, collections_of};
use transfer::{Channel, Lane};
use work::{Work, Worker};

/// Runs a case until nothing is left to happen.
pub(crate) fn simulate(case: &Case) -> Outcome {
    let ssd = &case.params.ssd;
    let rebuild = case.params.rebuild.filter(|_| !case.params.failures.is_empty());
    let spares = rebuild.map_or(0, |rebuild| (rebuild.settings.spares as usize).min(case.params.failures.len()));
    let count = case.params.members as usize + spares;
    let by_workload = case.warm_up.pattern == WarmUpPattern::Workload;
    let blank_spares = rebuild.is_some_and(|rebuild| rebuild.settings.spare == InitialSpareState::Blank);
    let is_blank = |member: usize| member >= case.params.members as usize && blank_spares;
    let mut simulation = Simulation {
        case,
        ssd,
        now: 0,
        events: Vec::new(),
        events_scheduled: 0,
        members: (0..count).map(|member| Member::new(case, member, !by_workload, is_blank(member))).collect(),
        requests: Vec::new(),
        requests_done: 0,
        end_is_told: false,
        controller: case.params.coordination.as_ref().map(|params| Controller::new(params, count)),
        stripes: Stripes::new(&case.params, case.seed),
        caches: case.params.cache.as_ref().map(|params| Caches::new(params, case.params.members as usize)),
        jobs: Vec::new(),
        cache_orders: 0,
        port: case.params.host_port.map(|_| Port::default()),
        balancing: Default::default(),
    };
    if by_workload {
        simulation.warm_up_by_workload();
    }
    simulation.start_checks();
    simulation.expect_failure();
    for member in 0..simulation.members.len() {
        for die in 0..simulation.members[member].dies.len() {
            simulation.rest_begins(member, die);
        }
    }
    simulation.drives_begin();
    if case.requests.is_empty() {
        simulation.drives_see_end();
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
    /// Requests that have arrived, in order of arrival.
    requests: Vec<RequestState>,
    requests_done: usize,
    /// Drives know that the last request is done.
    end_is_told: bool,
    controller: Option<Controller>,
    stripes: Option<Stripes>,
    caches: Option<Caches>,
    jobs: Vec<Job>,
    /// Order of what the caches wait for (rule 85).
    cache_orders: u64,
    port: Option<Port>,
    balancing: shortest_queue::Balancing,
}

struct RequestState {
    arrival_ns: u64,
    done_ns: u64,
    members_met: BTreeSet<usize>,
    pages_lost: u32,
    parts: OperationTimeParts,
}

/// An operation on the array or on members: a host request, or what a cache orders.
struct Job {
    /// Page operations and parts with locks that are not done.
    left: usize,
    purpose: Purpose,
    began_ns: u64,
    last: LastEnd,
}

/// End of the last of several operations, with its parts. If several end then, the greatest parts count (rule 113).
type LastEnd = (u64, OperationTimeParts);

#[derive(Clone, Copy)]
enum Purpose {
    Host { request: usize },
    Cache { order: u64, awaited: Awaited },
}

const PHASE_RANK: u8 = 1;
const CACHE_RANK: u8 = 2;
const PORT_RANK: u8 = 3;
const FAILURE_RANK: u8 = 4;
const REBUILD_RANK: u8 = 5;
const CACHE_STEP_RANK: u8 = 6;

#[derive(Clone)]
struct Scheduled {
    time: u64,
    /// Order among events of the same nanosecond, after those in the members (rules 42 and 55).
    rank: u8,
    order: u64,
    event: Event,
}

#[derive(Clone)]
enum Event {
    /// A page has arrived at the other end of the host link.
    Travelled {
        member: usize,
        lane: usize,
    },
    /// Something of what stands before the dies.
    Front {
        member: usize,
        what: FrontEvent,
    },
    /// Something of a drive with superblocks.
    Drive {
        member: usize,
        what: DriveEvent,
    },
    /// The late answer of a slow member comes.
    Answered {
        operation: Operation,
    },
    /// A read that nobody needs has left the queue of its die.
    Abandoned {
        member: usize,
        operation: Operation,
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
    /// A die has rested for so long that it collects (rule 98).
    Rested {
        member: usize,
        die: usize,
    },
    /// Something that a cache waits for.
    Cache {
        awaited: Awaited,
    },
    /// A slot of a cache may have paused long enough, or the timer is due (rule 84).
    CacheStep,
    /// Something may be due at the host port.
    Port,
    /// A request that concerns no page is done.
    NothingToDo {
        job: usize,
    },
    /// A phase of an operation on a stripe is over.
    PhaseOver {
        number: usize,
    },
    /// An operation on a stripe begins where reads are planned, reads what it reads after a refusal, or is late.
    GoesOn {
        number: usize,
    },
    Failure,
    /// A further stripe may be rebuilt.
    Rebuild,
    /// A member asks for collection if it has reason to.
    Asks {
        member: usize,
        die: usize,
        pool: usize,
    },
    /// The nanosecond is over at which a host write left a low pool in a member, or at which it reached its limit (rule 119).
    MayAskSoftly {
        member: usize,
        is_at_limit: bool,
    },
    /// A message to or from a member arrives.
    Arrives {
        member: usize,
        message: Message,
    },
    /// A cycle that was asked for begins, or may.
    CycleBegins,
    /// A check of a proactive scheme.
    Check,
    /// A member that needs leave looks at the end of a nanosecond whether the controller must know something.
    LooksAtLeave {
        member: usize,
    },
    /// The controller answers those that ask for leave.
    AnswersAll,
    /// The next member that waits has its turn to collect (rule 291).
    NextInRotation,
    /// The turn of this number begins.
    NextTurn {
        number: u64,
    },
    TurnClosesToCollection {
        member: usize,
    },
    TurnEnds {
        member: usize,
    },
    /// A member in its DTWIN may have to leave it.
    LooksAtWindow {
        member: usize,
    },
}

struct Member {
    flash: Flash,
    dies: Vec<DieState>,
    work: BTreeMap<Worker, Work>,
    channels: Vec<Channel>,
    lanes: Vec<Lane>,
    /// Queues, cores and buffer before dies with pools, with the pages of the buffer in order of entry.
    front: Option<Front>,
    buffered: Vec<BufferedPage>,
    /// The other kind of member: then there are no pools.
    drive: Option<Drive>,
    /// Pages that the workload overwrites on a drive before the run, each with the source of its write.
    overwritten: Vec<(Page, u8)>,
    /// Operations that wait for a die that accepts a write, in order (rule 8).
    unplaced: Vec<Operation>,
    die_chosen_last: Option<usize>,
    operations_joined: u64,
    protocol: Protocol,
    counters: MemberCounters,
    mechanisms: DieDelayMechanismCounters,
    slow: InjectedSlownessCounters,
    /// Collections by die, and with plane blocking by plane (rule 105).
    gc_runs: BTreeMap<(usize, Option<usize>), Vec<GcRun>>,
}

/// One page of a request on one member.
#[derive(Clone, Copy)]
struct Operation {
    job: Option<usize>,
    stripe_operation: Option<usize>,
    /// The read of a strip, among those of the operation on the stripe, that may be made elsewhere, too.
    sub_read: Option<usize>,
    page: Page,
    kind: OpKind,
    high_priority: bool,
    /// The part of a mix that it belongs to.
    source: u8,
    /// A write that is to survive a loss of power.
    fua: bool,
    origin: Origin,
    reached_member_ns: u64,
    /// Position in the order of joining the queue of a die.
    number: u64,
    waited_for_scope: bool,
    refused_ns: Option<u64>,
    issued_ns: u64,
    parts: OperationTimeParts,
}

struct GcRun {
    start: u64,
    /// `None` while its last clean goes on.
    end: Option<u64>,
    victims: u32,
    pages_moved: u32,
    forced: bool,
}

impl Member {
    fn new(case: &Case, member: usize, warm: bool, is_blank: bool) -> Member {
        let ssd = &if is_blank { case.params.ssd.clone().unwritten() } else { case.params.ssd.clone() };
        let warm = warm && !is_blank;
        let dies = ssd.geometry.dies as usize;
        let is_drive = ssd.superblock.is_some();
        let drive = is_drive.then(|| {
            let point = case.params.point_of_cycle(member as u32);
            let labels = layout::Labels::of(case, member, parity::replaced_by(&case.params, member));
            Drive::new(ssd, (case.seed, member), warm.then(|| case.warm_up.clone()), point, labels)
        });
        let mut flash = if is_drive { Flash::without_pools(ssd) } else { Flash::filled(ssd, case.seed, member) };
        if warm && !is_drive {
            flash.warm_up(case.warm_up.overwrites_per_page, case.seed, member);
        }
        let dies = if is_drive { 0 } else { dies };
        let channels = ssd.channel.map_or(0, |channel| dies.div_ceil(channel.dies_per_channel as usize));
        let lanes = ssd.link.map_or(0, |link| if link.duplex == Duplex::Full { 2 } else { 1 });
        Member {
            flash,
            dies: (0..dies)
                .map(|die| DieState { stalls: StallSchedule::of(&ssd.die_delay_mechanisms, case.seed, member, die), ..DieState::default() })
                .collect(),
            work: BTreeMap::new(),
            channels: (0..channels).map(|_| Channel::default()).collect(),
            lanes: (0..lanes).map(|_| Lane::default()).collect(),
            front: if is_drive { None } else { Front::of(ssd, member) },
            buffered: Vec::new(),
            drive,
            overwritten: Vec::new(),
            unplaced: Vec::new(),
            die_chosen_last: None,
            operations_joined: 0,
            protocol: Protocol::default(),
            counters: MemberCounters::default(),
            mechanisms: DieDelayMechanismCounters::default(),
            slow: InjectedSlownessCounters::default(),
            gc_runs: BTreeMap::new(),
        }
    }
}

// The host and its requests.
impl Simulation<'_> {
    fn run_open(&mut self) {
        loop {
            let next_event = self.earliest_event().map(|index| self.events[index].time);
            let next_arrival = self.case.requests.get(self.requests.len()).map(|request| request.arrival_ns);
            match (next_arrival, next_event) {
                // Arrivals come before events of the same nanosecond (rule 25).
                (Some(arrival), event) if event.is_none_or(|event| arrival <= event) => {
                    self.passes_until(arrival);
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
        if index == self.case.requests.len() {
            return;
        }
        self.requests.push(RequestState {
            arrival_ns: self.now,
            done_ns: 0,
            members_met: BTreeSet::new(),
            pages_lost: 0,
            parts: OperationTimeParts::default(),
        });
        if self.port.is_some() {
            return self.arrives_at_port(index);
        }
        self.begin_request(index);
    }

    /// A request that nothing holds back.
    fn begin_request(&mut self, index: usize) {
        let request = &self.case.requests[index];
        let kind = request.kind;
        let concerns_pages = !layout::pages_of(&self.case.params, request).is_empty();
        if self.caches.is_some() && concerns_pages {
            return self.cache_sees_arrival(index, request);
        }
        let job = self.begin_job(Purpose::Host { request: index });
        if kind == OpKind::Flush && self.has_front() {
            // A flush waits for all members (rule 208).
            self.jobs[job].left = self.members.len();
            (0..self.members.len()).for_each(|member| self.issue_page(member, 0, Some(job), None, kind, false));
            return;
        }
        let mut pages = layout::pages_of(&self.case.params, request);
        if kind == OpKind::Read && self.stripes.is_some() {
            let lost;
            (pages, lost) = self.left_to_read(pages);
            self.loses(Some(index), lost);
        }
        let mut parts = self.parts(pages, kind != OpKind::Read);
        if kind == OpKind::Trim {
            parts = self.parts_of_trim(parts);
        }
        self.take_parts(job, parts, kind, request.high_priority);
    }

    fn begin_job(&mut self, purpose: Purpose) -> usize {
        if self.counts_operations() {
            self.controller_sees_arrival();
        }
        let began_ns = self.now;
        self.jobs.push(Job { left: 0, purpose, began_ns, last: (began_ns, OperationTimeParts::default()) });
        self.jobs.len() - 1
    }

    /// Returns true if the controller counts operations on the array (rule 152).
    fn counts_operations(&self) -> bool {
        self.port.is_none() || self.caches.is_some()
    }

    /// The answer of a member has come.
    fn answered(&mut self, operation: Operation) {
        assert_eq!(operation.parts.total_ns(), self.now - operation.issued_ns, "{:?} of {:?}", operation.parts, operation.kind);
        match (operation.stripe_operation, operation.job) {
            (Some(number), _) if operation.sub_read.is_some() => self.page_of_sub_read_done(number, &operation),
            (Some(number), _) => self.stripe_page_done(number, operation.issued_ns, operation.parts),
            (None, Some(job)) => self.part_of_job_done(job, operation.parts),
            (None, None) => unreachable!("somebody wants every page"),
        }
    }

    /// Something stands before the dies of members.
    fn has_front(&self) -> bool {
        front::params_of(self.ssd).is_some()
    }

    fn schedule_nothing(&mut self, job: usize) {
        self.schedule(0, Event::NothingToDo { job });
    }

    fn read_plan_counters(&self) -> ReadPlanCounters {
        let params = &self.case.params;
        let predicts = predict::predicts(params) && read_around::plans(params);
        ReadPlanCounters {
            planned_reads: self.stripes.as_ref().filter(|_| read_around::looks(params)).map(|stripes| stripes.planned.counters),
            hedged_reads: self.stripes.as_ref().filter(|_| hedge::makes_twice(params)).map(|stripes| stripes.hedging.counters),
            predicted_reads: self.stripes.as_ref().filter(|_| predicts).map(|stripes| stripes.predicting.counters),
            balanced_reads: shortest_queue::balances(params).then_some(self.balancing.counters),
        }
    }

    /// The host request that an operation serves.
    fn request_of(&self, job: usize) -> Option<usize> {
        match self.jobs[job].purpose {
            Purpose::Host { request } | Purpose::Cache { awaited: Awaited::ReadFromArray { request }, .. } => Some(request),
            Purpose::Cache { .. } => None,
        }
    }

    fn part_of_job_done(&mut self, job: usize, parts: OperationTimeParts) {
        self.jobs[job].last = self.jobs[job].last.max((self.now, parts));
        self.jobs[job].left -= 1;
        if self.jobs[job].left == 0 {
            self.job_done(job);
        }
    }

    fn job_done(&mut self, job: usize) {
        if self.counts_operations() {
            self.controller_sees_end();
        }
        let of_request = match self.jobs[job].purpose {
            Purpose::Host { request } => Some(request),
            Purpose::Cache { awaited: Awaited::ReadFromArray { request } | Awaited::Trimmed { request }, .. } => Some(request),
            Purpose::Cache { .. } => None,
        };
        if let Some(request) = of_request {
            let Job { began_ns, last: (end, of_array), .. } = self.jobs[job];
            assert_eq!((end, of_array.total_ns()), (self.now, self.now - began_ns));
            // The cache has taken the time before.
            let RequestState { arrival_ns, parts, .. } = &mut self.requests[request];
            parts.cache_ns += began_ns - *arrival_ns - parts.total_ns();
            add(parts, of_array);
        }
        match self.jobs[job].purpose {
            Purpose::Host { request } => self.array_is_done_with(request),
            Purpose::Cache { order, awaited } => self.schedule_ordered(self.now, CACHE_RANK, order, Event::Cache { awaited }),
        }
    }

    /// The nanosecond at which the last request of the run was done has passed.
    fn run_is_over(&self) -> bool {
        self.requests_done == self.case.requests.len() && self.requests.iter().all(|request| request.done_ns < self.now)
    }
}

fn add(to: &mut OperationTimeParts, others: OperationTimeParts) {
    let OperationTimeParts { collection_ns, queue_ns, parity_ns, cache_ns, transfer_ns, flash_ns, other_ns } = others;
    to.collection_ns += collection_ns;
    to.queue_ns += queue_ns;
    to.parity_ns += parity_ns;
    to.cache_ns += cache_ns;
    to.transfer_ns += transfer_ns;
    to.flash_ns += flash_ns;
    to.other_ns += other_ns;
}

// Events and their order.
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
        self.passes_until(time);
        match event {
            Event::Travelled { member, lane } => self.travelled(member, lane),
            Event::Front { member, what } => self.front_event(member, what),
            Event::Drive { member, what } => self.drive_does(member, |drive| drive.happens(what)),
            Event::Answered { operation } => self.answered(operation),
            Event::Abandoned { member, operation } => self.operation_done(member, operation),
            Event::Waited { member, worker } => self.goes_on_together(member, worker),
            Event::Transferred { member, worker } => self.transferred(member, worker),
            Event::Rested { member, die } => self.idle_cleans(member, die),
            Event::Port => self.port_step(),
            Event::Cache { awaited } => self.cache_event(awaited),
            Event::CacheStep => self.cache_step(),
            Event::NothingToDo { job } => self.job_done(job),
            Event::PhaseOver { number } => self.phase_over(number),
            Event::GoesOn { number } => self.planned_goes_on(number),
            Event::Failure => self.fails(),
            Event::Rebuild => self.rebuild_next(),
            Event::Asks { member, die, pool } => self.asks(member, die, pool),
            Event::MayAskSoftly { member, is_at_limit } => self.may_ask_softly(member, is_at_limit),
            Event::Arrives { member, message } => self.arrives(member, message),
            Event::CycleBegins => self.cycle_begins(),
            Event::Check => self.check(),
            Event::LooksAtLeave { member } => self.leave_is_looked_at(member),
            Event::AnswersAll => self.answers_all(),
            Event::NextInRotation => self.next_in_rotation(),
            Event::NextTurn { number } => self.next_turn(number),
            Event::TurnClosesToCollection { member } => self.turn_closes(member),
            Event::TurnEnds { member } => self.turn_is_over(member),
            Event::LooksAtWindow { member } => self.window_is_looked_at(member),
        }
        let all_are_done = self.requests_done == self.case.requests.len();
        if self.is_drive() && all_are_done && !self.end_is_told && self.earliest_event().is_none_or(|index| self.events[index].time > time)
        {
            self.drives_see_end();
        }
    }
}

// The end of a run.
impl Simulation<'_> {
    fn outcome(mut self) -> Outcome {
        let cache_counters = self.caches.is_some().then(|| self.cache_counters());
        let mut gc_intervals = Vec::new();
        let mut members = Vec::new();
        for (number, member) in self.members.iter_mut().enumerate() {
            assert!(member.work.is_empty() && member.unplaced.is_empty(), "nothing is left to happen");
            assert!(member.front.as_ref().is_none_or(Front::rests), "nothing is left before the dies");
            assert!(!member.buffered.iter().any(BufferedPage::is_there), "nothing is left in the buffer");
            gc_intervals.extend(member.drive.iter().flat_map(|drive| collections_of(number, drive)));
            assert!(member.dies.iter().all(DieState::is_at_rest), "no operation waits, and no clean is left in the middle");
            member.flash.check_invariants();
            for (&(die, _), runs) in &member.gc_runs {
                for run in runs {
                    let end = run.end.expect("every run has ended");
                    member.counters.collections += 1;
                    member.counters.forced_collections += u64::from(run.forced);
                    member.counters.gc_time_ns += end - run.start;
                    gc_intervals.push(Collection {
                        member: number as u32,
                        die: die as u32,
                        start_ns: run.start,
                        end_ns: end,
                        victims: run.victims,
                        pages_moved: run.pages_moved,
                        forced: run.forced,
                    });
                }
            }
            let drive = member.drive.as_ref().map(Drive::outcome);
            members.push(MemberOutcome {
                counters: drive.as_ref().map_or(member.counters, DriveOutcome::counters),
                front: member.drive.as_ref().map(|drive| &drive.front).or(member.front.as_ref()).map(|front| front.counters),
                drive,
                mechanisms: member.mechanisms,
                slow: member.slow,
                block_erases: member.flash.block_erases(),
                pages: member.flash.physical_pages(),
            });
        }
        gc_intervals.sort_by_key(|gc| (gc.member, gc.die, gc.start_ns, gc.end_ns, gc.victims, gc.pages_moved));
        assert!(self.stripes.as_ref().is_none_or(Stripes::are_free), "no lock is held");
        assert!(self.caches.as_ref().is_none_or(Caches::rest), "no write waits for a cache");
        assert!(self.port.as_ref().is_none_or(Port::rests), "no request waits for its turn");
        assert_eq!(self.requests_done, self.case.requests.len(), "every request is done");
        let turns = self.windows().map(|_| {
            let turns = self.members.iter().map(|member| member.protocol.turns);
            turns.fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1))
        });
        let window_counters = self.window_counters();
        let requests = self.requests.iter().map(|request| RequestOutcome {
            arrival_ns: request.arrival_ns,
            done_ns: request.done_ns,
            gc_members_met: request.members_met.len() as u32,
            pages_lost: request.pages_lost,
            parts: request.parts,
        });
        Outcome {
            requests: requests.collect(),
            members,
            gc_intervals,
            cache_counters,
            stripe_counters: self.stripes.as_ref().map(Stripes::counters),
            read_plan: self.read_plan_counters(),
            host_port_counters: self
                .port
                .as_ref()
                .map(|port| (port.waits, port.wait_ns, port.busy_ns, port.processor_waits, port.processor_wait_ns, port.processor_busy_ns)),
            messages: self.controller.as_ref().map(Controller::messages),
            uncoordinated_cleans: self.controller.as_ref().and_then(Controller::uncoordinated_cleans),
            turns,
            windows: window_counters,
            rotation: self.rotation_counters(),
        }
    }
}
