//! Which block is collected: one policy per file, all of it there; `VictimPolicy` lists them.
//!
//! A policy sees the blocks of one pool, or all superblocks of a drive, and answers with one that is useful, or none. A useful block is sealed, and
//! collecting it gains room: a block of a pool has an invalid page, a superblock gives back more superpages than its moves need.

use crate::policy::{PolicyProblem, policies};
use crate::rng::{self, Stream};
use std::cmp::Reverse;

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

    /// The block that is collected next; `None` if none is useful.
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
    /// The block that is collected next, which must be useful; `None` if none is.
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

/// A superblock as a policy sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Valid units if it is sealed, else [`u32::MAX`].
    pub valid: u32,
    /// The number that it got when it was opened, from a count of the drive.
    pub sequence: u32,
    /// Erases that it has had.
    pub erases: u32,
}

/// What the blocks are.
#[derive(Debug, Clone, Copy)]
enum Held<'a> {
    /// `scores` has the valid pages of sealed blocks, and more than any number of pages for others; `sequence | erases << 32` of block `i` is
    /// at `meta[i × stride + stride − 1]`.
    Pool {
        scores: &'a [i16],
        meta: &'a [u64],
        stride: usize,
    },
    Superblocks(&'a [Candidate]),
}

/// The blocks of one pool, or the superblocks of a drive, as a policy sees them; a *page* is a unit there.
#[derive(Debug, Clone, Copy)]
pub struct Blocks<'a> {
    held: Held<'a>,
    /// Pages that a block takes.
    data_pages: u32,
    /// A sealed block with fewer valid pages is useful.
    useful_below: u32,
    /// Number of the block that is opened next.
    next_sequence: u32,
}

/// Blocks whose least score is found before the next ones are looked at.
const CHUNK: usize = 64;

impl<'a> Blocks<'a> {
    /// Takes a pool whose blocks hold `data_pages` pages of data; the die opens its next block as number `next_sequence`.
    ///
    /// `scores` has the valid pages of every sealed block and [`i16::MAX`] for every other one, `meta` has
    /// `sequence | erases << 32` of every block.
    pub fn new(scores: &'a [i16], meta: &'a [u64], data_pages: u32, next_sequence: u32) -> Self {
        Self::of_pool(scores, meta, 1, data_pages, next_sequence)
    }

    /// The same with `stride` words for each block, of which the last one counts.
    pub(super) fn of_pool(scores: &'a [i16], meta: &'a [u64], stride: usize, data_pages: u32, next_sequence: u32) -> Self {
        Self { held: Held::Pool { scores, meta, stride }, data_pages, useful_below: data_pages, next_sequence }
    }

    /// Takes all superblocks of a drive, which hold `data_units` units and are useful with fewer than `useful_below` valid ones.
    pub fn of_superblocks(superblocks: &'a [Candidate], data_units: u32, useful_below: u32, next_sequence: u32) -> Self {
        Self { held: Held::Superblocks(superblocks), data_pages: data_units, useful_below, next_sequence }
    }

    /// Number of blocks.
    #[expect(clippy::len_without_is_empty, reason = "a pool has blocks")]
    pub fn len(&self) -> usize {
        match self.held {
            Held::Pool { scores, .. } => scores.len(),
            Held::Superblocks(superblocks) => superblocks.len(),
        }
    }

    /// Returns true if the block is sealed and worth collecting.
    pub fn is_useful(&self, block: usize) -> bool {
        self.valid_pages(block) < self.useful_below
    }

    /// Valid pages of a sealed block.
    pub fn valid_pages(&self, block: usize) -> u32 {
        match self.held {
            Held::Pool { scores, .. } => scores[block] as u32,
            Held::Superblocks(superblocks) => superblocks[block].valid,
        }
    }

    /// Pages of a sealed block that are not valid.
    pub fn invalid_pages(&self, block: usize) -> u32 {
        self.data_pages - self.valid_pages(block)
    }

    /// The number that the block got when it was opened, from a count of the die or drive.
    pub fn sequence(&self, block: usize) -> u32 {
        match self.held {
            Held::Pool { meta, stride, .. } => meta[(block + 1) * stride - 1] as u32,
            Held::Superblocks(superblocks) => superblocks[block].sequence,
        }
    }

    /// Blocks that the die or drive has opened since, the next one included.
    pub fn age(&self, block: usize) -> u32 {
        self.next_sequence - self.sequence(block)
    }

    /// How often the block has been erased.
    pub fn erases(&self, block: usize) -> u32 {
        match self.held {
            Held::Pool { meta, stride, .. } => (meta[(block + 1) * stride - 1] >> 32) as u32,
            Held::Superblocks(superblocks) => superblocks[block].erases,
        }
    }

    /// Useful victims with their valid pages, in order of block number.
    pub fn useful(&self) -> impl DoubleEndedIterator<Item = (usize, u32)> + '_ {
        (0..self.len()).map(|block| (block, self.valid_pages(block))).filter(|&(_, valid)| valid < self.useful_below)
    }

    /// The useful victim with fewest valid pages, among equals the one with the highest number.
    ///
    /// In a pool this is a plain scan of the scores: 2 bytes a block, so that 2048 blocks are 64 cache lines that the processor reads ahead and
    /// compares eight at a time. Buckets of equal counts would cost every overwrite several scattered writes to keep in order, and a clean comes
    /// only once in a dozen overwrites.
    pub fn emptiest(&self) -> Option<usize> {
        let Held::Pool { scores, .. } = self.held else {
            return self.useful().min_by_key(|&(block, valid)| (valid, Reverse(block))).map(|(block, _)| block);
        };
        let mut min = self.useful_below as i16 - 1;
        let mut in_chunk = None;
        for (index, chunk) in scores.chunks(CHUNK).enumerate() {
            let chunk_min = chunk.iter().copied().fold(i16::MAX, i16::min);
            if chunk_min <= min {
                min = chunk_min;
                in_chunk = Some(index * CHUNK);
            }
        }
        let from = in_chunk?;
        scores[from..].iter().take(CHUNK).rposition(|&score| score == min).map(|at| from + at)
    }
}

/// Random numbers from the stream of the die or drive.
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
