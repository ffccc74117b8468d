//! Choice of the superblock to collect: to gain room, to fold data with one bit per cell, or for upkeep.

use super::{State, Superblock, SuperblockMapping};
use crate::space::victim::{SuperblockCandidate, VictimCandidates, VictimRandomness};

/// Limits for upkeep: moves that protect data or level wear, and are not made to gain room (rule 223).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RefreshAndWearLevellingParams {
    /// Number of reads of a superblock, since it was erased, after which its data are moved. Reads disturb the cells next to those that
    /// they read. At least 1.
    pub reads_before_refresh: Option<u64>,
    /// Wear difference at which the least worn sealed superblock is moved. It is the difference of its erases from those of the most worn
    /// superblock. At least 1.
    pub erase_difference_to_level: Option<u32>,
}

/// Reason why a superblock is moved for upkeep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Upkeep {
    /// Refreshes data: the superblock is moved because it has been read too often. Reads disturb the data in neighbouring cells.
    Refresh,
    /// Levels wear: the superblock is moved because it has been erased much less often than the most worn one. It will then be
    /// erased, and used for other data.
    Wear,
}

impl SuperblockMapping {
    /// Returns true if some sealed superblock is worth collecting.
    pub(crate) fn has_victim(&self) -> bool {
        self.superblocks.iter().any(|block| block.state == State::Sealed && self.shape.is_useful(block.valid))
    }

    /// Picks the superblock that the victim policy collects next. Returns `None` if no superblock is worth collecting (rules 13 and
    /// 210). A victim that was begun before the run comes first.
    pub(crate) fn pick_victim(&mut self) -> Option<u32> {
        if let Some(begun) = self.begun {
            return Some(begun.block);
        }
        let candidate = |block: &Superblock| SuperblockCandidate {
            valid_units: if block.state == State::Sealed { block.valid } else { u32::MAX },
            open_sequence: block.sequence,
            erases: block.erases,
        };
        let candidates: Vec<SuperblockCandidate> = self.superblocks.iter().map(candidate).collect();
        let blocks = VictimCandidates::of_superblocks(
            &candidates,
            self.shape.data_mapping_units_per_superblock(),
            self.shape.useful_if_valid_units_below(),
            self.sequence + 1,
        );
        let victim = self.victim.pick_victim(&blocks, &mut VictimRandomness::new(self.streams.first_mut())).map(|block| block as u32);
        assert!(victim.is_none_or(|block| blocks.is_useful(block as usize)), "a policy picks what is worth collecting");
        victim
    }

    /// Returns the sealed superblock with one bit per cell that has the fewest valid units, to be folded. Among equals, it is the one with
    /// the highest number.
    pub(crate) fn folding_victim(&self) -> Option<u32> {
        self.shape.slc_superblock_limit?;
        let sealed = self.superblocks.iter().enumerate().filter(|(_, block)| block.state == State::Sealed && block.is_slc);
        sealed.min_by_key(|&(number, block)| (block.valid, std::cmp::Reverse(number))).map(|(block, _)| block as u32)
    }

    /// Returns the sealed superblock that must be moved for upkeep, if there is one (rule 223). It is the most read one or, with
    /// `may_level`, the least erased one. Among equals, it is the one with the highest number.
    pub(crate) fn overdue(&self, upkeep: &RefreshAndWearLevellingParams, may_level: bool) -> Option<(u32, Upkeep)> {
        let sealed = || self.superblocks.iter().enumerate().filter(|(_, block)| block.state == State::Sealed);
        if let Some(reads) = upkeep.reads_before_refresh
            && let Some((block, most)) = sealed().max_by_key(|&(number, block)| (block.reads, number))
            && most.reads >= reads
        {
            return Some((block as u32, Upkeep::Refresh));
        }
        let difference = upkeep.erase_difference_to_level.filter(|_| may_level)?;
        let (block, least) = sealed().min_by_key(|&(number, block)| (block.erases, std::cmp::Reverse(number)))?;
        let most = self.superblocks.iter().map(|block| block.erases).max()?;
        (most - least.erases >= difference).then_some((block as u32, Upkeep::Wear))
    }
}
