//! One die with its scheduler, which chooses the next work (rules 9 to 15, 30 to 40 and 90 to 109).
//!
//! ```text
//!   queue ─▶ next ─▶ command ──────────────┐         one command slot
//!              │                            ▼
//!              └─▶ clean ─▶ phase ─▶ point ─▶ phase ─▶ … ─▶ erase      one clean in each blocking scope
//!                            ▲        │  ▲
//!                            │        ▼  └─ operation that was served
//!                         suspended, overlapping, merged
//! ```
//!
//! A die has several *workers*: its command slot and, in every blocking scope, a clean. A worker has one *wait* at a time, or a transfer
//! over a channel. When that ends, the worker's next step begins, or this file chooses the next work. Between two steps of a preemptible
//! clean lies a *preemption point*, at which operations may be served. Each mechanism has its own file:
//!
//! - [`clean`] has the phases of a clean,
//! - [`preemption_points`] decides which operations are served at a point,
//! - [`joint_step`] overlaps operations with steps of a clean (pipelining),
//! - [`suspend`], [`idle`] and [`forced`] have the others.
//!
//! A die that becomes free chooses the first of these that exists (rules 91, 94, 96 and 97):
//!
//! 1. the point of a clean at which an operation was served,
//! 2. after a clean that nothing could interrupt any more, the first write of high priority,
//! 3. a clean that the array's controller forces,
//! 4. the next idle clean, if no operation arrived during the last one,
//! 5. a clean that a pool needs, if a check is due,
//! 6. the first waiting operation, after a check of the pools,
//! 7. idle time and, when it has lasted long enough, an idle clean.
//!
//! A member works in one of two ways. *Timely*: every wait has its own event. *Lazily*: waits end without events, and the die is brought up
//! to date when its state is needed ([`lazy`]). This is the shortcut *collapsed*, for dies that do not affect each other and have only one
//! active worker at a time.

mod abandon;
mod clean;
mod context;
mod durations;
mod forced;
mod front;
mod idle;
mod immediate;
mod joint_ends;
mod joint_step;
mod lazy;
mod link;
mod mechanisms;
mod placement;
mod preemption_points;
mod queue;
mod sight;
mod suspend;
#[cfg(test)]
mod tests;
mod waiting;
mod work;

use crate::events::TimeNs;
use crate::ids::{BlockId, DieId, Lpn};
use crate::request::OpKind;
use crate::space::pools::VictimCollectionWork;
use crate::space::prefetch;
use crate::ssd::collect::pools::Forced;
use crate::ssd::die::activity::Activity;
use crate::ssd::job::{Cause, DieExecutionUnitId, FrontWake, NEVER, Origin, Stopwatch, WorkSnapshot};
use crate::ssd::mechanism::AtDie;
pub(crate) use context::{PageContext, PageDies};
pub(crate) use immediate::{ImmediateContext, Served};
use joint_ends::JointEnds;
use joint_step::JointStep;
use queue::{List, Queue};
use suspend::Suspended;
use waiting::{NONE, Waiting};
use work::Work;

/// Value that stands for no page.
const NO_PAGE: Lpn = Lpn(NONE);

/// Phases of the command slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SlotPhase {
    /// The whole die is idle: no operation waits and no clean is in progress. The phase ends when collection in idle time begins.
    Resting,
    /// The slot is free.
    Free,
    /// Serves a single host operation.
    Command,
    /// Transfers data between the register of a clean and the host.
    Merge,
    /// Serves host operations that overlap with a step of a clean. The phase ends when all of them have ended.
    JointStep,
    /// Suspends a program or erase, so that reads can be served.
    Suspending,
    /// Serves a read during a suspension.
    SuspendedRead,
    /// Resumes the suspended operation.
    Resuming,
}

/// The command slot of a die.
#[derive(Debug, Clone)]
struct Slot {
    phase: SlotPhase,
    work: Work,
    /// Host operation that ends together with the phase; [`NONE`] if its end has been reported already.
    finishing: u32,
    /// Blocking scope of the clean that let the operation be served at a preemption point.
    admitted_by: Option<u32>,
    /// Program or erase that is suspended.
    suspended: Option<Suspended>,
}

/// States of a clean, which decide which operations may be served between its steps (PGC III.D). State 0 means that there is no clean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// State 1 of the paper: all operations may be served between steps.
    AllMayGoIn,
    /// State 2 of the paper: writes must wait.
    WritesWait,
    /// State 3 of the paper: all operations must wait.
    AllWait,
}

