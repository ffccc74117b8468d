//! One member SSD: page operations in, their ends out.
//!
//! ```text
//!  submit ─▶ (link) ─▶ (placement) ─▶ die: queue ─▶ command, clean ─▶ (link) ─▶ end
//! ```
//!
//! There is one engine, `die`: commands and cleans are steps of workers, and one scheduler says what a die does next. Two shortcuts
//! compute the same sooner: `immediate`, where the end of an operation follows from its arrival, and *collapsed* (`die/lazy.rs`),
//! where nothing can interrupt what a die does.

mod agent;
mod collect;
mod counters;
mod die;
mod durations;
mod front;
mod immediate;
mod job;
mod link;
mod mechanism;
mod outbox;
mod params;
mod placement;
mod superblock;
#[cfg(test)]
pub(crate) mod tiny;
mod usage;
mod waiting;
mod warm_up;
mod worked;

use crate::events::{GcInterval, Slab, TimeNs, TimeParts};
use crate::ids::{DieId, Lpn, MemberId};
use crate::request::OpKind;
use crate::space::Space;
use crate::space::pools::Pools;
use crate::space::superblocks::Superblocks;
use agent::Agent;
pub use counters::MemberCounters;
use die::{Channel, Die, Worker};
use durations::Durations;
use front::{Front, PageBuffer};
pub use front::{FrontCounters, FrontWake};
use immediate::ImmediateDie;
pub(crate) use immediate::Served;
use job::{NEVER, Origin};
use mechanism::AtDie;
pub use mechanism::{Figure, Figures, MechanismCounters, Mechanisms};
pub use outbox::{Outbox, Programmed};
pub use params::*;
use placement::Placement;
use std::collections::VecDeque;
use superblock::Drive;
pub use superblock::{ByHandle, DriveCounters, DriveWake};
use usage::Usage;
pub use usage::UsagePoint;
use waiting::{NONE, Waiting};
use worked::Worked;

/// One page to read, write or trim for the layer above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageOp {
    /// Logical page of the member.
    pub page: u32,
    /// What is done; never a flush, which concerns no page.
    pub kind: OpKind,
    /// A write that is done only when its data survive a loss of power.
    pub fua: bool,
    /// A write that must not wait for garbage collection.
    pub high_priority: bool,
    /// The part of a mix whose request it belongs to; 0 without a mix, and for what the array does by itself.
    pub source: u8,
    /// Whom to tell; comes back with the end.
    pub completion: u32,
}

/// The end of a page operation; may lie in the future of the moment at which it is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpEnd {
    /// The completion of the operation.
    pub completion: u32,
    /// The member.
    pub member: MemberId,
    /// When the page is done.
    pub at: TimeNs,
    /// The page waited while garbage collection kept its die or plane busy.
    pub met_gc: bool,
    /// Where its time went.
    pub time: TimeParts,
}

/// A moment at which a member has to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SsdWake {
    /// A wait of a worker is over.
    Worker {
        /// The die.
        die: DieId,
        /// What waits.
        worker: Worker,
        /// Which of its waits.
        number: u32,
    },
    /// A die that proceeds lazily has to catch up.
    Die(DieId),
    /// A page has crossed that lane of the link.
    Crossed(u32),
    /// A transfer on that channel is over.
    Transferred(u32),
    /// What stands before the dies goes on.
    Front(FrontWake),
    /// A drive with superblocks goes on.
    Drive(DriveWake),
}

impl From<DriveWake> for SsdWake {
    fn from(wake: DriveWake) -> Self {
        Self::Drive(wake)
    }
}

/// What can be brought near before an operation comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    /// The map entry of its page.
    Map,
    /// The block that the map entry leads to, given that the first hint has had time.
    Block,
}

/// Which of the two shortcuts may be taken; tests switch them off to show that they change nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shortcuts {
    /// An operation is served when it comes.
    pub immediate: bool,
    /// Waits that nothing can interrupt end without events.
    pub collapsed: bool,
}

impl Default for Shortcuts {
    fn default() -> Self {
        Self { immediate: true, collapsed: true }
    }
}

