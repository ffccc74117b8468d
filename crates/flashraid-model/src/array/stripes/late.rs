//! Parts whose strips are read by themselves, and also read elsewhere if they take long (rules 247 to 249).
//!
//! All that a part reads of one strip is a *sub-read* with an end of its own. There are two sets of them: what the part reads first, and
//! what it reads elsewhere. The part ends as soon as one of the sets has ended. What remains is read to its end, and nobody waits for it.

use super::super::locks::CollectionWait;
use super::super::members::{Completion, Continuation, Members};
use super::super::read_plan::{LateRead, ReadPlan};
use super::super::stripe_pages::{StripePages, substitutes};
use super::Stripes;
use crate::TimeNs;
use crate::events::OperationTimeParts;
use crate::ids::MemberSet;

/// A part of a read that may be read elsewhere, too.
#[derive(Debug, Clone)]
pub(super) struct ByStrip {
    planned_ns: TimeNs,
    /// Time at which it was read elsewhere.
    hedged_ns: Option<TimeNs>,
    /// Pages that the part asks for.
    wanted: StripePages,
    /// Pages that it reads first.
    first: StripePages,
    reads: Vec<SubRead>,
    /// Number of ends that have not come, and of timers that have not run out.
    awaited: u32,
    has_lock: bool,
    is_over: bool,
}

/// A read of pages of one strip.
#[derive(Debug, Clone, Copy)]
struct SubRead {
    role: u32,
    member: u32,
    pages: u32,
    completion: u32,
    /// True for what is read elsewhere.
    is_substitute: bool,
    end: Option<End>,
    /// True if some of the pages were not read, because nobody needed them any more.
    is_abandoned: bool,
}

#[derive(Debug, Clone, Copy)]
struct End {
    at: TimeNs,
    time: OperationTimeParts,
    gc_members: MemberSet,
}

impl End {
    fn of(completion: &Completion) -> Self {
        Self { at: completion.last_end, time: completion.time, gc_members: completion.gc_members }
    }
}

impl ByStrip {
    /// Returns true if one of the sets is being read and has ended.
    fn has_ended(&self, substitutes: bool) -> bool {
        let mut set = self.reads.iter().filter(|read| read.is_substitute == substitutes).peekable();
        set.peek().is_some() && set.all(|read| read.end.is_some())
    }

    /// Returns the pages of the strips that have not ended.
    fn late_pages(&self) -> StripePages {
        let mut late = self.first.clone();
        self.reads.iter().filter(|read| read.end.is_some()).for_each(|read| _ = late.remove(read.role));
        late
    }
}

impl Stripes {
    fn plan(&mut self) -> &mut ReadPlan {
        self.plan.as_mut().expect("reads are planned")
    }

    fn by_strip(&mut self, id: u32) -> &mut ByStrip {
        self.operations[id as usize].by_strip.as_mut().expect("each strip is read by itself")
    }

    /// Reads the pages of a part that asks for the `wanted` ones, and sets the time at which it is late (rule 247). With mirrors, `copy` is
    /// the member that is read.
    pub(super) fn read_by_strip(
        &mut self,
        now: TimeNs,
        id: u32,
        wanted: StripePages,
        copy: Option<u32>,
        has_lock: bool,
        members: &mut Members,
    ) {
        let operation = &self.operations[id as usize];
        let (stripe, first) = (operation.stripe, operation.pages.clone());
        let from: Vec<(u32, u32)> =
            first.roles().iter().map(|role| (role, copy.unwrap_or_else(|| self.route.member_of(stripe, role)))).collect();
        let read_from: Vec<u32> = from.iter().map(|&(_, member)| member).collect();
        self.plan().note(LateRead::Began);
        let late_after = self.plan().late_after_ns(now, &read_from);
        let operation = &mut self.operations[id as usize];
        operation.phase_began_ns = now;
        operation.by_strip = Some(Box::new(ByStrip {
            planned_ns: now,
            hedged_ns: None,
            wanted,
            first: first.clone(),
            reads: Vec::with_capacity(from.len()),
            awaited: u32::from(late_after.is_some()),
            has_lock,
            is_over: false,
        }));
        if let Some(after_ns) = late_after {
            members.schedule_continuation(now.saturating_add(after_ns), operation.sequence, id);
        }
        self.issue_sub_reads(now, id, &from, &first, false, members);
    }

