//! The choice of a victim in a pool.

use super::PageMapping;
use crate::ids::{BlockId, DieId};
use crate::space::victim::{VictimCandidates, VictimRandomness};

impl PageMapping {
    /// Returns a view of the blocks of `pool` in `die` for a victim policy.
    fn blocks_of(&self, die: DieId, pool: u32) -> VictimCandidates<'_> {
        let (first, count, stride) = self.extent_of(die, pool);
        let own = first..first + count;
        let meta = &self.meta[own.start * stride..own.end * stride];
        let (scores, least) = (self.score.of(own.clone()), self.score.least_of(own));
        VictimCandidates::of_pool(scores, least, meta, stride, self.data_pages, self.dies[die.index()].sequence + 1)
    }

    /// Returns the victim that the policy picks in `pool` of `die`. The block number counts over the device.
    pub(super) fn pick_victim(&mut self, die: DieId, pool: u32) -> Option<BlockId> {
        if self.follows_reference() {
            return self.pick_victim_of_round(die, pool);
        }
        let foreseen = self.dies[die.index()].foreseen;
        let (first, blocks, _) = self.extent_of(die, pool);
        if (first..first + blocks).contains(&(foreseen as usize)) {
            debug_assert_eq!(
                self.victim.pick_victim(&self.blocks_of(die, pool), &mut VictimRandomness::new(None)),
                Some(foreseen as usize - first)
            );
            return Some(BlockId(foreseen));
        }
        // The stream is taken out, because the blocks borrow everything else.
        let mut stream = self.streams.get(die.index()).cloned();
        let found = self.victim.pick_victim(&self.blocks_of(die, pool), &mut VictimRandomness::new(stream.as_mut()));
        if let Some(stream) = stream {
            self.streams[die.index()] = stream;
        }
        found.map(|block| BlockId((first + block) as u32))
    }

    /// Returns the first block of a pool, the number of its blocks, and the words of `meta` per block.
    fn extent_of(&self, die: DieId, pool: u32) -> (usize, usize, usize) {
        let first = (die.0 * self.pools_per_die + pool) as usize * self.blocks_per_pool as usize;
        (first, self.blocks_per_pool as usize, self.words + 1)
    }
}
