//! Coordinated garbage collection: a controller that knows the state of members from their messages, and tells them when to collect (GGC
//! section 4).
//!
//! ```text
//!  member ── GcRequest, Participate, GcState, GcDone ──────────────▶ controller
//!  member ◀───── ForceGc, StopGc, Grant, Deny, GcState (question) ── controller
//! ```
//!
//! A *cycle* begins when the controller forces members to collect. It ends when all of them have reported that they are done. Schemes
//! differ in the members that they force and in the moment.
//!
//! To add a scheme, write its file and a line of `policies!` below. The file has the scheme's keys, the controller's half (`Scheme`), the
//! member's half (`MemberDuty`), and the counters of both. A scheme that counts also has a line of `optional_counts!`.

mod cycle;
mod duty;
mod mailbox;
mod predictable_latency;
mod protocol;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod tiny;

use crate::TimeNs;
use crate::ids::MemberSet;
use crate::policy::{ParameterProblem, policies};
use crate::request::OpKind;
use crate::rng::RandomStream;
use crate::units::{Duration, GcStopThreshold};
pub(crate) use cycle::{Cycle, JoinsCycles};
pub(crate) use duty::{Desk, DutyOf, MemberDuty, MemberLook};
pub use mailbox::message_counts_by_name;
pub(crate) use mailbox::{Mail, Mailbox};
pub use predictable_latency::{PredictableLatencyCounters, PredictableLatencySettings, ReadsInWindow};
pub use protocol::*;
pub use rotate::RotationCounters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use stagger::{CollectingMembersLimit, CollectionPermissionScope};
pub use windows::{OutOfTurnCollectionCounters, StatedCount, StatedTime, TurnEndMargin, WindowProtocol};

