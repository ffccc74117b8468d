//! Durations of flash operations: `[ssd.timing]`.

use super::Geometry;
use crate::units::{Duration, TimePerByte};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

/// Durations of the flash operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = filled_in_by_preset)]
pub struct Timing {
    /// Time to read a page from the flash array into the register.
    pub page_read: Duration,
    /// Time to program a page from the register into the flash array.
    pub page_program: Duration,
    /// Time to erase one block.
    pub block_erase: Duration,
    /// Time to transfer one byte between the controller and a die.
    pub transfer_per_byte: TimePerByte,
    /// Number of spare bytes that are transferred with every 512 bytes of data.
    #[schemars(range(min = 0, max = 4_096))]
    pub spare_bytes_per_sector: u32,
    /// Time that the controller adds to every host read and program command.
    #[serde(default)]
    pub command_overhead: Duration,
    /// Time to transfer a page, with its spare bytes, between the controller and a die, in nanoseconds.
    #[serde(skip)]
    pub page_transfer_ns: u64,
    /// Time to transfer the summary page, which ends a full block, between the controller and a die. It is used only if blocks have summary
    /// pages.
    #[serde(skip)]
    pub block_summary_page_transfer_ns: u64,
    /// True if the time to write a block's summary is spread over the programs of the block, instead of following the last one (rule 138).
    /// It has an effect only with a summary page.
    #[serde(skip)]
    pub spreads_summary_page_over_programs: bool,
}

/// Makes all keys of a schema optional, because a preset supplies the keys that a file leaves out.
pub fn filled_in_by_preset(schema: &mut Schema) {
    schema.remove("required");
}

impl Timing {
    /// Returns these durations with a longer time for a page program. The time to write the summary page of a block is divided equally
    /// among the data pages of the block. Each page program includes one such share. The durations do not change unless
    /// `spreads_summary_page_over_programs` is set and blocks have summary pages.
    pub fn with_summary_page_spread_over_programs(mut self, geometry: &Geometry) -> Self {
        if self.spreads_summary_page_over_programs && geometry.has_summary_page {
            self.page_program.ns +=
                (self.block_summary_page_transfer_ns + self.page_program.ns) / u64::from(geometry.data_pages_per_block());
        }
        self
    }
}
