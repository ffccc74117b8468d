//! SPC: `ASU,sector,bytes,r/w,seconds[,…]`, with sectors of 512 bytes.
//!
//! Source: SPC Trace File Format Specification 1.0.1 (Storage Performance Council). The UMass Financial and WebSearch traces have this
//! format. Each application storage unit (ASU) has its own addresses and becomes a device.

use super::super::detect::Sample;
use super::super::fields::{FieldResult, Fields};
use super::super::record::TraceRecord;
use super::super::time_unit::TimeUnit;
use super::{Detection, FormatDescription, TraceFormat, Units, Writing};

/// Parser of the format, which remembers nothing between lines.
#[derive(Debug, Clone)]
pub(crate) struct Spc;

impl TraceFormat for Spc {
    const DESCRIPTION: FormatDescription = FormatDescription {
        doc: "Storage Performance Council: `ASU,sector,bytes,r/w,seconds`.",
        description: "SPC: ASU,sector,bytes,r/w,seconds",
        columns: "ASU,sector,bytes,r/w,time",
        times: "s",
        time_unit: Some(TimeUnit::Seconds),
        sector_bytes: Some(512),
        detection: Detection::TrialParse(4),
        sample: b"3,100,4096,R,0.5\n0,200,512,w,1.000000001\n",
        writing: Some(Writing {
            length_in_bytes: true,
            ..Writing::by(|line, to| {
                writeln!(
                    to,
                    "{},{},{},{},{}",
                    line.device,
                    line.sector,
                    line.length_bytes,
                    line.letter().to_ascii_lowercase(),
                    line.seconds()
                )
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
    let device = fields.device("the ASU (a whole number)")?;
    let offset_bytes = fields.offset_bytes(units.sector_bytes, "the start sector (a whole number)")?;
    let length_bytes = fields.length_bytes(1, "the length in bytes (a whole number)")?;
    let direction = fields.read_or_write("the operation: r or w")?;
    let time_ns = fields.time_ns(units.time_ns, "the time in seconds")?;
    Ok(TraceRecord::new(time_ns, device, offset_bytes, length_bytes, direction))
}
