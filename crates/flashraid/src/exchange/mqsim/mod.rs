//! MQSim's device files (`ssdconfig.xml`) and workload files, in and out.
//!
//! `tags.rs` lists every tag: what it may hold, and what becomes of it.
//! The arithmetic follows MQSim's source, version 7ec40e3.

mod export;
mod import;
mod tags;
#[cfg(test)]
mod tests;
mod workload;

pub use export::export;
pub use import::{import, is_device};
pub use tags::table as table_of_tags;

/// Picoseconds that MQSim takes for a byte on a channel of `rate` million transfers a second of `width` bytes each.
///
/// It rounds a thousand over the rate down to nanoseconds: 400 MT/s run as 500, and more than 1000 take no time.
fn picoseconds_per_byte(rate: u64, width: u64) -> u64 {
    1000 / rate * 1000 / width
}

/// Least number of free blocks below which MQSim collects, whatever its threshold says.
const COLLECTS_BELOW_AT_LEAST: u32 = 10;

/// The kind of a page of MQSim's block: 0 for the pages that its LSB latencies hold for, 1 for CSB, 2 for MSB.
fn kind_of_page(bits_per_cell: u32, page: u32) -> usize {
    match bits_per_cell {
        1 => 0,
        2 => [0, 2][page as usize % 2],
        _ if page <= 5 => 0,
        _ if page <= 7 => 1,
        _ => ((page - 8) / 2 % 3) as usize,
    }
}
