//! Time, what happens next, and the records of what has happened that pass between layers.

mod agenda;
mod slab;

pub use agenda::Agenda;
pub use slab::Slab;

/// Simulated time in nanoseconds since the start of the run.
pub type TimeNs = u64;

/// The last moment of simulated time, about 146 years. Whoever drives the model hands in no later moment and no longer duration, so that
/// no sum of the two overflows; a run that would go on after it ends.
pub const TIME_MAX_NS: TimeNs = 1 << 62;

/// Where the time of an operation went, along the path that decided its end; the parts add up to the time from its issue to its end.
///
/// The order of the fields is that in which two equal times are compared: the greater collection is the one that is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct TimeParts {
    /// Behind collection of a die or plane; with parity also while reads ahead of a write, or the holders of the stripe's lock, wait for it.
    /// Of a wait for room in a drive's write buffer the share that collection has in the work of its dies.
    pub collection_ns: u64,
    /// Behind other operations, and behind reads that interrupted it.
    pub queue_ns: u64,
    /// Reads ahead of writes, and waiting for locks, without what of both is collection.
    pub parity_ns: u64,
    /// Waiting for room in the write cache, and the cache's own time; the same in a drive's write buffer, without what is collection.
    pub cache_ns: u64,
    /// Transfers over channel and link, waiting for them included.
    pub transfer_ns: u64,
    /// Array times of its own reads and programs.
    pub flash_ns: u64,
    /// Command overhead and what the other parts leave.
    pub other_ns: u64,
}

impl TimeParts {
    /// The sum of the parts.
    pub fn total_ns(&self) -> u64 {
        let Self { collection_ns, queue_ns, parity_ns, cache_ns, transfer_ns, flash_ns, other_ns } = *self;
        collection_ns + queue_ns + parity_ns + cache_ns + transfer_ns + flash_ns + other_ns
    }
}

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
