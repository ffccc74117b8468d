//! Mechanisms that occupy a die with pools. Operations then wait as they do for an operation that nothing can interrupt.

use super::work::Step;
use super::{NO_PAGE, PageContext, SlotPhase};
use crate::events::TimeNs;
use crate::ids::DieId;
use crate::ssd::job::DieExecutionUnitId;

impl PageContext<'_> {
    /// Asks the mechanisms of a die that could serve the first operation of its queue. Returns true if a mechanism occupies the die now.
    pub(super) fn is_held(&mut self, at: TimeNs, die: DieId) -> bool {
        let state = &mut self.own.dies[die.index()];
        let Some(until) = state.activity.mechanisms_busy_until(at) else { return false };
        state.activity.held.set(at, true);
        state.slot.phase = SlotPhase::Command;
        if !state.cleans_any() {
            state.activity.end_work(at, self.parts);
        }
        self.begin_work(at, die, DieExecutionUnitId::SLOT, std::iter::once(Step::wait(until - at)), NO_PAGE);
        true
    }
}
