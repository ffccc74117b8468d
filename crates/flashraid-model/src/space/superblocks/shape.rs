//! Superpages and superblocks: how many there are, what they take, and where a place lies.

use std::fmt;

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

/// Says all of it in words, so that two shapes that differ read differently.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dies, planes, flash_page_units, pages_per_cell, rows, superblocks, exported_units, rain, placement, slc } = self;
        write!(
            f,
            "{superblocks} superblocks of {rows} rows over {dies} dies of {planes} planes, {flash_page_units} units in a flash page, \
             {pages_per_cell} pages of a cell, {exported_units} units exported"
        )?;
        if *rain {
            f.write_str(", parity in each row")?;
        }
        match placement {
            PlacementHandles { handles: 1, is_persistent: false } => {}
            PlacementHandles { handles, is_persistent: false } => write!(f, ", {handles} placement handles")?,
            PlacementHandles { handles, is_persistent: true } => write!(f, ", {handles} placement handles that stay apart")?,
        }
        match slc {
            None => Ok(()),
            Some(SlcRoom::Superblocks(superblocks)) => write!(f, ", {superblocks} superblocks of SLC"),
            Some(SlcRoom::ShareOfFree { millionths }) => write!(f, ", {millionths} millionths of SLC"),
        }
    }
}

/// Units of a superpage at most.
pub const SUPERPAGE_UNITS_MAX: u32 = 128;

impl Shape {
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

    /// Returns true if a superblock with so many valid units is worth collecting: its moves need fewer superpages than it gives back.
    pub fn is_useful(&self, valid: u32) -> bool {
        valid < self.useful_below()
    }

    /// Valid units with which a superblock is not worth collecting any more; with fewer it is.
    pub fn useful_below(&self) -> u32 {
        (self.data_superpages() - 1) * self.superpage_units() + 1
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
    pub(crate) fn row_of(&self, ppn: u32) -> u32 {
        ppn / self.superpage_units() / self.dies
    }

    /// The die that has the parity of a row, whose number counts over all superblocks (rule 218).
    pub(crate) fn parity_die(&self, row: u32) -> Option<u32> {
        self.rain.then(|| row % self.dies)
    }

    /// The first place of the parity of a row.
    pub(crate) fn parity_place(&self, row: u32) -> Option<u32> {
        self.parity_die(row).map(|die| (row * self.dies + die) * self.superpage_units())
    }

    /// Whether parity is at that place.
    pub(crate) fn is_parity(&self, ppn: u32) -> bool {
        self.parity_die(self.row_of(ppn)) == Some(ppn / self.superpage_units() % self.dies)
    }

    /// The first row of the superblock from `row` on in which the die takes units; `rows` if there is none.
    pub(crate) fn data_row(&self, block: u32, die: u32, row: u32) -> u32 {
        // No die has the parity of two rows in a row.
        row + u32::from(row < self.rows && self.parity_die(block * self.rows + row) == Some(die))
    }

    /// Rows of the superblock from `row` on in which the die takes units.
    pub(crate) fn data_rows(&self, block: u32, die: u32, row: u32) -> u32 {
        let parity_before = |row: u32| (row + self.dies - 1 - die) / self.dies;
        let (from, to) = (block * self.rows + row, (block + 1) * self.rows);
        self.rows - row - if self.rain { parity_before(to) - parity_before(from) } else { 0 }
    }

    /// Where the unit at `ppn` lies.
    pub(crate) fn place(&self, ppn: u32) -> Place {
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
pub struct Place {
    /// The die.
    pub die: u32,
    /// The plane of the die.
    pub plane: u32,
    /// Number of its page in its block.
    pub page_of_block: u32,
    /// Number of its flash page in the drive.
    pub flash_page: u32,
    /// Its number in the flash page.
    pub unit_of_page: u32,
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
