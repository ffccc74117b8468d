//! Write amplification that theory expects under uniformly random writes.
//!
//! All functions take `alpha`, the pages of the blocks that hold data divided by the pages of user data in them; it is above 1.

use flashraid_model::space::victim::Theory;

/// Returns what is known of a victim policy for blocks of `pages` pages: the write amplification, and in which way it is meant.
pub fn expected(of_policy: Theory, pages: u32, alpha: f64) -> (f64, &'static str) {
    match of_policy {
        Theory::Greedy => (greedy(pages, alpha), "exact"),
        Theory::OldestFirst => (oldest_first(alpha), "exact"),
        Theory::Random => (random(pages, alpha), "exact"),
        Theory::AtLeastGreedy => (greedy(pages, alpha), "at least"),
    }
}

/// Greedy collection of blocks of `pages` pages.
///
/// The mean-field fixed point (Desnoyers, ACM TOS 2014; Van Houdt, SIGMETRICS 2013, d → ∞). Blocks enter with `pages` valid pages and
/// lose each valid page at the same rate. With `f` victims per host write and `U` user pages, `f·U/j` blocks have `j` valid pages, down to a
/// level `m` at which collection begins: there a share `s` of the arriving blocks lives on to be collected at `m − 1`. Counting user pages gives
/// `f = 1 / (pages − m + s)`, counting blocks
///
/// `alpha = pages · (H(pages) − H(m) + s/m) / (pages − m + s)` with the harmonic numbers `H`,
///
/// which is solved for `m` and `s`; write amplification is `pages · f`.
pub fn greedy(pages: u32, alpha: f64) -> f64 {
    let b = f64::from(pages);
    let mut harmonic = 0.0;
    for level in (1..=pages).rev() {
        // Levels above `level` are passed through; `harmonic` is H(pages) − H(level).
        let m = f64::from(level);
        let max = b * (harmonic + 1.0 / m) / (b - m + 1.0);
        if alpha <= max {
            let s = (alpha * (b - m) - b * harmonic) / (b / m - alpha);
            return b / (b - m + s.clamp(f64::MIN_POSITIVE, 1.0));
        }
        harmonic += 1.0 / m;
    }
    // Even blocks without a valid page find the time to become so.
    1.0
}

/// Collection of the block that was written first, whatever the size of blocks; the limit of greedy collection for large blocks.
///
/// Desnoyers, SYSTOR 2012: `alpha / (alpha + W(−alpha·e^−alpha))` with Lambert's function, here by bisection of the equation it solves,
/// `alpha = −ln(1 − r) / r` with `r` the share of a victim that is garbage.
pub fn oldest_first(alpha: f64) -> f64 {
    let (mut min, mut max) = (0.0, 1.0);
    for _ in 0..100 {
        let garbage = (min + max) / 2.0;
        if -libm::log1p(-garbage) < alpha * garbage {
            min = garbage;
        } else {
            max = garbage;
        }
    }
    1.0 / min.max(f64::MIN_POSITIVE)
}

/// Collection of any block of `pages` pages that holds garbage.
///
/// A victim is as full as the mean of the blocks that are not fully valid. With `f` victims per host write a share `f/alpha` of the blocks is fully
/// valid and holds a share `f` of the user pages (they leave that state as fast as victims enter it), so a victim has
/// `pages · (1 − f) / (alpha − f)` valid pages; with `f · (pages − valid) = 1` this gives the closed form.
pub fn random(pages: u32, alpha: f64) -> f64 {
    let b = f64::from(pages);
    alpha * b / (b * (alpha - 1.0) + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greedy_of_large_blocks_is_oldest_first() {
        for alpha in [1.05, 1.1, 1.25, 1.5, 2.0] {
            let (greedy, oldest) = (greedy(16_384, alpha), oldest_first(alpha));
            assert!((greedy / oldest - 1.0).abs() < 0.002, "{alpha}: {greedy} {oldest}");
        }
    }

    #[test]
    fn oldest_first_solves_its_equation() {
        // r = 1/2: alpha = 2·ln 2.
        assert!((oldest_first(2.0 * std::f64::consts::LN_2) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn greedy_is_better_the_smaller_the_blocks_and_the_larger_the_reserve() {
        for alpha in [1.05, 1.1, 1.3] {
            assert!(greedy(16, alpha) < greedy(64, alpha));
            assert!(greedy(64, alpha) < oldest_first(alpha));
            assert!(oldest_first(alpha) < random(1024, alpha));
            assert!(greedy(64, alpha + 0.05) < greedy(64, alpha));
        }
        // A block of one page is garbage as a whole when it is collected.
        assert_eq!(greedy(1, 1.2), 1.0);
    }

    #[test]
    fn greedy_counts_its_own_blocks_and_pages() {
        // The definition again, summed level by level.
        let (pages, alpha) = (64_u32, 1.1);
        let amplification = greedy(pages, alpha);
        let clean_every = f64::from(pages) / amplification;
        let level = (f64::from(pages) - clean_every).ceil() as u32;
        let s = clean_every - f64::from(pages - level);
        let rate = 1.0 / clean_every;
        let blocks: f64 = (level + 1..=pages).map(|j| rate / f64::from(j)).sum::<f64>() + rate * s / f64::from(level);
        assert!((blocks * f64::from(pages) - alpha).abs() < 1e-9);
    }
}
