//! Collection of pools that the array's controller forces, and what the agent is told of it (rules 41 to 46, 99, 100, 119 and 122).

use super::PageTurn;
use crate::coordination::{MemberState, ToMember, Work};
use crate::events::TimeNs;
use crate::ids::DieId;
use crate::ssd::agent::{Agent, Consequence};
use crate::ssd::collect::pools::Forced;
use crate::ssd::job::Cause;

impl PageTurn<'_> {
    /// The member has got an agent: whoever speaks with a controller must not be late.
    pub fn agent_begins(&mut self, _now: TimeNs) {
        for die in (0..self.own.dies.len() as u32).map(DieId) {
            self.keep_awake(die);
        }
    }

    /// A message of the controller has arrived; all else that happens at this nanosecond has happened.
    pub fn receive(&mut self, now: TimeNs, message: ToMember) {
        let (pools, params) = (&*self.pools, &self.parts.params);
        let agent = self.parts.agent.as_mut().expect("only members that know the protocol get messages");
        let state = || {
            let free_blocks_min = pools.pools.iter().map(|pool| pool.free_blocks).min().unwrap_or(0);
            MemberState { free_blocks_min, blocks_above_start: free_blocks_min.saturating_sub(params.gc.start_free_blocks) }
        };
        match agent.receive(now, message, state, self.out) {
            Consequence::Collect(work) => self.force(now, work),
            Consequence::Stop | Consequence::Nothing => {}
        }
    }

    /// Returns true if the controller has denied collection in pools above their hard limit (rule 117).
    pub(super) fn is_denied(&self) -> bool {
        self.parts.agent.as_ref().is_some_and(Agent::is_denied)
    }

    /// Returns true if pools with more free blocks than the start threshold need no clean (rules 117 and 119).
    pub(super) fn holds_out(&self) -> bool {
        self.parts.agent.as_ref().is_some_and(Agent::holds_out)
    }

    /// The end of the run: idle time is not used any more.
    pub(super) fn stop_idle_work(&mut self) {
        if let Some(agent) = &mut self.parts.agent {
            agent.run_ends();
        }
    }

    fn force(&mut self, now: TimeNs, work: Work) {
        let dies = self.parts.params.geometry.dies;
        let agent = self.parts.agent.as_ref().expect("only members that know the protocol are forced");
        let takes_part = |die: u32| agent.takes_part(self.pools.free_blocks(DieId(die)).0);
        let taking_part: Vec<DieId> = (0..dies).filter(|&die| takes_part(die)).map(DieId).collect();
        self.parts.agent_mut().dies_begin(taking_part.len() as u32);
        // Requests of before are void, and with them what the cleans in progress mean for them.
        self.own.dies.iter_mut().flat_map(|die| die.cleans.iter_mut().flatten()).for_each(|clean| clean.needed = false);
        if taking_part.is_empty() {
            return self.member_done(now);
        }
        for die in &taking_part {
            let state = &mut self.own.dies[die.index()];
            state.forced = Some(Forced::new(work, state.busy_scopes()));
        }
        for die in taking_part {
            if self.own.dies[die.index()].slot_is_free() && self.begin_forced(now, die) {
                self.catch_up(now, 0, die);
            }
            self.keep_awake(die);
        }
    }

    /// Begins the cleans that a die with a free slot has been forced to make, or reports that it is done. Returns true if a clean began.
    pub(super) fn begin_forced(&mut self, at: TimeNs, die: DieId) -> bool {
        let state = &self.own.dies[die.index()];
        let Some(mut forced) = state.forced else { return false };
        if !self.own.by_plane && state.cleans[0].is_some() {
            return false;
        }
        if forced.begins_with_one_victim() {
            if forced.cleans_one_victim() {
                return false;
            }
            let busy_pools = self.busy_pools(die);
            if let Some((pool, victim)) = self.pools.next_clean_of_fewest_free(die, busy_pools) {
                let scope = if self.own.by_plane { pool } else { 0 };
                forced.one_victim_begins(scope);
                self.die(die).forced = Some(forced);
                self.begin_clean(at, die, pool, victim, Cause::Forced, false);
                return true;
            }
            let Some(then) = forced.after_one_victim() else {
                self.forced_over(at, die);
                return false;
            };
            self.die(die).forced = Some(then);
            forced = then;
        }
        let idle_is_over = self.parts.agent_mut().idle_is_over() || !self.own.dies[die.index()].queue.is_empty();
        let began = self.begin_cleans(at, die, Cause::Forced, false, |watermarks, pools, busy| {
            watermarks.forced(pools, die, busy, forced.work, idle_is_over)
        });
        if !began && !self.own.dies[die.index()].cleans_any() {
            self.forced_over(at, die);
        }
        began
    }

    fn forced_over(&mut self, at: TimeNs, die: DieId) {
        self.die(die).forced = None;
        if self.parts.agent_mut().die_is_done() {
            self.member_done(at);
        }
    }

    /// The forced cycle of the member is over.
    fn member_done(&mut self, at: TimeNs) {
        let agent = self.parts.agent_mut();
        agent.is_done(at, self.out);
        agent.asks_again(at, self.out);
    }

    /// A clean of the die, forced or not, is over; `needed` is when it began if its pool needed it.
    pub(super) fn note_clean_over(&mut self, at: TimeNs, die: DieId, scope: u32, needed: Option<TimeNs>) {
        let Some(agent) = &mut self.parts.agent else { return };
        if let Some(began) = needed {
            agent.needed_clean_is_over(at, began, self.out);
        }
        let state = self.die(die);
        if state.forced.as_mut().is_some_and(|forced| forced.clean_is_over(scope)) {
            let then = state.forced.and_then(Forced::after_one_victim);
            if then.is_some() {
                state.forced = then;
            } else {
                self.forced_over(at, die);
            }
        }
    }

    /// A die is about to begin a clean because a pool needs one.
    pub(super) fn note_needed_clean(&mut self, at: TimeNs) {
        if let Some(agent) = &mut self.parts.agent {
            agent.needed_clean_begins(at, self.out);
        }
    }

    /// A host write has begun.
    pub(super) fn note_write(&mut self, at: TimeNs, die: DieId, pool: u32) {
        let Some(agent) = self.parts.agent.as_mut().filter(|agent| agent.heeds_writes()) else { return };
        let free_blocks = self.pools.free_blocks_of_pool(die, pool);
        agent.sees_write(at, free_blocks, free_blocks <= self.parts.params.gc.start_free_blocks, self.out);
    }

    /// All else of this nanosecond has happened: asks softly if there is reason to (rule 119).
    pub fn may_ask(&mut self, now: TimeNs) {
        if self.parts.agent_mut().asks_softly(now) {
            let pages_left = self.pages_left();
            let is_at_start = |die: u32| self.pools.free_blocks(DieId(die)).0 <= self.parts.params.gc.start_free_blocks;
            let is_at_limit = (0..self.own.dies.len() as u32).any(is_at_start);
            self.parts.agent_mut().ask_softly(now, pages_left, is_at_limit, self.out);
        }
    }

    /// Pages that it can still be given to write before a pool may come down to its start threshold; negative if what waits is more.
    fn pages_left(&self) -> i64 {
        let mut waiting_writes: Vec<i64> = self.own.dies.iter().map(|die| i64::from(die.queue.writes())).collect();
        let mut without_die = self.unplaced_writes() as i64;
        let travelling = self.travelling_writes().map(|write| write.die);
        for die in travelling.chain(self.pages_before_dies().map(|page| self.home(page).0)) {
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
