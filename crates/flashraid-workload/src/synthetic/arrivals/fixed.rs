//! Arrivals with equal gaps between them.

use super::{Arrival, Gaps, Problems};
use crate::quantities::MeanRequestInterval;
use flashraid_model::rng::RandomStream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Equal gaps between all requests.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fixed {
    /// Gap between two requests.
    pub gap: MeanRequestInterval,
}

impl Arrival for Fixed {
    fn problems(&self, problems: &mut Problems) {
        problems.gap("gap", self.gap);
    }

    fn mean_per_second(&self) -> Option<f64> {
        Some(self.gap.per_second())
    }

    fn dispersion(&self) -> Option<f64> {
        Some(0.0)
    }

    fn gaps(&self, _seed: u64) -> Box<dyn Gaps> {
        Box::new(Equal { gap_ns: self.gap.ns })
    }
}

/// Generator of equal gaps.
pub(super) struct Equal {
    pub(super) gap_ns: f64,
}

impl Gaps for Equal {
    fn draw(&mut self, _stream: &mut RandomStream, gaps_ns: &mut [f64]) {
        gaps_ns.fill(self.gap_ns);
    }
}
