//! Write amplification that theory predicts for uniformly random writes.
//!
//! All functions take `alpha`: the number of all pages (valid or not) in blocks that hold data, divided by that of user pages. It is
//! above 1.

use flashraid_model::space::victim::WriteAmplificationTheory;

/// Returns the write amplification that theory predicts for a victim policy with blocks of `pages` pages, and `exact` or `at least`.
/// With `exact`, the policy has the predicted value. With `at least`, the policy has this value or a higher one. `alpha` is the number
/// of pages (valid or not) in all blocks except free ones, divided by the number of pages of user data. It is above 1.
pub fn expected_write_amplification(of_policy: WriteAmplificationTheory, pages: u32, alpha: f64) -> (f64, &'static str) {
    match of_policy {
        WriteAmplificationTheory::Greedy => (greedy_write_amplification(pages, alpha), "exact"),
        WriteAmplificationTheory::OldestFirst => (oldest_first_write_amplification(alpha), "exact"),
        WriteAmplificationTheory::Random => (random_victim_write_amplification(pages, alpha), "exact"),
        WriteAmplificationTheory::GreedyIsLowerBound => (greedy_write_amplification(pages, alpha), "at least"),
    }
}

/// Returns the write amplification of greedy collection (of the block with the fewest valid pages) under uniformly random writes.
/// Blocks have `pages` pages. `alpha` is the number of pages (valid or not) in all blocks except free ones, divided by the number of
/// pages of user data. It is above 1.
///
/// The theory is that of very many blocks (Desnoyers, ACM TOS 2014). Van Houdt, SIGMETRICS 2013, chooses the best of `d` random
/// blocks; greedy collection is the limit of large `d`. Let there be `U` pages of user data, and `f` victims for each page that the
/// host writes.
///
/// Victims are erased and filled again, so that `f` blocks with `pages` valid pages are added for each page that the host writes. A
/// write makes each valid page invalid with probability `1/U`. So a block with `j` valid pages loses one with probability `j/U`. In
/// equilibrium, `f` blocks come down from `j` to `j − 1` valid pages for each write. Hence `f·U/j` blocks have `j` valid pages.
///
/// This holds for each `j` above a level `m`. A share `1 − s` of the blocks that come down to `m` valid pages is collected at once.
/// The share `s` stays until another page becomes invalid, and is collected with `m − 1` valid pages. Hence `f·s·U/m` blocks have `m`
/// valid pages.
///
/// All valid pages together are `U`, which gives `f = 1 / (pages − m + s)`. All blocks together have `alpha·U` pages, which gives
///
/// `alpha = pages · (H(pages) − H(m) + s/m) / (pages − m + s)` with the harmonic numbers `H`.
///
/// The function solves this equation for `m` and `s`. Write amplification is `pages · f`.
pub fn greedy_write_amplification(pages: u32, alpha: f64) -> f64 {
    let b = f64::from(pages);
    let mut harmonic = 0.0;
    for level in (1..=pages).rev() {
        // Levels above `level` lose all their blocks; `harmonic` is H(pages) − H(level).
        let m = f64::from(level);
        let max = b * (harmonic + 1.0 / m) / (b - m + 1.0);
        if alpha <= max {
            let s = (alpha * (b - m) - b * harmonic) / (b / m - alpha);
            return b / (b - m + s.clamp(f64::MIN_POSITIVE, 1.0));
        }
        harmonic += 1.0 / m;
    }
    // Even blocks have time to lose all their valid pages.
    1.0
}

/// Returns the write amplification of collecting the block that was written first, under uniformly random writes. It is the limit of
/// greedy collection for large blocks, and the same for blocks of any size. `alpha` is the number of pages (valid or not) in all
/// blocks except free ones, divided by the number of pages of user data. It is above 1.
///
/// The formula of Desnoyers, SYSTOR 2012, is `alpha / (alpha + W(−alpha·e^−alpha))` with Lambert's function `W`. Here, its equation
/// `alpha = −ln(1 − r) / r` is solved by bisection, where `r` is the share of invalid pages in a victim.
pub fn oldest_first_write_amplification(alpha: f64) -> f64 {
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

/// Returns the write amplification of collecting a random block among those with invalid pages, under uniformly random writes. Blocks
/// have `pages` pages. `alpha` is the number of pages (valid or not) in all blocks except free ones, divided by the number of pages of
/// user data. It is above 1.
///
/// Let `f` be the number of victims for each page that the host writes; write amplification is `pages · f`. For each page that the
/// host writes, `f` blocks are filled on average. A filled block is fully valid until one of its pages is overwritten. In equilibrium,
/// `f` fully valid blocks lose their first valid page for each write.
///
/// All user pages are equally likely to be overwritten. So the share of user pages that lie in fully valid blocks is `f` as well.
/// These blocks are a share `f/alpha` of all blocks.
///
/// A victim is as full as the mean of all blocks that are not fully valid: it has `valid = pages · (1 − f) / (alpha − f)` valid pages.
/// Each victim frees `pages − valid` pages, and one page is needed for each write: `f · (pages − valid) = 1`. The solution is
/// `pages · f = alpha · pages / (pages · (alpha − 1) + 1)`.
pub fn random_victim_write_amplification(pages: u32, alpha: f64) -> f64 {
    let b = f64::from(pages);
    alpha * b / (b * (alpha - 1.0) + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greedy_of_large_blocks_is_oldest_first() {
        for alpha in [1.05, 1.1, 1.25, 1.5, 2.0] {
            let (greedy, oldest) = (greedy_write_amplification(16_384, alpha), oldest_first_write_amplification(alpha));
            assert!((greedy / oldest - 1.0).abs() < 0.002, "{alpha}: {greedy} {oldest}");
        }
    }

    #[test]
    fn oldest_first_solves_its_equation() {
        // With r = 1/2, alpha is 2·ln 2.
        assert!((oldest_first_write_amplification(2.0 * std::f64::consts::LN_2) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn greedy_is_better_the_smaller_the_blocks_and_the_larger_the_reserve() {
        for alpha in [1.05, 1.1, 1.3] {
            assert!(greedy_write_amplification(16, alpha) < greedy_write_amplification(64, alpha));
            assert!(greedy_write_amplification(64, alpha) < oldest_first_write_amplification(alpha));
            assert!(oldest_first_write_amplification(alpha) < random_victim_write_amplification(1024, alpha));
            assert!(greedy_write_amplification(64, alpha + 0.05) < greedy_write_amplification(64, alpha));
        }
        // A block of one page has no valid page when it is collected.
        assert_eq!(greedy_write_amplification(1, 1.2), 1.0);
    }

    #[test]
    fn greedy_counts_its_own_blocks_and_pages() {
        // This sums the definition again, level by level.
        let (pages, alpha) = (64_u32, 1.1);
        let amplification = greedy_write_amplification(pages, alpha);
        let clean_every = f64::from(pages) / amplification;
        let level = (f64::from(pages) - clean_every).ceil() as u32;
        let s = clean_every - f64::from(pages - level);
        let rate = 1.0 / clean_every;
        let blocks: f64 = (level + 1..=pages).map(|j| rate / f64::from(j)).sum::<f64>() + rate * s / f64::from(level);
        assert!((blocks * f64::from(pages) - alpha).abs() < 1e-9);
    }
}
