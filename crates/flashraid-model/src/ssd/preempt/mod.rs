//! Dies whose cleans go step by step and let operations in between, or begin when nothing waits (rules 30 to 40).
//!
//! ```text
//!            ┌────────────────────────── next page ──────────────────────────┐
//!            ▼                                                               │
//!  clean ─▶ point 2 ── page left? ──▶ read ──▶ point 1 ──▶ program ──────────┘
//!            │  ▲ operation goes in             │  ▲ write goes in, merge
//!            │  └───────────── host ◀───────────┘  └── host
//!            └── none left ──▶ erase ──▶ check of the pools
//! ```
//!
//! A die is always in one *phase* with a begin and an end. While nothing waits that could go in, phases end without a
//! wake-up: whoever comes next (an operation, a wake-up at the end of the clean, the end of the run) first catches up with them.

mod forced;
mod poll;
mod queue;
mod suspend;
#[cfg(test)]
mod tests;

use super::{Effects, NONE, Pending, Ssd, SsdWake};
use crate::TimeNs;
use crate::coordination::Work;
use crate::events::GcInterval;
pub(super) use forced::Agent;
use queue::{List, Queue};
use suspend::Interruption;

/// No such moment.
const NEVER: TimeNs = TimeNs::MAX;

/// What a die does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nothing; ends when idle collection begins.
    Idle,
    /// Serves a host operation by itself.
    Host,
    /// Transfers between the register and the host for a merge.
    Merge,
    /// Polls the queue, at point 1 if a page is in the register and at point 2 if not.
    Poll,
    /// A clean reads a page, perhaps together with a host read.
    Read,
    /// A clean programs a page, perhaps together with a host write.
    Program,
    /// Erases a victim; without preemption the whole clean.
    Erase,
    /// Turns from an interrupted program or erase to the reads.
    Suspending,
    /// Serves a read meanwhile.
    SuspendedRead,
    /// Turns back.
    Resuming,
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

/// Why a clean begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// A pool needs it.
    Needed,
    /// Nothing waits.
    Idle,
    /// The array's controller wants it.
    Forced,
}

/// A clean in progress.
#[derive(Debug, Clone, Copy)]
struct Clean {
    pool: u32,
    victim: u32,
    began: TimeNs,
    state: State,
    writes_wait_from: TimeNs,
    all_wait_from: TimeNs,
    /// The lpn of the page in the register.
    register: u32,
    pages_moved: u32,
    free_blocks_before: u32,
    /// Known at the begin of a clean that is done as a whole.
    free_blocks_min: u32,
    cause: Cause,
    /// An operation has arrived since it began.
    disturbed: bool,
}

/// One die.
#[derive(Debug, Clone)]
pub(super) struct StepwiseDie {
    phase: Phase,
    began: TimeNs,
    ends: TimeNs,
    clean: Option<Clean>,
    /// End of the last clean.
    clean_ended: TimeNs,
    /// The host operation in service is the high-priority write of rule 33: a check of the pools follows.
    check_follows: bool,
    queue: Queue,
    /// Writes merged into the page in the register.
    merged: List,
    /// Writes whose end is that of the phase, which may be put off.
    ends_with_phase: List,
    interruption: Interruption,
    /// What the array's controller has forced the die to do and is not done.
    forced: Option<Work>,
    /// The earliest wake-up on its way for what waits, and one for the end of the clean.
    near_wake: TimeNs,
    far_wake: TimeNs,
}

impl StepwiseDie {
    pub fn new(idle_ns: Option<u64>) -> Self {
        Self {
            phase: Phase::Idle,
            began: 0,
            ends: idle_ns.unwrap_or(NEVER),
            clean: None,
            clean_ended: NEVER,
            check_follows: false,
            queue: Queue::default(),
            merged: List::default(),
            ends_with_phase: List::default(),
            interruption: Interruption::default(),
            forced: None,
            near_wake: NEVER,
            far_wake: NEVER,
        }
    }

    /// Before this moment every clean of the die that begins is known.
    pub fn cleans_known_until(&self) -> TimeNs {
        match &self.clean {
            Some(clean) => clean.began,
            None if self.phase == Phase::Idle => self.ends,
            None => NEVER,
        }
    }

