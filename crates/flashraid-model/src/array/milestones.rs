//! Milestones: moments of a run that the array must know.

use super::members::Members;
use super::{Array, Event};
use crate::TimeNs;
use crate::ssd::Ssd;

/// A moment of a run that the array must know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Milestone {
    /// Counters are about to be read. Members may have put off simulating some of their work, because no request depended on it. They
    /// simulate it now, so that the counters include it. The next [`Array::advance`] reports the collections that have ended.
    BeforeCountersAreRead,
    /// The measured time begins. The usage records of the members, and the greatest occupancy of the write cache, start anew. Counters are
    /// brought up to date as with [`Milestone::BeforeCountersAreRead`].
    MeasuringBegins,
    /// The measured time ends. Events of this nanosecond still count.
    MeasuringEnds,
    /// The last request is done. From now on, idle time of a die or of the array is no reason to begin a collection (rules 38 and 46).
    /// Collections that a lack of free blocks requires still begin. No member fails any more. No stripe begins to be rebuilt, unless
    /// [`continues_after_last_request`](super::RebuildParams::continues_after_last_request) is set (rule 64).
    RequestsEnd,
    /// The run ends. The array reports at once all events that it knows in advance. These are mainly ends of requests and of
    /// collections that lie after the present simulated time.
    RunEnds,
}

/// Times that the array returns when it is told of a milestone of the run (a moment such as the end of the measured time).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MilestoneReached {
    /// Time before which the starts of all collections have been reported.
    pub collection_starts_reported_until: TimeNs,
    /// Latest known end of an operation on the members. It is 0 if the ends are only known when they happen.
    pub latest_scheduled_operation_end: TimeNs,
}

impl Array {
    /// Tells the array that the run has reached a milestone at `now`. At the end of the run, it appends the last events to `events`.
    pub fn reach_milestone(&mut self, now: TimeNs, milestone: Milestone, events: &mut Vec<Event>) -> MilestoneReached {
        match milestone {
            Milestone::BeforeCountersAreRead => self.catch_up(now),
            Milestone::MeasuringBegins => {
                self.catch_up(now);
                self.volume.members.ssds.iter_mut().for_each(|ssd| ssd.measure_usage_from(now));
                if let Some(caching) = &mut self.caching {
                    caching.cache.restart_maximum(now);
                }
            }
            Milestone::MeasuringEnds => {
                let issued = self.volume.members.act_on_each_member(|member, out| member.catch_up_through(now, out));
                self.drain(issued);
                self.volume.members.ssds.iter_mut().for_each(|ssd| ssd.measure_usage_until(now));
            }
            Milestone::RequestsEnd => self.requests_end(now),
            Milestone::RunEnds => {
                events.append(&mut self.outbox.requests_held_back);
                let begin = events.len();
                self.outbox.release_events(TimeNs::MAX, &mut self.volume.members.reports, self.caching.as_deref_mut(), begin, events);
            }
        }
        MilestoneReached {
            collection_starts_reported_until: self.collections_known_until(now),
            latest_scheduled_operation_end: self.busy_until(),
        }
    }

    fn catch_up(&mut self, now: TimeNs) {
        let issued = self.volume.members.act_on_each_member(|member, out| member.catch_up_all(now, out));
        self.drain(issued);
    }

    fn requests_end(&mut self, now: TimeNs) {
        if let Some(stripes) = &mut self.volume.stripes {
            stripes.last_request_is_done();
        }
        if let Some(coordination) = &mut self.coordination {
            coordination.controller.end_checks();
        }
        let issued = self.volume.members.act_on_each_member(|member, out| member.end_idle_collection(now, out));
        self.drain(issued);
        let Members { ssds, agenda, .. } = &mut self.volume.members;
        agenda.retain_wakes(|member, wake| ssds[member as usize].needs_wake_up(wake));
    }

    /// Returns a time before which the starts of all collections have been reported. It is at most `now`.
    fn collections_known_until(&self, now: TimeNs) -> TimeNs {
        let members = &self.volume.members;
        let open = members.ssds.iter().filter_map(Ssd::oldest_open_clean).fold(now, TimeNs::min);
        let started =
            members.reports.collections.iter().map(|collection| collection.start_ns).chain(self.outbox.earliest_unreported_start());
        started.fold(open, TimeNs::min)
    }

    fn busy_until(&self) -> TimeNs {
        self.volume.members.ssds.iter().map(Ssd::busy_until).max().unwrap_or(0)
    }
}
