//! The clean of one victim: its start, its steps and its end (rules 12, 14, 15, 30 to 32, 96).

use super::waiting::NONE;
use super::work::Step;
use super::{Awaited, Clean, Companion, NO_PAGE, PageContext, PageDies, Phase, SlotPhase, State};
use crate::events::{TimeNs, VictimBlockCollection};
use crate::ids::{BlockId, DieId};
use crate::space::pools::{PageMapping, VictimCollectionWork};
use crate::ssd::collect::pools::{Due, Watermarks};
use crate::ssd::job::{Cause, DieExecutionUnitId, NEVER};
use crate::ssd::parts::SsdParts;

impl Clean {
    /// Pauses the clean while an operation is served.
    pub(super) fn let_operation_pass(&mut self) {
        self.phase = Phase::Paused;
        self.work.stop();
    }
}

impl PageContext<'_> {
    /// Begins the cleans that pools need (rules 12 and 15). This is one clean or, with plane blocking, one in each scope that is not busy.
    /// Returns true if any clean began.
    pub(super) fn begin_needed(&mut self, at: TimeNs, die: DieId, cause: Cause) -> bool {
        if let Some(free_blocks) = self.turn_free_blocks(at) {
            return self.begin_cleans(at, die, cause, false, |_, pools, busy| pools.next_clean_below(die, free_blocks + 1, busy));
        }
        if !self.pools.needs_clean(die) {
            return false;
        }
        let may_defer = self.may_defer();
        self.begin_cleans(at, die, cause, true, |watermarks, pools, busy| watermarks.needed(pools, die, busy, may_defer))
    }

    /// Begins the clean that `find` returns. With plane blocking, it begins one in each scope that is not busy, and tries the pools in turn
    /// (rule 91). If planes are cleaned together, it begins one in each pool (rule 15). Returns true if any clean began.
    pub(super) fn begin_cleans(
        &mut self,
        at: TimeNs,
        die: DieId,
        cause: Cause,
        needed: bool,
        mut find: impl FnMut(&Watermarks, &mut PageMapping, u64) -> Due,
    ) -> bool {
        if !self.own.by_plane && !self.own.together {
            let Some((pool, victim)) = find(&self.own.watermarks, self.pools, 0) else { return false };
            self.begin_clean(at, die, pool, victim, cause, needed);
            return true;
        }
        let mut began = false;
        for judged in self.pools.pools_in_rotation(die) {
            let left_out = self.busy_pools(die) | !(1 << judged);
            if let Some((pool, victim)) = find(&self.own.watermarks, self.pools, left_out) {
                self.begin_or_join_clean(at, die, pool, victim, cause, needed, began);
                began = true;
            }
        }
        began
    }

    /// Returns the set of pools in which no clean may begin, one bit for each. With die blocking, this is not called during a clean.
    #[inline]
    pub(super) fn busy_pools(&self, die: DieId) -> u64 {
        if self.own.by_plane { self.own.dies[die.index()].busy_scopes() } else { 0 }
    }

    /// Performs all cleans that pools need at once, without simulated time (scheme `ideal`).
    pub(super) fn clean_instantly(&mut self, at: TimeNs, die: DieId) {
        while self.pools.needs_clean(die)
            && let Some((pool, victim)) = self.pools.next_victim(die, 0)
        {
            let work = self.pools.clean(die, pool, victim);
            let continues = self.own.dies[die.index()].clean_ended[0] == at;
            self.own.dies[die.index()].clean_ended[0] = at;
            self.parts.record_clean(die, pool, at..at, work, continues, &mut self.out.collections);
        }
    }

    /// Begins a clean. If another one has just begun in the same blocking scope (`joins`), they are performed together.
    #[expect(clippy::too_many_arguments)]
    pub(super) fn begin_or_join_clean(
        &mut self,
        at: TimeNs,
        die: DieId,
        pool: u32,
        victim: BlockId,
        cause: Cause,
        needed: bool,
        joins: bool,
    ) {
        if !joins || self.own.by_plane {
            return self.begin_clean(at, die, pool, victim, cause, needed);
        }
        if needed {
            self.note_needed_clean(at);
        }
        self.parts.counters.erases += 1;
        self.parts.counters.idle_cleans += u64::from(cause == Cause::Idle);
        let work = self.pools.clean(die, pool, victim);
        self.parts.count_moves(work);
        let ns = self.own.durations.clean_ns(work);
        let clean = self.own.dies[die.index()].clean_mut(0);
        clean.companions.push(Companion { pool, work });
        if at + ns <= clean.work.ends {
            return;
        }
        // The die is held until the longest of them has ended.
        if self.own.lazy {
            clean.work.wait(at, ns);
        } else {
            self.begin_work(at, die, DieExecutionUnitId::clean(0), std::iter::once(Step::wait(ns)), NO_PAGE);
        }
    }

    pub(super) fn begin_clean(&mut self, at: TimeNs, die: DieId, pool: u32, victim: BlockId, cause: Cause, needed: bool) {
        let scope = if self.own.by_plane { pool } else { 0 };
        let free_blocks = self.pools.free_blocks_of_pool(die, pool);
        let preemptive = self.parts.params.gc.preemption.is_some();
        let in_turn = self.turn_free_blocks(at).is_some();
        let below_hard = self.own.watermarks.is_below_hard(self.pools, die, pool);
        let state = &mut self.own.dies[die.index()];
        if state.slot.phase == SlotPhase::Resting {
            state.slot.phase = SlotPhase::Free;
            state.slot.work.stop();
            state.activity.end_idle_period(at);
        }
        state.collecting.set(at, true);
        let is_first = !state.cleans_any();
        state.activity.begin_work(at, self.parts);
        if is_first {
            self.parts.work_times.for_collection.begin(at);
        }
        if needed {
            self.note_needed_clean(at);
        }
        if let Some(agent) = &mut self.parts.agent {
            agent.count_cycle_of_collection(at);
        }
        let state = &mut self.own.dies[die.index()];
        let begins_collection = state.clean_ended[scope as usize] != at;
        self.parts.counters.erases += 1;
        self.parts.counters.collections += u64::from(begins_collection);
        self.parts.counters.forced_collections += u64::from(begins_collection && cause == Cause::Forced);
        self.parts.counters.idle_cleans += u64::from(cause == Cause::Idle);
        let mut clean = Clean {
            phase: Phase::Erase,
            work: super::Work::default(),
            pool,
            victim,
            companions: Vec::new(),
            began: at,
            state: State::AllWait,
            writes_wait_from: at,
            all_wait_from: at,
            register: NO_PAGE,
            pages_moved: 0,
            free_blocks_before: free_blocks,
            free_blocks_min: free_blocks,
            cause,
            needed,
            in_turn,
            was_interrupted: false,
            plane: 0,
            merged: Default::default(),
            ends_with_phase: Default::default(),
        };
        if preemptive {
            clean.state = if below_hard { State::WritesWait } else { State::AllMayGoIn };
            clean.writes_wait_from = if below_hard { at } else { NEVER };
            clean.all_wait_from = NEVER;
            state.cleans[scope as usize] = Some(clean);
            if self.own.lazy {
                self.pools.prefetch_victim(victim);
            }
            self.point(at, die, scope);
        } else {
            self.clean_whole(at, die, scope, clean);
        }
    }

    /// Performs a whole clean without preemption. It changes the mapping at once, and begins a single phase that takes the time of the
    /// clean.
    fn clean_whole(&mut self, at: TimeNs, die: DieId, scope: u32, mut clean: Clean) {
        let room = self.pools.room_for_moves(die, clean.pool);
        let work = self.pools.clean(die, clean.pool, clean.victim);
        self.parts.count_moves(work);
        clean.pages_moved = work.pages_moved;
        clean.free_blocks_min = work.pool_free_blocks_before_erase;
        if self.own.lazy {
            clean.work.wait(at, self.own.durations.clean_ns(work));
            self.own.dies[die.index()].cleans[scope as usize] = Some(clean);
            return;
        }
        self.own.dies[die.index()].cleans[scope as usize] = Some(clean);
        if self.own.channels.is_empty() {
            let whole = std::iter::once(Step::wait(self.own.durations.clean_ns(work)));
            self.begin_work(at, die, DieExecutionUnitId::clean(scope), whole, NO_PAGE);
        } else {
            let steps = self.own.durations.clean_steps(work, room);
            self.begin_work(at, die, DieExecutionUnitId::clean(scope), steps, NO_PAGE);
        }
    }

    /// Begins a phase of a preemptible clean. The phase is a single wait, or several steps if these need events.
    pub(super) fn begin_phase(&mut self, at: TimeNs, die: DieId, scope: u32, phase: Phase, steps: impl Iterator<Item = Step>, ns: u64) {
        let clean = self.own.dies[die.index()].clean_mut(scope);
        clean.phase = phase;
        if !self.own.lazy {
            // Reads of the page that is programmed do not interrupt its program; an erase is interrupted by all.
            let programmed = if phase == Phase::Program { clean.register } else { NO_PAGE };
            return self.begin_work(at, die, DieExecutionUnitId::clean(scope), steps, programmed);
        }
        clean.work.wait(at, ns);
        self.own.dies[die.index()].joint_ends = None;
        let clean = self.own.dies[die.index()].clean_mut(scope);
        match phase {
            Phase::Program => clean.work.allow_interruption(at, clean.register),
            Phase::Erase => clean.work.allow_interruption(at, NO_PAGE),
            _ => {}
        }
    }

    /// Ends the program of a moved page, and the host writes that were merged into it.
    pub(super) fn program_ended(&mut self, at: TimeNs, die: DieId, scope: u32) {
        let clean = self.own.dies[die.index()].clean_mut(scope);
        clean.register = NO_PAGE;
        let all = std::mem::take(&mut clean.ends_with_phase);
        self.finish_all(all, at);
    }

    /// Ends host writes that were merged into a page which is no longer valid, so that nothing needs to be programmed.
    pub(super) fn drop_merged(&mut self, operations: super::List, at: TimeNs) {
        let mut id = operations.head();
        while id != NONE {
            self.own.waiting[id].time.flash_ns = 0;
            id = self.own.waiting[id].next;
        }
        self.finish_all(operations, at);
    }

    pub(super) fn finish_all(&mut self, operations: super::List, at: TimeNs) {
        let mut id = operations.head();
        while id != NONE {
            let next = self.own.waiting[id].next;
            self.finish(id, at);
            id = next;
        }
    }

    /// Ends a clean, together with other cleans of the die that end at the same nanosecond (rule 96).
    pub(super) fn clean_ended(&mut self, at: TimeNs, die: DieId, scope: u32) {
        let ends_now = |clean: &Clean| clean.phase == Phase::Erase && clean.work.ends == at && !clean.work.has_steps();
        let also = |(other, clean): (usize, &Option<Clean>)| other == scope as usize || clean.as_ref().is_some_and(ends_now);
        let over = if self.own.by_plane {
            let state = &self.own.dies[die.index()];
            state.cleans.iter().enumerate().filter(|&entry| also(entry)).fold(0_u64, |over, (other, _)| over | 1 << other)
        } else {
            1
        };
        let (mut in_state_3, mut undisturbed) = (false, false);
        for scope in (0..64).filter(|scope| over >> scope & 1 == 1) {
            let clean = self.end_clean(at, die, scope);
            in_state_3 |= clean.state == State::AllWait;
            undisturbed |= clean.cause == Cause::Idle && !clean.was_interrupted;
        }
        self.after_cleans(at, die, over, in_state_3, undisturbed);
    }

    fn end_clean(&mut self, at: TimeNs, die: DieId, scope: u32) -> Clean {
        let preemptive = self.parts.params.gc.preemption.is_some();
        let state = &mut self.own.dies[die.index()];
        let mut clean = state.cleans[scope as usize].take().expect("an erase belongs to a clean");
        state.clean_ended[scope as usize] = at;
        if !state.cleans_any() {
            state.collecting.set(at, false);
            self.parts.work_times.for_collection.end(at);
            if state.activity.held.is_on() {
                state.activity.end_work(at, self.parts);
            }
        }
        if preemptive {
            clean.free_blocks_min = self.pools.free_blocks_of_pool(die, clean.pool);
            self.pools.erase(die, clean.pool, clean.victim);
        }
        let all_wait_from = clean.all_wait_from.min(at);
        let writes_wait_from = clean.writes_wait_from.min(all_wait_from);
        self.parts.counters.gc_time_ns += at - clean.began;
        self.parts.counters.gc_preemptible_by_all_requests_ns += writes_wait_from - clean.began;
        self.parts.counters.gc_preemptible_by_reads_only_ns += all_wait_from - writes_wait_from;
        self.out.collections.push(VictimBlockCollection {
            member: self.parts.member.0,
            die: die.0,
            pool: clean.pool,
            start_ns: clean.began,
            end_ns: at,
            pages_moved: clean.pages_moved,
            free_blocks_before: clean.free_blocks_before,
            pool_free_blocks_min: clean.free_blocks_min,
            writes_blocked_from_ns: writes_wait_from,
            all_requests_blocked_from_ns: all_wait_from,
            is_caused_by_coordination: clean.cause == Cause::Forced,
        });
        for companion in &clean.companions {
            self.out.collections.push(VictimBlockCollection {
                member: self.parts.member.0,
                die: die.0,
                pool: companion.pool,
                start_ns: clean.began,
                end_ns: at,
                pages_moved: companion.work.pages_moved,
                free_blocks_before: companion.work.free_blocks_before,
                pool_free_blocks_min: companion.work.pool_free_blocks_before_erase,
                writes_blocked_from_ns: clean.began,
                all_requests_blocked_from_ns: clean.began,
                is_caused_by_coordination: clean.cause == Cause::Forced,
            });
        }
        let needed = clean.needed.then_some(clean.began);
        if let Some(agent) = self.parts.agent.as_mut().filter(|_| clean.needed) {
            (0..clean.companions.len()).for_each(|_| agent.tell(self.out, |duty, desk| duty.needed_clean_ended(at, clean.began, desk)));
        }
        self.note_clean_ended(at, die, scope, needed);
        clean
    }

    /// Begins the work that follows after the cleans in the scopes `over` have ended. One bit stands for each scope.
    fn after_cleans(&mut self, at: TimeNs, die: DieId, over: u64, in_state_3: bool, undisturbed: bool) {
        let (preemptive, by_plane) = (self.parts.params.gc.preemption.is_some(), self.own.by_plane);
        let state = self.die(die);
        match state.awaits {
            Some(Awaited::Scope(scope)) if over >> scope & 1 == 0 => {}
            _ => state.awaits = None,
        }
        if state.slot_is_free() {
            if preemptive && in_state_3 && self.serve_high_priority(at, die) {
                return;
            }
            if self.begin_forced(at, die) && !by_plane {
                return;
            }
            if undisturbed && self.begin_idle(at, die) && !by_plane {
                return;
            }
            if preemptive && self.begin_needed(at, die, Cause::FreeBlocksNeeded) && !by_plane {
                return;
            }
        } else if preemptive {
            self.own.dies[die.index()].check_follows = true;
        }
        self.begin_next(at, die);
    }

    /// Serves the first high-priority write, which comes before other work after state 3 of a clean (rule 33). Returns true if there is
    /// one.
    fn serve_high_priority(&mut self, at: TimeNs, die: DieId) -> bool {
        let Some(id) = self.own.dies[die.index()].queue.first_high_priority_write(&self.own.waiting) else { return false };
        let busy_pools = self.busy_pools(die);
        let Some(pool) = self.pools.choose_pool_for_write(die, self.own.waiting[id].lpn, busy_pools) else {
            self.own.waiting[id].refuse(at);
            return false;
        };
        self.die(die).check_follows = true;
        self.serve(at, id, None, pool);
        true
    }
}

