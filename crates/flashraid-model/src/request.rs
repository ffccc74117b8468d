//! Requests: the operations that a host asks of the array, with their times.

/// Kind of a request of the host, or of an operation that the array sends to its SSDs for such a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OpKind {
    /// Transfers data from the array to the host.
    Read,
    /// Transfers data from the host to the array.
    Write,
    /// Tells the array that data are no longer needed (TRIM, deallocate, discard).
    Trim,
    /// Asks that all earlier writes become durable before it ends.
    Flush,
}

impl OpKind {
    /// Returns `Write` if `write` is true, and otherwise `Read`.
    pub const fn from_is_write(write: bool) -> Self {
        if write { Self::Write } else { Self::Read }
    }

    /// Returns the name used in files and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Flush => "flush",
        }
    }
}

/// A request of a host, before it is split into strips and pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Time of arrival since the start of the workload, in nanoseconds. Closed-loop hosts ignore it.
    pub arrival_ns: u64,
    /// Number of the first byte, counted from the start of the array.
    pub offset_bytes: u64,
    /// Number of bytes, at least 1.
    pub length_bytes: u64,
    /// Kind of operation. A flush ignores the range of bytes.
    pub kind: OpKind,
    /// True for a write that must be safe from a loss of power before it counts as done ("force unit access").
    pub fua: bool,
    /// True for a write of zeroes that the host asks for without sending data. The array treats the request as any other write.
    ///
    /// With `ssd.write_zeroes = "deallocate"`, the pieces that the range covers wholly are trimmed instead, and only the rest is written.
    /// With parity, a piece is a stripe. Otherwise it is usually a unit of the drives' mapping, such as a page (rule 220).
    pub zeroes: bool,
    /// True for an urgent write. If other writes wait because too few blocks are free, an urgent one is served as soon as the block being
    /// collected is erased. This situation is state 3 in section III.D of the paper on preemptive collection (PGC).
    pub high_priority: bool,
    /// Number of the stream in a mix of workloads, or 0 without a mix.
    pub stream: u8,
    /// True if all bytes lie on the member of the first byte, at consecutive addresses of that member. If false, the bytes lie on the
    /// members as the RAID level distributes them. The "skewed" load in Table 9 of the paper on globally coordinated collection (GGC)
    /// needs the value true. There a request larger than a stripe unit still goes to one SSD.
    pub contiguous_on_one_member: bool,
}

impl Request {
    /// Returns a request of normal priority. Its bytes lie on the members as the RAID level distributes them, in contrast to those of
    /// a request with [`Request::contiguous_on_one_member`]. All flags are false, and the number of the stream is 0.
    pub const fn new(kind: OpKind, arrival_ns: u64, offset_bytes: u64, length_bytes: u64) -> Self {
        Self {
            arrival_ns,
            offset_bytes,
            length_bytes,
            kind,
            fua: false,
            zeroes: false,
            high_priority: false,
            stream: 0,
            contiguous_on_one_member: false,
        }
    }
}

/// Rule that decides when the host sends its requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostLoop {
    /// Sends each request at the arrival time that it carries.
    Open,
    /// Keeps `depth` requests outstanding, and sends a new one whenever one is done.
    Closed {
        /// Number of outstanding requests, at least 1.
        depth: u32,
        /// Pause between the end of a request and the sending of the one that takes its place, in nanoseconds.
        think_ns: u64,
    },
}
