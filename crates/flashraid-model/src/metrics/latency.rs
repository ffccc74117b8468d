//! Response times of reads, writes and both: exact moments, percentiles and the distribution.

use hdrhistogram::Histogram;

use super::Moments;
use crate::request::OpKind;

/// Significant decimal digits of the histogram. A percentile is at most 0.1 % above the exact one, and never below it.
const SIGNIFICANT_DIGITS: u8 = 3;

/// Returns the quantiles at which the distribution has a point. They divide it into hundredths, then the last hundredth into tenths, and so
/// on, four times over.
fn cdf_quantiles() -> impl Iterator<Item = f64> {
    let hundredths = (0..99).map(|i| f64::from(i) / 100.0);
    let tail = [1e2, 1e3, 1e4, 1e5].into_iter().flat_map(|scale| (0..9).map(move |i| 1.0 - f64::from(10 - i) / (scale * 10.0)));
    hundredths.chain(tail).chain([1.0])
}

/// A point of a cumulative distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CdfPoint {
    /// Response time, in nanoseconds.
    pub response_ns: u64,
    /// Share of the requests that took at most this time, 0 to 1.
    pub fraction_at_most: f64,
}

/// Response times of one kind of request.
#[derive(Debug, Clone)]
pub struct LatencyHistogram {
    moments: Moments,
    histogram: Histogram<u64>,
}

impl Default for LatencyHistogram {
    fn default() -> Self {
        // All buckets are allocated at once, so that recording never allocates. Of the half megabyte, only pages that are touched become
        // resident.
        let histogram = Histogram::new_with_bounds(1, u64::MAX / 2, SIGNIFICANT_DIGITS).expect("constant bounds that the crate allows");
        Self { moments: Moments::default(), histogram }
    }
}

impl LatencyHistogram {
    /// Records a response time, in nanoseconds.
    #[inline]
    pub fn record(&mut self, response_ns: u64) {
        self.moments.record(response_ns);
        self.histogram.saturating_record(response_ns);
    }

    /// Adds all response times of `other`.
    pub fn add_all(&mut self, other: &Self) {
        self.moments.add(&other.moments);
        self.histogram.add(&other.histogram).expect("histograms of equal bounds");
    }

    /// Returns the statistical moments of the response times (count, mean, variance, and so on), which are exact. Times are in
    /// nanoseconds.
    #[must_use]
    pub fn moments(&self) -> &Moments {
        &self.moments
    }

    /// Returns the response time that the given share (0 to 1) of the requests did not exceed, in nanoseconds; `None` without requests.
    ///
    /// The value exceeds the exact one by at most 0.1 %. The least and the greatest response time are exact.
    #[must_use]
    pub fn quantile_ns(&self, quantile: f64) -> Option<u64> {
        let (min, max) = (self.moments.min()?, self.moments.max()?);
        Some(self.histogram.value_at_quantile(quantile).clamp(min, max))
    }

    /// Returns the cumulative distribution at no more than 205 points, which are dense where percentiles are usually read.
    ///
    /// If several of these points fall on one response time, the first and the last of them are kept, and the greatest value comes last.
    /// Response times exceed the exact ones by at most 0.1 %, and their fractions are exact.
    #[must_use]
    pub fn cumulative_distribution(&self) -> Vec<CdfPoint> {
        let (Some(min), Some(max)) = (self.moments.min(), self.moments.max()) else { return Vec::new() };
        let total = self.moments.count() as f64;
        let mut points = vec![CdfPoint { response_ns: min, fraction_at_most: 0.0 }];
        let mut quantiles = cdf_quantiles().peekable();
        let mut counted = 0;
        let mut before: Option<CdfPoint> = None;
        for bucket in self.histogram.iter_recorded() {
            counted += bucket.count_at_value();
            let fraction = counted as f64 / total;
            let mut reached = 0;
            while quantiles.next_if(|&quantile| quantile <= fraction).is_some() {
                reached += 1;
            }
            let point = CdfPoint {
                response_ns: self.histogram.highest_equivalent(bucket.value_iterated_to()).min(max),
                fraction_at_most: fraction,
            };
            if reached > 1 {
                // A jump over several quantiles needs a point at its lower end, too.
                points.extend(before.filter(|before| points.last().is_some_and(|last| last.fraction_at_most < before.fraction_at_most)));
            }
            if reached > 0 {
                points.push(point);
            }
            before = Some(point);
        }
        points
    }
}

