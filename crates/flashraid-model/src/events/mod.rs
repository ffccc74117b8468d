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
pub struct OperationTimeParts {
    /// Time for which the request or page operation waited for garbage collection of a die or plane.
    ///
    /// With parity, some of these waits are indirect. Collection may delay the reads before a parity write. It may also delay other
    /// requests that hold the lock of the stripe.
    ///
    /// A wait for room in a drive's write buffer counts in part: by the share of collection in the work of its dies.
    pub collection_ns: u64,
    /// Time for which the request or page operation waited for other operations, and for reads that interrupted it.
    pub queue_ns: u64,
    /// Time for the reads before a parity write and for locks of stripes. It leaves out their waits for garbage collection, which
    /// `collection_ns` contains.
    pub parity_ns: u64,
    /// Time of the request or page operation in the write cache, and its wait for room there or in a drive's write buffer. It leaves
    /// out the part of this wait that garbage collection causes, which `collection_ns` contains.
    pub cache_ns: u64,
    /// Time of the transfers of the request or page operation over channels and links, including the wait for them.
    pub transfer_ns: u64,
    /// Time that the flash array takes for the own reads and programs of the request or page operation.
    pub flash_ns: u64,
    /// Command overhead, and all time that belongs to no other part.
    pub other_ns: u64,
}

impl OperationTimeParts {
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
pub struct VictimBlockCollection {
    /// Number of the member SSD.
    pub member: u32,
    /// Number of the die in the member.
    pub die: u32,
    /// Number of the victim block's pool in its die. A pool is a group of blocks that share free blocks: those of a plane, or of the
    /// die. Each pool starts and stops its collection by its own free blocks.
    pub pool: u32,
    /// Time at which the first read of the victim begins, in nanoseconds.
    pub start_ns: TimeNs,
    /// Time at which the erase ends, in nanoseconds.
    pub end_ns: TimeNs,
    /// Number of valid pages that were moved out of the victim block.
    pub pages_moved: u32,
    /// Number of free blocks in the victim block's pool (the blocks of its plane or of its die) when the collection of this block
    /// began. For a drive with superblocks, it is the number of free superblocks when the drive began to collect.
    pub free_blocks_before: u32,
    /// Number of free blocks in the victim block's pool (the blocks of its plane or of its die) just before the victim is erased. It is
    /// the least number during this collection, because moved pages take free blocks and the erase at the end adds one. For a drive
    /// with superblocks, it is the least number of free superblocks between `start_ns` and `end_ns`.
    pub pool_free_blocks_min: u32,
    /// Time from which writes to the blocked die or plane had to wait until the collection ended. From this time to
    /// `all_requests_blocked_from_ns`, only reads could be served between two steps of the collection. (This is state 2 in section III.D
    /// of the paper on preemptive collection, PGC. Before, in state 1, any request could be served there.)
    ///
    /// The time is `start_ns` without preemption. It is `end_ns` if writes never had to wait, and for drives with superblocks.
    pub writes_blocked_from_ns: TimeNs,
    /// Time from which all requests to the blocked die or plane, reads included, had to wait until the collection ended. From this time
    /// on, nothing was served between two steps of the collection. (This is state 3 in section III.D of the paper on preemptive
    /// collection, PGC.)
    ///
    /// The time is `start_ns` without preemption. It is `end_ns` if reads never had to wait, and for drives with superblocks.
    pub all_requests_blocked_from_ns: TimeNs,
    /// True if the coordination scheme caused this collection, which then counts as forced. In most cases the array's controller ordered
    /// or permitted it.
    ///
    /// It is also true for two kinds of collection that members begin by themselves. With `stagger`, a member to which few page operations
    /// are sent may collect without permission (rules 261 and 262). With `windows`, a drive with superblocks collects in its turn, the
    /// window of time in which only this member may collect (rule 265).
    pub is_caused_by_coordination: bool,
}

/// One member's part of a destage of the write cache: its pages, and the times at which they were sent and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteCacheDestageToMember {
    /// Number of the member SSD.
    pub member: u32,
    /// True if the destaged pages come from a cache that belongs to this member alone. False if they come from a cache of the whole
    /// array, which destages the pages of a stripe together (a write group).
    pub from_member_cache: bool,
    /// Number of the stripe to which the destaged pages belong.
    pub stripe: u64,
    /// Number of pages that this destage writes to the member. From a cache that belongs to this member alone, the parity pages in this
    /// cache count, too.
    ///
    /// From a cache of the whole array, which destages the pages of a stripe together (a write group), only data pages count. The array
    /// computes and writes the parity of such a group.
    pub pages: u32,
    /// Time at which the destaged pages were sent from the cache to the members, in nanoseconds.
    pub begun_ns: TimeNs,
    /// Time at which this member had written its destaged pages, in nanoseconds. If pages of a stripe are destaged together with their
    /// parity (a write group), it is the time at which all members had written theirs.
    pub ended_ns: TimeNs,
    /// Time at which all members had written their destaged pages, so that the next destage may begin, in nanoseconds.
    pub last_member_done_ns: TimeNs,
}
