//! Choice of the block to collect. Each policy is one file, and `VictimPolicy` lists them.
//!
//! A policy sees the blocks of one pool, or all superblocks of a drive. It returns a block that is useful, or none. A block is useful if it
//! is sealed and collecting it gains room. A block of a pool must therefore have an invalid page. A superblock must free more superpages
//! than its moves need.

use crate::policy::{ParameterProblem, policies};
use crate::rng::{self, RandomStream};
use std::ops::Range;

policies! {
    /// Choice of the block to collect: the name of a policy, or a table with its parameters.
    #[derive(Clone, Copy, PartialEq)]
    pub enum VictimPolicy: VictimRule, tag "policy" {
        greedy::Greedy = "greedy",
        greedy_wear_aware::GreedyWearAware = "greedy-wear-aware",
        cost_benefit::CostBenefit = "cost-benefit",
        d_choices::DChoices = "d-choices",
        fifo::Fifo = "fifo",
        random::Random = "random",
    }

    /// Returns the block to collect next, or `None` if no block is useful. A block is useful if collecting it gains room.
    pub fn pick_victim(&self, blocks: &VictimCandidates<'_>, draws: &mut VictimRandomness<'_>) -> Option<usize>;
    /// Returns true if the policy needs random numbers.
    pub fn needs_random_numbers(&self) -> bool;
    /// Sets the number of erases that the SSD's blocks endure.
    pub fn set_endurance(&mut self, erases: u32);
    /// Returns true if the policy levels wear, because it prefers blocks with few erases.
    pub fn prefers_less_worn_blocks(&self) -> bool;
    /// Returns the problems of the policy's parameters that their types cannot exclude.
    pub fn problems(&self) -> Vec<ParameterProblem>;
    /// Returns the theory that predicts the policy's write amplification under uniform random writes.
    pub fn write_amplification_theory(&self) -> WriteAmplificationTheory;
}

/// A victim policy: a rule that chooses the block that garbage collection frees next. Its parameters are fields of the implementing
/// type. Users write them in the configuration, and each has a default.
pub trait VictimRule: Default {
    /// Returns the block to collect next, or `None` if no block is useful. The policy must return a useful block: one whose collection
    /// gains room.
    fn pick_victim(&self, blocks: &VictimCandidates<'_>, draws: &mut VictimRandomness<'_>) -> Option<usize>;

    /// Returns true if the policy needs random numbers.
    fn needs_random_numbers(&self) -> bool {
        false
    }

    /// Sets the number of erases that the SSD's blocks endure.
    fn set_endurance(&mut self, _erases: u32) {}

    /// Returns true if the policy levels wear, because it prefers blocks with few erases.
    fn prefers_less_worn_blocks(&self) -> bool {
        false
    }

    /// Returns the problems of the policy's parameters that their types cannot exclude.
    fn problems(&self) -> Vec<ParameterProblem> {
        Vec::new()
    }

    /// Returns the theory that predicts the policy's write amplification under uniform random writes.
    fn write_amplification_theory(&self) -> WriteAmplificationTheory {
        WriteAmplificationTheory::GreedyIsLowerBound
    }

    /// Returns a policy with random parameters, for random cases in tests.
    fn random_for_tests(_stream: &mut RandomStream) -> Self {
        Self::default()
    }
}

/// Theory that predicts a policy's write amplification under uniform random writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteAmplificationTheory {
    /// The write amplification equals that of the policy `greedy`, which collects the block with the fewest valid pages.
    Greedy,
    /// The write amplification equals that of always collecting the block that was opened first.
    OldestFirst,
    /// The write amplification equals that of collecting a block chosen at random.
    Random,
    /// The write amplification is at least that of the policy `greedy`, which collects the block with the fewest valid pages. Under
    /// uniform random writes, no policy has less than `greedy`.
    GreedyIsLowerBound,
}

