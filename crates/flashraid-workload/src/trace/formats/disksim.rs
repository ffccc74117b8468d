//! DiskSim ASCII: `ms device sector sectors flags`, sectors of 512 bytes; the flags are hexadecimal, bit 0 set means read.
//!
//! Source: Bucy et al., "The DiskSim Simulation Environment Version 4.0 Reference Manual", section on input traces.

use super::super::detect::Sample;
use super::super::fields::{FieldResult, Fields};
use super::super::record::TraceRecord;
use super::super::time_unit::TimeUnit;
use super::{Detection, FormatDescription, TraceFormat, Units, Writing};
use crate::OpKind;

/// Parser of the format, which remembers nothing between lines.
#[derive(Debug, Clone)]
pub(crate) struct Disksim;

impl TraceFormat for Disksim {
    const DESCRIPTION: FormatDescription = FormatDescription {
        doc: "DiskSim ASCII: `ms device sector sectors flags`, flag bit 0 = read.",
        description: "DiskSim ASCII: ms device sector sectors flags (bit 0 = read)",
        columns: "time device sector sectors flags (hexadecimal, bit 0 = read)",
        times: "ms",
        time_unit: Some(TimeUnit::Milliseconds),
        sector_bytes: Some(512),
        detection: Detection::FiveColumns,
        sample: b"0.25 1 7 8 1\n1.5 1 15 16 2a\n",
        writing: Some(Writing::by(|line, to| {
            writeln!(to, "{} {} {} {} {}", line.milliseconds(), line.device, line.sector, line.sectors, line.read_1())
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
}

fn parse(line: &[u8], units: Units) -> FieldResult<TraceRecord> {
    let mut fields = Fields::blank(line);
    let time_ns = fields.time_ns(units.time_ns, "the time in milliseconds")?;
    let device = fields.device("the number of the device")?;
    let offset_bytes = fields.offset_bytes(units.sector_bytes, "the start sector (a whole number)")?;
    let length_bytes = fields.length_bytes(units.sector_bytes, "the length in sectors (a whole number)")?;
    let flags = fields.text("the flags (hexadecimal; bit 0 set means read)")?;
    let digits = flags.strip_prefix(b"0x").unwrap_or(flags);
    if digits.is_empty() || digits.len() > 8 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return Err(fields.error("the flags (hexadecimal; bit 0 set means read)"));
    }
    let odd = matches!(digits[digits.len() - 1], b'1' | b'3' | b'5' | b'7' | b'9' | b'b' | b'd' | b'f' | b'B' | b'D' | b'F');
    let direction = if odd { OpKind::Read } else { OpKind::Write };
    fields.end("the end of the line after five fields")?;
    Ok(TraceRecord::new(time_ns, device, offset_bytes, length_bytes, direction))
}
