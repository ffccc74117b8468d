//! Superpages and superblocks of a drive: their numbers, their sizes, and the place of each unit of the mapping. A unit is one page or
//! several (`ssd.superblock.unit`).

use crate::space::tables::{NARROW_MAX, Width};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Numbers and sizes of the superpages and superblocks of a drive. Sizes are given in units of the mapping (one page or several,
/// `ssd.superblock.unit`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SuperblockShape {
    /// Number of dies in the drive.
    pub dies: u32,
    /// Number of planes in a die.
    pub planes: u32,
    /// Number of mapping units that fit into a physical page of flash. A unit is one logical page of the host or several
    /// (`ssd.superblock.unit`), but never more than a flash page holds.
    pub mapping_units_per_flash_page: u32,
    /// Number of flash pages that one program writes to each plane, which is the number of bits per cell.
    pub bits_per_cell: u32,
    /// Number of superpages that a superblock has on each die. A superpage is what one program of a die takes.
    pub superpages_of_superblock_per_die: u32,
    /// Number of superblocks in the drive.
    pub superblocks: u32,
    /// Capacity that the drive offers the host, as a number of units of the mapping (one page or several, `ssd.superblock.unit`).
    pub exported_mapping_units: u64,
    /// True if each row of a superblock has one superpage of parity (RAIN). A row has one superpage on each die.
    pub has_parity_superpages: bool,
    /// Placement handles of the drive: their number, and how collection treats them. A handle is a label of a host write. Writes with
    /// different handles go to different superblocks.
    pub placement_handles: PlacementHandles,
    /// Limit on the number of superblocks that hold one bit per cell at the same time. `None` means that the drive has no such
    /// superblocks.
    pub slc_superblock_limit: Option<SlcSuperblockCountLimit>,
}

/// Writes all fields as words, so that different shapes give different texts.
impl fmt::Display for SuperblockShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            dies,
            planes,
            mapping_units_per_flash_page: units_per_flash_page,
            bits_per_cell: pages_per_cell,
            superpages_of_superblock_per_die: rows,
            superblocks,
            exported_mapping_units: exported_units,
            has_parity_superpages: rain,
            placement_handles: placement,
            slc_superblock_limit: slc,
        } = self;
        write!(
            f,
            "{superblocks} superblocks of {rows} rows over {dies} dies of {planes} planes, {units_per_flash_page} units in a flash page, \
             {pages_per_cell} pages of a cell, {exported_units} units exported"
        )?;
        if *rain {
            f.write_str(", parity in each row")?;
        }
        if placement.count > 1 {
            let apart = if placement.collection_separates_handles() { " that stay apart" } else { "" };
            write!(f, ", {} placement handles{apart}", placement.count)?;
        }
        match slc {
            None => Ok(()),
            Some(SlcSuperblockCountLimit::Superblocks(superblocks)) => write!(f, ", {superblocks} superblocks of SLC"),
            Some(SlcSuperblockCountLimit::ShareOfSlcAndFreeSuperblocks { millionths_of_available }) => {
                write!(f, ", {millionths_of_available} millionths of SLC")
            }
        }
    }
}

/// Maximum number of mapping units in a superpage. A superpage is the data that one program writes to a die. A unit is one logical
/// page or several (`ssd.superblock.unit`).
pub const MAPPING_UNITS_PER_SUPERPAGE_MAX: u32 = 128;

impl SuperblockShape {
    /// Returns the number of mapping units that fit into a superpage. A superpage is the data that one program writes to a die: a
    /// flash page of each plane and bit per cell. A unit is one logical page or several (`ssd.superblock.unit`).
    pub fn mapping_units_per_superpage(&self) -> u32 {
        self.planes * self.bits_per_cell * self.mapping_units_per_flash_page
    }

    /// Returns the number of mapping units that fit into a superpage with one bit per cell. They take the first places of the
    /// superpage, and its other places stay empty. A unit is one logical page or several (`ssd.superblock.unit`).
    pub(crate) fn slc_superpage_units(&self) -> u32 {
        self.planes * self.mapping_units_per_flash_page
    }

    /// Returns the number of streams. The writes of one stream share open superblocks. The host has one stream for each placement
    /// handle. It has one more for writes with one bit per cell, if the drive allows them. Collection has one stream for each
    /// placement handle if it keeps their data apart, and otherwise a single one.
    pub fn streams(&self) -> u32 {
        self.placement_handles.host_and_collection_streams() + u32::from(self.slc_superblock_limit.is_some())
    }

