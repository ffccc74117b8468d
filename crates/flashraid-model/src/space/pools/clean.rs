//! Collection of one block: the choice of a pool and of a victim block in it, the moves, and the erase (rules 12 to 14).

use super::{DieState, FREE_SCORE, NO_BLOCK, NO_PAGE, OPEN_SCORE, OpenBlock, PageMapping, PoolState};
use crate::ids::{BlockId, DieId};
use crate::space::tables::prefetch;

/// Number of entries of the reverse map in one cache line of 64 bytes.
const PAGES_PER_CACHE_LINE: usize = 16;

/// Work done to collect one victim block, in pages moved and blocks filled. The duration of the collection is computed from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VictimCollectionWork {
    /// Number of valid pages that were moved out of the victim block.
    pub pages_moved: u32,
    /// Number of blocks that were filled by the moved pages.
    pub(crate) blocks_sealed: u32,
    /// Two flags, each true if moves to another plane made the collection take longer (rule 133). The first flag concerns the pages
    /// that go into the first destination block, up to the page that fills it. The second flag concerns the pages that go into later
    /// destination blocks.
    ///
    /// Moves to another plane take longer only with [`super::GcAlgorithm::LikeDiskSimWithoutCopyBack`]. With other
    /// procedures, both flags are false.
    pub slowed_by_cross_plane_moves: [bool; 2],
    /// Number of pages moved into another plane. It is 0 unless the procedure is
    /// [`super::GcAlgorithm::LikeDiskSimWithoutCopyBack`].
    pub(crate) pages_crossing: u32,
    /// Number of free blocks in the victim block's pool (the blocks of its plane or of its die) when the collection of this block began.
    pub free_blocks_before: u32,
    /// Number of free blocks in the victim block's pool (the blocks of its plane or of its die) just before the erase of this block.
    pub pool_free_blocks_before_erase: u32,
}

impl PageMapping {
    /// Returns true if blocks of some pool of `die` must be collected. A pool needs collection from the moment when it comes down to the
    /// start threshold of free blocks, until it reaches the stop threshold.
    #[inline]
    pub fn needs_clean(&self, die: DieId) -> bool {
        self.dies[die.index()].need != 0
    }

    /// Prefetches the reverse map entries of a block.
    #[inline]
    pub(super) fn prefetch_pages(&self, block: u32) {
        for page in (0..self.data_pages as usize).step_by(PAGES_PER_CACHE_LINE) {
            prefetch(&self.rmap, ((block as usize) << self.page_shift) + page);
        }
    }

    /// Returns the pool of blocks of `die` in which a block is collected next, and that victim block.
    ///
    /// Pools are tried in turn, from the one after the last pool in which a block was collected. The first pool is taken that needs
    /// collection and has a block whose collection gains room. Bit n of `busy_planes` stands for pool n, which is plane n if each plane
    /// has a pool of its own. Pools whose bit is set are left out.
    pub fn next_victim(&mut self, die: DieId, busy_planes: u64) -> Option<(u32, BlockId)> {
        let DieState { need, next_pool_to_clean: from, .. } = self.dies[die.index()];
        let mut candidates = need & !busy_planes;
        while candidates != 0 {
            let pool = first_in_rotation(candidates, from);
            if let Some(victim) = self.pick_victim(die, pool) {
                self.dies[die.index()].next_pool_to_clean = if pool + 1 == self.pools_per_die { 0 } else { pool + 1 };
                return Some((pool, victim));
            }
            self.end_collection_without_victim(die, pool);
            candidates &= !(1 << pool);
        }
        None
    }

