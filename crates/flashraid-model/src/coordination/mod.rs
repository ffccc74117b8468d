//! Coordinated garbage collection: a controller that knows what members tell it, and when it forces them (GGC section 4).
//!
//! ```text
//!  member ── GcRequest, Participate, GcState, GcDone ──────────────▶ controller
//!  member ◀───── ForceGc, StopGc, Grant, Deny, GcState (question) ── controller
//! ```
//!
//! A *cycle* begins when the controller forces members and ends when all of them have told that they are done. What the schemes
//! differ in is whom they force, and when: one scheme per file, all of it there; `SchemePolicy` lists them.

mod cycle;
mod mailbox;
mod protocol;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod tiny;

use crate::TimeNs;
use crate::ids::MemberSet;
use crate::policy::{PolicyProblem, policies};
use crate::rng::Stream;
use crate::units::{Duration, StopThreshold};
pub use cycle::Cycle;
pub use mailbox::{Mail, Mailbox, by_name};
pub use protocol::*;

policies! {
    /// How garbage collection of the members is coordinated.
    #[derive(Clone, PartialEq)]
    pub enum SchemePolicy: Scheme, tag "scheme" {
        local::Local = "local",
        reactive_inclusive::ReactiveInclusive = "reactive-inclusive",
        reactive_selective::ReactiveSelective = "reactive-selective",
        proactive_idle::ProactiveIdle = "proactive-idle",
        proactive_soft_limit::ProactiveSoftLimit = "proactive-soft-limit",
        ideal::Ideal = "ideal",
    }

    /// Whether there is a controller at all.
    pub fn has_controller(&self) -> bool;
    /// Whether collection takes no time.
    pub fn is_instantaneous(&self) -> bool;
    /// Whether members tell the controller when a pool has come down to T_soft.
    pub fn registers(&self) -> bool;
    /// What is wrong with its parameters for members with such pools.
    pub fn problems(&self, pools: &Pools) -> Vec<PolicyProblem>;
    fn begin(&mut self, pools: &Pools);
    fn receive(&mut self, now: TimeNs, from: u32, message: ToController, cycle: &mut Cycle);
    fn members_of_cycle(&self, cycle: &Cycle) -> MemberSet;
    fn request_arrives(&mut self, now: TimeNs, cycle: &mut Cycle);
    fn request_done(&mut self, now: TimeNs, cycle: &mut Cycle);
    fn next_tick(&self) -> TimeNs;
    fn tick(&mut self, now: TimeNs, cycle: &mut Cycle);
    fn forget(&mut self, member: u32);
}

/// Who may collect and who must. A scheme knows members only by their messages; a set of members is a [`MemberSet`].
///
/// Its type is what users write, each parameter with a default; what it remembers stands beside, and is no key.
pub trait Scheme: Default {
    /// Whether there is a controller at all.
    fn has_controller(&self) -> bool {
        true
    }

    /// Whether collection takes no time.
    fn is_instantaneous(&self) -> bool {
        false
    }

    /// Whether members tell the controller when a pool has come down to T_soft (rule 44).
    fn registers(&self) -> bool {
        false
    }

    /// What is wrong with its parameters for members with such pools, beyond what their types say.
    fn problems(&self, _pools: &Pools) -> Vec<PolicyProblem> {
        Vec::new()
    }

    /// The run begins: of members with such pools.
    fn begin(&mut self, _pools: &Pools) {}

    /// A message of a member has arrived. What [`Cycle::receive`] does is rule 44.
    fn receive(&mut self, now: TimeNs, from: u32, message: ToController, cycle: &mut Cycle) {
        cycle.receive(now, from, message);
    }

    /// Whom the cycle forces that members have asked for and that begins now.
    fn members_of_cycle(&self, cycle: &Cycle) -> MemberSet {
        cycle.registered()
    }

    /// A request has arrived at the array; the cycle has counted it.
    fn request_arrives(&mut self, _now: TimeNs, _cycle: &mut Cycle) {}

    /// A request is done; the cycle has counted it.
    fn request_done(&mut self, _now: TimeNs, _cycle: &mut Cycle) {}

    /// When [`Scheme::tick`] is due; [`TimeNs::MAX`] for never.
    fn next_tick(&self) -> TimeNs {
        NEVER
    }