policies! {
    /// Coordination of the members' garbage collection.
    #[derive(Clone, PartialEq)]
    pub enum CoordinationPolicy: Scheme, tag "scheme" {
        local::Local = "local",
        reactive_inclusive::ReactiveInclusive = "reactive-inclusive",
        reactive_selective::ReactiveSelective = "reactive-selective",
        proactive_idle::ProactiveIdle = "proactive-idle",
        proactive_soft_limit::ProactiveSoftLimit = "proactive-soft-limit",
        stagger::StaggeredCollection = "stagger",
        windows::CollectionTimeWindows = "windows",
        rotate::RotatingCollection = "rotate",
        ideal::ZeroTimeCollection = "ideal",
    }

    /// Returns true if a controller in the array tells members when to collect.
    pub fn has_coordinating_controller(&self) -> bool;
    /// Returns true if garbage collection takes no simulated time under this scheme, as under `ideal`. It still moves pages and erases
    /// blocks.
    pub fn collection_takes_no_time(&self) -> bool;
    /// Returns true if the controller forces several members to collect at the same time, in cycles. A cycle lasts from the controller's
    /// order until all forced members have finished.
    pub fn forces_members_to_collect_together(&self) -> bool;
    /// Returns true if members register with the controller when a pool of blocks has come down to a given number of free blocks
    /// (T_soft). The controller then forces them to collect in the next cycle. A cycle lasts from the controller's order until all
    /// forced members have finished.
    pub fn members_report_low_free_blocks(&self) -> bool;
    /// Returns the problems of the scheme's parameters: values that their types admit, but that are not allowed. Some limits depend on
    /// the sizes of the members' pools of blocks (of a plane or of a die).
    pub fn problems(&self, pools: &BlockPoolSizeAndThresholds) -> Vec<ParameterProblem>;
    /// Returns the parameters that have no effect because of others, each with the setting that it needs.
    pub fn parameters_without_effect(&self) -> Vec<(&'static str, &'static str)>;
    /// Returns true if each member has its turn to collect at times that everyone knows by the clock.
    pub fn has_turns_by_the_clock(&self) -> bool;
    fn begin(&mut self, array: &CoordinatedArray);
    fn receive(&mut self, now: TimeNs, from: u32, message: ToController, cycle: &mut Cycle);
    fn members_of_cycle(&self, cycle: &Cycle) -> MemberSet;
    fn request_arrives(&mut self, now: TimeNs, cycle: &mut Cycle);
    fn request_done(&mut self, now: TimeNs, cycle: &mut Cycle);
    fn next_tick(&self) -> TimeNs;
    fn tick(&mut self, now: TimeNs, cycle: &mut Cycle);
    fn acts_after_requests(&self) -> bool;
    fn forget(&mut self, member: u32);
    fn replace(&mut self, failed: u32, spare: u32);
    fn add_counters(&self, counters: &mut SchemeCounters);
    fn predictable_latency(&self) -> Option<PredictableLatencyCounters>;

    /// Duty of a member for the scheme of its array.
    #[derive(Debug, Clone)]
    pub(crate) enum Duty: Scheme::Duty = duty(params: &CoordinationParams, pools: &BlockPoolSizeAndThresholds);

    pub(crate) fn holds_back(&self) -> bool;
    pub(crate) fn has_asked(&self) -> bool;
    pub(crate) fn work_free_blocks(&self) -> Option<u32>;
    pub(crate) fn takes_part(&self, free_blocks: u32) -> bool;
    pub(crate) fn takes_turns(&self) -> bool;
    pub(crate) fn collect_at(&self, now: TimeNs) -> Option<u32>;
    pub(crate) fn turn_lasts_until(&self, now: TimeNs) -> Option<TimeNs>;
    pub(crate) fn joins(&mut self, now: TimeNs, desk: &mut Desk);
    pub(crate) fn turn_begins(&mut self, now: TimeNs, until: TimeNs, end: TimeNs);
    pub(crate) fn turn_ends(&mut self, now: TimeNs, desk: &mut Desk) -> bool;
    pub(crate) fn check_window(&mut self, now: TimeNs, desk: &mut Desk);
    pub(crate) fn read_answered(&mut self, given: TimeNs, answered: TimeNs);
    pub(crate) fn measuring_begins(&mut self);
    pub(crate) fn predictable_latency(&self) -> Option<PredictableLatencyCounters>;
    pub(crate) fn collection_overran(&mut self);
    pub(crate) fn reacts_to_writes(&self) -> bool;
    pub(crate) fn operation_given(&mut self, now: TimeNs, kind: OpKind, desk: &mut Desk);
    pub(crate) fn host_write_began(&mut self, at: TimeNs, free_blocks: u32, is_at_limit: bool, desk: &mut Desk);
    pub(crate) fn needed_clean_began(&mut self, at: TimeNs, desk: &mut Desk);
    pub(crate) fn needed_clean_ended(&mut self, at: TimeNs, began: TimeNs, desk: &mut Desk);
    pub(crate) fn needed_collection_began(&mut self, at: TimeNs, desk: &mut Desk);
    pub(crate) fn superblock_opened(&mut self, at: TimeNs, look: &MemberLook, desk: &mut Desk);
    pub(crate) fn superblock_freed(&mut self, at: TimeNs, desk: &mut Desk);
    pub(crate) fn denied(&mut self, now: TimeNs, desk: &mut Desk);
    pub(crate) fn work_begins(&mut self);
    pub(crate) fn work_ended(&mut self, at: TimeNs, drive: Option<&MemberLook>, desk: &mut Desk);
    pub(crate) fn counts_pages_left(&self, now: TimeNs, has_work: bool) -> bool;
    pub(crate) fn check(&mut self, now: TimeNs, look: &MemberLook, desk: &mut Desk) -> Option<ForcedCollectionAmount>;
    pub(crate) fn add_counters(&self, counters: &mut SchemeCounters);
}

optional_counts! {
    /// Counters of the coordination scheme, of its controller and of its members. Each set is `None` unless the scheme keeps it.
    pub struct SchemeCounters {
        /// Collections that began outside their member's turn to collect or lasted beyond it, of the scheme `windows`.
        turns: OutOfTurnCollectionCounters;
        /// Turns to collect, of the scheme `rotate`.
        rotation: RotationCounters;
    }
}

