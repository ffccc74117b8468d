//! What a drive tells the array's controller, and what it does at its word (rule 216).

use super::{Drive, SuperblockCollection};
use crate::coordination::{MemberRole, MemberState, Need, News, Notify, ToController, ToMember, Work};
use crate::events::TimeNs;
use crate::ssd::Outbox;

/// What a drive that knows the protocol remembers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Agent {
    role: MemberRole,
    /// Page writes that it has been given.
    pub pages_given: u64,
    times_forced: u32,
    /// It has asked since it was forced.
    has_asked: bool,
    pub is_forced: bool,
    work: Work,
    participates: bool,
    pub is_denied: bool,
    /// The idle time of the array is over, and the run's.
    run_is_over: bool,
}

impl Drive {
    pub fn become_ggc_aware(&mut self, now: TimeNs, role: MemberRole, out: &mut Outbox) {
        self.agent = Some(Agent {
            role,
            pages_given: 0,
            times_forced: 0,
            has_asked: false,
            is_forced: false,
            work: Work::Watermark,
            participates: false,
            is_denied: false,
            run_is_over: false,
        });
        self.note_pace(now, out);
        self.agent_sees_opened(now, out);
    }

    /// A message of the controller has arrived.
    pub fn receive(&mut self, now: TimeNs, message: ToMember, out: &mut Outbox) {
        let Some(agent) = &mut self.agent else { return };
        match message {
            ToMember::Force(work) | ToMember::Grant(work) => {
                (agent.is_forced, agent.work, agent.participates, agent.is_denied) = (true, work, false, false);
                (agent.has_asked, agent.times_forced) = (false, agent.times_forced + 1);
                let is_void = agent.run_is_over && work == Work::UntilReserved;
                self.note_pace(now, out);
                if is_void {
                    self.agent_done(now, out);
                } else {
                    self.begin_parts(now, out);
                    self.agent_sees_free(now, out);
                    self.place_superpages(now, out);
                }
            }
            ToMember::Stop => self.agent_stops(now, false, out),
            ToMember::Deny => agent.is_denied = true,
            ToMember::TellState => {
                let free = self.media.free();
                let state = MemberState { free_blocks_min: free, blocks_above_start: free.saturating_sub(self.params.collection.target) };
                out.report(now, self.member, News::Sends(ToController::GcState(state)));
            }
        }
    }

    /// Idle time is over: what was to use it ends.
    pub(super) fn agent_stops(&mut self, now: TimeNs, run_is_over: bool, out: &mut Outbox) {
        let Some(agent) = &mut self.agent else { return };
        agent.run_is_over |= run_is_over;
        if agent.is_forced && agent.work == Work::UntilReserved {
            self.agent_done(now, out);
        }
    }

    /// A superblock has become free, or the drive has been forced: it may be done.
    pub(super) fn agent_sees_free(&mut self, now: TimeNs, out: &mut Outbox) {
        self.idle_sees_free(now, out);
        let SuperblockCollection { target, span, .. } = self.params.collection;
        let is_forced = self.agent.as_ref().is_some_and(|agent| agent.is_forced);
        if is_forced && (self.media.free() >= target + span || self.has_nothing_to_collect()) {
            self.agent_done(now, out);
        }
    }

    fn agent_done(&mut self, now: TimeNs, out: &mut Outbox) {
        if let Some(agent) = &mut self.agent {
            agent.is_forced = false;
        }
        self.note_pace(now, out);
        out.report(now, self.member, News::Sends(ToController::GcDone));
        self.agent_sees_opened(now, out);
    }

    /// A free superblock has been taken: the drive may have to register, or to ask.
    pub(super) fn agent_sees_opened(&mut self, now: TimeNs, out: &mut Outbox) {
        let free = self.media.free();
        let SuperblockCollection { target, floor, .. } = self.params.collection;
        let Some(agent) = &mut self.agent else { return };
        if agent.is_forced {
            return;
        }
        let registers = agent.role.registers && free <= agent.role.t_soft_free_blocks && !agent.participates;
        agent.participates |= registers;
        let asks = free <= target;
        agent.has_asked |= asks;
        let need = match agent.role.notify {
            Notify::AtStart => Need::AT_LIMIT,
            Notify::Soft => Need {
                pages_left: u64::from(free.saturating_sub(floor + 1)) * u64::from(self.shape.data_units()),
                at_limit: free <= floor,
                pages_given: agent.pages_given,
                times_forced: agent.times_forced,
            },
        };
        if registers {
            out.report(now, self.member, News::Sends(ToController::Participate));
        }
        if asks {
            out.report(now, self.member, News::Sends(ToController::GcRequest(need)));
        }
    }

    /// The drive begins to collect because it must.
    pub(super) fn agent_sees_floor(&mut self, now: TimeNs, out: &mut Outbox) {
        let unanswered = |agent: &Agent| agent.role.notify == Notify::Soft && agent.has_asked && !agent.is_forced;
        if self.agent.as_ref().is_some_and(unanswered) {
            out.report(now, self.member, News::CollectsUnanswered);
        }
    }
}
