//! Chunks: runs of equally likely addresses, the unit of popularity. A rest of the footprint smaller than a chunk is left out.

use super::Room;
use super::scatter::Scatter;
use crate::{AddressSpace, Grain};
use flashraid_model::rng::{self, Stream};

/// Smaller pages than those of today's devices do not make chunks smaller.
const PAGE_MIN_BYTES: u64 = 4096;

/// The chunk that is meant where none is named.
pub(super) fn a_page() -> Grain {
    Grain::Page
}

/// Where popular chunks lie if nothing is said.
pub(super) fn is_scattered() -> bool {
    true
}

/// Bytes of a chunk.
pub(super) fn chunk_bytes(chunk: Grain, space: &AddressSpace) -> u64 {
    match chunk {
        Grain::Page => space.page_bytes.max(PAGE_MIN_BYTES),
        chunk => chunk.bytes(space),
    }
}

/// Chunks by popularity.
pub(super) struct Chunks {
    /// Aligned addresses in a chunk.
    places: u64,
    scatter: Option<Scatter>,
}

impl Chunks {
    /// Those of a footprint, and how many they are.
    pub(super) fn new(chunk: Grain, scatter: bool, room: &Room, seed: u64) -> (u64, Self) {
        let places = chunk_bytes(chunk, room.space) / room.align_bytes;
        let count = room.places() / places;
        (count, Self { places, scatter: scatter.then(|| Scatter::new(count, seed)) })
    }

    /// A place in the chunk of this rank.
    pub(super) fn place(&self, rank: u64, stream: &mut Stream) -> u64 {
        let chunk = self.scatter.as_ref().map_or(rank, |scatter| scatter.apply(rank));
        chunk * self.places + if self.places > 1 { rng::below(stream, self.places) } else { 0 }
    }
}