    /// The moment has come; all messages of this nanosecond have arrived.
    fn tick(&mut self, _now: TimeNs, _cycle: &mut Cycle) {}

    /// A member has failed: what it has told counts no more.
    fn forget(&mut self, _member: u32) {}

    /// One with random parameters, for the random cases of tests.
    fn any(_stream: &mut Stream) -> Self {
        Self::default()
    }
}

/// No such moment.
const NEVER: TimeNs = TimeNs::MAX;

/// The pools of the members, as thresholds are measured by them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pools {
    /// Blocks of a pool.
    pub blocks: u32,
    /// Those that are left after the fill, the open one among them.
    pub reserved_blocks: u32,
    /// Free blocks at which collection starts.
    pub start_free_blocks: u32,
}

impl Pools {
    /// What is wrong with a limit of free blocks that is to lie above the start of collection; nothing is wrong with the default, which
    /// is as good as can be where the reserve leaves no room there.
    pub fn limit_problem(&self, key: &'static str, limit: StopThreshold) -> Option<PolicyProblem> {
        let blocks = limit.blocks_of(self.blocks, self.start_free_blocks);
        let fits = blocks > self.start_free_blocks && blocks <= self.reserved_blocks;
        (limit != ABOVE_START && !fits).then(|| PolicyProblem {
            key,
            message: format!(
                "which comes to {blocks} free blocks, but {} (one more than ssd.gc.start) to {} (the reserve) are allowed",
                self.start_free_blocks + 1,
                self.reserved_blocks
            ),
        })
    }
}

/// Where members are low, unless a user says otherwise: two free blocks before collection starts.
pub const ABOVE_START: StopThreshold = StopThreshold::AboveStart(2);

/// What is wrong with a time that is to lie between `min` and an hour.
pub fn time_problem(key: &'static str, time: Duration, min: Duration) -> Option<PolicyProblem> {
    const LONGEST: Duration = Duration { ns: 3_600_000_000_000 };
    let message = || format!("but {min} to 1h is allowed");
    (time < min || time > LONGEST).then(|| PolicyProblem { key, message: message() })
}

/// Checks more frequent than this would take more time than all the rest.
const SHORTEST_CHECK: Duration = Duration { ns: 1_000 };

/// How the members of an array are coordinated.
#[derive(Debug, Clone, PartialEq)]
pub struct CoordinationParams {
    /// Who is forced, and when.
    pub scheme: SchemePolicy,
    /// What a cycle cleans; the idle cycles of [`ProactiveIdle`] always clean [`Work::UntilReserved`].
    pub work: Work,
    /// Free blocks of a pool at which its member registers, if the scheme has registration, and asks with [`Notify::Soft`].
    pub t_soft_free_blocks: u32,
    /// When members ask.
    pub notify: Notify,
    /// From a request for collection to the begin of its cycle, in nanoseconds; at most that with [`Notify::Soft`].
    pub delay_ns: u64,
    /// With [`Notify::Soft`] a cycle that members have asked for begins when no request is outstanding, too (rule 120).
    pub at_idle: bool,
    /// All dies of a forced member take part, not only those with a pool at T_soft (rule 122).
    pub across_dies: bool,
    /// Whether the controller ever answers.
    pub answers: bool,
    /// The members that know the protocol, as bits.
    pub ggc_aware: MemberSet,
    /// How long messages take, by [`Kind`], in nanoseconds; the controller's messages but its question take as long as
    /// [`Kind::ForceGc`], so that none overtakes another.
    pub latency_ns: [u64; KINDS],
}

impl CoordinationParams {
    /// Whether a member knows the protocol.
    pub fn is_ggc_aware(&self, member: u32) -> bool {
        self.ggc_aware.contains(member)
    }

    /// Free blocks of a pool at which members register; `None` if they don't.
    pub fn registration(&self) -> Option<u32> {
        self.scheme.registers().then_some(self.t_soft_free_blocks)
    }

    /// What the members that know the protocol have to do.
    pub fn role(&self) -> MemberRole {
        let Self { t_soft_free_blocks, notify, across_dies, .. } = *self;
        MemberRole { t_soft_free_blocks, registers: self.scheme.registers(), notify, across_dies }
    }

    /// Whether the controller has to know how many pages members are given to write (rule 120).
    pub fn counts_pages(&self) -> bool {
        self.notify == Notify::Soft && self.answers
    }
}

