//! What a report says of the write cache (rule 88).

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value};

use flashraid_model::cache::{Admissions, CacheCounters, Destages};

/// Counts of all write caches together.
#[derive(Serialize, JsonSchema)]
struct CacheReport {
    /// The policy.
    policy: String,
    /// Bytes for which there is room.
    size_bytes: u64,
    /// Reads of the host.
    reads: CachedReads,
    /// Pages that the host wrote.
    pages_written: CachedPages,
    /// Pages that the first level sent down to the second one, and parity.
    pages_from_inside: CachedPages,
    /// Writes that waited for room.
    waits_for_room: RoomWaits,
    /// The first of two levels.
    front: CacheFront,
    /// Pages read for the sake of parity.
    parity_reads: u64,
    /// Cached pages that trims have removed.
    pages_trimmed: u64,
    /// What went from the cache to the members.
    destages: CacheDestages,
    /// Parity pages among what went to the members.
    parity_pages_destaged: u64,
    /// Destages of several caches together.
    common_destages: CommonDestages,
    /// How full it was.
    occupancy: CacheOccupancy,
}

/// Reads of the host.
#[derive(Serialize, JsonSchema)]
struct CachedReads {
    /// All of whose pages were in the cache.
    hit: u64,
    /// Some of whose pages were.
    partial: u64,
    /// None of whose pages was.
    missed: u64,
    /// Pages read from the cache.
    pages_hit: u64,
}

/// What happened to pages that came.
#[derive(Serialize, JsonSchema)]
struct CachedPages {
    /// They replaced an earlier version.
    page_hits: u64,
    /// New pages of an entry that another writer had made.
    group_hits: u64,
    /// All others.
    misses: u64,
    /// Share of the first two; `None` if no page came.
    hit_ratio: Option<f64>,
}

/// Waits for room.
#[derive(Serialize, JsonSchema)]
struct RoomWaits {
    /// How many.
    count: u64,
    /// Their mean, in microseconds.
    mean_us: Option<f64>,
}

/// The first of two levels.
#[derive(Serialize, JsonSchema)]
struct CacheFront {
    /// Writes that went past it.
    bypasses: u64,
    /// Writes that waited for it because it held a page of theirs.
    dependent: u64,
    /// Destages of it.
    destages: u64,
    /// Their pages.
    pages_destaged: u64,
}

/// What went from the cache to the members.
#[derive(Serialize, JsonSchema)]
struct CacheDestages {
    /// How many.
    count: u64,
    /// Their pages.
    pages: u64,
    /// Pages of one.
    pages_mean: Option<f64>,
}

/// Destages of several caches together.
#[derive(Serialize, JsonSchema)]
struct CommonDestages {
    /// All caches were ready.
    all_ready: u64,
    /// Those that were not were waited for in vain.
    timeouts: u64,
    /// Caches that took part, in the mean.
    caches_mean: Option<f64>,
}

/// Shares of the room that were taken.
#[derive(Serialize, JsonSchema)]
struct CacheOccupancy {
    /// In the mean over the time.
    mean: Option<f64>,
    /// At most.
    most: Option<f64>,
}

/// The schema of the `cache` table: an empty one without a cache.
pub fn schema(generator: &mut SchemaGenerator) -> Schema {
    let table = generator.subschema_for::<CacheReport>();
    json_schema!({ "type": "object", "anyOf": [table, { "type": "object", "maxProperties": 0 }] })
}

/// The `cache` table of a report: counts over `measured_ns` of caches that together have room for `room_pages` pages.
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
