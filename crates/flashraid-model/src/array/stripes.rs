//! Operations on stripes: writes with parity, reads of lost strips, rebuilding; their phases and locks (rules 51 to 62).
//!
//! ```text
//!  part of a request ─▶ lock ─▶ plan ─▶ reads ─▶ writes ─▶ done, next for the lock
//! ```

use super::failure::{Failure, Step};
use super::locks::Locks;
use super::members::{Access, Join, Members, Then};
use super::stripe_pages::{StripePages, WriteKind, plan_read, plan_rebuild, plan_write};
use super::{ArrayParams, FailureProgress, Service, StripeCounters};
use crate::TimeNs;
use crate::cache::MemberRun;
use crate::placement::{Layout, PageRequest, Run};
use crate::ssd::Ssd;
use std::iter::Peekable;

/// What an operation does with its stripe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    /// Reads what it is asked for, and what lost pages are reconstructed from.
    Read,
    /// Writes data and parity.
    Write,
    /// Writes what is left of the copies.
    WriteCopies,
    /// Brings the lost strip to the spare.
    Rebuild,
}

/// Something that needs the lock of a stripe.
#[derive(Debug, Clone)]
struct Operation {
    work: Work,
    stripe: u64,
    /// Its pages; for a write those to be written, with parity once that is planned.
    pages: StripePages,
    high_priority: bool,
    /// The join that waits for it; none waits for rebuilding.
    join: Option<u32>,
    order: u64,
    asked_ns: TimeNs,
    /// It has still to write when its reads are done.
    reading: bool,
    gc_members: u128,
}

/// Where page operations go: the layout, and who holds what a failed member held.
#[derive(Debug, Clone)]
struct Route {
    layout: Layout,
    failure: Option<Failure>,
}

impl Route {
    /// The position of the lost strip of `stripe`.
    fn lost(&self, stripe: u64) -> Option<u32> {
        let member = self.failure.as_ref()?.lost(stripe)?;
        Some(self.layout.position(stripe, member))
    }

    #[inline]
    fn serving(&self, member: u32, stripe: u64) -> Option<u32> {
        self.failure.as_ref().map_or(Some(member), |failure| failure.serving(member, stripe))
    }

    /// Reads or writes `pages` of `stripe`, but for those of lost strips; returns the number of page operations.
    fn issue(&self, access: &Access, stripe: u64, pages: &StripePages, join: u32, members: &mut Members) -> u32 {
        let write = access.write;
        let (copies, read_copy) = self.layout.copies(stripe);
        let mut issued = 0;
        for (position, place) in pages.iter() {
            let first_member = self.layout.strip_member(stripe, position);
            let page = self.layout.first_page(stripe) + place;
            let left = (0..copies).filter_map(|copy| {
                let copy = if write { copy } else { (read_copy + copy) % copies };
                self.serving(first_member + copy, stripe)
            });
            for member in left.take(if write { copies as usize } else { 1 }) {
                members.submit(access, member, page, join);
                issued += 1;
            }
        }
        issued
    }
}

/// The operations on stripes of an array that has parity or may lose a member.
#[derive(Debug, Clone)]
pub(super) struct Stripes {
    route: Route,
    locks: Locks,
    operations: Vec<Operation>,
    unused: Vec<u32>,
    /// Operations that have come into being.
    born: u64,
    /// What is being planned to be read.
    reads: StripePages,
    pub counters: StripeCounters,
}

impl Stripes {
    /// What the array needs of this, if anything.
    pub fn of(params: &ArrayParams) -> Option<Self> {
        let layout = params.layout();
        if params.level.parity_strips() == 0 && params.failure.is_none() {
            return None;
        }
        let failure = params.failure.as_ref().map(|f| Failure::new(f, params.members, layout.stripes(), layout.unit_pages()));
        Some(Self {
            route: Route { layout, failure },
            locks: Locks::default(),
            operations: Vec::new(),
            unused: Vec::new(),
            born: 0,
            reads: StripePages::none(layout.shape().width(), layout.unit_pages()),
            counters: StripeCounters::default(),
        })
    }

