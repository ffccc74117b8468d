//! Collection of superblocks that the array's controller forces, and the reports to the agent (rules 123 and 216).

use super::SuperpageContext;
use crate::coordination::{ForcedWork, MemberState, ToMember};
use crate::events::TimeNs;
use crate::ssd::agent::Consequence;
use crate::ssd::params::SuperblockCollectionParams;

impl SuperpageContext<'_> {
    /// Prepares the dies for the protocol, after the member was given an agent.
    pub(crate) fn agent_begins(&mut self, now: TimeNs) {
        self.note_pace(now);
    }

    /// Processes a message of the controller.
    pub(crate) fn receive(&mut self, now: TimeNs, message: ToMember) {
        let (media, params) = (&*self.media, &self.own.params);
        let Some(agent) = &mut self.parts.agent else { return };
        let state = || {
            let free = media.free();
            MemberState { free_blocks_min: free, blocks_above_start: free.saturating_sub(params.collection.target_free_superblocks) }
        };
        match agent.receive(now, message, state, self.out) {
            Consequence::Collect(work) => {
                let is_cancelled = agent.is_cancelled(work);
                self.note_pace(now);
                if is_cancelled {
                    self.agent_done(now);
                } else {
                    self.begin_parts(now);
                    self.finish_forced_if_done(now);
                    self.place_superpages(now);
                }
            }
            Consequence::Stop => self.stop_idle_work(now),
            Consequence::Nothing => {}
        }
    }

    /// Stops forced work that may only be done in idle time, because idle time has ended.
    pub(super) fn stop_idle_work(&mut self, now: TimeNs) {
        if self.parts.agent.as_ref().is_some_and(|agent| agent.forced() == Some(ForcedWork::UntilReserved)) {
            self.agent_done(now);
        }
    }

    /// Ends forced work if its goal is reached. It is called after a superblock has become free, and after the drive was forced.
    pub(super) fn finish_forced_if_done(&mut self, now: TimeNs) {
        self.end_idle_if_done(now);
        let is_reached = self.own.collection.is_forced_goal_reached(self.need());
        if self.is_forced() && (is_reached || self.own.collection.has_nothing_to_do(self.media)) {
            self.agent_done(now);
        }
    }

    fn agent_done(&mut self, now: TimeNs) {
        if let Some(agent) = &mut self.parts.agent {
            agent.finish_forced_work(now, self.out);
        }
        self.note_pace(now);
        self.tell_agent_of_opened(now);
    }

    /// Tells the agent that a free superblock was opened. The member may then register or ask to collect.
    pub(super) fn tell_agent_of_opened(&mut self, now: TimeNs) {
        let free = self.media.free();
        let SuperblockCollectionParams { target_free_superblocks: target, floor_free_superblocks: floor, .. } = self.own.params.collection;
        if let Some(agent) = &mut self.parts.agent {
            let pages_left = u64::from(free.saturating_sub(floor + 1)) * u64::from(self.own.shape.data_units());
            agent.superblock_opened(now, free, free <= target, pages_left, free <= floor, self.out);
        }
    }
}
