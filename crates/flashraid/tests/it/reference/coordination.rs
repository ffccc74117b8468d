//! Section 11 of the rules: the controller, its messages, and what members do when they are forced.

use std::collections::{BTreeMap, BTreeSet};

use flashraid_model::coordination::{CoordinationParams, KINDS, Kind, Pools, ProactiveIdle, ProactiveSoftLimit, SchemePolicy, Work};

use super::{Event, Simulation};

/// The controller and what was sent.
pub struct Controller {
    params: CoordinationParams,
    /// The member that has failed (rule 65).
    lost: BTreeSet<usize>,
    sent: [u64; KINDS],
    /// Forced members whose `GcDone` has not arrived: while there are any, a cycle is in progress.
    forced: BTreeSet<usize>,
    /// The cycle collects until reserved and no request has come since it began.
    uses_idle_time: bool,
    held_back: bool,
    registered: BTreeSet<usize>,
    outstanding: usize,
    outstanding_none_since: u64,
    /// Members whose answer is awaited.
    asked: BTreeSet<usize>,
    /// By member: when an answer arrived, and the least free blocks that it told of.
    answers: Vec<Vec<(u64, u32)>>,
}

/// What a member remembers of the protocol.
#[derive(Default)]
pub struct Protocol {
    /// When it sent `GcRequest`, and the cleans, by die and pool, that began then because pools needed them, and go on (rule 100).
    request: Option<(u64, BTreeSet<(usize, usize)>)>,
    has_participated: bool,
    /// In a forced cycle: what to do, and the dies that are not done.
    pub forced: Option<(Work, BTreeSet<usize>)>,
    /// `StopGc` has arrived since it was forced.
    pub is_stopped: bool,
    /// Dies that have cleaned the one victim with which their work begins, and go on.
    pub past_one_victim: BTreeSet<usize>,
    /// Pools of dies whose cleans in progress count as the one victim.
    pub on_one_victim: BTreeMap<usize, BTreeSet<usize>>,
}

/// What is sent. A message to the controller carries the member that sent it, one to a member the member it goes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Message {
    GcDone,
    Participate,
    Answer { free_blocks_least: u32 },
    GcRequest,
    ForceGc(Work),
    StopGc,
    Question,
}

impl Message {
    fn kind(self) -> Kind {
        match self {
            Message::GcDone => Kind::GcDone,
            Message::Participate => Kind::Participate,
            Message::Answer { .. } | Message::Question => Kind::GcState,
            Message::GcRequest => Kind::GcRequest,
            Message::ForceGc(_) => Kind::ForceGc,
            Message::StopGc => Kind::StopGc,
        }
    }

    /// Rule 42: what comes first at a nanosecond; 0 is all that is no message.
    fn rank(self) -> u8 {
        match self {
            Message::GcDone => ASK_RANK + 1,
            Message::Participate => ASK_RANK + 2,
            Message::Answer { .. } => ASK_RANK + 3,
            Message::GcRequest => ASK_RANK + 4,
            Message::ForceGc(_) => CYCLE_BEGINS_RANK + 1,
            Message::StopGc => CYCLE_BEGINS_RANK + 2,
            Message::Question => CYCLE_BEGINS_RANK + 3,
        }
    }
}

const ASK_RANK: u8 = super::CACHE_STEP_RANK + 1;
const CYCLE_BEGINS_RANK: u8 = ASK_RANK + 5;
const CHECK_RANK: u8 = CYCLE_BEGINS_RANK + 4;

impl Controller {
    pub fn new(params: &CoordinationParams, members: usize) -> Controller {
        Controller {
            params: params.clone(),
            lost: BTreeSet::new(),
            sent: [0; KINDS],
            forced: BTreeSet::new(),
            uses_idle_time: false,
            held_back: false,
            registered: BTreeSet::new(),
            outstanding: 0,
            outstanding_none_since: 0,
            asked: BTreeSet::new(),
            answers: vec![Vec::new(); members],
        }
    }

    pub fn messages(&self) -> [u64; KINDS] {
        self.sent
    }

    fn is_capable(&self, member: usize) -> bool {
        self.params.ggc_aware >> member & 1 == 1
    }

    fn capable(&self) -> BTreeSet<usize> {
        (0..self.answers.len()).filter(|&member| self.is_capable(member) && !self.lost.contains(&member)).collect()
    }

    /// No cycle is in progress or held back.
    fn is_free(&self) -> bool {
        self.forced.is_empty() && !self.held_back
    }

    /// Members whose last answer told of `soft_limit` free blocks or fewer.
    fn low(&self, pools: &Pools) -> BTreeSet<usize> {
        let SchemePolicy::ProactiveSoftLimit(ProactiveSoftLimit { soft_limit, .. }) = self.params.scheme else { return BTreeSet::new() };
        let limit = soft_limit.blocks_of(pools.blocks, pools.start_free_blocks);
        let is_low = |member: &usize| self.answers[*member].last().is_some_and(|&(_, free)| free <= limit);
        (0..self.answers.len()).filter(is_low).collect()
    }

