//! One member SSD: page operations in, their ends out.
//!
//! ```text
//!  submit ─▶ (link) ─▶ die queue ─▶ check: clean? ─▶ command ─▶ (link) ─▶ end
//! ```
//!
//! A die that nothing can interfere with (no shared channel or link, no controller that may force it, no preemption) serves an
//! operation the moment it arrives: with first come first served everything that happens until its end is known by then. Such a
//! member is called *immediate*. Otherwise operations wait in the die's queue and the die proceeds step by step: in `preempt`
//! if operations may go in between the steps of a clean or idle time is used, else in `die`.

mod counters;
mod die;
mod params;
mod preempt;
#[cfg(test)]
pub(crate) mod tiny;
mod warm_up;

use crate::TimeNs;
use crate::coordination::Notice;
use crate::events::Agenda;
use crate::events::GcInterval;
use crate::events::Slab;
use crate::ftl::Ftl;
pub use counters::MemberCounters;
use die::{Channel, Die, Steps};
pub use params::*;
use preempt::{Agent, StepwiseDie};
use std::collections::{BTreeMap, VecDeque};

/// One page to read or write for the layer above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageOp {
    /// Logical page of the member.
    pub page: u32,
    /// Write rather than read.
    pub write: bool,
    /// A write that must not wait for garbage collection.
    pub high_priority: bool,
    /// Whom to tell; comes back with the end.
    pub completion: u32,
}

/// The end of a page operation; may lie in the future of the moment at which it is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpEnd {
    /// The completion of the operation.
    pub completion: u32,
    /// The member.
    pub member: u32,
    /// When the page is done.
    pub at: TimeNs,
    /// The page waited while garbage collection kept its die or plane busy.
    pub met_gc: bool,
}

/// A moment at which a member goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SsdWake {
    /// The die's current step is over.
    Die(u32),
    /// A plane of the die is no longer busy.
    Released(u32),
    /// A page has crossed that lane of the link.
    Crossed(u32),
    /// A read's page wants to cross the link.
    WantsLink(u32),
    /// A transfer on that channel is over.
    Transferred(u32),
}

/// Where a member leaves what it causes; owned and reused by the array.
pub struct Effects<'a, W> {
    /// Wake-ups.
    pub agenda: &'a mut Agenda<W>,
    /// Ends of page operations.
    pub ends: &'a mut Vec<OpEnd>,
    /// Cleans, each reported when it starts.
    pub cleans: &'a mut Vec<GcInterval>,
    /// Messages to the array's controller.
    pub notices: &'a mut Vec<Notice>,
    /// Turns a member's wake-up into the array's.
    pub wake: fn(u32, SsdWake) -> W,
    /// All that the agenda holds for this nanosecond has happened, as when a closed loop answers.
    pub moment_is_over: bool,
}

/// A page operation on its way through the member.
#[derive(Debug, Clone, Copy)]
struct Pending {
    op: PageOp,
    lpn: u32,
    die: u32,
    /// Arrival at the die's queue.
    queued_at: TimeNs,
    met_gc: bool,
    /// When it was first refused for want of room.
    refused_at: TimeNs,
    /// The operations before and behind it in its queue.
    previous: u32,
    next: u32,
    /// How many had entered the queue before it; counted only where a clean goes step by step.
    arrival: u64,
}

impl Pending {
    /// It does not go in because no pool has room for it (rule 34).
    fn refuse(&mut self, at: TimeNs) {
        self.refused_at = at.min(self.refused_at);
    }
}

const NONE: u32 = u32::MAX;

/// What can be brought near before an operation comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    /// The map entry of its page.
    Map,
    /// The block that the map entry leads to, given that the first hint has had time.
    Block,
}

