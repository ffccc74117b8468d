//! Collection in idle time (rules 38 and 98).

use super::{PageContext, SlotPhase};
use crate::events::TimeNs;
use crate::ids::DieId;
use crate::ssd::job::{Cause, DieExecutionUnitId, NEVER};

impl PageContext<'_> {
    /// Starts an idle period if no operation waits and no clean is in progress.
    pub(super) fn begin_idle_period(&mut self, at: TimeNs, die: DieId) {
        let idle_ns = self.own.watermarks.idle_ns();
        let state = &mut self.own.dies[die.index()];
        if state.slot.phase == SlotPhase::Resting || state.cleans_any() {
            return;
        }
        if self.turn_free_blocks(at).is_some() && self.begin_needed(at, die, Cause::FreeBlocksNeeded) {
            return;
        }
        let state = &mut self.own.dies[die.index()];
        state.slot.phase = SlotPhase::Resting;
        state.slot.work.stop();
        state.activity.end_work(at, self.parts);
        if let Some(idle_ns) = idle_ns {
            self.begin_wait(at, die, DieExecutionUnitId::SLOT, idle_ns, NEVER);
        }
    }

    /// Schedules the ends of the idle periods at the beginning of the run.
    pub(crate) fn begin(&mut self) {
        let Some(idle_ns) = self.own.watermarks.idle_ns() else { return };
        for die in (0..self.own.dies.len() as u32).map(DieId) {
            self.begin_wait(0, die, DieExecutionUnitId::SLOT, idle_ns, NEVER);
            self.schedule_wake_up(die);
        }
    }

    /// Ends the wait after which an idle die collects.
    pub(super) fn idle_wait_ended(&mut self, at: TimeNs, die: DieId) {
        if !self.begin_idle(at, die) {
            self.die(die).slot.work.stop();
        }
    }

    /// Begins cleans on an idle die: first those that pools need, otherwise those for idle time. Returns true if any clean began.
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

    /// Ends collection in idle time for good: after `now`, none begins (rule 38). Wake-ups for it have no effect any more.
    pub(crate) fn forbid_new_idle_collection(&mut self, now: TimeNs) {
        self.catch_up_each(now, NEVER);
        self.stop_idle_work();
        self.own.watermarks.idle_ends();
        for state in &mut self.own.dies {
            if state.slot.phase == SlotPhase::Resting {
                state.slot.work.stop();
            }
            for clean in state.cleans.iter_mut().flatten() {
                clean.was_interrupted = true;
            }
        }
    }
}
