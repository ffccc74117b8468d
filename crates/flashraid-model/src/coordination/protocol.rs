//! Messages between the array's controller and its members (GGC 4.2 and 4.3; rules 41, 42 and 119).

use crate::TimeNs;

/// Kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    /// Request of a member to collect: one of its pools has reached its start threshold, or soon will.
    GcRequest,
    /// Registration of a member: one of its pools has come down to T_soft.
    Participate,
    /// Order of the controller: the member must collect.
    ForceGc,
    /// Message of the controller: idle time is over.
    StopGc,
    /// Question of the controller for the state of a member, and the answer.
    GcState,
    /// Message of a member: it has done the work that it was told to do.
    GcDone,
    /// Permission of the controller: the member may collect.
    Grant,
    /// Refusal of the controller: the member must not collect now.
    Deny,
    /// Question of a member: may it collect?
    AskGc,
}

/// Number of kinds of messages.
pub const MESSAGE_KINDS: usize = 9;

/// Names of the kinds as reports show them, in the order of [`MessageKind`].
pub(crate) const MESSAGE_KIND_NAMES: [&str; MESSAGE_KINDS] =
    ["GcRequest", "Participate", "ForceGc", "StopGc", "GcState", "GcDone", "Grant", "Deny", "AskGc"];

/// Work that a member does in each of its dies when it is forced or allowed to collect (rule 45).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForcedWork {
    /// Clean one victim in each die.
    OneVictim,
    /// Clean until the free blocks of every pool exceed the stop threshold.
    Watermark,
    /// Clean one victim, whatever the number of free blocks, and then continue like [`ForcedWork::Watermark`] (GGC 4.3.1 and 5.1; rule
    /// 118).
    VictimAndWatermark,
    /// Clean one victim in each pool, whatever the number of free blocks (rule 123).
    PoolVictims,
    /// Clean one victim in each pool, whatever the number of free blocks, and then continue like [`ForcedWork::Watermark`] (rule 123).
    PoolVictimsAndWatermark,
    /// Clean until every pool has as many free blocks as after the initial fill of the drive, or until a host request arrives.
    UntilReserved,
}

impl ForcedWork {
    /// Returns true if the work begins with victims that are cleaned regardless of the number of free blocks.
    pub(crate) fn begins_with_victims(self) -> bool {
        !matches!(self, Self::Watermark | Self::UntilReserved)
    }
}

/// Moment at which a member asks the controller to let it collect: when it has begun by itself, or before it must begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notification {
    /// The member begins to collect by itself when a pool is at its start threshold, and then asks the controller (rule 43).
    AtStartThreshold,
    /// The member asks before it must collect. It then waits as long as it can (rule 119).
    AtSoftThreshold,
}

/// Urgency of a member that asks to collect (rule 119). With [`Notification::AtStartThreshold`], it has already begun because it must. It
/// is then always at its limit, and the counts are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectionNeed {
    /// Number of further page writes that the member can absorb before a pool may come down to its start threshold.
    pub pages_left: u64,
    /// True if a pool has reached its start threshold, or if waiting writes will bring one there.
    pub(crate) at_limit: bool,
    /// Number of page writes that the member had received when it asked.
    pub(crate) pages_given: u64,
    /// Number of times that the member had been forced or allowed to collect when it sent this message. The controller ignores a message
    /// that is older than its last order.
    pub times_forced: u32,
}

impl CollectionNeed {
    /// State of a member that has begun to collect because it must.
    pub(crate) const AT_LIMIT: Self = Self { pages_left: 0, at_limit: true, pages_given: 0, times_forced: 0 };
}

/// Settings with which a member follows the protocol (rules 44, 119 and 122).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberRole {
    /// Number of free blocks at or below which a pool counts as low in free blocks.
    pub t_soft_free_blocks: u32,
    /// True if a member registers with the controller when one of its pools is low, so that the next cycle of collections forces it, too.
    pub registers: bool,
    /// Moment at which the member asks the controller to let it collect: when it has begun by itself, or before it must begin.
    pub notify: Notification,
    /// True if all dies collect when the member is forced; false if only those with a pool at or below `t_soft_free_blocks` do.
    pub across_dies: bool,
    /// Settings of a member that asks for leave before it collects; `None` if it does not.
    pub leave: Option<LeaveRole>,
    /// Settings of a member that collects when it is its turn; `None` if there are no turns.
    pub turn: Option<TurnRole>,
}

