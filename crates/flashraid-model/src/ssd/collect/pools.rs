//! Choice of the block to collect next, in a drive with pools of blocks:
//!
//! - by watermark (rules 10 to 12 and 33),
//! - in idle time (rules 38 and 98),
//! - by order or permission of the array's controller (rules 99, 100 and 117).

use crate::coordination::ForcedCollectionAmount;
use crate::ids::{BlockId, DieId};
use crate::space::pools::PageMapping;
use crate::ssd::params::SsdParams;

/// Numbers of free blocks, and idle time, at which blocks of a pool are collected.
#[derive(Debug, Clone)]
pub(crate) struct Watermarks {
    /// Stop threshold of collection, in free blocks of a pool. Forced collection up to this threshold ends when the pool has more free
    /// blocks.
    stop_free_blocks: u32,
    /// Hard limit T_hard, as a number of free blocks in a pool (rule 33). Below the limit, host writes wait for the collection of a
    /// block.
    hard_free_blocks: f64,
    /// Idle time after which a die collects, in nanoseconds; `None` if it does not, or no longer does.
    idle_ns: Option<u64>,
}

/// The pool of blocks and the victim block in it that should be collected next, if there is one.
pub(crate) type Due = Option<(u32, BlockId)>;

impl Watermarks {
    /// Returns the limits of an SSD.
    pub(crate) fn new(params: &SsdParams) -> Self {
        let gc = &params.gc;
        Self {
            stop_free_blocks: gc.stop_threshold_free_blocks,
            hard_free_blocks: gc.preemption.map_or(0.0, |preemption| preemption.t_hard.0 * f64::from(gc.start_threshold_free_blocks)),
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

    /// Returns true if a pool has so few free blocks that host writes must wait for collection there (rule 33).
    #[inline]
    pub(crate) fn is_below_hard(&self, pools: &PageMapping, die: DieId, pool: u32) -> bool {
        f64::from(pools.free_blocks_of_pool(die, pool)) < self.hard_free_blocks
    }

    /// Returns the next block to collect because its pool needs free blocks. Pools in `busy` are left out. With `may_defer`, only pools
    /// at their start threshold need collection.
    pub(crate) fn needed(&self, pools: &mut PageMapping, die: DieId, busy: u64, may_defer: bool) -> Due {
        let left_out = if may_defer { pools.pools_above_start(die) } else { 0 };
        pools.next_victim(die, busy | left_out)
    }

    /// Returns the next block to collect in idle time. Pools in `busy` are left out.
    pub(crate) fn in_idle_time(&self, pools: &mut PageMapping, die: DieId, busy: u64) -> Due {
        pools.next_idle_clean(die, busy)
    }

    /// Returns the number of free blocks of a pool below which forced work collects its blocks, if this work goes on to the stop
    /// threshold. A member may have permission to collect in pools with `leave_free_blocks` or fewer. It then collects there until they
    /// have more (rule 262).
    pub(crate) fn forced_below(&self, leave_free_blocks: Option<u32>) -> u32 {
        self.stop_free_blocks.max(leave_free_blocks.unwrap_or(0)) + 1
    }

    /// Returns the next block to collect by forced work. Pools in `busy` are left out. If `idle_is_over`, work that may only be done in
    /// idle time requires none.
    pub(crate) fn forced(&self, pools: &mut PageMapping, die: DieId, busy: u64, forced: &Forced, idle_is_over: bool) -> Due {
        match forced.work {
            ForcedCollectionAmount::ToWatermark => pools.next_clean_below(die, forced.below_free_blocks, busy | !forced.pools),
            _ if idle_is_over => None,
            _ => self.in_idle_time(pools, die, busy),
        }
    }
}

/// Work of one die that the controller has forced.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Forced {
    /// The whole work of the die.
    pub(crate) work: ForcedCollectionAmount,
    /// Set of pools in which blocks may be collected by this work, one bit for each pool.
    pools: u64,
    /// Number of free blocks of a pool below which its blocks are collected, after all owed victims have been collected.
    below_free_blocks: u32,
    owed_victims: OwedVictims,
    /// Set of scopes (dies or planes that a collection blocks), one bit for each. A block is being collected there that counts as an owed
    /// victim.
    counted: u64,
}

/// Victim blocks whose collection a forced die must still begin, regardless of its number of free blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OwedVictims {
    /// No victim block is left whose collection the die must still begin.
    Nothing,
    /// The die must still begin to collect one victim block in all, from one of its pools of blocks.
    OneFromAnyPool,
    /// The die must still begin to collect one victim block from each pool of blocks in this set. One bit stands for each pool.
    PoolBits(u64),
}

