//! Chunks: groups of consecutive addresses with the same popularity. The end of the footprint is left out if it is smaller than a chunk.

use super::Room;
use super::scatter::Scatter;
use crate::{ArrayProperties, Request, SizeOrAddressGranularity};
use flashraid_model::rng::{self, RandomStream};

/// Number of ranks that are drawn before they are scattered.
const DRAWN_AT_A_TIME: usize = 64;

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

    /// Gives each request a random aligned address in the chunk whose rank is drawn by `rank`.
    pub(super) fn place(&self, batch: &mut [Request], stream: &mut RandomStream, mut rank: impl FnMut(&mut RandomStream) -> u64) {
        // All ranks are drawn before they are scattered, because the processor then scatters several at a time.
        for requests in batch.chunks_mut(DRAWN_AT_A_TIME) {
            let mut drawn = [(0, 0); DRAWN_AT_A_TIME];
            for drawn in &mut drawn[..requests.len()] {
                *drawn = (rank(stream), if self.places > 1 { rng::below(stream, self.places) } else { 0 });
            }
            for (request, (rank, place)) in requests.iter_mut().zip(drawn) {
                let chunk = self.scatter.as_ref().map_or(rank, |scatter| scatter.apply(rank));
                request.offset_bytes = chunk * self.places + place;
            }
        }
    }
}
