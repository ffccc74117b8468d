//! Cleaning page by page: it moves the pages of one victim in any order, and chooses the cleans of idle time.

use super::{NO_BLOCK, PageMapping};
use crate::ids::{BlockId, DieId, Lpn};
use crate::space::tables::prefetch;

/// Result of moving one page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moved {
    /// Plane of the block that the page was moved to.
    pub(crate) plane: u32,
    /// True if the page filled that block.
    pub(crate) sealed: bool,
    /// True if that block lies in another plane than the old one, with [`super::GcAlgorithm::LikeDiskSimWithoutCopyBack`].
    pub(crate) crosses: bool,
}

impl PageMapping {
    /// Prefetches the memory that [`PageMapping::prefetch_moves`] reads.
    pub(crate) fn prefetch_victim(&self, victim: BlockId) {
        let first = (victim.0 << self.page_shift) as usize;
        for line in (0..self.data_pages as usize).step_by(16) {
            prefetch(&self.rmap, first + line);
        }
    }

    /// Prefetches the map entries of all pages of `victim`. [`PageMapping::prefetch_victim`] must have been called some time before.
    pub(crate) fn prefetch_moves(&self, victim: BlockId) {
        let first = (victim.0 << self.page_shift) as usize;
        for &lpn in &self.rmap[first..first + self.data_pages as usize] {
            prefetch(&self.map, lpn as usize);
        }
    }

    /// Returns the number of valid pages in a sealed block.
    #[inline]
    pub(crate) fn valid_pages_of(&self, victim: BlockId) -> u32 {
        self.score[victim.index()] as u32
    }

    /// Returns the logical number of the first valid page of `victim`, in page order.
    #[inline]
    pub(crate) fn first_valid_lpn(&self, victim: BlockId) -> Option<Lpn> {
        let base = victim.index() * (self.words + 1);
        let word = (0..self.words).find(|&word| self.meta[base + word] != 0)?;
        let page = word * 64 + self.meta[base + word].trailing_zeros() as usize;
        Some(Lpn(self.rmap[(victim.0 << self.page_shift) as usize + page]))
    }

    /// Returns true if the page of `lpn` lies in `block`.
    #[inline]
    pub(crate) fn lies_in(&self, lpn: Lpn, block: BlockId) -> bool {
        self.map[lpn.index()] >> self.page_shift == block.0
    }

    /// Returns the plane in which the page of `lpn` lies.
    #[inline]
    pub(crate) fn plane_of(&self, lpn: Lpn) -> u32 {
        self.plane_of_block(self.map[lpn.index()] >> self.page_shift)
    }

    fn plane_of_block(&self, block: u32) -> u32 {
        let planes = self.geometry.planes;
        // The blocks of a plane have consecutive numbers if each plane has its own pool. In a die-wide pool, the planes alternate.
        if self.pools_per_die == planes { block / self.blocks_per_pool % planes } else { block % self.blocks_per_pool % planes }
    }

    /// Returns true if moves between these blocks cost transfers, with [`super::GcAlgorithm::LikeDiskSimWithoutCopyBack`]
    /// (rule 133).
    #[inline]
    pub(super) fn crosses_planes(&self, from: u32, to: u32) -> bool {
        self.follows_reference() && self.plane_of_block(from) != self.plane_of_block(to)
    }

    /// Returns true if some pool of `die` has room for a host write (rule 16).
    #[inline]
    pub(crate) fn any_room(&self, die: DieId) -> bool {
        let first = die.0 * self.pools_per_die;
        (first..first + self.pools_per_die).any(|pool| self.pool_has_room(pool as usize))
    }