/// A rule that decides which members may collect, and which must. A scheme knows the members only from their messages.
///
/// The public fields of its type are the parameters that users write, each with a default. State that is not a parameter is skipped by
/// serde.
pub(crate) trait Scheme: Default {
    /// The member's half of the scheme. [`JoinsCycles`] is that of members which the controller forces to collect.
    type Duty: DutyOf<Self>;

    /// Returns the duty of a member that joins the protocol. `pools` has the sizes of its pools of blocks.
    fn duty(&self, params: &CoordinationParams, pools: &BlockPoolSizeAndThresholds) -> Self::Duty {
        DutyOf::new(self, params, pools)
    }

    /// Returns true if a controller in the array tells members when to collect.
    fn has_coordinating_controller(&self) -> bool {
        true
    }

    /// Returns true if garbage collection takes no simulated time under this scheme, as under `ideal`. It still moves pages and erases
    /// blocks.
    fn collection_takes_no_time(&self) -> bool {
        false
    }

    /// Returns true if the controller forces several members to collect at the same time, in cycles. A cycle lasts from the controller's
    /// order until all forced members have finished (rule 44 of docs/rules.md).
    fn forces_members_to_collect_together(&self) -> bool {
        self.has_coordinating_controller()
    }

    /// Returns true if members register with the controller when a pool of blocks has come down to a given number of free blocks
    /// (T_soft). The controller then forces them to collect in the next cycle. A cycle lasts from the controller's order until all
    /// forced members have finished (rule 44 of docs/rules.md).
    fn members_report_low_free_blocks(&self) -> bool {
        false
    }

    /// Returns the problems of the scheme's parameters: values that their types admit, but that are not allowed. Some limits depend on
    /// the sizes of the members' pools of blocks (of a plane or of a die).
    fn problems(&self, _pools: &BlockPoolSizeAndThresholds) -> Vec<ParameterProblem> {
        Vec::new()
    }

    /// Returns the parameters that have no effect because of others, each with the setting that it needs.
    fn parameters_without_effect(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }

    /// Returns true if each member has its turn to collect at times that everyone knows by the clock.
    fn has_turns_by_the_clock(&self) -> bool {
        false
    }

    /// Prepares the scheme for a run of an array with these properties.
    fn begin(&mut self, _array: &CoordinatedArray) {}

    /// Processes a message that has arrived from a member. The default leaves it to [`Cycle::receive`] (rule 44 of docs/rules.md).
    fn receive(&mut self, now: TimeNs, from: u32, message: ToController, cycle: &mut Cycle) {
        cycle.receive(now, from, message);
    }

    /// Returns the members that the controller must force to collect in the cycle that begins now, because members have asked for it. A
    /// cycle lasts from the controller's order until all forced members have finished.
    fn members_of_cycle(&self, cycle: &Cycle) -> MemberSet {
        cycle.registered()
    }

    /// Reacts to the arrival of a request at the array. [`Cycle`], the state that all schemes share, counts the request as outstanding
    /// already.
    fn request_arrives(&mut self, _now: TimeNs, _cycle: &mut Cycle) {}

    /// Reacts to the end of a request. [`Cycle`], the state that all schemes share, no longer counts the request as outstanding.
    fn request_done(&mut self, _now: TimeNs, _cycle: &mut Cycle) {}

    /// Returns the time at which the scheme wants to act by [`Scheme::tick`], or [`TimeNs::MAX`] for never.
    fn next_tick(&self) -> TimeNs {
        NEVER
    }

    /// Acts at the time that [`Scheme::next_tick`] returned. All messages of this nanosecond have arrived before.
    fn tick(&mut self, _now: TimeNs, _cycle: &mut Cycle) {}

    /// Returns true if [`Scheme::tick`] is also called after the last request has ended.
    fn acts_after_requests(&self) -> bool {
        false
    }

    /// Forgets what a member has told the controller or asked of it, such as its number of free blocks, because the member has failed.
    fn forget(&mut self, _member: u32) {}

    /// Lets a spare take the place of a failed member.
    fn replace(&mut self, _failed: u32, _spare: u32) {}

