//! Section 11 of the rules: the controller, its messages, and what members do when they are forced.

use std::collections::{BTreeMap, BTreeSet};

use super::turns::Windows;
use super::{leave, rotation};
use flashraid_model::coordination::{
    BlockPoolSizeAndThresholds, CoordinationParams, CoordinationPolicy, ForcedCollectionAmount, JointCollectionRequestTiming,
    MESSAGE_KINDS, MessageKind, ProactiveIdle, ProactiveSoftLimit, RequestsDuringCycle,
};
use flashraid_model::ssd::DieChoiceForWrites;

use super::superblocks::{Drive, Role};
use super::{Event, Member, OpKind, Simulation};

/// The controller and what was sent.
pub(super) struct Controller {
    pub(super) params: CoordinationParams,
    /// The member that has failed (rule 65).
    pub(super) lost: BTreeSet<usize>,
    sent: [u64; MESSAGE_KINDS],
    /// Forced members whose `GcDone` has not arrived: while there are any, a cycle is in progress.
    pub(super) forced: BTreeSet<usize>,
    /// The cycle collects until reserved and no request has come since it began.
    uses_idle_time: bool,
    held_back: bool,
    /// A request came during the cycle, which makes another one follow.
    again: bool,
    registered: BTreeSet<usize>,
    outstanding: usize,
    outstanding_none_since: u64,
    /// Members whose answer is awaited.
    asked: BTreeSet<usize>,
    /// Time of each answer and the least free blocks that it reported, by member.
    answers: Vec<Vec<(u64, u32)>>,
    /// Members that ask softly: when their first request arrived, and what they said last.
    asking: BTreeMap<usize, (u64, Need)>,
    /// Number of `ForceGc` messages, by member.
    collection_orders_received: Vec<u32>,
    /// Number of page writes that were given to each member.
    writes_given: Vec<u64>,
    /// Cleans that could not be prevented: during cycles of others, and at other times (rule 121).
    uncoordinated_cleans: (u64, u64),
    /// Members that have leave, where members need it.
    pub(super) leave: leave::OfController,
    pub(super) rotation: rotation::OfController,
}

/// Contents of a soft request (rule 119).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Need {
    pages_left: u64,
    is_at_limit: bool,
    writes_given: u64,
    collection_orders_received: u32,
}

/// State of a member that knows the protocol.
#[derive(Default)]
pub(super) struct Protocol {
    /// Time of its last `GcRequest`, and the cleans that began then because pools needed them and have not ended, by die and pool (rule
    /// 100).
    request: Option<(u64, BTreeSet<(usize, usize)>)>,
    has_participated: bool,
    /// True if it has asked softly since it was forced, and true if it has reported that it is at its limit.
    has_asked: bool,
    has_said_limit: bool,
    writes_given: u64,
    collection_orders_received: u32,
    /// Time at which a clean last began because a pool needed it.
    cleaned_by_need: Option<u64>,
    /// Work of a forced cycle, and the dies that have not finished it.
    pub forced: Option<(ForcedCollectionAmount, BTreeSet<usize>)>,
    /// `StopGc` has arrived since it was forced.
    pub is_stopped: bool,
    /// Dies that have cleaned the victims with which their work begins, and go on.
    pub past_victims: BTreeSet<usize>,
    /// Pools of dies whose cleans in progress count as such victims.
    pub on_victims: BTreeMap<usize, BTreeSet<usize>>,
    /// Pools of dies that have not had their victim (rule 123).
    pub owing: BTreeMap<usize, BTreeSet<usize>>,
    /// State of leave, where members need it.
    pub(super) leave: leave::OfMember,
    pub(super) rotation: rotation::OfMember,
    /// Time before which cleans may begin, since it is the member's turn.
    pub(super) turn_until_ns: u64,
    /// End of its turn, while it lasts.
    pub(super) turn_ends_ns: Option<u64>,
    /// Broken contracts and overruns.
    pub(super) turns: (u64, u64),
    pub(super) windows: Windows,
}

/// A message. To the controller, it carries its sender; to a member, its receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Message {
    GcDone,
    Participate,
    Answer { free_blocks_least: u32 },
    GcRequest,
    SoftRequest(Need),
    ForceGc(ForcedCollectionAmount),
    StopGc,
    Question,
    AskGc { free_blocks_least: u32 },
    CollectionWithoutPermissionEnds,
    Grant(ForcedCollectionAmount),
    Deny,
}

