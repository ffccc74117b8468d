//! A poll of the queue between two steps of a clean, and the step that follows it (rules 31 and 33 to 37).

use super::super::{Effects, NONE, Pending, Preemption, Ssd};
use super::queue::Admitted;
use super::{Clean, Phase, State};
use crate::TimeNs;
use crate::ftl::Moved;

impl Ssd {
    pub(super) fn preemption(&self) -> &Preemption {
        self.params.gc.preemption.as_ref().expect("only a preemptive clean has steps")
    }

    pub(super) fn poll_ns(&self) -> u64 {
        self.params.gc.preemption.map_or(0, |preemption| preemption.poll_ns)
    }

    /// A point is reached: a poll, unless the state allows none any more.
    pub(super) fn begin_poll<W>(&mut self, at: TimeNs, die: u32, fx: &mut Effects<W>) {
        if self.clean_mut(die).state == State::AllWait {
            self.next_step(at, die, fx);
        } else {
            let poll_ns = self.poll_ns();
            self.stepwise[die as usize].enter(Phase::Poll, at, poll_ns);
        }
    }

    pub(super) fn poll_over<W>(&mut self, at: TimeNs, die: u32, fx: &mut Effects<W>) {
        let clean = self.update_state(at, die);
        if at == clean.began + self.poll_ns() {
            self.ftl.prefetch_moves(clean.victim);
        }
        if clean.state == State::AllWait || self.stepwise[die as usize].queue.is_empty() {
            self.next_step(at, die, fx);
        } else if clean.register == NONE {
            self.poll_at_point_2(at, die, &clean, fx);
        } else {
            self.poll_at_point_1(at, die, &clean, fx);
        }
    }

    /// From a poll at point 2 on: the moves that are over, with the poll behind them, before `now`, if nothing that waits can go in
    /// meanwhile. What the steps would do one by one, at a fraction of the cost.
    pub(super) fn move_undisturbed(&mut self, now: TimeNs, die: u32) {
        let state = &self.stepwise[die as usize];
        let Some(mut clean) = state.clean else { return };
        let disturbed = !state.queue.is_empty() && self.may_let_in(&clean, &state.queue);
        if clean.register != NONE || clean.state == State::AllWait || disturbed {
            return;
        }
        let poll_ns = self.poll_ns();
        let move_ns = self.steps.move_ns + 2 * poll_ns;
        let mut at = state.ends;
        let mut moved = 0;
        if at + 4 * move_ns < now {
            self.ftl.prefetch_moves(clean.victim);
        }
        let mut room = self.ftl.room_for_moves(die, clean.pool);
        while at + move_ns < now
            && let Some(lpn) = self.ftl.first_valid_lpn(clean.victim)
        {
            if clean.state == State::AllMayGoIn && self.is_below_hard(die, clean.pool) {
                clean.state = State::WritesWait;
                clean.writes_wait_from = at;
            }
            let seals = self.steps.blocks_sealed_by(1, room) > 0;
            let next = at + move_ns + if seals { self.steps.seal_ns } else { 0 };
            if next >= now {
                break;
            }
            self.ftl.move_page(die, clean.pool, lpn);
            self.counters.summary_programs += u64::from(seals && self.params.geometry.summary_page);
            room = self.ftl.room_for_moves(die, clean.pool);
            moved += 1;
            at = next;
        }
        if moved > 0 {
            self.counters.gc_pages_moved += u64::from(moved);
            clean.pages_moved += moved;
            let state = &mut self.stepwise[die as usize];
            state.clean = Some(clean);
            (state.began, state.ends) = (at - poll_ns, at);
        }
    }

    #[inline]
    pub(super) fn is_below_hard(&self, die: u32, pool: u32) -> bool {
        f64::from(self.ftl.free_blocks_of_pool(die, pool)) < self.hard_free_blocks
    }

    /// Sets the state by the free blocks and the queue (rule 33).
    fn update_state(&mut self, at: TimeNs, die: u32) -> Clean {
        let state = &mut self.stepwise[die as usize];
        let clean = state.clean.as_mut().expect("a poll belongs to a clean");
        let free_blocks = self.ftl.free_blocks_of_pool(die, clean.pool);
        if clean.state == State::AllMayGoIn && f64::from(free_blocks) < self.hard_free_blocks {
            clean.state = State::WritesWait;
            clean.writes_wait_from = at;
        }
        if state.queue.high_priority_waits() && free_blocks <= self.params.gc.start_free_blocks {
            clean.state = State::AllWait;
            clean.all_wait_from = at;
        }
        *clean
    }

