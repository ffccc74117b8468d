//! Poisson arrivals at a mean rate.

use super::{Arrival, Gaps, Problems};
use crate::quantities::MeanRequestInterval;
use flashraid_model::rng::{self, RandomStream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Independent exponential gaps between requests.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Poisson {
    /// Mean gap between two requests.
    pub mean_gap: MeanRequestInterval,
}

impl Poisson {
    /// Returns arrivals at this rate.
    pub fn from_rate(per_second: f64) -> Self {
        Self { mean_gap: MeanRequestInterval::from_rate(per_second) }
    }
}

impl Arrival for Poisson {
    fn problems(&self, problems: &mut Problems) {
        problems.gap("mean_gap", self.mean_gap);
    }

    fn mean_per_second(&self) -> Option<f64> {
        Some(self.mean_gap.per_second())
    }

    fn dispersion(&self) -> Option<f64> {
        Some(1.0)
    }

    fn gaps(&self, _seed: u64) -> Box<dyn Gaps> {
        Box::new(Exponential { mean_gap_ns: self.mean_gap.ns })
    }
}

/// Generator of exponential gaps.
pub(super) struct Exponential {
    pub(super) mean_gap_ns: f64,
}

impl Gaps for Exponential {
    fn draw(&mut self, stream: &mut RandomStream, gaps_ns: &mut [f64]) {
        gaps_ns.iter_mut().for_each(|gap_ns| *gap_ns = self.mean_gap_ns * rng::exponential(stream));
    }
}
