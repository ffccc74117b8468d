//! What a run measures: response times, bandwidth, garbage collection over time.

use crate::TimeNs;
use crate::workload::Request;

/// A request that is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompletedRequest {
    /// Position in the order of arrival, from 0.
    pub index: u64,
    /// The request.
    pub request: Request,
    /// When it reached the array (for closed loops the moment of issue), in nanoseconds.
    pub arrival_ns: TimeNs,
    /// When its last byte was done, in nanoseconds.
    pub done_ns: TimeNs,
    /// Members on which at least one of its pages waited for garbage collection.
    pub gc_members_met: u32,
}

/// One uninterrupted collection of one element: one or more victims back to back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GcInterval {
    /// Member SSD.
    pub member: u32,
    /// Element of the member.
    pub element: u32,
    /// First read of the first victim, in nanoseconds.
    pub start_ns: TimeNs,
    /// End of the last erase, in nanoseconds.
    pub end_ns: TimeNs,
    /// Blocks erased.
    pub victims: u32,
    /// Valid pages moved.
    pub pages_moved: u32,
    /// Started by the array's controller rather than by the member itself.
    pub forced: bool,
}