/// A superblock in the view of a victim policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SuperblockCandidate {
    /// Number of valid units (one page or several, `ssd.superblock.unit`) if the superblock is sealed, otherwise [`u32::MAX`].
    pub valid_units: u32,
    /// Number of superblocks that the drive had opened when it opened this one.
    pub open_sequence: u32,
    /// Number of times that it has been erased.
    pub erases: u32,
}

/// Tables from which [`VictimCandidates`] reads, for pools and for superblocks.
#[derive(Debug, Clone, Copy)]
enum BlockTables<'a> {
    /// `scores` has the number of valid pages of each sealed block, and a greater number for any other block. Block `i` has `sequence |
    /// erases << 32` at `meta[i × stride + stride − 1]`.
    Pool {
        scores: &'a [i16],
        least: LeastScores<'a>,
        meta: &'a [u64],
        stride: usize,
    },
    Superblocks(&'a [SuperblockCandidate]),
}

/// The blocks of one pool, or the superblocks of a drive, in the view of a victim policy. For superblocks, a *block* here means a
/// superblock, and a *page* means a unit of the mapping (one page or several, `ssd.superblock.unit`).
#[derive(Debug, Clone, Copy)]
pub struct VictimCandidates<'a> {
    held: BlockTables<'a>,
    /// Number of pages that hold data in a block.
    data_pages: u32,
    /// Number of valid pages below which a sealed block is useful: collecting it gains room.
    useful_below: u32,
    /// Sequence number of the block that is opened next.
    next_sequence: u32,
}

/// Number of blocks whose least score is kept together.
pub(super) const GROUP: usize = 64;

/// Least scores of the groups that lie wholly in a pool. Other pools may share its first and its last group.
#[derive(Debug, Clone, Copy)]
pub(super) struct LeastScores<'a> {
    /// Number of blocks before the first group that lies wholly in the pool.
    pub(crate) before: usize,
    /// Least score of each group of [`GROUP`] blocks, one after the other.
    pub(crate) of_groups: &'a [i16],
}

impl LeastScores<'_> {
    /// Returns what is known of `blocks` blocks without a group.
    pub(super) fn none(blocks: usize) -> Self {
        Self { before: blocks, of_groups: &[] }
    }
}

impl<'a> VictimCandidates<'a> {
    /// Returns the blocks of one pool of blocks (of a plane or of a die) in the form that victim policies use. Each block can hold
    /// `data_pages` pages of data. A die numbers its blocks in the order in which it opens them, and `next_sequence` is the next such
    /// number.
    ///
    /// `scores` has the number of valid pages of each sealed block (closed for writes). Other blocks cannot be collected, and have
    /// the score [`i16::MAX`]. `meta` has `sequence | erases << 32` for each block: its sequence number and its number of erases.
    pub fn new(scores: &'a [i16], meta: &'a [u64], data_pages: u32, next_sequence: u32) -> Self {
        Self::of_pool(scores, LeastScores::none(scores.len()), meta, 1, data_pages, next_sequence)
    }

    /// Returns the blocks of one pool of blocks in the form that victim policies use, like [`Self::new`]. In addition, `least` has
    /// the fewest valid pages of groups of blocks. `meta` has `stride` words for each block, of which only the last one is used.
    pub(super) fn of_pool(
        scores: &'a [i16],
        least: LeastScores<'a>,
        meta: &'a [u64],
        stride: usize,
        data_pages: u32,
        next_sequence: u32,
    ) -> Self {
        Self { held: BlockTables::Pool { scores, least, meta, stride }, data_pages, useful_below: data_pages, next_sequence }
    }

    /// Returns all superblocks of a drive in the form that victim policies use. A superblock holds `data_units` units of the mapping
    /// (one page or several). Collecting a superblock gains room if fewer than `useful_below` of its units are valid. The superblock
    /// that is opened next gets the sequence number `next_sequence`.
    pub fn of_superblocks(superblocks: &'a [SuperblockCandidate], data_units: u32, useful_below: u32, next_sequence: u32) -> Self {
        Self { held: BlockTables::Superblocks(superblocks), data_pages: data_units, useful_below, next_sequence }
    }

