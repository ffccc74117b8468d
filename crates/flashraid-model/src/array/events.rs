//! Events that an array reports, in order of time.

use super::ArrayHealth;
use super::caching::Caching;
use crate::TimeNs;
use crate::events::{OperationTimeParts, Slab, VictimBlockCollection, WriteCacheDestageToMember};
use crate::ssd;
pub use crate::ssd::MappingUnitsProgrammed;
use std::collections::VecDeque;

/// A request that is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestDone {
    /// Tag of the request: the number that the caller chose when submitting it ([`RequestInPages::tag`](super::RequestInPages::tag)).
    pub tag: u64,
    /// Time at which the last page of the request was done, in nanoseconds.
    pub at: TimeNs,
    /// Number of members on which a page of the request waited for garbage collection.
    pub gc_members_met: u32,
    /// Number of pages of the request that were not served because too many members failed.
    pub pages_lost: u32,
    /// Division of the response time of the request into its causes.
    pub time: OperationTimeParts,
}

/// An event that the array reports to its caller, such as the end of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrayEvent {
    /// A request is done.
    RequestDone(RequestDone),
    /// The collection of one victim block has ended: its valid pages are moved, and it is erased.
    VictimCollectionEnded(VictimBlockCollection),
    /// A destage of the write cache has ended. There is one event for each member that got pages, only with
    /// [`super::ArrayExecutionOptions::reports_destage_events`].
    DestageEnded(WriteCacheDestageToMember),
    /// A drive with superblocks has programmed units, the pieces of data that its mapping places (one page or several).
    SuperblockUnitsProgrammed(MappingUnitsProgrammed),
    /// A member has failed, or its rebuilding has begun or ended. Requests that arrive later are counted under the new health.
    HealthChanged {
        /// Time of the change, in nanoseconds.
        at: TimeNs,
        /// Health of the array after the change.
        health: ArrayHealth,
    },
}

impl ArrayEvent {
    /// Returns the time at which the event is reported.
    #[inline]
    pub fn time(&self) -> TimeNs {
        match self {
            Self::RequestDone(done) => done.at,
            Self::VictimCollectionEnded(clean) => clean.end_ns,
            Self::DestageEnded(destage) => destage.last_member_done_ns,
            Self::SuperblockUnitsProgrammed(programmed) => programmed.at,
            Self::HealthChanged { at, .. } => *at,
        }
    }

    /// Returns the key by which events are ordered.
    ///
    /// Events are ordered by time. At the same time, changes of the array's health come first, then requests, collections, destages and
    /// programs. Collections that end at the same time are ordered by the time at which they started, then by member, die and pool of
    /// blocks. Other events of the same kind and time have equal keys. A stable sort keeps them in the order in which they were
    /// reported.
    pub fn order_key(&self) -> impl Ord + use<> {
        match self {
            Self::HealthChanged { at, .. } => (*at, 0, 0, [0; 3]),
            Self::RequestDone(done) => (done.at, 1, 0, [0; 3]),
            Self::VictimCollectionEnded(clean) => (clean.end_ns, 2, clean.start_ns, [clean.member, clean.die, clean.pool]),
            Self::DestageEnded(destage) => (destage.last_member_done_ns, 3, 0, [0; 3]),
            Self::SuperblockUnitsProgrammed(programmed) => (programmed.at, 4, 0, [0; 3]),
        }
    }
}

/// Events that are known already but must be reported later.
#[derive(Debug, Clone, Default)]
pub(super) struct Outbox {
    /// Ends of requests that were computed before simulated time reached them, in order of time.
    pub(crate) requests_held_back: Vec<ArrayEvent>,
    /// Cleans whose ends are known in advance (a clean is the collection of one victim block).
    cleans: Slab<VictimBlockCollection>,
    /// End times of the cleans with their indices in `cleans`, in order of time. Large batches have thousands of them, so entries are
    /// small.
    ends: VecDeque<(TimeNs, u32)>,
    /// Changes of the array's health, in order.
    pub(crate) health_changes: Vec<(TimeNs, ArrayHealth)>,
}

