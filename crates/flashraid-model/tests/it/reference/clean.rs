//! Cleans, from their begin to their end (rules 12, 30, 32, 96 and 105).

use super::die::Scope;
use super::flash::{Move, Page};
use super::passes::Spends;
use super::work::{Doing, Step, Worker};
use super::{Event, GcRun, OpKind, Operation, Simulation};

/// Reasons for a clean.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// A pool needed it.
    Need,
    /// The die had rested, whether or not a pool needed it.
    Idle,
    /// The array's controller forces the clean.
    Forced,
}

/// Phases of a clean between two decisions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// The clean is at a point: it polls, or an operation is served.
    Point,
    Read,
    Program,
    Erase,
    /// The whole clean is one phase, without preemption.
    Whole,
}

pub(super) struct Clean {
    pub victim: usize,
    pub cause: Cause,
    pub phase: Phase,
    /// State of the clean (rule 33).
    pub state: u8,
    state_since: u64,
    pub register: Option<Page>,
    /// Plane in which it reads or programs that page.
    pub plane: Option<usize>,
    /// Writes that are done when the program of the page in the register is (rule 35).
    pub merged: Vec<Operation>,
    /// An operation has arrived since it began (rule 98).
    pub is_disturbed: bool,
    /// True if it began in the turn of its member.
    pub in_turn: bool,
}

// The begin of cleans.
impl Simulation<'_> {
    pub(super) fn clean(&mut self, member: usize, die: usize, pool: usize) -> &mut Clean {
        self.die(member, die).cleans.get_mut(&pool).expect("a clean is in progress")
    }

    /// Begins the cleans that pools need, with die blocking at most one (rule 12). Returns true if there are any.
    pub(super) fn needed_cleans(&mut self, member: usize, die: usize, cause: Cause) -> bool {
        if let Some(free_blocks) = self.cleans_in_turn_up_to(member) {
            return self.cleans_up_to(member, die, free_blocks, cause);
        }
        let mut began = false;
        for pool in self.members[member].flash.pools_in_turn(die) {
            if self.is_taken(member, die, pool, began) || self.holds_out(member, die, pool) {
                continue;
            }
            if let Some(victim) = self.members[member].flash.victim_if_needed(die, pool) {
                self.will_ask(member, die, pool);
                self.begin_clean(member, die, pool, victim, cause);
                began = true;
            }
        }
        if began {
            self.cleans_last_alike(member, die);
        }
        began
    }

    /// The same with pools that have so many free blocks or fewer (rules 38, 45 and 46).
    pub(super) fn cleans_up_to(&mut self, member: usize, die: usize, free_blocks: u32, cause: Cause) -> bool {
        let mut began = false;
        for pool in self.members[member].flash.pools_in_turn(die) {
            let is_allowed = cause != Cause::Forced || self.members[member].protocol.leave.pools.contains(&(die, pool));
            if self.is_taken(member, die, pool, began) || !is_allowed {
                continue;
            }
            if let Some(victim) = self.members[member].flash.victim_up_to(die, pool, free_blocks) {
                self.begin_clean(member, die, pool, victim, cause);
                began = true;
            }
        }
        if began {
            self.cleans_last_alike(member, die);
        }
        began
    }

    /// Returns true if planes of a die are cleaned together (rule 15).
    fn cleans_together(&self) -> bool {
        self.ssd.gc.rules.parallel_planes && !self.ssd.gc.collection_takes_no_time
    }

    /// Returns true if no clean can begin in a pool. `began` is true if one has just begun in another.
    pub(super) fn is_taken(&self, member: usize, die: usize, pool: usize, began: bool) -> bool {
        self.is_busy(member, die, pool) && !(began && self.cleans_together())
    }

    /// Makes all cleans of a die that are performed together last as long as the longest.
    pub(super) fn cleans_last_alike(&mut self, member: usize, die: usize) {
        if !self.cleans_together() {
            return;
        }
        let workers: Vec<Worker> = self.die(member, die).cleans.keys().map(|&pool| Worker::Clean { die, pool }).collect();
        let end = |doing: &Doing| if let Doing::Waits { until, .. } = doing { *until } else { unreachable!("a whole clean waits") };
        let Some(last) = workers.iter().map(|worker| end(&self.members[member].work[worker].doing)).max() else { return };
        for worker in workers {
            self.events
                .retain(|scheduled| !matches!(scheduled.event, Event::Waited { member: of, worker: by } if (of, by) == (member, worker)));
            let work = self.members[member].work.get_mut(&worker).expect("a clean is in progress");
            let longer_ns = last - end(&work.doing);
            work.waits.extend((longer_ns > 0).then_some((Spends::Otherwise, longer_ns)));
            let now = self.now;
            self.wait(member, worker, last - now, None);
        }
    }

    pub(super) fn begin_clean(&mut self, member: usize, die: usize, pool: usize, victim: usize, cause: Cause) {
        self.rest_ends(member, die);
        self.run_begins(member, die, pool, cause);
        self.members[member].counters.idle_cleans += u64::from(cause == Cause::Idle);
        let state = match self.preemption() {
            None => 3,
            Some(_) if self.is_below_hard(member, die, pool) => 2,
            Some(_) => 1,
        };
        let clean = Clean {
            victim,
            cause,
            phase: Phase::Point,
            state,
            state_since: self.now,
            register: None,
            plane: None,
            merged: Vec::new(),
            is_disturbed: false,
            in_turn: self.cleans_in_turn_up_to(member).is_some(),
        };
        self.die(member, die).cleans.insert(pool, clean);
        if self.preemption().is_some() {
            self.members[member].flash.begin_clean(die, pool);
            self.point(member, die, pool);
        } else {
            let moves = self.members[member].flash.clean(die, pool, victim).moves;
            let steps = self.whole_clean_steps(&moves);
            self.count_moves(member, die, pool, &moves);
            self.phase_begins(member, die, pool, Phase::Whole, steps);
        }
    }

    /// Performs instantaneous cleans, until a check finds none (rule 15).
    pub(super) fn clean_at_once(&mut self, member: usize, die: usize) {
        while let Some(clean) = self.members[member].flash.check(die) {
            self.run_begins(member, die, clean.pool, Cause::Need);
            self.count_moves(member, die, clean.pool, &clean.moves);
            self.run(member, die, clean.pool).end = Some(self.now);
        }
    }

    fn whole_clean_steps(&self, moves: &[Move]) -> Vec<Step> {
        let mut steps = Vec::new();
        for &moved in moves {
            steps.extend(self.move_read_steps());
            steps.extend(self.move_program_steps(moved));
        }
        steps.extend(self.erase_steps());
        steps
    }

    fn count_moves(&mut self, member: usize, die: usize, pool: usize, moves: &[Move]) {
        for moved in moves {
            self.count_move(member, die, pool);
            self.count_summary(member, moved.fills_block);
        }
    }

    pub(super) fn count_move(&mut self, member: usize, die: usize, pool: usize) {
        self.members[member].counters.gc_pages_moved += 1;
        self.run(member, die, pool).pages_moved += 1;
    }
}

