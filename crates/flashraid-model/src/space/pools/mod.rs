//! The mapping of an SSD whose dies have pools of blocks: page-mapped, out of place, log-structured. It knows no time.
//!
//! ```text
//!  lpn ──map──▶ physical page ──rmap──▶ lpn
//!                          │
//!        block = page >> page_shift          pool = plane, or all planes of a die
//!          meta: bits of valid pages,        free blocks, one open block (two with a
//!                sequence number, erases     separate one for collection), rotation
//! ```
//!
//! An *lpn* is a logical page number that counts the exported pages die by die. Work on one die therefore stays in one stretch of memory.
//!
//! All numbers are `u32`, and all tables are flat. A physical page costs 4 bytes in `rmap`, an exported page 4 bytes in `map`, a block 18
//! to 26 bytes.

mod allocate;
mod clean;
mod invariants;
mod moves;
mod params;
mod rounds;
mod scores;
mod state;
mod victims;
mod warm_up;

use crate::flash::Geometry;
use crate::ids::{DieId, Lpn};
use crate::rng::RandomStream;
use crate::space::free_space::moves_to_gain;
use crate::space::tables::{LargeTable, prefetch};
use crate::space::victim::VictimPolicy;
pub use clean::VictimCollectionWork;
pub(crate) use moves::Moved;
pub use params::{BlockPoolScope, BlockPoolsFtlParams, GcAlgorithm, PlaneChoice};
use rounds::Round;
use scores::Scores;

/// Score of a free block. The score of a sealed block is its number of valid pages; that of an open block is at least [`OPEN_SCORE`].
const FREE_SCORE: i16 = i16::MAX;
/// Number added to the score of an open block, so that no victim search finds it.
const OPEN_SCORE: i16 = 0x4000;
/// Entry of the map for a page that holds no data.
const UNMAPPED: u32 = u32::MAX;
/// Number in the place of a block where there is none.
const NO_BLOCK: u32 = u32::MAX;
/// Number in the place of a physical page where there is none.
const NO_PAGE: u32 = u32::MAX;
/// Maximum number of pools of blocks per die. A 64-bit number has one bit for each pool of the die, which tells if the pool needs
/// collection. There cannot be more pools than bits.
pub const BLOCK_POOLS_PER_DIE_MAX: u32 = 64;

/// A block that is being programmed, page by page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OpenBlock {
    /// Number of the block in the device.
    pub(crate) block: u32,
    /// Index of the next page to program. If the block is full, it equals the number of data pages per block, and the next program opens
    /// another block.
    pub(crate) next_page: u32,
    /// Sequence number: the number of blocks that the die had opened when it opened this one.
    pub(crate) sequence: u32,
}

/// State of one pool, a group of blocks that share free blocks, open blocks and thresholds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PoolState {
    /// Number of free blocks, without the open ones.
    pub(crate) free_blocks: u32,
    /// Index of the block at which the search for the next free block begins. If free blocks are searched plane by plane, it is a position
    /// in that order.
    pub(crate) next_alloc: u32,
    /// The open block for host writes. Moved pages go there, too, unless they have a separate block.
    pub(crate) open: OpenBlock,
    /// The open block for moved pages alone, which the first move opens. It is `None` if moved pages share the block of host writes.
    pub(crate) gc_open: Option<OpenBlock>,
}

/// Data for the choice of a pool for a host write. They are kept beside [`PoolState`] so that the pools of a die share a cache line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PoolRoom {
    /// Number of free pages: free blocks × pages per block + unprogrammed pages of the open block. Summary pages count.
    pub(crate) free_pages: u32,
    /// Sequence number of the open block.
    pub(crate) sequence: u32,
}

