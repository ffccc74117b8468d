//! The clean of one victim: how it begins, its steps, how it ends (rules 12, 14, 15, 30 to 32, 96).

use super::super::{GcInterval, NONE, Outbox, Ssd};
use super::work::Step;
use super::{Awaited, Clean, NO_PAGE, Phase, SlotPhase, State, Worker};
use crate::events::TimeNs;
use crate::ids::{BlockId, DieId};
use crate::request::OpKind;
use crate::space::pools::{CleanWork, Pools};
use crate::ssd::job::{Cause, NEVER};

impl Clean {
    /// Lets an operation go first.
    pub(super) fn stand_aside(&mut self) {
        self.phase = Phase::Aside;
        self.work.stop();
    }
}

impl Ssd {
    /// Whether the pools are checked before an operation of this kind (rule 10).
    #[inline]
    pub(in super::super) fn checks_before(&self, kind: OpKind) -> bool {
        kind == OpKind::Write || self.params.gc.trigger == super::super::Trigger::Request
    }

    /// Begins the cleans that a check of the pools asks for: one or, with plane blocking, one in each scope that is not busy (rules
    /// 12 and 15). Says whether there was one.
    pub(super) fn begin_needed(&mut self, at: TimeNs, die: DieId, cause: Cause, out: &mut Outbox) -> bool {
        if !self.ftl.needs_clean(die) {
            return false;
        }
        let holds_out = self.holds_out();
        self.begin_cleans(at, die, cause, true, out, |ftl, busy| {
            let left_out = if holds_out { ftl.pools_above_start(die) } else { 0 };
            ftl.next_clean(die, busy | left_out)
        })
    }

    /// Begins the clean that `find` finds or, with plane blocking, one in each scope that is not busy: the pools are judged one after
    /// another in rotation (rule 91). Says whether there was one.
    pub(super) fn begin_cleans(
        &mut self,
        at: TimeNs,
        die: DieId,
        cause: Cause,
        needed: bool,
        out: &mut Outbox,
        mut find: impl FnMut(&mut Pools, u64) -> Option<(u32, BlockId)>,
    ) -> bool {
        if !self.by_plane {
            let Some((pool, victim)) = find(&mut self.ftl, 0) else { return false };
            self.begin_clean(at, die, pool, victim, cause, needed, out);
            return true;
        }
        let mut began = false;
        for judged in self.ftl.pools_in_rotation(die) {
            let left_out = self.dies[die.index()].busy_scopes() | !(1 << judged);
            if let Some((pool, victim)) = find(&mut self.ftl, left_out) {
                began = true;
                self.begin_clean(at, die, pool, victim, cause, needed, out);
            }
        }
        began
    }

    /// The pools in which no clean may begin, as bits. With die blocking nobody asks while a clean is in progress.
    #[inline]
    pub(super) fn busy_pools(&self, die: DieId) -> u64 {
        if self.by_plane { self.dies[die.index()].busy_scopes() } else { 0 }
    }

