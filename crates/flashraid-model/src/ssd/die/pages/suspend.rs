//! Suspension: reads interrupt a program or an erase that is in progress (Wu & He, FAST 2012; rules 39 and 102).

use super::queue::Admitted;
use super::waiting::{NONE, Waiting};
use super::work::Work;
use super::{Clean, NO_PAGE, PageContext, Phase, SlotPhase, State};
use crate::events::TimeNs;
use crate::ids::{DieId, Lpn};
use crate::request::OpKind;
use crate::ssd::job::DieExecutionUnitId;

/// Program or erase that a read has interrupted.
#[derive(Debug, Clone)]
pub(super) struct Suspended {
    /// Worker that was interrupted: the slot for a host write, or the clean in a scope.
    worker: DieExecutionUnitId,
    /// Time that the interrupted operation still needs, in nanoseconds.
    remaining_ns: u64,
    /// Page that is being programmed.
    programmed: Lpn,
    /// Scope whose pages reads may access in addition to scopes that are not busy.
    scope: Option<u32>,
    /// Interrupted host write, which ends after the suspension.
    finishing: u32,
    own: Work,
}

impl Suspended {
    /// Returns true if it belongs to this worker.
    pub(super) fn is_of(&self, worker: DieExecutionUnitId) -> bool {
        self.worker == worker
    }

    /// Returns true if a host write waits for the interrupted operation.
    pub(super) fn holds_write(&self) -> bool {
        self.finishing != NONE
    }
}

