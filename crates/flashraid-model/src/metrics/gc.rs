//! Garbage collection over time: how long dies and members collect, and how many members do so together.
//!
//! A collection occupies its die over `[start, end)`. A member collects while at least one of its dies does.
//!
//! **Synchronised GC** (LAWC 4.2, Fig. 8) is "the number of SSDs that run GCs during a fixed time slice" of 0.1 ms. Slices begin at
//! multiples of their length. A member counts in every slice that one of its collections overlaps, however briefly, because "during" asks
//! for no more. Counting at the start of each slice instead would change the mean by about a hundredth, because a collection takes some
//! milliseconds.
//!
//! The mean is taken over the slices in which at least one member counts. The measured time cuts off its first and its last slice; both
//! count as whole ones.
//!
//! Collections are reported in any order. Their starts and ends wait as events in one unsorted list. When the list has grown enough, the
//! events whose time has come are sorted and processed. This is exact, needs memory only for open collections, and is cheaper than a queue.

use crate::TimeNs;

/// Minimum number of waiting events that are processed together, because processing a few costs almost as much.
const SWEEP_EVENTS_MIN: usize = 4096;

/// Start or end of a collection, packed so that integers sort by time, and starts before ends. From high to low, it has the time, one bit
/// for an end, and the index of the die (31 bits).
type Event = u128;

const END_BIT: u128 = 1 << 31;

#[derive(Debug, Clone, Default)]
struct Member {
    collecting_dies: u32,
    /// End of the slice in which the member last stopped collecting, or 0 if it never has.
    last_slice_end_ns: TimeNs,
    /// Sum of the end times minus sum of the start times of collections, over all dies. It is a duration whenever no die collects.
    die_time_ns: i128,
    /// Sum of the end times minus sum of the start times of the periods in which at least one die collects. It is a duration whenever no
    /// die collects.
    member_time_ns: i128,
}

/// Records which dies collect at which times.
#[derive(Debug, Clone)]
pub(super) struct GcTracker {
    slice_ns: u64,
    die_bits: u32,
    dies_per_member: u32,

    events: Vec<Event>,
    sweep_at: usize,

    // The fields below are the state of the sweep at `now_ns`.
    from_ns: TimeNs,
    now_ns: TimeNs,
    /// Number of collections in progress in each die. It exceeds 1 only if the planes of a die collect independently.
    collections: Vec<u16>,
    members: Vec<Member>,
    members_collecting: u32,
    /// End of the slice that holds the last moment before `now_ns`.
    slice_end_ns: TimeNs,
    /// Number of members that collected at any moment of that slice.
    members_in_slice: u32,
    slices_by_members: Vec<u64>,
}

impl GcTracker {
    pub(super) fn new(members: u32, dies_per_member: u32, slice_ns: u64) -> Self {
        let slice_ns = slice_ns.max(1);
        let die_bits = dies_per_member.next_power_of_two().trailing_zeros();
        Self {
            slice_ns,
            die_bits,
            dies_per_member,
            events: Vec::with_capacity(SWEEP_EVENTS_MIN + 2),
            sweep_at: SWEEP_EVENTS_MIN,
            from_ns: 0,
            now_ns: 0,
            collections: vec![0; (members as usize) << die_bits],
            members: vec![Member::default(); members as usize],
            members_collecting: 0,
            slice_end_ns: slice_ns,
            members_in_slice: 0,
            slices_by_members: vec![0; members as usize + 1],
        }
    }

    #[inline]
    pub(super) fn record_interval(&mut self, member: u32, die: u32, start_ns: TimeNs, end_ns: TimeNs) {
        // A collection that takes no time (the ideal scheme) occupies no die.
        if start_ns < end_ns {
            self.events.push(self.event(member, die, start_ns));
            self.events.push(self.event(member, die, end_ns) | END_BIT);
        }
    }

    #[inline]
    fn event(&self, member: u32, die: u32, time_ns: TimeNs) -> Event {
        debug_assert!(die < self.dies_per_member && (member as usize) < self.members.len());
        u128::from(time_ns) << 32 | u128::from(member << self.die_bits | die)
    }

    /// Announces that every event before `now` has been reported.
    #[inline]
    pub(super) fn advance(&mut self, now: TimeNs) {
        if self.events.len() >= self.sweep_at {
            self.sweep(now);
        }
    }

