//! Obedience of dies to the array's controller, and what the agent hears of them (rules 41 to 46, 99, 100, 119 and 122).

use super::super::{Outbox, Ssd};
use crate::coordination::{MemberRole, MemberState, ToMember, Work};
use crate::events::TimeNs;
use crate::ids::DieId;
use crate::ssd::agent::{Agent, Order};
use crate::ssd::job::{Cause, Forced, NEVER};

impl Ssd {
    /// From now on the member speaks the protocol; it must not be immediate.
    pub fn become_ggc_aware(&mut self, now: TimeNs, role: MemberRole, out: &mut Outbox) {
        if self.drive.is_some() {
            return self.with_drive(out, |drive, out| drive.become_ggc_aware(now, role, out));
        }
        self.catch_up_each(now, NEVER, out);
        self.agent = Some(Agent::new(self.member, role));
        for die in (0..self.dies.len() as u32).map(DieId) {
            self.keep_awake(die, out);
        }
    }

    /// A message of the controller has arrived; all else that happens at this nanosecond has happened.
    pub fn receive(&mut self, now: TimeNs, message: ToMember, out: &mut Outbox) {
        if self.drive.is_some() {
            return self.with_drive(out, |drive, out| drive.receive(now, message, out));
        }
        self.catch_up_each(now, NEVER, out);
        let Self { agent, ftl, params, .. } = self;
        let agent = agent.as_mut().expect("only members that know the protocol get messages");
        let state = || {
            let free_blocks_min = ftl.pools.iter().map(|pool| pool.free_blocks).min().unwrap_or(0);
            MemberState { free_blocks_min, blocks_above_start: free_blocks_min.saturating_sub(params.gc.start_free_blocks) }
        };
        match agent.receive(now, message, state, out) {
            Order::Collect(work) => self.force(now, work, out),
            Order::Stop | Order::Nothing => {}
        }
    }

    /// Whether the controller has denied collection in pools above their hard limit (rule 117).
    pub(super) fn is_denied(&self) -> bool {
        self.agent.as_ref().is_some_and(Agent::is_denied)
    }

    /// Whether pools that have more free blocks than the start threshold need no clean (rules 117 and 119).
    pub(super) fn holds_out(&self) -> bool {
        self.agent.as_ref().is_some_and(Agent::holds_out)
    }

    /// The end of the run: idle time is not used any more.
    pub(super) fn stop_idle_work(&mut self) {
        if let Some(agent) = &mut self.agent {
            agent.run_ends();
        }
    }

    fn agent_mut(&mut self) -> &mut Agent {
        self.agent.as_mut().expect("only members that know the protocol get and send messages")
    }

    fn force(&mut self, now: TimeNs, work: Work, out: &mut Outbox) {
        let dies = self.params.geometry.dies;
        let agent = self.agent.as_ref().expect("only members that know the protocol are forced");
        let takes_part = |die: u32| agent.takes_part(self.ftl.free_blocks(DieId(die)).0);
        let taking_part: Vec<DieId> = (0..dies).filter(|&die| takes_part(die)).map(DieId).collect();
        self.agent_mut().dies_begin(taking_part.len() as u32);
        // Requests of before are void, and with them what the cleans in progress mean for them.
        self.dies.iter_mut().flat_map(|die| die.cleans.iter_mut().flatten()).for_each(|clean| clean.needed = false);
        if taking_part.is_empty() {
            return self.member_done(now, out);
        }
        for die in &taking_part {
            let state = &mut self.dies[die.index()];
            let busy = state.busy_scopes();
            let forced = Forced { work, counted: None };
            let counted = (busy != 0 && forced.begins_with_one_victim()).then_some(busy);
            state.forced = Some(Forced { counted, ..forced });
        }
        for die in taking_part {
            if self.dies[die.index()].slot_is_free() && self.begin_forced(now, die, out) {
                self.catch_up(now, 0, die, out);
            }
            self.keep_awake(die, out);
        }
    }

