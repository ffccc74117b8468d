//! Collection on the controller's message, and what a member tells the controller (rules 41 to 46, 99, 100, 119 and 122).

use super::super::{Outbox, Ssd};
use super::Clean;
use crate::coordination::{MemberRole, MemberState, Need, News, Notify, ToController, ToMember, Work};
use crate::events::TimeNs;
use crate::ids::DieId;
use crate::request::OpKind;
use crate::ssd::job::{Cause, Forced, NEVER};

/// What a member that knows the protocol remembers.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Agent {
    role: MemberRole,
    /// Dies that have not done yet what they were forced to do.
    dies_left: u32,
    /// When cleans that pools needed began last, and how many of them at that nanosecond.
    needed_began: (TimeNs, u32),
    /// When it sent its last request, and how many of the cleans that began at that nanosecond go on. While there are any, and
    /// until the member is forced, the request is outstanding.
    request: (TimeNs, u32),
    soft: SoftNotification,
    /// It has registered since it was forced last.
    participates: bool,
    /// It was denied collection above its hard limit, and has been neither granted it nor forced since.
    denied: bool,
    /// The idle time that it was to use is over.
    stopped: bool,
    /// So is the run: no idle time is used any more.
    run_is_over: bool,
}

/// What a member that asks softly remembers (rule 119).
#[derive(Debug, Clone, Copy)]
struct SoftNotification {
    /// Page writes that it has been given.
    pages_given: u64,
    times_forced: u32,
    /// It has asked since it was forced last.
    has_asked: bool,
    /// It has said since then that it is at its limit.
    has_said_limit: bool,
    /// When a host write left a low pool last.
    low_at: TimeNs,
    /// When it reached its limit last.
    limit_at: TimeNs,
    /// The array will let it ask at the end of that nanosecond.
    asks_at: TimeNs,
}

impl Agent {
    fn asks_softly(&self) -> bool {
        self.role.notify == Notify::Soft
    }

    /// An operation has been given to the member.
    #[inline]
    pub(in super::super) fn given(&mut self, kind: OpKind) {
        self.soft.pages_given += u64::from(kind == OpKind::Write);
    }
}

impl Ssd {
    /// From now on the member speaks the protocol; it must not be immediate.
    pub fn become_ggc_aware(&mut self, now: TimeNs, role: MemberRole, out: &mut Outbox) {
        if self.drive.is_some() {
            return self.with_drive(out, |drive, out| drive.become_ggc_aware(now, role, out));
        }
        self.catch_up_each(now, NEVER, out);
        let agent = Agent {
            role,
            dies_left: 0,
            needed_began: (NEVER, 0),
            request: (NEVER, 0),
            soft: SoftNotification {
                pages_given: 0,
                times_forced: 0,
                has_asked: false,
                has_said_limit: false,
                low_at: NEVER,
                limit_at: NEVER,
                asks_at: NEVER,
            },
            participates: false,
            denied: false,
            stopped: false,
            run_is_over: false,
        };
        self.agent = Some(agent);
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
        match message {
            ToMember::Force(work) | ToMember::Grant(work) => self.force(now, work, out),
            ToMember::Stop => self.agent_mut().stopped = true,
            ToMember::Deny => self.agent_mut().denied = true,
            ToMember::TellState => self.tell(now, ToController::GcState(self.state()), out),
        }
    }

    /// Whether the controller has denied collection in pools above their hard limit (rule 117).
    pub(super) fn is_denied(&self) -> bool {
        self.agent.is_some_and(|agent| agent.denied)
    }

    /// Whether pools that have more free blocks than the start threshold need no clean (rules 117 and 119).
    pub(super) fn holds_out(&self) -> bool {
        self.agent.is_some_and(|agent| agent.denied || agent.soft.has_asked)
    }

    /// The end of the run: idle time is not used any more.
    pub(super) fn stop_idle_work(&mut self) {
        if let Some(agent) = &mut self.agent {
            (agent.stopped, agent.run_is_over) = (true, true);
        }
    }

    fn agent_mut(&mut self) -> &mut Agent {
        self.agent.as_mut().expect("only members that know the protocol get and send messages")
    }

    fn tell(&self, at: TimeNs, message: ToController, out: &mut Outbox) {
        self.report(at, News::Sends(message), out);
    }

    fn report(&self, at: TimeNs, news: News, out: &mut Outbox) {
        out.report(at, self.member, news);
    }

    fn state(&self) -> MemberState {
        let free_blocks_min = self.ftl.pools.iter().map(|pool| pool.free_blocks).min().unwrap_or(0);
        MemberState { free_blocks_min, blocks_above_start: free_blocks_min.saturating_sub(self.params.gc.start_free_blocks) }
    }

