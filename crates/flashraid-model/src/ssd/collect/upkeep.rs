//! Collection for upkeep: superblocks that many reads have disturbed, or that are less worn than others (rule 223).

use crate::space::superblocks::{RefreshAndWearLevellingParams, SuperblockMapping, Upkeep as Reason};

/// Rules that choose superblocks for upkeep (rule 223).
#[derive(Debug, Clone)]
pub(crate) struct Upkeep {
    limits: RefreshAndWearLevellingParams,
    /// True if the last victim was chosen to level wear. The next one must then have another reason.
    has_levelled: bool,
}

impl Upkeep {
    /// Returns the rules with these limits.
    pub(crate) fn new(limits: RefreshAndWearLevellingParams) -> Self {
        Self { limits, has_levelled: false }
    }

    /// Returns the superblock that must be moved for upkeep, with the reason.
    pub(crate) fn overdue(&self, media: &SuperblockMapping) -> Option<(u32, Reason)> {
        media.overdue(&self.limits, !self.has_levelled)
    }

    /// Records that a victim is about to be moved, and for which upkeep, if any.
    pub(crate) fn victim_begins(&mut self, reason: Option<Reason>) {
        self.has_levelled = reason == Some(Reason::Wear);
    }

    /// Returns true if a superblock must be refreshed after this number of reads. `reads` is called only if there is a limit.
    pub(crate) fn is_read_too_often(&self, reads: impl FnOnce() -> u64) -> bool {
        self.limits.reads_before_refresh.is_some_and(|most| reads() >= most)
    }
}
