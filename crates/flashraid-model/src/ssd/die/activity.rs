//! Busy and idle time of a die, and the mechanisms that occupy it. It is the same for all dies.

use crate::events::TimeNs;
use crate::ssd::job::{NEVER, Stopwatch};
use crate::ssd::mechanism::AtDie;
use crate::ssd::parts::Parts;

/// Busy and idle time of a die, and the state of its mechanisms.
#[derive(Debug, Clone)]
pub struct Activity {
    /// State of the die's mechanisms; `None` if the device has none.
    pub mechanisms: Option<Box<AtDie>>,
    /// Total time for which mechanisms occupied the die while operations waited.
    pub held: Stopwatch,
    /// Start of the current busy period; `NEVER` while the die is idle.
    works_since: TimeNs,
    /// Start of the current idle period, while the die is idle.
    rests_since: TimeNs,
}

impl Activity {
    /// Returns the state of a die that has been idle from the start.
    pub fn new(mechanisms: Option<Box<AtDie>>) -> Self {
        Self { mechanisms, held: Stopwatch::default(), works_since: NEVER, rests_since: 0 }
    }

    /// Returns the start of the current busy period, if the die is busy.
    pub fn works_since(&self) -> Option<TimeNs> {
        (self.works_since != NEVER).then_some(self.works_since)
    }

    /// Starts a busy period.
    #[inline]
    pub fn begin_work(&mut self, at: TimeNs, parts: &mut Parts) {
        if self.works_since == NEVER {
            parts.work_times.any_work.begin(at);
        }
        self.works_since = at.min(self.works_since);
    }

    /// Ends the busy period, because the die has no more work for the host or for collection.
    #[inline]
    pub fn end_work(&mut self, at: TimeNs, parts: &mut Parts) {
        let since = std::mem::replace(&mut self.works_since, NEVER);
        if since == NEVER {
            return;
        }
        self.rests_since = at;
        parts.work_times.any_work.end(at);
        if let Some(usage) = &mut parts.usage {
            usage.record_work(since, at);
        }
    }

    /// Asks the mechanisms whether waiting operations may start. Returns the time until which a mechanism occupies the die, if one does.
    pub fn hold(&mut self, now: TimeNs) -> Option<TimeNs> {
        let rests_since = if self.works_since == NEVER { self.rests_since } else { now };
        self.mechanisms.as_mut()?.hold(rests_since, now)
    }

    /// Returns true if a mechanism wants the die as soon as its current work ends.
    pub fn mechanism_is_due(&self, now: TimeNs) -> bool {
        self.mechanisms.as_ref().is_some_and(|mechanisms| mechanisms.is_due(now))
    }

    /// Begins an array read for the host, which takes `array_ns`. Mechanisms ask for the number of the page and the erases of its block.
    /// Returns the additional time of the array.
    #[inline]
    pub fn further_ns(&mut self, array_ns: u64, page_and_erases: impl FnOnce() -> (u32, u32)) -> u64 {
        let Some(mechanisms) = &mut self.mechanisms else { return 0 };
        let (page, erases) = page_and_erases();
        mechanisms.further_ns(page, erases, array_ns)
    }

    /// Ends an idle period without asking the mechanisms. Work that follows other work at once leaves them no idle time to start in.
    pub fn end_rest(&mut self, at: TimeNs) {
        if let Some(mechanisms) = self.mechanisms.as_mut().filter(|_| self.rests_since < at) {
            mechanisms.pass(self.rests_since, at);
        }
    }
}
