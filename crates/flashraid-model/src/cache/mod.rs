//! Write caches of the array: `wow`, `iwc`, `iwc-sync`, `lawc`, `stow` (section 13 of docs/rules.md).
//!
//! ```text
//!            wow, stow            iwc, iwc-sync                lawc
//!  host ─▶ [ write groups ]      [ ][ ][ ][ ] strips      [ first level: groups ]──┐ full: past it
//!                │ array write     │  │  │  │ member           │ destages          │
//!                ▼ with parity     ▼  ▼  ▼  ▼ writes           ▼                   ▼
//!             the array            the members             [ ][ ][ ][ ] strips ─▶ the members
//! ```
//!
//! A cache has no clock, no members and no agenda. The array reports events to it (`Cache::submit`, `Cache::done`, `Cache::wake`,
//! `Cache::step`). The cache answers with `Commands`, which the array performs at once and in order.

mod commands;
mod common;
mod independent;
mod lawc;
mod nvm;
mod pages;
mod parts;
mod policy;
mod preparity;
mod sequential;
mod sequential_share;
mod stats;
mod store;
mod sub_requests;
mod sync;
mod wow;

#[cfg(test)]
mod tests;

use crate::TimeNs;
use crate::counts::Maximum;
use crate::events::OperationTimeParts;
use crate::ids::MemberSet;
use crate::placement::{ArrayLayout, RequestInPages};
use crate::request::OpKind;
pub(crate) use commands::*;
use common::{Common, Host};
use independent::MemberCaches;
use lawc::Route;
use nvm::Nvm;
pub use parts::{DirtyStripeCacheSettings, MemberCacheSettings, StripeAndMemberCaches};
pub use policy::*;
use schemars::JsonSchema;
use sequential::Streams;
use serde::{Deserialize, Serialize};
pub use stats::*;
use store::Store;
use sync::SyncedDestaging;
use wow::GroupCache;

/// Settings of a write cache, as plain integers. The caller guarantees that every cache has room for a page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WriteCacheParams {
    /// Caches that the cache policy uses: a cache of write groups, a cache for each member, or both. A write group is all dirty pages
    /// of one stripe.
    pub stripe_and_member_caches: StripeAndMemberCaches,
    /// Number of pages that fit into the cache of write groups; 0 if there is no such cache. A write group is all dirty pages of one
    /// stripe.
    pub dirty_stripe_cache_capacity_pages: u32,
    /// Number of pages in the cache of each member, or 0 without member caches.
    pub member_cache_pages: u32,
    /// Unit in which the capacity of the caches is counted.
    pub capacity_unit: CapacityUnit,
    /// Pages that set the recency bit of a strip in the cache of a member (rule 72).
    pub recency: RecencyBit,
    /// Fill level, as a share from 0 to 1, above which destaging begins.
    pub destage_start_fill: f64,
    /// Fill level, as a share from 0 to 1, from which destaging runs at full speed.
    pub full_speed_destage_fill_fraction: f64,
    /// Number of destages that each cache may have in progress at a time, 1 to 1024.
    pub destages_in_flight_max: u32,
    /// Maximum time that a member cache with something to destage waits for the other member caches, in nanoseconds. All destage
    /// together as soon as each has something to destage. After this time, the caches that are ready begin without the others. Only
    /// policies whose member caches destage together use it.
    pub destage_wait_for_other_members_max_ns: u64,
    /// Time that the cache memory takes to read a page, in nanoseconds.
    pub nvm_page_read_ns: u64,
    /// Time that the cache memory takes to write a page, in nanoseconds.
    pub nvm_page_write_ns: u64,
}

