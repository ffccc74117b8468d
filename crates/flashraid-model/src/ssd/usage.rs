//! Use of a member over time: page operations in each interval, their response times, and the share of time for which its dies work.
//!
//! The intervals are those of the whole run's series over time (`metrics/over_time.rs`). They begin with a microsecond and double whenever
//! there are too many. Events may be recorded in any order, and before they happen: an operation is recorded with its start and its end.

use crate::events::TimeNs;
use std::ops::Range;

/// Maximum number of intervals that are kept. Beyond this number, pairs of intervals are merged.
const INTERVALS_MAX: usize = 400;
/// Length of the intervals at first, in nanoseconds.
const FIRST_NS: u64 = 1000;

/// Use of a member (one SSD of the array) in one interval of time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MemberUtilisationInInterval {
    /// Share of the interval for which the dies of the member worked, for the host or for collection, as the mean over these dies.
    pub busy_fraction: f64,
    /// Mean time from the arrival of a page operation at the member to its end, in nanoseconds. It covers the operations that ended in the
    /// interval, and is `None` if none did.
    pub mean_page_op_response_ns: Option<f64>,
    /// Mean number of page operations inside the member, waiting or being served.
    pub mean_page_ops_outstanding: f64,
}

/// Sums over an interval, either for operations or for busy periods.
#[derive(Debug, Clone, Copy, Default)]
struct Stretches {
    /// Number of operations or periods that begin in the interval, minus the number that end in it.
    begun: i64,
    /// Time from each start to the end of the interval, minus the time from each end to the end of the interval.
    present_ns: i128,
}

