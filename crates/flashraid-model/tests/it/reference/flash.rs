//! The flash of one member as a state without time (rules 11 to 14, 16 to 18, 21, 23, 24, 107 and 130 to 133).

use std::cmp::Reverse;
use std::collections::HashMap;

use flashraid_model::rng::{self, RandomStream};
use flashraid_model::space::victim::{DChoices, GreedyWearAware, VictimCandidates, VictimRandomness};
use flashraid_model::ssd::{BlockPoolScope, GcAlgorithm, PlaneChoice, SsdParams, VictimPolicy};

use crate::outcome::PhysicalPage;

/// Text of the rules that the reference implements.
const RULES: &str = include_str!("../../../../../docs/rules.md");

/// A logical page as `layout::home` names it.
pub(super) type Page = u64;

/// The flash of one member and what lies where.
pub(super) struct Flash {
    pub params: SsdParams,
    pub dies: Vec<Die>,
    /// Places of all pages except unmapped ones.
    places: HashMap<Page, Place>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub die: usize,
    pub pool: usize,
    pub block: usize,
    pub slot: usize,
}

pub(super) struct Die {
    pub pools: Vec<BlockPool>,
    last_sequence: u64,
    pool_written_last: Option<usize>,
    pool_cleaned_last: Option<usize>,
    victim_stream: RandomStream,
}

pub(super) struct BlockPool {
    blocks: Vec<Block>,
    host_open: Open,
    /// Only with `separate_open_block`, and then from the first move on.
    move_open: Option<Open>,
    block_opened_last: usize,
    in_collection: bool,
    /// Victims of its go that have not had their turn, the next one first (rule 132).
    table: Vec<usize>,
}

/// The block that was opened last for one use; it stays here when it is full, until the next one is opened.
#[derive(Clone, Copy)]
struct Open {
    block: usize,
    next_slot: usize,
    sequence: u64,
}

#[derive(Clone)]
struct Block {
    state: BlockState,
    sequence: u64,
    erases: u32,
    /// The valid page in each slot for data.
    slots: Vec<Option<Page>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum BlockState {
    Free,
    Open,
    Sealed,
}

/// Effects of a clean.
pub(super) struct Clean {
    pub pool: usize,
    pub moves: Vec<Move>,
}

/// A page has a new place.
#[derive(Clone, Copy)]
pub(super) struct Move {
    pub fills_block: bool,
    /// True if the move costs transfers, because the new place lies in another plane (rule 133).
    pub crosses: bool,
}

impl Flash {
    /// A member that has none.
    pub(super) fn without_pools(params: &SsdParams) -> Flash {
        Flash { params: params.clone(), dies: Vec::new(), places: HashMap::new() }
    }

    /// A member after its fill (rule 23).
    pub(super) fn filled(params: &SsdParams, seed: u64, member: usize) -> Flash {
        let dies = 0..params.geometry.dies as usize;
        let mut flash = Flash {
            params: params.clone(),
            dies: dies.clone().map(|die| empty_die(params, seed, member, die)).collect(),
            places: HashMap::new(),
        };
        for die in dies {
            flash.fill(die);
        }
        flash
    }

