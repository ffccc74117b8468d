//! Write caches as users choose them. A policy, one file each, says which parts a cache has; section 13 of the rules says how the parts
//! work.
//!
//! To add a policy, write its file and add a line to the list below. Configuration, schema, reference and random cases follow from the
//! list.

use super::parts::{DirtyStripeCacheSettings, MemberCacheSettings, StripeAndMemberCaches};
use crate::policy::{ParameterProblem, policies};
use crate::rng::{self, RandomStream};
use crate::units::{Duration, Fraction};

policies! {
    /// The policy by which writes are cached.
    #[derive(Clone, PartialEq)]
    pub enum CachePolicy: WritePolicy, tag "policy" {
        none::NoCache = "none",
        wow::WowCache = "wow",
        stow::StowCache = "stow",
        iwc::IndependentMemberCaches = "iwc",
        iwc_sync::MemberCachesDestagingTogether = "iwc-sync",
        lawc::LayoutAwareWriteCache = "lawc",
    }

    /// Returns the caches that the policy uses: a cache of write groups, a cache for each member, both, or none. A write group is all
    /// dirty pages of one stripe.
    pub fn stripe_and_member_caches(&self) -> StripeAndMemberCaches;
    /// Returns the share of the cache memory for the cache of write groups, from 0 to 1. A write group is all dirty pages of one
    /// stripe. The member caches get the rest. Only a policy with both kinds of caches uses the share.
    pub fn first_level_fraction(&self) -> Fraction;
    /// Returns the maximum time that a member cache with something to destage waits until all other member caches have something to
    /// destage, too. It is 0 if the policy's caches do not wait for each other.
    pub fn sync_timeout(&self) -> Duration;
    /// Returns the problems of the policy's parameters: values that their types admit, but that are not allowed.
    pub fn problems(&self) -> Vec<ParameterProblem>;
}

/// A policy of write caches. The fields of its type are the parameters that users write, each with a default.
pub(crate) trait WritePolicy: Default {
    /// Returns the caches that the policy uses: a cache of write groups, a cache for each member, both, or none. A write group is all
    /// dirty pages of one stripe.
    fn stripe_and_member_caches(&self) -> StripeAndMemberCaches;

    /// Returns the share of the cache memory for the cache of write groups, from 0 to 1. A write group is all dirty pages of one
    /// stripe. The member caches get the rest. Only a policy with both kinds of caches uses the share.
    fn first_level_fraction(&self) -> Fraction {
        Fraction(0.0)
    }

    /// Returns the maximum time that a member cache with something to destage waits until all other member caches have something to
    /// destage, too. It is 0 if the policy's caches do not wait for each other.
    fn sync_timeout(&self) -> Duration {
        Duration { ns: 0 }
    }

    /// Returns the problems of the policy's parameters: values that their types admit, but that are not allowed.
    fn problems(&self) -> Vec<ParameterProblem> {
        timeout_problem(self.sync_timeout()).into_iter().collect()
    }

    /// Returns a policy with random parameters, for random cases in tests.
    fn random_for_tests(_stream: &mut RandomStream) -> Self {
        Self::default()
    }
}

/// Default of the maximum time that a member cache waits until all others have something to destage, too. It is as long as a few destages
/// on the device of LAWC, because the paper gives no value.
const SYNC_TIMEOUT: Duration = Duration { ns: 1_000_000 };
/// Longest wait that is allowed. A longer one is a mistake.
const LONGEST_TIMEOUT_NS: u64 = 3_600_000_000_000;

fn timeout_problem(timeout: Duration) -> Option<ParameterProblem> {
    let too_long = timeout.ns > LONGEST_TIMEOUT_NS;
    too_long.then(|| ParameterProblem { key: "sync_timeout", message: "but at most 1h is allowed".to_owned() })
}

/// Draws a random waiting time from ten microseconds to tens of milliseconds, for tests.
fn any_timeout(stream: &mut RandomStream) -> Duration {
    Duration { ns: 10_007 << rng::below(stream, 13) }
}
