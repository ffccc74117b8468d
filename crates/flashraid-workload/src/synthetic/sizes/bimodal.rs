//! Two sizes (LAWC Table 4).

use super::weighted::Table;
use super::{Drawn, Problems, SizeLaw};
use crate::ArrayProperties;
use crate::units::{Fraction, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Requests of two sizes, drawn at random: a given share of them is small, and the others are large.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bimodal {
    /// Size of a small request.
    pub small: Size,
    /// Size of a large request.
    pub large: Size,
    /// Share of small requests.
    pub small_share: Fraction,
}

impl SizeLaw for Bimodal {
    fn problems(&self, _: &ArrayProperties, problems: &mut Problems) {
        problems.size("small", self.small.bytes);
        problems.size("large", self.large.bytes);
        problems.share("small_share", self.small_share.0);
    }

    fn draw(&self, _: &ArrayProperties) -> Drawn {
        let sums = vec![(self.small_share.0, self.small.bytes), (1.0, self.large.bytes)];
        Drawn { grain_bytes: 1, draw: Box::new(Table(sums)) }
    }
}
