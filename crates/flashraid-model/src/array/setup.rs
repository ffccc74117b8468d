//! Creation of an array, and its shape.

use super::{Array, ArrayLayout, ArrayParams};
use crate::space::Mapping;
use crate::ssd::ExactFastPaths;

/// Settings that change how the array is computed and recorded, but not its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrayExecutionOptions {
    /// Maximum number of threads that simulate a batch of requests ([`Array::submit_many`]), at least 1. Each thread works for some of
    /// the members. An array uses several threads only if it knows the ends of requests in advance
    /// ([`ArrayShape::completion_time_known_at_arrival`]).
    pub worker_threads_max: usize,
    /// Minimum number of page operations that are worth a thread of their own, when the members serve a batch of requests in parallel. With
    /// `None`, the program chooses the number.
    pub operations_per_worker_thread_min: Option<usize>,
    /// True to record over time how busy each member is ([`Ssd::utilisation_by_interval`](crate::ssd::Ssd::utilisation_by_interval)).
    pub records_member_utilisation: bool,
    /// True to report each destage of the write cache as an [`ArrayEvent::DestageEnded`](super::ArrayEvent::DestageEnded), once for each
    /// member that gets pages.
    pub reports_destage_events: bool,
    /// Faster ways of computing that the simulator may use. The results stay the same.
    pub shortcuts: ExactFastPaths,
}

impl Default for ArrayExecutionOptions {
    fn default() -> Self {
        Self {
            worker_threads_max: 1,
            operations_per_worker_thread_min: None,
            records_member_utilisation: false,
            reports_destage_events: false,
            shortcuts: ExactFastPaths::default(),
        }
    }
}

impl ArrayExecutionOptions {
    /// Creates an array as [`Array::new`] does, unless `go_on` returns false. It is called before each member, because large
    /// members take a while to fill.
    pub fn new_array_unless_stopped(self, params: &ArrayParams, seed: u64, go_on: &mut dyn FnMut() -> bool) -> Option<Array> {
        Array::make(params, seed, self, None, go_on)
    }

    /// Creates an array as [`Array::new`] does, but with these mappings of its members and spares, in order. They come from an array with
    /// the same parameters of the mapping.
    ///
    /// # Panics
    /// Panics if there are fewer mappings than members and spares, or if they are not of the members' kind.
    pub fn new_array_of_mappings(self, params: &ArrayParams, seed: u64, mappings: Vec<Mapping>) -> Array {
        let make = |mappings| Array::make(params, seed, self, mappings, &mut || true).expect("nobody says no");
        if params.ssd.superblock.is_none() {
            return make(Some(mappings));
        }
        // Before its first request, such a member notes whether it needs collection as a filled one, as if it were warmed up afterwards.
        let mut array = make(None);
        for (member, mapping) in array.untimed_access().members().iter_mut().zip(mappings) {
            member.replace_mapping(mapping);
        }
        array
    }
}

/// Sizes, layout and other properties of an array that follow from its parameters and never change.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ArrayShape {
    /// Number of bytes in a page.
    pub page_bytes: u32,
    /// Layout of addresses on the members.
    pub layout: ArrayLayout,
    /// Number of members, with spares.
    pub members_including_spares: u32,
    /// Number of spares without data, which are the last of these.
    pub blank_spares: u32,
    /// Number of dies in a member.
    pub dies_per_member: u32,
    /// Number of free blocks in a pool of blocks (of a plane or of a die) at or below which garbage collection starts. For a drive
    /// with superblocks, the number of free superblocks that it tries to keep.
    pub start_threshold_free_blocks: u32,
    /// Number of pages that fit into the write cache; `None` without a cache.
    pub cache_capacity_pages: Option<u64>,
    /// True if the configuration makes a member fail during the run.
    pub member_failures_configured: bool,
    /// True if the array can tell the end of a request as soon as the request arrives. Requests with fixed arrival times may then be
    /// simulated in a batch, before simulated time reaches their arrival.
    pub completion_time_known_at_arrival: bool,
}
