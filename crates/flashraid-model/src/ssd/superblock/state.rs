//! The state of a drive's map as bytes and back, so that a warm-up is paid for once.
//!
//! Only what nothing else follows from is kept (reads are counted from the start of the run): the map, the erases of each superblock, which of them are free, in their order, and how far the
//! open ones are. [`Media::load`] takes any bytes; what it accepts is consistent.
//!
//! ```text
//!  map: a place per unit │ erases per superblock │ free: how many, which │ by stream: how many open, then block and rows by die │
//!  if what is moved stays with its placement handle: a handle per superblock │ with SLC: per superblock, whether it holds one bit per cell
//! ```
//!
//! Words of 32 bits, little-endian; the caller adds what identifies the state, and a checksum.

use super::media::{BUFFERED, Media, NONE, Open, State, Stream, Superblock};

impl Media {
    /// The state between two operations, nothing being in the buffer or on its way.
    pub fn save(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.state_bytes() as usize);
        let mut put = |word: u32| out.extend_from_slice(&word.to_le_bytes());
        self.map.iter().for_each(|&place| put(place));
        self.superblocks.iter().for_each(|superblock| put(superblock.erases));
        put(self.free());
        self.free.iter().for_each(|&block| put(block));
        for open in &self.open {
            put(open.len() as u32);
            for open in open {
                put(open.block);
                open.next_row.iter().for_each(|&row| put(row));
            }
        }
        if self.shape.placement.is_persistent {
            self.superblocks.iter().for_each(|superblock| put(u32::from(superblock.handle)));
        }
        if self.shape.slc.is_some() {
            self.superblocks.iter().for_each(|superblock| put(u32::from(superblock.is_slc)));
        }
        out
    }

    /// Bytes that [`Media::save`] makes at most.
    pub fn state_bytes(&self) -> u64 {
        let placement = self.shape.placement;
        let open = u64::from(self.shape.streams()) * (1 + 2 * (1 + u64::from(self.shape.dies)));
        let by_superblock = 2 + u64::from(placement.is_persistent) + u64::from(self.shape.slc.is_some());
        4 * (u64::from(self.shape.exported_units) + by_superblock * u64::from(self.shape.superblocks) + 1 + open)
    }

    /// Replaces the state by one that [`Media::save`] made for the same shape.
    ///
    /// # Errors
    /// What is wrong with the bytes; the state is then not to be used.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), String> {
        let mut words = bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        if !bytes.len().is_multiple_of(4) {
            return Err("it ends within a number".to_owned());
        }
        let mut next = || words.next().ok_or_else(|| "it is cut off".to_owned());
        let mut map = std::mem::take(&mut self.map);
        for place in &mut map {
            *place = next()?;
        }
        for superblock in &mut self.superblocks {
            let (programmed, erases) = (self.shape.superpages(), next()?);
            *superblock = Superblock { state: State::Sealed, handle: 0, is_slc: false, valid: 0, programmed, erases, reads: 0 };
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
        for _ in 0..next()?.min(blocks + 1) {
            let block = next()?;
            claim(&mut self.superblocks, block, State::Free, 0)?;
            self.free.push_back(block);
        }
        for open in &mut self.open {
            open.clear();
            for _ in 0..next()?.min(3) {
                let block = next()?;
                let next_row = (0..self.shape.dies).map(|_| next()).collect::<Result<Vec<u32>, String>>()?;
                let is_next = |(die, &row): (u32, &u32)| row <= self.shape.rows && row == self.shape.data_row(block, die, row);
                if open.len() == 2 || block >= blocks || !(0..).zip(&next_row).all(is_next) {
                    return Err(format!("superblock {block} is open and has a row too many"));
                }
                let left: u32 = (0..).zip(&next_row).map(|(die, &row)| self.shape.data_rows(block, die, row)).sum();
                if left == 0 {
                    return Err(format!("superblock {block} is open and has no row left"));
                }
                let mut programmed = self.shape.data_superpages() - left;
                for row in block * self.shape.rows..(block + 1) * self.shape.rows {
                    let Some(parity) = self.shape.parity_die(row) else { break };
                    let has_begun = |(die, &next): (u32, &u32)| die != parity && next > row % self.shape.rows;
                    match (0..).zip(&next_row).filter(|&(die, next)| has_begun((die, next))).count() as u32 {
                        0 => {}
                        all if all + 1 == self.shape.dies => programmed += 1,
                        begun => drop(self.rows_begun.insert(row, begun)),
                    }
                }
                claim(&mut self.superblocks, block, State::Open, programmed)?;
                open.push(Open { block, next_row, superpages_left: left });
            }
        }
        if self.shape.placement.is_persistent {
            for superblock in &mut self.superblocks {
                let handle = next()?;
                if handle >= self.shape.placement.handles || (superblock.state == State::Free && handle > 0) {
                    return Err("a superblock belongs to a placement handle that it can't have".to_owned());
                }
                superblock.handle = handle as u8;
            }
            for (stream, open) in self.open.iter().enumerate() {
                let handle = stream as u32 % self.shape.placement.handles;
                if open.iter().any(|open| u32::from(self.superblocks[open.block as usize].handle) != handle) {
                    return Err("a superblock is open for a placement handle that it does not belong to".to_owned());
                }
            }
        }
        self.slc_in_use = 0;
        if self.shape.slc.is_some() {
            let open = &self.open[self.number_of(Stream::Slc)];
            for block in 0..blocks {
                let is_open = open.iter().any(|open| open.block == block);
                let superblock = &mut self.superblocks[block as usize];
                superblock.is_slc = match (superblock.state, next()?) {
                    (_, 0) if !is_open => false,
                    (State::Sealed, 1) => true,
                    (State::Open, 1) if is_open => true,
                    _ => return Err(format!("superblock {block} holds bits per cell that it can't")),
                };
                self.slc_in_use += u32::from(superblock.is_slc);
            }
        }
        if words.next().is_some() {
            return Err("there is more than the state".to_owned());
        }
        self.units.fill(NONE);
        self.valid.fill(0);
        self.map = vec![NONE; map.len()];
        for (unit, &place) in map.iter().enumerate() {
            if place == NONE {
                continue;
            }
            if place & BUFFERED != 0 || u64::from(place) >= self.shape.units() || self.is_valid(place) || !self.is_programmed(place) {
                return Err(format!("unit {unit} lies where no data are, or those of another one"));
            }
            self.settle(unit as u32, place);
        }
        Ok(())
    }

    /// Whether the superpage of a place has been programmed, nothing being on its way.
    fn is_programmed(&self, place: u32) -> bool {
        let block = self.superblock_of(place);
        if self.shape.is_parity(place) || self.stays_empty(place) {
            return false;
        }
        match self.superblocks[block as usize].state {
            State::Sealed => true,
            State::Free | State::Victim => false,
            State::Open => {
                let superpage = place % self.shape.superblock_units() / self.shape.superpage_units();
                let (row, die) = (superpage / self.shape.dies, superpage % self.shape.dies);
                self.open.iter().flatten().any(|open| open.block == block && row < open.next_row[die as usize])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::media::Warming;
    use super::super::{PlacementHandles, Shape, SlcRoom, SuperblockCollection};
    use super::*;
    use crate::rng;

    /// What lies apart: by placement handle, by bits per cell.
    type Apart = (PlacementHandles, Option<SlcRoom>);

    const APART: [Apart; 4] = [
        (PlacementHandles::ONE, None),
        (PlacementHandles { handles: 3, is_persistent: false }, None),
        (PlacementHandles { handles: 3, is_persistent: true }, None),
        (PlacementHandles::ONE, Some(SlcRoom::Superblocks(4))),
    ];

    fn warm(overwrites: f64, fresh: bool, rain: bool, (placement, slc): Apart) -> Media {
        let shape = Shape {
            dies: 3,
            planes: 2,
            flash_page_units: 2,
            pages_per_cell: 2,
            rows: 4,
            superblocks: 30,
            exported_units: 1500,
            rain,
            placement,
            slc,
        };
        let collection = SuperblockCollection { target: 5, span: 2, floor: 2, debt_units: 0 };
        let mut media = Media::new(shape, &[0, 1, 2], fresh);
        assert!(media.warm_up(overwrites, &mut rng::stream(3, "state", 0), &collection, &mut |_| true));
        // Writes of all handles, some of which leave superblocks open.
        let mut writers = Warming::new(placement);
        for unit in 0..if overwrites > 0.0 { 150 } else { 0 } {
            writers.write(&mut media, unit, (unit / 5 % placement.handles) as u8, &collection);
        }
        writers.close(&mut media);
        media
    }

    #[test]
    fn what_is_saved_is_what_is_loaded() {
        let states = [(0.0, true), (0.0, false), (0.3, true), (2.7, false)].into_iter().flat_map(|state| [(state, false), (state, true)]);
        for (((overwrites, fresh), rain), apart) in states.flat_map(|state| APART.map(|apart| (state, apart))) {
            let media = warm(overwrites, fresh, rain, apart);
            assert_eq!(media.slc_in_use > 0, apart.1.is_some() && overwrites > 0.0);
            let bytes = media.save();
            assert!(bytes.len() as u64 <= media.state_bytes());
            let mut loaded = warm(0.9, false, rain, apart);
            loaded.load(&bytes).unwrap();
            loaded.verify().unwrap();
            assert_eq!(loaded.save(), bytes);
            // They go on alike; what invalid places once held is not kept, and nobody asks.
            assert_eq!(
                (&loaded.map, &loaded.valid, &loaded.superblocks, &loaded.free),
                (&media.map, &media.valid, &media.superblocks, &media.free)
            );
            assert_eq!((loaded.open, loaded.rows_begun, loaded.slc_in_use), (media.open, media.rows_begun, media.slc_in_use));
        }
    }

    /// Damaged where a checksum would not tell: refused or consistent, and never a panic.
    #[test]
    fn a_forged_state_is_refused_or_consistent() {
        for rain in [false, true] {
            APART.into_iter().for_each(|apart| forged_states(rain, apart));
        }
    }

    fn forged_states(rain: bool, apart: Apart) {
        let media = warm(1.3, false, rain, apart);
        let whole = media.save();
        let mut random = rng::stream(1, "forged", 0);
        let mut refused = 0;
        for _ in 0..2000 {
            let mut bytes = whole.clone();
            let at = rng::below(&mut random, bytes.len() as u64) as usize;
            bytes[at] ^= 1 << rng::below(&mut random, 8);
            if rng::below(&mut random, 20) == 0 {
                bytes.truncate(at);
            }
            let mut loaded = warm(0.1, false, rain, apart);
            match loaded.load(&bytes) {
                Err(_) => refused += 1,
                Ok(()) => loaded.verify().unwrap(),
            }
        }
        assert!(refused > 500, "{refused}");
    }
}