impl Stretches {
    /// Merges the following interval into this one.
    fn join(&mut self, second: &Self, interval_ns: u64) {
        // What began in the first half was there for the whole second one.
        self.present_ns += second.present_ns + i128::from(self.begun) * i128::from(interval_ns);
        self.begun += second.begun;
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Interval {
    ended: u64,
    response_ns: u128,
    operations: Stretches,
    work: Stretches,
}

/// Records the use from the start of the measured time on.
#[derive(Debug, Clone)]
struct Recorder {
    from_ns: TimeNs,
    /// End of the record. Later events are left out, and periods that reach beyond it are cut off.
    until_ns: TimeNs,
    /// Number of times that pairs of intervals were merged. An interval is `FIRST_NS << doublings` long.
    doublings: u32,
    intervals: Vec<Interval>,
    /// Interval in which the last period ended, and the measured part of it. Most periods lie in the same interval as the one before.
    present: usize,
    present_ns: Range<TimeNs>,
}

impl Recorder {
    fn new(from_ns: TimeNs) -> Self {
        Self { from_ns, until_ns: TimeNs::MAX, doublings: 0, intervals: Vec::new(), present: 0, present_ns: 0..0 }
    }

    fn interval_ns(&self) -> u64 {
        FIRST_NS << self.doublings
    }

    /// Returns the index of the interval in which a time lies, and the time left until the end of the interval.
    #[inline]
    fn at(&mut self, at: TimeNs) -> (usize, u64) {
        let since = at.saturating_sub(self.from_ns);
        while (since / FIRST_NS) >> self.doublings >= INTERVALS_MAX as u64 {
            self.double();
        }
        let index = (since / FIRST_NS) >> self.doublings;
        let rest_ns = (index + 1) * self.interval_ns() - since;
        if index as usize >= self.intervals.len() {
            self.intervals.resize_with(index as usize + 1, Interval::default);
        }
        (index as usize, rest_ns)
    }

    /// Returns the interval of the last period if this period lies wholly in it.
    #[inline]
    fn holds(&mut self, from: TimeNs, to: TimeNs) -> Option<&mut Interval> {
        let holds = self.present_ns.start <= from && to < self.present_ns.end;
        if holds { Some(&mut self.intervals[self.present]) } else { None }
    }

    #[cold]
    fn double(&mut self) {
        let interval_ns = self.interval_ns();
        let joined = self.intervals.chunks(2).map(|pair| {
            let (mut first, second) = (pair[0], pair.get(1).copied().unwrap_or_default());
            first.ended += second.ended;
            first.response_ns += second.response_ns;
            first.operations.join(&second.operations, interval_ns);
            first.work.join(&second.work, interval_ns);
            first
        });
        self.intervals = joined.collect();
        self.doublings += 1;
        self.present_ns = 0..0;
    }

    /// Adds a period that ends in the measured time. Returns the index of the interval in which it ends.
    #[inline]
    fn stretch(&mut self, from: TimeNs, to: TimeNs, of: impl Fn(&mut Interval) -> &mut Stretches) -> usize {
        // The later one first: it may double the intervals.
        let (last, last_rest_ns) = self.at(to);
        let end = to + last_rest_ns;
        (self.present, self.present_ns) = (last, end - self.interval_ns()..end.min(self.until_ns));
        let length_ns = to - from.max(self.from_ns);
        if length_ns <= self.interval_ns() - last_rest_ns {
            // It begins there, too, as most do.
            of(&mut self.intervals[last]).present_ns += i128::from(length_ns);
            return last;
        }
        let (first, first_rest_ns) = self.at(from);
        let begin = of(&mut self.intervals[first]);
        begin.begun += 1;
        begin.present_ns += i128::from(first_rest_ns);
        let end = of(&mut self.intervals[last]);
        end.begun -= 1;
        end.present_ns -= i128::from(last_rest_ns);
        last
    }

    #[inline]
    fn record_operation(&mut self, arrival: TimeNs, end: TimeNs) {
        if let Some(interval) = self.holds(arrival, end) {
            interval.operations.present_ns += i128::from(end - arrival);
            interval.ended += 1;
            interval.response_ns += u128::from(end - arrival);
            return;
        }
        if end < self.from_ns || arrival >= self.until_ns {
            return;
        }
        if end > self.until_ns {
            self.stretch(arrival, self.until_ns, |interval| &mut interval.operations);
            return;
        }
        let last = self.stretch(arrival, end, |interval| &mut interval.operations);
        let interval = &mut self.intervals[last];
        interval.ended += 1;
        interval.response_ns += u128::from(end - arrival);
    }

    #[inline]
    fn record_work(&mut self, from: TimeNs, to: TimeNs) {
        if let Some(interval) = self.holds(from, to) {
            interval.work.present_ns += i128::from(to - from);
            return;
        }
        if to > self.from_ns && from < self.until_ns {
            self.stretch(from, to.min(self.until_ns), |interval| &mut interval.work);
        }
    }
}

/// A period that may reach into the measured time, which has not begun yet.
#[derive(Debug, Clone, Copy)]
struct Ahead {
    from: TimeNs,
    to: TimeNs,
    is_operation: bool,
}

/// Records the use of a member.
#[derive(Debug, Clone)]
pub(super) struct Usage {
    state: State,
}

#[derive(Debug, Clone)]
enum State {
    /// State before the measured time, which begins at `now` or later. When there are `forget_at` entries, work that ended before is
    /// removed.
    Before {
        ahead: Vec<Ahead>,
        now: TimeNs,
        forget_at: usize,
    },
    Measuring(Recorder),
}

impl Usage {
    pub(super) fn new() -> Self {
        Self { state: State::Before { ahead: Vec::new(), now: 0, forget_at: 1024 } }
    }

    /// Begins the measured time now.
    pub(super) fn begin(&mut self, now: TimeNs) {
        let mut recorder = Recorder::new(now);
        if let State::Before { ahead, .. } = &self.state {
            for entry in ahead {
                match entry.is_operation {
                    // What ended in time has no part in it.
                    true if entry.to >= now => recorder.record_operation(entry.from, entry.to),
                    true => {}
                    false => recorder.record_work(entry.from, entry.to),
                }
            }
        }
        self.state = State::Measuring(recorder);
    }

    /// Ends the measured time now.
    pub(super) fn end(&mut self, now: TimeNs) {
        if let State::Measuring(recorder) = &mut self.state {
            (recorder.until_ns, recorder.present_ns) = (now, 0..0);
        }
    }

    /// Records a page operation that arrived at `arrival` and is done at `end`, which may lie in the future.
    #[inline]
    pub(crate) fn record_operation(&mut self, arrival: TimeNs, end: TimeNs) {
        match &mut self.state {
            State::Measuring(recorder) => recorder.record_operation(arrival, end),
            State::Before { .. } => self.keep(Ahead { from: arrival, to: end, is_operation: true }),
        }
    }

    /// Records a busy period of a die.
    #[inline]
    pub(crate) fn record_work(&mut self, from: TimeNs, to: TimeNs) {
        match &mut self.state {
            State::Measuring(recorder) => recorder.record_work(from, to),
            State::Before { .. } => self.keep(Ahead { from, to, is_operation: false }),
        }
    }

    fn keep(&mut self, entry: Ahead) {
        let State::Before { ahead, now, forget_at } = &mut self.state else { return };
        if entry.is_operation {
            // The measured time begins with an arrival, none of which is earlier than those that have been.
            *now = entry.from.max(*now);
        }
        ahead.push(entry);
        if ahead.len() >= *forget_at {
            ahead.retain(|entry| entry.to >= *now);
            *forget_at = 2 * ahead.len() + 1024;
        }
    }

    /// Returns the current length of an interval, in nanoseconds; 0 before the measured time.
    pub(super) fn interval_ns(&self) -> u64 {
        match &self.state {
            State::Before { .. } => 0,
            State::Measuring(recorder) => recorder.interval_ns(),
        }
    }

    /// Returns the first `count` intervals of a run that ended at `end_ns`, for a member with `dies` dies.
    ///
    /// Their length is [`Usage::interval_ns`] or a power of two times as long. `working` contains busy periods that have not been recorded.
    pub(super) fn points(
        &self,
        interval_ns: u64,
        count: usize,
        end_ns: TimeNs,
        dies: u32,
        working: impl Iterator<Item = (TimeNs, TimeNs)>,
    ) -> Vec<MemberUtilisationInInterval> {
        let State::Measuring(recorder) = &self.state else { return vec![MemberUtilisationInInterval::default(); count] };
        let mut recorder = recorder.clone();
        while recorder.interval_ns() < interval_ns {
            recorder.double();
        }
        recorder.intervals.resize_with(count.max(recorder.intervals.len()), Interval::default);
        for (from, to) in working.filter(|stretch| stretch.1 > recorder.from_ns) {
            for (at, begun) in [(from, 1), (to, -1)] {
                let since = at.saturating_sub(recorder.from_ns);
                let index = since / interval_ns;
                // What ends behind the last interval goes on to its end.
                if let Some(interval) = recorder.intervals.get_mut(index as usize) {
                    interval.work.begun += begun;
                    interval.work.present_ns += i128::from(begun) * i128::from((index + 1) * interval_ns - since);
                }
            }
        }
        let (mut operations, mut work) = (0, 0);
        let spent = |before: &mut i64, of: &Stretches, index: usize| {
            let from_ns = recorder.from_ns + index as u64 * interval_ns;
            // The end of the run cuts the last one off.
            let length_ns = interval_ns.min(end_ns.saturating_sub(from_ns));
            let there = *before;
            *before += of.begun;
            // What goes on beyond the end (of a run that was stopped) is counted up to the end of the interval.
            let beyond_ns = i128::from(*before) * i128::from(interval_ns - length_ns);
            let present_ns = i128::from(there) * i128::from(interval_ns) + of.present_ns - beyond_ns;
            if length_ns > 0 { present_ns as f64 / length_ns as f64 } else { 0.0 }
        };
        let point = |(index, interval): (usize, &Interval)| MemberUtilisationInInterval {
            busy_fraction: (spent(&mut work, &interval.work, index) / f64::from(dies)).clamp(0.0, 1.0),
            mean_page_op_response_ns: (interval.ended > 0).then(|| interval.response_ns as f64 / interval.ended as f64),
            mean_page_ops_outstanding: spent(&mut operations, &interval.operations, index).max(0.0),
        };
        recorder.intervals.iter().enumerate().take(count).map(point).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_plain_counting(
            begin in 0u64..5_000,
            operations in prop::collection::vec((0u64..1_000_000, 1u64..300_000), 1..60),
            work in prop::collection::vec((0u64..1_000_000, 0u64..300_000), 0..60),
            early in 0usize..60,
            open in 0usize..3,
            doublings in 0u32..3,
        ) {
            let (mut usage, dies) = (Usage::new(), 60);
            let stretches = |list: &[(u64, u64)]| -> Vec<(u64, u64)> { list.iter().map(|&(from, length)| (from, from + length)).collect() };
            let (operations, work) = (stretches(&operations), stretches(&work));
            let begin = if early > 0 { begin + operations.iter().take(early).map(|operation| operation.0).max().unwrap_or(0) } else { begin };
            let (told, open) = work.split_at(work.len() - open.min(work.len()));
            // Some of it is told before the measured time begins.
            operations.iter().take(early).for_each(|&(from, to)| usage.record_operation(from, to));
            told.iter().take(early).for_each(|&(from, to)| usage.record_work(from, to));
            usage.begin(begin);
            operations.iter().skip(early).for_each(|&(from, to)| usage.record_operation(from, to));
            told.iter().skip(early).for_each(|&(from, to)| usage.record_work(from, to));

            let interval_ns = usage.interval_ns() << doublings;
            let all = operations.iter().chain(&work);
            let end_ns = all.map(|stretch| stretch.1).max().unwrap_or(0).max(begin) + 7;
            let count = (end_ns - begin).div_ceil(interval_ns) as usize;
            let points = usage.points(interval_ns, count, end_ns, dies, open.iter().copied());
            prop_assert_eq!(points.len(), count);
            for (index, point) in points.iter().enumerate() {
                let from = begin + index as u64 * interval_ns;
                let to = (from + interval_ns).min(end_ns);
                let within = |list: &[(u64, u64)]| -> f64 {
                    let shared: u64 = list.iter().map(|&(a, b)| b.min(to).saturating_sub(a.max(from))).sum();
                    shared as f64 / (to - from) as f64
                };
                prop_assert!((point.mean_page_ops_outstanding - within(&operations)).abs() < 1e-9, "{index} {point:?}");
                prop_assert!((point.busy_fraction - within(&work) / f64::from(dies)).abs() < 1e-9, "{index} {point:?}");
                let ended: Vec<u64> =
                    operations.iter().filter(|operation| (from..from + interval_ns).contains(&operation.1)).map(|&(a, b)| b - a).collect();
                let mean = (!ended.is_empty()).then(|| ended.iter().sum::<u64>() as f64 / ended.len() as f64);
                match (point.mean_page_op_response_ns, mean) {
                    (Some(found), Some(mean)) => prop_assert!((found - mean).abs() < 1e-6, "{found} {mean}"),
                    (found, mean) => prop_assert_eq!(found, mean),
                }
            }
        }
    }

    #[test]
    fn what_is_over_before_the_measured_time_is_forgotten() {
        let mut usage = Usage::new();
        for at in 0..100_000 {
            usage.record_operation(at * 10, at * 10 + 25);
        }
        let State::Before { ahead, .. } = &usage.state else { panic!("it is yet to begin") };
        assert!(ahead.len() < 2100, "{}", ahead.len());
        usage.begin(1_000_000);
        let points = usage.points(usage.interval_ns(), 1, 1_001_000, 1, std::iter::empty());
        // The last two go on for 5 and 15 ns.
        assert_eq!((points[0].mean_page_ops_outstanding, points[0].mean_page_op_response_ns), (0.02, Some(25.0)));
    }

    #[test]
    fn what_lies_behind_the_end_of_the_measured_time_is_left_out() {
        let mut usage = Usage::new();
        usage.begin(0);
        usage.record_work(0, 400);
        usage.end(1000);
        // An hour later: intervals are as short as before.
        usage.record_operation(500, 3_600_000_000_000);
        usage.record_operation(1000, 1500);
        usage.record_work(900, 3_600_000_000_000);
        usage.record_work(1000, 2000);
        assert_eq!(usage.interval_ns(), FIRST_NS);
        let points = usage.points(usage.interval_ns(), 1, 1000, 1, std::iter::empty());
        assert_eq!((points[0].busy_fraction, points[0].mean_page_ops_outstanding, points[0].mean_page_op_response_ns), (0.5, 0.5, None));
    }

    #[test]
    fn work_beyond_the_end_of_a_run_is_not_counted() {
        let mut usage = Usage::new();
        usage.begin(0);
        usage.record_work(0, 5000);
        usage.record_operation(250, 5000);
        let points = usage.points(1000, 1, 500, 2, std::iter::empty());
        assert_eq!((points[0].busy_fraction, points[0].mean_page_ops_outstanding, points[0].mean_page_op_response_ns), (0.5, 0.5, None));
    }
}
