//! Messages between the array's controller and its members (GGC 4.2 and 4.3; rules 41, 42 and 119).

use crate::TimeNs;
use crate::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Kind of a message by which the array's controller and a member coordinate garbage collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    /// Request of a member to collect: one of its pools of blocks has reached the start threshold of collection, or soon will. In the
    /// scheme `stagger`, the message only announces that the member collects now, because it could not wait for permission.
    GcRequest,
    /// Registration of a member for the next cycle of forced collection (from the controller's order until all forced members have
    /// finished). One of the member's pools of blocks has come down to the threshold `t_soft` for its free blocks.
    Participate,
    /// Order of the controller: the member must collect.
    ForceGc,
    /// Order of the controller to stop the garbage collection that it ordered while the array was idle, because a host request has
    /// arrived.
    StopGc,
    /// Question of the controller for a member's numbers of free blocks, and the answer.
    GcState,
    /// Message of a member: it has done the work of collection that it was told to do. The message also reports the end of a collection
    /// that the member had begun without permission.
    GcDone,
    /// Permission of the controller: the member may collect.
    Grant,
    /// Refusal of the controller: the member must not collect now.
    Deny,
    /// Question of a member: may it collect?
    AskGc,
}

/// Number of kinds of messages between the array's controller and its members ([`MessageKind`]).
pub const MESSAGE_KINDS: usize = 9;

/// Names of the kinds as reports show them, in the order of [`MessageKind`].
pub(crate) const MESSAGE_KIND_NAMES: [&str; MESSAGE_KINDS] =
    ["GcRequest", "Participate", "ForceGc", "StopGc", "GcState", "GcDone", "Grant", "Deny", "AskGc"];

/// Amount of garbage collection that each die does when the controller forces its member to collect, or permits it
/// (rules 45, 118 and 123). Settings may restrict this to dies or pools with few free blocks (rules 122 and 262).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ForcedCollectionAmount {
    /// Collect one victim block in each die, whatever the number of free blocks. A drive with superblocks instead collects until it
    /// has as many free superblocks as the sum of the keys `ssd.superblock.target` and `ssd.superblock.span`.
    #[serde(rename = "one-victim")]
    OneVictimPerDie,
    /// Collect one victim block in each pool of blocks (of a plane or of a die), whatever the number of free blocks. A drive with
    /// superblocks frees one superblock.
    #[serde(rename = "pool-victims")]
    OneVictimPerPool,
    /// Collect one victim block in each die. Then collect further ones until every pool of blocks of the die has more than `ssd.gc.stop`
    /// free blocks.
    #[serde(rename = "victim-and-watermark")]
    OneVictimThenUntilStopThreshold,
    /// Collect one victim block in each pool of blocks (of a plane or of a die). Then collect further ones until every pool has more than
    /// `ssd.gc.stop` free blocks (sections 4.3.1, 5.1 and 6 of the paper GGC).
    #[serde(rename = "pool-victims-and-watermark")]
    OneVictimPerPoolThenWatermark,
    /// Collect victim blocks in each die until every pool of blocks of the die has more than `ssd.gc.stop` free blocks.
    #[serde(rename = "watermark")]
    ToWatermark,
    /// Collects victim blocks until each pool of blocks has as many free blocks as after the initial fill of the drive. The arrival of a
    /// host request ends this work earlier. Only [`ProactiveIdle`](super::ProactiveIdle) orders it.
    #[serde(skip)]
    UntilFreeBlocksAfterFill,
}

impl ForcedCollectionAmount {
    /// Returns true if the work begins with victim blocks that are collected regardless of the number of free blocks.
    pub(crate) fn begins_with_victims(self) -> bool {
        !matches!(self, Self::ToWatermark | Self::UntilFreeBlocksAfterFill)
    }
}

/// Moment at which a member asks the controller to force members to collect together. The member asks when it begins to collect by
/// itself, or earlier, before it must collect. The scheme decides which members are then forced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum JointCollectionRequestTiming {
    /// The member collects by itself when it must. As it begins, it asks the controller for forced collection, so that other members
    /// collect at the same time.
    #[serde(rename = "at-start")]
    AtStartThreshold,
    /// The member asks the controller to force it to collect when a pool of blocks (of a plane or die) has only `t_soft` free blocks.
    /// It then puts collection off until it is forced, or until a pool has only `ssd.gc.start` free blocks. Its message says how many
    /// pages can be written before it must collect (section 4.3.1 of the paper GGC).
    #[serde(rename = "soft")]
    AtSoftThreshold,
}

/// Answer to a message that asks for forced collection while members are forced already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RequestsDuringCycle {
    /// Absorb it, since members are being forced.
    Absorb,
    /// Force members once more when those that are being forced have finished. A message of a member that has not finished itself is
    /// absorbed.
    Repeat,
}

