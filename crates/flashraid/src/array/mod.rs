//! The array: requests to page operations of its members and back.
//!
//! Three verbs drive it: [`Array::submit`], [`Array::next_time`], [`Array::advance`]. Time comes from the caller.

mod coordination;
mod params;

use crate::TimeNs;
use crate::agenda::Agenda;
use crate::coordination::{KINDS, Notice};
pub use crate::layout::{Layout, Level, PageRequest, Run};
use crate::metrics::GcInterval;
use crate::slab::Slab;
use crate::ssd::{Effects, OpEnd, PageOp, Ssd, SsdWake};
use crate::workload::{Direction, Request};
use coordination::Coordination;
pub use params::*;

/// Members that an array may have: the members that a request met in collection are kept as bits.
pub const MEMBERS_MAX: u32 = 128;

/// The pages that `request` touches, or `None` if it is empty or reaches beyond `exported_pages`.
#[inline]
pub fn pages_of(request: &Request, page_bytes: u64, exported_pages: u64) -> Option<PageRequest> {
    let first_page = request.offset_bytes / page_bytes;
    let end_page = request.offset_bytes.checked_add(request.length_bytes)?.div_ceil(page_bytes);
    if request.length_bytes == 0 || end_page > exported_pages {
        return None;
    }
    Some(PageRequest {
        tag: 0,
        first_page,
        pages: u32::try_from(end_page - first_page).ok()?,
        write: request.direction == Direction::Write,
        high_priority: request.high_priority,
        one_member: request.one_member,
    })
}

/// A request that is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// The request's tag.
    pub tag: u64,
    /// When its last page was done.
    pub at: TimeNs,
    /// Members on which a page of it waited for garbage collection.
    pub gc_members_met: u32,
}

#[derive(Debug, Clone, Copy)]
enum Wake {
    /// All pages of a join are done.
    Joined(u32),
    /// A member has to look again.
    Member(u32, SsdWake),
}

/// Page operations that are waited for together.
#[derive(Debug, Clone, Copy)]
struct Join {
    tag: u64,
    remaining: u32,
    last_end: TimeNs,
    gc_members: u128,
}

/// An array of SSDs.
#[derive(Debug, Clone)]
pub struct Array {
    layout: Layout,
    members: Vec<Ssd>,
    agenda: Agenda<Wake>,
    joins: Slab<Join>,
    ends: Vec<OpEnd>,
    cleans: Vec<GcInterval>,
    notices: Vec<Notice>,
    coordination: Option<Coordination>,
    /// All events before this moment have happened.
    advanced_before: TimeNs,
}

impl Array {
    /// An array of filled members; `seed` names the random streams of victim policies that draw.
    pub fn new(params: &ArrayParams, seed: u64) -> Self {
        let member = |number| {
            let mut member = Ssd::new(&params.ssd, seed, number, params.coordination.is_some());
            if let Some(coordination) = &params.coordination
                && coordination.capable >> number & 1 == 1
            {
                member.join_protocol(coordination.t_soft_free_blocks);
            }
            member
        };
        Self {
            layout: params.layout(),
            members: (0..params.members).map(member).collect(),
            agenda: Agenda::default(),
            joins: Slab::default(),
            ends: Vec::new(),
            cleans: Vec::new(),
            notices: Vec::new(),
            coordination: params.coordination.as_ref().map(Coordination::new),
            advanced_before: 0,
        }
    }

    /// Bytes of a page.
    pub fn page_bytes(&self) -> u32 {
        self.members[0].ftl().geometry.page_bytes
    }

    /// Free blocks of a pool at which it is collected.
    pub fn start_free_blocks(&self) -> u32 {
        self.members[0].ftl().start_free_blocks
    }

    /// How addresses spread over the members.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The members.
    pub fn members(&self) -> &[Ssd] {
        &self.members
    }

    /// The members, for warming them up and loading warm states before the first request.
    pub fn members_mut(&mut self) -> &mut [Ssd] {
        &mut self.members
    }

