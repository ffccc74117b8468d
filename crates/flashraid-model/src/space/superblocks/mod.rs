//! The mapping of an SSD with superblocks: the map in units, the contents of superblocks, and the open superblocks of streams. It knows no
//! time.
//!
//! ```text
//!  unit ──map──▶ place ──units──▶ unit        a superblock lies on all dies: rows of superpages, one a die
//!                  │                          free → open (a stream writes) → sealed → victim (its units are moved) → free
//!                  └─▶ superblock: valid units, superpages programmed, erases
//! ```
//!
//! What lies where it lay at the start is not stored, but computed (`origin`). The map has the units that have changed since (`changes`).
//! The units of places are stored where they were written or collected since.

mod changes;
mod invariants;
mod open;
mod origin;
mod owners;
mod shape;
mod shuffle;
mod state;
#[cfg(test)]
mod tests;
mod victims;
mod warm_up;

use super::free_space::moves_to_gain;
use super::tables::{Bits, Numbers, Width};
use super::victim::VictimPolicy;
use crate::flash::DieToChannelAssignment;
use crate::rng;
use changes::Changes;
use origin::Origin;
pub use owners::{ParityUnits, UnitOwners};
pub use shape::{
    HandleIsolation, MAPPING_UNITS_PER_SUPERPAGE_MAX, MappingUnitLocation, PlacementHandles, SlcSuperblockCountLimit, SuperblockShape,
};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
pub use victims::RefreshAndWearLevellingParams;
pub(crate) use victims::Upkeep;
use warm_up::{AHEAD, UntimedWriters};

/// Entry of a table that stands for no unit and no place.
pub(crate) const NONE: u64 = u64::MAX;
/// Least map entry of a unit in the write buffer, or of one without data. All places have smaller numbers.
pub(crate) const BUFFERED: u64 = (i32::MIN as i64) as u64;
/// Number of places up to which the contents of a superblock are stored together. That takes some ten milliseconds.
const STORED_WHOLE_MAX: u32 = 1 << 18;
/// Maximum number of superpages in a drive. They have numbers of 32 bits.
pub const SUPERPAGES_PER_DRIVE_MAX: u64 = u32::MAX as u64;
/// Maximum number of places in a superblock. Within it, they have numbers of 32 bits.
pub const MAPPING_UNITS_PER_SUPERBLOCK_MAX: u64 = 1 << 31;

/// A source of written units (one page or several, `ssd.superblock.unit`). Units of different streams lie in different superblocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Units of pages (`ssd.superblock.unit`) that the host writes with this placement handle (a label that keeps data in separate
    /// superblocks).
    Host(u8),
    /// Writes of the host that go into superblocks with one bit per cell.
    Slc,
    /// Units of pages (`ssd.superblock.unit`) that collection moves. The number is the placement handle with which the host wrote them
    /// (a label that keeps data in separate superblocks). It is 0 if collection mixes the data of different handles.
    Collection(u8),
}

impl Default for Stream {
    fn default() -> Self {
        Self::Host(0)
    }
}

impl Stream {
    pub(crate) fn is_host(self) -> bool {
        matches!(self, Self::Host(_) | Self::Slc)
    }

    /// Returns the placement handle, or 0 if collection mixes handles.
    pub(crate) fn handle(self) -> u8 {
        match self {
            Self::Host(handle) | Self::Collection(handle) => handle,
            Self::Slc => 0,
        }
    }
}

/// State of a superblock in its life cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Free,
    /// A stream writes to the superblock, or its last programs are in progress.
    Open,
    Sealed,
    /// The superblock is being collected: its valid units (pages or groups of pages that hold current data) are moved. After that, the
    /// superblock is erased.
    Victim,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Superblock {
    pub(crate) state: State,
    /// Placement handle (label of host writes) of the data in the superblock. It is 0 if collection mixes the data of different
    /// handles.
    pub(crate) handle: u8,
    /// True if it holds one bit per cell (rule 222).
    pub(crate) is_slc: bool,
    pub(crate) valid: u32,
    /// Number of superpages whose programs have ended.
    pub(crate) programmed: u32,
    pub(crate) erases: u32,
    /// Number of superblocks that the drive had opened when it opened this one; 0 if the superblock is free.
    pub(crate) sequence: u32,
    /// Number of reads from flash for the host since the superblock was erased.
    pub(crate) reads: u64,
}