    /// Picks the next victim of `die` in advance if some pool needs collection. Prefetches the memory that tells which pages the victim
    /// has.
    ///
    /// The pick is the one that [`PageMapping::next_victim`] would make, because a change of the die in between makes it void. Policies
    /// that draw random numbers, or keep a table, pick only when they must.
    pub(crate) fn foresee_clean(&mut self, die: DieId) {
        let DieState { need, next_pool_to_clean, foreseen, .. } = self.dies[die.index()];
        if need == 0 || foreseen != NO_BLOCK || self.dynamic || self.victim.needs_random_numbers() || self.follows_reference() {
            return;
        }
        if let Some(victim) = self.pick_victim(die, first_in_rotation(need, next_pool_to_clean)) {
            self.dies[die.index()].foreseen = victim.0;
            self.prefetch_pages(victim.0);
            prefetch(&self.meta, victim.index() * (self.words + 1));
            self.to_fetch = victim.0 << self.page_shift;
        }
    }

    /// Prefetches the map entries of some pages of the foreseen victim, until those of all its pages have been.
    ///
    /// The first call must come some time after [`PageMapping::foresee_clean`], when the memory that tells which pages these are has
    /// arrived. A few pages at a time leave the processor free for other work.
    #[inline]
    pub(crate) fn fetch_foreseen(&mut self) {
        if self.to_fetch != NO_PAGE {
            self.fetch_pages();
        }
    }

    fn fetch_pages(&mut self) {
        let first = self.to_fetch;
        let (block, page) = ((first >> self.page_shift) as usize, first & ((1 << self.page_shift) - 1));
        let valid = self.meta[block * (self.words + 1) + (page >> 6) as usize];
        let mut bits = valid >> (page & 63) & ((1 << PAGES_PER_CACHE_LINE) - 1);
        while bits != 0 {
            prefetch(&self.map, self.rmap[first as usize + bits.trailing_zeros() as usize] as usize);
            bits &= bits - 1;
        }
        let next = page + PAGES_PER_CACHE_LINE as u32;
        self.to_fetch = if next < self.data_pages { first - page + next } else { NO_PAGE };
    }

    /// Returns the pools of `die` that have more free blocks than the start threshold, as bits.
    pub(crate) fn pools_above_start(&self, die: DieId) -> u64 {
        let above = |pool: &u32| self.free_blocks_of_pool(die, *pool) > self.start_free_blocks;
        (0..self.pools_per_die).filter(above).fold(0, |pools, pool| pools | 1 << pool)
    }

    /// Returns the number of pages that the host can still write before some pool of `die` comes down to its start threshold. It is
    /// negative if a pool is below the threshold already.
    pub(crate) fn pages_above_start(&self, die: DieId) -> i64 {
        let first = die.0 * self.pools_per_die;
        let pools = &self.pools[first as usize..(first + self.pools_per_die) as usize];
        let pages = |pool: &PoolState| {
            let blocks = i64::from(pool.free_blocks) - i64::from(self.start_free_blocks) - 1;
            i64::from(self.data_pages - pool.open.next_page) + blocks * i64::from(self.data_pages)
        };
        pools.iter().map(pages).min().unwrap_or(0)
    }

    /// Ends the need for collection of a pool that has no useful victim, unless the pool is at its start threshold of free blocks.
    fn end_collection_without_victim(&mut self, die: DieId, pool: u32) {
        if self.pools[(die.0 * self.pools_per_die + pool) as usize].free_blocks > self.start_free_blocks {
            self.dies[die.index()].need &= !(1 << pool);
        }
    }

    /// Returns the number of pages that can still be moved into the open block before it is full. It is 0 if the next move opens a block
    /// first.
    #[inline]
    pub(crate) fn room_for_moves(&self, die: DieId, pool: u32) -> u32 {
        let pool = &self.pools[(die.0 * self.pools_per_die + pool) as usize];
        let open = if self.separate_open_block { pool.gc_open } else { Some(pool.open) };
        open.map_or(0, |o| self.data_pages - o.next_page)
    }

