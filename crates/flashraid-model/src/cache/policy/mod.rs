//! Write caches as users choose them. A policy, one file each, says which parts a cache has; section 13 of the rules says how the parts
//! work.
//!
//! To add a policy, write its file and add a line to the list below. Configuration, schema, reference and random cases follow from the
//! list.

use super::parts::{CacheLevels, MemberCacheSettings, WriteGroupCacheSettings};
use crate::policy::{ParameterProblem, policies};
use crate::rng::{self, Stream};
use crate::units::{Duration, Fraction};

policies! {
    /// The policy by which writes are cached.
    #[derive(Clone, PartialEq)]
    pub enum CachePolicy: WritePolicy, tag "policy" {
        none::NoCache = "none",
        wow::WowCache = "wow",
        stow::StowCache = "stow",
        iwc::IwcCache = "iwc",
        iwc_sync::IwcSyncCache = "iwc-sync",
        lawc::LawcCache = "lawc",
    }

    /// Returns the kinds of caches that the policy has.
    pub fn cache_levels(&self) -> CacheLevels;
    /// Returns the share of the memory for the cache of write groups, if the members have caches, too.
    pub fn first_level_fraction(&self) -> Fraction;
    /// Returns the time that a cache with something to destage waits for the others.
    pub fn sync_timeout(&self) -> Duration;
    /// Returns the problems of its parameters.
    pub fn problems(&self) -> Vec<ParameterProblem>;
}

/// A policy of write caches. The fields of its type are the parameters that users write, each with a default.
pub(crate) trait WritePolicy: Default {
    /// Returns the kinds of caches that the policy consists of.
    fn cache_levels(&self) -> CacheLevels;

    /// Returns the share of the memory for the cache of write groups, if the members have caches of their own, too.
    fn first_level_fraction(&self) -> Fraction {
        Fraction(0.0)
    }

    /// Returns the time that a cache with something to destage waits for the others, if they destage at the same time.
    fn sync_timeout(&self) -> Duration {
        Duration { ns: 0 }
    }

    /// Returns the problems of its parameters that their types cannot exclude.
    fn problems(&self) -> Vec<ParameterProblem> {
        timeout_problem(self.sync_timeout()).into_iter().collect()
    }

    /// Returns a policy with random parameters, for random cases in tests.
    fn random_for_tests(_stream: &mut Stream) -> Self {
        Self::default()
    }
}

/// Default time that a cache waits for the others. It is as long as a few destages on the device of LAWC, because the paper gives no value.
const SYNC_TIMEOUT: Duration = Duration { ns: 1_000_000 };
/// Longest wait that is allowed. A longer one is a mistake.
const LONGEST_TIMEOUT_NS: u64 = 3_600_000_000_000;

fn timeout_problem(timeout: Duration) -> Option<ParameterProblem> {
    let too_long = timeout.ns > LONGEST_TIMEOUT_NS;
    too_long.then(|| ParameterProblem { key: "sync_timeout", message: "but at most 1h is allowed".to_owned() })
}

/// Draws a random waiting time from ten microseconds to tens of milliseconds, for tests.
fn any_timeout(stream: &mut Stream) -> Duration {
    Duration { ns: 10_007 << rng::below(stream, 13) }
}
