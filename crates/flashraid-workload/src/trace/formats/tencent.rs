//! Tencent block storage: `seconds,sector,sectors,op,volume`, with sectors of 512 bytes; op 0 is a read and 1 a write.
//!
//! Source: Zhang et al., "OSCA" (USENIX ATC '20), as distributed by SNIA IOTTA. Times are whole seconds, so many requests have the same
//! time.

use super::super::detect::Sample;
use super::super::fields::{FieldResult, Fields};
use super::super::record::TraceRecord;
use super::super::time_unit::TimeUnit;
use super::{Detection, FormatDescription, TraceFormat, Units, Writing};
use crate::OpKind;

/// Parser of the format, which remembers nothing between lines.
#[derive(Debug, Clone)]
pub(crate) struct Tencent;

impl TraceFormat for Tencent {
    const DESCRIPTION: FormatDescription = FormatDescription {
        doc: "Tencent block storage: `seconds,sector,sectors,op,volume`, op 0 = read.",
        description: "Tencent CSV: seconds,sector,sectors,op (0 = read),volume",
        columns: "time,sector,sectors,op (0 = read),volume",
        times: "s",
        time_unit: Some(TimeUnit::Seconds),
        sector_bytes: Some(512),
        detection: Detection::TrialParse(6),
        sample: b"1538323200,16,8,0,1063\n1538323201,24,1,1,1064\n",
        writing: Some(Writing {
            resolution_ns: 1_000_000_000,
            ..Writing::by(|line, to| {
                writeln!(to, "{},{},{},{},{}", line.ns / 1_000_000_000, line.sector, line.sectors, 1 - line.read_1(), line.device)
            })
        }),
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
    let mut fields = Fields::separated_by(b',', line);
    let time_ns = fields.time_ns(units.time_ns, "the time in seconds")?;
    let offset_bytes = fields.offset_bytes(units.sector_bytes, "the start sector (a whole number)")?;
    let length_bytes = fields.length_bytes(units.sector_bytes, "the length in sectors (a whole number)")?;
    let expected = "the operation: 0 (read) or 1 (write)";
    let direction = match fields.text(expected)? {
        b"0" => OpKind::Read,
        b"1" => OpKind::Write,
        _ => return Err(fields.error(expected)),
    };
    let device = fields.device("the number of the volume")?;
    fields.end("the end of the line after five fields")?;
    Ok(TraceRecord { time_ns, device, offset_bytes, length_bytes, kind: direction, fua: false, zeroes: false })
}
