//! What the papers leave open, chosen once for all figures.

use flashraid_workload::catalogue;

use crate::Point;
use crate::figure::{REQUESTS, SKIPPED_REQUESTS};

/// A setting that a paper leaves open.
#[derive(Debug, Clone, Copy)]
pub struct Choice {
    /// Key, or what it is about.
    pub key: &'static str,
    /// What was chosen.
    pub value: &'static str,
    /// Why.
    pub why: &'static str,
}

/// All of them; no figure has settings of its own beyond those its paper names.
pub const CHOICES: &[Choice] = &[
    Choice {
        key: "coordination.force_until",
        value: "one-victim",
        why: "what a forced cycle cleans; with \"watermark\" a cycle keeps the array busy for a fifth of a second, and coordination is worse than local",
    },
    Choice { key: "coordination.t_soft", value: "start+2", why: "the threshold of registration has no value in the paper" },
    Choice { key: "coordination.check_interval, idle_threshold", value: "10ms", why: "no values in the paper" },
    Choice { key: "array.stripe_unit (GGC 5, 6)", value: "4KiB", why: "\"4 KB stripe\" is read as the strip" },
    Choice {
        key: "ssd.timing.transfer_per_byte and placement",
        value: "as the presets",
        why: "those of the SSD extension of DiskSim, which the papers extended",
    },
    Choice {
        key: "ssd.warm_up",
        value: "full, then 2 × overwritten at random; for stand-ins half of it overwritten by the workload itself",
        why: "\"filled with random small block size data\"; members differ; where a workload goes everywhere both leave the same state (hpc-w: 11.61 and 11.61 ms under local collection)",
    },
    Choice {
        key: "footprint of the enterprise stand-ins",
        value: "what the real excerpts touch, 30 MiB to 5 GiB; exchange and fiu-*: all",
        why: "no paper gives it, and it decides how full victims are; where no excerpt shows it nothing is assumed",
    },
    Choice {
        key: "workload.requests, report.skip_requests",
        value: "stand-ins: the second of two equal halves",
        why: "schemes move the number of free blocks that they leave, and erases count only once it has settled",
    },
    Choice { key: "sizes of hpc-*", value: "exponential", why: "only means are given" },
    Choice {
        key: "bursts of hpc-w-burst-*",
        value: "100 requests, gaps that keep the mean rate",
        why: "the literal rates of Table 9 saturate the array",
    },
    Choice {
        key: "enterprise workloads",
        value: "stand-ins",
        why: "the traces are not public or not at hand; --trace NAME=FILE replaces one",
    },
    Choice { key: "cache.sync_timeout", value: "1ms", why: "LAWC gives no value" },
    Choice {
        key: "ggc in LAWC's figures",
        value: "wow with reactive-inclusive",
        why: "the paper compares with coordinated collection and names no cache for it",
    },
    Choice { key: "ssd.gc.t_hard", value: "0.5", why: "where a figure does not vary it" },
    Choice { key: "mlc-sata2, slc-sata2", value: "fitted to the means of GGC Table 3", why: "the drives' insides are not published" },
];

/// The array of GGC sections 5 and 6.
pub const GGC_ARRAY: &str = r#"
[array]
preset = "ggc-raid0-8"
[ssd]
preset = "ggc2014"
"#;

/// The device of PGC.
pub const PGC_DEVICE: &str = r#"
[array]
preset = "pgc-single"
[ssd]
preset = "pgc2011"
"#;

/// The arrays of LAWC; caches have the paper's sizes by default: 32 KiB for each member, a quarter of them in the first level.
pub const LAWC_ARRAY: &str = r#"
[array]
preset = "lawc-raid0-8"
[ssd]
preset = "lawc2017"
"#;

/// The drives of GGC section 3 and of the poster, under a closed loop; statistics begin when collection has settled.
pub const DRIVE: &str = r#"
[array]
level = "single"
[ssd]
preset = "mlc-sata2"
[workload]
duration = "40s"
[report]
skip_time = "10s"
"#;

/// How many requests a point takes, for stand-ins of traces and for other workloads.
struct Length {
    stand_in: u64,
    other: u64,
    /// The quick size has fewer by this factor.
    quick_divisor: u64,
}

/// A workload on a base configuration, on devices in the state that such a workload leaves.
fn point(name: impl Into<String>, text: &'static str, workload: &str, length: &Length) -> Point {
    let point = Point::new(name, text).set("workload.preset", workload);
    let is_stand_in = catalogue::find(workload).is_ok_and(|workload| workload.is_stand_in);
    if !is_stand_in {
        return point.set(REQUESTS, length.other).quick(REQUESTS, length.other / length.quick_divisor);
    }
    let quick = length.stand_in / length.quick_divisor;
    point
        .set("ssd.warm_up.pattern", "workload")
        .set("ssd.warm_up.overwrites", 0.5)
        .set(REQUESTS, length.stand_in)
        .set(SKIPPED_REQUESTS, length.stand_in / 2)
        .quick(REQUESTS, quick)
        .quick(SKIPPED_REQUESTS, quick / 2)
}

/// A point on the array of GGC.
pub fn ggc(name: impl Into<String>, workload: &str, scheme: &str) -> Point {
    let length = Length { stand_in: 1_000_000, other: 20_000, quick_divisor: 5 };
    point(name, GGC_ARRAY, workload, &length).set("coordination.scheme", scheme).quick("ssd.geometry.blocks", 64)
}

/// A point on the device of PGC.
pub fn pgc(name: impl Into<String>, workload: &str) -> Point {
    let length = Length { stand_in: 200_000, other: 50_000, quick_divisor: 5 };
    point(name, PGC_DEVICE, workload, &length).quick("ssd.geometry.blocks", 256)
}

/// A point on an array of LAWC with a write cache; `ggc` is `wow` with coordinated collection.
pub fn lawc(name: impl Into<String>, level: &str, policy: &str, workload: &str) -> Point {
    let array = if level == "raid5" { "lawc-raid5-9" } else { "lawc-raid0-8" };
    let length = Length { stand_in: 100_000, other: 30_000, quick_divisor: 5 };
    let point = point(name, LAWC_ARRAY, workload, &length).set("array.preset", array);
    match policy {
        "ggc" => point.set("cache.policy", "wow").set("coordination.scheme", "reactive-inclusive"),
        _ => point.set("cache.policy", policy),
    }
}

/// A point on `members` drives of the measurements.
pub fn drives(name: impl Into<String>, device: &str, level: &str, members: u32, workload: &str) -> Point {
    let point = Point::new(name, DRIVE).set("ssd.preset", device).set("workload.preset", workload);
    let point = match level {
        "single" => point,
        _ => point.set("array.level", level).set("array.members", members).set("array.stripe_unit", "256KiB"),
    };
    point.quick("workload.duration", "20s").quick("report.skip_time", "4s").quick("ssd.geometry.blocks", 128)
}
