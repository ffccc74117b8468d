//! Parameters of an array, as plain integers. The configuration fills them in and guarantees that they are consistent.

use super::{ParityHandle, ReadPlan, SlowMemberPeriod};
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
    /// Read plan: the way in which the array chooses the members from which a read is served.
    pub read_plan: ReadPlan,
    /// Settings of the read plan (the way in which the array chooses the members from which a read is served). Only three kinds of
    /// plans use them. Such plans avoid members that are collecting, or read the same data elsewhere if a read takes long (hedging),
    /// or predict slow reads.
    pub read_plan_params: ReadPlanParams,
    /// Settings of the write cache; `None` for an array without one.
    pub cache: Option<WriteCacheParams>,
    /// Limits of the array's controller on host requests in progress and on bandwidth; `None` if it has no limits.
    pub host_port: Option<ControllerLimits>,
}

/// Settings of a read plan (the way in which the array chooses the members from which a read is served). Only three kinds of plans use
/// them. Such plans avoid members that are collecting, or read the same data elsewhere if a read takes long (hedging), or predict slow
/// reads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadPlanParams {
    /// Time that a member takes to refuse a read, in nanoseconds. A member refuses a read that would have to wait for collection. The
    /// array then reads the data from another copy or, with parity, from the rest of the stripe.
    pub refusal_answer_ns: u64,
    /// Detail in which the host knows where garbage is being collected: by die or plane, by member, or by turn. With this knowledge,
    /// the read plan avoids reads that would wait for collection.
    pub collection_knowledge: HostKnowledgeOfCollection,
    /// True if members that are collecting are avoided by reads of the host and also by reads that precede a write with parity. The
    /// latter are reads of old data and old parity, or of the rest of the stripe. False if only reads of the host avoid such members.
    pub parity_update_reads_avoid_collection: bool,
    /// True if the host knows how long collection will last, false if it only knows where collection is in progress.
    pub knows_remaining_collection_time: bool,
    /// Time from sending a read until its data are also read elsewhere, if the read has not ended. Elsewhere is another copy or, with
    /// parity, the rest of the stripe.
    pub hedge_delay: HedgeAfter,
    /// True if reads that nobody needs any more are abandoned while they wait in the queues of their dies.
    pub abandons_waiting_reads: bool,
    /// Settings of the read plan `predict`. It predicts which reads will be slow, and reads their data elsewhere at once. Elsewhere is
    /// another copy or, with parity, the rest of the stripe.
    pub prediction: SlowReadPredictionParams,
}

/// Settings of the read plan `predict`. It predicts which reads will be slow, and reads their data elsewhere at once. Elsewhere is
/// another copy or, with parity, the rest of the stripe.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlowReadPredictionParams {
    /// Waiting time above which a read counts as slow, in nanoseconds. It is the time for which the read waits before it begins. The
    /// read plan predicts for each read if it will be slow.
    pub slow_wait_threshold_ns: u64,
    /// Probability that a slow read is predicted to be fast.
    pub false_accept: f64,
    /// Probability that a fast read is predicted to be slow.
    pub false_reject: f64,
    /// Time that a prediction takes before each read, in nanoseconds.
    pub prediction_time_per_read_ns: u64,
    /// True if the data of a read are also read elsewhere when the read takes long, whatever was predicted for it. Elsewhere is another
    /// copy or, with parity, the rest of the stripe.
    pub also_hedges: bool,
}

impl Default for SlowReadPredictionParams {
    fn default() -> Self {
        Self {
            slow_wait_threshold_ns: 1_000_000,
            false_accept: 0.05,
            false_reject: 0.05,
            prediction_time_per_read_ns: 5000,
            also_hedges: false,
        }
    }
}

impl Default for ReadPlanParams {
    fn default() -> Self {
        Self {
            refusal_answer_ns: 1000,
            collection_knowledge: HostKnowledgeOfCollection::PerDieOrPlane,
            parity_update_reads_avoid_collection: true,
            knows_remaining_collection_time: true,
            hedge_delay: HedgeAfter::P95OfReads { percentile_window_reads: 1024 },
            abandons_waiting_reads: false,
            prediction: SlowReadPredictionParams::default(),
        }
    }
}

/// Choice of the time from sending a read until its data are also read elsewhere, if the read has not ended. Elsewhere is another copy
/// or, with parity, the rest of the stripe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HedgeAfter {
    /// Waits this time before data are also read elsewhere, the same for all reads. It is in nanoseconds, at least 1.
    Time(u64),
    /// Waits for a percentile of the member's recent read durations before data are also read elsewhere. It is the 95th percentile of
    /// the member's last `percentile_window_reads` reads.
    P95OfReads {
        /// Number of the member's last reads of which the percentile is taken, at least 1.
        percentile_window_reads: u32,
    },
}

/// Choice of what the host knows about where garbage is being collected. With this knowledge, the read plan avoids reads that would
/// wait for collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostKnowledgeOfCollection {
    /// The host knows if collection blocks the page to be read. A collection blocks the whole die of its victim block or only the
    /// plane, as configured.
    PerDieOrPlane,
    /// The host only knows whether any die of the member collects.
    PerMember,
    /// The host knows by the clock whose turn it is to collect. A member in its turn counts as collecting, and no other member does.
    Turns,
}

/// Limits of an array's controller on host requests: how many it serves at a time, and its bandwidth. They hold even if the members
/// could serve more.
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
    /// Returns true if the read plan also reads data elsewhere when a read takes long (hedging). Elsewhere is another copy or, with
    /// parity, the rest of the stripe. The function does not test if the array has either of them.
    pub fn hedges_reads(&self) -> bool {
        self.read_plan.hedges() || (self.read_plan.predicts_slow_reads() && self.read_plan_params.prediction.also_hedges)
    }

    /// Returns true if the array decides for each read where to get its data. Two conditions must hold. The read plan avoids members
    /// that are collecting, hedges (also reads late data elsewhere), or predicts slow reads. The level has parity or copies, so that
    /// there is another way to the data.
    pub fn chooses_source_of_each_read(&self) -> bool {
        (self.read_plan.considers_collecting_members() || self.read_plan.hedges() || self.read_plan.predicts_slow_reads())
            && (self.level.parity_strips() > 0 || self.layout().copies_of_each_page() > 1)
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

/// Settings of the warm-up, which brings the members to a working state before the run.
#[derive(Debug, Clone, PartialEq)]
pub struct WarmUp {
    /// Number of random overwrites after filling, as a multiple of the exported capacity. 0 leaves the freshly filled state.
    pub overwrites_per_page: f64,
    /// Addresses of the overwrites of the warm-up.
    pub pattern: WarmUpPattern,
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
