//! The members of an array, the events that they report, and the completions that wait for these events.

use super::RequestDone;
use super::handles::Handles;
use super::slow::SlowMembers;
use crate::TimeNs;
use crate::cache::{CacheWake, Token};
use crate::events::Agenda;
use crate::events::OperationTimeParts;
use crate::events::Slab;
use crate::ids::MemberSet;
use crate::request::OpKind;
use crate::ssd::{LogicalPageOp, PageOpEnd, Served, Ssd, SsdOutbox, SsdWake};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The agenda of the members: ends of host requests, and wake-ups of single members. A host request has the number of its
/// [`Completion`] (the group of operations that it waits for).
#[derive(Debug, Clone, Default)]
pub(super) struct MembersAgenda {
    agenda: Agenda,
    wakes: Slab<(u32, SsdWake)>,
}

/// An entry of the agenda of the members.
enum Wake {
    /// All pages of a host request are done. The number is that of its [`Completion`] (the group of operations that it waits for).
    Completed(u32),
    /// A wake-up of this member is due.
    Member((u32, SsdWake)),
}

/// Bit that is set in the number of an agenda entry if the entry is a wake-up. The lower bits are then the index of the wake-up in the
/// slab.
const WAKES_A_MEMBER: u64 = 1 << 32;

impl MembersAgenda {
    /// Schedules the end of a host request. `completion` is the number of its [`Completion`] (the group of operations that it waits
    /// for).
    #[inline]
    pub(crate) fn schedule_end(&mut self, at: TimeNs, completion: u32) {
        self.agenda.schedule(at, u64::from(completion));
    }

    #[inline]
    fn schedule_wake(&mut self, at: TimeNs, member: u32, wake: SsdWake) {
        let number = self.wakes.insert((member, wake));
        self.agenda.schedule(at, WAKES_A_MEMBER | u64::from(number));
    }

    /// Removes the next entry and returns it.
    #[inline]
    fn pop(&mut self) -> Option<Wake> {
        let number = self.agenda.pop()?;
        Some(match number & WAKES_A_MEMBER {
            0 => Wake::Completed(number as u32),
            _ => Wake::Member(self.wakes.remove(number as u32)),
        })
    }

    /// Returns the time of the next entry.
    #[inline]
    pub(super) fn next_time(&self) -> Option<TimeNs> {
        self.agenda.next_time()
    }

    /// Removes the wake-ups of members for which `keep` returns false.
    pub(crate) fn retain_wakes(&mut self, keep: impl Fn(u32, SsdWake) -> bool) {
        let wakes = &mut self.wakes;
        self.agenda.retain(|number| {
            let wake = number as u32;
            if number & WAKES_A_MEMBER == 0 || keep(wakes[wake].0, wakes[wake].1) {
                return true;
            }
            wakes.release(wake);
            false
        });
    }
}

/// The work that follows when all operations of a group have ended. The group, together with this work, is a [`Completion`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Continuation {
    /// Reports that the host request with this tag is done. No other work of the array depends on its end.
    Host(u64),
    /// Continues or ends an operation on a stripe after one of its phases. A phase is a group of reads, or a group of writes, that are
    /// waited for together.
    StripeOperationPhaseEnded {
        /// Number of the operation on the stripe: its index in `Stripes::operations`.
        operation: u32,
        /// True if the phase consists of the reads that replace a refused read: reads of other strips or of another copy. A member had
        /// refused the first read because it was collecting garbage.
        replaces_refused_read: bool,
        /// Number that orders phases of different operations that end at the same nanosecond: the smallest comes first (rule 55 of
        /// docs/rules.md). It counts the operations on stripes in the order in which they were created.
        tie_break: u64,
    },
    /// Tells an operation on a stripe that it has read all pages that it wanted of one strip. Only the read plans `hedge` and `predict`
    /// use this variant, because they follow the read of each strip separately. With other plans, an operation waits for all its reads
    /// together, with [`Continuation::StripeOperationPhaseEnded`].
    SubRead {
        /// Number of the operation on the stripe: its index in `Stripes::operations`.
        operation: u32,
        /// Number of the read among those of the operation.
        sub_read_index: u32,
        /// Number that orders reads of different operations that end at the same nanosecond: the smallest comes first (rule 55 of
        /// docs/rules.md). It counts the operations on stripes in the order in which they were created.
        tie_break: u64,
    },
    /// Tells the write cache that an operation for which it had asked has ended. The cache then continues its work.
    Cache {
        /// Purpose for which the cache asked for the operation.
        token: Token,
        /// Number that orders operations of the cache that end at the same nanosecond: the smallest comes first (rule 85 of
        /// docs/rules.md).
        tie_break: u64,
    },
}