/// Unit in which the capacity of a cache is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CapacityUnit {
    /// Counts the pages in a cache. A write that is larger than the room that is left enters the cache piece by piece.
    #[default]
    Pages,
    /// Counts the pages in a cache, but lets a write exceed the cache's size. If there is room for one page, all pages of the write in
    /// the same stripe enter the cache together. A member's cache takes the pages in the same strip together. Section 2.1 of the paper
    /// LAWC, on layout-aware write caches, describes this.
    #[serde(rename = "whole")]
    PagesAdmittingWholeWrites,
    /// Counts the stripes (in a member's cache, the strips) with pages in a cache, however many pages of each are cached. A cache
    /// whose size is that of n pages may hold pages of n stripes or strips. The caches of the array divide `size` among them.
    #[serde(rename = "entries")]
    DirtyStripesOrStrips,
}

/// Pages that set the recency bit of a strip in the cache of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RecencyBit {
    /// Pages of a write that finds the strip in the cache, made by another one. Section 2.1 of the paper LAWC says so.
    #[default]
    Hits,
    /// All pages that are stored, also those with which the strip enters the cache. Algorithm 1 of the paper LAWC says so.
    Stores,
}

impl WriteCacheParams {
    /// Returns the number of pages in all caches of an array with `members` members.
    pub fn total_pages(&self, members: u32) -> u64 {
        u64::from(self.dirty_stripe_cache_capacity_pages) + u64::from(self.member_cache_pages) * u64::from(members)
    }
}

/// A host request that is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HostRequestDone {
    /// Tag of the page request.
    pub(crate) tag: u64,
    /// Members on which reads of the request from the array waited for garbage collection.
    pub(crate) gc_members: MemberSet,
    /// Number of pages of the request that were lost because too many members failed.
    pub(crate) pages_lost: u32,
    /// Time at which the request arrived, in nanoseconds.
    pub(crate) arrival_ns: TimeNs,
    /// Division into causes of the time that the request spent on its read from the array.
    pub(crate) read_time: OperationTimeParts,
}

/// The write cache of an array.
#[derive(Debug, Clone)]
pub(crate) struct Cache {
    common: Common,
    streams: Streams,
    /// The cache of write groups, which is the whole cache or the first level of `lawc`.
    group: Option<GroupCache>,
    members: Option<MemberCaches>,
    room_pages: u64,
    /// True after a failure, until everything that was cached then has been destaged.
    flushing: bool,
    /// True if the cache of write groups has gained room or a free slot since its last scan.
    group_changed: bool,
    /// True if the destage rate is limited, so that slots may pause between two destages.
    paced: bool,
    /// Time at which [`Cache::step`] is due, or `TimeNs::MAX`.
    next_step: TimeNs,
}

impl Cache {
    /// Returns an empty cache in front of an array of `members` members.
    pub(crate) fn new(params: &WriteCacheParams, layout: ArrayLayout, members: u32) -> Self {
        let stripe_pages = layout.data_strips_per_stripe() * layout.strip_pages();
        let group = params.stripe_and_member_caches.dirty_stripe_cache.map(|part| {
            let store = Store::new(params.dirty_stripe_cache_capacity_pages, stripe_pages, params);
            if part.has_separate_ring_for_sequential_writes { store.with_sequential_ring() } else { store }
        });
        let members_caches = params.stripe_and_member_caches.member_caches.map(|part| {
            let at_store = params.recency == RecencyBit::Stores;
            let stores = (0..members)
                .map(|_| Store::new(params.member_cache_pages, layout.strip_pages(), params).with_bit_at_store(at_store))
                .collect();
            MemberCaches::new(
                stores,
                part.member_caches_destage_together.then(|| SyncedDestaging::new(members, params.destage_wait_for_other_members_max_ns)),
                layout.stripes(),
            )
        });
        Self {
            common: Common::new(layout, Nvm::new(params.nvm_page_read_ns, params.nvm_page_write_ns)),
            streams: Streams::new(),
            group: group.map(GroupCache::new),
            members: members_caches,
            room_pages: params.total_pages(members),
            flushing: false,
            group_changed: false,
            paced: params.destage_start_fill > 0.0 || params.full_speed_destage_fill_fraction > 0.0,
            next_step: TimeNs::MAX,
        }
    }

