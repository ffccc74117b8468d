//! The shape of one SSD's flash.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum number of pages in a block. Pools keep numbers of valid pages in 16 bits, together with marks for open and free blocks.
const MAX_PAGES_PER_BLOCK: u32 = 0x2000;

/// Shape of the flash of one SSD: its numbers of dies, planes, blocks and pages. It includes the number of spare blocks in each plane,
/// by which the flash exceeds the capacity that is offered to the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Geometry {
    /// Number of dies in each SSD. A die serves one command at a time. (The papers that the simulator follows call it an element or a
    /// package.)
    #[schemars(range(min = 1, max = 65_536))]
    pub dies: u32,
    /// Number of planes in a die.
    #[schemars(range(min = 1, max = 1_024))]
    pub planes: u32,
    /// Number of blocks in a plane.
    #[serde(rename = "blocks")]
    #[schemars(range(min = 4, max = 16_777_216))]
    pub blocks_per_plane: u32,
    /// Number of pages in a block. The last one counts even if it is a summary page, which holds no data (`ssd.summary_page`).
    #[serde(rename = "pages")]
    #[schemars(range(min = 2, max = MAX_PAGES_PER_BLOCK))]
    pub pages_per_block: u32,
    /// Number of bytes of user data in a page.
    #[serde(skip)]
    pub page_bytes: u32,
    /// Number of spare blocks in each plane, by which the flash exceeds the capacity that is offered to the host (over-provisioning).
    #[serde(skip)]
    pub overprovisioned_blocks_per_plane: u32,
    /// True if the last page of each block holds a summary of the block instead of data. The SSD extension of the simulator DiskSim
    /// (Agrawal et al., USENIX ATC 2008) has such pages.
    #[serde(skip)]
    pub has_summary_page: bool,
}

impl Geometry {
    /// Returns the number of pages in a block that can hold data.
    pub fn data_pages_per_block(&self) -> u32 {
        self.pages_per_block - u32::from(self.has_summary_page)
    }

    /// Returns the number of blocks in a die.
    pub fn blocks_per_die(&self) -> u32 {
        self.planes * self.blocks_per_plane
    }

    /// Returns the number of physical pages in a die. The summary pages (the last page of each block, if it describes the block) are
    /// included.
    pub(crate) fn pages_per_die(&self) -> u32 {
        self.blocks_per_die() * self.pages_per_block
    }

    /// Returns the number of logical pages per die that the SSD offers to the host. They are the data pages of all blocks but the spare
    /// ones.
    pub fn exported_pages_per_die(&self) -> u32 {
        self.planes * (self.blocks_per_plane - self.overprovisioned_blocks_per_plane) * self.data_pages_per_block()
    }

    /// Returns the number of physical pages in the SSD. The summary pages (the last page of each block, if it describes the block) are
    /// included.
    pub fn physical_pages(&self) -> u64 {
        u64::from(self.dies) * u64::from(self.pages_per_die())
    }
}
