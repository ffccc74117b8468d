//! Coarse histograms of response times, for percentiles of many small parts of a run.

use super::breakdown::highest_of;

/// Counts of response times by [`super::breakdown::bucket_of`], up to the longest one. A percentile exceeds the exact value by at most
/// 1/64.
#[derive(Debug, Clone, Default)]
pub(super) struct Counts(Vec<u32>);

impl Counts {
    /// Counts a response time of this bucket.
    #[inline]
    pub(super) fn record(&mut self, bucket: usize) {
        if bucket >= self.0.len() {
            self.0.resize(bucket + 1, 0);
        }
        self.0[bucket] += 1;
    }

    /// Adds all counts of another histogram.
    pub(super) fn add(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(sum, count)| *sum += count);
    }

    /// Returns the response time with this rank, counted from 1 for the shortest, in nanoseconds. It is `None` if there are fewer response
    /// times.
    pub(super) fn of_rank_ns(&self, rank: u64) -> Option<u64> {
        let mut counted = 0;
        let bucket = self.0.iter().position(|count| {
            counted += u64::from(*count);
            counted >= rank && *count > 0
        })?;
        Some(highest_of(bucket))
    }
}