    /// Starts a host request. [`Cache::done`] or [`Cache::wake`] reports its end.
    #[inline]
    pub(crate) fn submit(&mut self, now: TimeNs, request: &RequestInPages) {
        match request.kind {
            OpKind::Write => self.write(now, request),
            OpKind::Trim => self.trim(now, request),
            OpKind::Read | OpKind::Flush => self.read(now, request),
        }
    }

    fn read(&mut self, now: TimeNs, request: &RequestInPages) {
        let common = &mut self.common;
        let from = common.commands.array_extents.len();
        let mut hits = 0;
        for strip in Common::strips(common.layout, request) {
            for row in strip.row..strip.row + strip.pages {
                let is_hit = self.group.as_ref().is_some_and(|group| group.has(common, strip.stripe, strip.column, row))
                    || self.members.as_ref().is_some_and(|members| members.has(common, strip.stripe, strip.column, row));
                if is_hit {
                    hits += 1;
                } else {
                    common.commands.add_array_page(from, common.layout.array_page(strip.stripe, strip.column, row));
                }
            }
        }
        let end = if hits > 0 { common.nvm.read(now, hits) } else { now };
        let host = common.hosts.insert(Host::new(now, request, end));
        common.counters.read_pages_hit += u64::from(hits);
        if hits == request.pages {
            common.counters.reads_fully_hit += 1;
            common.commands.push_wake(end, CacheWake::HostRequestFinished(host));
        } else {
            let kind = if hits > 0 { &mut common.counters.reads_partly_hit } else { &mut common.counters.reads_missed };
            *kind += 1;
            common.commands.push_array_operation(from, OpKind::Read, Token::Read(host));
        }
    }

    fn write(&mut self, now: TimeNs, request: &RequestInPages) {
        let common = &mut self.common;
        let sequential = self.streams.continues(request.first_page, end_page(&common.layout, request));
        let writer = common.host_writer(sequential);
        let host = common.hosts.insert(Host::new(now, request, now));
        match (&mut self.group, &mut self.members) {
            (Some(group), None) => group.write(now, common, host, writer, request),
            (None, Some(members)) => members.write(now, common, host, writer, request),
            (Some(first_level), Some(members)) => match Route::of(first_level, common, request) {
                Route::FirstLevel => first_level.write(now, common, host, writer, request),
                Route::WaitForSamePage => {
                    common.counters.writes_waiting_for_first_level += 1;
                    first_level.write(now, common, host, writer, request);
                }
                Route::Bypass => {
                    common.counters.writes_bypassing_first_level += 1;
                    members.write(now, common, host, writer, request);
                }
            },
            (None, None) => {}
        }
        self.scan(now);
    }

    /// Drops the dirty pages that a trim covers, and passes the trim to the array (rule 112).
    fn trim(&mut self, now: TimeNs, request: &RequestInPages) {
        let Self { common, group, members, .. } = self;
        let from = common.commands.array_extents.len();
        for strip in Common::strips(common.layout, request) {
            for row in strip.row..strip.row + strip.pages {
                common.commands.add_array_page(from, common.layout.array_page(strip.stripe, strip.column, row));
            }
        }
        let host = common.hosts.insert(Host::new(now, request, now));
        if let Some(group) = group {
            group.trim(now, common, request);
        }
        if let Some(members) = members {
            members.trim(now, common, request);
        }
        common.commands.push_array_operation(from, OpKind::Trim, Token::Trim(host));
        self.scan(now);
    }

