//! One request as a trace holds it, and the limits beyond which a number counts as an error.

use std::num::NonZeroU64;

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
    /// never 0 once it leaves the reader, except for a flush, which has none.
    pub length_bytes: u64,
    /// Kind of operation: read, write, flush, or trim for a discard.
    pub kind: OpKind,
    /// True for a write with "force unit access", which few formats record.
    pub fua: bool,
    /// True for a write of zeroes that the host asked for without sending data, which few formats record.
    pub zeroes: bool,
    /// Time that the request took when it was recorded, in nanoseconds. It is `None` if the line of the request does not tell it.
    pub response_ns: Option<NonZeroU64>,
}

impl TraceRecord {
    /// Returns a request with these properties, which is nothing special otherwise.
    #[must_use]
    #[inline]
    pub const fn new(time_ns: u64, device: u32, offset_bytes: u64, length_bytes: u64, kind: OpKind) -> Self {
        Self { time_ns, device, offset_bytes, length_bytes, kind, fua: false, zeroes: false, response_ns: None }
    }

    /// Returns a flush of a device.
    #[must_use]
    pub const fn flush(time_ns: u64, device: u32) -> Self {
        Self::new(time_ns, device, 0, 0, OpKind::Flush)
    }

    /// Returns the request with the time that it took. A time of 0 says that nobody measured it.
    #[must_use]
    #[inline]
    pub const fn with_response_ns(mut self, response_ns: u64) -> Self {
        self.response_ns = NonZeroU64::new(response_ns);
        self
    }
}

/// A request, and the place in the file that it was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NumberedRecord {
    /// Number of the line of text, or of the binary record, counted from 1.
    pub(crate) number: u64,
    /// The request as the file holds it.
    pub(crate) record: TraceRecord,
}
