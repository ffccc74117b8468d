//! What a report says of the write cache (rule 88).

use serde_json::{Map, Value, json};

use flashraid_model::cache::{Admissions, CacheCounters, Destages};

/// The `cache` table of a report: counts over `measured_ns` of caches that together have room for `room_pages` pages.
#[must_use]
pub fn cache(policy: &str, counters: &CacheCounters, room_pages: u64, page_bytes: u64, measured_ns: u64) -> Map<String, Value> {
    let ratio = |part: f64, whole: f64| (whole > 0.0).then(|| part / whole);
    let admissions = |pages: &Admissions| {
        let hits = pages.page_hits + pages.group_hits;
        json!({
            "page_hits": pages.page_hits, "group_hits": pages.group_hits, "misses": pages.misses,
            "hit_ratio": ratio(hits as f64, (hits + pages.misses) as f64),
        })
    };
    let destages = |destages: &Destages| {
        json!({
            "count": destages.count, "pages": destages.pages, "pages_mean": ratio(destages.pages as f64, destages.count as f64),
        })
    };
    let together = counters.common_all_ready + counters.common_timeouts;
    let report = json!({
        "policy": policy,
        "size_bytes": room_pages * page_bytes,
        "reads": {
            "hit": counters.reads_full, "partial": counters.reads_partial, "missed": counters.reads_missed,
            "pages_hit": counters.read_pages_hit,
        },
        "pages_written": admissions(&counters.host),
        "pages_from_inside": admissions(&counters.inner),
        "waits_for_room": {
            "count": counters.waits, "mean_us": ratio(counters.waited_ns as f64 / 1e3, counters.waits as f64),
        },
        "front": {
            "bypasses": counters.bypasses, "dependent": counters.dependent,
            "destages": counters.first_level_destages.count, "pages_destaged": counters.first_level_destages.pages,
        },
        "parity_reads": counters.parity_reads,
        "pages_trimmed": counters.pages_trimmed,
        "destages": destages(&counters.destages),
        "parity_pages_destaged": counters.parity_pages_destaged,
        "common_destages": {
            "all_ready": counters.common_all_ready, "timeouts": counters.common_timeouts,
            "caches_mean": ratio(counters.common_caches as f64, together as f64),
        },
        "occupancy": {
            "mean": ratio(counters.occupancy_page_ns as f64, measured_ns as f64 * room_pages as f64),
            "most": ratio(counters.occupancy_max_pages as f64, room_pages as f64),
        },
    });
    match report {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
