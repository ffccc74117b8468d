//! Bursts of arrivals with gaps between them (GGC Table 9).

use super::poisson::Exponential;
use super::{Arrival, Gaps, Problems};
use crate::quantities::MeanRequestInterval;
use flashraid_model::rng::{self, RandomStream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bursts of Poisson arrivals with an idle gap after each.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bursts {
    /// Mean time between arrivals of requests, over bursts and idle gaps together.
    pub mean_gap: MeanRequestInterval,
    /// Factor by which requests come faster inside a burst than on average over bursts and idle gaps.
    #[schemars(range(min = 1.0, max = 1_000_000.0))]
    pub factor: f64,
    /// Number of requests in a burst.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub burst_requests: u64,
    /// True to leave out the idle gaps between bursts. Requests then always come as fast as inside a burst: `factor` times as many per
    /// second as `mean_gap` says. Table 9 of the paper GGC, read literally, gives such rates.
    #[serde(default)]
    pub mean_rate_scaled: bool,
}

impl Arrival for Bursts {
    fn problems(&self, problems: &mut Problems) {
        problems.gap("mean_gap", self.mean_gap);
        problems.require("factor", self.factor, self.factor >= 1.0, "1 or more");
        problems.require("burst_requests", self.burst_requests as f64, self.burst_requests > 0, "1 or more");
    }

    fn mean_per_second(&self) -> Option<f64> {
        let faster = if self.mean_rate_scaled { self.factor } else { 1.0 };
        Some(1e9 * faster / self.mean_gap.ns)
    }

    /// Returns the index of dispersion. The number of requests in a burst is fixed, and its length varies by the exponential gaps inside.
    /// The variance is n·(g/f)², against a mean of n·g.
    fn dispersion(&self) -> Option<f64> {
        Some(if self.mean_rate_scaled { 1.0 } else { 1.0 / (self.factor * self.factor) })
    }

    fn gaps(&self, _seed: u64) -> Box<dyn Gaps> {
        let inside = Exponential { mean_gap_ns: self.mean_gap.ns / self.factor };
        if self.mean_rate_scaled {
            return Box::new(inside);
        }
        Box::new(WithPauses {
            inside,
            idle_ns: self.burst_requests as f64 * self.mean_gap.ns * (1.0 - 1.0 / self.factor),
            burst_requests: self.burst_requests,
            left: self.burst_requests,
        })
    }
}

struct WithPauses {
    inside: Exponential,
    idle_ns: f64,
    burst_requests: u64,
    /// Number of requests left in the current burst.
    left: u64,
}

impl Gaps for WithPauses {
    fn draw(&mut self, stream: &mut RandomStream, gaps_ns: &mut [f64]) {
        for gap_ns in gaps_ns {
            *gap_ns = self.inside.mean_gap_ns * rng::exponential(stream);
            if self.left == 0 {
                *gap_ns += self.idle_ns;
                self.left = self.burst_requests;
            }
            self.left -= 1;
        }
    }
}