    fn force(&mut self, now: TimeNs, work: Work, out: &mut Outbox) {
        let dies = self.params.geometry.dies;
        let MemberRole { across_dies, t_soft_free_blocks, .. } = self.agent_mut().role;
        let takes_part = |die: u32| across_dies || self.ftl.free_blocks(DieId(die)).0 <= t_soft_free_blocks;
        let taking_part: Vec<DieId> = (0..dies).filter(|&die| takes_part(die)).map(DieId).collect();
        let agent = self.agent_mut();
        debug_assert_eq!(agent.dies_left, 0, "the controller waits for GcDone");
        agent.dies_left = taking_part.len() as u32;
        (agent.request, agent.participates, agent.denied, agent.stopped) = ((NEVER, 0), false, false, agent.run_is_over);
        agent.needed_began = (NEVER, 0);
        // Requests of before are void, and with them what the cleans in progress mean for them.
        self.dies.iter_mut().flat_map(|die| die.cleans.iter_mut().flatten()).for_each(|clean| clean.needed = false);
        let agent = self.agent_mut();
        agent.soft = SoftNotification {
            times_forced: agent.soft.times_forced + 1,
            has_asked: false,
            has_said_limit: false,
            low_at: NEVER,
            limit_at: NEVER,
            ..agent.soft
        };
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
            if let Some((pool, victim)) = self.ftl.next_clean_of_fewest_free(die, self.busy_pools(die)) {
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
        let idle_is_over = self.agent_mut().stopped || !self.dies[die.index()].queue.is_empty();
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
        let agent = self.agent_mut();
        agent.dies_left -= 1;
        if agent.dies_left == 0 {
            self.member_done(at, out);
        }
    }

    /// The forced cycle of the member is over.
    fn member_done(&mut self, at: TimeNs, out: &mut Outbox) {
        self.tell(at, ToController::GcDone, out);
        let Agent { role, soft, .. } = self.agent_mut();
        match role.notify {
            Notify::AtStart => self.ask(at, out),
            Notify::Soft if soft.low_at == at || soft.limit_at == at => self.will_ask(at, out),
            Notify::Soft => {}
        }
    }

    /// A clean of the die, forced or not, is over.
    pub(super) fn note_clean_over(&mut self, at: TimeNs, die: DieId, scope: u32, clean: &Clean, out: &mut Outbox) {
        let Some(agent) = &mut self.agent else { return };
        if clean.needed && clean.began == agent.request.0 {
            agent.request.1 -= 1;
            self.ask(at, out);
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
        let Some(agent) = &mut self.agent else { return };
        if agent.asks_softly() {
            agent.soft.limit_at = at;
            let SoftNotification { has_asked, has_said_limit, .. } = agent.soft;
            if has_asked {
                self.report(at, News::CollectsUnanswered, out);
            }
            if !has_said_limit {
                self.will_ask(at, out);
            }
            return;
        }
        if agent.needed_began.0 != at {
            agent.needed_began = (at, 0);
        }
        agent.needed_began.1 += 1;
        if agent.request.0 == at {
            agent.request.1 += 1;
        } else {
            self.ask(at, out);
        }
    }

    /// Asks for collection if there is reason to. Its dies come to the same nanosecond in any order: this is tried whenever
    /// something has happened that lets the member ask, and comes to the same as if it were tried once at the end (rule 43).
    fn ask(&mut self, at: TimeNs, out: &mut Outbox) {
        let agent = self.agent_mut();
        if agent.dies_left == 0 && agent.request.1 == 0 && agent.needed_began.0 == at {
            agent.request = agent.needed_began;
            self.tell(at, ToController::GcRequest(Need::AT_LIMIT), out);
        }
    }

    /// A host write has begun.
    pub(super) fn note_write(&mut self, at: TimeNs, die: DieId, pool: u32, out: &mut Outbox) {
        let Some(agent) = &mut self.agent else { return };
        let may_register = agent.role.registers && !agent.participates;
        let may_ask = agent.asks_softly() && !agent.soft.has_said_limit;
        if !(may_register || may_ask) {
            return;
        }
        let free_blocks = self.ftl.free_blocks_of_pool(die, pool);
        if free_blocks > agent.role.t_soft_free_blocks {
            return;
        }
        agent.participates |= may_register;
        if may_ask {
            let is_at_start = free_blocks <= self.params.gc.start_free_blocks;
            agent.soft.low_at = at;
            if is_at_start {
                agent.soft.limit_at = at;
            }
            if is_at_start || !agent.soft.has_asked {
                self.will_ask(at, out);
            }
        }
        if may_register {
            self.tell(at, ToController::Participate, out);
        }
    }

    /// Has the array let it ask at the end of this nanosecond, unless it is in a forced cycle.
    fn will_ask(&mut self, at: TimeNs, out: &mut Outbox) {
        let agent = self.agent_mut();
        if agent.dies_left == 0 && agent.soft.asks_at != at {
            agent.soft.asks_at = at;
            self.report(at, News::MayAsk, out);
        }
    }

    /// All else of this nanosecond has happened: asks softly if there is reason to (rule 119).
    pub fn may_ask(&mut self, now: TimeNs, out: &mut Outbox) {
        self.catch_up_each(now, NEVER, out);
        let agent = self.agent_mut();
        agent.soft.asks_at = NEVER;
        let SoftNotification { has_asked, has_said_limit, limit_at, .. } = agent.soft;
        let is_at_limit = limit_at == now;
        if agent.dies_left > 0 || has_said_limit || (has_asked && !is_at_limit) {
            return;
        }
        let need = self.need(is_at_limit);
        let soft = &mut self.agent_mut().soft;
        (soft.has_asked, soft.has_said_limit) = (true, need.at_limit);
        self.tell(now, ToController::GcRequest(need), out);
    }

    /// What it says when it asks.
    fn need(&self, is_at_limit: bool) -> Need {
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
        let pages_left = of_dies.min().unwrap_or(0) - without_die;
        let is_at_start = |die: u32| self.ftl.free_blocks(DieId(die)).0 <= self.params.gc.start_free_blocks;
        let at_limit = is_at_limit || pages_left < 0 || (0..self.dies.len() as u32).any(is_at_start);
        let SoftNotification { pages_given, times_forced, .. } = self.agent.as_ref().expect("only members that know the protocol ask").soft;
        Need { pages_left: pages_left.max(0) as u64, at_limit, pages_given, times_forced }
    }
}