    fn fill(&mut self, die: usize) {
        let geometry = self.params.geometry;
        let planes = geometry.planes as usize;
        let data_slots = geometry.data_pages_per_block() as usize;
        let exported = geometry.exported_pages_per_die() as usize;
        let filled = if self.params.pools_start_empty { 0 } else { exported };
        let filled_blocks = filled / data_slots;
        for page in 0..filled {
            let (pool, block) = self.pool_and_block(page / data_slots % planes, page / data_slots / planes);
            let place = Place { die, pool, block, slot: page % data_slots };
            self.put((die * exported + page) as Page, place);
        }
        let state = &mut self.dies[die];
        for nth in 0..filled_blocks {
            let (pool, block) = match self.params.gc.rules.pool {
                BlockPoolScope::Plane => (nth % planes, nth / planes),
                BlockPoolScope::Die => (0, nth),
            };
            state.last_sequence += 1;
            state.pools[pool].blocks[block].sequence = state.last_sequence;
            let sealed = self.params.writes.fill_seals_last_block || nth + 1 < filled_blocks;
            // Open for ever if not sealed: nothing programs it any more.
            state.pools[pool].blocks[block].state = if sealed { BlockState::Sealed } else { BlockState::Open };
        }
        let pools = state.pools.len();
        for pool in &mut state.pools {
            let block = filled_blocks / pools;
            state.last_sequence += 1;
            pool.blocks[block].sequence = state.last_sequence;
            pool.blocks[block].state = BlockState::Open;
            pool.host_open = Open { block, next_slot: 0, sequence: state.last_sequence };
            pool.block_opened_last = block;
        }
    }

    /// Overwrites one member at random (rule 24). `overwrites` is a multiple of the exported pages.
    pub(super) fn warm_up(&mut self, overwrites: f64, seed: u64, member: usize) {
        let exported = u64::from(self.params.geometry.exported_pages_per_die());
        for die in 0..self.dies.len() {
            let mut stream = rng::stream(seed, "warm-up", (member as u64) << 32 | die as u64);
            for _ in 0..(overwrites * exported as f64).floor() as u64 {
                let page = die as u64 * exported + rng::below(&mut stream, exported);
                self.overwrite(page);
            }
        }
    }

    /// The die that holds a page, or on which it belongs if it is unmapped.
    fn die_of(&self, page: Page) -> usize {
        let home = (page / u64::from(self.params.geometry.exported_pages_per_die())) as usize;
        self.places.get(&page).map_or(home, |place| place.die)
    }

    /// A write without time.
    pub(super) fn overwrite(&mut self, page: Page) {
        let die = self.die_of(page);
        while self.check(die).is_some() {}
        let pool = self.pool_for_write(die, page, &[]).expect("a pool has room after the checks");
        self.write(die, pool, page);
    }

    /// Checks the pools of a die and cleans one block of the first pool that needs it (rule 12), without time.
    pub(super) fn check(&mut self, die: usize) -> Option<Clean> {
        let (pool, victim) = self.pools_in_turn(die).into_iter().find_map(|pool| Some((pool, self.victim_if_needed(die, pool)?)))?;
        Some(self.clean(die, pool, victim))
    }

    /// The order in which pools are checked (rule 12).
    pub(super) fn pools_in_turn(&self, die: usize) -> Vec<usize> {
        self.pools_after(die, self.dies[die].pool_cleaned_last)
    }

    fn needs_clean(&self, die: usize, pool: usize) -> bool {
        let gc = &self.params.gc;
        let state = &self.dies[die].pools[pool];
        let free = state.free_blocks();
        free <= gc.start_threshold_free_blocks || (state.in_collection && free < gc.stop_threshold_free_blocks)
    }

    /// The victim in a pool that needs a clean (rule 12).
    pub(super) fn victim_if_needed(&mut self, die: usize, pool: usize) -> Option<usize> {
        if !self.needs_clean(die, pool) {
            return None;
        }
        let victim = self.choose_victim(die, pool);
        if victim.is_none() {
            self.dies[die].pools[pool].in_collection = false;
        }
        victim
    }

    /// The victim in a pool with so many free blocks or fewer (rules 38, 45 and 46).
    pub(super) fn victim_up_to(&mut self, die: usize, pool: usize, free_blocks: u32) -> Option<usize> {
        if self.free_blocks(die, pool) > free_blocks {
            return None;
        }
        self.choose_victim(die, pool)
    }

    /// Free blocks of a pool after the fill (rule 23).
    pub(super) fn free_blocks_after_fill(&self) -> u32 {
        let geometry = &self.params.geometry;
        let planes_per_pool = match self.params.gc.rules.pool {
            BlockPoolScope::Plane => 1,
            BlockPoolScope::Die => geometry.planes,
        };
        planes_per_pool * geometry.overprovisioned_blocks_per_plane - 1
    }

