//! `hedge`: a read that takes long is also read elsewhere, and the first answer counts (rules 247 to 249).

use super::{Home, Plan, StripCopies};
use crate::TimeNs;
use crate::array::HedgeAfter;
use std::collections::VecDeque;

/// The plan `hedge`. What is read first is read where the plan `home` reads it.
pub(super) struct Hedge;

impl Plan for Hedge {
    #[inline]
    fn copy(&self, strip: &StripCopies) -> u32 {
        Home.copy(strip)
    }
}

/// The times that the last reads of a member took.
#[derive(Debug, Clone, Default)]
struct LastReads {
    /// Durations in the order of their ends; of those that ended together, the shortest comes first.
    by_end: VecDeque<u64>,
    /// The same durations in ascending order.
    by_duration: Vec<u64>,
    /// Durations of the reads that ended at the latest moment, which is the first figure. They are not among the others yet.
    latest: (TimeNs, Vec<u64>),
}

impl LastReads {
    /// Moves the reads that ended before `now` to those that count.
    fn take_in(&mut self, now: TimeNs, kept: usize) {
        let (ended, latest) = &mut self.latest;
        if *ended >= now || latest.is_empty() {
            return;
        }
        latest.sort_unstable();
        for duration in latest.drain(..) {
            if self.by_end.len() == kept {
                let oldest = self.by_end.pop_front().expect("at least one is kept");
                let place = self.by_duration.binary_search(&oldest).expect("it is in both lists");
                self.by_duration.remove(place);
            }
            self.by_end.push_back(duration);
            let place = self.by_duration.partition_point(|&other| other < duration);
            self.by_duration.insert(place, duration);
        }
    }
}

/// Knowledge of the host about the times that reads of the members take.
#[derive(Debug, Clone)]
pub(in crate::array) struct ReadTimes {
    after: HedgeAfter,
    members: Vec<LastReads>,
}

impl ReadTimes {
    pub fn new(after: HedgeAfter, members: usize) -> Self {
        Self { after, members: vec![LastReads::default(); members] }
    }

    /// Records that a read of a member ended at `now`, after `took_ns`. Times do not go back.
    pub fn record(&mut self, now: TimeNs, member: u32, took_ns: u64) {
        let HedgeAfter::P95OfReads { percentile_window_reads: of } = self.after else { return };
        let reads = &mut self.members[member as usize];
        reads.take_in(now, of as usize);
        reads.latest.0 = now;
        reads.latest.1.push(took_ns);
    }

    /// Returns the time after which a read of these members is late, if that is known.
    pub fn hedge_delay_ns(&mut self, now: TimeNs, members: impl Iterator<Item = u32>) -> Option<u64> {
        let of = match self.after {
            HedgeAfter::Time(ns) => return Some(ns),
            HedgeAfter::P95OfReads { percentile_window_reads: of } => of as usize,
        };
        let mut latest = 1;
        for member in members {
            let reads = &mut self.members[member as usize];
            reads.take_in(now, of);
            if reads.by_end.len() < of {
                return None;
            }
            latest = latest.max(reads.by_duration[(of * 95).div_ceil(100) - 1]);
        }
        Some(latest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_percentile_is_that_of_the_last_reads_that_ended_before() {
        let mut times = ReadTimes::new(HedgeAfter::P95OfReads { percentile_window_reads: 1024 }, 2);
        let late_after = |times: &mut ReadTimes, now| times.hedge_delay_ns(now, [0].into_iter());
        for read in 1..1024 {
            times.record(read, 0, read);
            assert_eq!(late_after(&mut times, read + 1), None);
        }
        times.record(1024, 0, 1024);
        assert_eq!(late_after(&mut times, 1024), None, "it must have ended before");
        assert_eq!(late_after(&mut times, 1025), Some(973));
        // The other member has not read enough.
        assert_eq!(times.hedge_delay_ns(1025, [0, 1].into_iter()), None);
        // Of reads that end together, the shortest comes first, whatever the order in which they are recorded.
        [5000, 1, 4000].into_iter().for_each(|took| times.record(2000, 0, took));
        assert_eq!(late_after(&mut times, 2000), Some(973));
        // 1, 2 and 3 have left, and 1 came: 973 larger ones begin with 4.
        assert_eq!(late_after(&mut times, 2001), Some(975));
        // The next that leaves is 4.
        times.record(3000, 0, 6000);
        assert_eq!(late_after(&mut times, 3001), Some(976));
    }

    #[test]
    fn a_fixed_time_needs_no_knowledge_and_no_read_is_late_at_once() {
        let mut times = ReadTimes::new(HedgeAfter::Time(70), 1);
        assert_eq!(times.hedge_delay_ns(0, [0].into_iter()), Some(70));
        let mut times = ReadTimes::new(HedgeAfter::P95OfReads { percentile_window_reads: 1 }, 1);
        times.record(5, 0, 0);
        assert_eq!(times.hedge_delay_ns(6, [0].into_iter()), Some(1));
    }
}
