//! Operations on stripes: writes with parity, reads of lost strips, rebuilding, their phases and locks (rules 51 to 62, 156 to 158).
//!
//! ```text
//!  sub-request ─▶ lock ─▶ plan ─▶ reads ─▶ writes ─▶ done, next for the lock
//! ```

mod late;
mod read;

use super::failure::{Failures, Step};
use super::locks::{CollectionWait, Hold, LockGrant, StripeLocks};
use super::members::{Access, Completion, Continuation, Members, ServedPages};
use super::read_plan::{ReadPlan, ReadPlanCounters};
use super::route::Route;
use super::stripe_pages::{ParityMethod, StripePages, plan_read, plan_rebuild, plan_write};
use super::{ArrayHealth, ArrayParams, MemberFailureAndRebuildState, ParityAndRebuildCounters};
use crate::TimeNs;
use crate::cache::MemberExtent;
use crate::events::OperationTimeParts;
use crate::ids::MemberSet;
use crate::placement::{ArrayLayout, Extent, RequestInPages, StripRoles};
use crate::request::OpKind;
use late::ByStrip;
use read::RefusedReads;
use std::iter::Peekable;

/// The work that an operation does on its stripe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    /// Reads the requested pages, and the pages from which lost ones are reconstructed.
    Read,
    /// Reads the requested pages as the read plan says, without a lock.
    PlannedRead,
    /// Writes data and parity.
    Write,
    /// Writes or trims pages on all copies that are left.
    WriteCopies,
    /// Trims a whole stripe, with its parity.
    Trim,
    /// Rebuilds the lost strip of this failure's member on its spare.
    Rebuild(u32),
    /// Gives up a strip that should be rebuilt, because too many strips of its stripe are lost.
    GiveUp(u32),
}

/// An operation that needs the lock of a stripe.
#[derive(Debug, Clone)]
struct Operation {
    work: Work,
    /// Kind of the request.
    kind: OpKind,
    stripe: u64,
    /// Pages of the operation. For a write, these are the pages to write, with parity once that is planned.
    pages: StripePages,
    fua: bool,
    high_priority: bool,
    /// Stream of the request in a mix of workloads; see [`Access::workload_stream`]. Rebuilding belongs to no stream.
    source: u8,
    /// The completion that waits for this operation. Rebuilding has none.
    completion: Option<u32>,
    sequence: u64,
    asked_ns: TimeNs,
    /// Time at which its current phase began.
    phase_began_ns: TimeNs,
    /// True while the operation reads pages that it needs before its writes.
    reading: bool,
    gc_members: MemberSet,
    /// Nanoseconds of its wait for the lock that are due to the holders' own waits for garbage collection.
    lock_collection_ns: u64,
    /// Time that its reads waited for garbage collection. It is empty if the writes needed no reads.
    reads_collection: CollectionWait,
    /// Members and pages to read later, because a member that is collecting garbage has refused a read.
    to_read_later: Vec<(u32, u64)>,
    /// Ends of a read of which a member that is collecting garbage refused a part.
    refused: Option<RefusedReads>,
    /// State of a read of which each strip is read by itself; `None` for other operations.
    by_strip: Option<Box<ByStrip>>,
}

impl Operation {
    /// Returns the parts of the time of an operation whose last phase took this `time`. The wait for the lock and the reads before the
    /// writes count as parity, without the waits for collection.
    fn whole_time(&self, time: OperationTimeParts) -> OperationTimeParts {
        let before_ns = self.phase_began_ns - self.asked_ns;
        let collected_ns = self.lock_collection_ns + self.reads_collection.length_ns;
        OperationTimeParts {
            parity_ns: before_ns - collected_ns + time.parity_ns,
            collection_ns: collected_ns + time.collection_ns,
            ..time
        }
    }
}

/// The operations on stripes of an array that has parity, may lose a member, or chooses for each read where to get its data.
#[derive(Debug, Clone)]
pub(super) struct Stripes {
    route: Route,
    locks: StripeLocks,
    operations: Vec<Operation>,
    unused: Vec<u32>,
    /// Number of operations created so far, from which their tie-breaks are made.
    created: u64,
    /// Buffer for the pages that a plan reads, kept to reuse its memory.
    reads: StripePages,
    /// The read plan, if it has a choice in this array.
    plan: Option<Box<ReadPlan>>,
    /// True if writes keep parity up to date. False only in a counterfactual run, whose writes go to their data strips alone.
    keeps_parity: bool,
    pub(crate) counters: ParityAndRebuildCounters,
}

