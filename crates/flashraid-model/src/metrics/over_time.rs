//! Series over time: requests, response times and their percentiles, outstanding requests and write amplification, interval by interval.
//! Samples of the write cache and of rebuilding are added.
//!
//! Intervals begin short and become twice as long whenever there are too many, so that memory is bounded however long the run is. At the
//! end they become longer until each has enough requests.

use super::counts::Counts;
use crate::TimeNs;
use crate::request::OpKind;

/// Maximum number of intervals that are kept. A longer run merges pairs of them, so that it has at least half as many.
const INTERVALS_MAX: usize = 400;
/// Length of the intervals at first, in nanoseconds.
const FIRST_NS: u64 = 1000;

/// Minimum number of intervals of a run. To reach [`REQUESTS_MIN`], intervals are not merged below this number.
const INTERVALS_MIN: u64 = 20;
/// Mean number of requests that an interval should have, so that it has a 99th percentile.
const REQUESTS_MIN: u64 = 100;

/// Sums over an interval. Requests and their bytes count in the interval in which they end.
#[derive(Debug, Clone, Default)]
struct Interval {
    reads: u64,
    writes: u64,
    response_ns: u128,
    max_ns: u64,
    written_bytes: u64,
    pages_moved: u64,
    /// Number of requests that arrived, minus the number that ended. From the next interval on, each difference counts as outstanding for
    /// the whole length.
    arrived: u64,
    ended: u64,
    /// Time that requests were outstanding in this interval: the rest of the interval after each arrival, minus the rest after each end.
    outstanding_ns: i128,
    counts: Counts,
    sample: Option<ArrayStateSample>,
}

/// State of the array, sampled once in each interval.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ArrayStateSample {
    /// Number of pages in the write cache.
    pub cached_pages: u64,
    /// Number of strips of failed members that have been rebuilt.
    pub strips_rebuilt: u64,
}

/// Records the results of the intervals.
#[derive(Debug, Clone)]
pub(super) struct Recorder {
    from_ns: TimeNs,
    interval_ns: u64,
    intervals: Vec<Interval>,
    /// Intervals of the latest arrival and of the latest end. The next ones mostly fall into the same interval, and then need no division.
    arrivals: Place,
    ends: Place,
}

/// An interval, given by its index and limits.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    index: usize,
    start_ns: TimeNs,
    end_ns: TimeNs,
}

impl Place {
    #[inline]
    fn holds(&self, at: TimeNs) -> bool {
        self.start_ns <= at && at < self.end_ns
    }
}

impl Recorder {
    pub(super) fn new(from_ns: TimeNs) -> Self {
        Self {
            from_ns,
            interval_ns: FIRST_NS,
            intervals: Vec::with_capacity(INTERVALS_MAX),
            arrivals: Place::default(),
            ends: Place::default(),
        }
    }

    /// Returns the index of the interval in which a time lies. Times before the beginning belong to the first interval.
    #[inline]
    fn at(&mut self, at: TimeNs) -> usize {
        let since = at.saturating_sub(self.from_ns);
        while since / self.interval_ns >= INTERVALS_MAX as u64 {
            self.double();
        }
        let index = (since / self.interval_ns) as usize;
        if index >= self.intervals.len() {
            self.intervals.resize_with(index + 1, Interval::default);
        }
        index
    }

    /// Returns the interval in which a time lies, with its limits.
    fn place(&mut self, at: TimeNs) -> Place {
        let index = self.at(at);
        let start_ns = self.from_ns + index as u64 * self.interval_ns;
        Place { index, start_ns, end_ns: start_ns.saturating_add(self.interval_ns) }
    }

    #[cold]
    fn double(&mut self) {
        (self.arrivals, self.ends) = (Place::default(), Place::default());
        let mut intervals = std::mem::take(&mut self.intervals).into_iter();
        self.intervals.reserve(INTERVALS_MAX);
        while let Some(mut first) = intervals.next() {
            let second = intervals.next().unwrap_or_default();
            first.reads += second.reads;
            first.writes += second.writes;
            first.response_ns += second.response_ns;
            first.max_ns = first.max_ns.max(second.max_ns);
            first.written_bytes += second.written_bytes;
            first.pages_moved += second.pages_moved;
            // Requests that arrived in the first half were outstanding during the whole second half.
            let there = i128::from(first.arrived) - i128::from(first.ended);
            first.outstanding_ns += second.outstanding_ns + there * i128::from(self.interval_ns);
            first.arrived += second.arrived;
            first.ended += second.ended;
            first.counts.add(&second.counts);
            first.sample = second.sample.or(first.sample);
            self.intervals.push(first);
        }
        self.interval_ns *= 2;
    }

