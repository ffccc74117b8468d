//! One cache for the whole array, whose entries are the dirty pages of a stripe. It serves `wow`, `stow`, and the first level of
//! `lawc` (rules 76 and 83).

use super::commands::Destage;
use super::common::{Common, Writer};
use super::pages::PageBag;
use super::store::Store;
use crate::TimeNs;
use crate::placement::RequestInPages;
use std::collections::VecDeque;

/// A host write that waits for room.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    host: u32,
    writer: Writer,
    request: RequestInPages,
    /// Number of its pages that have been admitted.
    admitted: u32,
}

/// A cache of write groups, and the host writes that wait for room in it.
#[derive(Debug, Clone)]
pub(super) struct GroupCache {
    pub(crate) store: Store,
    queue: VecDeque<Waiting>,
    /// Pages of the array that wait for room.
    waiting: PageBag,
}

impl GroupCache {
    pub(super) fn new(store: Store) -> Self {
        Self { store, queue: VecDeque::new(), waiting: PageBag::default() }
    }

    /// Returns true if host writes wait for room in the cache.
    #[inline]
    pub(crate) fn has_waiting_writes(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Returns true if the cache holds the page, or if the page waits to enter it.
    #[inline]
    pub(super) fn has(&self, common: &Common, stripe: u64, column: u32, row: u32) -> bool {
        let strip_pages = common.layout.strip_pages();
        self.store.holds(stripe, column * strip_pages + row)
            || (!self.waiting.is_empty() && self.waiting.contains(common.layout.array_page(stripe, column, row)))
    }

    /// Admits a host write, or as much of it as there is room for.
    pub(super) fn write(&mut self, now: TimeNs, common: &mut Common, host: u32, writer: Writer, request: &RequestInPages) {
        let admitted = if self.queue.is_empty() { self.admit(now, common, host, &writer, request, 0) } else { 0 };
        if admitted == request.pages {
            common.host_write_is_admitted(now, host);
            return;
        }
        common.waits(now, host);
        self.queue.push_back(Waiting { host, writer, request: *request, admitted });
        for_each_page(common, request, admitted, |page| self.waiting.add(page));
    }

    /// Admits waiting pages while there is room.
    pub(super) fn admit_waiting(&mut self, now: TimeNs, common: &mut Common) {
        while let Some(&Waiting { host, writer, request, admitted: before }) = self.queue.front() {
            let admitted = self.admit(now, common, host, &writer, &request, before);
            for_each_page_between(common, &request, before, admitted, |page| self.waiting.remove(page));
            if admitted < request.pages {
                self.queue[0].admitted = admitted;
                return;
            }
            self.queue.pop_front();
            common.host_write_is_admitted(now, host);
        }
    }

    /// Admits the pages of a write from index `from` on, while there is room. Returns how many of its pages have been admitted in all.
    #[inline]
    fn admit(&mut self, now: TimeNs, common: &mut Common, host: u32, writer: &Writer, request: &RequestInPages, from: u32) -> u32 {
        let strip_pages = common.layout.strip_pages();
        let mut passed = 0;
        for strip in Common::strips(common.layout, request) {
            let skip = from.saturating_sub(passed).min(strip.pages);
            for page in skip..strip.pages {
                let offset = strip.column * strip_pages + strip.row + page;
                let Some(end) = common.admit(now, &mut self.store, strip.stripe, offset, writer, true) else { return passed + page };
                common.hosts[host].end = end;
            }
            passed += strip.pages;
        }
        passed
    }

    /// Removes the pages that a trim covers, and admits waiting pages into their room.
    pub(super) fn trim(&mut self, now: TimeNs, common: &mut Common, request: &RequestInPages) {
        let strip_pages = common.layout.strip_pages();
        let mut dropped = 0;
        for strip in Common::strips(common.layout, request) {
            for row in strip.row..strip.row + strip.pages {
                dropped += u32::from(self.store.forget(strip.stripe, strip.column * strip_pages + row).0);
            }
        }
        if dropped > 0 {
            common.drop_trimmed(now, dropped);
            self.admit_waiting(now, common);
        }
    }

    /// Begins a destage if there is a free slot and something to destage. Returns the destage, its pages, and the time at which the memory
    /// has read them.
    #[inline]
    pub(super) fn begin_destage(&mut self, now: TimeNs, common: &mut Common, flushing: bool) -> Option<(Destage, u32, TimeNs)> {
        let slot = self.store.free_slot(now, flushing || self.has_waiting_writes())?;
        let entry = self.store.candidate(flushing)?;
        let pages = self.store.begin(now, slot, entry);
        Some((Destage { cache: 0, slot }, pages, common.nvm.read(now, pages)))
    }

    /// Returns the time at which a destage slot will have paused long enough. Slots pause to limit the rate of destaging.
    pub(crate) fn next_slot_ready(&self, now: TimeNs, flushing: bool) -> Option<TimeNs> {
        self.store.next_slot_ready(now, flushing || self.has_waiting_writes())
    }

    /// Ends a destage and admits waiting pages.
    pub(super) fn finish(&mut self, now: TimeNs, common: &mut Common, slot: u16) {
        let pages = self.store.finish(now, slot);
        common.occupancy.remove(now, pages, &mut common.counters);
        self.admit_waiting(now, common);
    }
}

/// Calls `act` with each page of a request from index `from` on.
fn for_each_page(common: &Common, request: &RequestInPages, from: u32, act: impl FnMut(u64)) {
    for_each_page_between(common, request, from, request.pages, act);
}

fn for_each_page_between(common: &Common, request: &RequestInPages, from: u32, to: u32, mut act: impl FnMut(u64)) {
    let mut index = 0;
    for strip in Common::strips(common.layout, request) {
        for row in strip.row..strip.row + strip.pages {
            if (from..to).contains(&index) {
                act(common.layout.array_page(strip.stripe, strip.column, row));
            }
            index += 1;
        }
    }
}