impl Stripes {
    /// Returns the state of an array that needs it, and `None` for any other.
    pub(super) fn from_params(params: &ArrayParams, seed: u64, members: &mut Members) -> Option<Self> {
        let layout = params.layout();
        let mut plan = params.chooses_source_of_each_read().then(|| Box::new(params.read_plan.clone()));
        if params.level.parity_strips() == 0 && params.failures.is_empty() && plan.is_none() {
            return None;
        }
        if let Some(plan) = &mut plan {
            plan.begin(seed, members);
        }
        let failures = (!params.failures.is_empty()).then(|| Failures::new(params, layout.stripes()));
        Some(Self {
            route: Route { layout, failures },
            locks: StripeLocks::default(),
            operations: Vec::new(),
            unused: Vec::new(),
            created: 0,
            reads: StripePages::empty(layout.stripe_shape().strips_per_stripe(), layout.strip_pages()),
            plan,
            keeps_parity: true,
            counters: ParityAndRebuildCounters::default(),
        })
    }

    /// Makes writes and trims leave parity as it is, so that they go to their data strips as without parity.
    ///
    /// # Panics
    /// Panics if members fail or a read plan uses parity, because either needs parity that is right.
    pub(super) fn stop_keeping_parity(&mut self) {
        assert!(self.route.failures.is_none() && self.plan.is_none(), "nothing reads parity");
        self.keeps_parity = false;
    }

    /// Returns the member that holds the strip of `member` in `stripe` now, if one does.
    pub(crate) fn replacement(&self, member: u32, stripe: u64) -> Option<u32> {
        self.route.replacement(member, stripe)
    }

    fn has_parity(&self) -> bool {
        self.route.layout.stripe_shape().parity_strips > 0
    }

    /// Returns the health of the array with respect to failed members.
    pub(super) fn health(&self) -> ArrayHealth {
        self.route.failures.as_ref().map_or(ArrayHealth::Normal, Failures::health)
    }

    /// Returns the progress of failures and of rebuilding.
    pub(super) fn progress(&self) -> Vec<MemberFailureAndRebuildState> {
        self.route.failures.iter().flat_map(Failures::progress).collect()
    }

    /// Returns the counters of the read plan.
    pub(super) fn plan_counters(&self) -> ReadPlanCounters {
        let mut counters = ReadPlanCounters::default();
        if let Some(plan) = &self.plan {
            plan.add_counters(&mut counters);
        }
        counters
    }

    /// Returns true if the access needs parity or a choice by the read plan, or must avoid a failed member.
    #[inline]
    pub(crate) fn are_needed_for(&self, access: &Access) -> bool {
        let needs = if access.is_read() { self.plan.is_some() } else { self.has_parity() && self.keeps_parity };
        needs || self.route.failures.as_ref().is_some_and(Failures::any_member_has_failed)
    }

    /// Splits a request by stripe into sub-requests and starts them; with `by_strip`, each strip is a sub-request. Returns the number of
    /// ends that `completion` must wait for.
    pub(super) fn submit(
        &mut self,
        access: &Access,
        extents: impl Iterator<Item = Extent>,
        by_strip: bool,
        completion: u32,
        members: &mut Members,
    ) -> u32 {
        let mut extents = extents.peekable();
        let mut ends = 0;
        while extents.peek().is_some() {
            let id = self.new_operation(access.now, access.high_priority, Some(completion));
            let operation = &mut self.operations[id as usize];
            (operation.fua, operation.source) = (access.fua, access.source);
            operation.stripe = next_sub_request(&self.route.layout, &mut extents, by_strip, &mut operation.pages);
            operation.kind = access.kind;
            if access.kind == OpKind::Trim && self.route.layout.stripe_shape().parity_strips > 0 {
                ends += self.trim(access, id, members);
                continue;
            }
            if self.plan.is_some() && access.is_read() {
                ends += self.submit_planned(access.now, id, members);
                continue;
            }
            let stripe = operation.stripe;
            let touches = |lost: StripRoles| lost.iter().any(|lost| self.operations[id as usize].pages.page_count_of_strip(lost) > 0);
            let work = match (!access.is_read(), self.has_parity()) {
                (true, true) => Some(Work::Write),
                (true, false) => touches(self.route.partly_lost(stripe)).then_some(Work::WriteCopies),
                (false, true) => {
                    let lost = self.route.lost(stripe);
                    (touches(lost) && !lost.exceeds_parity(self.route.layout.stripe_shape())).then_some(Work::Read)
                }
                (false, false) => None,
            };
            if let Some(work) = work {
                self.ask_in_turn(access, id, work, members);
                ends += 1;
            } else {
                self.leave_out_lost(id, members);
                let Operation { stripe, pages, .. } = &self.operations[id as usize];
                ends += self.route.issue(access, *stripe, pages, completion, members);
                self.unused.push(id);
            }
        }
        ends
    }