/// An event in the array that happens at the end of its nanosecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Deferred<J> {
    /// Begins the work that follows a group of operations ([`Completion`]), because all operations of the group have ended. The value
    /// `J` is the group, or its number.
    Completion(J),
    /// A wake-up of the write cache at a time that the cache itself has asked for earlier. The value says for which work the cache has
    /// asked.
    Wake(CacheWake),
    /// An operation on a stripe takes its next step; the number is its index in `Stripes::operations`. There are three cases.
    ///
    /// - The operation begins. It has waited until all other events of this nanosecond had happened.
    /// - The operation reads from other strips or copies, because a member that is collecting has refused a read.
    /// - The operation also reads elsewhere, because no answer has come for a given time.
    ContinueOperation(u32),
}

/// Time and order of a deferred event. No other event has the same tie-break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at: TimeNs,
    tie_break: u64,
    deferred: Deferred<u32>,
}

/// Properties of a read, write or trim of pages.
#[derive(Debug, Clone, Copy)]
pub(super) struct Access {
    pub(crate) now: TimeNs,
    /// Kind of operation: read, write or trim.
    pub(crate) kind: OpKind,
    pub(crate) fua: bool,
    pub(crate) high_priority: bool,
    /// Source of the operation; see [`LogicalPageOp::workload_stream`].
    pub(crate) source: u8,
    /// True if all other events of this nanosecond have happened; see [`Ssd::submit`].
    pub(crate) after_events_of_now: bool,
}

impl Access {
    /// Returns true for a read. Writes and trims go to all copies.
    #[inline]
    pub(super) fn is_read(&self) -> bool {
        self.kind == OpKind::Read
    }
}

/// Token that the caller must pass to `drain`, so that no call forgets to read what the members have reported.
#[must_use = "ends and messages of the members wait: `Array::drain` takes them"]
#[derive(Debug)]
pub(super) struct Issued(());

/// A [`Completion`] (a group of operations) that does not know yet how many operations it waits for.
#[must_use = "the group waits for ever unless `Members::close_completion` closes it"]
#[derive(Debug)]
pub(super) struct OpenCompletion(u32);

impl OpenCompletion {
    /// Returns the number of the [`Completion`] (a group of operations). Each operation of the group carries it.
    #[inline]
    pub(super) fn completion_number(&self) -> u32 {
        self.0
    }

    /// Returns the number of the [`Completion`] (a group of operations), for a caller that ends it without
    /// [`Members::close_completion`].
    #[inline]
    pub(crate) fn into_completion_number(self) -> u32 {
        self.0
    }
}

/// Result of processing the next event of the members.
#[derive(Debug)]
pub(super) enum MembersStep {
    /// A host request is done. The number is that of its [`Completion`], the group of operations that the request waited for. It is an
    /// index in [`Members::completions`].
    HostRequestCompleted(u32),
    /// A member has continued its work at a time that it had asked for. Its reports wait until the caller passes this value to
    /// `Array::drain`.
    MemberWorked(Issued),
}

/// A group of page operations and sub-requests, with the work that follows when all have ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Completion {
    pub(crate) continuation: Continuation,
    remaining: u32,
    pub(crate) last_end: TimeNs,
    /// Members on which one of its pages waited for garbage collection.
    pub(crate) gc_members: MemberSet,
    /// Number of pages that were lost because too many members failed (rule 157).
    pub(crate) pages_lost: u32,
    /// Parts of the time of the page operation that ended last.
    pub(crate) time: OperationTimeParts,
}

impl Completion {
    /// Sets the end time and its parts, for reads whose page operations are recorded elsewhere.
    #[inline]
    pub(crate) fn set_end(&mut self, at: TimeNs, gc_members: MemberSet, time: OperationTimeParts) {
        (self.last_end, self.gc_members, self.time) = (at, gc_members, time);
    }

