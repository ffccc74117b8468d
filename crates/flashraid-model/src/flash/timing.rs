//! Durations of flash operations.

use super::Geometry;

/// Durations of the flash operations of one die, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Time to read a page from the flash array into the register of its plane.
    pub page_read_ns: u64,
    /// Time to program a page from the register into the flash array.
    pub page_program_ns: u64,
    /// Time to erase one block.
    pub block_erase_ns: u64,
    /// Time to transfer a page, with its spare bytes, between the controller and a die.
    pub page_transfer_ns: u64,
    /// Time to transfer the summary page, which ends a full block, between the controller and a die. It is used only if blocks have summary
    /// pages.
    pub block_summary_page_transfer_ns: u64,
    /// Time that the controller adds to every host read and every host program.
    pub host_command_overhead_ns: u64,
    /// True if the time to write a block's summary is spread over the programs of the block, instead of following the last one (rule 138).
    /// It has an effect only with a summary page.
    pub spreads_summary_page_over_programs: bool,
}

impl Timing {
    /// Returns these durations with a longer time for a page program. The time to write the summary page of a block is divided equally
    /// among the data pages of the block. Each page program includes one such share. The durations do not change unless
    /// `spreads_summary_page_over_programs` is set and blocks have summary pages.
    pub fn with_summary_page_spread_over_programs(mut self, geometry: &Geometry) -> Self {
        if self.spreads_summary_page_over_programs && geometry.has_summary_page {
            self.page_program_ns +=
                (self.block_summary_page_transfer_ns + self.page_program_ns) / u64::from(geometry.data_pages_per_block());
        }
        self
    }
}
