//! Bringing a filled member to a working state, without time.

use super::{MemberCounters, Ssd};
use crate::ids::DieId;
use crate::space::Space;

impl Ssd {
    /// Overwrites `overwrites` × the exported capacity at random, die by die (rule 24), so that the tables of one die
    /// stay in the processor's cache. Counters start from zero afterwards; erase counts run on.
    pub fn warm_up(&mut self, overwrites: f64, seed: u64) {
        self.warm_up_while(overwrites, seed, &mut |_| true);
    }

    /// The same, ended before its time when `go_on`, which is told the share that is done, says no; then the state is of no use, and
    /// false is returned.
    pub fn warm_up_while(&mut self, overwrites: f64, seed: u64, go_on: &mut dyn FnMut(f64) -> bool) -> bool {
        let member = self.member.0;
        let done = match self.space_mut() {
            Space::Pools(pools) => pools.warm_up(overwrites, seed, member, go_on),
            Space::Superblocks(superblocks) => superblocks.warm_up(overwrites, seed, member, go_on),
        };
        self.counters = MemberCounters::default();
        done
    }

    /// Puts a member with superblocks into the steady state of uniform random writes, in one pass (rule 215); others stay as they are. Ended and
    /// told as [`Ssd::warm_up_while`].
    pub fn settle_down_while(&mut self, seed: u64, go_on: &mut dyn FnMut(f64) -> bool) -> bool {
        let member = self.member.0;
        self.space_mut().superblocks().is_none_or(|superblocks| superblocks.settle_down(seed, member, go_on))
    }

    /// No more is overwritten without time.
    pub fn warm_up_is_over(&mut self) {
        if let Some(superblocks) = self.space_mut().superblocks() {
            superblocks.warm_up_is_over();
        }
    }

    /// Host writes of logical pages, each with its source (as in [`PageOp`](super::PageOp)), in their order, without time and without counting; for a warm-up by the workload's own addresses.
    pub fn overwrite_untimed(&mut self, pages: &[(u32, u8)]) {
        if let Some(drive) = &mut self.drive {
            return drive.overwrite_untimed(pages);
        }
        // Dies know nothing of each other: one after the other keeps the tables of one in the processor's cache.
        let mut lpns_of_dies = vec![Vec::new(); self.params.geometry.dies as usize];
        for (page, _) in pages {
            let (home, lpn) = self.home(*page);
            // Without time there is no earliest start: under dynamic allocation a page stays on the die that holds it.
            let die = if self.ftl.dynamic && self.ftl.is_mapped(lpn) { self.ftl.die_of(lpn) } else { home };
            lpns_of_dies[die.index()].push(lpn);
        }
        for (die, lpns) in (0..).map(DieId).zip(&lpns_of_dies) {
            self.ftl.overwrite_untimed(die, lpns);
        }
    }
}
