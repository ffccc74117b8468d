//! Coordinated garbage collection: a controller that knows what members tell it, and when it forces them (GGC section 4).
//!
//! ```text
//!  member ── GcRequest, Participate, GcState, GcDone ──▶ controller
//!  member ◀───── ForceGc, StopGc, GcState ────────────── controller
//! ```
//!
//! A *cycle* begins when the controller forces members and ends when all of them have told that they are done. What the schemes
//! differ in is whom they force, and when: one file each.

mod mailbox;
mod proactive_idle;
mod proactive_soft_limit;
mod protocol;
mod reactive_inclusive;
mod reactive_selective;
#[cfg(test)]
mod tests;

use crate::TimeNs;
pub use mailbox::{Mail, Mailbox, by_name};
use proactive_soft_limit::Poll;
pub use protocol::*;

/// No such moment.
const NEVER: TimeNs = TimeNs::MAX;

/// Who is forced, and when. Without coordination there is no controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// All members as soon as one asks.
    ReactiveInclusive,
    /// Those that have come down to T_soft as soon as one asks.
    ReactiveSelective,
    /// The same, and also when the array is idle.
    ProactiveIdle,
    /// Those at or below a soft limit, when little waits or the first of them is about to collect by itself.
    ProactiveSoftLimit,
}

/// How the members of an array are coordinated.
#[derive(Debug, Clone, PartialEq)]
pub struct CoordinationParams {
    /// Who is forced, and when.
    pub scheme: Scheme,
    /// What a cycle cleans; the idle cycles of [`Scheme::ProactiveIdle`] always clean [`Work::UntilReserved`].
    pub work: Work,
    /// Free blocks of a pool at which its member registers; `None` if the scheme has no registration.
    pub t_soft_free_blocks: Option<u32>,
    /// Between two checks of the proactive schemes, in nanoseconds; at least 1.
    pub check_interval_ns: u64,
    /// The array is idle when it has had no request for so long, in nanoseconds.
    pub idle_threshold_ns: u64,
    /// [`Scheme::ProactiveSoftLimit`] forces members one of whose pools has so many free blocks or fewer.
    pub soft_limit_free_blocks: u32,
    /// Little waits if no more requests than these are outstanding.
    pub shallow_depth: u32,
    /// From a request for collection to the begin of its cycle, in nanoseconds.
    pub delay_ns: u64,
    /// Whether the controller ever answers.
    pub answers: bool,
    /// The members that know the protocol, as bits.
    pub ggc_aware: u128,
    /// How long messages take, by [`Kind`], in nanoseconds; [`Kind::StopGc`] takes as long as [`Kind::ForceGc`], so that it never
    /// overtakes it.
    pub latency_ns: [u64; KINDS],
}

impl CoordinationParams {
    /// Whether a member knows the protocol.
    pub fn is_ggc_aware(&self, member: u32) -> bool {
        self.ggc_aware >> member & 1 == 1
    }
}

/// What the controller wants done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outgoing {
    /// Send a message to a member.
    Message(u32, ToMember),
    /// Call [`Controller::begin_cycle`] then.
    BeginCycleAt(TimeNs),
}

/// The controller.
#[derive(Debug, Clone)]
pub struct Controller {
    params: CoordinationParams,
    /// Members that were forced and are not done.
    collecting: u128,
    /// What they were forced to do.
    work: Work,
    /// A cycle has been asked for and is held back.
    pending: bool,
    /// Members that will take part in the next cycle.
    registered: u128,
    /// Members that have failed.
    lost: u128,
    outstanding: u32,
    idle_since: TimeNs,
    next_check: TimeNs,
    poll: Poll,
    outgoing: Vec<Outgoing>,
}

impl Controller {
    /// A controller of members about which it knows nothing yet.
    pub fn new(params: &CoordinationParams) -> Self {
        let checks = params.answers && matches!(params.scheme, Scheme::ProactiveIdle | Scheme::ProactiveSoftLimit);
        Self {
            collecting: 0,
            work: params.work,
            pending: false,
            registered: 0,
            lost: 0,
            outstanding: 0,
            idle_since: 0,
            next_check: if checks { params.check_interval_ns } else { NEVER },
            poll: Poll::default(),
            outgoing: Vec::new(),
            params: params.clone(),
        }
    }

