//! `predict`: a read that is called slow is made elsewhere at once (rules 253 to 255).
//!
//! It stands for devices that reject what would miss a deadline (MittOS, SOSP 2017). It also stands for predictors in the host (LinnOS,
//! OSDI 2020; Heimdall, EuroSys 2025). The predictor here knows the truth, and errs at the rates that it is given.

use super::{Hedge, LateRead, Part, Plan, ReadAction, ReadPlanCounters};
use crate::TimeNs;
use crate::array::members::Members;
use crate::array::stripe_pages::{plan_read, read_around};
use crate::placement::StripRoles;
use crate::policy::ParameterProblem;
use crate::rng::{self, RandomStream};
use crate::ssd::ReadForecast;
use crate::units::{Duration, Fraction};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longest time of a prediction, and longest wait that is not slow.
const TIME_MAX_NS: u64 = 3_600_000_000_000;

/// Reads that a predictor calls slow are made elsewhere at once, by parity or from another copy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Predict {
    /// Wait above which a read counts as slow. Before each read, the host predicts if it will be slow. The wait is the time from this
    /// prediction until the die of the member would begin the read.
    pub slow: Duration,
    /// Probability that a slow read is predicted to be fast.
    pub false_accept: Fraction,
    /// Probability that a fast read is predicted to be slow.
    pub false_reject: Fraction,
    /// Time that a prediction takes before each read.
    pub cost: Duration,
    /// True to read again, from another copy or from the rest of the stripe, if a read has not ended after the time `after`. This applies
    /// to reads that were predicted to be fast and to those that were predicted to be slow.
    pub then_hedge: bool,
    /// Settings of the reads that are made again, with `then_hedge`.
    #[serde(flatten)]
    pub hedge: Hedge,
    /// State of the plan in a run: its random draws and its counters.
    #[serde(skip)]
    pub run: PredictInRun,
}

impl Default for Predict {
    fn default() -> Self {
        Self {
            slow: Duration { ns: 1_000_000 },
            false_accept: Fraction(0.05),
            false_reject: Fraction(0.05),
            cost: Duration { ns: 5000 },
            then_hedge: false,
            hedge: Hedge::default(),
            run: PredictInRun::default(),
        }
    }
}

/// State of the plan `predict` in a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PredictInRun {
    draws: Option<RandomStream>,
    counters: PredictedReads,
}

reported_counts! {
    /// Counters of reads with `read.plan = "predict"`: a read that is predicted to be slow is made from another copy or the rest of the
    /// stripe. Reads are counted in *parts*. A read has one part for every stripe that it asks for or, with mirrors, for every strip
    /// (consecutive pages on one member). A prediction is made for each strip, because strips lie on different members: reading the
    /// strip would be slow (begin late) or fast.
    pub struct PredictedReads, "Predicted reads" {
        /// Number of parts for which the array predicted if a read would be slow or fast. A part is what one read wants of one stripe.
        stripe_reads as "parts", "parts read";
        /// Number of parts in which the array predicted a slow read of a wanted strip (with mirrors, of its first copy). A part is what
        /// one read wants of one stripe.
        stripe_reads_called_slow as "parts_slow", "parts called slow";
        /// Number of parts of reads that were made from another copy or the rest of the stripe, because of a prediction.
        stripe_reads_made_elsewhere as "elsewhere", "parts made elsewhere";
        /// Number of pages that the array read in addition because it avoided strips predicted to be slow. Instead of such a strip it read
        /// a copy, or the rest of the stripe.
        pages_added as "pages_added", "pages read in addition" in "pages";
        /// Number of parts that the array read where they are, although it predicted that this would be slow. It could not read a copy or
        /// the rest of the stripe, because another operation held the lock of the stripe. A part is what one read wants of one stripe.
        stripe_reads_locked_out as "locked_out", "parts locked out";
        /// Number of correct predictions that the read of a strip would be slow.
        slow_reads_called_slow as "slow_called_slow", "slow, called slow";
        /// Number of wrong predictions that the read of a strip would be fast, although it would be slow.
        slow_reads_called_fast as "slow_called_fast", "slow, called fast";
        /// Number of wrong predictions that the read of a strip would be slow, although it would be fast.
        fast_reads_called_slow as "fast_called_slow", "fast, called slow";
        /// Number of correct predictions that the read of a strip would be fast.
        fast_reads_called_fast as "fast_called_fast", "fast, called fast";
    }
}

