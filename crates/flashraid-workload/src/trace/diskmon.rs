//! DiskMon log: `number seconds duration disk Read/Write sector sectors`, sectors of 512 bytes.
//!
//! Source: Sysinternals DiskMon for Windows, "save as" text. It notes requests as they end, so times may go backwards a little.

use super::fields::{FieldResult, Fields};
use super::parser::Units;
use super::record::TraceRecord;

pub(crate) fn parse(line: &[u8], units: Units) -> FieldResult<TraceRecord> {
    let mut fields = Fields::blank(line);
    fields.integer("the number of the record")?;
    let time_ns = fields.time_ns(units.time_ns, "the time in seconds")?;
    fields.time_ns(1, "the duration in seconds")?;
    let device = fields.device("the number of the disk")?;
    let direction = fields.read_or_write("the operation: Read or Write")?;
    let offset_bytes = fields.offset_bytes(units.sector_bytes, "the start sector (a whole number)")?;
    let length_bytes = fields.length_bytes(units.sector_bytes, "the length in sectors (a whole number)")?;
    Ok(TraceRecord { time_ns, device, offset_bytes, length_bytes, kind: direction, fua: false, zeroes: false })
}