    /// Ends an operation that a command asked for.
    ///
    /// Its reads waited for garbage collection on `gc_members`, and failures have cost `pages_lost` of its pages. Returns the host request
    /// that this completes, if any.
    #[inline]
    pub(crate) fn done(&mut self, now: TimeNs, token: Token, gc_members: MemberSet, pages_lost: u32) -> Option<HostRequestDone> {
        let mut host_done = None;
        match token {
            Token::Read(host) | Token::Trim(host) => {
                let request = &mut self.common.hosts[host];
                request.gc_members |= gc_members;
                request.pages_lost += pages_lost;
                if request.end > now {
                    let end = request.end;
                    self.common.commands.push_wake(end, CacheWake::HostRequestFinished(host));
                } else {
                    host_done = Some(self.host_done(host));
                }
            }
            Token::ReadForParity(sub_request) => {
                if let Some(members) = &mut self.members {
                    members.reads_are_done(now, &mut self.common, sub_request, gc_members);
                }
            }
            Token::Destage(destage) => self.destage_done(now, destage),
        }
        self.scan_if_changed(now);
        host_done
    }

    /// Returns the stream, in a mix of workloads, of the request that an operation serves. Operations that the cache starts by itself have
    /// stream 0.
    #[inline]
    pub(crate) fn source(&self, token: Token) -> u8 {
        match token {
            Token::Read(host) | Token::Trim(host) => self.common.hosts[host].source,
            Token::ReadForParity(_) | Token::Destage(_) => 0,
        }
    }

    /// Records how long an operation took that a host request waits for, divided into causes. The array calls this before
    /// [`Cache::done`].
    #[inline]
    pub(crate) fn note_time(&mut self, token: Token, time: OperationTimeParts) {
        if let Token::Read(host) | Token::Trim(host) = token {
            self.common.hosts[host].read_time = time;
        }
    }

    /// Continues work at a time that a command asked for. Returns the host request that this completes, if any.
    #[inline]
    pub(crate) fn wake(&mut self, now: TimeNs, wake: CacheWake) -> Option<HostRequestDone> {
        let mut host_done = None;
        match wake {
            CacheWake::HostRequestFinished(host) => host_done = Some(self.host_done(host)),
            CacheWake::PagesRead(destage) => self.pages_read(now, destage),
            CacheWake::FirstLevelDestageWritten(destage) => self.destage_done(now, destage),
        }
        self.scan_if_changed(now);
        host_done
    }

    /// Scans for destages if anything changed since the last scan.
    #[inline]
    fn scan_if_changed(&mut self, now: TimeNs) {
        let group_changed = std::mem::take(&mut self.group_changed);
        if group_changed || self.a_slot_may_be_rested(now) || !self.members.as_ref().is_none_or(MemberCaches::is_untouched) {
            self.scan(now);
        }
    }

    fn host_done(&mut self, host: u32) -> HostRequestDone {
        let Host { tag, gc_members, pages_lost, arrival_ns, read_time, .. } = self.common.hosts.remove(host);
        HostRequestDone { tag, gc_members, pages_lost, arrival_ns, read_time }
    }

    /// Writes the pages of a destage to the members, after the memory has read them.
    fn pages_read(&mut self, now: TimeNs, destage: Destage) {
        let Self { common, group, members, .. } = self;
        match (destage.cache, group, members) {
            (0, Some(first_level), Some(members)) => {
                if let Some((stripe, offsets, marked)) = first_level.store.entry_in_slot(destage.slot) {
                    members.write_from_first_level(now, common, destage.slot, stripe, offsets, marked);
                }
            }
            (0, Some(group), None) => write_group_destage(common, &group.store, destage),
            (_, _, Some(members)) => {
                let member = u32::from(destage.cache) - 1;
                let store = &members.stores[member as usize];
                if store.entry_in_slot(destage.slot).is_some() {
                    write_member_destage(common, store, destage);
                } else {
                    members.finish(now, common, member, destage.slot);
                }
            }
            _ => {}
        }
    }

    /// Ends a destage, because its pages are written.
    fn destage_done(&mut self, now: TimeNs, destage: Destage) {
        if destage.cache > 0 {
            if let Some(members) = &mut self.members {
                members.finish(now, &mut self.common, u32::from(destage.cache) - 1, destage.slot);
            }
        } else if let Some(group) = &mut self.group {
            group.finish(now, &mut self.common, destage.slot);
            self.group_changed = true;
        }
    }