    /// Nothing may interrupt the phase unless it is allowed afterwards.
    fn enter(&mut self, phase: Phase, at: TimeNs, duration_ns: u64) {
        self.interruption = Interruption::default();
        self.phase = phase;
        self.began = at;
        self.ends = at + duration_ns;
    }
}

impl Ssd {
    /// Puts an operation behind the others of its die. What ends at this nanosecond comes before it if it began before
    /// `scheduled` (rule 25).
    pub(super) fn enter_queue<W>(&mut self, now: TimeNs, scheduled: TimeNs, id: u32, fx: &mut Effects<W>) {
        let die = self.pending[id].die;
        self.catch_up(now, scheduled, die, fx);
        let state = &mut self.stepwise[die as usize];
        state.queue.push(id, &mut self.pending);
        if let Some(clean) = &mut state.clean {
            clean.disturbed = true;
        }
        if state.phase == Phase::Idle {
            self.serve_next(now, die, fx);
        } else {
            self.interrupt_for(now, id);
        }
        // What takes no time happens at once.
        self.catch_up(now, 0, die, fx);
        self.keep_awake(die, fx);
    }

    /// A wake-up of a die.
    pub(super) fn wake_stepwise<W>(&mut self, now: TimeNs, die: u32, fx: &mut Effects<W>) {
        let state = &mut self.stepwise[die as usize];
        if state.near_wake == now {
            state.near_wake = NEVER;
        } else if state.far_wake == now {
            state.far_wake = NEVER;
        } else {
            return;
        }
        self.catch_up(now, NEVER, die, fx);
        self.keep_awake(die, fx);
    }

    /// Ends every phase that ends before `now`, and those that end now if they began before `scheduled`. A phase without length
    /// ends at once.
    fn catch_up<W>(&mut self, now: TimeNs, scheduled: TimeNs, die: u32, fx: &mut Effects<W>) {
        loop {
            let &StepwiseDie { phase, began, ends, .. } = &self.stepwise[die as usize];
            let over = ends < now || (ends == now && (began < scheduled || began == ends));
            if !over {
                return;
            }
            if phase == Phase::Poll {
                self.move_undisturbed(now, die);
            }
            let ends = self.stepwise[die as usize].ends;
            self.phase_over(phase, ends, die, fx);
        }
    }

    /// Brings every die up to date: all that ended before `now` is counted and reported.
    pub fn catch_up_all<W>(&mut self, now: TimeNs, fx: &mut Effects<W>) {
        self.catch_up_each(now, 0, fx);
    }

    fn catch_up_each<W>(&mut self, now: TimeNs, scheduled: TimeNs, fx: &mut Effects<W>) {
        for die in 0..self.stepwise.len() as u32 {
            self.catch_up(now, scheduled, die, fx);
            self.keep_awake(die, fx);
        }
    }

    /// After `now` no idle collection begins (rule 38).
    pub fn end_idle_collection<W>(&mut self, now: TimeNs, fx: &mut Effects<W>) {
        self.catch_up_each(now, NEVER, fx);
        self.stop_idle_work();
        self.params.gc.idle_ns = None;
        for state in &mut self.stepwise {
            if state.phase == Phase::Idle {
                state.ends = NEVER;
            }
            if let Some(clean) = &mut state.clean {
                clean.disturbed = true;
            }
        }
    }

    fn phase_over<W>(&mut self, phase: Phase, at: TimeNs, die: u32, fx: &mut Effects<W>) {
        match phase {
            Phase::Idle => {
                if !self.begin_idle_clean(at, die, fx) {
                    self.stepwise[die as usize].ends = NEVER;
                }
            }
            Phase::Host => {
                self.finish_with_phase(at, die, fx);
                let state = &mut self.stepwise[die as usize];
                if state.clean.is_some() {
                    self.begin_poll(at, die, fx);
                } else if std::mem::take(&mut state.check_follows) {
                    self.after_clean(at, die, false, fx);
                } else {
                    self.serve_next(at, die, fx);
                }
            }
            Phase::Poll => self.poll_over(at, die, fx),
            Phase::Read | Phase::Merge => self.begin_poll(at, die, fx),
            Phase::Program => {
                self.finish_with_phase(at, die, fx);
                self.clean_mut(die).register = NONE;
                self.begin_poll(at, die, fx);
            }
            Phase::Erase => self.clean_over(at, die, fx),
            Phase::Suspending | Phase::SuspendedRead => self.serve_while_suspended(at, die, fx),
            Phase::Resuming => self.resume(at, die),
        }
    }

