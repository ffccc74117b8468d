//! One die and its scheduler: what it does next when something joins its queue or ends (rules 9 to 15 and 30 to 40, 90 to 109).
//!
//! ```text
//!   queue ─▶ go on ─▶ command ──────────────┐         one command slot
//!              │                            ▼
//!              └─▶ clean ─▶ phase ─▶ point ─▶ phase ─▶ … ─▶ erase      one clean in each blocking scope
//!                            ▲        │  ▲
//!                            │        ▼  └─ command that went in
//!                         suspended, together, merged
//! ```
//!
//! A die has several *workers*: its command slot and, in every blocking scope, a clean. What a worker does at a time is a *wait* or
//! a transfer over a channel; when it is over, the worker's next step begins, or what follows is decided here. Each mechanism has a
//! file of its own: [`clean`] (phases of a clean), [`points`] (who may go in), [`together`] (pipelining), [`suspend`], [`idle`],
//! [`forced`].
//!
//! A member proceeds in one of two ways. *Timely*: every wait has an event of its own. *Lazily*, where dies know nothing of each other
//! and only one worker of a die is active at a time: waits end without an event while nothing needs them, and whoever comes next
//! catches up ([`lazy`]); this is the shortcut *collapsed*.

mod clean;
mod course;
mod forced;
mod held;
mod idle;
mod lazy;
mod points;
mod queue;
mod suspend;
#[cfg(test)]
mod tests;
mod together;
mod work;

use super::job::{Before, Cause, Clock, Forced, NEVER, Origin};
use super::mechanism::AtDie;
use super::{FrontWake, NONE, Outbox, Ssd, Waiting};
use crate::events::TimeNs;
use crate::ids::{BlockId, DieId, Lpn};
use crate::request::OpKind;
use course::Course;
use queue::{List, Queue};
use suspend::Suspended;
use together::Together;
use work::Work;
pub(super) use work::{Channel, Step};

/// No page.
const NO_PAGE: Lpn = Lpn(NONE);

/// What works in a die: the command slot, the clean in a scope, or an operation that is done together with a step of a clean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Worker(pub(super) u32);

impl Worker {
    /// What serves host operations.
    pub const SLOT: Self = Self(0);
    /// The first of those that are done together; there are fewer scopes than this.
    const FIRST_MATE: u32 = 1 << 8;

    /// The clean in a scope.
    pub fn clean(scope: u32) -> Self {
        Self(scope + 1)
    }

    /// One of those that are done together with a step of a clean.
    fn of_mate(number: usize) -> Self {
        Self(Self::FIRST_MATE + number as u32)
    }

    fn scope(self) -> Option<u32> {
        self.0.checked_sub(1).filter(|_| self.0 < Self::FIRST_MATE)
    }

    fn mate(self) -> Option<usize> {
        self.0.checked_sub(Self::FIRST_MATE).map(|number| number as usize)
    }
}

/// What the command slot does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SlotPhase {
    /// Nothing, and neither does the rest of the die: nothing waits and nothing is cleaned. Ends when idle collection begins.
    Resting,
    /// Nothing.
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
    /// Turns back.
    Resuming,
}

/// The command slot.
#[derive(Debug, Clone)]
struct Slot {
    phase: SlotPhase,
    work: Work,
    /// The host operation that is done when the phase is; none if its end was told in advance.
    leaving: u32,
    /// The scope of the clean that let the operation in.
    let_in_by: Option<u32>,
    /// What a suspension has interrupted.
    suspended: Option<Suspended>,
}

/// How far operations may go in during a clean (PGC III.D); state 0 is no clean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// State 1.
    AllMayGoIn,
    /// State 2.
    WritesWait,
    /// State 3.
    AllWait,
}

/// What a clean does.
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
    /// It began because its pool needs it, whatever the cause, and its member has not been forced since.
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

