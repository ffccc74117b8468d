//! The main loop of the array over its parts. The part with the earliest time acts next. If several have the same time, the part with the
//! lowest rank acts first.

use super::coordination::Coordination;
use super::failure::Step;
use super::host_port::PortStep;
use super::members::{Completion, Continuation, Deferred, Issued, MembersStep};
use super::{Array, ArrayEvent, ArrayHealth, RequestDone};
use crate::TimeNs;
use crate::cache::HostRequestDone;
use crate::events::OperationTimeParts;

/// A part of the array that acts at its own times. Within one nanosecond, the parts act in the order of this list, and each finishes before
/// the next begins (rules 42, 55, 85 and 152). If a part causes an event in an earlier part, that event comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// The members, and the ends of requests on which no other work of the array depends.
    Members,
    /// Work that follows when operations end: first phases of stripe operations in the order of the operations, then events of the cache.
    FollowUps,
    /// The limits towards the host.
    HostPort,
    /// Failures of members, then rebuilding.
    Failures,
    /// Timed work of the cache: a destage slot has paused long enough, or the timer of common destages ends.
    Cache,
    /// Messages to and from the controller, then actions of the scheme.
    Controller,
}

impl Array {
    /// Returns the part that acts next, and its time.
    #[inline]
    fn next_part(&self) -> Option<(TimeNs, Part)> {
        let mut next = self.volume.members.agenda.next_time().map(|at| (at, Part::Members));
        if self.has_members_only {
            return next;
        }
        let mut also = |at: Option<TimeNs>, part: Part| {
            if let Some(at) = at
                && next.is_none_or(|earliest| (at, part) < earliest)
            {
                next = Some((at, part));
            }
        };
        if let Some(port) = &self.port {
            also(port.next_time(), Part::HostPort);
        }
        if self.volume.stripes.is_some() || self.caching.is_some() {
            also(self.volume.members.next_deferred_time(), Part::FollowUps);
            also(self.volume.stripes.as_ref().and_then(|stripes| stripes.next_time()), Part::Failures);
            also(self.caching.as_ref().and_then(|caching| caching.next_time()), Part::Cache);
        }
        also(self.coordination.as_ref().and_then(Coordination::next_time), Part::Controller);
        next
    }

    /// Returns the earliest time at which a part acts.
    #[inline]
    pub(super) fn next_part_time(&self) -> Option<TimeNs> {
        self.next_part().map(|(at, _)| at)
    }

    /// Lets the parts act until `until`.
    #[inline]
    pub(super) fn run_parts(&mut self, until: TimeNs, events: &mut Vec<ArrayEvent>) {
        while let Some((now, part)) = self.next_part()
            && now <= until
        {
            if part == Part::Members {
                self.members_step(now, events);
            } else {
                let issued = self.step(now, part, events);
                self.drain(issued);
            }
        }
        self.advanced_before = self.advanced_before.max(until.saturating_add(1));
    }

    #[inline]
    fn members_step(&mut self, now: TimeNs, events: &mut Vec<ArrayEvent>) {
        match self.volume.members.step(now) {
            MembersStep::MemberWorked(issued) => self.drain(issued),
            MembersStep::HostRequestCompleted(completion) if self.has_members_only => {
                events.push(ArrayEvent::RequestDone(self.volume.members.finish_request(completion, now)));
            }
            MembersStep::HostRequestCompleted(completion) => {
                if self.counts_operations() {
                    self.operation_ends(now);
                }
                let done = self.volume.members.finish_request(completion, now);
                self.request_ends(done, events);
            }
        }
    }

    /// Performs the next step of a part that is due now. The members are stepped elsewhere.
    fn step(&mut self, now: TimeNs, part: Part, events: &mut Vec<ArrayEvent>) -> Issued {
        match part {
            Part::Members => unreachable!("they have a step of their own"),
            Part::FollowUps => match self.volume.members.pop_deferred(now).expect("something follows now") {
                Deferred::Completion(completion) => self.operation_is_over(now, &completion, events),
                Deferred::ContinueOperation(operation) => self.volume.continue_operation(now, operation),
                Deferred::Wake(wake) => {
                    let Some(caching) = &mut self.caching else { unreachable!("the cache has asked for it") };
                    let host = caching.update_cache(now, &mut self.volume, |caching, _| caching.cache.wake(now, wake));
                    self.cache_goes_on(now, host, events)
                }
            },
            Part::HostPort => match self.port.as_mut().map(|port| port.step(now)) {
                Some(PortStep::RequestEntersArray(request)) => self.begin(now, &request, true),
                Some(PortStep::Done(done)) => {
                    self.request_leaves(done, events);
                    self.volume.members.issued()
                }
                Some(PortStep::Nothing) | None => self.volume.members.issued(),
            },
            Part::Failures => {
                let issued = self.failures_step(now);
                self.report_health(now);
                issued
            }
            Part::Cache => match &mut self.caching {
                Some(caching) => caching.step(now, true, &mut self.volume, self.coordination.as_mut()),
                None => self.volume.members.issued(),
            },
            Part::Controller => self.controller_step(now),
        }
    }