    /// The member that has the strip of `member` in `stripe`, if one does.
    pub fn serving(&self, member: u32, stripe: u64) -> Option<u32> {
        self.route.serving(member, stripe)
    }

    fn has_parity(&self) -> bool {
        self.route.layout.shape().parity > 0
    }

    /// What the array does about a failed member.
    pub fn service(&self) -> Service {
        self.route.failure.as_ref().map_or(Service::Normal, Failure::service)
    }

    /// How far failure and rebuilding have come.
    pub fn progress(&self) -> Option<FailureProgress> {
        self.route.failure.as_ref().map(Failure::progress)
    }

    /// Whether such an access is more than page operations on the members that the layout names.
    #[inline]
    pub fn concern(&self, access: &Access) -> bool {
        (access.write && self.has_parity()) || self.service() != Service::Normal
    }

    /// Takes the runs of a request, each strip a part with `by_strip`; returns how many ends `join` waits for.
    pub fn submit(&mut self, access: &Access, runs: impl Iterator<Item = Run>, by_strip: bool, join: u32, members: &mut Members) -> u32 {
        let mut runs = runs.peekable();
        let mut ends = 0;
        while runs.peek().is_some() {
            let id = self.new_operation(access.now, access.high_priority, Some(join));
            let operation = &mut self.operations[id as usize];
            operation.stripe = next_part(&self.route.layout, &mut runs, by_strip, &mut operation.pages);
            let lost = self.route.lost(operation.stripe);
            let touches_lost = lost.is_some_and(|lost| operation.pages.count_of(lost) > 0);
            let work = match (access.write, self.has_parity()) {
                (true, true) => Some(Work::Write),
                (true, false) => touches_lost.then_some(Work::WriteCopies),
                (false, true) => touches_lost.then_some(Work::Read),
                (false, false) => None,
            };
            if let Some(work) = work {
                self.ask(access.now, id, work, members, access.moment_is_over);
                ends += 1;
            } else {
                let Operation { stripe, pages, .. } = &self.operations[id as usize];
                ends += self.route.issue(access, *stripe, pages, join, members);
                self.unused.push(id);
            }
        }
        ends
    }

    /// Overwrites what `request` would without time (rule 66).
    pub fn overwrite_untimed(&mut self, request: &PageRequest, ssds: &mut [Ssd], copied_to: Option<(u32, u32)>) {
        let layout = self.route.layout;
        let mut runs = layout.runs(request).peekable();
        while runs.peek().is_some() {
            let id = self.new_operation(0, false, None);
            let pages = &mut self.operations[id as usize].pages;
            let stripe = next_part(&layout, &mut runs, request.one_member, pages);
            if layout.shape().parity > 0 {
                plan_write(layout.shape(), None, pages, &mut self.reads);
            }
            for (position, place) in self.operations[id as usize].pages.iter() {
                let first = layout.strip_member(stripe, position);
                for member in first..first + layout.copies(stripe).0 {
                    ssds[member as usize].overwrite_page_untimed(layout.first_page(stripe) + place);
                    if let Some((_, spare)) = copied_to.filter(|&(original, _)| original == member) {
                        ssds[spare as usize].overwrite_page_untimed(layout.first_page(stripe) + place);
                    }
                }
            }
            self.unused.push(id);
        }
    }

    fn new_operation(&mut self, now: TimeNs, high_priority: bool, join: Option<u32>) -> u32 {
        let id = self.unused.pop().unwrap_or_else(|| {
            let shape = self.route.layout.shape();
            self.operations.push(Operation {
                work: Work::Read,
                stripe: 0,
                pages: StripePages::none(shape.width(), self.route.layout.unit_pages()),
                high_priority: false,
                join: None,
                order: 0,
                asked_ns: 0,
                reading: false,
                gc_members: 0,
            });
            self.operations.len() as u32 - 1
        });
        let operation = &mut self.operations[id as usize];
        operation.pages.clear();
        (operation.high_priority, operation.join, operation.asked_ns) = (high_priority, join, now);
        (operation.order, operation.reading, operation.gc_members) = (self.born, false, 0);
        self.born += 1;
        id
    }

