//! One die and its scheduler, which says what comes next (rules 9 to 15, 30 to 40 and 90 to 109).
//!
//! ```text
//!   queue ─▶ next ─▶ command ──────────────┐         one command slot
//!              │                            ▼
//!              └─▶ clean ─▶ phase ─▶ point ─▶ phase ─▶ … ─▶ erase      one clean in each blocking scope
//!                            ▲        │  ▲
//!                            │        ▼  └─ command that went in
//!                         suspended, together, merged
//! ```
//!
//! A die has several *workers*: its command slot and, in every blocking scope, a clean. A worker has one *wait* at a
//! time, or a transfer over a channel. When it is over, the worker's next step begins, or this file decides what follows. Each mechanism
//! has a file of its own: [`clean`] (phases of a clean), [`points`] (who may go in), [`together`] (pipelining), [`suspend`], [`idle`],
//! [`forced`].
//!
//! A die that becomes free takes work in this order, as far as it is there (rules 91, 94, 96 and 97):
//!
//! 1. the point of a clean that has let an operation in,
//! 2. after a clean that nothing could interrupt any more, the first write of high priority,
//! 3. a clean that the array's controller forces,
//! 4. the next idle clean, if nothing has come during the last one,
//! 5. a clean that a pool needs, if a check is due,
//! 6. the first operation that waits; a check of the pools comes before it,
//! 7. rest, and after some time an idle clean.
//!
//! A member proceeds in one of two ways. *Timely*: every wait has an event of its own. *Lazily*: waits end without
//! an event while nothing needs them, and whoever comes next catches up ([`lazy`]). This is the shortcut *collapsed*, for dies that know
//! nothing of each other and have only one active worker at a time.

mod clean;
mod durations;
mod forced;
mod front;
mod held;
mod idle;
mod immediate;
mod joint_ends;
mod lazy;
mod link;
mod placement;
mod points;
mod queue;
mod suspend;
#[cfg(test)]
mod tests;
mod together;
mod turn;
mod waiting;
mod work;

use crate::events::TimeNs;
use crate::ids::{BlockId, DieId, Lpn};
use crate::request::OpKind;
use crate::ssd::collect::pools::Forced;
use crate::ssd::die::activity::Activity;
use crate::ssd::job::{Before, Cause, Clock, FrontWake, NEVER, Origin, Worker};
use crate::ssd::mechanism::AtDie;
pub use immediate::{ImmediateTurn, Served};
use joint_ends::JointEnds;
use queue::{List, Queue};
use suspend::Suspended;
use together::Together;
pub use turn::{PageDies, PageTurn};
use waiting::{NONE, Waiting};
use work::Work;

/// The place of no page.
const NO_PAGE: Lpn = Lpn(NONE);

/// Phases of the command slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SlotPhase {
    /// Nothing, and neither does the rest of the die: nothing waits and nothing is cleaned. Ends when idle collection begins.
    Resting,
    /// The slot is free.
    Free,
    /// Serves a host operation by itself.
    Command,
    /// Transfers between the register of a clean and the host.
    Merge,
    /// Serves host operations together with a step of a clean; is over when all are.
    Together,
    /// Turns from an interrupted program or erase to the reads.
    Suspending,
    /// Serves a read meanwhile.
    SuspendedRead,
    /// Turns back to the interrupted operation.
    Resuming,
}

/// The command slot of a die.
#[derive(Debug, Clone)]
struct Slot {
    phase: SlotPhase,
    work: Work,
    /// The host operation that is done when the phase is; none if its end was told in advance.
    leaving: u32,
    /// The scope of the clean that let the operation in.
    let_in_by: Option<u32>,
    /// The operation that a suspension has interrupted.
    suspended: Option<Suspended>,
}

/// The operations that may go in during a clean (PGC III.D); state 0 is no clean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// State 1 of the paper.
    AllMayGoIn,
    /// State 2 of the paper.
    WritesWait,
    /// State 3 of the paper.
    AllWait,
}

/// Phases of a clean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Polls the queue, at point 1 if a page is in the register and at point 2 if not.
    Poll,
    /// Reads a page, perhaps together with host reads.
    Read,
    /// Programs a page, perhaps together with host writes.
    Program,
    /// Erases the victim; without preemption the whole clean.
    Erase,
    /// Lets an operation go first.
    Aside,
}