    /// Ends an array operation on which other work depends.
    fn operation_is_over(&mut self, now: TimeNs, completion: &Completion, events: &mut Vec<ArrayEvent>) -> Issued {
        match completion.continuation {
            Continuation::StripeOperationPhaseEnded { operation, replaces_refused_read: after_refusal, .. } => {
                let rebuilt = self.volume.phase_ended(now, operation, after_refusal, completion);
                if let (Some((member, stripe)), Some(caching)) = (rebuilt, &mut self.caching) {
                    caching.cache.strip_rebuilt(member, stripe);
                }
                if self.shape.member_failures_configured {
                    self.report_health(now);
                }
                self.volume.members.issued()
            }
            Continuation::SubRead { operation, sub_read_index: nth, .. } => {
                self.volume.sub_read_ended(now, operation, nth, completion);
                self.volume.members.issued()
            }
            Continuation::Cache { token, .. } => {
                self.operation_ends(now);
                let Some(caching) = &mut self.caching else { unreachable!("the cache has begun it") };
                let host =
                    caching.update_cache(now, &mut self.volume, |caching, members| caching.command_ended(now, token, completion, members));
                self.cache_goes_on(now, host, events)
            }
            Continuation::Host(_) => unreachable!("the end of a host request is an event of the agenda"),
        }
    }

    /// Performs the commands that the cache gave after an event, and ends the host request `done`.
    fn cache_goes_on(&mut self, now: TimeNs, done: Option<HostRequestDone>, events: &mut Vec<ArrayEvent>) -> Issued {
        if let Some(host) = done {
            let cache_ns = now - host.arrival_ns - host.read_time.total_ns() + host.read_time.cache_ns;
            let parts = OperationTimeParts { cache_ns, ..host.read_time };
            let gc_members_met = host.gc_members.len();
            self.request_ends(RequestDone { tag: host.tag, at: now, gc_members_met, pages_lost: host.pages_lost, time: parts }, events);
        }
        self.cache_begins_operations(now, true)
    }

    /// Fails a member, or rebuilds the next stripe.
    fn failures_step(&mut self, now: TimeNs) -> Issued {
        let step = self.volume.step_failures(now);
        if let (Some(Step::Fails(member)), Some(caching), Some(stripes)) = (step, &mut self.caching, &mut self.volume.stripes) {
            caching.cache.member_failed(now, member);
            stripes.set_cache_is_flushing(now, !caching.cache.is_flushed());
        }
        if let Some(coordination) = &mut self.coordination {
            match step {
                Some(Step::Fails(member)) => coordination.controller.member_failed(member),
                Some(Step::Replaced { failed_member: failed, spare }) => {
                    if let Some(duty) = coordination.controller.replace(failed, spare) {
                        let _taken_below = self.volume.members.act_on_member(spare, |ssd, out| ssd.become_ggc_aware(now, duty, out));
                    }
                }
                _ => {}
            }
        }
        self.cache_begins_operations(now, true)
    }

    /// Reports the health of the array if it has changed.
    fn report_health(&mut self, now: TimeNs) {
        let health = self.volume.stripes.as_ref().map_or(ArrayHealth::Normal, |stripes| stripes.health());
        if std::mem::replace(&mut self.health, health) != health {
            self.outbox.health_changes.push((now, health));
        }
    }

    /// Delivers the next message between members and controller, or lets the coordination scheme act.
    fn controller_step(&mut self, now: TimeNs) -> Issued {
        let Some(coordination) = &mut self.coordination else { return self.volume.members.issued() };
        let members = &mut self.volume.members;
        let issued = match coordination.step(now) {
            Some((member, message)) => members.act_on_member(member, |ssd, out| ssd.receive(now, message, out)),
            None => members.issued(),
        };
        if let Some(pages_given) = &mut members.page_allowances {
            coordination.page_allowances_to_count.drain(..).for_each(|(member, pages)| pages_given.set_allowance(now, member, pages));
        }
        issued
    }

    /// Starts the operations that the cache has asked for, if there is a cache.
    #[inline]
    pub(super) fn cache_begins_operations(&mut self, now: TimeNs, after_events_of_now: bool) -> Issued {
        match &mut self.caching {
            Some(caching) => caching.perform_commands(now, after_events_of_now, &mut self.volume, self.coordination.as_mut()),
            None => self.volume.members.issued(),
        }
    }

    /// Ends a request that the array has finished.
    #[inline]
    fn request_ends(&mut self, done: RequestDone, events: &mut Vec<ArrayEvent>) {
        match &mut self.port {
            None => events.push(ArrayEvent::RequestDone(done)),
            Some(port) => {
                if let Some(done) = port.request_ended(done) {
                    self.request_leaves(done, events);
                }
            }
        }
    }

    /// Reports the end of a request to the host.
    fn request_leaves(&mut self, done: RequestDone, events: &mut Vec<ArrayEvent>) {
        if self.caching.is_none() {
            self.operation_ends(done.at);
        }
        events.push(ArrayEvent::RequestDone(done));
    }

    /// Processes all reports of the members: messages to the controller, and ends of operations.
    #[inline]
    pub(super) fn drain(&mut self, _issued: Issued) {
        let members = &mut self.volume.members;
        if let Some(coordination) = &mut self.coordination {
            members.reports.notices.drain(..).for_each(|notice| coordination.receive_notice(&notice));
            if let Some(pages_given) = &mut members.page_allowances {
                pages_given.used_up.drain(..).for_each(|(at, member)| coordination.page_allowance_is_used_up(at, member));
            }
        }
        members.drain_reports();
    }
}
