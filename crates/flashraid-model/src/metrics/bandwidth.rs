//! Bandwidth: bytes done per interval of time, in MB/s (10^6 bytes per second).
//!
//! The bytes of a request belong to the interval in which its last byte was done. An interval without a completion counts as 0.
//!
//! The end of the run cuts off the last interval, so mean, deviation and density leave it out. If it is the only one, the mean is its bytes
//! over its own length, with a deviation of 0.

use super::Moments;
use crate::TimeNs;

/// Maximum number of intervals that are kept. A longer run merges pairs of intervals as often as needed, so that memory stays bounded (8
/// MiB).
const INTERVALS_MAX: usize = 1 << 20;
/// Maximum number of points in the series of a report. A longer series is averaged over whole groups of intervals.
const SERIES_MAX: usize = 2_000;
/// Width of a bin of the density, in standard deviations.
const DENSITY_BIN: f64 = 0.25;
/// The density covers −5 to 5 standard deviations. Values beyond are counted in the outermost bins.
const DENSITY_BINS: usize = 40;

/// Records the bytes done in each interval.
#[derive(Debug, Clone)]
pub(super) struct BandwidthRecorder {
    from_ns: TimeNs,
    initial_interval_ns: u64,
    interval_ns: u64,
    bytes: Vec<u64>,
    longest_request_bytes: u64,
    /// Index and limits of the interval of the latest completion. Most completions fall into the same interval as the one before, and then
    /// need no division.
    current: usize,
    current_start_ns: TimeNs,
    current_end_ns: TimeNs,
}

impl BandwidthRecorder {
    pub(super) fn new(from_ns: TimeNs, interval_ns: u64) -> Self {
        let interval_ns = interval_ns.max(1);
        let current_end_ns = from_ns.saturating_add(interval_ns);
        Self {
            from_ns,
            initial_interval_ns: interval_ns,
            interval_ns,
            bytes: vec![0],
            longest_request_bytes: 0,
            current: 0,
            current_start_ns: from_ns,
            current_end_ns,
        }
    }

    pub(super) fn initial_interval_ns(&self) -> u64 {
        self.initial_interval_ns
    }

    #[inline]
    pub(super) fn record(&mut self, done_ns: TimeNs, length_bytes: u64) {
        if done_ns < self.current_start_ns || done_ns >= self.current_end_ns {
            if done_ns < self.from_ns {
                return;
            }
            self.enter(done_ns);
        }
        self.bytes[self.current] += length_bytes;
        self.longest_request_bytes = self.longest_request_bytes.max(length_bytes);
    }

    #[cold]
    fn enter(&mut self, time_ns: TimeNs) {
        let since = time_ns - self.from_ns;
        while since / self.interval_ns >= INTERVALS_MAX as u64 {
            self.interval_ns = self.interval_ns.saturating_mul(2);
            self.bytes = self.bytes.chunks(2).map(|pair| pair.iter().sum()).collect();
        }
        let index = since / self.interval_ns;
        self.current = index as usize;
        self.current_start_ns = self.from_ns + index * self.interval_ns;
        self.current_end_ns = self.current_start_ns.saturating_add(self.interval_ns);
        if self.bytes.len() <= self.current {
            self.bytes.resize(self.current + 1, 0);
        }
    }

