//! What the papers leave open, chosen once for all figures.

use crate::Point;

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

/// All of them. Values are the defaults of the program and its presets: no figure has settings of its own beyond those its paper names.
pub const CHOICES: &[Choice] = &[
    Choice {
        key: "coordination.force_until",
        value: "one-victim",
        why: "what a forced cycle cleans; with \"watermark\" a cycle holds the array for a fifth of a second, and coordination is worse than local",
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
        value: "full, then 2 × overwritten at random",
        why: "\"filled with random small block size data\"; members differ",
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
[workload]
requests = 20000
"#;

/// The device of PGC.
pub const PGC_DEVICE: &str = r#"
[array]
preset = "pgc-single"
[ssd]
preset = "pgc2011"
[workload]
requests = 50000
"#;

/// The arrays of LAWC; caches have the paper's sizes by default: 32 KiB for each member, a quarter of them in front.
pub const LAWC_ARRAY: &str = r#"
[array]
preset = "lawc-raid0-8"
[ssd]
preset = "lawc2017"
[workload]
requests = 30000
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

/// A point on the array of GGC.
pub fn ggc(name: impl Into<String>, workload: &str, scheme: &str) -> Point {
    let point = Point::new(name, GGC_ARRAY).set("workload.preset", workload).set("coordination.scheme", scheme);
    point.quick("ssd.geometry.blocks", 64).quick("ssd.warm_up.overwrites", 1).quick("workload.requests", 4000)
}

/// A point on the device of PGC.
pub fn pgc(name: impl Into<String>, workload: &str) -> Point {
    let point = Point::new(name, PGC_DEVICE).set("workload.preset", workload);
    point.quick("ssd.geometry.blocks", 256).quick("workload.requests", 10_000)
}

/// A point on an array of LAWC with a write cache; `ggc` is `wow` with coordinated collection.
pub fn lawc(name: impl Into<String>, level: &str, policy: &str, workload: &str) -> Point {
    let array = if level == "raid5" { "lawc-raid5-9" } else { "lawc-raid0-8" };
    let point = Point::new(name, LAWC_ARRAY).set("array.preset", array).set("workload.preset", workload);
    let point = match policy {
        "ggc" => point.set("cache.policy", "wow").set("coordination.scheme", "reactive-inclusive"),
        _ => point.set("cache.policy", policy),
    };
    point.quick("workload.requests", 4000)
}

/// A point on `members` drives of the measurements.
pub fn drives(name: impl Into<String>, device: &str, level: &str, members: u32, workload: &str) -> Point {
    let point = Point::new(name, DRIVE).set("ssd.preset", device).set("workload.preset", workload);
    let point = match level {
        "single" => point,
        _ => point.set("array.level", level).set("array.members", members).set("array.stripe_unit", "256KiB"),
    };
    point.quick("workload.duration", "12s").quick("report.skip_time", "2s").quick("ssd.geometry.blocks", 128)
}