/// What the controller wants done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outgoing {
    /// Send a message to a member.
    Message(u32, ToMember),
    /// Call [`Controller::begin_cycle`] then.
    BeginCycleAt(TimeNs),
    /// Call [`Controller::pages_are_used_up`] as soon as a member has been given more page writes than that.
    CountPages(u32, u64),
}

/// The controller: a scheme, and what all schemes have in common.
#[derive(Debug, Clone)]
pub struct Controller {
    scheme: SchemePolicy,
    cycle: Cycle,
    /// Whether it ever answers.
    answers: bool,
    /// The workload is over.
    is_over: bool,
    role: MemberRole,
    uncoordinated: UncoordinatedCleans,
}

impl Controller {
    /// A controller of members about which it knows nothing yet but what pools they have.
    pub fn new(params: &CoordinationParams, pools: &Pools) -> Self {
        let mut scheme = params.scheme.clone();
        scheme.begin(pools);
        Self {
            scheme,
            cycle: Cycle::new(params),
            answers: params.answers,
            is_over: false,
            role: params.role(),
            uncoordinated: UncoordinatedCleans::default(),
        }
    }

    /// When [`Controller::tick`] is due; [`TimeNs::MAX`] for never.
    #[inline]
    pub fn next_tick(&self) -> TimeNs {
        if self.answers && !self.is_over { self.scheme.next_tick() } else { NEVER }
    }

    /// What it wants done since the last call.
    pub fn take_outgoing(&mut self, out: &mut Vec<Outgoing>) {
        self.cycle.take_outgoing(out);
    }

    /// The workload is over: no more checks, and no more use of idle time.
    pub fn end_checks(&mut self) {
        self.is_over = true;
        self.cycle.end_idle();
    }

    /// A request has arrived at the array.
    pub fn request_arrives(&mut self, now: TimeNs) {
        self.cycle.request_arrives();
        self.scheme.request_arrives(now, &mut self.cycle);
    }

    /// A request is done.
    pub fn request_done(&mut self, now: TimeNs) {
        self.cycle.request_done(now);
        self.scheme.request_done(now, &mut self.cycle);
    }

    /// A member has failed (rule 65): it takes no part in cycles to come.
    pub fn lose(&mut self, member: u32) {
        self.cycle.lose(member);
        self.scheme.forget(member);
    }

    /// A spare replaces a failed member. If that was GGC-aware the spare is from now on, in the role that is returned.
    pub fn replace(&mut self, failed: u32, spare: u32) -> Option<MemberRole> {
        self.cycle.replace(failed, spare).then_some(self.role)
    }

    /// A message from a member has arrived.
    pub fn receive(&mut self, now: TimeNs, member: u32, message: ToController) {
        let asks = matches!(message, ToController::GcRequest(_) | ToController::Participate);
        if self.answers && !(asks && self.cycle.is_lost(member)) {
            self.scheme.receive(now, member, message, &mut self.cycle);
        }
    }

    /// A moment that the scheme has asked for.
    pub fn tick(&mut self, now: TimeNs) {
        self.scheme.tick(now, &mut self.cycle);
    }

    /// The cycle that was held back begins; with soft notification if it is its time.
    pub fn begin_cycle(&mut self, now: TimeNs) {
        if self.cycle.may_begin(now) {
            let members = self.scheme.members_of_cycle(&self.cycle);
            self.cycle.begin(members);
        }
    }

    /// A member has been given as many page writes as it could take, and one more.
    pub fn pages_are_used_up(&mut self, now: TimeNs, member: u32) {
        self.cycle.pages_are_used_up(now, member);
    }

    /// A member that has asked has begun to collect because it must (rule 121).
    pub fn collects_unanswered(&mut self, member: u32) {
        if self.cycle.is_lost(member) {
            return;
        }
        let waits_for_others = !self.cycle.collecting().is_empty() && !self.cycle.collecting().contains(member);
        let count = if waits_for_others { &mut self.uncoordinated.during_cycles } else { &mut self.uncoordinated.unanswered };
        *count += 1;
    }

    /// Counts of [`Controller::collects_unanswered`].
    pub fn uncoordinated_cleans(&self) -> UncoordinatedCleans {
        self.uncoordinated
    }
}
