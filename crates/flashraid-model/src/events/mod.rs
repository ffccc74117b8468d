//! Time, what happens next, and the records of what has happened that pass between layers.

mod agenda;
mod slab;

pub use agenda::Agenda;
pub use slab::Slab;

/// Simulated time in nanoseconds since the start of the run.
pub type TimeNs = u64;

/// A clean of one pool, from its first read to the end of its erase. Cleans of a die that follow each other back to back are one
/// *collection*.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GcInterval {
    /// Member SSD.
    pub member: u32,
    /// Die of the member.
    pub die: u32,
    /// Pool of the die.
    pub pool: u32,
    /// First read of the first victim, in nanoseconds.
    pub start_ns: TimeNs,
    /// End of the last erase, in nanoseconds.
    pub end_ns: TimeNs,
    /// Blocks erased.
    pub victims: u32,
    /// Valid pages moved.
    pub pages_moved: u32,
    /// Free blocks of the pool when it began.
    pub free_blocks_before: u32,
    /// Free blocks of the pool just before the erase, the fewest while it lasted.
    pub free_blocks_min: u32,
    /// From then on writes had to wait (state 2 of PGC III.D); `end_ns` if never. Before, requests went in between the steps (state 1).
    pub writes_wait_from_ns: TimeNs,
    /// From then on all requests had to wait (state 3); `end_ns` if never, `start_ns` without preemption.
    pub all_wait_from_ns: TimeNs,
    /// Started by the array's controller rather than by the member itself.
    pub forced: bool,
}

/// What one member got of a destage of the write cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DestageInterval {
    /// The member.
    pub member: u32,
    /// It came from the member's own cache rather than from one of write groups.
    pub own_cache: bool,
    /// The stripe.
    pub stripe: u64,
    /// Data and parity pages written to the member; of a write group with parity, its data pages.
    pub pages: u32,
    /// When the pages went to the members.
    pub begun_ns: TimeNs,
    /// When the member was done with its own pages; of a write group with parity, when all members were.
    pub ended_ns: TimeNs,
    /// When all members were: then the next destage may begin.
    pub done_ns: TimeNs,
}