    /// Sets the counters that the controller keeps for the scheme, and those that its members keep to 0.
    fn add_counters(&self, _counters: &mut SchemeCounters) {}

    /// Returns counts of 0 if members have the windows of NVMe's predictable latency mode.
    fn predictable_latency(&self) -> Option<PredictableLatencyCounters> {
        None
    }

    /// Returns a scheme with random parameters, for random cases in tests.
    fn random_for_tests(_stream: &mut RandomStream) -> Self {
        Self::default()
    }
}

/// Time of something that never happens.
const NEVER: TimeNs = TimeNs::MAX;

/// Size of each pool of blocks (of a plane or of a die) of the members, in blocks, and thresholds for its free blocks. A drive with
/// superblocks counts as one pool, whose blocks are the superblocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockPoolSizeAndThresholds {
    /// Number of blocks in a pool of blocks.
    pub blocks_per_pool: u32,
    /// Number of blocks of a pool that are free after the array was filled, including the open block.
    pub(crate) reserved_blocks: u32,
    /// Start threshold of collection, in free blocks. Blocks of a pool (of a plane or of a die) are collected when the pool has so few
    /// free blocks, or fewer. For a drive with superblocks, it is the number of free superblocks that the drive tries to keep.
    pub start_threshold_free_blocks: u32,
    /// Largest number of free blocks that a threshold derived by [`BlockPoolSizeAndThresholds::times_start`] may have. For a drive with
    /// superblocks, it is the largest number at which the drive still has something to do when it is told to collect. Otherwise, it equals
    /// `reserved_blocks`.
    pub(crate) most_free_blocks: u32,
    /// Time of the longest collection of one victim block, in nanoseconds: all pages of the block but one are moved, and it is erased.
    /// A drive with superblocks can stop in the middle of a collection. For such a drive, it is the time of one erase and one program.
    pub longest_victim_collection_ns: u64,
}

/// Properties of an array that its coordination scheme may depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CoordinatedArray {
    /// Size of the members' pools of blocks.
    pub(crate) pools: BlockPoolSizeAndThresholds,
    /// Number of members, without spares.
    pub(crate) members: u32,
    /// Number of copies of each page. Consecutive members hold the copies.
    pub(crate) copies: u32,
    /// Number of parity strips in a stripe.
    pub(crate) parity_strips: u32,
    /// Seed of the run.
    pub(crate) seed: u64,
}

impl BlockPoolSizeAndThresholds {
    /// Returns `factor` times the number of free blocks at which collection starts, as a number of free blocks. It is rounded up, and at
    /// most the number at which members have something to do when they are told to collect.
    pub(crate) fn times_start(&self, factor: f64) -> u32 {
        // 2.2 times 25 is 55, although the nearest number to 2.2 is a little more.
        let blocks = (factor * f64::from(self.start_threshold_free_blocks) - 1e-9).ceil();
        (blocks.max(0.0) as u32).min(self.most_free_blocks)
    }

    /// Returns a problem of the configuration key `key` if its value `limit`, a number of free blocks of a pool, is not allowed. The value
    /// must lie above `start_threshold_free_blocks`, and must not exceed `reserved_blocks`. [`DEFAULT_LOW_FREE_BLOCKS_THRESHOLD`] is
    /// always allowed, even if it exceeds `reserved_blocks`.
    pub fn stop_threshold_problem(&self, key: &'static str, limit: GcStopThreshold) -> Option<ParameterProblem> {
        let blocks = limit.threshold_free_blocks_for_pool(self.blocks_per_pool, self.start_threshold_free_blocks);
        let fits = blocks > self.start_threshold_free_blocks && blocks <= self.reserved_blocks;
        (limit != DEFAULT_LOW_FREE_BLOCKS_THRESHOLD && !fits).then(|| ParameterProblem {
            key,
            message: format!(
                "which comes to {blocks} free blocks, but {} (one more than ssd.gc.start) to {} (the reserve) are allowed",
                self.start_threshold_free_blocks + 1,
                self.reserved_blocks
            ),
        })
    }
}

