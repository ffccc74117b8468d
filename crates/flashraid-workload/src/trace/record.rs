//! One request as a trace holds it, and the limits beyond which a number is taken for an error.

use crate::OpKind;

/// Longest request that is believed. Real hosts cut requests at a few MiB; fio may go further.
pub const MAX_REQUEST_BYTES: u64 = 1 << 30;

/// Highest address that is believed: 1 EiB.
pub const MAX_OFFSET_BYTES: u64 = 1 << 60;

/// Time stamps below this are believed. What lies above is a negative number that was taken for an unsigned one; the clock of Windows, which
/// counts from 1601, comes here in 2148.
pub const TIME_STAMP_END_NS: u64 = u64::MAX - (1 << 60) + 1;

/// One request as it stands in the file, before times are normalised and devices are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceRecord {
    /// Time stamp in nanoseconds on the trace's own clock; 0 throughout when the trace has no times.
    pub time_ns: u64,
    /// Number of the device; 0 when the format has none.
    pub device: u32,
    /// First byte on that device, at most [`MAX_OFFSET_BYTES`].
    pub offset_bytes: u64,
    /// Bytes, at most [`MAX_REQUEST_BYTES`], of a discard or write of zeroes [`MAX_OFFSET_BYTES`]; never 0 once it leaves the reader.
    pub length_bytes: u64,
    /// Read, write or, of a discard, trim.
    pub kind: OpKind,
    /// A write with "force unit access"; few formats tell.
    pub fua: bool,
    /// A write of zeroes that the host asked for and did not send; few formats tell.
    pub zeroes: bool,
}
