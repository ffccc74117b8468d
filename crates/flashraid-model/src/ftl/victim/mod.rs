//! Which block is collected: one policy per file, all of it there; `VictimPolicy` lists them.
//!
//! A policy sees the blocks of one pool and answers with a sealed block that has at least one invalid page, or none: an open
//! block is never a victim and neither is one whose pages are all valid, since collecting it gains nothing.

use super::Ftl;
use crate::ids::{BlockId, DieId};
use crate::policy::{PolicyProblem, policies};
use crate::rng::{self, Stream};

policies! {
    /// Which block is collected: a policy by name, or a table with its parameters.
    #[derive(Clone, Copy, PartialEq)]
    pub enum VictimPolicy: Victim, tag "policy" {
        greedy::Greedy = "greedy",
        greedy_wear_aware::GreedyWearAware = "greedy-wear-aware",
        cost_benefit::CostBenefit = "cost-benefit",
        d_choices::DChoices = "d-choices",
        fifo::Fifo = "fifo",
        random::Random = "random",
    }

    /// The block of the pool that is collected next; `None` if none is useful.
    pub fn pick(&self, blocks: &Blocks<'_>, draws: &mut Draws<'_>) -> Option<usize>;
    /// Whether the policy needs random numbers.
    pub fn draws(&self) -> bool;
    /// Tells it how often the SSD's blocks can be erased.
    pub fn set_endurance(&mut self, erases: u32);
    /// Whether the policy levels wear.
    pub fn levels_wear(&self) -> bool;
    /// What is wrong with its parameters.
    pub fn problems(&self) -> Vec<PolicyProblem>;
    /// What is known of its write amplification.
    pub fn theory(&self) -> Theory;
}

/// A victim policy. Its type is what users write: the parameters, each with a default.
pub trait Victim: Default {
    /// The block of the pool that is collected next, which must be useful; `None` if none is.
    fn pick(&self, blocks: &Blocks<'_>, draws: &mut Draws<'_>) -> Option<usize>;

    /// Whether the policy needs random numbers.
    fn draws(&self) -> bool {
        false
    }

    /// Tells it how often the SSD's blocks can be erased.
    fn set_endurance(&mut self, _erases: u32) {}

    /// Whether the policy levels wear: it spares blocks that are more worn than others.
    fn levels_wear(&self) -> bool {
        false
    }

    /// What is wrong with its parameters, beyond what their types say.
    fn problems(&self) -> Vec<PolicyProblem> {
        Vec::new()
    }

    /// What is known of its write amplification under uniform random writes.
    fn theory(&self) -> Theory {
        Theory::AtLeastGreedy
    }

    /// One with random parameters, for the random cases of tests.
    fn any(_stream: &mut Stream) -> Self {
        Self::default()
    }
}

/// What is known of a policy's write amplification under uniform random writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theory {
    /// That of greedy.
    Greedy,
    /// That of taking the oldest block.
    OldestFirst,
    /// That of taking any block.
    Random,
    /// At least that of greedy, which is the least there is under such writes.
    AtLeastGreedy,
}

/// The blocks of one pool as a policy sees them.
#[derive(Debug, Clone, Copy)]
pub struct Blocks<'a> {
    /// Valid pages of sealed blocks; open and free blocks score above any number of pages.
    scores: &'a [i16],
    /// Pages of a block that hold data: a useful victim scores less.
    data_pages: i16,
    /// `sequence | erases << 32` of block `i` is at `meta[i × stride + stride − 1]`.
    meta: &'a [u64],
    stride: usize,
    /// Sequence number of the block that the die opens next.
    next_sequence: u32,
}

impl<'a> Blocks<'a> {
    /// A pool whose blocks hold `data_pages` pages of data; the die opens its next block as number `next_sequence`.
    ///
    /// `scores` has the valid pages of every sealed block and [`i16::MAX`] for every other one, `meta` has
    /// `sequence | erases << 32` of every block.
    pub fn new(scores: &'a [i16], meta: &'a [u64], data_pages: u32, next_sequence: u32) -> Self {
        Self { scores, data_pages: data_pages as i16, meta, stride: 1, next_sequence }
    }

    /// Blocks of the pool.
    #[expect(clippy::len_without_is_empty, reason = "a pool has blocks")]
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    /// Whether a block is sealed and has garbage.
    pub fn is_useful(&self, block: usize) -> bool {
        self.scores[block] < self.data_pages
    }

