//! What lies where: the map in units, superblocks, the places of streams. Knows no time.
//!
//! Four bytes for each exported unit, four and a bit for each unit of the medium.

use super::params::{PlacementHandles, Shape, SlcRoom, SuperblockCollection, Upkeep, UpkeepParams};
use crate::ftl::prefetch;
use crate::rng;
use std::collections::BTreeMap;

/// No unit, no place.
pub(super) const NONE: u32 = u32::MAX;
/// How far ahead entries are brought near.
const AHEAD: usize = 16;
/// Set in a map entry whose unit is in the write buffer.
pub(super) const BUFFERED: u32 = 1 << 31;

/// Where units come from, and what they lie apart from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
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
pub(super) enum State {
    Free,
    /// A stream writes to it, or its last programs are on their way.
    Open,
    Sealed,
    /// Its units are moved, then it is erased.
    Victim,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Superblock {
    pub state: State,
    /// The placement handle of its units, if what is moved stays with its handle; else 0.
    pub handle: u8,
    /// It holds one bit per cell (rule 222).
    pub is_slc: bool,
    pub valid: u32,
    /// Superpages whose programs have ended.
    pub programmed: u32,
    pub erases: u32,
    /// Array reads for the host since it was erased.
    pub reads: u64,
}

/// A superblock that a stream writes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Open {
    pub block: u32,
    /// By die.
    pub next_row: Vec<u32>,
    pub superpages_left: u32,
}

/// The state of a drive that a warm-up leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media {
    pub(super) shape: Shape,
    /// Dies in the order in which superpages go over them when nothing takes time: channels first.
    die_order: Vec<u32>,
    /// By logical unit: the place, the slot in the buffer, or none.
    pub(super) map: Vec<u32>,
    /// By place: the logical unit that was written there last.
    pub(super) units: Vec<u32>,
    pub(super) valid: Vec<u64>,
    pub(super) superblocks: Vec<Superblock>,
    /// In the order in which they became free.
    pub(super) free: std::collections::VecDeque<u32>,
    /// At most two for each stream, the older one first: of the host, of collection, of the host with one bit per cell.
    pub(super) open: Vec<Vec<Open>>,
    /// Superblocks with one bit per cell, until they are erased.
    pub(super) slc_in_use: u32,
    /// With parity: of rows that have begun, counted over all superblocks, how many superpages of data have; rows that are full are not there.
    pub(super) rows_begun: BTreeMap<u32, u32>,
}

impl Open {
    /// A superblock of which nothing is taken.
    fn new(shape: &Shape, block: u32) -> Self {
        let next_row = (0..shape.dies).map(|die| shape.data_row(block, die, 0)).collect();
        Self { block, next_row, superpages_left: shape.data_superpages() }
    }
}

impl Media {
    /// A drive all of whose exported units are mapped in order, or with `fresh` none.
    pub(super) fn new(shape: Shape, die_order: &[u32], fresh: bool) -> Self {
        let places = shape.units() as usize;
        let empty = Superblock { state: State::Free, handle: 0, is_slc: false, valid: 0, programmed: 0, erases: 0, reads: 0 };
        let mut media = Self {
            shape,
            die_order: die_order.to_vec(),
            map: vec![NONE; shape.exported_units as usize],
            units: vec![NONE; places],
            valid: vec![0; places.div_ceil(64)],
            superblocks: vec![empty; shape.superblocks as usize],
            free: (0..shape.superblocks).collect(),
            open: vec![Vec::new(); shape.streams() as usize],
            slc_in_use: 0,
            rows_begun: BTreeMap::new(),
        };
        if !fresh {
            let mut writer = UntimedWriter::new(Stream::Host(0));
            (0..shape.exported_units).for_each(|unit| writer.put(&mut media, unit));
            writer.close(&mut media);
        }
        media
    }

    /// Begins anew, with nothing but the fill, or not even that.
    pub fn refill(&mut self, fresh: bool) {
        *self = Self::new(self.shape, &std::mem::take(&mut self.die_order), fresh);
    }

    pub(super) fn free(&self) -> u32 {
        self.free.len() as u32
    }

    pub(super) fn superblock_of(&self, ppn: u32) -> u32 {
        ppn / self.shape.superblock_units()
    }