    fn clean_mut(&mut self, die: u32) -> &mut Clean {
        self.stepwise[die as usize].clean.as_mut().expect("called during a clean")
    }

    /// Outside of cleans: a clean that the controller wants (rule 45), or the head of the queue, after a check of the pools (rule
    /// 10), or nothing.
    fn serve_next<W>(&mut self, at: TimeNs, die: u32, fx: &mut Effects<W>) {
        if self.begin_forced_clean(at, die, fx) {
            return;
        }
        let head = self.stepwise[die as usize].queue.head();
        if head == NONE {
            let idle_ns = self.params.gc.idle_ns;
            let state = &mut self.stepwise[die as usize];
            state.enter(Phase::Idle, at, 0);
            state.ends = idle_ns.map_or(NEVER, |idle_ns| at + idle_ns);
        } else if !(self.checks_before(self.pending[head].op.write) && self.begin_needed_clean(at, die, Cause::Needed, fx)) {
            self.serve(at, head, fx);
        }
    }

    /// Begins the clean that a check of the pools asks for, if any (rule 12).
    fn begin_needed_clean<W>(&mut self, at: TimeNs, die: u32, cause: Cause, fx: &mut Effects<W>) -> bool {
        if !self.ftl.needs_clean(die) {
            return false;
        }
        let found = self.ftl.next_clean(die, 0);
        if let Some((pool, victim)) = found {
            self.note_own_clean(at, fx);
            self.begin_stepwise_clean(at, die, pool, victim, cause, fx);
        }
        found.is_some()
    }

    /// Begins a clean because nothing waits: of a pool that needs one, or else of one that may profit (rule 38).
    fn begin_idle_clean<W>(&mut self, at: TimeNs, die: u32, fx: &mut Effects<W>) -> bool {
        if self.begin_needed_clean(at, die, Cause::Idle, fx) {
            return true;
        }
        let found = self.ftl.next_idle_clean(die);
        if let Some((pool, victim)) = found {
            self.begin_stepwise_clean(at, die, pool, victim, Cause::Idle, fx);
        }
        found.is_some()
    }

    fn begin_stepwise_clean<W>(&mut self, at: TimeNs, die: u32, pool: u32, victim: u32, cause: Cause, fx: &mut Effects<W>) {
        let free_blocks = self.ftl.free_blocks_of_pool(die, pool);
        self.counters.erases += 1;
        let begins_collection = self.stepwise[die as usize].clean_ended != at;
        self.counters.collections += u64::from(begins_collection);
        self.counters.forced_collections += u64::from(begins_collection && cause == Cause::Forced);
        self.counters.idle_cleans += u64::from(cause == Cause::Idle);
        let mut clean = Clean {
            pool,
            victim,
            began: at,
            state: State::AllWait,
            writes_wait_from: at,
            all_wait_from: at,
            register: NONE,
            pages_moved: 0,
            free_blocks_before: free_blocks,
            free_blocks_min: free_blocks,
            cause,
            disturbed: false,
        };
        if self.params.gc.preemption.is_some() {
            clean.state = State::AllMayGoIn;
            (clean.writes_wait_from, clean.all_wait_from) = (NEVER, NEVER);
            if f64::from(free_blocks) < self.hard_free_blocks {
                clean.state = State::WritesWait;
                clean.writes_wait_from = at;
            }
            self.stepwise[die as usize].clean = Some(clean);
            self.ftl.prefetch_victim(victim);
            self.begin_poll(at, die, fx);
        } else {
            let work = self.ftl.clean(die, pool, victim);
            self.counters.gc_pages_moved += u64::from(work.pages_moved);
            self.counters.summary_programs += u64::from(work.blocks_sealed) * u64::from(self.params.geometry.summary_page);
            clean.pages_moved = work.pages_moved;
            clean.free_blocks_min = work.free_blocks_min;
            let duration_ns = self.steps.clean_ns(work);
            let state = &mut self.stepwise[die as usize];
            state.clean = Some(clean);
            state.enter(Phase::Erase, at, duration_ns);
        }
    }

