//! What comes out of an array, in order of time.

use super::caching::Caching;
use crate::TimeNs;
use crate::events::{DestageInterval, GcInterval, TimeParts};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A request that is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// The request's tag.
    pub tag: u64,
    /// When its last page was done.
    pub at: TimeNs,
    /// Members on which a page of it waited for garbage collection.
    pub gc_members_met: u32,
    /// Pages of it that too many failures have taken: they were not served.
    pub pages_lost: u32,
    /// Where its time went, from its arrival on.
    pub parts: TimeParts,
}

/// Something that has happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A request is done.
    Done(Done),
    /// A clean of a pool has ended.
    Collection(GcInterval),
    /// A destage of the write cache has ended; one for each member that got pages. Only after [`super::Array::record_destages`].
    Destage(DestageInterval),
}

impl Event {
    /// When it is reported.
    #[inline]
    pub fn at(&self) -> TimeNs {
        match self {
            Self::Done(done) => done.at,
            Self::Collection(clean) => clean.end_ns,
            Self::Destage(destage) => destage.done_ns,
        }
    }

    /// What events are ordered by: time; requests, then collections, then destages; of collections their start, then member, die and pool.
    /// Requests that are done at the same time, and destages, come in the order in which they end.
    pub fn key(&self) -> impl Ord + use<> {
        match self {
            Self::Done(done) => (done.at, 0, 0, [0; 3]),
            Self::Collection(clean) => (clean.end_ns, 1, clean.start_ns, [clean.member, clean.die, clean.pool]),
            Self::Destage(destage) => (destage.done_ns, 2, 0, [0; 3]),
        }
    }
}

/// A clean whose end is known, in order of [`Event::key`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ending(GcInterval);

impl Ending {
    fn key(&self) -> (TimeNs, TimeNs, [u32; 3]) {
        let Self(clean) = self;
        (clean.end_ns, clean.start_ns, [clean.member, clean.die, clean.pool])
    }
}

impl Ord for Ending {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Ending {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// What is to be told later.
#[derive(Debug, Clone, Default)]
pub(super) struct Outbox {
    /// What has happened while many operations were taken at once, in order.
    pub held: Vec<Event>,
    /// Cleans that members know before they end.
    cleans: BinaryHeap<Reverse<Ending>>,
}

impl Outbox {
    /// Appends what has ended by `until` to `events`, which are in order from `begin` on.
    #[inline]
    pub fn report(
        &mut self,
        until: TimeNs,
        cleans: &mut Vec<GcInterval>,
        caching: Option<&mut Caching>,
        begin: usize,
        events: &mut Vec<Event>,
    ) {
        self.cleans.extend(cleans.drain(..).map(|clean| Reverse(Ending(clean))));
        let requests = events.len();
        while let Some(Reverse(Ending(clean))) = self.cleans.peek()
            && clean.end_ns <= until
        {
            events.push(Event::Collection(*clean));
            self.cleans.pop();
        }
        let destages = events.len();
        if let Some(record) = caching.and_then(|caching| caching.record.as_mut()) {
            events.extend(record.done.drain(..).map(Event::Destage));
        }
        let kinds = [begin..requests, requests..destages, destages..events.len()];
        if kinds.iter().filter(|kind| !kind.is_empty()).count() > 1 {
            events[begin..].sort_by_key(Event::key);
        }
    }

    /// The earliest start of a clean that has not been told.
    pub fn first_start(&self) -> Option<TimeNs> {
        self.cleans.iter().map(|Reverse(Ending(clean))| clean.start_ns).min()
    }
}

/// The requests among the events.
#[cfg(test)]
pub(super) fn dones(events: &[Event]) -> Vec<Done> {
    events.iter().filter_map(|event| if let Event::Done(done) = event { Some(*done) } else { None }).collect()
}
