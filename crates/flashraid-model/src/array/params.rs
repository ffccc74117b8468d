//! Parameters of an array, as plain integers. The configuration fills them in and guarantees that they are consistent.

use super::{ArrayProcessor, ParityHandle, ReadPlan, SlowMemberPeriod};
use crate::cache::WriteCacheParams;
use crate::coordination::CoordinationParams;
use crate::placement::{ArrayLayout, RaidLevel};
use crate::space::superblocks::{CollectionCourse, PointOfCycle};
use crate::ssd::SsdParams;
use crate::units::{ByteRate, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of an array of equal SSDs.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayParams {
    /// RAID level, which spreads addresses over the members.
    pub level: RaidLevel,
    /// Number of members, without spares.
    pub members: u32,
    /// Number of consecutive pages of the array that lie on one member before the next member follows.
    pub stripe_unit_pages: u32,
    /// Parameters of each member.
    pub ssd: SsdParams,
    /// Placement handle of parity. A handle is a label of a write; drives put data with different handles into different superblocks.
    pub parity_handle: ParityHandle,
    /// Settings for coordinating the members' garbage collection; `None` if each member collects by itself.
    pub coordination: Option<CoordinationParams>,
    /// Members that fail, each at most once. The level must survive a failure.
    pub failures: Vec<MemberFailure>,
    /// Periods in which members are slow, each of one member.
    pub slow: Vec<SlowMemberPeriod>,
    /// Settings for rebuilding failed members, or `None`.
    pub rebuild: Option<RebuildParams>,
    /// Read plan, with its settings: the way in which the array chooses the members from which a read is served.
    pub read_plan: ReadPlan,
    /// Settings of the write cache; `None` for an array without one.
    pub cache: Option<WriteCacheParams>,
    /// Limits of the array's controller on host requests in progress and on bandwidth; `None` if it has no limits.
    pub host_port: Option<ControllerLimits>,
}

/// Limits of an array's controller on host requests: how many it serves at a time, its processor, and its bandwidth. They hold even if
/// the members could serve more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ControllerLimits {
    /// Maximum number of host requests that the array serves at a time. Others wait, in order of arrival. By default, there is no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_048_576))]
    pub outstanding: Option<u32>,
    /// Bandwidth of the controller for the data that hosts read and write, all together. Requests use it one after another, each at the
    /// full rate. By default, the passage of data takes no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<ByteRate>,
    /// Processor on which the software of the array handles requests. By default, that takes no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processor: Option<ArrayProcessor>,
}

impl ControllerLimits {
    /// Returns the time to transfer `bytes` bytes, in nanoseconds, rounded up.
    pub fn transfer_ns(&self, bytes: u64) -> u64 {
        let ns = |rate: ByteRate| (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(rate.bytes_per_s));
        self.bandwidth.map_or(0, |rate| u64::try_from(ns(rate)).unwrap_or(u64::MAX))
    }
}

/// A member that fails. It gets no more operations, but operations that it has already are still served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemberFailure {
    /// Number of the member that fails, from 0.
    #[schemars(range(min = 0, max = 127))]
    pub member: u32,
    /// Simulated time of the failure, from the start of the run. The member does not fail if the last request is done before.
    pub at: Duration,
}

/// Rebuilding of failed members, each on its own spare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RebuildParams {
    /// Minimum time from the start of rebuilding one strip to the start of rebuilding the next strip, in nanoseconds. It limits the
    /// speed of rebuilding.
    pub strip_interval_min_ns: u64,
    /// Settings that hold as users write them.
    pub settings: Rebuilding,
}

/// Settings of the rebuilding of failed members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Rebuilding {
    /// Time from the failure to the start of rebuilding.
    pub delay: Duration,
    /// Number of strips of a member that are rebuilt at a time.
    #[schemars(range(min = 1, max = 1024))]
    pub in_flight: u32,
    /// Number of spares. As many failed members are rebuilt as there are spares; earlier failures come first.
    #[schemars(range(min = 1, max = 127))]
    pub spares: u32,
    /// State of the spares before a failed member is rebuilt on them. They hold no data, as drives are delivered (`"blank"`), or they have
    /// been filled and overwritten like the members (`"used"`).
    pub spare: InitialSpareState,
    /// True to continue rebuilding to its end after the last request, false to end it with the load.
    pub finish: bool,
}

