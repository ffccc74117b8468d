//! Addresses of which a small hot part gets most requests.

use super::chunks::{Chunks, a_page, is_scattered};
use super::{AddressPattern, DrawPlaces, Problems, Room};
use crate::units::Fraction;
use crate::{Request, SizeOrAddressGranularity};
use flashraid_model::rng::{self, RandomStream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A share of the requests goes to a share of the space, the hot part.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HotCold {
    /// Share of requests that go to the hot part.
    #[serde(default = "four_fifths")]
    pub request_share: Fraction,
    /// Share of the space in the hot part.
    #[serde(default = "a_fifth")]
    pub space_share: Fraction,
    /// Size of a chunk: a group of consecutive addresses that are hot or cold together. The value `page` stands for at least 4 KiB,
    /// even if pages are smaller.
    #[serde(default = "a_page")]
    pub chunk: SizeOrAddressGranularity,
    /// True if hot chunks lie anywhere in the space, false if they come first.
    #[serde(default = "is_scattered")]
    pub scatter: bool,
}

fn four_fifths() -> Fraction {
    Fraction(0.8)
}

fn a_fifth() -> Fraction {
    Fraction(0.2)
}

impl Default for HotCold {
    fn default() -> Self {
        Self { request_share: four_fifths(), space_share: a_fifth(), chunk: a_page(), scatter: is_scattered() }
    }
}

impl AddressPattern for HotCold {
    fn problems(&self, room: &Room, problems: &mut Problems) {
        problems.share("request_share", self.request_share);
        problems.share("space_share", self.space_share);
        // One of these chunks is hot, and one is cold.
        problems.chunk(self.chunk, room, 2);
    }

    /// Without scattering, a part that gets no requests is left out.
    fn range(&self, room: &Room) -> Range<u64> {
        let (count, chunks) = Chunks::new(self.chunk, false, room, 0);
        let hot = self.hot_chunks(count) * chunks.places();
        match self.request_share {
            _ if self.scatter => 0..room.places(),
            Fraction(share) if share <= 0.0 => hot..count * chunks.places(),
            Fraction(share) if share >= 1.0 => 0..hot,
            _ => 0..room.places(),
        }
    }

    fn draw(&self, room: &Room, seed: u64) -> Box<dyn DrawPlaces> {
        let (count, chunks) = Chunks::new(self.chunk, self.scatter, room, seed);
        let hot = self.hot_chunks(count);
        Box::new(HotAndCold { request_share: self.request_share.0, hot, cold: count - hot, chunks })
    }

    fn random_for_tests(stream: &mut RandomStream) -> Self {
        let (request_share, space_share) = (Fraction(rng::uniform(stream)), Fraction(rng::uniform(stream)));
        Self { request_share, space_share, scatter: rng::chance(stream, 0.5), ..Self::default() }
    }
}

impl HotCold {
    /// Returns the number of hot chunks among `count` chunks.
    fn hot_chunks(&self, count: u64) -> u64 {
        ((count as f64 * self.space_share.0).round() as u64).clamp(1, count - 1)
    }
}

/// The chunks of the hot part and of the cold part.
struct HotAndCold {
    request_share: f64,
    hot: u64,
    cold: u64,
    chunks: Chunks,
}

impl DrawPlaces for HotAndCold {
    fn draw(&self, stream: &mut RandomStream, batch: &mut [Request]) {
        self.chunks.place(batch, stream, |stream| {
            let is_hot = rng::chance(stream, self.request_share);
            if is_hot { rng::below(stream, self.hot) } else { self.hot + rng::below(stream, self.cold) }
        });
    }
}