impl Message {
    fn kind(self) -> MessageKind {
        match self {
            Message::GcDone | Message::CollectionWithoutPermissionEnds => MessageKind::GcDone,
            Message::AskGc { .. } => MessageKind::AskGc,
            Message::Grant(_) => MessageKind::Grant,
            Message::Deny => MessageKind::Deny,
            Message::Participate => MessageKind::Participate,
            Message::Answer { .. } | Message::Question => MessageKind::GcState,
            Message::GcRequest | Message::SoftRequest(_) => MessageKind::GcRequest,
            Message::ForceGc(_) => MessageKind::ForceGc,
            Message::StopGc => MessageKind::StopGc,
        }
    }

    /// Returns the order of events at a nanosecond (rule 42). Everything that is no message has 0.
    fn rank(self) -> u8 {
        match self {
            Message::GcDone | Message::CollectionWithoutPermissionEnds => ASK_RANK + 1,
            Message::Participate => ASK_RANK + 2,
            Message::Answer { .. } => ASK_RANK + 3,
            Message::GcRequest | Message::SoftRequest(_) => ASK_RANK + 4,
            Message::AskGc { .. } => ASK_RANK + 5,
            Message::ForceGc(_) => CYCLE_BEGINS_RANK + 1,
            Message::Grant(_) => CYCLE_BEGINS_RANK + 2,
            Message::StopGc => CYCLE_BEGINS_RANK + 3,
            Message::Deny => CYCLE_BEGINS_RANK + 4,
            Message::Question => CYCLE_BEGINS_RANK + 5,
        }
    }
}

pub(super) const ASK_RANK: u8 = super::CACHE_STEP_RANK + 1;
const CYCLE_BEGINS_RANK: u8 = ASK_RANK + 6;
pub(super) const CHECK_RANK: u8 = CYCLE_BEGINS_RANK + 6;
pub(super) const TURN_CLOSES: u8 = 1;
pub(super) const TURN_ENDS: u8 = 2;
pub(super) const WINDOW_LOOK: u8 = 3;
pub(super) const TURN_BEGINS: u8 = 4;

impl Controller {
    pub(super) fn new(params: &CoordinationParams, members: usize) -> Controller {
        Controller {
            params: params.clone(),
            lost: BTreeSet::new(),
            sent: [0; MESSAGE_KINDS],
            forced: BTreeSet::new(),
            uses_idle_time: false,
            held_back: false,
            again: false,
            registered: BTreeSet::new(),
            outstanding: 0,
            outstanding_none_since: 0,
            asked: BTreeSet::new(),
            answers: vec![Vec::new(); members],
            asking: BTreeMap::new(),
            collection_orders_received: vec![0; members],
            writes_given: vec![0; members],
            uncoordinated_cleans: (0, 0),
            leave: leave::OfController::default(),
            rotation: rotation::OfController::default(),
        }
    }

    pub(super) fn messages(&self) -> [u64; MESSAGE_KINDS] {
        self.sent
    }

    pub(super) fn uncoordinated_cleans(&self) -> Option<(u64, u64)> {
        self.is_soft().then_some(self.uncoordinated_cleans)
    }

    fn is_soft(&self) -> bool {
        self.params.notify() == JointCollectionRequestTiming::AtSoftThreshold
    }

    fn is_capable(&self, member: usize) -> bool {
        self.params.coordinated_members.0 >> member & 1 == 1
    }

    fn capable(&self) -> BTreeSet<usize> {
        (0..self.answers.len()).filter(|&member| self.is_capable(member) && !self.lost.contains(&member)).collect()
    }

    /// No cycle is in progress or held back.
    fn is_free(&self) -> bool {
        self.forced.is_empty() && !self.held_back
    }

    /// Members whose last answer told of `soft_limit` free blocks or fewer.
    fn low(&self, pools: &BlockPoolSizeAndThresholds) -> BTreeSet<usize> {
        let CoordinationPolicy::ProactiveSoftLimit(ProactiveSoftLimit { soft_limit, .. }) = self.params.scheme else {
            return BTreeSet::new();
        };
        let limit = soft_limit.threshold_free_blocks_for_pool(pools.blocks_per_pool, pools.start_threshold_free_blocks);
        let is_low = |member: &usize| self.answers[*member].last().is_some_and(|&(_, free)| free <= limit);
        (0..self.answers.len()).filter(is_low).collect()
    }