    /// Records the end of one operation. Returns true if it was the last one.
    #[inline]
    pub(crate) fn record_end(&mut self, at: TimeNs, gc_members: MemberSet, time: impl Fn() -> OperationTimeParts) -> bool {
        assert!(self.remaining > 0, "no more ends than are waited for");
        self.remaining -= 1;
        self.gc_members |= gc_members;
        if at > self.last_end {
            (self.last_end, self.time) = (at, time());
        } else if at == self.last_end {
            // The order in which they are reported must not matter.
            self.time = self.time.max(time());
        }
        self.remaining == 0
    }
}

/// Pages of immediate members that were served together, when they arrived.
#[derive(Debug, Clone, Copy)]
pub(super) struct ServedPages {
    /// The page whose operation ends last.
    last: Served,
    gc_members: MemberSet,
}

impl ServedPages {
    pub(super) const NONE: Self = Self { last: Served::NOTHING, gc_members: MemberSet::NONE };
}

// These sizes matter, because each request in progress has one and each event moves one.
const _: () = assert!(size_of::<Completion>() <= 144 && size_of::<SsdWake>() <= 20);

/// Counts the page writes that each member receives. Through it, a controller notices that a member receives more writes than it can absorb
/// (rule 120).
#[derive(Debug, Clone)]
pub(super) struct PageAllowances {
    /// Number of page writes of each member, and the number after which the controller is told.
    counts: Vec<(u64, u64)>,
    /// Members that have passed their limit, with the time.
    pub(crate) used_up: Vec<(TimeNs, u32)>,
}

impl PageAllowances {
    pub(super) fn new(members: usize) -> Self {
        Self { counts: vec![(0, u64::MAX); members], used_up: Vec::new() }
    }

    #[inline]
    fn count(&mut self, now: TimeNs, member: u32) {
        self.counts[member as usize].0 += 1;
        self.compare(now, member);
    }

    /// Sets a new limit of page writes for a member, counted from the start of the run. The controller is told when the member has
    /// received more than `pages`.
    pub(super) fn set_allowance(&mut self, now: TimeNs, member: u32, pages: u64) {
        self.counts[member as usize].1 = pages;
        self.compare(now, member);
    }

    #[inline]
    fn compare(&mut self, now: TimeNs, member: u32) {
        let (given, limit) = &mut self.counts[member as usize];
        if given > limit {
            *limit = u64::MAX;
            self.used_up.push((now, member));
        }
    }
}

/// Operations that a member has been given and has not answered.
#[derive(Debug, Clone, Default)]
struct Unanswered {
    /// Number of operations whose answer is not known yet.
    given: usize,
    /// Times of the answers that are known, and that may lie in the future.
    answers: BinaryHeap<Reverse<TimeNs>>,
}

/// The members, their agenda and the completions.
#[derive(Debug, Clone)]
pub(super) struct Members {
    pub(crate) ssds: Vec<Ssd>,
    /// Placement handles of writes.
    pub(crate) handles: Handles,
    pub(crate) agenda: MembersAgenda,
    pub(crate) completions: Slab<Completion>,
    /// Deferred events. They are kept outside the agenda, because their order must not depend on when a member learns its end times.
    deferred: BinaryHeap<Reverse<Due>>,
    /// Events that the members have reported and that have not been processed. Wake-ups are not among them, because they go to the agenda
    /// at once.
    pub(crate) reports: SsdOutbox,
    /// Counts of page writes, only for a controller that needs them.
    pub(crate) page_allowances: Option<Box<PageAllowances>>,
    /// Members whose answers may come late, if there are any.
    pub(crate) slow: Option<Box<SlowMembers>>,
    /// Operations that each member has not answered, only for a read plan that needs them.
    unanswered: Option<Vec<Unanswered>>,
    /// Ends of page operations that the cache waits for: its reason for the operation, member and time. `None` if they are not
    /// recorded.
    cache_ends: Option<Vec<(Token, u32, TimeNs)>>,
}

