//! Collection in idle time (rules 38 and 98).

use super::{PageTurn, SlotPhase};
use crate::events::TimeNs;
use crate::ids::DieId;
use crate::ssd::job::{Cause, NEVER, Worker};

impl PageTurn<'_> {
    /// Nothing waits: the die rests, if nothing is being cleaned either.
    pub(super) fn rest(&mut self, at: TimeNs, die: DieId) {
        let idle_ns = self.own.watermarks.idle_ns();
        let state = &mut self.own.dies[die.index()];
        if state.slot.phase == SlotPhase::Resting || state.cleans_any() {
            return;
        }
        state.slot.phase = SlotPhase::Resting;
        state.slot.work.stop();
        state.activity.stops(at, self.parts);
        if let Some(idle_ns) = idle_ns {
            self.begin_wait(at, die, Worker::SLOT, idle_ns, NEVER);
        }
    }

    /// Events for the ends of the first rests, which begin with the run.
    pub fn begin(&mut self) {
        let Some(idle_ns) = self.own.watermarks.idle_ns() else { return };
        for die in (0..self.own.dies.len() as u32).map(DieId) {
            self.begin_wait(0, die, Worker::SLOT, idle_ns, NEVER);
            self.keep_awake(die);
        }
    }

    /// The die has rested for long enough.
    pub(super) fn rest_over(&mut self, at: TimeNs, die: DieId) {
        if !self.begin_idle(at, die) {
            self.die(die).slot.work.stop();
        }
    }

    /// Begins cleans because nothing waits: of pools that need one, or else of those that may profit. Says whether there was one.
    pub(super) fn begin_idle(&mut self, at: TimeNs, die: DieId) -> bool {
        if self.own.watermarks.idle_ns().is_none() {
            // The run is over.
            return false;
        }
        if self.begin_needed(at, die, Cause::Idle) {
            return true;
        }
        if self.is_denied() {
            return false;
        }
        self.begin_cleans(at, die, Cause::Idle, false, |watermarks, pools, busy| watermarks.in_idle_time(pools, die, busy))
    }

    /// After `now` no idle collection begins (rule 38). Wake-ups for it are void from now on.
    pub fn end_idle_collection(&mut self, now: TimeNs) {
        self.catch_up_each(now, NEVER);
        self.stop_idle_work();
        self.own.watermarks.idle_ends();
        for state in &mut self.own.dies {
            if state.slot.phase == SlotPhase::Resting {
                state.slot.work.stop();
            }
            for clean in state.cleans.iter_mut().flatten() {
                clean.disturbed = true;
            }
        }
    }
}
