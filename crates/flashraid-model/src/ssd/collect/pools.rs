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
    /// Blocking scopes whose current cleans count as the one victim, as bits. It is `None` before such a clean has begun.
    counted: Option<u64>,
}

impl Forced {
    /// Returns the work of a die that already has cleans in the `busy` scopes. These count as the one victim.
    pub fn new(work: Work, busy: u64) -> Self {
        let forced = Self { work, counted: None };
        Self { counted: (busy != 0 && forced.begins_with_one_victim()).then_some(busy), ..forced }
    }

    /// Returns true if the work begins with one victim, whatever the number of free blocks.
    pub fn begins_with_one_victim(self) -> bool {
        matches!(self.work, Work::OneVictim | Work::VictimAndWatermark)
    }

    /// Returns true while the one victim is being cleaned.
    pub fn cleans_one_victim(self) -> bool {
        self.begins_with_one_victim() && self.counted.is_some()
    }

    /// Records that the clean of the only forced victim begins in this scope.
    pub fn one_victim_begins(&mut self, scope: u32) {
        self.counted = Some(1 << scope);
    }

    /// Records the end of a clean. Returns true if it was the last one that counts.
    pub fn clean_is_over(&mut self, scope: u32) -> bool {
        let Some(counted) = &mut self.counted else { return false };
        *counted &= !(1 << scope);
        *counted == 0
    }

    /// Returns the work that remains after the one victim, also if no victim was found.
    pub fn after_one_victim(self) -> Option<Self> {
        (self.work == Work::VictimAndWatermark).then_some(Self { work: Work::Watermark, counted: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_victim_is_over_when_all_that_counts_is() {
        let mut forced = Forced::new(Work::VictimAndWatermark, 0b101);
        assert!(forced.cleans_one_victim() && !forced.clean_is_over(1) && !forced.clean_is_over(0) && forced.clean_is_over(2));
        let then = forced.after_one_victim().expect("the watermark follows");
        assert!(then.work == Work::Watermark && !then.begins_with_one_victim());
        assert!(Forced::new(Work::OneVictim, 1).after_one_victim().is_none());
    }

    #[test]
    fn work_up_to_a_watermark_counts_no_victim() {
        let mut forced = Forced::new(Work::Watermark, 0b1);
        assert!(!forced.cleans_one_victim() && !forced.clean_is_over(0));
    }
}
