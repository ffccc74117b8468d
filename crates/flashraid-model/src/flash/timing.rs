//! How long flash operations take.

use super::Geometry;

/// Durations of the flash operations of one die, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Array to register.
    pub page_read_ns: u64,
    /// Register to array.
    pub page_program_ns: u64,
    /// Erase of one block.
    pub block_erase_ns: u64,
    /// A page, spare bytes included, over the pins or the channel.
    pub page_transfer_ns: u64,
    /// The summary of a block over the pins or the channel; used only with a summary page.
    pub summary_transfer_ns: u64,
    /// Added to every host read and program command.
    pub command_overhead_ns: u64,
    /// No program is followed by a summary: each lasts longer by its share of one (rule 138); means something only with a summary page.
    pub spread_summaries: bool,
}

impl Timing {
    /// The same where every program already has its share of a summary, if they are spread.
    pub fn with_shares(mut self, geometry: &Geometry) -> Self {
        if self.spread_summaries && geometry.summary_page {
            self.page_program_ns += (self.summary_transfer_ns + self.page_program_ns) / u64::from(geometry.data_pages_per_block());
        }
        self
    }
}
