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
    /// Time to transfer a page, with its spare bytes, over the pins or the channel.
    pub page_transfer_ns: u64,
    /// Time to transfer the summary of a block over the pins or the channel. It is used only with a summary page.
    pub summary_transfer_ns: u64,
    /// Time that the controller adds to every host read and every host program.
    pub command_overhead_ns: u64,
    /// True if the time to write a block's summary is spread over the programs of the block, instead of following the last one (rule 138).
    /// It has an effect only with a summary page.
    pub spreads_summary_programs: bool,
}

impl Timing {
    /// Returns the timing, with the time for summary pages in the time of programs if summaries are spread. Each program then includes its
    /// share.
    pub fn with_spread_summaries(mut self, geometry: &Geometry) -> Self {
        if self.spreads_summary_programs && geometry.summary_page {
            self.page_program_ns += (self.summary_transfer_ns + self.page_program_ns) / u64::from(geometry.data_pages_per_block());
        }
        self
    }
}
