//! Scheme `proactive-idle` (GGC 4.3.2): like reactive-selective. Members that have registered also collect while the array is idle (rule
//! 46).

use super::{
    BlockPoolSizeAndThresholds, CoordinatedArray, Cycle, ForcedCollectionAmount, JoinsCycles, SHORTEST_CHECK, Scheme, time_range_problem,
};
use crate::TimeNs;
use crate::policy::ParameterProblem;
use crate::rng::{self, RandomStream};
use crate::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Members with few free blocks (at most `t_soft` in a pool of blocks) collect together. The controller orders this in two cases: one of
/// them asks to collect, or the array has been idle for `idle_threshold`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProactiveIdle {
    /// Time between two checks by the controller whether members should collect.
    pub check_interval: Duration,
    /// Time without a request after which the array counts as idle.
    pub idle_threshold: Duration,
    /// Simulated time at which the controller next checks whether the array is idle, in nanoseconds.
    #[serde(skip)]
    pub next_array_idle_check: TimeNs,
}

impl Default for ProactiveIdle {
    /// Returns the default times. They were chosen for this simulator, because the paper gives none.
    fn default() -> Self {
        Self { check_interval: Duration { ns: 10_000_000 }, idle_threshold: Duration { ns: 10_000_000 }, next_array_idle_check: 0 }
    }
}

impl Scheme for ProactiveIdle {
    type Duty = JoinsCycles;

    fn members_report_low_free_blocks(&self) -> bool {
        true
    }

    fn problems(&self, _: &BlockPoolSizeAndThresholds) -> Vec<ParameterProblem> {
        let check = time_range_problem("check_interval", self.check_interval, SHORTEST_CHECK);
        check.into_iter().chain(time_range_problem("idle_threshold", self.idle_threshold, Duration { ns: 0 })).collect()
    }

    fn begin(&mut self, _: &CoordinatedArray) {
        self.next_array_idle_check = self.check_interval.ns;
    }

    fn request_arrives(&mut self, _: TimeNs, cycle: &mut Cycle) {
        if cycle.work() == ForcedCollectionAmount::UntilFreeBlocksAfterFill && !cycle.collecting().is_empty() {
            cycle.stop();
        }
    }

    fn next_tick(&self) -> TimeNs {
        self.next_array_idle_check
    }

    fn tick(&mut self, now: TimeNs, cycle: &mut Cycle) {
        self.next_array_idle_check = now + self.check_interval.ns;
        let is_idle = cycle.idle_since().is_some_and(|since| now - since >= self.idle_threshold.ns);
        if is_idle && cycle.is_free() && !cycle.registered().is_empty() {
            cycle.force_with_work(cycle.registered(), ForcedCollectionAmount::UntilFreeBlocksAfterFill);
        }
    }

    fn random_for_tests(stream: &mut RandomStream) -> Self {
        // Odd times make it unlikely that checks coincide with other events.
        let check_interval = Duration { ns: 100_003 << rng::below(stream, 7) };
        let idle_threshold = Duration { ns: if rng::below(stream, 5) > 0 { 100_019 << rng::below(stream, 7) } else { 0 } };
        Self { check_interval, idle_threshold, next_array_idle_check: 0 }
    }
}