    pub(super) fn is_valid(&self, ppn: u32) -> bool {
        self.valid[ppn as usize / 64] >> (ppn % 64) & 1 == 1
    }

    pub(super) fn unit_at(&self, ppn: u32) -> u32 {
        self.units[ppn as usize]
    }

    /// The valid units of the superpage that begins at `first`, as bits.
    pub(super) fn valid_units(&self, first: u32) -> u128 {
        let word = |at: u32| self.valid.get(at as usize).copied().map_or(0, u128::from);
        let (at, shift) = (first / 64, first % 64);
        let low = word(at) >> shift | word(at + 1) << (64 - shift);
        let bits = if shift == 0 { low } else { low | word(at + 2) << (128 - shift) };
        bits & (u128::MAX >> (128 - self.shape.superpage_units()))
    }

    pub(super) fn invalidate(&mut self, ppn: u32) {
        debug_assert!(self.is_valid(ppn), "only what is valid becomes invalid");
        self.valid[ppn as usize / 64] &= !(1 << (ppn % 64));
        let block = self.superblock_of(ppn);
        self.superblocks[block as usize].valid -= 1;
    }

    /// `unit` has been programmed at `ppn` and is there from now on.
    pub(super) fn settle(&mut self, unit: u32, ppn: u32) {
        self.map[unit as usize] = ppn;
        self.units[ppn as usize] = unit;
        self.valid[ppn as usize / 64] |= 1 << (ppn % 64);
        let block = self.superblock_of(ppn);
        self.superblocks[block as usize].valid += 1;
    }

