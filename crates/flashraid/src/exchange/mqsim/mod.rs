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

pub use export::export_mqsim;
pub use import::{import_drive_configuration, is_device_file};

/// Returns the picoseconds that MQSim takes for a byte on a channel of `rate` million transfers per second of `width` bytes.
///
/// It rounds the nanoseconds of a transfer down: 400 MT/s run as 500, and above 1000 MT/s a transfer takes no time.
fn picoseconds_per_byte(rate: u64, width: u64) -> u64 {
    1000 / rate * 1000 / width
}

/// Minimum number of free blocks below which MQSim collects, even if its threshold is lower.
const COLLECTS_BELOW_AT_LEAST: u32 = 10;

/// Returns the type of a page in MQSim's block: 0 for pages with its LSB latencies, 1 for CSB, 2 for MSB. MQSim itself has no cells of four
/// bits; the pages of programs derived from it take the four types in turn.
fn kind_of_page(bits_per_cell: u32, page: u32) -> usize {
    match bits_per_cell {
        1 => 0,
        2 => [0, 2][page as usize % 2],
        4 => page as usize % 4,
        _ if page <= 5 => 0,
        _ if page <= 7 => 1,
        _ => ((page - 8) / 2 % 3) as usize,
    }
}