/// One member SSD.
#[derive(Debug, Clone)]
pub struct Ssd {
    member: MemberId,
    params: SsdParams,
    durations: Durations,
    ftl: OfDies,
    /// The dies of an immediate member.
    immediate: Vec<ImmediateDie>,
    /// The dies of any other.
    dies: Vec<Die>,
    /// Dies proceed lazily, see `die/lazy.rs`.
    lazy: bool,
    /// A clean blocks its plane only.
    by_plane: bool,
    /// Writes choose their die when they arrive.
    dynamic: bool,
    suspension: Option<Suspension>,
    channels: Vec<Channel>,
    /// Operations whose pages want to cross the link, in order of asking; the first one does. Lane 0 goes to the member, lane 1 to
    /// the host; a half-duplex link has only lane 0.
    lanes: [VecDeque<u32>; 2],
    waiting: Slab<Waiting>,
    placement: Placement,
    /// Pages go to dies one by one and the dies are a power of two: its logarithm.
    die_shift: Option<u32>,
    /// Speaks with the array's controller, if the member knows the protocol.
    agent: Option<Agent>,
    /// T_hard, in free blocks of a pool (rule 33).
    hard_free_blocks: f64,
    /// Work of the dies, where they proceed step by step.
    worked: Worked,
    counters: MemberCounters,
    /// How it is used over time, if anybody asks.
    usage: Option<Box<Usage>>,
    /// What stands before the dies, if anything does; that of a drive with superblocks is part of it.
    front: Option<Box<Front>>,
    /// The pages of its write buffer.
    buffered: PageBuffer,
    /// A drive with superblocks, and its mapping; then nothing else here is used.
    drive: Option<Box<Drive>>,
}

impl Ssd {
    /// A filled SSD; a `controlled` one may be forced to collect by the array's controller.
    pub fn new(params: &SsdParams, seed: u64, member: MemberId, controlled: bool, shortcuts: Shortcuts) -> Self {
        let g = params.geometry;
        let by_plane = params.gc.blocking == Blocking::Plane && !params.gc.instantaneous;
        let scopes = if by_plane { g.planes } else { 1 };
        let channels = params.channel.map_or(0, |c| g.dies.div_ceil(c.dies_per_channel));
        let immediate = shortcuts.immediate && Self::may_be_immediate(params, controlled);
        let (immediate_dies, dies) = match immediate {
            _ if params.superblock.is_some() => (0, 0),
            true => (g.dies, 0),
            false => (0, g.dies),
        };
        let mut params = params.clone();
        params.timing = params.timing.with_shares(&g);
        if params.gc.instantaneous {
            // Rule 109: there is nothing to preempt, and nothing to do in idle time.
            (params.gc.preemption, params.gc.idle_ns) = (None, None);
        }
        let front = params.front.as_ref().filter(|_| params.superblock.is_none());
        let (pools, media) = match Space::filled(&params.space(), seed, member.0) {
            Space::Pools(pools) => (Some(pools), None),
            Space::Superblocks(superblocks) => (None, Some(superblocks)),
        };
        let mut dies = vec![Die::new(scopes, by_plane, params.gc.idle_ns); dies as usize];
        for (number, die) in dies.iter_mut().enumerate() {
            die.mechanisms = AtDie::new(&params.mechanisms, seed, member, DieId(number as u32));
        }
        let drive = params.superblock.as_ref().zip(media).map(|(superblock, media)| {
            let mut drive = Drive::new(&params, superblock, media, member);
            drive.set_mechanisms(&params.mechanisms, seed);
            Box::new(drive)
        });
        Self {
            member,
            durations: Durations::new(&params),
            ftl: OfDies(pools),
            drive,
            immediate: vec![ImmediateDie::new(g.planes, params.gc.blocking); immediate_dies as usize],
            dies,
            lazy: shortcuts.collapsed && Self::may_be_lazy(&params),
            by_plane,
            dynamic: params.allocation == Allocation::Dynamic,
            suspension: params.gc.preemption.and_then(|preemption| preemption.suspension),
            channels: vec![Channel::default(); channels as usize],
            lanes: Default::default(),
            waiting: Slab::default(),
            placement: Placement::default(),
            die_shift: (params.die_stride_pages == 1 && g.dies.is_power_of_two()).then(|| g.dies.trailing_zeros()),
            agent: None,
            hard_free_blocks: params.gc.preemption.map_or(0.0, |p| p.t_hard * f64::from(params.gc.start_free_blocks)),
            worked: Worked::default(),
            counters: MemberCounters::default(),
            usage: None,
            front: front.map(|front| Box::new(Front::new(front, params.link, member, 1, 1))),
            buffered: front.map_or_else(PageBuffer::default, |_| PageBuffer::new(g.dies, params.allocation == Allocation::Dynamic)),
            params,
        }
    }

    /// Nothing can come in between: first come first served, cleans in one piece, no shared channel or link, no controller.
    fn may_be_immediate(params: &SsdParams, controlled: bool) -> bool {
        let interruptible = !params.gc.instantaneous && (controlled || params.gc.preemption.is_some() || params.gc.idle_ns.is_some());
        params.superblock.is_none()
            && params.front.is_none()
            && params.mechanisms.is_empty()
            && !interruptible
            && params.channel.is_none()
            && params.link.is_none()
            && params.allocation == Allocation::Static
    }