impl Members {
    pub(super) fn new(ssds: Vec<Ssd>, handles: Handles) -> Self {
        Self {
            ssds,
            handles,
            agenda: MembersAgenda::default(),
            completions: Slab::default(),
            deferred: BinaryHeap::new(),
            reports: SsdOutbox::default(),
            page_allowances: None,
            slow: None,
            unanswered: None,
            cache_ends: None,
        }
    }

    /// Calls `act` on a member, and schedules its wake-ups.
    #[inline]
    pub(super) fn act_on_member(&mut self, member: u32, act: impl FnOnce(&mut Ssd, &mut SsdOutbox)) -> Issued {
        assert!(self.reports.wakes.is_empty(), "the wake-ups of one member are taken before another acts");
        act(&mut self.ssds[member as usize], &mut self.reports);
        for (at, wake) in self.reports.wakes.drain(..) {
            self.agenda.schedule_wake(at, member, wake);
        }
        Issued(())
    }

    /// Calls `act` on each member in turn.
    pub(crate) fn act_on_each_member(&mut self, mut act: impl FnMut(&mut Ssd, &mut SsdOutbox)) -> Issued {
        (0..self.ssds.len() as u32).fold(Issued(()), |_, member| self.act_on_member(member, &mut act))
    }

    /// Returns the token for [`Issued`] work, after one or several calls of [`Members::submit`].
    #[inline]
    pub(super) fn issued(&self) -> Issued {
        Issued(())
    }

    /// Runs the first event of the agenda, at `now`.
    #[inline(always)]
    pub(super) fn step(&mut self, now: TimeNs) -> MembersStep {
        match self.agenda.pop().expect("an event is due") {
            Wake::Completed(completion) => MembersStep::HostRequestCompleted(completion),
            Wake::Member((member, wake)) => MembersStep::MemberWorked(self.act_on_member(member, |ssd, out| ssd.wake(now, wake, out))),
        }
    }

    /// Ends a host request. `completion` is the number of its [`Completion`] (a group of operations), which [`Members::step`] has just
    /// returned.
    #[inline(always)]
    pub(super) fn finish_request(&mut self, completion: u32, now: TimeNs) -> RequestDone {
        self.completions.release(completion);
        let Completion { continuation: Continuation::Host(tag), remaining, gc_members, pages_lost, time, .. } =
            &self.completions[completion]
        else {
            unreachable!("what is deferred is no event of the agenda")
        };
        debug_assert!(*remaining == 0, "a request is done when all its pages are");
        RequestDone { tag: *tag, at: now, gc_members_met: gc_members.len(), pages_lost: *pages_lost, time: *time }
    }

    /// Submits an operation on one page of a member, as one of the group of operations with the number `completion` (see
    /// [`Completion`]). Use [`Members::issued`] afterwards, once for many pages.
    #[inline]
    pub(super) fn submit(&mut self, access: &Access, member: u32, page: u64, completion: u32) {
        let Access { now, kind, fua, high_priority, source, after_events_of_now } = *access;
        let writes = kind == OpKind::Write;
        if let Some(pages_given) = &mut self.page_allowances
            && writes
        {
            pages_given.count(now, member);
        }
        if let Some(unanswered) = &mut self.unanswered {
            unanswered[member as usize].given += 1;
        }
        let op = LogicalPageOp {
            logical_page: page,
            kind,
            fua: writes && fua,
            must_not_wait_for_gc: writes && high_priority,
            workload_stream: source,
            placement_handle: if writes { self.handles.of_write(source, member, page) } else { 0 },
            completion_tag: completion,
        };
        let Issued(()) = self.act_on_member(member, |ssd, out| ssd.submit(now, op, after_events_of_now, out));
    }

    /// Serves an operation on one page of an immediate member, as one of `served`.
    #[inline(always)]
    pub(super) fn serve_page(&mut self, served: &mut ServedPages, now: TimeNs, kind: OpKind, member: u32, page: u64) {
        let ssd = &mut self.ssds[member as usize];
        let (die, lpn) = ssd.die_and_lpn(page);
        let page = ssd.serve_now(now, die, lpn, kind, &mut self.reports.collections);
        ssd.keep_later(now, kind, &mut served.last, page);
        served.gc_members.0 |= u128::from(page.met_gc()) << member;
    }

