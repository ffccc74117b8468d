//! A Markov-modulated Poisson process with two states.

use super::{Arrival, Gaps, Problems};
use crate::quantities::MeanRequestInterval;
use crate::units::Fraction;
use flashraid_model::rng::{self, RandomStream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A busy and a quiet state with different rates, each lasting an exponential time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkovModulated {
    /// Mean time between arrivals of requests, over a long time in which busy and quiet states alternate.
    pub mean_gap: MeanRequestInterval,
    /// Rate of requests in the busy state divided by the rate in the quiet state.
    #[schemars(range(min = 1.0, max = 1_000_000.0))]
    pub rate_ratio: f64,
    /// Share of time in the busy state.
    pub busy_share: Fraction,
    /// Mean duration of a busy state.
    pub mean_burst: MeanRequestInterval,
}

impl MarkovModulated {
    /// Returns the number of arrivals per nanosecond in the busy state, and in the quiet state.
    fn state_rates(&self) -> [f64; 2] {
        let busy_share = self.busy_share.0;
        let quiet = 1.0 / (self.mean_gap.ns * (busy_share * self.rate_ratio + 1.0 - busy_share));
        [quiet * self.rate_ratio, quiet]
    }
}

impl Arrival for MarkovModulated {
    fn problems(&self, problems: &mut Problems) {
        let busy_share = self.busy_share.0;
        problems.gap("mean_gap", self.mean_gap);
        problems.require("rate_ratio", self.rate_ratio, self.rate_ratio >= 1.0, "1 or more");
        problems.require("busy_share", busy_share, busy_share > 0.0 && busy_share < 1.0, "more than 0 and less than 1");
        problems.gap("mean_burst", self.mean_burst);
    }

    fn mean_per_second(&self) -> Option<f64> {
        Some(self.mean_gap.per_second())
    }

    /// Returns 1 + 2·p·(1−p)·(λ_busy − λ_quiet)² / (λ·σ), where σ is the sum of both rates of leaving a state.
    fn dispersion(&self) -> Option<f64> {
        let p = self.busy_share.0;
        let [busy, quiet] = self.state_rates();
        let leaving = 1.0 / (self.mean_burst.ns * (1.0 - p));
        Some(1.0 + 2.0 * p * (1.0 - p) * (busy - quiet) * (busy - quiet) * self.mean_gap.ns / leaving)
    }

    fn gaps(&self, seed: u64) -> Box<dyn Gaps> {
        let busy_share = self.busy_share.0;
        let mut states = rng::stream(seed, "workload.arrival.state", 0);
        let mean_durations_ns = [self.mean_burst.ns, self.mean_burst.ns * (1.0 - busy_share) / busy_share];
        let state = if rng::chance(&mut states, busy_share) { BUSY } else { QUIET };
        let state_left_ns = mean_durations_ns[state] * rng::exponential(&mut states);
        Box::new(TwoStates { states, rates: self.state_rates(), mean_durations_ns, state, state_left_ns })
    }
}

const BUSY: usize = 0;
const QUIET: usize = 1;

struct TwoStates {
    states: RandomStream,
    rates: [f64; 2],
    mean_durations_ns: [f64; 2],
    state: usize,
    state_left_ns: f64,
}

impl Gaps for TwoStates {
    fn draw(&mut self, stream: &mut RandomStream, gaps_ns: &mut [f64]) {
        for gap_ns in gaps_ns {
            // The next arrival comes when the integral of the rate since the last one reaches this number.
            let mut to_go = rng::exponential(stream);
            *gap_ns = 0.0;
            while to_go > self.rates[self.state] * self.state_left_ns {
                to_go -= self.rates[self.state] * self.state_left_ns;
                *gap_ns += self.state_left_ns;
                self.state = BUSY + QUIET - self.state;
                self.state_left_ns = self.mean_durations_ns[self.state] * rng::exponential(&mut self.states);
            }
            let in_state_ns = to_go / self.rates[self.state];
            self.state_left_ns -= in_state_ns;
            *gap_ns += in_state_ns;
        }
    }
}
