//! A cache for each member, whose entries are the dirty pages of a strip. It serves `iwc`, `iwc-sync`, and the lower level of
//! `lawc` (rules 77 and 82 to 84).

use super::commands::Destage;
use super::common::{Common, Writer};
use super::pages::PageBag;
use super::store::Store;
use super::sub_requests::{Owner, SubRequests};
use super::sync::SyncedDestaging;
use crate::TimeNs;
use crate::ids::MemberSet;
use crate::placement::{LostStrips, RequestInPages, StripRoles};
use std::collections::VecDeque;

/// Consecutive pages of a sub-request that wait for room in a member cache.
#[derive(Debug, Clone, Copy)]
struct Piece {
    sub_request: u32,
    stripe: u64,
    row: u32,
    pages: u32,
}

/// The caches of all members, and the writes on their way into them.
#[derive(Debug, Clone)]
pub(super) struct MemberCaches {
    pub(crate) stores: Vec<Store>,
    queues: Vec<VecDeque<Piece>>,
    pub(crate) sub_requests: SubRequests,
    /// Pages of members that wait for room in one of the queues.
    waiting: PageBag,
    /// Pages of host writes that will enter later: their sub-request waits for its turn at a stripe, or for reads that its parity needs.
    pub(crate) announced: PageBag,
    /// State of synchronised destaging; `None` if the policy destages each cache by itself.
    pub(crate) sync: Option<SyncedDestaging>,
    pub(crate) lost: LostStrips,
    /// Caches that have changed since their last scan, one bit for each member.
    touched: u128,
    rows: Vec<u32>,
}

impl MemberCaches {
    pub(super) fn new(stores: Vec<Store>, sync: Option<SyncedDestaging>, stripes: u64) -> Self {
        Self {
            queues: vec![VecDeque::new(); stores.len()],
            stores,
            sub_requests: SubRequests::default(),
            waiting: PageBag::default(),
            announced: PageBag::default(),
            sync,
            lost: LostStrips::none(stripes),
            touched: 0,
            rows: Vec::new(),
        }
    }

    /// Returns the roles of the strips of `stripe` of which no copy is left.
    #[inline]
    pub(crate) fn lost_of(&self, common: &Common, stripe: u64) -> StripRoles {
        if self.lost.is_empty() { StripRoles::default() } else { self.lost.wholly_lost(&common.layout, stripe) }
    }

    #[inline]
    fn key(common: &Common, member: u32, stripe: u64, row: u32) -> u64 {
        u64::from(member) << 48 | (common.layout.stripe_first_page_on_member(stripe) + u64::from(row))
    }

    /// Returns true if a member cache holds the page, or if the page waits to enter it.
    #[inline]
    pub(crate) fn holds_or_expects(&self, common: &Common, member: u32, stripe: u64, row: u32) -> bool {
        self.stores[member as usize].holds(stripe, row)
            || (!self.waiting.is_empty() && self.waiting.contains(Self::key(common, member, stripe, row)))
    }

    /// Returns true if a member cache holds a data page of the array, or if the page is on its way there.
    #[inline]
    pub(super) fn has(&self, common: &Common, stripe: u64, column: u32, row: u32) -> bool {
        let first = common.layout.member_of_strip(stripe, column);
        let copies = common.layout.copies_of_each_page();
        (first..first + copies).any(|member| self.holds_or_expects(common, member, stripe, row))
            || (!self.announced.is_empty() && self.announced.contains(common.layout.array_page(stripe, column, row)))
    }

    /// Splits a host write into one sub-request for each stripe, and starts them.
    pub(super) fn write(&mut self, now: TimeNs, common: &mut Common, host: u32, writer: Writer, request: &RequestInPages) {
        let strip_pages = common.layout.strip_pages();
        // The count starts at one more until all have started, so that the write does not end before.
        common.hosts[host].sub_requests = 1;
        let mut current: Option<u32> = None;
        for strip in Common::strips(common.layout, request) {
            let sub_request = match current.filter(|&sub_request| self.sub_requests[sub_request].stripe == strip.stripe) {
                Some(sub_request) => sub_request,
                None => {
                    if let Some(complete) = current {
                        self.start(now, common, complete);
                    }
                    common.hosts[host].sub_requests += 1;
                    self.sub_requests.insert(Owner::Host(host), writer, strip.stripe)
                }
            };
            let first = strip.column * strip_pages + strip.row;
            self.sub_requests[sub_request].offsets.extend(first..first + strip.pages);
            current = Some(sub_request);
        }
        if let Some(complete) = current {
            self.start(now, common, complete);
        }
        self.host_sub_request_done(now, common, host);
    }