    /// The pool with fewest free blocks among those with a useful victim, the first in turn among equals (rule 45).
    pub(super) fn pool_of_one_forced_victim(&self, die: usize, is_allowed: impl Fn(usize) -> bool) -> Option<usize> {
        let useful = |pool: &usize| is_allowed(*pool) && self.dies[die].pools[*pool].blocks.iter().any(Block::is_useful_victim);
        self.pools_in_turn(die).into_iter().filter(useful).min_by_key(|&pool| self.free_blocks(die, pool))
    }

    /// A clean of a pool begins, whose steps are made one by one.
    pub(super) fn begin_clean(&mut self, die: usize, pool: usize) {
        self.dies[die].pool_cleaned_last = Some(pool);
    }

    /// The valid pages of a block, in page order.
    pub(super) fn pages_of(&self, die: usize, pool: usize, block: usize) -> Vec<Page> {
        self.dies[die].pools[pool].blocks[block].slots.iter().flatten().copied().collect()
    }

    /// Moves one page within its pool.
    pub(super) fn move_page(&mut self, die: usize, page: Page) -> Move {
        let pool = self.places[&page].pool;
        let old_plane = self.plane_on(die, page);
        self.unmap(page);
        let fills_block = self.append(die, pool, page, self.params.gc.rules.separate_open_block);
        Move { fills_block, crosses: self.follows_reference() && self.plane_on(die, page) != old_plane }
    }

    fn follows_reference(&self) -> bool {
        self.params.gc.gc_algorithm == GcAlgorithm::LikeDiskSimWithoutCopyBack
    }

    /// The end of a clean.
    pub(super) fn erase(&mut self, die: usize, pool: usize, victim: usize) {
        let needed = self.needs_clean(die, pool);
        let stop = self.params.gc.stop_threshold_free_blocks;
        let pool_state = &mut self.dies[die].pools[pool];
        let block = &mut pool_state.blocks[victim];
        assert!(block.slots.iter().all(Option::is_none), "an erase destroys no valid page");
        block.state = BlockState::Free;
        block.erases += 1;
        pool_state.in_collection = needed && pool_state.free_blocks() < stop;
        if !pool_state.in_collection {
            pool_state.table.clear();
        }
    }

    /// Pages that host writes can program in a pool before it has `start` free blocks (rule 119); negative if it has them, or fewer.
    pub(super) fn pages_above_start(&self, die: usize, pool: usize) -> i64 {
        let data_pages = i64::from(self.params.geometry.data_pages_per_block());
        let rest = data_pages - self.dies[die].pools[pool].host_open.next_slot as i64;
        rest + (i64::from(self.free_blocks(die, pool)) - i64::from(self.params.gc.start_threshold_free_blocks) - 1) * data_pages
    }

    pub(super) fn free_blocks(&self, die: usize, pool: usize) -> u32 {
        self.dies[die].pools[pool].free_blocks()
    }

    /// Returns the place of a page, unless it is unmapped.
    pub(super) fn place(&self, page: Page) -> Option<Place> {
        self.places.get(&page).copied()
    }

    /// Returns the die of a page (rule 7).
    pub(super) fn home_die(&self, page: Page) -> usize {
        (page / u64::from(self.params.geometry.exported_pages_per_die())) as usize
    }

    /// The plane of a die in which a page lies (rule 11), if it lies on the die.
    pub(super) fn plane_on(&self, die: usize, page: Page) -> Option<usize> {
        let place = self.place(page).filter(|place| place.die == die)?;
        Some(match self.params.gc.rules.pool {
            BlockPoolScope::Plane => place.pool,
            BlockPoolScope::Die => place.block % self.params.geometry.planes as usize,
        })
    }

