//! A permutation of 0 to n − 1 that needs no table: it spreads hot chunks over the address space.
//!
//! A Feistel network over pairs (number / b, number mod b) with a · b ≥ n (Black and Rogaway 2002, "generalized Feistel"); a result of n or more is
//! permuted again until it is below. As a · b < n + a that is rare.

use flashraid_model::rng;

const ROUNDS: usize = 4;

/// A permutation of `0..n`.
pub(super) struct Scatter {
    n: u64,
    rows: u64,
    columns: u64,
    keys: [u64; 2 * ROUNDS],
}

impl Scatter {
    /// A permutation of `0..n`, `n` at least 1, chosen by `seed`.
    pub(super) fn new(n: u64, seed: u64) -> Self {
        let columns = n.isqrt().max(1);
        let mut stream = rng::stream(seed, "workload.scatter", 0);
        Self { n, rows: n.div_ceil(columns), columns, keys: std::array::from_fn(|_| rng::next_u64(&mut stream)) }
    }

    pub(super) fn apply(&self, number: u64) -> u64 {
        debug_assert!(number < self.n);
        let mut number = number;
        loop {
            let (mut row, mut column) = (number / self.columns, number % self.columns);
            for pair in self.keys.chunks_exact(2) {
                row = shift(row, column ^ pair[0], self.rows);
                column = shift(column, row ^ pair[1], self.columns);
            }
            number = row * self.columns + column;
            if number < self.n {
                return number;
            }
        }
    }
}

/// `value` moved on by a hash of `by`, round `bound`.
fn shift(value: u64, by: u64, bound: u64) -> u64 {
    let step = ((u128::from(rng::mix(by)) * u128::from(bound)) >> 64) as u64;
    let moved = value + step;
    if moved >= bound { moved - bound } else { moved }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_a_permutation() {
        for n in (1..200).chain([4095, 4096, 4097, 100_003]) {
            let scatter = Scatter::new(n, 1);
            let mut seen = vec![false; n as usize];
            for number in 0..n {
                assert!(!std::mem::replace(&mut seen[scatter.apply(number) as usize], true), "n={n}");
            }
        }
    }

    /// The first thousand of a million land in all tenths about equally.
    #[test]
    fn neighbours_part() {
        let scatter = Scatter::new(1_000_000, 1);
        let mut tenths = [0_u32; 10];
        (0..1000).for_each(|number| tenths[(scatter.apply(number) / 100_000) as usize] += 1);
        assert!(tenths.iter().all(|&count| (60..140).contains(&count)), "{tenths:?}");
        assert_ne!(scatter.apply(0), Scatter::new(1_000_000, 2).apply(0));
    }
}
