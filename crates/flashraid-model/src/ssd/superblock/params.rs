//! What a drive with superblocks and a write buffer is built of, beside the shape of its flash.

use crate::flash::Geometry;
use crate::space::superblocks::{PlacementHandles, Shape, SlcRoom, UpkeepParams};
use crate::ssd::front::{BufferParams, FirmwareParams, FrontParams, QueueParams};

/// A drive that programs superpages out of a write buffer and collects superblocks little by little (section 24 of the rules).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuperblockParams {
    /// Pages of a unit, which is what the map knows: 1, or more for a coarser map.
    pub unit_pages: u32,
    /// Units of a flash page, which is what one plane reads at a time; at most 64.
    pub flash_page_units: u32,
    /// Flash pages that one program brings to each plane: bits of a cell.
    pub pages_per_cell: u32,
    /// Time of an array read, by type of page; a page's type is its number in the block modulo the length of this list, at least 1.
    pub page_read_ns: Vec<u64>,
    /// A unit, spare bytes included, over the pins or the channel.
    pub unit_transfer_ns: u64,
    /// What reads at the same time in a die.
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
    /// What the host writes goes to superblocks with one bit per cell first (rule 222); needs one placement handle.
    pub slc: Option<SlcParams>,
    /// The write buffer.
    pub buffer: BufferParams,
    /// Where commands wait until the drive fetches them; `None`: it takes them as they come.
    pub queues: Option<QueueParams>,
    /// The processor cores of the controller.
    pub firmware: FirmwareParams,
    /// When superblocks are collected.
    pub collection: SuperblockCollection,
    /// What is moved for its own sake.
    pub upkeep: UpkeepParams,
    /// How reads interrupt programs and erases in flight; `None`: they don't.
    pub suspension: Option<SuperblockSuspension>,
    /// Nothing is mapped at the start: no fill.
    pub fresh: bool,
}

impl SuperblockParams {
    /// What stands before the dies.
    pub(super) fn front(&self) -> FrontParams {
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
    /// How many there may be.
    pub room: SlcRoom,
    /// Time in which all planes of a die program a page each.
    pub program_ns: u64,
    /// Time of an array read.
    pub read_ns: u64,
}

/// What reads at the same time in a die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaneReads {
    /// Each plane a page of its own.
    Independent,
    /// One plane at a time.
    Die,
}

/// When superblocks are collected; all in superblocks, but the debt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SuperblockCollection {
    /// Free superblocks that collection aims at: there moves balance writes. More than `floor`.
    pub target: u32,
    /// How far from the target its pace doubles; at least 1.
    pub span: u32,
    /// With so many free superblocks no superpage of the host begins; at least 2.
    pub floor: u32,
    /// Units that are to be moved, beyond which no superpage of the host begins.
    pub debt_units: u64,
}

/// How reads interrupt what a die does with all its planes (rule 217).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SuperblockSuspension {
    /// Of programs, the host's and those of collection.
    pub program: OperationSuspension,
    /// Of erases.
    pub erase: OperationSuspension,
}

/// How reads interrupt one kind of operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperationSuspension {
    /// From the interruption until reads begin.
    pub suspend_ns: u64,
    /// From the end of the last read until the operation goes on.
    pub resume_ns: u64,
    /// Suspensions that one operation suffers at most.
    pub times_max: u32,
    /// The array works at least so long between two suspensions.
    pub progress_ns: u64,
}
