//! Output of `biosnoop` of bcc: `TIME(s) COMM PID DISK T SECTOR BYTES [QUE(ms)] LAT(ms)`, one request to a line.
//!
//! Source: biosnoop(8) of bcc and of its libbpf tools. The time is that of the end, and LAT the time from the issue to the end. The name of
//! a process may hold blanks, so that columns are counted from the right. A line without bytes is a flush, and may lack the disk.
//! Lines that tell how many events were lost are counted.

use super::super::columns::{Meaning, meaning_of_name};
use super::super::detect::Sample;
use super::super::fields::{FieldError, FieldResult, Fields, decimal_times, integer, length_bytes, offset_bytes, quote};
use super::super::names::Names;
use super::super::operations::Operation;
use super::super::record::{TIME_STAMP_END_NS, TraceRecord};
use super::super::time_unit::TimeUnit;
use super::{Detection, FormatDescription, TraceFormat, Units};

/// Parser of the format: the disks seen so far, and the number of columns behind the one of the disk.
#[derive(Debug, Clone)]
pub(crate) struct Biosnoop {
    disks: Names,
    columns_after_disk: usize,
    without_data: u64,
    lost: u64,
}

/// Number of columns from that of the kind to the end, without those for times.
const KIND_SECTOR_BYTES: usize = 3;

impl TraceFormat for Biosnoop {
    const DESCRIPTION: FormatDescription = FormatDescription {
        doc: "Output of `biosnoop` (bcc): `TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)`, times of ends.",
        description: "biosnoop: TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)",
        columns: "biosnoop's output: end, process, disk, kind, sector, bytes, latency in ms",
        times: "s",
        time_unit: Some(TimeUnit::Seconds),
        sector_bytes: Some(512),
        may_have_header: false,
        detection: Detection::Line(is_header, 0),
        sample: b"TIME(s)     COMM           PID     DISK      T SECTOR     BYTES   LAT(ms)\n0.000999    two words      1800    nvme0n1   W 1434616    131072     0.25\n0.004057    fio            1803    nvme0n1   R 1434784    16384      0.07\n",
        ..FormatDescription::TEXT
    };

    fn of_sample(sample: &Sample<'_>) -> Result<Self, String> {
        let header = sample.lines().find(|line| is_header(line));
        let columns_after_disk = header.map_or(KIND_SECTOR_BYTES + 1, |line| {
            let mut names = Fields::blank(line);
            std::iter::from_fn(|| names.next()).skip_while(|name| *name != b"DISK").count().saturating_sub(1)
        });
        if columns_after_disk <= KIND_SECTOR_BYTES {
            return Err("line 1: expected the header of biosnoop, with DISK, T, SECTOR, BYTES and LAT(ms)".to_owned());
        }
        Ok(Self { disks: Names::default(), columns_after_disk, without_data: 0, lost: 0 })
    }

    fn interpretation_note(&self) -> Option<String> {
        Some("requests: each begins LAT before its TIME; lines without bytes are flushes".to_owned())
    }

    fn device_label(&self, device: u32) -> String {
        self.disks.name(device).unwrap_or_else(|| device.to_string())
    }

    fn is_by_end(&self) -> bool {
        true
    }

    fn requests_without_data(&self) -> u64 {
        self.without_data
    }

    fn events_lost(&self) -> u64 {
        self.lost
    }

    fn parse(&mut self, line: &[u8], units: Units) -> FieldResult<Option<TraceRecord>> {
        if is_header(line) {
            return Ok(None);
        }
        if let Some(lost) = lost_events(line) {
            self.lost += lost;
            return Ok(None);
        }
        let mut fields = Fields::blank(line);
        let end_ns = fields.time_ns(units.time_ns, "the time in seconds")?;
        let mut places: Vec<(usize, &[u8])> = Vec::with_capacity(12);
        while let Some(field) = fields.next() {
            places.push((fields.column(), field));
        }
        // Between the time and these columns stand the process, its number and the disk, which may be missing.
        let Some(kind_at) = places.len().checked_sub(self.columns_after_disk).filter(|before| *before >= 2) else {
            return Err(fields.error("the columns COMM, PID, DISK, T, SECTOR, BYTES and LAT(ms)"));
        };
        let refuse = |at: usize, expected| FieldError { column: places[at].0, found: quote(places[at].1), expected };
        let latency_at = places.len() - 1;
        let latency_ns = decimal_times(places[latency_at].1, TimeUnit::Milliseconds.ns()).ok().filter(|ns| *ns < TIME_STAMP_END_NS);
        let latency_ns = latency_ns.ok_or_else(|| refuse(latency_at, "the latency in milliseconds"))?;
        let bytes = integer(places[kind_at + 2].1).ok_or_else(|| refuse(kind_at + 2, "the length in bytes (a whole number)"))?;
        let begin_ns = end_ns.saturating_sub(latency_ns);
        let has_disk = kind_at >= 3;
        let disk = if has_disk { places[kind_at - 1].1 } else { b"?" };
        if bytes == 0 {
            // A flush without a disk belongs to the disk that was seen first.
            let device = if has_disk { self.disks.number(disk) } else { 0 };
            return Ok(Some(TraceRecord::flush(begin_ns, device).with_response_ns(latency_ns)));
        }
        let operation = Operation::of_word(places[kind_at].1).ok_or_else(|| refuse(kind_at, "the kind of request (R, W, …)"))?;
        let Some(kind) = operation.kind else {
            self.without_data += 1;
            return Ok(None);
        };
        let sector = integer(places[kind_at + 1].1).and_then(|sector| offset_bytes(sector, units.sector_bytes));
        let offset_bytes = sector.ok_or_else(|| refuse(kind_at + 1, "the start sector (a whole number below 1 EiB)"))?;
        let length_bytes = length_bytes(bytes, 1).ok_or_else(|| refuse(kind_at + 2, "a length of at most 1 GiB"))?;
        let record = TraceRecord::new(begin_ns, self.disks.number(disk), offset_bytes, length_bytes, kind);
        Ok(Some(TraceRecord { fua: operation.fua, zeroes: operation.zeroes, ..record.with_response_ns(latency_ns) }))
    }
}

/// Returns the number of lost events if a line tells it.
///
/// bcc prints `Possibly lost 5 samples`, and the libbpf tools print `lost 5 events on CPU #3!`.
fn lost_events(line: &[u8]) -> Option<u64> {
    let line = line.trim_ascii();
    let rest = line.strip_prefix(b"Possibly ").unwrap_or(line).strip_prefix(b"lost ")?;
    let mut words = Fields::blank(rest);
    let number = words.next().and_then(integer)?;
    words.next().is_some_and(|noun| noun == b"samples" || noun == b"events").then_some(number)
}

/// Returns true for the header of biosnoop.
fn is_header(line: &[u8]) -> bool {
    let mut names = Fields::blank(line);
    let first = names.next().unwrap_or_default();
    let is_time =
        meaning_of_name(&String::from_utf8_lossy(first).to_ascii_lowercase()).is_some_and(|(meaning, _)| meaning == Meaning::Time);
    let rest: Vec<&[u8]> = std::iter::from_fn(|| names.next()).collect();
    is_time && [&b"COMM"[..], b"DISK", b"SECTOR", b"LAT(ms)"].iter().all(|name| rest.contains(name))
}
