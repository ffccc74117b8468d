//! What the caches of an array share: the memory, host requests under way, commands, counters.

use super::commands::{CacheWake, Commands};
use super::nvm::Nvm;
use super::stats::{CacheCounters, Occupancy};
use super::store::{Admission, Store};
use crate::TimeNs;
use crate::events::Slab;
use crate::events::TimeParts;
use crate::ids::MemberSet;
use crate::placement::{Layout, PageRequest};

/// Who brings a page (rule 72).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Writer {
    /// Different for each.
    pub id: u64,
    /// Continues an earlier write.
    pub sequential: bool,
    /// What it enters has to leave before a rebuild may begin.
    pub marked: bool,
    /// The host rather than the first level.
    pub is_host: bool,
}

/// A host request under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Host {
    pub tag: u64,
    /// The part of a mix that it belongs to.
    pub source: u8,
    /// When the memory is done with it, as far as known.
    pub end: TimeNs,
    /// Members on which a read that it waited for met collection.
    pub gc_members: MemberSet,
    /// Pages of it that too many failures have taken.
    pub pages_lost: u32,
    /// When it arrived.
    pub arrival_ns: TimeNs,
    /// Where the time of the read of the array went that it waited for.
    pub read_time: TimeParts,
    /// Sub-requests that are not done.
    pub sub_requests: u32,
    /// When its first page had to wait for room; `TimeNs::MAX` if none had.
    pub waits_since: TimeNs,
}

impl Host {
    /// A request that arrives now and with which the memory is done at `end`.
    pub fn new(now: TimeNs, request: &PageRequest, end: TimeNs) -> Self {
        let (tag, source, read_time) = (request.tag, request.stream, TimeParts::default());
        Self {
            tag,
            source,
            end,
            gc_members: MemberSet::NONE,
            pages_lost: 0,
            arrival_ns: now,
            read_time,
            sub_requests: 0,
            waits_since: TimeNs::MAX,
        }
    }
}

/// Consecutive pages of a request in one strip.
#[derive(Debug, Clone, Copy)]
pub(super) struct Strip {
    pub stripe: u64,
    pub column: u32,
    /// First page within the strip.
    pub row: u32,
    pub pages: u32,
}

/// What the caches of an array share.
#[derive(Debug, Clone)]
pub(super) struct Common {
    pub layout: Layout,
    pub nvm: Nvm,
    pub hosts: Slab<Host>,
    pub commands: Commands,
    pub counters: CacheCounters,
    pub occupancy: Occupancy,
    writers: u64,
}

impl Common {
    pub fn new(layout: Layout, nvm: Nvm) -> Self {
        Self {
            layout,
            nvm,
            hosts: Slab::default(),
            commands: Commands::default(),
            counters: CacheCounters::default(),
            occupancy: Occupancy::default(),
            writers: 0,
        }
    }

    pub fn writer(&mut self, sequential: bool, marked: bool, is_host: bool) -> Writer {
        self.writers += 1;
        Writer { id: self.writers, sequential, marked, is_host }
    }

    /// The strips of a request, in order of address.
    #[inline]
    pub fn strips(layout: Layout, request: &PageRequest) -> impl Iterator<Item = Strip> + use<> {
        layout.extents(request).map(move |extent| {
            let stripe = u64::from(extent.first_page / layout.strip_pages());
            let column = layout.role(stripe, extent.first_member);
            Strip { stripe, column, row: extent.first_page % layout.strip_pages(), pages: extent.pages }
        })
    }

    /// Admits a page if it needs no room or there is some; returns when the memory has written it.
    #[inline]
    pub fn admit(
        &mut self,
        now: TimeNs,
        store: &mut Store,
        number: u64,
        offset: u32,
        writer: &Writer,
        is_host_data: bool,
    ) -> Option<TimeNs> {
        let admission = store.admit(number, offset, writer)?;
        if is_host_data { &mut self.counters.host } else { &mut self.counters.inner }.count(admission);
        if admission != Admission::PageHit {
            self.occupancy.add(now, 1, &mut self.counters);
        }
        Some(self.nvm.write_page(now))
    }

    /// A trim has dropped pages from a cache.
    pub fn drop_trimmed(&mut self, now: TimeNs, pages: u32) {
        self.counters.pages_trimmed += u64::from(pages);
        self.occupancy.remove(now, pages, &mut self.counters);
    }

    /// A page of a host write has to wait for room.
    #[inline]
    pub fn waits(&mut self, now: TimeNs, host: u32) {
        let host = &mut self.hosts[host];
        host.waits_since = host.waits_since.min(now);
    }

    /// All pages of a host write are admitted.
    #[inline]
    pub fn host_is_in(&mut self, now: TimeNs, host: u32) {
        let Host { waits_since, end, .. } = self.hosts[host];
        if waits_since < TimeNs::MAX {
            self.counters.waits += 1;
            self.counters.waited_ns += now - waits_since;
        }
        self.commands.wake(end.max(now), CacheWake::Host(host));
    }
}
