//! State that all caches of an array share: the memory, outstanding host requests, commands and counters.

use super::commands::{CacheWake, Commands};
use super::nvm::Nvm;
use super::stats::{CacheCounters, Occupancy};
use super::store::{Admission, Store};
use crate::TimeNs;
use crate::events::OperationTimeParts;
use crate::events::Slab;
use crate::ids::MemberSet;
use crate::placement::{ArrayLayout, RequestInPages};

/// Source of a page that enters a cache (rule 72).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Writer {
    /// Number that identifies this source.
    pub(crate) id: u64,
    /// True if the write continues an earlier one (a sequential stream).
    pub(crate) sequential: bool,
    /// True if the entries that it makes must be destaged before rebuilding may begin.
    pub(crate) marked: bool,
    /// True for a host write, and false for a destage of the first level.
    pub(crate) is_host: bool,
}

/// A host request in progress.
#[derive(Debug, Clone, Copy)]
pub(super) struct Host {
    pub(crate) tag: u64,
    /// Number of the stream in a mix of workloads.
    pub(crate) source: u8,
    /// Time at which the cache memory has finished its part of the request, as far as it is known.
    pub(crate) end: TimeNs,
    /// Members on which its reads from the array waited for garbage collection.
    pub(crate) gc_members: MemberSet,
    /// Number of its pages that were lost because too many members failed.
    pub(crate) pages_lost: u32,
    /// Arrival time of the request.
    pub(crate) arrival_ns: TimeNs,
    /// Division of the time of its read from the array into causes.
    pub(crate) read_time: OperationTimeParts,
    /// Number of its sub-requests that are not done.
    pub(crate) sub_requests: u32,
    /// Time at which its first page had to wait for room; `TimeNs::MAX` if no page had to wait.
    pub(crate) waits_since: TimeNs,
}

impl Host {
    /// Returns a request that arrives now and that the memory finishes at `end`.
    pub(super) fn new(now: TimeNs, request: &RequestInPages, end: TimeNs) -> Self {
        let (tag, source, read_time) = (request.tag, request.stream, OperationTimeParts::default());
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
    pub(crate) stripe: u64,
    pub(crate) column: u32,
    /// Number of the first page within the strip.
    pub(crate) row: u32,
    pub(crate) pages: u32,
}

/// State that all caches of an array share.
#[derive(Debug, Clone)]
pub(super) struct Common {
    pub(crate) layout: ArrayLayout,
    pub(crate) nvm: Nvm,
    pub(crate) hosts: Slab<Host>,
    pub(crate) commands: Commands,
    pub(crate) counters: CacheCounters,
    pub(crate) occupancy: Occupancy,
    writers: u64,
}

impl Common {
    pub(super) fn new(layout: ArrayLayout, nvm: Nvm) -> Self {
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

    /// Returns a new source of pages for a write of the host, which continues an earlier one if it is `sequential`.
    pub(super) fn host_writer(&mut self, sequential: bool) -> Writer {
        self.writers += 1;
        Writer { id: self.writers, sequential, marked: false, is_host: true }
    }

    /// Returns a new source of pages for a destage of the first level. Entries that are `marked` must be destaged before rebuilding may
    /// begin.
    pub(super) fn first_level_writer(&mut self, marked: bool) -> Writer {
        self.writers += 1;
        Writer { id: self.writers, sequential: false, marked, is_host: false }
    }

    /// Returns the strips of a request, in order of address.
    #[inline]
    pub(super) fn strips(layout: ArrayLayout, request: &RequestInPages) -> impl Iterator<Item = Strip> + use<> {
        layout.extents(request).map(move |extent| {
            let stripe = layout.stripe_of_member_page(extent.first_page);
            let column = layout.strip_index_of_member(stripe, extent.first_member);
            Strip { stripe, column, row: (extent.first_page % u64::from(layout.strip_pages())) as u32, pages: extent.pages }
        })
    }

    /// Admits a page if it replaces an older version or if there is room. Returns the time at which the memory has written it.
    #[inline]
    pub(super) fn admit(
        &mut self,
        now: TimeNs,
        store: &mut Store,
        number: u64,
        offset: u32,
        writer: &Writer,
        is_host_data: bool,
    ) -> Option<TimeNs> {
        let admission = store.admit(number, offset, writer)?;
        if is_host_data { &mut self.counters.host_admissions } else { &mut self.counters.member_cache_admissions }.count(admission);
        if admission != Admission::PageHit {
            self.occupancy.add(now, 1, &mut self.counters);
        }
        Some(self.nvm.write_page(now))
    }

    /// Counts pages that a trim has removed from a cache.
    pub(crate) fn drop_trimmed(&mut self, now: TimeNs, pages: u32) {
        self.counters.pages_trimmed += u64::from(pages);
        self.occupancy.remove(now, pages, &mut self.counters);
    }

    /// Records that a page of a host write has to wait for room.
    #[inline]
    pub(super) fn waits(&mut self, now: TimeNs, host: u32) {
        let host = &mut self.hosts[host];
        host.waits_since = host.waits_since.min(now);
    }

    /// Records that all pages of a host write are admitted, which ends its wait.
    #[inline]
    pub(crate) fn host_write_is_admitted(&mut self, now: TimeNs, host: u32) {
        let Host { waits_since, end, .. } = self.hosts[host];
        if waits_since < TimeNs::MAX {
            self.counters.writes_that_waited_for_room += 1;
            self.counters.writes_waiting_for_room_ns += u128::from(now - waits_since);
        }
        self.commands.push_wake(end.max(now), CacheWake::HostRequestFinished(host));
    }
}
