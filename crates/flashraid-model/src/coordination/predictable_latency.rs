//! Predictable latency mode of NVMe, as a member of the scheme `windows` has it (rules 284 to 289).
//!
//! A member is in its deterministic window (DTWIN) or in its non-deterministic one (NDWIN). The controller orders the windows. A member
//! leaves its DTWIN by itself if more is asked of it than it has promised, or if it runs short of free blocks.

use crate::TimeNs;
use crate::counts::Maximum;
use crate::request::OpKind;

/// Attributes of a member's windows: what its drive promises, and the warnings for which the controller has asked (rules 285 to 288).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PredictableLatencySettings {
    /// Number of page reads, number of page writes, and nanoseconds that a deterministic window is good for. `None` stands for no limit.
    pub dtwin_attributes: [Option<u64>; 3],
    /// Estimates of reads, writes and nanoseconds below which an event warns. With 0, there is none.
    pub dtwin_thresholds: [u64; 3],
    /// Length of the non-deterministic window that restores all estimates, in nanoseconds. It is 0 if any length does.
    pub ndwin_time_minimum_high_ns: u64,
    /// Length of the non-deterministic window that the drive begins by itself, in nanoseconds.
    pub ndwin_time_minimum_low_ns: u64,
    /// Length of the last part of that window, in which no further collection begins, in nanoseconds.
    pub end_margin_ns: u64,
}

counts! {
    /// Number of page reads that a member got in windows of one kind, and their response times.
    pub struct ReadsInWindow {
        /// Number of page reads that have been answered.
        reads,
        /// Sum of their response times, in nanoseconds.
        total_ns: u128,
        /// Longest of their response times, in nanoseconds.
        longest_ns: Maximum,
    }
}

counts! {
    /// Deterministic and non-deterministic windows of members, and what ended them (rule 289).
    pub struct PredictableLatencyCounters {
        /// Number of deterministic windows that have ended.
        dtwins,
        /// Number of deterministic windows that drives ended by themselves, because of more reads, more writes, or more time than
        /// promised.
        ended_by_attribute: [u64; 3],
        /// Number of deterministic windows that drives ended by themselves, because they had to collect (deterministic excursions).
        ended_by_excursion,
        /// Number of deterministic windows that ended with an estimate of reads, of writes, or of time below its threshold.
        warnings: [u64; 3],
        /// Sum of the estimates of reads, of writes, and of time in nanoseconds. They are those at the end of the deterministic windows
        /// that the controller ended.
        estimates_left: [u64; 3],
        /// Total length of the deterministic windows that have ended, in nanoseconds.
        dtwin_ns,
        /// Total length of the non-deterministic windows that have ended, in nanoseconds.
        ndwin_ns,
        /// Page reads that members got in deterministic windows.
        reads_in_dtwin: ReadsInWindow,
        /// Page reads that members got in non-deterministic windows.
        reads_in_ndwin: ReadsInWindow,
    }
}

impl PredictableLatencyCounters {
    /// Returns the number of deterministic windows that drives ended by themselves.
    pub fn autonomous_transitions(&self) -> u64 {
        self.ended_by_attribute.iter().sum::<u64>() + self.ended_by_excursion
    }

    /// Returns the number of deterministic windows that the controller ended.
    pub fn ended_by_order(&self) -> u64 {
        self.dtwins - self.autonomous_transitions()
    }
}

/// Index of time among the attributes of a deterministic window. Reads and writes have 0 and 1.
const TIME: usize = 2;

/// The windows of a member, and the estimates of what is left of the present one.
#[derive(Debug, Clone)]
pub(crate) struct PredictableLatencyWindows {
    settings: PredictableLatencySettings,
    is_deterministic: bool,
    /// Beginnings of all windows so far. The first window, and every second after it, is deterministic.
    begins: Vec<TimeNs>,
    /// Estimates of reads, writes and nanoseconds when the present window began. Without a limit, they are meaningless.
    estimates_at_begin: [u64; 3],
    /// Number of page reads and of page writes that the member got in this deterministic window.
    given: [u64; 2],
    /// True if a lack of free blocks has made the member collect in this deterministic window.
    had_to_collect: bool,
    counters: PredictableLatencyCounters,
}

impl PredictableLatencyWindows {
    /// Returns the state of a member whose first deterministic window begins with time 0.
    pub(crate) fn new(settings: PredictableLatencySettings) -> Self {
        Self {
            settings,
            is_deterministic: true,
            begins: vec![0],
            estimates_at_begin: settings.dtwin_attributes.map(Option::unwrap_or_default),
            given: [0; 2],
            had_to_collect: false,
            counters: PredictableLatencyCounters::default(),
        }
    }

