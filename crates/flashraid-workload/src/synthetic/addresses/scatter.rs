//! A pseudo-random permutation of 0 to n − 1 that needs no table. It spreads popular chunks over the address space.
//!
//! It is a Feistel network over pairs (number / b, number mod b) with a · b ≥ n (Black and Rogaway 2002, "generalized Feistel"). A result
//! of n or more is permuted again until it is below n, which is rare because a · b < n + a.

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
    /// Returns the permutation of `0..n` that `seed` chooses, with `n` at least 1.
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

/// Returns `value` plus a hash of `by`, modulo `bound`.
fn shift(value: u64, by: u64, bound: u64) -> u64 {
    let step = ((u128::from(rng::mix_bits(by)) * u128::from(bound)) >> 64) as u64;
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

    /// The first thousand of a million are spread over all tenths about equally.
    #[test]
    fn neighbours_part() {
        let scatter = Scatter::new(1_000_000, 1);
        let mut tenths = [0_u32; 10];
        (0..1000).for_each(|number| tenths[(scatter.apply(number) / 100_000) as usize] += 1);
        assert!(tenths.iter().all(|&count| (60..140).contains(&count)), "{tenths:?}");
        assert_ne!(scatter.apply(0), Scatter::new(1_000_000, 2).apply(0));
    }
}
