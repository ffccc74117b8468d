//! Cuts of MSR Cambridge: `ms device offset bytes op`, everything in bytes, op 0 = write and 1 = read.
//!
//! Source: the data of Heimdall (Kurniawan et al., EuroSys '25), cut from MSR Cambridge and others by windows; times count from the
//! window's start.

use super::fields::{FieldResult, Fields};
use super::parser::Units;
use super::record::TraceRecord;

pub(crate) fn parse(line: &[u8], units: Units) -> FieldResult<TraceRecord> {
    let mut fields = Fields::blank(line);
    let time_ns = fields.time_ns(units.time_ns, "the time in milliseconds")?;
    let device = fields.device("the number of the device")?;
    let offset_bytes = fields.offset_bytes(1, "the offset in bytes (a whole number)")?;
    let length_bytes = fields.length_bytes(1, "the length in bytes (a whole number)")?;
    let direction = fields.write_0_read_1()?;
    fields.end("the end of the line after five fields")?;
    Ok(TraceRecord { time_ns, device, offset_bytes, length_bytes, kind: direction, fua: false, zeroes: false })
}