    /// Trims a stripe if the request trims all its data; a part would make new parity necessary. Returns the number of ends that the
    /// completion must wait for.
    fn trim(&mut self, access: &Access, id: u32, members: &mut Members) -> u32 {
        let layout = self.route.layout;
        let shape = layout.stripe_shape();
        let pages = &mut self.operations[id as usize].pages;
        if pages.page_count() < shape.data_strips * layout.strip_pages() {
            self.counters.trim_pages_ignored += u64::from(pages.page_count());
            self.unused.push(id);
            return 0;
        }
        (shape.data_strips..shape.strips_per_stripe()).for_each(|parity| pages.insert(parity, 0, layout.strip_pages()));
        self.ask_in_turn(access, id, Work::Trim, members);
        1
    }

    /// Asks for the lock of an operation of a request: at once, or after all else of this nanosecond if reads are planned (rule 240).
    fn ask_in_turn(&mut self, access: &Access, id: u32, work: Work, members: &mut Members) {
        if self.plan.is_some() && self.has_parity() {
            self.operations[id as usize].work = work;
            members.schedule_continuation(access.now, self.operations[id as usize].sequence, id);
        } else {
            self.ask(access.now, id, work, members, access.after_events_of_now);
        }
    }

    /// Counts the pages of a read or write that were lost because too many members failed, and reads nothing for them (rule 157).
    fn leave_out_lost(&mut self, id: u32, members: &mut Members) {
        let operation = &mut self.operations[id as usize];
        let lost = self.route.lost(operation.stripe);
        if operation.kind == OpKind::Trim || !lost.exceeds_parity(self.route.layout.stripe_shape()) {
            return;
        }
        let columns = lost.iter().filter(|&role| role < self.route.layout.data_strips_per_stripe());
        let pages: u32 = columns.map(|column| operation.pages.remove(column)).sum();
        self.counters.pages_lost += u64::from(pages);
        if let Some(completion) = operation.completion {
            members.completions[completion].pages_lost += pages;
        }
    }

    /// Calls `write` with member, page and source for every page that `request` overwrites during the warm-up (rule 66). Pages of a member
    /// that will fail also go to its warm spare.
    pub(super) fn overwrite_untimed(&mut self, request: &RequestInPages, copied_to: &[(u32, u32)], write: &mut impl FnMut(u32, u64, u8)) {
        let layout = self.route.layout;
        let mut extents = layout.extents(request).peekable();
        while extents.peek().is_some() {
            let id = self.new_operation(0, false, None);
            let pages = &mut self.operations[id as usize].pages;
            let stripe = next_sub_request(&layout, &mut extents, request.contiguous_on_one_member, pages);
            if layout.stripe_shape().parity_strips > 0 {
                plan_write(layout.stripe_shape(), StripRoles::default(), pages, &mut self.reads);
            }
            for (role, offset) in self.operations[id as usize].pages.roles_and_offsets() {
                let first = layout.member_of_strip(stripe, role);
                for member in first..first + layout.copies_of_each_page() {
                    write(member, layout.stripe_first_page_on_member(stripe) + u64::from(offset), request.stream);
                    if let Some(&(_, spare)) = copied_to.iter().find(|&&(original, _)| original == member) {
                        write(spare, layout.stripe_first_page_on_member(stripe) + u64::from(offset), request.stream);
                    }
                }
            }
            self.unused.push(id);
        }
    }

