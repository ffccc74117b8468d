//! The reference simulator's procedure without copy-back (rules 130 to 133): rounds of collection with tables of victims.
//!
//! A *round* of a pool begins with the check that finds it at its start threshold, and ends when it has reached its stop threshold.
//!
//! The victims come from a table that is made when the round begins. It holds the sealed blocks with invalid pages, and the open block.
//! Blocks with the fewest valid pages come first, and among equals the lowest block number. Blocks opened later are not in the table.

use super::{FREE_SCORE, GcAlgorithm, OPEN_SCORE, PageMapping};
use crate::ids::{BlockId, DieId};

/// The table of a pool's round: how many valid pages each block had when the round began. It has [`NO_VICTIM`] for a block that is no
/// victim or has been taken. It is empty between rounds.
pub(super) type Round = Vec<i16>;

/// Entry of a block that the round does not take.
const NO_VICTIM: i16 = i16::MAX;

impl PageMapping {
    /// Returns true if the collection follows [`GcAlgorithm::LikeDiskSimWithoutCopyBack`].
    #[inline]
    pub(super) fn follows_reference(&self) -> bool {
        self.procedure == GcAlgorithm::LikeDiskSimWithoutCopyBack
    }

    /// Returns the block at a `position` in the order in which the free blocks of a pool are searched: plane by plane (rule 131).
    pub(super) fn block_at_position(&self, position: u32) -> u32 {
        let g = &self.geometry;
        position % g.blocks_per_plane * g.planes + position / g.blocks_per_plane
    }

    /// Returns the next victim of the pool's round, and begins a round if necessary. `None` ends the round.
    ///
    /// If the pool does not need a clean, the victim is what a table made for this clean alone would begin with.
    pub(super) fn pick_victim_of_round(&mut self, die: DieId, pool: u32) -> Option<BlockId> {
        let index = (die.0 * self.pools_per_die + pool) as usize;
        let needs_clean = self.dies[die.index()].need >> pool & 1 == 1;
        if !needs_clean {
            let first = index * self.blocks_per_pool as usize;
            let scores = self.score.of(first..first + self.blocks_per_pool as usize);
            // The scores of open and of free blocks are above those of all others.
            let least = scores.iter().copied().fold(FREE_SCORE, i16::min);
            let is_victim = |&score: &i16| score == least && (score as u32) < self.data_pages;
            return scores.iter().position(is_victim).map(|block| BlockId((first + block) as u32));
        }
        let mut table = std::mem::take(&mut self.rounds[index]);
        let mut victim = self.next_sealed(index, &mut table);
        if victim.is_none() && self.pools[index].free_blocks <= self.start_free_blocks {
            self.write_victims(index, &mut table);
            victim = self.next_sealed(index, &mut table);
        }
        if victim.is_none() {
            table.clear();
        }
        self.rounds[index] = table;
        victim
    }

    /// Takes blocks from the table until it finds a sealed one. The block that was open when the table was made may still be open.
    fn next_sealed(&self, index: usize, table: &mut Round) -> Option<BlockId> {
        loop {
            // Two passes without branches are faster than one that remembers where the least entry was.
            let least = table.iter().copied().fold(NO_VICTIM, i16::min);
            if least == NO_VICTIM {
                return None;
            }
            let place = table.iter().position(|&valid| valid == least)?;
            table[place] = NO_VICTIM;
            let block = index * self.blocks_per_pool as usize + place;
            if self.score[block] < OPEN_SCORE {
                return Some(BlockId(block as u32));
            }
        }
    }

