//! Parameters of an SSD with superblocks, beside the shape of its flash.

use super::front::{BufferParams, FirmwareParams, FrontParams, QueueParams};
use crate::flash::Geometry;
use crate::space::superblocks::{PlacementHandles, Shape, SlcRoom, UpkeepParams};

/// A drive that programs superpages out of a write buffer and collects superblocks in small steps (section 24 of the rules).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuperblockParams {
    /// Number of pages in a unit of the map, at least 1.
    pub unit_pages: u32,
    /// Number of units in a flash page, which a plane reads at a time; at most 64.
    pub flash_page_units: u32,
    /// Number of flash pages that one program writes to each plane, which is the number of bits in a cell.
    pub pages_per_cell: u32,
    /// Times of array reads by type of page, at least one entry. The type of a page is its number in the block, modulo the length of this
    /// list.
    pub page_read_ns: Vec<u64>,
    /// Time to transfer a unit, with its spare bytes, over the pins or the channel.
    pub unit_transfer_ns: u64,
    /// Planes of a die that read at the same time.
    pub plane_reads: PlaneReads,
    /// True if a plane may read its next page while the one before is transferred.
    pub cache_read: bool,
    /// Number of host reads that begin while other work waits, before that work has its turn; at least 1.
    pub reads_ahead: u32,
    /// Most dies that program at the same time; at least 1.
    pub programs_at_once: u32,
    /// True if one superpage of each row is parity (rule 218). It requires two dies.
    pub rain: bool,
    /// Placement handles, whose units lie in different superblocks (rule 221).
    pub placement: PlacementHandles,
    /// Superblocks with one bit per cell, to which host data go first (rule 222). They require a single placement handle.
    pub slc: Option<SlcParams>,
    /// Parameters of the write buffer.
    pub buffer: BufferParams,
    /// Queues in which commands wait until the drive fetches them. With `None`, the drive takes them as they arrive.
    pub queues: Option<QueueParams>,
    /// Processor cores of the controller.
    pub firmware: FirmwareParams,
    /// Limits of the collection of superblocks.
    pub collection: SuperblockCollection,
    /// Limits beyond which superblocks are moved for upkeep.
    pub upkeep: UpkeepParams,
    /// Suspension of programs and erases by reads; `None` for no suspension.
    pub suspension: Option<SuperblockSuspension>,
    /// True if the drive starts empty, without a fill.
    pub fresh: bool,
}

impl SuperblockParams {
    /// Returns the parameters of the front.
    pub(in crate::ssd) fn front(&self) -> FrontParams {
        FrontParams { buffer: Some(self.buffer), queues: self.queues, firmware: self.firmware }
    }

    /// Returns the sizes of superpages and superblocks of a drive with this flash.
    pub fn shape(&self, geometry: &Geometry) -> Shape {
        let superpage_rows_pages = self.pages_per_cell * self.flash_page_units * self.unit_pages;
        let exported_pages = u64::from(geometry.exported_pages_per_die()) * u64::from(geometry.dies);
        Shape {
            dies: geometry.dies,
            planes: geometry.planes,
            flash_page_units: self.flash_page_units,
            pages_per_cell: self.pages_per_cell,
            rows: geometry.pages_per_block / superpage_rows_pages,
            superblocks: geometry.blocks_per_plane,
            exported_units: (exported_pages / u64::from(self.unit_pages)) as u32,
            rain: self.rain,
            placement: self.placement,
            slc: self.slc.map(|slc| slc.room),
        }
    }
}

/// Superblocks with one bit per cell (rule 222).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlcParams {
    /// Limit of their number.
    pub room: SlcRoom,
    /// Time in which all planes of a die program a page each, in nanoseconds.
    pub program_ns: u64,
    /// Time of an array read, in nanoseconds.
    pub read_ns: u64,
}

/// Planes of a die that read at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaneReads {
    /// Each plane reads its own page.
    Independent,
    /// One plane reads at a time.
    Die,
}

/// Limits of the collection of superblocks. All except the debt are numbers of superblocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SuperblockCollection {
    /// Number of free superblocks at which moves balance host writes; more than `floor`.
    pub target: u32,
    /// Number of superblocks below the target at which the pace has doubled; at least 1.
    pub span: u32,
    /// Number of free superblocks at which no host superpage begins; at least 2.
    pub floor: u32,
    /// Number of owed units beyond which no host superpage begins.
    pub debt_units: u64,
}

/// Suspension of work on all planes of a die by reads (rule 217).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SuperblockSuspension {
    /// Suspension of programs, for the host and for collection.
    pub program: OperationSuspension,
    /// Suspension of erases by reads.
    pub erase: OperationSuspension,
}

/// Suspension of one kind of operation by reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperationSuspension {
    /// Time from the interruption until reads begin, in nanoseconds.
    pub suspend_ns: u64,
    /// Time from the end of the last read until the operation continues, in nanoseconds.
    pub resume_ns: u64,
    /// Most suspensions of one operation.
    pub times_max: u32,
    /// Least time that the array works between two suspensions, in nanoseconds.
    pub progress_ns: u64,
}