    /// Performs a clean without its time (rule 14).
    pub(super) fn clean(&mut self, die: usize, pool: usize, victim: usize) -> Clean {
        self.begin_clean(die, pool);
        let pages = self.pages_of(die, pool, victim);
        let moves = pages.into_iter().map(|page| self.move_page(die, page)).collect();
        self.erase(die, pool, victim);
        Clean { pool, moves }
    }

    /// Returns the victim in a pool (rule 13).
    pub(super) fn choose_victim(&mut self, die: usize, pool: usize) -> Option<usize> {
        if self.follows_reference() {
            return self.next_victim_of_round(die, pool);
        }
        let next_sequence = self.dies[die].last_sequence + 1;
        let Die { pools, victim_stream: stream, .. } = &mut self.dies[die];
        let blocks = &pools[pool].blocks;
        let useful = |number: usize| blocks[number].is_useful_victim();
        // Greedy's order: fewest valid pages first, among equals the highest block number.
        let mut candidates: Vec<usize> = (0..blocks.len()).filter(|&number| useful(number)).collect();
        candidates.sort_by_key(|&number| (blocks[number].valid_pages(), Reverse(number)));
        let greedy = *candidates.first()?;
        let mut draw = || loop {
            let number = rng::below(stream, blocks.len() as u64) as usize;
            if useful(number) {
                return number;
            }
        };
        Some(match self.params.gc.victim {
            VictimPolicy::Greedy(_) => greedy,
            VictimPolicy::Fifo(_) => *candidates.iter().min_by_key(|&&number| blocks[number].sequence)?,
            VictimPolicy::Random(_) => draw(),
            VictimPolicy::DChoices(DChoices { d }) => {
                let drawn: Vec<usize> = (0..d).map(|_| draw()).collect();
                *drawn.iter().min_by_key(|&&number| (blocks[number].valid_pages(), Reverse(number)))?
            }
            VictimPolicy::CostBenefit(_) => {
                // age × (1 − u) / 2u = benefit / cost with whole numbers; the factor 2 decides nothing.
                let benefit = |number: usize| {
                    let invalid = blocks[number].slots.len() - blocks[number].valid_pages();
                    u128::from(next_sequence - blocks[number].sequence) * invalid as u128
                };
                let cost = |number: usize| blocks[number].valid_pages() as u128;
                let better = |left: usize, right: usize| match (cost(left), cost(right)) {
                    (0, 0) => benefit(left) > benefit(right),
                    _ => (benefit(left) * cost(right), left) > (benefit(right) * cost(left), right),
                };
                let mut best = candidates[0];
                for &number in &candidates[1..] {
                    if better(number, best) {
                        best = number;
                    }
                }
                best
            }
            VictimPolicy::GreedyWearAware(GreedyWearAware { threshold, endurance_erases }) => {
                let life = |number: usize| u64::from(endurance_erases.saturating_sub(blocks[number].erases));
                let all_lives: u64 = (0..blocks.len()).map(life).sum();
                let limit = threshold.0 * all_lives as f64;
                let taken = candidates.iter().copied().find(|&number| {
                    let scaled_life = (life(number) * blocks.len() as u64) as f64;
                    scaled_life >= limit || rng::uniform(stream) * limit < scaled_life
                });
                taken.unwrap_or(greedy)
            }
            #[allow(unreachable_patterns, reason = "all that are listed may have rules")]
            policy => {
                assert!(!RULES.contains(&format!("- `{}`:", policy.name())), "rule 13 has {policy:?}, which is missing here");
                // A policy without a rule has no second opinion, but everything around it has.
                let scores: Vec<i16> = blocks.iter().map(Block::score).collect();
                let meta: Vec<u64> = blocks.iter().map(|block| block.sequence | u64::from(block.erases) << 32).collect();
                let pool = VictimCandidates::new(&scores, &meta, blocks[0].slots.len() as u32, next_sequence as u32);
                return policy.pick_victim(&pool, &mut VictimRandomness::new(Some(stream)));
            }
        })
    }