/// Records response times of reads and of writes.
#[derive(Debug, Clone, Default)]
pub(super) struct LatencyRecorder {
    read: LatencyHistogram,
    write: LatencyHistogram,
}

impl LatencyRecorder {
    pub(super) fn count(&self) -> u64 {
        self.read.moments().count() + self.write.moments().count()
    }

    #[inline]
    pub(super) fn record(&mut self, kind: OpKind, response_ns: u64) {
        match kind {
            OpKind::Read => self.read.record(response_ns),
            OpKind::Write => self.write.record(response_ns),
            // Trims and flushes move no data and have no response times here.
            OpKind::Trim | OpKind::Flush => {}
        }
    }

    pub(super) fn finish(self) -> ResponseTimes {
        let mut all = self.read.clone();
        all.add_all(&self.write);
        ResponseTimes { all, reads: self.read, writes: self.write }
    }
}

/// Response times of a run.
#[derive(Debug, Clone)]
pub struct ResponseTimes {
    /// Response times of reads and writes together.
    pub all: LatencyHistogram,
    /// Response times of reads.
    pub reads: LatencyHistogram,
    /// Response times of writes.
    pub writes: LatencyHistogram,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> LatencyHistogram {
        let mut latency = LatencyHistogram::default();
        values.iter().for_each(|&value| latency.record(value));
        latency
    }

    /// Finds the value of rank ⌈q·n⌉ by sorting.
    fn exact_quantile(values: &[u64], quantile: f64) -> u64 {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        let rank = (quantile * sorted.len() as f64).ceil() as usize;
        sorted[rank.clamp(1, sorted.len()) - 1]
    }

    #[test]
    fn without_requests_nothing_is_defined() {
        let latency = LatencyHistogram::default();
        assert_eq!(latency.quantile_ns(0.5), None);
        assert!(latency.cumulative_distribution().is_empty());
    }

    #[test]
    fn a_single_request_is_every_percentile() {
        let latency = of(&[123_456_789]);
        for quantile in [0.0, 0.5, 0.9999, 1.0] {
            assert_eq!(latency.quantile_ns(quantile), Some(123_456_789));
        }
        let expected =
            [CdfPoint { response_ns: 123_456_789, fraction_at_most: 0.0 }, CdfPoint { response_ns: 123_456_789, fraction_at_most: 1.0 }];
        assert_eq!(latency.cumulative_distribution(), expected);
    }

    #[test]
    fn extreme_times_are_taken() {
        let latency = of(&[0, u64::MAX]);
        assert_eq!((latency.moments().min(), latency.moments().max()), (Some(0), Some(u64::MAX)));
        assert_eq!(latency.quantile_ns(0.5), Some(0));
    }

    #[test]
    fn all_is_reads_and_writes() {
        let mut recorder = LatencyRecorder::default();
        recorder.record(OpKind::Read, 100);
        recorder.record(OpKind::Write, 300);
        recorder.record(OpKind::Write, 500);
        let times = recorder.finish();
        assert_eq!((times.reads.moments().count(), times.writes.moments().count()), (1, 2));
        assert_eq!(times.all.moments().mean(), Some(300.0));
        assert_eq!(times.all.quantile_ns(0.5), Some(300));
    }

    proptest! {
        #[test]
        fn quantiles_agree_with_sorting(values in prop::collection::vec(0u64..10_000_000_000, 1..400)) {
            let latency = of(&values);
            for quantile in [0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 1.0] {
                let (got, exact) = (latency.quantile_ns(quantile).unwrap(), exact_quantile(&values, quantile));
                prop_assert!(got >= exact && got as f64 <= exact as f64 * 1.001 + 1.0, "{} is {}, exact {}", quantile, got, exact);
            }
        }

        #[test]
        fn cdf_agrees_with_counting(values in prop::collection::vec(1u64..100_000_000, 1..400)) {
            let points = of(&values).cumulative_distribution();
            prop_assert!(points.len() <= 205);
            prop_assert_eq!(points.last().unwrap(), &CdfPoint { response_ns: *values.iter().max().unwrap(), fraction_at_most: 1.0 });
            prop_assert!(points.windows(2).all(|pair| pair[0].response_ns <= pair[1].response_ns && pair[0].fraction_at_most < pair[1].fraction_at_most));
            for point in &points[1..] {
                let not_longer = values.iter().filter(|&&value| value <= point.response_ns).count();
                prop_assert_eq!(point.fraction_at_most, not_longer as f64 / values.len() as f64);
            }
        }
    }
}