    fn clean_over<W>(&mut self, at: TimeNs, die: u32, fx: &mut Effects<W>) {
        let state = &mut self.stepwise[die as usize];
        let mut clean = state.clean.take().expect("an erase belongs to a clean");
        state.clean_ended = at;
        if self.params.gc.preemption.is_some() {
            clean.free_blocks_min = self.ftl.free_blocks_of_pool(die, clean.pool);
            self.ftl.erase(die, clean.pool, clean.victim);
        }
        let all_wait_from = clean.all_wait_from.min(at);
        let writes_wait_from = clean.writes_wait_from.min(all_wait_from);
        self.counters.gc_time_ns += at - clean.began;
        self.counters.gc_free_for_all_ns += writes_wait_from - clean.began;
        self.counters.gc_writes_wait_ns += all_wait_from - writes_wait_from;
        fx.cleans.push(GcInterval {
            member: self.member,
            die,
            pool: clean.pool,
            start_ns: clean.began,
            end_ns: at,
            victims: 1,
            pages_moved: clean.pages_moved,
            free_blocks_before: clean.free_blocks_before,
            free_blocks_min: clean.free_blocks_min,
            writes_wait_from_ns: writes_wait_from,
            all_wait_from_ns: all_wait_from,
            forced: clean.cause == Cause::Forced,
        });
        self.note_clean_over(at, die, &clean, fx);
        if self.params.gc.preemption.is_some()
            && clean.state == State::AllWait
            && let Some(id) = self.stepwise[die as usize].queue.first_high_priority_write(&self.pending)
        {
            if self.ftl.any_room(die) {
                self.serve(at, id, fx);
                self.stepwise[die as usize].check_follows = true;
                return;
            }
            self.pending[id].refuse(at);
        }
        self.after_clean(at, die, clean.cause == Cause::Idle && !clean.disturbed, fx);
    }

    /// What follows a clean (rules 32 and 38).
    fn after_clean<W>(&mut self, at: TimeNs, die: u32, undisturbed: bool, fx: &mut Effects<W>) {
        let goes_on = if self.begin_forced_clean(at, die, fx) {
            true
        } else if undisturbed {
            self.begin_idle_clean(at, die, fx)
        } else {
            self.params.gc.preemption.is_some() && self.begin_needed_clean(at, die, Cause::Needed, fx)
        };
        if !goes_on {
            self.serve_next(at, die, fx);
        }
    }

    /// Takes an operation out of the queue at its start and accounts for its wait.
    fn take_waiting(&mut self, at: TimeNs, id: u32) -> Pending {
        let operation = &mut self.pending[id];
        let state = &mut self.stepwise[operation.die as usize];
        operation.met_gc = state.clean.is_some() || (state.clean_ended != NEVER && state.clean_ended > operation.queued_at);
        if operation.refused_at != NEVER {
            self.counters.exhausted += 1;
            self.counters.exhausted_ns += at - operation.refused_at;
        }
        let operation = *operation;
        state.queue.remove(id, &mut self.pending);
        operation
    }

    /// Serves an operation by itself.
    fn serve<W>(&mut self, at: TimeNs, id: u32, fx: &mut Effects<W>) {
        let Pending { op, lpn, die, met_gc, .. } = self.take_waiting(at, id);
        let suspends = self.suspension().is_some();
        let duration_ns = self.command(die, lpn, op.write, 0).expect("only a write that has room goes in");
        if op.write {
            self.note_write(at, die, lpn, fx);
        }
        let state = &mut self.stepwise[die as usize];
        self.counters.preemptions += u64::from(state.clean.is_some());
        state.enter(Phase::Host, at, duration_ns);
        if op.write && suspends {
            let t = &self.params.timing;
            let from = at + t.command_overhead_ns + t.page_transfer_ns;
            state.interruption.allow(from, lpn);
            state.ends_with_phase.push(id, &mut self.pending);
        } else {
            self.finish(id, at + duration_ns, met_gc, fx);
        }
    }

