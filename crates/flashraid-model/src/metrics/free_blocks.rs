//! Free blocks over time, relative to the threshold at which collection starts (PGC Fig. 11).

use crate::TimeNs;

/// Maximum number of points in a series. A longer run merges pairs of points, so that each covers twice the time.
const POINTS_MAX: usize = 256;
/// Time that a point covers at first, in nanoseconds.
const WIDTH_MIN_NS: u64 = 1_000_000;

/// Sums over the samples of one point of the series.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    min: u32,
    max: u32,
    sum: u64,
    samples: u64,
}

const EMPTY: Bucket = Bucket { min: u32::MAX, max: 0, sum: 0, samples: 0 };

impl Bucket {
    fn merge(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            sum: self.sum + other.sum,
            samples: self.samples + other.samples,
        }
    }
}

/// Records the free blocks of one member over time. Memory is constant, and the least value of each point is exact.
#[derive(Debug, Clone)]
pub(super) struct FreeBlocksRecorder {
    width_ns: u64,
    buckets: Vec<Bucket>,
    start_threshold: u32,
}

impl Default for FreeBlocksRecorder {
    fn default() -> Self {
        Self { width_ns: WIDTH_MIN_NS, buckets: Vec::new(), start_threshold: 0 }
    }
}

impl FreeBlocksRecorder {
    pub(super) fn record(&mut self, now: TimeNs, free: u32, start_threshold: u32) {
        self.start_threshold = start_threshold;
        while now / self.width_ns >= POINTS_MAX as u64 {
            self.width_ns = self.width_ns.saturating_mul(2);
            self.buckets = self.buckets.chunks(2).map(|pair| pair.iter().fold(EMPTY, |merged, &bucket| merged.merge(bucket))).collect();
        }
        let index = (now / self.width_ns) as usize;
        if self.buckets.len() <= index {
            self.buckets.resize(index + 1, EMPTY);
        }
        self.buckets[index] = self.buckets[index].merge(Bucket { min: free, max: free, sum: u64::from(free), samples: 1 });
    }

    pub(super) fn points(&self) -> Vec<FreeBlocksSeriesPoint> {
        let relative = |free: f64| if self.start_threshold > 0 { free / f64::from(self.start_threshold) } else { free };
        let point = |(index, bucket): (usize, &Bucket)| FreeBlocksSeriesPoint {
            from_ns: index as u64 * self.width_ns,
            width_ns: self.width_ns,
            pool_min_relative_to_start_threshold: relative(f64::from(bucket.min)),
            pool_mean_relative_to_start_threshold: relative(bucket.sum as f64 / bucket.samples as f64),
            pool_max_relative_to_start_threshold: relative(f64::from(bucket.max)),
        };
        self.buckets.iter().enumerate().filter(|(_, bucket)| bucket.samples > 0).map(point).collect()
    }
}

/// One point of a series over time: the least, mean and greatest number of free blocks in a member's pools of blocks during a period.
/// The free blocks of a pool (of a plane or of a die) are counted twice for each victim block. They are counted when its collection
/// begins, and just before the erase at the end.
///
/// The numbers are divided by the number of free blocks at which collection starts. If that number is 0, they are not divided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FreeBlocksSeriesPoint {
    /// Beginning of the period of time that this point of the series covers, in nanoseconds.
    pub from_ns: TimeNs,
    /// Length of the period that this point covers, in nanoseconds: 1 ms, doubled as often as needed to have at most 256 points.
    pub(crate) width_ns: u64,
    /// Least number of free blocks in a pool of blocks of the member in this point's period, relative to the threshold at which
    /// collection starts. The free blocks of a pool (of a plane or die) are counted when the collection of a block begins and when it
    /// ends.
    pub pool_min_relative_to_start_threshold: f64,
    /// Mean number of free blocks in a pool of blocks of the member in this point's period, relative to the threshold at which
    /// collection starts. The free blocks of a pool (of a plane or die) are counted when the collection of a block begins and when it
    /// ends.
    pub pool_mean_relative_to_start_threshold: f64,
    /// Greatest number of free blocks in a pool of blocks of the member in this point's period, relative to the threshold at which
    /// collection starts. The free blocks of a pool (of a plane or die) are counted when the collection of a block begins and when it
    /// ends.
    pub pool_max_relative_to_start_threshold: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn stretches_without_samples_have_no_point() {
        let mut recorder = FreeBlocksRecorder::default();
        recorder.record(0, 100, 100);
        recorder.record(MS - 1, 50, 100);
        recorder.record(2 * MS, 150, 100);
        let expected = [
            FreeBlocksSeriesPoint {
                from_ns: 0,
                width_ns: MS,
                pool_min_relative_to_start_threshold: 0.5,
                pool_mean_relative_to_start_threshold: 0.75,
                pool_max_relative_to_start_threshold: 1.0,
            },
            FreeBlocksSeriesPoint {
                from_ns: 2 * MS,
                width_ns: MS,
                pool_min_relative_to_start_threshold: 1.5,
                pool_mean_relative_to_start_threshold: 1.5,
                pool_max_relative_to_start_threshold: 1.5,
            },
        ];
        assert_eq!(recorder.points(), expected);
    }

    #[test]
    fn long_runs_keep_the_min_in_few_points() {
        let mut recorder = FreeBlocksRecorder::default();
        (0..100_000).for_each(|ms| recorder.record(ms * MS, if ms == 77_777 { 3 } else { 1000 }, 100));
        let points = recorder.points();
        assert!(points.len() <= POINTS_MAX && points.len() > POINTS_MAX / 4);
        let lowest = points.iter().find(|point| point.pool_min_relative_to_start_threshold < 1.0).unwrap();
        assert!(
            lowest.pool_min_relative_to_start_threshold == 0.03
                && lowest.from_ns <= 77_777 * MS
                && 77_777 * MS < lowest.from_ns + lowest.width_ns
        );
        assert!(points.iter().filter(|point| point.pool_min_relative_to_start_threshold < 1.0).count() == 1);
    }

    #[test]
    fn the_end_of_time_and_a_threshold_of_zero_are_taken() {
        let mut recorder = FreeBlocksRecorder::default();
        recorder.record(u64::MAX, 7, 0);
        assert_eq!(recorder.points().iter().map(|point| point.pool_mean_relative_to_start_threshold).collect::<Vec<_>>(), [7.0]);
    }
}
