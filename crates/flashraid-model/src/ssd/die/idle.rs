//! Collection in idle time (rules 38 and 98).

use super::super::{Outbox, Ssd};
use super::{SlotPhase, Worker};
use crate::events::TimeNs;
use crate::ids::DieId;
use crate::ssd::job::{Cause, NEVER};

impl Ssd {
    /// Nothing waits: the die rests, if nothing is being cleaned either.
    pub(super) fn rest(&mut self, at: TimeNs, die: DieId, out: &mut Outbox) {
        let idle_ns = self.params.gc.idle_ns;
        let state = self.die(die);
        if state.slot.phase == SlotPhase::Resting || state.cleans_any() {
            return;
        }
        state.slot.phase = SlotPhase::Resting;
        state.slot.work.stop();
        self.stop_working(at, die);
        if let Some(idle_ns) = idle_ns {
            self.begin_wait(at, die, Worker::SLOT, idle_ns, NEVER, out);
        }
    }

    /// Events for the ends of the first rests, which begin with the run.
    pub fn begin(&mut self, out: &mut Outbox) {
        if self.drive.is_some() {
            return self.with_drive(out, |drive, out| drive.await_idle(0, out));
        }
        let Some(idle_ns) = self.params.gc.idle_ns else { return };
        for die in (0..self.dies.len() as u32).map(DieId) {
            self.begin_wait(0, die, Worker::SLOT, idle_ns, NEVER, out);
            self.keep_awake(die, out);
        }
    }

    /// The die has rested for long enough.
    pub(super) fn rest_over(&mut self, at: TimeNs, die: DieId, out: &mut Outbox) {
        if !self.begin_idle(at, die, out) {
            self.die(die).slot.work.stop();
        }
    }

    /// Begins cleans because nothing waits: of pools that need one, or else of those that may profit. Says whether there was one.
    pub(super) fn begin_idle(&mut self, at: TimeNs, die: DieId, out: &mut Outbox) -> bool {
        if self.params.gc.idle_ns.is_none() {
            // The run is over.
            return false;
        }
        if self.begin_needed(at, die, Cause::Idle, out) {
            return true;
        }
        if self.is_denied() {
            return false;
        }
        self.begin_cleans(at, die, Cause::Idle, false, out, |ftl, busy| ftl.next_idle_clean(die, busy))
    }

    /// After `now` no idle collection begins (rule 38). Wake-ups for it are void from now on.
    pub fn end_idle_collection(&mut self, now: TimeNs, out: &mut Outbox) {
        if self.drive.is_some() {
            return self.with_drive(out, |drive, out| drive.end_idle(now, out));
        }
        self.catch_up_each(now, NEVER, out);
        self.stop_idle_work();
        self.params.gc.idle_ns = None;
        for state in &mut self.dies {
            if state.slot.phase == SlotPhase::Resting {
                state.slot.work.stop();
            }
            for clean in state.cleans.iter_mut().flatten() {
                clean.disturbed = true;
            }
        }
    }
}