    /// Returns true if a slot may end its pause at this very nanosecond.
    #[inline]
    fn a_slot_may_be_rested(&self, now: TimeNs) -> bool {
        self.paced && self.next_step <= now
    }

    /// Scans every cache that has changed for entries to destage (rules 83 to 85).
    #[inline]
    fn scan(&mut self, now: TimeNs) {
        if self.flushing && self.is_flushed() {
            self.flushing = false;
            if let Some(members) = &mut self.members {
                members.touch_all();
            }
        }
        if self.a_slot_may_be_rested(now)
            && let Some(members) = &mut self.members
        {
            members.touch_all();
        }
        while let Some(group) = &mut self.group
            && let Some((destage, pages, read_at)) = group.begin_destage(now, &mut self.common, self.flushing)
        {
            let counters = &mut self.common.counters;
            if self.members.is_some() { &mut counters.first_level_destages } else { &mut counters.destages }.count(pages);
            if read_at > now {
                self.common.commands.push_wake(read_at, CacheWake::PagesRead(destage));
            } else {
                self.pages_read(now, destage);
            }
        }
        if let Some(members) = &mut self.members {
            members.scan(now, &mut self.common, self.flushing, &mut write_when_read(now));
        }
        self.next_step = self.members.as_ref().and_then(|members| members.sync.as_ref()?.timer_ends()).unwrap_or(TimeNs::MAX);
        if self.paced {
            let group = self.group.as_ref().and_then(|group| group.next_slot_ready(now, self.flushing));
            let members = self.members.as_ref().and_then(|members| members.next_slot_ready(now, self.flushing));
            self.next_step = [group, members].into_iter().flatten().fold(self.next_step, TimeNs::min);
        }
    }

    /// Returns the time at which [`Cache::step`] must be called, after all other events of that nanosecond.
    #[inline]
    pub(crate) fn next_time(&self) -> Option<TimeNs> {
        (self.next_step < TimeNs::MAX).then_some(self.next_step)
    }

    /// Begins destages of slots that have paused long enough. It also begins those of member caches that have waited long enough for the
    /// others to have something to destage.
    pub(crate) fn step(&mut self, now: TimeNs) {
        if self.paced {
            self.scan(now);
        }
        if let Some(members) = &mut self.members
            && members.sync.as_ref().and_then(SyncedDestaging::timer_ends).is_some_and(|end| end <= now)
        {
            members.destage_after_timeout(now, &mut self.common, &mut write_when_read(now));
            self.scan(now);
        }
    }

    /// Begins to destage everything that is cached, because a member has failed; see [`Cache::is_flushed`].
    pub(crate) fn member_failed(&mut self, now: TimeNs, member: u32) {
        if let Some(group) = &mut self.group {
            group.store.mark_all();
        }
        if let Some(members) = &mut self.members {
            members.member_failed(now, &mut self.common, member);
        }
        self.flushing = true;
        self.scan(now);
    }

    /// Returns true if a member has failed and data from before the failure are still being destaged.
    #[inline]
    pub(crate) fn is_flushing(&self) -> bool {
        self.flushing
    }

    /// Returns true if everything that was cached when a member failed has been destaged.
    pub(crate) fn is_flushed(&self) -> bool {
        self.group.as_ref().is_none_or(|group| group.store.is_flushed())
            && self.members.as_ref().is_none_or(|members| members.stores.iter().all(Store::is_flushed))
    }

    /// Records that the strip of `stripe` on this failed member has been rebuilt.
    pub(crate) fn strip_rebuilt(&mut self, member: u32, stripe: u64) {
        if let Some(members) = &mut self.members {
            members.lost.remove_rebuilt_strip(member, stripe);
        }
    }