    /// Reads pages of strips, whose roles and members are in `from`.
    fn issue_sub_reads(
        &mut self,
        now: TimeNs,
        id: u32,
        from: &[(u32, u32)],
        pages: &StripePages,
        is_substitute: bool,
        members: &mut Members,
    ) {
        let access = self.access_of_read(now, id);
        let operation = &mut self.operations[id as usize];
        let first_page = self.route.layout.stripe_first_page_on_member(operation.stripe);
        let hedged = operation.by_strip.as_mut().expect("each strip is read by itself");
        hedged.awaited += from.len() as u32;
        for &(role, member) in from {
            let nth = hedged.reads.len() as u32;
            let open = members.open_completion(Continuation::SubRead { operation: id, sub_read_index: nth, tie_break: operation.sequence });
            let (completion, pages_of_strip) = (open.completion_number(), pages.page_count_of_strip(role));
            hedged.reads.push(SubRead { role, member, pages: pages_of_strip, completion, is_substitute, end: None, is_abandoned: false });
            pages.offsets_in_strip(role).for_each(|offset| members.submit(&access, member, first_page + u64::from(offset), completion));
            members.close_completion(open, pages_of_strip, now);
        }
    }

    /// Records that sub-read `nth` of operation `id` has ended. The operation then ends, too, unless it waits for other sub-reads. The
    /// operation may have ended before, because the same data were read elsewhere sooner.
    pub fn sub_read_ended(&mut self, now: TimeNs, id: u32, nth: u32, completion: &Completion, members: &mut Members) {
        let hedged = self.by_strip(id);
        let read = &mut hedged.reads[nth as usize];
        read.end = Some(End::of(completion));
        hedged.awaited -= 1;
        if !read.is_substitute && !read.is_abandoned {
            let (member, took_ns) = (read.member, now - hedged.planned_ns);
            self.plan().note(LateRead::StripRead { now, member, took_ns });
        }
        self.end_hedged(now, id, members);
        self.forget_hedged(id);
    }

    /// Ends a part if one of its sets of reads has ended. If both end now, the first one counts.
    fn end_hedged(&mut self, now: TimeNs, id: u32, members: &mut Members) {
        let hedged = self.by_strip(id);
        if hedged.is_over {
            return;
        }
        for read in hedged.reads.iter_mut().filter(|read| read.end.is_none()) {
            // Its own event may be still to come at this nanosecond.
            read.end = members.completion_if_all_operations_ended(read.completion, now).map(End::of);
        }
        let by_first = hedged.has_ended(false);
        if !by_first && !hedged.has_ended(true) {
            return;
        }
        hedged.is_over = true;
        let ends = |of_first: bool| hedged.reads.iter().filter(move |read| of_first != read.is_substitute).filter_map(|read| read.end);
        let last = ends(by_first).max_by_key(|end| (end.at, end.time)).expect("it has read something");
        let mut gc_members = ends(true).fold(MemberSet::NONE, |met, end| MemberSet(met.0 | end.gc_members.0));
        let (mut time, mut from_ns) = (last.time, hedged.planned_ns);
        let wasted = if by_first {
            hedged.reads.iter().filter(|read| read.is_substitute).map(|read| u64::from(read.pages)).sum::<u64>()
        } else {
            ends(false).for_each(|end| gc_members |= end.gc_members);
            from_ns = hedged.hedged_ns.expect("it has been read elsewhere");
            time.parity_ns += from_ns - hedged.planned_ns;
            hedged.reads.iter().filter(|read| read.end.is_none()).map(|read| u64::from(read.pages)).sum()
        };
        let has_lock = hedged.has_lock;
        self.plan().note(LateRead::Ended { by_other_way: !by_first, pages_in_vain: wasted });
        let operation = &self.operations[id as usize];
        let stripe = operation.stripe;
        let collection = CollectionWait { from_ns, length_ns: time.collection_ns };
        let completion = operation.completion.expect("somebody asks for it");
        members.record_operation_end(completion, now, gc_members, || operation.whole_time(time));
        if self.plan().abandons_unneeded_reads() {
            self.abandon_rest(now, id, members);
        }
        if has_lock {
            self.release(now, stripe, &[collection], members);
        }
    }

