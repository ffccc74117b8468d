//! DiskMon log: `number seconds duration disk Read/Write sector sectors`, with sectors of 512 bytes.
//!
//! Source: Sysinternals DiskMon for Windows, "save as" text. It records requests as they end, so times may go backwards a little.

use super::super::detect::Sample;
use super::super::fields::{FieldResult, Fields};
use super::super::record::TraceRecord;
use super::super::time_unit::TimeUnit;
use super::{Detection, FormatDescription, TraceFormat, Units, Writing};

/// Parser of the format, which remembers nothing between lines.
#[derive(Debug, Clone)]
pub(crate) struct Diskmon;

impl TraceFormat for Diskmon {
    const DESCRIPTION: FormatDescription = FormatDescription {
        doc: "Windows DiskMon log: `number seconds duration disk Read/Write sector sectors`.",
        description: "DiskMon: number seconds duration disk Read/Write sector sectors",
        columns: "number time duration disk Read/Write sector sectors",
        times: "s",
        time_unit: Some(TimeUnit::Seconds),
        sector_bytes: Some(512),
        detection: Detection::TrialParse(8),
        sample: b"0\t0.5\t0.0001\t1\tRead\t16\t8\t\r\n1\t0.75\t0.0\t0\tWrite\t32\t16\t\r\n",
        writing: Some(Writing::by(|line, to| {
            let (seconds, response) = (line.seconds(), line.response_seconds());
            writeln!(to, "{}\t{seconds}\t{response}\t{}\t{}\t{}\t{}", line.number, line.device, line.word(), line.sector, line.sectors)
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
    fields.integer("the number of the record")?;
    let time_ns = fields.time_ns(units.time_ns, "the time in seconds")?;
    let response_ns = fields.time_ns(units.time_ns, "the duration in seconds")?;
    let device = fields.device("the number of the disk")?;
    let direction = fields.read_or_write("the operation: Read or Write")?;
    let offset_bytes = fields.offset_bytes(units.sector_bytes, "the start sector (a whole number)")?;
    let length_bytes = fields.length_bytes(units.sector_bytes, "the length in sectors (a whole number)")?;
    Ok(TraceRecord::new(time_ns, device, offset_bytes, length_bytes, direction).with_response_ns(response_ns))
}
