//! Collection of pools that the array's controller forces, and the reports to the agent (rules 41 to 46, 99, 100, 119, 122 and 123).

use super::{Clean, PageContext};
use crate::coordination::{ForcedCollectionAmount, MemberLook, MemberState, ToMember};
use crate::events::TimeNs;
use crate::ids::{BlockId, DieId};
use crate::ssd::agent::Agent;
use crate::ssd::collect::pools::{Forced, OwedVictims};
use crate::ssd::job::Cause;

impl PageContext<'_> {
    /// Prepares the dies for the protocol, after the member was given an agent. Messages must be sent on time, so waits may need events.
    pub(crate) fn agent_begins(&mut self, _now: TimeNs) {
        // The agent does not know of cleans that began before it.
        self.own.dies.iter_mut().flat_map(|die| die.cleans.iter_mut().flatten()).for_each(|clean| clean.needed = false);
        for die in (0..self.own.dies.len() as u32).map(DieId) {
            self.schedule_wake_up(die);
        }
    }

    /// Processes a message of the controller. All other events of this nanosecond come first.
    pub(crate) fn receive(&mut self, now: TimeNs, message: ToMember) {
        if message == ToMember::CheckDuty {
            return self.check_duty(now);
        }
        let free_blocks_min = self.least_free_blocks();
        let blocks_above_start = free_blocks_min.saturating_sub(self.parts.params.gc.start_threshold_free_blocks);
        let state = MemberState { free_blocks_min, blocks_above_start };
        self.parts.agent_mut().receive(now, message, state, self.out);
        match message {
            ToMember::ForceCollection(work) | ToMember::Grant(work) => self.force(now, work),
            ToMember::BeginTurn { .. } => self.collect_in_turn(now),
            ToMember::EndTurn => {
                let collects = self.own.dies.iter().flat_map(|die| die.cleans.iter().flatten()).any(|clean| clean.in_turn);
                self.parts.agent_mut().end_turn(now, collects, self.out);
            }
            _ => {}
        }
    }

    /// Returns the number of free blocks in the pool that has the fewest.
    fn least_free_blocks(&self) -> u32 {
        self.pools.pools.iter().map(|pool| pool.free_blocks).min().unwrap_or(0)
    }

    /// Returns true if the controller has denied collection in pools above their hard limit (rule 117).
    pub(super) fn is_denied(&self) -> bool {
        self.parts.agent.as_ref().is_some_and(Agent::is_denied)
    }

    /// Returns true if pools above their start threshold may postpone their cleans (rules 117 and 119).
    pub(super) fn may_defer(&self) -> bool {
        self.parts.agent.as_ref().is_some_and(Agent::may_defer)
    }

    /// Returns the number of free blocks at or below which a pool is cleaned, if it is the member's turn to collect (rule 265).
    #[inline]
    pub(super) fn turn_free_blocks(&self, now: TimeNs) -> Option<u32> {
        self.parts.agent.as_ref().and_then(|agent| agent.duty().collect_at(now))
    }

    /// Begins to collect in the member's turn, in dies without other work.
    fn collect_in_turn(&mut self, now: TimeNs) {
        for die in (0..self.own.dies.len() as u32).map(DieId) {
            let state = &self.own.dies[die.index()];
            let has_work = !state.slot_is_free() || state.cleans_any() || !state.queue.is_empty();
            if !has_work && self.begin_needed(now, die, Cause::FreeBlocksNeeded) {
                self.catch_up(now, 0, die);
            }
            self.schedule_wake_up(die);
        }
    }

    /// Stops forced work that may only be done in idle time, because idle time has ended.
    pub(super) fn stop_idle_work(&mut self) {
        if let Some(agent) = &mut self.parts.agent {
            agent.run_ends();
        }
    }

    fn force(&mut self, now: TimeNs, work: ForcedCollectionAmount) {
        let dies = self.parts.params.geometry.dies;
        let agent = self.parts.agent.as_ref().expect("only members that know the protocol are forced");
        let leave_free_blocks = agent.duty().work_free_blocks();
        let takes_part = |die: u32| agent.duty().takes_part(self.pools.fewest_and_total_free_blocks(DieId(die)).0);
        let taking_part: Vec<DieId> = (0..dies).filter(|&die| takes_part(die)).map(DieId).collect();
        self.parts.agent_mut().set_dies_left(taking_part.len() as u32);
        // Requests of before are void, and with them what the cleans in progress mean for them. A member with leave tells when they end.
        if leave_free_blocks.is_none() {
            self.own.dies.iter_mut().flat_map(|die| die.cleans.iter_mut().flatten()).for_each(|clean| clean.needed = false);
        }
        if taking_part.is_empty() {
            return self.member_done(now);
        }
        for die in &taking_part {
            let has_leave = |pool: &u32| leave_free_blocks.is_none_or(|limit| self.pools.free_blocks_of_pool(*die, *pool) <= limit);
            let pools = self.pools.pools_in_rotation(*die).filter(has_leave).fold(0, |pools, pool| pools | 1 << pool);
            let state = &mut self.own.dies[die.index()];
            let pools_of = |clean: &Clean| clean.companions.iter().fold(1 << clean.pool, |pools, companion| pools | 1 << companion.pool);
            let cleaned = state.cleans.iter().flatten().fold(0, |cleaned, clean| cleaned | pools_of(clean));
            let below_free_blocks = self.own.watermarks.forced_below(leave_free_blocks);
            state.forced = Some(Forced::new(work, pools, cleaned, state.busy_scopes(), below_free_blocks));
        }
        for die in taking_part {
            if self.own.dies[die.index()].slot_is_free() && self.begin_forced(now, die) {
                self.catch_up(now, 0, die);
            }
            self.schedule_wake_up(die);
        }
    }

    /// Begins the forced cleans of a die whose slot is free, or reports that the die has finished its work. Returns true if a clean began.
    pub(super) fn begin_forced(&mut self, at: TimeNs, die: DieId) -> bool {
        let state = &self.own.dies[die.index()];
        let Some(mut forced) = state.forced else { return false };
        if !self.own.by_plane && state.cleans[0].is_some() {
            return false;
        }
        if forced.is_about_victims() {
            if self.begin_owed_victims(at, die, forced) {
                return true;
            }
            if forced.cleans_victims() {
                return false;
            }
            let Some(then) = forced.after_victims() else {
                self.forced_work_ended(at, die);
                return false;
            };
            self.die(die).forced = Some(then);
            forced = then;
        }
        let idle_is_over = self.parts.agent_mut().idle_is_over() || !self.own.dies[die.index()].queue.is_empty();
        let began = self.begin_cleans(at, die, Cause::Forced, false, |watermarks, pools, busy| {
            watermarks.forced(pools, die, busy, &forced, idle_is_over)
        });
        if !began && !self.own.dies[die.index()].cleans_any() {
            self.forced_work_ended(at, die);
        }
        began
    }

    /// Begins to clean victims that a forced die must clean regardless of its free blocks (rules 45, 99 and 123). Returns true if a clean
    /// began.
    fn begin_owed_victims(&mut self, at: TimeNs, die: DieId, mut forced: Forced) -> bool {
        let mut began = false;
        match forced.owed_victims() {
            OwedVictims::Nothing => {}
            OwedVictims::OneFromAnyPool => {
                let busy_pools = self.busy_pools(die) | !forced.pools();
                if let Some((pool, victim)) = self.pools.next_clean_of_fewest_free(die, busy_pools) {
                    began = true;
                    self.begin_owed(at, die, &mut forced, pool, victim, false);
                }
            }
            OwedVictims::PoolBits(owed) => {
                for pool in self.pools.pools_in_rotation(die) {
                    let may_begin = owed & !self.busy_pools(die) & 1 << pool;
                    if may_begin == 0 || (began && !self.own.by_plane && !self.own.together) {
                        continue;
                    }
                    if let Some((pool, victim)) = self.pools.next_clean_below(die, u32::MAX, !may_begin) {
                        self.begin_owed(at, die, &mut forced, pool, victim, began);
                        began = true;
                    }
                }
            }
        }
        began
    }

    fn begin_owed(&mut self, at: TimeNs, die: DieId, forced: &mut Forced, pool: u32, victim: BlockId, joins: bool) {
        forced.victim_begins(pool, if self.own.by_plane { pool } else { 0 });
        self.die(die).forced = Some(*forced);
        self.begin_or_join_clean(at, die, pool, victim, Cause::Forced, false, joins);
    }

    fn forced_work_ended(&mut self, at: TimeNs, die: DieId) {
        self.die(die).forced = None;
        if self.parts.agent_mut().finish_die() {
            self.member_done(at);
        }
    }

    /// Ends the forced work of the member.
    fn member_done(&mut self, at: TimeNs) {
        self.parts.agent_mut().finish_forced_work(at, None, self.out);
    }

    /// Tells the agent that a clean of the die has ended. `needed` is the time at which it began, if its pool needed it.
    pub(super) fn note_clean_ended(&mut self, at: TimeNs, die: DieId, scope: u32, needed: Option<TimeNs>) {
        let Some(agent) = &mut self.parts.agent else { return };
        if let Some(began) = needed {
            agent.tell(self.out, |duty, desk| duty.needed_clean_ended(at, began, desk));
        }
        let state = self.die(die);
        if state.forced.as_mut().is_some_and(|forced| forced.clean_is_over(scope)) {
            let then = state.forced.and_then(Forced::after_victims);
            if then.is_some() {
                state.forced = then;
            } else {
                self.forced_work_ended(at, die);
            }
        }
    }

    /// Tells the agent that a die begins a clean because a pool needs it.
    pub(super) fn note_needed_clean(&mut self, at: TimeNs) {
        if let Some(agent) = &mut self.parts.agent {
            agent.tell(self.out, |duty, desk| duty.needed_clean_began(at, desk));
        }
    }

    /// Tells the agent that a host write has begun.
    pub(super) fn note_write(&mut self, at: TimeNs, die: DieId, pool: u32) {
        let Some(agent) = self.parts.agent.as_mut().filter(|agent| agent.duty().reacts_to_writes()) else { return };
        let free_blocks = self.pools.free_blocks_of_pool(die, pool);
        let is_at_limit = free_blocks <= self.parts.params.gc.start_threshold_free_blocks;
        agent.tell(self.out, |duty, desk| duty.host_write_began(at, free_blocks, is_at_limit, desk));
    }

    /// Tells the controller what it must know at the end of the nanosecond (rules 119 and 261).
    fn check_duty(&mut self, now: TimeNs) {
        let least_free_blocks = self.least_free_blocks();
        let is_at_start = least_free_blocks <= self.parts.params.gc.start_threshold_free_blocks;
        let pages_left = if self.parts.agent_mut().counts_pages_left(now) { self.pages_left() } else { 0 };
        let look = MemberLook { least_free_blocks, is_short: false, is_at_floor: false, is_at_start, pages_left };
        if let Some(work) = self.parts.agent_mut().check(now, &look, self.out) {
            self.force(now, work);
        }
    }

    /// Returns the number of pages that can still be written before a pool may reach its start threshold. It is negative if more pages wait
    /// already.
    fn pages_left(&self) -> i64 {
        let mut waiting_writes: Vec<i64> = self.own.dies.iter().map(|die| i64::from(die.queue.writes())).collect();
        let mut without_die = self.unplaced_writes() as i64;
        let travelling = self.travelling_writes().map(|write| write.die);
        for die in travelling.chain(self.pages_before_dies().map(|page| self.die_and_lpn(page).0)) {
            if self.own.dynamic {
                without_die += 1;
            } else {
                waiting_writes[die.index()] += 1;
            }
        }
        let dies = (0..).map(DieId).zip(waiting_writes);
        let of_dies = dies.map(|(die, waiting)| self.pools.pages_above_start(die) - waiting);
        of_dies.min().unwrap_or(0) - without_die
    }
}
