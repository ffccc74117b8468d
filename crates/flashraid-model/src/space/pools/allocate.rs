//! Allocation of pages: it chooses the pool of a host write, its open block, and the next free block.

use super::PlaneChoice;
use super::{FREE_SCORE, NO_BLOCK, OPEN_SCORE, OpenBlock, PageMapping, UNMAPPED};
use crate::ids::{DieId, Lpn};
use std::hint::select_unpredictable;

impl PageMapping {
    /// Returns the pool of blocks (of a plane or of the whole die) that takes a host write of `lpn`, as a number within `die`. It is
    /// `None` if no pool has room: the last free block of a pool is kept for collection (rules 16 and 21 of docs/rules.md). Pools whose
    /// bit is set in `busy_planes` are left out.
    #[inline]
    pub fn choose_pool_for_write(&mut self, die: DieId, lpn: Lpn, busy_planes: u64) -> Option<u32> {
        let pools = self.pools_per_die;
        if pools == 1 {
            return (busy_planes & 1 == 0 && self.pool_has_room(die.index())).then_some(0);
        }
        let start = self.dies[die.index()].next_pool_to_write;
        let chosen = match self.plane_choice {
            PlaneChoice::MostFreePages => {
                let old = self.map[lpn.index()];
                let old_block = old >> self.page_shift;
                // Age does not matter if there is no old copy on this die (rules 21 and 107).
                let here = old != UNMAPPED && (!self.dynamic || old_block / (pools * self.blocks_per_pool) == die.0);
                let oldest_allowed = if here { self.sequence(old_block) } else { 0 };
                self.most_free(die, start, busy_planes, oldest_allowed).or_else(|| self.most_free(die, start, busy_planes, 0))
            }
            PlaneChoice::Rotate => {
                let first = (die.0 * pools) as usize;
                (start..pools).chain(0..start).find(|&p| busy_planes >> p & 1 == 0 && self.pool_has_room(first + p as usize))
            }
        }?;
        self.dies[die.index()].next_pool_to_write = if chosen + 1 == pools { 0 } else { chosen + 1 };
        Some(chosen)
    }

    #[inline]
    fn most_free(&self, die: DieId, start: u32, busy_planes: u64, oldest_allowed: u32) -> Option<u32> {
        let first = (die.0 * self.pools_per_die) as usize;
        let rooms = &self.rooms[first..first + self.pools_per_die as usize];
        let floor = self.room_floor();
        // The key is one number: the most free pages, then the first pool in rotation. Branches here would be unpredictable, so it is
        // computed without them.
        let mut best = 0;
        for (pool, room) in (0_u32..).zip(rooms) {
            let turn = pool.wrapping_sub(start).wrapping_add(select_unpredictable(pool < start, self.pools_per_die, 0));
            let allowed = (room.free_pages > floor) & (room.sequence >= oldest_allowed) & (busy_planes >> pool & 1 == 0);
            let rank = u64::from(room.free_pages) << 32 | u64::from(self.pools_per_die - turn);
            best = best.max(select_unpredictable(allowed, rank, 0));
        }
        let pool = start + self.pools_per_die - best as u32;
        (best != 0).then_some(if pool >= self.pools_per_die { pool - self.pools_per_die } else { pool })
    }

    /// Returns true if a pool of `die` can take a host write. The last free block is kept for collection (rule 16).
    #[inline]
    pub fn has_room_for_host_write(&self, die: DieId, pool: u32) -> bool {
        self.pool_has_room((die.0 * self.pools_per_die + pool) as usize)
    }

    /// Returns true if a pool can take a host write. The number of the pool counts over the whole device.
    #[inline]
    pub(super) fn pool_has_room(&self, pool: usize) -> bool {
        self.rooms[pool].free_pages > self.room_floor()
    }

    /// Returns the number of free pages in a pool whose open block is full and that has exactly one free block.
    #[inline]
    fn room_floor(&self) -> u32 {
        2 * self.geometry.pages_per_block - self.data_pages
    }

    /// Programs the page `lpn` into `pool` of `die` and invalidates its old copy. Returns true if the program filled and so sealed a block.
    #[inline]
    pub fn write(&mut self, die: DieId, pool: u32, lpn: Lpn) -> bool {
        let old = self.map[lpn.index()];
        self.dies[die.index()].foreseen = NO_BLOCK;
        if old == UNMAPPED {
            self.dies[die.index()].valid_pages += 1;
        } else {
            let old_block = self.invalidate(old);
            if self.dynamic {
                let old_die = old_block / (self.blocks_per_pool * self.pools_per_die);
                self.dies[old_die as usize].valid_pages -= 1;
                self.dies[die.index()].valid_pages += 1;
            }
        }

        let index = (die.0 * self.pools_per_die + pool) as usize;
        if self.pools[index].open.next_page == self.data_pages {
            self.pools[index].open = self.open_block(die, index);
            self.rooms[index] = self.room_of(index);
        }
        self.rooms[index].free_pages -= 1;
        let open = &mut self.pools[index].open;
        assert!(open.next_page < self.data_pages, "what is programmed lies in an open block");
        let physical = (open.block << self.page_shift) | open.next_page;
        open.next_page += 1;
        let sealed = open.next_page == self.data_pages;
        if sealed {
            let block = open.block;
            self.seal(block);
        }
        self.map[lpn.index()] = physical;
        self.rmap[physical as usize] = lpn.0;
        sealed
    }