    /// Lets the first deterministic window begin now, when the member joins the protocol.
    pub(crate) fn begin(&mut self, now: TimeNs) {
        self.begins = vec![now];
    }

    fn began(&self) -> TimeNs {
        *self.begins.last().expect("some window has begun")
    }

    pub(crate) fn counters(&self) -> PredictableLatencyCounters {
        self.counters
    }

    /// Starts the longest response times anew, because measuring begins. All other counts are subtracted.
    pub(crate) fn restart_longest(&mut self) {
        (self.counters.reads_in_dtwin.longest_ns, self.counters.reads_in_ndwin.longest_ns) = Default::default();
    }

    /// Returns the first moment at which this deterministic window has lasted too long, if there is one.
    pub(crate) fn time_runs_out(&self) -> Option<TimeNs> {
        let ends_in = self.settings.dtwin_attributes[TIME].filter(|_| self.is_deterministic).map(|_| self.estimates_at_begin[TIME]);
        ends_in.map(|ns| self.began().saturating_add(ns).saturating_add(1))
    }

    /// Counts an operation that the member gets. Returns true if the member must look if it leaves its deterministic window.
    #[inline]
    pub(crate) fn count_operation(&mut self, kind: OpKind) -> bool {
        let attribute = match kind {
            OpKind::Read => 0,
            OpKind::Write => 1,
            _ => return false,
        };
        if !self.is_deterministic {
            return false;
        }
        self.given[attribute] += 1;
        self.settings.dtwin_attributes[attribute].is_some() && self.given[attribute] > self.estimates_at_begin[attribute]
    }

    /// Records that the member begins to collect because it must. Returns true if it must look if it leaves its deterministic window.
    pub(crate) fn had_to_collect(&mut self) -> bool {
        self.had_to_collect = self.is_deterministic;
        self.is_deterministic
    }

    /// Counts the answer to a page read that the member got at `given`.
    pub(crate) fn count_read(&mut self, given: TimeNs, answered: TimeNs) {
        let begun = self.begins.partition_point(|&begin| begin < given).max(1);
        let PredictableLatencyCounters { reads_in_dtwin, reads_in_ndwin, .. } = &mut self.counters;
        let counters = if begun % 2 == 1 { reads_in_dtwin } else { reads_in_ndwin };
        counters.reads += 1;
        counters.total_ns += u128::from(answered - given);
        counters.longest_ns = counters.longest_ns.max(Maximum(answered - given));
    }

    /// Returns what has been used of an attribute in this deterministic window.
    fn used(&self, now: TimeNs, attribute: usize) -> u64 {
        if attribute == TIME { now - self.began() } else { self.given[attribute] }
    }

    /// Ends the deterministic window if the member must leave it by itself. Returns the moment from which no collection begins in the
    /// non-deterministic window that follows, and the end of this window.
    pub(crate) fn leave_if_due(&mut self, now: TimeNs) -> Option<(TimeNs, TimeNs)> {
        if !self.is_deterministic {
            return None;
        }
        let is_exceeded = |&attribute: &usize| {
            self.settings.dtwin_attributes[attribute].is_some() && self.used(now, attribute) > self.estimates_at_begin[attribute]
        };
        match (0..3).find(is_exceeded) {
            Some(attribute) => self.counters.ended_by_attribute[attribute] += 1,
            None if self.had_to_collect => self.counters.ended_by_excursion += 1,
            None => return None,
        }
        self.count_dtwin(now);
        self.begin_ndwin(now);
        let ends = now + self.settings.ndwin_time_minimum_low_ns;
        Some((ends - self.settings.end_margin_ns, ends))
    }

    /// Begins the non-deterministic window that the controller has ordered, unless the member is in one.
    pub(crate) fn ndwin_is_ordered(&mut self, now: TimeNs) {
        if !self.is_deterministic {
            return;
        }
        // A window of no length counts as none.
        if now > self.began() {
            for attribute in 0..3 {
                self.counters.estimates_left[attribute] += self.left(now, attribute).unwrap_or(0);
            }
            self.count_dtwin(now);
        }
        self.begin_ndwin(now);
    }

    /// Returns the estimate of an attribute, if it has a limit.
    fn left(&self, now: TimeNs, attribute: usize) -> Option<u64> {
        let at_begin = self.settings.dtwin_attributes[attribute].map(|_| self.estimates_at_begin[attribute]);
        at_begin.map(|estimate| estimate.saturating_sub(self.used(now, attribute)))
    }

    /// Counts the deterministic window that ends now.
    fn count_dtwin(&mut self, now: TimeNs) {
        for (attribute, threshold) in self.settings.dtwin_thresholds.iter().enumerate() {
            let warns = self.left(now, attribute).is_some_and(|left| left < *threshold);
            self.counters.warnings[attribute] += u64::from(warns);
        }
        self.counters.dtwins += 1;
        self.counters.dtwin_ns += now - self.began();
    }

