//! Collection on the controller's message, and what a member tells the controller (rules 41 to 46, 99 and 100).

use super::super::{Effects, Ssd};
use super::{Cause, Clean, NEVER};
use crate::coordination::{MemberState, Notice, ToController, ToMember, Work};
use crate::events::TimeNs;
use crate::ids::DieId;

/// What a die has been forced to do.
#[derive(Debug, Clone, Copy)]
pub(super) struct Forced {
    work: Work,
    /// Of work that begins with one victim: the scopes whose cleans count and go on, as bits; `None` before there is one.
    counted: Option<u64>,
}

impl Forced {
    /// What is to be done when the one victim has been cleaned, or there is none.
    fn after_one_victim(self) -> Option<Self> {
        (self.work == Work::VictimAndWatermark).then_some(Self { work: Work::Watermark, counted: None })
    }

    fn begins_with_one_victim(self) -> bool {
        matches!(self.work, Work::OneVictim | Work::VictimAndWatermark)
    }
}

/// What a member that knows the protocol remembers.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Agent {
    /// A pool with so many free blocks or fewer makes its member register.
    t_soft_free_blocks: Option<u32>,
    /// Dies that have not done yet what they were forced to do.
    dies_left: u32,
    /// When cleans that pools needed began last, and how many of them at that nanosecond.
    needed_began: (TimeNs, u32),
    /// When it sent its last request, and how many of the cleans that began at that nanosecond go on. While there are any, and
    /// until the member is forced, the request is outstanding.
    request: (TimeNs, u32),
    /// It has registered since it was forced last.
    participates: bool,
    /// It was denied collection above its hard limit, and has been neither granted it nor forced since.
    denied: bool,
    /// The idle time that it was to use is over.
    stopped: bool,
    /// So is the run: no idle time is used any more.
    run_is_over: bool,
}

impl Ssd {
    /// From now on the member speaks the protocol; it must not be immediate.
    pub fn become_ggc_aware<W>(&mut self, now: TimeNs, t_soft_free_blocks: Option<u32>, fx: &mut Effects<W>) {
        if self.drive.is_some() {
            return self.with_drive(fx, |drive| drive.become_ggc_aware(now, t_soft_free_blocks));
        }
        self.catch_up_each(now, NEVER, fx);
        let agent = Agent {
            t_soft_free_blocks,
            dies_left: 0,
            needed_began: (NEVER, 0),
            request: (NEVER, 0),
            participates: false,
            denied: false,
            stopped: false,
            run_is_over: false,
        };
        self.agent = Some(agent);
        for die in (0..self.dies.len() as u32).map(DieId) {
            self.keep_awake(die, fx);
        }
    }

    /// A message of the controller has arrived; all else that happens at this nanosecond has happened.
    pub fn receive<W>(&mut self, now: TimeNs, message: ToMember, fx: &mut Effects<W>) {
        if self.drive.is_some() {
            return self.with_drive(fx, |drive| drive.receive(now, message));
        }
        self.catch_up_each(now, NEVER, fx);
        match message {
            ToMember::Force(work) | ToMember::Grant(work) => self.force(now, work, fx),
            ToMember::Stop => self.agent_mut().stopped = true,
            ToMember::Deny => self.agent_mut().denied = true,
            ToMember::TellState => self.tell(now, ToController::GcState(self.state()), fx),
        }
    }

