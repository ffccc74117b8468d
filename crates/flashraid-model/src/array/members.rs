//! The members of an array and what they leave (wake-ups, ends, cleans, messages), and the completions that wait for ends.

use super::Done;
use crate::TimeNs;
use crate::cache::{CacheWake, Token};
use crate::events::Agenda;
use crate::events::Slab;
use crate::events::TimeParts;
use crate::ids::MemberSet;
use crate::request::OpKind;
use crate::ssd::{OpEnd, Outbox, PageOp, Ssd, SsdWake};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An event of the agenda.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wake {
    /// A completion of a host request is there: all its pages are done.
    Completed(u32),
    /// A member goes on.
    Member(u32, SsdWake),
}

/// What follows when all that a completion waits for is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Continuation {
    /// The request of the host with this tag is done; nothing in the array follows from it.
    Host(u64),
    /// A phase of an operation on a stripe is over.
    Stripe {
        /// The operation.
        operation: u32,
        /// The order among what ends at the same nanosecond (rule 55).
        tie_break: u64,
    },
    /// An operation that the cache asked for has ended.
    Cache {
        /// What the cache asked for it for.
        token: Token,
        /// The order among what ends at the same nanosecond (rule 85).
        tie_break: u64,
    },
}

/// Something that follows in the array, at the end of its nanosecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Deferred<J> {
    /// All that a completion waited for is done.
    Completion(J),
    /// A moment that the cache asked for has come.
    Wake(CacheWake),
}

/// When something deferred happens; nothing else has its tie-break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at: TimeNs,
    tie_break: u64,
    deferred: Deferred<u32>,
}

/// How pages are read or written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Access {
    pub now: TimeNs,
    /// Read, write or trim.
    pub kind: OpKind,
    pub fua: bool,
    pub high_priority: bool,
    /// See [`PageOp::source`].
    pub source: u8,
    /// See [`Ssd::submit`].
    pub moment_is_over: bool,
}

impl Access {
    /// Whether it reads; writes and trims concern all copies.
    #[inline]
    pub fn reads(&self) -> bool {
        self.kind == OpKind::Read
    }
}

/// Members have been asked to do something and may have left ends and messages behind.
#[must_use = "ends and messages of the members wait: `Array::drain` takes them"]
#[derive(Debug)]
pub(super) struct Issued(());

/// A completion that waits for nothing yet.
#[must_use = "what it waits for has to be said: `Members::close`"]
#[derive(Debug)]
pub(super) struct Open(u32);

impl Open {
    /// The number under which its operations end.
    #[inline]
    pub fn number(&self) -> u32 {
        self.0
    }

    /// Its number, for whoever completes it without [`Members::close`].
    #[inline]
    pub fn into_number(self) -> u32 {
        self.0
    }
}

/// What the next event of the members was.
#[derive(Debug)]
pub(super) enum MembersStep {
    /// A request of the host is done.
    Done(Done),
    /// A member has gone on.
    Acted(Issued),
}

/// Page operations and sub-requests that are waited for together, and what continues when all have ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Completion {
    pub continuation: Continuation,
    remaining: u32,
    pub last_end: TimeNs,
    /// Members on which a page of it waited for garbage collection.
    pub gc_members: MemberSet,
    /// Pages that too many failures have taken (rule 157).
    pub pages_lost: u32,
    /// Where the time of the page operation went that ended last.
    pub time: TimeParts,
}

impl Completion {
    /// Takes what another way of booking has found.
    #[inline]
    pub fn end_at(&mut self, at: TimeNs, gc_members: MemberSet, time: TimeParts) {
        (self.last_end, self.gc_members, self.time) = (at, gc_members, time);
    }

    /// Books an end; says whether it was the last.
    #[inline]
    pub fn book(&mut self, at: TimeNs, gc_members: MemberSet, time: impl Fn() -> TimeParts) -> bool {
        assert!(self.remaining > 0, "no more ends than are waited for");
        self.remaining -= 1;
        self.gc_members |= gc_members;
        if at > self.last_end {
            (self.last_end, self.time) = (at, time());
        } else if at == self.last_end {
            // Which of them is told first must not matter.
            self.time = self.time.max(time());
        }
        self.remaining == 0
    }
}

// What is kept of each request that is under way, and moved by each event.
const _: () = assert!(size_of::<Completion>() <= 144 && size_of::<Wake>() <= 24);