    /// Invalidates the page of `lpn` and unmaps it, because its data are no longer needed (rule 107 of docs/rules.md). Returns true if it
    /// was mapped.
    pub fn trim(&mut self, lpn: Lpn) -> bool {
        let old = std::mem::replace(&mut self.map[lpn.index()], UNMAPPED);
        if old == UNMAPPED {
            return false;
        }
        let old_block = self.invalidate(old);
        let die = &mut self.dies[(old_block / (self.blocks_per_pool * self.pools_per_die)) as usize];
        die.valid_pages -= 1;
        die.foreseen = NO_BLOCK;
        true
    }

    /// Marks a physical page as invalid, and returns the number of its block.
    #[inline]
    pub(super) fn invalidate(&mut self, physical: u32) -> u32 {
        let block = physical >> self.page_shift;
        let page = physical & ((1 << self.page_shift) - 1);
        let word = &mut self.meta[block as usize * (self.words + 1) + (page >> 6) as usize];
        assert!(*word >> (page & 63) & 1 == 1, "only what is valid becomes invalid");
        *word &= !(1 << (page & 63));
        self.score.lower(block as usize, self.score[block as usize] - 1);
        block
    }

    /// Makes an open block a sealed one.
    #[inline]
    pub(super) fn seal(&mut self, block: u32) {
        self.score.lower(block as usize, self.score[block as usize] - OPEN_SCORE);
    }

    /// Opens the next free block of the pool (rule 17).
    pub(super) fn open_block(&mut self, die: DieId, pool_index: usize) -> OpenBlock {
        let first = pool_index * self.blocks_per_pool as usize;
        let scores = self.score.of(first..first + self.blocks_per_pool as usize);
        let from = self.pools[pool_index].next_alloc as usize;
        let in_rotation = self.follows_reference();
        let found = if in_rotation {
            let is_free = |position: &usize| scores[self.block_at_position(*position as u32) as usize] == FREE_SCORE;
            (from..scores.len()).chain(0..from).find(is_free)
        } else {
            let free_from = |scores: &[i16]| scores.iter().position(|&s| s == FREE_SCORE);
            free_from(&scores[from..]).map(|i| from + i).or_else(|| free_from(&scores[..from]))
        };
        let position = found.expect("a pool never gives away its last free block but to a clean, which returns one") as u32;
        let found = if in_rotation { self.block_at_position(position) as usize } else { position as usize };
        let pool = &mut self.pools[pool_index];
        assert!(pool.free_blocks > 0, "a pool counts the block that is opened");
        pool.next_alloc = if position + 1 == self.blocks_per_pool { 0 } else { position + 1 };
        pool.free_blocks -= 1;
        let state = &mut self.dies[die.index()];
        state.sequence += 1;
        if pool.free_blocks <= self.start_free_blocks {
            state.need |= 1 << (pool_index as u32 - die.0 * self.pools_per_die);
        }
        let sequence = state.sequence;
        let block = (first + found) as u32;
        self.score.lower(block as usize, OPEN_SCORE + self.data_pages as i16);
        self.set_all_valid(block);
        self.set_sequence(block, sequence);
        // Its pages are programmed one after the other, with other work in between.
        self.prefetch_pages(block);
        OpenBlock { block, next_page: 0, sequence }
    }
}

#[cfg(test)]
mod tests {
    use crate::flash::Geometry;
    use crate::ids::{DieId, Lpn};
    use crate::space::pools::{BlockPoolScope, BlockPoolsFtlParams, GcAlgorithm, PageMapping, PlaneChoice, VictimPolicy};

    /// A plane is chosen by its own room, in turn or not: the room of another die does not count.
    #[test]
    fn a_full_die_takes_no_write_while_another_has_room() {
        for plane_choice in [PlaneChoice::Rotate, PlaneChoice::MostFreePages] {
            let geometry = Geometry {
                dies: 2,
                planes: 2,
                blocks_per_plane: 8,
                pages_per_block: 4,
                page_bytes: 4096,
                overprovisioned_blocks_per_plane: 3,
                has_summary_page: false,
            };
            let mut pools = PageMapping::filled_in_address_order(
                &BlockPoolsFtlParams {
                    geometry,
                    overwrites_may_change_die: false,
                    plane_choice,
                    pool: BlockPoolScope::Plane,
                    gc_algorithm: GcAlgorithm::VictimByPolicy,
                    start_threshold_free_blocks: 1,
                    stop_threshold_free_blocks: 2,
                    victim: VictimPolicy::default(),
                    separate_open_block_for_moves: false,
                    fill_seals_last_block: true,
                    starts_empty: false,
                },
                1,
                0,
            );
            // The second die has pages 40 to 79.
            let mut written = 0;
            while let Some(pool) = pools.choose_pool_for_write(DieId(1), Lpn(40), 0) {
                pools.write(DieId(1), pool, Lpn(40));
                written += 1;
            }
            assert!((9..=24).contains(&written), "{plane_choice:?}: {written} pages of both planes' reserve");
            assert!(pools.choose_pool_for_write(DieId(0), Lpn(0), 0).is_some());
        }
    }
}