/// One member SSD.
#[derive(Debug, Clone)]
pub struct Ssd {
    member: u32,
    params: SsdParams,
    steps: Steps,
    ftl: Ftl,
    dies: Vec<Die>,
    channels: Vec<Channel>,
    /// Operations whose pages want to cross the link, in order of asking; the first one does. Lane 0 goes to the member, lane 1 to
    /// the host; a half-duplex link has only lane 0.
    lanes: [VecDeque<u32>; 2],
    pending: Slab<Pending>,
    /// Under dynamic allocation: operations that no die accepts yet, in order.
    unplaced: VecDeque<u32>,
    /// Under dynamic allocation: the die at which writes of an lpn wait, and how many.
    waiting_writes: BTreeMap<u32, (u32, u32)>,
    next_die: u32,
    immediate: bool,
    /// Pages go to dies one by one and the dies are a power of two: its logarithm.
    die_shift: Option<u32>,
    /// Ends of commands need an event of their own, see rule 25.
    sequenced: bool,
    /// Used instead of `dies` if cleans are interruptible or may be forced.
    stepwise: Vec<StepwiseDie>,
    /// Speaks with the array's controller, if the member knows the protocol.
    agent: Option<Agent>,
    /// T_hard, in free blocks of a pool (rule 33).
    hard_free_blocks: f64,
    counters: MemberCounters,
}

impl Ssd {
    /// A filled SSD. `stepwise` members proceed as interruptible ones do even where nothing inside them asks for it, so that the
    /// array's controller may force them to collect; they need what preemption needs.
    pub fn new(params: &SsdParams, seed: u64, member: u32, stepwise: bool) -> Self {
        let g = params.geometry;
        let interruptible = stepwise || params.interruptible();
        let channels = params.channel.map_or(0, |c| g.dies.div_ceil(c.dies_per_channel));
        Self {
            member,
            steps: Steps::new(params),
            ftl: Ftl::filled(&params.ftl(), seed, member),
            dies: vec![Die::new(g.planes); g.dies as usize],
            channels: vec![Channel::default(); channels as usize],
            lanes: Default::default(),
            die_shift: (params.die_stride_pages == 1 && g.dies.is_power_of_two()).then(|| g.dies.trailing_zeros()),
            sequenced: params.link.is_some() || params.channel.is_some() || params.allocation == Allocation::Dynamic,
            pending: Slab::default(),
            unplaced: VecDeque::new(),
            waiting_writes: BTreeMap::new(),
            next_die: 0,
            immediate: !interruptible && params.channel.is_none() && params.link.is_none() && params.allocation == Allocation::Static,
            agent: None,
            stepwise: if interruptible { vec![StepwiseDie::new(params.gc.idle_ns); g.dies as usize] } else { Vec::new() },
            hard_free_blocks: params.gc.preemption.map_or(0.0, |p| p.t_hard * f64::from(params.gc.start_free_blocks)),
            counters: MemberCounters::default(),
            params: params.clone(),
        }
    }

    /// Dies of the member.
    pub fn dies(&self) -> u32 {
        self.params.geometry.dies
    }

    /// Counts since the end of the warm-up.
    pub fn counters(&self) -> &MemberCounters {
        &self.counters
    }

    /// Start of the oldest clean whose end is not known yet, or of one that is not known at all.
    pub fn oldest_open_clean(&self) -> Option<TimeNs> {
        let stepwise = self.stepwise.iter().map(StepwiseDie::cleans_known_until);
        self.dies.iter().filter_map(Die::open_clean).chain(stepwise).min()
    }

    /// The translation layer, for figures and checks.
    pub fn ftl(&self) -> &Ftl {
        &self.ftl
    }

    /// The translation layer, for loading a warm state.
    pub fn ftl_mut(&mut self) -> &mut Ftl {
        &mut self.ftl
    }

