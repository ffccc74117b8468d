//! The victim of a pool, as the policy picks it.

use super::Pools;
use crate::ids::{BlockId, DieId};
use crate::space::victim::{Blocks, Draws, VictimPolicy};

impl Pools {
    /// The blocks of `pool` of `die`.
    fn blocks_of(&self, die: DieId, pool: u32) -> Blocks<'_> {
        let (first, count, stride) = self.extent_of(die, pool);
        let end = first + count;
        let meta = &self.meta[first * stride..end * stride];
        Blocks::of_pool(&self.score[first..end], meta, stride, self.data_pages, self.dies[die.index()].sequence + 1)
    }

    /// The victim (block of the device) that the policy picks in `pool` of `die`.
    pub(super) fn pick_victim(&mut self, die: DieId, pool: u32) -> Option<BlockId> {
        if self.follows_reference() {
            return self.pick_victim_of_go(die, pool);
        }
        // Taken out, since the blocks borrow the rest.
        let mut stream = self.streams.get(die.index()).cloned();
        let found = self.victim.pick(&self.blocks_of(die, pool), &mut Draws::new(stream.as_mut()));
        if let Some(stream) = stream {
            self.streams[die.index()] = stream;
        }
        found.map(|block| BlockId((self.extent_of(die, pool).0 + block) as u32))
    }

    /// The block that the policy would pick, if that can be foreseen cheaply: only greedy's choice can.
    pub(super) fn foreseen_victim(&self, die: DieId, pool: u32) -> Option<BlockId> {
        if self.follows_reference() || !matches!(self.victim, VictimPolicy::Greedy(_)) {
            return None;
        }
        let found = self.blocks_of(die, pool).emptiest();
        found.map(|block| BlockId((self.extent_of(die, pool).0 + block) as u32))
    }

    /// First block of a pool, its blocks, and words of `meta` per block.
    fn extent_of(&self, die: DieId, pool: u32) -> (usize, usize, usize) {
        let first = (die.0 * self.pools_per_die + pool) as usize * self.blocks_per_pool as usize;
        (first, self.blocks_per_pool as usize, self.words + 1)
    }
}