/// What the head of the queue waits for (rule 93).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Awaited {
    Scope(u32),
    AnyScope,
}

/// One die that proceeds step by step.
#[derive(Debug, Clone)]
pub(super) struct Die {
    slot: Slot,
    /// By scope.
    cleans: Vec<Option<Clean>>,
    /// The scopes are the planes.
    by_plane: bool,
    /// Ends of the last cleans, by scope.
    clean_ended: Vec<TimeNs>,
    queue: Queue,
    awaits: Option<Awaited>,
    /// A check follows when the slot becomes free (rule 97).
    check_follows: bool,
    /// What the array's controller has forced the die to do and is not done.
    forced: Option<Forced>,
    /// What is done together with a step of a clean.
    together: Option<Together>,
    /// The same of a lazy die, where their ends are known.
    course: Option<Course>,
    /// It collects rather than that it serves.
    collecting: Clock,
    /// State of the listed mechanisms at this die; `None` without any.
    pub mechanisms: Option<Box<AtDie>>,
    /// A mechanism holds it.
    held: Clock,
    /// Since when it has worked without a break; `NEVER` while it rests.
    works_since: TimeNs,
    /// While it rests: since when.
    rests_since: TimeNs,
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
    pub fn new(scopes: u32, by_plane: bool, idle_ns: Option<u64>) -> Self {
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
            course: None,
            collecting: Clock::default(),
            mechanisms: None,
            held: Clock::default(),
            works_since: NEVER,
            rests_since: 0,
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

    /// It has something to do from now on; returns true if it rested before.
    #[inline]
    fn begins_to_work(&mut self, at: TimeNs) -> bool {
        let rested = self.works_since == NEVER;
        self.works_since = at.min(self.works_since);
        rested
    }

    /// For how long it has worked without a break if it does so at the end of a run. What a lazy die does ends without anybody's notice.
    pub fn works(&self, lazy: bool, end_ns: TimeNs) -> Option<(TimeNs, TimeNs)> {
        let over_unnoticed = lazy && !self.cleans_any() && self.queue.is_empty();
        let until = if over_unnoticed { self.slot.work.ends.min(end_ns) } else { end_ns };
        (self.works_since != NEVER).then_some((self.works_since, until))
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

    /// When what occupies the die now ends, as rule 101 estimates it.
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
        match (worker.mate(), worker.scope()) {
            (Some(number), _) => self.work_of_mate_mut(number),
            (None, None) => &mut self.slot.work,
            (None, Some(scope)) => &mut self.clean_mut(scope).work,
        }
    }
}

impl Ssd {
    #[inline]
    fn die(&mut self, die: DieId) -> &mut Die {
        &mut self.dies[die.index()]
    }

    /// Puts an operation behind the others of its die. What ends at this nanosecond comes before it if it began before `scheduled`
    /// (rule 25).
    pub(super) fn join_queue(&mut self, now: TimeNs, scheduled: TimeNs, id: u32, out: &mut Outbox) {
        let Waiting { die, op, .. } = self.waiting[id];
        self.catch_up(now, scheduled, die, out);
        let state = &mut self.dies[die.index()];
        self.waiting[id].before = Before { collected_ns: state.collecting.at(now), held_ns: state.held.at(now) };
        state.queue.push(id, &mut self.waiting);
        if self.dynamic {
            state.waiting_ns += self.durations.plain_ns(op.kind);
            state.waiting_writes += u32::from(op.kind == OpKind::Write);
        }
        for clean in state.cleans.iter_mut().flatten() {
            clean.disturbed = true;
        }
        let waits = state.awaits.is_some();
        if !waits {
            self.go_on(now, die, out);
        }
        if self.still_waits(die, id) {
            self.join_step(now, scheduled, id, out);
        }
        if self.suspension.is_some() && self.still_waits(die, id) {
            self.interrupt_for(now, id, out);
        }
        // What takes no time happens at once.
        self.catch_up(now, 0, die, out);
        self.keep_awake(die, out);
    }