    /// Die and lpn of logical page `page` (rule 7).
    #[inline]
    pub(crate) fn home(&self, page: u32) -> (u32, u32) {
        // Every page comes here three times (twice to hint), and divisions would be a tenth of its cost.
        if let Some(shift) = self.die_shift {
            let die = page & ((1 << shift) - 1);
            return (die, self.ftl.lpn(die, page >> shift));
        }
        let (dies, stride) = (self.params.geometry.dies, self.params.die_stride_pages);
        let die = page / stride % dies;
        let page_of_die = page / (stride * dies) * stride + page % stride;
        (die, self.ftl.lpn(die, page_of_die))
    }

    /// Every operation is served when it comes, see above.
    pub fn is_immediate(&self) -> bool {
        self.immediate
    }

    /// Brings near what serving logical page `page` will read.
    #[inline]
    pub fn prefetch(&self, hint: Hint, page: u32) {
        let (die, lpn) = self.home(page);
        self.prefetch_lpn(hint, lpn);
        if hint == Hint::Block && self.immediate && self.ftl.needs_clean(die) {
            self.ftl.prefetch_clean(die);
        }
    }

    /// As [`Ssd::prefetch`], but for the clean before it.
    #[inline]
    pub(crate) fn prefetch_lpn(&self, hint: Hint, lpn: u32) {
        match hint {
            Hint::Map => self.ftl.prefetch_map(lpn),
            Hint::Block => self.ftl.prefetch_block(lpn),
        }
    }

    /// Takes a page operation.
    #[inline]
    pub fn submit<W>(&mut self, now: TimeNs, op: PageOp, fx: &mut Effects<W>) {
        if self.immediate {
            let (die, lpn) = self.home(op.page);
            let (at, met_gc) = self.serve_now(now, die, lpn, op.write, fx.cleans);
            fx.ends.push(OpEnd { completion: op.completion, member: self.member, at, met_gc });
            return;
        }
        let (die, lpn) = self.home(op.page);
        let id = self.pending.insert(Pending {
            op,
            lpn,
            die,
            queued_at: now,
            met_gc: false,
            refused_at: TimeNs::MAX,
            previous: NONE,
            next: NONE,
            arrival: 0,
        });
        if op.write && self.params.link.is_some() {
            self.enter_lane(now, 0, id, fx);
        } else {
            self.arrive(now, if fx.moment_is_over { TimeNs::MAX } else { 0 }, id, fx);
        }
    }

    /// Goes on at a wake-up.
    pub fn wake<W>(&mut self, now: TimeNs, wake: SsdWake, fx: &mut Effects<W>) {
        match wake {
            SsdWake::Die(die) if self.stepwise.is_empty() => self.proceed(now, die, fx),
            SsdWake::Die(die) => self.wake_stepwise(now, die, fx),
            SsdWake::Released(die) => self.released(now, die, fx),
            SsdWake::Crossed(lane) => self.crossed(now, lane, fx),
            SsdWake::WantsLink(id) => self.enter_lane(now, self.lane_to_host(), id, fx),
            SsdWake::Transferred(channel) => self.transferred(now, channel, fx),
        }
    }

    /// First come first served: the end of a transfer that is asked for now.
    fn cross(free_at: &mut TimeNs, now: TimeNs, duration_ns: u64) -> TimeNs {
        *free_at = now.max(*free_at) + duration_ns;
        *free_at
    }

    fn lane_to_host(&self) -> u32 {
        u32::from(self.params.link.is_some_and(|link| link.full_duplex))
    }

    fn enter_lane<W>(&mut self, now: TimeNs, lane: u32, id: u32, fx: &mut Effects<W>) {
        self.lanes[lane as usize].push_back(id);
        if self.lanes[lane as usize].len() == 1 {
            self.start_crossing(now, lane, fx);
        }
    }

    fn start_crossing<W>(&mut self, now: TimeNs, lane: u32, fx: &mut Effects<W>) {
        if !self.lanes[lane as usize].is_empty() {
            let link = self.params.link.expect("only a member with a link has traffic on it");
            fx.agenda.schedule(now + link.page_ns, (fx.wake)(self.member, SsdWake::Crossed(lane)));
        }
    }