    /// Instantaneous cleans (scheme `ideal`), check after check.
    pub(super) fn clean_instantly(&mut self, at: TimeNs, die: DieId, out: &mut Outbox) {
        while self.ftl.needs_clean(die)
            && let Some((pool, victim)) = self.ftl.next_clean(die, 0)
        {
            let work = self.ftl.clean(die, pool, victim);
            let continues = self.dies[die.index()].clean_ended[0] == at;
            self.dies[die.index()].clean_ended[0] = at;
            self.record_clean(die, pool, at..at, work, continues, &mut out.collections);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "what begins, where and when; a structure would only name them twice")]
    pub(super) fn begin_clean(&mut self, at: TimeNs, die: DieId, pool: u32, victim: BlockId, cause: Cause, needed: bool, out: &mut Outbox) {
        let scope = if self.by_plane { pool } else { 0 };
        let free_blocks = self.ftl.free_blocks_of_pool(die, pool);
        let preemptive = self.params.gc.preemption.is_some();
        let below_hard = self.is_below_hard(die, pool);
        let state = &mut self.dies[die.index()];
        if state.slot.phase == SlotPhase::Resting {
            state.slot.phase = SlotPhase::Free;
            state.slot.work.stop();
            // A clean that follows on work at once leaves a mechanism no rest to begin in.
            if let Some(mechanisms) = state.mechanisms.as_mut().filter(|_| state.rests_since < at) {
                mechanisms.pass(state.rests_since, at);
            }
        }
        state.collecting.set(at, true);
        let is_first = !state.cleans_any();
        if state.begins_to_work(at) {
            self.worked.at_all.begins(at);
        }
        if is_first {
            self.worked.for_collection.begins(at);
        }
        if needed {
            self.note_needed_clean(at, out);
        }
        let state = &mut self.dies[die.index()];
        let begins_collection = state.clean_ended[scope as usize] != at;
        self.counters.erases += 1;
        self.counters.collections += u64::from(begins_collection);
        self.counters.forced_collections += u64::from(begins_collection && cause == Cause::Forced);
        self.counters.idle_cleans += u64::from(cause == Cause::Idle);
        let mut clean = Clean {
            phase: Phase::Erase,
            work: super::Work::default(),
            pool,
            victim,
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
            disturbed: false,
            plane: 0,
            merged: Default::default(),
            ends_with_phase: Default::default(),
        };
        if preemptive {
            clean.state = if below_hard { State::WritesWait } else { State::AllMayGoIn };
            clean.writes_wait_from = if below_hard { at } else { NEVER };
            clean.all_wait_from = NEVER;
            state.cleans[scope as usize] = Some(clean);
            if self.lazy {
                self.ftl.prefetch_victim(victim);
            }
            self.point(at, die, scope, out);
        } else {
            self.clean_whole(at, die, scope, clean, out);
        }
    }

    /// Without preemption: all changes of the mapping at once, and one phase for all that takes time.
    fn clean_whole(&mut self, at: TimeNs, die: DieId, scope: u32, mut clean: Clean, out: &mut Outbox) {
        let room = self.ftl.room_for_moves(die, clean.pool);
        let work = self.ftl.clean(die, clean.pool, clean.victim);
        self.count_moves(work);
        clean.pages_moved = work.pages_moved;
        clean.free_blocks_min = work.free_blocks_min;
        if self.lazy {
            clean.work.wait(at, self.durations.clean_ns(work));
            self.dies[die.index()].cleans[scope as usize] = Some(clean);
            return;
        }
        self.dies[die.index()].cleans[scope as usize] = Some(clean);
        if self.channels.is_empty() {
            let whole = std::iter::once(Step::wait(self.durations.clean_ns(work)));
            self.begin_work(at, die, Worker::clean(scope), whole, NO_PAGE, out);
        } else {
            let steps = self.durations.clean_steps(work, room);
            self.begin_work(at, die, Worker::clean(scope), steps, NO_PAGE, out);
        }
    }

    fn count_moves(&mut self, work: CleanWork) {
        self.counters.gc_pages_moved += u64::from(work.pages_moved);
        self.counters.summary_programs += u64::from(work.blocks_sealed) * u64::from(self.params.geometry.summary_page);
    }

    /// Pages that the cleans in progress of a die are still to move, and the time that this takes if nothing goes in between.
    pub(in super::super) fn cleans_left(&self, now: TimeNs, die: DieId) -> (u64, u64) {
        let preemptive = self.params.gc.preemption.is_some();
        let left = self.dies[die.index()].cleans.iter().flatten().map(|clean| {
            if !preemptive {
                return (0, clean.work.plain_end.saturating_sub(now));
            }
            let pages = u64::from(self.ftl.valid_pages_of(clean.victim));
            let move_ns = pages * self.durations.move_ns;
            let erase_ns = if clean.phase == Phase::Erase { clean.work.plain_end.saturating_sub(now) } else { self.durations.erase_ns };
            (pages, move_ns + erase_ns)
        });
        left.fold((0, 0), |(pages, ns), clean| (pages + clean.0, ns + clean.1))
    }

