//! The messages between the array's controller and its members (GGC 4.2 and 4.3; rules 41 and 42).

use crate::TimeNs;

/// What a message is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Member: one of my pools has reached its start threshold.
    GcRequest,
    /// Member: one of my pools has come down to T_soft.
    Participate,
    /// Controller: collect.
    ForceGc,
    /// Controller: idle time is over.
    StopGc,
    /// Controller: how are you? Member: like this.
    GcState,
    /// Member: what I was forced to do is done.
    GcDone,
    /// Controller: you may collect.
    Grant,
    /// Controller: not now.
    Deny,
}

/// Kinds of messages.
pub const KINDS: usize = 8;

/// The names of all kinds, by kind, as reports show them.
pub const KIND_NAMES: [&str; KINDS] = ["GcRequest", "Participate", "ForceGc", "StopGc", "GcState", "GcDone", "Grant", "Deny"];

/// What a member that is forced, or allowed, to collect does in each of its dies (rule 45).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Clean one victim.
    OneVictim,
    /// Clean until the free blocks of every pool exceed the stop threshold.
    Watermark,
    /// Clean one victim, whatever the free blocks are, and go on as [`Work::Watermark`] (GGC 4.3.1 and 5.1; rule 118).
    VictimAndWatermark,
    /// Clean until every pool has as many free blocks as after the fill, or a request comes.
    UntilReserved,
}

/// What a member tells of itself when it is asked (rule 47).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemberState {
    /// Free blocks of the pool that has fewest.
    pub free_blocks_min: u32,
    /// So many of them are above its start threshold.
    pub blocks_above_start: u32,
}

/// From a member to the controller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ToController {
    /// One of my pools has reached its start threshold; I collect there.
    GcRequest,
    /// One of my pools has come down to T_soft.
    Participate,
    /// The answer to [`ToMember::TellState`].
    GcState(MemberState),
    /// All my dies have done what I was forced, or allowed, to do.
    GcDone,
}

/// From the controller to a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToMember {
    /// Collect in all dies.
    Force(Work),
    /// A request has arrived at the array: [`Work::UntilReserved`] is over.
    Stop,
    /// You may collect: the same work as if forced, answered by [`ToController::GcDone`]. Ends what [`ToMember::Deny`] has begun.
    Grant(Work),
    /// Not now: until it is granted or forced, the member begins no clean in a pool above its hard limit, `start`. At the hard limit
    /// it collects whatever it was told (rule 117).
    Deny,
    /// Asks for the member's state.
    TellState,
}

impl ToController {
    /// What it is about.
    pub fn kind(&self) -> Kind {
        match self {
            Self::GcRequest => Kind::GcRequest,
            Self::Participate => Kind::Participate,
            Self::GcState(_) => Kind::GcState,
            Self::GcDone => Kind::GcDone,
        }
    }
}

impl ToMember {
    /// What it is about.
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

/// A message that a member sends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Notice {
    /// When.
    pub at: TimeNs,
    /// Who.
    pub member: u32,
    /// What.
    pub message: ToController,
}