impl Default for Rebuilding {
    fn default() -> Self {
        Self { delay: Duration { ns: 0 }, in_flight: 1, spares: 1, spare: InitialSpareState::Blank, finish: false }
    }
}

/// State of a spare before a failed member is rebuilt on it: without data, or filled and overwritten like the members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InitialSpareState {
    /// The spare holds no data, as it is delivered or after formatting.
    Blank,
    /// The spare has been filled with other data and overwritten, like the members in their warm-up, and nobody has discarded that.
    #[serde(rename = "used")]
    WarmedUpByOverwrites,
}

impl ArrayParams {
    /// Returns true if the read plan decides for each read where to get its data.
    pub fn chooses_source_of_each_read(&self) -> bool {
        self.read_plan.has_choice(self.layout().redundancy())
    }

    /// Returns the number of spares that take the place of members which fail in the run, and the state in which the spares begin. The
    /// number is the smaller of `rebuild.spares` and the number of configured failures. Without failures or without rebuilding, it is 0,
    /// and the state is `None`.
    pub fn spares_and_state(&self) -> (u32, Option<InitialSpareState>) {
        match self.rebuild {
            Some(rebuild) if !self.failures.is_empty() => {
                (rebuild.settings.spares.min(self.failures.len() as u32), Some(rebuild.settings.spare))
            }
            _ => (0, None),
        }
    }

    /// Returns the members that fail, in order of time.
    pub fn failures_in_time_order(&self) -> Vec<MemberFailure> {
        let mut failures = self.failures.clone();
        failures.sort_by_key(|failure| failure.at.ns);
        failures
    }

    /// Returns the number of spares that are warmed up like members.
    pub fn warmed_up_spares(&self) -> u32 {
        let (spares, state) = self.spares_and_state();
        if state == Some(InitialSpareState::WarmedUpByOverwrites) { spares } else { 0 }
    }

    /// Returns the point between two collections at which a member with superblocks begins in the steady state (rule 215). Members have
    /// points of their own, unless the controller makes them collect together.
    pub fn point_of_cycle(&self, member: u32) -> PointOfCycle {
        let together = self.coordination.as_ref().is_some_and(|coordination| coordination.scheme.forces_members_to_collect_together());
        // A spare learns the protocol when it replaces a member.
        let is_told = member < self.members && self.coordination.as_ref().is_some_and(|coordination| coordination.is_ggc_aware(member));
        let span = self.ssd.superblock.as_ref().map_or(1, |superblock| superblock.collection.span);
        let course = match is_told {
            _ if self.ssd.gc.collection_takes_no_time => CollectionCourse::InNoTime,
            true => CollectionCourse::WhenTold { span },
            false => CollectionCourse::WithHostWrites,
        };
        PointOfCycle { index: if together { 0 } else { member }, course }
    }

    /// Returns the layout of the array's pages on its members.
    pub fn layout(&self) -> ArrayLayout {
        ArrayLayout::new(self.level, self.members, self.stripe_unit_pages, self.ssd.exported_pages())
    }
}

/// Overwrites of the warm-up, which brings the members to a working state before the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WarmUp {
    /// Number of overwrites after filling, as a multiple of the exported capacity. 0 leaves the freshly filled state. With
    /// `pattern = "steady"`, it must be 0.
    #[schemars(range(min = 0.0, max = 1_000.0))]
    #[serde(rename = "overwrites")]
    pub overwrites_per_page: f64,
    /// Addresses that the warm-up overwrites: random ones (`"random"`, the default) or those that the workload writes (`"workload"`).
    /// With `"steady"`, nothing is overwritten: the drive is put directly into the steady state of random writes. Drives with
    /// superblocks do so by default. Such a drive has the default `"random"` if `overwrites`, `start`, or `load` (the file with a
    /// saved state) is set.
    pub pattern: WarmUpPattern,
}

impl Default for WarmUp {
    fn default() -> Self {
        Self { overwrites_per_page: 2.0, pattern: WarmUpPattern::Random }
    }
}

/// Addresses that the warm-up of a drive overwrites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WarmUpPattern {
    /// Overwrites addresses drawn uniformly from all pages that the drive offers to the host.
    #[default]
    Random,
    /// Overwrites the addresses that the workload itself writes.
    Workload,
    /// Overwrites nothing: the drive is put into the steady state of uniform random writes at once. Needs
    /// `ssd.superblock`, and is the default there.
    #[serde(rename = "steady")]
    SteadyStateWithoutWrites,
}
