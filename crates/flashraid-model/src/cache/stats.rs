//! What the caches count (rule 88).

use super::store::Admission;
use crate::TimeNs;

/// Pages admitted, by what they found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Admissions {
    /// Pages that replaced an earlier version.
    pub page_hits: u64,
    /// New pages of an entry that another writer had made.
    pub group_hits: u64,
    /// All others.
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
}

/// Destages and what they carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Destages {
    /// Entries destaged.
    pub count: u64,
    /// Their pages.
    pub pages: u64,
}

impl Destages {
    #[inline]
    pub(super) fn count(&mut self, pages: u32) {
        self.count += 1;
        self.pages += u64::from(pages);
    }
}

/// What the caches have counted since the beginning of the statistics.
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
    /// Pages that host writes brought, at the caches they entered first.
    pub host: Admissions,
    /// Pages that the first level sent down, and parity.
    pub inner: Admissions,
    /// Host writes of which a page waited for room.
    pub waits: u64,
    /// Time from the first page that waited until the last page was admitted, in nanoseconds, over all waits.
    pub waited_ns: u64,
    /// Host writes that went past the first level.
    pub bypasses: u64,
    /// Host writes that waited for the first level because it held a page of theirs.
    pub dependent: u64,
    /// Dirty pages that trims have dropped.
    pub pages_trimmed: u64,
    /// Pages that host writes brought and that too many failures have taken before they entered.
    pub pages_lost: u64,
    /// Pages read because parity needed them.
    pub parity_reads: u64,
    /// Pages of parity among those that member caches have destaged; what `wow` makes at a destage counts as the array's.
    pub parity_pages_destaged: u64,
    /// Destages of the first level into the member caches.
    pub first_level_destages: Destages,
    /// Destages to members.
    pub destages: Destages,
    /// Times that member caches destaged together because all were ready.
    pub common_all_ready: u64,
    /// Times that those that were ready did because the timer had ended.
    pub common_timeouts: u64,
    /// Caches that took part in them.
    pub common_caches: u64,
    /// Pages in all caches at most.
    pub occupancy_max_pages: u64,
    /// Pages in all caches times nanoseconds.
    pub occupancy_page_ns: u128,
}

/// The pages in all caches over time.
#[derive(Debug, Clone, Default)]
pub(super) struct Occupancy {
    pages: u64,
    since: TimeNs,
}

impl Occupancy {
    /// Books the time until `now`.
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