    /// Takes a request; may start flash operations.
    pub fn submit(&mut self, now: TimeNs, request: &PageRequest) {
        let moment_is_over = now < self.advanced_before;
        if let Some(coordination) = &mut self.coordination {
            coordination.request_arrives(now);
        }
        let copies = |run: &Run| if request.write { run.copies } else { 1 };
        let join = self.joins.insert(Join { tag: request.tag, remaining: 0, last_end: 0, gc_members: 0 });
        let mut operations = 0;
        for run in self.layout.runs(request) {
            operations += run.pages * copies(&run);
            let from = run.first_member + if request.write { 0 } else { run.read_copy };
            for page in run.first_page..run.first_page + run.pages {
                let op = PageOp { page, write: request.write, high_priority: request.high_priority, join };
                for member in from..from + copies(&run) {
                    self.members[member as usize].submit(
                        now,
                        op,
                        &mut Effects {
                            agenda: &mut self.agenda,
                            ends: &mut self.ends,
                            cleans: &mut self.cleans,
                            notices: &mut self.notices,
                            wake: Wake::Member,
                            moment_is_over,
                        },
                    );
                }
            }
        }
        self.joins[join].remaining = operations;
        self.settle();
    }

    /// Overwrites the pages of a request without time, for a warm-up by the workload's own addresses; returns their number.
    /// A request that does not fit the array writes nothing.
    pub fn overwrite_untimed(&mut self, request: &Request) -> u64 {
        let Some(pages) = pages_of(request, u64::from(self.page_bytes()), self.layout.exported_pages()) else { return 0 };
        let layout = self.layout;
        for run in layout.runs(&pages) {
            for member in run.first_member..run.first_member + run.copies {
                for page in run.first_page..run.first_page + run.pages {
                    self.members[member as usize].overwrite_page_untimed(page);
                }
            }
        }
        u64::from(pages.pages)
    }

    /// Hints that `request` comes soon: brings near what it reads first.
    #[inline]
    pub fn prefetch_map(&self, request: &PageRequest) {
        for run in self.layout.runs(request) {
            for page in run.first_page..run.first_page + run.pages {
                self.members[run.first_member as usize].prefetch_map(page);
            }
        }
    }

    /// Hints that `request` comes very soon, and that [`Array::prefetch_map`] has had time.
    #[inline]
    pub fn prefetch_block(&self, request: &PageRequest) {
        for run in self.layout.runs(request) {
            for page in run.first_page..run.first_page + run.pages {
                self.members[run.first_member as usize].prefetch_block(page);
            }
        }
    }

    /// The earliest pending moment.
    #[inline]
    pub fn next_time(&self) -> Option<TimeNs> {
        let agenda = self.agenda.next_time();
        match self.coordination.as_ref().and_then(Coordination::next_time) {
            Some(at) => Some(agenda.map_or(at, |agenda| at.min(agenda))),
            None => agenda,
        }
    }

    /// Runs everything up to and including `until` and appends the requests that are done.
    #[inline]
    pub fn advance(&mut self, until: TimeNs, done: &mut Vec<Done>) {
        loop {
            // What members and controller say to each other at a nanosecond comes after all else (rule 42).
            let coordinated_at = self.coordination.as_ref().and_then(Coordination::next_time).filter(|&at| at <= until);
            if let Some((now, wake)) = self.agenda.pop_due(coordinated_at.unwrap_or(until)) {
                match wake {
                    Wake::Joined(join) => {
                        let join = self.joins.remove(join);
                        if let Some(coordination) = &mut self.coordination {
                            coordination.controller.request_done(now);
                        }
                        done.push(Done { tag: join.tag, at: now, gc_members_met: join.gc_members.count_ones() });
                    }
                    Wake::Member(member, wake) => {
                        self.members[member as usize].wake(
                            now,
                            wake,
                            &mut Effects {
                                agenda: &mut self.agenda,
                                ends: &mut self.ends,
                                cleans: &mut self.cleans,
                                notices: &mut self.notices,
                                wake: Wake::Member,
                                moment_is_over: false,
                            },
                        );
                        self.settle();
                    }
                }
            } else if let Some(now) = coordinated_at {
                self.coordinate(now);
            } else {
                break;
            }
        }
        self.advanced_before = until.saturating_add(1);
    }