    /// Whether the controller has denied collection in pools above their hard limit (rule 117).
    pub(super) fn is_denied(&self) -> bool {
        self.agent.is_some_and(|agent| agent.denied)
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

    fn tell<W>(&self, at: TimeNs, message: ToController, fx: &mut Effects<W>) {
        fx.notices.push(Notice { at, member: self.member.0, message });
    }

    fn state(&self) -> MemberState {
        let free_blocks_min = self.ftl.pools.iter().map(|pool| pool.free_blocks).min().unwrap_or(0);
        MemberState { free_blocks_min, blocks_above_start: free_blocks_min.saturating_sub(self.params.gc.start_free_blocks) }
    }

    fn force<W>(&mut self, now: TimeNs, work: Work, fx: &mut Effects<W>) {
        let dies = self.params.geometry.dies;
        let agent = self.agent_mut();
        debug_assert_eq!(agent.dies_left, 0, "the controller waits for GcDone");
        agent.dies_left = dies;
        (agent.request, agent.participates, agent.denied, agent.stopped) = ((NEVER, 0), false, false, agent.run_is_over);
        for state in &mut self.dies {
            let busy = state.busy_scopes();
            let forced = Forced { work, counted: None };
            let counted = (busy != 0 && forced.begins_with_one_victim()).then_some(busy);
            state.forced = Some(Forced { counted, ..forced });
        }
        for die in (0..dies).map(DieId) {
            if self.dies[die.index()].slot_is_free() && self.begin_forced(now, die, fx) {
                self.catch_up(now, 0, die, fx);
            }
            self.keep_awake(die, fx);
        }
    }

    /// With a free slot: begins the cleans that the die has been forced to make, or reports that it is done. Says whether a clean
    /// began.
    pub(super) fn begin_forced<W>(&mut self, at: TimeNs, die: DieId, fx: &mut Effects<W>) -> bool {
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
                self.begin_clean(at, die, pool, victim, Cause::Forced, false, fx);
                return true;
            }
            let Some(then) = forced.after_one_victim() else {
                self.forced_over(at, die, fx);
                return false;
            };
            self.die(die).forced = Some(then);
            forced = then;
        }
        let stop = self.params.gc.stop_free_blocks;
        let idle_is_over = self.agent_mut().stopped || !self.dies[die.index()].queue.is_empty();
        let began = self.begin_cleans(at, die, Cause::Forced, false, fx, |ftl, busy| match forced.work {
            Work::Watermark => ftl.next_clean_below(die, stop + 1, busy),
            _ if idle_is_over => None,
            _ => ftl.next_idle_clean(die, busy),
        });
        if !began && !self.dies[die.index()].cleans_any() {
            self.forced_over(at, die, fx);
        }
        began
    }

    fn forced_over<W>(&mut self, at: TimeNs, die: DieId, fx: &mut Effects<W>) {
        self.die(die).forced = None;
        let agent = self.agent_mut();
        agent.dies_left -= 1;
        if agent.dies_left == 0 {
            self.tell(at, ToController::GcDone, fx);
            self.ask(at, fx);
        }
    }

    /// A clean of the die, forced or not, is over.
    pub(super) fn note_clean_over<W>(&mut self, at: TimeNs, die: DieId, scope: u32, clean: &Clean, fx: &mut Effects<W>) {
        let Some(agent) = &mut self.agent else { return };
        if clean.needed && clean.began == agent.request.0 {
            agent.request.1 -= 1;
            self.ask(at, fx);
        }
        let state = self.die(die);
        if let Some(Forced { counted: Some(counted), .. }) = &mut state.forced {
            *counted &= !(1 << scope);
            if *counted == 0 {
                let then = state.forced.and_then(Forced::after_one_victim);
                if then.is_some() {
                    state.forced = then;
                } else {
                    self.forced_over(at, die, fx);
                }
            }
        }
    }

    /// A die is about to begin a clean because a pool needs one.
    pub(super) fn note_needed_clean<W>(&mut self, at: TimeNs, fx: &mut Effects<W>) {
        let Some(agent) = &mut self.agent else { return };
        if agent.needed_began.0 != at {
            agent.needed_began = (at, 0);
        }
        agent.needed_began.1 += 1;
        if agent.request.0 == at {
            agent.request.1 += 1;
        } else {
            self.ask(at, fx);
        }
    }

    /// Asks for collection if there is reason to. Its dies come to the same nanosecond in any order: this is tried whenever
    /// something has happened that lets the member ask, and comes to the same as if it were tried once at the end (rule 43).
    fn ask<W>(&mut self, at: TimeNs, fx: &mut Effects<W>) {
        let agent = self.agent_mut();
        if agent.dies_left == 0 && agent.request.1 == 0 && agent.needed_began.0 == at {
            agent.request = agent.needed_began;
            self.tell(at, ToController::GcRequest, fx);
        }
    }

    /// A host write has begun.
    pub(super) fn note_write<W>(&mut self, at: TimeNs, die: DieId, pool: u32, fx: &mut Effects<W>) {
        let Some(Agent { t_soft_free_blocks: Some(t_soft), participates: false, .. }) = self.agent else { return };
        if self.ftl.free_blocks_of_pool(die, pool) <= t_soft {
            self.agent_mut().participates = true;
            self.tell(at, ToController::Participate, fx);
        }
    }
}