    /// Whether an operation that has just joined the queue is still there.
    fn still_waits(&self, die: DieId, id: u32) -> bool {
        // A lazy die may be done with it, and no other can have joined behind it.
        if self.lazy { self.dies[die.index()].queue.tail() == id } else { self.waiting[id].waits }
    }

    /// A wait of a worker is over: its next step begins, or what follows is decided.
    fn wait_over(&mut self, at: TimeNs, die: DieId, worker: Worker, out: &mut Outbox) {
        if let Some(number) = self.die(die).mate_of(worker) {
            self.mate_goes_on(at, die, number, out);
        } else if self.die(die).work_mut(worker).has_steps() {
            self.next_work_step(at, die, worker, out);
        } else {
            self.work_over(at, die, worker, out);
        }
    }

    fn work_over(&mut self, at: TimeNs, die: DieId, worker: Worker, out: &mut Outbox) {
        if let Some(number) = self.dies[die.index()].mate_of(worker) {
            return self.mate_over(at, die, number, out);
        }
        let Some(scope) = worker.scope() else { return self.slot_work_over(at, die, out) };
        match self.dies[die.index()].clean(scope).phase {
            Phase::Poll => self.polled(at, die, scope, out),
            Phase::Read => self.point(at, die, scope, out),
            Phase::Program => {
                self.program_over(at, die, scope, out);
                self.point(at, die, scope, out);
            }
            Phase::Erase => self.clean_over(at, die, scope, out),
            Phase::Aside => unreachable!("a clean that stands aside waits for no time"),
        }
    }

    fn slot_work_over(&mut self, at: TimeNs, die: DieId, out: &mut Outbox) {
        match self.dies[die.index()].slot.phase {
            SlotPhase::Resting => self.rest_over(at, die, out),
            SlotPhase::Command | SlotPhase::Merge => {
                self.die(die).held.set(at, false);
                self.leave(at, die, out);
                self.slot_freed(at, die, out);
            }
            SlotPhase::Suspending => self.serve_while_suspended(at, die, out),
            SlotPhase::SuspendedRead => {
                self.leave(at, die, out);
                self.serve_while_suspended(at, die, out);
            }
            SlotPhase::Resuming => self.resume(at, die, out),
            SlotPhase::Free | SlotPhase::Together => unreachable!("it waits for no time of its own"),
        }
    }

    /// The operation of the slot leaves the die, if its end has not been told in advance.
    fn leave(&mut self, at: TimeNs, die: DieId, out: &mut Outbox) {
        let channels = !self.channels.is_empty();
        let state = self.die(die);
        let id = std::mem::replace(&mut state.slot.leaving, NONE);
        if channels {
            // A merged write has transferred its page, and leaves when that has been programmed.
            let merged_by = state.slot.let_in_by.filter(|_| id == NONE && state.slot.phase == SlotPhase::Merge);
            let transferred = merged_by.map_or(id, |scope| state.clean(scope).merged.tail());
            let transfer_ns = state.slot.work.transfers_ns;
            if transferred != NONE {
                self.waiting[transferred].time.transfer_ns = transfer_ns;
            }
        }
        if id != NONE {
            self.leaves_die(at, id, out);
        }
    }

    /// The slot has become free: the clean that let the operation in polls again, then a check that is due, then the queue (rules
    /// 94 and 97).
    fn slot_freed(&mut self, at: TimeNs, die: DieId, out: &mut Outbox) {
        let by_plane = self.by_plane;
        let state = self.die(die);
        state.slot.phase = SlotPhase::Free;
        state.slot.work.ends = NEVER;
        if let Some(scope) = state.slot.let_in_by.take() {
            state.collecting.set(at, true);
            self.point(at, die, scope, out);
            // A poll that takes no time may have let in the next operation: what is due stays due.
            if !by_plane || !self.dies[die.index()].slot_is_free() {
                return;
            }
        }
        if std::mem::take(&mut self.die(die).check_follows) {
            if self.begin_forced(at, die, out) && !by_plane {
                return;
            }
            if self.begin_needed(at, die, Cause::Needed, out) && !by_plane {
                return;
            }
        }
        self.go_on(at, die, out);
    }

