//! What all schemes have in common: the members, the cycle in progress or held back, and the load (rules 44 and 120).

use super::{CoordinationParams, Need, Notify, Outgoing, ToController, ToMember, Work};
use crate::TimeNs;
use crate::ids::MemberSet;
use std::collections::BTreeMap;

/// A member that has asked softly and has not been forced since.
#[derive(Debug, Clone, Copy)]
struct Asking {
    /// When its first request arrived.
    since: TimeNs,
    /// It can't wait any longer: it has said so, or has been given more pages than it could take.
    must: bool,
}

/// The members as the controller sees them, and its cycle.
#[derive(Debug, Clone)]
pub struct Cycle {
    /// What a cycle cleans.
    usual_work: Work,
    delay_ns: u64,
    notify: Notify,
    at_idle: bool,
    ggc_aware: MemberSet,
    /// Members that were forced and are not done.
    collecting: MemberSet,
    /// What they were forced to do.
    work: Work,
    /// A cycle has been asked for and is held back; never with soft notification.
    pending: bool,
    /// The members that ask, with soft notification.
    asking: BTreeMap<u32, Asking>,
    /// How often members have been forced, or granted collection.
    times_forced: Vec<u32>,
    /// Members that will take part in the next cycle.
    registered: MemberSet,
    /// Members that have failed.
    lost: MemberSet,
    outstanding: u32,
    idle_since: TimeNs,
    outgoing: Vec<Outgoing>,
}

impl Cycle {
    pub(super) fn new(params: &CoordinationParams) -> Self {
        Self {
            usual_work: params.work,
            delay_ns: params.delay_ns,
            notify: params.notify,
            at_idle: params.at_idle,
            ggc_aware: params.ggc_aware,
            collecting: MemberSet::NONE,
            work: params.work,
            pending: false,
            asking: BTreeMap::new(),
            times_forced: Vec::new(),
            registered: MemberSet::NONE,
            lost: MemberSet::NONE,
            outstanding: 0,
            idle_since: 0,
            outgoing: Vec::new(),
        }
    }

    /// Every member that knows the protocol and has not failed.
    pub fn everyone(&self) -> MemberSet {
        self.ggc_aware.without(self.lost)
    }

    /// The members that have registered or asked since they were forced last.
    pub fn registered(&self) -> MemberSet {
        self.registered
    }

    /// The members that were forced and are not done.
    pub fn collecting(&self) -> MemberSet {
        self.collecting
    }

    /// The members that have asked softly and have not been forced since.
    pub fn asking(&self) -> MemberSet {
        self.asking.keys().copied().collect()
    }

    /// What they were forced to do.
    pub fn work(&self) -> Work {
        self.work
    }

    /// Whether a member has failed.
    pub fn is_lost(&self, member: u32) -> bool {
        self.lost.contains(member)
    }

    /// No cycle is in progress or held back. (What members have asked for softly is not held back: any cycle may come before.)
    pub fn is_free(&self) -> bool {
        self.collecting.is_empty() && !self.pending
    }

    /// Requests that have arrived at the array and are not done.
    pub fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// Since when no request has been outstanding; `None` if one is.
    pub fn idle_since(&self) -> Option<TimeNs> {
        (self.outstanding == 0).then_some(self.idle_since)
    }

    /// Takes a message as rules 44 and 120 say: requests and registrations are noted, and a request begins a cycle in its time.
    pub fn receive(&mut self, now: TimeNs, from: u32, message: ToController) {
        match message {
            ToController::GcRequest(need) => match self.notify {
                Notify::AtStart => self.cycle_requested(now, from),
                Notify::Soft => self.asked_softly(now, from, need),
            },
            ToController::Participate => self.registered.insert(from),
            ToController::GcState(_) => {}
            ToController::GcDone => {
                self.collecting.remove(from);
                self.may_have_come(now);
            }
        }
    }

    /// A cycle in progress absorbs further requests, one that is held back takes their members in.
    fn cycle_requested(&mut self, now: TimeNs, member: u32) {
        if !self.collecting.is_empty() {
            return;
        }
        self.registered.insert(member);
        if !self.pending {
            self.pending = true;
            self.outgoing.push(Outgoing::BeginCycleAt(now + self.delay_ns));
        }
    }

    /// A member asks, unless it has been forced since it sent this.
    fn asked_softly(&mut self, now: TimeNs, member: u32, need: Need) {
        if need.times_forced != self.times_forced(member) {
            return;
        }
        self.registered.insert(member);
        let since = self.asking.get(&member).map_or(now, |asking| asking.since);
        if self.asking.insert(member, Asking { since, must: need.at_limit }).is_none() {
            self.outgoing.push(Outgoing::BeginCycleAt(now + self.delay_ns));
        }
        self.outgoing.push(Outgoing::CountPages(member, need.pages_given + need.pages_left));
        self.may_have_come(now);
    }

