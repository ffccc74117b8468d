//! What a drive with superblocks and a write buffer is built of, beside the shape of its flash.

use crate::flash::Geometry;
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
}

/// Placement handles: what is written with different ones goes to different superblocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PlacementHandles {
    /// Handles; 1: all that the host writes lies together.
    pub handles: u32,
    /// What collection moves stays with its handle; else it lies together.
    pub is_persistent: bool,
}

impl PlacementHandles {
    /// All that the host writes lies together, and so does what collection moves.
    pub const ONE: Self = Self { handles: 1, is_persistent: false };

    /// Streams of collection: sorts of units that it keeps apart.
    pub fn collections(self) -> u32 {
        if self.is_persistent { self.handles } else { 1 }
    }

    /// Streams of the host and of collection.
    pub fn streams(self) -> u32 {
        self.handles + self.collections()
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

/// How many superblocks may hold one bit per cell at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SlcRoom {
    /// So many; at least 1.
    Superblocks(u32),
    /// A share of those that are free beyond the target of collection or hold one bit per cell.
    ShareOfFree {
        /// In millionths; 1 to 1,000,000.
        millionths: u32,
    },
}

impl SlcRoom {
    /// Superblocks with one bit per cell at most, while `free` are free and `in_use` hold one bit per cell.
    pub fn superblocks_max(self, free: u32, in_use: u32, target: u32) -> u32 {
        match self {
            Self::Superblocks(all) => all,
            Self::ShareOfFree { millionths } => {
                let beyond = u64::from(free.saturating_sub(target) + in_use);
                (beyond * u64::from(millionths) / 1_000_000) as u32
            }
        }
    }
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

/// What a drive moves for its own sake, not for room (rule 223).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UpkeepParams {
    /// Array reads of a superblock for the host, since it was erased, after which it is moved, as reads disturb what lies next to what they read;
    /// at least 1.
    pub refresh_reads: Option<u64>,
    /// Erases that the most erased superblock may be ahead of the least erased one that is sealed; when it is as many, that one is moved. At
    /// least 1.
    pub wear_difference: Option<u32>,
}

/// Why a superblock is moved for its own sake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Upkeep {
    /// It has been read often.
    Refresh,
    /// It has been erased seldom.
    Wear,
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

/// Superpages and superblocks of a drive, in units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Dies.
    pub dies: u32,
    /// Planes of a die.
    pub planes: u32,
    /// Units of a flash page.
    pub flash_page_units: u32,
    /// Flash pages that a program brings to each plane.
    pub pages_per_cell: u32,
    /// Superpages of a die in a superblock.
    pub rows: u32,
    /// Superblocks.
    pub superblocks: u32,
    /// Units that are exported.
    pub exported_units: u32,
    /// One superpage of each row is parity.
    pub rain: bool,
    /// What lies apart.
    pub placement: PlacementHandles,
    /// How many superblocks may hold one bit per cell.
    pub slc: Option<SlcRoom>,
}

/// Units of a superpage at most.
pub const SUPERPAGE_UNITS_MAX: u32 = 128;

impl Shape {
    /// Of a drive with this flash.
    pub fn new(geometry: &Geometry, params: &SuperblockParams) -> Self {
        let superpage_rows_pages = params.pages_per_cell * params.flash_page_units * params.unit_pages;
        let exported_pages = u64::from(geometry.exported_pages_per_die()) * u64::from(geometry.dies);
        Self {
            dies: geometry.dies,
            planes: geometry.planes,
            flash_page_units: params.flash_page_units,
            pages_per_cell: params.pages_per_cell,
            rows: geometry.pages_per_block / superpage_rows_pages,
            superblocks: geometry.blocks_per_plane,
            exported_units: (exported_pages / u64::from(params.unit_pages)) as u32,
            rain: params.rain,
            placement: params.placement,
            slc: params.slc.map(|slc| slc.room),
        }
    }

    /// Units of a superpage.
    pub fn superpage_units(&self) -> u32 {
        self.planes * self.pages_per_cell * self.flash_page_units
    }

    /// Units of a superpage with one bit per cell: they take the first places of a superpage, and the others stay empty.
    pub fn slc_superpage_units(&self) -> u32 {
        self.planes * self.flash_page_units
    }

    /// Streams of the host and of collection, each with superblocks of its own.
    pub fn streams(&self) -> u32 {
        self.placement.streams() + u32::from(self.slc.is_some())
    }

    /// Superpages of a superblock, those of parity included.
    pub fn superpages(&self) -> u32 {
        self.dies * self.rows
    }