impl PageContext<'_> {
    /// Interrupts an array operation of a worker that has just begun or continues. The first waiting read does it that may, and before
    /// which at least `arrivals` operations entered the queue. Returns true if one did.
    pub(super) fn interrupt_for_waiting(&mut self, at: TimeNs, die: DieId, worker: DieExecutionUnitId, arrivals: u64) -> bool {
        if self.own.suspension.is_none() || worker.companion().is_some() {
            return false;
        }
        let queue = &self.own.dies[die.index()].queue;
        if queue.reads() == 0 || queue.arrivals() == arrivals {
            return false;
        }
        let reads = Admitted { reads: true, writes: false };
        let since: Vec<u32> = queue.candidates(reads, &self.own.waiting).filter(|&id| self.own.waiting[id].arrival >= arrivals).collect();
        since.into_iter().any(|id| self.interrupt_for(at, id, Some(worker)))
    }

    /// Interrupts the program or erase in progress for a read of the queue, if that is allowed. With `only`, no other worker is
    /// interrupted. Returns true if one was.
    pub(super) fn interrupt_for(&mut self, now: TimeNs, id: u32, only: Option<DieExecutionUnitId>) -> bool {
        let Some(suspension) = self.own.suspension else { return false };
        let Waiting { op, lpn, die, .. } = self.own.waiting[id];
        if op.kind != OpKind::Read || !self.pools.holds(die, lpn) {
            return false;
        }
        let needed = self.scope_of(die, lpn, op.kind).unwrap_or(0);
        let state = &self.own.dies[die.index()];
        let admits = |clean: &Clean| clean.state != State::AllWait;
        let (worker, scope) = match state.slot.phase {
            SlotPhase::Command => {
                let scope = state.slot.admitted_by;
                let may = match scope {
                    Some(scope) => admits(state.clean(scope)) && (scope == needed || state.cleans[needed as usize].is_none()),
                    None => state.cleans[needed as usize].is_none(),
                };
                (may.then_some(DieExecutionUnitId::SLOT), scope)
            }
            SlotPhase::Free => {
                let clean = state.cleans[needed as usize].as_ref();
                let may = clean.is_some_and(|clean| admits(clean) && matches!(clean.phase, Phase::Program | Phase::Erase));
                (may.then_some(DieExecutionUnitId::clean(needed)), Some(needed))
            }
            _ => (None, None),
        };
        let Some(worker) = worker.filter(|&worker| only.is_none_or(|only| only == worker)) else { return false };
        if state.queue.first_on(lpn, &self.own.waiting) != Some(id) {
            return false;
        }
        let state = self.die(die);
        let work = state.work_mut(worker);
        if !work.is_interruptible(now) || work.lpn == lpn || work.interruptions >= suspension.suspensions_max {
            return false;
        }
        work.interruptions += 1;
        let (remaining_ns, programmed) = (work.ends - now, work.lpn);
        work.stop();
        let own = if worker == DieExecutionUnitId::SLOT { std::mem::take(work) } else { Work::default() };
        let finishing = std::mem::replace(&mut state.slot.finishing, NONE);
        state.slot.suspended = Some(Suspended { worker, remaining_ns, programmed, scope, finishing, own });
        state.slot.phase = SlotPhase::Suspending;
        self.parts.counters.suspensions += 1;
        self.begin_slot_wait(now, die, suspension.suspend_ns);
        true
    }

    /// Begins a wait of the slot, with an event if waits need events.
    fn begin_slot_wait(&mut self, at: TimeNs, die: DieId, ns: u64) {
        if self.own.lazy {
            self.die(die).slot.work.wait(at, ns);
        } else {
            self.begin_work(at, die, DieExecutionUnitId::SLOT, std::iter::once(super::work::Step::wait(ns)), NO_PAGE);
        }
    }

    /// Serves the next read that is allowed during the suspension. If there is none, begins to resume the interrupted operation.
    pub(super) fn serve_while_suspended(&mut self, at: TimeNs, die: DieId) {
        let state = &self.own.dies[die.index()];
        let suspended = state.slot.suspended.as_ref().expect("something is suspended");
        let (of_clean, programmed) = (suspended.worker != DieExecutionUnitId::SLOT, suspended.programmed);
        let busy = if self.own.by_plane { state.busy_scopes() & !suspended.scope.map_or(0, |scope| 1 << scope) } else { 0 };
        let reads = Admitted { reads: true, writes: false };
        let next = state.queue.candidates(reads, &self.own.waiting).find(|&id| {
            let Waiting { op, lpn, .. } = self.own.waiting[id];
            let free = self.scope_of(die, lpn, op.kind).is_none_or(|scope| busy >> scope & 1 == 0);
            op.kind == OpKind::Read && lpn != programmed && free
        });
        let Some(id) = next else {
            let resume_ns = self.own.suspension.map_or(0, |suspension| suspension.resume_ns);
            let state = self.die(die);
            state.collecting.set(at, of_clean);
            state.slot.phase = SlotPhase::Resuming;
            return self.begin_slot_wait(at, die, resume_ns);
        };
        let lpn = self.own.waiting[id].lpn;
        self.take_waiting(at, id, of_clean);
        let array_ns = self.array_ns(lpn);
        self.parts.counters.host_pages_read += 1;
        self.own.waiting[id].starts(at, false);
        self.own.durations.spend(OpKind::Read, array_ns, false, &mut self.own.waiting[id].time);
        let ns = self.own.durations.command_ns(OpKind::Read, array_ns, false);
        let lazy = self.own.lazy;
        let state = self.die(die);
        state.collecting.set(at, false);
        state.slot.phase = SlotPhase::SuspendedRead;
        if lazy {
            state.slot.work.wait(at, ns);
            self.finish(id, at + ns);
        } else {
            state.slot.finishing = id;
            let steps = self.own.durations.command_steps(OpKind::Read, array_ns, false);
            self.begin_work(at, die, DieExecutionUnitId::SLOT, steps, NO_PAGE);
        }
    }

    /// Resumes the interrupted operation.
    pub(super) fn resume(&mut self, at: TimeNs, die: DieId) {
        let state = self.die(die);
        let Suspended { worker, remaining_ns, finishing, own, .. } = state.slot.suspended.take().expect("something is suspended");
        state.slot.finishing = finishing;
        if worker == DieExecutionUnitId::SLOT {
            state.slot.phase = SlotPhase::Command;
            state.slot.work = own;
        } else {
            state.slot.phase = SlotPhase::Free;
            state.slot.work.stop();
        }
        let work = state.work_mut(worker);
        work.plain_end = at + remaining_ns + work.remaining_ns();
        self.begin_wait(at, die, worker, remaining_ns, at);
        if self.interrupt_for_waiting(at, die, worker, 0) {
            return;
        }
        if worker != DieExecutionUnitId::SLOT && self.own.by_plane {
            self.slot_freed(at, die);
        }
    }
}
