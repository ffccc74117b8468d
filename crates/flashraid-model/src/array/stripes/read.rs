//! Reads as the read plan decides, in an array whose plan has a choice (section 27 of docs/rules.md).
//!
//! Operations of such an array begin after all else of the nanosecond at which they arrive. The plan then decides what is done with each
//! part of a read. If it reads each strip by itself, `late.rs` reads the part.

use super::super::read_plan::{Part, ReadAction};
use super::super::stripe_pages::{ParityMethod, fill_write, plan_read, read_around};
use super::{Access, Continuation, Members, Stripes, Work};
use crate::TimeNs;
use crate::events::OperationTimeParts;
use crate::placement::StripRoles;
use crate::request::OpKind;

/// A read of which a member refuses a part. What was not refused is read at once, and the rest after the refusal.
#[derive(Debug, Clone, Copy)]
pub(super) struct RefusedReads {
    /// Time at which the read was planned.
    pub(crate) planned_at: TimeNs,
    /// Time from then to the reads after the refusal, in nanoseconds.
    delay_ns: u64,
    /// Number of sets of reads that have not ended: those at once and those after the refusal.
    sets_left: u8,
    /// The last end so far, with the parts of its time.
    last: (TimeNs, OperationTimeParts),
}

impl RefusedReads {
    /// Ends a set of reads. Returns the parts of the time since the read was planned if it was the last set.
    pub(crate) fn set_ended(&mut self, now: TimeNs, after_refusal: bool, time: OperationTimeParts) -> Option<OperationTimeParts> {
        let parity_ns = time.parity_ns + if after_refusal { self.delay_ns } else { 0 };
        self.last = self.last.max((now, OperationTimeParts { parity_ns, ..time }));
        self.sets_left -= 1;
        (self.sets_left == 0).then_some(self.last.1)
    }
}

impl Stripes {
    /// Takes a part of a read that is to be planned. Returns the number of ends that its completion waits for.
    pub(super) fn submit_planned(&mut self, now: TimeNs, id: u32, members: &mut Members) -> u32 {
        self.leave_out_lost(id, members);
        let operation = &mut self.operations[id as usize];
        if operation.pages.page_count() == 0 {
            self.unused.push(id);
            return 0;
        }
        operation.work = Work::PlannedRead;
        let sequence = operation.sequence;
        members.schedule_continuation(now + self.plan_begins_after_ns(), sequence, id);
        1
    }

    /// Returns the time from the arrival of a read until its parts begin, in nanoseconds.
    pub(super) fn plan_begins_after_ns(&self) -> u64 {
        self.plan.as_ref().map_or(0, |plan| plan.begins_after_ns())
    }

    /// Continues an operation that has waited for the end of a nanosecond, for a refusal, or until it was late.
    pub(crate) fn continue_operation(&mut self, now: TimeNs, id: u32, members: &mut Members) {
        let operation = &self.operations[id as usize];
        if !operation.to_read_later.is_empty() {
            return self.read_after_refusal(now, id, members);
        }
        if operation.by_strip.is_some() {
            return self.is_late(now, id, members);
        }
        let asks_for_lost = |lost: StripRoles| lost.iter().any(|role| operation.pages.page_count_of_strip(role) > 0);
        match operation.work {
            Work::PlannedRead if self.has_parity() && asks_for_lost(self.route.lost(operation.stripe)) => {
                self.ask(now, id, Work::Read, members, true);
            }
            Work::PlannedRead => self.begin_part(now, id, false, members),
            work => self.ask(now, id, work, members, true),
        }
    }

    /// Lets the plan decide about a part of a read, and does as it says. The part holds the lock of its stripe if it asked for lost pages.
    pub(super) fn begin_part(&mut self, now: TimeNs, id: u32, has_lock: bool, members: &mut Members) {
        if !self.has_parity() {
            self.leave_out_lost(id, members);
            if self.operations[id as usize].pages.page_count() == 0 {
                return self.issue_phase(now, id, members, true);
            }
        }
        let Self { route, locks, operations, plan, .. } = self;
        let plan = plan.as_mut().expect("reads are planned");
        let by_strip = plan.reads_each_strip_by_itself();
        let operation = &operations[id as usize];
        let (stripe, pages) = (operation.stripe, &operation.pages);
        let copies = if route.layout.copies_of_each_page() > 1 {
            pages.roles().iter().flat_map(|role| route.copies_left(stripe, role)).collect()
        } else {
            Vec::new()
        };
        let lost = route.lost(stripe);
        let mut part = Part { now, stripe, pages, lost, copies, route, locks, members, has_lock };
        let action = plan.part_begins(&mut part);
        let Part { copies, has_lock, .. } = part;
        if has_lock {
            self.operations[id as usize].work = Work::Read;
        }
        let (copy, after_ns) = match action {
            ReadAction::Read => (0, 0),
            ReadAction::ReadCopy { copy, after_ns } => (copy, after_ns),
            ReadAction::ReadAround { after_ns, .. } => (0, after_ns),
        };
        let wanted = self.operations[id as usize].pages.clone();
        self.find_pages(id, lost, action);
        let pages = &self.operations[id as usize].pages;
        if by_strip && pages.page_count() > 0 {
            return self.read_by_strip(now, id, wanted, copies.get(copy).copied(), has_lock, members);
        }
        if has_lock && after_ns == 0 {
            return self.issue_phase(now, id, members, true);
        }
        if after_ns == 0 {
            let places = self.places(id, copies.get(copy).copied(), pages.roles_and_offsets());
            return self.read_directly(now, id, &places, members);
        }
        let pages = &mut self.operations[id as usize].pages;
        // With mirrors, the other copy stands in for all pages.
        let later = if copies.is_empty() { pages.remove_all_but(&wanted) } else { pages.roles_and_offsets().collect() };
        let reads_now = copies.is_empty() && pages.page_count() > 0;
        let places = self.places(id, copies.get(copy).copied(), later.into_iter());
        let operation = &mut self.operations[id as usize];
        let last = (now, OperationTimeParts::default());
        operation.refused = Some(RefusedReads { planned_at: now, delay_ns: after_ns, sets_left: 1 + u8::from(reads_now), last });
        operation.to_read_later = places;
        members.schedule_continuation(now + after_ns, operation.sequence, id);
        if reads_now {
            self.issue_phase(now, id, members, true);
        }
    }

