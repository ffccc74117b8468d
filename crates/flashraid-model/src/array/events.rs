//! What comes out of an array, in order of time.

use super::Health;
use super::caching::Caching;
use crate::TimeNs;
use crate::events::{DestageInterval, GcInterval, TimeParts};
use crate::ssd;
pub use crate::ssd::Programmed;
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
    /// A destage of the write cache has ended; one for each member that got pages. Only with [`super::Setup::record_destages`].
    Destage(DestageInterval),
    /// A drive with superblocks has programmed units.
    Programmed(Programmed),
    /// A member has failed, or its rebuilding has begun or ended: what arrives from now on meets another health of the array.
    Health {
        /// When it changes.
        at: TimeNs,
        /// The new health.
        health: Health,
    },
}

impl Event {
    /// When it is reported.
    #[inline]
    pub fn at(&self) -> TimeNs {
        match self {
            Self::Done(done) => done.at,
            Self::Collection(clean) => clean.end_ns,
            Self::Destage(destage) => destage.done_ns,
            Self::Programmed(programmed) => programmed.at,
            Self::Health { at, .. } => *at,
        }
    }

    /// Returns the order of events: time; the array's health, then requests, collections, destages and programs; of collections their start,
    /// then member, die and pool. All others of a kind that happen at the same time come in the order in which they do.
    pub fn key(&self) -> impl Ord + use<> {
        match self {
            Self::Health { at, .. } => (*at, 0, 0, [0; 3]),
            Self::Done(done) => (done.at, 1, 0, [0; 3]),
            Self::Collection(clean) => (clean.end_ns, 2, clean.start_ns, [clean.member, clean.die, clean.pool]),
            Self::Destage(destage) => (destage.done_ns, 3, 0, [0; 3]),
            Self::Programmed(programmed) => (programmed.at, 4, 0, [0; 3]),
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
    /// Changes of the array's health, in order.
    pub health: Vec<(TimeNs, Health)>,
}

impl Outbox {
    /// Appends what has ended by `until` to `events`, which are in order from `begin` on.
    #[inline]
    pub fn report(&mut self, until: TimeNs, told: &mut ssd::Outbox, caching: Option<&mut Caching>, begin: usize, events: &mut Vec<Event>) {
        self.cleans.extend(told.collections.drain(..).map(|clean| Reverse(Ending(clean))));
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
        let programs = events.len();
        events.extend(told.programmed.drain(..).map(Event::Programmed));
        let changes = events.len();
        events.extend(self.health.drain(..).map(|(at, health)| Event::Health { at, health }));
        let kinds = [begin..requests, requests..destages, destages..programs, programs..changes, changes..events.len()];
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
