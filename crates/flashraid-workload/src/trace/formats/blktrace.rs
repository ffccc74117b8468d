//! Binary records of blktrace, as it writes them to a file for each CPU (`NAME.blktrace.0`, …).
//!
//! Source: `include/uapi/linux/blktrace_api.h` of Linux. A record has 48 bytes, little-endian, and further bytes of its own behind it. Its
//! fields are:
//! - u32 magic with the version 7, u32 sequence, u64 time (ns), u64 sector, u32 bytes, u32 action.
//! - u32 process, u32 device, u32 CPU, u16 error, u16 number of the bytes that follow.
//!
//! As with blkparse, Q stands for a request, or D if there is no Q, or C. The files of all CPUs are merged by time.

use super::super::detect::Sample;
use super::super::fields::{FieldError, FieldResult, length_bytes, offset_bytes};
use super::super::input::Input;
use super::super::operations::Operation;
use super::super::record::{MAX_OFFSET_BYTES, TIME_STAMP_END_NS, TraceRecord};
use super::super::time_unit::TimeUnit;
use super::block_events::{BlockEvents, Event, Extent};
use super::fiu::label;
use super::{Detection, FormatDescription, TraceFormat, Units};
use crate::{OpKind, SourceError};

/// Number of bytes in a record, without those that follow it.
pub(crate) const RECORD_BYTES: usize = 48;
/// First bytes of each record: the version and the magic number.
pub(crate) const MAGIC: &[u8] = b"\x07tae";
/// Place of the number of bytes that follow a record.
const EXTRA_AT: usize = 46;
/// Place of the time.
const TIME_AT: usize = 8;

/// Parser of the format. It knows the action that stands for a request.
#[derive(Debug, Clone)]
pub(crate) struct Blktrace {
    events: BlockEvents,
}

/// Bits of an action that name its kind.
mod kind {
    pub(super) const READ: u32 = 1 << 16;
    pub(super) const WRITE: u32 = 1 << 17;
    pub(super) const FLUSH: u32 = 1 << 18;
    pub(super) const COMMAND: u32 = 1 << 25;
    pub(super) const NOTE: u32 = 1 << 26;
    pub(super) const DISCARD: u32 = 1 << 29;
    pub(super) const FUA: u32 = 1 << 31;
}

impl TraceFormat for Blktrace {
    const DESCRIPTION: FormatDescription = FormatDescription {
        doc: "Binary records of `blktrace`, a file for each CPU, which are merged by time.",
        description: "blktrace binary (Q, else D, else C)",
        columns: "blktrace's records; a file for each CPU (`NAME.blktrace.0`), merged by time",
        times: "ns",
        time_unit: Some(TimeUnit::Nanoseconds),
        sector_bytes: Some(512),
        is_text: false,
        may_have_header: false,
        detection: Detection::MagicBytes(MAGIC),
        sample: b"\x07tae\x01\0\0\0\0\0\0\0\0\0\0\0\0\x08\0\0\0\0\0\0\0\x10\0\0\x01\0\x12\0\xb9\x02\0\0\x10\0\x80\0\0\0\0\0\0\0\0\0\x07tae\x02\0\0\0\x40\x42\x0f\0\0\0\0\0\x08\0\0\0\0\0\0\0\0\x10\0\0\x01\0\x11\0\xb9\x02\0\0\x10\0\x80\0\0\0\0\0\0\0\0\0",
        ..FormatDescription::TEXT
    };

    fn of_sample(sample: &Sample<'_>) -> Result<Self, String> {
        if sample.bytes.starts_with(b"eat\x07") {
            return Err("found blktrace records with the other byte order (big-endian), expected little-endian ones; run blkparse on \
                        them where they were recorded, and use its text"
                .to_owned());
        }
        if !sample.bytes.starts_with(MAGIC) {
            return Err("found no mark 07 74 61 65 at the beginning, expected blktrace records of version 7".to_owned());
        }
        let mut first: Option<Event> = None;
        let mut rest = sample.bytes;
        while rest.len() >= RECORD_BYTES {
            first = first.into_iter().chain(event_of(rest).map(|(event, _)| event)).min();
            rest = rest.get(record_bytes(rest)..).unwrap_or_default();
        }
        Ok(Self { events: BlockEvents::new(first.unwrap_or(Event::Queued)) })
    }

    fn interpretation_note(&self) -> Option<String> {
        Some(self.events.note(["Q", "D", "C"], "records with action"))
    }

    fn device_label(&self, device: u32) -> String {
        label(device)
    }