    /// When [`Controller::check`] is due; [`TimeNs::MAX`] for never.
    #[inline]
    pub fn next_check(&self) -> TimeNs {
        self.next_check
    }

    /// What it wants done since the last call.
    pub fn take_outgoing(&mut self, out: &mut Vec<Outgoing>) {
        out.append(&mut self.outgoing);
    }

    /// The workload is over: no more checks, and no more use of idle time.
    pub fn end_checks(&mut self) {
        self.next_check = NEVER;
    }

    /// A request has arrived at the array.
    pub fn request_arrives(&mut self) {
        self.outstanding += 1;
        self.stop_idle_cycle();
    }

    /// A request is done.
    pub fn request_done(&mut self, now: TimeNs) {
        self.outstanding -= 1;
        if self.outstanding == 0 {
            self.idle_since = now;
        }
    }

    /// A member has failed (rule 65): it takes no part in cycles to come.
    pub fn lose(&mut self, member: u32) {
        self.lost |= 1 << member;
        self.registered &= !self.lost;
        self.poll.forget(member);
    }

    fn is_lost(&self, member: u32) -> bool {
        self.lost >> member & 1 == 1
    }

    /// A spare replaces a failed member. If that was GGC-aware the spare is from now on, with the T_soft that is returned.
    pub fn replace(&mut self, failed: u32, spare: u32) -> Option<Option<u32>> {
        let aware = self.params.is_ggc_aware(failed);
        self.params.ggc_aware |= u128::from(aware) << spare;
        aware.then_some(self.params.t_soft_free_blocks)
    }

    /// A message from a member has arrived.
    pub fn receive(&mut self, now: TimeNs, member: u32, message: ToController) {
        if !self.params.answers || (self.is_lost(member) && matches!(message, ToController::GcRequest { .. } | ToController::Participate)) {
            return;
        }
        match message {
            ToController::GcRequest { .. } => self.cycle_requested(now, member),
            ToController::Participate => self.registered |= 1 << member,
            ToController::GcState(state) => self.state_told(now, member, state),
            ToController::GcDone => self.collecting &= !(1 << member),
        }
    }

    /// A periodic check of the proactive schemes.
    pub fn check(&mut self, now: TimeNs) {
        self.next_check = now + self.params.check_interval_ns;
        match self.params.scheme {
            Scheme::ProactiveIdle => self.check_idle(now),
            Scheme::ProactiveSoftLimit => self.ask_for_states(),
            Scheme::ReactiveInclusive | Scheme::ReactiveSelective => {}
        }
    }

    /// The cycle that was held back begins.
    pub fn begin_cycle(&mut self) {
        self.pending = false;
        let targets = match self.params.scheme {
            Scheme::ReactiveInclusive => self.everyone(),
            Scheme::ReactiveSelective | Scheme::ProactiveIdle => self.registered_members(),
            Scheme::ProactiveSoftLimit => self.registered | self.poll.at_or_below(self.params.soft_limit_free_blocks),
        };
        self.force(targets, self.params.work);
    }

    /// A cycle in progress, or held back, absorbs further requests (rule 44).
    fn cycle_requested(&mut self, now: TimeNs, member: u32) {
        if self.collecting != 0 {
            return;
        }
        self.registered |= 1 << member;
        if !self.pending {
            self.pending = true;
            self.outgoing.push(Outgoing::BeginCycleAt(now + self.params.delay_ns));
        }
    }

    /// Whether a proactive cycle may begin.
    fn is_free(&self) -> bool {
        self.collecting == 0 && !self.pending
    }

    fn force(&mut self, targets: u128, work: Work) {
        debug_assert_eq!(self.collecting, 0, "cycles don't overlap");
        let targets = targets & !self.lost;
        self.collecting = targets;
        self.work = work;
        self.registered &= !targets;
        self.tell(targets, ToMember::ForceGc(work));
    }

    fn tell(&mut self, members: u128, message: ToMember) {
        let all = (0..u128::BITS).filter(|&member| members >> member & 1 == 1);
        self.outgoing.extend(all.map(|member| Outgoing::Message(member, message)));
    }
}