    fn begin_ndwin(&mut self, now: TimeNs) {
        self.estimates_at_begin = std::array::from_fn(|attribute| self.left(now, attribute).unwrap_or_default());
        self.is_deterministic = false;
        self.begins.push(now);
    }

    /// Ends the non-deterministic window. The estimates have risen in it (rule 285).
    pub(crate) fn ndwin_ends(&mut self, now: TimeNs) {
        let lasted_ns = now - self.began();
        let high_ns = self.settings.ndwin_time_minimum_high_ns;
        for (estimate, attribute) in self.estimates_at_begin.iter_mut().zip(self.settings.dtwin_attributes) {
            let Some(limit) = attribute else { continue };
            let gained = match high_ns {
                0 => limit,
                _ => u64::try_from(u128::from(limit) * u128::from(lasted_ns) / u128::from(high_ns)).unwrap_or(u64::MAX),
            };
            *estimate = estimate.saturating_add(gained).min(limit);
        }
        self.counters.ndwin_ns += lasted_ns;
        (self.given, self.had_to_collect, self.is_deterministic) = ([0; 2], false, true);
        self.begins.push(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> PredictableLatencySettings {
        PredictableLatencySettings {
            dtwin_attributes: [Some(10), Some(4), Some(1000)],
            dtwin_thresholds: [3, 0, 200],
            ndwin_time_minimum_high_ns: 400,
            ndwin_time_minimum_low_ns: 50,
            end_margin_ns: 20,
        }
    }

    #[test]
    fn estimates_fall_in_one_window_and_rise_in_the_other() {
        let mut windows = PredictableLatencyWindows::new(settings());
        for _ in 0..8 {
            assert!(!windows.count_operation(OpKind::Read));
        }
        windows.ndwin_is_ordered(300);
        assert_eq!(windows.counters().estimates_left, [2, 4, 700]);
        assert_eq!(windows.counters().warnings, [1, 0, 0]);
        // A quarter of the time that restores all.
        windows.ndwin_ends(400);
        assert_eq!(windows.estimates_at_begin, [4, 4, 950]);
        assert_eq!(windows.time_runs_out(), Some(1351));
        assert_eq!(windows.counters().ndwin_ns, 100);
    }

    #[test]
    fn the_first_reason_that_holds_ends_a_window() {
        let mut windows = PredictableLatencyWindows::new(settings());
        assert_eq!(windows.leave_if_due(1000), None, "a window of the longest time is allowed");
        for nth in 1..=5 {
            assert_eq!(windows.count_operation(OpKind::Write), nth > 4);
        }
        assert!(windows.had_to_collect());
        assert_eq!(windows.leave_if_due(1001), Some((1031, 1051)));
        assert_eq!(windows.counters().ended_by_attribute, [0, 1, 0]);
        assert_eq!(windows.leave_if_due(1002), None, "it has left");
        windows.ndwin_ends(1051);
        assert!(windows.had_to_collect());
        assert!(windows.leave_if_due(1052).is_some());
        windows.ndwin_ends(1102);
        // No time was left of the first window. 125 were restored twice, and 1 was used in between.
        assert_eq!(windows.time_runs_out(), Some(1102 + 249 + 1));
        assert!(windows.leave_if_due(1352).is_some());
        let PredictableLatencyCounters { dtwins, ended_by_attribute, ended_by_excursion, .. } = windows.counters();
        assert_eq!((dtwins, ended_by_attribute, ended_by_excursion), (3, [0, 1, 1], 1));
        assert_eq!(windows.counters().ended_by_order(), 0);
    }

    #[test]
    fn reads_count_in_the_window_in_which_they_were_given() {
        let mut windows = PredictableLatencyWindows::new(settings());
        windows.ndwin_is_ordered(0);
        assert_eq!(windows.counters().dtwins, 0, "a window of no length is none");
        windows.ndwin_ends(100);
        windows.ndwin_is_ordered(200);
        for (given, answered) in [(50, 60), (100, 400), (101, 110), (200, 230), (201, 231)] {
            windows.count_read(given, answered);
        }
        let PredictableLatencyCounters { reads_in_dtwin, reads_in_ndwin, .. } = windows.counters();
        assert_eq!(reads_in_dtwin, ReadsInWindow { reads: 2, total_ns: 39, longest_ns: Maximum(30) });
        assert_eq!(reads_in_ndwin, ReadsInWindow { reads: 3, total_ns: 340, longest_ns: Maximum(300) });
    }
}
