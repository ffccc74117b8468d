//! What a host asks of the array, and when.

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OpKind {
    /// Data goes to the host.
    Read,
    /// Data comes from the host.
    Write,
    /// The data are not needed any more (TRIM, deallocate, discard).
    Trim,
    /// What has been written before is to be durable.
    Flush,
}

impl OpKind {
    /// A write, or else a read.
    pub const fn of(write: bool) -> Self {
        if write { Self::Write } else { Self::Read }
    }

    /// As files and tables name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Flush => "flush",
        }
    }
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
    /// What it does; a flush concerns no bytes.
    pub kind: OpKind,
    /// A write that is done only when its data survive a loss of power ("force unit access").
    pub fua: bool,
    /// A write of zeroes that the host asks for and does not send: what deallocates it comes before the array (rule 220), for which it is
    /// a write like any other.
    pub zeroes: bool,
    /// A write that must not wait for garbage collection (PGC III.D, state 3).
    pub high_priority: bool,
    /// Which stream of a mix it belongs to; 0 without a mix.
    pub stream: u8,
    /// All of it lies on the member of its first byte, at consecutive addresses of that member (GGC Table 9, "skewed": a request larger
    /// than a stripe unit that still goes to one SSD); otherwise it spreads over the members like any range of the array.
    pub one_member: bool,
}

impl Request {
    /// A request of normal priority that spreads over the members like any range of the array.
    pub const fn new(kind: OpKind, arrival_ns: u64, offset_bytes: u64, length_bytes: u64) -> Self {
        Self { arrival_ns, offset_bytes, length_bytes, kind, fua: false, zeroes: false, high_priority: false, stream: 0, one_member: false }
    }
}

/// When requests arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostLoop {
    /// At the times that the requests carry.
    Open,
    /// A new one as soon as one of `depth` outstanding requests is done.
    Closed {
        /// Outstanding requests, at least 1.
        depth: u32,
        /// Pause between the end of a request and the issue of the one that takes its place, in nanoseconds.
        think_ns: u64,
    },
}
