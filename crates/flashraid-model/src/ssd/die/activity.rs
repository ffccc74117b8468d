//! Work and rest of a die, and the mechanisms that hold it: the same for all dies.

use crate::events::TimeNs;
use crate::ssd::job::{Clock, NEVER};
use crate::ssd::mechanism::AtDie;
use crate::ssd::parts::Parts;

/// Work and rest of a die, and the state of its mechanisms.
#[derive(Debug, Clone)]
pub struct Activity {
    /// State of the listed mechanisms at this die; `None` without any.
    pub mechanisms: Option<Box<AtDie>>,
    /// Time for which mechanisms hold it while something waits.
    pub held: Clock,
    /// Begin of the work without a break; `NEVER` while the die rests.
    works_since: TimeNs,
    /// While it rests: since when.
    rests_since: TimeNs,
}

impl Activity {
    /// A die that has rested from the start.
    pub fn new(mechanisms: Option<Box<AtDie>>) -> Self {
        Self { mechanisms, held: Clock::default(), works_since: NEVER, rests_since: 0 }
    }

    /// Returns since when it has worked without a break, if it works.
    pub fn works_since(&self) -> Option<TimeNs> {
        (self.works_since != NEVER).then_some(self.works_since)
    }

    /// The die has something to do from now on.
    #[inline]
    pub fn begins(&mut self, at: TimeNs, parts: &mut Parts) {
        if self.works_since == NEVER {
            parts.worked.at_all.begins(at);
        }
        self.works_since = at.min(self.works_since);
    }

    /// The die does nothing any more for the host or for collection.
    #[inline]
    pub fn stops(&mut self, at: TimeNs, parts: &mut Parts) {
        let since = std::mem::replace(&mut self.works_since, NEVER);
        if since == NEVER {
            return;
        }
        self.rests_since = at;
        parts.worked.at_all.stops(at);
        if let Some(usage) = &mut parts.usage {
            usage.worked(since, at);
        }
    }

    /// Asks the mechanisms of a die at which something waits that could begin. Returns until when one of them holds the die.
    pub fn hold(&mut self, now: TimeNs) -> Option<TimeNs> {
        let rests_since = if self.works_since == NEVER { self.rests_since } else { now };
        self.mechanisms.as_mut()?.hold(rests_since, now)
    }

    /// Returns true if a mechanism wants the die as soon as that has done what it does.
    pub fn is_wanted(&self, now: TimeNs) -> bool {
        self.mechanisms.as_ref().is_some_and(|mechanisms| mechanisms.is_due(now))
    }

    /// A rest ends without asking for leave. Work that follows on work at once leaves a mechanism no rest to begin in.
    pub fn rest_ends(&mut self, at: TimeNs) {
        if let Some(mechanisms) = self.mechanisms.as_mut().filter(|_| self.rests_since < at) {
            mechanisms.pass(self.rests_since, at);
        }
    }
}