    /// Starts a sub-request for pages that the first level writes into the member caches.
    pub(crate) fn write_from_first_level(
        &mut self,
        now: TimeNs,
        common: &mut Common,
        slot: u16,
        stripe: u64,
        offsets: &[u32],
        marked: bool,
    ) {
        let writer = common.first_level_writer(marked);
        let sub_request = self.sub_requests.insert(Owner::WriteGroupCacheDestage(slot), writer, stripe);
        self.sub_requests[sub_request].offsets.extend_from_slice(offsets);
        self.start(now, common, sub_request);
    }

    fn start(&mut self, now: TimeNs, common: &mut Common, sub_request: u32) {
        if common.layout.stripe_shape().parity_strips == 0 {
            self.enter(now, common, sub_request);
        } else if self.sub_requests.ask_for_turn(sub_request) {
            self.take_turns(now, common, sub_request);
        } else {
            self.announce(common, sub_request);
        }
    }

    /// Lets a sub-request proceed whose turn at its stripe has come. The next ones follow until one of them has to read.
    fn take_turns(&mut self, now: TimeNs, common: &mut Common, sub_request: u32) {
        let mut next = Some(sub_request);
        while let Some(sub_request) = next {
            let mut rows = std::mem::take(&mut self.rows);
            let reads = self.read_missing(common, sub_request, &mut rows);
            self.rows = rows;
            if reads {
                self.announce(common, sub_request);
                return;
            }
            next = self.enter_and_end_turn(now, common, sub_request);
        }
    }

    /// Continues a sub-request after the reads for its parity are done.
    pub(crate) fn reads_are_done(&mut self, now: TimeNs, common: &mut Common, sub_request: u32, gc_members: MemberSet) {
        if let Owner::Host(host) = self.sub_requests[sub_request].owner {
            common.hosts[host].gc_members |= gc_members;
        }
        if let Some(next) = self.enter_and_end_turn(now, common, sub_request) {
            self.take_turns(now, common, next);
        }
    }

    fn enter_and_end_turn(&mut self, now: TimeNs, common: &mut Common, sub_request: u32) -> Option<u32> {
        // The sub-request may be removed when it has entered, so its turn ends first. Nothing can happen in between.
        let next = self.sub_requests.end_turn(sub_request);
        self.enter(now, common, sub_request);
        next
    }

    /// Makes the pages of a host write known to reads until they enter a cache.
    fn announce(&mut self, common: &Common, sub_request: u32) {
        let sub_request = &mut self.sub_requests[sub_request];
        if matches!(sub_request.owner, Owner::Host(_)) && !std::mem::replace(&mut sub_request.announced, true) {
            let strip_pages = common.layout.strip_pages();
            sub_request.offsets.iter().for_each(|offset| {
                self.announced.add(common.layout.array_page(sub_request.stripe, offset / strip_pages, offset % strip_pages))
            });
        }
    }

