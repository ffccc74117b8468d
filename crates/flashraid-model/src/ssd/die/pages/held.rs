//! Mechanisms that hold a die with pools: operations wait as behind one that nothing interrupts.

use super::work::Step;
use super::{NO_PAGE, PageTurn, SlotPhase};
use crate::events::TimeNs;
use crate::ids::DieId;
use crate::ssd::job::Worker;

impl PageTurn<'_> {
    /// Asks the mechanisms of a die whose slot is free, and for whose queue the head could be served. Returns true if one holds the die:
    /// then it has the slot.
    pub(super) fn is_held(&mut self, at: TimeNs, die: DieId) -> bool {
        let state = &mut self.own.dies[die.index()];
        let Some(until) = state.activity.hold(at) else { return false };
        state.activity.held.set(at, true);
        state.slot.phase = SlotPhase::Command;
        if !state.cleans_any() {
            state.activity.stops(at, self.parts);
        }
        self.begin_work(at, die, Worker::SLOT, std::iter::once(Step::wait(until - at)), NO_PAGE);
        true
    }
}
