//! Mechanisms that hold a die of a drive: reads and jobs wait as behind a job that nothing interrupts.

use super::SuperpageTurn;
use crate::events::TimeNs;
use crate::ssd::job::SuperpageWake;

impl SuperpageTurn<'_> {
    /// Returns true if a mechanism holds a die that has no job, or waits for its reads to end.
    pub(super) fn is_held(&mut self, now: TimeNs, die: u32) -> bool {
        let state = &mut self.own.dies[die as usize];
        if state.activity.mechanisms.is_none() || state.exclusive.is_some() {
            return false;
        }
        if state.reading > 0 {
            return state.activity.is_wanted(now);
        }
        let until = if state.has_something_waiting() { state.activity.hold(now) } else { None };
        if until != state.held_until {
            state.held_until = until;
            state.activity.held.set(now, until.is_some());
            if let Some(until) = until {
                self.out.wake(until, SuperpageWake::Held(die));
            }
        }
        until.is_some()
    }
}
