//! Proactive-soft-limit (described in GGC 4.3.2): the controller polls the members' states and forces those that are at or below a
//! soft limit when little waits, or else just before the first of them is expected to collect by itself (rule 47).

use super::{ABOVE_START, Cycle, MemberState, Pools, SHORTEST_CHECK, Scheme, ToController, ToMember, time_problem};
use crate::TimeNs;
use crate::ids::MemberSet;
use crate::policy::PolicyProblem;
use crate::rng::{self, Stream};
use crate::units::{Duration, StopThreshold};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Members with few free blocks collect when little waits, or just before the first of them must.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProactiveSoftLimit {
    /// Between two checks of the controller.
    pub check_interval: Duration,
    /// Free blocks of a pool at which its member is forced.
    pub soft_limit: StopThreshold,
    /// With so many requests outstanding, or fewer, it is a good moment.
    pub shallow_depth: u32,
    /// What the polls have told.
    #[serde(skip)]
    pub polls: Polls,
}

impl Default for ProactiveSoftLimit {
    /// The paper has no values.
    fn default() -> Self {
        Self { check_interval: Duration { ns: 10_000_000 }, soft_limit: ABOVE_START, shallow_depth: 1, polls: Polls::default() }
    }
}

/// What the polls have told.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Polls {
    next: TimeNs,
    soft_limit_free_blocks: u32,
    /// Members that have not answered yet.
    awaited: MemberSet,
    /// By member: the answer before the last one and the last one.
    answers: Vec<[Option<(TimeNs, MemberState)>; 2]>,
}

impl Polls {
    /// Members whose last answer tells of a pool at the limit or below.
    fn low(&self) -> MemberSet {
        let limit = self.soft_limit_free_blocks;
        let is_low = |[_, last]: &[Option<(TimeNs, MemberState)>; 2]| last.is_some_and(|(_, s)| s.free_blocks_min <= limit);
        (0..).zip(&self.answers).filter(|(_, answers)| is_low(answers)).map(|(member, _)| member).collect()
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

    fn note(&mut self, now: TimeNs, member: u32, state: MemberState, is_lost: bool) {
        let length = self.answers.len().max(member as usize + 1);
        self.answers.resize(length, [None; 2]);
        let answers = &mut self.answers[member as usize];
        *answers = if is_lost { [None; 2] } else { [answers[1], Some((now, state))] };
        self.awaited.remove(member);
    }
}

impl Scheme for ProactiveSoftLimit {
    fn problems(&self, pools: &Pools) -> Vec<PolicyProblem> {
        let check = time_problem("check_interval", self.check_interval, SHORTEST_CHECK);
        check.into_iter().chain(pools.limit_problem("soft_limit", self.soft_limit)).collect()
    }

    fn begin(&mut self, pools: &Pools) {
        self.polls.next = self.check_interval.ns;
        self.polls.soft_limit_free_blocks = self.soft_limit.blocks_of(pools.blocks, pools.start_free_blocks);
    }

    fn receive(&mut self, now: TimeNs, from: u32, message: ToController, cycle: &mut Cycle) {
        let ToController::GcState(state) = message else { return cycle.receive(now, from, message) };
        self.polls.note(now, from, state, cycle.is_lost(from));
        let low = self.polls.low();
        if self.polls.awaited.is_empty() && !low.is_empty() && cycle.is_free() {
            let is_shallow = cycle.outstanding() <= self.shallow_depth;
            if is_shallow || self.polls.is_pressing(self.check_interval.ns) {
                cycle.force(low.and(cycle.asking()));
            }
        }
    }

    /// The low ones and those that asked.
    fn members_of_cycle(&self, cycle: &Cycle) -> MemberSet {
        cycle.registered().and(self.polls.low())
    }

    fn next_tick(&self) -> TimeNs {
        self.polls.next
    }

    /// Asks every member, unless an answer is still on its way.
    fn tick(&mut self, now: TimeNs, cycle: &mut Cycle) {
        self.polls.next = now + self.check_interval.ns;
        if self.polls.awaited.is_empty() {
            self.polls.awaited = cycle.everyone();
            cycle.tell(self.polls.awaited, ToMember::TellState);
        }
    }

    fn forget(&mut self, member: u32) {
        if let Some(answers) = self.polls.answers.get_mut(member as usize) {
            *answers = [None; 2];
        }
    }

    fn any(stream: &mut Stream) -> Self {
        Self {
            // An odd figure, so that checks seldom fall on other events by accident.
            check_interval: Duration { ns: 100_003 << rng::below(stream, 7) },
            soft_limit: StopThreshold::AboveStart(1 + rng::below(stream, 4) as u32),
            shallow_depth: rng::below(stream, 5) as u32,
            polls: Polls::default(),
        }
    }
}