/// Answer of the controller to a member that asks for forced collection: it forces the members that the scheme chooses, or ignores all
/// messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ControllerAnswer {
    /// The controller forces members to collect when the time `delay` has passed since a member asked for it. Other members can ask in
    /// this time. The scheme decides which members are forced.
    Prompt,
    /// The controller ignores all messages, so that members collect only when they must.
    Never,
}

/// Latency of each kind of message between the controller and a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MessageLatency {
    /// Latency of the message with which a member asks the controller to force members to collect. With `scheme = "stagger"`, the
    /// member asks for permission to collect instead, or announces that it collects without permission.
    pub gc_request: Duration,
    /// Latency of the message with which a member registers with the controller, because a pool of blocks has only `t_soft` free
    /// blocks left. When the controller next forces members to collect, it forces all that have registered. Only the schemes
    /// `reactive-selective` and `proactive-idle` use this message.
    pub participate: Duration,
    /// Time that a message from the controller to a member takes. The message forces the member to collect, gives or denies it permission
    /// to collect, or ends a collection because idle time has ended.
    pub force_gc: Duration,
    /// Time that each of two messages takes: the controller's question for a member's state, and the member's answer.
    pub gc_state: Duration,
    /// Latency of the message with which a member reports the end of its collection. The member has then collected as much as the
    /// controller told it to. With `scheme = "stagger"`, the message may also report the end of a collection without permission.
    pub gc_done: Duration,
}

impl MessageLatency {
    /// Returns the time from sending a message of a kind to its arrival, in nanoseconds. Messages to a member take the same time, so that
    /// none overtakes another.
    pub fn ns(&self, kind: MessageKind) -> u64 {
        let time = match kind {
            MessageKind::GcRequest | MessageKind::AskGc => self.gc_request,
            MessageKind::Participate => self.participate,
            MessageKind::ForceGc | MessageKind::StopGc | MessageKind::Grant | MessageKind::Deny => self.force_gc,
            MessageKind::GcState => self.gc_state,
            MessageKind::GcDone => self.gc_done,
        };
        time.ns
    }
}

/// Urgency of a member's request to the controller to order a collection (rule 119). It says how many page writes the member can still
/// take, and if it must collect already.
///
/// With [`JointCollectionRequestTiming::AtStartThreshold`], the member asks only after it has begun to collect. Then `at_limit` is true,
/// because a pool of blocks has come down to the start threshold of collection. All other fields are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectionUrgency {
    /// Number of further page writes that the member can absorb before a pool of blocks may come down to the start threshold of
    /// collection.
    pub page_writes_until_gc_start: u64,
    /// True if a pool of blocks has come down to the start threshold of collection, or if waiting writes will bring one there.
    pub(crate) at_limit: bool,
    /// Number of page writes that the member had received when it asked.
    pub(crate) pages_given: u64,
    /// Number of orders and permissions to collect that the member had received from the controller when it sent this message. If the
    /// controller has sent more of them by now, the message is out of date, and the controller ignores it.
    pub collection_orders_received: u32,
}

impl CollectionUrgency {
    /// Urgency of a member that has begun to collect because it must.
    pub(crate) const AT_LIMIT: Self = Self { page_writes_until_gc_start: 0, at_limit: true, pages_given: 0, collection_orders_received: 0 };
}

/// State that a member reports when the controller asks for it (rule 47).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MemberState {
    /// Number of free blocks in the member's pool of blocks that has the fewest.
    pub(crate) free_blocks_min: u32,
    /// Number of blocks by which `free_blocks_min` exceeds the start threshold of collection.
    pub(crate) blocks_above_start: u32,
}

/// Message from a member to the controller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ToController {
    /// Asks the controller to make members collect together: one of the member's pools of blocks has reached the start threshold of
    /// collection, or soon will. In the scheme `stagger`, the message asks for nothing. It says that the member begins to collect
    /// although the controller has not permitted it.
    GcRequest(CollectionUrgency),
    /// Registers for the next cycle of forced collection (from the controller's order until all forced members have finished). One of
    /// the member's pools of blocks has come down to the threshold `t_soft` for its free blocks.
    RegisterForCycle,
    /// Answers [`ToMember::ReportState`] with the state of the member.
    GcState(MemberState),
    /// Reports that all dies of the member have done the work of collection that they were told to do.
    GcDone,
    /// Asks the controller for permission to collect.
    AskGc {
        /// Number of free blocks in the member's pool of blocks that has the fewest.
        least_free_blocks: u32,
    },
    /// Reports the end of a collection that the member began without permission. The member reported the beginning with a
    /// [`ToController::GcRequest`], which asks for nothing in the scheme `stagger`.
    CollectionWithoutPermissionEnds,
}

