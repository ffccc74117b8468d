//! The state of superblocks as bytes and back, so that the time of a warm-up is spent only once.
//!
//! The map is packed, followed by a few numbers per superblock. Reads are counted from the start of the run. [`SuperblockMapping::load`]
//! accepts any bytes, and a state that it does not refuse is consistent.
//!
//! ```text
//!  map: a place per unit, packed │ superblocks opened │ erases and number per superblock │ free: how many, which │
//!  by stream: how many open, then block and rows by die │ if what is moved stays with its placement handle: a handle per superblock │
//!  with SLC: per superblock, whether it holds one bit per cell │ a victim that was begun, and its valid units when it was chosen │
//!  the random stream of the victim policy, if it draws
//! ```

use super::open::parity_written;
use super::{BegunVictim, Changes, NONE, Open, Origin, State, Stream, Superblock, SuperblockMapping};
use crate::space::codec::{Packer, Reader, STREAM_BYTES_MAX, Unpacker, bits_for, packed_bytes, put_streams, put_words};

/// Word of a saved state that stands for no superblock.
const NOTHING: u32 = u32::MAX;

impl SuperblockMapping {
    /// Encodes the present state of the superblocks as bytes, from which [`SuperblockMapping::load`] restores it. The write buffer must be
    /// empty, and no operation may be in progress.
    pub fn save(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.saved_state_bytes_max() as usize);
        let unmapped = self.shape.physical_mapping_units_per_drive();
        let mut packer = Packer::new(&mut out, self.bits_of_map());
        for unit in 0..self.shape.exported_mapping_units {
            let place = self.entry(unit);
            packer.put(if place == NONE { unmapped } else { place });
        }
        packer.end();
        put_words(&mut out, [self.sequence]);
        put_words(&mut out, self.superblocks.iter().flat_map(|superblock| [superblock.erases, superblock.sequence]));
        put_words(&mut out, [self.free()]);
        put_words(&mut out, self.free.iter().copied());
        for open in &self.open {
            put_words(&mut out, [open.len() as u32]);
            for open in open {
                put_words(&mut out, [open.block]);
                put_words(&mut out, open.next_row.iter().copied());
            }
        }
        if self.shape.placement_handles.collection_separates_handles() {
            put_words(&mut out, self.superblocks.iter().map(|superblock| u32::from(superblock.handle)));
        }
        if self.shape.slc_superblock_limit.is_some() {
            put_words(&mut out, self.superblocks.iter().map(|superblock| u32::from(superblock.is_slc)));
        }
        put_words(&mut out, self.begun.map_or([NOTHING, 0], |begun| [begun.block, begun.valid]));
        put_streams(&mut out, &self.streams);
        out
    }

    /// Returns the number of bits of an entry in the packed map. It must hold the number of a place, or one number more for a unit without
    /// data.
    fn bits_of_map(&self) -> u32 {
        bits_for(self.shape.physical_mapping_units_per_drive())
    }

    fn packed_map_bytes(&self) -> usize {
        packed_bytes(self.shape.exported_mapping_units as usize, self.bits_of_map())
    }

    /// Returns the maximum number of bytes that [`SuperblockMapping::save`] can return.
    pub fn saved_state_bytes_max(&self) -> u64 {
        let placement = self.shape.placement_handles;
        let open = u64::from(self.shape.streams()) * (1 + 2 * (1 + u64::from(self.shape.dies)));
        let by_superblock = 3 + u64::from(placement.collection_separates_handles()) + u64::from(self.shape.slc_superblock_limit.is_some());
        let words = by_superblock * u64::from(self.shape.superblocks) + 4 + open;
        (self.packed_map_bytes() + self.streams.len() * STREAM_BYTES_MAX) as u64 + 4 * words
    }

    /// Replaces the state by one that [`SuperblockMapping::save`] returned for the same parameters.
    ///
    /// # Errors
    /// Returns an explanation of what is wrong with the bytes. The state must not be used after that.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), String> {
        let mut parts = Reader::new(bytes);
        let map = parts.bytes(self.packed_map_bytes())?;
        self.sequence = parts.count()?;
        for superblock in &mut self.superblocks {
            let (erases, sequence) = (parts.count()?, parts.count()?);
            if sequence > self.sequence {
                return Err("a superblock carries a number that was never given".to_owned());
            }
            *superblock = Superblock {
                state: State::Sealed,
                programmed: self.shape.superpages_per_superblock(),
                sequence,
                ..Superblock::free(erases)
            };
        }
        let blocks = self.shape.superblocks;
        let claim = |superblocks: &mut [Superblock], block: u32, state: State, programmed: u32| match superblocks.get_mut(block as usize) {
            Some(superblock) if superblock.state == State::Sealed => {
                (superblock.state, superblock.programmed) = (state, programmed);
                Ok(())
            }
            _ => Err(format!("superblock {block} is free or open twice, or there is none")),
        };
        self.free.clear();
        self.rows_begun.clear();
        for _ in 0..parts.word()?.min(blocks + 1) {
            let block = parts.word()?;
            claim(&mut self.superblocks, block, State::Free, 0)?;
            self.free.push_back(block);
        }
        for open in &mut self.open {
            open.clear();
            for _ in 0..parts.word()?.min(3) {
                let block = parts.word()?;
                let next_row = (0..self.shape.dies).map(|_| parts.word()).collect::<Result<Vec<u32>, String>>()?;
                let is_next = |(die, &row): (u32, &u32)| {
                    row <= self.shape.superpages_of_superblock_per_die && row == self.shape.data_row(block, die, row)
                };
                if open.len() == 2 || block >= blocks || !(0..).zip(&next_row).all(is_next) {
                    return Err(format!("superblock {block} is open and has a row too many"));
                }
                let left: u32 = (0..).zip(&next_row).map(|(die, &row)| self.shape.data_rows(block, die, row)).sum();
                if left == 0 {
                    return Err(format!("superblock {block} is open and has no row left"));
                }
                let programmed = self.shape.data_superpages() - left + parity_written(&self.shape, block, &next_row, &mut self.rows_begun);
                claim(&mut self.superblocks, block, State::Open, programmed)?;
                open.push(Open { block, next_row, superpages_left: left });
            }
        }
        if self.shape.placement_handles.collection_separates_handles() {
            for superblock in &mut self.superblocks {
                let handle = parts.word()?;
                if handle >= self.shape.placement_handles.count || (superblock.state == State::Free && handle > 0) {
                    return Err("a superblock belongs to a placement handle that it can't have".to_owned());
                }
                superblock.handle = handle as u8;
            }
            for (stream, open) in self.open.iter().enumerate() {
                let handle = stream as u32 % self.shape.placement_handles.count;
                if open.iter().any(|open| u32::from(self.superblocks[open.block as usize].handle) != handle) {
                    return Err("a superblock is open for a placement handle that it does not belong to".to_owned());
                }
            }
        }
        self.slc_in_use = 0;
        if self.shape.slc_superblock_limit.is_some() {
            let open = &self.open[self.number_of(Stream::Slc)];
            for block in 0..blocks {
                let is_open = open.iter().any(|open| open.block == block);
                let superblock = &mut self.superblocks[block as usize];
                superblock.is_slc = match (superblock.state, parts.word()?) {
                    (_, 0) if !is_open => false,
                    (State::Sealed, 1) => true,
                    (State::Open, 1) if is_open => true,
                    _ => return Err(format!("superblock {block} holds bits per cell that it can't")),
                };
                self.slc_in_use += u32::from(superblock.is_slc);
            }
        }
        if self.superblocks.iter().any(|superblock| (superblock.state == State::Free) != (superblock.sequence == 0)) {
            return Err("a superblock that is not free was never opened, or one that is was".to_owned());
        }
        let (begun, valid) = (parts.word()?, parts.word()?);
        parts.streams(&mut self.streams)?;
        self.unpack_map(map)?;
        self.begun = (begun != NOTHING).then_some(BegunVictim { block: begun, valid });
        let is_victim = |superblock: &Superblock| superblock.state == State::Sealed && superblock.valid <= valid;
        if begun != NOTHING && !(self.superblocks.get(begun as usize).is_some_and(is_victim) && self.shape.is_useful(valid)) {
            return Err(format!("superblock {begun} can't be a victim that was begun"));
        }
        Ok(())
    }

    /// Reads the packed map, and derives from it the units of all places, the valid bits and the counts.
    fn unpack_map(&mut self, packed: &[u8]) -> Result<(), String> {
        (self.origin, self.changes) = (Origin::Empty, Changes::all(self.width, self.shape.exported_mapping_units, NONE));
        self.forget_contents();
        self.computed.fill(0..0);
        for block in 0..self.shape.superblocks {
            if self.superblocks[block as usize].state != State::Free {
                self.make_room_for_units(block);
            }
        }
        let unmapped = self.shape.physical_mapping_units_per_drive();
        let mut entries = Unpacker::new(packed, self.bits_of_map());
        for unit in 0..self.shape.exported_mapping_units {
            let place = entries.entry();
            if place == unmapped {
                continue;
            }
            if place > unmapped || self.is_valid(place) || !self.is_programmed(place) {
                return Err(format!("unit {unit} lies where no data are, or those of another one"));
            }
            let (block, at) = self.shape.superblock_and_place(place);
            self.set_place(unit, place, block, at);
        }
        Ok(())
    }

    /// Returns true if the superpage of a place has been programmed, given that no program is in progress.
    fn is_programmed(&self, place: u64) -> bool {
        let block = self.superblock_of(place);
        if self.shape.is_parity(place) || self.stays_empty(place) {
            return false;
        }
        match self.superblocks[block as usize].state {
            State::Sealed => true,
            State::Free | State::Victim => false,
            State::Open => {
                let superpage = self.shape.superpage_and_unit(place).0 % self.shape.superpages_per_superblock();
                let (row, die) = (superpage / self.shape.dies, superpage % self.shape.dies);
                self.open.iter().flatten().any(|open| open.block == block && row < open.next_row[die as usize])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{HandleIsolation, PlacementHandles, SlcSuperblockCountLimit, SuperblockMappingParams, SuperblockShape};
    use super::*;
    use crate::flash::DieToChannelAssignment;
    use crate::rng;
    use crate::space::victim::{DChoices, Greedy};

    /// Settings that keep units apart: placement handles, and one bit per cell.
    type Apart = (PlacementHandles, Option<SlcSuperblockCountLimit>);

    const APART: [Apart; 4] = [
        (PlacementHandles::SINGLE_HANDLE, None),
        (PlacementHandles { count: 3, isolation: HandleIsolation::Initially }, None),
        (PlacementHandles { count: 3, isolation: HandleIsolation::Persistently }, None),
        (PlacementHandles::SINGLE_HANDLE, Some(SlcSuperblockCountLimit::Superblocks(4))),
    ];

    fn warm(overwrites: f64, fresh: bool, rain: bool, (placement, slc): Apart) -> SuperblockMapping {
        let shape = SuperblockShape {
            dies: 3,
            planes: 2,
            mapping_units_per_flash_page: 2,
            bits_per_cell: 2,
            superpages_of_superblock_per_die: 4,
            superblocks: 30,
            exported_mapping_units: 1500,
            has_parity_superpages: rain,
            placement_handles: placement,
            slc_superblock_limit: slc,
        };
        // The policy draws random numbers, so that its stream is saved.
        let victim = if rain { DChoices { d: 50 }.into() } else { Greedy {}.into() };
        let mut space = SuperblockMapping::filled(
            &SuperblockMappingParams {
                shape,
                die_to_channel_assignment: DieToChannelAssignment::consecutive(1),
                target_free_superblocks: 5,
                victim,
                starts_empty: fresh,
            },
            3,
            0,
        );
        assert!(space.warm_up(overwrites, 3, 0, &mut |_| true));
        // These writes use all handles, and some leave superblocks open.
        let units = 0..if overwrites > 0.0 { 150 } else { 0 };
        space.overwrite_untimed(units.map(|unit| (unit, (unit / 5 % u64::from(placement.count)) as u8)));
        space.end_warm_up_and_close_superpages();
        space
    }

    #[test]
    fn what_is_saved_is_what_is_loaded() {
        let states = [(0.0, true), (0.0, false), (0.3, true), (2.7, false)].into_iter().flat_map(|state| [(state, false), (state, true)]);
        for (((overwrites, fresh), rain), apart) in states.flat_map(|state| APART.map(|apart| (state, apart))) {
            let mut space = warm(overwrites, fresh, rain, apart);
            assert_eq!(space.slc_in_use > 0, apart.1.is_some() && overwrites > 0.0);
            let bytes = space.save();
            assert!(bytes.len() as u64 <= space.saved_state_bytes_max());
            let mut loaded = warm(0.9, false, rain, apart);
            loaded.load(&bytes).unwrap();
            loaded.verify().unwrap();
            assert_eq!(loaded.save(), bytes);
            for space in [&mut loaded, &mut space] {
                space.overwrite_untimed((0..300).map(|unit| (unit * 5 % 1500, 0)));
            }
            assert_eq!(loaded.save(), space.save(), "they go on alike");
        }
    }

    /// A superblock has 96 units for data or, with parity, 64.
    #[test]
    fn lost_space_costs_the_moves_of_the_emptiest_superblocks() {
        for (rain, overwritten, expected) in [(false, 0, 0), (false, 48, 48), (false, 96, 0), (true, 32, 48)] {
            let mut space = warm(0.0, false, rain, APART[0]);
            let before = space.free_units_by_pool();
            space.overwrite_untimed((0..overwritten).map(|unit| (unit, 0)));
            space.end_warm_up_and_close_superpages();
            assert_eq!(before[0] - space.free_units_by_pool()[0], overwritten, "{overwritten} units are written elsewhere");
            assert_eq!(space.units_to_program_to_regain(&before), expected, "parity {rain}, {overwritten} units");
            assert_eq!(space.units_to_program_to_regain(&[0]), 0, "there is more than before");
        }
    }

    /// Damages a state in places where a checksum would not notice. It must be refused or consistent, and never cause a panic.
    #[test]
    fn a_forged_state_is_refused_or_consistent() {
        for rain in [false, true] {
            APART.into_iter().for_each(|apart| forged_states(rain, apart));
        }
    }

    fn forged_states(rain: bool, apart: Apart) {
        let space = warm(1.3, false, rain, apart);
        let whole = space.save();
        let mut random = rng::stream(1, "forged", 0);
        let mut refused = 0;
        let other = warm(0.1, false, rain, apart);
        for _ in 0..2000 {
            let mut bytes = whole.clone();
            let at = rng::below(&mut random, bytes.len() as u64) as usize;
            bytes[at] ^= 1 << rng::below(&mut random, 8);
            if rng::below(&mut random, 20) == 0 {
                bytes.truncate(at);
            }
            let mut loaded = other.clone();
            match loaded.load(&bytes) {
                Err(_) => refused += 1,
                Ok(()) => loaded.verify().unwrap(),
            }
        }
        assert!(refused > 500, "{refused}");
    }
}
