//! HP Labs SRT 1.3: a text header ended by a form feed, then binary big-endian records.
//!
//! Source: Ruemmler and Wilkes, "UNIX disk access patterns" (USENIX Winter '93), and DiskSim's reader. A record has these 14 u32:
//! - its size in bytes, and its kind;
//! - enqueue time (s, then µs), and start and end of service (µs after it);
//! - length (bytes), start sector (256 bytes), and device (the disk in bits 8 to 15);
//! - driver type, cylinder, flags (bit 0 set = read), info, and queue length.
//!
//! Records of other kinds are skipped.

use super::super::detect::Sample;
use super::super::fields::{FieldError, FieldResult, length_bytes, offset_bytes};
use super::super::input::Input;
use super::super::record::TraceRecord;
use super::{Detection, FormatDescription, TraceFormat, Units};
use crate::{OpKind, SourceError};

/// First bytes of a file.
const MAGIC: &[u8] = b"$$TR_IOREC-";
/// The only version that the parser knows.
const VERSION: &[u8] = b"1.3";
/// Byte that ends the header.
const END_OF_HEADER: u8 = 0x0c;
/// Kind of a record that is a request.
const REQUEST_KIND: u32 = 0x0004_0001;
/// Number of bytes of a record that are used.
const USED_BYTES: usize = 48;

/// Returns the size that a record claims to have.
fn record_bytes(record: &[u8]) -> Option<usize> {
    let size = u32::from_be_bytes(record.get(..4)?.try_into().ok()?) as usize;
    (8..=4096).contains(&size).then_some(size)
}

/// Parser of the format, which remembers nothing between records.
#[derive(Debug, Clone)]
pub(crate) struct Srt;

impl TraceFormat for Srt {
    const DESCRIPTION: FormatDescription = FormatDescription {
        doc: "HP Labs SRT 1.3, binary.",
        description: "HP Labs SRT 1.3 binary",
        columns: "HP Labs SRT 1.3",
        times: "s and µs",
        time_unit: None,
        sector_bytes: Some(256),
        is_text: false,
        may_have_header: false,
        detection: Detection::MagicBytes(MAGIC),
        sample: b"$$TR_IOREC-1.3 (invented)\0\nversion = 1.3;\n\x0c\0\0\08\0\x04\0\x01\0\0\0\x0c\0\0\x01Y\0\0\0\x01\0\0\0\x02\0\0 \0\0\0\0d\x08\0\x02\x07\0\0\0\x04\0\0\0\x01\0\0\0\x01\0\0\0\0\0\0\0\x01",
        ..FormatDescription::TEXT
    };

    fn of_sample(sample: &Sample<'_>) -> Result<Self, String> {
        match sample.bytes.strip_prefix(MAGIC).is_some_and(|rest| rest.starts_with(VERSION)) {
            true => Ok(Self),
            false => Err("byte 1: expected the header of SRT version 1.3, which begins \"$$TR_IOREC-1.3\"".to_owned()),
        }
    }

    /// Skips the text up to the form feed.
    fn skip_head(input: &mut Input) -> Result<(), SourceError> {
        let (sample, _) = input.sample();
        let Some(end) = sample.iter().position(|byte| *byte == END_OF_HEADER) else {
            return Err(SourceError::InvalidInput(format!(
                "{}: found no form feed in the first MiB, expected one after the header of SRT",
                input.name()
            )));
        };
        input.bytes(end + 1).map(|_| ())
    }

    fn next<'a>(&self, input: &'a mut Input) -> Result<Option<&'a [u8]>, SourceError> {
        let head = input.peek(4)?;
        if head.is_empty() {
            return Ok(None);
        }
        match record_bytes(head) {
            Some(size) => input.record(size),
            None if head.len() == 4 => {
                let found = u32::from_be_bytes([head[0], head[1], head[2], head[3]]);
                Err(SourceError::InvalidInput(format!(
                    "{}: byte {} after decompression: found a record of {found} bytes, expected 8 to 4096; the file is damaged from here",
                    input.name(),
                    input.position() + 1
                )))
            }
            None => Err(input.cut_off(4)),
        }
    }

    #[inline]
    fn parse(&mut self, line: &[u8], units: Units) -> FieldResult<Option<TraceRecord>> {
        parse(line, units)
    }
}

fn parse(record: &[u8], units: Units) -> FieldResult<Option<TraceRecord>> {
    let word = |index: usize| u32::from_be_bytes([record[4 * index], record[4 * index + 1], record[4 * index + 2], record[4 * index + 3]]);
    let bad = |index: usize, expected| FieldError { column: 4 * index + 1, found: word(index).to_string(), expected };
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
    Ok(Some(TraceRecord::new(time_ns, word(8) >> 8 & 0xff, offset_bytes, length_bytes, direction)))
}
