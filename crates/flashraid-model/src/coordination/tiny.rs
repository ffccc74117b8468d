//! Schemes for tests on tiny arrays. The controller checks every microsecond, and an array without requests counts as idle after two.

use super::cycle::{CycleSettings, JoinsCycles};
use super::{
    CoordinationPolicy, Duty, JointCollectionRequestTiming, ProactiveIdle, ProactiveSoftLimit, ReactiveInclusive, ReactiveSelective,
};
use crate::units::{Duration, GcStopThreshold};

const INTERVAL: Duration = Duration { ns: 1000 };

pub(crate) fn inclusive() -> CoordinationPolicy {
    ReactiveInclusive {}.into()
}

pub(crate) fn selective() -> CoordinationPolicy {
    ReactiveSelective {}.into()
}

pub(crate) fn idle() -> CoordinationPolicy {
    ProactiveIdle { check_interval: INTERVAL, idle_threshold: Duration { ns: 2000 }, ..Default::default() }.into()
}

pub(crate) fn soft_limit(free_blocks: u32, shallow_depth: u32) -> CoordinationPolicy {
    let soft_limit = GcStopThreshold::FreeBlocks(free_blocks);
    ProactiveSoftLimit { check_interval: INTERVAL, soft_limit, shallow_depth, ..Default::default() }.into()
}

/// Returns one scheme of each kind, with settings for tiny arrays.
pub(crate) fn all() -> Vec<CoordinationPolicy> {
    vec![inclusive(), selective(), idle(), soft_limit(1, 0)]
}

/// Returns the duty of a member that is low at so many free blocks, and then registers or not.
pub(crate) fn duty_in_cycles(t_soft_free_blocks: u32, registers: bool) -> Duty {
    let notify = JointCollectionRequestTiming::AtStartThreshold;
    Duty::ReactiveSelective(JoinsCycles::with(CycleSettings { t_soft_free_blocks, registers, notify, across_dies: true }))
}
