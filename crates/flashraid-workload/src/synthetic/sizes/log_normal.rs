//! Sizes with a log-normal distribution.

use super::{Draw, Drawn, Problems, SizeLaw, page};
use crate::quantities::MeanRequestSize;
use crate::{ArrayProperties, SizeOrAddressGranularity};
use flashraid_model::rng::{self, RandomStream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Request sizes drawn from a log-normal distribution, and rounded up to multiples of `grain`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogNormal {
    /// Mean size of requests, before sizes are rounded up to multiples of `grain`.
    pub mean: MeanRequestSize,
    /// Standard deviation of the natural logarithm of request sizes, before sizes are rounded up to multiples of `grain`.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub sigma: f64,
    /// Unit of which the sizes of requests are multiples.
    #[serde(default = "page")]
    pub grain: SizeOrAddressGranularity,
}

impl SizeLaw for LogNormal {
    fn problems(&self, space: &ArrayProperties, problems: &mut Problems) {
        problems.size("grain", self.grain.bytes_in(space));
        problems.mean(self.mean, f64::MIN_POSITIVE);
        if !(0.0..=10.0).contains(&self.sigma) {
            problems.refuse("sigma", format!("is {}; 0 to 10 is allowed", self.sigma));
        }
    }

    fn draw(&self, space: &ArrayProperties) -> Drawn {
        let grain_bytes = self.grain.bytes_in(space);
        // The mean of a log-normal is e^(μ + σ²/2).
        let mu = libm::log(self.mean.bytes / grain_bytes as f64) - self.sigma * self.sigma / 2.0;
        Drawn { grain_bytes, draw: Box::new(Exponent { mu, sigma: self.sigma }) }
    }
}

struct Exponent {
    mu: f64,
    sigma: f64,
}

impl Draw for Exponent {
    fn grains(&self, stream: &mut RandomStream, grains: &mut [u64]) {
        grains.iter_mut().for_each(|grains| *grains = libm::exp(self.mu + self.sigma * rng::normal(stream)).ceil() as u64);
    }
}
