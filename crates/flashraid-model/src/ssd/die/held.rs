//! Mechanisms that hold a die with pools: operations wait as behind one that nothing interrupts.

use super::work::Step;
use super::{NO_PAGE, SlotPhase, Worker};
use crate::events::TimeNs;
use crate::ids::DieId;
use crate::ssd::job::NEVER;
use crate::ssd::{Outbox, Ssd};

impl Ssd {
    /// Asks the mechanisms of a die whose slot is free, and for whose queue the head could be served. Returns true if one holds the die:
    /// then it has the slot.
    pub(super) fn is_held(&mut self, at: TimeNs, die: DieId, out: &mut Outbox) -> bool {
        let state = &mut self.dies[die.index()];
        let Some(mechanisms) = &mut state.mechanisms else { return false };
        let rests_since = if state.works_since == NEVER { state.rests_since } else { at };
        let Some(until) = mechanisms.hold(rests_since, at) else { return false };
        state.held.set(at, true);
        state.slot.phase = SlotPhase::Command;
        if !state.cleans_any() {
            self.stop_working(at, die);
        }
        self.begin_work(at, die, Worker::SLOT, std::iter::once(Step::wait(until - at)), NO_PAGE, out);
        true
    }

    /// A die does nothing any more for the host or for collection.
    pub(super) fn stop_working(&mut self, at: TimeNs, die: DieId) {
        let state = &mut self.dies[die.index()];
        let since = std::mem::replace(&mut state.works_since, NEVER);
        if since == NEVER {
            return;
        }
        state.rests_since = at;
        self.worked.at_all.stops(at);
        if let Some(usage) = &mut self.usage {
            usage.worked(since, at);
        }
    }
}