    /// Returns the number of superpages in a superblock, including parity.
    pub fn superpages_per_superblock(&self) -> u32 {
        self.dies * self.superpages_of_superblock_per_die
    }

    /// Returns the number of superpages of a superblock that are meant for data. These are all its superpages except those reserved
    /// for parity.
    pub fn data_superpages(&self) -> u32 {
        self.superpages_of_superblock_per_die * (self.dies - u32::from(self.has_parity_superpages))
    }

    /// Returns the number of places in a superblock, including those of parity. A place holds one unit of the mapping (one page or
    /// several).
    pub fn mapping_units_per_superblock(&self) -> u32 {
        self.superpages_per_superblock() * self.mapping_units_per_superpage()
    }

    /// Returns the number of units of the mapping (one page or several) that fit into a superblock, without the places of parity.
    pub fn data_mapping_units_per_superblock(&self) -> u32 {
        self.data_superpages() * self.mapping_units_per_superpage()
    }

    /// Returns the number of places on the whole medium, including those of parity. A place holds one unit of the mapping (one page or
    /// several).
    pub fn physical_mapping_units_per_drive(&self) -> u64 {
        u64::from(self.superblocks) * u64::from(self.mapping_units_per_superblock())
    }

    /// Returns the number of superblocks that are not needed to hold the capacity that the drive offers the host. That capacity fills
    /// the others.
    pub fn superblocks_beyond_capacity(&self) -> u32 {
        let filled = self.exported_mapping_units.div_ceil(u64::from(self.data_mapping_units_per_superblock()));
        u64::from(self.superblocks).saturating_sub(filled) as u32
    }

    /// Returns true if a superblock with `valid` valid units is worth collecting, because moving them takes fewer superpages than the erase
    /// frees.
    pub(crate) fn is_useful(&self, valid: u32) -> bool {
        valid < self.useful_if_valid_units_below()
    }

    /// Returns the number of valid units below which a superblock is worth collecting.
    pub(crate) fn useful_if_valid_units_below(&self) -> u32 {
        (self.data_superpages() - 1) * self.mapping_units_per_superpage() + 1
    }

    /// Returns true if some superblock is worth collecting whenever at most `floor` superblocks are free, so that writes never wait
    /// forever (rule 213). A superblock is worth collecting if its valid units fit into fewer superpages than it has for data.
    ///
    /// The method looks at the worst case. At most `floor` superblocks are free, and two are open for each stream. Two more have not
    /// ended their last program or their erase. All other superblocks are full. If none of these were worth collecting, they would
    /// hold at least a certain number of valid units. The method returns true if the drive offers the host fewer units than that,
    /// because the case is then impossible. (A superblock with one bit per cell is always worth collecting.)
    ///
    /// The result is also false if `floor` is smaller than [`Self::lowest_allowed_host_stall_superblocks`].
    pub fn always_has_victim_at_free_superblocks(&self, floor: u32) -> bool {
        if floor < self.lowest_allowed_host_stall_superblocks() {
            return false;
        }
        let sealed = u64::from(self.superblocks.saturating_sub(floor + self.open_superblocks_max() + 2));
        let useless = u64::from(self.data_mapping_units_per_superblock() - self.mapping_units_per_superpage());
        sealed * useless > self.exported_mapping_units
    }

    /// Returns the maximum number of open superblocks: two for each stream. A stream is a set of writes that share open superblocks,
    /// either writes of the host or moves of collection (see [`Self::streams`]).
    pub fn open_superblocks_max(&self) -> u32 {
        2 * self.streams()
    }

    /// Returns the smallest allowed value for the number of free superblocks at which host writes stop (rule 213). Each stream of
    /// collection needs one superblock, and one more must be left.
    pub fn lowest_allowed_host_stall_superblocks(&self) -> u32 {
        self.placement_handles.collection_streams() + 1
    }

    /// Returns the minimum size of the write buffer, in units of the mapping (one page or several). The buffer must hold one superpage
    /// for each placement handle, and one more superpage (rule 221). If the buffer is full, at least one superpage is then complete.
    pub fn write_buffer_mapping_units_min(&self) -> u32 {
        (self.placement_handles.count + 1) * self.mapping_units_per_superpage()
    }