const _: () = assert!(size_of::<Superblock>() <= 32, "every write of a unit touches one");

impl Superblock {
    /// Returns a free superblock that has been erased `erases` times.
    fn free(erases: u32) -> Self {
        Self { state: State::Free, handle: 0, is_slc: false, valid: 0, programmed: 0, erases, sequence: 0, reads: 0 }
    }
}

/// A superblock that a stream writes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Open {
    pub(crate) block: u32,
    /// Next row of the superblock to write on each die.
    pub(crate) next_row: Vec<u32>,
    pub(crate) superpages_left: u32,
}

/// Parameters of the map from logical units (one page or several, `ssd.superblock.unit`) to places in superblocks. The same parameters
/// and the same writes always lead to the same map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SuperblockMappingParams {
    /// Sizes and numbers of superpages and superblocks.
    pub shape: SuperblockShape,
    /// Assignment of dies to channels. It determines the order in which the dies take turns to get superpages: consecutive superpages
    /// go to dies on different channels.
    pub die_to_channel_assignment: DieToChannelAssignment,
    /// Number of free superblocks that collection tries to keep. During a warm-up, a write collects first if no more are free.
    pub(crate) target_free_superblocks: u32,
    /// Policy that chooses the superblock to collect.
    pub victim: VictimPolicy,
    /// True if the drive starts empty, without an initial fill.
    pub starts_empty: bool,
}

/// The point between two collections at which a drive begins in the steady state (rule 215).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PointOfCycle {
    /// Index of the random numbers that the point is drawn by. Drives with the same index stand at the same point.
    pub index: u32,
    /// Cause of the drive's collection, which decides the points that there are.
    pub course: CollectionCourse,
}

/// Cause of the collection of a drive with superblocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CollectionCourse {
    /// The writes of the host: collection moves a little with each of them.
    WithHostWrites,
    /// The array's controller: collection begins when the controller tells the drive, and ends with `span` more free superblocks than
    /// the target.
    WhenTold {
        /// Number of superblocks by which the number of free ones is above the target when collection ends, at least 1.
        span: u32,
    },
    /// Nothing: collection takes no time.
    InNoTime,
}

/// A victim of which a part was moved before the run began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct BegunVictim {
    block: u32,
    /// Number of valid units when the victim was chosen.
    valid: u32,
}

/// The mapping of one SSD with superblocks.
#[derive(Debug, Clone, PartialEq)]
pub struct SuperblockMapping {
    pub(crate) shape: SuperblockShape,
    /// Width of the tables.
    width: Width,
    /// Order in which the dies take turns to get superpages. Consecutive dies in this order lie on different channels.
    pub(crate) die_order: Vec<u32>,
    target_free_superblocks: u32,
    victim: VictimPolicy,
    /// Random stream for a victim policy that chooses at random; empty for any other.
    streams: Vec<rng::RandomStream>,
    /// Number of superblocks that have been opened.
    sequence: u32,
    /// Contents at the start.
    origin: Origin,
    /// Map entries of the units that have changed since the start.
    changes: Changes,
    /// Places of each superblock, counted within it, whose units are computed, because none was written or collected since the start.
    computed: Vec<Range<u32>>,
    /// Logical unit that was written last at each place of each superblock, as far as they are not computed; empty if all are.
    units: Vec<Numbers>,
    /// Places that are valid and not computed.
    valid: Bits,
    pub(crate) superblocks: Vec<Superblock>,
    /// Free superblocks, in the order in which they became free.
    free: VecDeque<u32>,
    /// Open superblocks of each stream: at most two, the older one first. Streams of the host come first, then those of collection, then
    /// the one with one bit per cell.
    open: Vec<Vec<Open>>,
    /// Victim of which a part was moved before the run. It is sealed until collection goes on with it, which takes it before any other.
    begun: Option<BegunVictim>,
    /// Number of superblocks with one bit per cell that have not been erased yet.
    pub(crate) slc_in_use: u32,
    /// Number of data superpages whose program has begun, for each row that is not full. Rows are counted over all superblocks. It is used
    /// only with parity.
    rows_begun: BTreeMap<u32, u32>,
    /// Placement handles of the units at the start; `None` if all have handle 0.
    owners: Option<UnitOwners>,
    /// State of the writes without simulated time: each continues where the one before it ended.
    untimed: UntimedWriters,
}

