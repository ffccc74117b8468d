//! FlashSim: `ms device page pages op`, with start and length in pages of 4 KiB; op 0 is a write and 1 a read.
//!
//! Source: FlashSim (Kim et al., SIMUL '09). Its runs of a trace read the third column as the number of a page, and the fourth as the
//! number of pages.
//!
//! Traces made for it often have the sector of their origin in the third column. Requests that were less than a page apart are then kept
//! apart, and the address space is eight times as wide.
//!
//! With `sector_bytes = 512`, starts are read as sectors. Neighbours then overlap, because lengths have been rounded up.

use super::super::detect::Sample;
use super::super::fields::{FieldResult, Fields};
use super::super::record::TraceRecord;
use super::super::time_unit::TimeUnit;
use super::{Detection, FormatDescription, TraceFormat, Units, Writing};

/// Number of bytes in the page by which lengths are counted.
pub(crate) const PAGE_BYTES: u64 = 4096;

/// Parser of the format, which remembers nothing between lines.
#[derive(Debug, Clone)]
pub(crate) struct Flashsim;

impl TraceFormat for Flashsim {
    const DESCRIPTION: FormatDescription = FormatDescription {
        doc: "FlashSim: `ms device page pages op`, pages of 4 KiB, op 0 = write.",
        description: "FlashSim: ms device page pages op (4 KiB, 0 = write)",
        columns: "time device page pages op",
        times: "ms",
        time_unit: Some(TimeUnit::Milliseconds),
        sector_bytes: Some(4096),
        detection: Detection::FiveColumns,
        sample: b"0.5\t0\t9\t1\t1\n1.5\t0\t20\t2\t0\n",
        writing: Some(Writing::by(|line, to| {
            let page = line.offset_bytes / PAGE_BYTES;
            let pages = (line.offset_bytes + line.length_bytes).div_ceil(PAGE_BYTES) - page;
            writeln!(to, "{}\t{}\t{page}\t{pages}\t{}", line.milliseconds(), line.device, line.read_1())
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
    let offset_bytes = fields.offset_bytes(units.sector_bytes, "the start page (a whole number)")?;
    let length_bytes = fields.length_bytes(PAGE_BYTES, "the length in 4 KiB pages (a whole number)")?;
    let direction = fields.write_0_read_1()?;
    fields.end("the end of the line after five fields")?;
    Ok(TraceRecord::new(time_ns, device, offset_bytes, length_bytes, direction))
}