    /// Returns the summary up to `end_ns`. The overall bandwidth divides all bytes by `load_ns`.
    pub(super) fn finish(mut self, end_ns: TimeNs, load_ns: u64) -> BandwidthSummary {
        let end_ns = end_ns.max(self.from_ns);
        self.enter(end_ns); // Adds the idle intervals up to the end, and merges intervals if the end is far away.
        let total_bytes = self.bytes.iter().map(|&bytes| u128::from(bytes)).sum();
        let length_ns = end_ns - self.from_ns;
        let whole = (length_ns / self.interval_ns) as usize;
        let mut summary = BandwidthSummary {
            interval_ns: self.interval_ns,
            whole_intervals: whole as u64,
            total_bytes,
            longest_request_bytes: self.longest_request_bytes,
            overall_mb_s: (load_ns > 0).then(|| mb_per_s(total_bytes as f64, load_ns)),
            mean_mb_s: None,
            stddev_mb_s: None,
            series: BandwidthSeries { interval_ns: self.interval_ns, mb_s: Vec::new() },
            z_score_density: Vec::new(),
        };
        if whole == 0 {
            summary.mean_mb_s = summary.overall_mb_s;
            summary.stddev_mb_s = summary.overall_mb_s.map(|_| 0.0);
            return summary;
        }
        let bytes = &self.bytes[..whole];
        let mut moments = Moments::default();
        bytes.iter().for_each(|&bytes| moments.record(bytes));
        summary.mean_mb_s = moments.mean().map(|bytes| mb_per_s(bytes, self.interval_ns));
        summary.stddev_mb_s = moments.stddev().map(|bytes| mb_per_s(bytes, self.interval_ns));
        summary.series = series(bytes, self.interval_ns);
        summary.z_score_density = z_density(bytes, &moments);
        summary
    }
}

fn mb_per_s(bytes: f64, length_ns: u64) -> f64 {
    bytes * 1e3 / length_ns as f64
}

fn series(bytes: &[u64], interval_ns: u64) -> BandwidthSeries {
    let group = bytes.len().div_ceil(SERIES_MAX);
    let interval_ns = interval_ns.saturating_mul(group as u64);
    let mb_s = bytes.chunks_exact(group).map(|group| mb_per_s(group.iter().sum::<u64>() as f64, interval_ns)).collect();
    BandwidthSeries { interval_ns, mb_s }
}

fn z_density(bytes: &[u64], moments: &Moments) -> Vec<BandwidthZScoreHistogramBin> {
    let (Some(mean), Some(stddev)) = (moments.mean(), moments.stddev().filter(|&stddev| stddev > 0.0)) else { return Vec::new() };
    let mut counts = [0u64; DENSITY_BINS];
    for &bytes in bytes {
        let bin = (bytes as f64 - mean) / stddev / DENSITY_BIN + (DENSITY_BINS / 2) as f64;
        counts[(bin.max(0.0) as usize).min(DENSITY_BINS - 1)] += 1;
    }
    let scale = bytes.len() as f64 * DENSITY_BIN;
    let centre = |bin: usize| (bin as f64 + 0.5 - (DENSITY_BINS / 2) as f64) * DENSITY_BIN;
    counts
        .iter()
        .enumerate()
        .map(|(bin, &count)| BandwidthZScoreHistogramBin { centre_z_score: centre(bin), density: count as f64 / scale })
        .collect()
}

/// Bandwidth of a run. All values are in MB/s (10^6 bytes per second).
#[derive(Debug, Clone, PartialEq)]
pub struct BandwidthSummary {
    /// Length of an interval, in nanoseconds. It is the configured length, doubled as often as needed for the run to have at most 2^20
    /// intervals.
    pub interval_ns: u64,
    /// Number of intervals that lie wholly within the measured time. Only these count for the mean, the standard deviation, the series
    /// and the probability density of the bandwidth.
    pub whole_intervals: u64,
    /// Total number of bytes done, including those of the last interval.
    pub total_bytes: u128,
    /// Length of the longest request done, in bytes.
    pub longest_request_bytes: u64,
    /// Bytes of all requests done, divided by the measured time. In a closed loop, places of the queue depth that have no more requests
    /// to send shorten the divisor (see [`MeasuredResults::rate_divisor_ns`](super::MeasuredResults::rate_divisor_ns)). The result is
    /// `None` if the divisor is 0.
    pub overall_mb_s: Option<f64>,
    /// Mean bandwidth of the intervals that lie wholly within the measured time. Without any such interval, it equals `overall_mb_s`,
    /// and may be `None`.
    pub mean_mb_s: Option<f64>,
    /// Standard deviation of the bandwidth of the intervals that lie wholly within the measured time. (The sum of the squared
    /// deviations is divided by the number of intervals.) Without any such interval, it is 0, or `None` if `overall_mb_s` is `None`.
    pub stddev_mb_s: Option<f64>,
    /// Bandwidth of the intervals in order. Beyond 2000 intervals, each point is the mean of a group, and an incomplete last group is left
    /// out.
    pub series: BandwidthSeries,
    /// Histogram of the bandwidth of the intervals, as the probability density of (x − mean)/stddev for the bandwidth x of an interval.
    /// It has 40 bins of width 0.25 from −5 to 5, and its area is 1. Values beyond fall into the outermost bins. The list is empty if
    /// the standard deviation is 0.
    ///
    /// The paper GGC shows a curve that is fitted to such a histogram in its Fig. 3.
    pub z_score_density: Vec<BandwidthZScoreHistogramBin>,
}

