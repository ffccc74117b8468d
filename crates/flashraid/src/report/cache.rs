//! Results of the write cache in a report (rule 88).

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::figures::mean_us;
use flashraid_model::cache::{CacheCounters, CacheWriteHitsAndMisses, DestageCounters};

/// Source of the values of all write caches.
pub(super) struct CacheSource<'a> {
    policy: &'a str,
    counters: &'a CacheCounters,
    room_pages: u64,
    page_bytes: u64,
    measured_ns: u64,
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

figures! {
    /// Results of all write caches, summed over the caches.
    pub struct WriteCachesReport("cache", of: CacheSource<'_>) {
        /// Name of the policy of the write cache.
        policy: String = of.policy.to_owned();
        /// Capacity of all caches in bytes.
        size_bytes: u64 = of.room_pages * of.page_bytes;
        /// Counts of host reads by how many of their pages were in the cache.
        reads: HostReadsByCachedPages = HostReadsByCachedPages::new(of.counters);
        /// Counts of the pages that the host wrote.
        pages_written: CacheWriteHitsReport = CacheWriteHitsReport::new(&of.counters.host_admissions);
        /// Counts of the pages that the first-level cache of the policy `lawc` passed on to the members' caches, and of parity pages.
        pages_from_inside: CacheWriteHitsReport = CacheWriteHitsReport::new(&of.counters.member_cache_admissions);
        /// Number and mean length of the waits of writes for room in the write cache.
        waits_for_room: RoomWaits = RoomWaits::new(of.counters);
        /// Counts of the first-level cache of the policy `lawc`, which takes host writes and later passes them on to the members'
        /// caches. All are 0 with other policies.
        front: FirstLevelWriteCacheReport = FirstLevelWriteCacheReport::new(of.counters);
        /// Number of pages read because parity needed them.
        parity_reads: u64 = of.counters.pages_read_for_parity;
        /// Number of cached pages that trims have removed.
        pages_trimmed: u64 = of.counters.pages_trimmed;
        /// Counters of destages, which write cached pages to the members.
        destages: CacheDestages = CacheDestages::new(&of.counters.destages);
        /// Number of parity pages among those sent to the members.
        parity_pages_destaged: u64 = of.counters.parity_pages_destaged;
        /// Counters of synchronised destages. In these, the caches of several members begin at the same time to write cached pages to
        /// their members.
        common_destages: SynchronisedDestages = SynchronisedDestages::new(of.counters);
        /// Used share of the write cache's capacity: its mean and its maximum over the measured time.
        occupancy: CacheOccupancy = CacheOccupancy::new(of);
    }
}

figures! {
    /// Counts of host reads by how many of their pages were in the cache.
    pub struct HostReadsByCachedPages("cache.reads", of: CacheCounters) {
        /// Number of reads of which all pages were in the cache.
        hit: u64 = of.reads_fully_hit;
        /// Number of reads of which some pages were in the cache.
        partial: u64 = of.reads_partly_hit;
        /// Number of reads of which no page was in the cache.
        missed: u64 = of.reads_missed;
        /// Number of pages read from the cache.
        pages_hit: u64 = of.read_pages_hit;
    }
}

figures! {
    /// Pages that writes put into the cache, counted by what the cache held before. It was an older version of the page (`page_hits`),
    /// only other pages of its stripe (`group_hits`), or neither (`misses`).
    pub struct CacheWriteHitsReport("cache.pages_written", of: CacheWriteHitsAndMisses) {
        /// Number of pages that replaced an earlier version in the cache.
        page_hits: u64 = of.replaced_pages;
        /// Number of written pages that were not in the cache while other pages of their stripe were, from earlier writes. (In a member's
        /// cache, it is the strip instead of the stripe.)
        group_hits: u64 = of.pages_admitted_to_existing_entries;
        /// Number of written pages whose stripe had no page in the cache before the write. (In a member's cache, it is the strip instead
        /// of the stripe.)
        misses: u64 = of.pages_admitted_with_their_entry;
        /// Share of all written pages that count as `page_hits` or `group_hits`. Before the write, the cache held the page itself, or
        /// another page of its stripe. `None` if no page entered.
        hit_ratio: Option<f64> = ratio(of.replaced_pages + of.pages_admitted_to_existing_entries, of.replaced_pages + of.pages_admitted_to_existing_entries + of.pages_admitted_with_their_entry);
    }
}