    /// With a free slot: begins the cleans that the die has been forced to make, or reports that it is done. Says whether a clean
    /// began.
    pub(super) fn begin_forced(&mut self, at: TimeNs, die: DieId, out: &mut Outbox) -> bool {
        let state = &self.dies[die.index()];
        let Some(mut forced) = state.forced else { return false };
        if !self.by_plane && state.cleans[0].is_some() {
            return false;
        }
        if forced.begins_with_one_victim() {
            if forced.counted.is_some() {
                return false;
            }
            let busy_pools = self.busy_pools(die);
            if let Some((pool, victim)) = self.ftl.next_clean_of_fewest_free(die, busy_pools) {
                let scope = if self.by_plane { pool } else { 0 };
                self.die(die).forced = Some(Forced { counted: Some(1 << scope), ..forced });
                self.begin_clean(at, die, pool, victim, Cause::Forced, false, out);
                return true;
            }
            let Some(then) = forced.after_one_victim() else {
                self.forced_over(at, die, out);
                return false;
            };
            self.die(die).forced = Some(then);
            forced = then;
        }
        let stop = self.params.gc.stop_free_blocks;
        let idle_is_over = self.agent_mut().idle_is_over() || !self.dies[die.index()].queue.is_empty();
        let began = self.begin_cleans(at, die, Cause::Forced, false, out, |ftl, busy| match forced.work {
            Work::Watermark => ftl.next_clean_below(die, stop + 1, busy),
            _ if idle_is_over => None,
            _ => ftl.next_idle_clean(die, busy),
        });
        if !began && !self.dies[die.index()].cleans_any() {
            self.forced_over(at, die, out);
        }
        began
    }

    fn forced_over(&mut self, at: TimeNs, die: DieId, out: &mut Outbox) {
        self.die(die).forced = None;
        if self.agent_mut().die_is_done() {
            self.member_done(at, out);
        }
    }

    /// The forced cycle of the member is over.
    fn member_done(&mut self, at: TimeNs, out: &mut Outbox) {
        let agent = self.agent_mut();
        agent.is_done(at, out);
        agent.asks_again(at, out);
    }

    /// A clean of the die, forced or not, is over; `needed` is when it began if its pool needed it.
    pub(super) fn note_clean_over(&mut self, at: TimeNs, die: DieId, scope: u32, needed: Option<TimeNs>, out: &mut Outbox) {
        let Some(agent) = &mut self.agent else { return };
        if let Some(began) = needed {
            agent.needed_clean_is_over(at, began, out);
        }
        let state = self.die(die);
        if let Some(Forced { counted: Some(counted), .. }) = &mut state.forced {
            *counted &= !(1 << scope);
            if *counted == 0 {
                let then = state.forced.and_then(Forced::after_one_victim);
                if then.is_some() {
                    state.forced = then;
                } else {
                    self.forced_over(at, die, out);
                }
            }
        }
    }

    /// A die is about to begin a clean because a pool needs one.
    pub(super) fn note_needed_clean(&mut self, at: TimeNs, out: &mut Outbox) {
        if let Some(agent) = &mut self.agent {
            agent.needed_clean_begins(at, out);
        }
    }

    /// A host write has begun.
    pub(super) fn note_write(&mut self, at: TimeNs, die: DieId, pool: u32, out: &mut Outbox) {
        let Some(agent) = self.agent.as_mut().filter(|agent| agent.heeds_writes()) else { return };
        let free_blocks = self.ftl.free_blocks_of_pool(die, pool);
        agent.sees_write(at, free_blocks, free_blocks <= self.params.gc.start_free_blocks, out);
    }

    /// All else of this nanosecond has happened: asks softly if there is reason to (rule 119).
    pub fn may_ask(&mut self, now: TimeNs, out: &mut Outbox) {
        self.catch_up_each(now, NEVER, out);
        if self.agent_mut().asks_softly(now) {
            let pages_left = self.pages_left();
            let is_at_start = |die: u32| self.ftl.free_blocks(DieId(die)).0 <= self.params.gc.start_free_blocks;
            let is_at_limit = (0..self.dies.len() as u32).any(is_at_start);
            self.agent_mut().ask_softly(now, pages_left, is_at_limit, out);
        }
    }

    /// Pages that it can still be given to write before a pool may come down to its start threshold; negative if what waits is more.
    fn pages_left(&self) -> i64 {
        let mut waiting_writes: Vec<i64> = self.dies.iter().map(|die| i64::from(die.queue.writes())).collect();
        let mut without_die = self.unplaced_writes() as i64;
        let travelling = self.travelling_writes().map(|write| write.die);
        for die in travelling.chain(self.pages_before_dies().map(|page| self.home(page).0)) {
            if self.dynamic {
                without_die += 1;
            } else {
                waiting_writes[die.index()] += 1;
            }
        }
        let dies = (0..).map(DieId).zip(waiting_writes);
        let of_dies = dies.map(|(die, waiting)| self.ftl.pages_above_start(die) - waiting);
        of_dies.min().unwrap_or(0) - without_die
    }
}