/// Default for the number of free blocks at or below which a pool of blocks counts as low in free blocks. It is two more than the start
/// threshold of collection.
pub const DEFAULT_LOW_FREE_BLOCKS_THRESHOLD: GcStopThreshold = GcStopThreshold::AboveStart(2);

/// Returns a problem if a time does not lie between `min` and an hour.
pub fn time_range_problem(key: &'static str, time: Duration, min: Duration) -> Option<ParameterProblem> {
    const LONGEST: Duration = Duration { ns: 3_600_000_000_000 };
    let message = || format!("but {min} to 1h is allowed");
    (time < min || time > LONGEST).then(|| ParameterProblem { key, message: message() })
}

/// Shortest time between two checks of the controller. With more frequent ones, a simulation would spend most of its computing time on
/// them.
const SHORTEST_CHECK: Duration = Duration { ns: 1_000 };

/// Keys that apply to every scheme in which a controller of the array decides which members collect garbage, and when. The scheme itself
/// has keys of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CoordinationParams {
    /// Amount of garbage collection that each die does when the controller forces its member to collect, or permits it.
    pub force_until: ForcedCollectionAmount,
    /// True if all dies of a member collect when the controller forces the member to collect. False if only dies that are short of
    /// free blocks collect. Such a die has a pool of blocks with at most as many free blocks as the key `t_soft` says.
    pub across_dies: bool,
    /// Moment at which a member asks the controller to force members to collect together. With `"at-start"`, the member asks when it
    /// begins to collect by itself. With `"soft"`, it asks earlier, before it must collect. The scheme decides which members are then
    /// forced. By default `"soft"` if the waiting time of the controller (the key `delay`) is above 0, otherwise `"at-start"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notify: Option<JointCollectionRequestTiming>,
    /// Number of free blocks at or below which a pool of blocks (of a plane or die) counts as low. With the schemes `reactive-selective`
    /// and `proactive-idle`, a member with a low pool registers with the controller. When the controller next forces members to collect,
    /// it forces all that have registered. With `notify = "soft"`, a member with a low pool asks the controller to force it to collect.
    pub t_soft: GcStopThreshold,
    /// Time from a member's first message that asks for forced collection until the controller forces members to collect, so that more
    /// members can ask. With `notify = "soft"`, the controller forces members earlier if an asking member would otherwise have to
    /// collect by itself.
    pub delay: Duration,
    /// True if the controller does not wait when the array is idle. It then forces members to collect as soon as no host request is
    /// outstanding. If false, it always waits for the time in the key `delay` after a member has asked for forced collection. The scheme
    /// decides which members collect. Only with `notify = "soft"`.
    pub at_idle: bool,
    /// Answer to a message that asks for forced collection while members are forced already. Only with `notify = "at-start"`.
    pub during_cycle: RequestsDuringCycle,
    /// Answer of the controller to a member that asks for forced collection: it forces the members that the scheme chooses, or ignores all
    /// messages.
    pub answer: ControllerAnswer,
    /// List of the members (counted from 0) that exchange messages with the controller of globally coordinated garbage collection
    /// (GGC). Other members collect by themselves. By default, all members exchange messages with the controller.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub ggc_aware: Option<Vec<u32>>,
    /// Latency of each kind of message between the controller and a member.
    pub latency: MessageLatency,
    /// Scheme that decides which members must or may collect, and when.
    #[serde(skip)]
    pub scheme: CoordinationPolicy,
    /// The members that exchange messages with the controller, by `ggc_aware`.
    #[serde(skip)]
    pub coordinated_members: MemberSet,
}

impl Default for CoordinationParams {
    fn default() -> Self {
        Self {
            force_until: ForcedCollectionAmount::OneVictimPerDie,
            across_dies: true,
            notify: None,
            t_soft: DEFAULT_LOW_FREE_BLOCKS_THRESHOLD,
            delay: Duration { ns: 0 },
            at_idle: false,
            during_cycle: RequestsDuringCycle::Absorb,
            answer: ControllerAnswer::Prompt,
            ggc_aware: None,
            latency: MessageLatency::default(),
            scheme: CoordinationPolicy::default(),
            coordinated_members: MemberSet::NONE,
        }
    }
}