    /// Collects one block: moves the valid pages of `victim` and erases it. Returns the amount of work.
    pub fn clean(&mut self, die: DieId, pool: u32, victim: BlockId) -> VictimCollectionWork {
        let stride = self.words + 1;
        let base = victim.index() * stride;
        let first_page = victim.0 << self.page_shift;
        // Fetched before the bits are read that tell which pages are valid, so that memory delivers both at the same time.
        self.prefetch_pages(victim.0);
        let mut moving = std::mem::take(&mut self.moving);
        let mut count = 0;
        for word in 0..self.words {
            let mut bits = self.meta[base + word];
            while bits != 0 {
                let lpn = self.rmap[first_page as usize + word * 64 + bits.trailing_zeros() as usize];
                bits &= bits - 1;
                prefetch(&self.map, lpn as usize);
                moving[count] = lpn;
                count += 1;
            }
        }

        let index = (die.0 * self.pools_per_die + pool) as usize;
        let mut blocks_sealed = 0;
        let (mut crosses, mut pages_crossing) = ([false; 2], 0);
        let free_blocks_before = self.pools[index].free_blocks;
        let closed = OpenBlock { block: 0, next_page: self.data_pages, sequence: 0 };
        let pool_state = &self.pools[index];
        let mut open = if self.separate_open_block { pool_state.gc_open.unwrap_or(closed) } else { pool_state.open };
        let mut moved = 0;
        while moved < count {
            if open.next_page == self.data_pages {
                open = self.open_block(die, index);
            }
            let chunk = (count - moved).min((self.data_pages - open.next_page) as usize);
            if self.crosses_planes(victim.0, open.block) {
                crosses[usize::from(blocks_sealed > 0)] = true;
                pages_crossing += chunk as u32;
            }
            let first = (open.block << self.page_shift) | open.next_page;
            let target = &mut self.rmap[first as usize..first as usize + chunk];
            target.copy_from_slice(&moving[moved..moved + chunk]);
            for (physical, &lpn) in (first..).zip(&moving[moved..moved + chunk]) {
                self.map[lpn as usize] = physical;
            }
            moved += chunk;
            open.next_page += chunk as u32;
            if open.next_page == self.data_pages {
                self.seal(open.block);
                blocks_sealed += 1;
            }
        }
        if !self.separate_open_block {
            self.pools[index].open = open;
        } else if moved > 0 {
            self.pools[index].gc_open = Some(open);
        }
        self.moving = moving;

        assert_eq!(self.score[victim.index()], count as i16, "a sealed block's score is its number of valid pages");
        let free_blocks_min = self.pools[index].free_blocks;
        self.erase(die, pool, victim);
        VictimCollectionWork {
            pages_moved: count as u32,
            blocks_sealed,
            slowed_by_cross_plane_moves: crosses,
            pages_crossing,
            free_blocks_before,
            pool_free_blocks_before_erase: free_blocks_min,
        }
    }

    /// Erases a block without valid pages.
    pub(crate) fn erase(&mut self, die: DieId, pool: u32, block: BlockId) {
        assert!(self.score[block.index()] < OPEN_SCORE, "only a sealed block is erased");
        let base = block.index() * (self.words + 1);
        self.meta[base..base + self.words].fill(0);
        self.meta[base + self.words] = ((self.meta[base + self.words] >> 32) + 1) << 32;
        self.score.set(block.index(), FREE_SCORE);
        self.dies[die.index()].foreseen = NO_BLOCK;
        let pool_state = &mut self.pools[(die.0 * self.pools_per_die + pool) as usize];
        pool_state.free_blocks += 1;
        assert!(pool_state.free_blocks <= self.blocks_per_pool, "a block is free once");
        if pool_state.free_blocks >= self.stop_free_blocks {
            self.dies[die.index()].need &= !(1 << pool);
            if let Some(round) = self.rounds.get_mut((die.0 * self.pools_per_die + pool) as usize) {
                round.clear();
            }
        }
        let index = (die.0 * self.pools_per_die + pool) as usize;
        self.rooms[index] = self.room_of(index);
    }
}

