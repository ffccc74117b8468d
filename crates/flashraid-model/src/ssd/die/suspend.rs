//! Reads that interrupt a program or an erase in flight (Wu & He, FAST 2012; rules 39 and 102).

use super::super::{NONE, Outbox, Ssd, Waiting};
use super::queue::Admitted;
use super::{Clean, NO_PAGE, Phase, SlotPhase, State, Work, Worker};
use crate::events::TimeNs;
use crate::ids::{DieId, Lpn};
use crate::request::OpKind;

/// What has been interrupted.
#[derive(Debug, Clone)]
pub(super) struct Suspended {
    /// The slot's own host write, or the clean in a scope.
    worker: Worker,
    /// What is left of its wait.
    rest_ns: u64,
    /// The page that is being programmed.
    programmed: Lpn,
    /// The scope in which reads may be served besides those that are not busy.
    scope: Option<u32>,
    /// The host write that goes on later, and its work.
    leaving: u32,
    own: Work,
}

impl Suspended {
    /// The end of a host write depends on it.
    pub(super) fn holds_write(&self) -> bool {
        self.leaving != NONE
    }
}

impl Ssd {
    /// An operation has joined the queue and waits: it may interrupt what is in flight.
    pub(super) fn interrupt_for(&mut self, now: TimeNs, id: u32, out: &mut Outbox) {
        let Some(suspension) = self.suspension else { return };
        let Waiting { op, lpn, die, .. } = self.waiting[id];
        if op.kind != OpKind::Read || !self.ftl.holds(die, lpn) {
            return;
        }
        let needed = self.scope_of(die, lpn, op.kind).unwrap_or(0);
        let state = &self.dies[die.index()];
        let admits = |clean: &Clean| clean.state != State::AllWait;
        let (worker, scope) = match state.slot.phase {
            SlotPhase::Command => {
                let scope = state.slot.let_in_by;
                let may = match scope {
                    Some(scope) => admits(state.clean(scope)) && (scope == needed || state.cleans[needed as usize].is_none()),
                    None => state.cleans[needed as usize].is_none(),
                };
                (may.then_some(Worker::SLOT), scope)
            }
            SlotPhase::Free => {
                let clean = state.cleans[needed as usize].as_ref();
                let may = clean.is_some_and(|clean| admits(clean) && matches!(clean.phase, Phase::Program | Phase::Erase));
                (may.then_some(Worker::clean(needed)), Some(needed))
            }
            _ => (None, None),
        };
        let Some(worker) = worker else { return };
        if state.queue.first_on(lpn, &self.waiting) != Some(id) {
            return;
        }
        let state = self.die(die);
        let work = state.work_mut(worker);
        if !work.is_in_flight(now) || work.lpn == lpn || work.interruptions >= suspension.times_max {
            return;
        }
        work.interruptions += 1;
        let (rest_ns, programmed) = (work.ends - now, work.lpn);
        work.stop();
        let own = if worker == Worker::SLOT { std::mem::take(work) } else { Work::default() };
        let leaving = std::mem::replace(&mut state.slot.leaving, NONE);
        state.slot.suspended = Some(Suspended { worker, rest_ns, programmed, scope, leaving, own });
        state.slot.phase = SlotPhase::Suspending;
        self.counters.suspensions += 1;
        self.begin_slot_wait(now, die, suspension.suspend_ns, out);
    }

    /// The slot's own wait, with an event if there have to be events.
    fn begin_slot_wait(&mut self, at: TimeNs, die: DieId, ns: u64, out: &mut Outbox) {
        if self.lazy {
            self.die(die).slot.work.wait(at, ns);
        } else {
            self.begin_work(at, die, Worker::SLOT, std::iter::once(super::work::Step::wait(ns)), NO_PAGE, out);
        }
    }

    /// The next read that may go in, or the way back.
    pub(super) fn serve_while_suspended(&mut self, at: TimeNs, die: DieId, out: &mut Outbox) {
        let state = &self.dies[die.index()];
        let suspended = state.slot.suspended.as_ref().expect("something is suspended");
        let (of_clean, programmed) = (suspended.worker != Worker::SLOT, suspended.programmed);
        let busy = if self.by_plane { state.busy_scopes() & !suspended.scope.map_or(0, |scope| 1 << scope) } else { 0 };
        let reads = Admitted { reads: true, writes: false };
        let next = state.queue.candidates(reads, &self.waiting).find(|&id| {
            let Waiting { op, lpn, .. } = self.waiting[id];
            let free = self.scope_of(die, lpn, op.kind).is_none_or(|scope| busy >> scope & 1 == 0);
            op.kind == OpKind::Read && lpn != programmed && free
        });
        let Some(id) = next else {
            let resume_ns = self.suspension.map_or(0, |suspension| suspension.resume_ns);
            let state = self.die(die);
            state.collecting.set(at, of_clean);
            state.slot.phase = SlotPhase::Resuming;
            return self.begin_slot_wait(at, die, resume_ns, out);
        };
        let lpn = self.waiting[id].lpn;
        self.take_waiting(at, id, of_clean, out);
        let mapped = self.ftl.is_mapped(lpn);
        self.counters.host_pages_read += 1;
        self.waiting[id].starts(at, false);
        self.durations.spend(OpKind::Read, mapped, false, &mut self.waiting[id].time);
        let ns = self.durations.command_ns(OpKind::Read, mapped, false);
        let lazy = self.lazy;
        let state = self.die(die);
        state.collecting.set(at, false);
        state.slot.phase = SlotPhase::SuspendedRead;
        if lazy {
            state.slot.work.wait(at, ns);
            self.finish(id, at + ns, out);
        } else {
            state.slot.leaving = id;
            let steps = self.durations.command_steps(OpKind::Read, mapped, false);
            self.begin_work(at, die, Worker::SLOT, steps, NO_PAGE, out);
        }
    }

    /// The interrupted operation goes on.
    pub(super) fn resume(&mut self, at: TimeNs, die: DieId, out: &mut Outbox) {
        let state = self.die(die);
        let Suspended { worker, rest_ns, leaving, own, .. } = state.slot.suspended.take().expect("something is suspended");
        state.slot.leaving = leaving;
        if worker == Worker::SLOT {
            state.slot.phase = SlotPhase::Command;
            state.slot.work = own;
        } else {
            state.slot.phase = SlotPhase::Free;
            state.slot.work.stop();
        }
        let work = state.work_mut(worker);
        work.plain_end = at + rest_ns + work.rest_ns();
        self.begin_wait(at, die, worker, rest_ns, at, out);
        if worker != Worker::SLOT && self.by_plane {
            self.slot_freed(at, die, out);
        }
    }
}
