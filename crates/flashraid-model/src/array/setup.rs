//! Creation of an array, and its shape.

use super::{Array, ArrayParams, Layout};
use crate::ssd::Shortcuts;

/// Settings that change how the array is computed and recorded, but not its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// Maximum number of threads that serve requests ahead of their time ([`Array::submit_many`]), at least 1.
    pub threads: usize,
    /// Minimum number of operations for each thread; `None` for a number that makes another thread worth starting.
    pub operations_per_thread: Option<usize>,
    /// True to record over time how busy each member is ([`Ssd::usage`](crate::ssd::Ssd::usage)).
    pub record_usage: bool,
    /// True to report each destage of the write cache as an [`Event::Destage`](super::Event::Destage), once for each member that gets
    /// pages.
    pub record_destages: bool,
    /// Faster ways of computing the same results that may be used.
    pub shortcuts: Shortcuts,
}

impl Default for Setup {
    fn default() -> Self {
        Self { threads: 1, operations_per_thread: None, record_usage: false, record_destages: false, shortcuts: Shortcuts::default() }
    }
}

impl Setup {
    /// Creates an array as [`Array::new`] does, unless `go_on` returns false. It is called before each member, because large members take a
    /// while to fill.
    pub fn array_while(self, params: &ArrayParams, seed: u64, go_on: &mut dyn FnMut() -> bool) -> Option<Array> {
        Array::make(params, seed, self, go_on)
    }
}

/// Properties of an array that never change.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Shape {
    /// Number of bytes in a page.
    pub page_bytes: u32,
    /// Layout of addresses on the members.
    pub layout: Layout,
    /// Number of members, with spares.
    pub members: u32,
    /// Number of dies in a member.
    pub dies: u32,
    /// Number of free blocks of a pool below which the pool is collected. For a drive with superblocks, the number of free superblocks that
    /// it tries to keep.
    pub start_free_blocks: u32,
    /// Number of pages that fit into the write cache; `None` without a cache.
    pub cache_pages: Option<u64>,
    /// True if the configuration makes a member fail during the run.
    pub may_fail: bool,
    /// True if requests may be served ahead of their time, because no event can change when they arrive.
    pub serves_ahead_of_time: bool,
}