    #[cold]
    fn sweep(&mut self, until_ns: TimeNs) {
        let mut events = std::mem::take(&mut self.events);
        let open = partition(&mut events, |&event| event < u128::from(until_ns) << 32);
        events[..open].sort_unstable();
        for &event in &events[..open] {
            self.apply(event);
        }
        events.drain(..open);
        self.events = events;
        // The limit is twice the number of events that stay, so that partitioning costs a constant per event.
        self.sweep_at = SWEEP_EVENTS_MIN.max(2 * self.events.len());
    }

    fn apply(&mut self, event: Event) {
        let time_ns = (event >> 32) as TimeNs;
        let die = (event & (END_BIT - 1)) as usize;
        self.count_slices_until(time_ns);
        let member = &mut self.members[die >> self.die_bits];
        if event & END_BIT == 0 {
            self.collections[die] += 1;
            if self.collections[die] > 1 {
                return;
            }
            member.die_time_ns -= i128::from(time_ns);
            member.collecting_dies += 1;
            if member.collecting_dies > 1 {
                return;
            }
            member.member_time_ns -= i128::from(time_ns);
            self.members_collecting += 1;
            // A slice that has begun counts the member now, unless it counted it before. The next slice counts it when the sweep enters
            // that slice.
            if time_ns < self.slice_end_ns && member.last_slice_end_ns != self.slice_end_ns {
                self.members_in_slice += 1;
            }
        } else {
            assert!(self.collections[die] > 0, "a collection ends that was not reported to start");
            self.collections[die] -= 1;
            if self.collections[die] > 0 {
                return;
            }
            member.die_time_ns += i128::from(time_ns);
            member.collecting_dies -= 1;
            if member.collecting_dies > 0 {
                return;
            }
            member.member_time_ns += i128::from(time_ns);
            self.members_collecting -= 1;
            member.last_slice_end_ns = self.slice_end_ns;
        }
    }

    /// Moves the current time to `time_ns`, with no event in between, and counts the slices that end on the way.
    fn count_slices_until(&mut self, time_ns: TimeNs) {
        if time_ns > self.slice_end_ns {
            self.slices_by_members[self.members_in_slice as usize] += 1;
            let whole = (time_ns - self.slice_end_ns - 1) / self.slice_ns;
            self.slices_by_members[self.members_collecting as usize] += whole;
            self.slice_end_ns = self.slice_end_ns.saturating_add((whole + 1).saturating_mul(self.slice_ns));
            self.members_in_slice = self.members_collecting;
        }
        self.now_ns = time_ns;
    }

    pub(super) fn restart(&mut self, now: TimeNs) {
        // A collection that ends at this very moment is no longer in progress.
        self.sweep(now.saturating_add(1));
        self.from_ns = now;
        self.now_ns = now;
        self.slice_end_ns = (now / self.slice_ns).saturating_add(1).saturating_mul(self.slice_ns);
        self.members_in_slice = self.members_collecting;
        self.slices_by_members.fill(0);
        for member in &mut self.members {
            member.last_slice_end_ns = 0;
            member.die_time_ns = -i128::from(now) * i128::from(member.collecting_dies);
            member.member_time_ns = if member.collecting_dies > 0 { -i128::from(now) } else { 0 };
        }
    }

    pub(super) fn finish(mut self, end_ns: TimeNs) -> GcActivity {
        self.sweep(end_ns);
        if end_ns > self.from_ns {
            self.count_slices_until(end_ns);
            self.slices_by_members[self.members_in_slice as usize] += 1;
        }
        let members = self.members.iter().map(|member| {
            let die_time_ns = member.die_time_ns + i128::from(end_ns) * i128::from(member.collecting_dies);
            let member_time_ns = member.member_time_ns + if member.collecting_dies > 0 { i128::from(end_ns) } else { 0 };
            MemberGcTime { collecting_die_ns: die_time_ns as u128, any_die_collecting_ns: member_time_ns as u64 }
        });
        GcActivity {
            measured_time_ns: end_ns - self.from_ns,
            dies_per_member: self.dies_per_member,
            slice_ns: self.slice_ns,
            members: members.collect(),
            time_slices_by_number_of_collecting_members: self.slices_by_members,
        }
    }
}

/// Moves the items for which `first` returns true to the front, and returns their number.
fn partition<T>(items: &mut [T], first: impl Fn(&T) -> bool) -> usize {
    let mut end = 0;
    for index in 0..items.len() {
        if first(&items[index]) {
            items.swap(end, index);
            end += 1;
        }
    }
    end
}