    /// Brings everything that has happened before `now` into the counters and the cleans: what nothing waits for is computed late.
    pub fn catch_up(&mut self, now: TimeNs) {
        self.for_each_member(|member, fx| member.catch_up_all(now, fx));
    }

    /// What comes next between members and controller, now.
    fn coordinate(&mut self, now: TimeNs) {
        let Some(coordination) = &mut self.coordination else { return };
        if let Some((member, message)) = coordination.step(now) {
            self.members[member as usize].receive(
                now,
                message,
                &mut Effects {
                    agenda: &mut self.agenda,
                    ends: &mut self.ends,
                    cleans: &mut self.cleans,
                    notices: &mut self.notices,
                    wake: Wake::Member,
                    moment_is_over: true,
                },
            );
        }
        self.settle();
    }

    /// What members and controller have sent, and when.
    #[cfg(test)]
    pub(crate) fn message_log(&self) -> Vec<(TimeNs, crate::coordination::Mail)> {
        self.coordination.as_ref().map_or_else(Vec::new, |coordination| coordination.mailbox.log.clone())
    }

    /// Messages between members and controller so far, by kind.
    pub fn messages(&self) -> Option<[u64; KINDS]> {
        self.coordination.as_ref().map(|coordination| coordination.mailbox.sent())
    }

    /// The last request is done: after `now` no collection begins because an element or the array is idle (rules 38 and 46).
    pub fn end_idle_collection(&mut self, now: TimeNs) {
        if let Some(coordination) = &mut self.coordination {
            coordination.controller.end_checks();
        }
        self.for_each_member(|member, fx| member.end_idle_collection(now, fx));
    }

    fn for_each_member(&mut self, mut act: impl FnMut(&mut Ssd, &mut Effects<Wake>)) {
        for member in &mut self.members {
            act(
                member,
                &mut Effects {
                    agenda: &mut self.agenda,
                    ends: &mut self.ends,
                    cleans: &mut self.cleans,
                    notices: &mut self.notices,
                    wake: Wake::Member,
                    moment_is_over: false,
                },
            );
        }
        self.settle();
    }

    /// Books what the members have reported.
    #[inline]
    fn settle(&mut self) {
        if !self.notices.is_empty()
            && let Some(coordination) = &mut self.coordination
        {
            self.notices.drain(..).for_each(|notice| coordination.mailbox.post(&notice));
        }
        for end in self.ends.drain(..) {
            let join = &mut self.joins[end.join];
            join.remaining -= 1;
            join.last_end = join.last_end.max(end.at);
            join.gc_members |= u128::from(end.met_gc) << end.member;
            if join.remaining == 0 {
                self.agenda.schedule(join.last_end, Wake::Joined(end.join));
            }
        }
    }

    /// Moves the cleans recorded since the last call to `out`. Those of eager members are reported before they start.
    #[inline]
    pub fn take_cleans(&mut self, out: &mut Vec<GcInterval>) {
        out.append(&mut self.cleans);
    }

    /// Every clean that starts before this moment, or before `now` if nothing is open, has been reported.
    pub fn cleans_known_until(&self, now: TimeNs) -> TimeNs {
        self.members.iter().filter_map(Ssd::oldest_open_clean).fold(now, TimeNs::min)
    }

    /// Verifies the whole state; used by tests and `--check`.
    ///
    /// # Errors
    /// A sentence that names the member and the first invariant that does not hold.
    pub fn verify(&self) -> Result<(), String> {
        self.members.iter().enumerate().try_for_each(|(m, ssd)| ssd.ftl().verify().map_err(|e| format!("member {m}: {e}")))
    }
}