    /// Records a read or write that is done, with the bucket of its response time.
    #[inline]
    pub(super) fn record_request(&mut self, kind: OpKind, arrival_ns: TimeNs, done_ns: TimeNs, bytes: u64, bucket: usize) {
        let (from_ns, to_ns) = (arrival_ns.max(self.from_ns), done_ns.max(self.from_ns));
        // The later time comes first, because it may double the intervals.
        if !self.ends.holds(to_ns) {
            self.ends = self.place(to_ns);
        }
        if !self.arrivals.holds(from_ns) {
            self.arrivals = self.place(from_ns);
        }
        let (arrival, done) = (self.arrivals, self.ends);
        let interval = &mut self.intervals[arrival.index];
        interval.arrived += 1;
        interval.outstanding_ns += i128::from(arrival.end_ns - from_ns);
        let interval = &mut self.intervals[done.index];
        interval.ended += 1;
        interval.outstanding_ns -= i128::from(done.end_ns - to_ns);
        match kind {
            OpKind::Write => {
                interval.writes += 1;
                interval.written_bytes += bytes;
            }
            _ => interval.reads += 1,
        }
        let response_ns = done_ns.saturating_sub(arrival_ns);
        interval.response_ns += u128::from(response_ns);
        interval.max_ns = interval.max_ns.max(response_ns);
        interval.counts.record(bucket);
    }

    /// Records pages that collection has moved.
    #[inline]
    pub(super) fn moved(&mut self, at: TimeNs, pages: u64) {
        if at >= self.from_ns {
            let index = self.at(at);
            self.intervals[index].pages_moved += pages;
        }
    }

    /// Returns true if the interval of `now` has no sample yet.
    #[inline]
    pub(super) fn wants_sample(&self, now: TimeNs) -> bool {
        let index = now.saturating_sub(self.from_ns) / self.interval_ns;
        self.intervals.get(index as usize).is_none_or(|interval| interval.sample.is_none())
    }

    pub(super) fn sample(&mut self, now: TimeNs, sample: ArrayStateSample) {
        let index = self.at(now);
        self.intervals[index].sample = Some(sample);
    }

    /// Makes intervals at least `interval_ns` long.
    pub(super) fn lengthen(&mut self, interval_ns: u64) {
        while self.interval_ns < interval_ns {
            self.double();
        }
    }

    /// Returns the intervals up to the end. Requests done later are left out.
    pub(super) fn finish(&mut self, end_ns: TimeNs) -> ResultsOverTime {
        let requests: u64 = self.intervals.iter().map(|interval| interval.reads + interval.writes).sum();
        let intervals_max = (requests / REQUESTS_MIN).max(INTERVALS_MIN);
        while self.intervals.len() as u64 > intervals_max {
            self.double();
        }
        let mut outstanding = 0i128;
        let point = |(index, interval): (usize, &Interval)| {
            let from_ns = self.from_ns + index as u64 * self.interval_ns;
            // The end of the run cuts off the last interval.
            let length_ns = self.interval_ns.min(end_ns.saturating_sub(from_ns));
            let before = outstanding;
            outstanding += i128::from(interval.arrived) - i128::from(interval.ended);
            // No request is outstanding beyond the end, so the shorter length takes no time away.
            let there_ns = before * i128::from(self.interval_ns) + interval.outstanding_ns;
            let requests = interval.reads + interval.writes;
            IntervalResults {
                from_ns,
                length_ns,
                reads: interval.reads,
                writes: interval.writes,
                mean_response_ns: (requests > 0).then(|| interval.response_ns as f64 / requests as f64),
                p50_response_ns: interval.quantile_ns(requests, 50, 100),
                p99_response_ns: interval.quantile_ns(requests, 99, 100),
                max_response_ns: (requests > 0).then_some(interval.max_ns),
                mean_outstanding_requests: if length_ns > 0 { there_ns as f64 / length_ns as f64 } else { 0.0 },
                written_bytes: interval.written_bytes,
                pages_moved: interval.pages_moved,
                state_sample: interval.sample,
            }
        };
        let points = self.intervals.iter().enumerate().map(point).filter(|point| point.from_ns < end_ns).collect();
        ResultsOverTime { interval_ns: self.interval_ns, points }
    }
}

impl Interval {
    /// Returns the response time of rank ⌈n · share / of⌉ in nanoseconds. It exceeds the exact value by at most 1/64.
    fn quantile_ns(&self, requests: u64, share: u64, of: u64) -> Option<u64> {
        Some(self.counts.of_rank_ns((requests * share).div_ceil(of))?.min(self.max_ns))
    }
}

/// Results of a run as a series over time, one point for each interval of the measured time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ResultsOverTime {
    /// Length of an interval, in nanoseconds.
    pub interval_ns: u64,
    /// Results of the intervals of the measured time, in order of time.
    pub points: Vec<IntervalResults>,
}