    /// Asks for the operation's lock; begins if it gets it.
    fn ask(&mut self, now: TimeNs, id: u32, work: Work, members: &mut Members, moment_is_over: bool) {
        let operation = &mut self.operations[id as usize];
        operation.work = work;
        let share = matches!(work, Work::Read | Work::WriteCopies);
        if self.locks.ask(operation.stripe, id, share) {
            self.begin(now, id, members, moment_is_over);
        }
    }

    /// The operation has got its lock.
    fn begin(&mut self, now: TimeNs, id: u32, members: &mut Members, moment_is_over: bool) {
        let operation = &mut self.operations[id as usize];
        let shape = self.route.layout.shape();
        let lost = self.route.lost(operation.stripe);
        match operation.work {
            Work::Read => {
                if let Some(lost) = lost {
                    let (replaced, more) = plan_read(shape, lost, &mut operation.pages);
                    self.counters.pages_reconstructed += u64::from(replaced);
                    self.counters.pages_read_to_reconstruct += u64::from(more);
                }
            }
            Work::Write => {
                let kind = plan_write(shape, lost, &mut operation.pages, &mut self.reads);
                operation.reading = matches!(kind, WriteKind::Reconstruct | WriteKind::ReadModify);
                self.counters.count_write(kind);
                let parity: u32 = (shape.columns..shape.width()).map(|parity| self.reads.count_of(parity)).sum();
                self.counters.parity_pages_read += u64::from(parity);
                self.counters.data_pages_read += u64::from(self.reads.count() - parity);
            }
            Work::WriteCopies => {}
            Work::Rebuild => {
                operation.reading = true;
                self.plan_rebuild(lost);
            }
        }
        let operation = &self.operations[id as usize];
        if operation.work != Work::Rebuild && now > operation.asked_ns {
            self.counters.lock_waits += 1;
            self.counters.lock_wait_ns += now - operation.asked_ns;
        }
        self.issue_phase(now, id, members, moment_is_over);
    }

    fn plan_rebuild(&mut self, lost: Option<u32>) {
        let layout = &self.route.layout;
        let lost = lost.expect("only lost strips are rebuilt");
        if layout.shape().parity > 0 {
            plan_rebuild(layout.shape(), lost, layout.unit_pages(), &mut self.reads);
        } else {
            self.reads.clear();
            self.reads.insert(lost, 0, layout.unit_pages());
        }
        self.counters.rebuild_pages_read += u64::from(self.reads.count());
    }

    /// Issues the reads that have just been planned, or else the operation's own pages.
    fn issue_phase(&mut self, now: TimeNs, id: u32, members: &mut Members, moment_is_over: bool) {
        let operation = &self.operations[id as usize];
        let join = members.open_join(Then::Stripe { operation: id, order: operation.order });
        let write = !operation.reading && operation.work != Work::Read;
        let access = Access { now, write, high_priority: operation.high_priority, moment_is_over };
        let issued = if operation.reading {
            self.route.issue(&access, operation.stripe, &self.reads, join, members)
        } else if operation.work == Work::Rebuild {
            self.write_spare(&access, id, join, members)
        } else {
            if operation.work == Work::Write {
                let shape = self.route.layout.shape();
                let lost = self.route.lost(operation.stripe);
                let written = (shape.columns..shape.width()).filter(|&parity| Some(parity) != lost);
                let pages: u32 = written.map(|parity| operation.pages.count_of(parity)).sum();
                self.counters.parity_pages_written += u64::from(pages);
            }
            self.route.issue(&access, operation.stripe, &operation.pages, join, members)
        };
        members.close_join(join, issued);
    }

