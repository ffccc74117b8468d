//! `hedge`: a read that takes long is also read elsewhere, and the first answer counts (rules 247 to 249).

use super::{LateRead, Plan, ReadPlanCounters};
use crate::TimeNs;
use crate::array::members::Members;
use crate::policy::ParameterProblem;
use crate::quantity_impls;
use crate::units::{AllowedUnitlessRange, Duration, Quantity, UnitError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Longest time after which a read may be late.
const LATE_MAX_NS: u64 = 3_600_000_000_000;

/// Reads that take long are also read elsewhere, by parity or from another copy, and the first answer counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Hedge {
    /// Time after which a read that has not ended is also read elsewhere: from another copy, or from the rest of the stripe. It is a
    /// duration, or `"p95"` for the 95th percentile of the durations of the member's last reads. With `plan = "predict"`, it only
    /// matters with `then_hedge`.
    pub after: HedgeDelay,
    /// Number of a member's last reads that count for `after = "p95"`. With this value, a read is also made elsewhere if it takes
    /// longer than the 95th percentile of the durations of these reads. Until this many reads of the member have ended, none of its
    /// reads is also made elsewhere. The key has no effect if `after` is a duration.
    #[schemars(range(min = 1, max = 65_536))]
    pub learn: u32,
    /// Treatment of unneeded reads. A read becomes unneeded if it was also made elsewhere, and the answer from there came first. With
    /// `plan = "predict"`, it only matters with `then_hedge`.
    pub cancel: UnneededReadCancellation,
    /// State of the plan in a run: durations of reads, and its counters.
    #[serde(skip)]
    pub run: HedgeInRun,
}

impl Default for Hedge {
    fn default() -> Self {
        let (after, cancel) = (HedgeDelay::P95OfReads, UnneededReadCancellation::Never);
        Self { after, learn: 1024, cancel, run: HedgeInRun::default() }
    }
}

/// Time after which a read that has not ended is also read elsewhere: from another copy, or from the rest of the stripe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HedgeDelay {
    /// Makes a read elsewhere, too, if it has not ended after the 95th percentile of the durations of the member's last reads.
    P95OfReads,
    /// Makes a read elsewhere, too, if it has not ended after this time, which is the same for all reads.
    Time(Duration),
}

quantity_impls!(HedgeDelay);

impl Quantity for HedgeDelay {
    const JSON_SCHEMA_FORMAT: &'static str = "time-until-late";
    const ALLOWED_VALUES: &'static str = "\"p95\", or a duration with a unit, such as \"1ms\"";
    const JSON_SCHEMA_PATTERN: &'static str = r"^\s*(p95|[0-9][0-9_]*(\.[0-9]+)?\s*(ns|us|µs|μs|ms|s|min|h|d))\s*$";
    const UNITLESS_RANGE: Option<AllowedUnitlessRange> = None;

    fn parse(text: &str) -> Result<Self, UnitError> {
        if text.trim() == "p95" { Ok(Self::P95OfReads) } else { Duration::parse(text).map(Self::Time) }
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            Self::P95OfReads => "p95".into(),
            Self::Time(time) => time.to_json(),
        }
    }
}

/// Treatment of unneeded reads. A read becomes unneeded if it was also made elsewhere, and the answer from there came first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnneededReadCancellation {
    /// Serves unneeded reads to their end. A read becomes unneeded if it was also made elsewhere, and the answer from there came
    /// first.
    Never,
    /// Drops unneeded reads that still wait in the queue of their die. A read becomes unneeded if it was also made elsewhere, and the
    /// answer from there came first. Unneeded reads that have left the queue, or have not reached it, are served to their end.
    Queued,
}

/// State of the plan `hedge` in a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HedgeInRun {
    /// Times of the last reads of each member.
    members: Vec<LastReads>,
    counters: HedgedReads,
}

reported_counts! {
    /// Counters of hedged reads: if no answer has come after a time, the array also reads another copy or the rest of the stripe. Reads
    /// are counted in *parts*. A read has one part for every stripe that it asks for or, with mirrors, for every strip (consecutive
    /// pages on one member).
    pub struct HedgedReads, "Hedged reads" {
        /// Number of parts of reads, one per stripe (with mirrors, per strip), whether they took long or not.
        stripe_reads as "parts", "parts read";
        /// Number of parts of reads that took long and were also read elsewhere: from another copy or the rest of the stripe.
        hedged_stripe_reads as "hedged", "parts also read elsewhere";
        /// Number of parts of reads whose second read (from another copy, or by parity) answered first.
        stripe_reads_answered_by_hedge as "won", "parts that ended by it";
        /// Number of pages read from another copy or the rest of the stripe, for parts of reads that took long.
        pages_read_elsewhere as "pages_added", "pages read in addition" in "pages";
        /// Number of pages read whose data nobody needed, because another read of the same data had answered first.
        pages_read_in_vain as "pages_wasted", "pages read in vain" in "pages";
        /// Number of pages among `pages_wasted` that left the queue of their die unread, because nobody needed them any more.
        pages_abandoned as "pages_cancelled", "of which cancelled" in "pages" above 0;
        /// Number of parts of reads that took long and were not read elsewhere, because another operation held the lock of their stripe.
        stripe_reads_locked_out as "locked_out", "parts locked out";
        /// Number of parts of reads that took long and were not read elsewhere, because there was no other way to their data.
        stripe_reads_without_other_way as "without_substitute", "parts without another way";
    }
}