    /// Dies know nothing of each other, and at most one worker of a die is active at a time.
    fn may_be_lazy(params: &SsdParams) -> bool {
        let by_plane = params.gc.blocking == Blocking::Plane && !params.gc.instantaneous;
        let is_plain = params.front.is_none() && params.mechanisms.is_empty() && params.channel.is_none() && params.link.is_none();
        !by_plane && is_plain && params.allocation == Allocation::Static
    }

    /// Its number in the array.
    pub fn member(&self) -> MemberId {
        self.member
    }

    /// Dies of the member.
    pub fn dies(&self) -> u32 {
        self.params.geometry.dies
    }

    /// The counts at `now`, of a drive with superblocks with the time until then of what its dies do.
    pub fn counters_at(&self, now: TimeNs) -> (MemberCounters, Option<DriveCounters>) {
        match &self.drive {
            Some(drive) => {
                let (counters, drive_counters) = drive.counters_at(now);
                (counters, Some(drive_counters))
            }
            None => (self.counters, None),
        }
    }

    /// What is still to be done at `now` for what it has been given.
    pub fn owed(&self, now: TimeNs) -> Owed {
        if let Some(drive) = &self.drive {
            return drive.owed(now);
        }
        let immediate = self.immediate.iter().map(|die| die.collects_for(now));
        let in_steps = (0..self.dies.len() as u32).map(|die| self.cleans_left(now, DieId(die)));
        let (moves_pages, collection_ns) = in_steps.fold((0, immediate.sum()), |(pages, ns), die| (pages + die.0, ns + die.1));
        let buffered_pages = self.front.as_ref().map_or(0, |front| u64::from(front.buffer.used()));
        Owed { buffered_pages, moves_pages, collection_ns }
    }

    /// Counts since the end of the warm-up.
    pub fn counters(&self) -> &MemberCounters {
        self.drive.as_ref().map_or(&self.counters, |drive| &drive.counters)
    }

    /// What only a drive with superblocks counts.
    pub fn drive_counters(&self) -> Option<&DriveCounters> {
        self.drive.as_ref().map(|drive| &drive.drive_counters)
    }

    /// What stands before the dies counts, if anything does.
    pub fn front_counters(&self) -> Option<&FrontCounters> {
        let of_drive = self.drive.as_ref().map(|drive| &drive.front.counters);
        of_drive.or_else(|| self.front.as_ref().map(|front| &front.counters))
    }

    /// Returns the counters of its mechanisms.
    pub fn mechanism_counters(&self) -> MechanismCounters {
        let of_dies: MechanismCounters =
            self.dies.iter().filter_map(|die| die.mechanisms.as_ref()).map(|mechanisms| mechanisms.counters).sum();
        let of_drive = self.drive.iter().map(|drive| drive.mechanism_counters());
        std::iter::once(of_dies).chain(of_drive).sum()
    }

    /// Its mapping: what lies where.
    pub fn space(&self) -> Space<&Pools, &Superblocks> {
        match &self.drive {
            Some(drive) => Space::Superblocks(&drive.media),
            None => Space::Pools(&self.ftl),
        }
    }

    /// Its mapping, for loading or copying a warm state.
    pub fn space_mut(&mut self) -> Space<&mut Pools, &mut Superblocks> {
        match &mut self.drive {
            Some(drive) => Space::Superblocks(&mut drive.media),
            None => Space::Pools(&mut self.ftl),
        }
    }

    /// From now on it is recorded how the member is used; before anything has happened.
    pub fn record_usage(&mut self) {
        self.usage = Some(Box::new(Usage::new()));
    }

    /// What is recorded counts from `now` on, which is no earlier than any operation that has come.
    pub fn measure_usage_from(&mut self, now: TimeNs) {
        if let Some(usage) = &mut self.usage {
            usage.begin(now);
        }
    }

    /// What is recorded counts until `now`.
    pub fn measure_usage_until(&mut self, now: TimeNs) {
        if let Some(usage) = &mut self.usage {
            usage.end(now);
        }
    }

    /// Length of the intervals in which it is recorded how the member is used, in nanoseconds: a microsecond, or so often doubled that there are
    /// no more than 400; 0 if nothing is recorded.
    pub fn usage_interval_ns(&self) -> u64 {
        self.usage.as_ref().map_or(0, |usage| usage.interval_ns())
    }