    pub(super) fn pages_are_used_up(&mut self, now: TimeNs, member: u32) {
        if let Some(asking) = self.asking.get_mut(&member) {
            asking.must = true;
            debug_assert!(!self.collecting.is_empty() || self.is_time(now), "who can't wait is waited for by nothing but a cycle");
            self.may_have_come(now);
        }
    }

    /// Something has happened that may let the cycle begin that members have asked for softly.
    fn may_have_come(&mut self, now: TimeNs) {
        debug_assert!(self.asking.keys().all(|&member| !self.lost.contains(member)), "a member that has failed asks for nothing");
        if !self.asking.is_empty() && self.is_time(now) {
            self.outgoing.push(Outgoing::BeginCycleAt(now));
        }
    }

    /// Whether the cycle that members have asked for softly begins now (rule 120).
    fn is_time(&self, now: TimeNs) -> bool {
        let waits_no_longer = |asking: &Asking| asking.must || now >= asking.since + self.delay_ns;
        let is_idle = self.at_idle && self.outstanding == 0 && !self.asking.is_empty();
        self.collecting.is_empty() && (is_idle || self.asking.values().any(waits_no_longer))
    }

    /// Whether the cycle for which [`Outgoing::BeginCycleAt`] has come may begin.
    pub(super) fn may_begin(&self, now: TimeNs) -> bool {
        self.notify == Notify::AtStart || self.is_time(now)
    }

    fn times_forced(&self, member: u32) -> u32 {
        self.times_forced.get(member as usize).copied().unwrap_or(0)
    }

    /// Idle time is not used any more.
    pub(super) fn end_idle(&mut self) {
        self.at_idle = false;
    }

    /// The cycle that was held back begins.
    pub(super) fn begin(&mut self, members: MemberSet) {
        self.pending = false;
        self.force(members);
        debug_assert!(self.asking.keys().all(|&member| !self.collecting.contains(member)), "who is forced no longer asks");
    }

    /// A cycle of these members, but those that have failed, begins; none may be in progress.
    pub fn force(&mut self, members: MemberSet) {
        self.force_to(members, self.usual_work);
    }

    /// The same with other work than usual.
    pub fn force_to(&mut self, members: MemberSet, work: Work) {
        assert!(self.collecting.is_empty(), "cycles don't overlap");
        let members = members.without(self.lost);
        self.collecting = members;
        self.work = work;
        self.registered = self.registered.without(members);
        self.tell(members, ToMember::Force(work));
        assert!(self.registered.0 & self.collecting.0 == 0, "who is forced is registered no longer");
    }

    /// Ends the use of idle time: what is left of the cycle ends by itself.
    pub fn stop(&mut self) {
        self.work = self.usual_work;
        self.tell(self.collecting, ToMember::Stop);
    }

    /// Sends a message to each of these members.
    pub fn tell(&mut self, members: MemberSet, message: ToMember) {
        for member in members.iter() {
            self.outgoing.push(Outgoing::Message(member, message));
            if matches!(message, ToMember::Force(_) | ToMember::Grant(_)) {
                let length = self.times_forced.len().max(member as usize + 1);
                self.times_forced.resize(length, 0);
                self.times_forced[member as usize] += 1;
                self.asking.remove(&member);
            }
        }
    }

    pub(super) fn take_outgoing(&mut self, out: &mut Vec<Outgoing>) {
        out.append(&mut self.outgoing);
    }

    pub(super) fn request_arrives(&mut self) {
        self.outstanding += 1;
    }

    pub(super) fn request_done(&mut self, now: TimeNs) {
        assert!(self.outstanding > 0, "a request that is done has arrived");
        self.outstanding -= 1;
        if self.outstanding == 0 {
            debug_assert!(now >= self.idle_since, "time does not go back");
            self.idle_since = now;
            self.may_have_come(now);
        }
    }

    pub(super) fn lose(&mut self, member: u32) {
        self.lost.insert(member);
        self.registered.remove(member);
        self.asking.remove(&member);
        assert!(self.is_lost(member) && !self.everyone().contains(member), "a member that has failed takes part in nothing");
    }

    /// A spare takes the place of a failed member; says whether it knows the protocol.
    pub(super) fn replace(&mut self, failed: u32, spare: u32) -> bool {
        assert!(self.lost.contains(failed) && !self.lost.contains(spare), "spare {spare} replaces member {failed}, which has failed");
        let aware = self.ggc_aware.contains(failed);
        if aware {
            self.ggc_aware.insert(spare);
        }
        aware
    }
}