    /// What the die does next, if its slot is free (rule 91).
    fn go_on(&mut self, at: TimeNs, die: DieId, out: &mut Outbox) {
        if !self.dies[die.index()].slot_is_free() {
            return;
        }
        let by_plane = self.by_plane;
        if self.dies[die.index()].forced.is_some() && self.begin_forced(at, die, out) && !by_plane {
            return;
        }
        let state = &self.dies[die.index()];
        if state.awaits.is_some() {
            return;
        }
        let head = state.queue.head();
        if head == NONE {
            return self.rest(at, die, out);
        }
        if !by_plane && state.cleans[0].is_some() {
            return;
        }
        if self.is_held(at, die, out) {
            return;
        }
        let kind = self.waiting[head].op.kind;
        if self.checks_before(kind) {
            if self.params.gc.instantaneous {
                self.clean_instantly(at, die, out);
            } else if self.begin_needed(at, die, Cause::Needed, out) && !by_plane {
                return;
            }
        }
        self.serve_head(at, die, out);
    }

    /// Serves the head of the queue, or sees what it has to wait for (rules 92 and 93).
    fn serve_head(&mut self, at: TimeNs, die: DieId, out: &mut Outbox) {
        let state = &self.dies[die.index()];
        let head = state.queue.head();
        if head == NONE || !state.slot_is_free() {
            // Polls that take no time have let operations in meanwhile.
            return;
        }
        let busy = if self.by_plane { state.busy_scopes() } else { 0 };
        let Waiting { op, lpn, .. } = self.waiting[head];
        let awaited = match op.kind {
            OpKind::Write => match self.ftl.place(die, lpn, busy) {
                Some(pool) => return self.serve(at, head, None, pool, out),
                None => {
                    assert!(busy != 0, "rule 16: a check leaves room in some pool");
                    Awaited::AnyScope
                }
            },
            _ => match self.scope_of(die, lpn, op.kind).filter(|&scope| busy >> scope & 1 == 1) {
                Some(scope) => Awaited::Scope(scope),
                None => return self.serve(at, head, None, 0, out),
            },
        };
        let held_ns = state.held.at(at);
        self.die(die).awaits = Some(awaited);
        let head = &mut self.waiting[head];
        if head.awaits_scope_since == NEVER {
            (head.awaits_scope_since, head.held_ns) = (at, held_ns - head.before.held_ns);
        }
    }

    /// With plane blocking: the scope that must not be busy for an operation other than a write, if there is one (rule 92).
    fn scope_of(&self, die: DieId, lpn: Lpn, kind: OpKind) -> Option<u32> {
        let here = self.by_plane && kind == OpKind::Read && self.ftl.holds(die, lpn);
        here.then(|| self.ftl.pool_of(lpn))
    }