    /// The program of the superpage of data at `first` has begun, or has ended if it takes no time. If it is the last of its row, says where
    /// the parity of that goes.
    pub(super) fn row_is_full(&mut self, first: u32) -> Option<u32> {
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
    pub(super) fn superpage_programmed(&mut self, first: u32) -> bool {
        let (block, all) = (self.superblock_of(first), self.shape.superpages());
        let superblock = &mut self.superblocks[block as usize];
        superblock.programmed += 1;
        let is_sealed = superblock.programmed == all;
        if is_sealed {
            superblock.state = State::Sealed;
        }
        is_sealed
    }

    /// The number of a stream in `open`.
    pub(super) fn number_of(&self, stream: Stream) -> usize {
        match stream {
            Stream::Host(handle) => usize::from(handle),
            Stream::Collection(handle) => self.shape.placement.handles as usize + usize::from(handle),
            Stream::Slc => self.shape.placement.streams() as usize,
        }
    }

    /// Units that a superpage of the stream takes.
    pub(super) fn superpage_units(&self, stream: Stream) -> u32 {
        if stream == Stream::Slc { self.shape.slc_superpage_units() } else { self.shape.superpage_units() }
    }

    /// The stream of the host's next superpage with that handle, `promised` superpages with one bit per cell having no place yet (rule 222).
    pub(super) fn stream_of_host(&self, handle: u8, promised: u32, target: u32) -> Stream {
        let Some(room) = self.shape.slc else { return Stream::Host(handle) };
        let left: u32 = self.open[self.number_of(Stream::Slc)].iter().map(|open| open.superpages_left).sum();
        let more = room.superblocks_max(self.free(), self.slc_in_use, target).saturating_sub(self.slc_in_use);
        let has_room = u64::from(promised) < u64::from(left) + u64::from(more) * u64::from(self.shape.data_superpages());
        if has_room { Stream::Slc } else { Stream::Host(handle) }
    }

    /// Whether a place is one that a superpage with one bit per cell has no unit for.
    pub(super) fn stays_empty(&self, ppn: u32) -> bool {
        self.is_slc(ppn) && ppn % self.shape.superpage_units() >= self.shape.slc_superpage_units()
    }

    /// Whether the unit at a place is one of one bit per cell.
    pub(super) fn is_slc(&self, ppn: u32) -> bool {
        self.superblocks[self.superblock_of(ppn) as usize].is_slc
    }

    /// The stream of what collection moves out of a superblock.
    pub(super) fn collection_of(&self, block: u32) -> Stream {
        Stream::Collection(self.superblocks[block as usize].handle)
    }

    /// Whether a superpage of the stream may go to that die.
    pub(super) fn has_room(&self, stream: Stream, die: u32) -> bool {
        let open = &self.open[self.number_of(stream)];
        let rows = self.shape.rows;
        let has_row = |&block: &u32| self.shape.data_row(block, die, 0) < rows;
        (open.len() < 2 && self.free.front().is_some_and(has_row)) || open.iter().any(|open| open.next_row[die as usize] < rows)
    }

    /// Rows that the die has left in the superblocks that are open for the stream.
    pub(super) fn rows_left(&self, stream: Stream, die: u32) -> u32 {
        self.open[self.number_of(stream)].iter().map(|open| self.shape.data_rows(open.block, die, open.next_row[die as usize])).sum()
    }

    /// The place of a superpage of the stream on that die, which has room.
    pub(super) fn take_place(&mut self, stream: Stream, die: u32) -> u32 {
        let Shape { dies, rows, .. } = self.shape;
        let handle = if self.shape.placement.is_persistent { stream.handle() } else { 0 };
        let number = self.number_of(stream);
        let list = &mut self.open[number];
        let at = list.iter().position(|open| open.next_row[die as usize] < rows).unwrap_or_else(|| {
            let block = self.free.pop_front().expect("the die has room");
            let superblock = &mut self.superblocks[block as usize];
            (superblock.state, superblock.handle, superblock.is_slc) = (State::Open, handle, stream == Stream::Slc);
            self.slc_in_use += u32::from(superblock.is_slc);
            list.push(Open::new(&self.shape, block));
            list.len() - 1
        });
        let open = &mut list[at];
        let row = open.next_row[die as usize];
        open.next_row[die as usize] = self.shape.data_row(open.block, die, row + 1);
        open.superpages_left -= 1;
        let first = ((open.block * rows + row) * dies + die) * self.shape.superpage_units();
        if open.superpages_left == 0 {
            list.remove(at);
        }
        first
    }

    /// The sealed superblock with fewest valid units, among equals the one with the highest number, if it is worth it (rules 13 and 206).
    pub(super) fn victim(&self) -> Option<u32> {
        let sealed = self.superblocks.iter().enumerate().filter(|(_, block)| block.state == State::Sealed);
        let (block, chosen) = sealed.min_by_key(|&(number, block)| (block.valid, std::cmp::Reverse(number)))?;
        self.shape.is_useful(chosen.valid).then_some(block as u32)
    }

    /// The sealed superblock with one bit per cell that has fewest valid units, chosen in the same way: it is to be folded.
    pub(super) fn folding_victim(&self) -> Option<u32> {
        self.shape.slc?;
        let sealed = self.superblocks.iter().enumerate().filter(|(_, block)| block.state == State::Sealed && block.is_slc);
        sealed.min_by_key(|&(number, block)| (block.valid, std::cmp::Reverse(number))).map(|(block, _)| block as u32)
    }

    /// The sealed superblock that is moved for its own sake, if one is: the most read one, or with `may_level` the least erased one, among equals
    /// the one with the highest number (rule 223).
    pub(super) fn overdue(&self, upkeep: &UpkeepParams, may_level: bool) -> Option<(u32, Upkeep)> {
        let sealed = || self.superblocks.iter().enumerate().filter(|(_, block)| block.state == State::Sealed);
        if let Some(reads) = upkeep.refresh_reads
            && let Some((block, most)) = sealed().max_by_key(|&(number, block)| (block.reads, number))
            && most.reads >= reads
        {
            return Some((block as u32, Upkeep::Refresh));
        }
        let difference = upkeep.wear_difference.filter(|_| may_level)?;
        let (block, least) = sealed().min_by_key(|&(number, block)| (block.erases, std::cmp::Reverse(number)))?;
        let most = self.superblocks.iter().map(|block| block.erases).max()?;
        (most - least.erases >= difference).then_some((block as u32, Upkeep::Wear))
    }

    /// Superblocks with one bit per cell that take units.
    fn slc_open(&self) -> u32 {
        self.shape.slc.map_or(0, |_| self.open[self.number_of(Stream::Slc)].len() as u32)
    }

    /// Whether there are others, which take no more.
    pub(super) fn holds_slc(&self) -> bool {
        self.slc_in_use > self.slc_open()
    }

    /// Superblocks that are set aside to hold one bit per cell and that are to be free when the drive has been idle.
    pub(super) fn set_aside(&self) -> u32 {
        match self.shape.slc {
            Some(SlcRoom::Superblocks(superblocks)) => superblocks.saturating_sub(self.slc_open()),
            _ => 0,
        }
    }

    pub(super) fn begin_victim(&mut self, block: u32) {
        self.superblocks[block as usize].state = State::Victim;
    }

    /// All dies have erased the superblock.
    pub(super) fn erased(&mut self, block: u32) {
        let superblock = &mut self.superblocks[block as usize];
        debug_assert_eq!(superblock.valid, 0, "all that was valid has been moved");
        self.slc_in_use -= u32::from(superblock.is_slc);
        let erases = superblock.erases + 1;
        *superblock = Superblock { state: State::Free, handle: 0, is_slc: false, valid: 0, programmed: 0, erases, reads: 0 };
        self.free.push_back(block);
    }

    /// Moves the valid units of a victim by `writer` and erases it, in no time; says how many were moved.
    pub(super) fn collect_untimed(&mut self, block: u32, writer: &mut UntimedWriter) -> u32 {
        self.begin_victim(block);
        let units = self.shape.superblock_units();
        let mut moved = 0;
        for ppn in block * units..(block + 1) * units {
            if self.is_valid(ppn) {
                let unit = self.unit_at(ppn);
                self.invalidate(ppn);
                writer.put(self, unit);
                moved += 1;
            }
        }
        self.erased(block);
        moved
    }

    /// Overwrites at random, `overwrites` × the exported units, collecting with `target` free superblocks or fewer before the host opens
    /// another (rule 215); ended when `go_on` says no.
    pub(super) fn warm_up(
        &mut self,
        overwrites: f64,
        stream: &mut rng::Stream,
        collection: &SuperblockCollection,
        go_on: &mut dyn FnMut(f64) -> bool,
    ) -> bool {
        let exported = u64::from(self.shape.exported_units);
        let writes = (overwrites * exported as f64) as u64;
        let mut writers = Warming::new(self.shape.placement);
        for done in 0..writes {
            if done % (1 << 14) == 0 && !go_on(done as f64 / writes as f64) {
                return false;
            }
            writers.write(self, rng::below(stream, exported) as u32, 0, collection);
        }
        writers.close(self);
        go_on(1.0)
    }

    /// The steady state of uniform random writes in one pass: superblocks of all ages, each with as many valid units as its age leaves of it
    /// (rule 215). With `target` superblocks free, and one more for each stream; ended when `go_on` says no.
    pub(super) fn settle_down(&mut self, stream: &mut rng::Stream, target: u32, go_on: &mut dyn FnMut(f64) -> bool) -> bool {
        let Shape { superblocks, exported_units, .. } = self.shape;
        let (sealed, per_block) = (superblocks - target - self.shape.streams(), self.shape.superblock_units());
        self.refill(true);
        let mut order: Vec<u32> = (0..exported_units).collect();
        let (mut drawn, mut taken) = (0, Vec::new());
        for (block, valid) in valid_by_age(sealed, self.shape.data_units(), exported_units).into_iter().enumerate() {
            if !go_on(block as f64 / f64::from(sealed)) {
                return false;
            }
            let block = self.free.pop_front().expect("all are free");
            let programmed = self.shape.superpages();
            self.superblocks[block as usize] =
                Superblock { state: State::Sealed, handle: 0, is_slc: false, valid: 0, programmed, erases: 0, reads: 0 };
            // The numbers are drawn first: then what they lead to can be brought near before it is used.
            taken.clear();
            let (mut left, mut places_left) = (valid, self.shape.data_units());
            for place in block * per_block..(block + 1) * per_block {
                if self.shape.is_parity(place) {
                    continue;
                }
                places_left -= 1;
                if rng::below(stream, u64::from(places_left + 1)) < u64::from(left) {
                    let at = drawn + valid - left;
                    taken.push((place, at + rng::below(stream, u64::from(exported_units - at)) as u32));
                    left -= 1;
                }
            }
            for (at, &(_, other)) in taken.iter().enumerate() {
                if let Some(&(_, later)) = taken.get(at + AHEAD) {
                    prefetch(&order, later as usize);
                }
                order.swap(drawn as usize + at, other as usize);
            }
            let units = &order[drawn as usize..][..taken.len()];
            for (at, (&unit, &(place, _))) in units.iter().zip(&taken).enumerate() {
                if let Some(&later) = units.get(at + AHEAD) {
                    prefetch(&self.map, later as usize);
                }
                self.settle(unit, place);
            }
            drawn += taken.len() as u32;
        }
        debug_assert_eq!(drawn, exported_units);
        go_on(1.0)
    }

    /// Bytes that the tables need.
    pub fn resident_bytes(&self) -> u64 {
        (self.map.len() * 4 + self.units.len() * 4 + self.valid.len() * 8 + self.superblocks.len() * 16) as u64
    }

    /// Erases of each superblock.
    pub fn erase_counts(&self) -> impl Iterator<Item = u32> + Clone {
        self.superblocks.iter().map(|block| block.erases)
    }

    /// Where a unit lies; `None` if it is unmapped or in the buffer.
    pub fn location(&self, unit: u32) -> Option<u32> {
        Some(self.map[unit as usize]).filter(|place| place & BUFFERED == 0)
    }

    /// Verifies the whole state.
    pub(super) fn verify(&self) -> Result<(), String> {
        let per_block = self.shape.superblock_units();
        let mut counted = vec![0; self.superblocks.len()];
        for (unit, &place) in self.map.iter().enumerate() {
            if place & BUFFERED != 0 {
                continue;
            }
            if !self.is_valid(place) || self.unit_at(place) as usize != unit {
                return Err(format!("unit {unit} is mapped to place {place}, which does not hold it"));
            }
            if self.shape.is_parity(place) {
                return Err(format!("unit {unit} lies where parity is"));
            }
            if self.stays_empty(place) {
                return Err(format!("unit {unit} lies beyond the first bit of a cell that holds one"));
            }
            counted[(place / per_block) as usize] += 1;
        }
        let valid: u32 = self.valid.iter().map(|word| word.count_ones()).sum();
        if valid != counted.iter().sum::<u32>() {
            return Err("a place is valid that nothing is mapped to".to_owned());
        }
        for (block, (superblock, counted)) in self.superblocks.iter().zip(counted).enumerate() {
            if superblock.valid != counted {
                return Err(format!("superblock {block} counts {} valid units, but holds {counted}", superblock.valid));
            }
            let is_open_for = |stream: Stream| self.open[self.number_of(stream)].iter().any(|open| open.block as usize == block);
            let handles = 0..self.shape.placement.handles as u8;
            let collections = 0..self.shape.placement.collections() as u8;
            let slc = self.shape.slc.map(|_| Stream::Slc);
            let of = handles.map(Stream::Host).chain(collections.map(Stream::Collection)).chain(slc).find(|&stream| is_open_for(stream));
            if self.shape.placement.is_persistent && of.is_some_and(|stream| stream.handle() != superblock.handle) {
                return Err(format!("superblock {block} is open for another placement handle than its own"));
            }
            if superblock.state == State::Free && (superblock.valid > 0 || superblock.is_slc) {
                return Err(format!("superblock {block} is free and holds {} units", superblock.valid));
            }
            if superblock.state == State::Open && of.is_some_and(|stream| (stream == Stream::Slc) != superblock.is_slc) {
                return Err(format!("superblock {block} is open for other bits per cell than its own"));
            }
        }
        if self.slc_in_use != self.superblocks.iter().map(|superblock| u32::from(superblock.is_slc)).sum::<u32>() {
            return Err("superblocks with one bit per cell are counted wrongly".to_owned());
        }
        Ok(())
    }
}

/// Valid units of superblocks, the youngest first, together `exported`: with one written after the other and uniform overwriting, of one that is
/// older by a share a of the oldest's age e^(−λa) are left.
fn valid_by_age(superblocks: u32, per_block: u32, exported: u32) -> Vec<u32> {
    let left = |lambda: f64, block: u32| f64::from(per_block) * libm::exp(-lambda * (f64::from(block) + 0.5) / f64::from(superblocks));
    let all = |lambda: f64| (0..superblocks).map(|block| left(lambda, block)).sum::<f64>();
    let (mut low, mut high) = (0.0, 1000.0);
    for _ in 0..64 {
        let middle = (low + high) / 2.0;
        if all(middle) > f64::from(exported) { low = middle } else { high = middle }
    }
    let (mut sum, mut given) = (0.0, 0);
    let share = |block| {
        sum += left(high, block);
        let until = if block + 1 == superblocks { exported } else { (sum + 0.5) as u32 };
        until - std::mem::replace(&mut given, until)
    };
    (0..superblocks).map(share).collect()
}

/// Writes units of a stream without time: superpage by superpage, over the dies, channels first, as one that takes time would find idle dies.
#[derive(Debug, Clone)]
pub(super) struct UntimedWriter {
    stream: Stream,
    first: u32,
    filled: u32,
    /// Position in the order of dies at which the next search begins.
    next_die: usize,
    /// Superpages of parity written.
    parity_superpages: u64,
}

impl UntimedWriter {
    pub fn new(stream: Stream) -> Self {
        Self { stream, first: 0, filled: 0, next_die: 0, parity_superpages: 0 }
    }

