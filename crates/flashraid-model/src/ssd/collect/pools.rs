//! Collection of pools of blocks: the clean that is due.
//!
//! - by watermark (rules 10 to 12 and 33),
//! - in idle time (rules 38 and 98),
//! - by the controller's word (rules 99, 100 and 117).

use crate::coordination::ForcedWork;
use crate::ids::{BlockId, DieId};
use crate::space::pools::Pools;
use crate::ssd::params::SsdParams;

/// Limits at which pools are collected.
#[derive(Debug, Clone)]
pub(crate) struct Watermarks {
    /// Number of free blocks at which forced collection of a pool stops.
    stop_free_blocks: u32,
    /// Hard limit T_hard, as a number of free blocks in a pool (rule 33). Below it, host writes wait for the clean.
    hard_free_blocks: f64,
    /// Idle time after which a die collects, in nanoseconds; `None` if it does not, or no longer does.
    idle_ns: Option<u64>,
}

/// The pool and the victim of the clean that should begin next, if there is one.
pub(crate) type Due = Option<(u32, BlockId)>;

impl Watermarks {
    /// Returns the limits of an SSD.
    pub(crate) fn new(params: &SsdParams) -> Self {
        let gc = &params.gc;
        Self {
            stop_free_blocks: gc.stop_free_blocks,
            hard_free_blocks: gc
                .preemption
                .map_or(0.0, |preemption| preemption.hard_limit_over_start_threshold * f64::from(gc.start_free_blocks)),
            idle_ns: gc.idle_collection_after_ns,
        }
    }

    /// Returns the idle time after which a die collects, in nanoseconds.
    pub(crate) fn idle_ns(&self) -> Option<u64> {
        self.idle_ns
    }

    /// Ends collection in idle time for good.
    pub(crate) fn idle_ends(&mut self) {
        self.idle_ns = None;
    }

    /// Returns true if a pool has so few free blocks that host writes must wait for its clean (rule 33).
    #[inline]
    pub(crate) fn is_below_hard(&self, pools: &Pools, die: DieId, pool: u32) -> bool {
        f64::from(pools.free_blocks_of_pool(die, pool)) < self.hard_free_blocks
    }

    /// Returns the next clean that a pool needs, except for pools in `busy`. With `may_defer`, only pools at their start threshold need
    /// one.
    pub(crate) fn needed(&self, pools: &mut Pools, die: DieId, busy: u64, may_defer: bool) -> Due {
        let left_out = if may_defer { pools.pools_above_start(die) } else { 0 };
        pools.next_clean(die, busy | left_out)
    }

    /// Returns the next clean for idle time, except for pools in `busy`.
    pub(crate) fn in_idle_time(&self, pools: &mut Pools, die: DieId, busy: u64) -> Due {
        pools.next_idle_clean(die, busy)
    }

    /// Returns the number of free blocks below which work up to the stop threshold cleans a pool. A member that has leave for pools with
    /// `leave_free_blocks` or fewer cleans these until they have more (rule 262).
    pub(crate) fn forced_below(&self, leave_free_blocks: Option<u32>) -> u32 {
        self.stop_free_blocks.max(leave_free_blocks.unwrap_or(0)) + 1
    }

    /// Returns the next clean that forced work requires, except for pools in `busy`. If `idle_is_over`, work that may only be done in
    /// idle time requires none.
    pub(crate) fn forced(&self, pools: &mut Pools, die: DieId, busy: u64, forced: &Forced, idle_is_over: bool) -> Due {
        match forced.work {
            ForcedWork::Watermark => pools.next_clean_below(die, forced.below_free_blocks, busy | !forced.pools),
            _ if idle_is_over => None,
            _ => self.in_idle_time(pools, die, busy),
        }
    }
}

/// Work of one die that the controller has forced.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Forced {
    /// The whole work of the die.
    pub(crate) work: ForcedWork,
    /// Set of pools that may be cleaned, one bit for each.
    pools: u64,
    /// Number of free blocks below which a pool is cleaned, once the work no longer consists of victims.
    below_free_blocks: u32,
    owed_victims: OwedVictims,
    /// Set of scopes, one bit for each, that are being cleaned as part of the victims in [`OwedVictims`].
    counted: u64,
}

/// Victims that a forced die must still begin to clean, regardless of its free blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OwedVictims {
    /// No victim is left to begin.
    Nothing,
    /// One victim of any pool.
    One,
    /// One victim of each pool in this set; one bit stands for each pool.
    Pools(u64),
}

