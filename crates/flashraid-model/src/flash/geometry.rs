//! The shape of one SSD's flash.

/// Shape of the flash of one SSD: its numbers of dies, planes, blocks and pages. It includes the number of spare blocks in each plane,
/// by which the flash exceeds the capacity that is offered to the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// Number of dies. A die serves one command at a time. (Some papers call it element or package.)
    pub dies: u32,
    /// Number of planes in a die.
    pub planes: u32,
    /// Number of blocks in a plane.
    pub blocks_per_plane: u32,
    /// Number of pages in a block, including the summary page (the last page, which describes the block) if blocks have one.
    pub pages_per_block: u32,
    /// Number of bytes of user data in a page.
    pub page_bytes: u32,
    /// Number of spare blocks in each plane, by which the flash exceeds the capacity that is offered to the host (over-provisioning).
    pub overprovisioned_blocks_per_plane: u32,
    /// True if the last page of each block holds a summary of the block instead of data. The SSD extension of the simulator DiskSim
    /// (Agrawal et al., USENIX ATC 2008) has such pages.
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
