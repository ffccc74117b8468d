//! Bringing a filled member to a working state, without time.

use super::{MemberCounters, Ssd};

impl Ssd {
    /// Overwrites `overwrites` × the exported capacity at random, die by die (rule 24), so that the tables of one die
    /// stay in the processor's cache. Counters start from zero afterwards; erase counts run on.
    pub fn warm_up(&mut self, overwrites: f64, seed: u64) {
        self.warm_up_while(overwrites, seed, &mut |_| true);
    }

    /// Does the same, but stops when `go_on`, which is told the share that is done, returns false. The state is then of no use, and false
    /// is returned.
    pub fn warm_up_while(&mut self, overwrites: f64, seed: u64, go_on: &mut dyn FnMut(f64) -> bool) -> bool {
        let done = self.space.warm_up(overwrites, seed, self.parts.member.0, go_on);
        self.parts.counters = MemberCounters::default();
        done
    }

    /// Puts a member with superblocks into the steady state of uniform random writes, in one pass (rule 215). Others stay as they are.
    /// Stops and returns as [`Ssd::warm_up_while`].
    pub fn settle_down_while(&mut self, seed: u64, go_on: &mut dyn FnMut(f64) -> bool) -> bool {
        self.space.settle_down(seed, self.parts.member.0, go_on)
    }

    /// No more is overwritten without time.
    pub fn warm_up_is_over(&mut self) {
        self.space.warm_up_is_over();
    }

    /// Writes logical pages, each with its source (as in [`PageOp`](super::PageOp)), in their order, without time and without counting.
    /// Warm-ups by the workload's own addresses do this.
    pub fn overwrite_untimed(&mut self, pages: &[(u32, u8)]) {
        self.dies.overwrite_untimed(&mut self.space, &self.front, pages);
    }
}