impl Outbox {
    /// Appends all events until `until` to `events`. From index `begin` on, `events` are in order before and after.
    #[inline]
    pub(super) fn release_events(
        &mut self,
        until: TimeNs,
        told: &mut ssd::SsdOutbox,
        caching: Option<&mut Caching>,
        begin: usize,
        events: &mut Vec<ArrayEvent>,
    ) {
        // Requests alone are in order already, and most calls find nothing else.
        let is_empty = told.collections.is_empty() && told.programmed.is_empty() && self.health_changes.is_empty() && caching.is_none();
        if !is_empty || self.ends.front().is_some_and(|(end, _)| *end <= until) {
            self.report_others(until, told, caching, begin, events);
        }
    }

    fn report_others(
        &mut self,
        until: TimeNs,
        told: &mut ssd::SsdOutbox,
        caching: Option<&mut Caching>,
        begin: usize,
        events: &mut Vec<ArrayEvent>,
    ) {
        match told.collections.len() {
            0 => {}
            1 => {
                let clean = told.collections.pop().expect("there is one");
                let place = self.ends.partition_point(|&(end, _)| end <= clean.end_ns);
                self.ends.insert(place, (clean.end_ns, self.cleans.insert(clean)));
            }
            _ => {
                let cleans = &mut self.cleans;
                self.ends.extend(told.collections.drain(..).map(|clean| (clean.end_ns, cleans.insert(clean))));
                self.ends.make_contiguous().sort_unstable();
            }
        }
        let requests = events.len();
        if self.ends.front().is_some_and(|(end, _)| *end <= until) {
            self.report_cleans(until, events);
        }
        let destages = events.len();
        if let Some(record) = caching.and_then(|caching| caching.destage_record.as_mut()) {
            events.extend(record.finished_destages.drain(..).map(ArrayEvent::DestageEnded));
        }
        let programs = events.len();
        events.extend(told.programmed.drain(..).map(ArrayEvent::SuperblockUnitsProgrammed));
        let changes = events.len();
        events.extend(self.health_changes.drain(..).map(|(at, health)| ArrayEvent::HealthChanged { at, health }));
        let kinds = [begin..requests, requests..destages, destages..programs, programs..changes, changes..events.len()];
        if kinds.iter().filter(|kind| !kind.is_empty()).count() > 1 {
            events[begin..].sort_by_key(ArrayEvent::order_key);
        }
    }

    /// Appends the cleans that end by `until` (a clean is the collection of one victim block), in the order of [`ArrayEvent::order_key`].
    fn report_cleans(&mut self, until: TimeNs, events: &mut Vec<ArrayEvent>) {
        let mut begin = events.len();
        while let Some(&(end, number)) = self.ends.front()
            && end <= until
        {
            self.ends.pop_front();
            if events.get(begin).is_some_and(|event| event.time() != end) {
                events[begin..].sort_by_key(ArrayEvent::order_key);
                begin = events.len();
            }
            events.push(ArrayEvent::VictimCollectionEnded(self.cleans.remove(number)));
        }
        events[begin..].sort_by_key(ArrayEvent::order_key);
    }

    /// Returns the earliest start of a clean that has not been reported (a clean is the collection of one victim block).
    pub(crate) fn earliest_unreported_start(&self) -> Option<TimeNs> {
        self.ends.iter().map(|&(_, number)| self.cleans[number].start_ns).min()
    }
}

/// Returns the requests among the events.
#[cfg(test)]
pub(super) fn done_requests(events: &[ArrayEvent]) -> Vec<RequestDone> {
    events.iter().filter_map(|event| if let ArrayEvent::RequestDone(done) = event { Some(*done) } else { None }).collect()
}
