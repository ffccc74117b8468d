//! Writes of drives with pools of blocks: the choice of die and plane, and what ends a block.

use crate::space::pools::PlaneChoice;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of writes of a drive with pools of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PoolWrites {
    /// Rule that chooses the die of a write.
    pub allocation: DieChoiceForWrites,
    /// Number of consecutive logical pages that go to one die before the next die has its turn.
    #[schemars(range(min = 1, max = 16_777_216))]
    pub die_stride: u32,
    /// Rule that chooses the plane of a write inside its die.
    pub plane_choice: PlaneChoice,
    /// Summary page at the end of each block, which describes the block instead of holding data. With `true`, the program that fills a
    /// block is followed by that of the summary page. With `"spread"`, the time of this program is divided among all programs of a block,
    /// so that all last equally long.
    pub summary_page: BlockSummaryPage,
    /// True if the initial fill closes the block that it writes last, so that collection may choose it. In the DiskSim SSD extension, that
    /// block stays open forever.
    pub fill_seals_last_block: bool,
}

impl Default for PoolWrites {
    fn default() -> Self {
        Self {
            allocation: DieChoiceForWrites::Static,
            die_stride: 1,
            plane_choice: PlaneChoice::MostFreePages,
            summary_page: BlockSummaryPage::Plain(false),
            fill_seals_last_block: true,
        }
    }
}

/// Rule that chooses the die of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DieChoiceForWrites {
    /// The die is chosen by the address: it has the number `(lpn / die_stride) mod dies`.
    #[default]
    Static,
    /// The die that can start earliest and has room.
    Dynamic,
}

/// Choice of a summary page: the last page of each block, which describes the block and holds no data. The time to write it is added
/// to the program operation that fills the block, or spread over all program operations of the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum BlockSummaryPage {
    /// No summary page (`false`), or one at the end of each block (`true`). A summary page describes the other pages of its block. It
    /// is written right after the last of these has been programmed.
    Plain(bool),
    /// A summary page at the end of each block, which describes the block. The time to write it is divided equally among the programs of
    /// the block's data pages.
    Named(SummaryPageTimeSplit),
}

/// Ways to divide the time for writing a block's summary page (the last page, which describes the block) among the programs of its data
/// pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SummaryPageTimeSplit {
    /// The time to write a block's summary page (the last page, which describes the block) is divided equally among the programs of its
    /// data pages.
    Spread,
}

impl BlockSummaryPage {
    /// Returns true if the last page of a block holds a summary.
    pub fn last_page_holds_summary(self) -> bool {
        self != Self::Plain(false)
    }

    /// Returns true if every program of a block takes an equal share of the time to write its summary page.
    pub fn spreads_time_over_programs(self) -> bool {
        self == Self::Named(SummaryPageTimeSplit::Spread)
    }
}
