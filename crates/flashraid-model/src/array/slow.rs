//! Members that are slow for a time, and neither fail nor are rebuilt (rules 250 to 252).
//!
//! The answers of such a member reach the array later than the member has given them. In the member nothing changes.

use super::ArrayParams;
use crate::TimeNs;
use crate::rng;
use crate::ssd::PageOpEnd;
use crate::units::{Duration, Fraction};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A member that is slow for a period of time. It does not fail and is not rebuilt: its answers only come later.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlowMemberPeriod {
    /// Number of the member, from 0.
    #[schemars(range(min = 0, max = 127))]
    pub member: u32,
    /// Simulated time from which the member is slow, counted from the start of the run. By default, the member is slow from the start.
    #[serde(default = "no_time")]
    pub from: Duration,
    /// Simulated time until which the member is slow, counted from the start of the run. By default, the member is slow until the end of
    /// the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Duration>,
    /// Number by which the flash times of a slow operation are multiplied.
    #[serde(default = "no_factor")]
    #[schemars(range(min = 1.0, max = 10_000.0))]
    pub factor: f64,
    /// Time that is added to each slow operation.
    #[serde(default = "no_time")]
    pub add: Duration,
    /// Share of the operations sent to the member that are slow; above 0. The flash time of a slow operation is multiplied by the key
    /// `factor`, and the time in the key `add` is added.
    #[serde(default = "all_operations")]
    pub share: Fraction,
    /// Length of a stall, in which the member gives no answer. By default, there are no stalls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stall: Option<Duration>,
    /// Time from the begin of a stall to the begin of the next one; longer than a stall. The first one begins at `from`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Duration>,
}

fn no_time() -> Duration {
    Duration { ns: 0 }
}

fn no_factor() -> f64 {
    1.0
}

fn all_operations() -> Fraction {
    Fraction(1.0)
}

impl SlowMemberPeriod {
    /// Returns the end of the stall in which `at` lies. A stall that begins before the member stops being slow lasts as long as others.
    fn end_of_stall(&self, at: TimeNs) -> Option<TimeNs> {
        let (length, every) = self.stall.zip(self.every)?;
        let began = at - at.checked_sub(self.from.ns)? % every.ns;
        (began < self.until_ns() && at - began < length.ns).then(|| began + length.ns)
    }

    /// Returns the time at which the member stops being slow, in nanoseconds. It may be after the end of the run.
    pub fn until_ns(&self) -> TimeNs {
        self.until.map_or(TimeNs::MAX, |until| until.ns)
    }
}

counts! {
    /// Counts of the answers of a member that came later than normal, because the simulation made the member slow (see
    /// [`SlowMemberPeriod`]).
    pub struct InjectedSlownessCounters {
        /// Number of page operations whose answers came later than they would if the member were not slow.
        late_answers,
        /// Total time by which answers came later than they would if the member were not slow, in nanoseconds.
        late_ns: u128,
    }
}

/// State of the slow members of an array.
#[derive(Debug, Clone)]
pub(super) struct SlowMembers {
    members: Vec<SlowMember>,
}

#[derive(Debug, Clone, Default)]
struct SlowMember {
    /// Periods in which the member is slow, in order of time.
    times: Vec<SlowMemberPeriod>,
    seed: u64,
    counters: InjectedSlownessCounters,
}

impl SlowMember {
    /// Makes the answer to an operation late, if the operation is slow or if its answer would come in a stall.
    fn delay(&mut self, end: &mut PageOpEnd) {
        let issued = end.at - end.time_parts.total_ns();
        let answered = end.at;
        let time = self.times.iter().find(|time| (time.from.ns..time.until_ns()).contains(&issued));
        if let Some(time) = time
            && (time.share.0 >= 1.0 || rng::chance(&mut rng::stream(self.seed, "operation", issued), time.share.0))
        {
            let flash_ns = ((time.factor - 1.0) * end.time_parts.flash_ns as f64) as u64;
            end.time_parts.flash_ns += flash_ns;
            end.time_parts.other_ns += time.add.ns;
            end.at += flash_ns + time.add.ns;
        }
        for time in &self.times {
            if let Some(stall_ends) = time.end_of_stall(end.at) {
                end.time_parts.other_ns += stall_ends - end.at;
                end.at = stall_ends;
            }
        }
        self.counters.late_answers += u64::from(end.at > answered);
        self.counters.late_ns += u128::from(end.at - answered);
    }
}