impl Plan for Predict {
    fn problems(&self) -> Vec<ParameterProblem> {
        let of_times = [("slow", self.slow), ("cost", self.cost)].into_iter().filter(|(_, time)| time.ns > TIME_MAX_NS);
        let of_times = of_times.map(|(key, _)| ParameterProblem { key, message: "but at most 1h is allowed".to_owned() });
        of_times.chain(self.hedge.problems()).collect()
    }

    fn parameters_without_effect(&self) -> Vec<(&'static str, &'static str)> {
        match self.then_hedge {
            true => self.hedge.parameters_without_effect(),
            false => ["after", "learn", "cancel"].map(|key| (key, "then_hedge = true")).into(),
        }
    }

    fn begin(&mut self, seed: u64, members: &mut Members) {
        self.run = PredictInRun { draws: Some(rng::stream(seed, "predict", 0)), counters: PredictedReads::default() };
        self.hedge.begin(seed, members);
    }

    fn begins_after_ns(&self) -> u64 {
        self.cost.ns
    }

    fn reads_each_strip_by_itself(&self) -> bool {
        true
    }

    fn part_begins(&mut self, part: &mut Part<'_>) -> ReadAction {
        if part.copies.is_empty() { self.choose_way(part) } else { self.choose_copy(part) }
    }

    fn late_after_ns(&mut self, now: TimeNs, members: &[u32]) -> Option<u64> {
        if self.then_hedge { self.hedge.late_after_ns(now, members) } else { None }
    }

    fn abandons_unneeded_reads(&self) -> bool {
        self.hedge.abandons_unneeded_reads()
    }

    fn note(&mut self, event: LateRead) {
        if self.then_hedge {
            self.hedge.note(event);
        }
    }

    fn add_counters(&self, counters: &mut ReadPlanCounters) {
        counters.predicted_reads = Some(self.run.counters);
        if self.then_hedge {
            self.hedge.add_counters(counters);
        }
    }
}

impl Predict {
    /// Predicts whether a read that would begin at `read_begins` is slow. Returns true if it is called slow.
    fn calls_slow(&mut self, now: TimeNs, read_begins: TimeNs) -> bool {
        let is_slow = read_begins > now.saturating_add(self.slow.ns);
        let error_rate = if is_slow { self.false_accept } else { self.false_reject };
        let is_wrong = rng::chance(self.run.draws.as_mut().expect("the run has begun"), error_rate.0);
        let counters = &mut self.run.counters;
        *match (is_slow, is_wrong) {
            (true, false) => &mut counters.slow_reads_called_slow,
            (true, true) => &mut counters.slow_reads_called_fast,
            (false, true) => &mut counters.fast_reads_called_slow,
            (false, false) => &mut counters.fast_reads_called_fast,
        } += 1;
        is_slow != is_wrong
    }

    fn calls_strip_slow(&mut self, part: &mut Part<'_>, role: u32) -> bool {
        let ReadForecast { read_begins, .. } = part.look_at_strip(role);
        self.calls_slow(part.now, read_begins)
    }