/// Results of one interval of the measured time, as a point of a series over time. They include requests, response times, pages moved,
/// and a sample of the array's state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntervalResults {
    /// Time at which the interval begins, in nanoseconds.
    pub from_ns: TimeNs,
    /// Length of the interval, in nanoseconds. The end of the run cuts off the last one.
    pub length_ns: u64,
    /// Number of reads done in the interval.
    pub reads: u64,
    /// Number of writes done in the interval.
    pub writes: u64,
    /// Mean response time of the reads and writes done in the interval, in nanoseconds. This and the percentiles are `None` without
    /// requests.
    pub mean_response_ns: Option<f64>,
    /// Median of the response times, in nanoseconds. It exceeds the exact value by at most 1/64.
    pub p50_response_ns: Option<u64>,
    /// The 99th percentile of the response times, in nanoseconds. It exceeds the exact value by at most 1/64.
    pub p99_response_ns: Option<u64>,
    /// The longest response time, in nanoseconds.
    pub max_response_ns: Option<u64>,
    /// Mean number of outstanding reads and writes: those that had arrived and not ended.
    pub mean_outstanding_requests: f64,
    /// Number of bytes of the writes done in the interval.
    pub written_bytes: u64,
    /// Number of pages moved by collections that began in the interval.
    pub pages_moved: u64,
    /// Sample of the array's state (pages in the write cache, strips rebuilt), the last one taken in the interval. It is `None` if no
    /// sample was taken in the interval.
    pub state_sample: Option<ArrayStateSample>,
}

#[cfg(test)]
mod tests {
    use super::super::breakdown::bucket_of;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_plain_counting(
            from_ns in 0u64..5_000,
            requests in prop::collection::vec((0u64..3_000_000, 1u64..400_000, any::<bool>()), 1..120),
        ) {
            let mut over_time = Recorder::new(from_ns);
            let mut requests: Vec<(u64, u64, bool)> =
                requests.into_iter().map(|(at, length, write)| (from_ns + at, from_ns + at + length, write)).collect();
            requests.sort_by_key(|request| request.1);
            for &(arrival, done, write) in &requests {
                over_time.record_request(if write { OpKind::Write } else { OpKind::Read }, arrival, done, 4096, bucket_of(done - arrival));
            }
            let end_ns = requests.last().unwrap().1 + 1;
            let result = over_time.finish(end_ns);
            prop_assert!(result.points.len() <= INTERVALS_MAX && result.interval_ns.is_multiple_of(FIRST_NS));
            for point in &result.points {
                let span = point.from_ns..point.from_ns + result.interval_ns;
                let done: Vec<_> = requests.iter().filter(|request| span.contains(&request.1)).collect();
                prop_assert_eq!(point.reads + point.writes, done.len() as u64);
                prop_assert_eq!(point.written_bytes, 4096 * done.iter().filter(|request| request.2).count() as u64);
                let there: u64 = requests.iter().map(|&(arrival, done, _)| done.min(span.end).saturating_sub(arrival.max(span.start))).sum();
                let expected = there as f64 / point.length_ns as f64;
                prop_assert!((point.mean_outstanding_requests - expected).abs() < 1e-6 * expected.max(1.0), "{} {}", point.mean_outstanding_requests, expected);
                let mut times: Vec<u64> = done.iter().map(|request| request.1 - request.0).collect();
                times.sort_unstable();
                prop_assert_eq!(point.max_response_ns, times.last().copied());
                for (got, share) in [(point.p50_response_ns, 50), (point.p99_response_ns, 99)] {
                    let exact = (!times.is_empty()).then(|| times[(times.len() * share).div_ceil(100) - 1]);
                    prop_assert_eq!(got.is_some(), exact.is_some());
                    if let (Some(got), Some(exact)) = (got, exact) {
                        prop_assert!(got >= exact && got <= exact + exact / 64 + 1, "{} {}", got, exact);
                    }
                }
            }
        }
    }

    #[test]
    fn intervals_can_be_made_longer() {
        let mut over_time = Recorder::new(0);
        over_time.record_request(OpKind::Read, 0, 1500, 4096, bucket_of(1500));
        over_time.lengthen(3000);
        let result = over_time.finish(5000);
        assert_eq!((result.interval_ns, result.points.len(), result.points[0].reads), (4000, 1, 1));
        assert!((result.points[0].mean_outstanding_requests - 1500.0 / 4000.0).abs() < 1e-12);
    }

    #[test]
    fn the_last_sample_of_an_interval_stays() {
        let mut over_time = Recorder::new(0);
        let sample = |cached_pages| ArrayStateSample { cached_pages, strips_rebuilt: 0 };
        assert!(over_time.wants_sample(0));
        over_time.sample(0, sample(1));
        assert!(!over_time.wants_sample(999) && over_time.wants_sample(1000));
        over_time.sample(1000, sample(2));
        // This moment is so late that intervals are merged.
        over_time.sample(INTERVALS_MAX as u64 * FIRST_NS, sample(3));
        let result = over_time.finish(u64::MAX);
        assert_eq!((result.points.len(), result.points[0].state_sample), (13, Some(sample(2))));
        assert_eq!(result.points.last().unwrap().state_sample, Some(sample(3)));
    }
}
