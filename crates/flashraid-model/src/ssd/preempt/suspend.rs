//! Reads that interrupt a program or an erase in flight (rule 39).

use super::super::{Effects, NONE, Pending, Ssd, Suspension};
use super::queue::Admitted;
use super::{NEVER, Phase, State};
use crate::TimeNs;

/// What may interrupt the current phase, and what has been interrupted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Interruption {
    /// The program or erase is in flight from then on; never, if the phase has none.
    from: TimeNs,
    /// The lpn that is being programmed.
    lpn: u32,
    times: u32,
    phase: Phase,
    rest_ns: u64,
}

impl Default for Interruption {
    fn default() -> Self {
        Self { from: NEVER, lpn: NONE, times: 0, phase: Phase::Idle, rest_ns: 0 }
    }
}

impl Interruption {
    /// Allows it from `from` on, while `lpn` is programmed or something erased.
    pub fn allow(&mut self, from: TimeNs, lpn: u32) {
        (self.from, self.lpn) = (from, lpn);
    }
}

impl Ssd {
    pub(super) fn suspension(&self) -> Option<Suspension> {
        self.params.gc.preemption.and_then(|preemption| preemption.suspension)
    }

    /// An operation has entered the queue: it may interrupt what is in flight.
    pub(super) fn interrupt_for(&mut self, now: TimeNs, id: u32) {
        let Some(suspension) = self.suspension() else { return };
        let Pending { op, lpn, die, .. } = self.pending[id];
        let state = &mut self.stepwise[die as usize];
        let in_flight = state.interruption.from <= now && now < state.ends;
        let admitted = state.clean.is_none_or(|clean| clean.state != State::AllWait) && lpn != state.interruption.lpn;
        if op.write || !in_flight || !admitted || state.interruption.times >= suspension.times_max {
            return;
        }
        if state.queue.first_on(lpn, &self.pending) != Some(id) {
            return;
        }
        self.counters.suspensions += 1;
        let interruption = &mut state.interruption;
        interruption.phase = state.phase;
        interruption.rest_ns = state.ends - now;
        interruption.times += 1;
        interruption.from = NEVER;
        (state.phase, state.began, state.ends) = (Phase::Suspending, now, now + suspension.suspend_ns);
    }

    /// The next read that may go in, or the way back.
    pub(super) fn serve_while_suspended<W>(&mut self, at: TimeNs, die: u32, fx: &mut Effects<W>) {
        let state = &mut self.stepwise[die as usize];
        let programmed = state.interruption.lpn;
        let reads = Admitted { reads: true, writes: false };
        let next = state.queue.candidates(reads, &self.pending).find(|&id| self.pending[id].lpn != programmed);
        state.began = at;
        if let Some(id) = next {
            (state.phase, state.ends) = (Phase::SuspendedRead, at + self.steps.read_ns);
            let operation = self.take_waiting(at, id);
            self.counters.host_pages_read += 1;
            self.finish(id, at + self.steps.read_ns, operation.met_gc, fx);
        } else {
            let resume_ns = self.suspension().map_or(0, |suspension| suspension.resume_ns);
            let state = &mut self.stepwise[die as usize];
            (state.phase, state.ends) = (Phase::Resuming, at + resume_ns);
        }
    }

    /// The interrupted operation goes on.
    pub(super) fn resume(&mut self, at: TimeNs, die: u32) {
        let state = &mut self.stepwise[die as usize];
        let interruption = &mut state.interruption;
        interruption.from = at;
        (state.phase, state.began, state.ends) = (interruption.phase, at, at + interruption.rest_ns);
    }
}
