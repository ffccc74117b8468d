//! Results of the write cache in a report (rule 88).

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::figures::mean_us;
use flashraid_model::cache::{Admissions, CacheCounters, Destages};

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
    pub struct CacheReport("cache", of: CacheSource<'_>) {
        /// Name of the policy.
        policy: String = of.policy.to_owned();
        /// Capacity of all caches in bytes.
        size_bytes: u64 = of.room_pages * of.page_bytes;
        /// Counts of the host's reads.
        reads: CachedReads = CachedReads::new(of.counters);
        /// Counts of the pages that the host wrote.
        pages_written: CachedPages = CachedPages::new(&of.counters.host);
        /// Counts of the pages that entered the member caches from the first level, and of parity pages.
        pages_from_inside: CachedPages = CachedPages::new(&of.counters.inner);
        /// Writes that waited for room.
        waits_for_room: RoomWaits = RoomWaits::new(of.counters);
        /// Counts of the first level, if there are two levels.
        front: CacheFront = CacheFront::new(of.counters);
        /// Number of pages read because parity needed them.
        parity_reads: u64 = of.counters.parity_reads;
        /// Number of cached pages that trims have removed.
        pages_trimmed: u64 = of.counters.pages_trimmed;
        /// Destages from the cache to the members.
        destages: CacheDestages = CacheDestages::new(&of.counters.destages);
        /// Number of parity pages among those sent to the members.
        parity_pages_destaged: u64 = of.counters.parity_pages_destaged;
        /// Synchronised destages of several caches.
        common_destages: CommonDestages = CommonDestages::new(of.counters);
        /// Share of the capacity that was used.
        occupancy: CacheOccupancy = CacheOccupancy::new(of);
    }
}

figures! {
    /// Counts of the host's reads.
    pub struct CachedReads("cache.reads", of: CacheCounters) {
        /// Number of reads of which all pages were in the cache.
        hit: u64 = of.reads_full;
        /// Number of reads of which some pages were in the cache.
        partial: u64 = of.reads_partial;
        /// Number of reads of which no page was in the cache.
        missed: u64 = of.reads_missed;
        /// Number of pages read from the cache.
        pages_hit: u64 = of.read_pages_hit;
    }
}

figures! {
    /// Counts of pages that entered the cache.
    pub struct CachedPages("cache.pages_written", of: Admissions) {
        /// Number of pages that replaced an earlier version.
        page_hits: u64 = of.page_hits;
        /// Number of new pages of an entry that an earlier write had made.
        group_hits: u64 = of.group_hits;
        /// Number of all other pages.
        misses: u64 = of.misses;
        /// Share of the first two kinds in all pages; `None` if no page entered.
        hit_ratio: Option<f64> = ratio(of.page_hits + of.group_hits, of.page_hits + of.group_hits + of.misses);
    }
}

figures! {
    /// Waits for room in the cache.
    pub struct RoomWaits("cache.waits_for_room", of: CacheCounters) {
        /// Number of these waits.
        count: u64 = of.waits;
        /// Mean of these waits, in microseconds.
        mean_us: Option<f64> = mean_us(of.waited_ns, of.waits);
    }
}

figures! {
    /// Counts of the first level, if there are two levels.
    pub struct CacheFront("cache.front", of: CacheCounters) {
        /// Number of writes that bypassed the first level.
        bypasses: u64 = of.bypasses;
        /// Number of writes that waited for the first level, because it held one of their pages.
        dependent: u64 = of.dependent;
        /// Number of destages of the first level.
        destages: u64 = of.first_level_destages.count;
        /// Number of pages in these destages.
        pages_destaged: u64 = of.first_level_destages.pages;
    }
}

figures! {
    /// Destages from the cache to the members.
    pub struct CacheDestages("cache.destages", of: Destages) {
        /// Number of these destages.
        count: u64 = of.count;
        /// Number of pages in them.
        pages: u64 = of.pages;
        /// Mean number of pages in a destage.
        pages_mean: Option<f64> = ratio(of.pages, of.count);
    }
}

figures! {
    /// Synchronised destages of several caches.
    pub struct CommonDestages("cache.common_destages", of: CacheCounters) {
        /// Number of these for which all caches were ready.
        all_ready: u64 = of.common_all_ready;
        /// Number of these that began after a time-out, because some caches were not ready.
        timeouts: u64 = of.common_timeouts;
        /// Mean number of caches that took part.
        caches_mean: Option<f64> = ratio(of.common_caches, of.common_all_ready + of.common_timeouts);
    }
}

figures! {
    /// Share of the capacity that was used.
    pub struct CacheOccupancy("cache.occupancy", of: CacheSource<'_>) {
        /// Mean over the measured time.
        mean: Option<f64> = {
            let room_ns = of.measured_ns as f64 * of.room_pages as f64;
            (room_ns > 0.0).then(|| of.counters.occupancy_page_ns as f64 / room_ns)
        };
        /// Greatest share in the measured time.
        most: Option<f64> = ratio(of.counters.occupancy_max_pages.0, of.room_pages);
    }
}

/// Returns the schema of the `cache` table, which is empty without a cache.
pub(super) fn schema(generator: &mut SchemaGenerator) -> Schema {
    let table = generator.subschema_for::<CacheReport>();
    json_schema!({ "type": "object", "anyOf": [table, { "type": "object", "maxProperties": 0 }] })
}

/// Returns the `cache` table of a report. `counters` cover `measured_ns`, and the caches have a capacity of `room_pages` pages together.
#[must_use]
pub(crate) fn cache(policy: &str, counters: &CacheCounters, room_pages: u64, page_bytes: u64, measured_ns: u64) -> Map<String, Value> {
    match serde_json::to_value(CacheReport::new(&CacheSource { policy, counters, room_pages, page_bytes, measured_ns })) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}
