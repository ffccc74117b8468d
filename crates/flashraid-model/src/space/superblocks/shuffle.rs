//! Keyed bijections: the numbers below a bound in an order that looks random, and is computed instead of stored.
//!
//! The numbers lie in a grid, row by row. A Feistel network shifts each row and each column by an amount drawn for the other coordinate.
//! A number that leaves the bound goes through the network again (cycle walking).

use crate::rng;

/// Rounds in which rows are shifted. Columns are shifted in the round after each.
const ROUNDS: [u64; 2] = [0, 2];

/// Bijections of the numbers below a bound, one for each key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shuffle {
    bound: u64,
    rows: u32,
    columns: u32,
}

impl Shuffle {
    /// Returns the bijections of the numbers below `bound`.
    pub(super) fn new(bound: u64) -> Self {
        // The nearest grid to a square that holds all numbers leaves few places empty.
        let columns = if bound > 1 { (bound - 1).isqrt() + 1 } else { 1 };
        Self { bound, rows: bound.div_ceil(columns) as u32, columns: columns as u32 }
    }

    #[inline]
    fn row_and_column(self, x: u64) -> (u32, u32) {
        let columns = u64::from(self.columns);
        ((x / columns) as u32, (x % columns) as u32)
    }

    /// Returns the number at position `x`, which is less than the bound.
    pub(super) fn apply(self, key: u64, mut x: u64) -> u64 {
        loop {
            let (mut row, mut column) = self.row_and_column(x);
            for round in ROUNDS {
                row = plus(row, shift(key, round, column, self.rows), self.rows);
                column = plus(column, shift(key, round + 1, row, self.columns), self.columns);
            }
            x = u64::from(row) * u64::from(self.columns) + u64::from(column);
            if x < self.bound {
                return x;
            }
        }
    }

    /// Returns the position of the number `y`, which is less than the bound.
    pub(super) fn invert(self, key: u64, mut y: u64) -> u64 {
        loop {
            let (mut row, mut column) = self.row_and_column(y);
            for round in ROUNDS.into_iter().rev() {
                column = plus(column, self.columns - shift(key, round + 1, row, self.columns), self.columns);
                row = plus(row, self.rows - shift(key, round, column, self.rows), self.rows);
            }
            y = u64::from(row) * u64::from(self.columns) + u64::from(column);
            if y < self.bound {
                return y;
            }
        }
    }
}

/// Returns a number below `bound` for a coordinate in one round.
fn shift(key: u64, round: u64, coordinate: u32, bound: u32) -> u32 {
    let drawn = rng::mix_bits(key ^ (round << 32 | u64::from(coordinate))) >> 32;
    ((drawn * u64::from(bound)) >> 32) as u32
}

/// Returns `a + b` modulo `bound`. `a` is less than the bound, and `b` at most the bound.
fn plus(a: u32, b: u32, bound: u32) -> u32 {
    let sum = a + b;
    if sum < bound { sum } else { sum - bound }
}

#[cfg(test)]
mod tests {
    use super::Shuffle;
    use crate::rng;

    #[test]
    fn every_number_has_one_position() {
        for bound in (1..200).chain([1_000, 1_023, 1_024, 1_025, 65_537]) {
            let shuffle = Shuffle::new(bound);
            for key in [0, 1, u64::MAX, 0x1234_5678_9abc_def0] {
                let mut seen = vec![false; bound as usize];
                for x in 0..bound {
                    let y = shuffle.apply(key, x);
                    assert!(!std::mem::replace(&mut seen[y as usize], true), "{y} twice of {bound}");
                    assert_eq!(shuffle.invert(key, y), x, "bound {bound}");
                }
            }
        }
    }

    #[test]
    fn large_bounds_have_inverses() {
        for bound in [(1 << 31) - 1, 1 << 31, (1 << 30) + 1, 1_600_000_000, (3 << 30) - 1, 6_250_000_000, 1 << 40] {
            let shuffle = Shuffle::new(bound);
            let mut random = rng::stream(1, "positions", 0);
            for _ in 0..10_000 {
                let x = rng::below(&mut random, bound);
                assert_eq!(shuffle.invert(7, shuffle.apply(7, x)), x);
            }
        }
    }

    /// Neighbours must not stay together. The chi-square of 64 classes has mean 63 and standard deviation 11.2.
    #[test]
    fn ranges_are_spread_evenly() {
        let bound = 1_000_003;
        let shuffle = Shuffle::new(bound);
        for key in 0..20 {
            for (from, step) in [(0, 1), (500_000, 1), (0, 15), (17, 61)] {
                let mut classes = [0_u32; 64];
                for index in 0..16_000 {
                    let at = shuffle.apply(rng::mix_bits(key), (from + index * step) % bound);
                    classes[(at * 64 / bound) as usize] += 1;
                }
                let chi_square: f64 = classes.iter().map(|&n| (f64::from(n) - 250.0).powi(2) / 250.0).sum();
                assert!(chi_square < 63.0 + 6.0 * 11.2, "key {key}, from {from} by {step}: {chi_square}");
            }
        }
    }

    /// Differences of neighbours' positions are as even as those of drawn numbers.
    #[test]
    fn neighbours_lie_independently() {
        let bound = 1_000_003;
        let shuffle = Shuffle::new(bound);
        for key in 0..20 {
            for lag in [1, 2, 1000, 1001] {
                let mut classes = [0_u32; 64];
                for x in 0..16_000 {
                    let (a, b) = (shuffle.apply(key, x), shuffle.apply(key, x + lag));
                    let difference = (a + bound - b) % bound;
                    classes[(difference * 64 / bound) as usize] += 1;
                }
                let chi_square: f64 = classes.iter().map(|&n| (f64::from(n) - 250.0).powi(2) / 250.0).sum();
                assert!(chi_square < 63.0 + 6.0 * 11.2, "key {key}, lag {lag}: {chi_square}");
            }
        }
    }
}
