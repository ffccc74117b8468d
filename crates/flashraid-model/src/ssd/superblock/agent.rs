//! What a drive tells the array's controller, and what it does at its word (rule 216).

use super::{Drive, SuperblockCollection};
use crate::coordination::{MemberState, ToController, ToMember, Work};
use crate::events::TimeNs;

/// What a drive that knows the protocol remembers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Agent {
    /// With so many free superblocks or fewer it registers.
    t_soft: Option<u32>,
    pub is_forced: bool,
    work: Work,
    participates: bool,
    pub is_denied: bool,
    /// The idle time of the array is over, and the run's.
    run_is_over: bool,
}

impl Drive {
    pub fn become_ggc_aware(&mut self, now: TimeNs, t_soft: Option<u32>) {
        let work = Work::Watermark;
        self.agent = Some(Agent { t_soft, is_forced: false, work, participates: false, is_denied: false, run_is_over: false });
        self.note_pace(now);
        self.agent_sees_opened(now);
    }

    /// A message of the controller has arrived.
    pub fn receive(&mut self, now: TimeNs, message: ToMember) {
        let Some(agent) = &mut self.agent else { return };
        match message {
            ToMember::Force(work) | ToMember::Grant(work) => {
                (agent.is_forced, agent.work, agent.participates, agent.is_denied) = (true, work, false, false);
                let is_void = agent.run_is_over && work == Work::UntilReserved;
                self.note_pace(now);
                if is_void {
                    self.agent_done(now);
                } else {
                    self.begin_parts(now);
                    self.agent_sees_free(now);
                    self.place_superpages(now);
                }
            }
            ToMember::Stop => self.agent_stops(now, false),
            ToMember::Deny => agent.is_denied = true,
            ToMember::TellState => {
                let free = self.media.free();
                let state = MemberState { free_blocks_min: free, blocks_above_start: free.saturating_sub(self.params.collection.target) };
                self.tell(now, ToController::GcState(state));
            }
        }
    }

    /// Idle time is over: what was to use it ends.
    pub(super) fn agent_stops(&mut self, now: TimeNs, run_is_over: bool) {
        let Some(agent) = &mut self.agent else { return };
        agent.run_is_over |= run_is_over;
        if agent.is_forced && agent.work == Work::UntilReserved {
            self.agent_done(now);
        }
    }

    /// A superblock has become free, or the drive has been forced: it may be done.
    pub(super) fn agent_sees_free(&mut self, now: TimeNs) {
        self.idle_sees_free(now);
        let SuperblockCollection { target, span, .. } = self.params.collection;
        let is_forced = self.agent.as_ref().is_some_and(|agent| agent.is_forced);
        if is_forced && (self.media.free() >= target + span || self.has_nothing_to_collect()) {
            self.agent_done(now);
        }
    }

    fn agent_done(&mut self, now: TimeNs) {
        if let Some(agent) = &mut self.agent {
            agent.is_forced = false;
        }
        self.note_pace(now);
        self.tell(now, ToController::GcDone);
        self.agent_sees_opened(now);
    }

    /// A free superblock has been taken: the drive may have to register, or to ask.
    pub(super) fn agent_sees_opened(&mut self, now: TimeNs) {
        let (free, target) = (self.media.free(), self.params.collection.target);
        let Some(agent) = &mut self.agent else { return };
        if agent.is_forced {
            return;
        }
        let registers = agent.t_soft.is_some_and(|t_soft| free <= t_soft) && !std::mem::replace(&mut agent.participates, true);
        if registers {
            self.tell(now, ToController::Participate);
        }
        if free <= target {
            self.tell(now, ToController::GcRequest);
        }
    }
}