    /// Returns the number of bytes that an entry of the drive's tables takes: a place, or a unit.
    pub fn table_entry_bytes(&self) -> u64 {
        match self.width() {
            Width::Narrow => 4,
            Width::Wide => 8,
        }
    }

    /// Returns the width of the drive's tables.
    pub(crate) fn width(&self) -> Width {
        if self.physical_mapping_units_per_drive() <= NARROW_MAX { Width::Narrow } else { Width::Wide }
    }

    pub(crate) fn superblock_of(&self, ppn: u64) -> u32 {
        (ppn / u64::from(self.mapping_units_per_superblock())) as u32
    }

    /// Returns the superblock of a place, and its number among the places of the superblock.
    pub(crate) fn superblock_and_place(&self, ppn: u64) -> (u32, u32) {
        let per_block = u64::from(self.mapping_units_per_superblock());
        ((ppn / per_block) as u32, (ppn % per_block) as u32)
    }

    /// Returns the superpage of a place, counted over the whole drive, and its number among the places of the superpage.
    pub(crate) fn superpage_and_unit(&self, ppn: u64) -> (u32, u32) {
        let units = u64::from(self.mapping_units_per_superpage());
        ((ppn / units) as u32, (ppn % units) as u32)
    }

    /// Returns the first place of a superblock.
    pub(crate) fn first_place_of(&self, block: u32) -> u64 {
        u64::from(block) * u64::from(self.mapping_units_per_superblock())
    }

    /// Returns the first place of a superpage. Superpages are counted over the whole drive.
    pub(crate) fn first_place_of_superpage(&self, superpage: u32) -> u64 {
        u64::from(superpage) * u64::from(self.mapping_units_per_superpage())
    }

    /// Returns the row (one superpage on each die) in which a place lies. Rows are counted over all superblocks.
    pub(crate) fn row_of(&self, ppn: u64) -> u32 {
        self.superpage_and_unit(ppn).0 / self.dies
    }

    /// Returns the die that holds the parity of a row (rule 218). Rows are counted over all superblocks.
    pub(crate) fn parity_die(&self, row: u32) -> Option<u32> {
        self.has_parity_superpages.then(|| row % self.dies)
    }

    /// Returns the first place of the superpage that holds the parity of a row.
    pub(crate) fn parity_place(&self, row: u32) -> Option<u64> {
        self.parity_die(row).map(|die| self.first_place_of_superpage(row * self.dies + die))
    }

    /// Returns true if the place `ppn` (the position of one unit of the mapping) holds parity.
    pub(crate) fn is_parity(&self, ppn: u64) -> bool {
        let superpage = self.superpage_and_unit(ppn).0;
        self.parity_die(superpage / self.dies) == Some(superpage % self.dies)
    }

    /// Returns the number of a place among the places for data of its superblock; `None` if it holds parity.
    pub(crate) fn data_slot(&self, ppn: u64) -> Option<u32> {
        if !self.has_parity_superpages {
            return Some(self.superblock_and_place(ppn).1);
        }
        let (superpage, unit) = self.superpage_and_unit(ppn);
        let row = superpage / self.dies;
        let (die, parity) = (superpage % self.dies, row % self.dies);
        let superpage = row % self.superpages_of_superblock_per_die * (self.dies - 1) + die - u32::from(die > parity);
        (die != parity).then(|| superpage * self.mapping_units_per_superpage() + unit)
    }

    /// Returns the place with a number among the places for data of a superblock.
    pub(crate) fn place_of_data_slot(&self, block: u32, slot: u32) -> u64 {
        if !self.has_parity_superpages {
            return self.first_place_of(block) + u64::from(slot);
        }
        let units = self.mapping_units_per_superpage();
        let (superpage, dies) = (slot / units, self.dies - 1);
        let row = block * self.superpages_of_superblock_per_die + superpage / dies;
        let die = superpage % dies;
        self.first_place_of_superpage(row * self.dies + die + u32::from(die >= row % self.dies)) + u64::from(slot % units)
    }

    /// Returns the row, counted over all superblocks, of a die's superpage for data with this number.
    pub(crate) fn row_of_data_superpage(&self, die: u32, number: u32) -> u32 {
        if !self.has_parity_superpages {
            return number;
        }
        let (turn, at) = (number / (self.dies - 1), number % (self.dies - 1));
        turn * self.dies + at + u32::from(at >= die)
    }

