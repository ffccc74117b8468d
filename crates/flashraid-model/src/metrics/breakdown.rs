//! Response times divided into their causes, summed over all requests and over the slowest ones.
//!
//! Sums are kept by response time, in buckets no wider than a 64th of their lower limit. From them, the sums over the slowest requests can
//! be computed for any share, in bounded memory and whatever the order of recording. Buckets that lie wholly among the slowest are exact.
//! From the bucket at the edge, the missing requests count with the mean of that bucket.

use crate::events::OperationTimeParts;

/// Binary logarithm of the number of buckets for each doubling of the response time.
const SUB_BITS: u32 = 6;
const SUBS: u64 = 1 << SUB_BITS;
/// Number of buckets that cover all of `u64`.
const BUCKETS: usize = ((64 - SUB_BITS as usize) + 1) << SUB_BITS;
/// Names of the causes of response time, in the order of reports.
pub const RESPONSE_TIME_CAUSE_NAMES: [&str; 7] = ["queue", "collection", "parity", "cache", "transfer", "flash", "other"];

/// Returns the parts into which a response time is divided by cause, in nanoseconds and in the order of [`RESPONSE_TIME_CAUSE_NAMES`].
#[must_use]
pub fn times_ns_by_cause(time: &OperationTimeParts) -> [u64; 7] {
    let OperationTimeParts { collection_ns, queue_ns, parity_ns, cache_ns, transfer_ns, flash_ns, other_ns } = *time;
    [queue_ns, collection_ns, parity_ns, cache_ns, transfer_ns, flash_ns, other_ns]
}

/// Returns the index of the bucket for a response time. Each time below [`SUBS`] has its own bucket; above, [`SUBS`] buckets cover each
/// doubling.
#[inline]
pub(super) fn bucket_of(response_ns: u64) -> usize {
    let shift = (63 - (response_ns | SUBS).leading_zeros()) - SUB_BITS;
    ((u64::from(shift) << SUB_BITS) + (response_ns >> shift)) as usize
}

/// Returns the longest response time that falls into a bucket.
pub(super) fn highest_of(bucket: usize) -> u64 {
    let (row, sub) = (bucket as u64 >> SUB_BITS, bucket as u64 & (SUBS - 1));
    match row {
        0 => sub,
        row => ((SUBS + sub) << (row - 1)) + ((1 << (row - 1)) - 1),
    }
}

/// Sums over requests of similar response time. A bucket has 64 bytes, one line of the processor's cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(align(64))]
struct Bucket {
    count: u64,
    parts_ns: [u64; 7],
}

/// Records the response times of requests, divided into their causes.
#[derive(Debug, Clone)]
pub(super) struct Breakdown {
    /// The buckets by response time. The operating system gives no memory to buckets that are never touched.
    buckets: Vec<Bucket>,
    /// Amounts that no longer fitted into the sums of a bucket, with the index of that bucket. It is empty unless sums exceed 2^63.
    carried: Vec<(usize, [u128; 7])>,
}

impl Default for Breakdown {
    fn default() -> Self {
        Self { buckets: vec![Bucket::default(); BUCKETS], carried: Vec::new() }
    }
}

impl Breakdown {
    /// Adds the parts of a request whose response time lies in bucket `index`.
    #[inline]
    pub(super) fn record(&mut self, index: usize, time: &OperationTimeParts) {
        let bucket = &mut self.buckets[index];
        bucket.count += 1;
        let mut all_bits = 0;
        for (sum, part) in bucket.parts_ns.iter_mut().zip(times_ns_by_cause(time)) {
            // A part is at most 2^62 (the last moment of simulated time), and a sum that passes 2^63 is moved to `carried` at once.
            *sum += part;
            all_bits |= *sum;
        }
        if all_bits >> 63 != 0 {
            self.carry(index);
        }
    }

    #[cold]
    fn carry(&mut self, index: usize) {
        let parts = std::mem::take(&mut self.buckets[index].parts_ns).map(u128::from);
        match self.carried.iter_mut().find(|(carried, _)| *carried == index) {
            Some((_, sums)) => sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part),
            None => self.carried.push((index, parts)),
        }
    }

    pub(super) fn finish(&self) -> ResponseHistogramWithCauses {
        let mut buckets = Vec::new();
        for (index, bucket) in self.buckets.iter().enumerate().filter(|(_, bucket)| bucket.count > 0) {
            let mut parts_ns = bucket.parts_ns.map(u128::from);
            if let Some((_, carried)) = self.carried.iter().find(|(carried, _)| *carried == index) {
                parts_ns.iter_mut().zip(carried).for_each(|(sum, part)| *sum += part);
            }
            buckets.push((bucket.count, parts_ns));
        }
        ResponseHistogramWithCauses { buckets }
    }
}

/// Histogram of response times, with their causes. Each bucket contains the number of its requests. It also contains, for each cause,
/// the sum of the time that these requests spent on it. From these sums, means over the slowest requests can be computed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResponseHistogramWithCauses {
    /// Number of requests in each bucket and sums of their times by cause in nanoseconds, in the order of [`RESPONSE_TIME_CAUSE_NAMES`].
    buckets: Vec<(u64, [u128; 7])>,
}

