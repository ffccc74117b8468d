//! Bringing a filled member to a working state, without time.

use super::{MemberCounters, Ssd};
use crate::ids::{DieId, Lpn};
use crate::rng;

/// Overwrites that are known before their turn.
const AHEAD: usize = 16;

impl Ssd {
    /// Overwrites `overwrites` × the exported capacity at random, die by die (rule 24), so that the tables of one die
    /// stay in the processor's cache. Counters start from zero afterwards; erase counts run on.
    pub fn warm_up(&mut self, overwrites: f64, seed: u64) {
        for die in (0..self.params.geometry.dies).map(DieId) {
            self.warm_up_die(die, overwrites, seed);
        }
        self.counters = MemberCounters::default();
    }

    fn warm_up_die(&mut self, die: DieId, overwrites: f64, seed: u64) {
        let exported = self.params.geometry.exported_pages_per_die();
        let mut stream = rng::stream(seed, "warm-up", u64::from(self.member.0) << 32 | u64::from(die.0));
        let writes = (overwrites * f64::from(exported)) as u64;
        let first = self.ftl.lpn(die, 0);
        let mut draw = || Lpn(first.0 + rng::below(&mut stream, u64::from(exported)) as u32);
        // The pages are known ahead, so that what each needs can be on its way into the cache.
        let mut ahead: [Lpn; AHEAD] = std::array::from_fn(|_| draw());
        for i in 0..writes as usize {
            let lpn = std::mem::replace(&mut ahead[i % AHEAD], draw());
            self.ftl.prefetch_map(ahead[i % AHEAD]);
            self.ftl.prefetch_block(ahead[(i + AHEAD / 2) % AHEAD]);
            self.overwrite_untimed(die, lpn);
        }
    }

    /// One host write with the checks before it, without time.
    #[inline]
    fn overwrite_untimed(&mut self, die: DieId, lpn: Lpn) {
        while self.ftl.needs_clean(die) {
            let Some((pool, victim)) = self.ftl.next_clean(die, 0) else { break };
            self.ftl.clean(die, pool, victim);
        }
        let pool = self.ftl.place(die, lpn, 0).expect("rule 16: a check leaves room in some pool");
        self.ftl.write(die, pool, lpn);
    }

    /// One host write of logical page `page`, without time and without counting; for a warm-up by the workload's own addresses.
    pub fn overwrite_page_untimed(&mut self, page: u32) {
        let (home, lpn) = self.home(page);
        // Without time there is no earliest start: under dynamic allocation a page stays on the die that holds it.
        let die = if self.ftl.dynamic && self.ftl.is_mapped(lpn) { self.ftl.die_of(lpn) } else { home };
        self.overwrite_untimed(die, lpn);
    }
}