    /// Returns the next victim of a round (rule 132).
    fn next_victim_of_round(&mut self, die: usize, pool: usize) -> Option<usize> {
        if !self.needs_clean(die, pool) {
            return self.table_of_victims(die, pool).into_iter().find(|&block| self.is_sealed(die, pool, block));
        }
        loop {
            while !self.dies[die].pools[pool].table.is_empty() {
                let block = self.dies[die].pools[pool].table.remove(0);
                if self.is_sealed(die, pool, block) {
                    return Some(block);
                }
            }
            let table = self.table_of_victims(die, pool);
            if self.free_blocks(die, pool) > self.params.gc.start_threshold_free_blocks
                || !table.iter().any(|&block| self.is_sealed(die, pool, block))
            {
                return None;
            }
            self.dies[die].pools[pool].table = table;
        }
    }

    fn is_sealed(&self, die: usize, pool: usize, block: usize) -> bool {
        self.dies[die].pools[pool].blocks[block].state == BlockState::Sealed
    }

    fn table_of_victims(&self, die: usize, pool: usize) -> Vec<usize> {
        let state = &self.dies[die].pools[pool];
        let data_slots = self.params.geometry.data_pages_per_block() as usize;
        let is_open = |number: usize| state.host_open.block == number && state.host_open.next_slot < data_slots;
        let is_in = |number: &usize| state.blocks[*number].is_useful_victim() || is_open(*number);
        let mut table: Vec<usize> = (0..state.blocks.len()).filter(is_in).collect();
        table.sort_by_key(|&number| (state.blocks[number].valid_pages(), number));
        table
    }

    /// The blocks of a pool in the order in which free ones are searched, from the one after that opened last (rules 17 and 131).
    fn blocks_in_rotation(&self, die: usize, pool: usize) -> Vec<usize> {
        let state = &self.dies[die].pools[pool];
        let mut order: Vec<usize> = (0..state.blocks.len()).collect();
        if self.follows_reference() {
            let planes = self.params.geometry.planes as usize;
            order.sort_by_key(|block| (block % planes, block / planes));
        }
        let last = order.iter().position(|&block| block == state.block_opened_last).expect("one of the pool");
        order.rotate_left(last + 1);
        order
    }

    /// The pool that a host write goes to (rule 21), if one that is not busy has room.
    pub(super) fn pool_for_write(&self, die: usize, page: Page, busy: &[usize]) -> Option<usize> {
        let state = &self.dies[die];
        let in_turn = self.pools_after(die, state.pool_written_last);
        let open_to_write: Vec<usize> = in_turn.into_iter().filter(|pool| !busy.contains(pool) && self.has_room(die, *pool)).collect();
        if self.params.writes.plane_choice == PlaneChoice::Rotate {
            return open_to_write.first().copied();
        }
        let new_enough: Vec<usize> = match self.place(page) {
            Some(old) if old.die == die => {
                let age = state.pools[old.pool].blocks[old.block].sequence;
                open_to_write.iter().copied().filter(|&pool| state.pools[pool].host_open.sequence >= age).collect()
            }
            _ => Vec::new(),
        };
        let candidates = if new_enough.is_empty() { open_to_write } else { new_enough };
        let mut best: Option<usize> = None;
        for pool in candidates {
            if best.is_none_or(|best| self.free_pages(die, pool) > self.free_pages(die, best)) {
                best = Some(pool);
            }
        }
        best
    }

    fn free_pages(&self, die: usize, pool: usize) -> usize {
        let pages_per_block = self.params.geometry.pages_per_block as usize;
        let state = &self.dies[die].pools[pool];
        state.free_blocks() as usize * pages_per_block + pages_per_block - state.host_open.next_slot
    }

    /// Returns true if a pool has room for a host write (rule 16).
    pub(super) fn has_room(&self, die: usize, pool: usize) -> bool {
        let state = &self.dies[die].pools[pool];
        let free_page = state.host_open.next_slot < self.params.geometry.data_pages_per_block() as usize;
        state.free_blocks() >= 2 || (state.free_blocks() == 1 && free_page)
    }

