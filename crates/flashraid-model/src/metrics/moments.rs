//! Exact count, sum, mean, variance, least and greatest value of a stream of integers.

/// Moments of a stream of `u64`, kept as integer sums. They do not depend on the order, and nothing is rounded until the last division.
///
/// The sum of squares saturates beyond 2^128, which 10^9 values of 5 × 10^14 (six days in nanoseconds) do not reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moments {
    count: u64,
    sum: u128,
    sum_of_squares: u128,
    min: u64,
    max: u64,
}

impl Default for Moments {
    fn default() -> Self {
        Self { count: 0, sum: 0, sum_of_squares: 0, min: u64::MAX, max: 0 }
    }
}

impl Moments {
    /// Adds one value to the moments.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.count += 1;
        self.sum += u128::from(value);
        self.sum_of_squares = self.sum_of_squares.saturating_add(u128::from(value) * u128::from(value));
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Adds the moments `other` to these, as if every value that was recorded in `other` had been recorded here.
    pub fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.sum_of_squares = self.sum_of_squares.saturating_add(other.sum_of_squares);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Returns the number of values.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the sum of the values.
    #[must_use]
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Returns the least value; `None` without values.
    #[must_use]
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    /// Returns the greatest value; `None` without values.
    #[must_use]
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// Returns the arithmetic mean; `None` without values.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        let count = u128::from(self.count);
        (count > 0).then(|| (self.sum / count) as f64 + (self.sum % count) as f64 / count as f64)
    }

    /// Returns the variance of the values; `None` without values. It divides by n, not by n − 1, because they are all values and not a
    /// sample.
    #[must_use]
    pub fn variance(&self) -> Option<f64> {
        if self.count == 0 {
            return None;
        }
        // With S = q·n + r, Σ(x − q)² = Σx² − q·(S + r) is exact. The shift from q to the mean q + r/n is then subtracted.
        let count = u128::from(self.count);
        let (quotient, rest) = (self.sum / count, self.sum % count);
        let about_quotient = self.sum_of_squares.saturating_sub(quotient * (self.sum + rest));
        let shift = rest as f64 / self.count as f64;
        Some((about_quotient as f64 / self.count as f64 - shift * shift).max(0.0))
    }

    /// Returns the square root of the variance; `None` without values.
    #[must_use]
    pub fn stddev(&self) -> Option<f64> {
        self.variance().map(f64::sqrt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> Moments {
        let mut moments = Moments::default();
        values.iter().for_each(|&value| moments.record(value));
        moments
    }

    #[test]
    fn without_values_nothing_is_defined() {
        let none = Moments::default();
        assert_eq!((none.count(), none.min(), none.max(), none.mean(), none.variance()), (0, None, None, None, None));
    }

    #[test]
    fn small_spread_of_large_values_keeps_its_variance() {
        let base = 1 << 52;
        let moments = of(&[base, base + 1, base + 2, base + 3]);
        assert_eq!(moments.variance(), Some(1.25));
    }

    #[test]
    fn ten_million_slow_requests_do_not_overflow() {
        let mut moments = Moments::default();
        (0..10_000_000u64).for_each(|i| moments.record(1_000_000_000_000 + i % 2));
        assert_eq!(moments.variance(), Some(0.25));
        assert_eq!(moments.mean(), Some(1_000_000_000_000.5));
    }

    proptest! {
        #[test]
        fn agree_with_two_passes(values in prop::collection::vec(0u64..1_000_000_000, 1..200)) {
            let n = values.len() as f64;
            let mean = values.iter().map(|&x| x as f64).sum::<f64>() / n;
            let variance = values.iter().map(|&x| (x as f64 - mean).powi(2)).sum::<f64>() / n;
            let moments = of(&values);
            prop_assert!((moments.mean().unwrap() - mean).abs() <= 1e-9 * mean.max(1.0));
            prop_assert!((moments.variance().unwrap() - variance).abs() <= 1e-9 * variance.max(1.0));
            prop_assert_eq!(moments.min(), values.iter().min().copied());
            prop_assert_eq!(moments.max(), values.iter().max().copied());
        }

        #[test]
        fn adding_parts_is_the_whole(left in prop::collection::vec(any::<u32>(), 0..50), right in prop::collection::vec(any::<u32>(), 0..50)) {
            let (left, right): (Vec<u64>, Vec<u64>) = (left.into_iter().map(u64::from).collect(), right.into_iter().map(u64::from).collect());
            let mut sum = of(&left);
            sum.add(&of(&right));
            prop_assert_eq!(sum, of(&[left, right].concat()));
        }
    }
}