// Runs (rules 27, 40 and 105).
impl Simulation<'_> {
    fn runs(&mut self, member: usize, die: usize, pool: usize) -> &mut Vec<GcRun> {
        let by_plane = !self.blocks_die() && !self.ssd.gc.collection_takes_no_time;
        self.members[member].gc_runs.entry((die, by_plane.then_some(pool))).or_default()
    }

    fn run(&mut self, member: usize, die: usize, pool: usize) -> &mut GcRun {
        self.runs(member, die, pool).last_mut().expect("a run goes on")
    }

    fn run_begins(&mut self, member: usize, die: usize, pool: usize, cause: Cause) {
        let now = self.now;
        let together = self.cleans_together();
        let runs = self.runs(member, die, pool);
        // Cleans that are performed together are one run.
        if runs.last().is_none_or(|run| run.end != Some(now) && !(together && run.end.is_none())) {
            runs.push(GcRun { start: now, end: None, victims: 0, pages_moved: 0, forced: cause == Cause::Forced });
        }
        let run = self.run(member, die, pool);
        run.end = None;
        run.victims += 1;
        self.members[member].counters.erases += 1;
    }
}

// Phases of a clean in progress.
impl Simulation<'_> {
    pub(super) fn phase_begins(&mut self, member: usize, die: usize, pool: usize, phase: Phase, steps: Vec<Step>) {
        self.clean(member, die, pool).phase = phase;
        self.start_work(member, Worker::Clean { die, pool }, steps);
    }

    /// A phase has come to its end.
    pub(super) fn phase_is_over(&mut self, member: usize, die: usize, pool: usize) {
        match self.clean(member, die, pool).phase {
            Phase::Point => return self.polled(member, die, pool),
            Phase::Erase | Phase::Whole => return self.cleans_end(member, die, pool),
            Phase::Read => {}
            Phase::Program => {
                self.clean(member, die, pool).register = None;
                self.merged_writes_are_done(member, die, pool);
            }
        }
        self.clean(member, die, pool).phase = Phase::Point;
        if !self.part_is_over(member, Worker::Clean { die, pool }) {
            self.point(member, die, pool);
        }
    }

    pub(super) fn merged_writes_are_done(&mut self, member: usize, die: usize, pool: usize) {
        for operation in std::mem::take(&mut self.clean(member, die, pool).merged) {
            self.leaves_die(member, operation);
        }
    }

    /// Sets the state of a clean (rule 33); 0 is the state at its end.
    pub(super) fn enter_state(&mut self, member: usize, die: usize, pool: usize, state: u8) {
        let now = self.now;
        let clean = self.clean(member, die, pool);
        let (left, since) = (clean.state, clean.state_since);
        clean.state_since = now;
        clean.state = state;
        let counters = &mut self.members[member].counters;
        match left {
            1 => counters.gc_preemptible_by_all_requests_ns += now - since,
            2 => counters.gc_preemptible_by_reads_only_ns += now - since,
            _ => {}
        }
    }
}