impl ResponseHistogramWithCauses {
    /// Returns the mean time of each cause over all requests, in nanoseconds and in the order of [`RESPONSE_TIME_CAUSE_NAMES`]; `None`
    /// without requests.
    #[must_use]
    pub fn mean_ns_by_cause(&self) -> Option<[f64; 7]> {
        self.mean_ns_by_cause_among_slowest(1, 1)
    }

    /// Returns the mean time of each cause over the slowest `⌈n · numerator / denominator⌉` of n requests, in nanoseconds and in the order
    /// of [`RESPONSE_TIME_CAUSE_NAMES`].
    #[must_use]
    pub fn mean_ns_by_cause_among_slowest(&self, numerator: u64, denominator: u64) -> Option<[f64; 7]> {
        let all: u64 = self.buckets.iter().map(|(count, _)| count).sum();
        let wanted = (u128::from(all) * u128::from(numerator)).div_ceil(u128::from(denominator)) as u64;
        if wanted == 0 {
            return None;
        }
        let (mut left, mut sums, mut edge) = (wanted, [0u128; 7], [0.0; 7]);
        for (count, parts_ns) in self.buckets.iter().rev() {
            if *count <= left {
                sums.iter_mut().zip(parts_ns).for_each(|(sum, part)| *sum += part);
                left -= count;
            } else {
                edge = parts_ns.map(|part| part as f64 * left as f64 / *count as f64);
                left = 0;
            }
            if left == 0 {
                break;
            }
        }
        Some(std::array::from_fn(|part| (sums[part] as f64 + edge[part]) / wanted as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(requests: &[[u64; 7]]) -> ResponseHistogramWithCauses {
        let mut breakdown = Breakdown::default();
        for [queue_ns, collection_ns, parity_ns, cache_ns, transfer_ns, flash_ns, other_ns] in requests.iter().copied() {
            let time = OperationTimeParts { collection_ns, queue_ns, parity_ns, cache_ns, transfer_ns, flash_ns, other_ns };
            breakdown.record(bucket_of(time.total_ns()), &time);
        }
        breakdown.finish()
    }

    #[test]
    fn buckets_follow_each_other_without_a_gap() {
        let mut before = 0;
        for ns in 0..20_000 {
            let bucket = bucket_of(ns);
            assert!(bucket == before || bucket == before + 1, "{ns}");
            before = bucket;
        }
        for ns in (14..63).map(|shift| (1u64 << shift) + (1 << (shift - 3)) + 1) {
            // The longest response time of a bucket falls into it, and one nanosecond more does not.
            let (bucket, highest) = (bucket_of(ns), highest_of(bucket_of(ns)));
            assert!(highest >= ns && bucket_of(highest) == bucket && bucket_of(highest + 1) == bucket + 1, "{ns}");
        }
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
        assert_eq!(
            (bucket_of(0), bucket_of(63), bucket_of(64), bucket_of(127), bucket_of(128), bucket_of(129)),
            (0, 63, 64, 127, 128, 128)
        );
    }

    #[test]
    fn without_requests_nothing_is_defined() {
        assert_eq!(of(&[]).mean_ns_by_cause(), None);
        assert_eq!(of(&[]).mean_ns_by_cause_among_slowest(1, 10), None);
    }

    #[test]
    fn sums_that_no_bucket_holds_are_kept() {
        let long = 1 << 62;
        let sums = of(&[[long, 0, 0, 0, 0, 0, 0]; 11]);
        assert_eq!(sums.mean_ns_by_cause().unwrap()[0], long as f64);
        assert_eq!(sums.mean_ns_by_cause_among_slowest(1, 2).unwrap()[0], long as f64);
    }

    proptest! {
        #[test]
        fn the_slowest_are_those_that_sorting_finds(
            requests in prop::collection::vec((0u32..40, prop::array::uniform7(0u64..1_000_000)), 1..300),
            (share, of_) in (1u64..5, 5u64..1001),
        ) {
            // The shifts draw response times from nanoseconds to hours.
            let requests: Vec<[u64; 7]> = requests.into_iter().map(|(shift, parts)| parts.map(|part| (part << shift) >> 20)).collect();
            let sums = of(&requests);
            let mean = |requests: &[[u64; 7]], part: usize| requests.iter().map(|parts| parts[part] as f64).sum::<f64>() / requests.len() as f64;
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.max(1.0);
            let means = sums.mean_ns_by_cause().unwrap();
            prop_assert!((0..7).all(|part| near(means[part], mean(&requests, part))));
            let mut sorted = requests.clone();
            sorted.sort_by_key(|parts| std::cmp::Reverse(parts.iter().sum::<u64>()));
            let count = (requests.len() as u64 * share).div_ceil(of_) as usize;
            let slowest: f64 = sums.mean_ns_by_cause_among_slowest(share, of_).unwrap().iter().sum();
            let exact: f64 = (0..7).map(|part| mean(&sorted[..count], part)).sum();
            // Only the bucket at the edge is inexact, and it is no wider than a 64th.
            prop_assert!((slowest - exact).abs() <= exact / 64.0 + 1e-6, "{} {}", slowest, exact);
        }
    }
}