    /// Superpages of a superblock that take units.
    pub fn data_superpages(&self) -> u32 {
        self.rows * (self.dies - u32::from(self.rain))
    }

    /// Places for units in a superblock, those of parity included.
    pub fn superblock_units(&self) -> u32 {
        self.superpages() * self.superpage_units()
    }

    /// Units that a superblock takes.
    pub fn data_units(&self) -> u32 {
        self.data_superpages() * self.superpage_units()
    }

    /// Places for units on the medium.
    pub fn units(&self) -> u64 {
        u64::from(self.superblocks) * u64::from(self.superblock_units())
    }

    /// Superblocks beside those that what is exported fills.
    pub fn spare_superblocks(&self) -> u32 {
        self.superblocks.saturating_sub(self.exported_units.div_ceil(self.data_units()))
    }

    /// Whether a superblock with so many valid units is worth collecting: its moves need fewer superpages than it gives back.
    pub fn is_useful(&self, valid: u32) -> bool {
        valid.div_ceil(self.superpage_units()) < self.data_superpages()
    }

    /// Whether some superblock is worth collecting whenever no more than `floor` are free, so that nothing ever waits for good (rule 213):
    /// besides the free ones at most two are open for each stream, and two more may be on their way. Every stream of collection finds a free
    /// one, and one is left for what overtakes. A sealed one with one bit per cell is always useful.
    pub fn never_stops(&self, floor: u32) -> bool {
        if floor < self.floor_min() {
            return false;
        }
        let sealed = u64::from(self.superblocks.saturating_sub(floor + self.open_max() + 2));
        let useless = u64::from(self.data_units() - self.superpage_units());
        sealed * useless > u64::from(self.exported_units)
    }

    /// Superblocks that are open at most: two for each stream.
    pub fn open_max(&self) -> u32 {
        2 * self.streams()
    }

    /// What `floor` is at least (rule 213).
    pub fn floor_min(&self) -> u32 {
        self.placement.collections() + 1
    }

    /// Units that the write buffer holds at least: a superpage of each handle that is not full, and one more (rule 221).
    pub fn buffer_units_min(&self) -> u32 {
        (self.placement.handles + 1) * self.superpage_units()
    }

    /// The row of a place, counted over all superblocks.
    pub(super) fn row_of(&self, ppn: u32) -> u32 {
        ppn / self.superpage_units() / self.dies
    }

    /// The die that has the parity of a row, whose number counts over all superblocks (rule 218).
    pub(super) fn parity_die(&self, row: u32) -> Option<u32> {
        self.rain.then(|| row % self.dies)
    }

    /// The first place of the parity of a row.
    pub(super) fn parity_place(&self, row: u32) -> Option<u32> {
        self.parity_die(row).map(|die| (row * self.dies + die) * self.superpage_units())
    }

    /// Whether parity is at that place.
    pub(super) fn is_parity(&self, ppn: u32) -> bool {
        self.parity_die(self.row_of(ppn)) == Some(ppn / self.superpage_units() % self.dies)
    }

    /// The first row of the superblock from `row` on in which the die takes units; `rows` if there is none.
    pub(super) fn data_row(&self, block: u32, die: u32, row: u32) -> u32 {
        // No die has the parity of two rows in a row.
        row + u32::from(row < self.rows && self.parity_die(block * self.rows + row) == Some(die))
    }

    /// Rows of the superblock from `row` on in which the die takes units.
    pub(super) fn data_rows(&self, block: u32, die: u32, row: u32) -> u32 {
        let parity_before = |row: u32| (row + self.dies - 1 - die) / self.dies;
        let (from, to) = (block * self.rows + row, (block + 1) * self.rows);
        self.rows - row - if self.rain { parity_before(to) - parity_before(from) } else { 0 }
    }

    /// Where the unit at `ppn` lies.
    pub(super) fn place(&self, ppn: u32) -> Place {
        let units = self.superpage_units();
        let superpage = ppn / units;
        let flash_page = ppn % units / self.flash_page_units;
        Place {
            die: superpage % self.dies,
            plane: flash_page % self.planes,
            page_of_block: superpage / self.dies % self.rows * self.pages_per_cell + flash_page / self.planes,
            flash_page: ppn / self.flash_page_units,
            unit_of_page: ppn % self.flash_page_units,
        }
    }
}

/// Where a unit lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub die: u32,
    pub plane: u32,
    /// Number of its page in its block.
    pub page_of_block: u32,
    /// Number of its flash page in the drive.
    pub flash_page: u32,
    /// Its number in the flash page.
    pub unit_of_page: u32,
}