    /// Opens a [`Completion`] (a group of operations) of `served` pages, which all arrived at `now`.
    #[inline(always)]
    pub(super) fn complete_served(&mut self, served: &ServedPages, now: TimeNs, kind: OpKind, continuation: Continuation) {
        let ServedPages { last, gc_members } = *served;
        // All members have the same parameters, and no operation ends at the moment 0.
        let time = if last.end > 0 { self.ssds[0].time_of(now, kind, last) } else { OperationTimeParts::default() };
        self.open_completion_until(continuation, last.end, gc_members, time);
    }

    /// Returns the group of operations with the number `completion` (see [`Completion`]) if all operations of the group have ended by
    /// `now`. Otherwise, it returns `None`.
    pub fn completion_if_all_operations_ended(&self, completion: u32, now: TimeNs) -> Option<&Completion> {
        Some(&self.completions[completion]).filter(|completion| completion.remaining == 0 && completion.last_end <= now)
    }

    /// Returns true if members know the end of an operation when it is submitted, and the caller needs only the last end.
    #[inline]
    pub(crate) fn are_immediate(&self) -> bool {
        self.ssds[0].is_immediate() && self.cache_ends.is_none()
    }

    /// Opens a [`Completion`] (a group of operations). The continuation runs when all operations of the group have ended.
    #[inline]
    pub(super) fn open_completion(&mut self, continuation: Continuation) -> OpenCompletion {
        let time = OperationTimeParts::default();
        OpenCompletion(self.completions.insert(Completion {
            continuation,
            remaining: 0,
            last_end: 0,
            gc_members: MemberSet::NONE,
            pages_lost: 0,
            time,
        }))
    }

    /// Sets the number of operations that a [`Completion`] (a group of operations) waits for. If it is 0, the group ends at `now`.
    #[inline]
    pub(super) fn close_completion(&mut self, open: OpenCompletion, ends: u32, now: TimeNs) {
        let OpenCompletion(completion) = open;
        debug_assert!(self.completions[completion].remaining == 0, "nothing has ended of what has not been said");
        if ends > 0 {
            self.completions[completion].remaining = ends;
        } else {
            self.completed(completion, self.completions[completion].continuation, now);
        }
    }

    /// Opens a [`Completion`] (a group of operations) whose operations all end by `at`, which is known already. [`Members::step`]
    /// reports the end at that time if a host request waits for the group.
    #[inline(always)]
    pub(super) fn open_completion_until(
        &mut self,
        continuation: Continuation,
        at: TimeNs,
        gc_members: MemberSet,
        time: OperationTimeParts,
    ) {
        let whole = Completion { continuation, remaining: 0, last_end: at, gc_members, pages_lost: 0, time };
        let completion = self.completions.insert(whole);
        self.completed(completion, continuation, at);
    }

    /// Records the ends of operations that the members have reported.
    #[inline]
    pub(super) fn drain_reports(&mut self) {
        if self.reports.page_op_end_times.is_empty() {
            return;
        }
        let mut ends: Vec<PageOpEnd> = std::mem::take(&mut self.reports.page_op_end_times);
        for mut end in ends.drain(..) {
            if let Some(slow) = &mut self.slow {
                slow.delay(&mut end);
            }
            if end.is_read {
                self.ssds[end.member.0 as usize].count_read_in_window(end.at - end.time_parts.total_ns(), end.at);
            }
            if let Some(unanswered) = &mut self.unanswered {
                let of_member = &mut unanswered[end.member.0 as usize];
                of_member.given -= 1;
                of_member.answers.push(Reverse(end.at));
            }
            if let Some(cache_ends) = &mut self.cache_ends
                && let Continuation::Cache { token, .. } = self.completions[end.completion_tag].continuation
            {
                cache_ends.push((token, end.member.0, end.at));
            }
            self.record_operation_end(
                end.completion_tag,
                end.at,
                if end.met_gc { MemberSet::single(end.member.0) } else { MemberSet::NONE },
                || end.time_parts,
            );
        }
        self.reports.page_op_end_times = ends;
    }

    /// Starts counting the operations that [`Members::unanswered`] returns.
    pub(super) fn count_unanswered(&mut self) {
        self.unanswered = Some(vec![Unanswered::default(); self.ssds.len()]);
    }