    /// Whether writes may go in now; those that only want room are noted.
    fn writes_may_go_in(&mut self, at: TimeNs, die: u32, clean: &Clean) -> bool {
        let queue = &mut self.stepwise[die as usize].queue;
        if clean.state != State::AllMayGoIn || queue.writes() == 0 {
            return false;
        }
        let room = self.ftl.any_room(die);
        if !room {
            queue.refuse_writes(at, &mut self.pending);
        }
        room
    }

    fn poll_at_point_1<W>(&mut self, at: TimeNs, die: u32, clean: &Clean, fx: &mut Effects<W>) {
        let preemption = *self.preemption();
        if preemption.merge
            && let Some(id) = self.stepwise[die as usize].queue.first_on(clean.register, &self.pending)
        {
            return self.merge(at, id, fx);
        }
        let admitted = Admitted { reads: false, writes: self.writes_may_go_in(at, die, clean) };
        let mut candidates = self.stepwise[die as usize].queue.candidates(admitted, &self.pending);
        let Some(id) = candidates.next() else {
            drop(candidates);
            return self.next_step(at, die, fx);
        };
        let alone = preemption.pipeline && candidates.next().is_none();
        drop(candidates);
        let to_program = self.ftl.lies_in(clean.register, clean.victim) && self.pending[id].lpn != clean.register;
        if alone && to_program {
            self.program_both(at, id, fx);
        } else {
            self.serve(at, id, fx);
        }
    }

    fn poll_at_point_2<W>(&mut self, at: TimeNs, die: u32, clean: &Clean, fx: &mut Effects<W>) {
        let preemption = *self.preemption();
        let admitted = Admitted { reads: true, writes: self.writes_may_go_in(at, die, clean) };
        let queue = &self.stepwise[die as usize].queue;
        let mut candidates = queue.candidates(admitted, &self.pending);
        let first = candidates.next();
        if preemption.reorder {
            let writes_only = Admitted { reads: false, writes: clean.state == State::WritesWait };
            let wanted = first.or_else(|| queue.candidates(writes_only, &self.pending).next()).map(|id| self.pending[id].lpn);
            if let Some(lpn) = wanted
                && self.ftl.lies_in(lpn, clean.victim)
            {
                drop(candidates);
                return self.read_page(at, die, lpn);
            }
        }
        let Some(id) = first else {
            drop(candidates);
            return self.next_step(at, die, fx);
        };
        let alone = preemption.pipeline && !self.pending[id].op.write && candidates.next().is_none();
        drop(candidates);
        match self.ftl.first_valid_lpn(clean.victim) {
            Some(lpn) if alone => self.read_both(at, id, lpn, fx),
            _ => self.serve(at, id, fx),
        }
    }

    /// The clean's own next step by itself.
    fn next_step<W>(&mut self, at: TimeNs, die: u32, fx: &mut Effects<W>) {
        let Clean { register, victim, .. } = *self.clean_mut(die);
        if register == NONE {
            match self.ftl.first_valid_lpn(victim) {
                Some(lpn) => self.read_page(at, die, lpn),
                None => {
                    let erase_ns = self.steps.erase_ns;
                    let state = &mut self.stepwise[die as usize];
                    state.enter(Phase::Erase, at, erase_ns);
                    state.interruption.allow(at, NONE);
                }
            }
        } else if self.ftl.lies_in(register, victim) {
            self.program_page(at, die, fx);
        } else {
            self.counters.gc_pages_dropped += 1;
            self.clean_mut(die).register = NONE;
            self.begin_poll(at, die, fx);
        }
    }

    fn transfers_of_move_ns(&self) -> u64 {
        if self.params.gc.copy_back { 0 } else { 2 * self.params.timing.page_transfer_ns }
    }

    fn read_page(&mut self, at: TimeNs, die: u32, lpn: u32) {
        let duration_ns = self.params.timing.page_read_ns + self.transfers_of_move_ns();
        self.clean_mut(die).register = lpn;
        self.stepwise[die as usize].enter(Phase::Read, at, duration_ns);
    }