/// How many page writes members have been given, for a controller that wants to know when a member gets more than it can take (rule 120).
#[derive(Debug, Clone)]
pub(super) struct PagesGiven {
    /// By member: how many, and after how many the controller is told.
    counts: Vec<(u64, u64)>,
    /// Members that have been given more, and when.
    pub used_up: Vec<(TimeNs, u32)>,
}

impl PagesGiven {
    pub fn new(members: usize) -> Self {
        Self { counts: vec![(0, u64::MAX); members], used_up: Vec::new() }
    }

    #[inline]
    fn count(&mut self, now: TimeNs, member: u32) {
        self.counts[member as usize].0 += 1;
        self.compare(now, member);
    }

    /// From now on the controller wants to know when the member has been given more than `pages`.
    pub fn limit(&mut self, now: TimeNs, member: u32, pages: u64) {
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

/// The members, their agenda and the completions.
#[derive(Debug, Clone)]
pub(super) struct Members {
    pub ssds: Vec<Ssd>,
    pub agenda: Agenda<Wake>,
    pub completions: Slab<Completion>,
    /// What follows in the array. Since its order must not depend on when a member happens to know its ends, it is no event of the agenda.
    deferred: BinaryHeap<Reverse<Due>>,
    /// What the members have caused and nobody has taken yet. It holds no wake-ups: these go to the agenda at once.
    pub told: Outbox,
    /// Counted for a controller only that wants it.
    pub pages_given: Option<Box<PagesGiven>>,
    /// Ends of the page operations that the cache waits for, if they are recorded: what it waits for, the member, when.
    cache_ends: Option<Vec<(Token, u32, TimeNs)>>,
}

impl Members {
    pub fn new(ssds: Vec<Ssd>) -> Self {
        Self {
            ssds,
            agenda: Agenda::default(),
            completions: Slab::default(),
            deferred: BinaryHeap::new(),
            told: Outbox::default(),
            pages_given: None,
            cache_ends: None,
        }
    }

    /// Lets a member act.
    #[inline]
    pub fn with(&mut self, member: u32, act: impl FnOnce(&mut Ssd, &mut Outbox)) -> Issued {
        assert!(self.told.wakes.is_empty(), "the wake-ups of one member are taken before another acts");
        act(&mut self.ssds[member as usize], &mut self.told);
        for (at, wake) in self.told.wakes.drain(..) {
            self.agenda.schedule(at, Wake::Member(member, wake));
        }
        Issued(())
    }

    /// Lets each member act in turn.
    pub fn with_each(&mut self, mut act: impl FnMut(&mut Ssd, &mut Outbox)) -> Issued {
        (0..self.ssds.len() as u32).fold(Issued(()), |_, member| self.with(member, &mut act))
    }

    /// Says that operations have been issued: after one [`Members::submit`] or several.
    #[inline]
    pub fn issued(&self) -> Issued {
        Issued(())
    }

    /// The first event of the agenda happens, at `now`.
    #[inline(always)]
    pub fn step(&mut self, now: TimeNs) -> MembersStep {
        match self.agenda.pop_due(now).expect("an event is due").1 {
            Wake::Completed(completion) => {
                let Completion { continuation: Continuation::Host(tag), gc_members, pages_lost, time, .. } = self.completions[completion]
                else {
                    unreachable!("what is deferred is no event of the agenda")
                };
                debug_assert!(self.completions[completion].remaining == 0, "a request is done when all its pages are");
                self.completions.release(completion);
                MembersStep::Done(Done { tag, at: now, gc_members_met: gc_members.len(), pages_lost, parts: time })
            }
            Wake::Member(member, wake) => MembersStep::Acted(self.with(member, |ssd, out| ssd.wake(now, wake, out))),
        }
    }

    /// Reads or writes a page of a member; `completion` waits for it. [`Members::issued`] follows, once for many of them.
    #[inline]
    pub fn submit(&mut self, access: &Access, member: u32, page: u32, completion: u32) {
        let Access { now, kind, fua, high_priority, source, moment_is_over } = *access;
        let writes = kind == OpKind::Write;
        if let Some(pages_given) = &mut self.pages_given
            && writes
        {
            pages_given.count(now, member);
        }
        let op = PageOp { page, kind, fua: writes && fua, high_priority: writes && high_priority, source, completion };
        let Issued(()) = self.with(member, |ssd, out| ssd.submit(now, op, moment_is_over, out));
    }

    /// Whether the end of an operation is known when a member takes it, and nobody asks for more than the last one.
    #[inline]
    pub fn are_immediate(&self) -> bool {
        self.ssds[0].is_immediate() && self.cache_ends.is_none()
    }

    /// Begins a completion.
    #[inline]
    pub fn open(&mut self, continuation: Continuation) -> Open {
        let time = TimeParts::default();
        Open(self.completions.insert(Completion {
            continuation,
            remaining: 0,
            last_end: 0,
            gc_members: MemberSet::NONE,
            pages_lost: 0,
            time,
        }))
    }

    /// Says how many ends a completion waits for; one that waits for none is complete at `now`.
    #[inline]
    pub fn close(&mut self, open: Open, ends: u32, now: TimeNs) {
        let Open(completion) = open;
        debug_assert!(self.completions[completion].remaining == 0, "nothing has ended of what has not been said");
        if ends > 0 {
            self.completions[completion].remaining = ends;
        } else {
            self.completed(completion, self.completions[completion].continuation, now);
        }
    }

    /// Completes what was opened with this continuation: all of it ends by `at`, as [`Members::step`] is to tell.
    #[inline(always)]
    pub fn close_at(&mut self, open: Open, continuation: Continuation, (at, gc_members, time): (TimeNs, MemberSet, TimeParts)) {
        let Open(completion) = open;
        (self.completions[completion].gc_members, self.completions[completion].time) = (gc_members, time);
        self.completed(completion, continuation, at);
    }

    /// Drains the ends that the members have reported into their completions.
    #[inline]
    pub fn drain(&mut self) {
        if self.told.ends.is_empty() {
            return;
        }
        let mut ends: Vec<OpEnd> = std::mem::take(&mut self.told.ends);
        for end in ends.drain(..) {
            if let Some(cache_ends) = &mut self.cache_ends
                && let Continuation::Cache { token, .. } = self.completions[end.completion].continuation
            {
                cache_ends.push((token, end.member.0, end.at));
            }
            self.end(end.completion, end.at, if end.met_gc { MemberSet::of(end.member.0) } else { MemberSet::NONE }, || end.time);
        }
        self.told.ends = ends;
    }

    /// Records what [`Members::take_cache_ends`] returns.
    pub fn record_ends(&mut self) {
        self.cache_ends = Some(Vec::new());
    }

    /// When a member was done with its share of what the cache waited for, if it is known; forgets it.
    pub fn take_cache_ends(&mut self, of: Token) -> Vec<(u32, TimeNs)> {
        let Some(ends) = &mut self.cache_ends else { return Vec::new() };
        let taken = ends.iter().filter(|(token, ..)| *token == of).map(|&(_, member, at)| (member, at)).collect();
        ends.retain(|(token, ..)| *token != of);
        taken
    }

    /// Returns true if ends are kept that nobody has taken.
    #[cfg(test)]
    pub fn keeps_ends(&self) -> bool {
        self.cache_ends.as_ref().is_some_and(|ends| !ends.is_empty())
    }

    /// Something that `completion` waits for ends at `at`.
    #[inline]
    pub fn end(&mut self, completion: u32, at: TimeNs, gc_members: MemberSet, time: impl Fn() -> TimeParts) {
        let entry = &mut self.completions[completion];
        if entry.book(at, gc_members, time) {
            let Completion { continuation, last_end, .. } = *entry;
            self.completed(completion, continuation, last_end);
        }
    }

    /// All that `completion` waits for ends by `at`.
    #[inline(always)]
    fn completed(&mut self, completion: u32, continuation: Continuation, at: TimeNs) {
        match continuation {
            Continuation::Host(_) => self.agenda.schedule(at, Wake::Completed(completion)),
            Continuation::Stripe { tie_break, .. } | Continuation::Cache { tie_break, .. } => {
                self.deferred.push(Reverse(Due { at, tie_break, deferred: Deferred::Completion(completion) }));
            }
        }
    }

    /// The cache is to be woken at `at`.
    #[inline]
    pub fn wake_cache(&mut self, at: TimeNs, tie_break: u64, wake: CacheWake) {
        self.deferred.push(Reverse(Due { at, tie_break, deferred: Deferred::Wake(wake) }));
    }

    /// When something deferred happens next.
    #[inline]
    pub fn next_deferred(&self) -> Option<TimeNs> {
        self.deferred.peek().map(|Reverse(due)| due.at)
    }

    /// Takes what is deferred and happens next, if it does by `until`.
    #[inline]
    pub fn pop_deferred(&mut self, until: TimeNs) -> Option<Deferred<Completion>> {
        if self.next_deferred()? > until {
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
        })
    }
}
