//! Mechanisms that occupy a die of a drive. Reads and jobs then wait as they do for a job that nothing can interrupt.

use super::SuperpageContext;
use crate::events::TimeNs;
use crate::ssd::job::SuperpageWake;

impl SuperpageContext<'_> {
    /// Asks the mechanisms of a die that has no job, or that only waits for its reads to end. Returns true if a mechanism occupies the die
    /// now.
    pub(super) fn is_held(&mut self, now: TimeNs, die: u32) -> bool {
        let state = &mut self.own.dies[die as usize];
        if state.activity.mechanisms.is_none() || state.exclusive.is_some() {
            return false;
        }
        if state.reading > 0 {
            return state.activity.mechanism_is_due(now);
        }
        let until = if state.has_something_waiting() { state.activity.mechanisms_busy_until(now) } else { None };
        if until != state.held_until {
            state.held_until = until;
            state.activity.held.set(now, until.is_some());
            if let Some(until) = until {
                self.out.wake(until, SuperpageWake::DieDelayMechanismEnds(die));
            }
        }
        until.is_some()
    }
}
