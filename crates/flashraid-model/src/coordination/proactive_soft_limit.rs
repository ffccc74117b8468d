//! Scheme `proactive-soft-limit` (described in GGC 4.3.2): the controller polls the numbers of free blocks of the members.
//!
//! It forces members at or below a soft limit to collect when few requests are outstanding. Otherwise it forces them just before the
//! first one is expected to have to collect without an order (rule 47).

use super::{
    BlockPoolSizeAndThresholds, CoordinatedArray, Cycle, DEFAULT_LOW_FREE_BLOCKS_THRESHOLD, JoinsCycles, MemberState, SHORTEST_CHECK,
    Scheme, ToController, ToMember, time_range_problem,
};
use crate::TimeNs;
use crate::ids::MemberSet;
use crate::policy::ParameterProblem;
use crate::rng::{self, RandomStream};
use crate::units::{Duration, GcStopThreshold};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Members with few free blocks are ordered to collect when few requests are outstanding. While many are outstanding, the order comes
/// just before the first member would have to collect without an order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProactiveSoftLimit {
    /// Time between two checks by the controller whether members should collect.
    pub check_interval: Duration,
    /// Threshold at which a member counts as low in free blocks: one of its pools of blocks has this number of free blocks or fewer.
    /// The controller orders low members to collect when few requests are outstanding (see `shallow_depth`). It also does so just
    /// before the first member would have to collect without an order, because its free blocks run out.
    pub soft_limit: GcStopThreshold,
    /// Largest number of outstanding host requests that counts as few. With so many or fewer, the controller orders members that are
    /// low in free blocks (see `soft_limit`) to collect. With more, it waits until just before the first member would have to collect
    /// without an order.
    pub shallow_depth: u32,
    /// State of the scheme in a run: the numbers of free blocks that members have reported to the controller, which polls them
    /// regularly.
    #[serde(skip)]
    pub polled_free_blocks: MemberFreeBlockPolls,
}

impl Default for ProactiveSoftLimit {
    /// Returns the default settings. They were chosen for this simulator, because the paper gives none.
    fn default() -> Self {
        Self {
            check_interval: Duration { ns: 10_000_000 },
            soft_limit: DEFAULT_LOW_FREE_BLOCKS_THRESHOLD,
            shallow_depth: 1,
            polled_free_blocks: MemberFreeBlockPolls::default(),
        }
    }
}

/// State of the polls. Every `check_interval`, the controller asks all members for their numbers of free blocks, and keeps the last two
/// answers of each.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MemberFreeBlockPolls {
    next: TimeNs,
    soft_limit_free_blocks: u32,
    /// Members that have not answered the latest poll yet.
    awaited: MemberSet,
    /// The last two answers of each member with their times of arrival, the older one first.
    answers: Vec<[Option<(TimeNs, MemberState)>; 2]>,
}

impl MemberFreeBlockPolls {
    /// Returns the members whose latest answer reports a pool of blocks at or below the soft limit.
    fn low(&self) -> MemberSet {
        let limit = self.soft_limit_free_blocks;
        let is_low = |[_, last]: &[Option<(TimeNs, MemberState)>; 2]| last.is_some_and(|(_, s)| s.free_blocks_min <= limit);
        (0..).zip(&self.answers).filter(|(_, answers)| is_low(answers)).map(|(member, _)| member).collect()
    }

    /// Returns true if some member will reach its start threshold within `time_ns`. It assumes that free blocks keep falling as between the
    /// last two answers.
    fn is_pressing(&self, time_ns: u64) -> bool {
        self.answers.iter().any(|answers| {
            let [Some((before, was)), Some((now, is))] = answers else { return false };
            let fallen = was.free_blocks_min.saturating_sub(is.free_blocks_min);
            // This is left / (fallen / (now - before)) <= time, without a division.
            fallen > 0 && u128::from(is.blocks_above_start) * u128::from(now - before) <= u128::from(fallen) * u128::from(time_ns)
        })
    }

    fn note(&mut self, now: TimeNs, member: u32, state: MemberState, has_failed: bool) {
        let length = self.answers.len().max(member as usize + 1);
        self.answers.resize(length, [None; 2]);
        let answers = &mut self.answers[member as usize];
        *answers = if has_failed { [None; 2] } else { [answers[1], Some((now, state))] };
        self.awaited.remove(member);
    }
}

impl Scheme for ProactiveSoftLimit {
    type Duty = JoinsCycles;

    fn problems(&self, pools: &BlockPoolSizeAndThresholds) -> Vec<ParameterProblem> {
        let check = time_range_problem("check_interval", self.check_interval, SHORTEST_CHECK);
        check.into_iter().chain(pools.stop_threshold_problem("soft_limit", self.soft_limit)).collect()
    }

    fn begin(&mut self, &CoordinatedArray { pools, .. }: &CoordinatedArray) {
        self.polled_free_blocks.next = self.check_interval.ns;
        self.polled_free_blocks.soft_limit_free_blocks =
            self.soft_limit.threshold_free_blocks_for_pool(pools.blocks_per_pool, pools.start_threshold_free_blocks);
    }

    fn receive(&mut self, now: TimeNs, from: u32, message: ToController, cycle: &mut Cycle) {
        let ToController::GcState(state) = message else { return cycle.receive(now, from, message) };
        self.polled_free_blocks.note(now, from, state, cycle.has_failed(from));
        let low = self.polled_free_blocks.low();
        if self.polled_free_blocks.awaited.is_empty() && !low.is_empty() && cycle.is_free() {
            let is_shallow = cycle.outstanding() <= self.shallow_depth;
            if is_shallow || self.polled_free_blocks.is_pressing(self.check_interval.ns) {
                cycle.force(low.union(cycle.asking()));
            }
        }
    }

    /// Returns the members at or below the soft limit, and the members that asked to collect.
    fn members_of_cycle(&self, cycle: &Cycle) -> MemberSet {
        cycle.registered().union(self.polled_free_blocks.low())
    }

    fn next_tick(&self) -> TimeNs {
        self.polled_free_blocks.next
    }

    /// Asks every member for its state, unless an answer is still on its way.
    fn tick(&mut self, now: TimeNs, cycle: &mut Cycle) {
        self.polled_free_blocks.next = now + self.check_interval.ns;
        if self.polled_free_blocks.awaited.is_empty() {
            self.polled_free_blocks.awaited = cycle.everyone();
            cycle.send(self.polled_free_blocks.awaited, ToMember::ReportState);
        }
    }

    fn forget(&mut self, member: u32) {
        if let Some(answers) = self.polled_free_blocks.answers.get_mut(member as usize) {
            *answers = [None; 2];
        }
    }

    fn random_for_tests(stream: &mut RandomStream) -> Self {
        Self {
            // An odd time makes it unlikely that checks coincide with other events.
            check_interval: Duration { ns: 100_003 << rng::below(stream, 7) },
            soft_limit: GcStopThreshold::AboveStart(1 + rng::below(stream, 4) as u32),
            shallow_depth: rng::below(stream, 5) as u32,
            polled_free_blocks: MemberFreeBlockPolls::default(),
        }
    }
}
