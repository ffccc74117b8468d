//! libCacheSim's binary format oracleGeneral: records of 24 bytes, little-endian, without a header.
//!
//! Source: libCacheSim (Yang et al.). A record has a u32 time (s), a u64 id of the object, a u32 size (bytes), and an i64 number. That is
//! the number of the next request for the object. It is negative, or the greatest number, if there is none.
//!
//! The id is read as a sector of 512 bytes (`sector_bytes` overrides it). Records have no kind, so that all are reads unless the user says
//! otherwise.

use super::super::detect::Sample;
use super::super::fields::{FieldError, FieldResult, length_bytes, offset_bytes};
use super::super::input::Input;
use super::super::record::TraceRecord;
use super::super::time_unit::TimeUnit;
use super::{Detection, FormatDescription, TraceFormat, Units};
use crate::{OpKind, SourceError};

/// Number of bytes in a record.
const RECORD_BYTES: usize = 24;

/// Parser of the format, with the kind of all requests.
#[derive(Debug, Clone)]
pub(crate) struct OracleGeneral {
    kind: OpKind,
}

impl TraceFormat for OracleGeneral {
    const DESCRIPTION: FormatDescription = FormatDescription {
        doc: "libCacheSim's binary oracleGeneral: records of 24 bytes with time, object, size and next access.",
        description: "libCacheSim oracleGeneral binary",
        columns: "records of 24 bytes: time, object, bytes, next access",
        times: "s",
        time_unit: Some(TimeUnit::Seconds),
        sector_bytes: Some(512),
        has_devices: false,
        is_text: false,
        may_have_header: false,
        detection: Detection::Binary(is_plausible),
        sample: b"\x01\0\0\0\x08\0\0\0\0\0\0\0\0\x10\0\0\x02\0\0\0\0\0\0\0\x02\0\0\0\x08\0\0\0\0\0\0\0\0\x10\0\0\xff\xff\xff\xff\xff\xff\xff\xff",
        ..FormatDescription::TEXT
    };

    fn of_sample(_: &Sample<'_>) -> Result<Self, String> {
        Ok(Self { kind: OpKind::Read })
    }

    fn tells_direction(&self) -> bool {
        false
    }

    fn assume_kind(&mut self, kind: OpKind) {
        self.kind = kind;
    }

    fn next<'a>(&self, input: &'a mut Input) -> Result<Option<&'a [u8]>, SourceError> {
        input.record(RECORD_BYTES)
    }

    fn parse(&mut self, record: &[u8], units: Units) -> FieldResult<Option<TraceRecord>> {
        let Some(Fields { time, id, size, .. }) = fields(record) else { return Ok(None) };
        let refuse = |at: usize, found: u64, expected| FieldError { column: at + 1, found: found.to_string(), expected };
        let offset_bytes =
            offset_bytes(id, units.sector_bytes).ok_or_else(|| refuse(4, id, "an object whose address is below 2^60 bytes (1 EiB)"))?;
        let length_bytes = length_bytes(size.into(), 1).ok_or_else(|| refuse(12, size.into(), "a size of at most 1 GiB"))?;
        Ok(Some(TraceRecord::new(u64::from(time) * units.time_ns, 0, offset_bytes, length_bytes, self.kind)))
    }
}

struct Fields {
    time: u32,
    id: u64,
    size: u32,
    next: i64,
}

fn fields(record: &[u8]) -> Option<Fields> {
    let record: &[u8; RECORD_BYTES] = record.get(..RECORD_BYTES)?.try_into().ok()?;
    let u32_at = |at: usize| u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]]);
    let u64_at = |at: usize| u64::from(u32_at(at)) | u64::from(u32_at(at + 4)) << 32;
    Some(Fields { time: u32_at(0), id: u64_at(4), size: u32_at(12), next: u64_at(16) as i64 })
}

/// Returns true if times never go back in the first records, sizes are possible, and the next accesses lie ahead.
fn is_plausible(sample: &[u8]) -> bool {
    let records = || sample.chunks_exact(RECORD_BYTES).take(100).filter_map(fields);
    let goes_on = records().zip(records().skip(1)).all(|(one, next)| one.time <= next.time);
    let is_possible =
        |(index, record): (usize, Fields)| (1..=1 << 30).contains(&record.size) && (record.next < 0 || record.next > index as i64);
    sample.len() >= RECORD_BYTES && goes_on && records().enumerate().all(is_possible)
}