    /// Returns the number of superpages for data that a die has in the rows before `row`, which are counted over all superblocks.
    pub(crate) fn data_superpages_of_die_before(&self, die: u32, row: u32) -> u32 {
        let with_parity = if self.has_parity_superpages { (row + self.dies - 1 - die) / self.dies } else { 0 };
        row - with_parity
    }

    /// Returns the number of superpages for data that a die has in the rows before `row`; `None` if it holds the parity of `row`.
    pub(crate) fn data_superpages_before(&self, die: u32, row: u32) -> Option<u32> {
        if !self.has_parity_superpages {
            return Some(row);
        }
        let (turn, at) = (row / self.dies, row % self.dies);
        (at != die).then(|| turn * (self.dies - 1) + at - u32::from(at > die))
    }

    /// Returns the first row of the superblock, from `row` on, in which the die holds data. It is `superpages_of_superblock_per_die` if
    /// there is none.
    pub(crate) fn data_row(&self, block: u32, die: u32, row: u32) -> u32 {
        // No die has the parity of two consecutive rows.
        row + u32::from(
            row < self.superpages_of_superblock_per_die
                && self.parity_die(block * self.superpages_of_superblock_per_die + row) == Some(die),
        )
    }

    /// Returns the number of rows of the superblock, from `row` on, in which the die holds data.
    pub(crate) fn data_rows(&self, block: u32, die: u32, row: u32) -> u32 {
        let parity_before = |row: u32| (row + self.dies - 1 - die) / self.dies;
        let (from, to) = (block * self.superpages_of_superblock_per_die + row, (block + 1) * self.superpages_of_superblock_per_die);
        self.superpages_of_superblock_per_die - row - if self.has_parity_superpages { parity_before(to) - parity_before(from) } else { 0 }
    }

    /// Converts the place number `ppn` of a unit to die, plane and page.
    pub(crate) fn place(&self, ppn: u64) -> MappingUnitLocation {
        let (superpage, unit) = self.superpage_and_unit(ppn);
        let flash_page = unit / self.mapping_units_per_flash_page;
        MappingUnitLocation {
            die: superpage % self.dies,
            plane: flash_page % self.planes,
            page_of_block: superpage / self.dies % self.superpages_of_superblock_per_die * self.bits_per_cell + flash_page / self.planes,
            flash_page_in_drive: u64::from(superpage) * u64::from(self.planes * self.bits_per_cell) + u64::from(flash_page),
            unit_of_page: unit % self.mapping_units_per_flash_page,
        }
    }
}

/// Position on flash of one mapping unit: die, plane, flash page, and part of this flash page. A unit is one logical page of the host
/// or several (`ssd.superblock.unit`). A flash page has room for one unit or more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MappingUnitLocation {
    /// Number of the die in the drive.
    pub die: u32,
    /// Number of the plane in the die.
    pub plane: u32,
    /// Number of the flash page that holds the unit, counted within its block.
    pub(crate) page_of_block: u32,
    /// Number of the flash page in the drive.
    pub flash_page_in_drive: u64,
    /// Index of the unit among those in its flash page.
    pub(crate) unit_of_page: u32,
}

/// Placement handles, as with Flexible Data Placement: writes with different handles go to different superblocks. A write of stream s
/// (counted from 0) of a workload with `kind = "mix"` has handle s modulo `handles`. All other writes have handle 0. Needs
/// `ssd.superblock`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PlacementHandles {
    /// Number of placement handles. A placement handle is a label of a write, as in Flexible Data Placement (FDP) of NVMe. Writes with
    /// different handles go to different superblocks, which are the reclaim units of FDP.
    #[schemars(range(min = 1, max = 16))]
    #[serde(rename = "handles")]
    pub count: u32,
    /// Time for which data of different placement handles stay in different superblocks: until collection moves the data, or forever.
    pub isolation: HandleIsolation,
}

impl Default for PlacementHandles {
    fn default() -> Self {
        Self { count: 2, isolation: HandleIsolation::Initially }
    }
}

/// Time for which data of different placement handles stay in different superblocks: until collection moves the data, or forever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HandleIsolation {
    /// Data of different placement handles lie in different superblocks until collection moves the data. Moved data of all handles lie
    /// in the same superblocks.
    Initially,
    /// Data of different placement handles lie in different superblocks forever, because collection keeps them apart, too. Collection
    /// then writes to one superblock for each handle. Hence `ssd.superblock.floor` must be at least `ssd.placement_handles.handles` +
    /// 1.
    Persistently,
}

