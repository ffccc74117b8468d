//! Mechanisms that hold a die of a drive: reads and jobs wait as behind a job that nothing interrupts.

use super::{Drive, DriveWake};
use crate::events::TimeNs;
use crate::ssd::Outbox;

impl Drive {
    /// Returns true if a mechanism holds a die that has no job, or waits for its reads to end.
    pub(super) fn is_held(&mut self, now: TimeNs, die: u32, out: &mut Outbox) -> bool {
        let state = &mut self.dies[die as usize];
        if state.mechanisms.is_none() || state.exclusive.is_some() {
            return false;
        }
        let waits = state.has_something_waiting();
        let Some(mechanisms) = &mut state.mechanisms else { return false };
        if state.reading > 0 {
            return mechanisms.is_due(now);
        }
        let rests_since = if state.works_since.is_some() { now } else { state.rests_since };
        let until = if waits { mechanisms.hold(rests_since, now) } else { None };
        if until != state.held_until {
            state.held_until = until;
            state.held.set(now, until.is_some());
            if let Some(until) = until {
                out.wake(until, DriveWake::Held(die));
            }
        }
        until.is_some()
    }
}
