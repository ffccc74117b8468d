//! Creation of an array, and its shape.

use super::{Array, ArrayParams, Layout};
use crate::ssd::Shortcuts;

/// Ways of working and of recording. None of them changes the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// Most threads that serve requests taken before their turn ([`Array::submit_many`]), at least 1. Results do not depend on it, because
    /// members are independent and report in their order.
    pub threads: usize,
    /// Least number of operations of a thread; `None` for as many as are worth starting one.
    pub operations_per_thread: Option<usize>,
    /// True to record how each member is used over time ([`Ssd::usage`](crate::ssd::Ssd::usage)).
    pub record_usage: bool,
    /// True to report each destage of the write cache as an [`Event::Destage`](super::Event::Destage), once for each member that gets
    /// pages.
    pub record_destages: bool,
    /// Shortcuts that may be taken.
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

/// The shape of an array, which never changes.
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
    /// Free blocks of a pool at which it is collected. For a drive with superblocks, the free ones that it aims at.
    pub start_free_blocks: u32,
    /// Number of pages that fit into the write cache; `None` without a cache.
    pub cache_pages: Option<u64>,
    /// True if a member fails in the course of a run.
    pub may_fail: bool,
    /// True if requests may be taken before their turn, because no event can change the arrivals.
    pub takes_ahead: bool,
}
