//! Milestones: moments of a run that the array must know.

use super::members::Members;
use super::{Array, ArrayEvent};
use crate::TimeNs;
use crate::ssd::Ssd;

/// A moment of a run of which the caller must tell the array, such as the beginning or the end of the measured time. Each variant says
/// what the array does then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunMilestone {
    /// Counters are about to be read. Members may have put off simulating some of their work, because no request depended on it. They
    /// simulate it now, so that the counters include it. Collections that have ended in this work are reported by the next call of
    /// [`Array::advance`].
    BeforeReadingArrayCounters,
    /// The measured time begins. The records of how busy the members are, and the greatest occupancy of the write cache, start anew.
    /// Before, members simulate the work that they have put off, so that counters that are read now include it.
    MeasuringBegins,
    /// The measured time ends. Events of this nanosecond still count.
    MeasuringEnds,
    /// The last request is done. From now on, idle time of a die or of the array is no reason to begin a collection (rules 38 and 46).
    /// Collections that a lack of free blocks requires still begin. No member fails any more. No stripe begins to be rebuilt, unless
    /// [`finish`](super::Rebuilding::finish) is set (rule 64).
    LastRequestDone,
    /// The run ends. The array reports at once all events that it knows in advance. These are mainly ends of requests and of
    /// collections that lie after the present simulated time.
    RunEnds,
}

/// Two times that the array returns when the caller tells it of a milestone of the run ([`Array::announce_milestone`]). A milestone is a
/// moment such as the end of the measured time. The array has reported all collections that started before the first time. The second time
/// is the latest end of an operation that the members have received, as far as it is known in advance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GcReportedUntilAndMembersBusyUntil {
    /// Time up to which the caller knows the starts of all collections. Each collection that started before this time has been reported
    /// as an event.
    pub all_collection_starts_reported_until: TimeNs,
    /// Time at which the last of all operations that members have received will end, in so far as it is known in advance. It is 0 if
    /// members know the end of an operation only when it happens.
    pub latest_scheduled_operation_end: TimeNs,
}

impl Array {
    /// Tells the array that the run has reached `milestone` at time `now`. A milestone is a moment such as the beginning or end of the
    /// measured time. [`RunMilestone`] says what the array then does. At the end of the run, the array appends the last events to
    /// `events`.
    pub fn announce_milestone(
        &mut self,
        now: TimeNs,
        milestone: RunMilestone,
        events: &mut Vec<ArrayEvent>,
    ) -> GcReportedUntilAndMembersBusyUntil {
        match milestone {
            RunMilestone::BeforeReadingArrayCounters => self.catch_up(now),
            RunMilestone::MeasuringBegins => {
                self.catch_up(now);
                self.volume.members.ssds.iter_mut().for_each(|ssd| ssd.measure_usage_from(now));
                if let Some(caching) = &mut self.caching {
                    caching.cache.restart_maximum(now);
                }
            }
            RunMilestone::MeasuringEnds => {
                let issued = self.volume.members.act_on_each_member(|member, out| member.catch_up_through(now, out));
                self.drain(issued);
                self.volume.members.ssds.iter_mut().for_each(|ssd| ssd.measure_usage_until(now));
            }
            RunMilestone::LastRequestDone => self.requests_end(now),
            RunMilestone::RunEnds => {
                events.append(&mut self.outbox.requests_held_back);
                let begin = events.len();
                self.outbox.release_events(TimeNs::MAX, &mut self.volume.members.reports, self.caching.as_deref_mut(), begin, events);
            }
        }
        GcReportedUntilAndMembersBusyUntil {
            all_collection_starts_reported_until: self.collections_known_until(now),
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
            coordination.mailbox.forget_windows();
        }
        let issued = self.volume.members.act_on_each_member(|member, out| member.forbid_new_idle_collection(now, out));
        self.drain(issued);
        let Members { ssds, agenda, .. } = &mut self.volume.members;
        agenda.retain_wakes(|member, wake| ssds[member as usize].needs_wake_up(wake));
    }

    /// Returns a time up to which the caller knows the starts of all collections. Each collection that started before this time has
    /// been reported. The time is at most `now`.
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