impl Forced {
    /// Returns the work of a die with these `pools`, of which `cleaned` ones are being cleaned, in `busy` scopes. One bit stands for each
    /// pool or scope.
    pub(crate) fn new(work: ForcedWork, pools: u64, cleaned: u64, busy: u64, below_free_blocks: u32) -> Self {
        let left = pools & !cleaned;
        let owed_victims = match work {
            ForcedWork::OneVictim | ForcedWork::VictimAndWatermark if busy == 0 => OwedVictims::One,
            ForcedWork::PoolVictims | ForcedWork::PoolVictimsAndWatermark if left != 0 => OwedVictims::Pools(left),
            _ => OwedVictims::Nothing,
        };
        let forced = Self { work, pools, below_free_blocks, owed_victims, counted: 0 };
        Self { counted: if forced.is_about_victims() { busy } else { 0 }, ..forced }
    }

    /// Returns true while the work consists of victims that are cleaned regardless of the free blocks.
    pub(crate) fn is_about_victims(self) -> bool {
        self.work.begins_with_victims()
    }

    /// Returns the victims that the die must still begin to clean.
    pub(crate) fn owed_victims(self) -> OwedVictims {
        self.owed_victims
    }

    /// Returns true while a victim that counts as forced work is being cleaned.
    pub(crate) fn cleans_victims(self) -> bool {
        self.counted != 0
    }

    /// Records that the clean of a pool's victim begins in this scope.
    pub(crate) fn victim_begins(&mut self, pool: u32, scope: u32) {
        self.counted |= 1 << scope;
        self.owed_victims = match self.owed_victims {
            OwedVictims::Pools(pools) if pools != 1 << pool => OwedVictims::Pools(pools & !(1 << pool)),
            _ => OwedVictims::Nothing,
        };
    }

    /// Records the end of a clean. Returns true if all victims have been cleaned.
    pub(crate) fn clean_is_over(&mut self, scope: u32) -> bool {
        if self.counted >> scope & 1 == 0 {
            return false;
        }
        self.counted &= !(1 << scope);
        self.counted == 0 && self.owed_victims == OwedVictims::Nothing
    }

    /// Returns the work that follows the victims; `None` if nothing follows.
    pub(crate) fn after_victims(self) -> Option<Self> {
        let goes_on = matches!(self.work, ForcedWork::VictimAndWatermark | ForcedWork::PoolVictimsAndWatermark);
        goes_on.then_some(Self { work: ForcedWork::Watermark, owed_victims: OwedVictims::Nothing, counted: 0, ..self })
    }

    /// Returns the set of pools that may be cleaned, one bit for each.
    pub(crate) fn pools(self) -> u64 {
        self.pools
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn victims_are_over_when_all_that_counts_is() {
        let mut forced = Forced::new(ForcedWork::VictimAndWatermark, 0b111, 0b101, 0b101, 3);
        assert!(forced.cleans_victims() && !forced.clean_is_over(1) && !forced.clean_is_over(0) && forced.clean_is_over(2));
        let then = forced.after_victims().expect("the watermark follows");
        assert!(then.work == ForcedWork::Watermark && !then.is_about_victims());
        assert!(Forced::new(ForcedWork::OneVictim, 0b1, 0b1, 1, 3).after_victims().is_none());
    }

    #[test]
    fn each_pool_owes_a_victim_unless_one_is_being_cleaned() {
        let mut forced = Forced::new(ForcedWork::PoolVictims, 0b111, 0b010, 0b010, 3);
        assert_eq!(forced.owed_victims(), OwedVictims::Pools(0b101));
        forced.victim_begins(0, 0);
        assert!(!forced.clean_is_over(0) && !forced.clean_is_over(1), "pool 2 has not begun");
        forced.victim_begins(2, 2);
        assert!(forced.owed_victims() == OwedVictims::Nothing && forced.clean_is_over(2) && forced.after_victims().is_none());
        assert_eq!(Forced::new(ForcedWork::OneVictim, 0b11, 0, 0, 3).owed_victims(), OwedVictims::One);
    }

    #[test]
    fn work_up_to_a_watermark_counts_no_victim() {
        let mut forced = Forced::new(ForcedWork::Watermark, 0b1, 0b1, 0b1, 3);
        assert!(!forced.cleans_victims() && !forced.clean_is_over(0));
    }
}
