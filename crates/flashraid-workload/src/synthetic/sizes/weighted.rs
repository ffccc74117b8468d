//! A table of sizes with weights.

use super::{Draw, Drawn, Problems, SizeLaw};
use crate::ArrayProperties;
use crate::units::Size;
use flashraid_model::rng::{self, RandomStream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Given sizes with weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Weighted {
    /// Pairs of a size and its weight, such as `[["4KiB", 3], ["64KiB", 1]]`.
    #[schemars(length(min = 1))]
    pub sizes: Vec<(Size, f64)>,
}

impl Weighted {
    /// Returns the distribution with these sizes in bytes and their weights.
    pub fn from_weights(sizes: impl IntoIterator<Item = (u64, f64)>) -> Self {
        Self { sizes: sizes.into_iter().map(|(bytes, weight)| (Size { bytes }, weight)).collect() }
    }
}

impl SizeLaw for Weighted {
    fn problems(&self, _: &ArrayProperties, problems: &mut Problems) {
        let sizes = &self.sizes;
        sizes.iter().filter(|(_, weight)| *weight != 0.0).for_each(|(size, _)| problems.size("sizes", size.bytes));
        let total: f64 = sizes.iter().map(|(_, weight)| weight).sum();
        if !(total > 0.0 && total.is_finite() && sizes.iter().all(|(_, weight)| *weight >= 0.0)) {
            problems.refuse("sizes", "weights must be 0 or more, and one of them above 0".into());
        }
    }

    fn draw(&self, _: &ArrayProperties) -> Drawn {
        let total: f64 = self.sizes.iter().map(|(_, weight)| weight).sum();
        let mut sum = 0.0;
        let weighted = self.sizes.iter().filter(|(_, weight)| *weight > 0.0);
        let sums = weighted.map(|(size, weight)| {
            sum += weight / total;
            (sum, size.bytes)
        });
        Drawn { grain_bytes: 1, draw: Box::new(Table(sums.collect())) }
    }
}

/// Running sums of the shares, each with its size.
pub(super) struct Table(pub(super) Vec<(f64, u64)>);

impl Draw for Table {
    fn grains(&self, stream: &mut RandomStream, grains: &mut [u64]) {
        for grains in grains {
            let number = rng::uniform(stream);
            *grains = self.0[self.0.partition_point(|&(sum, _)| sum <= number).min(self.0.len() - 1)].1;
        }
    }
}
