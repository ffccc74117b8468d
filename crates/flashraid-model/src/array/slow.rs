//! Members that are slow for a time, and neither fail nor are rebuilt (rules 250 to 252).
//!
//! The answers of such a member reach the array later than the member has given them. In the member nothing changes.

use super::ArrayParams;
use crate::TimeNs;
use crate::rng;
use crate::ssd::PageOpEnd;

/// A period in which a member is slow, without having failed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlowMemberPeriodParams {
    /// Number of the member.
    pub member: u32,
    /// Time from which the member is slow, in nanoseconds.
    pub from_ns: TimeNs,
    /// Time at which the member stops being slow, in nanoseconds; later than `from_ns`. Slow periods of the same member do not overlap.
    pub until_ns: TimeNs,
    /// Number by which the flash times of a slow operation are multiplied, at least 1.
    pub flash_time_factor: f64,
    /// Time that is added to the duration of each slow operation, in nanoseconds.
    pub add_ns: u64,
    /// Share of operations that are slow, from 0 to 1.
    pub share_of_operations: f64,
    /// Regular times in which no answer of the member comes (stalls); `None` without stalls.
    pub stalls: Option<StallParams>,
}

/// Regular stalls, in which a member does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StallParams {
    /// Length of a stall in nanoseconds, at least 1.
    pub length_ns: u64,
    /// Time from the begin of a stall to the begin of the next one, in nanoseconds; longer than a stall.
    pub every_ns: u64,
}

impl SlowMemberPeriodParams {
    /// Returns the end of the stall in which `at` lies. A stall that begins before the member stops being slow lasts as long as others.
    fn end_of_stall(&self, at: TimeNs) -> Option<TimeNs> {
        let StallParams { length_ns, every_ns } = self.stalls?;
        let began = at - at.checked_sub(self.from_ns)? % every_ns;
        (began < self.until_ns && at - began < length_ns).then(|| began + length_ns)
    }
}

counts! {
    /// Counts of the answers of a member that came later than normal, because the simulation made the member slow (see
    /// [`SlowMemberPeriodParams`]).
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
    times: Vec<SlowMemberPeriodParams>,
    seed: u64,
    counters: InjectedSlownessCounters,
}

impl SlowMember {
    /// Makes the answer to an operation late, if the operation is slow or if its answer would come in a stall.
    fn delay(&mut self, end: &mut PageOpEnd) {
        let issued = end.at - end.time_parts.total_ns();
        let answered = end.at;
        let time = self.times.iter().find(|time| (time.from_ns..time.until_ns).contains(&issued));
        if let Some(time) = time
            && (time.share_of_operations >= 1.0 || rng::chance(&mut rng::stream(self.seed, "operation", issued), time.share_of_operations))
        {
            let flash_ns = ((time.flash_time_factor - 1.0) * end.time_parts.flash_ns as f64) as u64;
            end.time_parts.flash_ns += flash_ns;
            end.time_parts.other_ns += time.add_ns;
            end.at += flash_ns + time.add_ns;
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
            let mut times: Vec<SlowMemberPeriodParams> = params.slow.iter().copied().filter(|time| time.member == member).collect();
            times.sort_by_key(|time| time.from_ns);
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

    const TIME: SlowMemberPeriodParams = SlowMemberPeriodParams {
        member: 0,
        from_ns: 1000,
        until_ns: 2000,
        flash_time_factor: 1.0,
        add_ns: 0,
        share_of_operations: 1.0,
        stalls: None,
    };

    fn slow(times: &[SlowMemberPeriodParams]) -> SlowMember {
        SlowMember { times: times.to_vec(), seed: 7, counters: InjectedSlownessCounters::default() }
    }

    /// Returns the answer to an operation that was issued at `issued` and took 28, of which 20 in flash.
    fn answer(member: &mut SlowMember, issued: TimeNs) -> PageOpEnd {
        let time = OperationTimeParts { flash_ns: 20, transfer_ns: 7, other_ns: 1, ..OperationTimeParts::default() };
        let mut end = PageOpEnd { completion_tag: 0, member: MemberId(0), at: issued + 28, met_gc: false, time_parts: time };
        member.delay(&mut end);
        assert_eq!(end.time_parts.total_ns(), end.at - issued);
        end
    }

    #[test]
    fn flash_times_are_multiplied_and_a_time_is_added_from_begin_to_before_the_end() {
        let mut member = slow(&[SlowMemberPeriodParams { flash_time_factor: 2.75, add_ns: 100, ..TIME }]);
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
        let mut member =
            slow(&[SlowMemberPeriodParams { from_ns: 0, until_ns: TimeNs::MAX, add_ns: 5, share_of_operations: 0.05, ..TIME }]);
        (0..100_000).for_each(|issued| _ = answer(&mut member, issued));
        assert!(member.counters.late_answers.abs_diff(5000) < 250, "{:?}", member.counters);
        let first = (0..10_000).map(|issued| answer(&mut member, issued).at).collect::<Vec<_>>();
        assert_eq!(first, (0..10_000).map(|issued| answer(&mut member, issued).at).collect::<Vec<_>>(), "it does not depend on the order");
    }

    #[test]
    fn no_answer_comes_in_a_stall() {
        let stalls = Some(StallParams { length_ns: 100, every_ns: 300 });
        let mut member =
            slow(&[SlowMemberPeriodParams { stalls, ..TIME }, SlowMemberPeriodParams { from_ns: 2050, until_ns: 2051, stalls, ..TIME }]);
        let mut at = |answered: TimeNs| answer(&mut member, answered - 28).at;
        assert_eq!([999, 1000, 1099, 1100, 1299, 1300].map(&mut at), [999, 1100, 1100, 1100, 1299, 1400]);
        // The last stall begins at 1900, and so does the one of the second time at 2050.
        assert_eq!([1900, 1999, 2000, 2049, 2050, 2149, 2150, 2350].map(&mut at), [2000, 2000, 2000, 2049, 2150, 2150, 2150, 2350]);
        let long = Some(StallParams { length_ns: 200, every_ns: 300 });
        let mut member = slow(&[
            SlowMemberPeriodParams { stalls: long, ..TIME },
            SlowMemberPeriodParams { from_ns: 2050, until_ns: 2051, stalls, ..TIME },
        ]);
        assert_eq!(answer(&mut member, 1950 - 28).at, 2150, "one stall leads into another");
    }
}