    /// Writes the pages of a sub-request into the member caches, data before parity. Pages without room wait.
    fn enter(&mut self, now: TimeNs, common: &mut Common, number: u32) {
        let strip_pages = common.layout.strip_pages();
        let sub_request = &mut self.sub_requests[number];
        let (stripe, announced) = (sub_request.stripe, sub_request.announced);
        let is_host = matches!(sub_request.owner, Owner::Host(_));
        sub_request.end = now;
        let offsets = std::mem::take(&mut sub_request.offsets);
        let copies = common.layout.copies_of_each_page();
        let lost = self.lost_of(common, stripe);
        let is_dead = lost.exceeds_parity(common.layout.stripe_shape());
        for &offset in &offsets {
            let (column, row) = (offset / strip_pages, offset % strip_pages);
            if announced {
                self.announced.remove(common.layout.array_page(stripe, column, row));
            }
            if is_dead && lost.has(column) {
                common.counters.pages_lost += 1;
                if let Owner::Host(host) = self.sub_requests[number].owner {
                    common.hosts[host].pages_lost += 1;
                }
            }
            let first = common.layout.member_of_strip(stripe, column);
            for member in first..first + copies {
                self.enter_page(now, common, number, member, row, is_host);
            }
        }
        if common.layout.stripe_shape().parity_strips > 0 && !is_dead {
            let mut rows = std::mem::take(&mut self.rows);
            rows_of(&offsets, strip_pages, &mut rows);
            for member in common.layout.parity_members(stripe) {
                for &row in &rows {
                    self.enter_page(now, common, number, member, row, false);
                }
            }
            self.rows = rows;
        }
        self.sub_requests[number].offsets = offsets;
        if self.sub_requests[number].waiting == 0 {
            self.sub_request_done(now, common, number);
        }
    }

    #[inline]
    fn enter_page(&mut self, now: TimeNs, common: &mut Common, number: u32, member: u32, row: u32, is_host_data: bool) {
        let sub_request = &mut self.sub_requests[number];
        let stripe = sub_request.stripe;
        if self.lost.has(member, stripe) {
            return;
        }
        self.touched |= 1 << member;
        let queue = &mut self.queues[member as usize];
        if queue.is_empty()
            && let Some(end) = common.admit(now, &mut self.stores[member as usize], stripe, row, &sub_request.writer, is_host_data)
        {
            sub_request.end = end;
            return;
        }
        sub_request.waiting += 1;
        if let Owner::Host(host) = sub_request.owner {
            common.waits(now, host);
        }
        match queue.back_mut() {
            Some(piece) if piece.sub_request == number && piece.row + piece.pages == row => piece.pages += 1,
            _ => queue.push_back(Piece { sub_request: number, stripe, row, pages: 1 }),
        }
        self.waiting.add(Self::key(common, member, stripe, row));
    }

    /// Admits waiting pages into a member cache while there is room.
    fn admit_waiting(&mut self, now: TimeNs, common: &mut Common, member: u32) {
        while let Some(&Piece { sub_request: number, stripe, row, .. }) = self.queues[member as usize].front() {
            let sub_request = &self.sub_requests[number];
            let role = common.layout.strip_index_of_member(stripe, member);
            let is_host_data = matches!(sub_request.owner, Owner::Host(_)) && role < common.layout.data_strips_per_stripe();
            let Some(end) = common.admit(now, &mut self.stores[member as usize], stripe, row, &sub_request.writer, is_host_data) else {
                return;
            };
            self.first_page_is_admitted(now, common, member, end);
        }
    }

    /// Removes the first page from the queue of a member cache, because it has been admitted.
    fn first_page_is_admitted(&mut self, now: TimeNs, common: &mut Common, member: u32, end: TimeNs) {
        let queue = &mut self.queues[member as usize];
        let Some(piece) = queue.front_mut() else { return };
        let Piece { sub_request: number, stripe, row, .. } = *piece;
        piece.row += 1;
        piece.pages -= 1;
        if piece.pages == 0 {
            queue.pop_front();
        }
        self.waiting.remove(Self::key(common, member, stripe, row));
        let sub_request = &mut self.sub_requests[number];
        sub_request.end = sub_request.end.max(end);
        sub_request.waiting -= 1;
        if sub_request.waiting == 0 {
            self.sub_request_done(now, common, number);
        }
    }

    /// Ends a sub-request, because all its pages are admitted.
    fn sub_request_done(&mut self, now: TimeNs, common: &mut Common, number: u32) {
        let sub_request = &self.sub_requests[number];
        let end = sub_request.end.max(now);
        match sub_request.owner {
            Owner::Host(host) => {
                let end = end.max(common.hosts[host].end);
                common.hosts[host].end = end;
                self.host_sub_request_done(now, common, host);
            }
            Owner::WriteGroupCacheDestage(slot) => {
                common.commands.push_wake(end, super::CacheWake::FirstLevelDestageWritten(Destage { cache: 0, slot }))
            }
        }
        self.sub_requests.remove(number);
    }