    /// How the member was used from the begin of the measured time on, in the first `count` intervals of `interval_ns`, which is
    /// [`Ssd::usage_interval_ns`] or that several times doubled, in a run that ended at `end_ns`; empty if nothing is recorded.
    pub fn usage(&self, interval_ns: u64, count: usize, end_ns: TimeNs) -> Vec<UsagePoint> {
        let Some(usage) = &self.usage else { return Vec::new() };
        let immediate = self.immediate.iter().map(ImmediateDie::works);
        let in_steps = self.dies.iter().filter_map(|die| die.works(self.lazy, end_ns)).filter(|stretch| stretch.0 < stretch.1);
        let drive =
            self.drive.iter().flat_map(|drive| drive.works_since()).map(|since| (since, end_ns)).filter(|stretch| stretch.0 < stretch.1);
        usage.points(interval_ns, count, end_ns, self.dies(), immediate.chain(in_steps).chain(drive))
    }

    /// Verifies its whole state.
    ///
    /// # Errors
    /// A sentence that names the first invariant that does not hold.
    pub fn verify(&self) -> Result<(), String> {
        self.verify_front()?;
        self.space().verify()
    }

    /// Whether a flush is something to do.
    pub(crate) fn takes_flushes(&self) -> bool {
        self.drive.is_some() || self.front.is_some()
    }

    /// Whether it is a drive with superblocks: then hints mean nothing.
    #[inline]
    pub(crate) fn is_drive(&self) -> bool {
        self.drive.is_some()
    }

    /// Lets the drive act, and records how it is used.
    fn with_drive(&mut self, out: &mut Outbox, act: impl FnOnce(&mut Drive, &mut Outbox)) {
        let Some(drive) = &mut self.drive else { return };
        let told = out.ends.len();
        act(drive, out);
        if let Some(usage) = &mut self.usage {
            out.worked.iter().for_each(|&(from, to)| usage.worked(from, to));
        }
        out.worked.clear();
        self.record_operations(told, out);
    }

    /// Records the operations that have ended since the outbox held `told` ends; without a front [`Ssd::finish`] does.
    fn record_operations(&mut self, told: usize, out: &Outbox) {
        if let Some(usage) = &mut self.usage {
            out.ends[told..].iter().for_each(|end| usage.operation(end.at - end.time.total_ns(), end.at));
        }
    }

    /// Start of the oldest clean whose end is not known yet, or of one that is not known at all.
    pub fn oldest_open_clean(&self) -> Option<TimeNs> {
        if let Some(drive) = &self.drive {
            return drive.collects_since();
        }
        self.dies.iter().map(Die::cleans_known_until).min()
    }

    /// The latest end that is known of what it has taken; 0 where ends become known one after the other.
    pub(crate) fn busy_until(&self) -> TimeNs {
        self.immediate.iter().map(ImmediateDie::busy_until).max().unwrap_or(0)
    }

    /// Die and logical page number of logical page `page` (rule 7).
    #[inline]
    pub(crate) fn home(&self, page: u32) -> (DieId, Lpn) {
        // Every page comes here three times (twice to hint), and divisions would be a tenth of its cost.
        if let Some(shift) = self.die_shift {
            let die = DieId(page & ((1 << shift) - 1));
            return (die, self.ftl.lpn(die, page >> shift));
        }
        let (dies, stride) = (self.params.geometry.dies, self.params.die_stride_pages);
        let die = DieId(page / stride % dies);
        let page_of_die = page / (stride * dies) * stride + page % stride;
        (die, self.ftl.lpn(die, page_of_die))
    }

    /// Every operation is served when it comes, see `immediate`.
    pub fn is_immediate(&self) -> bool {
        !self.immediate.is_empty()
    }

    /// Brings near what serving logical page `page` will read; not for drives with superblocks.
    #[inline]
    pub fn prefetch(&self, hint: Hint, page: u32) {
        let (die, lpn) = self.home(page);
        self.prefetch_lpn(hint, lpn);
        if hint == Hint::Block && self.is_immediate() && self.ftl.needs_clean(die) {
            self.ftl.prefetch_clean(die);
        }
    }

    /// As [`Ssd::prefetch`], but for the clean before it.
    #[inline]
    pub(crate) fn prefetch_lpn(&self, hint: Hint, lpn: Lpn) {
        match hint {
            Hint::Map => self.ftl.prefetch_map(lpn),
            Hint::Block => self.ftl.prefetch_block(lpn),
        }
    }

