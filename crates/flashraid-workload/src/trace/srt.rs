//! HP Labs SRT 1.3: a text header ended by a form feed, then binary big-endian records.
//!
//! Source: Ruemmler and Wilkes, "UNIX disk access patterns" (USENIX Winter '93), and DiskSim's reader. A record is 14 u32: its size in
//! bytes, its kind, enqueue time (s, then µs), start and end of service (µs after it), length (bytes), start sector (256 bytes), device
//! (the disk in bits 8 to 15), driver type, cylinder, flags (bit 0 set = read), info, queue length. Records of other kinds are passed over.

use super::fields::{Bad, FieldResult, length_bytes, offset_bytes};
use super::parser::Units;
use super::record::TraceRecord;
use crate::OpKind;

/// How a file begins.
pub(crate) const MAGIC: &[u8] = b"$$TR_IOREC-";
/// The only version known here.
pub(crate) const VERSION: &[u8] = b"1.3";
/// What ends the header.
pub(crate) const END_OF_HEADER: u8 = 0x0c;
/// Kind of a record that is a request.
const REQUEST_KIND: u32 = 0x0004_0001;
/// Bytes of a record that are used.
pub(crate) const USED_BYTES: usize = 48;

/// Size that a record says it has.
pub(crate) fn record_bytes(record: &[u8]) -> Option<usize> {
    let size = u32::from_be_bytes(record.get(..4)?.try_into().ok()?) as usize;
    (8..=4096).contains(&size).then_some(size)
}

pub(crate) fn parse(record: &[u8], units: Units) -> FieldResult<Option<TraceRecord>> {
    let word = |index: usize| u32::from_be_bytes([record[4 * index], record[4 * index + 1], record[4 * index + 2], record[4 * index + 3]]);
    let bad = |index: usize, expected| Bad { column: 4 * index + 1, found: word(index).to_string(), expected };
    if word(1) != REQUEST_KIND {
        return Ok(None);
    }
    if record.len() < USED_BYTES {
        return Err(bad(0, "a record of at least 48 bytes"));
    }
    if word(3) >= 1_000_000 {
        return Err(bad(3, "microseconds below 1000000"));
    }
    let time_ns = u64::from(word(2)) * 1_000_000_000 + u64::from(word(3)) * 1_000;
    let length_bytes = length_bytes(word(6).into(), 1).ok_or_else(|| bad(6, "a length of at most 1 GiB"))?;
    let offset_bytes = offset_bytes(word(7).into(), units.sector_bytes).ok_or_else(|| bad(7, "an address below 2^60 bytes (1 EiB)"))?;
    let direction = if word(11) & 1 == 1 { OpKind::Read } else { OpKind::Write };
    Ok(Some(TraceRecord { time_ns, device: word(8) >> 8 & 0xff, offset_bytes, length_bytes, kind: direction, fua: false, zeroes: false }))
}
