//! Bringing a filled member to a working state, without time.

use super::{MemberCounters, Ssd};
use crate::ids::{DieId, Lpn};
use crate::rng;

/// Overwrites that are known before their turn.
const AHEAD: usize = 16;

/// Overwrites between two questions whether to go on: a millisecond or so.
const WRITES_PER_QUESTION: u64 = 1 << 14;

impl Ssd {
    /// Overwrites `overwrites` × the exported capacity at random, die by die (rule 24), so that the tables of one die
    /// stay in the processor's cache. Counters start from zero afterwards; erase counts run on.
    pub fn warm_up(&mut self, overwrites: f64, seed: u64) {
        self.warm_up_while(overwrites, seed, &mut |_| true);
    }

    /// The same, ended before its time when `go_on`, which is told the share that is done, says no; then the state is of no use, and
    /// false is returned.
    pub fn warm_up_while(&mut self, overwrites: f64, seed: u64, go_on: &mut dyn FnMut(f64) -> bool) -> bool {
        if let Some(drive) = &mut self.drive {
            return drive.warm_up(overwrites, seed, go_on);
        }
        let dies = self.params.geometry.dies;
        let done = (0..dies).map(DieId).all(|die| {
            let mut go_on = |share: f64| go_on((f64::from(die.0) + share) / f64::from(dies));
            self.warm_up_die(die, overwrites, seed, &mut go_on)
        });
        self.counters = MemberCounters::default();
        done
    }

    /// Puts a member with superblocks into the steady state of uniform random writes, in one pass (rule 215); others stay as they are. Ended and
    /// told as [`Ssd::warm_up_while`].
    pub fn settle_down_while(&mut self, seed: u64, go_on: &mut dyn FnMut(f64) -> bool) -> bool {
        self.drive.as_mut().is_none_or(|drive| drive.settle_down(seed, go_on))
    }

    fn warm_up_die(&mut self, die: DieId, overwrites: f64, seed: u64, go_on: &mut dyn FnMut(f64) -> bool) -> bool {
        let exported = self.params.geometry.exported_pages_per_die();
        let mut stream = rng::stream(seed, "warm-up", u64::from(self.member.0) << 32 | u64::from(die.0));
        let writes = (overwrites * f64::from(exported)) as u64;
        let first = self.ftl.lpn(die, 0);
        let mut draw = || Lpn(first.0 + rng::below(&mut stream, u64::from(exported)) as u32);
        // The pages are known ahead, so that what each needs can be on its way into the cache.
        let mut ahead: [Lpn; AHEAD] = std::array::from_fn(|_| draw());
        let mut begin = 0;
        while begin < writes {
            if !go_on(begin as f64 / writes as f64) {
                return false;
            }
            let end = writes.min(begin + WRITES_PER_QUESTION);
            for i in begin as usize..end as usize {
                let lpn = std::mem::replace(&mut ahead[i % AHEAD], draw());
                self.ftl.prefetch_map(ahead[i % AHEAD]);
                self.ftl.prefetch_block(ahead[(i + AHEAD / 2) % AHEAD]);
                self.overwrite_page_untimed(die, lpn);
            }
            begin = end;
        }
        go_on(1.0)
    }

    /// One host write with the checks before it, without time.
    #[inline]
    fn overwrite_page_untimed(&mut self, die: DieId, lpn: Lpn) {
        while self.ftl.needs_clean(die) {
            let Some((pool, victim)) = self.ftl.next_clean(die, 0) else { break };
            self.ftl.clean(die, pool, victim);
        }
        let pool = self.ftl.place(die, lpn, 0).expect("rule 16: a check leaves room in some pool");
        self.ftl.write(die, pool, lpn);
    }

    /// No more is overwritten without time.
    pub fn warm_up_is_over(&mut self) {
        if let Some(drive) = &mut self.drive {
            drive.warm_up_is_over();
        }
    }

    /// Host writes of logical pages, each with its source (as in [`PageOp`](super::PageOp)), in their order, without time and without counting; for a warm-up by the workload's own addresses.
    pub fn overwrite_untimed(&mut self, pages: &[(u32, u8)]) {
        if let Some(drive) = &mut self.drive {
            return pages.iter().for_each(|(page, source)| drive.overwrite_untimed(*page, *source));
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
            for (i, lpn) in lpns.iter().enumerate() {
                if let Some(later) = lpns.get(i + AHEAD) {
                    self.ftl.prefetch_map(*later);
                    self.ftl.prefetch_block(lpns[i + AHEAD / 2]);
                }
                self.overwrite_page_untimed(die, *lpn);
            }
        }
    }
}
