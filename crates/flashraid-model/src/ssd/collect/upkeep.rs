//! Collection for the sake of what a superblock holds (rule 223): many reads disturb it, or its wear lags behind.

use crate::space::superblocks::{Superblocks, Upkeep as Reason, UpkeepParams};

/// Chooses superblocks that are moved for their own sake.
#[derive(Debug, Clone)]
pub struct Upkeep {
    limits: UpkeepParams,
    /// The last victim was moved for even wear; then another one has its turn.
    has_levelled: bool,
}

impl Upkeep {
    /// Moves superblocks that reach these limits.
    pub fn new(limits: UpkeepParams) -> Self {
        Self { limits, has_levelled: false }
    }

    /// Returns the superblock that is overdue, and why.
    pub fn overdue(&self, media: &Superblocks) -> Option<(u32, Reason)> {
        media.overdue(&self.limits, !self.has_levelled)
    }

    /// Takes notice of a victim, and of the reason if it is moved for its own sake.
    pub fn victim_begins(&mut self, reason: Option<Reason>) {
        self.has_levelled = reason == Some(Reason::Wear);
    }

    /// Returns true if so many reads of a superblock make it overdue; `reads` is asked only if there is a limit.
    pub fn is_read_too_often(&self, reads: impl FnOnce() -> u64) -> bool {
        self.limits.refresh_reads.is_some_and(|most| reads() >= most)
    }
}
