//! How long flash operations take.

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
}
