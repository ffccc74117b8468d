//! Collection on the controller's order, and what a member tells the controller (rules 41 to 46).

use super::super::{Effects, Ssd};
use super::{Cause, Clean, NEVER, Phase};
use crate::TimeNs;
use crate::coordination::{MemberState, Notice, ToController, ToMember, Work};

/// What a member that knows the protocol remembers.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Agent {
    /// A pool with so many free blocks or fewer makes its member register.
    t_soft_free_blocks: Option<u32>,
    /// Dies that have not done yet what they were forced to do.
    dies_left: u32,
    /// When cleans that pools needed began last, and how many of them at that nanosecond.
    own_cleans_began: (TimeNs, u32),
    /// When it sent its last request, and how many of the cleans that began at that nanosecond go on. While there are any, and
    /// until the member is forced, the request is outstanding.
    request: (TimeNs, u32),
    /// It has registered since it was forced last.
    participates: bool,
    /// The idle time that it was to use is over.
    stopped: bool,
    /// So is the run: no idle time is used any more.
    run_is_over: bool,
}

impl Ssd {
    /// From now on the member speaks the protocol; it must be stepwise.
    pub fn become_ggc_aware(&mut self, t_soft_free_blocks: Option<u32>) {
        let agent = Agent {
            t_soft_free_blocks,
            dies_left: 0,
            own_cleans_began: (NEVER, 0),
            request: (NEVER, 0),
            participates: false,
            stopped: false,
            run_is_over: false,
        };
        self.agent = Some(agent);
    }

    /// A message of the controller has arrived; all else that happens at this nanosecond has happened.
    pub fn receive<W>(&mut self, now: TimeNs, message: ToMember, fx: &mut Effects<W>) {
        self.catch_up_each(now, NEVER, fx);
        match message {
            ToMember::ForceGc(work) => self.force(now, work, fx),
            ToMember::StopGc => self.agent_mut().stopped = true,
            ToMember::GcState => self.tell(now, ToController::GcState(self.state()), fx),
        }
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
        fx.notices.push(Notice { at, member: self.member, message });
    }

    fn state(&self) -> MemberState {
        let pools = self.ftl.pools.iter().map(|pool| pool.free_blocks);
        let free: u32 = pools.clone().sum();
        let blocks = self.params.geometry.dies * self.params.geometry.blocks_per_die();
        let free_blocks_min = pools.min().unwrap_or(0);
        MemberState {
            fragmentation: f64::from(free) / f64::from(blocks - free),
            free_blocks: free,
            correctable_error_rate: 0.0,
            free_blocks_min,
            blocks_above_start: free_blocks_min.saturating_sub(self.params.gc.start_free_blocks),
        }
    }

    fn force<W>(&mut self, now: TimeNs, work: Work, fx: &mut Effects<W>) {
        let dies = self.params.geometry.dies;
        let agent = self.agent_mut();
        debug_assert_eq!(agent.dies_left, 0, "the controller waits for GcDone");
        agent.dies_left = dies;
        (agent.request, agent.participates, agent.stopped) = ((NEVER, 0), false, agent.run_is_over);
        for die in 0..dies {
            let state = &mut self.stepwise[die as usize];
            state.forced = Some(work);
            if state.phase == Phase::Idle {
                self.serve_next(now, die, fx);
                self.catch_up(now, 0, die, fx);
            }
            self.keep_awake(die, fx);
        }
    }

    /// Between two steps of a die: begins the next clean that it was forced to make; says whether there was one.
    pub(super) fn begin_forced_clean<W>(&mut self, at: TimeNs, die: u32, fx: &mut Effects<W>) -> bool {
        let Some(work) = self.stepwise[die as usize].forced else { return false };
        let found = match work {
            Work::OneVictim => self.ftl.next_clean_of_fewest_free(die),
            Work::Watermark => self.ftl.next_clean_below(die, self.params.gc.stop_free_blocks + 1),
            Work::UntilReserved => {
                let goes_on = !self.agent_mut().stopped && self.stepwise[die as usize].queue.is_empty();
                if goes_on { self.ftl.next_idle_clean(die) } else { None }
            }
        };
        match found {
            Some((pool, victim)) => self.begin_stepwise_clean(at, die, pool, victim, Cause::Forced, fx),
            None => self.forced_over(at, die, fx),
        }
        found.is_some()
    }

    fn forced_over<W>(&mut self, at: TimeNs, die: u32, fx: &mut Effects<W>) {
        self.stepwise[die as usize].forced = None;
        let agent = self.agent_mut();
        agent.dies_left -= 1;
        if agent.dies_left == 0 {
            self.tell(at, ToController::GcDone, fx);
            self.ask(at, fx);
        }
    }

    /// A clean of the die, forced or not, is over.
    pub(super) fn note_clean_over<W>(&mut self, at: TimeNs, die: u32, clean: &Clean, fx: &mut Effects<W>) {
        let Some(agent) = &mut self.agent else { return };
        if clean.cause == Cause::Needed && clean.began == agent.request.0 {
            agent.request.1 -= 1;
            self.ask(at, fx);
        }
        if self.stepwise[die as usize].forced == Some(Work::OneVictim) {
            self.forced_over(at, die, fx);
        }
    }

    /// A die is about to begin a clean because a pool needs one.
    pub(super) fn note_own_clean<W>(&mut self, at: TimeNs, fx: &mut Effects<W>) {
        let Some(agent) = &mut self.agent else { return };
        if agent.own_cleans_began.0 != at {
            agent.own_cleans_began = (at, 0);
        }
        agent.own_cleans_began.1 += 1;
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
        if agent.dies_left == 0 && agent.request.1 == 0 && agent.own_cleans_began.0 == at {
            agent.request = agent.own_cleans_began;
            let pages_left = self.ftl.pages_left();
            self.tell(at, ToController::GcRequest { pages_left }, fx);
        }
    }

    /// A host write has begun.
    pub(super) fn note_write<W>(&mut self, at: TimeNs, die: u32, lpn: u32, fx: &mut Effects<W>) {
        let Some(Agent { t_soft_free_blocks: Some(t_soft), participates: false, .. }) = self.agent else { return };
        let pool = self.ftl.pool_of(lpn) % self.ftl.pools_per_die;
        if self.ftl.free_blocks_of_pool(die, pool) <= t_soft {
            self.agent_mut().participates = true;
            self.tell(at, ToController::Participate, fx);
        }
    }
}