    /// Counts and reports a clean whose end is known when it begins.
    pub(in super::super) fn record_clean(
        &mut self,
        die: DieId,
        pool: u32,
        time: std::ops::Range<TimeNs>,
        work: CleanWork,
        continues: bool,
        cleans: &mut Vec<GcInterval>,
    ) {
        self.counters.erases += 1;
        self.count_moves(work);
        self.counters.collections += u64::from(!continues);
        self.counters.gc_time_ns += time.end - time.start;
        cleans.push(GcInterval {
            member: self.member.0,
            die: die.0,
            pool,
            start_ns: time.start,
            end_ns: time.end,
            pages_moved: work.pages_moved,
            free_blocks_before: work.free_blocks_before,
            free_blocks_min: work.free_blocks_min,
            writes_wait_from_ns: time.start,
            all_wait_from_ns: time.start,
            forced: false,
        });
    }

    /// A phase of a preemptive clean that is one wait, or several steps where these need events.
    #[expect(clippy::too_many_arguments, reason = "what begins, where and when; a structure would only name them twice")]
    pub(super) fn begin_phase(
        &mut self,
        at: TimeNs,
        die: DieId,
        scope: u32,
        phase: Phase,
        steps: impl Iterator<Item = Step>,
        ns: u64,
        out: &mut Outbox,
    ) {
        let clean = self.dies[die.index()].clean_mut(scope);
        clean.phase = phase;
        if !self.lazy {
            // Reads of the page that is programmed do not interrupt its program; an erase is interrupted by all.
            let programmed = if phase == Phase::Program { clean.register } else { NO_PAGE };
            return self.begin_work(at, die, Worker::clean(scope), steps, programmed, out);
        }
        clean.work.wait(at, ns);
        self.dies[die.index()].course = None;
        let clean = self.dies[die.index()].clean_mut(scope);
        match phase {
            Phase::Program => clean.work.interruptible(at, clean.register),
            Phase::Erase => clean.work.interruptible(at, NO_PAGE),
            _ => {}
        }
    }

    /// The program of a page is over, and with it the writes that were merged into it.
    pub(super) fn program_over(&mut self, at: TimeNs, die: DieId, scope: u32, out: &mut Outbox) {
        let clean = self.dies[die.index()].clean_mut(scope);
        clean.register = NO_PAGE;
        let all = std::mem::take(&mut clean.ends_with_phase);
        self.finish_all(all, at, out);
    }

    /// Writes merged into a page that is dropped are done, though nothing has been programmed for them.
    pub(super) fn drop_merged(&mut self, operations: super::List, at: TimeNs, out: &mut Outbox) {
        let mut id = operations.head();
        while id != NONE {
            self.waiting[id].time.flash_ns = 0;
            id = self.waiting[id].next;
        }
        self.finish_all(operations, at, out);
    }

    pub(super) fn finish_all(&mut self, operations: super::List, at: TimeNs, out: &mut Outbox) {
        let mut id = operations.head();
        while id != NONE {
            let next = self.waiting[id].next;
            self.finish(id, at, out);
            id = next;
        }
    }

