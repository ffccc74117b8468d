//! FIU: `ns pid process sector sectors W/R major minor [hash]`, with sectors of 512 bytes.
//!
//! Source: Koller and Rangaswami, "I/O Deduplication" (FAST '10) and Verma et al., "SRCMap" (FAST '10), as distributed by SNIA IOTTA. The
//! device is `major × 2^20 + minor`, as in the kernel. A process name may contain blanks; the fields after it are then found from the R or
//! W.

use super::super::detect::Sample;
use super::super::fields::{FieldError, FieldResult, Fields};
use super::super::record::TraceRecord;
use super::super::time_unit::TimeUnit;
use super::{Detection, FormatDescription, TraceFormat, Units, Writing};

/// Parser of the format, which remembers nothing between lines.
#[derive(Debug, Clone)]
pub(crate) struct Fiu;

impl TraceFormat for Fiu {
    const DESCRIPTION: FormatDescription = FormatDescription {
        doc: "FIU (IODedup, SRCMap): `ns pid process sector sectors W/R major minor hash`.",
        description: "FIU/SRCMap: ns pid process sector sectors W/R major minor hash",
        columns: "time pid process sector sectors W/R major minor [hash]",
        times: "ns",
        time_unit: Some(TimeUnit::Nanoseconds),
        sector_bytes: Some(512),
        detection: Detection::TrialParse(2),
        sample: b"900 12 flusher 16 8 W 8 1 00ff\n950 13 two words 24 16 R 8 1 aa\n",
        writing: Some(Writing::by(|line, to| {
            let (major, minor) = (line.device >> 20, line.device & ((1 << 20) - 1));
            writeln!(to, "{} 0 flashraid {} {} {} {major} {minor} 0", line.ns, line.sector, line.sectors, line.letter())
        })),
        ..FormatDescription::TEXT
    };

    fn of_sample(_: &Sample<'_>) -> Result<Self, String> {
        Ok(Self)
    }

    #[inline]
    fn parse(&mut self, line: &[u8], units: Units) -> FieldResult<Option<TraceRecord>> {
        parse(line, units).map(Some)
    }

    fn device_label(&self, device: u32) -> String {
        label(device)
    }
}

fn parse(line: &[u8], units: Units) -> FieldResult<TraceRecord> {
    match parse_after_words(line, units, 1) {
        Ok(record) => Ok(record),
        Err(first) => retry_with_longer_names(line, units).ok_or(first),
    }
}

fn retry_with_longer_names(line: &[u8], units: Units) -> Option<TraceRecord> {
    (2..=6).find_map(|words| parse_after_words(line, units, words).ok())
}

/// Parses a line whose process name consists of `words` words.
fn parse_after_words(line: &[u8], units: Units, words: usize) -> FieldResult<TraceRecord> {
    let mut fields = Fields::blank(line);
    let time_ns = fields.time_ns(units.time_ns, "the time in nanoseconds")?;
    fields.integer("the process id (a whole number)")?;
    for _ in 0..words {
        fields.skip("the name of the process")?;
    }
    let offset_bytes = fields.offset_bytes(units.sector_bytes, "the start sector (a whole number)")?;
    let length_bytes = fields.length_bytes(units.sector_bytes, "the length in sectors (a whole number)")?;
    let direction = fields.read_or_write("the operation: R or W")?;
    let major = fields.integer("the major number of the device")?;
    let major = device_part(&fields, major, 1 << 12)?;
    let minor = fields.integer("the minor number of the device")?;
    let minor = device_part(&fields, minor, 1 << 20)?;
    Ok(TraceRecord::new(time_ns, device(major, minor), offset_bytes, length_bytes, direction))
}

/// Returns the number of the device `major,minor`.
pub(crate) fn device(major: u32, minor: u32) -> u32 {
    major << 20 | minor
}

/// Returns the device as `major,minor`.
pub(crate) fn label(device: u32) -> String {
    format!("{},{}", device >> 20, device & ((1 << 20) - 1))
}

/// Returns `number` as the major or minor part of a device number, which must be below `limit`.
pub(crate) fn device_part(fields: &Fields<'_>, number: u64, limit: u32) -> Result<u32, FieldError> {
    u32::try_from(number)
        .ok()
        .filter(|number| *number < limit)
        .ok_or_else(|| fields.error("a device number of Linux (major below 4096, minor below 1048576)"))
}