    /// Returns true if a member is expected to reach `start` within an interval (rule 47).
    fn is_pressing(&self, start: u32, check_interval_ns: u64) -> bool {
        self.answers.iter().any(|answers| {
            let [.., (before, was), (now, is)] = answers[..] else { return false };
            let falls = f64::from(was) - f64::from(is);
            let left = f64::from(is) - f64::from(start);
            falls > 0.0 && left.max(0.0) * (now - before) as f64 <= falls * check_interval_ns as f64
        })
    }
}

/// Between two checks, if the scheme checks anything.
fn check_interval_ns(params: &CoordinationParams) -> Option<u64> {
    match &params.scheme {
        CoordinationPolicy::ProactiveIdle(scheme) => Some(scheme.check_interval.ns),
        CoordinationPolicy::ProactiveSoftLimit(scheme) => Some(scheme.check_interval.ns),
        _ => None,
    }
}

// The controller of the array.
impl Simulation<'_> {
    pub(super) fn start_checks(&mut self) {
        for member in 0..self.case.params.members as usize {
            self.dtwin_begins(member, true);
        }
        if self.windows().is_some() && self.controller.as_ref().is_some_and(|controller| controller.params.answers()) {
            self.schedule_with_rank(0, CHECK_RANK + TURN_BEGINS, Event::NextTurn { number: 0 });
        }
        if let Some(Controller { params, .. }) = &self.controller
            && params.answers()
            && let Some(interval_ns) = check_interval_ns(params)
        {
            self.schedule_with_rank(interval_ns, CHECK_RANK, Event::Check);
        }
    }

    /// Performs a check of the scheme (rules 46 and 47).
    pub(super) fn check(&mut self) {
        if self.run_is_over() {
            return;
        }
        let controller = self.controller.as_mut().expect("somebody checks");
        let params = controller.params.clone();
        match &params.scheme {
            CoordinationPolicy::ProactiveIdle(ProactiveIdle { idle_threshold, .. }) => {
                let idle = controller.outstanding == 0 && self.now - controller.outstanding_none_since >= idle_threshold.ns;
                if idle && controller.is_free() && !controller.registered.is_empty() {
                    let members = controller.registered.clone();
                    controller.uses_idle_time = true;
                    self.force(members, ForcedCollectionAmount::UntilFreeBlocksAfterFill);
                }
            }
            CoordinationPolicy::ProactiveSoftLimit(_) => {
                if controller.asked.is_empty() {
                    let members = controller.capable();
                    controller.asked = members.clone();
                    for member in members {
                        self.send(member, Message::Question);
                    }
                }
            }
            _ => unreachable!("the other schemes check nothing"),
        }
        self.schedule_with_rank(check_interval_ns(&params).expect("it checks"), CHECK_RANK, Event::Check);
    }

    pub(super) fn controller_sees_arrival(&mut self) {
        let Some(controller) = &mut self.controller else { return };
        controller.outstanding += 1;
        if std::mem::take(&mut controller.uses_idle_time) {
            for member in controller.forced.clone() {
                self.send(member, Message::StopGc);
            }
        }
    }

    pub(super) fn controller_sees_end(&mut self) {
        if let Some(controller) = &mut self.controller {
            controller.outstanding -= 1;
            if controller.outstanding == 0 {
                controller.outstanding_none_since = self.now;
            }
            self.cycle_may_begin();
        }
    }

    /// A page operation that writes is given to a member.
    pub(super) fn write_is_given(&mut self, member: usize) {
        self.protocol(member).writes_given += 1;
        if let Some(controller) = &mut self.controller {
            controller.writes_given[member] += 1;
            self.cycle_may_begin();
        }
    }

    /// Returns true if a soft cycle is due (rule 120).
    fn is_time(&self) -> bool {
        let controller = self.controller.as_ref().expect("there is a controller");
        let (delay_ns, at_idle) = (controller.params.delay.ns, controller.params.at_idle);
        let by_itself = |(member, (since, need)): (&usize, &(u64, Need))| {
            let waited = self.now >= since + delay_ns;
            waited || need.is_at_limit || controller.writes_given[*member] - need.writes_given > need.pages_left
        };
        let is_idle = at_idle && controller.outstanding == 0 && !self.run_is_over() && !controller.asking.is_empty();
        controller.forced.is_empty() && (is_idle || controller.asking.iter().any(by_itself))
    }

    fn cycle_may_begin(&mut self) {
        if self.is_time() {
            self.schedule_with_rank(0, CYCLE_BEGINS_RANK, Event::CycleBegins);
        }
    }

    fn controller_receives(&mut self, member: usize, message: Message) {
        let pools = self.ssd.pool_sizes();
        let now = self.now;
        let controller = self.controller.as_mut().expect("there is a controller");
        if !controller.params.answers() {
            return;
        }
        let is_lost = controller.lost.contains(&member);
        if controller.stagger().is_some() {
            if !is_lost {
                self.leave_is_told(member, message);
            }
            return;
        }
        if controller.rotate().is_some() {
            return self.rotation_is_told(member, message);
        }
        match message {
            Message::GcRequest => {
                if is_lost {
                    return;
                }
                if !controller.forced.is_empty() {
                    if controller.params.during_cycle == RequestsDuringCycle::Repeat && !controller.forced.contains(&member) {
                        controller.registered.insert(member);
                        controller.again = true;
                    }
                    return;
                }
                controller.registered.insert(member);
                if !controller.held_back {
                    controller.held_back = true;
                    let delay_ns = controller.params.delay.ns;
                    self.schedule_with_rank(delay_ns, CYCLE_BEGINS_RANK, Event::CycleBegins);
                }
            }
            Message::SoftRequest(need) => {
                if is_lost || need.collection_orders_received < controller.collection_orders_received[member] {
                    return;
                }
                controller.registered.insert(member);
                match controller.asking.get_mut(&member) {
                    Some((_, said)) => *said = need,
                    None => {
                        controller.asking.insert(member, (now, need));
                        let delay_ns = controller.params.delay.ns;
                        self.schedule_with_rank(delay_ns, CYCLE_BEGINS_RANK, Event::CycleBegins);
                    }
                }
                self.cycle_may_begin();
            }
            Message::Participate if is_lost => {}
            Message::Participate => {
                controller.registered.insert(member);
            }
            Message::GcDone => {
                controller.forced.remove(&member);
                if controller.forced.is_empty() {
                    controller.uses_idle_time = false;
                    if std::mem::take(&mut controller.again) && !std::mem::replace(&mut controller.held_back, true) {
                        let delay_ns = controller.params.delay.ns;
                        self.schedule_with_rank(delay_ns, CYCLE_BEGINS_RANK, Event::CycleBegins);
                    }
                }
                self.cycle_may_begin();
            }
            Message::Answer { free_blocks_least } => {
                if !is_lost {
                    controller.answers[member].push((now, free_blocks_least));
                }
                controller.asked.remove(&member);
                let CoordinationPolicy::ProactiveSoftLimit(ProactiveSoftLimit { shallow_depth, check_interval, .. }) =
                    controller.params.scheme
                else {
                    unreachable!("nobody else asks")
                };
                let little_waits = controller.outstanding <= shallow_depth as usize;
                let mut low = controller.low(&pools);
                let is_time = little_waits || controller.is_pressing(pools.start_threshold_free_blocks, check_interval.ns);
                if controller.asked.is_empty() && controller.is_free() && is_time && !low.is_empty() {
                    let work = controller.params.force_until;
                    low.extend(controller.asking.keys());
                    self.force(low, work);
                }
            }
            _ => unreachable!("a message to a member"),
        }
    }

    /// Begins a cycle (rule 44).
    pub(super) fn cycle_begins(&mut self) {
        let pools = self.ssd.pool_sizes();
        let is_time = self.is_time();
        let controller = self.controller.as_mut().expect("there is a controller");
        if controller.is_soft() && !is_time {
            return;
        }
        controller.held_back = false;
        let mut members = controller.registered.clone();
        match controller.params.scheme {
            CoordinationPolicy::ReactiveInclusive(_) => members = controller.capable(),
            CoordinationPolicy::ReactiveSelective(_) | CoordinationPolicy::ProactiveIdle(_) => {}
            CoordinationPolicy::ProactiveSoftLimit(_) => members.extend(controller.low(&pools)),
            CoordinationPolicy::Local(_) | CoordinationPolicy::ZeroTimeCollection(_) => unreachable!("there is no controller"),
            CoordinationPolicy::StaggeredCollection(_)
            | CoordinationPolicy::CollectionTimeWindows(_)
            | CoordinationPolicy::RotatingCollection(_) => {
                unreachable!("there are no cycles")
            }
            #[allow(unreachable_patterns, reason = "all that are listed may have rules")]
            _ => unreachable!("a scheme without a rule here"),
        }
        let work = controller.params.force_until;
        self.force(members, work);
    }

    /// Removes a failed member from the protocol (rule 65).
    pub(super) fn controller_loses(&mut self, member: usize) {
        if let Some(controller) = &mut self.controller {
            controller.lost.insert(member);
            controller.registered.remove(&member);
            controller.asking.remove(&member);
            controller.answers[member].clear();
            controller.leave.loses(member);
            controller.rotation.loses(member);
        }
    }

    /// The spare takes part from now on.
    pub(super) fn controller_gets_spare(&mut self, failed: usize, spare: usize) {
        if let Some(controller) = &mut self.controller {
            controller.params.coordinated_members.0 |= (controller.params.coordinated_members.0 >> failed & 1) << spare;
            controller.leave.spares.push((failed, spare));
            if self.is_drive() {
                self.drive_may_know_protocol(spare);
            }
            self.dtwin_begins(spare, true);
        }
    }

    pub(super) fn force(&mut self, members: BTreeSet<usize>, work: ForcedCollectionAmount) {
        let controller = self.controller.as_mut().expect("there is a controller");
        assert!(controller.is_free(), "cycles do not overlap");
        controller.forced = members.clone();
        for member in members {
            let controller = self.controller.as_mut().expect("there is a controller");
            controller.registered.remove(&member);
            controller.asking.remove(&member);
            controller.collection_orders_received[member] += 1;
            self.send(member, Message::ForceGc(work));
        }
    }

    pub(super) fn send(&mut self, member: usize, message: Message) {
        let controller = self.controller.as_mut().expect("there is a controller");
        controller.sent[message.kind() as usize] += 1;
        let latency_ns = controller.params.latency.ns(message.kind());
        self.schedule_with_rank(latency_ns, message.rank(), Event::Arrives { member, message });
    }

    pub(super) fn arrives(&mut self, member: usize, message: Message) {
        match message {
            Message::ForceGc(work) => self.is_forced(member, work),
            Message::Grant(work) => self.is_granted(member, work),
            Message::Deny => self.is_denied(member),
            Message::StopGc => {
                self.protocol(member).is_stopped = true;
                if self.is_drive() {
                    self.drive_does(member, Drive::is_stopped);
                }
            }
            Message::Question => {
                if let Some(drive) = &self.members[member].drive {
                    let free_blocks_least = drive.free_superblocks();
                    return self.send(member, Message::Answer { free_blocks_least });
                }
                let flash = &self.members[member].flash;
                let pools = (0..flash.dies.len()).flat_map(|die| (0..flash.dies[die].pools.len()).map(move |p| (die, p)));
                let free_blocks_least = pools.map(|(die, pool)| flash.free_blocks(die, pool)).min().expect("there are pools");
                self.send(member, Message::Answer { free_blocks_least });
            }
            _ => self.controller_receives(member, message),
        }
    }
}