    /// A clean is over, and with it those of the die that end at the same nanosecond (rule 96).
    pub(super) fn clean_over(&mut self, at: TimeNs, die: DieId, scope: u32, out: &mut Outbox) {
        let ends_now = |clean: &Clean| clean.phase == Phase::Erase && clean.work.ends == at && !clean.work.has_steps();
        let also = |(other, clean): (usize, &Option<Clean>)| other == scope as usize || clean.as_ref().is_some_and(ends_now);
        let over = if self.by_plane {
            let state = &self.dies[die.index()];
            state.cleans.iter().enumerate().filter(|&entry| also(entry)).fold(0_u64, |over, (other, _)| over | 1 << other)
        } else {
            1
        };
        let (mut in_state_3, mut undisturbed) = (false, false);
        for scope in (0..64).filter(|scope| over >> scope & 1 == 1) {
            let clean = self.end_clean(at, die, scope, out);
            in_state_3 |= clean.state == State::AllWait;
            undisturbed |= clean.cause == Cause::Idle && !clean.disturbed;
        }
        self.after_cleans(at, die, over, in_state_3, undisturbed, out);
    }

    fn end_clean(&mut self, at: TimeNs, die: DieId, scope: u32, out: &mut Outbox) -> Clean {
        let preemptive = self.params.gc.preemption.is_some();
        let state = &mut self.dies[die.index()];
        let mut clean = state.cleans[scope as usize].take().expect("an erase belongs to a clean");
        state.clean_ended[scope as usize] = at;
        if !state.cleans_any() {
            state.collecting.set(at, false);
            self.worked.for_collection.stops(at);
            if state.held.is_on() {
                self.stop_working(at, die);
            }
        }
        if preemptive {
            clean.free_blocks_min = self.ftl.free_blocks_of_pool(die, clean.pool);
            self.ftl.erase(die, clean.pool, clean.victim);
        }
        let all_wait_from = clean.all_wait_from.min(at);
        let writes_wait_from = clean.writes_wait_from.min(all_wait_from);
        self.counters.gc_time_ns += at - clean.began;
        self.counters.gc_free_for_all_ns += writes_wait_from - clean.began;
        self.counters.gc_writes_wait_ns += all_wait_from - writes_wait_from;
        out.collections.push(GcInterval {
            member: self.member.0,
            die: die.0,
            pool: clean.pool,
            start_ns: clean.began,
            end_ns: at,
            pages_moved: clean.pages_moved,
            free_blocks_before: clean.free_blocks_before,
            free_blocks_min: clean.free_blocks_min,
            writes_wait_from_ns: writes_wait_from,
            all_wait_from_ns: all_wait_from,
            forced: clean.cause == Cause::Forced,
        });
        self.note_clean_over(at, die, scope, clean.needed.then_some(clean.began), out);
        clean
    }

    /// What follows the cleans in the scopes `over`.
    fn after_cleans(&mut self, at: TimeNs, die: DieId, over: u64, in_state_3: bool, undisturbed: bool, out: &mut Outbox) {
        let (preemptive, by_plane) = (self.params.gc.preemption.is_some(), self.by_plane);
        let state = self.die(die);
        match state.awaits {
            Some(Awaited::Scope(scope)) if over >> scope & 1 == 0 => {}
            _ => state.awaits = None,
        }
        if state.slot_is_free() {
            if preemptive && in_state_3 && self.serve_high_priority(at, die, out) {
                return;
            }
            if self.begin_forced(at, die, out) && !by_plane {
                return;
            }
            if undisturbed && self.begin_idle(at, die, out) && !by_plane {
                return;
            }
            if preemptive && self.begin_needed(at, die, Cause::Needed, out) && !by_plane {
                return;
            }
        } else if preemptive {
            self.dies[die.index()].check_follows = true;
        }
        self.go_on(at, die, out);
    }

    /// After state 3: the first high-priority write comes before anything else (rule 33). Says whether it does.
    fn serve_high_priority(&mut self, at: TimeNs, die: DieId, out: &mut Outbox) -> bool {
        let Some(id) = self.dies[die.index()].queue.first_high_priority_write(&self.waiting) else { return false };
        let busy_pools = self.busy_pools(die);
        let Some(pool) = self.ftl.place(die, self.waiting[id].lpn, busy_pools) else {
            self.waiting[id].refuse(at);
            return false;
        };
        self.die(die).check_follows = true;
        self.serve(at, id, None, pool, out);
        true
    }
}
