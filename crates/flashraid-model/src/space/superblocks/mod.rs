//! The mapping of an SSD with superblocks: the map in units, what superblocks hold, the places of streams. It knows no time.
//!
//! ```text
//!  unit ──map──▶ place ──units──▶ unit        a superblock lies on all dies: rows of superpages, one a die
//!                  │                          free → open (a stream writes) → sealed → victim (its units are moved) → free
//!                  └─▶ superblock: valid units, superpages programmed, erases
//! ```
//!
//! Four bytes for each exported unit, four and a bit for each unit of the medium.

mod invariants;
mod open;
mod shape;
mod state;
mod victims;
mod warm_up;

use super::victim::VictimPolicy;
use crate::rng;
pub use shape::{Place, PlacementHandles, SUPERPAGE_UNITS_MAX, Shape, SlcRoom};
use std::collections::{BTreeMap, VecDeque};
pub(crate) use victims::Upkeep;
pub use victims::UpkeepParams;
use warm_up::Warming;

/// No unit, no place.
pub(crate) const NONE: u32 = u32::MAX;
/// Set in a map entry whose unit is in the write buffer.
pub(crate) const BUFFERED: u32 = 1 << 31;

/// Where units come from, and what they lie apart from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// The host, with this placement handle.
    Host(u8),
    /// The host, into superblocks with one bit per cell.
    Slc,
    /// Collection: of this handle if what it moves stays with it, else of all, as 0.
    Collection(u8),
}

impl Default for Stream {
    fn default() -> Self {
        Self::Host(0)
    }
}

impl Stream {
    pub fn is_host(self) -> bool {
        matches!(self, Self::Host(_) | Self::Slc)
    }

    /// The handle, or 0 for what collection moves of all.
    pub fn handle(self) -> u8 {
        match self {
            Self::Host(handle) | Self::Collection(handle) => handle,
            Self::Slc => 0,
        }
    }
}

/// What becomes of a superblock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Free,
    /// A stream writes to it, or its last programs are on their way.
    Open,
    Sealed,
    /// Its units are moved, then it is erased.
    Victim,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Superblock {
    pub state: State,
    /// The placement handle of its units, if what is moved stays with its handle; else 0.
    pub handle: u8,
    /// It holds one bit per cell (rule 222).
    pub is_slc: bool,
    pub valid: u32,
    /// Superpages whose programs have ended.
    pub programmed: u32,
    pub erases: u32,
    /// The number that it got when it was opened, from the drive's count; 0 if it is free.
    pub sequence: u32,
    /// Array reads for the host since it was erased.
    pub reads: u64,
}

const _: () = assert!(size_of::<Superblock>() <= 32, "every write of a unit touches one");

impl Superblock {
    /// One that is free after so many erases.
    fn free(erases: u32) -> Self {
        Self { state: State::Free, handle: 0, is_slc: false, valid: 0, programmed: 0, erases, sequence: 0, reads: 0 }
    }
}

/// A superblock that a stream writes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Open {
    pub block: u32,
    /// By die.
    pub next_row: Vec<u32>,
    pub superpages_left: u32,
}

/// The parameters of the mapping: everything that its state depends on beside what is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SuperblocksParams {
    /// Superpages and superblocks.
    pub shape: Shape,
    /// Dies that share a channel; at least 1. Superpages go over the channels first.
    pub dies_per_channel: u32,
    /// Free superblocks that collection aims at; with no more, what is written without time collects first.
    pub target_free_superblocks: u32,
    /// Which superblock is collected.
    pub victim: VictimPolicy,
    /// Nothing is mapped at the start: no fill.
    pub fresh: bool,
}

