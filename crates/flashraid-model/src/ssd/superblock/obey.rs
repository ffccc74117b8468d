//! Obedience of a drive to the array's controller, and what its agent hears (rule 216).

use super::{Agent, Drive, Order, SuperblockCollection};
use crate::coordination::{MemberRole, MemberState, ToMember, Work};
use crate::events::TimeNs;
use crate::ssd::Outbox;

impl Drive {
    pub fn become_ggc_aware(&mut self, now: TimeNs, role: MemberRole, out: &mut Outbox) {
        self.agent = Some(Agent::new(self.member, role));
        self.note_pace(now, out);
        self.agent_sees_opened(now, out);
    }

    /// A message of the controller has arrived.
    pub fn receive(&mut self, now: TimeNs, message: ToMember, out: &mut Outbox) {
        let Self { agent, media, params, .. } = self;
        let Some(agent) = agent else { return };
        let state = || {
            let free = media.free();
            MemberState { free_blocks_min: free, blocks_above_start: free.saturating_sub(params.collection.target) }
        };
        match agent.receive(now, message, state, out) {
            Order::Collect(work) => {
                let is_void = agent.is_void(work);
                self.note_pace(now, out);
                if is_void {
                    self.agent_done(now, out);
                } else {
                    self.begin_parts(now, out);
                    self.agent_sees_free(now, out);
                    self.place_superpages(now, out);
                }
            }
            Order::Stop => self.agent_stops(now, out),
            Order::Nothing => {}
        }
    }

    /// Idle time is over: what was to use it ends.
    pub(super) fn agent_stops(&mut self, now: TimeNs, out: &mut Outbox) {
        if self.agent.as_ref().is_some_and(|agent| agent.forced() == Some(Work::UntilReserved)) {
            self.agent_done(now, out);
        }
    }

    /// A superblock has become free, or the drive has been forced: it may be done.
    pub(super) fn agent_sees_free(&mut self, now: TimeNs, out: &mut Outbox) {
        self.idle_sees_free(now, out);
        if self.is_forced() && (self.media.free() >= self.collection.paced.goal() || self.has_nothing_to_collect()) {
            self.agent_done(now, out);
        }
    }

    fn agent_done(&mut self, now: TimeNs, out: &mut Outbox) {
        if let Some(agent) = &mut self.agent {
            agent.is_done(now, out);
        }
        self.note_pace(now, out);
        self.agent_sees_opened(now, out);
    }

    /// A free superblock has been taken: the drive may have to register, or to ask.
    pub(super) fn agent_sees_opened(&mut self, now: TimeNs, out: &mut Outbox) {
        let free = self.media.free();
        let SuperblockCollection { target, floor, .. } = self.params.collection;
        if let Some(agent) = &mut self.agent {
            let pages_left = u64::from(free.saturating_sub(floor + 1)) * u64::from(self.shape.data_units());
            agent.sees_opened(now, free, free <= target, pages_left, free <= floor, out);
        }
    }
}