/// Time that one member spent collecting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberGcTime {
    /// Time in which a die collected, summed over the dies, in nanoseconds.
    pub(crate) collecting_die_ns: u128,
    /// Time in which at least one die collected, in nanoseconds.
    pub(crate) any_die_collecting_ns: u64,
}

/// Time that the members spent on garbage collection in the measured time of a run. It also counts the slices of time in which no
/// member collected, one member, two, and so on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GcActivity {
    /// Length of the measured time, in nanoseconds.
    pub measured_time_ns: u64,
    /// Number of dies in a member.
    pub(crate) dies_per_member: u32,
    /// Length of the slices of time by which collecting members are counted, in nanoseconds. Members that collect in the same slice collect
    /// together.
    pub slice_ns: u64,
    /// Collecting time of each member, in order.
    pub members: Vec<MemberGcTime>,
    /// Number of slices of time in which no member collected, one member, two, and so on.
    pub time_slices_by_number_of_collecting_members: Vec<u64>,
}

impl GcActivity {
    /// Returns the share of the measured time that a die spent collecting, as a mean over all dies of all members. It is 0 to 1, or
    /// `None` for a run of no length.
    #[must_use]
    pub fn mean_die_busy_fraction(&self) -> Option<f64> {
        let die_time_ns: u128 = self.members.iter().map(|member| member.collecting_die_ns).sum();
        let whole = self.measured_time_ns as f64 * f64::from(self.dies_per_member) * self.members.len() as f64;
        (whole > 0.0).then(|| die_time_ns as f64 / whole)
    }

    /// Returns the share of the measured time that a die spent collecting, as a mean over the dies of one member. It is 0 to 1, or
    /// `None` for a run of no length.
    #[must_use]
    pub fn mean_die_busy_fraction_of_member(&self, member: usize) -> Option<f64> {
        let whole = self.measured_time_ns as f64 * f64::from(self.dies_per_member);
        (whole > 0.0).then(|| self.members[member].collecting_die_ns as f64 / whole)
    }

    /// Returns the share of the time in which at least one die of the member collected. It is 0 to 1, or `None` for a run of no length.
    #[must_use]
    pub fn member_collecting_fraction(&self, member: usize) -> Option<f64> {
        (self.measured_time_ns > 0).then(|| self.members[member].any_die_collecting_ns as f64 / self.measured_time_ns as f64)
    }