/// The mapping of one SSD with superblocks.
#[derive(Debug, Clone, PartialEq)]
pub struct Superblocks {
    pub(crate) shape: Shape,
    /// Dies in the order in which superpages go over them when nothing takes time: channels first.
    pub(crate) die_order: Vec<u32>,
    target_free_superblocks: u32,
    victim: VictimPolicy,
    /// The stream of a victim policy that draws; empty for the others.
    streams: Vec<rng::Stream>,
    /// Superblocks that have been opened.
    sequence: u32,
    /// By logical unit: the place, the slot in the buffer, or none.
    pub(crate) map: Vec<u32>,
    /// By place: the logical unit that was written there last.
    units: Vec<u32>,
    valid: Vec<u64>,
    pub(crate) superblocks: Vec<Superblock>,
    /// In the order in which they became free.
    free: VecDeque<u32>,
    /// At most two for each stream, the older one first: of the host, of collection, of the host with one bit per cell.
    open: Vec<Vec<Open>>,
    /// Superblocks with one bit per cell, until they are erased.
    pub(crate) slc_in_use: u32,
    /// With parity: of rows that have begun, counted over all superblocks, how many superpages of data have; rows that are full are not there.
    rows_begun: BTreeMap<u32, u32>,
    /// What is written without time, and goes on from write to write.
    untimed: Warming,
}

impl Open {
    /// A superblock of which nothing is taken.
    fn new(shape: &Shape, block: u32) -> Self {
        let next_row = (0..shape.dies).map(|die| shape.data_row(block, die, 0)).collect();
        Self { block, next_row, superpages_left: shape.data_superpages() }
    }
}

impl Superblocks {
    /// Makes a drive all of whose exported units are mapped in order, or with `fresh` none.
    ///
    /// `member` and `seed` name the random stream of the victim policies that draw.
    pub fn filled(params: &SuperblocksParams, seed: u64, member: u32) -> Self {
        let SuperblocksParams { shape, dies_per_channel, target_free_superblocks, victim, fresh } = *params;
        let channels = shape.dies.div_ceil(dies_per_channel);
        let in_order = (0..dies_per_channel).flat_map(|of| (0..channels).map(move |channel| channel * dies_per_channel + of));
        let places = shape.units() as usize;
        let mut filled = Self {
            shape,
            die_order: in_order.filter(|&die| die < shape.dies).collect(),
            target_free_superblocks,
            victim,
            streams: if victim.draws() { vec![rng::stream(seed, "victim", u64::from(member) << 32)] } else { Vec::new() },
            sequence: 0,
            map: vec![NONE; shape.exported_units as usize],
            units: vec![NONE; places],
            valid: vec![0; places.div_ceil(64)],
            superblocks: vec![Superblock::free(0); shape.superblocks as usize],
            free: (0..shape.superblocks).collect(),
            open: vec![Vec::new(); shape.streams() as usize],
            slc_in_use: 0,
            rows_begun: BTreeMap::new(),
            untimed: Warming::new(shape.placement),
        };
        if !fresh {
            filled.fill();
        }
        filled
    }

    /// Returns the number of free superblocks.
    #[inline]
    pub(crate) fn free(&self) -> u32 {
        self.free.len() as u32
    }

    pub(crate) fn superblock_of(&self, ppn: u32) -> u32 {
        ppn / self.shape.superblock_units()
    }

    pub(crate) fn is_valid(&self, ppn: u32) -> bool {
        self.valid[ppn as usize / 64] >> (ppn % 64) & 1 == 1
    }

    pub(crate) fn unit_at(&self, ppn: u32) -> u32 {
        self.units[ppn as usize]
    }

    /// The valid units of the superpage that begins at `first`, as bits.
    pub(crate) fn valid_units(&self, first: u32) -> u128 {
        let word = |at: u32| self.valid.get(at as usize).copied().map_or(0, u128::from);
        let (at, shift) = (first / 64, first % 64);
        let low = word(at) >> shift | word(at + 1) << (64 - shift);
        let bits = if shift == 0 { low } else { low | word(at + 2) << (128 - shift) };
        bits & (u128::MAX >> (128 - self.shape.superpage_units()))
    }

    pub(crate) fn invalidate(&mut self, ppn: u32) {
        assert!(self.is_valid(ppn), "only what is valid becomes invalid");
        self.valid[ppn as usize / 64] &= !(1 << (ppn % 64));
        let block = self.superblock_of(ppn);
        self.superblocks[block as usize].valid -= 1;
    }

    /// `unit` has been programmed at `ppn` and is there from now on.
    pub(crate) fn settle(&mut self, unit: u32, ppn: u32) {
        assert!(!self.is_valid(ppn), "a place takes one unit between two erases");
        let block = self.superblock_of(ppn);
        assert!(self.superblocks[block as usize].state == State::Open, "only an open superblock takes units");
        self.put_at(unit, ppn);
    }

