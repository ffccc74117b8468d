//! Chunks: groups of consecutive addresses with the same popularity. The end of the footprint is left out if it is smaller than a chunk.

use super::Room;
use super::scatter::Scatter;
use crate::{ArrayProperties, SizeOrAddressGranularity};
use flashraid_model::rng::{self, RandomStream};

/// Minimum size of a chunk that is given as a page. Devices with smaller pages do not make chunks smaller.
const PAGE_MIN_BYTES: u64 = 4096;

/// Returns the default size of a chunk of addresses: one page.
pub(super) fn a_page() -> SizeOrAddressGranularity {
    SizeOrAddressGranularity::LogicalPage
}

/// Returns the default for `scatter`: popular chunks lie anywhere.
pub(super) fn is_scattered() -> bool {
    true
}

/// Returns the number of bytes in a chunk.
pub(super) fn chunk_bytes(chunk: SizeOrAddressGranularity, space: &ArrayProperties) -> u64 {
    match chunk {
        SizeOrAddressGranularity::LogicalPage => space.page_bytes.max(PAGE_MIN_BYTES),
        chunk => chunk.bytes_in(space),
    }
}

/// The chunks of a footprint, which can be found by their rank of popularity.
pub(super) struct Chunks {
    /// Number of aligned addresses in each chunk.
    places: u64,
    scatter: Option<Scatter>,
}

impl Chunks {
    /// Returns the number of chunks in a footprint, and the chunks themselves.
    pub(super) fn new(chunk: SizeOrAddressGranularity, scatter: bool, room: &Room, seed: u64) -> (u64, Self) {
        let places = chunk_bytes(chunk, room.space) / room.align_bytes;
        let count = room.places() / places;
        (count, Self { places, scatter: scatter.then(|| Scatter::new(count, seed)) })
    }

    /// Returns the number of aligned addresses in each chunk.
    pub(super) fn places(&self) -> u64 {
        self.places
    }

    /// Returns a random aligned address in the chunk of this rank.
    pub(super) fn place(&self, rank: u64, stream: &mut RandomStream) -> u64 {
        let chunk = self.scatter.as_ref().map_or(rank, |scatter| scatter.apply(rank));
        chunk * self.places + if self.places > 1 { rng::below(stream, self.places) } else { 0 }
    }
}