    fn finish_with_phase<W>(&mut self, at: TimeNs, die: u32, fx: &mut Effects<W>) {
        let all = std::mem::take(&mut self.stepwise[die as usize].ends_with_phase);
        self.finish_all(all, at, fx);
    }

    fn finish_all<W>(&mut self, operations: List, at: TimeNs, fx: &mut Effects<W>) {
        let mut id = operations.head();
        while id != NONE {
            let Pending { next, met_gc, .. } = self.pending[id];
            self.finish(id, at, met_gc, fx);
            id = next;
        }
    }

    /// Makes sure that the die is woken when it has to be.
    fn keep_awake<W>(&mut self, die: u32, fx: &mut Effects<W>) {
        let state = &self.stepwise[die as usize];
        if state.phase == Phase::Idle {
            return;
        }
        let (at, near) = match &state.clean {
            // On a link what happens at the same nanosecond is ordered by when it was scheduled (rule 25): with the phase.
            _ if self.params.link.is_some() => (state.ends, true),
            _ if !state.ends_with_phase.is_empty() || !state.merged.is_empty() => (state.ends, true),
            None if !state.queue.is_empty() => (state.ends, true),
            None if state.check_follows || state.forced.is_some() => (state.ends, false),
            None => return,
            // It will poll again. Whoever speaks with a controller must not be late, as where a write has made the clean shorter.
            Some(_) if state.queue.is_empty() && state.far_wake != NEVER && self.agent.is_none() => return,
            Some(clean) if state.queue.is_empty() || !self.may_let_in(clean, &state.queue) => {
                (self.clean_ends_at_earliest(die, state, clean), !state.queue.is_empty())
            }
            Some(_) => match state.phase {
                Phase::Host | Phase::Merge | Phase::Read | Phase::Program => (state.ends + self.poll_ns(), true),
                _ => (state.ends, true),
            },
        };
        let state = &mut self.stepwise[die as usize];
        let missing = if near { state.near_wake != at } else { at < state.near_wake && at != state.far_wake };
        if missing {
            *(if near { &mut state.near_wake } else { &mut state.far_wake }) = at;
            fx.agenda.schedule(at, (fx.wake)(self.member, SsdWake::Die(die)));
        }
    }

    /// Whether some poll before the end of the clean might let in what waits, or change the state for it.
    fn may_let_in(&self, clean: &Clean, queue: &Queue) -> bool {
        match clean.state {
            State::AllMayGoIn => true,
            State::WritesWait => queue.reads() > 0 || queue.high_priority_waits() || self.preemption().merge,
            State::AllWait => false,
        }
    }

    /// The end of the clean if nothing goes in any more, or of the phase if that can't be told.
    fn clean_ends_at_earliest(&self, die: u32, state: &StepwiseDie, clean: &Clean) -> TimeNs {
        if matches!(state.phase, Phase::Erase | Phase::Suspending | Phase::SuspendedRead | Phase::Resuming) {
            return state.ends;
        }
        let to_program = self.ftl.valid_pages_of(clean.victim);
        let in_register = u32::from(clean.register != NONE && self.ftl.lies_in(clean.register, clean.victim));
        let to_read = to_program - in_register;
        let seals = self.steps.blocks_sealed_by(to_program, self.ftl.room_for_moves(die, clean.pool));
        // Point 1 of the page in the register, points 2 and 1 of every other page, point 2 before the erase.
        let polls = in_register + 2 * to_read + 1 - u32::from(state.phase == Phase::Poll);
        let poll_ns = if clean.state == State::AllWait { 0 } else { self.poll_ns() };
        state.ends
            + u64::from(polls) * poll_ns
            + u64::from(to_read) * (self.steps.move_ns - self.params.timing.page_program_ns)
            + u64::from(to_program) * self.params.timing.page_program_ns
            + u64::from(seals) * self.steps.seal_ns
            + self.steps.erase_ns
    }
}