    /// Takes a page operation. With `moment_is_over` all else that is scheduled for this nanosecond has happened, as when a closed loop
    /// answers.
    #[inline]
    pub fn submit(&mut self, now: TimeNs, op: PageOp, moment_is_over: bool, out: &mut Outbox) {
        if self.is_immediate() {
            let (die, lpn) = self.home(op.page);
            let served = self.serve_now(now, die, lpn, op.kind, &mut out.collections);
            let time = self.time_of(now, op.kind, &served);
            out.ends.push(OpEnd { completion: op.completion, member: self.member, at: served.end, met_gc: served.met_gc, time });
            return;
        }
        if self.drive.is_some() {
            return self.with_drive(out, |drive, out| drive.submit(now, op, out));
        }
        if let Some(agent) = &mut self.agent {
            agent.given(op.kind);
        }
        if let Some(front) = &mut self.front {
            return front.submit(now, op, out);
        }
        let (die, lpn) = self.home(op.page);
        let id = self.waiting.insert(Waiting::new(now, op, lpn, die));
        if op.kind == OpKind::Write && self.params.link.is_some() {
            self.join_lane(now, 0, id, out);
        } else {
            self.arrive(now, if moment_is_over { NEVER } else { 0 }, id, out);
        }
    }

    /// Goes on at a wake-up.
    pub fn wake(&mut self, now: TimeNs, wake: SsdWake, out: &mut Outbox) {
        let told = out.ends.len();
        match wake {
            SsdWake::Worker { die, worker, number } => self.wake_worker(now, die, worker, number, out),
            SsdWake::Die(die) => self.wake_lazy(now, die, out),
            SsdWake::Crossed(lane) => self.crossed(now, lane, out),
            SsdWake::Transferred(channel) => self.transferred(now, channel, out),
            SsdWake::Front(wake) if self.drive.is_none() => self.wake_front(now, wake, out),
            SsdWake::Front(wake) => self.with_drive(out, |drive, out| drive.wake_front(now, wake, out)),
            SsdWake::Drive(wake) => self.with_drive(out, |drive, out| drive.wake(now, wake, out)),
        }
        if self.front.is_some() {
            self.record_operations(told, out);
        }
    }

    /// Whether a wake-up still means something; those of waits that have been given up do not.
    pub fn expects_wake(&self, wake: SsdWake) -> bool {
        match wake {
            SsdWake::Worker { die, worker, number } => self.expects(die, worker, number),
            // Idle time is not used any more.
            SsdWake::Drive(DriveWake::Idle(_)) => false,
            _ => true,
        }
    }

    /// An operation has reached the member; `scheduled` tells where this stands among what happens at this nanosecond.
    fn arrive(&mut self, now: TimeNs, scheduled: TimeNs, id: u32, out: &mut Outbox) {
        self.waiting[id].reached_ns = now;
        if self.dynamic {
            self.arrives_for_placement(now, id, out);
        } else {
            self.join_queue(now, scheduled, id, out);
        }
    }

    /// The operation is done at `at`, which may lie in the future.
    fn finish(&mut self, id: u32, at: TimeNs, out: &mut Outbox) {
        if self.waiting[id].origin != Origin::Array {
            self.front_page_ends(id, at, out);
            self.waiting.release(id);
            return;
        }
        let waiting = &self.waiting[id];
        if let Some(usage) = &mut self.usage {
            usage.operation(waiting.submitted_ns, at);
        }
        let time = waiting.time_until(at);
        out.ends.push(OpEnd { completion: waiting.op.completion, member: self.member, at, met_gc: waiting.met_gc, time });
        self.waiting.release(id);
    }
}

/// The pools that dies work on; none in a drive with superblocks, which holds its own mapping.
#[derive(Debug, Clone)]
struct OfDies(Option<Pools>);

impl std::ops::Deref for OfDies {
    type Target = Pools;
    #[inline]
    fn deref(&self) -> &Pools {
        self.0.as_ref().expect("dies work on pools")
    }
}

impl std::ops::DerefMut for OfDies {
    #[inline]
    fn deref_mut(&mut self) -> &mut Pools {
        self.0.as_mut().expect("dies work on pools")
    }
}

/// What is still to be done for what the host has written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Owed {
    /// Pages that are in buffers and are not programmed.
    pub buffered_pages: u64,
    /// Pages that collection is to move.
    pub moves_pages: u64,
    /// Time of dies that collections which have begun still take, in nanoseconds.
    pub collection_ns: u64,
}

impl std::iter::Sum for Owed {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |sum, part| Self {
            buffered_pages: sum.buffered_pages + part.buffered_pages,
            moves_pages: sum.moves_pages + part.moves_pages,
            collection_ns: sum.collection_ns + part.collection_ns,
        })
    }
}
