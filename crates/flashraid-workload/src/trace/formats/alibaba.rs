//! Alibaba block traces: `device,R/W,offset,bytes,µs`, addresses in bytes.
//!
//! Source: Li et al., "An In-Depth Analysis of Cloud Block Storage Workloads in Large-Scale Production" (IISWC '20).

use super::super::detect::Sample;
use super::super::fields::{FieldResult, Fields};
use super::super::record::TraceRecord;
use super::super::time_unit::TimeUnit;
use super::{Detection, FormatDescription, TraceFormat, Units, Writing};

/// Parser of the format, which remembers nothing between lines.
#[derive(Debug, Clone)]
pub(crate) struct Alibaba;

impl TraceFormat for Alibaba {
    const DESCRIPTION: FormatDescription = FormatDescription {
        doc: "Alibaba block traces: `device,R/W,offset,bytes,µs`.",
        description: "Alibaba CSV: device,R/W,offset,bytes,microseconds",
        columns: "device,R/W,offset,bytes,time",
        times: "µs",
        time_unit: Some(TimeUnit::Microseconds),
        sector_bytes: None,
        detection: Detection::TrialParse(5),
        sample: b"7,W,8192,4096,1577808000000123\n9,R,0,512,1577808000000456\n",
        writing: Some(Writing {
            resolution_ns: 1_000,
            ..Writing::by(|line, to| {
                writeln!(to, "{},{},{},{},{}", line.device, line.letter(), line.offset_bytes, line.length_bytes, line.ns / 1_000)
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
    let device = fields.device("the number of the device")?;
    let direction = fields.read_or_write("the operation: R or W")?;
    let offset_bytes = fields.offset_bytes(1, "the offset in bytes (a whole number)")?;
    let length_bytes = fields.length_bytes(1, "the length in bytes (a whole number)")?;
    let time_ns = fields.time_ns(units.time_ns, "the time in microseconds")?;
    fields.end("the end of the line after five fields")?;
    Ok(TraceRecord { time_ns, device, offset_bytes, length_bytes, kind: direction, fua: false, zeroes: false })
}
