//! The write cache as the array drives it: its commands become operations, and what ends becomes its events (rule 85).

use super::members::{Completion, Members};
use crate::TimeNs;
use crate::cache::{Cache, Destage, HostDone, Token};
use crate::events::DestageInterval;
use crate::placement::Layout;

/// The cache and what the array keeps for it.
#[derive(Debug, Clone)]
pub(super) struct Caching {
    pub cache: Cache,
    pub tie_breaks: TieBreaks,
    /// Destages, if they are recorded.
    pub record: Option<Record>,
}

/// What decides between a cache's events of one nanosecond: they happen as the cache asked for them, after the ends of phases.
#[derive(Debug, Clone)]
pub(super) struct TieBreaks {
    given: u64,
}

impl TieBreaks {
    /// The first one given: the tie-breaks of phases stay below it.
    const FIRST: u64 = 1 << 63;

    #[inline]
    pub fn next(&mut self) -> u64 {
        self.given += 1;
        self.given
    }
}

/// Destages as a timeline shows them.
#[derive(Debug, Clone, Default)]
pub(super) struct Record {
    under_way: Vec<(Destage, DestageInterval)>,
    pub done: Vec<DestageInterval>,
}

impl Caching {
    pub fn new(cache: Cache) -> Self {
        Self { cache, tie_breaks: TieBreaks { given: TieBreaks::FIRST }, record: None }
    }

    /// An operation has ended; says which host request is done with it.
    #[inline]
    pub fn ended(&mut self, now: TimeNs, token: Token, completion: &Completion, members: &mut Members) -> Option<HostDone> {
        if let Some(record) = &mut self.record {
            let ends = members.take_cache_ends(token);
            if let Token::Destage(destage) = token {
                record.end(now, destage, &ends);
            }
        }
        self.cache.took(token, completion.time);
        self.cache.done(now, token, completion.gc_members, completion.pages_lost)
    }
}

impl Record {
    /// An operation begins, with these members, pages and copies; recorded if it is a destage. `replacement` names the member that has the strip
    /// of a member in a stripe, if one does.
    pub fn begin(
        &mut self,
        now: TimeNs,
        token: Token,
        extents: impl Iterator<Item = (u32, u32, u32, u32)>,
        layout: &Layout,
        replacement: impl Fn(u32, u64) -> Option<u32>,
    ) {
        let Token::Destage(destage) = token else { return };
        for (first_member, first_page, pages, copies) in extents {
            let stripe = u64::from(first_page / layout.strip_pages());
            for member in (first_member..first_member + copies).filter_map(|member| replacement(member, stripe)) {
                match self.under_way.iter_mut().find(|(other, interval)| *other == destage && interval.member == member) {
                    Some((_, interval)) => interval.pages += pages,
                    None => {
                        let own_cache = destage.cache > 0;
                        let interval = DestageInterval { member, own_cache, stripe, pages, begun_ns: now, ended_ns: 0, done_ns: 0 };
                        self.under_way.push((destage, interval));
                    }
                }
            }
        }
    }

    fn end(&mut self, now: TimeNs, destage: Destage, ends: &[(u32, TimeNs)]) {
        for (of, interval) in &mut self.under_way {
            if *of == destage {
                let own = ends.iter().filter(|(member, _)| *member == interval.member).map(|&(_, at)| at).max();
                self.done.push(DestageInterval { ended_ns: own.unwrap_or(now), done_ns: now, ..*interval });
            }
        }
        self.under_way.retain(|(of, _)| *of != destage);
    }
}