    /// Serves an operation by itself; a write goes to `pool`.
    fn serve(&mut self, at: TimeNs, id: u32, let_in_by: Option<u32>, pool: u32, out: &mut Outbox) {
        let Waiting { op, lpn, die, .. } = self.waiting[id];
        self.take_waiting(at, id, let_in_by.is_some(), out);
        let mapped = op.kind != OpKind::Read || self.ftl.is_mapped(lpn);
        let sealed = op.kind == OpKind::Write && self.write(die, pool, lpn);
        let duration_ns = self.durations.command_ns(op.kind, mapped, sealed);
        self.count_served(op.kind, lpn);
        self.counters.preemptions += u64::from(let_in_by.is_some());
        let operation = &mut self.waiting[id];
        operation.starts(at, false);
        self.durations.spend(op.kind, mapped, sealed, &mut operation.time);
        if op.kind == OpKind::Write {
            self.note_write(at, die, pool, out);
        }
        let (lazy, suspends) = (self.lazy, self.suspension.is_some());
        let before_program_ns = self.durations.before_program_ns();
        let state = self.die(die);
        if state.begins_to_work(at) {
            self.worked.at_all.begins(at);
        }
        let state = self.die(die);
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
                self.finish(id, at + duration_ns, out);
            }
        } else {
            state.slot.leaving = id;
            let steps = self.durations.command_steps(op.kind, mapped, sealed);
            self.begin_work(at, die, Worker::SLOT, steps, lpn, out);
        }
        if op.kind != OpKind::Read {
            self.place_waiting(at, out);
        }
    }

    /// Takes an operation out of the queue at its start and accounts for its wait.
    fn take_waiting(&mut self, at: TimeNs, id: u32, goes_in: bool, out: &mut Outbox) {
        let die = self.waiting[id].die;
        let state = &mut self.dies[die.index()];
        let operation = &mut self.waiting[id];
        if self.by_plane {
            let awaited_ns = at.saturating_sub(operation.awaits_scope_since);
            operation.met_gc = goes_in || operation.awaits_scope_since != NEVER;
            operation.time.collection_ns = awaited_ns;
        } else {
            let ended = state.clean_ended[0];
            // Instantaneous cleans keep nothing waiting.
            let takes_time = !self.params.gc.instantaneous;
            operation.met_gc = state.cleans[0].is_some() || (takes_time && ended != NEVER && ended > operation.reached_ns);
            operation.time.collection_ns = state.collecting.at(at) - operation.before.collected_ns;
        }
        if operation.awaits_scope_since == NEVER {
            operation.held_ns = state.held.at(at) - operation.before.held_ns;
        }
        if operation.refused_at != NEVER {
            self.counters.exhausted += 1;
            self.counters.exhausted_ns += at - operation.refused_at;
        }
        if let Origin::Buffer(page) = operation.origin {
            self.buffered.begins(page);
            out.wake(at, FrontWake::Begun(page));
        }
        let (kind, lpn) = (operation.op.kind, operation.lpn);
        if state.queue.head() == id {
            state.awaits = None;
        }
        state.queue.remove(id, &mut self.waiting);
        if self.dynamic {
            let state = &mut self.dies[die.index()];
            state.waiting_ns -= self.durations.plain_ns(kind);
            state.waiting_writes -= u32::from(kind == OpKind::Write);
            self.no_longer_waits(lpn, kind);
        }
        self.prefetch_next(die);
    }

    /// Brings near what the next operations of a queue will read: what was brought near when they came has gone again where they wait long.
    #[inline]
    fn prefetch_next(&self, die: DieId) {
        let next = self.dies[die.index()].queue.head();
        if next == NONE {
            return;
        }
        let Waiting { lpn, next: second, .. } = self.waiting[next];
        self.ftl.prefetch_block(lpn);
        if second != NONE {
            self.ftl.prefetch_map(self.waiting[second].lpn);
        }
    }

    /// Programs a page for the host; says whether that sealed a block.
    fn write(&mut self, die: DieId, pool: u32, lpn: Lpn) -> bool {
        let sealed = self.ftl.write(die, pool, lpn);
        self.counters.summary_programs += u64::from(sealed && self.params.geometry.summary_page);
        sealed
    }

    /// Counts an operation; a trim unmaps its page.
    fn count_served(&mut self, kind: OpKind, lpn: Lpn) {
        match kind {
            OpKind::Read => self.counters.host_pages_read += 1,
            OpKind::Write => self.counters.host_pages_written += 1,
            _ => {
                self.counters.host_pages_trimmed += 1;
                self.ftl.trim(lpn);
            }
        }
    }
}