impl Forced {
    /// Returns the work of a die in these `pools`. Blocks of the pools in `cleaned` are being collected already, in the scopes `busy`
    /// (dies or planes that a collection blocks). One bit stands for each pool or scope.
    pub(crate) fn new(work: ForcedCollectionAmount, pools: u64, cleaned: u64, busy: u64, below_free_blocks: u32) -> Self {
        let left = pools & !cleaned;
        let owed_victims = match work {
            ForcedCollectionAmount::OneVictimPerDie | ForcedCollectionAmount::OneVictimThenUntilStopThreshold if busy == 0 => {
                OwedVictims::OneFromAnyPool
            }
            ForcedCollectionAmount::OneVictimPerPool | ForcedCollectionAmount::OneVictimPerPoolThenWatermark if left != 0 => {
                OwedVictims::PoolBits(left)
            }
            _ => OwedVictims::Nothing,
        };
        let forced = Self { work, pools, below_free_blocks, owed_victims, counted: 0 };
        Self { counted: if forced.is_about_victims() { busy } else { 0 }, ..forced }
    }

    /// Returns true while the work consists of victim blocks that are collected regardless of the number of free blocks.
    pub(crate) fn is_about_victims(self) -> bool {
        self.work.begins_with_victims()
    }

    /// Returns the victim blocks whose collection the die must still begin.
    pub(crate) fn owed_victims(self) -> OwedVictims {
        self.owed_victims
    }

    /// Returns true while a block is being collected that counts as an owed victim.
    pub(crate) fn cleans_victims(self) -> bool {
        self.counted != 0
    }

    /// Records that the collection of an owed victim of a pool begins in this scope (the die or plane that the collection blocks).
    pub(crate) fn victim_begins(&mut self, pool: u32, scope: u32) {
        self.counted |= 1 << scope;
        self.owed_victims = match self.owed_victims {
            OwedVictims::PoolBits(pools) if pools != 1 << pool => OwedVictims::PoolBits(pools & !(1 << pool)),
            _ => OwedVictims::Nothing,
        };
    }

    /// Records the end of the collection of a block. Returns true if this was the last owed victim.
    pub(crate) fn clean_is_over(&mut self, scope: u32) -> bool {
        if self.counted >> scope & 1 == 0 {
            return false;
        }
        self.counted &= !(1 << scope);
        self.counted == 0 && self.owed_victims == OwedVictims::Nothing
    }

    /// Returns the work that follows when all owed victims have been collected; `None` if nothing follows.
    pub(crate) fn after_victims(self) -> Option<Self> {
        let goes_on = matches!(
            self.work,
            ForcedCollectionAmount::OneVictimThenUntilStopThreshold | ForcedCollectionAmount::OneVictimPerPoolThenWatermark
        );
        goes_on.then_some(Self { work: ForcedCollectionAmount::ToWatermark, owed_victims: OwedVictims::Nothing, counted: 0, ..self })
    }

    /// Returns the set of pools in which blocks may be collected, one bit for each pool.
    pub(crate) fn pools(self) -> u64 {
        self.pools
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn victims_are_over_when_all_that_counts_is() {
        let mut forced = Forced::new(ForcedCollectionAmount::OneVictimThenUntilStopThreshold, 0b111, 0b101, 0b101, 3);
        assert!(forced.cleans_victims() && !forced.clean_is_over(1) && !forced.clean_is_over(0) && forced.clean_is_over(2));
        let then = forced.after_victims().expect("the watermark follows");
        assert!(then.work == ForcedCollectionAmount::ToWatermark && !then.is_about_victims());
        assert!(Forced::new(ForcedCollectionAmount::OneVictimPerDie, 0b1, 0b1, 1, 3).after_victims().is_none());
    }

    #[test]
    fn each_pool_owes_a_victim_unless_one_is_being_cleaned() {
        let mut forced = Forced::new(ForcedCollectionAmount::OneVictimPerPool, 0b111, 0b010, 0b010, 3);
        assert_eq!(forced.owed_victims(), OwedVictims::PoolBits(0b101));
        forced.victim_begins(0, 0);
        assert!(!forced.clean_is_over(0) && !forced.clean_is_over(1), "pool 2 has not begun");
        forced.victim_begins(2, 2);
        assert!(forced.owed_victims() == OwedVictims::Nothing && forced.clean_is_over(2) && forced.after_victims().is_none());
        assert_eq!(Forced::new(ForcedCollectionAmount::OneVictimPerDie, 0b11, 0, 0, 3).owed_victims(), OwedVictims::OneFromAnyPool);
    }

    #[test]
    fn work_up_to_a_watermark_counts_no_victim() {
        let mut forced = Forced::new(ForcedCollectionAmount::ToWatermark, 0b1, 0b1, 0b1, 3);
        assert!(!forced.cleans_victims() && !forced.clean_is_over(0));
    }
}
