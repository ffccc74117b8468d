//! Collection of superblocks that the array's controller forces, and the reports to the agent (rules 123 and 216).

use super::SuperpageContext;
use super::schedule::Die;
use crate::coordination::{ForcedCollectionAmount, MemberLook, MemberState, ToMember};
use crate::events::TimeNs;
use crate::ssd::params::SuperblockCollectionParams;

impl SuperpageContext<'_> {
    /// Prepares the dies for the protocol, after the member was given an agent.
    pub(crate) fn agent_begins(&mut self, now: TimeNs) {
        self.note_pace(now);
    }

    /// Processes a message of the controller.
    pub(crate) fn receive(&mut self, now: TimeNs, message: ToMember) {
        if message == ToMember::CheckDuty {
            return self.check_duty(now);
        }
        let free_blocks_min = self.media.free();
        let state = MemberState { free_blocks_min, blocks_above_start: free_blocks_min.saturating_sub(self.own.params.collection.target) };
        self.parts.agent_mut().receive(now, message, state, self.out);
        match message {
            ToMember::ForceCollection(work) | ToMember::Grant(work) => self.begin_forced_work(now, work),
            ToMember::StopIdleCollection => self.stop_idle_work(now),
            ToMember::BeginTurn { .. } => self.collect_in_turn(now),
            // Another turn may have begun since, which closes later.
            ToMember::CloseTurn if self.is_forced() && self.parts.agent_mut().duty().collect_at(now).is_none() => self.agent_done(now),
            ToMember::EndTurn => {
                let collects = self.own.dies.iter().any(Die::works_for_collection);
                self.parts.agent_mut().end_turn(now, collects, self.out);
            }
            _ => {}
        }
    }

    /// Begins work that the controller has ordered or allowed, or that the member does while it gets few operations.
    fn begin_forced_work(&mut self, now: TimeNs, work: ForcedCollectionAmount) {
        let is_cancelled = self.parts.agent.as_ref().is_some_and(|agent| agent.is_cancelled(work));
        self.note_pace(now);
        if is_cancelled {
            self.agent_done(now);
        } else {
            self.begin_parts(now);
            self.finish_forced_if_done(now);
            self.place_superpages(now);
        }
    }

    /// Collects in the member's turn if few enough superblocks are free (rule 265).
    fn collect_in_turn(&mut self, now: TimeNs) {
        let free = self.media.free();
        let agent = self.parts.agent_mut();
        let is_due = agent.forced().is_none() && agent.duty().collect_at(now).is_some_and(|limit| free <= limit);
        if is_due && !self.own.collection.is_instantaneous() {
            agent.begin_forced_work(ForcedCollectionAmount::ToWatermark);
            self.begin_forced_work(now, ForcedCollectionAmount::ToWatermark);
        }
    }

    /// Does what the member's duty asks for at the end of the nanosecond. A member in its turn may begin to collect.
    fn check_duty(&mut self, now: TimeNs) {
        let look = self.look();
        if let Some(work) = self.parts.agent_mut().check(now, &look, self.out) {
            self.begin_forced_work(now, work);
        }
        self.collect_in_turn(now);
    }

    /// Stops forced work that may only be done in idle time, because idle time has ended.
    pub(super) fn stop_idle_work(&mut self, now: TimeNs) {
        if self.parts.agent.as_ref().is_some_and(|agent| agent.forced() == Some(ForcedCollectionAmount::UntilFreeBlocksAfterFill)) {
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
        let look = self.look();
        if let Some(agent) = &mut self.parts.agent {
            agent.finish_forced_work(now, Some(&look), self.out);
        }
        self.note_pace(now);
    }

    /// Tells the agent that a free superblock was opened.
    pub(super) fn tell_agent_of_opened(&mut self, now: TimeNs) {
        let look = self.look();
        if let Some(agent) = &mut self.parts.agent {
            agent.tell(self.out, |duty, desk| duty.superblock_opened(now, &look, desk));
        }
    }

    /// Returns the state of the drive, at which its duty looks.
    fn look(&self) -> MemberLook {
        let least_free_blocks = self.media.free();
        let SuperblockCollectionParams { target, floor, .. } = self.own.params.collection;
        MemberLook {
            least_free_blocks,
            is_short: least_free_blocks <= target,
            is_at_floor: least_free_blocks <= floor,
            is_at_start: least_free_blocks <= floor,
            pages_left: i64::from(least_free_blocks.saturating_sub(floor + 1))
                * i64::from(self.own.shape.data_mapping_units_per_superblock()),
        }
    }
}
