//! Alibaba block traces: `device,R/W,offset,bytes,µs`, addresses in bytes.
//!
//! Source: Li et al., "An In-Depth Analysis of Cloud Block Storage Workloads in Large-Scale Production" (IISWC '20).

use super::fields::{FieldResult, Fields};
use super::parser::Units;
use super::record::TraceRecord;

pub(crate) fn parse(line: &[u8], units: Units) -> FieldResult<TraceRecord> {
    let mut fields = Fields::separated_by(b',', line);
    let device = fields.device("the number of the device")?;
    let direction = fields.read_or_write("the operation: R or W")?;
    let offset_bytes = fields.offset_bytes(1, "the offset in bytes (a whole number)")?;
    let length_bytes = fields.length_bytes(1, "the length in bytes (a whole number)")?;
    let time_ns = fields.time_ns(units.time_ns, "the time in microseconds")?;
    fields.end("the end of the line after five fields")?;
    Ok(TraceRecord { time_ns, device, offset_bytes, length_bytes, kind: direction, fua: false, zeroes: false })
}