/// Settings of a member that collects when it is its turn (rules 264 and 265).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnRole {
    /// Number of free blocks at or below which a pool is cleaned during the member's turn.
    pub clean_free_blocks: u32,
}

/// Settings of a member that asks for leave before it collects (rules 260 and 261).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaveRole {
    /// Number of free blocks at or below which a pool needs leave to be collected.
    pub ask_free_blocks: u32,
    /// Number of free blocks at or below which a pool is collected without leave while the member gets few operations.
    pub(crate) idle_free_blocks: u32,
    /// Mean time between operations above which the member gets few of them, in nanoseconds.
    pub(crate) idle_gap_ns: u64,
    /// Time from a denial until the member asks again, in nanoseconds.
    pub(crate) retry_ns: u64,
    /// Work of a member that has got few operations.
    pub(crate) idle_work: ForcedWork,
}

/// State that a member reports when the controller asks for it (rule 47).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MemberState {
    /// Number of free blocks in the pool that has the fewest.
    pub(crate) free_blocks_min: u32,
    /// Number of blocks by which `free_blocks_min` exceeds the start threshold of the pool.
    pub(crate) blocks_above_start: u32,
}

/// Message from a member to the controller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ToController {
    /// Asks to collect: one of the member's pools has reached its start threshold, or soon will.
    GcRequest(CollectionNeed),
    /// Registers for the next cycle: one of the member's pools has come down to T_soft.
    Participate,
    /// Answers [`ToMember::TellState`] with the state of the member.
    GcState(MemberState),
    /// Reports that all dies of the member have done the work that they were told to do.
    GcDone,
    /// Asks for leave to collect.
    AskGc {
        /// Number of free blocks in the pool that has the fewest.
        least_free_blocks: u32,
    },
    /// Reports that the member no longer collects without leave. It has sent a [`ToController::GcRequest`] before.
    EndsUnasked,
}

/// Message from the controller to a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToMember {
    /// Orders the member to do this work in all dies.
    Force(ForcedWork),
    /// Ends [`ForcedWork::UntilReserved`], because a request has arrived at the array.
    Stop,
    /// Allows the member to do this work. The member answers with `ToController::GcDone` when it has done the work. A [`ToMember::Deny`]
    /// no longer holds.
    Grant(ForcedWork),
    /// Forbids the member to collect until it is granted or forced. A pool at its hard limit, `start`, is collected in any case (rule 117).
    Deny,
    /// Asks for the state of the member.
    TellState,
}

impl ToController {
    /// Returns the kind of the message.
    pub(crate) fn kind(&self) -> MessageKind {
        match self {
            Self::GcRequest(_) => MessageKind::GcRequest,
            Self::Participate => MessageKind::Participate,
            Self::GcState(_) => MessageKind::GcState,
            Self::GcDone | Self::EndsUnasked => MessageKind::GcDone,
            Self::AskGc { .. } => MessageKind::AskGc,
        }
    }
}

impl ToMember {
    /// Returns the kind of the message.
    pub(crate) fn kind(&self) -> MessageKind {
        match self {
            Self::Force(_) => MessageKind::ForceGc,
            Self::Stop => MessageKind::StopGc,
            Self::Grant(_) => MessageKind::Grant,
            Self::Deny => MessageKind::Deny,
            Self::TellState => MessageKind::GcState,
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
    MayAsk,
    /// The member has begun to collect because a pool needs it, although the controller has not answered its request (rule 121).
    CollectsUnanswered,
}

counts! {
    /// Number of collections that did not keep to the turns of their members (rule 266).
    pub struct TurnCounters {
        /// Number of cleans that began at another time, because a pool had come to its hard limit.
        broken_contracts,
        /// Number of turns at the end of which a clean that had begun in the turn was in progress.
        overruns,
    }
}

counts! {
    /// Number of cleans that members had to begin by themselves, because the controller had not answered their request in time (rule 121).
    pub struct UncoordinatedCleans {
        /// Number of cleans that a member had to begin by itself while the controller forced others to collect. It could not be forced
        /// until they were done.
        during_cycles,
        /// Number of cleans that a member had to begin by itself while no others were forced. Messages were still on their way, or the
        /// controller does not answer.
        unanswered,
    }
}
