//! Address pattern `zipf`: popularity falls with a power of the rank.

use super::chunks::{Chunks, a_page, is_scattered};
use super::ranks::Ranks;
use super::{AddressPattern, DrawPlaces, Problems, Room};
use crate::{Request, SizeOrAddressGranularity};
use flashraid_model::rng::{self, RandomStream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Popularity falls with a power of the rank.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Zipf {
    /// Exponent of popularity: the k-th most popular chunk has a weight of k^−exponent. 0 is uniform, and traces lie between 0.3 and 1.2.
    #[serde(default = "one")]
    #[schemars(range(min = 0.0, max = 10.0))]
    pub exponent: f64,
    /// Run of equally likely addresses. It is a page, but at least 4 KiB, unless it is given in bytes.
    #[serde(default = "a_page")]
    pub chunk: SizeOrAddressGranularity,
    /// True if popular chunks lie anywhere, false if they come first.
    #[serde(default = "is_scattered")]
    pub scatter: bool,
}

fn one() -> f64 {
    1.0
}

impl Default for Zipf {
    fn default() -> Self {
        Self { exponent: one(), chunk: a_page(), scatter: is_scattered() }
    }
}

impl AddressPattern for Zipf {
    fn problems(&self, room: &Room, problems: &mut Problems) {
        if !(0.0..=10.0).contains(&self.exponent) {
            problems.refuse("exponent", format!("is {}; 0 to 10 is allowed", self.exponent));
        }
        problems.chunk(self.chunk, room, 1);
    }

    fn draw(&self, room: &Room, seed: u64) -> Box<dyn DrawPlaces> {
        let (count, chunks) = Chunks::new(self.chunk, self.scatter, room, seed);
        Box::new(Ranked { ranks: Ranks::new(count, self.exponent), chunks })
    }

    fn random_for_tests(stream: &mut RandomStream) -> Self {
        Self { exponent: 3.0 * rng::uniform(stream), scatter: rng::chance(stream, 0.5), ..Self::default() }
    }
}

struct Ranked {
    ranks: Ranks,
    chunks: Chunks,
}

impl DrawPlaces for Ranked {
    fn draw(&self, stream: &mut RandomStream, batch: &mut [Request]) {
        self.chunks.place(batch, stream, |stream| self.ranks.draw(stream));
    }
}
