//! Parameters of an SSD with superblocks, beside the shape of its flash.

use super::front::{BufferParams, FirmwareParams, FrontEndParams, QueueParams};
use crate::flash::Geometry;
use crate::space::superblocks::{PlacementHandles, SlcLimit, SuperblockShape, UpkeepParams};

/// A drive that programs superpages out of a write buffer and collects superblocks in small steps (section 24 of the rules). One
/// program of a die writes a superpage: a flash page for each plane and bit of a cell. A superblock is the same block of all planes of
/// all dies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuperblockParams {
    /// Number of pages in a unit, the piece of data that the drive's map places; at least 1.
    pub unit_pages: u32,
    /// Number of units (of `unit_pages` pages) in a flash page, which a plane reads at a time; at most 64.
    pub flash_page_units: u32,
    /// Number of flash pages that one program writes to each plane, which is the number of bits in a cell.
    pub bits_per_cell: u32,
    /// Times that the flash array takes to read a page, by type of page; at least one entry. The type of a page is its number in the block,
    /// modulo the length of this list.
    pub page_read_ns: Vec<u64>,
    /// Time to transfer a unit (`unit_pages` pages) with its spare bytes over the pins of its die or over a shared channel, in
    /// nanoseconds.
    pub unit_transfer_ns: u64,
    /// Number of planes of a die that can read at the same time.
    pub plane_reads: PlaneReadMode,
    /// True if a plane may read its next page while the page before is being transferred.
    pub planes_read_during_transfer: bool,
    /// Number of host reads that may begin one after another while other work waits; then that work has its turn. At least 1.
    pub host_reads_in_a_row_max: u32,
    /// Maximum number of dies that program at the same time, at least 1.
    pub dies_programming_max: u32,
    /// True if one superpage of each row of a superblock is parity (rule 218). A row is one superpage on each die, so that the drive
    /// must have at least two dies.
    pub has_parity_superpages: bool,
    /// Placement handles, as in NVMe Flexible Data Placement: numbers by which writes say which data belong together. Data that the
    /// host writes with different handles go to different superblocks (rule 221).
    pub placement_handles: PlacementHandles,
    /// Superblocks that hold one bit per cell (SLC), to which host data are written first. Collection later moves the data to
    /// superblocks with all bits per cell (rule 222 of docs/rules.md). Such superblocks require a single placement handle. `None` if the
    /// drive has none.
    pub slc: Option<SlcParams>,
    /// Parameters of the write buffer.
    pub buffer: BufferParams,
    /// Queues in which commands wait until the drive fetches them. With `None`, the drive takes them as they arrive.
    pub queues: Option<QueueParams>,
    /// Processor cores of the controller.
    pub firmware: FirmwareParams,
    /// Thresholds of collection: numbers of free superblocks, and a limit on the moves that are due but have not begun. The limit
    /// counts units (of `unit_pages` pages). Host writes make such moves due.
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

/// Superblocks that hold one bit per cell (SLC): the limit on their number, and the times of their programs and reads (rule 222).
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

/// Thresholds that control the collection of superblocks: numbers of free superblocks, and a limit on the moves that are due but have
/// not begun. The limit counts units of the mapping (of `unit_pages` pages). The more the host writes, the more valid units of victims
/// become due to be moved (rule 209).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SuperblockCollectionParams {
    /// Number of free superblocks that collection aims at; more than `floor_free_superblocks`. With this number, collection frees as
    /// much space as the host takes.
    pub target_free_superblocks: u32,
    /// Number of superblocks, at least 1. With this many free superblocks less than the target, collection is twice as fast as at the
    /// target. With this many more than the target, nothing is collected.
    pub superblocks_below_target_to_double_pace: u32,
    /// Number of free superblocks at or below which no further superpage of the host is sent to a die; at least 2.
    pub floor_free_superblocks: u32,
    /// Maximum number of units (of `unit_pages` pages) whose moves are due because of host writes but have not begun. Beyond it, no
    /// further superpage of the host is sent to a die until collection has caught up (rule 209).
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