/// A clean in progress.
#[derive(Debug, Clone)]
struct Clean {
    phase: Phase,
    work: Work,
    pool: u32,
    victim: BlockId,
    began: TimeNs,
    state: State,
    writes_wait_from: TimeNs,
    all_wait_from: TimeNs,
    /// The page in the register.
    register: Lpn,
    pages_moved: u32,
    free_blocks_before: u32,
    /// Known at the begin of a clean that is done as a whole.
    free_blocks_min: u32,
    cause: Cause,
    /// The pool needs this clean, whatever the cause, and the member has not been forced since.
    needed: bool,
    /// An operation has arrived since it began.
    disturbed: bool,
    /// The plane in which it reads or programs.
    plane: u32,
    /// Writes merged into the page in the register.
    merged: List,
    /// Writes whose end is that of the phase, which may be put off.
    ends_with_phase: List,
}

/// The scope that the head of the queue waits for (rule 93).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Awaited {
    Scope(u32),
    AnyScope,
}

/// One die that proceeds step by step.
#[derive(Debug, Clone)]
struct Die {
    slot: Slot,
    /// The clean of each scope.
    cleans: Vec<Option<Clean>>,
    /// The scopes are the planes.
    by_plane: bool,
    /// Ends of the last cleans, by scope.
    clean_ended: Vec<TimeNs>,
    queue: Queue,
    awaits: Option<Awaited>,
    /// A check follows when the slot becomes free (rule 97).
    check_follows: bool,
    /// Work that the array's controller has forced the die to do, and that is not done.
    forced: Option<Forced>,
    /// Operations that are done together with a step of a clean.
    together: Option<Together>,
    /// The same of a lazy die, where their ends are known.
    joint_ends: Option<JointEnds>,
    /// Time in which the die collects rather than serves.
    collecting: Clock,
    /// Work, rest, and the mechanisms that hold it.
    activity: Activity,
    /// Waits with an event that have begun so far.
    waits_begun: u32,
    /// The earliest wake-up on its way for what waits, and one for the end of the clean; see [`lazy`].
    near_wake: TimeNs,
    far_wake: TimeNs,
    /// Plain durations of what waits; kept under dynamic allocation.
    pub waiting_ns: u64,
    /// Writes that wait here; kept under dynamic allocation.
    pub waiting_writes: u32,
}