    /// Returns the number of operations of a member that have no answer by `now`. Times do not go back.
    pub(super) fn unanswered(&mut self, now: TimeNs, member: u32) -> usize {
        let Unanswered { given, answers } = &mut self.unanswered.as_mut().expect("they are counted")[member as usize];
        while answers.peek().is_some_and(|&Reverse(at)| at <= now) {
            answers.pop();
        }
        *given + answers.len()
    }

    /// Starts recording the ends that [`Members::take_cache_ends`] returns.
    pub(crate) fn record_ends(&mut self) {
        self.cache_ends = Some(Vec::new());
    }

    /// Removes and returns the times at which each member finished its part of a cache operation, as far as they are known.
    pub(crate) fn take_cache_ends(&mut self, of: Token) -> Vec<(u32, TimeNs)> {
        let Some(ends) = &mut self.cache_ends else { return Vec::new() };
        let taken = ends.iter().filter(|(token, ..)| *token == of).map(|&(_, member, at)| (member, at)).collect();
        ends.retain(|(token, ..)| *token != of);
        taken
    }

    /// Returns true if some recorded ends have not been taken.
    #[cfg(test)]
    pub(super) fn keeps_ends(&self) -> bool {
        self.cache_ends.as_ref().is_some_and(|ends| !ends.is_empty())
    }

    /// Records that one operation of `completion` ends at `at`.
    #[inline]
    pub(super) fn record_operation_end(
        &mut self,
        completion: u32,
        at: TimeNs,
        gc_members: MemberSet,
        time: impl Fn() -> OperationTimeParts,
    ) {
        let entry = &mut self.completions[completion];
        if entry.record_end(at, gc_members, time) {
            let Completion { continuation, last_end, .. } = *entry;
            self.completed(completion, continuation, last_end);
        }
    }

    /// Schedules the continuation of a completion whose operations have all ended by `at`.
    #[inline(always)]
    fn completed(&mut self, completion: u32, continuation: Continuation, at: TimeNs) {
        match continuation {
            Continuation::Host(_) => self.agenda.schedule_end(at, completion),
            Continuation::StripeOperationPhaseEnded { tie_break, .. }
            | Continuation::SubRead { tie_break, .. }
            | Continuation::Cache { tie_break, .. } => {
                self.deferred.push(Reverse(Due { at, tie_break, deferred: Deferred::Completion(completion) }));
            }
        }
    }

    /// Schedules a wake-up of the cache at `at`.
    #[inline]
    pub(crate) fn schedule_cache_wake(&mut self, at: TimeNs, tie_break: u64, wake: CacheWake) {
        self.deferred.push(Reverse(Due { at, tie_break, deferred: Deferred::Wake(wake) }));
    }

    /// Schedules that an operation on a stripe goes on at `at`.
    pub(super) fn schedule_continuation(&mut self, at: TimeNs, tie_break: u64, operation: u32) {
        self.deferred.push(Reverse(Due { at, tie_break, deferred: Deferred::ContinueOperation(operation) }));
    }

    /// Replaces one of the ends that a completion waits for by `ends` others, at least 1.
    pub(super) fn expect_more_ends(&mut self, completion: u32, ends: u32) {
        self.completions[completion].remaining += ends - 1;
    }

    /// Returns the time of the next deferred event.
    #[inline]
    pub(crate) fn next_deferred_time(&self) -> Option<TimeNs> {
        self.deferred.peek().map(|Reverse(due)| due.at)
    }

    /// Removes and returns the next deferred event if it happens at most at `until`.
    #[inline]
    pub(crate) fn pop_deferred(&mut self, until: TimeNs) -> Option<Deferred<Completion>> {
        if self.next_deferred_time()? > until {
            return None;
        }
        let Reverse(Due { deferred, .. }) = self.deferred.pop()?;
        Some(match deferred {
            Deferred::Completion(completion) => {
                let completion = self.completions.remove(completion);
                assert!(completion.remaining == 0, "what follows comes after all that it waits for");
                Deferred::Completion(completion)
            }
            Deferred::Wake(wake) => Deferred::Wake(wake),
            Deferred::ContinueOperation(operation) => Deferred::ContinueOperation(operation),
        })
    }
}
