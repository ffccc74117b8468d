//! Messages between the array's controller and its members (GGC 4.2 and 4.3; rules 41, 42 and 119).

use crate::TimeNs;

/// Kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Sent by a member: one of its pools has reached its start threshold, or soon will.
    GcRequest,
    /// Sent by a member: one of its pools has come down to T_soft.
    Participate,
    /// Sent by the controller: the member must collect.
    ForceGc,
    /// Sent by the controller: idle time is over.
    StopGc,
    /// Question of the controller for the state of a member, and the answer.
    GcState,
    /// Sent by a member: the work that it was forced to do is done.
    GcDone,
    /// Sent by the controller: the member may collect.
    Grant,
    /// Sent by the controller: the member must not collect now.
    Deny,
}

/// Number of kinds of messages.
pub const KINDS: usize = 8;

/// Names of the kinds as reports show them, in the order of [`Kind`].
pub const KIND_NAMES: [&str; KINDS] = ["GcRequest", "Participate", "ForceGc", "StopGc", "GcState", "GcDone", "Grant", "Deny"];

/// Work that a member does in each of its dies when it is forced or allowed to collect (rule 45).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Clean one victim in each die.
    OneVictim,
    /// Clean until the free blocks of every pool exceed the stop threshold.
    Watermark,
    /// Clean one victim, whatever the number of free blocks, and then continue like [`Work::Watermark`] (GGC 4.3.1 and 5.1; rule 118).
    VictimAndWatermark,
    /// Clean one victim in each pool, whatever the number of free blocks (rule 123).
    PoolVictims,
    /// Clean one victim in each pool, whatever the number of free blocks, and then continue like [`Work::Watermark`] (rule 123).
    PoolVictimsAndWatermark,
    /// Clean until every pool has as many free blocks as after the fill, or until a request arrives.
    UntilReserved,
}

impl Work {
    /// Returns true if the work begins with victims that are cleaned whatever the number of free blocks.
    pub fn begins_with_victims(self) -> bool {
        !matches!(self, Self::Watermark | Self::UntilReserved)
    }
}

/// Moment at which a member asks for collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notify {
    /// Ask after the member has begun to collect because it must (rule 43).
    AtStart,
    /// Ask before the member must collect. It then waits as long as it can (rule 119).
    Soft,
}

/// State of a member that asks for collection (rule 119). With [`Notify::AtStart`], a member is at its limit whenever it asks, and the
/// counts are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// Number of pages that the member can still be given to write before a pool may come down to its start threshold.
    pub pages_left: u64,
    /// True if a pool has reached that threshold, or if waiting writes will bring one there.
    pub at_limit: bool,
    /// Number of page writes that the member had been given when it asked.
    pub pages_given: u64,
    /// Number of times that the member had been forced or granted collection when it asked.
    pub times_forced: u32,
}

impl Need {
    /// State of a member that has begun to collect because it must.
    pub const AT_LIMIT: Self = Self { pages_left: 0, at_limit: true, pages_given: 0, times_forced: 0 };
}

/// Settings by which a member follows the protocol (rules 44, 119 and 122).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberRole {
    /// Number of free blocks at or below which a pool is low.
    pub t_soft_free_blocks: u32,
    /// True if a member with a low pool registers.
    pub registers: bool,
    /// Moment at which the member asks for collection.
    pub notify: Notify,
    /// True if all dies take part when the member is forced, false if only those with a low pool do.
    pub across_dies: bool,
}

/// State that a member reports when it is asked (rule 47).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemberState {
    /// Number of free blocks in the pool that has the fewest.
    pub free_blocks_min: u32,
    /// Number of these blocks above the start threshold of the pool.
    pub blocks_above_start: u32,
}

/// Message from a member to the controller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ToController {
    /// One of the member's pools has reached its start threshold, and the member collects there, or soon will.
    GcRequest(Need),
    /// One of the member's pools has come down to T_soft.
    Participate,
    /// The answer to [`ToMember::TellState`], with the state of the member.
    GcState(MemberState),
    /// All dies of the member have done the work that it was forced or allowed to do.
    GcDone,
}

/// Message from the controller to a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToMember {
    /// The member must do this work in all dies.
    Force(Work),
    /// A request has arrived at the array, so [`Work::UntilReserved`] is over.
    Stop,
    /// The member may do this work, and answers with [`ToController::GcDone`]. It ends a [`ToMember::Deny`].
    Grant(Work),
    /// The member begins no clean in a pool above its hard limit, `start`, until it is granted or forced. At the hard limit it collects in
    /// any case (rule 117).
    Deny,
    /// Asks for the state of the member.
    TellState,
}

impl ToController {
    /// Returns the kind of the message.
    pub fn kind(&self) -> Kind {
        match self {
            Self::GcRequest(_) => Kind::GcRequest,
            Self::Participate => Kind::Participate,
            Self::GcState(_) => Kind::GcState,
            Self::GcDone => Kind::GcDone,
        }
    }
}

impl ToMember {
    /// Returns the kind of the message.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Force(_) => Kind::ForceGc,
            Self::Stop => Kind::StopGc,
            Self::Grant(_) => Kind::Grant,
            Self::Deny => Kind::Deny,
            Self::TellState => Kind::GcState,
        }
    }
}

/// Event in a member that concerns coordination.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Notice {
    /// Time of the event, in nanoseconds.
    pub at: TimeNs,
    /// Number of the member.
    pub member: u32,
    /// Kind of the event.
    pub news: News,
}

/// Kinds of events in a member that concern coordination.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum News {
    /// The member sends a message.
    Sends(ToController),
    /// The member may have to ask when everything else of this nanosecond has happened (rule 119).
    MayAsk,
    /// The member has begun to collect because a pool needs it, although it has asked (rule 121).
    CollectsUnanswered,
}

counts! {
    /// Number of collections that members began because a pool needed them, although they had asked (rule 121).
    pub struct UncoordinatedCleans {
        /// Number of these during a cycle of other members, in which they could not be forced.
        during_cycles,
        /// Number of these at other times.
        unanswered,
    }
}
