//! Proactive-soft-limit (described in GGC 4.3.2): the controller polls the members' states and forces those that are at or below a
//! soft limit when little waits, or else just before the first of them is expected to collect by itself.

use super::{Controller, MemberState, ToMember};
use crate::TimeNs;

/// What the polls have told.
#[derive(Debug, Clone, Default)]
pub(super) struct Poll {
    /// Members that have not answered yet.
    awaited: u128,
    /// By member: the answer before the last one and the last one.
    answers: Vec<[Option<(TimeNs, MemberState)>; 2]>,
}

impl Poll {
    /// What a member has told does not count any more.
    pub fn forget(&mut self, member: u32) {
        if let Some(answers) = self.answers.get_mut(member as usize) {
            *answers = [None; 2];
        }
    }

    /// Members whose last answer tells of at most `free_blocks` free blocks in some pool.
    pub fn at_or_below(&self, free_blocks: u32) -> u128 {
        let is_low = |[_, last]: &[Option<(TimeNs, MemberState)>; 2]| last.is_some_and(|(_, s)| s.free_blocks_min <= free_blocks);
        self.answers.iter().enumerate().fold(0, |members, (m, answers)| members | u128::from(is_low(answers)) << m)
    }

    /// Whether some member will be at its start threshold within `time_ns`, if its free blocks go on falling as between its last
    /// two answers.
    fn is_pressing(&self, time_ns: u64) -> bool {
        self.answers.iter().any(|answers| {
            let [Some((before, was)), Some((now, is))] = answers else { return false };
            let fallen = was.free_blocks_min.saturating_sub(is.free_blocks_min);
            // left / (fallen / (now - before)) <= time, without a division.
            fallen > 0 && u128::from(is.blocks_above_start) * u128::from(now - before) <= u128::from(fallen) * u128::from(time_ns)
        })
    }
}

impl Controller {
    /// Asks every member that knows the protocol, unless an answer is still on its way.
    pub(super) fn ask_for_states(&mut self) {
        if self.poll.awaited == 0 {
            self.poll.awaited = self.everyone();
            self.tell(self.poll.awaited, ToMember::GcState);
        }
    }

    /// Decides when the last answer is in.
    pub(super) fn state_told(&mut self, now: TimeNs, member: u32, state: MemberState) {
        let is_lost = self.is_lost(member);
        let poll = &mut self.poll;
        let length = poll.answers.len().max(member as usize + 1);
        poll.answers.resize(length, [None; 2]);
        let answers = &mut poll.answers[member as usize];
        *answers = if is_lost { [None; 2] } else { [answers[1], Some((now, state))] };
        poll.awaited &= !(1 << member);
        let low = poll.at_or_below(self.params.soft_limit_free_blocks);
        if poll.awaited == 0 && low != 0 && self.is_free() {
            let is_shallow = self.outstanding <= self.params.shallow_depth;
            if is_shallow || self.poll.is_pressing(self.params.check_interval_ns) {
                self.force(low, self.params.work);
            }
        }
    }
}