    /// Chooses the way of a part in a stripe with parity. A way that replaces strips needs a share of the lock.
    fn choose_way(&mut self, part: &mut Part<'_>) -> ReadAction {
        let Some((replaced, parity)) = self.way_round_slow_strips(part) else { return ReadAction::Read };
        let counters = &mut self.run.counters;
        if !part.share_lock() {
            counters.stripe_reads_locked_out += 1;
            return ReadAction::Read;
        }
        let (mut without_plan, mut around) = (part.pages.clone(), part.pages.clone());
        plan_read(part.shape(), part.lost, &mut without_plan);
        read_around(part.shape(), StripRoles(part.lost.0 | replaced.0), parity, &mut around);
        counters.stripe_reads_made_elsewhere += 1;
        counters.pages_added += u64::from(around.page_count()) - u64::from(without_plan.page_count());
        ReadAction::ReadAround { replaced, parity, after_ns: 0 }
    }

    /// Returns the columns that a part replaces because they are called slow, and the parity strips for them. It returns `None` if the part
    /// reads as without a plan.
    fn way_round_slow_strips(&mut self, part: &mut Part<'_>) -> Option<(StripRoles, StripRoles)> {
        let (shape, lost, wanted) = (part.shape(), part.lost, part.pages.roles());
        let mut slow = StripRoles::default();
        for role in wanted.iter().filter(|&role| !lost.has(role)) {
            slow.0 |= u128::from(self.calls_strip_slow(part, role)) << role;
        }
        self.run.counters.stripe_reads += 1;
        let replaced = slow;
        if replaced.is_empty() {
            return None;
        }
        self.run.counters.stripe_reads_called_slow += 1;
        for role in (0..shape.strips_per_stripe()).filter(|&role| !lost.has(role) && !wanted.has(role)) {
            slow.0 |= u128::from(self.calls_strip_slow(part, role)) << role;
        }
        let others_are_fast = (0..shape.data_strips).all(|column| lost.has(column) || replaced.has(column) || !slow.has(column));
        let needed = lost.count_data_strips(shape) as usize + replaced.iter().count();
        let parity: Vec<u32> = lost.parity_left(shape).filter(|&role| !slow.has(role)).take(needed).collect();
        let is_found = others_are_fast && parity.len() == needed;
        is_found.then(|| (replaced, StripRoles(parity.iter().fold(0, |roles, role| roles | 1 << role))))
    }

    /// Chooses the first copy that is called fast, or the first copy.
    fn choose_copy(&mut self, part: &mut Part<'_>) -> ReadAction {
        let fast = (0..part.copies.len()).find(|&copy| {
            let ReadForecast { read_begins, .. } = part.look_at_copy(copy);
            !self.calls_slow(part.now, read_begins)
        });
        let counters = &mut self.run.counters;
        counters.stripe_reads += 1;
        counters.stripe_reads_called_slow += u64::from(fast != Some(0));
        counters.stripe_reads_made_elsewhere += u64::from(fast.is_some_and(|copy| copy > 0));
        ReadAction::ReadCopy { copy: fast.unwrap_or(0), after_ns: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn predicting(false_accept: f64, false_reject: f64) -> Predict {
        let run = PredictInRun { draws: Some(rng::stream(1, "predict", 0)), ..PredictInRun::default() };
        let (false_accept, false_reject) = (Fraction(false_accept), Fraction(false_reject));
        Predict { slow: Duration { ns: 100 }, false_accept, false_reject, run, ..Predict::default() }
    }

    #[test]
    fn errors_come_at_their_rates_and_slow_begins_beyond_the_threshold() {
        let mut exact = predicting(0.0, 0.0);
        assert_eq!([1000, 1100, 1101].map(|begins| exact.calls_slow(1000, begins)), [false, false, true]);
        let mut errs = predicting(0.2, 0.05);
        (0..20_000).for_each(|nth| _ = errs.calls_slow(0, if nth % 2 == 0 { 0 } else { 1000 }));
        let PredictedReads { slow_reads_called_fast, slow_reads_called_slow, fast_reads_called_slow, .. } = errs.run.counters;
        assert_eq!(slow_reads_called_fast + slow_reads_called_slow, 10_000);
        assert!(slow_reads_called_fast.abs_diff(2000) < 150 && fast_reads_called_slow.abs_diff(500) < 90, "{:?}", errs.run.counters);
    }
}