    /// A host write; true if it fills a block.
    pub(super) fn write(&mut self, die: usize, pool: usize, page: Page) -> bool {
        self.unmap(page);
        self.dies[die].pool_written_last = Some(pool);
        self.append(die, pool, page, false)
    }

    /// A trim (rule 107), and the end of the old copy when a page gets a new one.
    pub(super) fn unmap(&mut self, page: Page) {
        if let Some(place) = self.places.remove(&page) {
            self.dies[place.die].pools[place.pool].blocks[place.block].slots[place.slot] = None;
        }
    }

    /// Puts a page behind the last one of an open block, and opens the next block if necessary (rules 17 and 18). Returns true if that
    /// fills the block.
    fn append(&mut self, die: usize, pool: usize, page: Page, for_moves: bool) -> bool {
        let data_slots = self.params.geometry.data_pages_per_block() as usize;
        let in_rotation = self.blocks_in_rotation(die, pool);
        let Die { pools, last_sequence, .. } = &mut self.dies[die];
        let state = &mut pools[pool];
        let mut open = if for_moves { state.move_open } else { Some(state.host_open) };
        if open.is_none_or(|open| open.next_slot == data_slots) {
            let is_free = |block: &usize| state.blocks[*block].state == BlockState::Free;
            let block = in_rotation.into_iter().find(is_free).expect("a block is free");
            *last_sequence += 1;
            state.blocks[block].state = BlockState::Open;
            state.blocks[block].sequence = *last_sequence;
            state.block_opened_last = block;
            open = Some(Open { block, next_slot: 0, sequence: *last_sequence });
        }
        let mut open = open.expect("just opened");
        let place = Place { die, pool, block: open.block, slot: open.next_slot };
        open.next_slot += 1;
        let full = open.next_slot == data_slots;
        if full {
            state.blocks[open.block].state = BlockState::Sealed;
        }
        if for_moves {
            state.move_open = Some(open);
        } else {
            state.host_open = open;
        }
        self.put(page, place);
        full
    }

    fn put(&mut self, page: Page, place: Place) {
        let slot = &mut self.dies[place.die].pools[place.pool].blocks[place.block].slots[place.slot];
        assert!(slot.is_none(), "a slot is written once between erases");
        *slot = Some(page);
        assert!(self.places.insert(page, place).is_none(), "a page lies in one place");
    }

    fn pools_after(&self, die: usize, last: Option<usize>) -> Vec<usize> {
        let pools = self.dies[die].pools.len();
        let first = last.map_or(0, |last| last + 1);
        (0..pools).map(|step| (first + step) % pools).collect()
    }

    /// Valid pages of a die.
    pub(super) fn valid_pages_of_block(&self, die: usize, pool: usize, block: usize) -> usize {
        self.dies[die].pools[pool].blocks[block].valid_pages()
    }

    pub(super) fn valid_pages(&self, die: usize) -> usize {
        self.dies[die].pools.iter().flat_map(|pool| &pool.blocks).map(Block::valid_pages).sum()
    }

    /// Checks everything that holds whenever no clean is in progress.
    pub(super) fn check_invariants(&self) {
        for (die, state) in self.dies.iter().enumerate() {
            for (pool, blocks) in state.pools.iter().enumerate() {
                assert!(blocks.free_blocks() > 0, "a clean finds a block to move to");
                for (block, contents) in blocks.blocks.iter().enumerate() {
                    assert!(contents.state != BlockState::Free || contents.valid_pages() == 0, "a free block is empty");
                    for (slot, page) in contents.slots.iter().enumerate() {
                        let place = Place { die, pool, block, slot };
                        assert!(page.is_none_or(|page| self.places[&page] == place), "a page lies where it is looked for");
                    }
                }
            }
        }
        let valid_pages: usize = (0..self.dies.len()).map(|die| self.valid_pages(die)).sum();
        assert_eq!(valid_pages, self.places.len(), "a page lies in one place");
    }