/// State of one die.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DieState {
    /// Set of the pools that need collection, one bit for each. A pool needs it from `start` free blocks down until it has `stop` free
    /// blocks.
    pub(crate) need: u64,
    /// Number of valid pages. It differs from the exported pages per die only under dynamic allocation.
    pub(crate) valid_pages: u32,
    /// Pool at which the next search for a victim begins.
    pub(crate) next_pool_to_clean: u32,
    /// Pool at which the next search for room begins.
    pub(crate) next_pool_to_write: u32,
    /// Sequence number of the block opened last.
    pub(crate) sequence: u32,
    /// The next victim if it was picked in advance and nothing on the die has changed since, otherwise [`NO_BLOCK`].
    pub(crate) foreseen: u32,
}

const _: () = assert!(size_of::<PoolRoom>() == 8, "the rooms of a die share a cache line");
const _: () = assert!(size_of::<PoolState>() <= 40 && size_of::<DieState>() <= 32, "every write looks at both");

/// The map from logical to physical pages of one SSD. Its blocks are divided into pools, and each pool is collected on its own.
#[derive(Debug, Clone, PartialEq)]
pub struct PageMapping {
    pub(crate) geometry: Geometry,
    pub(crate) pools_per_die: u32,
    pub(crate) blocks_per_pool: u32,
    /// Number of pages in a block that hold data.
    pub(crate) data_pages: u32,
    /// Binary logarithm of the distance between two blocks in physical page numbers: page number = block << page_shift | page. Some numbers
    /// are unused if the pages per block are no power of two.
    pub(crate) page_shift: u32,
    /// Number of 64-bit words of valid bits per block.
    pub(crate) words: usize,
    pub(crate) plane_choice: PlaneChoice,
    pub(crate) victim: VictimPolicy,
    procedure: GcAlgorithm,
    pub(crate) separate_open_block: bool,
    pub(crate) start_free_blocks: u32,
    pub(crate) stop_free_blocks: u32,
    pub(crate) exported_per_die: u32,
    /// True if the initial fill seals the block that it writes last, although it may not be full (rule 23). It is also true without a fill.
    pub(crate) fill_seals_last_block: bool,
    /// True if writes may move a page to another die.
    pub(crate) dynamic: bool,

    /// Map from lpn to physical page.
    map: LargeTable<u32>,
    /// Map from physical page to lpn, defined only where the valid bit is set.
    rmap: LargeTable<u32>,
    /// Words of each block: `words` words of valid bits, then `sequence | erases << 32`.
    ///
    /// Pages of an open block that are not programmed yet count as valid. This saves a memory access per program, and is correct again when
    /// the block is sealed.
    meta: LargeTable<u64>,
    /// Score of each block: its valid pages if sealed, [`OPEN_SCORE`] more while open, [`FREE_SCORE`] if free.
    score: Scores,
    pub(crate) pools: Vec<PoolState>,
    pub(crate) rooms: Vec<PoolRoom>,
    pub(crate) dies: Vec<DieState>,
    /// Random streams for a victim policy that chooses at random; empty for any other.
    streams: Vec<RandomStream>,
    /// Buffer for the page numbers that a clean moves, kept to reuse its memory.
    moving: Vec<u32>,
    /// Remaining victims of each pool under the reference simulator's procedure. Without preemption, no round is in progress
    /// between two host operations, so saved states contain none.
    rounds: Vec<Round>,
    /// First page of the victim foreseen last whose map entry is still to be prefetched, otherwise [`NO_PAGE`].
    to_fetch: u32,
}