    /// Returns the mean number of members that collect during the same slice of `slice_ns`. Only slices in which at least one member
    /// collects count; `None` if there are none.
    #[must_use]
    pub fn mean_members_collecting_together(&self) -> Option<f64> {
        let slices: u64 = self.time_slices_by_number_of_collecting_members[1..].iter().sum();
        let members: u128 = self
            .time_slices_by_number_of_collecting_members
            .iter()
            .enumerate()
            .map(|(members, &slices)| members as u128 * u128::from(slices))
            .sum();
        (slices > 0).then(|| members as f64 / slices as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Interval = (u32, u32, u64, u64);

    const MEMBERS: u32 = 3;
    const DIES: u32 = 3;

    /// Computes the same by looking at every nanosecond of `[from, end)`.
    fn naive(intervals: &[Interval], slice_ns: u64, from_ns: u64, end_ns: u64) -> GcActivity {
        let collects = |member: u32, die: u32, now: u64| {
            intervals.iter().any(|&(m, e, start, end)| (m, e) == (member, die) && start <= now && now < end)
        };
        let member_collects = |member: u32, now: u64| (0..DIES).any(|die| collects(member, die, now));
        let members = (0..MEMBERS).map(|member| MemberGcTime {
            collecting_die_ns: (from_ns..end_ns).map(|now| (0..DIES).filter(|&die| collects(member, die, now)).count() as u128).sum(),
            any_die_collecting_ns: (from_ns..end_ns).filter(|&now| member_collects(member, now)).count() as u64,
        });
        let mut slices_by_members = vec![0; MEMBERS as usize + 1];
        let mut slice = from_ns / slice_ns;
        while slice * slice_ns < end_ns {
            let moments = from_ns.max(slice * slice_ns)..end_ns.min((slice + 1) * slice_ns);
            let collecting = (0..MEMBERS).filter(|&member| moments.clone().any(|now| member_collects(member, now))).count();
            slices_by_members[collecting] += 1;
            slice += 1;
        }
        if from_ns == end_ns {
            slices_by_members.fill(0);
        }
        GcActivity {
            measured_time_ns: end_ns - from_ns,
            dies_per_member: DIES,
            slice_ns,
            members: members.collect(),
            time_slices_by_number_of_collecting_members: slices_by_members,
        }
    }

    #[test]
    fn without_time_nothing_is_defined() {
        let activity = GcTracker::new(2, 4, 10).finish(0);
        assert_eq!(
            (activity.mean_die_busy_fraction(), activity.member_collecting_fraction(0), activity.mean_members_collecting_together()),
            (None, None, None)
        );
        assert_eq!(activity.time_slices_by_number_of_collecting_members, [0, 0, 0]);
    }

    #[test]
    fn a_boundary_belongs_to_the_slice_that_it_begins() {
        let mut tracker = GcTracker::new(2, 1, 10);
        tracker.record_interval(0, 0, 0, 10); // It lies in slice 0 only.
        tracker.record_interval(1, 0, 19, 21); // It lies in slices 1 and 2.
        tracker.record_interval(0, 0, 20, 30); // It lies in slice 2 only.
        let activity = tracker.finish(40);
        assert_eq!(activity.time_slices_by_number_of_collecting_members, [1, 2, 1]);
        assert_eq!(activity.mean_members_collecting_together(), Some(4.0 / 3.0));
        assert_eq!(activity.mean_die_busy_fraction(), Some(22.0 / 80.0));
        assert_eq!(activity.mean_die_busy_fraction_of_member(1), Some(2.0 / 40.0));
    }

    #[test]
    fn two_collections_of_a_member_in_one_slice_count_once() {
        let mut tracker = GcTracker::new(1, 1, 100);
        tracker.record_interval(0, 0, 10, 20);
        tracker.record_interval(0, 0, 30, 40);
        let activity = tracker.finish(100);
        assert_eq!(activity.time_slices_by_number_of_collecting_members, [0, 1]);
    }

    #[test]
    fn collections_that_take_no_time_leave_no_trace() {
        let mut tracker = GcTracker::new(1, 1, 10);
        tracker.record_interval(0, 0, 5, 5);
        assert_eq!(tracker.finish(20).time_slices_by_number_of_collecting_members, [2, 0]);
    }

    #[test]
    fn memory_is_bounded_by_what_is_open() {
        let mut tracker = GcTracker::new(128, 1024, 100_000);
        for step in 0..1_000_000u64 {
            tracker.record_interval((step % 128) as u32, (step / 128 % 1024) as u32, step * 10, step * 10 + 50_000);
            tracker.advance(step * 10);
        }
        // Collections of 50 000 ns begin every 10 ns, so that 5 000 ends are open at any time.
        assert!(tracker.events.capacity() <= 32 * 1024, "{}", tracker.events.capacity());
        let activity = tracker.finish(10_000_000);
        assert_eq!(
            activity.members.iter().map(|member| member.collecting_die_ns).sum::<u128>(),
            995_000 * 50_000 + 10 * (1..=5_000).sum::<u128>()
        );
    }

    fn intervals() -> impl Strategy<Value = Vec<Interval>> {
        prop::collection::vec((0..MEMBERS, 0..DIES, 0u64..200, 0u64..60), 0..40)
            .prop_map(|raw| raw.into_iter().map(|(member, die, start, length)| (member, die, start, start + length)).collect())
    }

    proptest! {
        #[test]
        fn agrees_with_looking_at_every_nanosecond(
            intervals in intervals(), slice_ns in 1u64..20, end_ns in 0u64..260, sweeps in prop::collection::vec(0u64..260, 0..6), restart in prop::option::of(0u64..260),
        ) {
            let mut tracker = GcTracker::new(MEMBERS, DIES, slice_ns);
            let mut unreported = intervals.clone();
            let mut report_before = |tracker: &mut GcTracker, now: u64| unreported.retain(|&(member, die, start_ns, end_ns)| {
                // Half of those that start later are reported early, as the model does when it decides ahead.
                let report = start_ns < now || die == 0;
                if report {
                    tracker.record_interval(member, die, start_ns, end_ns);
                }
                !report
            });
            let from_ns = restart.unwrap_or(0);
            let end_ns = end_ns.max(from_ns);
            let mut moments: Vec<u64> = sweeps.into_iter().filter(|&now| now < end_ns).chain([from_ns]).collect();
            moments.sort_unstable();
            for now in moments {
                report_before(&mut tracker, now);
                tracker.sweep(now);
                if restart == Some(now) {
                    tracker.restart(now);
                }
            }
            report_before(&mut tracker, u64::MAX);
            prop_assert_eq!(tracker.finish(end_ns), naive(&intervals, slice_ns, from_ns, end_ns));
        }
    }
}
