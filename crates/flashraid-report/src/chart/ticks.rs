//! Numbers beside axes, the same in pages (`page/script/ticks.js`) and pictures.

/// Digits before the power of ten, from the coarsest choice to the finest.
const DIGITS: [&[u32]; 3] = [&[1], &[1, 2, 5], &[1, 2, 3, 4, 5, 6, 7, 8, 9]];
/// An axis with fewer numbers can't be read.
const COUNT_MIN: usize = 3;
/// More numbers than this would touch each other.
const COUNT_MAX: usize = 9;
/// The part of a value by which it may lie beyond the end of an axis.
const SLACK: f64 = 1e-9;

/// Returns the numbers of a logarithmic axis from `min` to `max`, in order; `0 < min < max`.
///
/// These are powers of ten, or also their doubles and halves, or all multiples. An axis too short for three of these has round numbers.
pub fn logarithmic(min: f64, max: f64) -> Vec<f64> {
    let powers = || min.log10().floor() as i32..=max.log10().ceil() as i32;
    let is_within = |value: &f64| (min * (1.0 - SLACK)..=max * (1.0 + SLACK)).contains(value);
    let of_digits = |digits: &[u32]| -> Vec<f64> {
        powers().flat_map(|power| digits.iter().map(move |digit| decimal(f64::from(*digit), power))).filter(is_within).collect()
    };
    match DIGITS.into_iter().map(of_digits).find(|values| values.len() >= COUNT_MIN) {
        Some(values) => {
            let step = values.len().div_ceil(COUNT_MAX);
            values.into_iter().step_by(step).collect()
        }
        None => round_numbers(min, max),
    }
}

/// Most numbers of a linear axis upwards.
pub const UPWARDS_MAX: usize = 7;
/// Most numbers of a linear axis across that has all the room.
pub const ACROSS_MAX: usize = 10;

/// Returns the numbers of a linear axis from `min` to `max`, in order, at most `most` of them. The step is 1, 2 or 5 times a power of ten,
/// the least one that leaves room for each. On an axis of `whole` numbers, the step is a whole number, too.
pub fn linear(min: f64, max: f64, most: usize, whole: bool) -> Vec<f64> {
    let span = max - min;
    if !(span > 0.0 && span.is_finite()) {
        return vec![min];
    }
    let largest = span.log10().ceil() as i32;
    let steps = (0..4).rev().flat_map(|below| [1.0, 2.0, 5.0].map(|digit| (digit, largest - below)));
    let multiples = |(digit, power): (f64, i32)| -> Option<Vec<f64>> {
        let step = decimal(digit, power);
        if whole && step < 1.0 {
            return None;
        }
        let (first, last) = ((min / step - SLACK).ceil(), (max / step + SLACK).floor());
        // An axis narrower than numbers are exact has none in between.
        (last - first < most as f64)
            .then(|| (0..=(last - first).max(-1.0) as i64).map(|index| decimal((first + index as f64) * digit, power)).collect())
    };
    steps.filter_map(multiples).next().unwrap_or_else(|| vec![min])
}

/// Multiples of the largest step 1, 2 or 5 times a power of ten that gives three of them.
fn round_numbers(min: f64, max: f64) -> Vec<f64> {
    let largest = (max - min).log10().ceil() as i32;
    let steps = (0..4).flat_map(|below| [5.0, 2.0, 1.0].map(|digit| (digit, largest - below)));
    let multiples = |(digit, power): (f64, i32)| -> Vec<f64> {
        let step = decimal(digit, power);
        let (first, last) = ((min / step - SLACK).ceil(), (max / step + SLACK).floor());
        // An axis narrower than numbers are exact has none in between.
        (0..=(last - first).clamp(0.0, 100.0) as u32).map(|index| decimal((first + f64::from(index)) * digit, power)).collect()
    };
    steps.map(multiples).find(|values| values.len() >= COUNT_MIN).unwrap_or_else(|| vec![min, max])
}

/// `digits × 10^power`, rounded once, as the number is when it is typed.
fn decimal(digits: f64, power: i32) -> f64 {
    format!("{digits}e{power}").parse().expect("digits and a power are a number")
}

#[cfg(test)]
mod tests {
    use super::{ACROSS_MAX, UPWARDS_MAX, linear, logarithmic};

    #[test]
    fn linear_axes_have_as_many_round_numbers_as_fit() {
        assert_eq!(linear(0.0, 10.6, UPWARDS_MAX, false), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(linear(0.0, 1.06, UPWARDS_MAX, false), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
        assert_eq!(linear(1.84, 6.16, ACROSS_MAX, true), [2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(linear(-3.0, 4.0, 4, false), [-2.0, 0.0, 2.0, 4.0]);
        assert_eq!(linear(5.0, 5.0, 7, false), [5.0]);
        for index in 0..2000 {
            let min = f64::from(index % 37) * 0.37 - 5.0;
            let max = min + 10_f64.powf(-6.0 + f64::from(index) * 0.006);
            let numbers = linear(min, max, UPWARDS_MAX, false);
            assert!((2..=UPWARDS_MAX).contains(&numbers.len()) && numbers.is_sorted_by(|a, b| a < b), "{min} {max}: {numbers:?}");
        }
    }

    #[test]
    fn wide_axes_have_powers_of_ten_and_short_ones_what_lies_between() {
        assert_eq!(logarithmic(0.0999, 1000.0), [0.1, 1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(logarithmic(0.9, 30.0), [1.0, 2.0, 5.0, 10.0, 20.0]);
        assert_eq!(logarithmic(2.5, 6.5), [3.0, 4.0, 5.0, 6.0]);
        assert_eq!(logarithmic(1.01, 1.35), [1.1, 1.2, 1.3]);
        assert_eq!(logarithmic(1e-7, 1e5).len(), 7);
        // Ends of an axis that are powers of ten but for rounding have their numbers.
        assert_eq!(logarithmic(0.100_000_000_01, 100.0)[0], 0.1);
    }

    #[test]
    fn every_axis_has_at_least_three_numbers_and_at_most_nine() {
        for index in 0..2000 {
            let min = 10_f64.powf(-8.0 + f64::from(index % 97) * 0.171);
            let max = min * 10_f64.powf(0.001 + f64::from(index) * 0.006);
            let numbers = logarithmic(min, max);
            assert!((3..=9).contains(&numbers.len()), "{min} {max}: {numbers:?}");
            assert!(numbers.is_sorted_by(|a, b| a < b) && numbers[0] >= min * 0.999_999 && numbers[numbers.len() - 1] <= max * 1.000_001);
        }
    }
}