    pub fn put(&mut self, media: &mut Media, unit: u32) {
        if self.filled == 0 {
            self.begin(media);
        }
        media.settle(unit, self.first + self.filled);
        self.filled += 1;
        if self.filled == media.superpage_units(self.stream) {
            self.close(media);
        }
    }

    /// The first die in order that has room; there is one.
    fn begin(&mut self, media: &mut Media) {
        let dies = media.die_order.len();
        let mut positions = (self.next_die..dies).chain(0..self.next_die);
        let at = positions.find(|&at| media.has_room(self.stream, media.die_order[at])).expect("a die has room");
        // In turn over the dies, so that rows fill evenly.
        self.next_die = (at + 1) % dies;
        self.first = media.take_place(self.stream, media.die_order[at]);
    }

    /// What the open superpage has no units for stays empty.
    pub fn close(&mut self, media: &mut Media) {
        if self.filled > 0 {
            media.superpage_programmed(self.first);
            if let Some(parity) = media.row_is_full(self.first) {
                media.superpage_programmed(parity);
                self.parity_superpages += 1;
            }
            self.filled = 0;
        }
    }
}

/// All streams without time.
#[derive(Debug, Clone)]
pub(super) struct Warming {
    /// By handle.
    host: Vec<UntimedWriter>,
    /// By handle, or one of all.
    collection: Vec<UntimedWriter>,
}

impl Warming {
    pub fn new(placement: PlacementHandles) -> Self {
        let writers = |count: u32, stream: fn(u8) -> Stream| (0..count).map(|of| UntimedWriter::new(stream(of as u8))).collect();
        Self { host: writers(placement.handles, Stream::Host), collection: writers(placement.collections(), Stream::Collection) }
    }

