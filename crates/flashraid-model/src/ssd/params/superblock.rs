//! Parameters of an SSD with superblocks, beside the shape of its flash.

use super::front::{BufferParams, ControllerCores, FrontEndParams, SubmissionQueues};
use crate::flash::Geometry;
use crate::space::superblocks::{PlacementHandles, RefreshAndWearLevellingParams, SlcSuperblockCountLimit, SuperblockShape};
use crate::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// Reads of the planes of a die.
    pub reads: PlaneReads,
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
    pub submission_queues: Option<SubmissionQueues>,
    /// Number of processor cores of the drive's controller, the time that commands and moves of collection take there, and a latency
    /// of commands.
    pub firmware: ControllerCores,
    /// Thresholds of collection: numbers of free superblocks, and a limit on how far collection may be behind the host. Host writes use
    /// up free space, so that collection must move valid data out of victims to regain it. The limit counts units (of
    /// `pages_per_mapping_unit` logical pages) whose moves are due but have not begun.
    pub collection: SuperblockCollectionParams,
    /// Limits beyond which superblocks are moved to preserve data (read disturb) or to level wear.
    pub upkeep: RefreshAndWearLevellingParams,
    /// Parameters by which host reads suspend programs and erases, with all times; `None` for no suspension.
    pub suspension: Option<Suspension>,
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

/// Times of programs and reads of superblocks that hold one bit per cell (SLC).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlcTimes {
    /// Time of a program operation with one bit per cell. The operation writes one flash page in each plane of a die at once.
    pub program: Duration,
    /// Time that the flash array takes to read a page with one bit per cell.
    pub read: Duration,
}

/// Superblocks that hold one bit per cell (rule 222).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlcSuperblockParams {
    /// Limit on the number of superblocks that hold one bit per cell at the same time.
    pub superblock_limit: SlcSuperblockCountLimit,
    /// Times of their programs and reads.
    pub times: SlcTimes,
}

/// Reads of the planes of a die.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PlaneReads {
    /// Number of planes of a die that can read at the same time.
    pub plane_reads: PlaneReadMode,
    /// True if a plane can read its next page while the page before is being transferred.
    pub cache_read: bool,
    /// Maximum number of host reads on a die that go ahead of another waiting operation. Then that operation has its turn.
    #[schemars(range(min = 1))]
    pub reads_ahead: u32,
}

impl Default for PlaneReads {
    fn default() -> Self {
        Self { plane_reads: PlaneReadMode::EachPlaneIndependently, cache_read: false, reads_ahead: 64 }
    }
}

/// Number of planes of a die that can read at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum PlaneReadMode {
    /// Each plane reads independently of the others.
    #[serde(rename = "independent")]
    EachPlaneIndependently,
    /// Only one plane of a die reads at a time.
    #[serde(rename = "die")]
    OnePlaneAtATime,
}

/// Thresholds that control the collection of superblocks: numbers of free superblocks, and a limit on how far collection may be behind
/// the host. Each write of the host makes moves due: collection must move valid data out of victims to regain the space (rule 209).
/// The limit counts the moves that are due but have not begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SuperblockCollectionParams {
    /// Number of free superblocks that collection aims at. With this number, it frees as much space as the host takes; with fewer free
    /// superblocks, it is faster.
    #[schemars(range(min = 3, max = 65_536))]
    pub target: u32,
    /// Distance of the number of free superblocks from `target` at which collection is twice as fast, or stops. It is twice as fast
    /// with `target` − `span` free superblocks as with `target`, and stops with `target` + `span`. The speed changes linearly with the
    /// number of free superblocks, up to four times that at `target`.
    #[schemars(range(min = 1, max = 65_536))]
    pub span: u32,
    /// Number of free superblocks at or below which the drive sends no superpage of host data from its write buffer to a die. Host
    /// writes wait when the buffer is full. The drive collects meanwhile.
    #[schemars(range(min = 2, max = 65_536))]
    pub floor: u32,
    /// Maximum number of units (of `pages_per_mapping_unit` pages) whose moves are due because of host writes but have not begun. Beyond
    /// it, no further superpage of the host is sent to a die until collection has caught up (rule 209).
    #[serde(skip)]
    pub move_backlog_max_mapping_units: u64,
}

impl Default for SuperblockCollectionParams {
    fn default() -> Self {
        Self { target: 6, span: 3, floor: 2, move_backlog_max_mapping_units: 0 }
    }
}

impl SuperblockCollectionParams {
    /// Returns the number of free superblocks above which nothing is collected.
    pub fn goal_free_superblocks(&self) -> u32 {
        self.target + self.span
    }
}

/// Suspension of programs and erases by reads. Needs `ssd.superblock` and `gc.preemption = "suspend"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Suspension {
    /// Suspension of programs of superpages.
    pub program: OperationSuspension,
    /// Suspension of erases of blocks.
    pub erase: OperationSuspension,
}

/// Suspension of one kind of operation, programs or erases, by reads. If `ssd.scale` makes erases shorter, the times for the suspension
/// of erases become shorter in proportion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OperationSuspension {
    /// Time from the interruption until reads begin. By default, 100 µs for a program and 700 µs for an erase. An operation that ends
    /// earlier is not interrupted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspend: Option<Duration>,
    /// Time from the end of the last read during a suspension until the suspended operation continues.
    pub resume: Duration,
    /// Maximum number of times that one program or erase is suspended.
    pub suspensions_max: u32,
    /// Minimum time for which a program or erase works between two suspensions by reads. By default, it equals the key `suspend`, the
    /// time from the interruption until reads begin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<Duration>,
}

impl Default for OperationSuspension {
    fn default() -> Self {
        Self { suspend: None, resume: Duration { ns: 0 }, suspensions_max: 10, progress: None }
    }
}

impl OperationSuspension {
    /// Returns the same settings with the times that are not written: `suspend_ns`, and the time of the suspension as that of progress.
    #[must_use]
    pub fn or_suspend_in(self, suspend_ns: u64) -> Self {
        let suspend = self.suspend.unwrap_or(Duration { ns: suspend_ns });
        Self { suspend: Some(suspend), progress: self.progress.or(Some(suspend)), ..self }
    }

    /// Returns the same settings with all times changed by `scale`, as those of erases in a drive that is simulated smaller.
    #[must_use]
    pub fn scaled(self, scale: impl Fn(u64) -> u64) -> Self {
        let scaled = |time: Duration| Duration { ns: scale(time.ns) };
        Self { suspend: self.suspend.map(scaled), resume: scaled(self.resume), progress: self.progress.map(scaled), ..self }
    }

    /// Returns the time from the interruption until reads begin, in nanoseconds.
    pub fn suspend_ns(&self) -> u64 {
        self.suspend.map_or(0, |time| time.ns)
    }

    /// Returns the least time for which the flash array works between two suspensions, in nanoseconds.
    pub fn progress_ns(&self) -> u64 {
        self.progress.map_or(self.suspend_ns(), |time| time.ns)
    }
}
