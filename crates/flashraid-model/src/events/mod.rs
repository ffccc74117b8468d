//! Simulated time, the agenda of coming events, and the records of past events that pass between layers.

mod agenda;
mod slab;

pub(crate) use agenda::Agenda;
pub use slab::Slab;

/// Simulated time in nanoseconds since the start of the run.
pub type TimeNs = u64;

/// The last moment of simulated time, about 146 years. Callers pass no later time and no longer duration, so that the sum of two never
/// overflows. A run that would last longer ends here.
pub const TIME_MAX_NS: TimeNs = 1 << 62;

/// Parts of the time of an operation, along the path that decided its end. They add up to the time from its issue to its end.
///
/// If two paths end at the same time, the one with more time in the first field is reported. If that is equal, the second field decides,
/// and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct TimeParts {
    /// Time spent waiting for garbage collection of a die or plane.
    ///
    /// With parity, this includes collection that delays the reads before a write, or the operations that hold the lock of the stripe. A
    /// wait for room in a drive's write buffer counts in part: by the share of collection in the work of its dies.
    pub collection_ns: u64,
    /// Time spent waiting for other operations, and for reads that interrupted this one.
    pub queue_ns: u64,
    /// Time for the reads before a parity write and for locks of stripes, except waits for collection in these reads and locks.
    pub parity_ns: u64,
    /// Time in the write cache, and waiting for room in it or in a drive's write buffer; collection is left out.
    pub cache_ns: u64,
    /// Time of transfers over channels and links, including the wait for them.
    pub transfer_ns: u64,
    /// Time that the flash array takes for this operation's own reads and programs.
    pub flash_ns: u64,
    /// Command overhead, and all time that belongs to no other part.
    pub other_ns: u64,
}

impl TimeParts {
    /// Returns the sum of the parts, in nanoseconds.
    pub fn total_ns(&self) -> u64 {
        let Self { collection_ns, queue_ns, parity_ns, cache_ns, transfer_ns, flash_ns, other_ns } = *self;
        collection_ns + queue_ns + parity_ns + cache_ns + transfer_ns + flash_ns + other_ns
    }
}

/// A *clean*: the collection of one victim block of a pool, from the first read of the victim to the end of its erase. Cleans of a die
/// that follow each other without a gap form one *collection* (rule 27).
///
/// For a drive with superblocks, this is a period in which the drive counts as collecting. Its `die`, `pool` and `pages_moved` are then
/// 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GcInterval {
    /// Number of the member SSD.
    pub member: u32,
    /// Number of the die in the member.
    pub die: u32,
    /// Number of the pool in the die. A pool is a group of blocks that are collected together: those of a plane, or of the die.
    pub pool: u32,
    /// Time at which the first read of the victim begins, in nanoseconds.
    pub start_ns: TimeNs,
    /// Time at which the erase ends, in nanoseconds.
    pub end_ns: TimeNs,
    /// Number of valid pages that were moved.
    pub pages_moved: u32,
    /// Number of free blocks in the victim block's pool (the blocks of its plane or of its die) when the collection of this block began.
    /// For a drive with superblocks, it is the number of free superblocks when the period began.
    pub free_blocks_before: u32,
    /// Number of free blocks in the victim block's pool (the blocks of its plane or of its die) just before the erase. It is the minimum
    /// during the collection of this victim block. For a drive with superblocks, it is the minimum number of free superblocks.
    pub free_blocks_min: u32,
    /// Time from which writes to the blocked die or plane had to wait for the end of the collection. This time is `end_ns` if they never
    /// had to. From then on, reads could still be served between its steps (state 2 in section III.D of the paper on preemptive
    /// collection, PGC). Before, any request could be served between the steps (state 1).
    pub writes_wait_from_ns: TimeNs,
    /// Time from which all requests to the blocked die or plane had to wait for the end of the collection. This time is `end_ns` if they
    /// never had to, and `start_ns` without preemption. It begins state 3 in section III.D of the paper on preemptive collection (PGC).
    pub all_requests_wait_from_ns: TimeNs,
    /// True if the collection of this victim block was forced work, because the array's controller ordered or permitted it. It is also
    /// true in two cases in which a member begins such work by itself. One is work of a member that gets few operations (rules 261 and
    /// 262). The other is work of a drive with superblocks in its turn, the window of time in which only this member may collect (rule
    /// 265).
    pub is_forced: bool,
}

/// One member's part of a destage of the write cache: its pages, and the times at which they were sent and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DestageInterval {
    /// Number of the member SSD.
    pub member: u32,
    /// True if the pages come from the member's own cache, false if they come from a cache of write groups (pages of a stripe).
    pub from_member_cache: bool,
    /// Number of the stripe.
    pub stripe: u64,
    /// Number of pages of this destage that are written to the member. If they come from the member's own cache, parity pages in this
    /// cache count, too. If they come from a cache of write groups (pages of a stripe), only data pages count. The array computes and
    /// writes the parity then.
    pub pages: u32,
    /// Time at which the pages were sent to the members, in nanoseconds.
    pub begun_ns: TimeNs,
    /// Time at which this member had written its pages, in nanoseconds. If pages of a stripe are destaged together with their parity (a
    /// write group), it is the time at which all members had.
    pub ended_ns: TimeNs,
    /// Time at which all members had written their pages, so that the next destage may begin.
    pub last_member_done_ns: TimeNs,
}