impl PageDies {
    /// Returns the number of pages that the current cleans of a die must still move, and the time for this without interruptions.
    pub(crate) fn cleans_left(&self, pools: &PageMapping, preemptive: bool, now: TimeNs, die: DieId) -> (u64, u64) {
        let left = self.dies[die.index()].cleans.iter().flatten().map(|clean| {
            if !preemptive {
                return (0, clean.work.plain_end.saturating_sub(now));
            }
            let pages = u64::from(pools.valid_pages_of(clean.victim));
            let move_ns = pages * self.durations.move_ns;
            let erase_ns = if clean.phase == Phase::Erase { clean.work.plain_end.saturating_sub(now) } else { self.durations.erase_ns };
            (pages, move_ns + erase_ns)
        });
        left.fold((0, 0), |(pages, ns), clean| (pages + clean.0, ns + clean.1))
    }
}

impl SsdParts {
    /// Counts the moves of a clean.
    fn count_moves(&mut self, work: VictimCollectionWork) {
        self.counters.gc_pages_moved += u64::from(work.pages_moved);
        self.counters.block_summary_pages_programmed += u64::from(work.blocks_sealed) * u64::from(self.params.geometry.has_summary_page);
    }

    /// Counts and reports a clean whose end is known when it begins.
    pub(super) fn record_clean(
        &mut self,
        die: DieId,
        pool: u32,
        time: std::ops::Range<TimeNs>,
        work: VictimCollectionWork,
        continues: bool,
        cleans: &mut Vec<VictimBlockCollection>,
    ) {
        self.counters.erases += 1;
        self.count_moves(work);
        self.counters.collections += u64::from(!continues);
        self.counters.gc_time_ns += time.end - time.start;
        cleans.push(VictimBlockCollection {
            member: self.member.0,
            die: die.0,
            pool,
            start_ns: time.start,
            end_ns: time.end,
            pages_moved: work.pages_moved,
            free_blocks_before: work.free_blocks_before,
            pool_free_blocks_min: work.pool_free_blocks_before_erase,
            writes_blocked_from_ns: time.start,
            all_requests_blocked_from_ns: time.start,
            is_caused_by_coordination: false,
        });
    }
}