impl PlacementHandles {
    /// The setting with a single placement handle (a label of a host write), so that all host writes share superblocks. Data that
    /// collection moves share other superblocks.
    pub const SINGLE_HANDLE: Self = Self { count: 1, isolation: HandleIsolation::Initially };

    /// Returns true if collection moves data of different placement handles to different superblocks; false if it mixes them.
    pub fn collection_separates_handles(self) -> bool {
        self.isolation == HandleIsolation::Persistently && self.count > 1
    }

    /// Returns the number of separate streams (sets of writes that share open superblocks) into which collection writes the data that
    /// it moves.
    pub fn collection_streams(self) -> u32 {
        if self.collection_separates_handles() { self.count } else { 1 }
    }

    /// Returns the number of streams (sets of writes that share open superblocks) of host and collection together.
    pub fn host_and_collection_streams(self) -> u32 {
        self.count + self.collection_streams()
    }
}

/// Limit on the number of superblocks that hold one bit per cell at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SlcSuperblockCountLimit {
    /// Limits the superblocks with one bit per cell (SLC) to a fixed number, at least 1.
    Superblocks(u32),
    /// Limits the superblocks with one bit per cell (SLC) to a share of the superblocks that are available to them. Available are all
    /// that hold one bit per cell at present. Free superblocks are available, too, except as many as collection aims to keep free
    /// (`ssd.superblock.target`).
    ShareOfSlcAndFreeSuperblocks {
        /// Share of the available superblocks that may hold one bit per cell (SLC), in millionths, from 1 to 1,000,000. Available are
        /// all that hold one bit per cell at present. Free superblocks are available, too, except as many as collection aims to keep
        /// free (`ssd.superblock.target`).
        millionths_of_available: u32,
    },
}

impl SlcSuperblockCountLimit {
    /// Returns the maximum number of superblocks with one bit per cell, while `free` superblocks are free and `in_use` hold one bit per
    /// cell. `target` is the number of superblocks that collection aims to keep free.
    pub fn slc_superblocks_max(self, free: u32, in_use: u32, target: u32) -> u32 {
        match self {
            Self::Superblocks(all) => all,
            Self::ShareOfSlcAndFreeSuperblocks { millionths_of_available } => {
                let beyond = u64::from(free.saturating_sub(target) + in_use);
                (beyond * u64::from(millionths_of_available) / 1_000_000) as u32
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{HandleIsolation, PlacementHandles, SuperblockShape};

    /// Twenty superblocks of 16 superpages of 8 units, of which each may be useless with 120 valid units.
    fn shape(exported_units: u64) -> SuperblockShape {
        SuperblockShape {
            dies: 4,
            planes: 2,
            mapping_units_per_flash_page: 2,
            bits_per_cell: 2,
            superpages_of_superblock_per_die: 4,
            superblocks: 20,
            exported_mapping_units: exported_units,
            has_parity_superpages: false,
            placement_handles: PlacementHandles::SINGLE_HANDLE,
            slc_superblock_limit: None,
        }
    }

    #[test]
    fn a_drive_never_stops_while_some_superblock_is_useful() {
        assert_eq!(
            (shape(1).mapping_units_per_superpage(), shape(1).data_mapping_units_per_superblock(), shape(1).open_superblocks_max()),
            (8, 128, 4)
        );
        // Two superblocks are free, four are open, and two are on their way.
        assert!(shape(12 * 120 - 1).always_has_victim_at_free_superblocks(2));
        assert!(!shape(12 * 120).always_has_victim_at_free_superblocks(2));
        assert!(!shape(12 * 120 - 1).always_has_victim_at_free_superblocks(3));
        assert!(!shape(1).always_has_victim_at_free_superblocks(1), "collection needs a superblock of its own");
    }

    #[test]
    fn a_buffer_holds_a_superpage_more_than_there_are_handles() {
        let placement = PlacementHandles { count: 3, isolation: HandleIsolation::Persistently };
        assert_eq!(
            (
                shape(1).write_buffer_mapping_units_min(),
                SuperblockShape { placement_handles: placement, ..shape(1) }.write_buffer_mapping_units_min()
            ),
            (16, 32)
        );
    }
}
