//! Parameters of an array, as plain integers. The configuration fills them in and guarantees that they are consistent.

use super::{ArrayProcessor, ParityHandle, ReadPlan, SlowMemberPeriodParams};
use crate::TimeNs;
use crate::cache::WriteCacheParams;
use crate::coordination::CoordinationParams;
use crate::placement::{ArrayLayout, RaidLevel};
use crate::space::superblocks::{CollectionCourse, PointOfCycle};
use crate::ssd::SsdParams;

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
    pub failures: Vec<FailureParams>,
    /// Periods in which members are slow, each of one member.
    pub slow: Vec<SlowMemberPeriodParams>,
    /// Settings for rebuilding failed members, or `None`.
    pub rebuild: Option<RebuildParams>,
    /// Read plan, with its settings: the way in which the array chooses the members from which a read is served.
    pub read_plan: ReadPlan,
    /// Settings of the write cache; `None` for an array without one.
    pub cache: Option<WriteCacheParams>,
    /// Limits of the array's controller on host requests in progress and on bandwidth; `None` if it has no limits.
    pub host_port: Option<ControllerLimitsParams>,
}

/// Limits of the array's controller on the requests of the host, and its processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ControllerLimitsParams {
    /// Maximum number of host requests in progress at a time, at least 1; `None` for no limit.
    pub outstanding_requests_max: Option<u32>,
    /// Bandwidth for the data of host reads and writes, in bytes per second; `None` for no limit. The data of only one request are
    /// transferred at a time.
    pub bytes_per_s: Option<u64>,
    /// The processor that handles requests; `None` if that takes no time.
    pub processor: Option<ArrayProcessor>,
}

impl ControllerLimitsParams {
    /// Returns the time to transfer `bytes` bytes, in nanoseconds, rounded up.
    pub fn transfer_ns(&self, bytes: u64) -> u64 {
        let ns = |bytes_per_s| (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(bytes_per_s));
        self.bytes_per_s.map_or(0, |bytes_per_s| u64::try_from(ns(bytes_per_s)).unwrap_or(u64::MAX))
    }
}

/// The failure of one member at a given time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailureParams {
    /// Number of the member that fails.
    pub member: u32,
    /// Simulated time at which the member fails, in nanoseconds. Failures at the same time happen in the order of the list of failures.
    pub at_ns: TimeNs,
}

/// Settings for rebuilding failed members, each on its own spare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RebuildParams {
    /// Time from the failure to the start of rebuilding, in nanoseconds.
    pub start_delay_ns: u64,
    /// Minimum time from the start of rebuilding one strip to the start of rebuilding the next strip, in nanoseconds. It limits the
    /// speed of rebuilding.
    pub strip_interval_min_ns: u64,
    /// Number of strips that are rebuilt at a time, at least 1.
    pub strips_in_flight_max: u32,
    /// Number of spares (drives that replace failed members), at least 1. The first failures, in order of time, get a spare each.
    /// Members that fail later are not rebuilt.
    pub spares: u32,
    /// State of the spares when they replace failed members: blank, or warmed up by overwrites like the members.
    pub spare_state: InitialSpareState,
    /// True if rebuilding continues to its end after the last request.
    pub continues_after_last_request: bool,
}

/// State of a spare drive when it replaces a failed member: blank, or warmed up by overwrites.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InitialSpareState {
    /// Without data, as drives are delivered.
    Blank,
    /// Filled with data and warmed up like a member: in the state that many overwrites leave.
    WarmedUpByOverwrites,
}

impl ArrayParams {
    /// Returns true if the read plan decides for each read where to get its data.
    pub fn chooses_source_of_each_read(&self) -> bool {
        self.read_plan.has_choice(self.level.parity_strips() > 0, self.layout().copies_of_each_page() > 1)
    }

    /// Returns the number of spares that take the place of members which fail in the run, and the state in which the spares begin. The
    /// number is the smaller of `rebuild.spares` and the number of configured failures. Without failures or without rebuilding, it is 0,
    /// and the state is `None`.
    pub fn spares_and_state(&self) -> (u32, Option<InitialSpareState>) {
        match self.rebuild {
            Some(rebuild) if !self.failures.is_empty() => (rebuild.spares.min(self.failures.len() as u32), Some(rebuild.spare_state)),
            _ => (0, None),
        }
    }

    /// Returns the members that fail, in order of time.
    pub fn failures_in_time_order(&self) -> Vec<FailureParams> {
        let mut failures = self.failures.clone();
        failures.sort_by_key(|failure| failure.at_ns);
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
        let span = self.ssd.superblock.as_ref().map_or(1, |superblock| superblock.collection.double_pace_at_deficit_superblocks);
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

/// Settings of the warm-up, which brings the members to a working state before the run.
#[derive(Debug, Clone, PartialEq)]
pub struct WarmUp {
    /// Number of random overwrites after filling, as a multiple of the exported capacity. 0 leaves the freshly filled state.
    pub overwrites_per_page: f64,
    /// Addresses of the overwrites of the warm-up.
    pub pattern: WarmUpPattern,
}

/// Addresses of the overwrites of the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarmUpPattern {
    /// Overwrites pages at random. Each exported page (offered to the host) is equally likely.
    Random,
    /// Overwrites the addresses that the workload itself writes.
    Workload,
    /// Makes no overwrites. Members with superblocks are put directly into the state in which uniform random writes would leave them.
    SteadyStateWithoutWrites,
}
