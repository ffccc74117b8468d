//! The messages between the array's controller and its members (GGC 4.2 and 4.3; rules 41, 42 and 119).

use crate::TimeNs;

/// What a message is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Member: one of my pools has reached its start threshold, or soon will.
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

/// When a member asks for collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notify {
    /// When it has begun to collect because it must (rule 43).
    AtStart,
    /// Before it must, and it holds out as long as it can (rule 119).
    Soft,
}

/// What a request for collection tells (rule 119); with [`Notify::AtStart`] a member is at its limit whenever it asks, and counts
/// nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// So many pages can still be given to it to write before a pool may come down to its start threshold.
    pub pages_left: u64,
    /// A pool is there, or what waits will bring one there.
    pub at_limit: bool,
    /// Page writes that it had been given by then.
    pub pages_given: u64,
    /// How often it had been forced, or granted collection, by then.
    pub times_forced: u32,
}

impl Need {
    /// Of a member that has begun to collect because it must.
    pub const AT_LIMIT: Self = Self { pages_left: 0, at_limit: true, pages_given: 0, times_forced: 0 };
}

/// What the protocol wants of a member (rules 44, 119 and 122).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberRole {
    /// A pool with so many free blocks or fewer is low.
    pub t_soft_free_blocks: u32,
    /// A member with a low pool registers.
    pub registers: bool,
    /// When it asks for collection.
    pub notify: Notify,
    /// All dies take part when it is forced, not only those with a low pool.
    pub across_dies: bool,
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
    /// One of my pools has reached its start threshold, and I collect there, or soon will.
    GcRequest(Need),
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
            Self::GcRequest(_) => Kind::GcRequest,
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

/// Something of a member that concerns coordination.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Notice {
    /// When.
    pub at: TimeNs,
    /// Who.
    pub member: u32,
    /// What.
    pub news: News,
}

/// What has happened in a member.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum News {
    /// It sends a message.
    Sends(ToController),
    /// It may have to ask when all else of this nanosecond has happened (rule 119).
    MayAsk,
    /// It has begun to collect because a pool needs it, although it has asked (rule 121).
    CollectsUnanswered,
}

/// Collections that members have begun because a pool needed them, although they had asked (rule 121).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UncoordinatedCleans {
    /// While a cycle of others was in progress, so that they could not be forced.
    pub during_cycles: u64,
    /// At other times.
    pub unanswered: u64,
}

impl UncoordinatedCleans {
    /// Those since `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        Self { during_cycles: self.during_cycles - earlier.during_cycles, unanswered: self.unanswered - earlier.unanswered }
    }
}