impl BandwidthSummary {
    /// Returns the coefficient of variation of the bandwidth of an interval: `stddev_mb_s` divided by `mean_mb_s`. It is `None` if
    /// `mean_mb_s` is 0 or `None`.
    #[must_use]
    pub fn coefficient_of_variation(&self) -> Option<f64> {
        Some(self.stddev_mb_s? / self.mean_mb_s.filter(|&mean| mean > 0.0)?)
    }
}

/// Bandwidth as a series over time.
#[derive(Debug, Clone, PartialEq)]
pub struct BandwidthSeries {
    /// Time that each point covers, in nanoseconds.
    pub interval_ns: u64,
    /// Bandwidth of every point, in MB/s.
    pub mb_s: Vec<f64>,
}

/// One bin of the histogram [`BandwidthSummary::z_score_density`]. The histogram shows the probability density of the bandwidth of an
/// interval, in standard deviations from the mean (the z-score).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BandwidthZScoreHistogramBin {
    /// Centre of the bin, in standard deviations from the mean bandwidth.
    pub centre_z_score: f64,
    /// Share of all intervals whose bandwidth lies in the bin, divided by the width of the bin in standard deviations.
    pub density: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: u64 = 1_000_000_000;

    fn of(from_ns: u64, interval_ns: u64, end_ns: u64, completions: &[(u64, u64)]) -> BandwidthSummary {
        let mut recorder = BandwidthRecorder::new(from_ns, interval_ns);
        completions.iter().for_each(|&(done_ns, bytes)| recorder.record(done_ns, bytes));
        recorder.finish(end_ns, end_ns.saturating_sub(from_ns))
    }

    #[test]
    fn idle_intervals_count_and_the_cut_one_does_not() {
        let summary = of(0, SECOND, 3 * SECOND + SECOND / 2, &[(0, 3_000_000), (2 * SECOND, 3_000_000), (3 * SECOND, 50_000_000)]);
        assert_eq!(summary.series.mb_s, [3.0, 0.0, 3.0]);
        assert_eq!((summary.mean_mb_s, summary.whole_intervals), (Some(2.0), 3));
        assert!((summary.stddev_mb_s.unwrap() - f64::sqrt(2.0)).abs() < 1e-12);
        assert_eq!((summary.total_bytes, summary.overall_mb_s), (56_000_000, Some(16.0)));
    }

    #[test]
    fn idle_time_before_the_end_counts() {
        let summary = of(0, SECOND, 4 * SECOND, &[(10, 8_000_000)]);
        assert_eq!((summary.mean_mb_s, summary.whole_intervals), (Some(2.0), 4));
    }

    #[test]
    fn a_run_shorter_than_an_interval_has_its_overall_mean() {
        let summary = of(0, SECOND, SECOND / 4, &[(5, 1_000_000), (SECOND / 4, 1_000_000)]);
        assert_eq!((summary.mean_mb_s, summary.stddev_mb_s, summary.coefficient_of_variation()), (Some(8.0), Some(0.0), Some(0.0)));
        assert!(summary.series.mb_s.is_empty() && summary.z_score_density.is_empty());
    }

    #[test]
    fn a_run_of_no_length_has_no_bandwidth() {
        let summary = of(7, SECOND, 7, &[]);
        assert_eq!(
            (summary.overall_mb_s, summary.mean_mb_s, summary.stddev_mb_s, summary.coefficient_of_variation()),
            (None, None, None, None)
        );
    }

    #[test]
    fn completions_before_the_beginning_are_left_out() {
        assert_eq!(of(SECOND, SECOND, 2 * SECOND, &[(SECOND - 1, 9), (SECOND, 1)]).total_bytes, 1);
    }

    #[test]
    fn a_very_long_run_doubles_its_intervals() {
        let summary = of(0, 1, u64::MAX, &[(3, 7), (u64::MAX - 1, 5)]);
        assert_eq!(summary.total_bytes, 12);
        assert!(summary.interval_ns.is_power_of_two() && summary.whole_intervals < INTERVALS_MAX as u64);
        assert!(summary.series.mb_s.len() <= SERIES_MAX);
        let in_series: f64 = summary.series.mb_s.iter().map(|mb_s| mb_s * summary.series.interval_ns as f64 / 1e3).sum();
        assert!((in_series - 7.0).abs() < 1e-6);
    }

    #[test]
    fn merging_keeps_the_bytes_where_they_were() {
        let end_ns = INTERVALS_MAX as u64 * 3;
        let summary = of(0, 1, end_ns, &[(0, 1), (1, 2), (4, 4), (end_ns - 1, 8)]);
        assert_eq!(summary.interval_ns, 4);
        assert_eq!(summary.total_bytes, 15);
    }

    proptest! {
        #[test]
        fn agrees_with_plain_counting(
            interval_ns in 1u64..50, from_ns in 0u64..100, length_ns in 1u64..1000,
            completions in prop::collection::vec((0u64..1000, 1u64..10_000), 0..200),
        ) {
            let end_ns = from_ns + length_ns;
            let completions: Vec<_> = completions.iter().map(|&(at, bytes)| (from_ns + at % (length_ns + 1), bytes)).collect();
            let summary = of(from_ns, interval_ns, end_ns, &completions);
            let whole = length_ns / interval_ns;
            prop_assert_eq!(summary.whole_intervals, whole);
            prop_assert_eq!(summary.total_bytes, completions.iter().map(|&(_, bytes)| u128::from(bytes)).sum::<u128>());
            prop_assume!(whole > 0);
            let naive: Vec<f64> = (0..whole)
                .map(|i| from_ns + i * interval_ns..from_ns + (i + 1) * interval_ns)
                .map(|span| completions.iter().filter(|(at, _)| span.contains(at)).map(|&(_, bytes)| bytes as f64).sum::<f64>())
                .map(|bytes| bytes / interval_ns as f64 * 1e3)
                .collect();
            let mean = naive.iter().sum::<f64>() / whole as f64;
            let stddev = (naive.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / whole as f64).sqrt();
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-6 * b.abs().max(1.0);
            prop_assert!(close(summary.mean_mb_s.unwrap(), mean));
            prop_assert!(close(summary.stddev_mb_s.unwrap(), stddev));
            prop_assert!(summary.series.mb_s.iter().zip(&naive).all(|(&a, &b)| close(a, b)));
            prop_assert_eq!(summary.series.mb_s.len(), naive.len());
            if summary.stddev_mb_s.unwrap() > 0.0 {
                let area: f64 = summary.z_score_density.iter().map(|point| point.density * DENSITY_BIN).sum();
                prop_assert!(close(area, 1.0));
                let expected_z: f64 = summary.z_score_density.iter().map(|point| point.centre_z_score * point.density * DENSITY_BIN).sum();
                prop_assert!(expected_z.abs() <= DENSITY_BIN, "the mean of z lies within a bin of 0: {}", expected_z);
            } else {
                prop_assert!(summary.z_score_density.is_empty());
            }
        }
    }
}