    /// A page has crossed the link: it goes on first, then the next one begins.
    fn crossed<W>(&mut self, now: TimeNs, lane: u32, fx: &mut Effects<W>) {
        let id = self.lanes[lane as usize][0];
        if self.pending[id].op.write {
            let travel_ns = self.params.link.map_or(0, |link| link.page_ns);
            self.arrive(now, now - travel_ns, id, fx);
        } else {
            let Pending { op, met_gc, .. } = self.pending.remove(id);
            fx.ends.push(OpEnd { completion: op.completion, member: self.member, at: now, met_gc });
        }
        self.lanes[lane as usize].pop_front();
        self.start_crossing(now, lane, fx);
    }

    /// An operation has reached the member; `scheduled` tells where this stands among what happens at this nanosecond.
    fn arrive<W>(&mut self, now: TimeNs, scheduled: TimeNs, id: u32, fx: &mut Effects<W>) {
        self.pending[id].queued_at = now;
        if !self.stepwise.is_empty() {
            self.enter_queue(now, scheduled, id, fx);
        } else if self.params.allocation == Allocation::Dynamic {
            self.unplaced.push_back(id);
            self.place_waiting(now, fx);
        } else {
            self.enqueue(now, id, fx);
        }
    }

    /// The die is done with the operation at `at`, which lies in the future.
    fn finish<W>(&mut self, id: u32, at: TimeNs, met_gc: bool, fx: &mut Effects<W>) {
        if self.params.link.is_some() && !self.pending[id].op.write {
            self.pending[id].met_gc = met_gc;
            fx.agenda.schedule(at, (fx.wake)(self.member, SsdWake::WantsLink(id)));
        } else {
            let pending = self.pending.remove(id);
            fx.ends.push(OpEnd { completion: pending.op.completion, member: self.member, at, met_gc });
        }
    }

    /// As [`Ssd::finish`], now.
    fn finish_now<W>(&mut self, now: TimeNs, id: u32, met_gc: bool, fx: &mut Effects<W>) {
        if self.params.link.is_some() && !self.pending[id].op.write {
            self.pending[id].met_gc = met_gc;
            self.enter_lane(now, self.lane_to_host(), id, fx);
        } else {
            self.finish(id, now, met_gc, fx);
        }
    }

    /// Dynamic allocation (rule 8): gives waiting operations to dies, in order, as far as these accept them.
    fn place_waiting<W>(&mut self, now: TimeNs, fx: &mut Effects<W>) {
        while let Some(&id) = self.unplaced.front() {
            let Pending { op, lpn, .. } = self.pending[id];
            let follows = self.waiting_writes.get(&lpn).map(|&(die, _)| die);
            let die =
                if op.write { follows.or_else(|| self.earliest_die(now)) } else { Some(follows.unwrap_or_else(|| self.ftl.die_of(lpn))) };
            let Some(die) = die else { return };
            self.unplaced.pop_front();
            if op.write {
                let entry = self.waiting_writes.entry(lpn).or_insert((die, 0));
                entry.1 += 1;
                self.dies[die as usize].waiting_writes += 1;
            }
            self.pending[id].die = die;
            self.enqueue(now, id, fx);
        }
    }

    /// The die with the earliest estimated start among those that accept another write.
    fn earliest_die(&mut self, now: TimeNs) -> Option<u32> {
        let dies = self.dies.len() as u32;
        let pages_max = self.ftl.valid_pages_max_per_die();
        let from = self.next_die;
        let chosen = (from..dies)
            .chain(0..from)
            .filter(|&e| self.ftl.valid_pages(e) + self.dies[e as usize].waiting_writes < pages_max)
            .min_by_key(|&e| self.dies[e as usize].estimated_start(now))?;
        self.next_die = if chosen + 1 == dies { 0 } else { chosen + 1 };
        Some(chosen)
    }
}
