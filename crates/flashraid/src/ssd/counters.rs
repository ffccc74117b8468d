//! What one member counts while it runs.

/// Counts of one member SSD since the end of its warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemberCounters {
    /// Pages read for the host.
    pub host_pages_read: u64,
    /// Pages programmed for the host.
    pub host_pages_written: u64,
    /// Valid pages that garbage collection moved.
    pub gc_pages_moved: u64,
    /// Blocks erased; every victim is erased once, so these are the cleans, too.
    pub erases: u64,
    /// Summary pages programmed.
    pub summary_programs: u64,
    /// Uninterrupted collections of one element: one or more victims back to back.
    pub gc_runs: u64,
    /// Runs that were forced by the array's controller.
    pub gc_forced_runs: u64,
    /// Sum of the lengths of all runs of all elements, in nanoseconds.
    pub gc_time_ns: u64,
}

/// Erase counts of the blocks of one member, warm-up included.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Wear {
    /// Least erases of a block.
    pub min: u32,
    /// Mean erases of a block.
    pub mean: f64,
    /// Most erases of a block.
    pub max: u32,
    /// Standard deviation over the blocks.
    pub stddev: f64,
}