// Members that know the protocol.
impl Simulation<'_> {
    pub(super) fn knows_protocol(&self, member: usize) -> bool {
        self.controller.as_ref().is_some_and(|controller| controller.is_capable(member))
    }

    pub(super) fn protocol(&mut self, member: usize) -> &mut Protocol {
        &mut self.members[member].protocol
    }

    /// A die begins a clean because a pool needs one (rule 43).
    pub(super) fn will_ask(&mut self, member: usize, die: usize, pool: usize) {
        if !self.knows_protocol(member) {
            return;
        }
        let now = self.now;
        let has_asked = self.protocol(member).has_asked;
        if self.needs_leave(member) {
            self.protocol(member).leave.needed.insert((die, pool));
            return self.looks_at_leave(member);
        }
        if self.takes_turns(member) {
            self.protocol(member).turns.0 += 1;
            return self.window_sees_excursion(member);
        }
        if self.rotates(member) {
            return self.rotation_sees_need(member);
        }
        let controller = self.controller.as_mut().expect("the member knows the protocol");
        if !controller.is_soft() {
            return self.schedule_with_rank(0, ASK_RANK, Event::Asks { member, die, pool });
        }
        if has_asked && !controller.lost.contains(&member) {
            let (during_cycles, others) = &mut controller.uncoordinated_cleans;
            let waits_for_others = !controller.forced.is_empty() && !controller.forced.contains(&member);
            *(if waits_for_others { during_cycles } else { others }) += 1;
        }
        self.protocol(member).cleaned_by_need = Some(now);
        self.schedule_with_rank(0, ASK_RANK, Event::MayAskSoftly { member, is_at_limit: true });
    }

    /// Returns true if a member that has asked leaves a pool alone although it is in collection (rule 119).
    pub(super) fn holds_out(&self, member: usize, die: usize, pool: usize) -> bool {
        let Member { protocol, flash, .. } = &self.members[member];
        (protocol.has_asked || self.holds_back(member)) && flash.free_blocks(die, pool) > self.ssd.gc.start_threshold_free_blocks
    }

    /// Returns true if a member collects nothing above `start` by itself.
    pub(super) fn holds_back(&self, member: usize) -> bool {
        self.needs_leave(member) || self.takes_turns(member) || self.rotates(member)
    }

    /// Free blocks up to which pools take part in what a member is told to do; `None` if all do.
    pub(super) fn limit_of_work(&self, member: usize) -> Option<u32> {
        if self.rotates(member) {
            return Some(self.limit_of_rotation());
        }
        self.needs_leave(member).then(|| self.limit_of_leave(member))
    }

    /// Sends a soft request at the end of the nanosecond, if there is a reason to (rule 119).
    pub(super) fn may_ask_softly(&mut self, member: usize, is_at_limit: bool) {
        let Protocol { has_asked, has_said_limit, ref forced, .. } = self.members[member].protocol;
        if forced.is_some() || has_said_limit || (has_asked && !is_at_limit) {
            return;
        }
        let need = self.need(member, is_at_limit);
        let protocol = self.protocol(member);
        protocol.has_asked = true;
        protocol.has_said_limit = need.is_at_limit;
        self.send(member, Message::SoftRequest(need));
    }

    fn need(&self, member: usize, is_at_limit: bool) -> Need {
        let Member { flash, dies, unplaced, protocol, .. } = &self.members[member];
        let travelling = self.writes_on_the_way(member);
        let is_static = self.ssd.writes.allocation == DieChoiceForWrites::Static;
        let of_die = |die: usize| {
            let in_queue = dies[die].queue.iter().filter(|operation| operation.kind == OpKind::Write).count();
            let on_the_way = travelling.iter().filter(|operation| is_static && flash.home_die(operation.page) == die).count();
            (in_queue + on_the_way) as i64
        };
        let without_die =
            unplaced.iter().filter(|operation| operation.kind == OpKind::Write).count() + if is_static { 0 } else { travelling.len() };
        let pools = (0..dies.len()).flat_map(|die| (0..flash.dies[die].pools.len()).map(move |pool| (die, pool)));
        let left = pools.clone().map(|(die, pool)| flash.pages_above_start(die, pool) - of_die(die)).min().expect("there are pools");
        let left = left - without_die as i64;
        let has_few = pools.clone().any(|(die, pool)| flash.free_blocks(die, pool) <= self.ssd.gc.start_threshold_free_blocks);
        Need {
            pages_left: left.max(0) as u64,
            is_at_limit: is_at_limit || protocol.cleaned_by_need == Some(self.now) || has_few || left < 0,
            writes_given: protocol.writes_given,
            collection_orders_received: protocol.collection_orders_received,
        }
    }

    /// The nanosecond is over at which a needed clean of a die began.
    pub(super) fn asks(&mut self, member: usize, die: usize, pool: usize) {
        let now = self.now;
        let protocol = self.protocol(member);
        match &mut protocol.request {
            Some((since, cleans)) if *since == now => {
                cleans.insert((die, pool));
            }
            Some(_) => {}
            None if protocol.forced.is_some() => {}
            None => {
                protocol.request = Some((now, BTreeSet::from([(die, pool)])));
                self.send(member, Message::GcRequest);
            }
        }
    }

    /// A host write that is not merged begins (rules 44 and 119).
    pub(super) fn may_register(&mut self, member: usize, die: usize, pool: usize) {
        let free = self.members[member].flash.free_blocks(die, pool);
        if self.needs_leave(member) {
            return self.write_leaves(member, free);
        }
        if self.takes_turns(member) {
            return;
        }
        if self.rotates(member) {
            return self.rotation_sees_free(member, free);
        }
        let Some(controller) = &self.controller else { return };
        let (registers, asks) = (controller.params.scheme.members_report_low_free_blocks(), controller.is_soft());
        if !self.knows_protocol(member) || free > controller.params.t_soft_free_blocks(&self.ssd.pool_sizes()) {
            return;
        }
        if registers && !self.protocol(member).has_participated {
            self.protocol(member).has_participated = true;
            self.send(member, Message::Participate);
        }
        if asks {
            let is_at_limit = free <= self.ssd.gc.start_threshold_free_blocks;
            self.schedule_with_rank(0, ASK_RANK, Event::MayAskSoftly { member, is_at_limit });
        }
    }

    /// A clean has ended.
    pub(super) fn protocol_sees_end_of_clean(&mut self, member: usize, die: usize, pool: usize) {
        if self.protocol(member).leave.needed.remove(&(die, pool)) {
            self.looks_at_leave(member);
        }
        let protocol = self.protocol(member);
        if let Some((_, cleans)) = &mut protocol.request {
            cleans.remove(&(die, pool));
            if cleans.is_empty() {
                protocol.request = None;
            }
        }
        if let Some(pools) = protocol.on_victims.get_mut(&die) {
            pools.remove(&pool);
            if pools.is_empty() {
                protocol.on_victims.remove(&die);
                if !protocol.owing.contains_key(&die) {
                    self.victims_are_over(member, die);
                }
            }
        }
    }

    /// Returns the settings by which a member follows the protocol.
    pub(super) fn role_of(&self, member: usize) -> Option<Role> {
        let params = &self.controller.as_ref()?.params;
        let needs_leave = matches!(params.scheme, CoordinationPolicy::StaggeredCollection(_) | CoordinationPolicy::RotatingCollection(_));
        let takes_turns = matches!(params.scheme, CoordinationPolicy::CollectionTimeWindows(_));
        let registers = params.scheme.members_report_low_free_blocks();
        let role = Role { registers, t_soft_free_blocks: params.t_soft_free_blocks(&self.ssd.pool_sizes()), needs_leave, takes_turns };
        self.knows_protocol(member).then_some(role)
    }

    /// A drive has reason to ask (rule 216).
    pub(super) fn drive_asks(&mut self, member: usize, pages_left: u64, is_at_limit: bool) {
        let is_soft = self.controller.as_ref().expect("it knows the protocol").is_soft();
        let Protocol { writes_given, collection_orders_received, .. } = self.members[member].protocol;
        let need = Need { pages_left, is_at_limit, writes_given, collection_orders_received };
        self.send(member, if is_soft { Message::SoftRequest(need) } else { Message::GcRequest });
    }

    /// A drive that has asked collects because it must (rule 121).
    pub(super) fn drive_collects_by_need(&mut self, member: usize) {
        if self.takes_turns(member) {
            let is_its_turn = self.now < self.protocol(member).turn_until_ns;
            self.protocol(member).turns.0 += u64::from(!is_its_turn);
            return self.window_sees_excursion(member);
        }
        if self.rotates(member) {
            return self.rotation_sees_need(member);
        }
        if self.needs_leave(member) {
            return;
        }
        let controller = self.controller.as_mut().expect("it knows the protocol");
        if controller.is_soft() && !controller.lost.contains(&member) {
            let (during_cycles, others) = &mut controller.uncoordinated_cleans;
            let waits_for_others = !controller.forced.is_empty() && !controller.forced.contains(&member);
            *(if waits_for_others { during_cycles } else { others }) += 1;
        }
    }

    pub(super) fn is_forced(&mut self, member: usize, work: ForcedCollectionAmount) {
        self.turn_of_rotation_begins(member);
        if self.is_drive() {
            self.protocol(member).collection_orders_received += 1;
            return self.drive_does(member, |drive| drive.forced_to(work));
        }
        let params = &self.controller.as_ref().expect("somebody forces").params;
        let (across_dies, t_soft_free_blocks) = (params.across_dies, params.t_soft_free_blocks(&self.ssd.pool_sizes()));
        let limit = self.limit_of_work(member);
        let flash = &self.members[member].flash;
        let (across_dies, low) = (across_dies && limit.is_none(), limit.unwrap_or(t_soft_free_blocks));
        let is_low = |die: usize| (0..flash.dies[die].pools.len()).any(|pool| flash.free_blocks(die, pool) <= low);
        let dies: BTreeSet<usize> = (0..self.members[member].dies.len()).filter(|&die| across_dies || is_low(die)).collect();
        let may = |die: usize, pool: &usize| limit.is_none_or(|limit| flash.free_blocks(die, *pool) <= limit);
        let pools: BTreeSet<(usize, usize)> = (0..self.members[member].dies.len())
            .flat_map(|die| (0..flash.dies[die].pools.len()).filter(move |pool| may(die, pool)).map(move |pool| (die, pool)))
            .collect();
        let in_progress = |die: usize| self.members[member].dies[die].cleans.keys().copied().collect::<BTreeSet<usize>>();
        let cleans: BTreeMap<usize, BTreeSet<usize>> = dies.iter().map(|&die| (die, in_progress(die))).collect();
        let owes = |die: usize, pool: usize| !cleans[&die].contains(&pool) && pools.contains(&(die, pool));
        let pools_of = |die: usize| (0..flash.dies[die].pools.len()).filter(|&pool| owes(die, pool)).collect();
        let owing: BTreeMap<usize, BTreeSet<usize>> = dies.iter().map(|&die| (die, pools_of(die))).collect();
        let protocol = self.protocol(member);
        assert!(protocol.forced.is_none(), "cycles do not overlap");
        protocol.leave.pools = pools;
        protocol.request = None;
        protocol.has_participated = false;
        protocol.has_asked = false;
        protocol.has_said_limit = false;
        protocol.cleaned_by_need = None;
        protocol.collection_orders_received += 1;
        protocol.is_stopped = false;
        if dies.is_empty() {
            return self.work_is_done(member);
        }
        let protocol = self.protocol(member);
        protocol.forced = Some((work, dies.clone()));
        protocol.past_victims.clear();
        protocol.owing.clear();
        if !matches!(work, ForcedCollectionAmount::ToWatermark | ForcedCollectionAmount::UntilFreeBlocksAfterFill) {
            protocol.on_victims = cleans.into_iter().filter(|(_, pools)| !pools.is_empty()).collect();
        }
        if matches!(work, ForcedCollectionAmount::OneVictimPerPool | ForcedCollectionAmount::OneVictimPerPoolThenWatermark) {
            protocol.owing = owing.into_iter().filter(|(_, pools)| !pools.is_empty()).collect();
        }
        for die in dies {
            self.goes_on(member, die);
        }
    }

    /// Ends the cleans of the victims that a die owed (rules 45, 118 and 123). Returns true if the die's work continues.
    pub(super) fn victims_are_over(&mut self, member: usize, die: usize) -> bool {
        let protocol = self.protocol(member);
        protocol.owing.remove(&die);
        let goes_on = matches!(
            protocol.forced,
            Some((ForcedCollectionAmount::OneVictimThenUntilStopThreshold | ForcedCollectionAmount::OneVictimPerPoolThenWatermark, _))
        );
        if goes_on {
            protocol.past_victims.insert(die);
        } else {
            self.die_is_done(member, die);
        }
        goes_on
    }

    pub(super) fn die_is_done(&mut self, member: usize, die: usize) {
        let Some((_, dies)) = &mut self.protocol(member).forced else { return };
        dies.remove(&die);
        if dies.is_empty() {
            self.protocol(member).forced = None;
            self.work_is_done(member);
        }
    }
}
