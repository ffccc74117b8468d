//! Exponential sizes (PGC Table III).

use super::{Draw, Drawn, Problems, SizeLaw, page};
use crate::quantities::MeanSize;
use crate::{AddressSpace, Grain};
use flashraid_model::rng::{self, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Exponential, rounded up to multiples of `grain`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Exponential {
    /// The mean.
    pub mean: MeanSize,
    /// Sizes are multiples of it.
    #[serde(default = "page")]
    pub grain: Grain,
    /// Which mean is meant.
    #[serde(default)]
    pub mean_is: ExponentialMean,
}

/// Which mean of a rounded exponential distribution is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ExponentialMean {
    /// That of the exponential; rounding up adds about half a grain.
    // The reference trace generator, and PGC as far as can be told.
    #[default]
    BeforeRounding,
    /// That of the sizes that come out.
    AfterRounding,
}

impl SizeLaw for Exponential {
    fn problems(&self, space: &AddressSpace, problems: &mut Problems) {
        match self.mean_is {
            ExponentialMean::AfterRounding => problems.mean_of_multiples(self.mean, self.grain.bytes(space)),
            ExponentialMean::BeforeRounding => {
                problems.size("grain", self.grain.bytes(space));
                problems.mean(self.mean, f64::MIN_POSITIVE);
            }
        }
    }

    fn draw(&self, space: &AddressSpace) -> Drawn {
        let grain_bytes = self.grain.bytes(space);
        let mean_grains = self.mean.bytes / grain_bytes as f64;
        let mean_grains = match self.mean_is {
            ExponentialMean::BeforeRounding => mean_grains,
            // Rounded up it is geometric with mean 1 / (1 − e^(−1/m)); solved for m.
            ExponentialMean::AfterRounding => -1.0 / libm::log(1.0 - 1.0 / mean_grains),
        };
        Drawn { grain_bytes, draw: Box::new(Rounded { mean_grains }) }
    }
}

struct Rounded {
    mean_grains: f64,
}

impl Draw for Rounded {
    fn grains(&self, stream: &mut Stream, grains: &mut [u64]) {
        grains.iter_mut().for_each(|grains| *grains = (self.mean_grains * rng::exponential(stream)).ceil() as u64);
    }
}
