//! Cuts of MSR Cambridge: `ms device offset bytes op`, with addresses and lengths in bytes; op 0 is a write and 1 a read.
//!
//! Source: the data of Heimdall (Kurniawan et al., EuroSys '25), cut from MSR Cambridge and others by windows. Times count from the start
//! of the window.

use super::super::detect::Sample;
use super::super::fields::{FieldResult, Fields};
use super::super::record::TraceRecord;
use super::super::time_unit::TimeUnit;
use super::{Detection, FormatDescription, TraceFormat, Units, Writing};

/// Parser of the format, which remembers nothing between lines.
#[derive(Debug, Clone)]
pub(crate) struct MsrWindow;

impl TraceFormat for MsrWindow {
    const DESCRIPTION: FormatDescription = FormatDescription {
        doc: "Cuts of MSR Cambridge for machine learning: `ms device offset bytes op`, op 0 = write.",
        description: "MSR cut: ms device offset bytes op (0 = write)",
        columns: "time device offset bytes op",
        times: "ms",
        time_unit: Some(TimeUnit::Milliseconds),
        sector_bytes: None,
        detection: Detection::FiveColumns,
        sample: b"0.000 0 4096 512 1\n3.250 0 8192 1024 0\n",
        writing: Some(Writing::by(|line, to| {
            writeln!(to, "{} {} {} {} {}", line.milliseconds(), line.device, line.offset_bytes, line.length_bytes, line.read_1())
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
    let offset_bytes = fields.offset_bytes(1, "the offset in bytes (a whole number)")?;
    let length_bytes = fields.length_bytes(1, "the length in bytes (a whole number)")?;
    let direction = fields.write_0_read_1()?;
    fields.end("the end of the line after five fields")?;
    Ok(TraceRecord::new(time_ns, device, offset_bytes, length_bytes, direction))
}