    fn new_operation(&mut self, now: TimeNs, high_priority: bool, completion: Option<u32>) -> u32 {
        let id = self.unused.pop().unwrap_or_else(|| {
            let shape = self.route.layout.stripe_shape();
            self.operations.push(Operation {
                work: Work::Read,
                kind: OpKind::Read,
                stripe: 0,
                pages: StripePages::empty(shape.strips_per_stripe(), self.route.layout.strip_pages()),
                fua: false,
                high_priority: false,
                source: 0,
                completion: None,
                sequence: 0,
                asked_ns: 0,
                phase_began_ns: 0,
                reading: false,
                gc_members: MemberSet::NONE,
                lock_collection_ns: 0,
                reads_collection: CollectionWait::default(),
                to_read_later: Vec::new(),
                refused: None,
                by_strip: None,
            });
            self.operations.len() as u32 - 1
        });
        let operation = &mut self.operations[id as usize];
        operation.pages.clear();
        (operation.fua, operation.source) = (false, 0);
        (operation.high_priority, operation.completion, operation.asked_ns) = (high_priority, completion, now);
        (operation.sequence, operation.reading, operation.gc_members) = (self.created, false, MemberSet::NONE);
        (operation.lock_collection_ns, operation.reads_collection) = (0, CollectionWait::default());
        self.created += 1;
        id
    }

    /// Requests the lock of an operation, and begins the operation if the lock is free.
    fn ask(&mut self, now: TimeNs, id: u32, work: Work, members: &mut Members, after_events_of_now: bool) {
        let operation = &mut self.operations[id as usize];
        operation.work = work;
        let hold = if matches!(work, Work::Read | Work::WriteCopies) { Hold::Shared } else { Hold::Exclusive };
        if self.locks.request_lock(now, operation.stripe, id, hold) {
            self.begin(now, id, members, after_events_of_now);
        }
    }

    /// Begins an operation that has got its lock.
    fn begin(&mut self, now: TimeNs, id: u32, members: &mut Members, after_events_of_now: bool) {
        if matches!(self.operations[id as usize].work, Work::Read | Work::Write | Work::WriteCopies) {
            self.leave_out_lost(id, members);
        }
        let operation = &mut self.operations[id as usize];
        let shape = self.route.layout.stripe_shape();
        let lost = self.route.lost(operation.stripe);
        match operation.work {
            Work::Read => {
                if self.plan.is_some() {
                    self.count_lock_wait(now, id);
                    return self.begin_part(now, id, true, members);
                }
                if !lost.exceeds_parity(shape) {
                    let (replaced, more) = plan_read(shape, lost, &mut operation.pages);
                    self.counters.pages_reconstructed += u64::from(replaced);
                    self.counters.pages_read_to_reconstruct += u64::from(more);
                }
            }
            Work::Write => {
                let kind = plan_write(shape, lost, &mut operation.pages, &mut self.reads);
                let (kind, delay_ns) = if self.plan.is_some() { self.plan_reads_of_write(now, id, lost, kind, members) } else { (kind, 0) };
                let operation = &mut self.operations[id as usize];
                if delay_ns > 0 {
                    members.schedule_continuation(now + delay_ns, operation.sequence, id);
                }
                operation.reading = matches!(kind, ParityMethod::Reconstruct | ParityMethod::ReadModify);
                self.counters.count_write(kind);
                let parity: u32 = (shape.data_strips..shape.strips_per_stripe()).map(|parity| self.reads.page_count_of_strip(parity)).sum();
                self.counters.parity_pages_read += u64::from(parity);
                self.counters.data_pages_read += u64::from(self.reads.page_count() - parity);
            }
            Work::WriteCopies | Work::Trim | Work::GiveUp(_) => {}
            Work::Rebuild(failure) => self.plan_rebuild(id, failure, lost),
            Work::PlannedRead => unreachable!("it needs no lock"),
        }
        self.count_lock_wait(now, id);
        if self.operations[id as usize].to_read_later.is_empty() {
            self.issue_phase(now, id, members, after_events_of_now);
        }
    }

    fn count_lock_wait(&mut self, now: TimeNs, id: u32) {
        let operation = &self.operations[id as usize];
        let asked_ns = operation.asked_ns + if operation.work == Work::Read { self.plan_begins_after_ns() } else { 0 };
        if operation.completion.is_some() && now > asked_ns {
            self.counters.lock_waits += 1;
            self.counters.lock_wait_ns += u128::from(now - asked_ns);
        }
    }

