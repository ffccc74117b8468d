//! Collection of superblocks that the array's controller forces, and what the agent is told of it (rule 216).

use super::SuperpageTurn;
use crate::coordination::{MemberState, ToMember, Work};
use crate::events::TimeNs;
use crate::ssd::agent::Consequence;
use crate::ssd::params::SuperblockCollection;

impl SuperpageTurn<'_> {
    /// The member has got an agent.
    pub fn agent_begins(&mut self, now: TimeNs) {
        self.note_pace(now);
    }

    /// A message of the controller has arrived.
    pub fn receive(&mut self, now: TimeNs, message: ToMember) {
        let (media, params) = (&*self.media, &self.own.params);
        let Some(agent) = &mut self.parts.agent else { return };
        let state = || {
            let free = media.free();
            MemberState { free_blocks_min: free, blocks_above_start: free.saturating_sub(params.collection.target) }
        };
        match agent.receive(now, message, state, self.out) {
            Consequence::Collect(work) => {
                let is_void = agent.is_void(work);
                self.note_pace(now);
                if is_void {
                    self.agent_done(now);
                } else {
                    self.begin_parts(now);
                    self.agent_sees_free(now);
                    self.place_superpages(now);
                }
            }
            Consequence::Stop => self.agent_stops(now),
            Consequence::Nothing => {}
        }
    }

    /// Idle time is over: what was to use it ends.
    pub(super) fn agent_stops(&mut self, now: TimeNs) {
        if self.parts.agent.as_ref().is_some_and(|agent| agent.forced() == Some(Work::UntilReserved)) {
            self.agent_done(now);
        }
    }

    /// A superblock has become free, or the drive has been forced: it may be done.
    pub(super) fn agent_sees_free(&mut self, now: TimeNs) {
        self.idle_sees_free(now);
        if self.is_forced() && (self.media.free() >= self.own.collection.paced.goal() || self.own.collection.has_nothing_to_do(self.media))
        {
            self.agent_done(now);
        }
    }

    fn agent_done(&mut self, now: TimeNs) {
        if let Some(agent) = &mut self.parts.agent {
            agent.is_done(now, self.out);
        }
        self.note_pace(now);
        self.agent_sees_opened(now);
    }

    /// A free superblock has been taken: the drive may have to register, or to ask.
    pub(super) fn agent_sees_opened(&mut self, now: TimeNs) {
        let free = self.media.free();
        let SuperblockCollection { target, floor, .. } = self.own.params.collection;
        if let Some(agent) = &mut self.parts.agent {
            let pages_left = u64::from(free.saturating_sub(floor + 1)) * u64::from(self.own.shape.data_units());
            agent.sees_opened(now, free, free <= target, pages_left, free <= floor, self.out);
        }
    }
}