impl PageMapping {
    /// Returns a newly filled SSD: every page that is offered to the host holds data, in order of address (rule 23). The SSD is empty
    /// instead if `params.starts_empty` is true. `member` and `seed` select the random numbers for victim policies that choose at random.
    pub fn filled_in_address_order(params: &BlockPoolsFtlParams, seed: u64, member: u32) -> Self {
        let g = params.geometry;
        let (pools_per_die, blocks_per_pool) = match params.pool {
            BlockPoolScope::Plane => (g.planes, g.blocks_per_plane),
            BlockPoolScope::Die => (1, g.blocks_per_die()),
        };
        let data_pages = g.data_pages_per_block();
        let page_shift = g.pages_per_block.next_power_of_two().trailing_zeros();
        let words = (g.pages_per_block as usize).div_ceil(64);
        let blocks = (g.dies * g.blocks_per_die()) as usize;
        let exported = g.exported_pages_per_die();
        let mut ftl = Self {
            geometry: g,
            pools_per_die,
            blocks_per_pool,
            data_pages,
            page_shift,
            words,
            plane_choice: params.plane_choice,
            victim: params.victim,
            procedure: params.gc_algorithm,
            separate_open_block: params.separate_open_block_for_moves,
            start_free_blocks: params.start_threshold_free_blocks,
            stop_free_blocks: params.stop_threshold_free_blocks,
            exported_per_die: exported,
            fill_seals_last_block: params.fill_seals_last_block || params.starts_empty,
            dynamic: params.overwrites_may_change_die,
            map: match params.starts_empty {
                true => LargeTable::filled((g.dies * exported) as usize, UNMAPPED),
                false => LargeTable::zeroed((g.dies * exported) as usize),
            },
            rmap: LargeTable::zeroed(blocks << page_shift),
            meta: LargeTable::zeroed(blocks * (words + 1)),
            score: Scores::of_free(blocks),
            pools: Vec::with_capacity((g.dies * pools_per_die) as usize),
            rooms: Vec::with_capacity((g.dies * pools_per_die) as usize),
            dies: Vec::with_capacity(g.dies as usize),
            streams: if params.victim.needs_random_numbers() {
                (0..g.dies).map(|e| crate::rng::stream(seed, "victim", u64::from(member) << 32 | u64::from(e))).collect()
            } else {
                Vec::new()
            },
            moving: vec![0; data_pages as usize],
            rounds: match params.gc_algorithm {
                GcAlgorithm::VictimByPolicy => Vec::new(),
                GcAlgorithm::LikeDiskSimWithoutCopyBack => vec![Round::new(); (g.dies * pools_per_die) as usize],
            },
            to_fetch: NO_PAGE,
        };
        for die in (0..g.dies).map(DieId) {
            ftl.fill_die(die, if params.starts_empty { 0 } else { exported });
        }
        ftl
    }

    /// Adds the state of a die whose first `pages` logical pages hold data. They fill whole blocks.
    fn fill_die(&mut self, die: DieId, pages: u32) {
        let filled_blocks = pages / self.data_pages;
        let first_lpn = die.0 * self.exported_per_die;
        for k in 0..filled_blocks {
            let block = self.block_id(die, k % self.pools_per_die, k / self.pools_per_die);
            self.set_all_valid(block);
            self.set_sequence(block, k + 1);
            let sealed = k + 1 < filled_blocks || self.fill_seals_last_block;
            self.score.lower(block as usize, self.data_pages as i16 + if sealed { 0 } else { OPEN_SCORE });
            for page in 0..self.data_pages {
                let lpn = first_lpn + k * self.data_pages + page;
                let physical = (block << self.page_shift) | page;
                self.map[lpn as usize] = physical;
                self.rmap[physical as usize] = lpn;
            }
        }
        self.dies.push(DieState {
            need: 0,
            valid_pages: pages,
            next_pool_to_clean: 0,
            next_pool_to_write: 0,
            sequence: filled_blocks,
            foreseen: NO_BLOCK,
        });
        let filled_per_pool = filled_blocks / self.pools_per_die;
        for pool in 0..self.pools_per_die {
            let block = self.block_id(die, pool, filled_per_pool);
            self.pools.push(PoolState {
                free_blocks: self.blocks_per_pool - filled_per_pool,
                next_alloc: if self.follows_reference() { 0 } else { filled_per_pool },
                open: OpenBlock { block, next_page: self.data_pages, sequence: 0 },
                gc_open: None,
            });
            let index = self.pools.len() - 1;
            let open = self.open_block(die, index);
            self.pools[index].open = open;
            self.rooms.push(self.room_of(index));
        }
    }

    /// Recomputes [`PoolRoom`] of a pool from the state of the pool.
    fn room_of(&self, pool: usize) -> PoolRoom {
        let PoolState { free_blocks, open, .. } = self.pools[pool];
        let pages_per_block = self.geometry.pages_per_block;
        PoolRoom { free_pages: (free_blocks + 1) * pages_per_block - open.next_page, sequence: open.sequence }
    }

