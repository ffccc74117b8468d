//! What a host asks of the array.

/// Reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// Data goes to the host.
    Read,
    /// Data comes from the host.
    Write,
}

/// One request of a host, before it is split into strips and pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Arrival since the start of the workload, in nanoseconds; ignored by closed-loop hosts.
    pub arrival_ns: u64,
    /// First byte, from the start of the array.
    pub offset_bytes: u64,
    /// Bytes; never 0.
    pub length_bytes: u64,
    /// Read or write.
    pub direction: Direction,
    /// A write that must not wait for garbage collection (PGC III.D, state 3).
    pub high_priority: bool,
    /// Which stream of a mix it belongs to; 0 without a mix.
    pub stream: u8,
    /// All of it lies on the member of its first byte, at consecutive addresses of that member (GGC Table 9, "skewed": a request larger
    /// than a stripe unit that still goes to one SSD); otherwise it spreads over the members like any range of the array.
    pub one_member: bool,
}