    fn plan_rebuild(&mut self, id: u32, failure: u32, lost: StripRoles) {
        let layout = &self.route.layout;
        let operation = &mut self.operations[id as usize];
        let (member, _) = self.route.failures.as_ref().expect("what is rebuilt has failed").failed_and_spare(failure);
        let role = layout.strip_index_of_member(operation.stripe, member);
        let shape = layout.stripe_shape();
        let is_gone = if shape.parity_strips > 0 { lost.exceeds_parity(shape) } else { lost.has(role) };
        if is_gone {
            operation.work = Work::GiveUp(failure);
            return;
        }
        operation.reading = true;
        if shape.parity_strips > 0 {
            plan_rebuild(shape, lost, layout.strip_pages(), &mut self.reads);
        } else {
            self.reads.clear();
            self.reads.insert(role, 0, layout.strip_pages());
        }
        self.counters.rebuild_pages_read += u64::from(self.reads.page_count());
    }

    /// Issues the reads that were just planned. If no reads are needed, it issues the operation's own pages.
    fn issue_phase(&mut self, now: TimeNs, id: u32, members: &mut Members, after_events_of_now: bool) {
        let operation = &mut self.operations[id as usize];
        operation.phase_began_ns = now;
        let operation = &self.operations[id as usize];
        let continuation =
            Continuation::StripeOperationPhaseEnded { operation: id, replaces_refused_read: false, tie_break: operation.sequence };
        let kind = match operation.work {
            _ if operation.reading => OpKind::Read,
            Work::Read | Work::PlannedRead => OpKind::Read,
            Work::Write | Work::Rebuild(_) | Work::GiveUp(_) => OpKind::Write,
            Work::WriteCopies | Work::Trim => operation.kind,
        };
        let Operation { fua, high_priority, source, .. } = *operation;
        let access = Access { now, kind, fua, high_priority, source, after_events_of_now };
        if operation.work == Work::Write && !operation.reading {
            let written = self.route.lost(operation.stripe).parity_left(self.route.layout.stripe_shape());
            let pages: u32 = written.map(|parity| operation.pages.page_count_of_strip(parity)).sum();
            self.counters.parity_pages_written += u64::from(pages);
        }
        let spare_of = if let Work::Rebuild(failure) = operation.work { Some(failure).filter(|_| !operation.reading) } else { None };
        let pages = if operation.reading { &self.reads } else { &operation.pages };
        if spare_of.is_none() && members.are_immediate() {
            let (mut served, mut is_any) = (ServedPages::NONE, false);
            self.route.for_each_page(access.is_read(), operation.stripe, pages, |member, page| {
                members.serve_page(&mut served, now, kind, member, page);
                is_any = true;
            });
            if is_any {
                return members.complete_served(&served, now, kind, continuation);
            }
        }
        let open = members.open_completion(continuation);
        let completion = open.completion_number();
        let issued = match spare_of {
            Some(failure) => self.write_spare(&access, id, failure, completion, members),
            None => self.route.issue(&access, operation.stripe, pages, completion, members),
        };
        // Lost pages are left out, and that may be all of them.
        members.close_completion(open, issued, now);
    }

    fn write_spare(&mut self, access: &Access, id: u32, failure: u32, completion: u32, members: &mut Members) -> u32 {
        let rebuilt = self.route.failures.as_ref().map(|failures| failures.failed_and_spare(failure));
        let spare = rebuilt.and_then(|(_, spare)| spare).expect("rebuilding needs a spare");
        let layout = &self.route.layout;
        let first_page = layout.stripe_first_page_on_member(self.operations[id as usize].stripe);
        for page in first_page..first_page + u64::from(layout.strip_pages()) {
            members.submit(access, spare, page, completion);
        }
        self.counters.rebuild_pages_written += u64::from(layout.strip_pages());
        layout.strip_pages()
    }

    /// Ends a phase of an operation. Returns the failed member and the stripe if that rebuilt a strip.
    pub(crate) fn phase_ended(
        &mut self,
        now: TimeNs,
        id: u32,
        after_refusal: bool,
        phase: &Completion,
        members: &mut Members,
    ) -> Option<(u32, u64)> {
        let operation = &mut self.operations[id as usize];
        operation.gc_members |= phase.gc_members;
        let mut time = phase.time;
        if let Some(refused) = &mut operation.refused {
            // The first of two sets of reads has no consequence.
            time = refused.set_ended(now, after_refusal, time)?;
            operation.phase_began_ns = refused.planned_at;
            operation.refused = None;
        }
        let collection = CollectionWait { from_ns: operation.phase_began_ns, length_ns: time.collection_ns };
        if operation.reading {
            operation.reading = false;
            operation.reads_collection = collection;
            self.issue_phase(now, id, members, true);
            return None;
        }
        let (stripe, reads_collection) = (operation.stripe, operation.reads_collection);
        let mut rebuilt = None;
        match (operation.work, operation.completion) {
            (Work::Rebuild(failure) | Work::GiveUp(failure), _) => {
                let given_up = matches!(operation.work, Work::GiveUp(_));
                let failures = self.route.failures.as_mut().expect("what is rebuilt has failed");
                failures.strip_rebuild_ended(now, failure, stripe, given_up);
                rebuilt = (!given_up).then_some((failures.failed_and_spare(failure).0, stripe));
            }
            (_, Some(completion)) => {
                members.record_operation_end(completion, now, operation.gc_members, || operation.whole_time(time));
            }
            (_, None) => unreachable!("somebody waits for what is no rebuilding"),
        }
        self.unused.push(id);
        if self.operations[id as usize].work == Work::PlannedRead {
            return None;
        }
        self.release(now, stripe, &[reads_collection, collection], members);
        rebuilt
    }

