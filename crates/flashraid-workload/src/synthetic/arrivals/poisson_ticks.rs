//! Arrivals in whole ticks, as DiskSim's generator draws them by its law `poisson`.

use super::{Arrival, Gaps, Problems};
use crate::quantities::MeanRequestInterval;
use flashraid_model::rng::{self, RandomStream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Independent gaps, each a Poisson-distributed number of whole ticks, as DiskSim's generator draws them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoissonTicks {
    /// Mean time between arrivals of requests, at most 500 times the length of a tick (`tick`, by default 1 ms).
    pub mean_gap: MeanRequestInterval,
    /// Length of a tick, the step in which time is counted: each gap between arrivals is a whole number of ticks, which may be 0.
    #[serde(default = "millisecond")]
    pub tick: MeanRequestInterval,
}

fn millisecond() -> MeanRequestInterval {
    MeanRequestInterval { ns: 1e6 }
}

/// Maximum number of ticks in a mean gap. With more, gaps are nearly equal and drawing them takes long.
const TICKS_MAX: f64 = 500.0;

impl Arrival for PoissonTicks {
    fn problems(&self, problems: &mut Problems) {
        problems.gap("mean_gap", self.mean_gap);
        let ticks = self.mean_gap.ns / self.tick.ns;
        problems.require("tick", self.tick.ns, self.tick.ns > 0.0 && ticks <= TICKS_MAX, "a 500th of the mean gap or more");
    }

    fn mean_per_second(&self) -> Option<f64> {
        Some(self.mean_gap.per_second())
    }

    /// Returns the squared coefficient of variation of the gaps, which is the index of dispersion of any renewal process.
    fn dispersion(&self) -> Option<f64> {
        Some(self.tick.ns / self.mean_gap.ns)
    }

    fn gaps(&self, _seed: u64) -> Box<dyn Gaps> {
        Box::new(Ticks { none: libm::exp(-self.mean_gap.ns / self.tick.ns), tick_ns: self.tick.ns })
    }
}

struct Ticks {
    /// Probability that a gap has no ticks.
    none: f64,
    tick_ns: f64,
}

impl Gaps for Ticks {
    fn draw(&mut self, stream: &mut RandomStream, gaps_ns: &mut [f64]) {
        for gap_ns in gaps_ns {
            // Knuth's method counts how many numbers from 0 to 1 can be multiplied while the product stays above e^−mean.
            let (mut ticks, mut product) = (0_u32, rng::uniform(stream));
            while product > self.none {
                ticks += 1;
                product *= rng::uniform(stream);
            }
            *gap_ns = f64::from(ticks) * self.tick_ns;
        }
    }
}