    fn block_id(&self, die: DieId, pool: u32, block_of_pool: u32) -> u32 {
        (die.0 * self.pools_per_die + pool) * self.blocks_per_pool + block_of_pool
    }

    /// Returns the block that the initial fill leaves unsealed, if the device has such a block.
    fn unsealed_by_fill(&self, die: DieId) -> Option<u32> {
        let last = self.exported_per_die / self.data_pages - 1;
        (!self.fill_seals_last_block).then(|| self.block_id(die, last % self.pools_per_die, last / self.pools_per_die))
    }

    fn set_all_valid(&mut self, block: u32) {
        let base = block as usize * (self.words + 1);
        let mut left = self.data_pages;
        for word in 0..self.words {
            let bits = left.min(64);
            self.meta[base + word] = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
            left -= bits;
        }
    }

    fn sequence(&self, block: u32) -> u32 {
        self.meta[block as usize * (self.words + 1) + self.words] as u32
    }

    fn set_sequence(&mut self, block: u32, sequence: u32) {
        let word = &mut self.meta[block as usize * (self.words + 1) + self.words];
        *word = (*word & !u64::from(u32::MAX)) | u64::from(sequence);
    }

    fn erases(&self, block: u32) -> u32 {
        (self.meta[block as usize * (self.words + 1) + self.words] >> 32) as u32
    }

    /// Returns the physical number of a mapped page in the device, and the number of erases of its block.
    pub fn physical_page_and_block_erases(&self, lpn: Lpn) -> (u32, u32) {
        let physical = self.map[lpn.index()];
        let block = physical >> self.page_shift;
        (block * self.geometry.pages_per_block + (physical & ((1 << self.page_shift) - 1)), self.erases(block))
    }

    /// Returns the lpn (logical page number in the SSD) of the logical page that has number `page` among those of `die`. The lpns count
    /// the pages die by die.
    #[inline]
    pub fn lpn_of_die_logical_page(&self, die: DieId, page: u32) -> Lpn {
        Lpn(die.0 * self.exported_per_die + page)
    }

    /// Returns true if the page holds data now. A page holds data after the initial fill and after each write, until it is trimmed.
    #[inline]
    pub fn is_mapped(&self, lpn: Lpn) -> bool {
        self.map[lpn.index()] != UNMAPPED
    }

    /// Returns the die on which a mapped page lies now.
    #[inline]
    pub fn die_that_holds(&self, lpn: Lpn) -> DieId {
        DieId((self.map[lpn.index()] >> self.page_shift) / (self.blocks_per_pool * self.pools_per_die))
    }

    /// Returns true if a page is mapped and lies on `die`.
    #[inline]
    pub fn holds(&self, die: DieId, lpn: Lpn) -> bool {
        self.is_mapped(lpn) && (!self.dynamic || self.die_that_holds(lpn) == die)
    }

    /// Returns the pool that holds a mapped page now, counted within its die.
    #[inline]
    pub(crate) fn pool_of(&self, lpn: Lpn) -> u32 {
        (self.map[lpn.index()] >> self.page_shift) / self.blocks_per_pool % self.pools_per_die
    }

    /// Prefetches the map entry of `lpn`.
    #[inline]
    pub(crate) fn prefetch_map(&self, lpn: Lpn) {
        prefetch(&self.map, lpn.index());
    }

    /// Prefetches the memory that an overwrite of `lpn` needs. The map entry must have been prefetched before.
    #[inline]
    pub(crate) fn prefetch_block(&self, lpn: Lpn) {
        let block = (self.map[lpn.index()] >> self.page_shift) as usize;
        prefetch(&self.meta, block * (self.words + 1));
        self.score.prefetch(block);
    }

    /// Returns the number of valid pages in the die.
    pub fn valid_pages(&self, die: DieId) -> u32 {
        self.dies[die.index()].valid_pages
    }

