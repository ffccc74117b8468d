//! SPC: `ASU,sector,bytes,r/w,seconds[,…]`, sectors of 512 bytes.
//!
//! Source: SPC Trace File Format Specification 1.0.1 (Storage Performance Council); the format of the UMass Financial and WebSearch
//! traces. Each application storage unit (ASU) has addresses of its own and becomes a device.

use super::fields::{FieldResult, Fields};
use super::parser::Units;
use super::record::TraceRecord;

pub(crate) fn parse(line: &[u8], units: Units) -> FieldResult<TraceRecord> {
    let mut fields = Fields::separated_by(b',', line);
    let device = fields.device("the ASU (a whole number)")?;
    let offset_bytes = fields.offset_bytes(units.sector_bytes, "the start sector (a whole number)")?;
    let length_bytes = fields.length_bytes(1, "the length in bytes (a whole number)")?;
    let direction = fields.read_or_write("the operation: r or w")?;
    let time_ns = fields.time_ns(units.time_ns, "the time in seconds")?;
    Ok(TraceRecord { time_ns, device, offset_bytes, length_bytes, kind: direction, fua: false, zeroes: false })
}
