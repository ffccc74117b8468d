//! The making of an array, and its shape.

use super::{Array, ArrayParams, Layout};
use crate::ssd::Shortcuts;

/// Ways of working and of recording; none of them changes what is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// Threads that may serve what is taken ahead of its turn ([`Array::submit_many`]), at least 1. Members know nothing of each other, and
    /// what they tell is put together in their order.
    pub threads: usize,
    /// Least operations of a thread; `None`: as many as are worth starting one.
    pub operations_per_thread: Option<usize>,
    /// It is recorded how each member is used over time ([`Ssd::usage`](crate::ssd::Ssd::usage)).
    pub record_usage: bool,
    /// Each destage of the write cache is told as an [`Event::Destage`](super::Event::Destage) for each member that gets pages of it.
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
    /// Makes an array as [`Array::new`] does. It gives up when `go_on`, which is asked before each member, says no: large members take a
    /// while to fill.
    pub fn array_while(self, params: &ArrayParams, seed: u64, go_on: &mut dyn FnMut() -> bool) -> Option<Array> {
        Array::make(params, seed, self, go_on)
    }
}

/// The shape of an array, which never changes.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Shape {
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Spread of addresses over the members.
    pub layout: Layout,
    /// Members, spares included.
    pub members: u32,
    /// Dies of a member.
    pub dies: u32,
    /// Free blocks of a pool at which it is collected; of a drive with superblocks the free ones that it aims at.
    pub start_free_blocks: u32,
    /// Pages that fit into the write cache, if there is one.
    pub cache_pages: Option<u64>,
    /// A member fails in the course of a run.
    pub may_fail: bool,
    /// Requests may be taken before their turn: nothing that happens can change what arrives.
    pub takes_ahead: bool,
    /// Hints of requests that come soon ([`Array::prefetch`]) mean something.
    pub takes_hints: bool,
}