    /// One write of the host.
    pub fn write(&mut self, media: &mut Media, unit: u32, handle: u8, collection: &SuperblockCollection) {
        if self.host[usize::from(handle)].filled == 0 {
            self.collect(media, collection.target);
            self.host[usize::from(handle)].stream = media.stream_of_host(handle, 0, collection.target);
        }
        if let Some(place) = media.location(unit) {
            media.invalidate(place);
        }
        self.host[usize::from(handle)].put(media, unit);
    }

    /// Collects a victim as a whole; says how many units were moved. The next one's follow in the superpage of its last units.
    pub fn collect_one(&mut self, media: &mut Media, victim: u32) -> u32 {
        let stream = media.collection_of(victim);
        media.collect_untimed(victim, &mut self.collection[usize::from(stream.handle())])
    }

    /// Superpages of parity that collection has written for that stream.
    pub fn parity_superpages_moved(&self, stream: Stream) -> u64 {
        self.collection[usize::from(stream.handle())].parity_superpages
    }

    /// Collects until more than `target` superblocks are free, or none is worth it.
    fn collect(&mut self, media: &mut Media, target: u32) {
        while media.free() <= target
            && let Some(victim) = media.victim()
        {
            self.collect_one(media, victim);
        }
    }

    pub fn close(&mut self, media: &mut Media) {
        self.host.iter_mut().chain(&mut self.collection).for_each(|writer| writer.close(media));
    }
}