    /// Returns the number of valid pages up to which a die accepts writes under dynamic allocation (rule 8).
    pub(crate) fn valid_pages_max_per_die(&self) -> u32 {
        self.pools_per_die * (self.blocks_per_pool - 2 - self.start_free_blocks) * self.data_pages
    }

    /// Returns the number of free blocks in one pool of the die.
    #[inline]
    pub(crate) fn free_blocks_of_pool(&self, die: DieId, pool: u32) -> u32 {
        self.pools[(die.0 * self.pools_per_die + pool) as usize].free_blocks
    }

    /// Returns the number of free blocks in the die's pool with the fewest, and in all its pools together.
    pub fn fewest_and_total_free_blocks(&self, die: DieId) -> (u32, u32) {
        let pools = &self.pools[(die.0 * self.pools_per_die) as usize..((die.0 + 1) * self.pools_per_die) as usize];
        (pools.iter().map(|p| p.free_blocks).min().unwrap_or(0), pools.iter().map(|p| p.free_blocks).sum())
    }

    /// Returns the number of data pages that can be written to each pool before a block must be erased.
    pub(super) fn free_units_by_pool(&self) -> Vec<u64> {
        let left = |open: &OpenBlock| u64::from(self.data_pages - open.next_page);
        let room = |pool: &PoolState| {
            let open = left(&pool.open) + pool.gc_open.as_ref().map_or(0, left);
            u64::from(pool.free_blocks) * u64::from(self.data_pages) + open
        };
        self.pools.iter().map(room).collect()
    }

    /// Returns the number of pages that collection would have to move so that each pool has as many free pages as in `earlier`.
    pub(super) fn units_to_program_to_regain(&self, earlier: &[u64]) -> u64 {
        let of_pool = |(index, (before, now)): (usize, (&u64, u64))| {
            let first = index * self.blocks_per_pool as usize;
            let blocks = first..first + self.blocks_per_pool as usize;
            let sealed = blocks.filter_map(|block| u32::try_from(self.score[block]).ok().filter(|_| self.score[block] < OPEN_SCORE));
            moves_to_gain(before.saturating_sub(now), self.data_pages, sealed)
        };
        earlier.iter().zip(self.free_units_by_pool()).enumerate().map(of_pool).sum()
    }

    /// Returns the number of host pages that a clean of each die makes room for, if it takes the block with the fewest valid pages.
    pub(crate) fn pages_gained_by_clean_of_each_die(&self) -> u64 {
        let blocks = (self.blocks_per_pool * self.pools_per_die) as usize;
        let gained = |die: usize| {
            let least = (die * blocks..(die + 1) * blocks).map(|block| self.score[block]).min().unwrap_or(0);
            u64::from(self.data_pages).saturating_sub(u64::try_from(least).unwrap_or(0)).max(1)
        };
        (0..self.dies.len()).map(gained).sum()
    }

    /// Returns the number of erases of every block, in order of die, pool, and block of the pool.
    pub fn erase_counts(&self) -> impl Iterator<Item = u32> + Clone {
        (0..self.score.len() as u32).map(|b| self.erases(b))
    }

    /// Returns the location of `lpn`: die, pool of the die, block of the pool, and page.
    pub fn die_pool_block_and_page(&self, lpn: Lpn) -> (u32, u32, u32, u32) {
        let physical = self.map[lpn.index()];
        let block = physical >> self.page_shift;
        let pool = block / self.blocks_per_pool;
        (pool / self.pools_per_die, pool % self.pools_per_die, block % self.blocks_per_pool, physical & ((1 << self.page_shift) - 1))
    }

    /// Returns the number of dies in the device.
    pub fn dies(&self) -> u32 {
        self.geometry.dies
    }

    /// Returns the number of bytes of memory that the state occupies.
    pub fn memory_bytes(&self) -> u64 {
        let bytes = self.map.len() * 4 + self.rmap.len() * 4 + self.meta.len() * 8 + self.score.bytes();
        (bytes + self.pools.len() * size_of::<PoolState>() + self.dies.len() * size_of::<DieState>()) as u64
    }
}