impl Open {
    /// Returns the open superblock `block`, of which nothing has been written.
    fn new(shape: &SuperblockShape, block: u32) -> Self {
        let next_row = (0..shape.dies).map(|die| shape.data_row(block, die, 0)).collect();
        Self { block, next_row, superpages_left: shape.data_superpages() }
    }
}

impl SuperblockMapping {
    /// Returns a newly filled drive: each logical unit (one page or several, `ssd.superblock.unit`) that is offered to the host holds
    /// data, in order of address. The drive is empty instead if `params.starts_empty` is true. `member` and `seed` select the random
    /// numbers for a victim policy that chooses at random.
    pub fn filled(params: &SuperblockMappingParams, seed: u64, member: u32) -> Self {
        let SuperblockMappingParams { shape, die_to_channel_assignment, target_free_superblocks, victim, starts_empty } = *params;
        let width = shape.width();
        let mut filled = Self {
            shape,
            width,
            die_order: die_to_channel_assignment.dies_channels_first(shape.dies),
            target_free_superblocks,
            victim,
            streams: if victim.needs_random_numbers() { vec![rng::stream(seed, "victim", u64::from(member) << 32)] } else { Vec::new() },
            sequence: 0,
            origin: Origin::Empty,
            changes: Changes::none(width, shape.exported_mapping_units),
            computed: vec![0..0; shape.superblocks as usize],
            units: vec![Numbers::zeroed(width, 0); shape.superblocks as usize],
            valid: Bits::unset(shape.first_place_of(shape.superblocks)),
            superblocks: vec![Superblock::free(0); shape.superblocks as usize],
            free: (0..shape.superblocks).collect(),
            open: vec![Vec::new(); shape.streams() as usize],
            begun: None,
            slc_in_use: 0,
            rows_begun: BTreeMap::new(),
            owners: None,
            untimed: UntimedWriters::new(shape.placement_handles),
        };
        if !starts_empty {
            filled.fill();
        }
        filled
    }

    /// Returns the number of free superblocks.
    #[inline]
    pub(crate) fn free(&self) -> u32 {
        self.free.len() as u32
    }

    /// Returns the number of units that can be written before a superblock must be erased, as a list with one entry.
    pub(crate) fn free_units_by_pool(&self) -> Vec<u64> {
        let open = (0..self.shape.streams() as usize).map(|stream| {
            let is_slc = self.shape.slc_superblock_limit.is_some() && stream == self.number_of(Stream::Slc);
            let units = if is_slc { self.shape.slc_superpage_units() } else { self.shape.mapping_units_per_superpage() };
            self.open[stream].iter().map(|open| u64::from(open.superpages_left) * u64::from(units)).sum::<u64>()
        });
        let free = u64::from(self.free()) * u64::from(self.shape.data_mapping_units_per_superblock());
        vec![free + open.sum::<u64>()]
    }

    /// Returns the number of units, with their parity, that collection would have to program to have as many free units as in `earlier`.
    /// Superblocks that are being collected are the first victims, with what is still valid in them.
    pub(super) fn units_to_program_to_regain(&self, earlier: &[u64]) -> u64 {
        let missing = earlier.iter().zip(self.free_units_by_pool()).map(|(before, now)| before.saturating_sub(now)).sum();
        let victims = self.superblocks.iter().filter(|block| matches!(block.state, State::Sealed | State::Victim));
        let moves = moves_to_gain(missing, self.shape.data_mapping_units_per_superblock(), victims.map(|block| block.valid));
        self.with_parity(moves)
    }