    /// Replaces the pages that a part asks for by those that it reads.
    fn find_pages(&mut self, id: u32, lost: StripRoles, action: ReadAction) {
        let shape = self.route.layout.stripe_shape();
        let pages = &mut self.operations[id as usize].pages;
        if pages.roles().0 & lost.0 != 0 {
            self.reads.copy_from(pages);
            let (replaced, more) = plan_read(shape, lost, &mut self.reads);
            self.counters.pages_reconstructed += u64::from(replaced);
            self.counters.pages_read_to_reconstruct += u64::from(more);
        }
        match action {
            ReadAction::ReadAround { replaced, parity, .. } => _ = read_around(shape, StripRoles(lost.0 | replaced.0), parity, pages),
            _ if pages.roles().0 & lost.0 != 0 => pages.copy_from(&self.reads),
            ReadAction::Read | ReadAction::ReadCopy { .. } => {}
        }
    }

    /// Chooses the reads before a write (rule 245). `kind` is the method with fewest reads, which are in `reads`. Returns the method
    /// chosen, and the time after which it reads.
    pub(super) fn plan_reads_of_write(
        &mut self,
        now: TimeNs,
        id: u32,
        lost: StripRoles,
        kind: ParityMethod,
        members: &mut Members,
    ) -> (ParityMethod, u64) {
        let other = match kind {
            ParityMethod::Reconstruct => ParityMethod::ReadModify,
            ParityMethod::ReadModify => ParityMethod::Reconstruct,
            ParityMethod::FullStripe | ParityMethod::NoParity => return (kind, 0),
        };
        let Self { route, locks, operations, plan, reads, .. } = self;
        let operation = &operations[id as usize];
        let shape = route.layout.stripe_shape();
        let reads_of_other = || {
            let mut pages = reads.clone();
            fill_write(shape, lost, &operation.pages, other, &mut pages);
            pages
        };
        let (stripe, copies) = (operation.stripe, Vec::new());
        let mut part = Part { now, stripe, pages: reads, lost, copies, route, locks, members, has_lock: true };
        let plan = plan.as_mut().expect("reads are planned");
        let Some((pages, delay_ns)) = plan.reads_before_write(&mut part, &reads_of_other) else { return (kind, 0) };
        self.reads = pages;
        if delay_ns > 0 {
            self.operations[id as usize].to_read_later = self.places(id, None, self.reads.roles_and_offsets());
        }
        (other, delay_ns)
    }

    /// Returns the members and pages of pages of a stripe. With mirrors, `copy` is the member that is read.
    fn places(&self, id: u32, copy: Option<u32>, pages: impl Iterator<Item = (u32, u32)>) -> Vec<(u32, u64)> {
        let stripe = self.operations[id as usize].stripe;
        let first_page = self.route.layout.stripe_first_page_on_member(stripe);
        let member = |role| copy.unwrap_or_else(|| self.route.member_of(stripe, role));
        pages.map(|(role, offset)| (member(role), first_page + u64::from(offset))).collect()
    }

    /// Reads pages of members for the operation that asks for them. Nothing else follows from their ends.
    fn read_directly(&mut self, now: TimeNs, id: u32, places: &[(u32, u64)], members: &mut Members) {
        let completion = self.operations[id as usize].completion.expect("somebody asks for them");
        members.expect_more_ends(completion, places.len() as u32);
        let access = self.access_of_read(now, id);
        places.iter().for_each(|&(member, page)| members.submit(&access, member, page, completion));
        self.unused.push(id);
    }

    /// Reads what an operation reads after a refusal. It was decided when the operation was planned, also if a member has failed since.
    fn read_after_refusal(&mut self, now: TimeNs, id: u32, members: &mut Members) {
        let access = self.access_of_read(now, id);
        let operation = &mut self.operations[id as usize];
        operation.phase_began_ns = now;
        let open = members.open_completion(Continuation::StripeOperationPhaseEnded {
            operation: id,
            replaces_refused_read: true,
            tie_break: operation.sequence,
        });
        let places = std::mem::take(&mut operation.to_read_later);
        places.iter().for_each(|&(member, page)| members.submit(&access, member, page, open.completion_number()));
        members.close_completion(open, places.len() as u32, now);
    }

    pub(super) fn access_of_read(&self, now: TimeNs, id: u32) -> Access {
        let source = self.operations[id as usize].source;
        Access { now, kind: OpKind::Read, fua: false, high_priority: false, source, after_events_of_now: true }
    }
}
