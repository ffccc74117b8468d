//! Counters of the caches (rule 88).

use super::store::Admission;
use crate::TimeNs;

/// Number of pages admitted, by the state of the cache that they found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Admissions {
    /// Pages that replaced an earlier version.
    pub page_hits: u64,
    /// New pages of an entry that another writer had made.
    pub group_hits: u64,
    /// Pages of all other kinds.
    pub misses: u64,
}

impl Admissions {
    #[inline]
    pub(super) fn count(&mut self, admission: Admission) {
        match admission {
            Admission::PageHit => self.page_hits += 1,
            Admission::GroupHit => self.group_hits += 1,
            Admission::Miss => self.misses += 1,
        }
    }

    fn since(&self, earlier: &Self) -> Self {
        Self {
            page_hits: self.page_hits - earlier.page_hits,
            group_hits: self.group_hits - earlier.group_hits,
            misses: self.misses - earlier.misses,
        }
    }
}

/// Number of destages, and of the pages they carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Destages {
    /// Number of entries destaged.
    pub count: u64,
    /// Number of pages in these entries.
    pub pages: u64,
}

impl Destages {
    #[inline]
    pub(super) fn count(&mut self, pages: u32) {
        self.count += 1;
        self.pages += u64::from(pages);
    }

    fn since(&self, earlier: &Self) -> Self {
        Self { count: self.count - earlier.count, pages: self.pages - earlier.pages }
    }
}

/// Counters of the caches since the start of the simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheCounters {
    /// Host reads of which all pages hit.
    pub reads_full: u64,
    /// Host reads of which some pages hit.
    pub reads_partial: u64,
    /// Host reads of which no page hit.
    pub reads_missed: u64,
    /// Pages of host reads that hit.
    pub read_pages_hit: u64,
    /// Pages that host writes brought, at the first cache that they entered.
    pub host: Admissions,
    /// Pages that the first level sent to the member caches, and pages of parity.
    pub inner: Admissions,
    /// Host writes of which a page waited for room.
    pub waits: u64,
    /// Time from the first page that waited until the last page was admitted, in nanoseconds, summed over all waits.
    pub waited_ns: u64,
    /// Host writes that bypassed the first level.
    pub bypasses: u64,
    /// Host writes that waited for the first level because it held one of their pages.
    pub dependent: u64,
    /// Dirty pages that trims have dropped.
    pub pages_trimmed: u64,
    /// Pages of host writes that were lost before they entered, because too many members failed.
    pub pages_lost: u64,
    /// Pages read because parity needed them.
    pub parity_reads: u64,
    /// Pages of parity among those that member caches have destaged. Parity that `wow` computes at a destage counts as the array's.
    pub parity_pages_destaged: u64,
    /// Destages of the first level into the member caches.
    pub first_level_destages: Destages,
    /// Destages from caches to the members.
    pub destages: Destages,
    /// Number of common destages that began because all member caches were ready.
    pub common_all_ready: u64,
    /// Number of common destages that began because the timer had ended.
    pub common_timeouts: u64,
    /// Number of caches that took part in common destages.
    pub common_caches: u64,
    /// Greatest number of pages in all caches since the measured time began.
    pub occupancy_max_pages: u64,
    /// Number of pages in all caches, integrated over time in nanoseconds.
    pub occupancy_page_ns: u128,
}

impl CacheCounters {
    /// Returns the counts since the moment at which `earlier` was copied. The greatest occupancy has no difference and stays as it is.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            reads_full: self.reads_full - earlier.reads_full,
            reads_partial: self.reads_partial - earlier.reads_partial,
            reads_missed: self.reads_missed - earlier.reads_missed,
            read_pages_hit: self.read_pages_hit - earlier.read_pages_hit,
            host: self.host.since(&earlier.host),
            inner: self.inner.since(&earlier.inner),
            waits: self.waits - earlier.waits,
            waited_ns: self.waited_ns - earlier.waited_ns,
            bypasses: self.bypasses - earlier.bypasses,
            dependent: self.dependent - earlier.dependent,
            pages_trimmed: self.pages_trimmed - earlier.pages_trimmed,
            pages_lost: self.pages_lost - earlier.pages_lost,
            parity_reads: self.parity_reads - earlier.parity_reads,
            parity_pages_destaged: self.parity_pages_destaged - earlier.parity_pages_destaged,
            first_level_destages: self.first_level_destages.since(&earlier.first_level_destages),
            destages: self.destages.since(&earlier.destages),
            common_all_ready: self.common_all_ready - earlier.common_all_ready,
            common_timeouts: self.common_timeouts - earlier.common_timeouts,
            common_caches: self.common_caches - earlier.common_caches,
            occupancy_page_ns: self.occupancy_page_ns - earlier.occupancy_page_ns,
            occupancy_max_pages: self.occupancy_max_pages,
        }
    }
}

/// Number of pages in all caches, integrated over time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Occupancy {
    pages: u64,
    since: TimeNs,
}

impl Occupancy {
    /// Adds the time until `now` to the integral.
    #[inline]
    pub fn catch_up(&mut self, now: TimeNs, counters: &mut CacheCounters) {
        counters.occupancy_page_ns += u128::from(self.pages) * u128::from(now - self.since);
        self.since = now;
    }

    #[inline]
    pub fn add(&mut self, now: TimeNs, pages: u32, counters: &mut CacheCounters) {
        self.catch_up(now, counters);
        self.pages += u64::from(pages);
        counters.occupancy_max_pages = counters.occupancy_max_pages.max(self.pages);
    }

    #[inline]
    pub fn remove(&mut self, now: TimeNs, pages: u32, counters: &mut CacheCounters) {
        self.catch_up(now, counters);
        self.pages -= u64::from(pages);
    }

    pub fn pages(&self) -> u64 {
        self.pages
    }
}
