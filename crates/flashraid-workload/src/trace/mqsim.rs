//! MQSim and SSDSim: `ns device sector sectors op`, sectors of 512 bytes, op 0 = write and 1 = read.
//!
//! Source: MQSim (Tavakkol et al., FAST '18) and SSDSim (Hu et al., ICS '11). Both simulators mean nanoseconds, yet traces written in
//! microseconds, and even without times, go about in this form: see `five_columns` for the guess.

use super::fields::{FieldResult, Fields};
use super::parser::Units;
use super::record::TraceRecord;

pub(crate) fn parse(line: &[u8], units: Units) -> FieldResult<TraceRecord> {
    let mut fields = Fields::blank(line);
    let time_ns = fields.time_ns(units.time_ns, "the time (a number)")?;
    let device = fields.device("the number of the device")?;
    let offset_bytes = fields.offset_bytes(units.sector_bytes, "the start sector (a whole number)")?;
    let length_bytes = fields.length_bytes(units.sector_bytes, "the length in sectors (a whole number)")?;
    let direction = fields.write_0_read_1()?;
    fields.end("the end of the line after five fields")?;
    Ok(TraceRecord { time_ns, device, offset_bytes, length_bytes, kind: direction, fua: false, zeroes: false })
}