    /// Returns the number of all blocks of the pool, or of all superblocks of the drive. Blocks that cannot be collected at present
    /// are included.
    #[expect(clippy::len_without_is_empty, reason = "a pool has blocks")]
    pub fn len(&self) -> usize {
        match self.held {
            BlockTables::Pool { scores, .. } => scores.len(),
            BlockTables::Superblocks(superblocks) => superblocks.len(),
        }
    }

    /// Returns true if the block is useful: it is sealed, and collecting it gains room.
    pub(crate) fn is_useful(&self, block: usize) -> bool {
        self.valid_pages(block) < self.useful_below
    }

    /// Returns the number of valid pages (units, for a superblock) in a sealed block. For any other block, the number is greater than a
    /// block can hold.
    pub fn valid_pages(&self, block: usize) -> u32 {
        match self.held {
            BlockTables::Pool { scores, .. } => scores[block] as u32,
            BlockTables::Superblocks(superblocks) => superblocks[block].valid_units,
        }
    }

    /// Returns the number of pages in a sealed block that are not valid.
    pub(crate) fn invalid_pages(&self, block: usize) -> u32 {
        self.data_pages - self.valid_pages(block)
    }

    /// Returns the sequence number of the block: the number of blocks that its die had opened when it opened this one, itself
    /// included. The number of a superblock counts the superblocks that the whole drive had opened instead.
    pub fn open_sequence_number(&self, block: usize) -> u32 {
        match self.held {
            BlockTables::Pool { meta, stride, .. } => meta[(block + 1) * stride - 1] as u32,
            BlockTables::Superblocks(superblocks) => superblocks[block].open_sequence,
        }
    }

    /// Returns the age of the block: the number of blocks that its die has opened since it opened this one, plus one. The age of a
    /// superblock counts the superblocks that the whole drive has opened instead.
    pub fn age_in_opened_blocks(&self, block: usize) -> u32 {
        self.next_sequence - self.open_sequence_number(block)
    }

    /// Returns the number of times that the block has been erased.
    pub fn erases(&self, block: usize) -> u32 {
        match self.held {
            BlockTables::Pool { meta, stride, .. } => (meta[(block + 1) * stride - 1] >> 32) as u32,
            BlockTables::Superblocks(superblocks) => superblocks[block].erases,
        }
    }

    /// Returns the numbers of the blocks that are worth collecting, in ascending order, each with its number of valid pages. A block
    /// is worth collecting if that gains room.
    pub fn blocks_worth_collecting(&self) -> impl DoubleEndedIterator<Item = (usize, u32)> + '_ {
        (0..self.len()).map(|block| (block, self.valid_pages(block))).filter(|&(_, valid)| valid < self.useful_below)
    }

    /// Returns the block with the fewest valid pages, among those whose collection gains room. If several have equally few, it is the
    /// one with the highest number.
    ///
    /// For each group of 64 blocks of a pool, the smallest number of valid pages is stored. It is updated when pages are overwritten.
    /// In a pool of 2048 blocks, this method thus compares 32 stored numbers, and then the blocks of one group. Another design would
    /// keep lists of blocks with equal numbers, but it would make overwrites slower.
    pub fn block_with_fewest_valid_pages(&self) -> Option<usize> {
        let BlockTables::Pool { scores, least: LeastScores { before, of_groups }, .. } = self.held else {
            // The search returns the first of equals, and so the one with the highest number.
            return self.blocks_worth_collecting().rev().min_by_key(|&(_, valid)| valid).map(|(block, _)| block);
        };
        let least_of = |scores: &[i16]| scores.iter().copied().fold(i16::MAX, i16::min);
        let after = before + of_groups.len() * GROUP;
        let mut least = self.useful_below as i16 - 1;
        let mut range = None;
        let mut consider = |score: i16, blocks: Range<usize>| {
            if score <= least {
                (least, range) = (score, Some(blocks));
            }
        };
        consider(least_of(&scores[..before]), 0..before);
        // The least of all groups first, because a search that remembers the last one found is slower.
        let of_all = least_of(of_groups);
        if let Some(last) = of_groups.iter().rposition(|&score| score == of_all) {
            let begin = before + last * GROUP;
            consider(of_all, begin..begin + GROUP);
        }
        consider(least_of(&scores[after..]), after..scores.len());
        let range = range?;
        scores[range.clone()].iter().rposition(|&score| score == least).map(|at| range.start + at)
    }
}