    fn host_sub_request_done(&mut self, now: TimeNs, common: &mut Common, host: u32) {
        common.hosts[host].sub_requests -= 1;
        if common.hosts[host].sub_requests == 0 {
            common.host_write_is_admitted(now, host);
        }
    }

    /// Drops the pages of a trim and admits pages that wait for their room. With parity, only whole stripes are dropped, together with
    /// their parity.
    pub(super) fn trim(&mut self, now: TimeNs, common: &mut Common, request: &RequestInPages) {
        let layout = common.layout;
        let (strip_pages, shape) = (layout.strip_pages(), layout.stripe_shape());
        let mut dropped = vec![0; self.stores.len()];
        let (mut stripe, mut covered) = (u64::MAX, 0);
        for strip in Common::strips(layout, request) {
            if shape.parity_strips == 0 {
                let first = layout.member_of_strip(strip.stripe, strip.column);
                for member in first..first + layout.copies_of_each_page() {
                    dropped[member as usize] += self.forget(member, strip.stripe, strip.row..strip.row + strip.pages);
                }
                continue;
            }
            covered = if strip.stripe == stripe { covered + strip.pages } else { strip.pages };
            stripe = strip.stripe;
            if covered == shape.data_strips * strip_pages {
                for member in 0..shape.strips_per_stripe() {
                    dropped[member as usize] += self.forget(member, stripe, 0..strip_pages);
                }
            }
        }
        for (member, &pages) in dropped.iter().enumerate().filter(|&(_, &pages)| pages > 0) {
            common.drop_trimmed(now, pages);
            self.admit_waiting(now, common, member as u32);
            self.touched |= 1 << member;
        }
    }

    /// Removes pages from a member cache and returns their number.
    fn forget(&mut self, member: u32, stripe: u64, rows: std::ops::Range<u32>) -> u32 {
        let mut dropped = 0;
        for row in rows {
            let (was_there, gone) = self.stores[member as usize].forget(stripe, row);
            dropped += u32::from(was_there);
            if let (Some(entry), Some(sync)) = (gone, &mut self.sync) {
                sync.entry_removed(member, entry);
            }
        }
        dropped
    }

    /// Ends a destage of a member cache.
    pub(super) fn finish(&mut self, now: TimeNs, common: &mut Common, member: u32, slot: u16) {
        let pages = self.stores[member as usize].finish(now, slot);
        common.occupancy.remove(now, pages, &mut common.counters);
        self.admit_waiting(now, common, member);
        self.touched |= 1 << member;
    }

    /// Returns true if no cache has changed since its last scan.
    #[inline]
    pub(crate) fn is_untouched(&self) -> bool {
        self.touched == 0
    }

    /// Marks all caches for the next scan.
    pub(crate) fn touch_all(&mut self) {
        self.touched = u128::MAX >> (128 - self.stores.len());
    }

    /// Scans the caches that have changed for entries to destage. It calls `begin` for each destage, with the time at which the memory has
    /// read its pages.
    pub(crate) fn scan(
        &mut self,
        now: TimeNs,
        common: &mut Common,
        flushing: bool,
        begin: &mut impl FnMut(&mut Common, &Store, Destage, TimeNs),
    ) {
        while self.touched != 0 {
            let mut touched = std::mem::take(&mut self.touched);
            while touched != 0 {
                let member = touched.trailing_zeros();
                touched &= touched - 1;
                self.scan_one(now, common, member, flushing, begin);
            }
            let Some(sync) = &mut self.sync else { return };
            if flushing || !sync.all_ready(self.lost.members()) {
                sync.start_timer(now);
                return;
            }
            common.counters.synchronised_destages_with_all_ready += 1;
            self.destage_together(now, common, begin);
        }
    }

