//! Preemption points between the steps of a clean: poll, served operations, and next step (rules 31, 33 to 36 and 94).

use super::queue::Admitted;
use super::waiting::Waiting;
use super::{Clean, NO_PAGE, PageContext, Phase, SlotPhase, State};
use crate::events::TimeNs;
use crate::ids::{DieId, Lpn};
use crate::request::OpKind;
use crate::space::pools::Moved;
use crate::ssd::job::DieExecutionUnitId;
use crate::ssd::params::{GcPreemption, HostOverlapWithMoves};

impl PageContext<'_> {
    pub(super) fn preemption(&self) -> &GcPreemption {
        self.parts.params.gc.preemption.as_ref().expect("only a preemptive clean has steps")
    }

    /// Begins a poll at a preemption point, unless the state of the clean allows none.
    pub(super) fn point(&mut self, at: TimeNs, die: DieId, scope: u32) {
        if self.own.dies[die.index()].clean(scope).state == State::AllWait {
            self.next_step(at, die, scope);
        } else {
            let poll_duration_ns = self.own.durations.poll_duration_ns;
            self.begin_phase(at, die, scope, Phase::Poll, self.own.durations.poll_steps(), poll_duration_ns);
        }
    }

    /// Ends a poll, and begins the work that it has found.
    pub(super) fn polled(&mut self, at: TimeNs, die: DieId, scope: u32) {
        self.update_state(at, die, scope);
        let state = &self.own.dies[die.index()];
        let clean = state.clean(scope);
        let (clean_state, register, victim) = (clean.state, clean.register, clean.victim);
        if self.own.lazy && at == clean.began + self.own.durations.poll_duration_ns {
            self.pools.prefetch_moves(victim);
        }
        if clean_state == State::AllWait || state.queue.is_empty() || !state.slot_is_free() {
            self.next_step(at, die, scope);
        } else if register == NO_PAGE {
            self.at_point_2(at, die, scope);
        } else {
            self.at_point_1(at, die, scope);
        }
    }

    /// Updates the state of the clean from the free blocks and the queue (rule 33).
    fn update_state(&mut self, at: TimeNs, die: DieId, scope: u32) {
        let pool = self.own.dies[die.index()].clean(scope).pool;
        let below_hard = self.own.watermarks.is_below_hard(self.pools, die, pool);
        let state = &mut self.own.dies[die.index()];
        let urgent = state.queue.high_priority_waits();
        let clean = state.clean_mut(scope);
        if clean.state == State::AllMayGoIn && below_hard {
            clean.state = State::WritesWait;
            clean.writes_wait_from = at;
        }
        if clean.state == State::WritesWait && urgent {
            clean.state = State::AllWait;
            clean.all_wait_from = at;
        }
    }

    /// Returns true if a host write may use a page of the pool during this clean.
    fn has_room(&self, die: DieId, pool: u32) -> bool {
        if self.own.by_plane { self.pools.has_room_for_host_write(die, pool) } else { self.pools.any_room(die) }
    }

    /// Returns the pool for a host write that is served at a preemption point of a clean in `pool`; `None` if there is no room.
    pub(super) fn pool_at_point(&mut self, die: DieId, lpn: Lpn, pool: u32) -> Option<u32> {
        let busy = if self.own.by_plane { !(1 << pool) } else { 0 };
        self.pools.choose_pool_for_write(die, lpn, busy)
    }

    /// Returns true if writes may be served now. If only room is missing, marks the waiting writes as refused.
    fn writes_may_go_in(&mut self, at: TimeNs, die: DieId, scope: u32) -> bool {
        let state = &self.own.dies[die.index()];
        let clean = state.clean(scope);
        if clean.state != State::AllMayGoIn || state.queue.writes() == 0 {
            return false;
        }
        let room = self.has_room(die, clean.pool);
        if !room {
            self.own.dies[die.index()].queue.refuse_writes(at, &mut self.own.waiting);
        }
        room
    }

    /// Returns true if the clean in `scope` may serve an operation at its preemption points (rule 94). With plane blocking, it serves
    /// writes, and reads of its plane.
    fn can_be_served_in(&self, id: u32, die: DieId, scope: u32) -> bool {
        let Waiting { op, lpn, .. } = self.own.waiting[id];
        !self.own.by_plane || op.kind == OpKind::Write || self.scope_of(die, lpn, op.kind) == Some(scope)
    }

    /// Returns the operations that may be served at this point, in order.
    pub(super) fn candidates(&self, die: DieId, scope: u32, admitted: Admitted) -> impl Iterator<Item = u32> {
        let queue = &self.own.dies[die.index()].queue;
        queue.candidates(admitted, &self.own.waiting).filter(move |&id| self.can_be_served_in(id, die, scope))
    }

    pub(super) fn first_candidate(&self, die: DieId, scope: u32, admitted: Admitted) -> Option<u32> {
        self.candidates(die, scope, admitted).next()
    }

    /// Returns true if an operation of this kind can overlap with a step of a clean.
    pub(super) fn can_join(&self, id: u32, kind: OpKind) -> bool {
        let Waiting { op, lpn, .. } = self.own.waiting[id];
        op.kind == kind && (kind == OpKind::Write || self.pools.is_mapped(lpn))
    }

    fn at_point_1(&mut self, at: TimeNs, die: DieId, scope: u32) {
        let GcPreemption { merge, pipeline, .. } = *self.preemption();
        let clean = self.own.dies[die.index()].clean(scope);
        let (register, pool) = (clean.register, clean.pool);
        let register_is_valid = self.pools.lies_in(register, clean.victim);
        if merge
            && register_is_valid
            && let Some(id) = self.own.dies[die.index()].queue.first_on(register, &self.own.waiting)
            && self.own.waiting[id].op.kind != OpKind::Trim
        {
            return self.merge(at, id, scope);
        }
        let admitted = Admitted { reads: false, writes: self.writes_may_go_in(at, die, scope) };
        let Some(id) = self.first_candidate(die, scope, admitted) else { return self.next_step(at, die, scope) };
        if pipeline != HostOverlapWithMoves::NoOverlap
            && register_is_valid
            && self.own.dies[die.index()]
                .queue
                .first_on(register, &self.own.waiting)
                .is_none_or(|id| self.own.waiting[id].op.kind != OpKind::Write)
            && let Some(ids) = self.all_of_kind(die, scope, admitted, OpKind::Write)
        {
            return self.program_all(at, &ids, die, scope);
        }
        let pool = self.pool_at_point(die, self.own.waiting[id].lpn, pool).expect("only a write that has room is admitted");
        self.serve(at, id, Some(scope), pool);
    }

    fn at_point_2(&mut self, at: TimeNs, die: DieId, scope: u32) {
        let GcPreemption { reorder, pipeline, .. } = *self.preemption();
        let admitted = Admitted { reads: true, writes: self.writes_may_go_in(at, die, scope) };
        let first = self.first_candidate(die, scope, admitted);
        let clean = self.own.dies[die.index()].clean(scope);
        let (clean_state, victim, pool) = (clean.state, clean.victim, clean.pool);
        if reorder {
            let writes_only = Admitted { reads: false, writes: clean_state == State::WritesWait };
            let wants = first.or_else(|| self.first_candidate(die, scope, writes_only));
            let wanted = wants.map(|id| self.own.waiting[id]).filter(|waiting| waiting.op.kind != OpKind::Trim);
            if let Some(Waiting { lpn, .. }) = wanted
                && self.pools.lies_in(lpn, victim)
            {
                return self.read_page(at, die, scope, lpn);
            }
        }
        let Some(id) = first else { return self.next_step(at, die, scope) };
        if pipeline != HostOverlapWithMoves::NoOverlap
            && let Some(lpn) = self.pools.first_valid_lpn(victim)
            && let Some(ids) = self.all_of_kind(die, scope, admitted, OpKind::Read)
        {
            return self.read_all(at, &ids, die, scope, lpn);
        }
        let Waiting { op, lpn, .. } = self.own.waiting[id];
        let pool =
            if op.kind == OpKind::Write { self.pool_at_point(die, lpn, pool).expect("only a write that has room is admitted") } else { 0 };
        self.serve(at, id, Some(scope), pool);
    }

    /// Begins the clean's own next step.
    pub(super) fn next_step(&mut self, at: TimeNs, die: DieId, scope: u32) {
        let Clean { register, victim, .. } = *self.own.dies[die.index()].clean(scope);
        if register == NO_PAGE {
            match self.pools.first_valid_lpn(victim) {
                Some(lpn) => self.read_page(at, die, scope, lpn),
                None => {
                    let ns = self.own.durations.erase_ns;
                    self.begin_phase(at, die, scope, Phase::Erase, self.own.durations.erase_steps(), ns);
                }
            }
        } else if self.pools.lies_in(register, victim) {
            self.program_page(at, die, scope);
        } else {
            self.parts.counters.gc_pages_read_in_vain += 1;
            let clean = self.own.dies[die.index()].clean_mut(scope);
            clean.register = NO_PAGE;
            let merged = std::mem::take(&mut clean.merged);
            self.drop_merged(merged, at);
            self.point(at, die, scope);
        }
    }

    fn read_page(&mut self, at: TimeNs, die: DieId, scope: u32, lpn: Lpn) {
        let plane = self.pools.plane_of(lpn);
        let clean = self.own.dies[die.index()].clean_mut(scope);
        (clean.register, clean.plane) = (lpn, plane);
        let ns = self.own.durations.clean_read_ns();
        self.begin_phase(at, die, scope, Phase::Read, self.own.durations.clean_read_steps(), ns);
    }

    /// Chooses the new place of the page in the register. Returns its plane, and true if its program fills a block.
    pub(super) fn place_moved_page(&mut self, die: DieId, scope: u32) -> Moved {
        let clean = self.own.dies[die.index()].clean_mut(scope);
        let moved = self.pools.move_page(die, clean.pool, clean.register);
        clean.plane = moved.plane;
        if clean.merged.is_empty() {
            self.parts.counters.gc_pages_moved += 1;
            clean.pages_moved += 1;
        } else {
            self.parts.counters.moves_replaced_by_host_writes += 1;
        }
        self.parts.counters.block_summary_pages_programmed += u64::from(moved.sealed && self.parts.params.geometry.has_summary_page);
        moved
    }

    fn program_page(&mut self, at: TimeNs, die: DieId, scope: u32) {
        let moved = self.place_moved_page(die, scope);
        self.program_alone(at, die, scope, moved);
    }

    /// Programs the page in the register without host operations.
    pub(super) fn program_alone(&mut self, at: TimeNs, die: DieId, scope: u32, moved: Moved) {
        let (lazy, suspends) = (self.own.lazy, self.own.suspension.is_some());
        let Moved { sealed, crosses, .. } = moved;
        let crossing_ns = self.own.durations.crossing_ns(crosses);
        let ns = crossing_ns + self.own.durations.program_ns(sealed);
        let clean = self.own.dies[die.index()].clean_mut(scope);
        let merged = std::mem::take(&mut clean.merged);
        if lazy && !suspends {
            self.finish_all(merged, at + ns);
        } else {
            clean.ends_with_phase = merged;
        }
        let steps = self.own.durations.clean_program_steps(sealed, crosses);
        if lazy && suspends && crossing_ns > 0 {
            // The begin of the program is told apart from the transfers, since reads may suspend it then.
            let clean = self.own.dies[die.index()].clean_mut(scope);
            clean.phase = Phase::Program;
            let programmed = clean.register;
            return self.begin_work(at, die, DieExecutionUnitId::clean(scope), steps, programmed);
        }
        self.begin_phase(at, die, scope, Phase::Program, steps, ns);
    }

    /// Serves an operation on the page in the register directly from the register (rule 35).
    fn merge(&mut self, at: TimeNs, id: u32, scope: u32) {
        let Waiting { op, die, .. } = self.own.waiting[id];
        self.take_waiting(at, id, true);
        let transfer_ns = self.own.durations.transfer_ns;
        let (lazy, steps) = (self.own.lazy, self.own.durations.merge_steps());
        self.parts.counters.operations_served_from_move_register += 1;
        self.own.waiting[id].starts(at, true);
        self.own.waiting[id].time.transfer_ns += transfer_ns;
        let state = self.die(die);
        state.collecting.set(at, false);
        state.slot.phase = SlotPhase::Merge;
        state.slot.admitted_by = Some(scope);
        state.clean_mut(scope).let_operation_pass();
        if op.kind == OpKind::Write {
            self.own.waiting[id].time.flash_ns += self.own.durations.program_ns(false);
            self.parts.counters.host_pages_written += 1;
            let mut merged = self.own.dies[die.index()].clean(scope).merged;
            merged.push(id, &mut self.own.waiting);
            self.die(die).clean_mut(scope).merged = merged;
        } else {
            self.parts.counters.host_pages_read += 1;
            if lazy {
                self.finish(id, at + transfer_ns);
            } else {
                self.die(die).slot.finishing = id;
            }
        }
        if lazy {
            self.die(die).slot.work.wait(at, transfer_ns);
        } else {
            self.begin_work(at, die, DieExecutionUnitId::SLOT, steps, NO_PAGE);
        }
        if op.kind == OpKind::Write {
            self.place_waiting(at);
        }
    }

    /// Returns true if a waiting operation could be served by a later poll of the clean, or could change the clean's state.
    pub(super) fn may_admit_later(&self, clean: &Clean, queue: &super::Queue) -> bool {
        match clean.state {
            State::AllMayGoIn => true,
            State::WritesWait => queue.reads() > 0 || queue.high_priority_waits() || self.preemption().merge,
            State::AllWait => false,
        }
    }
}
