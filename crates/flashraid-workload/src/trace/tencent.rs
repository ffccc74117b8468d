//! Tencent block storage: `seconds,sector,sectors,op,volume`, sectors of 512 bytes, op 0 = read and 1 = write.
//!
//! Source: Zhang et al., "OSCA" (USENIX ATC '20), as distributed by SNIA IOTTA. Times are whole seconds, so many requests share one.

use super::fields::{FieldResult, Fields};
use super::parser::Units;
use super::record::TraceRecord;
use crate::OpKind;

pub(crate) fn parse(line: &[u8], units: Units) -> FieldResult<TraceRecord> {
    let mut fields = Fields::separated_by(b',', line);
    let time_ns = fields.time_ns(units.time_ns, "the time in seconds")?;
    let offset_bytes = fields.offset_bytes(units.sector_bytes, "the start sector (a whole number)")?;
    let length_bytes = fields.length_bytes(units.sector_bytes, "the length in sectors (a whole number)")?;
    let expected = "the operation: 0 (read) or 1 (write)";
    let direction = match fields.text(expected)? {
        b"0" => OpKind::Read,
        b"1" => OpKind::Write,
        _ => return Err(fields.bad(expected)),
    };
    let device = fields.device("the number of the volume")?;
    fields.end("the end of the line after five fields")?;
    Ok(TraceRecord { time_ns, device, offset_bytes, length_bytes, kind: direction, fua: false, zeroes: false })
}