// The end of cleans.
impl Simulation<'_> {
    /// Ends a clean together with all other cleans of the die that end at this nanosecond (rule 96).
    fn cleans_end(&mut self, member: usize, die: usize, pool: usize) {
        let mut ended = vec![pool];
        while let Some((index, pool)) = self.clean_that_ends_now(member, die) {
            self.events.remove(index);
            self.members[member].work.remove(&Worker::Clean { die, pool });
            ended.push(pool);
        }
        ended.sort_unstable();
        let in_state_3 = self.preemption().is_some() && ended.iter().any(|&pool| self.clean(member, die, pool).state == 3);
        let goes_on_idle = ended.iter().any(|&pool| {
            let clean = self.clean(member, die, pool);
            clean.cause == Cause::Idle && !clean.is_disturbed
        });
        for &pool in &ended {
            self.clean_ends(member, die, pool);
        }
        // Part a of the rule: reports, and the end of waits for these scopes.
        for &pool in &ended {
            self.protocol_sees_end_of_clean(member, die, pool);
        }
        let state = self.die(member, die);
        let is_released = |scope: &Scope| *scope == Scope::Any || ended.iter().any(|&pool| *scope == Scope::Of(pool));
        state.waits_for = state.waits_for.filter(|scope| !is_released(scope));
        let slot_is_free = state.slot.is_none();
        // Part b of the rule: a write of high priority.
        if in_state_3 && slot_is_free && self.serve_high_priority(member, die) {
            return;
        }
        // Part c of the rule: more cleans.
        if slot_is_free {
            self.forced_cleans(member, die);
            if goes_on_idle {
                self.idle_cleans(member, die);
            }
            if self.preemption().is_some() {
                self.needed_cleans(member, die, Cause::Need);
            }
        } else {
            self.die(member, die).check_is_due |= self.preemption().is_some();
        }
        // Part d of the rule: other work.
        self.goes_on(member, die);
    }

    /// The event that ends another clean of the die at this nanosecond, and its pool.
    fn clean_that_ends_now(&self, member: usize, die: usize) -> Option<(usize, usize)> {
        self.events.iter().enumerate().find_map(|(index, scheduled)| match scheduled.event {
            Event::Waited { member: of_member, worker: worker @ Worker::Clean { die: of_die, pool } }
                if (scheduled.time, of_member, of_die) == (self.now, member, die) =>
            {
                let phase = self.members[member].dies[die].cleans[&pool].phase;
                let ends = matches!(phase, Phase::Erase | Phase::Whole) && self.is_last_wait(member, worker);
                ends.then_some((index, pool))
            }
            _ => None,
        })
    }

    fn clean_ends(&mut self, member: usize, die: usize, pool: usize) {
        let now = self.now;
        self.enter_state(member, die, pool, 0);
        let clean = self.die(member, die).cleans.remove(&pool).expect("a clean ends");
        assert!(clean.register.is_none() && clean.merged.is_empty(), "an erase leaves nothing in the register");
        if clean.phase == Phase::Erase {
            self.members[member].flash.erase(die, pool, clean.victim);
        }
        self.die(member, die).cleans_ended.push(now);
        self.run(member, die, pool).end = Some(now);
    }

    /// Serves the first high-priority write after a clean in state 3, if a pool has room for it (rules 33 and 96).
    fn serve_high_priority(&mut self, member: usize, die: usize) -> bool {
        let state = &self.members[member].dies[die];
        let is_wanted = |operation: &Operation| operation.kind == OpKind::Write && operation.high_priority;
        let first = (0..state.queue.len()).find(|&index| is_wanted(&state.queue[index]) && !state.overtakes(index));
        let Some(index) = first else { return false };
        let page = state.queue[index].page;
        let busy = self.busy_pools(member, die);
        let Some(pool) = self.members[member].flash.pool_for_write(die, page, &busy) else {
            self.refuse(member, die, index);
            return false;
        };
        self.die(member, die).check_is_due = true;
        self.serve(member, die, index, Some(pool), None);
        true
    }
}