impl CoordinationParams {
    /// Returns true if the member takes part in the coordination. The other members collect by themselves.
    pub(crate) fn is_ggc_aware(&self, member: u32) -> bool {
        self.coordinated_members.contains(member)
    }

    /// Returns the number of free blocks at or below which a pool counts as low.
    pub fn t_soft_free_blocks(&self, pools: &BlockPoolSizeAndThresholds) -> u32 {
        self.t_soft.threshold_free_blocks_for_pool(pools.blocks_per_pool, pools.start_threshold_free_blocks)
    }

    /// Returns the moment at which a member asks the controller to force members to collect together.
    pub fn notify(&self) -> JointCollectionRequestTiming {
        match self.notify {
            _ if !self.scheme.forces_members_to_collect_together() => JointCollectionRequestTiming::AtStartThreshold,
            Some(notify) => notify,
            None if self.delay.ns > 0 => JointCollectionRequestTiming::AtSoftThreshold,
            None => JointCollectionRequestTiming::AtStartThreshold,
        }
    }

    /// Returns true if the controller answers messages.
    pub fn answers(&self) -> bool {
        self.answer == ControllerAnswer::Prompt
    }

    /// Returns the duty of a member that joins the protocol. `pools` has the sizes of its pools of blocks.
    pub(crate) fn member_duty(&self, pools: &BlockPoolSizeAndThresholds) -> Duty {
        self.scheme.duty(self, pools)
    }

    /// Returns true if the controller must know how many page writes each member receives (rule 120).
    pub(crate) fn counts_pages(&self) -> bool {
        self.notify() == JointCollectionRequestTiming::AtSoftThreshold && self.answers()
    }
}

/// An action that the controller asks the array to perform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ControllerAction {
    /// Sends this message to the member with this number.
    Message(u32, ToMember),
    /// Calls [`Controller::begin_cycle`] at this time.
    BeginCycleAt(TimeNs),
    /// Tells the member with this number something at this time. It is no message, because the member knows it by the clock.
    TellAt(TimeNs, u32, ToMember),
    /// Asks the array to watch how many page writes the member with the first number receives. The second number is a limit, counted
    /// from the start of the run. The array calls [`Controller::page_allowance_is_used_up`] as soon as the member has received more
    /// page writes.
    WatchPageWrites(u32, u64),
}

impl ControllerAction {
    /// Returns what tells a member of its turn: its begin now, the time before which collections may begin, and its end.
    pub(crate) fn turn(now: TimeNs, member: u32, begin_cleans_until: TimeNs, end: TimeNs) -> [Self; 3] {
        [
            Self::TellAt(now, member, ToMember::BeginTurn { begin_cleans_until, end }),
            Self::TellAt(begin_cleans_until, member, ToMember::CloseTurn),
            Self::TellAt(end, member, ToMember::EndTurn),
        ]
    }
}

/// The controller of an array: a scheme, and the state that all schemes share.
#[derive(Debug, Clone)]
pub(crate) struct Controller {
    scheme: CoordinationPolicy,
    cycle: Cycle,
    /// False if the controller never answers.
    answers: bool,
    /// True after the end of the workload.
    is_over: bool,
    /// Duty of a member that joins the protocol.
    duty: Duty,
    uncoordinated: UncoordinatedCleans,
}

impl Controller {
    /// Returns a controller that knows nothing about the members except the size of their pools.
    pub(crate) fn new(params: &CoordinationParams, array: &CoordinatedArray) -> Self {
        let mut scheme = params.scheme.clone();
        scheme.begin(array);
        Self {
            scheme,
            cycle: Cycle::new(params),
            answers: params.answers(),
            is_over: false,
            duty: params.member_duty(&array.pools),
            uncoordinated: UncoordinatedCleans::default(),
        }
    }

    /// Returns the time at which [`Controller::tick`] is due, or [`TimeNs::MAX`] for never.
    #[inline]
    pub(crate) fn next_tick(&self) -> TimeNs {
        if self.answers && (!self.is_over || self.scheme.acts_after_requests()) { self.scheme.next_tick() } else { NEVER }
    }

