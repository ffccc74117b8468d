//! Collection of pools of blocks: the clean that is due.
//!
//! - by watermark (rules 10 to 12 and 33),
//! - in idle time (rules 38 and 98),
//! - by the controller's word (rules 99, 100 and 117).

use crate::coordination::Work;
use crate::ids::{BlockId, DieId};
use crate::space::pools::Pools;
use crate::ssd::params::SsdParams;

/// The limits by which pools are collected.
#[derive(Debug, Clone)]
pub struct Watermarks {
    /// Free blocks at which forced collection of a pool stops.
    stop_free_blocks: u32,
    /// T_hard, in free blocks of a pool (rule 33).
    hard_free_blocks: f64,
    /// Time without work after which a die collects, in nanoseconds; `None`: never, or not any more.
    idle_ns: Option<u64>,
}

/// A clean that is due: the pool, and the block.
pub type Due = Option<(u32, BlockId)>;

impl Watermarks {
    /// The limits of an SSD.
    pub fn new(params: &SsdParams) -> Self {
        let gc = &params.gc;
        Self {
            stop_free_blocks: gc.stop_free_blocks,
            hard_free_blocks: gc.preemption.map_or(0.0, |preemption| preemption.t_hard * f64::from(gc.start_free_blocks)),
            idle_ns: gc.idle_ns,
        }
    }

    /// Time without work after which a die collects, if it does.
    pub fn idle_ns(&self) -> Option<u64> {
        self.idle_ns
    }

    /// Idle time is not used any more.
    pub fn idle_ends(&mut self) {
        self.idle_ns = None;
    }

    /// Returns true if a pool has so few free blocks that writes wait for its clean (rule 33).
    #[inline]
    pub fn is_below_hard(&self, pools: &Pools, die: DieId, pool: u32) -> bool {
        f64::from(pools.free_blocks_of_pool(die, pool)) < self.hard_free_blocks
    }

    /// The clean that a pool outside `busy` needs. A member that `holds_out` leaves pools above their start threshold alone.
    pub fn needed(&self, pools: &mut Pools, die: DieId, busy: u64, holds_out: bool) -> Due {
        let left_out = if holds_out { pools.pools_above_start(die) } else { 0 };
        pools.next_clean(die, busy | left_out)
    }

    /// The clean that a pool outside `busy` may profit from while nothing waits.
    pub fn in_idle_time(&self, pools: &mut Pools, die: DieId, busy: u64) -> Due {
        pools.next_idle_clean(die, busy)
    }

    /// The clean that forced `work` asks for; `idle_is_over` if it was to use idle time that is over.
    pub fn forced(&self, pools: &mut Pools, die: DieId, busy: u64, work: Work, idle_is_over: bool) -> Due {
        match work {
            Work::Watermark => pools.next_clean_below(die, self.stop_free_blocks + 1, busy),
            _ if idle_is_over => None,
            _ => self.in_idle_time(pools, die, busy),
        }
    }
}

/// Work that the controller has forced a die to do.
#[derive(Debug, Clone, Copy)]
pub struct Forced {
    /// The work as a whole.
    pub work: Work,
    /// The scopes whose cleans count and go on, as bits, for work that begins with one victim. `None` before there is one.
    counted: Option<u64>,
}

impl Forced {
    /// Work of a die in whose `busy` scopes cleans go on; these count.
    pub fn new(work: Work, busy: u64) -> Self {
        let forced = Self { work, counted: None };
        Self { counted: (busy != 0 && forced.begins_with_one_victim()).then_some(busy), ..forced }
    }

    /// The work begins with one victim, whatever the free blocks.
    pub fn begins_with_one_victim(self) -> bool {
        matches!(self.work, Work::OneVictim | Work::VictimAndWatermark)
    }

    /// Returns true while the one victim is being cleaned.
    pub fn cleans_one_victim(self) -> bool {
        self.begins_with_one_victim() && self.counted.is_some()
    }

    /// The one victim is cleaned in that scope.
    pub fn one_victim_begins(&mut self, scope: u32) {
        self.counted = Some(1 << scope);
    }

    /// A clean in a scope is over. Returns true if it was the last that counts.
    pub fn clean_is_over(&mut self, scope: u32) -> bool {
        let Some(counted) = &mut self.counted else { return false };
        *counted &= !(1 << scope);
        *counted == 0
    }

    /// Returns the work that is left after the one victim, or if there is no victim.
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
