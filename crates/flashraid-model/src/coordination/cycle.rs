//! What all schemes have in common: the members, the cycle in progress or held back, and the load (rule 44).

use super::{CoordinationParams, Outgoing, ToController, ToMember, Work};
use crate::TimeNs;

/// The members as the controller sees them, and its cycle.
#[derive(Debug, Clone)]
pub struct Cycle {
    /// What a cycle cleans.
    usual_work: Work,
    delay_ns: u64,
    ggc_aware: u128,
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
    outgoing: Vec<Outgoing>,
}

impl Cycle {
    pub(super) fn new(params: &CoordinationParams) -> Self {
        Self {
            usual_work: params.work,
            delay_ns: params.delay_ns,
            ggc_aware: params.ggc_aware,
            collecting: 0,
            work: params.work,
            pending: false,
            registered: 0,
            lost: 0,
            outstanding: 0,
            idle_since: 0,
            outgoing: Vec::new(),
        }
    }

    /// Every member that knows the protocol and has not failed.
    pub fn everyone(&self) -> u128 {
        self.ggc_aware & !self.lost
    }

    /// The members that have registered or asked since they were forced last.
    pub fn registered(&self) -> u128 {
        self.registered
    }

    /// The members that were forced and are not done.
    pub fn collecting(&self) -> u128 {
        self.collecting
    }

    /// What they were forced to do.
    pub fn work(&self) -> Work {
        self.work
    }

    /// Whether a member has failed.
    pub fn is_lost(&self, member: u32) -> bool {
        self.lost >> member & 1 == 1
    }

    /// No cycle is in progress or held back.
    pub fn is_free(&self) -> bool {
        self.collecting == 0 && !self.pending
    }

    /// Requests that have arrived at the array and are not done.
    pub fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// Since when no request has been outstanding; `None` if one is.
    pub fn idle_since(&self) -> Option<TimeNs> {
        (self.outstanding == 0).then_some(self.idle_since)
    }

    /// Takes a message as rule 44 says: requests and registrations are noted, and a request begins a cycle, after the delay, if none is in
    /// progress or held back.
    pub fn receive(&mut self, now: TimeNs, from: u32, message: ToController) {
        match message {
            ToController::GcRequest => self.cycle_requested(now, from),
            ToController::Participate => self.registered |= 1 << from,
            ToController::GcState(_) => {}
            ToController::GcDone => self.collecting &= !(1 << from),
        }
    }

    /// A cycle in progress absorbs further requests, one that is held back takes their members in.
    fn cycle_requested(&mut self, now: TimeNs, member: u32) {
        if self.collecting != 0 {
            return;
        }
        self.registered |= 1 << member;
        if !self.pending {
            self.pending = true;
            self.outgoing.push(Outgoing::BeginCycleAt(now + self.delay_ns));
        }
    }

    /// The cycle that was held back begins.
    pub(super) fn begin(&mut self, members: u128) {
        self.pending = false;
        self.force(members);
    }

    /// A cycle of these members, but those that have failed, begins; none may be in progress.
    pub fn force(&mut self, members: u128) {
        self.force_to(members, self.usual_work);
    }

    /// The same with other work than usual.
    pub fn force_to(&mut self, members: u128, work: Work) {
        debug_assert_eq!(self.collecting, 0, "cycles don't overlap");
        let members = members & !self.lost;
        self.collecting = members;
        self.work = work;
        self.registered &= !members;
        self.tell(members, ToMember::Force(work));
    }

    /// Ends the use of idle time: what is left of the cycle ends by itself.
    pub fn stop(&mut self) {
        self.work = self.usual_work;
        self.tell(self.collecting, ToMember::Stop);
    }

    /// Sends a message to each of these members.
    pub fn tell(&mut self, members: u128, message: ToMember) {
        let all = (0..u128::BITS).filter(|&member| members >> member & 1 == 1);
        self.outgoing.extend(all.map(|member| Outgoing::Message(member, message)));
    }

    pub(super) fn take_outgoing(&mut self, out: &mut Vec<Outgoing>) {
        out.append(&mut self.outgoing);
    }

    pub(super) fn request_arrives(&mut self) {
        self.outstanding += 1;
    }

    pub(super) fn request_done(&mut self, now: TimeNs) {
        self.outstanding -= 1;
        if self.outstanding == 0 {
            self.idle_since = now;
        }
    }

    pub(super) fn lose(&mut self, member: u32) {
        self.lost |= 1 << member;
        self.registered &= !self.lost;
    }

    /// A spare takes the place of a failed member; says whether it knows the protocol.
    pub(super) fn replace(&mut self, failed: u32, spare: u32) -> bool {
        let aware = self.ggc_aware >> failed & 1 == 1;
        self.ggc_aware |= u128::from(aware) << spare;
        aware
    }
}
