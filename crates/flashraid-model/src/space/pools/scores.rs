//! Scores of all blocks, and the least score of each group of blocks, with which the emptiest block of a pool is found quickly.

use super::FREE_SCORE;
use crate::space::tables::prefetch;
use crate::space::victim::{GROUP, LeastScores};
use std::ops::Range;

/// Scores of the blocks of a device, with the least score of each [`GROUP`] of blocks that follow each other.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scores {
    of_blocks: Vec<i16>,
    least: Vec<i16>,
}

impl Scores {
    /// Returns the scores of free blocks.
    pub(crate) fn of_free(blocks: usize) -> Self {
        Self { of_blocks: vec![FREE_SCORE; blocks], least: vec![FREE_SCORE; blocks.div_ceil(GROUP)] }
    }

    /// Returns the number of blocks.
    pub(super) fn len(&self) -> usize {
        self.of_blocks.len()
    }

    /// Returns the scores of some blocks.
    pub(super) fn of(&self, blocks: Range<usize>) -> &[i16] {
        &self.of_blocks[blocks]
    }

    /// Returns the least scores of the groups that lie wholly among some blocks.
    pub(crate) fn least_of(&self, blocks: Range<usize>) -> LeastScores<'_> {
        let groups = blocks.start.div_ceil(GROUP)..blocks.end / GROUP;
        match groups.is_empty() {
            true => LeastScores::none(blocks.len()),
            false => LeastScores { before: groups.start * GROUP - blocks.start, of_groups: &self.least[groups] },
        }
    }

    /// Sets the score of a block to one that is not higher.
    #[inline]
    pub(super) fn lower(&mut self, block: usize, score: i16) {
        self.of_blocks[block] = score;
        let least = &mut self.least[block / GROUP];
        *least = score.min(*least);
    }

    /// Sets the score of a block, which may be higher than before.
    pub(super) fn set(&mut self, block: usize, score: i16) {
        self.of_blocks[block] = score;
        self.least[block / GROUP] = self.least_in(block / GROUP);
    }

    /// Sets the score of a block alone. [`Scores::derive_least`] must follow after many of them.
    #[inline]
    pub(crate) fn set_alone(&mut self, block: usize, score: i16) {
        self.of_blocks[block] = score;
    }

    /// Derives the least scores from the scores.
    pub(crate) fn derive_least(&mut self) {
        for group in 0..self.least.len() {
            self.least[group] = self.least_in(group);
        }
    }

    fn least_in(&self, group: usize) -> i16 {
        let end = self.of_blocks.len().min((group + 1) * GROUP);
        self.of_blocks[group * GROUP..end].iter().copied().fold(i16::MAX, i16::min)
    }

    /// Prefetches the score of a block.
    #[inline]
    pub(super) fn prefetch(&self, block: usize) {
        prefetch(&self.of_blocks, block);
    }

    /// Returns the number of bytes of the tables.
    pub(super) fn bytes(&self) -> usize {
        (self.of_blocks.len() + self.least.len()) * size_of::<i16>()
    }

    /// Returns true if the least score of each group is that of one of its blocks, and none is lower.
    pub(crate) fn are_consistent(&self) -> bool {
        self.least.iter().enumerate().all(|(group, least)| *least == self.least_in(group))
    }
}

impl std::ops::Index<usize> for Scores {
    type Output = i16;

    #[inline]
    fn index(&self, block: usize) -> &i16 {
        &self.of_blocks[block]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::victim::VictimCandidates;
    use proptest::prelude::*;

    proptest! {
        /// A pool begins and ends in the middle of a group unless its number of blocks is a multiple.
        #[test]
        fn the_emptiest_block_is_the_last_one_of_the_least_score(
            pool_blocks in 1usize..300,
            changes in prop::collection::vec((any::<prop::sample::Index>(), 0i16..40), 0..400),
        ) {
            let mut scores = Scores::of_free(3 * pool_blocks);
            for (block, score) in changes {
                let block = block.index(scores.len());
                let score = if score < 35 { score } else { FREE_SCORE };
                if score <= scores[block] { scores.lower(block, score) } else { scores.set(block, score) }
            }
            prop_assert!(scores.are_consistent());
            for pool in 0..3 {
                let own = pool * pool_blocks..(pool + 1) * pool_blocks;
                let meta = vec![0; pool_blocks];
                let useful = own.clone().filter(|&block| scores[block] < 32);
                let expected = useful.min_by_key(|&block| (scores[block], std::cmp::Reverse(block))).map(|block| block - own.start);
                let blocks = VictimCandidates::of_pool(scores.of(own.clone()), scores.least_of(own), &meta, 1, 32, 1);
                prop_assert_eq!(blocks.block_with_fewest_valid_pages(), expected);
            }
        }
    }
}
