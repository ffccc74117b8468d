//! Warm-ups, which bring a filled member to a working state without simulated time.

use super::{MemberCounters, Ssd};

impl Ssd {
    /// Overwrites random pages, `overwrites` × the exported capacity in all (rule 24). It works die by die, so that the tables of one die
    /// stay in the processor's cache. Afterwards counters start from zero, but erase counts continue.
    pub fn warm_up(&mut self, overwrites: f64, seed: u64) {
        self.warm_up_while(overwrites, seed, &mut |_| true);
    }

    /// Warms up like [`Ssd::warm_up`], and calls `go_on` with the share that is done. If `go_on` returns false, it stops and returns false.
    /// The state must not be used then.
    pub fn warm_up_while(&mut self, overwrites: f64, seed: u64, go_on: &mut dyn FnMut(f64) -> bool) -> bool {
        let done = self.space.warm_up(overwrites, seed, self.parts.member.0, go_on);
        self.parts.counters = MemberCounters::default();
        done
    }

    /// Puts a member with superblocks into the steady state of uniform random writes, in one pass (rule 215). Other members stay as they
    /// are. It stops and returns like [`Ssd::warm_up_while`].
    pub fn make_steady_while(&mut self, seed: u64, go_on: &mut dyn FnMut(f64) -> bool) -> bool {
        self.space.make_steady(seed, self.parts.member.0, go_on)
    }

    /// Ends a warm-up: closes the superpages that writes without simulated time have left open.
    pub fn end_warm_up(&mut self) {
        self.space.end_warm_up();
    }

    /// Writes logical pages in order, each with its stream (as in [`PageOp`](super::PageOp)). It takes no simulated time and counts
    /// nothing. Warm-ups with the workload's own addresses use it.
    pub fn overwrite_untimed(&mut self, pages: &[(u32, u8)]) {
        self.dies.overwrite_untimed(&mut self.space, &self.front, pages);
    }
}
