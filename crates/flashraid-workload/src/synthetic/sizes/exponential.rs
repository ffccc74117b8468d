//! Exponential sizes (PGC Table III).

use super::{Draw, Drawn, Problems, SizeLaw, page};
use crate::quantities::MeanRequestSize;
use crate::{ArrayProperties, SizeOrAddressGranularity};
use flashraid_model::rng::{self, RandomStream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Request sizes drawn from an exponential distribution, and rounded up to multiples of `grain`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Exponential {
    /// Mean size of the requests, before or after sizes are rounded up to multiples of `grain`; `mean_is` says which.
    pub mean: MeanRequestSize,
    /// Unit of which the sizes of requests are multiples.
    #[serde(default = "page")]
    pub grain: SizeOrAddressGranularity,
    /// Meaning of `mean`: the mean size before or after sizes are rounded up to multiples of `grain`.
    #[serde(default)]
    pub mean_is: MeanBeforeOrAfterRounding,
}

/// Choice between two meanings of `mean`: the mean size before, or after, sizes are rounded up to multiples of `grain`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MeanBeforeOrAfterRounding {
    /// The mean of the exponential distribution, before sizes are rounded up to multiples of `grain`. The mean of the rounded sizes is
    /// about half a grain larger.
    // The reference trace generator, and PGC as far as can be told.
    #[default]
    BeforeRounding,
    /// The mean of the sizes after they are rounded up to multiples of `grain`.
    AfterRounding,
}

impl SizeLaw for Exponential {
    fn problems(&self, space: &ArrayProperties, problems: &mut Problems) {
        match self.mean_is {
            MeanBeforeOrAfterRounding::AfterRounding => problems.mean_of_multiples(self.mean, self.grain.bytes_in(space)),
            MeanBeforeOrAfterRounding::BeforeRounding => {
                problems.size("grain", self.grain.bytes_in(space));
                problems.mean(self.mean, f64::MIN_POSITIVE);
            }
        }
    }

    fn draw(&self, space: &ArrayProperties) -> Drawn {
        let grain_bytes = self.grain.bytes_in(space);
        let mean_grains = self.mean.bytes / grain_bytes as f64;
        let mean_grains = match self.mean_is {
            MeanBeforeOrAfterRounding::BeforeRounding => mean_grains,
            // The rounded sizes are geometric with mean 1 / (1 − e^(−1/m)), which is solved for m.
            MeanBeforeOrAfterRounding::AfterRounding => -1.0 / libm::log(1.0 - 1.0 / mean_grains),
        };
        Drawn { grain_bytes, draw: Box::new(Rounded { mean_grains }) }
    }
}

struct Rounded {
    mean_grains: f64,
}

impl Draw for Rounded {
    fn grains(&self, stream: &mut RandomStream, grains: &mut [u64]) {
        grains.iter_mut().for_each(|grains| *grains = (self.mean_grains * rng::exponential(stream)).ceil() as u64);
    }
}
