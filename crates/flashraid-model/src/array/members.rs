//! The members of an array and what they leave: wake-ups, ends, cleans, messages; and the joins that wait for ends.

use crate::TimeNs;
use crate::cache::{CacheWake, Token};
use crate::coordination::Notice;
use crate::events::Agenda;
use crate::events::GcInterval;
use crate::events::Slab;
use crate::ssd::{Effects, OpEnd, PageOp, Ssd, SsdWake};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An event of the agenda.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wake {
    /// All pages of a host request's join are done.
    Joined(u32),
    /// A member has to look again.
    Member(u32, SsdWake),
}

/// What follows when all that a join waits for is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    /// The request of the host with this tag is done; nothing in the array follows from it.
    Host(u64),
    /// A phase of an operation on a stripe is over.
    Stripe {
        /// The operation.
        operation: u32,
        /// Its place among what ends at the same nanosecond (rule 55).
        order: u64,
    },
    /// An operation that the cache ordered has ended.
    Cache {
        /// What it was ordered for.
        token: Token,
        /// Its place among what ends at the same nanosecond (rule 85).
        order: u64,
    },
}

/// Something that follows in the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Followed<J> {
    /// All that a join waited for is done.
    Join(J),
    /// A moment that the cache asked for has come.
    Wake(CacheWake),
}

/// When something follows, and its place among what does at the same nanosecond, which nothing else has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at: TimeNs,
    order: u64,
    followed: Followed<u32>,
}

/// How pages are read or written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Access {
    pub now: TimeNs,
    pub write: bool,
    pub high_priority: bool,
    /// See [`Effects::moment_is_over`].
    pub moment_is_over: bool,
}

/// Page operations and parts of requests that are waited for together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Join {
    pub then: Then,
    remaining: u32,
    pub last_end: TimeNs,
    /// Members on which a page of it waited for garbage collection.
    pub gc_members: u128,
}

impl Join {
    /// Books an end; says whether it was the last.
    #[inline]
    pub fn book(&mut self, at: TimeNs, gc_members: u128) -> bool {
        self.remaining -= 1;
        self.last_end = self.last_end.max(at);
        self.gc_members |= gc_members;
        self.remaining == 0
    }
}

/// The members, their agenda and the joins.
#[derive(Debug, Clone)]
pub(super) struct Members {
    pub ssds: Vec<Ssd>,
    pub agenda: Agenda<Wake>,
    pub joins: Slab<Join>,
    /// What follows in the array. Since its order must not depend on when a member happens to know its ends, it is no event of the agenda.
    followed: BinaryHeap<Reverse<Due>>,
    ends: Vec<OpEnd>,
    pub cleans: Vec<GcInterval>,
    pub notices: Vec<Notice>,
    /// Ends of the page operations that the cache waits for, if they are recorded: what it waits for, the member, when.
    cache_ends: Option<Vec<(Token, u32, TimeNs)>>,
}

impl Members {
    pub fn new(ssds: Vec<Ssd>) -> Self {
        Self {
            ssds,
            agenda: Agenda::default(),
            joins: Slab::default(),
            followed: BinaryHeap::new(),
            ends: Vec::new(),
            cleans: Vec::new(),
            notices: Vec::new(),
            cache_ends: None,
        }
    }

    /// Lets a member act.
    #[inline]
    pub fn with(&mut self, member: u32, moment_is_over: bool, act: impl FnOnce(&mut Ssd, &mut Effects<Wake>)) {
        act(
            &mut self.ssds[member as usize],
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

    /// Reads or writes a page of a member; `join` waits for it.
    #[inline]
    pub fn submit(&mut self, access: &Access, member: u32, page: u32, join: u32) {
        let Access { now, write, high_priority, moment_is_over } = *access;
        let op = PageOp { page, write, high_priority: write && high_priority, join };
        self.with(member, moment_is_over, |ssd, fx| ssd.submit(now, op, fx));
    }

    /// Whether the end of an operation is known when a member takes it, and nobody asks for more than the last one.
    #[inline]
    pub fn are_eager(&self) -> bool {
        self.ssds[0].is_eager() && self.cache_ends.is_none()
    }

    /// A join that waits for nothing yet.
    #[inline]
    pub fn open_join(&mut self, then: Then) -> u32 {
        self.joins.insert(Join { then, remaining: 0, last_end: 0, gc_members: 0 })
    }

    /// Says how much a join waits for; before the next [`Members::settle`].
    #[inline]
    pub fn close_join(&mut self, join: u32, operations: u32) {
        debug_assert!(operations > 0, "it would never end");
        self.joins[join].remaining = operations;
    }

    /// Books the ends that the members have reported.
    #[inline]
    pub fn settle(&mut self) {
        if self.ends.is_empty() {
            return;
        }
        let mut ends = std::mem::take(&mut self.ends);
        for end in ends.drain(..) {
            if let Some(cache_ends) = &mut self.cache_ends
                && let Then::Cache { token, .. } = self.joins[end.join].then
            {
                cache_ends.push((token, end.member, end.at));
            }
            self.end(end.join, end.at, u128::from(end.met_gc) << end.member);
        }
        self.ends = ends;
    }

    /// Records what [`Members::take_cache_ends`] returns.
    pub fn record_ends(&mut self) {
        self.cache_ends = Some(Vec::new());
    }

    /// When a member was done with its part of what the cache waited for, if it is known; forgets it.
    pub fn take_cache_ends(&mut self, of: Token) -> Vec<(u32, TimeNs)> {
        let Some(ends) = &mut self.cache_ends else { return Vec::new() };
        let taken = ends.iter().filter(|(token, ..)| *token == of).map(|&(_, member, at)| (member, at)).collect();
        ends.retain(|(token, ..)| *token != of);
        taken
    }

    /// Something that `join` waits for ends at `at`.
    #[inline]
    pub fn end(&mut self, join: u32, at: TimeNs, gc_members: u128) {
        let entry = &mut self.joins[join];
        if entry.book(at, gc_members) {
            let Join { then, last_end, .. } = *entry;
            self.joined(join, then, last_end);
        }
    }

    /// All that `join` waits for ends by `at`.
    #[inline(always)]
    pub fn joined(&mut self, join: u32, then: Then, at: TimeNs) {
        match then {
            Then::Host(_) => self.agenda.schedule(at, Wake::Joined(join)),
            Then::Stripe { order, .. } | Then::Cache { order, .. } => {
                self.followed.push(Reverse(Due { at, order, followed: Followed::Join(join) }));
            }
        }
    }

    /// The cache is to be woken at `at`.
    #[inline]
    pub fn wake_cache(&mut self, at: TimeNs, order: u64, wake: CacheWake) {
        self.followed.push(Reverse(Due { at, order, followed: Followed::Wake(wake) }));
    }

    /// When something follows next.
    #[inline]
    pub fn next_followed(&self) -> Option<TimeNs> {
        self.followed.peek().map(|Reverse(due)| due.at)
    }

    /// Takes what follows next if it does by `until`.
    #[inline]
    pub fn pop_followed(&mut self, until: TimeNs) -> Option<Followed<Join>> {
        if self.next_followed()? > until {
            return None;
        }
        let Reverse(Due { followed, .. }) = self.followed.pop()?;
        Some(match followed {
            Followed::Join(join) => Followed::Join(self.joins.remove(join)),
            Followed::Wake(wake) => Followed::Wake(wake),
        })
    }
}
