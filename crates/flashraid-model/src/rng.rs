//! Streams of random numbers, all made from one seed.
//!
//! Each use has its own stream, named by a label and an index. If one use draws more or fewer numbers, the numbers of all others stay the
//! same.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// A stream of pseudo-random numbers: the state of its generator, xoshiro256++. Each use of random numbers in a simulation has a
/// stream of its own.
pub type RandomStream = Xoshiro256PlusPlus;

/// Returns the random stream that `seed` gives for the use `label` with the number `index`.
pub fn stream(seed: u64, label: &str, index: u64) -> RandomStream {
    RandomStream::seed_from_u64(derive_seed(seed, label, index))
}

/// Returns a seed that is derived from `seed` for the use `label` with the number `index`. A part that needs several streams of random
/// numbers derives their seeds from the returned one.
pub fn derive_seed(seed: u64, label: &str, index: u64) -> u64 {
    // FNV-1a over the label, mixed with seed and index by SplitMix64 steps (`seed_from_u64` is one more).
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in label.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    mix_bits(mix_bits(seed ^ hash).wrapping_add(index))
}

/// Maps 64-bit numbers one-to-one to 64-bit numbers that look random: different arguments give different results. It is one step of
/// the generator SplitMix64, with its finaliser.
#[inline]
pub fn mix_bits(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Draws a number from `0..bound`. It multiplies and shifts, which prefers some numbers by less than `bound / 2^64`.
#[inline]
pub fn below(stream: &mut RandomStream, bound: u64) -> u64 {
    ((u128::from(next_u64(stream)) * u128::from(bound)) >> 64) as u64
}

/// Draws a number from `[0, 1)` with 53 random bits.
#[inline]
pub fn uniform(stream: &mut RandomStream) -> f64 {
    (next_u64(stream) >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Draws a number from the exponential distribution with mean 1.
#[inline]
pub fn exponential(stream: &mut RandomStream) -> f64 {
    // 1 − unit lies in (0, 1], so that the logarithm is finite.
    -libm::log(1.0 - uniform(stream))
}

/// Draws a number from the normal distribution with mean 0 and variance 1. It uses one of each pair that the method of Box and Muller
/// (1958) gives.
#[inline]
pub fn normal(stream: &mut RandomStream) -> f64 {
    let radius = libm::sqrt(2.0 * exponential(stream));
    radius * libm::cos(2.0 * std::f64::consts::PI * uniform(stream))
}

/// Returns true with the given probability, which lies between 0 and 1.
#[inline]
pub fn chance(stream: &mut RandomStream, probability: f64) -> bool {
    uniform(stream) < probability
}

/// Draws the next 64 random bits.
#[inline]
pub fn next_u64(stream: &mut RandomStream) -> u64 {
    use rand_xoshiro::rand_core::Rng;
    stream.next_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_seed_label_and_index_and_repeat() {
        let first = |seed, label, index| next_u64(&mut stream(seed, label, index));
        assert_eq!(first(1, "a", 0), first(1, "a", 0));
        assert_ne!(first(1, "a", 0), first(2, "a", 0));
        assert_ne!(first(1, "a", 0), first(1, "b", 0));
        assert_ne!(first(1, "a", 0), first(1, "a", 1));
    }

    #[test]
    fn below_stays_below_and_covers() {
        let mut s = stream(1, "t", 0);
        let mut seen = [0u32; 5];
        for _ in 0..5000 {
            seen[below(&mut s, 5) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| n > 850 && n < 1150), "{seen:?}");
    }
}