impl Plan for Hedge {
    fn problems(&self) -> Vec<ParameterProblem> {
        let is_allowed = |after: Duration| (1..=LATE_MAX_NS).contains(&after.ns);
        match self.after {
            HedgeDelay::Time(after) if !is_allowed(after) => {
                vec![ParameterProblem { key: "after", message: "but between 1ns and 1h is allowed".to_owned() }]
            }
            _ => Vec::new(),
        }
    }

    fn parameters_without_effect(&self) -> Vec<(&'static str, &'static str)> {
        if self.after == HedgeDelay::P95OfReads { Vec::new() } else { vec![("learn", "after = \"p95\"")] }
    }

    fn begin(&mut self, _seed: u64, members: &mut Members) {
        self.run = HedgeInRun { members: vec![LastReads::default(); members.ssds.len()], counters: HedgedReads::default() };
    }

    fn reads_each_strip_by_itself(&self) -> bool {
        true
    }

    fn late_after_ns(&mut self, now: TimeNs, members: &[u32]) -> Option<u64> {
        if let HedgeDelay::Time(time) = self.after {
            return Some(time.ns);
        }
        let of = self.learn as usize;
        let mut latest = 1;
        for &member in members {
            let reads = &mut self.run.members[member as usize];
            reads.take_in(now, of);
            if reads.by_end.len() < of {
                return None;
            }
            latest = latest.max(reads.by_duration[(of * 95).div_ceil(100) - 1]);
        }
        Some(latest)
    }

    fn abandons_unneeded_reads(&self) -> bool {
        self.cancel == UnneededReadCancellation::Queued
    }

    fn note(&mut self, event: LateRead) {
        let counters = &mut self.run.counters;
        match event {
            LateRead::Began => counters.stripe_reads += 1,
            LateRead::StripRead { now, member, took_ns } => {
                if self.after == HedgeDelay::P95OfReads {
                    self.run.members[member as usize].record(now, took_ns, self.learn as usize);
                }
            }
            LateRead::ReadElsewhere { pages } => {
                counters.hedged_stripe_reads += 1;
                counters.pages_read_elsewhere += u64::from(pages);
            }
            LateRead::LockedOut => counters.stripe_reads_locked_out += 1,
            LateRead::WithoutOtherWay => counters.stripe_reads_without_other_way += 1,
            LateRead::Ended { by_other_way, pages_in_vain } => {
                counters.pages_read_in_vain += pages_in_vain;
                counters.stripe_reads_answered_by_hedge += u64::from(by_other_way);
            }
            LateRead::Abandoned { pages } => counters.pages_abandoned += pages,
        }
    }

    fn add_counters(&self, counters: &mut ReadPlanCounters) {
        counters.hedged_reads = Some(self.run.counters);
    }
}

/// The times that the last reads of a member took.
#[derive(Debug, Clone, PartialEq, Default)]
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

    /// Records that a read ended at `now`, after `took_ns`. Times do not go back.
    fn record(&mut self, now: TimeNs, took_ns: u64, kept: usize) {
        self.take_in(now, kept);
        self.latest.0 = now;
        self.latest.1.push(took_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_percentile_is_that_of_the_last_reads_that_ended_before() {
        let mut hedge = Hedge { run: HedgeInRun { members: vec![LastReads::default(); 2], ..HedgeInRun::default() }, ..Hedge::default() };
        let record = |hedge: &mut Hedge, now, member, took_ns| hedge.note(LateRead::StripRead { now, member, took_ns });
        let late_after = |hedge: &mut Hedge, now| hedge.late_after_ns(now, &[0]);
        for read in 1..1024 {
            record(&mut hedge, read, 0, read);
            assert_eq!(late_after(&mut hedge, read + 1), None);
        }
        record(&mut hedge, 1024, 0, 1024);
        assert_eq!(late_after(&mut hedge, 1024), None, "it must have ended before");
        assert_eq!(late_after(&mut hedge, 1025), Some(973));
        // The other member has not read enough.
        assert_eq!(hedge.late_after_ns(1025, &[0, 1]), None);
        // Of reads that end together, the shortest comes first, whatever the order in which they are recorded.
        [5000, 1, 4000].into_iter().for_each(|took| record(&mut hedge, 2000, 0, took));
        assert_eq!(late_after(&mut hedge, 2000), Some(973));
        // 1, 2 and 3 have left, and 1 came: 973 larger ones begin with 4.
        assert_eq!(late_after(&mut hedge, 2001), Some(975));
        // The next that leaves is 4.
        record(&mut hedge, 3000, 0, 6000);
        assert_eq!(late_after(&mut hedge, 3001), Some(976));
    }

    #[test]
    fn a_fixed_time_needs_no_knowledge_and_no_read_is_late_at_once() {
        let run = HedgeInRun { members: vec![LastReads::default()], ..HedgeInRun::default() };
        let mut hedge = Hedge { after: HedgeDelay::Time(Duration { ns: 70 }), run: run.clone(), ..Hedge::default() };
        assert_eq!(hedge.late_after_ns(0, &[0]), Some(70));
        let mut hedge = Hedge { learn: 1, run, ..Hedge::default() };
        hedge.note(LateRead::StripRead { now: 5, member: 0, took_ns: 0 });
        assert_eq!(hedge.late_after_ns(6, &[0]), Some(1));
    }
}