impl SlowMembers {
    /// Returns the state of an array with slow members, and `None` for any other.
    pub(super) fn from_params(params: &ArrayParams, seed: u64) -> Option<Box<Self>> {
        let members = params.members + params.spares_and_state().0;
        let member = |member: u32| {
            let mut times: Vec<SlowMemberPeriod> = params.slow.iter().copied().filter(|time| time.member == member).collect();
            times.sort_by_key(|time| time.from.ns);
            SlowMember { times, seed: rng::derive_seed(seed, "slow", u64::from(member)), counters: InjectedSlownessCounters::default() }
        };
        (!params.slow.is_empty()).then(|| Box::new(Self { members: (0..members).map(member).collect() }))
    }

    /// Makes the answer of a slow member late.
    pub(super) fn delay(&mut self, end: &mut PageOpEnd) {
        let member = &mut self.members[end.member.0 as usize];
        if !member.times.is_empty() {
            member.delay(end);
        }
    }

    /// Returns the counts of each member.
    pub(super) fn counters(&self) -> Vec<InjectedSlownessCounters> {
        self.members.iter().map(|member| member.counters).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::OperationTimeParts;
    use crate::ids::MemberId;

    const TIME: SlowMemberPeriod = SlowMemberPeriod {
        member: 0,
        from: time(1000),
        until: Some(time(2000)),
        factor: 1.0,
        add: time(0),
        share: Fraction(1.0),
        stall: None,
        every: None,
    };

    const fn time(ns: u64) -> Duration {
        Duration { ns }
    }

    fn slow(times: &[SlowMemberPeriod]) -> SlowMember {
        SlowMember { times: times.to_vec(), seed: 7, counters: InjectedSlownessCounters::default() }
    }

    /// Returns the answer to an operation that was issued at `issued` and took 28, of which 20 in flash.
    fn answer(member: &mut SlowMember, issued: TimeNs) -> PageOpEnd {
        let time = OperationTimeParts { flash_ns: 20, transfer_ns: 7, other_ns: 1, ..OperationTimeParts::default() };
        let mut end = PageOpEnd { completion_tag: 0, member: MemberId(0), is_read: true, at: issued + 28, met_gc: false, time_parts: time };
        member.delay(&mut end);
        assert_eq!(end.time_parts.total_ns(), end.at - issued);
        end
    }

    #[test]
    fn flash_times_are_multiplied_and_a_time_is_added_from_begin_to_before_the_end() {
        let mut member = slow(&[SlowMemberPeriod { factor: 2.75, add: time(100), ..TIME }]);
        let ends: Vec<_> = [999, 1000, 1999, 2000].map(|issued| answer(&mut member, issued).at - issued).into();
        assert_eq!(ends, [28, 163, 163, 28]);
        assert_eq!(
            answer(&mut member, 1500).time_parts,
            OperationTimeParts { flash_ns: 55, transfer_ns: 7, other_ns: 101, ..OperationTimeParts::default() }
        );
        assert_eq!(member.counters, InjectedSlownessCounters { late_answers: 3, late_ns: 405 });
    }

    #[test]
    fn the_share_of_moments_is_that_which_is_asked_for() {
        let mut member = slow(&[SlowMemberPeriod { from: time(0), until: None, add: time(5), share: Fraction(0.05), ..TIME }]);
        (0..100_000).for_each(|issued| _ = answer(&mut member, issued));
        assert!(member.counters.late_answers.abs_diff(5000) < 250, "{:?}", member.counters);
        let first = (0..10_000).map(|issued| answer(&mut member, issued).at).collect::<Vec<_>>();
        assert_eq!(first, (0..10_000).map(|issued| answer(&mut member, issued).at).collect::<Vec<_>>(), "it does not depend on the order");
    }

    #[test]
    fn no_answer_comes_in_a_stall() {
        let (stall, every) = (Some(time(100)), Some(time(300)));
        let mut member = slow(&[
            SlowMemberPeriod { stall, every, ..TIME },
            SlowMemberPeriod { from: time(2050), until: Some(time(2051)), stall, every, ..TIME },
        ]);
        let mut at = |answered: TimeNs| answer(&mut member, answered - 28).at;
        assert_eq!([999, 1000, 1099, 1100, 1299, 1300].map(&mut at), [999, 1100, 1100, 1100, 1299, 1400]);
        // The last stall begins at 1900, and so does the one of the second time at 2050.
        assert_eq!([1900, 1999, 2000, 2049, 2050, 2149, 2150, 2350].map(&mut at), [2000, 2000, 2000, 2049, 2150, 2150, 2150, 2350]);
        let mut member = slow(&[
            SlowMemberPeriod { stall: Some(time(200)), every, ..TIME },
            SlowMemberPeriod { from: time(2050), until: Some(time(2051)), stall, every, ..TIME },
        ]);
        assert_eq!(answer(&mut member, 1950 - 28).at, 2150, "one stall leads into another");
    }
}