figures! {
    /// Number and mean length of the waits of writes for room in the write cache.
    pub struct RoomWaits("cache.waits_for_room", of: CacheCounters) {
        /// Number of writes that waited for room in the cache.
        count: u64 = of.writes_that_waited_for_room;
        /// Mean wait of the writes that waited for room in the cache, in microseconds.
        mean_us: Option<f64> = mean_us(of.writes_waiting_for_room_ns, of.writes_that_waited_for_room);
    }
}

figures! {
    /// Counts of the first-level cache of the policy `lawc`, which takes host writes and later passes them on to the members' caches.
    /// All are 0 with other policies.
    pub struct FirstLevelWriteCacheReport("cache.front", of: CacheCounters) {
        /// Number of writes that went to the members' caches directly, because the first-level cache in front of these had no room.
        bypasses: u64 = of.writes_bypassing_first_level;
        /// Number of writes that waited for room in the first-level cache. They could not bypass it, because it held an older version
        /// of a page.
        dependent: u64 = of.writes_waiting_for_first_level;
        /// Number of destages from the first-level cache into the members' caches. Each carries the cached pages of one stripe.
        destages: u64 = of.first_level_destages.entries;
        /// Number of pages destaged from the first-level cache into the members' caches.
        pages_destaged: u64 = of.first_level_destages.pages;
    }
}

figures! {
    /// Counters of destages, which write cached pages to the members.
    pub struct CacheDestages("cache.destages", of: DestageCounters) {
        /// Number of destages from the cache to the members.
        count: u64 = of.entries;
        /// Number of pages that destages from the cache to the members carried.
        pages: u64 = of.pages;
        /// Mean number of pages in a destage.
        pages_mean: Option<f64> = ratio(of.pages, of.entries);
    }
}

figures! {
    /// Counters of synchronised destages. In these, the caches of several members begin at the same time to write cached pages to their
    /// members.
    pub struct SynchronisedDestages("cache.common_destages", of: CacheCounters) {
        /// Number of synchronised destages that began because the caches of all members were ready.
        all_ready: u64 = of.synchronised_destages_with_all_ready;
        /// Number of synchronised destages that began after a time-out, because some caches were not ready.
        timeouts: u64 = of.synchronised_destages_by_timeout;
        /// Mean number of caches that took part in a synchronised destage.
        caches_mean: Option<f64> = ratio(of.member_caches_in_synchronised_destages, of.synchronised_destages_with_all_ready + of.synchronised_destages_by_timeout);
    }
}

figures! {
    /// Used share of the write cache's capacity: its mean and its maximum over the measured time.
    pub struct CacheOccupancy("cache.occupancy", of: CacheSource<'_>) {
        /// Mean share of the cache capacity that was used, over the measured time.
        mean: Option<f64> = {
            let room_ns = of.measured_ns as f64 * of.room_pages as f64;
            (room_ns > 0.0).then(|| of.counters.occupancy_integral_page_ns as f64 / room_ns)
        };
        /// Greatest share of the cache capacity that was used for some time in the measured time.
        most: Option<f64> = ratio(of.counters.occupancy_max_pages.0, of.room_pages);
    }
}

/// Returns the schema of the `cache` table, which is empty without a cache.
pub(super) fn cache_report_schema(generator: &mut SchemaGenerator) -> Schema {
    let table = generator.subschema_for::<WriteCachesReport>();
    json_schema!({ "type": "object", "anyOf": [table, { "type": "object", "maxProperties": 0 }] })
}

/// Returns the `cache` table of a report. `counters` cover `measured_ns`, and the caches have a capacity of `room_pages` pages together.
#[must_use]
pub(crate) fn cache(policy: &str, counters: &CacheCounters, room_pages: u64, page_bytes: u64, measured_ns: u64) -> Map<String, Value> {
    match serde_json::to_value(WriteCachesReport::new(&CacheSource { policy, counters, room_pages, page_bytes, measured_ns })) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}
