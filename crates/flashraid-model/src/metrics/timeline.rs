//! Single requests and collections of a window of time, as in GGC Figs. 10 and 13.

use super::CompletedRequest;
use crate::TimeNs;
use crate::events::{VictimBlockCollection, WriteCacheDestageToMember};

/// Maximum number of requests, of collections, and of destages that a timeline keeps.
pub(crate) const TIMELINE_ENTRIES_MAX: usize = 200_000;

/// Requests, collections and destages that overlap a window of simulated time, in the order in which they are reported.
///
/// A request lasts from its arrival until it is done, and a collection from its start to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventTimeline {
    /// Time at which the timeline (a window of simulated time) begins, in nanoseconds.
    pub from_ns: TimeNs,
    /// Time at which the timeline (a window of simulated time) ends, in nanoseconds. The timeline does not contain this time itself.
    pub to_ns: TimeNs,
    /// Host requests that were in progress at some time between the begin and the end of the timeline.
    pub requests: Vec<CompletedRequest>,
    /// Collections of all members that ran at some time between the begin and the end of the timeline.
    pub cleans: Vec<VictimBlockCollection>,
    /// Destages of the write cache that ran at some time between the begin and the end of the timeline. A destage has one entry for
    /// each member that it writes to.
    pub destages: Vec<WriteCacheDestageToMember>,
    /// Number of requests, collections and destages that were left out, because a timeline keeps at most `TIMELINE_ENTRIES_MAX` of each
    /// kind.
    pub omitted_entries: u64,
}

impl EventTimeline {
    pub(super) fn new(from_ns: TimeNs, to_ns: TimeNs) -> Self {
        Self { from_ns, to_ns, requests: Vec::new(), cleans: Vec::new(), destages: Vec::new(), omitted_entries: 0 }
    }

    #[inline]
    pub(super) fn record_request(&mut self, done: &CompletedRequest) {
        if done.arrival_ns < self.to_ns && done.done_ns >= self.from_ns {
            self.omitted_entries += push_bounded(&mut self.requests, *done);
        }
    }

    #[inline]
    pub(super) fn gc(&mut self, interval: &VictimBlockCollection) {
        if interval.start_ns < self.to_ns && interval.end_ns >= self.from_ns {
            self.omitted_entries += push_bounded(&mut self.cleans, *interval);
        }
    }

    pub(super) fn record_destage(&mut self, destage: &WriteCacheDestageToMember) {
        if destage.begun_ns < self.to_ns && destage.last_member_done_ns >= self.from_ns {
            self.omitted_entries += push_bounded(&mut self.destages, *destage);
        }
    }
}

/// Adds an entry if there is room, and returns the number of entries left out: 0 or 1.
fn push_bounded<T>(entries: &mut Vec<T>, entry: T) -> u64 {
    if entries.len() >= TIMELINE_ENTRIES_MAX {
        return 1;
    }
    entries.push(entry);
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{OpKind, Request};

    fn request(arrival_ns: u64, done_ns: u64) -> CompletedRequest {
        let request = Request {
            arrival_ns,
            offset_bytes: 0,
            length_bytes: 4096,
            kind: OpKind::Write,
            fua: false,
            zeroes: false,
            high_priority: false,
            stream: 0,
            contiguous_on_one_member: false,
        };
        CompletedRequest {
            arrival_index: 0,
            request,
            arrival_ns,
            done_ns,
            gc_members_met: 0,
            time: crate::events::OperationTimeParts::default(),
        }
    }

    fn gc(start_ns: u64, end_ns: u64) -> VictimBlockCollection {
        VictimBlockCollection {
            member: 0,
            die: 0,
            pool: 0,
            start_ns,
            end_ns,
            pages_moved: 0,
            free_blocks_before: 0,
            pool_free_blocks_min: 0,
            writes_blocked_from_ns: start_ns,
            all_requests_blocked_from_ns: start_ns,
            is_caused_by_coordination: false,
        }
    }

    #[test]
    fn keeps_what_overlaps_the_window() {
        let mut timeline = EventTimeline::new(100, 200);
        for (start_ns, end_ns) in [(0, 99), (0, 100), (150, 160), (199, 300), (200, 300)] {
            timeline.record_request(&request(start_ns, end_ns));
            timeline.gc(&gc(start_ns, end_ns));
        }
        assert_eq!(timeline.requests.iter().map(|done| done.done_ns).collect::<Vec<_>>(), [100, 160, 300]);
        assert_eq!(timeline.cleans.iter().map(|gc| gc.start_ns).collect::<Vec<_>>(), [0, 150, 199]);
    }

    #[test]
    fn a_full_timeline_counts_what_it_leaves_out() {
        let mut timeline = EventTimeline::new(0, 100);
        (0..TIMELINE_ENTRIES_MAX + 3).for_each(|_| timeline.gc(&gc(1, 2)));
        assert_eq!((timeline.cleans.len(), timeline.omitted_entries), (TIMELINE_ENTRIES_MAX, 3));
    }
}