    #[inline]
    fn scan_one(
        &mut self,
        now: TimeNs,
        common: &mut Common,
        member: u32,
        flushing: bool,
        begin: &mut impl FnMut(&mut Common, &Store, Destage, TimeNs),
    ) {
        let full = flushing || !self.queues[member as usize].is_empty();
        let store = &mut self.stores[member as usize];
        match &mut self.sync {
            Some(sync) if !flushing => {
                if !sync.is_ready(member)
                    && let Some(slot) = store.free_slot(now, full)
                    && let Some(entry) = store.candidate(false)
                {
                    sync.set_ready(member, slot, entry);
                }
            }
            _ => {
                while let Some(slot) = store.free_slot(now, full)
                    && let Some(entry) = store.candidate(flushing)
                {
                    begin_destage(now, common, store, member, slot, entry, begin);
                }
            }
        }
    }

    /// Begins the destages of all member caches that are ready.
    fn destage_together(&mut self, now: TimeNs, common: &mut Common, begin: &mut impl FnMut(&mut Common, &Store, Destage, TimeNs)) {
        let Some(sync) = &mut self.sync else { return };
        sync.take_ready(|member, slot, entry| {
            common.counters.member_caches_in_synchronised_destages += 1;
            // The cache may have more to destage. The state of the other caches has not changed.
            self.touched |= 1 << member;
            begin_destage(now, common, &mut self.stores[member as usize], member, slot, entry, begin);
        });
    }

    /// Begins the destages of the caches that are ready, because the timer has ended.
    pub(crate) fn destage_after_timeout(
        &mut self,
        now: TimeNs,
        common: &mut Common,
        begin: &mut impl FnMut(&mut Common, &Store, Destage, TimeNs),
    ) {
        common.counters.synchronised_destages_by_timeout += 1;
        self.destage_together(now, common, begin);
    }

    /// Returns the time at which a destage slot will have paused long enough. Slots pause to limit the rate of destaging.
    pub(crate) fn next_slot_ready(&self, now: TimeNs, flushing: bool) -> Option<TimeNs> {
        let of = |(member, store): (usize, &Store)| {
            if !flushing && self.sync.as_ref().is_some_and(|sync| sync.is_ready(member as u32)) {
                return None;
            }
            store.next_slot_ready(now, flushing || !self.queues[member].is_empty())
        };
        self.stores.iter().enumerate().filter_map(of).min()
    }

    /// Drops the contents of a failed member's cache. Pages that waited to enter it wait no longer.
    pub(crate) fn member_failed(&mut self, now: TimeNs, common: &mut Common, member: u32) {
        self.lost.add_failed_member(member);
        let dropped = self.stores[member as usize].drop_all();
        common.occupancy.remove(now, dropped, &mut common.counters);
        while !self.queues[member as usize].is_empty() {
            self.first_page_is_admitted(now, common, member, now);
        }
        self.stores.iter_mut().for_each(Store::mark_all);
        self.sub_requests.mark_first_level();
        if let Some(sync) = &mut self.sync {
            sync.clear();
        }
        self.touch_all();
    }
}

#[inline]
fn begin_destage(
    now: TimeNs,
    common: &mut Common,
    store: &mut Store,
    member: u32,
    slot: u16,
    entry: u32,
    begin: &mut impl FnMut(&mut Common, &Store, Destage, TimeNs),
) {
    let pages = store.begin(now, slot, entry);
    common.counters.destages.count(pages);
    let layout = &common.layout;
    if layout.stripe_shape().parity_strips > 0
        && let Some((stripe, ..)) = store.entry_in_slot(slot)
        && layout.strip_index_of_member(stripe, member) >= layout.data_strips_per_stripe()
    {
        common.counters.parity_pages_destaged += u64::from(pages);
    }
    let read_at = common.nvm.read(now, pages);
    begin(common, store, Destage { cache: member as u16 + 1, slot }, read_at);
}

/// Fills `rows` with the offsets of the pages within their strips, in ascending order and each once.
pub(super) fn rows_of(offsets: &[u32], strip_pages: u32, rows: &mut Vec<u32>) {
    rows.clear();
    rows.extend(offsets.iter().map(|offset| offset % strip_pages));
    rows.sort_unstable();
    rows.dedup();
}