    /// The pool and its block that are block `block` of plane `plane` (rule 11).
    fn pool_and_block(&self, plane: usize, block: usize) -> (usize, usize) {
        match self.params.gc.rules.pool {
            BlockPoolScope::Plane => (plane, block),
            BlockPoolScope::Die => (0, block * self.params.geometry.planes as usize + plane),
        }
    }

    /// Erases of every block in order of die, plane, block.
    pub(super) fn block_erases(&self) -> Vec<u32> {
        let geometry = self.params.geometry;
        let mut erases = Vec::new();
        for die in &self.dies {
            for plane in 0..geometry.planes as usize {
                for block in 0..geometry.blocks_per_plane as usize {
                    let (pool, block) = self.pool_and_block(plane, block);
                    erases.push(die.pools[pool].blocks[block].erases);
                }
            }
        }
        erases
    }

    /// Returns the number of a page's place in the SSD, and the erases of its block. Places are numbered by die, pool, block and page.
    pub(super) fn page_and_erases(&self, page: Page) -> (u64, u32) {
        let Place { die, pool, block, slot } = self.place(page).expect("a page that is read by itself is there");
        let of_die = &self.dies[die].pools;
        let number = (die * of_die.len() + pool) * of_die[pool].blocks.len() + block;
        (number as u64 * u64::from(self.params.geometry.pages_per_block) + slot as u64, of_die[pool].blocks[block].erases)
    }

    /// Returns the place of every page, in order of page.
    pub(super) fn physical_pages(&self) -> Vec<PhysicalPage> {
        let planes = self.params.geometry.planes;
        let pages = u64::from(self.params.geometry.dies * self.params.geometry.exported_pages_per_die());
        let physical = |page: Page| {
            let Some(place) = self.place(page) else { return PhysicalPage::NOWHERE };
            let (plane, block) = match self.params.gc.rules.pool {
                BlockPoolScope::Plane => (place.pool as u32, place.block as u32),
                BlockPoolScope::Die => (place.block as u32 % planes, place.block as u32 / planes),
            };
            PhysicalPage { die: place.die as u32, plane, block, page: place.slot as u32 }
        };
        if self.dies.is_empty() { Vec::new() } else { (0..pages).map(physical).collect() }
    }
}

impl BlockPool {
    fn free_blocks(&self) -> u32 {
        self.blocks.iter().filter(|block| block.state == BlockState::Free).count() as u32
    }
}

impl Block {
    fn is_useful_victim(&self) -> bool {
        self.state == BlockState::Sealed && self.slots.contains(&None)
    }

    fn valid_pages(&self) -> usize {
        self.slots.iter().flatten().count()
    }

    /// Returns the score as the model keeps it for its policies.
    fn score(&self) -> i16 {
        if self.state == BlockState::Sealed { self.valid_pages() as i16 } else { i16::MAX }
    }
}

fn empty_die(params: &SsdParams, seed: u64, member: usize, die: usize) -> Die {
    let geometry = params.geometry;
    let (pools, blocks) = match params.gc.rules.pool {
        BlockPoolScope::Plane => (geometry.planes, geometry.blocks_per_plane),
        BlockPoolScope::Die => (1, geometry.blocks_per_die()),
    };
    let block = Block { state: BlockState::Free, sequence: 0, erases: 0, slots: vec![None; geometry.data_pages_per_block() as usize] };
    let pool = || BlockPool {
        blocks: vec![block.clone(); blocks as usize],
        host_open: Open { block: 0, next_slot: 0, sequence: 0 },
        move_open: None,
        block_opened_last: 0,
        in_collection: false,
        table: Vec::new(),
    };
    Die {
        pools: (0..pools).map(|_| pool()).collect(),
        last_sequence: 0,
        pool_written_last: None,
        pool_cleaned_last: None,
        victim_stream: rng::stream(seed, "victim", (member as u64) << 32 | die as u64),
    }
}