    /// Returns the number of units that the next victim frees, and the number of its moves. It is the one with the fewest valid units.
    pub(crate) fn units_gained_and_moved_by_next_victim(&self) -> (u64, u64) {
        let is_begun = |block: u32| self.begun.is_some_and(|begun| begun.block == block);
        let blocks = (0..).zip(&self.superblocks).filter(|&(number, _)| !is_begun(number)).map(|(_, block)| block);
        let sealed = blocks.filter(|block| block.state == State::Sealed);
        let moved = u64::from(sealed.map(|block| block.valid).min().unwrap_or(0));
        (u64::from(self.shape.data_mapping_units_per_superblock()).saturating_sub(moved), moved)
    }

    /// Returns the number of units that are programmed to store `units` units, including those of parity.
    pub(crate) fn with_parity(&self, units: u64) -> u64 {
        (units * u64::from(self.shape.superpages_per_superblock())).div_ceil(u64::from(self.shape.data_superpages()))
    }

    pub(crate) fn superblock_of(&self, ppn: u64) -> u32 {
        self.shape.superblock_of(ppn)
    }

    /// Returns the map entry of a unit: its place, its slot in the write buffer, or [`NONE`].
    #[inline]
    pub(crate) fn entry(&self, unit: u64) -> u64 {
        self.changes.get(unit).unwrap_or_else(|| self.origin.place_of(&self.shape, unit))
    }

    /// Changes the map entry of a unit, which is valid at no place.
    #[inline]
    pub(crate) fn set_entry(&mut self, unit: u64, entry: u64) {
        self.changes.set(unit, entry);
    }

    /// Returns true if the unit of a place is computed.
    #[inline]
    fn is_computed(&self, ppn: u64) -> bool {
        let (block, at) = self.shape.superblock_and_place(ppn);
        self.computed[block as usize].contains(&at)
    }

    pub(crate) fn is_valid(&self, ppn: u64) -> bool {
        let (block, at) = self.shape.superblock_and_place(ppn);
        if self.computed[block as usize].contains(&at) {
            let unit = self.origin.unit_at(&self.shape, ppn);
            return unit.is_some_and(|unit| self.changes.get(unit).is_none());
        }
        self.valid.is_set(ppn)
    }

    /// Returns the unit that was written last at a place whose unit is not computed.
    pub(crate) fn unit_at(&self, ppn: u64) -> u64 {
        let (block, at) = self.shape.superblock_and_place(ppn);
        self.units[block as usize].get(at as usize)
    }

    /// Returns the valid units of the superpage that begins at place `first`. Bit u stands for unit u of the superpage. The units must have
    /// been stored ([`Self::store_contents_to`]).
    pub(crate) fn valid_units(&self, first: u64) -> u128 {
        let word = |at: u64| u128::from(self.valid.word(at));
        let (at, shift) = (first / 64, first % 64);
        let low = word(at) >> shift | word(at + 1) << (64 - shift);
        let bits = if shift == 0 { low } else { low | word(at + 2) << (128 - shift) };
        bits & (u128::MAX >> (128 - self.shape.mapping_units_per_superpage()))
    }

    /// Prefetches the map entry of `unit`.
    #[inline]
    pub(crate) fn prefetch_map(&self, unit: u64) {
        self.changes.prefetch(unit);
    }

    /// Prefetches the memory that an overwrite of `unit` needs. The map entry must have been prefetched before.
    #[inline]
    pub(crate) fn prefetch_place(&self, unit: u64) {
        // Computed contents have no valid bits.
        if let Some(place) = self.changes.get(unit).filter(|&place| place < BUFFERED) {
            self.valid.prefetch(place);
        }
    }

    /// Records that `unit` is no longer valid at its place `ppn`. Its map entry must change next.
    pub(crate) fn invalidate(&mut self, unit: u64, ppn: u64) {
        let (block, at) = self.shape.superblock_and_place(ppn);
        if self.computed[block as usize].contains(&at) {
            // What has changed is not valid at its first place.
            self.changes.set(unit, NONE);
        } else {
            assert!(self.valid.unset_one(ppn), "only what is valid becomes invalid");
        }
        self.superblocks[block as usize].valid -= 1;
    }

