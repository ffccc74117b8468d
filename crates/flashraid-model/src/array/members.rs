//! The members of an array and what they leave (wake-ups, ends, cleans, messages), and the completions that wait for ends.

use crate::TimeNs;
use crate::cache::{CacheWake, Token};
use crate::events::Agenda;
use crate::events::Slab;
use crate::events::TimeParts;
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

/// Page operations and sub-requests that are waited for together, and what continues when all have ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Completion {
    pub continuation: Continuation,
    remaining: u32,
    pub last_end: TimeNs,
    /// Members on which a page of it waited for garbage collection.
    pub gc_members: u128,
    /// Pages that too many failures have taken (rule 157).
    pub pages_lost: u32,
    /// Where the time of the page operation went that ended last.
    pub time: TimeParts,
}

impl Completion {
    /// Takes what another way of booking has found.
    #[inline]
    pub fn end_at(&mut self, at: TimeNs, gc_members: u128, time: TimeParts) {
        (self.last_end, self.gc_members, self.time) = (at, gc_members, time);
    }

    /// Books an end; says whether it was the last.
    #[inline]
    pub fn book(&mut self, at: TimeNs, gc_members: u128, time: impl Fn() -> TimeParts) -> bool {
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
    pub fn with(&mut self, member: u32, act: impl FnOnce(&mut Ssd, &mut Outbox)) {
        act(&mut self.ssds[member as usize], &mut self.told);
        for (at, wake) in self.told.wakes.drain(..) {
            self.agenda.schedule(at, Wake::Member(member, wake));
        }
    }

    /// Reads or writes a page of a member; `completion` waits for it.
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
        self.with(member, |ssd, out| ssd.submit(now, op, moment_is_over, out));
    }

    /// Whether the end of an operation is known when a member takes it, and nobody asks for more than the last one.
    #[inline]
    pub fn are_immediate(&self) -> bool {
        self.ssds[0].is_immediate() && self.cache_ends.is_none()
    }

    /// A completion that waits for nothing yet.
    #[inline]
    pub fn open_completion(&mut self, continuation: Continuation) -> u32 {
        self.completions.insert(Completion {
            continuation,
            remaining: 0,
            last_end: 0,
            gc_members: 0,
            pages_lost: 0,
            time: TimeParts::default(),
        })
    }

    /// Says how much a completion that was opened at `now` waits for; what waits for nothing is complete.
    #[inline]
    pub fn close_or_complete(&mut self, completion: u32, operations: u32, now: TimeNs) {
        if operations > 0 {
            self.close_completion(completion, operations);
        } else {
            self.completed(completion, self.completions[completion].continuation, now);
        }
    }

    /// Says how much a completion waits for; before the next [`Members::drain`].
    #[inline]
    pub fn close_completion(&mut self, completion: u32, operations: u32) {
        debug_assert!(operations > 0, "it would never end");
        self.completions[completion].remaining = operations;
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
            self.end(end.completion, end.at, u128::from(end.met_gc) << end.member.0, || end.time);
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

    /// Something that `completion` waits for ends at `at`.
    #[inline]
    pub fn end(&mut self, completion: u32, at: TimeNs, gc_members: u128, time: impl Fn() -> TimeParts) {
        let entry = &mut self.completions[completion];
        if entry.book(at, gc_members, time) {
            let Completion { continuation, last_end, .. } = *entry;
            self.completed(completion, continuation, last_end);
        }
    }

    /// All that `completion` waits for ends by `at`.
    #[inline(always)]
    pub fn completed(&mut self, completion: u32, continuation: Continuation, at: TimeNs) {
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
            Deferred::Completion(completion) => Deferred::Completion(self.completions.remove(completion)),
            Deferred::Wake(wake) => Deferred::Wake(wake),
        })
    }
}
