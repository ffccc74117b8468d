//! Busy and idle time of a die, and the mechanisms that occupy it. Both kinds of dies use it.

use crate::events::TimeNs;
use crate::ssd::job::{NEVER, Stopwatch};
use crate::ssd::mechanism::AtDie;
use crate::ssd::parts::SsdParts;

/// Busy and idle time of a die, and the state of its mechanisms.
#[derive(Debug, Clone)]
pub(crate) struct Activity {
    /// State of the die's mechanisms; `None` if the device has none.
    pub(crate) mechanisms: Option<Box<AtDie>>,
    /// Total time for which mechanisms occupied the die while operations had to wait.
    pub(crate) held: Stopwatch,
    /// Start of the current busy period; [`NEVER`] while the die is idle.
    busy_since: TimeNs,
    /// Start of the current idle period, if the die is idle.
    idle_since: TimeNs,
}

impl Activity {
    /// Returns the state of a die that is idle when the run starts.
    pub(super) fn new(mechanisms: Option<Box<AtDie>>) -> Self {
        Self { mechanisms, held: Stopwatch::default(), busy_since: NEVER, idle_since: 0 }
    }

    /// Returns the start of the current busy period, if the die is busy.
    pub(crate) fn busy_since(&self) -> Option<TimeNs> {
        (self.busy_since != NEVER).then_some(self.busy_since)
    }

    /// Starts a busy period.
    #[inline]
    pub(crate) fn begin_work(&mut self, at: TimeNs, parts: &mut SsdParts) {
        if self.busy_since == NEVER {
            parts.work_times.any_work.begin(at);
        }
        self.busy_since = at.min(self.busy_since);
    }

    /// Ends the busy period, because the die has no more work for the host or for collection.
    #[inline]
    pub(crate) fn end_work(&mut self, at: TimeNs, parts: &mut SsdParts) {
        let since = std::mem::replace(&mut self.busy_since, NEVER);
        if since == NEVER {
            return;
        }
        self.idle_since = at;
        parts.work_times.any_work.end(at);
        if let Some(usage) = &mut parts.usage {
            usage.record_work(since, at);
        }
    }

    /// Asks the mechanisms whether waiting operations may start. If a mechanism occupies the die, returns the time until which it does.
    pub(crate) fn mechanisms_busy_until(&mut self, now: TimeNs) -> Option<TimeNs> {
        let idle_since = if self.busy_since == NEVER { self.idle_since } else { now };
        self.mechanisms.as_mut()?.occupied_by_delay_mechanisms_until(idle_since, now)
    }

    /// Returns true if a mechanism wants the die as soon as its current work ends.
    pub(crate) fn mechanism_is_due(&self, now: TimeNs) -> bool {
        self.mechanisms.as_ref().is_some_and(|mechanisms| mechanisms.has_delay_mechanism_due(now))
    }

    /// Returns the time that mechanisms, such as read retries, add to a host's read of the flash array, which alone takes `array_ns`.
    /// `page_and_erases` tells them the number of the page in the SSD and the number of erases of its block.
    #[inline]
    pub(crate) fn extra_array_ns(&mut self, array_ns: u64, page_and_erases: impl FnOnce() -> (u64, u32)) -> u64 {
        let Some(mechanisms) = &mut self.mechanisms else { return 0 };
        let (page, erases) = page_and_erases();
        mechanisms.read_ns_added_by_delay_mechanisms(page, erases, array_ns)
    }

    /// Ends an idle period without asking the mechanisms. Work that follows other work at once gives them no idle time.
    pub(crate) fn end_idle_period(&mut self, at: TimeNs) {
        if let Some(mechanisms) = self.mechanisms.as_mut().filter(|_| self.idle_since < at) {
            mechanisms.idle_period_ended(self.idle_since, at);
        }
    }
}
