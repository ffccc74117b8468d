//! Overwrites without simulated time, which a warm-up performs on the pools.

use super::PageMapping;
use crate::ids::{DieId, Lpn};
use crate::rng;

/// Number of overwrites by which prefetching runs ahead.
const AHEAD: usize = 16;

/// Number of overwrites between two calls that ask whether to continue. They take about a millisecond.
const WRITES_PER_QUESTION: u64 = 1 << 14;

impl PageMapping {
    /// Overwrites random pages, `overwrites` × the exported capacity in all (rule 24). It works die by die, so that the tables of one die
    /// stay in the processor's cache.
    ///
    /// `go_on` is called with the share that is done. If it returns false, the warm-up stops and returns false.
    pub fn warm_up(&mut self, overwrites: f64, seed: u64, member: u32, go_on: &mut dyn FnMut(f64) -> bool) -> bool {
        let dies = self.dies();
        (0..dies).map(DieId).all(|die| {
            let mut go_on = |share: f64| go_on((f64::from(die.0) + share) / f64::from(dies));
            self.warm_up_die(die, overwrites, seed, member, &mut go_on)
        })
    }

    fn warm_up_die(&mut self, die: DieId, overwrites: f64, seed: u64, member: u32, go_on: &mut dyn FnMut(f64) -> bool) -> bool {
        let exported = self.exported_per_die;
        let mut stream = rng::stream(seed, "warm-up", u64::from(member) << 32 | u64::from(die.0));
        let writes = (overwrites * f64::from(exported)) as u64;
        let first = self.lpn_of_die_logical_page(die, 0);
        let mut draw = || Lpn(first.0 + rng::below(&mut stream, u64::from(exported)) as u32);
        // The pages are drawn in advance, so that their memory can be prefetched.
        let mut ahead: [Lpn; AHEAD] = std::array::from_fn(|_| draw());
        let mut begin = 0;
        while begin < writes {
            if !go_on(begin as f64 / writes as f64) {
                return false;
            }
            let end = writes.min(begin + WRITES_PER_QUESTION);
            for i in begin as usize..end as usize {
                let lpn = std::mem::replace(&mut ahead[i % AHEAD], draw());
                self.prefetch_map(ahead[i % AHEAD]);
                self.prefetch_block(ahead[(i + AHEAD / 2) % AHEAD]);
                self.overwrite_page_untimed(die, lpn);
            }
            begin = end;
        }
        go_on(1.0)
    }

    /// Overwrites these logical pages, which must all belong to the die `die`, in the order of the slice. This takes no simulated time,
    /// and neither does the collection of blocks that becomes necessary.
    pub fn overwrite_untimed(&mut self, die: DieId, lpns: &[Lpn]) {
        for (i, lpn) in lpns.iter().enumerate() {
            if let Some(later) = lpns.get(i + AHEAD) {
                self.prefetch_map(*later);
                self.prefetch_block(lpns[i + AHEAD / 2]);
            }
            self.overwrite_page_untimed(die, *lpn);
        }
    }

    /// Performs one host write without simulated time, after the collection that it needs.
    #[inline]
    fn overwrite_page_untimed(&mut self, die: DieId, lpn: Lpn) {
        while self.needs_clean(die) {
            let Some((pool, victim)) = self.next_victim(die, 0) else { break };
            self.clean(die, pool, victim);
        }
        let pool = self.choose_pool_for_write(die, lpn, 0).expect("rule 16: a check leaves room in some pool");
        self.write(die, pool, lpn);
    }
}

#[cfg(test)]
mod tests {
    use crate::flash::Geometry;
    use crate::space::pools::{BlockPoolScope, BlockPoolsFtlParams, GcAlgorithm, PageMapping, PlaneChoice, VictimPolicy};

    #[test]
    fn progress_is_a_share_of_all_dies() {
        let geometry = Geometry {
            dies: 4,
            planes: 1,
            blocks_per_plane: 24,
            pages_per_block: 16,
            page_bytes: 4096,
            overprovisioned_blocks_per_plane: 6,
            has_summary_page: false,
        };
        let params = BlockPoolsFtlParams {
            geometry,
            overwrites_may_change_die: false,
            plane_choice: PlaneChoice::MostFreePages,
            pool: BlockPoolScope::Plane,
            gc_algorithm: GcAlgorithm::VictimByPolicy,
            start_threshold_free_blocks: 2,
            stop_threshold_free_blocks: 3,
            victim: VictimPolicy::default(),
            separate_open_block_for_moves: false,
            fill_seals_last_block: true,
            starts_empty: false,
        };
        let mut told = Vec::new();
        let mut go_on = |share: f64| {
            told.push(share);
            true
        };
        assert!(PageMapping::filled_in_address_order(&params, 1, 0).warm_up(1.0, 1, 0, &mut go_on));
        assert!(told.is_sorted() && told.first() == Some(&0.0), "{told:?}");
        assert!(told.iter().all(|share| (0.0..=1.0).contains(share)) && told.iter().any(|&share| share >= 0.75), "{told:?}");
    }
}
