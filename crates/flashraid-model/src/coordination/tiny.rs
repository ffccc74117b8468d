//! Schemes for tests on tiny arrays. The controller checks every microsecond, and an array without requests counts as idle after two.

use super::{CoordinationPolicy, ProactiveIdle, ProactiveSoftLimit, ReactiveInclusive, ReactiveSelective};
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
