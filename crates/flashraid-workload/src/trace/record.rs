//! One request as a trace holds it, and the limits beyond which a number counts as an error.

use crate::OpKind;

/// Longest request that is accepted. Real hosts split requests at a few MiB; fio may use longer ones.
pub const MAX_REQUEST_BYTES: u64 = 1 << 30;

/// Highest address that is accepted: 1 EiB.
pub const MAX_OFFSET_BYTES: u64 = 1 << 60;

/// Limit of time stamps. Greater values are negative numbers that were read as unsigned ones. The clock of Windows, which counts from 1601,
/// reaches the limit in 2148.
pub(crate) const TIME_STAMP_END_NS: u64 = u64::MAX - (1 << 60) + 1;

/// One request as the file holds it, before its time and its address are converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceRecord {
    /// Time stamp in nanoseconds on the trace's own clock; always 0 if the trace has no times.
    pub time_ns: u64,
    /// Number of the device; 0 if the format has none.
    pub device: u32,
    /// Address of the request's first byte, counted in bytes from the start of its device; at most [`MAX_OFFSET_BYTES`].
    pub offset_bytes: u64,
    /// Number of bytes in the request, at most [`MAX_REQUEST_BYTES`], or [`MAX_OFFSET_BYTES`] for a discard or write of zeroes. It is
    /// never 0 once it leaves the reader.
    pub length_bytes: u64,
    /// Kind of operation: read, write, or trim for a discard.
    pub kind: OpKind,
    /// True for a write with "force unit access", which few formats record.
    pub fua: bool,
    /// True for a write of zeroes that the host asked for without sending data, which few formats record.
    pub zeroes: bool,
}

/// A request, and the place in the file that it was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NumberedRecord {
    /// Number of the line of text, or of the binary record, counted from 1.
    pub(crate) number: u64,
    /// The request as the file holds it.
    pub(crate) record: TraceRecord,
}
