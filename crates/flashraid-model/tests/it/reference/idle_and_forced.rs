//! Cleans of a die that rests, and of one that is forced (rules 38, 45, 46, 98, 99 and 123).

use flashraid_model::coordination::ForcedCollectionAmount;

use super::clean::Cause;
use super::{Event, Member, Simulation};

// Idle collection of dies.
impl Simulation<'_> {
    /// A die has nothing to do.
    pub(super) fn rest_begins(&mut self, member: usize, die: usize) {
        // Instantaneous cleans are not begun by idle time (rule 109).
        let Some(idle_ns) = self.ssd.gc.idle_collection_after_ns.filter(|_| !self.ssd.gc.collection_takes_no_time) else { return };
        let state = self.die(member, die);
        if state.rests || !state.is_at_rest() {
            return;
        }
        state.rests = true;
        self.schedule(idle_ns, Event::Rested { member, die });
    }

    pub(super) fn rest_ends(&mut self, member: usize, die: usize) {
        if std::mem::take(&mut self.die(member, die).rests) {
            let is_its_end = |event: &Event| matches!(*event, Event::Rested { member: of, die: by } if (of, by) == (member, die));
            self.events.retain(|scheduled| !is_its_end(&scheduled.event));
        }
    }

    /// Begins or continues idle collection of a die that has rested long enough. Needed cleans come first, then those for idle time (rule
    /// 38).
    pub(super) fn idle_cleans(&mut self, member: usize, die: usize) {
        if self.run_is_over() || self.needed_cleans(member, die, Cause::Idle) {
            return;
        }
        let fewer = self.members[member].flash.free_blocks_after_fill() - 1;
        if !self.holds_back(member) {
            self.cleans_up_to(member, die, fewer, Cause::Idle);
        }
    }
}

// Forced collection of dies.
impl Simulation<'_> {
    /// Begins the forced cleans of a die with a free slot, or ends its forced work (rule 99).
    pub(super) fn forced_cleans(&mut self, member: usize, die: usize) {
        let Some((work, dies)) = &self.members[member].protocol.forced else { return };
        let work = *work;
        if !dies.contains(&die) || self.is_blocked(member, die) {
            return;
        }
        match work {
            ForcedCollectionAmount::OneVictimPerDie => self.one_forced_clean(member, die),
            ForcedCollectionAmount::OneVictimPerPool => self.forced_clean_of_each_pool(member, die),
            ForcedCollectionAmount::OneVictimThenUntilStopThreshold if !self.members[member].protocol.past_victims.contains(&die) => {
                self.one_forced_clean(member, die);
            }
            ForcedCollectionAmount::OneVictimPerPoolThenWatermark if !self.members[member].protocol.past_victims.contains(&die) => {
                self.forced_clean_of_each_pool(member, die);
            }
            ForcedCollectionAmount::ToWatermark
            | ForcedCollectionAmount::OneVictimThenUntilStopThreshold
            | ForcedCollectionAmount::OneVictimPerPoolThenWatermark => {
                self.forced_cleans_up_to(member, die, self.ssd.gc.stop_threshold_free_blocks)
            }
            ForcedCollectionAmount::UntilFreeBlocksAfterFill => {
                let is_over = self.run_is_over() || self.members[member].protocol.is_stopped;
                if is_over || !self.members[member].dies[die].queue.is_empty() {
                    self.may_be_done(member, die);
                } else {
                    let fewer = self.members[member].flash.free_blocks_after_fill() - 1;
                    self.forced_cleans_up_to(member, die, fewer);
                }
            }
        }
    }

    fn one_forced_clean(&mut self, member: usize, die: usize) {
        if self.members[member].protocol.on_victims.contains_key(&die) {
            return;
        }
        let Member { flash, protocol, .. } = &mut self.members[member];
        let is_allowed = |pool: usize| protocol.leave.pools.contains(&(die, pool));
        let found = flash.pool_of_one_forced_victim(die, is_allowed).map(|pool| (pool, flash.choose_victim(die, pool)));
        match found {
            Some((pool, Some(victim))) => {
                self.members[member].protocol.on_victims.insert(die, [pool].into());
                self.begin_clean(member, die, pool, victim, Cause::Forced);
            }
            _ => {
                if self.victims_are_over(member, die) {
                    self.forced_cleans_up_to(member, die, self.ssd.gc.stop_threshold_free_blocks);
                }
            }
        }
    }

    /// Begins a clean in each pool that still owes its victim, in rotation (rule 123).
    fn forced_clean_of_each_pool(&mut self, member: usize, die: usize) {
        let mut began = false;
        for pool in self.members[member].flash.pools_in_turn(die) {
            let owes = self.members[member].protocol.owing.get(&die).is_some_and(|pools| pools.contains(&pool));
            if !owes || self.is_taken(member, die, pool, began) {
                continue;
            }
            let Some(victim) = self.members[member].flash.victim_up_to(die, pool, u32::MAX) else { continue };
            let protocol = &mut self.members[member].protocol;
            protocol.on_victims.entry(die).or_default().insert(pool);
            let owing = protocol.owing.get_mut(&die).expect("the pool is one of them");
            owing.remove(&pool);
            if owing.is_empty() {
                protocol.owing.remove(&die);
            }
            self.begin_clean(member, die, pool, victim, Cause::Forced);
            began = true;
        }
        if began {
            self.cleans_last_alike(member, die);
        }
        let goes_on = began || self.members[member].protocol.on_victims.contains_key(&die);
        if !goes_on && self.victims_are_over(member, die) {
            self.forced_cleans_up_to(member, die, self.ssd.gc.stop_threshold_free_blocks);
        }
    }

    fn forced_cleans_up_to(&mut self, member: usize, die: usize, free_blocks: u32) {
        let limit = self.limit_of_work(member).unwrap_or(0);
        if !self.cleans_up_to(member, die, free_blocks.max(limit), Cause::Forced) {
            self.may_be_done(member, die);
        }
    }

    /// No further clean begins: the die is done when those in progress have ended.
    fn may_be_done(&mut self, member: usize, die: usize) {
        if self.members[member].dies[die].cleans.is_empty() {
            self.die_is_done(member, die);
        }
    }
}
