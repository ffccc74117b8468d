//! Parameters of an array, as plain integers. The configuration fills them in and guarantees that they are consistent.

use super::{ReadPlan, SlowMemberParams};
use crate::TimeNs;
use crate::cache::CacheParams;
use crate::coordination::CoordinationParams;
use crate::placement::{Layout, Level};
use crate::ssd::SsdParams;

/// Parameters of an array of equal SSDs.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayParams {
    /// RAID level, which spreads addresses over the members.
    pub level: Level,
    /// Number of members, without spares.
    pub members: u32,
    /// Number of consecutive pages of the array that lie on one member before the next member follows.
    pub stripe_unit_pages: u32,
    /// Parameters of each member.
    pub ssd: SsdParams,
    /// Settings for coordinating the members' garbage collection; `None` if each member collects by itself.
    pub coordination: Option<CoordinationParams>,
    /// Members that fail, each at most once. The level must survive a failure.
    pub failures: Vec<FailureParams>,
    /// Periods in which members are slow, each of one member.
    pub slow: Vec<SlowMemberParams>,
    /// Settings for rebuilding failed members, or `None`.
    pub rebuild: Option<RebuildParams>,
    /// Read plan: the way in which the array chooses the members from which a read is served.
    pub read_plan: ReadPlan,
    /// Settings of the read plan (the way in which the array chooses the members from which a read is served). Only three kinds of
    /// plans use them. Such plans avoid members that are collecting, or read the same data elsewhere if a read takes long (hedging),
    /// or predict slow reads.
    pub read_plan_params: ReadPlanParams,
    /// Settings of the write cache; `None` for an array without one.
    pub cache: Option<CacheParams>,
    /// Limits of the array's controller on host requests in progress and on bandwidth; `None` if it has no limits.
    pub host_port: Option<HostPortParams>,
}

/// Settings of a read plan (the way in which the array chooses the members from which a read is served). Only three kinds of plans use
/// them. Such plans avoid members that are collecting, or read the same data elsewhere if a read takes long (hedging), or predict slow
/// reads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadPlanParams {
    /// Time after which a member refuses a read that would wait for collection, in nanoseconds.
    pub refusal_answer_ns: u64,
    /// Knowledge of the host about collection.
    pub collection_knowledge: CollectionKnowledge,
    /// True if members that are collecting are avoided by reads of the host and also by reads that precede a write with parity. The
    /// latter are reads of old data and old parity, or of the rest of the stripe. False if only reads of the host avoid such members.
    pub plans_reads_before_writes: bool,
    /// True if the host knows how long collection will last, false if it only knows where collection is in progress.
    pub knows_remaining_time: bool,
    /// Time after which a read that has not ended is also read elsewhere.
    pub after: HedgeAfter,
    /// True if reads that nobody needs any more are abandoned while they wait in the queues of their dies.
    pub abandons_waiting_reads: bool,
    /// Settings of a read plan that predicts which reads will be slow.
    pub prediction: ReadPredictionParams,
}

/// Settings of a read plan that predicts which reads will be slow, and reads their data elsewhere at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadPredictionParams {
    /// Longest time that a read can wait before it begins without being slow, in nanoseconds. A read that waits longer is slow.
    pub slow_ns: u64,
    /// Probability that a slow read is predicted to be fast.
    pub false_accept: f64,
    /// Probability that a fast read is predicted to be slow.
    pub false_reject: f64,
    /// Time that a prediction takes before each read, in nanoseconds.
    pub cost_ns: u64,
    /// True if the data of reads that take long in spite of the prediction are also read elsewhere.
    pub then_hedges: bool,
}

impl Default for ReadPredictionParams {
    fn default() -> Self {
        Self { slow_ns: 1_000_000, false_accept: 0.05, false_reject: 0.05, cost_ns: 5000, then_hedges: false }
    }
}

impl Default for ReadPlanParams {
    fn default() -> Self {
        Self {
            refusal_answer_ns: 1000,
            collection_knowledge: CollectionKnowledge::PerDieOrPlane,
            plans_reads_before_writes: true,
            knows_remaining_time: true,
            after: HedgeAfter::P95OfReads { reads_observed: 1024 },
            abandons_waiting_reads: false,
            prediction: ReadPredictionParams::default(),
        }
    }
}

/// Time after which a read that has not ended is also read elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HedgeAfter {
    /// The same time for all reads, in nanoseconds, at least 1.
    Time(u64),
    /// The 95th percentile of the durations of the member's last `reads_observed` reads.
    P95OfReads {
        /// Number of the member's last reads of which the percentile is taken, at least 1.
        reads_observed: u32,
    },
}

/// Knowledge of the host about collection in the members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CollectionKnowledge {
    /// The host knows whether the die or plane of a page collects.
    PerDieOrPlane,
    /// The host only knows whether any die of the member collects.
    PerMember,
    /// The host knows by the clock whose turn it is to collect. A member in its turn counts as collecting, and no other member does.
    Turns,
}

/// Limits of the array's controller on the requests of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostPortParams {
    /// Maximum number of host requests in progress at a time, at least 1; `None` for no limit.
    pub outstanding_requests_max: Option<u32>,
    /// Bandwidth for the data of host reads and writes, in bytes per second; `None` for no limit. The data of only one request are
    /// transferred at a time.
    pub bytes_per_s: Option<u64>,
}

impl HostPortParams {
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
    /// Number of spares, at least 1. As many failures as there are spares are rebuilt; earlier failures come first.
    pub spares: u32,
    /// State of the spares when they are needed.
    pub spare_state: SpareState,
    /// True if rebuilding continues to its end after the last request.
    pub continues_after_last_request: bool,
}

/// State of a spare when it is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpareState {
    /// Filled and warmed up like a member.
    Warm,
    /// Filled, but not warmed up.
    Fresh,
}

impl ArrayParams {
    /// Returns true if the data of a read that takes long are also read elsewhere, provided that there is another way to them.
    pub fn hedges_reads(&self) -> bool {
        self.read_plan.hedges() || (self.read_plan.predicts() && self.read_plan_params.prediction.then_hedges)
    }

    /// Returns true if the array chooses for each read where to get its data. The read plan must avoid members that are collecting,
    /// hedge, or predict slow reads. The level must offer another way to the data: parity or a copy.
    pub fn plans_reads(&self) -> bool {
        (self.read_plan.considers_member_state() || self.read_plan.hedges() || self.read_plan.predicts())
            && (self.level.parity_strips() > 0 || self.layout().copies_of_each_page() > 1)
    }

    /// Returns the number of spares that the failures may need, and their state.
    pub fn spares_and_state(&self) -> (u32, Option<SpareState>) {
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
        if state == Some(SpareState::Warm) { spares } else { 0 }
    }

    /// Returns the layout of the array's pages on its members.
    pub fn layout(&self) -> Layout {
        Layout::new(self.level, self.members, self.stripe_unit_pages, self.ssd.exported_pages())
    }
}

/// Settings of the warm-up, which brings the members to a working state before the run.
#[derive(Debug, Clone, PartialEq)]
pub struct WarmUp {
    /// Number of random overwrites after filling, as a multiple of the exported capacity. 0 leaves the freshly filled state.
    pub overwrites_per_page: f64,
    /// Addresses of the overwrites.
    pub pattern: WarmUpPattern,
}

/// Addresses of the overwrites of the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarmUpPattern {
    /// Uniform over the exported pages.
    Random,
    /// The write addresses of the workload itself.
    Workload,
    /// No overwrites are made. Members with superblocks are put directly into the state in which uniform random writes would leave them.
    SteadyState,
}