    /// Valid pages of a sealed block.
    pub fn valid_pages(&self, block: usize) -> i16 {
        self.scores[block]
    }

    /// Pages of a sealed block that are not valid.
    pub fn invalid_pages(&self, block: usize) -> i16 {
        self.data_pages - self.scores[block]
    }

    /// The number that the block got when it was opened, from a count of the die.
    pub fn sequence(&self, block: usize) -> u32 {
        self.meta[(block + 1) * self.stride - 1] as u32
    }

    /// Blocks that the die has opened since, the next one included.
    pub fn age(&self, block: usize) -> u32 {
        self.next_sequence - self.sequence(block)
    }

    /// How often the block has been erased.
    pub fn erases(&self, block: usize) -> u32 {
        (self.meta[(block + 1) * self.stride - 1] >> 32) as u32
    }

    /// Useful victims with their valid pages, in order of block number.
    pub fn useful(&self) -> impl DoubleEndedIterator<Item = (usize, i16)> + '_ {
        self.scores.iter().copied().enumerate().filter(|&(_, s)| s < self.data_pages)
    }
}

/// Random numbers from the die's own stream.
#[derive(Debug)]
pub struct Draws<'a>(Option<&'a mut Stream>);

impl<'a> Draws<'a> {
    /// Numbers from `stream`; none for a policy that needs none.
    pub fn new(stream: Option<&'a mut Stream>) -> Self {
        Self(stream)
    }

    fn stream(&mut self) -> &mut Stream {
        self.0.as_deref_mut().expect("a policy that draws says so: `Victim::draws`")
    }

    /// A number from 0 to `bound` − 1, each equally likely.
    pub fn below(&mut self, bound: u64) -> u64 {
        rng::below(self.stream(), bound)
    }

    /// A number from [0, 1).
    pub fn unit(&mut self) -> f64 {
        rng::unit(self.stream())
    }

    /// A useful block, each equally likely; there must be one.
    pub fn useful(&mut self, blocks: &Blocks<'_>) -> usize {
        loop {
            let block = self.below(blocks.len() as u64) as usize;
            if blocks.is_useful(block) {
                return block;
            }
        }
    }
}

impl Ftl {
    /// The blocks of `pool` of `die`.
    pub(super) fn blocks_of(&self, die: DieId, pool: u32) -> Blocks<'_> {
        let (first, count, stride) = self.extent_of(die, pool);
        let end = first + count;
        Blocks {
            scores: &self.score[first..end],
            data_pages: self.data_pages as i16,
            meta: &self.meta[first * stride..end * stride],
            stride,
            next_sequence: self.dies[die.index()].sequence + 1,
        }
    }

    /// The victim (block of the device) that the policy picks in `pool` of `die`.
    pub(super) fn pick_victim(&mut self, die: DieId, pool: u32) -> Option<BlockId> {
        if self.follows_reference() {
            return self.pick_victim_of_go(die, pool);
        }
        // Taken out, since the blocks borrow the rest.
        let mut stream = self.streams.get(die.index()).cloned();
        let found = self.victim.pick(&self.blocks_of(die, pool), &mut Draws(stream.as_mut()));
        if let Some(stream) = stream {
            self.streams[die.index()] = stream;
        }
        found.map(|block| BlockId((self.extent_of(die, pool).0 + block) as u32))
    }

    /// The block that the policy would pick, if that can be foreseen cheaply: only greedy's choice can.
    pub(super) fn foreseen_victim(&self, die: DieId, pool: u32) -> Option<BlockId> {
        if self.follows_reference() {
            return None;
        }
        let VictimPolicy::Greedy(greedy) = self.victim else { return None };
        let found = greedy.pick(&self.blocks_of(die, pool), &mut Draws(None));
        found.map(|block| BlockId((self.extent_of(die, pool).0 + block) as u32))
    }

    /// First block of a pool, its blocks, and words of `meta` per block.
    fn extent_of(&self, die: DieId, pool: u32) -> (usize, usize, usize) {
        let first = (die.0 * self.pools_per_die + pool) as usize * self.blocks_per_pool as usize;
        (first, self.blocks_per_pool as usize, self.words + 1)
    }
}
