//! Which superblock is collected: for room, to be folded, or for its own sake.

use super::{State, Superblock, Superblocks};
use crate::space::victim::{Blocks, Candidate, Draws};

/// What a drive moves for its own sake, not for room (rule 223).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UpkeepParams {
    /// Array reads of a superblock for the host, since it was erased, after which it is moved, as reads disturb what lies next to what they read;
    /// at least 1.
    pub refresh_reads: Option<u64>,
    /// Erases that the most erased superblock may be ahead of the least erased one that is sealed; when it is as many, that one is moved. At
    /// least 1.
    pub wear_difference: Option<u32>,
}

/// Why a superblock is moved for its own sake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Upkeep {
    /// It has been read often.
    Refresh,
    /// It has been erased seldom.
    Wear,
}

impl Superblocks {
    /// Returns true if some sealed superblock is worth collecting.
    pub(crate) fn has_victim(&self) -> bool {
        self.superblocks.iter().any(|block| block.state == State::Sealed && self.shape.is_useful(block.valid))
    }

    /// Picks the superblock that the policy collects next, if one is worth it (rules 13 and 210).
    pub(crate) fn pick_victim(&mut self) -> Option<u32> {
        let candidate = |block: &Superblock| Candidate {
            valid: if block.state == State::Sealed { block.valid } else { u32::MAX },
            sequence: block.sequence,
            erases: block.erases,
        };
        let candidates: Vec<Candidate> = self.superblocks.iter().map(candidate).collect();
        let blocks = Blocks::of_superblocks(&candidates, self.shape.data_units(), self.shape.useful_below(), self.sequence + 1);
        let victim = self.victim.pick(&blocks, &mut Draws::new(self.streams.first_mut())).map(|block| block as u32);
        assert!(victim.is_none_or(|block| blocks.is_useful(block as usize)), "a policy picks what is worth collecting");
        victim
    }

    /// The sealed superblock with one bit per cell that has fewest valid units, chosen in the same way: it is to be folded.
    pub(crate) fn folding_victim(&self) -> Option<u32> {
        self.shape.slc?;
        let sealed = self.superblocks.iter().enumerate().filter(|(_, block)| block.state == State::Sealed && block.is_slc);
        sealed.min_by_key(|&(number, block)| (block.valid, std::cmp::Reverse(number))).map(|(block, _)| block as u32)
    }

    /// The sealed superblock that is moved for its own sake, if one is: the most read one, or with `may_level` the least erased one, among equals
    /// the one with the highest number (rule 223).
    pub(crate) fn overdue(&self, upkeep: &UpkeepParams, may_level: bool) -> Option<(u32, Upkeep)> {
        let sealed = || self.superblocks.iter().enumerate().filter(|(_, block)| block.state == State::Sealed);
        if let Some(reads) = upkeep.refresh_reads
            && let Some((block, most)) = sealed().max_by_key(|&(number, block)| (block.reads, number))
            && most.reads >= reads
        {
            return Some((block as u32, Upkeep::Refresh));
        }
        let difference = upkeep.wear_difference.filter(|_| may_level)?;
        let (block, least) = sealed().min_by_key(|&(number, block)| (block.erases, std::cmp::Reverse(number)))?;
        let most = self.superblocks.iter().map(|block| block.erases).max()?;
        (most - least.erases >= difference).then_some((block as u32, Upkeep::Wear))
    }
}
