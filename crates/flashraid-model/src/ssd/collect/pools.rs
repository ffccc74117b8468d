//! Collection of pools of blocks: the clean that is due.
//!
//! - by watermark (rules 10 to 12 and 33),
//! - in idle time (rules 38 and 98),
//! - by the controller's word (rules 99, 100 and 117).

use crate::coordination::Work;
use crate::ids::{BlockId, DieId};
use crate::space::pools::Pools;
use crate::ssd::params::SsdParams;

/// Limits at which pools are collected.
#[derive(Debug, Clone)]
pub struct Watermarks {
    /// Number of free blocks at which forced collection of a pool stops.
    stop_free_blocks: u32,
    /// Limit T_hard as a number of free blocks in a pool (rule 33).
    hard_free_blocks: f64,
    /// Idle time after which a die collects, in nanoseconds; `None` if it does not, or no longer does.
    idle_ns: Option<u64>,
}

/// Pool and victim of a clean that should begin, if there is one.
pub type Due = Option<(u32, BlockId)>;

impl Watermarks {
    /// Returns the limits of an SSD.
    pub fn new(params: &SsdParams) -> Self {
        let gc = &params.gc;
        Self {
            stop_free_blocks: gc.stop_free_blocks,
            hard_free_blocks: gc.preemption.map_or(0.0, |preemption| preemption.t_hard * f64::from(gc.start_free_blocks)),
            idle_ns: gc.idle_ns,
        }
    }

    /// Returns the idle time after which a die collects, in nanoseconds.
    pub fn idle_ns(&self) -> Option<u64> {
        self.idle_ns
    }

    /// Ends the use of idle time.
    pub fn idle_ends(&mut self) {
        self.idle_ns = None;
    }

    /// Returns true if a pool has so few free blocks that writes wait for its clean (rule 33).
    #[inline]
    pub fn is_below_hard(&self, pools: &Pools, die: DieId, pool: u32) -> bool {
        f64::from(pools.free_blocks_of_pool(die, pool)) < self.hard_free_blocks
    }

    /// Returns the next clean that a pool needs, except for pools in `busy`. With `may_defer`, pools above their start threshold need none.
    pub fn needed(&self, pools: &mut Pools, die: DieId, busy: u64, may_defer: bool) -> Due {
        let left_out = if may_defer { pools.pools_above_start(die) } else { 0 };
        pools.next_clean(die, busy | left_out)
    }

    /// Returns the next clean for idle time, except for pools in `busy`.
    pub fn in_idle_time(&self, pools: &mut Pools, die: DieId, busy: u64) -> Due {
        pools.next_idle_clean(die, busy)
    }

    /// Returns the next clean that forced `work` requires, except for pools in `busy`. `idle_is_over` ends work that only uses idle time.
    pub fn forced(&self, pools: &mut Pools, die: DieId, busy: u64, work: Work, idle_is_over: bool) -> Due {
        match work {
            Work::Watermark => pools.next_clean_below(die, self.stop_free_blocks + 1, busy),
            _ if idle_is_over => None,
            _ => self.in_idle_time(pools, die, busy),
        }
    }
}

/// Forced work of one die.
#[derive(Debug, Clone, Copy)]
pub struct Forced {
    /// The whole work of the die.
    pub work: Work,
    owes: Owes,
    /// Scopes whose cleans count as victims of [`Owes`] and go on, as bits.
    counted: u64,
}

/// Victims that a forced die has yet to begin to clean, whatever its free blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owes {
    /// No victim is left to begin.
    Nothing,
    /// One victim of any pool.
    One,
    /// One victim of each of these pools, as bits.
    Pools(u64),
}

impl Forced {
    /// Returns the work of a die with these pools. Some of them are being cleaned, in `busy` scopes. All three are given as bits.
    pub fn new(work: Work, pools: u64, cleaned: u64, busy: u64) -> Self {
        let left = pools & !cleaned;
        let owes = match work {
            Work::OneVictim | Work::VictimAndWatermark if busy == 0 => Owes::One,
            Work::PoolVictims | Work::PoolVictimsAndWatermark if left != 0 => Owes::Pools(left),
            _ => Owes::Nothing,
        };
        let forced = Self { work, owes, counted: 0 };
        Self { counted: if forced.is_about_victims() { busy } else { 0 }, ..forced }
    }

    /// Returns true while the work is about victims that are cleaned whatever the free blocks.
    pub fn is_about_victims(self) -> bool {
        self.work.begins_with_victims()
    }

    /// Returns the victims that have not begun.
    pub fn owes(self) -> Owes {
        self.owes
    }

    /// Returns true while such a victim is being cleaned.
    pub fn cleans_victims(self) -> bool {
        self.counted != 0
    }

    /// Records that the clean of a pool's victim begins in this scope.
    pub fn victim_begins(&mut self, pool: u32, scope: u32) {
        self.counted |= 1 << scope;
        self.owes = match self.owes {
            Owes::Pools(pools) if pools != 1 << pool => Owes::Pools(pools & !(1 << pool)),
            _ => Owes::Nothing,
        };
    }

    /// Records the end of a clean. Returns true if no victim is left, neither to clean nor to begin.
    pub fn clean_is_over(&mut self, scope: u32) -> bool {
        if self.counted >> scope & 1 == 0 {
            return false;
        }
        self.counted &= !(1 << scope);
        self.counted == 0 && self.owes == Owes::Nothing
    }

    /// Returns the work that is left after the victims, or if there are none.
    pub fn after_victims(self) -> Option<Self> {
        let goes_on = matches!(self.work, Work::VictimAndWatermark | Work::PoolVictimsAndWatermark);
        goes_on.then_some(Self { work: Work::Watermark, owes: Owes::Nothing, counted: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn victims_are_over_when_all_that_counts_is() {
        let mut forced = Forced::new(Work::VictimAndWatermark, 0b111, 0b101, 0b101);
        assert!(forced.cleans_victims() && !forced.clean_is_over(1) && !forced.clean_is_over(0) && forced.clean_is_over(2));
        let then = forced.after_victims().expect("the watermark follows");
        assert!(then.work == Work::Watermark && !then.is_about_victims());
        assert!(Forced::new(Work::OneVictim, 0b1, 0b1, 1).after_victims().is_none());
    }

    #[test]
    fn each_pool_owes_a_victim_unless_one_is_being_cleaned() {
        let mut forced = Forced::new(Work::PoolVictims, 0b111, 0b010, 0b010);
        assert_eq!(forced.owes(), Owes::Pools(0b101));
        forced.victim_begins(0, 0);
        assert!(!forced.clean_is_over(0) && !forced.clean_is_over(1), "pool 2 has not begun");
        forced.victim_begins(2, 2);
        assert!(forced.owes() == Owes::Nothing && forced.clean_is_over(2) && forced.after_victims().is_none());
        assert_eq!(Forced::new(Work::OneVictim, 0b11, 0, 0).owes(), Owes::One);
    }

    #[test]
    fn work_up_to_a_watermark_counts_no_victim() {
        let mut forced = Forced::new(Work::Watermark, 0b1, 0b1, 0b1);
        assert!(!forced.cleans_victims() && !forced.clean_is_over(0));
    }
}