/// Returns the first of the pools in `candidates`, which are bits, in the rotation that begins with pool `from`.
#[inline]
fn first_in_rotation(candidates: u64, from: u32) -> u32 {
    let at_or_after = candidates & (u64::MAX << from);
    if at_or_after != 0 { at_or_after } else { candidates }.trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flash::Geometry;
    use crate::ids::Lpn;
    use crate::space::pools::{BlockPoolScope, BlockPoolsFtlParams, GcAlgorithm, PlaneChoice};
    use crate::space::victim::{CostBenefit, Greedy};
    use proptest::prelude::*;

    fn filled(oldest_first: bool) -> PageMapping {
        let geometry = Geometry {
            dies: 2,
            planes: 2,
            blocks_per_plane: 24,
            pages_per_block: 20,
            page_bytes: 4096,
            overprovisioned_blocks_per_plane: 6,
            has_summary_page: true,
        };
        let params = BlockPoolsFtlParams {
            geometry,
            overwrites_may_change_die: false,
            plane_choice: PlaneChoice::MostFreePages,
            pool: BlockPoolScope::Plane,
            gc_algorithm: GcAlgorithm::VictimByPolicy,
            start_threshold_free_blocks: 2,
            stop_threshold_free_blocks: 3,
            victim: if oldest_first { CostBenefit::default().into() } else { Greedy::default().into() },
            separate_open_block_for_moves: false,
            fill_seals_last_block: true,
            starts_empty: false,
        };
        PageMapping::filled_in_address_order(&params, 1, 0)
    }

    /// A block holds 19 pages. Seven pages of one block and three of another one in the same pool are written again.
    #[test]
    fn lost_space_costs_the_moves_of_the_emptiest_blocks_of_its_pool() {
        let mut pools = filled(false);
        let before = pools.free_units_by_pool();
        assert_eq!(before, [6 * 19; 4], "five free blocks and an open one");
        (0..7).chain(38..41).for_each(|page| _ = pools.write(DieId(0), 0, Lpn(page)));
        let now = pools.free_units_by_pool();
        assert_eq!(now, [6 * 19 - 10, 6 * 19, 6 * 19, 6 * 19]);
        // The first block has 12 valid pages and gains 7, the other one has 16 and gains 3.
        assert_eq!(pools.units_to_program_to_regain(&before), 12 + 16);
        let with_missing = |missing: u64| pools.units_to_program_to_regain(&[now[0] + missing, 0, 0, 0]);
        assert_eq!([0, 1, 7, 8, 11].map(with_missing), [0, 2, 12, 12 + 6, 12 + 16], "there is no more to gain than ten pages");
        assert_eq!(pools.pages_gained_by_clean_of_each_die(), 7 + 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Trims, and the writes between a pick in advance and the clean, make other blocks the best victims.
        #[test]
        fn victims_in_advance_are_those_of_their_time(
            oldest_first: bool,
            operations in prop::collection::vec((0u32..2, any::<prop::sample::Index>(), 0u32..8), 1..3000),
        ) {
            let (mut plain, mut foreseeing) = (filled(oldest_first), filled(oldest_first));
            let mut in_advance = 0;
            for (die, page, action) in operations {
                let die = DieId(die);
                let lpn = plain.lpn_of_die_logical_page(die, page.index(plain.exported_per_die as usize) as u32);
                for pools in [&mut plain, &mut foreseeing] {
                    while action > 1 && pools.needs_clean(die) {
                        let Some((pool, victim)) = pools.next_victim(die, 0) else { break };
                        pools.clean(die, pool, victim);
                    }
                    match pools.choose_pool_for_write(die, lpn, 0) {
                        Some(pool) if action > 0 => _ = pools.write(die, pool, lpn),
                        _ => _ = pools.trim(lpn),
                    }
                }
                foreseeing.fetch_foreseen();
                foreseeing.foresee_clean(die);
                in_advance += u32::from(foreseeing.dies[die.index()].foreseen != NO_BLOCK);
            }
            prop_assert_eq!(plain.save(), foreseeing.save());
            prop_assert_eq!(foreseeing.verify(), Ok(()));
            prop_assert!(plain.erase_counts().sum::<u32>() < 20 || in_advance > 0);
        }
    }
}
