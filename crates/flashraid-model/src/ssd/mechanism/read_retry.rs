//! Reads that need further array reads (rule 232): a page whose errors are too many is read again with other thresholds. Drives hide how
//! often they do so; papers on retries measure shares that grow with age and wear.

use super::{DelayMechanismStateOfDie, DieDelayMechanism};
use crate::ids::{DieId, MemberId};
use crate::policy::ParameterProblem;
use crate::rng::{self, RandomStream};
use crate::units::Fraction;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Some pages need further reads of the flash array each time that the host reads them, until their block is erased.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadRetry {
    /// Share of the pages that need further reads, drawn for each page after each erase of its block; above 0.
    pub share: Fraction,
    /// Number of further reads of the flash array that a page with too many errors needs; from 1 to 100.
    pub times: u32,
}

reported_counts! {
    /// Counters of reads of the flash array that a die repeated for the host, because a page had too many errors.
    pub struct ReadRetryCounters, "Read retries" {
        /// Array reads for the host that had to be repeated, because the page had too many errors.
        retried_reads as "reads", "array reads that needed further ones";
        /// Time of the repetitions of array reads for the host.
        retry_array_reads_ns as "further_ms", "time of these further reads";
    }
}

/// Maximum number of further reads of a page.
const TIMES_MAX: u32 = 100;

impl DieDelayMechanism for ReadRetry {
    type Counters = ReadRetryCounters;
    type AtDie = ReadRetryStateOfDie;

    fn new_die_state(&self, seed: u64, member: MemberId, _die: DieId) -> ReadRetryStateOfDie {
        ReadRetryStateOfDie { of: *self, seed: rng::derive_seed(seed, "read_retry", u64::from(member.0)) }
    }

    fn problems(&self) -> Vec<ParameterProblem> {
        let problem = |key, message: &str| ParameterProblem { key, message: message.to_owned() };
        let share = (self.share.0 == 0.0).then(|| problem("share", "but must be above 0; leave the table out to have no retries"));
        let times = (!(1..=TIMES_MAX).contains(&self.times)).then(|| problem("times", "but must be from 1 to 100"));
        share.into_iter().chain(times).collect()
    }

    fn random_for_tests(stream: &mut RandomStream, _operation_ns: u64) -> Self {
        Self { share: Fraction((1 + rng::below(stream, 10)) as f64 / 10.0), times: 1 + rng::below(stream, 4) as u32 }
    }
}

/// Read retries of one die: further reads of a page that has too many errors. No result is stored, because the random draw for a page
/// follows from its number in the SSD and the erases of its block. All dies of an SSD have the same seed.
#[derive(Debug, Clone)]
pub struct ReadRetryStateOfDie {
    of: ReadRetry,
    seed: u64,
}

impl DelayMechanismStateOfDie<ReadRetryCounters> for ReadRetryStateOfDie {
    fn extra_cell_read_ns(&mut self, page: u64, erases: u32, array_ns: u64, counters: &mut ReadRetryCounters) -> u64 {
        // The seed tells apart what 32 bits do not.
        let (of_seed, page) = (page >> 32, page as u32);
        let mut draw = rng::stream(self.seed.wrapping_add(of_seed), "page", u64::from(erases) << 32 | u64::from(page));
        if !rng::chance(&mut draw, self.of.share.0) {
            return 0;
        }
        let further_ns = u64::from(self.of.times) * array_ns;
        counters.retried_reads += 1;
        counters.retry_array_reads_ns += further_ns;
        further_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn retries(share: f64) -> ReadRetryStateOfDie {
        ReadRetry { share: Fraction(share), times: 3 }.new_die_state(1, MemberId(0), DieId(0))
    }

    #[test]
    fn the_share_of_pages_is_that_which_is_asked_for() {
        let (mut retries, mut counters) = (retries(0.1), ReadRetryCounters::default());
        let further_ns: u64 = (0..100_000).map(|page| retries.extra_cell_read_ns(page, 7, 20, &mut counters)).sum();
        assert!(counters.retried_reads.abs_diff(10_000) < 300, "{counters:?}");
        assert_eq!((further_ns, counters.retry_array_reads_ns), (counters.retried_reads * 60, counters.retried_reads * 60));
    }

    #[test]
    fn a_page_keeps_its_draw_until_its_block_is_erased() {
        let (mut retries, mut counters) = (retries(0.5), ReadRetryCounters::default());
        let mut drawn = |erases| (0..100).map(|page| retries.extra_cell_read_ns(page, erases, 1, &mut counters)).collect::<Vec<_>>();
        let before = drawn(0);
        assert_eq!(drawn(0), before);
        assert_ne!(drawn(1), before);
    }
}
