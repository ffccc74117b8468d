//! A host operation and a step of a clean done together (PGC III.C; rules 37 and 103).

use super::super::{Effects, Ssd, Waiting};
use super::work::Step;
use super::{NEVER, NO_PAGE, Phase, SlotPhase, Worker};
use crate::events::TimeNs;
use crate::ids::{DieId, Lpn};
use crate::request::OpKind;

impl Ssd {
    /// A host read together with the clean's read of the page `lpn`.
    pub(super) fn read_both<W>(&mut self, at: TimeNs, id: u32, scope: u32, lpn: Lpn, fx: &mut Effects<W>) {
        let operation = self.take_waiting(at, id, true);
        let die = operation.die;
        self.goes_beside_clean(at, id, OpKind::Read, false);
        self.counters.host_pages_read += 1;
        // Under dynamic allocation the page may lie on another die by now.
        let same_plane = self.ftl.holds(die, operation.lpn) && self.ftl.plane_of(operation.lpn) == self.ftl.plane_of(lpn);
        let t = self.params.timing;
        self.die(die).clean_mut(scope).register = lpn;
        if self.lazy {
            let first_read = at + t.command_overhead_ns + t.page_read_ns;
            let host_ends = first_read + t.page_transfer_ns;
            let read = if same_plane { host_ends.max(first_read + t.page_read_ns) } else { host_ends };
            let ns = read + self.durations.transfers_of_move_ns() - at;
            self.begin_phase(at, die, scope, Phase::Read, std::iter::empty(), ns, fx);
            return self.finish(id, host_ends, fx);
        }
        let array_ns = t.command_overhead_ns + t.page_read_ns + if same_plane { t.page_read_ns } else { 0 };
        let clean = [Step::wait(array_ns), Step::Barrier].into_iter().chain(self.durations.transfers_of_move());
        self.begin_both(at, die, scope, id, Phase::Read, self.durations.read_steps(), clean, fx);
    }

    /// A host write together with the program of the page in the register.
    pub(super) fn program_both<W>(&mut self, at: TimeNs, id: u32, scope: u32, fx: &mut Effects<W>) {
        let Waiting { lpn, die, .. } = self.waiting[id];
        let moved = self.place_moved_page(die, scope);
        let clean_ns = self.durations.program_ns(moved.sealed);
        let pool = self.dies[die.index()].clean(scope).pool;
        // The clean's program takes its new page first; that may leave the write without room.
        let Some(pool) = self.pool_at_point(die, lpn, pool) else {
            self.waiting[id].refuse(at);
            return self.program_alone(at, die, scope, moved, fx);
        };
        self.take_waiting(at, id, true);
        let sealed = self.write(die, pool, lpn);
        self.note_write(at, die, pool, fx);
        self.goes_beside_clean(at, id, OpKind::Write, sealed);
        self.counters.host_pages_written += 1;
        let same_plane = self.ftl.plane_of(lpn) == moved.plane;
        let t = self.params.timing;
        if self.lazy {
            let clean_ends = at + clean_ns;
            let transferred = at + t.command_overhead_ns + t.page_transfer_ns;
            let program = if same_plane { transferred.max(clean_ends) } else { transferred };
            let host_ends = program + self.durations.program_ns(sealed);
            let merged = std::mem::take(&mut self.die(die).clean_mut(scope).merged);
            self.begin_phase(at, die, scope, Phase::Program, std::iter::empty(), host_ends.max(clean_ends) - at, fx);
            // Two programs done together are not interrupted.
            self.die(die).clean_mut(scope).work.flight_from = NEVER;
            self.finish_all(merged, clean_ends, fx);
            return self.finish(id, host_ends, fx);
        }
        let clean = self.die(die).clean_mut(scope);
        clean.ends_with_phase = std::mem::take(&mut clean.merged);
        let barrier = same_plane.then_some(Step::Barrier);
        let host = [Step::wait(t.command_overhead_ns), Step::Transfer(t.page_transfer_ns)]
            .into_iter()
            .chain(barrier)
            .chain(self.durations.program_steps(sealed));
        let clean = self.durations.program_steps(moved.sealed);
        self.begin_both(at, die, scope, id, Phase::Program, host, clean, fx);
        self.place_waiting(at, fx);
    }

    fn goes_beside_clean(&mut self, at: TimeNs, id: u32, kind: OpKind, sealed: bool) {
        self.counters.pipelined += 1;
        let operation = &mut self.waiting[id];
        operation.starts(at, true);
        self.durations.spend(kind, true, sealed, &mut operation.time);
    }

    /// Begins both, the host's first; neither can be interrupted.
    #[expect(clippy::too_many_arguments, reason = "what begins, where and when; a structure would only name them twice")]
    fn begin_both<W>(
        &mut self,
        at: TimeNs,
        die: DieId,
        scope: u32,
        id: u32,
        phase: Phase,
        host: impl Iterator<Item = Step>,
        clean: impl Iterator<Item = Step>,
        fx: &mut Effects<W>,
    ) {
        let state = self.die(die);
        state.slot.phase = SlotPhase::Together;
        state.slot.let_in_by = Some(scope);
        state.slot.leaving = id;
        state.clean_mut(scope).phase = phase;
        // The clean's part must not look ready before it has begun.
        state.clean_mut(scope).work.stop();
        state.clean_mut(scope).together = true;
        self.begin_work(at, die, Worker::SLOT, host, NO_PAGE, fx);
        self.begin_work(at, die, Worker::clean(scope), clean, NO_PAGE, fx);
    }

    /// Whether a worker that has come to a barrier goes on: a clean's read when the host's has left the die, a host's program when the
    /// clean's is over. If not, the other worker wakes it.
    pub(super) fn passes_barrier(&self, die: DieId, worker: Worker) -> bool {
        let slot = &self.dies[die.index()].slot;
        let scope = slot.let_in_by.expect("a clean has let the operation in");
        let clean = self.dies[die.index()].clean(scope);
        if worker == Worker::SLOT { !clean.together } else { slot.leaving == super::NONE }
    }

    /// One of the two is over: the other goes on if it waits for that; when both are, the clean comes to a point.
    pub(super) fn together_over<W>(&mut self, at: TimeNs, die: DieId, worker: Worker, fx: &mut Effects<W>) {
        let scope = self.dies[die.index()].slot.let_in_by.expect("a clean has let the operation in");
        if worker == Worker::SLOT {
            self.leave(at, die, fx);
        } else {
            self.die(die).clean_mut(scope).together = false;
            let all = std::mem::take(&mut self.die(die).clean_mut(scope).ends_with_phase);
            self.finish_all(all, at, fx);
        }
        let other = if worker == Worker::SLOT { Worker::clean(scope) } else { Worker::SLOT };
        if self.die(die).work_mut(other).is_at_barrier() {
            return self.next_work_step(at, die, other, fx);
        }
        let state = self.die(die);
        if state.slot.leaving == super::NONE && !state.clean(scope).together {
            let clean = state.clean_mut(scope);
            if clean.phase == Phase::Program {
                clean.register = NO_PAGE;
            }
            self.slot_freed(at, die, fx);
        }
    }
}
