//! What an array is built of, as plain integers; `config` fills it in and guarantees that it is consistent.

use super::ReadPlan;
use crate::TimeNs;
use crate::cache::CacheParams;
use crate::coordination::CoordinationParams;
use crate::placement::{Layout, Level};
use crate::ssd::SsdParams;

/// An array of equal SSDs.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayParams {
    /// How addresses spread over the members.
    pub level: Level,
    /// Number of members.
    pub members: u32,
    /// Consecutive pages of the array that stay on one member.
    pub stripe_unit_pages: u32,
    /// The members; each has the same parameters.
    pub ssd: SsdParams,
    /// How their garbage collection is coordinated, if it is; needs what preemption needs.
    pub coordination: Option<CoordinationParams>,
    /// The members that fail, each once; need a level that survives it.
    pub failures: Vec<FailureParams>,
    /// How failed members are rebuilt, if they are.
    pub rebuild: Option<RebuildParams>,
    /// Which copy a read goes to.
    pub read_plan: ReadPlan,
    /// The write cache, if there is one.
    pub cache: Option<CacheParams>,
    /// The limits of the controller towards the host, if it has any.
    pub host_port: Option<HostPortParams>,
}

/// The limits of the array's controller towards the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostPortParams {
    /// Host requests in work at a time, at least 1; `None`: any number.
    pub outstanding: Option<u32>,
    /// Bytes of data that pass in a second, all one after another; `None`: without limit.
    pub bytes_per_s: Option<u64>,
}

impl HostPortParams {
    /// How long so many bytes take to pass, in nanoseconds, rounded up.
    pub fn passing_ns(&self, bytes: u64) -> u64 {
        let ns = |bytes_per_s| (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(bytes_per_s));
        self.bytes_per_s.map_or(0, |bytes_per_s| u64::try_from(ns(bytes_per_s)).unwrap_or(u64::MAX))
    }
}

/// A member that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailureParams {
    /// The member.
    pub member: u32,
    /// When it fails; those that fail at the same time do so in the order of the list.
    pub at_ns: TimeNs,
}

/// How failed members are rebuilt, each on a spare of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RebuildParams {
    /// From the failure to the begin of rebuilding, in nanoseconds.
    pub delay_ns: u64,
    /// Least time from the begin of one strip to that of the next, in nanoseconds.
    pub strip_ns: u64,
    /// Strips that are rebuilt at a time, at least 1.
    pub in_flight: u32,
    /// Spares: so many failures, the first in time, are rebuilt; at least 1.
    pub spares: u32,
    /// The state of the spares.
    pub spare: Spare,
    /// Rebuilding goes on to its end when the last request is done.
    pub finish: bool,
}

/// The state of a spare when it is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spare {
    /// Filled and warmed up like a member.
    Warm,
    /// Filled only.
    Fresh,
}

impl ArrayParams {
    /// Spares that are there: those that a failure may need, with [`Spare`] the state they are in.
    pub fn spares(&self) -> (u32, Option<Spare>) {
        match self.rebuild {
            Some(rebuild) if !self.failures.is_empty() => (rebuild.spares.min(self.failures.len() as u32), Some(rebuild.spare)),
            _ => (0, None),
        }
    }

    /// The members that fail, in order of time.
    pub fn failures_in_order(&self) -> Vec<FailureParams> {
        let mut failures = self.failures.clone();
        failures.sort_by_key(|failure| failure.at_ns);
        failures
    }

    /// The spares that are warmed up like members.
    pub fn warm_spares(&self) -> u32 {
        let (spares, state) = self.spares();
        if state == Some(Spare::Warm) { spares } else { 0 }
    }

    /// Where pages of the array lie.
    pub fn layout(&self) -> Layout {
        Layout::new(self.level, self.members, self.stripe_unit_pages, self.ssd.exported_pages())
    }
}

/// How the members are brought to a working state before the run.
#[derive(Debug, Clone, PartialEq)]
pub struct WarmUp {
    /// Random overwrites after filling, as a multiple of the exported capacity; 0 is exactly the freshly filled state.
    pub overwrites: f64,
    /// Where the overwrites go.
    pub pattern: WarmUpPattern,
}

/// Where the overwrites of the warm-up go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarmUpPattern {
    /// Uniform over the exported pages.
    Random,
    /// The write addresses of the workload itself.
    Workload,
    /// None: members with superblocks are put into the steady state of uniform writes.
    Steady,
}
