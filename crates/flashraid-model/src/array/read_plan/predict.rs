//! `predict`: a read that is called slow is made elsewhere at once (rules 253 to 255).
//!
//! It stands for devices that reject what would miss a deadline (MittOS, SOSP 2017). It also stands for predictors in the host (LinnOS,
//! OSDI 2020; Heimdall, EuroSys 2025). The predictor here knows the truth, and errs at the rates that it is given.

use super::{Home, Plan, StripCopies};
use crate::TimeNs;
use crate::array::{SlowReadPredictionCounters, SlowReadPredictionParams};
use crate::rng::{self, RandomStream};

/// The plan `predict`. As long as nothing is called slow, copies take turns.
pub(super) struct Predict;

impl Plan for Predict {
    #[inline]
    fn copy(&self, strip: &StripCopies) -> u32 {
        Home.copy(strip)
    }
}

/// Predictor of slow reads, with the counts of what it has predicted.
#[derive(Debug, Clone)]
pub(in crate::array) struct Predictor {
    params: SlowReadPredictionParams,
    draws: RandomStream,
    pub(crate) counters: SlowReadPredictionCounters,
}

impl Predictor {
    pub(crate) fn new(params: SlowReadPredictionParams, seed: u64) -> Self {
        Self { params, draws: rng::stream(seed, "predict", 0), counters: SlowReadPredictionCounters::default() }
    }

    /// Returns the time that a prediction takes, in nanoseconds.
    pub(crate) fn cost_ns(&self) -> u64 {
        self.params.prediction_time_per_read_ns
    }

    /// Predicts whether a read that would begin at `read_begins` is slow. Returns true if it is called slow.
    pub(crate) fn calls_slow(&mut self, now: TimeNs, read_begins: TimeNs) -> bool {
        let is_slow = read_begins > now.saturating_add(self.params.slow_wait_threshold_ns);
        let error_rate = if is_slow { self.params.false_accept } else { self.params.false_reject };
        let is_wrong = rng::chance(&mut self.draws, error_rate);
        let counters = &mut self.counters;
        *match (is_slow, is_wrong) {
            (true, false) => &mut counters.slow_reads_called_slow,
            (true, true) => &mut counters.slow_reads_called_fast,
            (false, true) => &mut counters.fast_reads_called_slow,
            (false, false) => &mut counters.fast_reads_called_fast,
        } += 1;
        is_slow != is_wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_come_at_their_rates_and_slow_begins_beyond_the_threshold() {
        let params = SlowReadPredictionParams {
            slow_wait_threshold_ns: 100,
            false_accept: 0.0,
            false_reject: 0.0,
            ..SlowReadPredictionParams::default()
        };
        let mut exact = Predictor::new(params, 1);
        assert_eq!([1000, 1100, 1101].map(|begins| exact.calls_slow(1000, begins)), [false, false, true]);
        let mut errs = Predictor::new(SlowReadPredictionParams { false_accept: 0.2, false_reject: 0.05, ..params }, 1);
        (0..20_000).for_each(|nth| _ = errs.calls_slow(0, if nth % 2 == 0 { 0 } else { 1000 }));
        let SlowReadPredictionCounters { slow_reads_called_fast, slow_reads_called_slow, fast_reads_called_slow, .. } = errs.counters;
        assert_eq!(slow_reads_called_fast + slow_reads_called_slow, 10_000);
        assert!(slow_reads_called_fast.abs_diff(2000) < 150 && fast_reads_called_slow.abs_diff(500) < 90, "{:?}", errs.counters);
    }
}
