//! FlashSim: `ms device page pages op`, start and length in pages of 4 KiB; op 0 = write and 1 = read.
//!
//! Source: FlashSim (Kim et al., SIMUL '09), whose runs of a trace take the third column for the number of a page and go on for as many
//! pages as the fourth says. Traces made for it often hold the sector of their origin there: then requests keep apart that were less than
//! a page apart, and the address space is eight times as wide. `sector_bytes = 512` takes the starts for sectors, as which neighbours
//! overlap, lengths having been rounded up.

use super::fields::{FieldResult, Fields};
use super::parser::Units;
use super::record::TraceRecord;

/// Bytes of the page in which lengths count.
pub(crate) const PAGE_BYTES: u64 = 4096;

pub(crate) fn parse(line: &[u8], units: Units) -> FieldResult<TraceRecord> {
    let mut fields = Fields::blank(line);
    let time_ns = fields.time_ns(units.time_ns, "the time in milliseconds")?;
    let device = fields.device("the number of the device")?;
    let offset_bytes = fields.offset_bytes(units.sector_bytes, "the start page (a whole number)")?;
    let length_bytes = fields.length_bytes(PAGE_BYTES, "the length in 4 KiB pages (a whole number)")?;
    let direction = fields.write_0_read_1()?;
    fields.end("the end of the line after five fields")?;
    Ok(TraceRecord { time_ns, device, offset_bytes, length_bytes, kind: direction, fua: false, zeroes: false })
}