impl Die {
    pub fn new(scopes: u32, by_plane: bool, idle_ns: Option<u64>, mechanisms: Option<Box<AtDie>>) -> Self {
        let mut slot = Slot { phase: SlotPhase::Resting, work: Work::default(), leaving: NONE, let_in_by: None, suspended: None };
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
            together: None,
            joint_ends: None,
            collecting: Clock::default(),
            activity: Activity::new(mechanisms),
            waits_begun: 0,
            near_wake: NEVER,
            far_wake: NEVER,
            waiting_ns: 0,
            waiting_writes: 0,
        }
    }

    /// Before this moment every clean of the die that begins is known.
    pub fn cleans_known_until(&self) -> TimeNs {
        let open = self.cleans.iter().flatten().map(|clean| clean.began).min();
        open.unwrap_or(if self.slot.phase == SlotPhase::Resting { self.slot.work.ends } else { NEVER })
    }

    /// Returns the begin and end of the present work without a break, at the end of a run. The work of a lazy die ends unnoticed.
    pub fn works(&self, lazy: bool, end_ns: TimeNs) -> Option<(TimeNs, TimeNs)> {
        let over_unnoticed = lazy && !self.cleans_any() && self.queue.is_empty();
        let until = if over_unnoticed { self.slot.work.ends.min(end_ns) } else { end_ns };
        self.activity.works_since().map(|since| (since, until))
    }

    #[inline]
    fn slot_is_free(&self) -> bool {
        matches!(self.slot.phase, SlotPhase::Free | SlotPhase::Resting)
    }

    fn cleans_any(&self) -> bool {
        self.cleans.iter().any(Option::is_some)
    }

    /// The scopes that are busy, as bits.
    #[inline]
    fn busy_scopes(&self) -> u64 {
        self.cleans.iter().enumerate().fold(0, |busy, (scope, clean)| busy | u64::from(clean.is_some()) << scope)
    }

    /// Returns the estimated end of what occupies the die now (rule 101).
    pub fn current_work_ends(&self) -> TimeNs {
        let clean_ends = |scope: usize| self.cleans[scope].as_ref().map_or(0, |clean| clean.work.plain_end);
        match self.slot.phase {
            SlotPhase::Resting | SlotPhase::Free if !self.by_plane => clean_ends(0),
            SlotPhase::Resting | SlotPhase::Free => 0,
            SlotPhase::Together => {
                let scope = self.slot.let_in_by.expect("a clean has let operations in");
                self.together.as_ref().map_or(0, |together| together.plain_end(&self.clean(scope).work))
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
    fn work_mut(&mut self, worker: Worker) -> &mut Work {
        match (worker.companion(), worker.scope()) {
            (Some(number), _) => self.work_of_companion_mut(number),
            (None, None) => &mut self.slot.work,
            (None, Some(scope)) => &mut self.clean_mut(scope).work,
        }
    }
}

impl PageTurn<'_> {
    #[inline]
    fn die(&mut self, die: DieId) -> &mut Die {
        &mut self.own.dies[die.index()]
    }

    /// Puts an operation behind the others of its die. What ends at this nanosecond comes before it if it began before `scheduled`
    /// (rule 25).
    pub(super) fn join_queue(&mut self, now: TimeNs, scheduled: TimeNs, id: u32) {
        let Waiting { die, op, .. } = self.own.waiting[id];
        self.catch_up(now, scheduled, die);
        let state = &mut self.own.dies[die.index()];
        self.own.waiting[id].before = Before { collected_ns: state.collecting.at(now), held_ns: state.activity.held.at(now) };
        state.queue.push(id, &mut self.own.waiting);
        if self.own.dynamic {
            state.waiting_ns += self.own.durations.plain_ns(op.kind);
            state.waiting_writes += u32::from(op.kind == OpKind::Write);
        }
        for clean in state.cleans.iter_mut().flatten() {
            clean.disturbed = true;
        }
        let waits = state.awaits.is_some();
        if !waits {
            self.begin_next(now, die);
        }
        if self.still_waits(die, id) {
            self.join_step(now, scheduled, id);
        }
        if self.own.suspension.is_some() && self.still_waits(die, id) {
            self.interrupt_for(now, id);
        }
        // What takes no time happens at once.
        self.catch_up(now, 0, die);
        self.keep_awake(die);
    }

    /// Returns true if an operation that has just joined the queue is still there.
    fn still_waits(&self, die: DieId, id: u32) -> bool {
        // A lazy die may be done with it, and no other can have joined behind it.
        if self.own.lazy { self.own.dies[die.index()].queue.tail() == id } else { self.own.waiting[id].waits }
    }

    /// A wait of a worker is over: its next step begins, or what follows is decided.
    fn wait_over(&mut self, at: TimeNs, die: DieId, worker: Worker) {
        if let Some(number) = self.die(die).companion_of(worker) {
            self.companion_continues(at, die, number);
        } else if self.die(die).work_mut(worker).has_steps() {
            self.next_work_step(at, die, worker);
        } else {
            self.work_over(at, die, worker);
        }
    }

    fn work_over(&mut self, at: TimeNs, die: DieId, worker: Worker) {
        if let Some(number) = self.own.dies[die.index()].companion_of(worker) {
            return self.companion_over(at, die, number);
        }
        let Some(scope) = worker.scope() else { return self.slot_work_over(at, die) };
        match self.own.dies[die.index()].clean(scope).phase {
            Phase::Poll => self.polled(at, die, scope),
            Phase::Read => self.point(at, die, scope),
            Phase::Program => {
                self.program_over(at, die, scope);
                self.point(at, die, scope);
            }
            Phase::Erase => self.clean_over(at, die, scope),
            Phase::Aside => unreachable!("a clean that stands aside waits for no time"),
        }
    }

    fn slot_work_over(&mut self, at: TimeNs, die: DieId) {
        match self.own.dies[die.index()].slot.phase {
            SlotPhase::Resting => self.rest_over(at, die),
            SlotPhase::Command | SlotPhase::Merge => {
                self.die(die).activity.held.set(at, false);
                self.leave(at, die);
                self.slot_freed(at, die);
            }
            SlotPhase::Suspending => self.serve_while_suspended(at, die),
            SlotPhase::SuspendedRead => {
                self.leave(at, die);
                self.serve_while_suspended(at, die);
            }
            SlotPhase::Resuming => self.resume(at, die),
            SlotPhase::Free | SlotPhase::Together => unreachable!("it waits for no time of its own"),
        }
    }

    /// The operation of the slot leaves the die, if its end has not been told in advance.
    fn leave(&mut self, at: TimeNs, die: DieId) {
        let channels = !self.own.channels.is_empty();
        let state = self.die(die);
        let id = std::mem::replace(&mut state.slot.leaving, NONE);
        if channels {
            // A merged write has transferred its page, and leaves when that has been programmed.
            let merged_by = state.slot.let_in_by.filter(|_| id == NONE && state.slot.phase == SlotPhase::Merge);
            let transferred = merged_by.map_or(id, |scope| state.clean(scope).merged.tail());
            let transfer_ns = state.slot.work.transfers_ns;
            if transferred != NONE {
                self.own.waiting[transferred].time.transfer_ns = transfer_ns;
            }
        }
        if id != NONE {
            self.leaves_die(at, id);
        }
    }

    /// Takes up work with a slot that has become free. The clean that let the operation in polls again, then comes a check that is due,
    /// then the queue (rules 94 and 97).
    fn slot_freed(&mut self, at: TimeNs, die: DieId) {
        let by_plane = self.own.by_plane;
        let state = self.die(die);
        state.slot.phase = SlotPhase::Free;
        state.slot.work.ends = NEVER;
        if let Some(scope) = state.slot.let_in_by.take() {
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
            if self.begin_needed(at, die, Cause::Needed) && !by_plane {
                return;
            }
        }
        self.begin_next(at, die);
    }

    /// Begins what the die does next, if its slot is free (rule 91).
    fn begin_next(&mut self, at: TimeNs, die: DieId) {
        if !self.own.dies[die.index()].slot_is_free() {
            return;
        }
        let by_plane = self.own.by_plane;
        if self.own.dies[die.index()].forced.is_some() && self.begin_forced(at, die) && !by_plane {
            return;
        }
        let state = &self.own.dies[die.index()];
        if state.awaits.is_some() {
            return;
        }
        let head = state.queue.head();
        if head == NONE {
            return self.rest(at, die);
        }
        if !by_plane && state.cleans[0].is_some() {
            return;
        }
        if self.is_held(at, die) {
            return;
        }
        let kind = self.own.waiting[head].op.kind;
        if self.parts.params.gc.checks_before(kind) {
            if self.parts.params.gc.instantaneous {
                self.clean_instantly(at, die);
            } else if self.begin_needed(at, die, Cause::Needed) && !by_plane {
                return;
            }
        }
        self.serve_head(at, die);
    }

    /// Serves the head of the queue, or sees what it has to wait for (rules 92 and 93).
    fn serve_head(&mut self, at: TimeNs, die: DieId) {
        let state = &self.own.dies[die.index()];
        let head = state.queue.head();
        if head == NONE || !state.slot_is_free() {
            // Polls that take no time have let operations in meanwhile.
            return;
        }
        let busy = if self.own.by_plane { state.busy_scopes() } else { 0 };
        let Waiting { op, lpn, .. } = self.own.waiting[head];
        let awaited = match op.kind {
            OpKind::Write => match self.pools.place(die, lpn, busy) {
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

    /// Returns the scope that must not be busy for an operation other than a write, with plane blocking (rule 92).
    fn scope_of(&self, die: DieId, lpn: Lpn, kind: OpKind) -> Option<u32> {
        let here = self.own.by_plane && kind == OpKind::Read && self.pools.holds(die, lpn);
        here.then(|| self.pools.pool_of(lpn))
    }

    /// Serves an operation by itself; a write goes to `pool`.
    fn serve(&mut self, at: TimeNs, id: u32, let_in_by: Option<u32>, pool: u32) {
        let Waiting { op, lpn, die, .. } = self.own.waiting[id];
        self.take_waiting(at, id, let_in_by.is_some());
        let mapped = op.kind != OpKind::Read || self.pools.is_mapped(lpn);
        let sealed = op.kind == OpKind::Write && self.write(die, pool, lpn);
        let duration_ns = self.own.durations.command_ns(op.kind, mapped, sealed);
        self.count_served(op.kind, lpn);
        self.parts.counters.preemptions += u64::from(let_in_by.is_some());
        let operation = &mut self.own.waiting[id];
        operation.starts(at, false);
        self.own.durations.spend(op.kind, mapped, sealed, &mut operation.time);
        if op.kind == OpKind::Write {
            self.note_write(at, die, pool);
        }
        let (lazy, suspends) = (self.own.lazy, self.own.suspension.is_some());
        let before_program_ns = self.own.durations.before_program_ns();
        let state = &mut self.own.dies[die.index()];
        state.activity.begins(at, self.parts);
        state.slot.phase = SlotPhase::Command;
        state.slot.let_in_by = let_in_by;
        state.collecting.set(at, false);
        if let Some(scope) = let_in_by {
            state.clean_mut(scope).stand_aside();
        }
        if lazy {
            state.slot.work.wait(at, duration_ns);
            if op.kind == OpKind::Write && suspends {
                state.slot.work.interruptible(at + before_program_ns, lpn);
                state.slot.leaving = id;
            } else {
                self.finish(id, at + duration_ns);
            }
        } else {
            state.slot.leaving = id;
            let steps = self.own.durations.command_steps(op.kind, mapped, sealed);
            self.begin_work(at, die, Worker::SLOT, steps, lpn);
        }
        if op.kind != OpKind::Read {
            self.place_waiting(at);
        }
    }

    /// Takes an operation self.out of the queue at its start and accounts for its wait.
    fn take_waiting(&mut self, at: TimeNs, id: u32, goes_in: bool) {
        let die = self.own.waiting[id].die;
        let state = &mut self.own.dies[die.index()];
        let operation = &mut self.own.waiting[id];
        if self.own.by_plane {
            let awaited_ns = at.saturating_sub(operation.awaits_scope_since);
            operation.met_gc = goes_in || operation.awaits_scope_since != NEVER;
            operation.time.collection_ns = awaited_ns;
        } else {
            let ended = state.clean_ended[0];
            // Instantaneous cleans keep nothing waiting.
            let takes_time = !self.parts.params.gc.instantaneous;
            operation.met_gc = state.cleans[0].is_some() || (takes_time && ended != NEVER && ended > operation.reached_ns);
            operation.time.collection_ns = state.collecting.at(at) - operation.before.collected_ns;
        }
        if operation.awaits_scope_since == NEVER {
            operation.held_ns = state.activity.held.at(at) - operation.before.held_ns;
        }
        if operation.refused_at != NEVER {
            self.parts.counters.exhausted += 1;
            self.parts.counters.exhausted_ns += at - operation.refused_at;
        }
        if let Origin::Buffer(page) = operation.origin {
            self.own.buffered.begins(page);
            self.out.wake(at, FrontWake::Begun(page));
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

    /// Brings near what the next operations of a queue will read: what was brought near when they came has gone again where they wait long.
    #[inline]
    fn prefetch_next(&self, die: DieId) {
        let next = self.own.dies[die.index()].queue.head();
        if next == NONE {
            return;
        }
        let Waiting { lpn, next: second, .. } = self.own.waiting[next];
        self.pools.prefetch_block(lpn);
        if second != NONE {
            self.pools.prefetch_map(self.own.waiting[second].lpn);
        }
    }

    /// Programs a page for the host; says whether that sealed a block.
    fn write(&mut self, die: DieId, pool: u32, lpn: Lpn) -> bool {
        let sealed = self.pools.write(die, pool, lpn);
        self.parts.counters.summary_programs += u64::from(sealed && self.parts.params.geometry.summary_page);
        sealed
    }

    /// Counts an operation; a trim unmaps its page.
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
