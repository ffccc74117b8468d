//! Sizes with an exact mean, from two neighbouring multiples of a grain.

use super::{Draw, Drawn, Problems, SizeLaw, page};
use crate::quantities::MeanRequestSize;
use crate::{ArrayProperties, SizeOrAddressGranularity};
use flashraid_model::rng::{self, RandomStream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Request sizes drawn from two values: the multiples of `grain` next below and next above `mean`. Their probabilities are such that
/// the mean size is exactly `mean`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Neighbours {
    /// Mean of the sizes of requests.
    pub mean: MeanRequestSize,
    /// Unit of which the sizes of requests are multiples.
    #[serde(default = "page")]
    pub grain: SizeOrAddressGranularity,
}

impl SizeLaw for Neighbours {
    fn problems(&self, space: &ArrayProperties, problems: &mut Problems) {
        problems.mean_of_multiples(self.mean, self.grain.bytes_in(space));
    }

    fn draw(&self, space: &ArrayProperties) -> Drawn {
        let grain_bytes = self.grain.bytes_in(space);
        let mean_grains = self.mean.bytes / grain_bytes as f64;
        let few = mean_grains as u64;
        Drawn { grain_bytes, draw: Box::new(Mixed { few, more: mean_grains - few as f64 }) }
    }
}

/// Generator of sizes that draws `few` grains, or one more with the probability `more`.
struct Mixed {
    few: u64,
    more: f64,
}

impl Draw for Mixed {
    fn grains(&self, stream: &mut RandomStream, grains: &mut [u64]) {
        grains.iter_mut().for_each(|grains| *grains = self.few + u64::from(rng::chance(stream, self.more)));
    }
}