/// Phases of a clean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Polls the queue. It is a poll at point 1 if a page is in the register, and otherwise a poll at point 2.
    Poll,
    /// Reads a page, possibly in overlap with host reads.
    Read,
    /// Programs a page, possibly in overlap with host writes.
    Program,
    /// Erases the victim. Without preemption, this phase is the whole clean.
    Erase,
    /// Pauses while an operation is served.
    Paused,
}

/// A victim that is cleaned together with that of a clean (rule 15).
#[derive(Debug, Clone, Copy)]
struct Companion {
    pool: u32,
    work: VictimCollectionWork,
}

/// A clean in progress.
#[derive(Debug, Clone)]
struct Clean {
    phase: Phase,
    work: Work,
    pool: u32,
    victim: BlockId,
    /// Victims of other planes that are cleaned at the same time.
    companions: Vec<Companion>,
    began: TimeNs,
    state: State,
    writes_wait_from: TimeNs,
    all_wait_from: TimeNs,
    /// The page in the register, which is being moved.
    register: Lpn,
    pages_moved: u32,
    free_blocks_before: u32,
    /// Number of free blocks just before the erase. For a clean in one piece, it is known from the start.
    free_blocks_min: u32,
    cause: Cause,
    /// True if the pool needs this clean and the member has not been forced since. The cause may be another one.
    needed: bool,
    /// True if it began in the member's turn to collect.
    in_turn: bool,
    /// True if an operation has arrived since the clean began.
    was_interrupted: bool,
    /// Plane in which the clean reads or programs.
    plane: u32,
    /// Host writes that were merged into the page in the register.
    merged: List,
    /// Host writes that end together with the phase, whose end may be delayed.
    ends_with_phase: List,
}

/// Blocking scope for which the first operation of the queue waits (rule 93).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Awaited {
    Scope(u32),
    AnyScope,
}

/// A die that advances step by step.
#[derive(Debug, Clone)]
struct Die {
    slot: Slot,
    /// Clean in progress of each blocking scope.
    cleans: Vec<Option<Clean>>,
    /// True if each plane is a blocking scope, false if the whole die is one.
    by_plane: bool,
    /// End of the last clean of each blocking scope.
    clean_ended: Vec<TimeNs>,
    queue: Queue,
    awaits: Option<Awaited>,
    /// True if the pools must be checked when the slot becomes free (rule 97).
    check_follows: bool,
    /// Forced work that the die has not finished.
    forced: Option<Forced>,
    /// Operations that overlap with a step of a clean.
    joint_step: Option<JointStep>,
    /// End times of overlapping operations, which lazy dies use in place of `joint_step`.
    joint_ends: Option<JointEnds>,
    /// Total time that the die spent on collection while operations could not be served.
    collecting: Stopwatch,
    /// Busy and idle time of the die, and the mechanisms that occupy it.
    activity: Activity,
    /// Number of waits with an event that have begun.
    waits_begun: u32,
    /// Times of the next scheduled wake-ups: for waiting operations, and for the end of the clean; see [`lazy`].
    near_wake: TimeNs,
    far_wake: TimeNs,
    /// Sum of the durations of waiting operations. It is kept only under dynamic allocation.
    pub(crate) waiting_ns: u64,
    /// Number of waiting writes. It is kept only under dynamic allocation.
    pub(crate) waiting_writes: u32,
}

impl Die {
    pub(crate) fn new(scopes: u32, by_plane: bool, idle_ns: Option<u64>, mechanisms: Option<Box<AtDie>>) -> Self {
        let mut slot = Slot { phase: SlotPhase::Resting, work: Work::default(), finishing: NONE, admitted_by: None, suspended: None };
        slot.work.ends = idle_ns.unwrap_or(NEVER);
        Self {
            slot,
            cleans: vec![None; scopes as usize],
            by_plane,
            clean_ended: vec![NEVER; scopes as usize],
            queue: Queue::default(),
            awaits: None,
            check_follows: false,
            forced: None,
            joint_step: None,
            joint_ends: None,
            collecting: Stopwatch::default(),
            activity: Activity::new(mechanisms),
            waits_begun: 0,
            near_wake: NEVER,
            far_wake: NEVER,
            waiting_ns: 0,
            waiting_writes: 0,
        }
    }