    /// Whether a member is expected to reach `start` within an interval (rule 47).
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
        SchemePolicy::ProactiveIdle(scheme) => Some(scheme.check_interval.ns),
        SchemePolicy::ProactiveSoftLimit(scheme) => Some(scheme.check_interval.ns),
        _ => None,
    }
}

// The controller.
impl Simulation<'_> {
    pub fn start_checks(&mut self) {
        if let Some(Controller { params, .. }) = &self.controller
            && params.answers
            && let Some(interval_ns) = check_interval_ns(params)
        {
            self.schedule_with_rank(interval_ns, CHECK_RANK, Event::Check);
        }
    }

    /// Rules 46 and 47.
    pub fn check(&mut self) {
        if self.run_is_over() {
            return;
        }
        let controller = self.controller.as_mut().expect("somebody checks");
        let params = controller.params.clone();
        match &params.scheme {
            SchemePolicy::ProactiveIdle(ProactiveIdle { idle_threshold, .. }) => {
                let idle = controller.outstanding == 0 && self.now - controller.outstanding_none_since >= idle_threshold.ns;
                if idle && controller.is_free() && !controller.registered.is_empty() {
                    let members = controller.registered.clone();
                    controller.uses_idle_time = true;
                    self.force(members, Work::UntilReserved);
                }
            }
            SchemePolicy::ProactiveSoftLimit(_) => {
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

    pub fn controller_sees_arrival(&mut self) {
        let Some(controller) = &mut self.controller else { return };
        controller.outstanding += 1;
        if std::mem::take(&mut controller.uses_idle_time) {
            for member in controller.forced.clone() {
                self.send(member, Message::StopGc);
            }
        }
    }

    pub fn controller_sees_end(&mut self) {
        if let Some(controller) = &mut self.controller {
            controller.outstanding -= 1;
            if controller.outstanding == 0 {
                controller.outstanding_none_since = self.now;
            }
        }
    }

    fn controller_receives(&mut self, member: usize, message: Message) {
        let pools = self.ssd.pools();
        let now = self.now;
        let controller = self.controller.as_mut().expect("there is a controller");
        if !controller.params.answers {
            return;
        }
        let is_lost = controller.lost.contains(&member);
        match message {
            Message::GcRequest => {
                if is_lost || !controller.forced.is_empty() {
                    return;
                }
                controller.registered.insert(member);
                if !controller.held_back {
                    controller.held_back = true;
                    let delay_ns = controller.params.delay_ns;
                    self.schedule_with_rank(delay_ns, CYCLE_BEGINS_RANK, Event::CycleBegins);
                }
            }
            Message::Participate if is_lost => {}
            Message::Participate => {
                controller.registered.insert(member);
            }
            Message::GcDone => {
                controller.forced.remove(&member);
                if controller.forced.is_empty() {
                    controller.uses_idle_time = false;
                }
            }
            Message::Answer { free_blocks_least } => {
                if !is_lost {
                    controller.answers[member].push((now, free_blocks_least));
                }
                controller.asked.remove(&member);
                let SchemePolicy::ProactiveSoftLimit(ProactiveSoftLimit { shallow_depth, check_interval, .. }) = controller.params.scheme
                else {
                    unreachable!("nobody else asks")
                };
                let little_waits = controller.outstanding <= shallow_depth as usize;
                let low = controller.low(&pools);
                let is_time = little_waits || controller.is_pressing(pools.start_free_blocks, check_interval.ns);
                if controller.asked.is_empty() && controller.is_free() && is_time && !low.is_empty() {
                    let work = controller.params.work;
                    self.force(low, work);
                }
            }
            _ => unreachable!("a message to a member"),
        }
    }

    /// Rule 44.
    pub fn cycle_begins(&mut self) {
        let pools = self.ssd.pools();
        let controller = self.controller.as_mut().expect("there is a controller");
        controller.held_back = false;
        let mut members = controller.registered.clone();
        match controller.params.scheme {
            SchemePolicy::ReactiveInclusive(_) => members = controller.capable(),
            SchemePolicy::ReactiveSelective(_) | SchemePolicy::ProactiveIdle(_) => {}
            SchemePolicy::ProactiveSoftLimit(_) => members.extend(controller.low(&pools)),
            SchemePolicy::Local(_) | SchemePolicy::Ideal(_) => unreachable!("there is no controller"),
            #[allow(unreachable_patterns, reason = "all that are listed may have rules")]
            _ => unreachable!("a scheme without a rule here"),
        }
        let work = controller.params.work;
        self.force(members, work);
    }

    /// Rule 65.
    pub fn controller_loses(&mut self, member: usize) {
        if let Some(controller) = &mut self.controller {
            controller.lost.insert(member);
            controller.registered.remove(&member);
            controller.answers[member].clear();
        }
    }

    /// The spare takes part from now on.
    pub fn controller_gets_spare(&mut self, failed: usize, spare: usize) {
        if let Some(controller) = &mut self.controller {
            controller.params.ggc_aware |= (controller.params.ggc_aware >> failed & 1) << spare;
        }
    }

    fn force(&mut self, members: BTreeSet<usize>, work: Work) {
        let controller = self.controller.as_mut().expect("there is a controller");
        assert!(controller.is_free(), "cycles do not overlap");
        controller.forced = members.clone();
        for member in members {
            self.controller.as_mut().expect("there is a controller").registered.remove(&member);
            self.send(member, Message::ForceGc(work));
        }
    }

    fn send(&mut self, member: usize, message: Message) {
        let controller = self.controller.as_mut().expect("there is a controller");
        controller.sent[message.kind() as usize] += 1;
        let latency_ns = controller.params.latency_ns[message.kind() as usize];
        self.schedule_with_rank(latency_ns, message.rank(), Event::Arrives { member, message });
    }

    pub fn arrives(&mut self, member: usize, message: Message) {
        match message {
            Message::ForceGc(work) => self.is_forced(member, work),
            Message::StopGc => self.protocol(member).is_stopped = true,
            Message::Question => {
                let flash = &self.members[member].flash;
                let pools = (0..flash.dies.len()).flat_map(|die| (0..flash.dies[die].pools.len()).map(move |p| (die, p)));
                let free_blocks_least = pools.map(|(die, pool)| flash.free_blocks(die, pool)).min().expect("there are pools");
                self.send(member, Message::Answer { free_blocks_least });
            }
            _ => self.controller_receives(member, message),
        }
    }
}

// Members.
impl Simulation<'_> {
    fn knows_protocol(&self, member: usize) -> bool {
        self.controller.as_ref().is_some_and(|controller| controller.is_capable(member))
    }

    fn protocol(&mut self, member: usize) -> &mut Protocol {
        &mut self.members[member].protocol
    }

    /// A die begins a clean because a pool needs one (rule 43).
    pub fn will_ask(&mut self, member: usize, die: usize, pool: usize) {
        if self.knows_protocol(member) {
            self.schedule_with_rank(0, ASK_RANK, Event::Asks { member, die, pool });
        }
    }

    /// The nanosecond is over at which a needed clean of a die began.
    pub fn asks(&mut self, member: usize, die: usize, pool: usize) {
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

    /// A host write that is not merged begins (rule 44).
    pub fn may_register(&mut self, member: usize, die: usize, pool: usize) {
        let free = self.members[member].flash.free_blocks(die, pool);
        let Some(t_soft) = self.controller.as_ref().and_then(|controller| controller.params.registration()) else { return };
        if self.knows_protocol(member) && free <= t_soft && !self.protocol(member).has_participated {
            self.protocol(member).has_participated = true;
            self.send(member, Message::Participate);
        }
    }

    /// A clean has ended.
    pub fn protocol_sees_end_of_clean(&mut self, member: usize, die: usize, pool: usize) {
        let protocol = self.protocol(member);
        if let Some((_, cleans)) = &mut protocol.request {
            cleans.remove(&(die, pool));
            if cleans.is_empty() {
                protocol.request = None;
            }
        }
        if let Some(pools) = protocol.on_one_victim.get_mut(&die) {
            pools.remove(&pool);
            if pools.is_empty() {
                protocol.on_one_victim.remove(&die);
                self.one_victim_is_over(member, die);
            }
        }
    }

    fn is_forced(&mut self, member: usize, work: Work) {
        let dies: BTreeSet<usize> = (0..self.members[member].dies.len()).collect();
        let in_progress = |die: usize| self.members[member].dies[die].cleans.keys().copied().collect::<BTreeSet<usize>>();
        let cleans: Vec<(usize, BTreeSet<usize>)> = dies.iter().map(|&die| (die, in_progress(die))).collect();
        let protocol = self.protocol(member);
        assert!(protocol.forced.is_none(), "cycles do not overlap");
        protocol.request = None;
        protocol.has_participated = false;
        protocol.is_stopped = false;
        protocol.forced = Some((work, dies.clone()));
        protocol.past_one_victim.clear();
        if matches!(work, Work::OneVictim | Work::VictimAndWatermark) {
            protocol.on_one_victim = cleans.into_iter().filter(|(_, pools)| !pools.is_empty()).collect();
        }
        for die in dies {
            self.goes_on(member, die);
        }
    }

    /// Rules 45 and 118; says whether the die's work goes on.
    pub fn one_victim_is_over(&mut self, member: usize, die: usize) -> bool {
        let goes_on = matches!(self.protocol(member).forced, Some((Work::VictimAndWatermark, _)));
        if goes_on {
            self.protocol(member).past_one_victim.insert(die);
        } else {
            self.die_is_done(member, die);
        }
        goes_on
    }

    pub fn die_is_done(&mut self, member: usize, die: usize) {
        let Some((_, dies)) = &mut self.protocol(member).forced else { return };
        dies.remove(&die);
        if dies.is_empty() {
            self.protocol(member).forced = None;
            self.send(member, Message::GcDone);
        }
    }
}