    fn block_events(&self) -> Option<&BlockEvents> {
        Some(&self.events)
    }

    fn block_events_mut(&mut self) -> Option<&mut BlockEvents> {
        Some(&mut self.events)
    }

    fn next<'a>(&self, input: &'a mut Input) -> Result<Option<&'a [u8]>, SourceError> {
        let head = input.peek(RECORD_BYTES)?;
        let length = if head.len() < RECORD_BYTES { RECORD_BYTES } else { record_bytes(head) };
        input.record(length)
    }

    fn parse(&mut self, record: &[u8], units: Units) -> FieldResult<Option<TraceRecord>> {
        let refuse = |at: usize, found: u64, expected| FieldError { column: at + 1, found: found.to_string(), expected };
        if record.len() < RECORD_BYTES {
            return Err(refuse(0, record.len() as u64, "a record of at least 48 bytes"));
        }
        if !record.starts_with(MAGIC) {
            return Err(refuse(0, u32_at(record, 0).into(), "a record that begins with 07 74 61 65; is the file damaged?"));
        }
        let Some((event, operation)) = event_of(record) else { return Ok(None) };
        if event < self.events.requests {
            let expected = "no action Q or D so late: the first MiB has none, so that another one was taken for the requests";
            return Err(refuse(28, u32_at(record, 28).into(), expected));
        }
        if !self.events.needs(event) {
            return Ok(None);
        }
        let time_ns = u64_at(record, TIME_AT).checked_mul(units.time_ns).filter(|ns| *ns < TIME_STAMP_END_NS);
        let time_ns = time_ns.ok_or_else(|| refuse(TIME_AT, u64_at(record, TIME_AT), "a time below 2^64 - 2^60 ns"))?;
        let (sector, bytes) = (u64_at(record, 16), u64::from(u32_at(record, 24)));
        let is_long = operation.kind == Some(OpKind::Trim);
        let length_bytes = if is_long { Some(bytes).filter(|bytes| *bytes <= MAX_OFFSET_BYTES) } else { length_bytes(bytes, 1) };
        let length_bytes = length_bytes.ok_or_else(|| refuse(24, bytes, "a length of at most 1 GiB"))?;
        // Without data, the sector has no meaning.
        let offset_bytes = if bytes == 0 { Some(0) } else { offset_bytes(sector, units.sector_bytes) };
        let offset_bytes = offset_bytes.ok_or_else(|| refuse(16, sector, "an address below 2^60 bytes (1 EiB)"))?;
        Ok(self.events.take(event, time_ns, u32_at(record, 36), operation, Some(Extent { offset_bytes, length_bytes })))
    }
}

/// Returns the number of bytes in the record at the beginning of `bytes`, with those that follow it.
pub(crate) fn record_bytes(bytes: &[u8]) -> usize {
    RECORD_BYTES + usize::from(u16::from_le_bytes([bytes[EXTRA_AT], bytes[EXTRA_AT + 1]]))
}

/// Returns the time of the record at the beginning of `bytes`, in nanoseconds.
pub(crate) fn record_time_ns(bytes: &[u8]) -> u64 {
    u64_at(bytes, TIME_AT)
}

fn u32_at(record: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
}

fn u64_at(record: &[u8], at: usize) -> u64 {
    u64::from(u32_at(record, at)) | u64::from(u32_at(record, at + 4)) << 32
}

/// Returns the event and the operation of a record, unless it is one that does not matter, such as a merge or a message.
fn event_of(record: &[u8]) -> Option<(Event, Operation)> {
    let action = u32_at(record, 28);
    if action & (kind::NOTE | kind::COMMAND) != 0 {
        return None;
    }
    let event = match action & 0xffff {
        1 => Event::Queued,
        7 => Event::Issued,
        8 => Event::Completed,
        _ => return None,
    };
    let has = |bit: u32| action & bit != 0;
    let has_data = u32_at(record, 24) > 0;
    let flushes = has(kind::FLUSH);
    let operation_kind = if has(kind::DISCARD) {
        Some(OpKind::Trim)
    } else if flushes && !has_data {
        Some(OpKind::Flush)
    } else if has(kind::WRITE) {
        Some(OpKind::Write)
    } else if has(kind::READ) {
        Some(OpKind::Read)
    } else {
        None
    };
    let fua = has(kind::FUA) && operation_kind == Some(OpKind::Write);
    let flush_before = flushes && operation_kind != Some(OpKind::Flush);
    Some((event, Operation { kind: operation_kind, fua, zeroes: false, flush_before }))
}