    /// Returns the time before which the starts of all cleans of the die are known.
    pub(crate) fn cleans_known_until(&self) -> TimeNs {
        let open = self.cleans.iter().flatten().map(|clean| clean.began).min();
        open.unwrap_or(if self.slot.phase == SlotPhase::Resting { self.slot.work.ends } else { NEVER })
    }

    /// Returns the start and end of the current busy period, at the end of a run. The work of a lazy die may have ended without an event.
    pub(crate) fn busy_period(&self, lazy: bool, end_ns: TimeNs) -> Option<(TimeNs, TimeNs)> {
        let over_unnoticed = lazy && !self.cleans_any() && self.queue.is_empty();
        let until = if over_unnoticed { self.slot.work.ends.min(end_ns) } else { end_ns };
        self.activity.busy_since().map(|since| (since, until))
    }

    #[inline]
    fn slot_is_free(&self) -> bool {
        matches!(self.slot.phase, SlotPhase::Free | SlotPhase::Resting)
    }

    fn cleans_any(&self) -> bool {
        self.cleans.iter().any(Option::is_some)
    }

    /// Returns the set of busy blocking scopes, one bit for each.
    #[inline]
    fn busy_scopes(&self) -> u64 {
        self.cleans.iter().enumerate().fold(0, |busy, (scope, clean)| busy | u64::from(clean.is_some()) << scope)
    }

    /// Returns the estimated end of the current work (rule 101).
    pub(crate) fn current_work_ends(&self) -> TimeNs {
        let clean_ends = |scope: usize| self.cleans[scope].as_ref().map_or(0, |clean| clean.work.plain_end);
        match self.slot.phase {
            SlotPhase::Resting | SlotPhase::Free if !self.by_plane => clean_ends(0),
            SlotPhase::Resting | SlotPhase::Free => 0,
            SlotPhase::JointStep => {
                let scope = self.slot.admitted_by.expect("a clean has admitted operations");
                self.joint_step.as_ref().map_or(0, |joint_step| joint_step.plain_end(&self.clean(scope).work))
            }
            _ => self.slot.work.plain_end,
        }
    }

    #[inline]
    fn clean(&self, scope: u32) -> &Clean {
        self.cleans[scope as usize].as_ref().expect("a clean is in progress")
    }

    #[inline]
    fn clean_mut(&mut self, scope: u32) -> &mut Clean {
        self.cleans[scope as usize].as_mut().expect("a clean is in progress")
    }

    #[inline]
    fn work_mut(&mut self, worker: DieExecutionUnitId) -> &mut Work {
        match (worker.companion(), worker.scope()) {
            (Some(number), _) => self.work_in_joint_step_mut(number),
            (None, None) => &mut self.slot.work,
            (None, Some(scope)) => &mut self.clean_mut(scope).work,
        }
    }
}

