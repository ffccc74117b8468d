//! Parameters of an SSD with superblocks, beside the shape of its flash.

use super::front::{BufferParams, FirmwareParams, FrontEndParams, QueueParams};
use crate::flash::Geometry;
use crate::space::superblocks::{PlacementHandles, SlcLimit, SuperblockShape, UpkeepParams};

/// A drive that programs superpages out of a write buffer and collects superblocks in small steps (section 24 of the rules).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuperblockParams {
    /// Number of pages in a unit of the map, at least 1.
    pub unit_pages: u32,
    /// Number of units in a flash page, which a plane reads at a time; at most 64.
    pub flash_page_units: u32,
    /// Number of flash pages that one program writes to each plane, which is the number of bits in a cell.
    pub bits_per_cell: u32,
    /// Times that the flash array takes to read a page, by type of page; at least one entry. The type of a page is its number in the block,
    /// modulo the length of this list.
    pub page_read_ns: Vec<u64>,
    /// Time to transfer a unit, with its spare bytes, over the pins or the channel.
    pub unit_transfer_ns: u64,
    /// Number of planes of a die that can read at the same time.
    pub plane_reads: PlaneReadMode,
    /// True if a plane may read its next page while the page before is being transferred.
    pub planes_read_during_transfer: bool,
    /// Number of host reads that may begin one after another while other work waits; then that work has its turn. At least 1.
    pub host_reads_in_a_row_max: u32,
    /// Maximum number of dies that program at the same time, at least 1.
    pub dies_programming_max: u32,
    /// True if one superpage of each row is parity (rule 218). Then the drive must have at least two dies.
    pub has_parity_superpages: bool,
    /// Placement handles. Units with different handles lie in different superblocks (rule 221).
    pub placement_handles: PlacementHandles,
    /// Superblocks with one bit per cell, to which host data go first (rule 222). They require a single placement handle.
    pub slc: Option<SlcParams>,
    /// Parameters of the write buffer.
    pub buffer: BufferParams,
    /// Queues in which commands wait until the drive fetches them. With `None`, the drive takes them as they arrive.
    pub queues: Option<QueueParams>,
    /// Processor cores of the controller.
    pub firmware: FirmwareParams,
    /// Limits of the collection of superblocks.
    pub collection: SuperblockCollectionParams,
    /// Limits beyond which superblocks are moved to preserve data (read disturb) or to level wear.
    pub upkeep: UpkeepParams,
    /// Suspension of programs and erases by reads; `None` for no suspension.
    pub suspension: Option<SuperblockSuspensionParams>,
    /// True if the drive starts empty, without an initial fill.
    pub starts_empty: bool,
}

impl SuperblockParams {
    /// Returns the parameters of the front.
    pub(in crate::ssd) fn front(&self) -> FrontEndParams {
        FrontEndParams { buffer: Some(self.buffer), queues: self.queues, firmware: self.firmware }
    }

    /// Returns the sizes of superpages and superblocks of a drive with this flash.
    pub fn shape(&self, geometry: &Geometry) -> SuperblockShape {
        let superpage_rows_pages = self.bits_per_cell * self.flash_page_units * self.unit_pages;
        let exported_pages = u64::from(geometry.exported_pages_per_die()) * u64::from(geometry.dies);
        SuperblockShape {
            dies: geometry.dies,
            planes: geometry.planes,
            flash_page_units: self.flash_page_units,
            bits_per_cell: self.bits_per_cell,
            superpages_per_die: geometry.pages_per_block / superpage_rows_pages,
            superblocks: geometry.blocks_per_plane,
            exported_units: (exported_pages / u64::from(self.unit_pages)) as u32,
            has_parity_superpages: self.has_parity_superpages,
            placement_handles: self.placement_handles,
            slc_room: self.slc.map(|slc| slc.superblock_limit),
        }
    }
}

/// Superblocks with one bit per cell (rule 222).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlcParams {
    /// Limit on the number of superblocks with one bit per cell.
    pub superblock_limit: SlcLimit,
    /// Time that a die takes to program one page in each plane, in nanoseconds.
    pub program_ns: u64,
    /// Time that the flash array takes for a read, in nanoseconds.
    pub read_ns: u64,
}

/// Number of planes of a die that can read at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaneReadMode {
    /// Each plane reads independently of the others.
    EachPlaneIndependently,
    /// Only one plane of a die reads at a time.
    OnePlaneAtATime,
}

/// Limits that control the collection of superblocks: numbers of free superblocks, and the number of units by which collection may be
/// behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SuperblockCollectionParams {
    /// Number of free superblocks that collection aims at; more than `floor_free_superblocks`. There, it frees as much space as the host
    /// takes.
    pub target_free_superblocks: u32,
    /// Number of superblocks below the target at which collection is twice as fast; at least 1.
    pub superblocks_below_target_to_double_pace: u32,
    /// Number of free superblocks at or below which the host may begin no superpage; at least 2.
    pub floor_free_superblocks: u32,
    /// Number of units that collection may be behind with its moves. Beyond it, the host may begin no superpage.
    pub units_behind_host_max: u64,
}

impl SuperblockCollectionParams {
    /// Returns the number of free superblocks above which nothing is collected.
    pub fn goal_free_superblocks(&self) -> u32 {
        self.target_free_superblocks + self.superblocks_below_target_to_double_pace
    }
}

/// Suspension of work that occupies all planes of a die, by reads (rule 217).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SuperblockSuspensionParams {
    /// Suspension of programs by reads. The programs may be those of the host or of collection.
    pub program: OperationSuspensionParams,
    /// Suspension of erases by reads.
    pub erase: OperationSuspensionParams,
}

/// Suspension of one kind of operation by reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperationSuspensionParams {
    /// Time from the interruption until reads begin, in nanoseconds.
    pub suspend_ns: u64,
    /// Time from the end of the last read until the operation continues, in nanoseconds.
    pub resume_ns: u64,
    /// Maximum number of times that one program or erase is suspended. After that, it runs to its end.
    pub suspensions_max: u32,
    /// Least time that the flash array works between two suspensions, in nanoseconds.
    pub work_between_suspensions_min_ns: u64,
}