    /// Says in all tables that `unit` lies at `ppn`.
    fn put_at(&mut self, unit: u32, ppn: u32) {
        self.map[unit as usize] = ppn;
        self.units[ppn as usize] = unit;
        self.valid[ppn as usize / 64] |= 1 << (ppn % 64);
        let block = self.superblock_of(ppn);
        self.superblocks[block as usize].valid += 1;
    }

    /// The program of the superpage of data at `first` has begun, or has ended if it takes no time. If it is the last of its row, says where
    /// the parity of that goes.
    pub(crate) fn row_is_full(&mut self, first: u32) -> Option<u32> {
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

    /// The program of the superpage at `first` has ended; its units have been settled. Says whether the superblock is sealed by it.
    pub(crate) fn superpage_programmed(&mut self, first: u32) -> bool {
        let (block, all) = (self.superblock_of(first), self.shape.superpages());
        let superblock = &mut self.superblocks[block as usize];
        assert!(superblock.state == State::Open && superblock.programmed < all, "a superpage is programmed once, in an open superblock");
        superblock.programmed += 1;
        let is_sealed = superblock.programmed == all;
        if is_sealed {
            superblock.state = State::Sealed;
        }
        is_sealed
    }

    /// Whether a place is one that a superpage with one bit per cell has no unit for.
    pub(crate) fn stays_empty(&self, ppn: u32) -> bool {
        self.is_slc(ppn) && ppn % self.shape.superpage_units() >= self.shape.slc_superpage_units()
    }

    /// Whether the unit at a place is one of one bit per cell.
    pub(crate) fn is_slc(&self, ppn: u32) -> bool {
        self.superblocks[self.superblock_of(ppn) as usize].is_slc
    }

    /// The stream of what collection moves out of a superblock.
    pub(crate) fn collection_of(&self, block: u32) -> Stream {
        Stream::Collection(self.superblocks[block as usize].handle)
    }

    /// Superblocks with one bit per cell that take units.
    fn slc_open(&self) -> u32 {
        self.shape.slc.map_or(0, |_| self.open[self.number_of(Stream::Slc)].len() as u32)
    }

    /// Whether there are others, which take no more.
    pub(crate) fn holds_slc(&self) -> bool {
        self.slc_in_use > self.slc_open()
    }

    /// Superblocks that are set aside to hold one bit per cell and that are to be free when the drive has been idle.
    pub(crate) fn set_aside(&self) -> u32 {
        match self.shape.slc {
            Some(SlcRoom::Superblocks(superblocks)) => superblocks.saturating_sub(self.slc_open()),
            _ => 0,
        }
    }

    /// The units of the superblock begin to be moved.
    pub(crate) fn begin_victim(&mut self, block: u32) {
        let superblock = &mut self.superblocks[block as usize];
        assert!(superblock.state == State::Sealed, "only a sealed superblock is collected");
        superblock.state = State::Victim;
    }

    /// All dies have erased the superblock.
    pub(crate) fn erased(&mut self, block: u32) {
        let superblock = &mut self.superblocks[block as usize];
        assert!(superblock.state == State::Victim, "only a superblock whose units were moved is erased");
        assert_eq!(superblock.valid, 0, "all that was valid has been moved");
        self.slc_in_use -= u32::from(superblock.is_slc);
        *superblock = Superblock::free(superblock.erases + 1);
        self.free.push_back(block);
        assert!(self.free.len() <= self.superblocks.len(), "a superblock is free once");
    }

    /// Bytes that the tables need.
    pub fn resident_bytes(&self) -> u64 {
        let superblocks = self.superblocks.len() * size_of::<Superblock>();
        (self.map.len() * 4 + self.units.len() * 4 + self.valid.len() * 8 + superblocks) as u64
    }

    /// Erases of each superblock.
    pub fn erase_counts(&self) -> impl Iterator<Item = u32> + Clone {
        self.superblocks.iter().map(|block| block.erases)
    }

    /// Where a unit lies; `None` if it is unmapped or in the buffer.
    pub fn location(&self, unit: u32) -> Option<u32> {
        Some(self.map[unit as usize]).filter(|place| place & BUFFERED == 0)
    }
}
