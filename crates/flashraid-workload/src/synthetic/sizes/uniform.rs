//! Sizes that are equally likely in a range.

use super::{Draw, Drawn, Problems, SizeLaw, page};
use crate::units::Size;
use crate::{ArrayProperties, SizeOrAddressGranularity};
use flashraid_model::rng::{self, RandomStream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Request sizes drawn from the multiples of `grain` from `min` to `max`, which are all equally likely.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Uniform {
    /// The smallest possible size of a request.
    pub min: Size,
    /// The largest possible size of a request.
    pub max: Size,
    /// Unit of which the sizes of requests are multiples.
    #[serde(default = "page")]
    pub grain: SizeOrAddressGranularity,
}

impl SizeLaw for Uniform {
    fn problems(&self, space: &ArrayProperties, problems: &mut Problems) {
        let (min_bytes, max_bytes, grain_bytes) = (self.min.bytes, self.max.bytes, self.grain.bytes_in(space));
        problems.size("min", min_bytes);
        problems.size("max", max_bytes);
        problems.size("grain", grain_bytes);
        if grain_bytes > 0 && min_bytes.div_ceil(grain_bytes) > max_bytes / grain_bytes {
            problems.refuse("max", format!("is {max_bytes} bytes; no multiple of {grain_bytes} lies between min = {min_bytes} and it"));
        }
    }

    fn draw(&self, space: &ArrayProperties) -> Drawn {
        let grain_bytes = self.grain.bytes_in(space);
        let min_grains = self.min.bytes.div_ceil(grain_bytes);
        Drawn { grain_bytes, draw: Box::new(Any { min_grains, choices: self.max.bytes / grain_bytes - min_grains + 1 }) }
    }
}

struct Any {
    min_grains: u64,
    choices: u64,
}

impl Draw for Any {
    fn grains(&self, stream: &mut RandomStream, grains: &mut [u64]) {
        grains.iter_mut().for_each(|grains| *grains = self.min_grains + rng::below(stream, self.choices));
    }
}
