//! The write cache as the array drives it: its orders become operations, and what ends becomes its events (rule 85).

use super::members::{Members, Then};
use crate::TimeNs;
use crate::cache::{Cache, CacheWake, HostDone, Token};
use crate::slab::Slab;

/// In front of the order of a cache's events: they come after the ends of phases.
const AFTER_PHASES: u64 = 1 << 63;

/// Something that the cache waits for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Event {
    /// An operation that it has ordered.
    Done(Token),
    /// A moment that it has asked for.
    Wake(CacheWake),
}

/// The cache and what it waits for.
#[derive(Debug, Clone)]
pub(super) struct Caching {
    pub cache: Cache,
    events: Slab<Event>,
    /// Events that it has waited for.
    ordered: u64,
}

impl Caching {
    pub fn new(cache: Cache) -> Self {
        Self { cache, events: Slab::default(), ordered: 0 }
    }

    /// What is to follow when something that the cache orders now has ended.
    #[inline]
    pub fn then(&mut self, event: Event) -> Then {
        self.ordered += 1;
        Then::Cache { event: self.events.insert(event), order: AFTER_PHASES | self.ordered }
    }

    /// Calls the cache at a later moment, or at the end of this one.
    #[inline]
    pub fn wake_at(&mut self, at: TimeNs, wake: CacheWake, members: &mut Members) {
        let then = self.then(Event::Wake(wake));
        members.follow_at(at, then);
    }

    /// Something that the cache waited for has ended; says whether it was an operation, and which host request is done with it.
    #[inline]
    pub fn ended(&mut self, now: TimeNs, event: u32, gc_members: u128) -> (bool, Option<HostDone>) {
        match self.events.remove(event) {
            Event::Done(token) => (true, self.cache.done(now, token, gc_members)),
            Event::Wake(wake) => (false, self.cache.wake(now, wake)),
        }
    }
}
