//! Stalls of dies for work of their own (rule 230): calibration, scans for errors, retention. The product manuals do not say how often or
//! how long; slow reads of drives at rest suggest stalls of 0.3 to 3 ms.

use super::{DelayMechanismStateOfDie, DieDelayMechanism};
use crate::events::{TIME_MAX_NS, TimeNs};
use crate::ids::{DieId, MemberId};
use crate::policy::ParameterProblem;
use crate::rng::{self, RandomStream};
use crate::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings for background work of dies, such as calibration. Each die stalls at random times (a Poisson process) to do such work.
/// Operations of the host wait for the end of a stall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackgroundStallParams {
    /// Mean time between two stalls (pauses of a die for background work), from the start of one to the start of the next. It is
    /// longer than `lasts`, and at most 1h.
    pub every: Duration,
    /// Length of a stall (a pause of a die for background work); at least 1ns.
    pub lasts: Duration,
}

reported_counts! {
    /// Number and length of stalls, which are pauses of dies for background work of their own.
    pub struct BackgroundCounters, "Background work of dies" {
        /// Pauses of dies for background work (stalls) that something waited for.
        stalls_waited_for as "stalls", "stalls that something waited for";
        /// Time of dies in stalls that something waited for, from the moment on at which it waited.
        time_waited_for_stalls_ns as "waited_ms", "time of dies in them";
    }
}

/// Longest allowed mean time between stalls.
const EVERY_MAX_NS: u64 = 3_600_000_000_000;

impl DieDelayMechanism for BackgroundStallParams {
    type Counters = BackgroundCounters;
    type AtDie = DieStallSchedule;

    fn new_die_state(&self, seed: u64, member: MemberId, die: DieId) -> DieStallSchedule {
        let stream = rng::stream(seed, "background", u64::from(member.0) << 32 | u64::from(die.0));
        let mut stalls = DieStallSchedule { background: *self, stream, due: 0, until: 0, counted: 0 };
        stalls.fall_due_later();
        stalls
    }

    fn problems(&self) -> Vec<ParameterProblem> {
        let problem = |key, message: String| ParameterProblem { key, message };
        let mut problems = Vec::new();
        if self.lasts.ns == 0 {
            problems.push(problem("lasts", "but must be at least 1ns; leave the table out to have no stalls".to_owned()));
        }
        if self.every.ns > EVERY_MAX_NS {
            problems.push(problem("every", "but must be at most 1h; leave the table out to have no stalls".to_owned()));
        } else if self.every.ns <= self.lasts.ns {
            let message = format!("but must be longer than `ssd.background.lasts` ({}): the dies would do nothing else", self.lasts);
            problems.push(problem("every", message));
        }
        problems
    }

    fn random_for_tests(stream: &mut RandomStream, operation_ns: u64) -> Self {
        let lasts = 1 + rng::below(stream, 4 * operation_ns);
        Self { every: Duration { ns: lasts + 1 + rng::below(stream, 20 * operation_ns) }, lasts: Duration { ns: lasts } }
    }
}

/// Schedule of the stalls of one die, which are pauses for background work of its own.
#[derive(Debug, Clone)]
pub struct DieStallSchedule {
    background: BackgroundStallParams,
    stream: RandomStream,
    /// Time at which the next stall begins.
    due: TimeNs,
    /// End of the last stall that has begun.
    until: TimeNs,
    /// End of the last stall that was added to the counters.
    counted: TimeNs,
}

impl DieStallSchedule {
    fn fall_due_later(&mut self) {
        let gap_ns = (self.background.every.ns as f64 * rng::exponential(&mut self.stream)) as u64;
        self.due = self.due.saturating_add(gap_ns).min(TIME_MAX_NS);
    }
}

impl DelayMechanismStateOfDie<BackgroundCounters> for DieStallSchedule {
    fn is_due(&self, now: TimeNs) -> bool {
        self.due <= now
    }

    /// Processes all stalls that began before `now` while the die was idle.
    fn idle_period_ended(&mut self, idle_since: TimeNs, now: TimeNs) {
        assert!(idle_since <= now, "a die does not rest in the future");
        while self.until <= now && self.due <= now {
            self.until = self.due.max(self.until).max(idle_since) + self.background.lasts.ns;
            self.fall_due_later();
        }
    }

    fn busy_until(&mut self, idle_since: TimeNs, now: TimeNs, counters: &mut BackgroundCounters) -> Option<TimeNs> {
        self.idle_period_ended(idle_since, now);
        if self.until <= now {
            return None;
        }
        if self.until > self.counted {
            self.counted = self.until;
            counters.stalls_waited_for += 1;
            counters.time_waited_for_stalls_ns += self.until - now;
        }
        Some(self.until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stalls(every: u64, lasts: u64) -> DieStallSchedule {
        let background = BackgroundStallParams { every: Duration { ns: every }, lasts: Duration { ns: lasts } };
        background.new_die_state(1, MemberId(0), DieId(0))
    }

    #[test]
    fn gaps_have_the_mean_that_is_asked_for() {
        let mut stalls = stalls(1000, 1);
        let all = 100_000;
        (0..all).for_each(|_| stalls.fall_due_later());
        let mean = stalls.due as f64 / f64::from(all);
        assert!((mean / 1000.0 - 1.0).abs() < 0.02, "{mean}");
    }

    #[test]
    fn a_die_at_rest_stalls_when_it_is_due_and_one_that_works_afterwards() {
        let due = stalls(1_000_000, 50).due;
        let mut counters = BackgroundCounters::default();
        let mut at_rest = stalls(1_000_000, 50);
        assert_eq!(at_rest.busy_until(0, due - 1, &mut counters), None);
        assert_eq!(at_rest.busy_until(0, due + 20, &mut counters), Some(due + 50));
        assert_eq!(at_rest.busy_until(0, due + 30, &mut counters), Some(due + 50), "it is the same one");
        assert_eq!(at_rest.busy_until(0, due + 50, &mut counters), None);
        assert_eq!(counters, BackgroundCounters { stalls_waited_for: 1, time_waited_for_stalls_ns: 30 });
        let mut works = stalls(1_000_000, 50);
        assert_eq!(works.busy_until(due + 20, due + 20, &mut counters), Some(due + 70));
    }
}
