//! Moments of a run that the array has to know of.

use super::members::{Members, Wake};
use super::{Array, Event};
use crate::TimeNs;
use crate::ssd::Ssd;

/// A moment of a run that the array has to know of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Milestone {
    /// Something is to be counted. What has happened before this moment, and was not computed since nothing waits for it, comes into the
    /// counters now; collections that have ended come out of the next [`Array::advance`].
    Count,
    /// The measured time begins: what is recorded of how members are used counts from now on, and so does what the write cache holds at
    /// most. What has happened before comes into the counters as with [`Milestone::Count`].
    MeasuringBegins,
    /// The measured time ends with what happens at this moment, which comes into the counters, too.
    MeasuringEnds,
    /// The last request is done. After this moment no collection begins because a die or the array is idle (rules 38 and 46), no member
    /// fails, and as a rule no stripe begins to be rebuilt (rule 64).
    RequestsEnd,
    /// Nothing more is asked of the array: what is known of collections that end later is told now, and what else has not been told.
    RunEnds,
}

/// Knowledge at a milestone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    /// Every collection that starts before this moment has been told.
    pub collections_known_until: TimeNs,
    /// The latest end that is known of what the members have taken; 0 where ends become known one after the other.
    pub busy_until: TimeNs,
}

impl Array {
    /// Tells the array that the run has come to a milestone at `now`; appends what it has to tell at the end of the run.
    pub fn reach(&mut self, now: TimeNs, milestone: Milestone, events: &mut Vec<Event>) -> Reached {
        match milestone {
            Milestone::Count => self.catch_up(now),
            Milestone::MeasuringBegins => {
                self.catch_up(now);
                self.volume.members.ssds.iter_mut().for_each(|ssd| ssd.measure_usage_from(now));
                if let Some(caching) = &mut self.caching {
                    caching.cache.restart_maximum();
                }
            }
            Milestone::MeasuringEnds => {
                let issued = self.volume.members.with_each(|member, out| member.catch_up_with(now, out));
                self.drain(issued);
                self.volume.members.ssds.iter_mut().for_each(|ssd| ssd.measure_usage_until(now));
            }
            Milestone::RequestsEnd => self.requests_end(now),
            Milestone::RunEnds => {
                events.append(&mut self.outbox.held);
                let begin = events.len();
                self.outbox.report(TimeNs::MAX, &mut self.volume.members.told, self.caching.as_deref_mut(), begin, events);
            }
        }
        Reached { collections_known_until: self.collections_known_until(now), busy_until: self.busy_until() }
    }

    fn catch_up(&mut self, now: TimeNs) {
        let issued = self.volume.members.with_each(|member, out| member.catch_up_all(now, out));
        self.drain(issued);
    }

    fn requests_end(&mut self, now: TimeNs) {
        if let Some(stripes) = &mut self.volume.stripes {
            stripes.requests_are_over();
        }
        if let Some(coordination) = &mut self.coordination {
            coordination.controller.end_checks();
        }
        let issued = self.volume.members.with_each(|member, out| member.end_idle_collection(now, out));
        self.drain(issued);
        let Members { ssds, agenda, .. } = &mut self.volume.members;
        agenda.retain(|wake| match *wake {
            Wake::Completed(_) => true,
            Wake::Member(member, wake) => ssds[member as usize].expects_wake(wake),
        });
    }

    /// Every collection that starts before this moment, or before `now` if nothing is open, has been told.
    fn collections_known_until(&self, now: TimeNs) -> TimeNs {
        let members = &self.volume.members;
        let open = members.ssds.iter().filter_map(Ssd::oldest_open_clean).fold(now, TimeNs::min);
        let started = members.told.collections.iter().map(|collection| collection.start_ns).chain(self.outbox.first_start());
        started.fold(open, TimeNs::min)
    }

    fn busy_until(&self) -> TimeNs {
        self.volume.members.ssds.iter().map(Ssd::busy_until).max().unwrap_or(0)
    }
}
