//! Which block is collected: one policy per file.
//!
//! A policy sees the blocks of one pool and answers with a sealed block that has at least one invalid page, or none: an open
//! block is never a victim and neither is one whose pages are all valid, since collecting it gains nothing.

mod cost_benefit;
mod d_choices;
mod fifo;
pub(super) mod greedy;
mod greedy_wear_aware;
mod random;

use super::Ftl;
use crate::ids::{BlockId, DieId};

/// Which block is collected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum VictimPolicy {
    /// Fewest valid pages; among equals the highest block number.
    Greedy,
    /// Greedy, but a block whose remaining life is below `threshold` × the pool's mean is passed over with a probability that grows
    /// as its life shrinks (Agrawal et al., USENIX ATC 2008, 3.5).
    GreedyWearAware {
        /// Share of the mean remaining life below which a block is spared, in (0, 1).
        threshold: f64,
        /// Erases a block endures.
        endurance_erases: u32,
    },
    /// Greatest `age × (1 − u) / 2u` (Rosenblum & Ousterhout, SOSP 1991; Kawaguchi et al., USENIX 1995).
    CostBenefit,
    /// Fewest valid pages among `d` blocks drawn at random (Van Houdt, SIGMETRICS 2013).
    DChoices {
        /// Blocks drawn, at least 1.
        d: u32,
    },
    /// The block that was opened first.
    Fifo,
    /// Any sealed block with garbage, uniformly.
    Random,
}

/// The blocks of one pool as a policy sees them.
pub(super) struct Blocks<'a> {
    /// Valid pages of sealed blocks; open and free blocks score above any number of pages.
    scores: &'a [i16],
    /// Pages of a block that hold data: a useful victim scores less.
    data_pages: i16,
    /// `sequence | erases << 32` of block `i` is at `meta[i × stride + stride − 1]`.
    meta: &'a [u64],
    stride: usize,
}

impl Blocks<'_> {
    fn sequence(&self, block: usize) -> u32 {
        self.meta[(block + 1) * self.stride - 1] as u32
    }

    fn erases(&self, block: usize) -> u32 {
        (self.meta[(block + 1) * self.stride - 1] >> 32) as u32
    }

    /// Useful victims with their valid pages, in order of block number.
    fn useful(&self) -> impl DoubleEndedIterator<Item = (usize, i16)> + '_ {
        self.scores.iter().copied().enumerate().filter(|&(_, s)| s < self.data_pages)
    }
}

impl VictimPolicy {
    /// Whether the policy needs random numbers.
    pub fn draws(&self) -> bool {
        matches!(self, Self::GreedyWearAware { .. } | Self::DChoices { .. } | Self::Random)
    }
}

/// The `count` blocks from `first` on.
fn blocks_of<'a>(score: &'a [i16], meta: &'a [u64], first: usize, count: usize, stride: usize, data_pages: u32) -> Blocks<'a> {
    let end = first + count;
    Blocks { scores: &score[first..end], data_pages: data_pages as i16, meta: &meta[first * stride..end * stride], stride }
}

impl Ftl {
    /// The blocks of `pool` of `die`.
    pub(super) fn blocks_of(&self, die: DieId, pool: u32) -> Blocks<'_> {
        let first = (die.0 * self.pools_per_die + pool) as usize * self.blocks_per_pool as usize;
        blocks_of(&self.score, &self.meta, first, self.blocks_per_pool as usize, self.words + 1, self.data_pages)
    }

    /// The victim (block of the device) that the policy picks in `pool` of `die`.
    pub(super) fn pick_victim(&mut self, die: DieId, pool: u32) -> Option<BlockId> {
        let first = (die.0 * self.pools_per_die + pool) as usize * self.blocks_per_pool as usize;
        // Not by way of `blocks_of`, which would borrow the streams, too.
        let blocks = blocks_of(&self.score, &self.meta, first, self.blocks_per_pool as usize, self.words + 1, self.data_pages);
        let found = match self.victim {
            VictimPolicy::Greedy => greedy::pick(&blocks),
            VictimPolicy::GreedyWearAware { threshold, endurance_erases } => {
                greedy_wear_aware::pick(&blocks, threshold, endurance_erases, &mut self.streams[die.index()])
            }
            VictimPolicy::CostBenefit => cost_benefit::pick(&blocks, self.dies[die.index()].sequence + 1),
            VictimPolicy::DChoices { d } => d_choices::pick(&blocks, d, &mut self.streams[die.index()]),
            VictimPolicy::Fifo => fifo::pick(&blocks),
            VictimPolicy::Random => random::pick(&blocks, &mut self.streams[die.index()]),
        };
        found.map(|block| BlockId((first + block) as u32))
    }
}