    /// Abandons what a part that is over reads and has not ended, as far as it waits for its dies (rule 256).
    fn abandon_rest(&mut self, now: TimeNs, id: u32, members: &mut Members) {
        let hedged = self.by_strip(id);
        let mut abandoned = 0;
        for read in hedged.reads.iter_mut().filter(|read| read.end.is_none()) {
            let mut pages = 0;
            let _taken_later = members.act_on_member(read.member, |ssd, out| pages = ssd.abandon_reads(now, read.completion, out));
            read.is_abandoned = pages > 0;
            abandoned += u64::from(pages);
        }
        self.plan().note(LateRead::Abandoned { pages: abandoned });
    }

    /// Lets another operation have the number of a part that is over and for which nothing is awaited any more.
    fn forget_hedged(&mut self, id: u32) {
        let hedged = &mut self.operations[id as usize].by_strip;
        if hedged.as_ref().is_some_and(|hedged| hedged.is_over && hedged.awaited == 0) {
            *hedged = None;
            self.unused.push(id);
        }
    }

    /// Reads a part elsewhere that has taken long, if it has not ended and there is another way (rule 248).
    pub(super) fn is_late(&mut self, now: TimeNs, id: u32, members: &mut Members) {
        let hedged = self.by_strip(id);
        hedged.awaited -= 1;
        if hedged.is_over {
            return self.forget_hedged(id);
        }
        let elsewhere = if self.has_parity() { self.other_strips(id) } else { self.other_copy(id) };
        let Some((from, pages)) = elsewhere else {
            return self.plan().note(LateRead::WithoutOtherWay);
        };
        let operation = &self.operations[id as usize];
        let needs_lock = self.has_parity() && operation.by_strip.as_ref().is_some_and(|hedged| !hedged.has_lock);
        if needs_lock && !self.locks.try_share(operation.stripe) {
            return self.plan().note(LateRead::LockedOut);
        }
        self.plan().note(LateRead::ReadElsewhere { pages: pages.page_count() });
        let has_parity = self.has_parity();
        let hedged = self.by_strip(id);
        (hedged.hedged_ns, hedged.has_lock) = (Some(now), has_parity);
        self.issue_sub_reads(now, id, &from, &pages, true, members);
    }

    /// Returns the strips that a part reads for those that have not ended, by role and member, with the pages.
    fn other_strips(&self, id: u32) -> Option<(Vec<(u32, u32)>, StripePages)> {
        let operation = &self.operations[id as usize];
        let (stripe, hedged) = (operation.stripe, operation.by_strip.as_ref()?);
        let late = hedged.late_pages();
        let pages = substitutes(self.route.layout.stripe_shape(), self.route.lost(stripe), &hedged.wanted, &hedged.first, &late)?;
        let from: Vec<_> = pages.roles().iter().map(|role| (role, self.route.member_of(stripe, role))).collect();
        (!from.is_empty()).then_some((from, pages))
    }

    /// Returns the next copy of a strip that has not ended, by role and member, with the pages.
    fn other_copy(&self, id: u32) -> Option<(Vec<(u32, u32)>, StripePages)> {
        let operation = &self.operations[id as usize];
        let hedged = operation.by_strip.as_ref()?;
        let SubRead { role, member: first, .. } = *hedged.reads.first()?;
        let member = self.route.copies_left(operation.stripe, role).find(|&member| member != first)?;
        Some((vec![(role, member)], hedged.wanted.clone()))
    }
}
