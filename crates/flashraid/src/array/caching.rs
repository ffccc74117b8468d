//! The write cache as the array drives it: its orders become operations, and what ends becomes its events (rule 85).

use super::members::{Members, Then};
use crate::TimeNs;
use crate::cache::{Cache, CacheWake, Destage, HostDone, Token};
use crate::layout::Layout;
use crate::metrics::DestageInterval;
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
    /// Destages, if they are recorded.
    pub record: Option<Record>,
}

/// Destages as a timeline shows them.
#[derive(Debug, Clone, Default)]
pub(super) struct Record {
    under_way: Vec<(Destage, DestageInterval)>,
    pub done: Vec<DestageInterval>,
}

impl Caching {
    pub fn new(cache: Cache) -> Self {
        Self { cache, events: Slab::default(), ordered: 0, record: None }
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
    pub fn ended(&mut self, now: TimeNs, event: u32, gc_members: u128, members: &mut Members) -> (bool, Option<HostDone>) {
        match self.events.remove(event) {
            Event::Done(token) => {
                if let Some(record) = &mut self.record {
                    let ends = members.take_cache_ends(event);
                    if let Token::Destage(destage) = token {
                        record.end(now, destage, &ends);
                    }
                }
                (true, self.cache.done(now, token, gc_members))
            }
            Event::Wake(wake) => (false, self.cache.wake(now, wake)),
        }
    }

    /// An operation begins, with these members, pages and copies; recorded if it is a destage and destages are.
    #[inline]
    pub fn begins(&mut self, now: TimeNs, token: Token, runs: impl Iterator<Item = (u32, u32, u32, u32)>, layout: &Layout) {
        let (Some(record), Token::Destage(destage)) = (&mut self.record, token) else { return };
        for (first_member, first_page, pages, copies) in runs {
            let stripe = u64::from(first_page / layout.unit_pages());
            for member in first_member..first_member + copies {
                match record.under_way.iter_mut().find(|(other, part)| *other == destage && part.member == member) {
                    Some((_, part)) => part.pages += pages,
                    None => {
                        let own_cache = destage.cache > 0;
                        let part = DestageInterval { member, own_cache, stripe, pages, begun_ns: now, ended_ns: 0, done_ns: 0 };
                        record.under_way.push((destage, part));
                    }
                }
            }
        }
    }
}

impl Record {
    fn end(&mut self, now: TimeNs, destage: Destage, ends: &[(u32, TimeNs)]) {
        for (of, part) in &mut self.under_way {
            if *of == destage {
                let own = ends.iter().filter(|(member, _)| *member == part.member).map(|&(_, at)| at).max();
                self.done.push(DestageInterval { ended_ns: own.unwrap_or(now), done_ns: now, ..*part });
            }
        }
        self.under_way.retain(|(of, _)| *of != destage);
    }
}
