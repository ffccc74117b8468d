//! VMware vSCSI records, binary and little-endian, without a header.
//!
//! Source: the CloudPhysics traces (Waldspurger et al., "SHARDS", FAST '15) and their reader in libCacheSim. Records have these fields:
//! - Version 1, 32 bytes: u32 serial, u32 length (bytes), u32 scatter-gather count, u16 opcode, u16 version (256), u64 sector, u64 time
//!   (µs).
//! - Version 2, 40 bytes: u16 opcode, u16 version (512), u32 serial, u32 length, u32 scatter-gather count, u64 sector, u64 time (µs), u64
//!   response (µs).
//!
//! The reads, writes and flushes (SYNCHRONIZE CACHE) of SCSI are requests. Other opcodes are skipped.

use super::super::detect::Sample;
use super::super::fields::{FieldError, FieldResult, length_bytes, offset_bytes};
use super::super::input::Input;
use super::super::record::{TIME_STAMP_END_NS, TraceRecord};
use super::super::time_unit::TimeUnit;
use super::{Detection, FormatDescription, TraceFormat, Units};
use crate::{OpKind, SourceError};

/// Parser of the format: the version of the records in one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Vscsi {
    Version1,
    Version2,
}

impl TraceFormat for Vscsi {
    const DESCRIPTION: FormatDescription = FormatDescription {
        doc: "VMware vSCSI binary records, versions 1 and 2.",
        description: "VMware vSCSI binary",
        columns: "VMware vSCSI records of version 1 (32 bytes) or 2 (40 bytes)",
        times: "µs",
        time_unit: Some(TimeUnit::Microseconds),
        sector_bytes: Some(512),
        has_devices: false,
        is_text: false,
        may_have_header: false,
        detection: Detection::Binary(|bytes| Vscsi::of_bytes(bytes).is_some()),
        sample: b"\x07\0\0\0\0\x10\0\0\x01\0\0\0*\0\0\x01d\0\0\0\0\0\0\x002\0\0\0\0\0\0\0\x07\0\0\0\0\x02\0\0\x01\0\0\0(\0\0\x01\x02\0\0\0\0\0\0\0F\0\0\0\0\0\0\0",
        ..FormatDescription::TEXT
    };

    fn of_sample(sample: &Sample<'_>) -> Result<Self, String> {
        Self::of_bytes(sample.bytes).ok_or_else(|| {
            "found no version (256 at byte 15 of records of 32 bytes, or 512 at byte 3 of records of 40) throughout the first records, \
             expected vSCSI records"
                .to_owned()
        })
    }

    #[inline]
    fn parse(&mut self, record: &[u8], units: Units) -> FieldResult<Option<TraceRecord>> {
        self.request(record, units)
    }

    fn next<'a>(&self, input: &'a mut Input) -> Result<Option<&'a [u8]>, SourceError> {
        input.record(self.record_bytes())
    }
}

impl Vscsi {
    /// Returns the number of bytes in a record.
    const fn record_bytes(self) -> usize {
        match self {
            Self::Version1 => 32,
            Self::Version2 => 40,
        }
    }

    /// Returns the version that all whole records of the sample (at most 100) have.
    fn of_bytes(sample: &[u8]) -> Option<Self> {
        [Self::Version1, Self::Version2].into_iter().find(|version| {
            let mut records = sample.chunks_exact(version.record_bytes()).take(100).peekable();
            records.peek().is_some() && records.all(|record| version.is_marked(record))
        })
    }

    fn is_marked(self, record: &[u8]) -> bool {
        match self {
            Self::Version1 => record[15] == 1,
            Self::Version2 => record[3] == 2,
        }
    }

    fn request(self, record: &[u8], units: Units) -> FieldResult<Option<TraceRecord>> {
        let (opcode_at, length_at, sector_at, time_at) = match self {
            Self::Version1 => (12, 4, 16, 24),
            Self::Version2 => (0, 8, 16, 24),
        };
        let u16_at = |at: usize| u16::from_le_bytes([record[at], record[at + 1]]);
        let u32_at = |at: usize| u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]]);
        let u64_at = |at: usize| u64::from(u32_at(at)) | u64::from(u32_at(at + 4)) << 32;
        let bad = |at: usize, found: u64, expected| FieldError { column: at + 1, found: found.to_string(), expected };
        if !self.is_marked(record) {
            let at = if self == Self::Version1 { 14 } else { 2 };
            return Err(bad(at, u16_at(at).into(), "the same version of records throughout (256 or 512)"));
        }
        let direction = match u16_at(opcode_at) {
            0x08 | 0x28 | 0xa8 | 0x88 => OpKind::Read,
            0x0a | 0x2a | 0xaa | 0x8a => OpKind::Write,
            0x35 | 0x91 => OpKind::Flush,
            _ => return Ok(None),
        };
        let sector = u64_at(sector_at);
        let offset_bytes =
            offset_bytes(sector, units.sector_bytes).ok_or_else(|| bad(sector_at, sector, "an address below 2^60 bytes (1 EiB)"))?;
        let length = u64::from(u32_at(length_at));
        let length_bytes = length_bytes(length, 1).ok_or_else(|| bad(length_at, length, "a length of at most 1 GiB"))?;
        let time = u64_at(time_at);
        let time_ns = time.checked_mul(units.time_ns).filter(|time_ns| *time_ns < TIME_STAMP_END_NS);
        let time_ns = time_ns.ok_or_else(|| bad(time_at, time, "a time below 2^64 - 2^60 ns (547 years)"))?;
        let response_ns = if self == Self::Version2 { u64_at(32).saturating_mul(units.time_ns) } else { 0 };
        let record = match direction {
            OpKind::Flush => TraceRecord::flush(time_ns, 0),
            direction => TraceRecord::new(time_ns, 0, offset_bytes, length_bytes, direction),
        };
        Ok(Some(record.with_response_ns(response_ns)))
    }
}