    /// A host read together with the clean's read of the page of `lpn` (rule 37).
    fn read_both<W>(&mut self, at: TimeNs, id: u32, lpn: u32, fx: &mut Effects<W>) {
        let operation = self.take_waiting(at, id);
        let die = operation.die;
        let t = self.params.timing;
        let first_read = at + t.command_overhead_ns + t.page_read_ns;
        let host_ends = first_read + t.page_transfer_ns;
        let read =
            if self.ftl.plane_of(operation.lpn) == self.ftl.plane_of(lpn) { host_ends.max(first_read + t.page_read_ns) } else { host_ends };
        self.counters.pipelined += 1;
        self.counters.host_pages_read += 1;
        self.read_page(at, die, lpn);
        self.stepwise[die as usize].ends = read + self.transfers_of_move_ns();
        self.finish(id, host_ends, operation.met_gc, fx);
    }

    /// Takes the new place of the page in the register and returns it with the end of the program.
    fn begin_program(&mut self, at: TimeNs, die: u32) -> (Moved, TimeNs) {
        let Clean { register, pool, .. } = *self.clean_mut(die);
        let moved = self.ftl.move_page(die, pool, register);
        if self.stepwise[die as usize].merged.is_empty() {
            self.counters.gc_pages_moved += 1;
            self.clean_mut(die).pages_moved += 1;
        } else {
            self.counters.merged_moves += 1;
        }
        let ends = at + self.params.timing.page_program_ns + self.seal_ns(moved.sealed);
        self.stepwise[die as usize].enter(Phase::Program, at, ends - at);
        (moved, ends)
    }

    /// The time of the summary, if a program has sealed a block.
    fn seal_ns(&mut self, sealed: bool) -> u64 {
        self.counters.summary_programs += u64::from(sealed && self.params.geometry.summary_page);
        if sealed { self.steps.seal_ns } else { 0 }
    }

    fn program_page<W>(&mut self, at: TimeNs, die: u32, fx: &mut Effects<W>) {
        let (_, ends) = self.begin_program(at, die);
        self.end_program_alone(at, ends, die, fx);
    }

    /// The program of the page in the register goes on by itself until `ends`.
    fn end_program_alone<W>(&mut self, at: TimeNs, ends: TimeNs, die: u32, fx: &mut Effects<W>) {
        if self.suspension().is_some() {
            let state = &mut self.stepwise[die as usize];
            let register = state.clean.map_or(NONE, |clean| clean.register);
            state.interruption.allow(at, register);
            state.ends_with_phase = std::mem::take(&mut state.merged);
        } else {
            self.finish_merged(ends, die, fx);
        }
    }

    /// A host write together with the program of the page in the register (rule 37).
    fn program_both<W>(&mut self, at: TimeNs, id: u32, fx: &mut Effects<W>) {
        let Pending { lpn, die, .. } = self.pending[id];
        let (moved, clean_ends) = self.begin_program(at, die);
        let Some(pool) = self.ftl.place(die, lpn, 0) else {
            self.pending[id].refuse(at);
            return self.end_program_alone(at, clean_ends, die, fx);
        };
        let operation = self.take_waiting(at, id);
        let sealed = self.ftl.write(die, pool, lpn);
        self.note_write(at, die, lpn, fx);
        let t = self.params.timing;
        let transferred = at + t.command_overhead_ns + t.page_transfer_ns;
        let program = if self.ftl.plane_of(lpn) == moved.plane { transferred.max(clean_ends) } else { transferred };
        let host_ends = program + t.page_program_ns + self.seal_ns(sealed);
        self.counters.pipelined += 1;
        self.counters.host_pages_written += 1;
        self.stepwise[die as usize].ends = host_ends.max(clean_ends);
        self.finish_merged(clean_ends, die, fx);
        self.finish(id, host_ends, operation.met_gc, fx);
    }

    /// An operation on the page in the register is served from it (rule 35).
    fn merge<W>(&mut self, at: TimeNs, id: u32, fx: &mut Effects<W>) {
        let Pending { op, die, met_gc, .. } = self.take_waiting(at, id);
        let transfer_ns = self.params.timing.page_transfer_ns;
        self.counters.merges += 1;
        let state = &mut self.stepwise[die as usize];
        state.enter(Phase::Merge, at, transfer_ns);
        if op.write {
            self.counters.host_pages_written += 1;
            state.merged.push(id, &mut self.pending);
        } else {
            self.counters.host_pages_read += 1;
            self.finish(id, at + transfer_ns, met_gc, fx);
        }
    }

    /// The writes merged into the page in the register are done at `ends`.
    fn finish_merged<W>(&mut self, ends: TimeNs, die: u32, fx: &mut Effects<W>) {
        let merged = std::mem::take(&mut self.stepwise[die as usize].merged);
        self.finish_all(merged, ends, fx);
    }
}
