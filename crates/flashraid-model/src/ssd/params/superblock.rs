//! Parameters of an SSD with superblocks, beside the shape of its flash.

use super::front::{BufferParams, FirmwareParams, FrontParams, QueueParams};
use crate::flash::Geometry;
use crate::space::superblocks::{PlacementHandles, Shape, SlcRoom, UpkeepParams};

/// A drive that programs superpages out of a write buffer and collects superblocks little by little (section 24 of the rules).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuperblockParams {
    /// Pages of a unit, which is what the map knows: 1, or more for a coarser map.
    pub unit_pages: u32,
    /// Units of a flash page, which is what one plane reads at a time; at most 64.
    pub flash_page_units: u32,
    /// Flash pages that one program brings to each plane: bits of a cell.
    pub pages_per_cell: u32,
    /// Time of an array read, by type of page; at least one entry. The type of a page is its number in the block modulo the length of
    /// this list.
    pub page_read_ns: Vec<u64>,
    /// A unit, spare bytes included, over the pins or the channel.
    pub unit_transfer_ns: u64,
    /// The reads that a die does at the same time.
    pub plane_reads: PlaneReads,
    /// A plane may read its next page while the one before is on its way out.
    pub cache_read: bool,
    /// Host reads that are begun while something else waits, before that has its turn; at least 1.
    pub reads_ahead: u32,
    /// Dies that may program at the same time; at least 1.
    pub programs_at_once: u32,
    /// One superpage of each row is parity (rule 218); needs two dies.
    pub rain: bool,
    /// Placement handles, whose units lie apart (rule 221).
    pub placement: PlacementHandles,
    /// Superblocks with one bit per cell, to which the host's data go first (rule 222). They need one placement handle.
    pub slc: Option<SlcParams>,
    /// Parameters of the write buffer.
    pub buffer: BufferParams,
    /// Queues in which commands wait until the drive fetches them. `None`: it takes them as they come.
    pub queues: Option<QueueParams>,
    /// The processor cores of the controller.
    pub firmware: FirmwareParams,
    /// Limits of the collection of superblocks.
    pub collection: SuperblockCollection,
    /// Limits beyond which superblocks are moved for their own sake.
    pub upkeep: UpkeepParams,
    /// Suspension of programs and erases in flight by reads. `None`: there is none.
    pub suspension: Option<SuperblockSuspension>,
    /// Nothing is mapped at the start: no fill.
    pub fresh: bool,
}

impl SuperblockParams {
    /// Returns the parameters of the front.
    pub(in crate::ssd) fn front(&self) -> FrontParams {
        FrontParams { buffer: Some(self.buffer), queues: self.queues, firmware: self.firmware }
    }

    /// Superpages and superblocks of a drive with this flash.
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
    /// Number of them that there may be.
    pub room: SlcRoom,
    /// Time in which all planes of a die program a page each.
    pub program_ns: u64,
    /// Time of an array read.
    pub read_ns: u64,
}

/// Reads that a die does at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaneReads {
    /// Each plane a page of its own.
    Independent,
    /// One plane at a time.
    Die,
}

/// Limits of the collection of superblocks, in superblocks except for the debt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SuperblockCollection {
    /// Free superblocks that collection aims at: there moves balance writes. More than `floor`.
    pub target: u32,
    /// Distance from the target at which the pace doubles; at least 1.
    pub span: u32,
    /// Number of free superblocks at which no superpage of the host begins; at least 2.
    pub floor: u32,
    /// Units that are to be moved, beyond which no superpage of the host begins.
    pub debt_units: u64,
}

/// Suspension by reads of what a die does with all its planes (rule 217).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SuperblockSuspension {
    /// Suspension of programs, the host's and those of collection.
    pub program: OperationSuspension,
    /// Suspension of erases by reads.
    pub erase: OperationSuspension,
}

/// Suspension of one kind of operation by reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperationSuspension {
    /// Time from the interruption until reads begin.
    pub suspend_ns: u64,
    /// Time from the end of the last read until the operation goes on.
    pub resume_ns: u64,
    /// Suspensions that one operation suffers at most.
    pub times_max: u32,
    /// The array works at least so long between two suspensions.
    pub progress_ns: u64,
}
