//! Counters of the caches (rule 88).

use super::store::Admission;
use crate::TimeNs;
use crate::counts::Maximum;

counts! {
    /// Number of pages that writes put into a cache, in three groups. The group depends on what the cache already held: the same page,
    /// only other pages of its stripe, or no page of its stripe.
    pub struct CacheWriteHitsAndMisses {
        /// Pages that replaced an earlier version in the cache.
        replaced_pages,
        /// Pages that were not in the cache, although other pages of their stripe were. (In the cache of a member, the strip counts instead
        /// of the stripe.)
        pages_admitted_to_existing_entries,
        /// Pages of a stripe that had no page in the cache. (In the cache of a member, the strip counts instead of the stripe.)
        pages_admitted_with_their_entry,
    }
}

impl CacheWriteHitsAndMisses {
    #[inline]
    pub(super) fn count(&mut self, admission: Admission) {
        match admission {
            Admission::PageHit => self.replaced_pages += 1,
            Admission::GroupHit => self.pages_admitted_to_existing_entries += 1,
            Admission::NewEntry => self.pages_admitted_with_their_entry += 1,
        }
    }
}

counts! {
    /// Number of destages, and of the pages they carried.
    pub struct DestageCounters {
        /// Number of destages. Each writes the cached pages of one stripe, or of one strip from a member's cache.
        entries,
        /// Number of pages that were destaged.
        pages,
    }
}

impl DestageCounters {
    #[inline]
    pub(super) fn count(&mut self, pages: u32) {
        self.entries += 1;
        self.pages += u64::from(pages);
    }
}

counts! {
    /// Counters of the caches since the start of the simulation.
    pub struct CacheCounters {
        /// Number of host reads whose pages were all found in a cache.
        reads_fully_hit,
        /// Number of host reads of which some pages, but not all, were found in a cache.
        reads_partly_hit,
        /// Number of host reads of which no page was found in a cache.
        reads_missed,
        /// Number of pages of host reads that were found in a cache.
        read_pages_hit,
        /// Pages of host writes that entered a cache. A page that later goes on to a cache of the next level is not counted again.
        host_admissions: CacheWriteHitsAndMisses,
        /// Pages that the first-level cache passed on to the member caches, and pages of parity that belong to them. (The first-level
        /// cache holds write groups, which are all dirty pages of one stripe.)
        member_cache_admissions: CacheWriteHitsAndMisses,
        /// Host writes of which a page waited for room.
        writes_that_waited_for_room,
        /// Time for which writes waited because the cache was full, in nanoseconds, summed over all waits. A wait begins when a page of a
        /// write finds no room. It ends when the last page of the write is admitted.
        writes_waiting_for_room_ns: u128,
        /// Host writes that went to the member caches directly, because the first level (the cache of write groups in front of them) had
        /// no room.
        writes_bypassing_first_level,
        /// Host writes that waited for room in the cache of write groups. They could not bypass it, because it held an older version of a
        /// page.
        writes_waiting_for_first_level,
        /// Dirty pages that trims have dropped.
        pages_trimmed,
        /// Pages of host writes that could not enter a cache, because too many members had failed.
        pages_lost,
        /// Pages read because parity needed them.
        pages_read_for_parity,
        /// Parity pages that member caches have destaged. Parity that a cache of write groups computes at a destage counts in
        /// [`ParityAndRebuildCounters`](crate::array::ParityAndRebuildCounters).
        parity_pages_destaged,
        /// Destages from the first-level cache into the member caches. The first-level cache holds write groups, which are all dirty pages
        /// of one stripe.
        first_level_destages: DestageCounters,
        /// Destages from caches to the members.
        destages: DestageCounters,
        /// Number of synchronised destages that began because all member caches were ready.
        synchronised_destages_with_all_ready,
        /// Number of synchronised destages that began because the timer had ended.
        synchronised_destages_by_timeout,
        /// Number of caches that took part in a synchronised destage, summed over all synchronised destages.
        member_caches_in_synchronised_destages,
        /// Greatest number of pages that were in all caches for some time since the measured time began.
        occupancy_max_pages: Maximum,
        /// Integral over time of the number of pages in all caches, in page-nanoseconds.
        occupancy_integral_page_ns: u128,
    }
}

/// Integral over time, and maximum, of the number of pages in all caches.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Occupancy {
    pages: u64,
    since: TimeNs,
}

impl Occupancy {
    /// Adds the time until `now` to the integral. What is held for no time does not count for the maximum, as it depends on the order of
    /// events within a nanosecond.
    #[inline]
    pub(crate) fn catch_up(&mut self, now: TimeNs, counters: &mut CacheCounters) {
        if now == self.since {
            return;
        }
        counters.occupancy_max_pages = counters.occupancy_max_pages.max(Maximum(self.pages));
        counters.occupancy_integral_page_ns += u128::from(self.pages) * u128::from(now - self.since);
        self.since = now;
    }

    #[inline]
    pub(super) fn add(&mut self, now: TimeNs, pages: u32, counters: &mut CacheCounters) {
        self.catch_up(now, counters);
        self.pages += u64::from(pages);
    }

    #[inline]
    pub(super) fn remove(&mut self, now: TimeNs, pages: u32, counters: &mut CacheCounters) {
        self.catch_up(now, counters);
        self.pages -= u64::from(pages);
    }

    pub(super) fn pages(&self) -> u64 {
        self.pages
    }
}
