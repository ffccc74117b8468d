//! Figures of the write cache in a report (rule 88).

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value};

use flashraid_model::cache::{Admissions, CacheCounters, Destages};

/// Counts of all write caches together.
#[derive(Serialize, JsonSchema)]
struct CacheReport {
    /// Name of the policy.
    policy: String,
    /// Number of bytes for which there is room.
    size_bytes: u64,
    /// Counts of the host's reads.
    reads: CachedReads,
    /// Counts of the pages that the host wrote.
    pages_written: CachedPages,
    /// Counts of the pages that the first level sent to the second one, and of parity.
    pages_from_inside: CachedPages,
    /// Writes that waited for room.
    waits_for_room: RoomWaits,
    /// Counts of the first of two levels.
    front: CacheFront,
    /// Number of pages read because parity needed them.
    parity_reads: u64,
    /// Number of cached pages that trims have removed.
    pages_trimmed: u64,
    /// Destages from the cache to the members.
    destages: CacheDestages,
    /// Number of parity pages among those sent to the members.
    parity_pages_destaged: u64,
    /// Destages of several caches together.
    common_destages: CommonDestages,
    /// Share of the room that was used.
    occupancy: CacheOccupancy,
}

/// Counts of the host's reads.
#[derive(Serialize, JsonSchema)]
struct CachedReads {
    /// Number of reads of which all pages were in the cache.
    hit: u64,
    /// Number of reads of which some pages were.
    partial: u64,
    /// Number of reads of which no page was.
    missed: u64,
    /// Number of pages read from the cache.
    pages_hit: u64,
}

/// Counts of pages that entered the cache.
#[derive(Serialize, JsonSchema)]
struct CachedPages {
    /// Number of pages that replaced an earlier version.
    page_hits: u64,
    /// Number of new pages of an entry that another writer had made.
    group_hits: u64,
    /// Number of all other pages.
    misses: u64,
    /// Share of the first two kinds; `None` if no page entered.
    hit_ratio: Option<f64>,
}

/// Waits for room in the cache.
#[derive(Serialize, JsonSchema)]
struct RoomWaits {
    /// Number of these waits.
    count: u64,
    /// Mean of these waits, in microseconds.
    mean_us: Option<f64>,
}

/// Counts of the first of two levels.
#[derive(Serialize, JsonSchema)]
struct CacheFront {
    /// Number of writes that bypassed it.
    bypasses: u64,
    /// Number of writes that waited for it because it held one of their pages.
    dependent: u64,
    /// Number of its destages.
    destages: u64,
    /// Number of pages in these destages.
    pages_destaged: u64,
}

/// Destages from the cache to the members.
#[derive(Serialize, JsonSchema)]
struct CacheDestages {
    /// Number of these destages.
    count: u64,
    /// Number of pages in them.
    pages: u64,
    /// Mean number of pages in a destage.
    pages_mean: Option<f64>,
}

/// Destages of several caches together.
#[derive(Serialize, JsonSchema)]
struct CommonDestages {
    /// Number of these for which all caches were ready.
    all_ready: u64,
    /// Number of these that began after a time-out, because some caches were not ready.
    timeouts: u64,
    /// Mean number of caches that took part.
    caches_mean: Option<f64>,
}

/// Share of the room that was used.
#[derive(Serialize, JsonSchema)]
struct CacheOccupancy {
    /// Mean over the measured time.
    mean: Option<f64>,
    /// Greatest share in the measured time.
    most: Option<f64>,
}

/// Returns the schema of the `cache` table, which is empty without a cache.
pub fn schema(generator: &mut SchemaGenerator) -> Schema {
    let table = generator.subschema_for::<CacheReport>();
    json_schema!({ "type": "object", "anyOf": [table, { "type": "object", "maxProperties": 0 }] })
}

/// Returns the `cache` table of a report: counts over `measured_ns` of caches that together have room for `room_pages` pages.
#[must_use]
pub fn cache(policy: &str, counters: &CacheCounters, room_pages: u64, page_bytes: u64, measured_ns: u64) -> Map<String, Value> {
    let ratio = |part: f64, whole: f64| (whole > 0.0).then(|| part / whole);
    let admissions = |pages: &Admissions| {
        let hits = pages.page_hits + pages.group_hits;
        CachedPages {
            page_hits: pages.page_hits,
            group_hits: pages.group_hits,
            misses: pages.misses,
            hit_ratio: ratio(hits as f64, (hits + pages.misses) as f64),
        }
    };
    let destages = |destages: &Destages| CacheDestages {
        count: destages.count,
        pages: destages.pages,
        pages_mean: ratio(destages.pages as f64, destages.count as f64),
    };
    let together = counters.common_all_ready + counters.common_timeouts;
    let report = CacheReport {
        policy: policy.to_owned(),
        size_bytes: room_pages * page_bytes,
        reads: CachedReads {
            hit: counters.reads_full,
            partial: counters.reads_partial,
            missed: counters.reads_missed,
            pages_hit: counters.read_pages_hit,
        },
        pages_written: admissions(&counters.host),
        pages_from_inside: admissions(&counters.inner),
        waits_for_room: RoomWaits { count: counters.waits, mean_us: ratio(counters.waited_ns as f64 / 1e3, counters.waits as f64) },
        front: CacheFront {
            bypasses: counters.bypasses,
            dependent: counters.dependent,
            destages: counters.first_level_destages.count,
            pages_destaged: counters.first_level_destages.pages,
        },
        parity_reads: counters.parity_reads,
        pages_trimmed: counters.pages_trimmed,
        destages: destages(&counters.destages),
        parity_pages_destaged: counters.parity_pages_destaged,
        common_destages: CommonDestages {
            all_ready: counters.common_all_ready,
            timeouts: counters.common_timeouts,
            caches_mean: ratio(counters.common_caches as f64, together as f64),
        },
        occupancy: CacheOccupancy {
            mean: ratio(counters.occupancy_page_ns as f64, measured_ns as f64 * room_pages as f64),
            most: ratio(counters.occupancy_max_pages as f64, room_pages as f64),
        },
    };
    match serde_json::to_value(report) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}