    fn write_spare(&mut self, access: &Access, id: u32, join: u32, members: &mut Members) -> u32 {
        let spare = self.progress().and_then(|progress| progress.spare).expect("rebuilding needs a spare");
        let layout = &self.route.layout;
        let first_page = layout.first_page(self.operations[id as usize].stripe);
        for page in first_page..first_page + layout.unit_pages() {
            members.submit(access, spare, page, join);
        }
        self.counters.rebuild_pages_written += u64::from(layout.unit_pages());
        layout.unit_pages()
    }

    /// A phase of the operation is over; returns the stripe whose lost strip has been rebuilt with it.
    pub fn phase_ended(&mut self, now: TimeNs, id: u32, phase: &Join, members: &mut Members) -> Option<u64> {
        let operation = &mut self.operations[id as usize];
        operation.gc_members |= phase.gc_members;
        if operation.reading {
            operation.reading = false;
            self.issue_phase(now, id, members, true);
            return None;
        }
        let stripe = operation.stripe;
        let rebuilt = operation.join.is_none().then_some(stripe);
        match operation.join {
            Some(join) => members.end(join, now, operation.gc_members),
            None => self.route.failure.as_mut().expect("what is rebuilt has failed").rebuilt(now, stripe),
        }
        self.unused.push(id);
        self.locks.release(stripe);
        while let Some(next) = self.locks.next(stripe) {
            self.begin(now, next, members, true);
        }
        rebuilt
    }

    /// Reads or writes pages of members as they are, on those that serve for them; returns the number of page operations.
    pub fn issue_on_members(&self, access: &Access, run: &MemberRun, join: u32, members: &mut Members) -> u32 {
        let mut issued = 0;
        for page in run.first_page..run.first_page + run.pages {
            let stripe = u64::from(page / self.route.layout.unit_pages());
            if let Some(member) = self.route.serving(run.member, stripe) {
                members.submit(access, member, page, join);
                issued += 1;
            }
        }
        issued
    }

    /// Whether the cache still holds what it held when a member failed.
    pub fn set_flushing(&mut self, now: TimeNs, flushing: bool) {
        if let Some(failure) = &mut self.route.failure {
            failure.set_flushing(now, flushing);
        }
    }

    /// When the member fails, or the next stripe is to be rebuilt.
    #[inline]
    pub fn next_time(&self) -> Option<TimeNs> {
        self.route.failure.as_ref().and_then(Failure::next_time)
    }

    /// Does what is due of failure and rebuilding.
    pub fn step(&mut self, now: TimeNs, members: &mut Members) -> Option<Step> {
        let step = self.route.failure.as_mut()?.step(now);
        if let Step::Rebuild(stripe) = step {
            let id = self.new_operation(now, false, None);
            self.operations[id as usize].stripe = stripe;
            self.ask(now, id, Work::Rebuild, members, true);
        }
        Some(step)
    }

    /// Whether no operation is left and no lock is held.
    #[cfg(test)]
    pub fn is_idle(&self) -> bool {
        self.locks.is_empty() && self.unused.len() == self.operations.len()
    }

    /// The last request is done (rule 64).
    pub fn requests_are_over(&mut self) {
        if let Some(failure) = &mut self.route.failure {
            failure.requests_are_over();
        }
    }
}

/// Moves the next part of a request (rule 51) from `runs` to `pages`; returns its stripe.
pub(super) fn next_part(layout: &Layout, runs: &mut Peekable<impl Iterator<Item = Run>>, by_strip: bool, pages: &mut StripePages) -> u64 {
    let unit = layout.unit_pages();
    let by_strip = by_strip || layout.shape().parity == 0;
    let mut part = None;
    let belongs = |run: &Run, (stripe, member): (u32, u32)| run.first_page / unit == stripe && (!by_strip || run.first_member == member);
    while let Some(run) = runs.next_if(|run| part.is_none_or(|part| belongs(run, part))) {
        let stripe = run.first_page / unit;
        pages.insert(layout.position(u64::from(stripe), run.first_member), run.first_page % unit, run.pages);
        part = Some((stripe, run.first_member));
    }
    let (stripe, _) = part.expect("there is a run left");
    u64::from(stripe)
}