    /// Records that `unit` has been programmed at `ppn`, which is its place from now on.
    pub(crate) fn record_program(&mut self, unit: u64, ppn: u64) {
        let (block, at) = self.shape.superblock_and_place(ppn);
        if self.computed[block as usize].contains(&at) {
            self.store_contents(block);
        }
        assert!(!self.valid.is_set(ppn), "a place takes one unit between two erases");
        assert!(self.superblocks[block as usize].state == State::Open, "only an open superblock takes units");
        self.set_place(unit, ppn, block, at);
    }

    /// Enters the place `ppn` of `unit`, which is place `at` of superblock `block`, into all tables.
    #[inline]
    fn set_place(&mut self, unit: u64, ppn: u64, block: u32, at: u32) {
        self.changes.set(unit, ppn);
        self.superblocks[block as usize].valid += 1;
        self.units[block as usize].set(at as usize, unit);
        self.valid.set(ppn);
    }

    /// Empties the tables of what lies where.
    fn forget_contents(&mut self) {
        self.units.fill(Numbers::zeroed(self.width, 0));
        self.valid = Bits::unset(self.shape.first_place_of(self.shape.superblocks));
    }

    /// Makes sure that a superblock has a table of its units.
    fn make_room_for_units(&mut self, block: u32) {
        let units = &mut self.units[block as usize];
        if units.is_empty() {
            *units = Numbers::zeroed(self.width, self.shape.mapping_units_per_superblock() as usize);
        }
    }

    /// Stores the contents of a superblock as far as they are computed.
    fn store_contents(&mut self, block: u32) {
        self.store_contents_to(self.shape.mapping_units_per_superblock(), block);
    }

    /// Stores the contents of the first `places` places of a superblock, or of more of them, as far as they are computed.
    #[inline]
    pub(crate) fn store_contents_to(&mut self, places: u32, block: u32) {
        let Range { start, end } = self.computed[block as usize];
        if start < places.min(end) {
            // A small superblock is stored as a whole, which leaves out the places without units.
            let until = if end <= STORED_WHOLE_MAX { end } else { places.min(end) };
            self.store_computed(block, start..until);
        }
    }

    #[cold]
    fn store_computed(&mut self, block: u32, places: Range<u32>) {
        self.make_room_for_units(block);
        self.computed[block as usize].start = places.end;
        let first = self.shape.first_place_of(block);
        let mut lay = Vec::with_capacity(places.len());
        let places = first + u64::from(places.start)..first + u64::from(places.end);
        self.origin.for_each_in(&self.shape, places, |unit, place| lay.push((unit, place)));
        for (at, &(unit, place)) in lay.iter().enumerate() {
            if let Some(&(later, _)) = lay.get(at + AHEAD) {
                self.changes.prefetch(later);
            }
            if self.changes.get(unit).is_none() {
                self.units[block as usize].set((place - first) as usize, unit);
                self.valid.set(place);
            }
        }
    }

    /// Records that the program of the data superpage at `first` has begun, or has ended if it takes no time. If this was the last data
    /// superpage of its row, returns the place of the row's parity.
    pub(crate) fn superpage_began(&mut self, first: u64) -> Option<u64> {
        let row = self.shape.row_of(first);
        let parity = self.shape.parity_place(row)?;
        let begun = self.rows_begun.entry(row).or_insert(0);
        *begun += 1;
        if *begun + 1 < self.shape.dies {
            return None;
        }
        self.rows_begun.remove(&row);
        Some(parity)
    }

    /// Records that the program of the superpage at `first` has ended. Its units have been recorded before. Returns true if that seals the
    /// superblock.
    pub(crate) fn superpage_programmed(&mut self, first: u64) -> bool {
        let (block, all) = (self.superblock_of(first), self.shape.superpages_per_superblock());
        let superblock = &mut self.superblocks[block as usize];
        assert!(superblock.state == State::Open && superblock.programmed < all, "a superpage is programmed once, in an open superblock");
        superblock.programmed += 1;
        let is_sealed = superblock.programmed == all;
        if is_sealed {
            superblock.state = State::Sealed;
        }
        is_sealed
    }

