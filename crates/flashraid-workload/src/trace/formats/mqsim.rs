//! MQSim and SSDSim: `ns device sector sectors op`, with sectors of 512 bytes; op 0 is a write and 1 a read.
//!
//! Source: MQSim (Tavakkol et al., FAST '18) and SSDSim (Hu et al., ICS '11). Both simulators count nanoseconds. Some traces in this form
//! count microseconds, or have no times; `five_columns` guesses which.

use super::super::detect::Sample;
use super::super::fields::{FieldResult, Fields};
use super::super::five_columns::{self, Times};
use super::super::record::TraceRecord;
use super::super::time_unit::TimeUnit;
use super::{Detection, FormatDescription, TraceFormat, Units, Writing};

/// Parser of the format, which remembers nothing between lines.
#[derive(Debug, Clone)]
pub(crate) struct Mqsim;

impl TraceFormat for Mqsim {
    const DESCRIPTION: FormatDescription = FormatDescription {
        doc: "MQSim and SSDSim: `ns device sector sectors op`, op 0 = write; some files count µs.",
        description: "MQSim/SSDSim: ns device sector sectors op (0 = write)",
        columns: "time device sector sectors op (also SSDSim)",
        times: "ns, guessed",
        time_unit: Some(TimeUnit::Nanoseconds),
        sector_bytes: Some(512),
        detection: Detection::FiveColumns,
        sample: b"1000 4 8 16 0\n9000 5 16 8 1\n",
        writing: Some(Writing::by(|line, to| {
            writeln!(to, "{} {} {} {} {}", line.ns, line.device, line.sector, line.sectors, line.read_1())
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

    fn time_stamp_unit(&self, sample: &Sample<'_>, notes: &mut Vec<String>) -> Times {
        let (times, note) = five_columns::times(sample);
        notes.push(note);
        times
    }
}

fn parse(line: &[u8], units: Units) -> FieldResult<TraceRecord> {
    let mut fields = Fields::blank(line);
    let time_ns = fields.time_ns(units.time_ns, "the time (a number)")?;
    let device = fields.device("the number of the device")?;
    let offset_bytes = fields.offset_bytes(units.sector_bytes, "the start sector (a whole number)")?;
    let length_bytes = fields.length_bytes(units.sector_bytes, "the length in sectors (a whole number)")?;
    let direction = fields.write_0_read_1()?;
    fields.end("the end of the line after five fields")?;
    Ok(TraceRecord::new(time_ns, device, offset_bytes, length_bytes, direction))
}
