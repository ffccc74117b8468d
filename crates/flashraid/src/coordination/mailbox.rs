//! Messages on their way, and their number.

use super::{CoordinationParams, KIND_NAMES, KINDS, Kind, NEVER, Notice, Order, ToController, ToMember};
use crate::TimeNs;
use crate::agenda::Agenda;
use std::collections::BTreeMap;

/// What arrives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mail {
    /// A message of that member.
    ToController(u32, ToController),
    /// A message to that member.
    ToMember(u32, ToMember),
    /// A cycle was held back until now.
    BeginCycle,
}

/// Messages on their way. Those that arrive at the same nanosecond do so in the order in which they were sent.
#[derive(Debug, Clone)]
pub struct Mailbox {
    latency_ns: [u64; KINDS],
    under_way: Agenda<Mail>,
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
            under_way: Agenda::default(),
            sent: [0; KINDS],
            #[cfg(test)]
            log: Vec::new(),
        }
    }

    /// When something arrives next; [`TimeNs::MAX`] for never.
    #[inline]
    pub fn next_time(&self) -> TimeNs {
        self.under_way.next_time().unwrap_or(NEVER)
    }

    /// Takes what arrives next if it is due by `until`.
    pub fn pop_due(&mut self, until: TimeNs) -> Option<(TimeNs, Mail)> {
        self.under_way.pop_due(until)
    }

    /// Takes a message of a member.
    pub fn post(&mut self, notice: &Notice) {
        self.send(notice.at, notice.message.kind(), Mail::ToController(notice.member, notice.message));
    }

    /// Takes what the controller wants done.
    pub fn carry_out(&mut self, now: TimeNs, order: Order) {
        match order {
            Order::Tell(member, message) => self.send(now, message.kind(), Mail::ToMember(member, message)),
            Order::BeginCycleAt(at) => self.under_way.schedule(at, Mail::BeginCycle),
        }
    }

    fn send(&mut self, now: TimeNs, kind: Kind, mail: Mail) {
        self.sent[kind as usize] += 1;
        #[cfg(test)]
        self.log.push((now, mail));
        self.under_way.schedule(now + self.latency_ns[kind as usize], mail);
    }

    /// Messages sent so far, by [`Kind`].
    pub fn sent(&self) -> [u64; KINDS] {
        self.sent
    }
}

/// Counts of messages under the names of their kinds; `later` − `earlier`.
pub fn by_name(later: [u64; KINDS], earlier: [u64; KINDS]) -> BTreeMap<String, u64> {
    KIND_NAMES.iter().zip(later.iter().zip(earlier)).map(|(name, (&l, e))| ((*name).to_owned(), l - e)).collect()
}
