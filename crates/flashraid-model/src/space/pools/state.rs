//! Saves the state of pools as bytes and loads it, so that a warm-up is computed only once.
//!
//! The map is packed, followed by a few numbers per block, pool and die. The reverse map, the valid pages and the scores are derived from
//! these. That is faster than reading them, and they cannot contradict the map. [`PageMapping::load`] accepts any bytes and refuses those
//! that make no sense.
//!
//! ```text
//!  map: one number per lpn, packed │ blocks: sequence, erases │ pools: 8 × u32 │ dies: 6 × u32 │ streams, a line each
//! ```

use super::{DieState, FREE_SCORE, NO_BLOCK, OPEN_SCORE, OpenBlock, PageMapping, PoolState, UNMAPPED};
use crate::ids::DieId;
use crate::space::codec::{COUNT_MAX, Packer, Reader, STREAM_BYTES_MAX, Unpacker, bits_for, packed_bytes, put_streams, put_words};

/// Number of 32-bit words that a saved pool takes, and that a saved die takes.
const POOL_WORDS: usize = 8;
const DIE_WORDS: usize = 6;

impl PageMapping {
    /// Returns the saved state. The caller must not save while an operation or the collection of a block is in progress.
    pub fn save(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.saved_state_bytes_max() as usize);
        self.pack_map(&mut out);
        put_words(&mut out, (0..self.score.len() as u32).flat_map(|block| [self.sequence(block), self.erases(block)]));
        for pool in &self.pools {
            let PoolState { free_blocks, next_alloc, open, gc_open } = pool;
            let gc = gc_open.unwrap_or(OpenBlock { block: u32::MAX, next_page: 0, sequence: 0 });
            let [open, gc] = [*open, gc].map(|open| [open.block, open.next_page, open.sequence]);
            put_words(&mut out, [*free_blocks, *next_alloc, open[0], open[1], open[2], gc[0], gc[1], gc[2]]);
        }
        for die in &self.dies {
            let DieState { need, valid_pages, next_pool_to_clean, next_pool_to_write, sequence, foreseen: _ } = *die;
            put_words(&mut out, [need as u32, (need >> 32) as u32, valid_pages, next_pool_to_clean, next_pool_to_write, sequence]);
        }
        put_streams(&mut out, &self.streams);
        out
    }

    /// Replaces the state by one that [`PageMapping::save`] returned for the same parameters.
    ///
    /// # Errors
    /// Returns an explanation of what is wrong with the bytes. The state must not be used after that.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), String> {
        let mut parts = Reader::new(bytes);
        let map = parts.bytes(self.packed_map_bytes())?;
        for block in 0..self.score.len() {
            let (sequence, erases) = (parts.count()?, parts.count()?);
            let base = block * (self.words + 1);
            self.meta[base..base + self.words].fill(0);
            self.meta[base + self.words] = u64::from(sequence) | u64::from(erases) << 32;
            self.score.set_alone(block, 0);
        }
        for pool in &mut self.pools {
            let [free_blocks, next_alloc] = [parts.word()?, parts.word()?];
            let mut open = || Ok::<_, String>(OpenBlock { block: parts.word()?, next_page: parts.word()?, sequence: parts.word()? });
            let [open, gc] = [open()?, open()?];
            *pool = PoolState { free_blocks, next_alloc, open, gc_open: (gc.block != u32::MAX).then_some(gc) };
        }
        for die in &mut self.dies {
            let need = u64::from(parts.word()?) | u64::from(parts.word()?) << 32;
            let [valid_pages, next_pool_to_clean] = [parts.word()?, parts.word()?];
            let [next_pool_to_write, sequence] = [parts.word()?, parts.word()?];
            *die = DieState { need, valid_pages, next_pool_to_clean, next_pool_to_write, sequence, foreseen: NO_BLOCK };
        }
        parts.streams(&mut self.streams)?;
        self.unpack_map(map)?;
        (0..self.dies.len()).try_for_each(|die| self.derive_die(DieId(die as u32)))?;
        self.score.derive_least();
        Ok(())
    }

    /// Returns the maximum number of bytes that [`PageMapping::save`] can return.
    pub fn saved_state_bytes_max(&self) -> u64 {
        let words = self.score.len() * 2 + self.pools.len() * POOL_WORDS + self.dies.len() * DIE_WORDS;
        (self.packed_map_bytes() + words * 4 + self.streams.len() * STREAM_BYTES_MAX) as u64
    }

    /// Returns the number of physical pages that an entry in the map of a die can refer to.
    fn pages_of_map(&self) -> u32 {
        let blocks = if self.dynamic { self.score.len() as u32 } else { self.blocks_per_pool * self.pools_per_die };
        blocks << self.page_shift
    }

    /// Returns the physical page to which entry 0 in the saved map of a die refers.
    fn first_page_of(&self, die: u32) -> u32 {
        if self.dynamic { 0 } else { (die * self.blocks_per_pool * self.pools_per_die) << self.page_shift }
    }

    /// Returns the number of bits of an entry in the packed map. It must hold the number of a page, or one number more for a page without
    /// data.
    fn bits_of_map(&self) -> u32 {
        bits_for(u64::from(self.pages_of_map()))
    }

    fn packed_map_bytes(&self) -> usize {
        packed_bytes(self.map.len(), self.bits_of_map())
    }

    fn pack_map(&self, out: &mut Vec<u8>) {
        let unmapped = self.pages_of_map();
        let mut packer = Packer::new(out, self.bits_of_map());
        for (die, map) in (0..).zip(self.map.chunks_exact(self.exported_per_die as usize)) {
            let first = self.first_page_of(die);
            map.iter().for_each(|&physical| packer.put(u64::from(if physical == UNMAPPED { unmapped } else { physical - first })));
        }
        packer.end();
    }

    /// Reads the packed map, and derives from it the reverse map, the valid bits, and the scores. The score of each block is then its
    /// number of valid pages.
    fn unpack_map(&mut self, packed: &[u8]) -> Result<(), String> {
        let pages = self.pages_of_map();
        let (page_shift, data_pages, stride) = (self.page_shift, self.data_pages, self.words + 1);
        let mut entries = Unpacker::new(packed, self.bits_of_map());
        for die in 0..self.dies.len() as u32 {
            let first = self.first_page_of(die);
            let first_lpn = die * self.exported_per_die;
            for lpn in first_lpn..first_lpn + self.exported_per_die {
                let entry = entries.entry() as u32;
                if entry >= pages {
                    if entry > pages {
                        return Err(format!("lpn {lpn} lies outside the device"));
                    }
                    self.map[lpn as usize] = UNMAPPED;
                    continue;
                }
                let physical = first + entry;
                let (block, page) = (physical >> page_shift, physical & ((1 << page_shift) - 1));
                let valid = &mut self.meta[block as usize * stride + (page >> 6) as usize];
                if page >= data_pages || *valid >> (page & 63) & 1 == 1 {
                    return Err(format!("lpn {lpn} maps to page {page} of block {block}, which holds no data or those of another lpn"));
                }
                *valid |= 1 << (page & 63);
                self.score.set_alone(block as usize, self.score[block as usize] + 1);
                self.map[lpn as usize] = physical;
                self.rmap[physical as usize] = lpn;
            }
        }
        Ok(())
    }

    /// Derives the rest of a die's state from the map, and checks the saved numbers against it.
    fn derive_die(&mut self, die: DieId) -> Result<(), String> {
        let state = self.dies[die.index()].clone();
        let pools = self.pools_per_die;
        if state.next_pool_to_clean >= pools || state.next_pool_to_write >= pools || state.sequence > COUNT_MAX {
            return Err(format!("die {} continues with a pool that it does not have", die.0));
        }
        if pools < u64::BITS && state.need >> pools != 0 {
            return Err(format!("die {} needs to clean a pool that it has not", die.0));
        }
        let mut valid_pages = 0;
        for pool_of_die in 0..pools {
            let index = (die.0 * pools + pool_of_die) as usize;
            let PoolState { free_blocks, next_alloc, open, gc_open } = self.pools[index].clone();
            let bad = |what: &str| Err(format!("pool {index}: {what}"));
            let first = index as u32 * self.blocks_per_pool;
            let own = first..first + self.blocks_per_pool;
            if next_alloc >= self.blocks_per_pool {
                return bad("the search for a free block begins outside");
            }
            if gc_open.is_some() && !self.separate_open_block {
                return bad("a second open block");
            }
            let mut programmed_to: [Option<OpenBlock>; 2] = [None; 2];
            for (slot, open) in programmed_to.iter_mut().zip([Some(open), gc_open]) {
                let Some(open) = open else { continue };
                if !own.contains(&open.block) || open.next_page > self.data_pages || open.sequence > state.sequence {
                    return bad("its open block is none of its own");
                }
                *slot = Some(open).filter(|open| open.next_page < self.data_pages);
            }
            if let [Some(one), Some(other)] = programmed_to
                && one.block == other.block
            {
                return bad("one block is open twice");
            }
            let mut free = 0;
            for block in own {
                let valid = self.score[block as usize];
                valid_pages += valid as u32;
                let sequence = self.sequence(block);
                if sequence > state.sequence {
                    return bad("a block carries a sequence number that was never given");
                }
                let open = programmed_to.iter().flatten().find(|open| open.block == block);
                let score = match open {
                    Some(open) => {
                        if sequence == 0 || open.sequence != sequence {
                            return bad("the open block carries another sequence number");
                        }
                        for page in open.next_page..self.data_pages {
                            let word = &mut self.meta[block as usize * (self.words + 1) + (page >> 6) as usize];
                            if *word >> (page & 63) & 1 == 1 {
                                return bad("the open block holds a page that is not programmed yet");
                            }
                            *word |= 1 << (page & 63);
                        }
                        OPEN_SCORE + valid + (self.data_pages - open.next_page) as i16
                    }
                    // An erased block has no sequence number.
                    None if sequence == 0 => {
                        if valid != 0 {
                            return bad("a free block holds data");
                        }
                        free += 1;
                        FREE_SCORE
                    }
                    None if self.unsealed_by_fill(die) == Some(block) => OPEN_SCORE + valid,
                    None => valid,
                };
                self.score.set_alone(block as usize, score);
            }
            let need = state.need >> pool_of_die & 1 == 1;
            if free != free_blocks || free == 0 || (free <= self.start_free_blocks && !need) || (free >= self.stop_free_blocks && need) {
                return bad("it counts other free blocks than it has, or needs a clean at another number");
            }
            self.rooms[index] = self.room_of(index);
        }
        if valid_pages != state.valid_pages || (self.dynamic && valid_pages > self.valid_pages_max_per_die()) {
            return Err(format!("die {} holds {valid_pages} valid pages and counts {}", die.0, state.valid_pages));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::flash::Geometry;
    use crate::ids::{DieId, Lpn};
    use crate::rng;
    use crate::space::pools::{BlockPoolScope, BlockPoolsFtlParams, GcAlgorithm, PageMapping, PlaneChoice};
    use crate::space::victim::{Greedy, Random};
    use proptest::prelude::*;

    fn params(choice: u32) -> BlockPoolsFtlParams {
        let bit = |bit: u32| choice >> bit & 1 == 1;
        BlockPoolsFtlParams {
            geometry: Geometry {
                dies: 2 + u32::from(bit(0)),
                planes: 2,
                blocks_per_plane: 24,
                pages_per_block: if bit(1) { 70 } else { 16 },
                page_bytes: 4096,
                overprovisioned_blocks_per_plane: 6,
                has_summary_page: bit(2),
            },
            overwrites_may_change_die: bit(3),
            plane_choice: if bit(4) { PlaneChoice::Rotate } else { PlaneChoice::MostFreePages },
            pool: if bit(5) { BlockPoolScope::Die } else { BlockPoolScope::Plane },
            gc_algorithm: GcAlgorithm::VictimByPolicy,
            start_threshold_free_blocks: 2,
            stop_threshold_free_blocks: 3,
            victim: if bit(6) { Random {}.into() } else { Greedy {}.into() },
            separate_open_block_for_moves: bit(7),
            fill_seals_last_block: bit(8),
            starts_empty: bit(9),
        }
    }

    fn write(ftl: &mut PageMapping, die: DieId, lpn: Lpn) {
        while ftl.needs_clean(die) {
            let Some((pool, victim)) = ftl.next_victim(die, 0) else { break };
            ftl.clean(die, pool, victim);
        }
        let pool = ftl.choose_pool_for_write(die, lpn, 0).unwrap();
        ftl.write(die, pool, lpn);
    }

    /// Writes pages at random, and trims some.
    fn work(ftl: &mut PageMapping, seed: u64, writes: u32) {
        let mut stream = rng::stream(seed, "test", 0);
        let (dies, exported) = (ftl.geometry.dies, ftl.geometry.exported_pages_per_die());
        for _ in 0..writes {
            let die = DieId(rng::below(&mut stream, u64::from(dies)) as u32);
            let lpn = ftl.lpn_of_die_logical_page(die, rng::below(&mut stream, u64::from(exported)) as u32);
            if rng::below(&mut stream, 20) == 0 {
                ftl.trim(lpn);
            } else {
                write(ftl, die, lpn);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_loaded_state_goes_on_as_the_one_that_was_saved(choice in 0_u32..1024, seed: u64, writes in 0_u32..6000) {
            let params = params(choice);
            let mut saved = PageMapping::filled_in_address_order(&params, seed, 0);
            work(&mut saved, seed, writes);
            let mut loaded = PageMapping::filled_in_address_order(&params, !seed, 1);
            let bytes = saved.save();
            prop_assert_eq!(loaded.load(&bytes), Ok(()));
            prop_assert_eq!(loaded.verify(), Ok(()));
            prop_assert_eq!(loaded.save(), bytes);
            work(&mut saved, seed ^ 1, 2000);
            work(&mut loaded, seed ^ 1, 2000);
            prop_assert_eq!(saved.save(), loaded.save());
        }

        #[test]
        fn a_forged_state_is_refused_or_works(choice in 0_u32..1024, seed: u64, places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<bool>()), 1..4)) {
            let params = params(choice);
            let mut ftl = PageMapping::filled_in_address_order(&params, seed, 0);
            work(&mut ftl, seed, 3000);
            let mut bytes = ftl.save();
            let map = ftl.packed_map_bytes();
            for (place, byte, in_map) in places {
                let range = if in_map { 0..map } else { map..bytes.len() };
                let at = range.start + place.index(range.len());
                bytes[at] = byte;
            }
            let mut loaded = PageMapping::filled_in_address_order(&params, seed, 0);
            if loaded.load(&bytes).is_ok() {
                prop_assert_eq!(loaded.verify(), Ok(()));
                work(&mut loaded, seed, 3000);
                prop_assert_eq!(loaded.verify(), Ok(()));
            }
        }
    }

    #[test]
    fn what_is_too_short_or_too_long_is_refused() {
        for choice in [0, 64] {
            let mut ftl = PageMapping::filled_in_address_order(&params(choice), 1, 0);
            let mut bytes = ftl.save();
            bytes.push(b' ');
            assert!(ftl.load(&bytes).is_err());
            for length in [0, 1, 100, bytes.len() - 3] {
                assert!(ftl.load(&bytes[..length]).is_err(), "{length}");
            }
        }
    }

    /// Loading finds fields that contradict each other: a pool that does not exist, or no mark at a pool that needs a clean.
    #[test]
    fn a_state_that_contradicts_itself_is_refused() {
        let mut pools = PageMapping::filled_in_address_order(&params(0), 1, 0);
        let lpn = pools.lpn_of_die_logical_page(DieId(0), 0);
        while !pools.needs_clean(DieId(0)) {
            let pool = pools.choose_pool_for_write(DieId(0), lpn, 0).unwrap();
            pools.write(DieId(0), pool, lpn);
        }
        let damage: [fn(&mut PageMapping); 4] = [
            |_| (),
            |pools| pools.dies[0].next_pool_to_clean = 2,
            |pools| pools.dies[0].next_pool_to_write = 2,
            |pools| pools.dies[0].need = 0,
        ];
        let is_refused = damage.map(|damage| {
            let mut damaged = pools.clone();
            damage(&mut damaged);
            PageMapping::filled_in_address_order(&params(0), 1, 0).load(&damaged.save()).is_err()
        });
        assert_eq!(is_refused, [false, true, true, true]);
    }
}
