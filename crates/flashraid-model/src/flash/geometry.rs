//! The shape of one SSD's flash.

/// Dies × planes × blocks × pages of one SSD, and how much of it is exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// Dies; each serves one command at a time. (The papers say dies, or packages.)
    pub dies: u32,
    /// Planes of a die.
    pub planes: u32,
    /// Blocks of a plane.
    pub blocks_per_plane: u32,
    /// Pages of a block, the summary page included.
    pub pages_per_block: u32,
    /// Bytes of user data in a page.
    pub page_bytes: u32,
    /// Blocks of each plane that are not exported.
    pub reserved_blocks_per_plane: u32,
    /// The last page of each block holds a summary of the block instead of data (the reference simulator's rule).
    pub summary_page: bool,
}

impl Geometry {
    /// Pages of a block that can hold data.
    pub fn data_pages_per_block(&self) -> u32 {
        self.pages_per_block - u32::from(self.summary_page)
    }

    /// Blocks of one die.
    pub fn blocks_per_die(&self) -> u32 {
        self.planes * self.blocks_per_plane
    }

    /// Physical pages of one die, summary pages included.
    pub fn pages_per_die(&self) -> u32 {
        self.blocks_per_die() * self.pages_per_block
    }

    /// Pages that one die exports.
    pub fn exported_pages_per_die(&self) -> u32 {
        self.planes * (self.blocks_per_plane - self.reserved_blocks_per_plane) * self.data_pages_per_block()
    }

    /// Physical pages of the SSD, summary pages included.
    pub fn physical_pages(&self) -> u64 {
        u64::from(self.dies) * u64::from(self.pages_per_die())
    }
}
