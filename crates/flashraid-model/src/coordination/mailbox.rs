//! Messages on their way, and their number.

use super::{CoordinationParams, KIND_NAMES, KINDS, Kind, NEVER, Outgoing, ToController, ToMember};
use crate::TimeNs;
use std::collections::BTreeMap;

/// What arrives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mail {
    /// A message of that member.
    ToController(u32, ToController),
    /// A message to that member.
    ToMember(u32, ToMember),
    /// A cycle was held back until now, or may begin.
    BeginCycle,
    /// That member may have to ask: all else of this nanosecond has happened.
    MayAsk(u32),
}

impl Mail {
    /// What comes first among that which arrives at the same nanosecond (rule 42): in this order it is the same whoever sent first,
    /// and so whatever the numbers of the members.
    fn rank(&self) -> u8 {
        match self {
            Self::MayAsk(_) => 0,
            Self::ToController(_, ToController::GcDone) => 1,
            Self::ToController(_, ToController::Participate) => 2,
            Self::ToController(_, ToController::GcState(_)) => 3,
            Self::ToController(_, ToController::GcRequest(_)) => 4,
            Self::BeginCycle => 5,
            Self::ToMember(_, ToMember::Force(_)) => 6,
            Self::ToMember(_, ToMember::Grant(_)) => 7,
            Self::ToMember(_, ToMember::Stop) => 8,
            Self::ToMember(_, ToMember::Deny) => 9,
            Self::ToMember(_, ToMember::TellState) => 10,
        }
    }
}

/// Messages on their way.
#[derive(Debug, Clone)]
pub struct Mailbox {
    latency_ns: [u64; KINDS],
    /// By time, rank and order of sending.
    under_way: BTreeMap<(TimeNs, u8, u64), Mail>,
    scheduled: u64,
    sent: [u64; KINDS],
    /// What was sent, and when.
    #[cfg(test)]
    pub log: Vec<(TimeNs, Mail)>,
}

impl Mailbox {
    /// An empty one.
    pub fn new(params: &CoordinationParams) -> Self {
        Self {
            latency_ns: params.latency_ns,
            under_way: BTreeMap::new(),
            scheduled: 0,
            sent: [0; KINDS],
            #[cfg(test)]
            log: Vec::new(),
        }
    }

    /// When something arrives next; [`TimeNs::MAX`] for never.
    #[inline]
    pub fn next_time(&self) -> TimeNs {
        self.under_way.first_key_value().map_or(NEVER, |(&(at, ..), _)| at)
    }

    /// Takes what arrives next if it is due by `until`.
    pub fn pop_due(&mut self, until: TimeNs) -> Option<(TimeNs, Mail)> {
        let next = self.under_way.first_entry()?;
        let at = next.key().0;
        (at <= until).then(|| (at, next.remove()))
    }

    /// Takes a message of a member.
    pub fn post(&mut self, at: TimeNs, member: u32, message: ToController) {
        self.send(at, message.kind(), Mail::ToController(member, message));
    }

    /// A member is to be asked at the end of that nanosecond whether it has to ask.
    pub fn may_ask(&mut self, at: TimeNs, member: u32) {
        self.schedule(at, Mail::MayAsk(member));
    }

    /// Takes what the controller wants done.
    pub fn carry_out(&mut self, now: TimeNs, outgoing: Outgoing) {
        match outgoing {
            Outgoing::Message(member, message) => self.send(now, message.kind(), Mail::ToMember(member, message)),
            Outgoing::BeginCycleAt(at) => self.schedule(at, Mail::BeginCycle),
            Outgoing::CountPages(..) => debug_assert!(false, "nothing is sent"),
        }
    }

    fn send(&mut self, now: TimeNs, kind: Kind, mail: Mail) {
        self.sent[kind as usize] += 1;
        #[cfg(test)]
        self.log.push((now, mail));
        self.schedule(now + self.latency_ns[kind as usize], mail);
    }

    /// Lets a message arrive at a member then, as if it had been sent.
    #[cfg(test)]
    pub fn deliver(&mut self, at: TimeNs, member: u32, message: ToMember) {
        self.schedule(at, Mail::ToMember(member, message));
    }

    fn schedule(&mut self, at: TimeNs, mail: Mail) {
        self.under_way.insert((at, mail.rank(), self.scheduled), mail);
        self.scheduled += 1;
    }

    /// Messages sent so far, by [`Kind`].
    pub fn sent(&self) -> [u64; KINDS] {
        self.sent
    }
}

/// Counts of messages under the names of their kinds; `later` − `earlier`. Kinds that only some schemes know are named if they were sent.
pub fn by_name(later: [u64; KINDS], earlier: [u64; KINDS]) -> BTreeMap<String, u64> {
    let known_to_all = |kind: usize| kind != Kind::Grant as usize && kind != Kind::Deny as usize;
    let counts = KIND_NAMES.iter().zip(later.iter().zip(earlier)).enumerate();
    counts.filter(|&(kind, (_, (&l, e)))| known_to_all(kind) || l > e).map(|(_, (name, (&l, e)))| ((*name).to_owned(), l - e)).collect()
}