impl PageContext<'_> {
    #[inline]
    fn die(&mut self, die: DieId) -> &mut Die {
        &mut self.own.dies[die.index()]
    }

    /// Adds an operation to the end of its die's queue. An event of the same nanosecond comes before it if it began before `scheduled`
    /// (rule 25).
    pub(super) fn join_queue(&mut self, now: TimeNs, scheduled: TimeNs, id: u32) {
        let Waiting { die, op, .. } = self.own.waiting[id];
        self.catch_up(now, scheduled, die);
        let state = &mut self.own.dies[die.index()];
        self.own.waiting[id].before = WorkSnapshot { collected_ns: state.collecting.at(now), held_ns: state.activity.held.at(now) };
        state.queue.push(id, &mut self.own.waiting);
        if self.own.dynamic {
            state.waiting_ns += self.own.durations.plain_ns(op.kind);
            state.waiting_writes += u32::from(op.kind == OpKind::Write);
        }
        for clean in state.cleans.iter_mut().flatten() {
            clean.was_interrupted = true;
        }
        let waits = state.awaits.is_some();
        if !waits {
            self.begin_next(now, die);
        }
        if self.still_waits(die, id) {
            self.join_step(now, scheduled, id);
        }
        if self.own.suspension.is_some() && self.still_waits(die, id) {
            self.interrupt_for(now, id, None);
        }
        // What takes no time happens at once.
        self.catch_up(now, 0, die);
        self.schedule_wake_up(die);
    }

    /// Returns true if an operation that has just entered the queue is still there.
    fn still_waits(&self, die: DieId, id: u32) -> bool {
        // A lazy die may be done with it, and no other can have joined behind it.
        if self.own.lazy { self.own.dies[die.index()].queue.tail() == id } else { self.own.waiting[id].waits }
    }

    /// Ends a wait of a worker. Its next step begins, or the die chooses its next work.
    fn wait_over(&mut self, at: TimeNs, die: DieId, worker: DieExecutionUnitId) {
        if let Some(number) = self.die(die).companion_of(worker) {
            self.companion_continues(at, die, number);
        } else if self.die(die).work_mut(worker).has_steps() {
            self.next_work_step(at, die, worker);
        } else {
            self.work_over(at, die, worker);
        }
    }

    fn work_over(&mut self, at: TimeNs, die: DieId, worker: DieExecutionUnitId) {
        if let Some(number) = self.own.dies[die.index()].companion_of(worker) {
            return self.companion_ended(at, die, number);
        }
        let Some(scope) = worker.scope() else { return self.slot_work_over(at, die) };
        match self.own.dies[die.index()].clean(scope).phase {
            Phase::Poll => self.polled(at, die, scope),
            Phase::Read => self.point(at, die, scope),
            Phase::Program => {
                self.program_ended(at, die, scope);
                self.point(at, die, scope);
            }
            Phase::Erase => self.clean_ended(at, die, scope),
            Phase::Paused => unreachable!("a clean that stands aside waits for no time"),
        }
    }

    fn slot_work_over(&mut self, at: TimeNs, die: DieId) {
        match self.own.dies[die.index()].slot.phase {
            SlotPhase::Resting => self.idle_wait_ended(at, die),
            SlotPhase::Command | SlotPhase::Merge => {
                self.die(die).activity.held.set(at, false);
                self.end_slot_operation(at, die);
                self.slot_freed(at, die);
            }
            SlotPhase::Suspending => self.serve_while_suspended(at, die),
            SlotPhase::SuspendedRead => {
                self.end_slot_operation(at, die);
                self.serve_while_suspended(at, die);
            }
            SlotPhase::Resuming => self.resume(at, die),
            SlotPhase::Free | SlotPhase::JointStep => unreachable!("it waits for no time of its own"),
        }
    }

    /// Ends the slot's operation, unless its end has been reported already.
    fn end_slot_operation(&mut self, at: TimeNs, die: DieId) {
        let channels = !self.own.channels.is_empty();
        let state = self.die(die);
        let id = std::mem::replace(&mut state.slot.finishing, NONE);
        if channels {
            // A merged write has transferred its page, and leaves when that has been programmed.
            let merged_by = state.slot.admitted_by.filter(|_| id == NONE && state.slot.phase == SlotPhase::Merge);
            let transferred = merged_by.map_or(id, |scope| state.clean(scope).merged.tail());
            let transfer_ns = state.slot.work.transfers_ns;
            if transferred != NONE {
                self.own.waiting[transferred].time.transfer_ns = transfer_ns;
            }
        }
        if id != NONE {
            self.die_finished(at, id);
        }
    }

    /// Chooses the next work for a slot that has become free. If the last operation was served at a preemption point of a clean, that clean
    /// polls again first. Then come a check of the pools that is due, and the queue (rules 94 and 97).
    fn slot_freed(&mut self, at: TimeNs, die: DieId) {
        let by_plane = self.own.by_plane;
        let state = self.die(die);
        state.slot.phase = SlotPhase::Free;
        state.slot.work.ends = NEVER;
        if let Some(scope) = state.slot.admitted_by.take() {
            state.collecting.set(at, true);
            self.point(at, die, scope);
            // A poll that takes no time may have let in the next operation: what is due stays due.
            if !by_plane || !self.own.dies[die.index()].slot_is_free() {
                return;
            }
        }
        if std::mem::take(&mut self.die(die).check_follows) {
            if self.begin_forced(at, die) && !by_plane {
                return;
            }
            if self.begin_needed(at, die, Cause::FreeBlocksNeeded) && !by_plane {
                return;
            }
        }
        self.begin_next(at, die);
    }

    /// Begins the next work of the die, if its slot is free (rule 91).
    fn begin_next(&mut self, at: TimeNs, die: DieId) {
        if !self.own.dies[die.index()].slot_is_free() {
            return;
        }
        let by_plane = self.own.by_plane;
        if self.own.dies[die.index()].forced.is_some() && self.begin_forced(at, die) && !by_plane {
            return;
        }
        let state = &self.own.dies[die.index()];
        // A poll that takes no time may have admitted an operation to a clean that has begun.
        if state.awaits.is_some() || !state.slot_is_free() {
            return;
        }
        let head = state.queue.head();
        if head == NONE {
            return self.begin_idle_period(at, die);
        }
        if !by_plane && state.cleans[0].is_some() {
            return;
        }
        if self.is_held(at, die) {
            return;
        }
        let kind = self.own.waiting[head].op.kind;
        if self.parts.params.gc.checks_pools_before(kind) {
            if self.parts.params.gc.collection_takes_no_time {
                self.clean_instantly(at, die);
            } else if self.begin_needed(at, die, Cause::FreeBlocksNeeded) && !by_plane {
                return;
            }
        }
        self.serve_head(at, die);
    }

    /// Serves the first operation of the queue. If it cannot be served, determines the blocking scope that it has to wait for (rules 92 and
    /// 93).
    fn serve_head(&mut self, at: TimeNs, die: DieId) {
        let state = &self.own.dies[die.index()];
        let head = state.queue.head();
        if head == NONE || !state.slot_is_free() {
            // Polls that take no time have admitted operations meanwhile.
            return;
        }
        let busy = if self.own.by_plane { state.busy_scopes() } else { 0 };
        let Waiting { op, lpn, .. } = self.own.waiting[head];
        let awaited = match op.kind {
            OpKind::Write => match self.pools.choose_pool_for_write(die, lpn, busy) {
                Some(pool) => return self.serve(at, head, None, pool),
                None => {
                    assert!(busy != 0, "rule 16: a check leaves room in some pool");
                    Awaited::AnyScope
                }
            },
            _ => match self.scope_of(die, lpn, op.kind).filter(|&scope| busy >> scope & 1 == 1) {
                Some(scope) => Awaited::Scope(scope),
                None => return self.serve(at, head, None, 0),
            },
        };
        let held_ns = state.activity.held.at(at);
        self.die(die).awaits = Some(awaited);
        let head = &mut self.own.waiting[head];
        if head.awaits_scope_since == NEVER {
            (head.awaits_scope_since, head.held_ns) = (at, held_ns - head.before.held_ns);
        }
    }

    /// Returns the blocking scope that an operation needs, with plane blocking: the operation waits while that scope is busy. Writes need
    /// none (rule 92).
    fn scope_of(&self, die: DieId, lpn: Lpn, kind: OpKind) -> Option<u32> {
        let here = self.own.by_plane && kind == OpKind::Read && self.pools.holds(die, lpn);
        here.then(|| self.pools.pool_of(lpn))
    }

    /// Serves a single operation. A write goes to the pool `pool`.
    fn serve(&mut self, at: TimeNs, id: u32, admitted_by: Option<u32>, pool: u32) {
        let Waiting { op, lpn, die, .. } = self.own.waiting[id];
        self.take_waiting(at, id, admitted_by.is_some());
        let array_ns = if op.kind == OpKind::Read { self.array_ns(lpn) } else { None };
        let sealed = op.kind == OpKind::Write && self.write(die, pool, lpn);
        let duration_ns = self.own.durations.command_ns(op.kind, array_ns, sealed);
        self.count_served(op.kind, lpn);
        self.parts.counters.preemptions += u64::from(admitted_by.is_some());
        let operation = &mut self.own.waiting[id];
        operation.starts(at, false);
        self.own.durations.spend(op.kind, array_ns, sealed, &mut operation.time);
        if op.kind == OpKind::Write {
            self.note_write(at, die, pool);
        }
        let (lazy, suspends) = (self.own.lazy, self.own.suspension.is_some());
        let state = &mut self.own.dies[die.index()];
        state.activity.begin_work(at, self.parts);
        state.slot.phase = SlotPhase::Command;
        state.slot.admitted_by = admitted_by;
        state.collecting.set(at, false);
        if let Some(scope) = admitted_by {
            state.clean_mut(scope).let_operation_pass();
        }
        // A program that reads may suspend begins with an event of its own, also in a lazy die.
        if lazy && !(op.kind == OpKind::Write && suspends) {
            state.slot.work.wait(at, duration_ns);
            self.finish(id, at + duration_ns);
        } else {
            state.slot.finishing = id;
            let steps = self.own.durations.command_steps(op.kind, array_ns, sealed);
            self.begin_work(at, die, DieExecutionUnitId::SLOT, steps, lpn);
        }
        if op.kind != OpKind::Read {
            self.place_waiting(at);
        }
    }

    /// Returns the time that the flash array needs for a host read that begins now, or `None` if its page is unmapped.
    fn array_ns(&mut self, lpn: Lpn) -> Option<u64> {
        if !self.pools.is_mapped(lpn) {
            return None;
        }
        let array_ns = self.own.durations.array_ns;
        let die = &mut self.own.dies[self.pools.die_that_holds(lpn).index()];
        Some(
            array_ns
                + die.activity.extra_array_ns(array_ns, || {
                    let (page, erases) = self.pools.physical_page_and_block_erases(lpn);
                    (u64::from(page), erases)
                }),
        )
    }

    /// Removes an operation from the queue when it starts, and attributes its waiting time to causes.
    fn take_waiting(&mut self, at: TimeNs, id: u32, is_admitted: bool) {
        let die = self.own.waiting[id].die;
        let state = &mut self.own.dies[die.index()];
        let operation = &mut self.own.waiting[id];
        if self.own.by_plane {
            let awaited_ns = at.saturating_sub(operation.awaits_scope_since);
            operation.met_gc = is_admitted || operation.awaits_scope_since != NEVER;
            operation.time.collection_ns = awaited_ns;
        } else {
            let ended = state.clean_ended[0];
            // Instantaneous cleans keep nothing waiting.
            let takes_time = !self.parts.params.gc.collection_takes_no_time;
            operation.met_gc = state.cleans[0].is_some() || (takes_time && ended != NEVER && ended > operation.reached_ns);
            operation.time.collection_ns = state.collecting.at(at) - operation.before.collected_ns;
        }
        if operation.awaits_scope_since == NEVER {
            operation.held_ns = state.activity.held.at(at) - operation.before.held_ns;
        }
        if operation.refused_at != NEVER {
            self.parts.counters.writes_that_waited_for_room += 1;
            self.parts.counters.writes_waiting_for_room_ns += at - operation.refused_at;
        }
        if let Origin::WriteBufferEntry(page) = operation.origin {
            self.own.buffered.begin_program(page);
            self.out.wake(at, FrontWake::BufferedPageProgramBegun(page));
        }
        let (kind, lpn) = (operation.op.kind, operation.lpn);
        if state.queue.head() == id {
            state.awaits = None;
        }
        state.queue.remove(id, &mut self.own.waiting);
        if self.own.dynamic {
            let state = &mut self.own.dies[die.index()];
            state.waiting_ns -= self.own.durations.plain_ns(kind);
            state.waiting_writes -= u32::from(kind == OpKind::Write);
            self.no_longer_waits(lpn, kind);
        }
        self.prefetch_next(die);
    }

    /// Prefetches memory for the next operations of a queue. It was prefetched at their arrival, but may have left the processor's cache
    /// since.
    #[inline]
    fn prefetch_next(&self, die: DieId) {
        let next = self.own.dies[die.index()].queue.head();
        if next == NONE {
            return;
        }
        let Waiting { lpn, next: second, .. } = self.own.waiting[next];
        self.pools.prefetch_block(lpn);
        if second != NONE {
            let Waiting { lpn, next: third, .. } = self.own.waiting[second];
            self.pools.prefetch_map(lpn);
            prefetch(self.own.waiting.places(), third as usize);
        }
    }

    /// Programs a page for the host. Returns true if the page fills a block.
    fn write(&mut self, die: DieId, pool: u32, lpn: Lpn) -> bool {
        let sealed = self.pools.write(die, pool, lpn);
        self.parts.counters.block_summary_pages_programmed += u64::from(sealed && self.parts.params.geometry.has_summary_page);
        sealed
    }

    /// Counts a host operation. A trim also unmaps its page.
    fn count_served(&mut self, kind: OpKind, lpn: Lpn) {
        match kind {
            OpKind::Read => self.parts.counters.host_pages_read += 1,
            OpKind::Write => self.parts.counters.host_pages_written += 1,
            _ => {
                self.parts.counters.host_pages_trimmed += 1;
                self.pools.trim(lpn);
            }
        }
    }
}