    /// Returns true if the place is never used, because its superpage holds only one bit per cell.
    pub(crate) fn stays_empty(&self, ppn: u64) -> bool {
        self.is_slc(ppn) && self.shape.superpage_and_unit(ppn).1 >= self.shape.slc_superpage_units()
    }

    /// Returns true if the unit at a place is stored with one bit per cell.
    pub(crate) fn is_slc(&self, ppn: u64) -> bool {
        self.superblocks[self.superblock_of(ppn) as usize].is_slc
    }

    /// Returns the stream of the units that collection moves out of a superblock.
    pub(crate) fn collection_of(&self, block: u32) -> Stream {
        Stream::Collection(self.superblocks[block as usize].handle)
    }

    /// Returns the placement handle of the superblocks that a stream opens, or 0 if collection mixes handles.
    fn handle_of_superblocks(&self, stream: Stream) -> u8 {
        if self.shape.placement_handles.collection_separates_handles() { stream.handle() } else { 0 }
    }

    /// Returns the number of open superblocks with one bit per cell.
    fn slc_open(&self) -> u32 {
        self.shape.slc_superblock_limit.map_or(0, |_| self.open[self.number_of(Stream::Slc)].len() as u32)
    }

    /// Returns true if some superblocks with one bit per cell are full. They can then be folded: collected into superblocks with all bits
    /// per cell.
    pub(crate) fn holds_slc(&self) -> bool {
        self.slc_in_use > self.slc_open()
    }

    /// Returns the number of superblocks that an idle drive keeps free for data with one bit per cell.
    pub(crate) fn reserved_for_slc(&self) -> u32 {
        match self.shape.slc_superblock_limit {
            Some(SlcSuperblockCountLimit::Superblocks(superblocks)) => superblocks.saturating_sub(self.slc_open()),
            _ => 0,
        }
    }

    /// Marks a sealed superblock as the victim whose units are moved. Returns the number of valid units that it had when it was chosen, be
    /// it before the run.
    pub(crate) fn begin_victim(&mut self, block: u32) -> u32 {
        let superblock = &mut self.superblocks[block as usize];
        assert!(superblock.state == State::Sealed, "only a sealed superblock is collected");
        superblock.state = State::Victim;
        let valid = superblock.valid;
        let begun = self.begun.take_if(|begun| begun.block == block);
        begun.map_or(valid, |begun| begun.valid)
    }

    /// Marks a superblock as free, after all dies have erased it.
    pub(crate) fn erased(&mut self, block: u32) {
        let superblock = &mut self.superblocks[block as usize];
        assert!(superblock.state == State::Victim, "only a superblock whose units were moved is erased");
        assert_eq!(superblock.valid, 0, "all that was valid has been moved");
        self.slc_in_use -= u32::from(superblock.is_slc);
        *superblock = Superblock::free(superblock.erases + 1);
        self.computed[block as usize] = 0..0;
        self.free.push_back(block);
        assert!(self.free.len() <= self.superblocks.len(), "a superblock is free once");
    }

    /// Returns the number of bytes of memory that the tables occupy.
    pub fn memory_bytes(&self) -> u64 {
        let contents = self.units.iter().map(Numbers::memory_bytes).sum::<usize>() + self.valid.memory_bytes();
        let superblocks = self.superblocks.len() * size_of::<Superblock>();
        (self.changes.memory_bytes() + contents + superblocks) as u64
    }

    /// Returns the number of erases of each superblock.
    pub fn erase_counts(&self) -> impl Iterator<Item = u32> + Clone {
        self.superblocks.iter().map(|block| block.erases)
    }

    /// Returns the place on flash of a logical unit (one page or several, `ssd.superblock.unit`). A place holds one unit, and places are
    /// numbered through the whole drive. `None` means that the unit is unmapped or in the write buffer.
    pub fn physical_slot_of_mapping_unit(&self, unit: u64) -> Option<u64> {
        Some(self.entry(unit)).filter(|&place| place < BUFFERED)
    }
}