/// Message from the controller to a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToMember {
    /// Orders the member to collect. Its dies do the work that the [`ForcedCollectionAmount`] in this message names.
    ForceCollection(ForcedCollectionAmount),
    /// Ends the work [`ForcedCollectionAmount::UntilFreeBlocksAfterFill`] (collection while the array is idle), because a request has
    /// arrived at the array.
    StopIdleCollection,
    /// Allows the member to collect. Its dies do the work that the [`ForcedCollectionAmount`] in this message names. The member answers
    /// with `ToController::GcDone` when all dies have done it. An earlier [`ToMember::Deny`] no longer holds.
    Grant(ForcedCollectionAmount),
    /// Forbids the member to collect until the controller permits or orders it. While a pool of blocks has more free blocks than the
    /// start threshold, no collection of its blocks begins, even in idle time. At or below this threshold (the hard limit), blocks of
    /// the pool are collected in any case (rule 117 of docs/rules.md).
    Deny,
    /// Asks for the state of the member.
    ReportState,
    /// Begins the member's turn, the window of time in which it may collect, and the others only if they run short of free blocks.
    BeginTurn {
        /// Time before which the collection of a block may begin in the turn, in nanoseconds.
        begin_cleans_until: TimeNs,
        /// Time at which the turn ends, in nanoseconds.
        end: TimeNs,
    },
    /// Begins the last part of the member's turn, in which the turn is no reason to begin the collection of another block. The collection
    /// of a block in progress goes on. A drive with superblocks ends the work that it does because of the turn.
    CloseTurn,
    /// Ends the member's turn.
    EndTurn,
    /// Lets the member leave its deterministic window if it must (rule 286). All other events of this nanosecond come first, except for
    /// the beginnings of turns.
    CheckWindow,
    /// Lets the member's duty look at the member, as it has asked for. All other events of this nanosecond come first.
    CheckDuty,
}

impl ToController {
    /// Returns the kind of the message.
    pub(crate) fn kind(&self) -> MessageKind {
        match self {
            Self::GcRequest(_) => MessageKind::GcRequest,
            Self::RegisterForCycle => MessageKind::Participate,
            Self::GcState(_) => MessageKind::GcState,
            Self::GcDone | Self::CollectionWithoutPermissionEnds => MessageKind::GcDone,
            Self::AskGc { .. } => MessageKind::AskGc,
        }
    }
}

impl ToMember {
    /// Returns the kind of the message; `None` for what members know by the clock.
    pub(crate) fn kind(&self) -> Option<MessageKind> {
        match self {
            Self::ForceCollection(_) => Some(MessageKind::ForceGc),
            Self::StopIdleCollection => Some(MessageKind::StopGc),
            Self::Grant(_) => Some(MessageKind::Grant),
            Self::Deny => Some(MessageKind::Deny),
            Self::ReportState => Some(MessageKind::GcState),
            Self::BeginTurn { .. } | Self::CloseTurn | Self::EndTurn | Self::CheckWindow | Self::CheckDuty => None,
        }
    }
}

/// An event in a member that matters for coordination.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Notice {
    /// Time of the event, in nanoseconds.
    pub(crate) at: TimeNs,
    /// Number of the member.
    pub(crate) member: u32,
    /// Kind of the event.
    pub(crate) event: MemberEvent,
}

/// Kinds of events in a member that matter for coordination.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum MemberEvent {
    /// The member sends a message to the controller.
    Sends(ToController),
    /// The member wants to check, after all other events of this nanosecond, whether it must ask to collect (rule 119).
    AskTimerEnds,
    /// The member wants to look, after all other events of this nanosecond, whether it must leave its deterministic window (rule 286).
    WindowMayEnd,
    /// The member has begun a non-deterministic window by itself, which is like a turn to collect (rule 286).
    BeginsNonDeterministicWindow {
        /// Time before which the collection of a block may begin, in nanoseconds.
        begin_cleans_until: TimeNs,
        /// Time at which the window ends, in nanoseconds.
        end: TimeNs,
    },
    /// The member has begun to collect because it is short of free blocks. It had sent a request to collect to the controller, and the
    /// controller has not answered it yet (rule 121).
    BeginsCollectionWithoutAnswer,
}

counts! {
    /// Number of cleans (collections of one victim block) that members had to begin by themselves. The controller had not answered their
    /// request in time (rule 121).
    pub struct UncoordinatedCleans {
        /// Number of cleans that a member had to begin by itself while the controller forced others to collect. The member could not be
        /// forced until these were done.
        during_cycles,
        /// Number of cleans that a member had to begin by itself while no others were forced. Messages were still on their way, or the
        /// controller does not answer.
        unanswered,
    }
}
