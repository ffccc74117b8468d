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
}

/// Kinds of messages.
pub const KINDS: usize = 6;

/// The names of all kinds, by kind, as reports show them.
pub const KIND_NAMES: [&str; KINDS] = ["GcRequest", "Participate", "ForceGc", "StopGc", "GcState", "GcDone"];

/// What a forced member does, in each of its dies (rule 45).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Clean one victim.
    OneVictim,
    /// Clean until the free blocks of every pool exceed the stop threshold.
    Watermark,
    /// Clean until every pool has as many free blocks as after the fill, or a request comes.
    UntilReserved,
}

/// What a member tells of itself when it is asked (rule 47).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemberState {
    /// Free blocks of all pools.
    pub free_blocks: u32,
    /// Free blocks of the pool that has fewest.
    pub free_blocks_min: u32,
    /// So many of them are above its start threshold.
    pub blocks_above_start: u32,
}

/// From a member to the controller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ToController {
    /// One of my pools has reached its start threshold; I collect there.
    GcRequest {
        /// Pages that I can still program for the host without erasing a block (rule 43).
        pages_left: u64,
    },
    /// One of my pools has come down to T_soft.
    Participate,
    /// The answer to [`ToMember::GcState`].
    GcState(MemberState),
    /// All my dies have done what I was forced to do.
    GcDone,
}

/// From the controller to a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToMember {
    /// Collect in all dies.
    ForceGc(Work),
    /// A request has arrived at the array: [`Work::UntilReserved`] is over.
    StopGc,
    /// Asks for the member's state.
    GcState,
}

impl ToController {
    /// What it is about.
    pub fn kind(&self) -> Kind {
        match self {
            Self::GcRequest { .. } => Kind::GcRequest,
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
            Self::ForceGc(_) => Kind::ForceGc,
            Self::StopGc => Kind::StopGc,
            Self::GcState => Kind::GcState,
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