    /// Moves the page of `lpn` from a sealed block of `pool` to the open block for moves.
    #[inline]
    pub(crate) fn move_page(&mut self, die: DieId, pool: u32, lpn: Lpn) -> Moved {
        let old_block = self.invalidate(self.map[lpn.index()]);
        self.dies[die.index()].foreseen = NO_BLOCK;
        let index = (die.0 * self.pools_per_die + pool) as usize;
        if self.room_for_moves(die, pool) == 0 {
            let opened = self.open_block(die, index);
            if self.separate_open_block {
                self.pools[index].gc_open = Some(opened);
            } else {
                self.pools[index].open = opened;
            }
            self.rooms[index] = self.room_of(index);
        }
        let state = &mut self.pools[index];
        let open = if self.separate_open_block { state.gc_open.as_mut().expect("just opened") } else { &mut state.open };
        assert!(open.next_page < self.data_pages && open.block != old_block, "a move goes to another block, which is open");
        let physical = (open.block << self.page_shift) | open.next_page;
        open.next_page += 1;
        let (block, sealed) = (open.block, open.next_page == self.data_pages);
        if sealed {
            self.seal(block);
        }
        self.rooms[index].free_pages -= u32::from(!self.separate_open_block);
        self.map[lpn.index()] = physical;
        self.rmap[physical as usize] = lpn.0;
        Moved { plane: self.plane_of_block(block), sealed, crosses: self.crosses_planes(old_block, block) }
    }

    /// Returns the pools of `die` in turn, from the one after the pool that was cleaned last.
    pub(crate) fn pools_in_rotation(&self, die: DieId) -> impl Iterator<Item = u32> + use<> {
        let (from, pools) = (self.dies[die.index()].next_pool_to_clean, self.pools_per_die);
        (from..pools).chain(0..from)
    }

    /// Returns the next pool of `die` to clean in idle time, and its victim (rule 38). Pools are tried in turn. The first one is taken that
    /// has a useful victim and fewer free blocks than after the initial fill. Pools whose bit is set in `busy_pools` are left out.
    pub(crate) fn next_idle_clean(&mut self, die: DieId, busy_pools: u64) -> Option<(u32, BlockId)> {
        let filled_per_pool = self.exported_per_die / self.data_pages / self.pools_per_die;
        let free_after_fill = self.blocks_per_pool - filled_per_pool - 1;
        self.next_clean_below(die, free_after_fill, busy_pools)
    }

    /// Returns a pool of `die` that has fewer than `free_blocks` free blocks and a useful victim, and that victim. Pools are tried in turn.
    pub(crate) fn next_clean_below(&mut self, die: DieId, free_blocks: u32, busy_pools: u64) -> Option<(u32, BlockId)> {
        let from = self.dies[die.index()].next_pool_to_clean;
        let mut pools = (from..self.pools_per_die).chain(0..from).filter(|pool| busy_pools >> pool & 1 == 0);
        pools.find_map(|pool| self.clean_if_below(die, pool, free_blocks))
    }

    /// Returns the pool of `die` that has the fewest free blocks among those with a useful victim, and that victim. Among equals, it is the
    /// first in turn.
    pub(crate) fn next_clean_of_fewest_free(&mut self, die: DieId, busy_pools: u64) -> Option<(u32, BlockId)> {
        let from = self.dies[die.index()].next_pool_to_clean;
        let mut tried = busy_pools;
        for _ in 0..self.pools_per_die {
            let open = (from..self.pools_per_die).chain(0..from).filter(|pool| tried >> pool & 1 == 0);
            let pool = open.min_by_key(|&pool| self.free_blocks_of_pool(die, pool))?;
            if let Some(clean) = self.clean_if_below(die, pool, u32::MAX) {
                return Some(clean);
            }
            tried |= 1 << pool;
        }
        None
    }

    fn clean_if_below(&mut self, die: DieId, pool: u32, free_blocks: u32) -> Option<(u32, BlockId)> {
        if self.free_blocks_of_pool(die, pool) >= free_blocks {
            return None;
        }
        let victim = self.pick_victim(die, pool)?;
        self.dies[die.index()].next_pool_to_clean = if pool + 1 == self.pools_per_die { 0 } else { pool + 1 };
        Some((pool, victim))
    }
}
