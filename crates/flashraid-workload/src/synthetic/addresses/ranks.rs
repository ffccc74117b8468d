//! Random ranks with a Zipf distribution, drawn in constant time and memory by rejection-inversion (Hörmann and Derflinger, ACM TOMACS
//! 1996).
//!
//! The weight k^−s of rank k is compared with the area under x^−s from k − ½ to k + ½. A point under the whole curve is drawn by inverting
//! its integral, and rounded to the nearest rank. It is accepted if it falls into the part of that rank's strip whose area equals the
//! weight of the rank.

use flashraid_model::rng::{self, RandomStream};

/// Distribution of the ranks 0 to n − 1. The probability of rank r is proportional to (r + 1)^−exponent.
pub(super) struct Ranks {
    ranks: u64,
    exponent: f64,
    /// Integrals up to two points: the lower end of the first rank's accepted strip, and n + ½.
    low: f64,
    high: f64,
    /// Distance below any rank within which a point is accepted without further computation.
    accept_below: f64,
}

impl Ranks {
    /// Returns the distribution of `ranks` ranks, at least 1, with an `exponent` of at least 0.
    pub(super) fn new(ranks: u64, exponent: f64) -> Self {
        let mut ranked = Self { ranks, exponent, low: 0.0, high: 0.0, accept_below: 0.0 };
        ranked.low = ranked.integral(1.5) - 1.0;
        ranked.high = ranked.integral(ranks as f64 + 0.5);
        ranked.accept_below = 2.0 - ranked.inverse(ranked.integral(2.5) - ranked.weight(2.0));
        ranked
    }

    pub(super) fn draw(&self, stream: &mut RandomStream) -> u64 {
        loop {
            let area = self.high + rng::uniform(stream) * (self.low - self.high);
            let point = self.inverse(area);
            let rank = ((point + 0.5) as u64).clamp(1, self.ranks);
            let at = rank as f64;
            if at - point <= self.accept_below || area >= self.integral(at + 0.5) - self.weight(at) {
                return rank - 1;
            }
        }
    }

    fn weight(&self, x: f64) -> f64 {
        libm::exp(-self.exponent * libm::log(x))
    }

    /// Returns ∫ t^−s dt from 1 to x = (x^(1−s) − 1) / (1 − s), or ln x for s = 1.
    fn integral(&self, x: f64) -> f64 {
        let (log_x, power) = (libm::log(x), 1.0 - self.exponent);
        if power == 0.0 { log_x } else { libm::expm1(power * log_x) / power }
    }

    fn inverse(&self, area: f64) -> f64 {
        let power = 1.0 - self.exponent;
        if power == 0.0 { libm::exp(area) } else { libm::exp(libm::log1p((power * area).max(-1.0)) / power) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every rank has its exact share, for exponents on both sides of 1 and at it.
    #[test]
    fn ranks_have_their_probabilities() {
        const DRAWS: u32 = 400_000;
        for exponent in [0.0, 0.5, 0.99, 1.0, 1.2, 2.5] {
            for ranks in [1, 2, 3, 20] {
                let ranked = Ranks::new(ranks, exponent);
                let mut stream = rng::stream(7, "zipf", ranks);
                let mut counts = vec![0_u32; ranks as usize];
                (0..DRAWS).for_each(|_| counts[ranked.draw(&mut stream) as usize] += 1);
                let weight = |rank: u64| libm::pow((rank + 1) as f64, -exponent);
                let total: f64 = (0..ranks).map(weight).sum();
                for rank in 0..ranks {
                    let expected = weight(rank) / total;
                    let share = f64::from(counts[rank as usize]) / f64::from(DRAWS);
                    let sigma = libm::sqrt(expected * (1.0 - expected) / f64::from(DRAWS));
                    assert!((share - expected).abs() <= 5.0 * sigma, "s={exponent} n={ranks} rank {rank}: {share} for {expected}");
                }
            }
        }
    }

    /// The most popular tenth of very many ranks gets about 0.1^(1−s) of the draws.
    #[test]
    fn large_numbers_of_ranks_work() {
        let ranks = 1 << 40;
        let ranked = Ranks::new(ranks, 0.8);
        let mut stream = rng::stream(7, "zipf", 0);
        let hot = (0..100_000).filter(|_| ranked.draw(&mut stream) < ranks / 10).count() as f64 / 1e5;
        assert!((hot - libm::pow(0.1, 0.2)).abs() < 0.01, "{hot}");
    }
}
