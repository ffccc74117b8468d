//! Verification of the whole state: everything that must hold between two operations.

use super::{BUFFERED, State, Stream, SuperblockMapping};

impl SuperblockMapping {
    /// Verifies the whole state, for tests and `--check`.
    ///
    /// # Errors
    /// Returns a sentence that names the first invariant that does not hold.
    pub fn verify(&self) -> Result<(), String> {
        let (mut counted, mut stored) = (vec![0; self.superblocks.len()], 0);
        for unit in 0..self.shape.exported_mapping_units {
            let place = self.entry(unit);
            if place >= BUFFERED {
                continue;
            }
            if !self.is_valid(place) || self.last_unit_at(place) != Some(unit) {
                return Err(format!("unit {unit} is mapped to place {place}, which does not hold it"));
            }
            if self.shape.is_parity(place) {
                return Err(format!("unit {unit} lies where parity is"));
            }
            if self.stays_empty(place) {
                return Err(format!("unit {unit} lies beyond the first bit of a cell that holds one"));
            }
            counted[self.superblock_of(place) as usize] += 1;
            stored += u64::from(!self.is_computed(place));
        }
        if stored != self.valid.count() {
            return Err("a place is valid that nothing is mapped to".to_owned());
        }
        for (block, (superblock, counted)) in self.superblocks.iter().zip(counted).enumerate() {
            if superblock.valid != counted {
                return Err(format!("superblock {block} counts {} valid units, but holds {counted}", superblock.valid));
            }
            let is_open_for = |stream: Stream| self.open[self.number_of(stream)].iter().any(|open| open.block as usize == block);
            let handles = 0..self.shape.placement_handles.count as u8;
            let collections = 0..self.shape.placement_handles.collection_streams() as u8;
            let slc = self.shape.slc_superblock_limit.map(|_| Stream::Slc);
            let of = handles.map(Stream::Host).chain(collections.map(Stream::Collection)).chain(slc).find(|&stream| is_open_for(stream));
            if self.shape.placement_handles.collection_separates_handles() && of.is_some_and(|stream| stream.handle() != superblock.handle)
            {
                return Err(format!("superblock {block} is open for another placement handle than its own"));
            }
            if (superblock.state == State::Free) != (superblock.sequence == 0) || superblock.sequence > self.sequence {
                return Err(format!("superblock {block} carries a number that was never given"));
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

    /// Returns the unit that was written last at a place, if it is known.
    fn last_unit_at(&self, ppn: u64) -> Option<u64> {
        let block = self.superblock_of(ppn);
        if self.is_computed(ppn) {
            self.origin.unit_at(&self.shape, ppn)
        } else {
            (!self.units[block as usize].is_empty()).then(|| self.unit_at(ppn))
        }
    }
}