/// Source of random numbers for the choice of one victim block. It draws from the random stream of the die that holds the block or, for
/// a superblock, of the drive. It has no stream if the policy draws no numbers.
#[derive(Debug)]
pub struct VictimRandomness<'a>(Option<&'a mut RandomStream>);

impl<'a> VictimRandomness<'a> {
    /// Returns a source of random numbers, which are taken from `stream`. A victim policy that needs no random numbers needs no
    /// stream.
    pub fn new(stream: Option<&'a mut RandomStream>) -> Self {
        Self(stream)
    }

    fn stream(&mut self) -> &mut RandomStream {
        self.0.as_deref_mut().expect("a policy that draws says so: `Victim::needs_random_numbers`")
    }

    /// Draws a number from 0 to `bound` − 1, each equally likely.
    pub fn below(&mut self, bound: u64) -> u64 {
        rng::below(self.stream(), bound)
    }

    /// Draws a number from [0, 1).
    pub fn uniform(&mut self) -> f64 {
        rng::uniform(self.stream())
    }

    /// Draws one of the useful blocks, whose collection gains room, each equally likely. There must be at least one.
    pub fn draw_block_that_gains_room(&mut self, blocks: &VictimCandidates<'_>) -> usize {
        loop {
            let block = self.below(blocks.len() as u64) as usize;
            if blocks.is_useful(block) {
                return block;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DChoices, GreedyWearAware, LeastScores, SuperblockCandidate, VictimCandidates, VictimRule, WriteAmplificationTheory};
    use crate::units::Fraction;

    #[test]
    fn policies_say_what_is_known_of_them() {
        assert_eq!(
            (DChoices { d: 1 }.write_amplification_theory(), DChoices { d: 2 }.write_amplification_theory()),
            (WriteAmplificationTheory::Random, WriteAmplificationTheory::GreedyIsLowerBound)
        );
        let wear_aware = |threshold| GreedyWearAware { threshold: Fraction(threshold), ..GreedyWearAware::default() };
        assert!(wear_aware(0.5).prefers_less_worn_blocks());
        assert_eq!([0.0, 0.5, 1.0].map(|threshold| wear_aware(threshold).problems().len()), [1, 0, 1]);
    }

    #[test]
    fn a_pool_tells_the_age_and_the_erases_of_its_blocks() {
        // Two blocks of one word of valid pages each, opened as numbers 3 and 5, and erased 7 and 9 times.
        let meta = [0b11, 3 | 7 << 32, 0b1, 5 | 9 << 32];
        let blocks = VictimCandidates::of_pool(&[2, 1], LeastScores::none(2), &meta, 2, 4, 6);
        assert_eq!([0, 1].map(|block| (blocks.age_in_opened_blocks(block), blocks.erases(block))), [(3, 7), (1, 9)]);
        let superblocks = [SuperblockCandidate { valid_units: 2, open_sequence: 3, erases: 7 }];
        let blocks = VictimCandidates::of_superblocks(&superblocks, 4, 4, 6);
        assert_eq!((blocks.age_in_opened_blocks(0), blocks.erases(0)), (3, 7));
    }
}
