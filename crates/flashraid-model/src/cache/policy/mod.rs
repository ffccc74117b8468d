//! Write caches as users choose them: a policy says which parts there are, one file each; what the parts do is section 13 of the rules.
//!
//! To add one: its file, and a line of the list below. Configuration, schema, reference and random cases take it from there.

use super::parts::{GroupPart, MemberPart, Parts};
use crate::policy::{PolicyProblem, policies};
use crate::rng::{self, Stream};
use crate::units::{Duration, Fraction};

policies! {
    /// How writes are cached.
    #[derive(Clone, PartialEq)]
    pub enum CachePolicy: WritePolicy, tag "policy" {
        none::NoCache = "none",
        wow::Wow = "wow",
        stow::Stow = "stow",
        iwc::Iwc = "iwc",
        iwc_sync::IwcSync = "iwc-sync",
        lawc::Lawc = "lawc",
    }

    /// The caches that there are.
    pub fn parts(&self) -> Parts;
    /// Share of the memory that the cache of write groups gets where the members have caches, too.
    pub fn first_level_fraction(&self) -> Fraction;
    /// How long a cache that is ready waits for the others.
    pub fn sync_timeout(&self) -> Duration;
    /// What is wrong with its parameters.
    pub fn problems(&self) -> Vec<PolicyProblem>;
}

/// A write cache. Its type is what users write, each parameter with a default.
pub trait WritePolicy: Default {
    /// The caches that there are.
    fn parts(&self) -> Parts;

    /// Share of the memory that the cache of write groups gets where the members have caches, too.
    fn first_level_fraction(&self) -> Fraction {
        Fraction(0.0)
    }

    /// How long a cache that is ready waits for the others, where they destage together.
    fn sync_timeout(&self) -> Duration {
        Duration { ns: 0 }
    }

    /// What is wrong with its parameters, beyond what their types say.
    fn problems(&self) -> Vec<PolicyProblem> {
        timeout_problem(self.sync_timeout()).into_iter().collect()
    }

    /// One with random parameters, for the random cases of tests.
    fn any(_stream: &mut Stream) -> Self {
        Self::default()
    }
}

/// How long a cache that is ready waits for the others, by default: ours, a few destages of LAWC's device.
const SYNC_TIMEOUT: Duration = Duration { ns: 1_000_000 };
/// A wait beyond this is a mistake.
const LONGEST_TIMEOUT_NS: u64 = 3_600_000_000_000;

fn timeout_problem(timeout: Duration) -> Option<PolicyProblem> {
    let too_long = timeout.ns > LONGEST_TIMEOUT_NS;
    too_long.then(|| PolicyProblem { key: "sync_timeout", message: "but at most 1h is allowed".to_owned() })
}

/// Any wait from ten microseconds to tens of milliseconds.
fn any_timeout(stream: &mut Stream) -> Duration {
    Duration { ns: 10_007 << rng::below(stream, 13) }
}
