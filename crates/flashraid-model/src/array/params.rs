//! What an array is built of, as plain integers; `config` fills it in and guarantees that it is consistent.

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
    /// The member that fails, if one does; needs a level that survives it.
    pub failure: Option<FailureParams>,
    /// The write cache, if there is one.
    pub cache: Option<CacheParams>,
}

/// A member that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailureParams {
    /// The member.
    pub member: u32,
    /// When it fails.
    pub at_ns: TimeNs,
    /// How it is rebuilt, if it is.
    pub rebuild: Option<RebuildParams>,
}

/// How a failed member is rebuilt on a spare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RebuildParams {
    /// From the failure to the begin of rebuilding, in nanoseconds.
    pub delay_ns: u64,
    /// Least time from the begin of one strip to that of the next, in nanoseconds.
    pub strip_ns: u64,
    /// Strips that are rebuilt at a time, at least 1.
    pub in_flight: u32,
    /// The state of the spare.
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
}