    /// Moves the commands into `into`, whose old contents are dropped. The caller performs them at once and in order.
    #[inline]
    pub(crate) fn take_commands(&mut self, into: &mut Commands) {
        into.clear();
        std::mem::swap(&mut self.common.commands, into);
    }

    /// Returns true if the cache has commands that the array has not taken yet.
    #[cfg(test)]
    pub fn has_commands_for_array(&self) -> bool {
        !self.common.commands.list.is_empty()
    }

    /// Returns the counters at the time `now`.
    pub(crate) fn counters(&self, now: TimeNs) -> CacheCounters {
        let (mut counters, mut occupancy) = (self.common.counters, self.common.occupancy);
        occupancy.catch_up(now, &mut counters);
        counters
    }

    /// Starts the record of the greatest occupancy anew, because the measured time begins.
    pub(crate) fn restart_maximum(&mut self, now: TimeNs) {
        let Common { occupancy, counters, .. } = &mut self.common;
        occupancy.catch_up(now, counters);
        counters.occupancy_max_pages = Maximum(0);
    }

    /// Returns the number of pages in all caches now.
    pub(crate) fn cached_pages(&self) -> u64 {
        self.common.occupancy.pages()
    }

    /// Returns the capacity of all caches together in pages.
    pub(crate) fn room_pages(&self) -> u64 {
        self.room_pages
    }

    /// Returns the number of host requests that are not reported as done.
    #[cfg(test)]
    pub(crate) fn requests_under_way(&self) -> usize {
        self.common.hosts.len()
    }

    /// Verifies the invariants of all caches.
    ///
    /// # Errors
    /// Returns a description of the first invariant that does not hold.
    pub(crate) fn verify(&self) -> Result<(), String> {
        let mut used = 0;
        let members = self.members.iter().flat_map(|members| &members.stores);
        for store in self.group.iter().map(|group| &group.store).chain(members) {
            store.verify()?;
            used += u64::from(store.used_pages());
        }
        if used == self.common.occupancy.pages() {
            Ok(())
        } else {
            Err(format!("{used} pages are cached, but {} counted", self.common.occupancy.pages()))
        }
    }
}

/// Returns the number of the array page that follows the last page of a request.
fn end_page(layout: &ArrayLayout, request: &RequestInPages) -> u64 {
    if !request.contiguous_on_one_member {
        return request.first_page + u64::from(request.pages);
    }
    let last = Common::strips(*layout, request).last();
    last.map_or(request.first_page, |strip| layout.array_page(strip.stripe, strip.column, strip.row + strip.pages - 1) + 1)
}

/// Returns the callback for a scan of member caches. It asks for a wake-up when the memory has read the pages of a destage.
fn write_when_read(now: TimeNs) -> impl FnMut(&mut Common, &Store, Destage, TimeNs) {
    move |common, store, destage, read_at| {
        if read_at > now {
            common.commands.push_wake(read_at, CacheWake::PagesRead(destage));
        } else {
            write_member_destage(common, store, destage);
        }
    }
}

fn write_group_destage(common: &mut Common, store: &Store, destage: Destage) {
    let Some((stripe, offsets, _)) = store.entry_in_slot(destage.slot) else { return };
    let strip_pages = common.layout.strip_pages();
    let from = common.commands.array_extents.len();
    for &offset in offsets {
        common.commands.add_array_page(from, common.layout.array_page(stripe, offset / strip_pages, offset % strip_pages));
    }
    common.commands.push_array_operation(from, OpKind::Write, Token::Destage(destage));
}

fn write_member_destage(common: &mut Common, store: &Store, destage: Destage) {
    let Some((stripe, offsets, _)) = store.entry_in_slot(destage.slot) else { return };
    let first_page = common.layout.stripe_first_page_on_member(stripe);
    let from = common.commands.member_extents.len();
    for &offset in offsets {
        common.commands.add_member_page(from, u32::from(destage.cache) - 1, first_page + u64::from(offset));
    }
    common.commands.push_member_operation(from, OpKind::Write, Token::Destage(destage));
}