    /// Moves the actions that the controller has asked for since the last call into `out`.
    pub(crate) fn take_actions(&mut self, out: &mut Vec<ControllerAction>) {
        self.cycle.take_actions(out);
    }

    /// Ends checks and collection in idle time for good, because the workload is over.
    pub(crate) fn end_checks(&mut self) {
        self.is_over = true;
        self.cycle.end_idle();
    }

    /// Counts a request that has arrived at the array.
    pub(crate) fn request_arrives(&mut self, now: TimeNs) {
        self.cycle.request_arrives();
        self.scheme.request_arrives(now, &mut self.cycle);
    }

    /// Counts a request as done.
    pub(crate) fn request_done(&mut self, now: TimeNs) {
        self.cycle.request_done(now);
        self.scheme.request_done(now, &mut self.cycle);
    }

    /// Returns true if the member has failed.
    pub(crate) fn has_failed(&self, member: u32) -> bool {
        self.cycle.has_failed(member)
    }

    /// Excludes a failed member from all later cycles (rule 65).
    pub(crate) fn member_failed(&mut self, member: u32) {
        self.cycle.member_failed(member);
        self.scheme.forget(member);
    }

    /// Replaces a failed member by a spare. If the failed member took part in the coordination, the spare does so, too, and the method
    /// returns its duty.
    pub(crate) fn replace(&mut self, failed: u32, spare: u32) -> Option<Duty> {
        self.scheme.replace(failed, spare);
        self.cycle.replace(failed, spare).then(|| self.duty.clone())
    }

    /// Processes a message that has arrived from a member.
    pub(crate) fn receive(&mut self, now: TimeNs, member: u32, message: ToController) {
        let asks = matches!(message, ToController::GcRequest(_) | ToController::RegisterForCycle | ToController::AskGc { .. });
        if self.answers && !(asks && self.cycle.has_failed(member)) {
            self.scheme.receive(now, member, message, &mut self.cycle);
        }
    }

    /// Lets the scheme act at the time that it has asked for.
    pub(crate) fn tick(&mut self, now: TimeNs) {
        self.scheme.tick(now, &mut self.cycle);
    }

    /// Begins the cycle of forced collection (from the controller's order until all forced members have finished) that members have asked
    /// for. With [`JointCollectionRequestTiming::AtSoftThreshold`], it begins only if it is due.
    pub(crate) fn begin_cycle(&mut self, now: TimeNs) {
        if self.cycle.may_begin(now) {
            let members = self.scheme.members_of_cycle(&self.cycle);
            self.cycle.begin(members);
        }
    }

    /// Records that a member has received more page writes than it said it could absorb.
    pub(crate) fn page_allowance_is_used_up(&mut self, now: TimeNs, member: u32) {
        self.cycle.page_allowance_is_used_up(now, member);
    }

    /// Counts a clean (the collection of one victim block) that a member had to begin although the controller had not answered its
    /// request (rule 121).
    pub(crate) fn collects_unanswered(&mut self, member: u32) {
        if self.cycle.has_failed(member) {
            return;
        }
        let waits_for_others = !self.cycle.collecting().is_empty() && !self.cycle.collecting().contains(member);
        let count = if waits_for_others { &mut self.uncoordinated.during_cycles } else { &mut self.uncoordinated.unanswered };
        *count += 1;
    }

    /// Returns the number of cleans (collections of one victim block) that members had to begin although the controller had not answered
    /// their request (rule 121).
    pub(crate) fn uncoordinated_cleans(&self) -> UncoordinatedCleans {
        self.uncoordinated
    }

    /// Returns counts of 0 if members have the windows of NVMe's predictable latency mode.
    pub(crate) fn predictable_latency(&self) -> Option<PredictableLatencyCounters> {
        self.scheme.predictable_latency()
    }

    /// Returns the counters that the scheme keeps. Those of its members are 0.
    pub(crate) fn scheme_counters(&self) -> SchemeCounters {
        let mut counters = SchemeCounters::default();
        self.scheme.add_counters(&mut counters);
        counters
    }
}