    /// Releases the lock of a stripe, and begins the operations that get it. `waits` are the times for which its holder waited for
    /// collection.
    fn release(&mut self, now: TimeNs, stripe: u64, waits: &[CollectionWait], members: &mut Members) {
        let freed = self.locks.release(stripe, waits);
        while let Some(LockGrant { operation, collection_ns }) = self.locks.grant_next(&freed) {
            self.operations[operation as usize].lock_collection_ns = collection_ns;
            self.begin(now, operation, members, true);
        }
    }

    /// Issues operations for pages of members without parity, on the members that stand in for them. Returns the number of page operations.
    pub(crate) fn issue_on_members(&self, access: &Access, extent: &MemberExtent, completion: u32, members: &mut Members) -> u32 {
        let mut issued = 0;
        for page in extent.pages_on_member() {
            let stripe = self.route.layout.stripe_of_member_page(page);
            if let Some(member) = self.route.replacement(extent.member, stripe) {
                members.submit(access, member, page, completion);
                issued += 1;
            }
        }
        issued
    }

    /// Sets whether the write cache still holds pages from the time of a failure.
    pub(crate) fn set_cache_is_flushing(&mut self, now: TimeNs, flushing: bool) {
        if let Some(failures) = &mut self.route.failures {
            failures.set_cache_is_flushing(now, flushing);
        }
    }

    /// Returns the time at which a member fails or the next stripe is rebuilt.
    #[inline]
    pub(super) fn next_time(&self) -> Option<TimeNs> {
        self.route.failures.as_ref().and_then(Failures::next_time)
    }

    /// Performs the step of failure or rebuilding that is due.
    pub(super) fn step(&mut self, now: TimeNs, members: &mut Members) -> Option<Step> {
        let step = self.route.failures.as_mut()?.step(now)?;
        if let Step::Rebuild { failure_index: failure, stripe } = step {
            let id = self.new_operation(now, false, None);
            self.operations[id as usize].stripe = stripe;
            self.ask(now, id, Work::Rebuild(failure), members, true);
        }
        Some(step)
    }

    /// Returns true if no operation is left and no lock is held.
    #[cfg(test)]
    pub(super) fn is_idle(&self) -> bool {
        self.locks.is_empty() && self.unused.len() == self.operations.len()
    }

    /// Notes that the last request is done (rule 64).
    pub(crate) fn last_request_is_done(&mut self) {
        if let Some(failures) = &mut self.route.failures {
            failures.last_request_is_done();
        }
    }
}

/// Moves the pages of the next sub-request from `extents` to `pages`, and returns its stripe (rule 51).
pub(super) fn next_sub_request(
    layout: &ArrayLayout,
    extents: &mut Peekable<impl Iterator<Item = Extent>>,
    by_strip: bool,
    pages: &mut StripePages,
) -> u64 {
    let strip_pages = u64::from(layout.strip_pages());
    let by_strip = by_strip || layout.stripe_shape().parity_strips == 0;
    let mut own = None;
    let belongs = |extent: &Extent, (stripe, member): (u64, u32)| {
        extent.first_page / strip_pages == stripe && (!by_strip || extent.first_member == member)
    };
    while let Some(extent) = extents.next_if(|extent| own.is_none_or(|own| belongs(extent, own))) {
        let stripe = extent.first_page / strip_pages;
        pages.insert(layout.strip_index_of_member(stripe, extent.first_member), (extent.first_page % strip_pages) as u32, extent.pages);
        own = Some((stripe, extent.first_member));
    }
    let (stripe, _) = own.expect("there is an extent left");
    stripe
}
