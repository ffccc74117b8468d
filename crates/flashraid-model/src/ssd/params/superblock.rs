//! Parameters of an SSD with superblocks, beside the shape of its flash.

use super::front::{BufferParams, ControllerCoresParams, FrontEndParams, SubmissionQueueParams};
use crate::flash::Geometry;
use crate::space::superblocks::{PlacementHandles, RefreshAndWearLevellingParams, SlcSuperblockCountLimit, SuperblockShape};

/// Parameters of a drive that programs superpages out of a write buffer and collects superblocks in small steps (section 24 of the
/// rules). A superpage is what one program of a die writes: in each plane, one flash page for each bit of a cell. A superblock is the
/// same block of all planes of all dies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuperblockDriveParams {
    /// Number of logical pages in a unit, at least 1. A unit is the granularity of the drive's map, which has one entry for each unit.
    pub pages_per_mapping_unit: u32,
    /// Number of units (of `pages_per_mapping_unit` logical pages each) in a flash page, at most 64. A flash page is what a plane reads
    /// at a time.
    pub mapping_units_per_flash_page: u32,
    /// Number of flash pages that one program writes to each plane, which is the number of bits in a cell.
    pub bits_per_cell: u32,
    /// Times that the cells of a plane take to read a page, in nanoseconds, by type of page; at least one entry. The transfer of the
    /// data is not included. The type of a page is its number in the block, modulo the length of this list.
    pub read_ns_by_page_type: Vec<u64>,
    /// Time to transfer a unit (`pages_per_mapping_unit` pages) with its spare bytes over the pins of its die or over a shared channel, in
    /// nanoseconds.
    pub mapping_unit_transfer_ns: u64,
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
    /// Parameters of superblocks that hold one bit per cell (SLC), to which host data are written first. Collection later moves the
    /// data to superblocks with all bits per cell (rule 222 of docs/rules.md). A drive with SLC superblocks cannot have more than one
    /// placement handle (see `placement_handles`). `None` if the drive has no SLC superblocks.
    pub slc: Option<SlcSuperblockParams>,
    /// Parameters of the write buffer.
    pub buffer: BufferParams,
    /// Queues in which commands wait until the drive fetches them. With `None`, the drive takes them as they arrive.
    pub submission_queues: Option<SubmissionQueueParams>,
    /// Number of processor cores of the drive's controller, the time that commands and moves of collection take there, and a latency
    /// of commands.
    pub firmware: ControllerCoresParams,
    /// Thresholds of collection: numbers of free superblocks, and a limit on how far collection may be behind the host. Host writes use
    /// up free space, so that collection must move valid data out of victims to regain it. The limit counts units (of
    /// `pages_per_mapping_unit` logical pages) whose moves are due but have not begun.
    pub collection: SuperblockCollectionParams,
    /// Limits beyond which superblocks are moved to preserve data (read disturb) or to level wear.
    pub upkeep: RefreshAndWearLevellingParams,
    /// Parameters by which host reads suspend programs and erases; `None` for no suspension.
    pub suspension: Option<ProgramEraseSuspensionParams>,
    /// True if the drive starts empty, without an initial fill.
    pub starts_empty: bool,
}

impl SuperblockDriveParams {
    /// Returns the parameters of the front: the write buffer, the queues and the processor cores, which lie in front of the dies.
    pub(in crate::ssd) fn front(&self) -> FrontEndParams {
        FrontEndParams { write_buffer: Some(self.buffer), queues: self.submission_queues, firmware: self.firmware }
    }

    /// Returns the sizes of superpages and superblocks of a drive with this flash.
    pub fn shape(&self, geometry: &Geometry) -> SuperblockShape {
        let superpage_rows_pages = self.bits_per_cell * self.mapping_units_per_flash_page * self.pages_per_mapping_unit;
        let exported_pages = u64::from(geometry.exported_pages_per_die()) * u64::from(geometry.dies);
        SuperblockShape {
            dies: geometry.dies,
            planes: geometry.planes,
            mapping_units_per_flash_page: self.mapping_units_per_flash_page,
            bits_per_cell: self.bits_per_cell,
            superpages_of_superblock_per_die: geometry.pages_per_block / superpage_rows_pages,
            superblocks: geometry.blocks_per_plane,
            exported_mapping_units: exported_pages / u64::from(self.pages_per_mapping_unit),
            has_parity_superpages: self.has_parity_superpages,
            placement_handles: self.placement_handles,
            slc_superblock_limit: self.slc.map(|slc| slc.superblock_limit),
        }
    }
}

/// Superblocks that hold one bit per cell (SLC): the limit on their number, and the times of their programs and reads (rule 222).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlcSuperblockParams {
    /// Limit on the number of superblocks that hold one bit per cell (SLC) at the same time.
    pub superblock_limit: SlcSuperblockCountLimit,
    /// Time of one program of a die in a superblock with one bit per cell (SLC), in nanoseconds. All planes of the die program one
    /// page each during this time.
    pub program_ns: u64,
    /// Time that the cells of a plane take to read a page of a superblock with one bit per cell (SLC), in nanoseconds. The transfer of
    /// the data is not included.
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

/// Thresholds that control the collection of superblocks: numbers of free superblocks, and a limit on how far collection may be behind
/// the host. Each write of the host makes moves due: collection must move valid data out of victims to regain the space (rule 209).
/// The limit counts the moves that are due but have not begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SuperblockCollectionParams {
    /// Number of free superblocks that collection aims at; more than `host_stall_threshold_free_superblocks`. While exactly this many
    /// superblocks are free, collection frees as much space as host writes take.
    pub target_free_superblocks: u32,
    /// Number of superblocks, at least 1, that sets how strongly the pace of collection depends on free superblocks. With this many
    /// fewer free ones than `target_free_superblocks`, collection frees twice as much space as host writes take. With this many more,
    /// nothing is collected.
    pub double_pace_at_deficit_superblocks: u32,
    /// Number of free superblocks of the drive at or below which host data must wait in the write buffer; at least 2. No further
    /// superpage of host data (the data of one program of a die) is then sent to a die.
    pub host_stall_threshold_free_superblocks: u32,
    /// Maximum number of units (of `pages_per_mapping_unit` pages) whose moves are due because of host writes but have not begun. Beyond
    /// it, no further superpage of the host is sent to a die until collection has caught up (rule 209).
    pub move_backlog_max_mapping_units: u64,
}

impl SuperblockCollectionParams {
    /// Returns the number of free superblocks above which nothing is collected.
    pub fn goal_free_superblocks(&self) -> u32 {
        self.target_free_superblocks + self.double_pace_at_deficit_superblocks
    }
}

/// Parameters by which host reads suspend the programs and the erases of a die, which occupy all its planes (rule 217).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgramEraseSuspensionParams {
    /// Parameters by which host reads suspend programs. The programs may be those of the host or of collection.
    pub program: OperationSuspensionParams,
    /// Parameters by which host reads suspend erases.
    pub erase: OperationSuspensionParams,
}

/// Parameters by which host reads suspend one kind of operation of a die: its programs, or its erases.
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