    /// Makes the table of a new round. Its victims are the sealed blocks with invalid pages and the open block, which counts the pages it
    /// has so far.
    fn write_victims(&self, index: usize, table: &mut Round) {
        let first = index * self.blocks_per_pool as usize;
        let scores = self.score.of(first..first + self.blocks_per_pool as usize);
        let all_valid = self.data_pages as i16;
        table.clear();
        table.extend(scores.iter().map(|&score| if score < all_valid { score } else { NO_VICTIM }));
        let open = self.pools[index].open;
        let place = (open.block as usize).checked_sub(first).filter(|&place| place < scores.len());
        if let Some(place) = place.filter(|&place| (OPEN_SCORE..FREE_SCORE).contains(&scores[place])) {
            // The score counts pages that are not programmed yet as valid.
            table[place] = scores[place] - OPEN_SCORE + open.next_page as i16 - all_valid;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flash::Geometry;
    use crate::ids::Lpn;
    use crate::space::pools::{BlockPoolScope, BlockPoolsFtlParams, PlaneChoice, VictimPolicy};

    const DIE: DieId = DieId(0);

    /// Returns two planes of eight blocks of four pages, three of each in reserve. The lpns of block `b` of the fill begin at `4 b`.
    fn ftl(start_free_blocks: u32) -> PageMapping {
        let geometry = Geometry {
            dies: 1,
            planes: 2,
            blocks_per_plane: 8,
            pages_per_block: 4,
            page_bytes: 4096,
            overprovisioned_blocks_per_plane: 3,
            has_summary_page: false,
        };
        let params = BlockPoolsFtlParams {
            geometry,
            overwrites_may_change_die: false,
            plane_choice: PlaneChoice::MostFreePages,
            pool: BlockPoolScope::Die,
            gc_algorithm: GcAlgorithm::LikeDiskSimWithoutCopyBack,
            start_threshold_free_blocks: start_free_blocks,
            stop_threshold_free_blocks: start_free_blocks + 2,
            victim: VictimPolicy::default(),
            separate_open_block_for_moves: false,
            fill_seals_last_block: true,
            starts_empty: false,
        };
        PageMapping::filled_in_address_order(&params, 1, 0)
    }

    fn write(ftl: &mut PageMapping, lpns: &[u32]) {
        for &lpn in lpns {
            let pool = ftl.choose_pool_for_write(DIE, Lpn(lpn), 0).expect("there is room");
            ftl.write(DIE, pool, Lpn(lpn));
        }
    }

    #[test]
    fn free_blocks_are_opened_plane_by_plane() {
        let mut ftl = ftl(1);
        // Blocks 10 to 15 are free at first, the even ones in plane 0.
        let mut opened = vec![ftl.pools[0].open.block];
        for lpn in 0..17 {
            write(&mut ftl, &[lpn]);
            opened.push(ftl.pools[0].open.block);
        }
        opened.dedup();
        assert_eq!(opened, [10, 12, 14, 11, 13]);
    }

    #[test]
    fn victims_come_from_the_table_of_the_round() {
        let mut ftl = ftl(3);
        // Five blocks are free at first. Blocks 1 and 3 lose two pages each, block 0 one; the second block of these is opened for the
        // ninth.
        write(&mut ftl, &[4, 5, 12, 13, 0, 16, 17, 18, 19]);
        assert!(ftl.needs_clean(DIE), "three blocks are free");
        // Block 4 has no valid page left, so it comes first, then 1 and 3. The block opened last has one page and comes before them in the
        // table, but it is not sealed.
        assert_eq!(ftl.next_victim(DIE, 0), Some((0, BlockId(4))));
        ftl.clean(DIE, 0, BlockId(4));
        assert_eq!(ftl.next_victim(DIE, 0), Some((0, BlockId(1))));
        // Block 1 lies in plane 1, block 14 in plane 0, so both remaining pages cross planes.
        let work = ftl.clean(DIE, 0, BlockId(1));
        assert_eq!((work.pages_moved, work.pages_crossing, work.slowed_by_cross_plane_moves), (2, 2, [true, false]));
        // Five blocks are free, so the round is over.
        assert!(!ftl.needs_clean(DIE));
        assert!(ftl.rounds[0].is_empty());
        // A clean that no pool needs makes its own table.
        assert_eq!(ftl.next_clean_below(DIE, 9, 0), Some((0, BlockId(3))));
    }
}
