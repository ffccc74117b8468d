//! The settings that the papers leave open, chosen once for all figures.

use flashraid_workload::catalogue;

use crate::Point;
use crate::figure::{DRIVE, REQUESTS, SKIPPED_REQUESTS};

/// A setting that a paper leaves open.
#[derive(Debug, Clone, Copy)]
pub struct Choice {
    /// Key of the configuration, or the subject of the choice.
    pub key: &'static str,
    /// Value that was chosen.
    pub value: &'static str,
    /// Reason for the choice.
    pub why: &'static str,
}

/// All choices, each with the paper's words or with a reason. They were fixed before the ledger was made with them. A figure has no other
/// settings than these and those that its paper names.
pub const CHOICES: &[Choice] = &[
    Choice {
        key: "workload.address.footprint of hpc-*, pgc-synthetic",
        value: "3427 MiB",
        why: "inferred: the validation file `ssd-rw5m.parv` of the simulator that the papers extended, whose device is that of PGC Table II, gives its generator 7 018 904 sectors of the logical device. \
              PGC's \"3-4ms\" for a page behind a collection bears it out (4.6 ms; 12.6 ms on all of the device). GGC's own figures say no more than that victims are nearly empty: hpc-w gives the same from 0.2 to 3 % of the array",
    },
    Choice {
        key: "start, GGC",
        value: "worn in by the workload: half of the array overwritten",
        why: "quoted: \"SSDs are filled with random small block size data. This way, every drive has a different internal status before our benchmark runs\"; overwriting everything uniformly would undo the footprint",
    },
    Choice {
        key: "start, PGC",
        value: "filled, not overwritten; everything counts",
        why: "quoted: \"we fill the entire SSD with valid data prior to collecting performance information. Filling the entire SSD ensures that GC is triggered as new write requests arrive\". \
              Figs. 11 and 12 are worn in: their burst is shorter than what the reserve takes",
    },
    Choice {
        key: "start, LAWC",
        value: "stand-ins: filled, the second half of 600 000 requests; the skewed workload: twice overwritten at random; W(R, I, W): worn in",
        why: "the paper says nothing of it, and the same authors twice begin with filled drives: \"we fill the entire SSD with valid data prior to collecting performance information\" (PGC IV.A), \"SSDs are filled\" (GGC 5.2). \
              Worn in by themselves stands beside; then wow falls behind for good under exchange. From filled drives, what is measured is the onset of collection",
    },
    Choice {
        key: "ssd.gc.parallel_planes (GGC 5, 6)",
        value: "true",
        why: "the simulator that the paper extends looks for a plane to clean in each parallel unit, cleans all of them at once and charges the longest; one plane after another stands beside",
    },
    Choice {
        key: "cache.recency (LAWC)",
        value: "stores",
        why: "Algorithm 1, line 22: \"set the recency bit of the strip as true\" for every strip that is stored; section 2.1 sets it at hits, which stands beside",
    },
    Choice {
        key: "coordination.force_until",
        value: "pool-victims-and-watermark",
        why: "quoted: \"until the number of free blocks exceeds an internal threshold\" and \"all SSDs must run their GCs at the same time regardless of their status\"; the simulator that the paper extends cleans one victim in each plane when its collection is called, \
              and leaving out the test for few free blocks is the least change that forces it: one victim in each plane, then the threshold",
    },
    Choice {
        key: "cache.room",
        value: "whole",
        why: "quoted: \"As long as there is free space in the write cache, an incoming write request is stored\", a write group is \"a set of strips that have to be stored in disks at the same time\", \"the 1 MB request constitutes a write group\"; so a group enters whole, although the 256 KiB of Table 2 are a quarter of one. \
              The other way out, a size that counts groups (\"the WOW write cache queue\"), stands beside",
    },
    Choice {
        key: "coordination.t_soft",
        value: "start+2; start+1 for ggc.packages",
        why: "the threshold of registration has no value in the paper; collection stops at start+1, so that at start+2 all elements would always need it",
    },
    Choice { key: "coordination.check_interval, idle_threshold", value: "10ms", why: "no values in the paper" },
    Choice { key: "array.stripe_unit (GGC 5, 6)", value: "4KiB", why: "\"4 KB stripe\" is read as the strip" },
    Choice {
        key: "ssd.timing.transfer_per_byte and placement",
        value: "as the presets",
        why: "those of the SSD extension of DiskSim, which the papers extended",
    },
    Choice {
        key: "lawc2017",
        value: "as the reference simulator without copy-back; collection is triggered by writes",
        why: "quoted: Table 1, \"copy-back: disabled\"; section 3.2, a destage write triggers it; the reference looks at reads as well, which is shown beside",
    },
    Choice {
        key: "sizes of hpc-* and pgc-synthetic; sequential requests",
        value: "exponential; size and direction of the request before",
        why: "the law of the simulator's generator; of sizes only means are given",
    },
    Choice {
        key: "footprint of the enterprise stand-ins",
        value: "what the real excerpts touch, 30 MiB to 5 GiB; exchange and fiu-*: all",
        why: "no paper gives it, and it decides how full victims are; where no excerpt shows it nothing is assumed. cello in PGC comes near the paper on the generator's 3427 MiB, by fit only: both are shown",
    },
    Choice {
        key: "erases under proactive-idle",
        value: "after the host has written the reserve (10 % of raw capacity) twice",
        why: "the scheme first collects up to the whole reserve; erases count once that has settled",
    },
    Choice {
        key: "seeds",
        value: "three; one under hpc-* (but in GGC Fig. 8 and for ggc.packages), pgc-synthetic (but for pgc.fig8.page), GGC's financial, tpc-c, openmail, PGC's financial, openmail and tpc-h at the lowest rates, and LAWC's stand-ins and Fig. 9; five under GGC Fig. 8 and pgc.fig8.page, which seeds turn",
        why: "measured: under these the means of three seeds differ by less than 1 % in the median of the points and by 4 % at most, so that three cost more than they tell (PGC's tpc-h at twice the rate by 5 %); with two members they differ by 4 %, and the two points of ggc.packages, and cello in PGC with and without pipelining, by less than their seeds; pgc.fig8.page is a percentile of few requests. In LAWC Fig. 9 queues grow without bound, whatever the seed",
    },
    Choice {
        key: "variability",
        value: "standard deviation and variance, each by itself",
        why: "GGC 5.2 speaks of the variance, the abstract of variability",
    },
    Choice { key: "a spike (GGC Fig. 10)", value: "a response above the greatest under ideal", why: "the paper has no number" },
    Choice {
        key: "ssd.summary_page (GGC 5, 6)",
        value: "spread over all programs, where the program knows it",
        why: "else which requests summaries hit depends on how collection has left the pools, and ideal would differ in more than collections that take no time",
    },
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
    Choice { key: "cache capacity", value: "in pages", why: "a strip of 128 KiB does not fit into 24 KiB" },
    Choice { key: "cache.sync_timeout", value: "1ms", why: "LAWC gives no value" },
    Choice {
        key: "ggc in LAWC's figures",
        value: "wow with reactive-inclusive",
        why: "the paper compares with coordinated collection and names no cache for it",
    },
    Choice { key: "ssd.gc.t_hard", value: "0.5", why: "where a figure does not vary it" },
    Choice {
        key: "mlc-sata2, slc-sata2",
        value: "page_read, page_program, gc.stop fitted together with the controller to GGC Table 3, its deviations at 20 % writes apart, and to the means of Table 4",
        why: "the drives' insides are not published (docs/measured-drives.md). Fixed before: 10 dies, 45 % reserved, the link. Everything else about the drives is prediction",
    },
    Choice {
        key: "array.controller of the measured arrays",
        value: "4 requests in work, 1500 MB/s: fitted together with the drives",
        why: "arrays deliver 0.57 to 0.67 of their drives at every share of writes, also where hardly anything is collected: few requests in work do that, a limit of bandwidth alone takes most where drives are fastest \
              (docs/measured-drives.md). 850 MB/s and any number of requests, to which a fit of the drives first and the controller then had led, is shown beside, and so is what ties with the fit: 8 requests, 1000 MB/s, two blocks at a time. Table 4's deviations, Table 6 and Fig. 3 are prediction",
    },
    Choice { key: "requests of poster Fig. 1", value: "313KiB, depth 64", why: "\"large sequential\"; the size is that of GGC's W1" },
];

/// All choices for the figures of later papers.
pub const LATER_CHOICES: &[Choice] = &[
    Choice {
        key: "drives of IODA",
        value: "ioda-femu",
        why: "the parameters are those of the artifact. There a collection stops all chips of a drive at once, here each chip by itself, for as long and as often",
    },
    Choice {
        key: "rate and state, IODA",
        value: "the trace at its own rate; twice overwritten at random",
        why: "the artifact's scripts for replaying and ageing are in an image of a machine that is not at hand",
    },
    Choice {
        key: "addresses of traces",
        value: "wrapped at the end of the array",
        why: "a trace is of a larger volume than three drives of 12 GiB",
    },
    Choice {
        key: "iod3",
        value: "windows, and avoid by turns, with unknown times and without reads before writes",
        why: "in the artifact a device refuses every marked read in its turn, whether it collects or not, the host gets random times, and reads before writes are not marked",
    },
    Choice {
        key: "set-up of RackBlox, LinnOS, MittOS, Heimdall",
        value: "RAID-10 of four ioda-femu, 4 KiB at random, 70 % reads, a request each 20 µs",
        why: "racks, traces and drives of the papers are not at hand; a tenth of the time goes to collection here. Only directions are to be expected",
    },
    Choice {
        key: "hedge",
        value: "after the 95th percentile of a member's own reads, never cancelled",
        why: "the baseline in the artifact of Heimdall",
    },
];

/// Configuration of the array of GGC sections 5 and 6.
pub const GGC_ARRAY: &str = r#"
[array]
preset = "ggc-raid0-8"
[ssd]
preset = "ggc2014"
"#;

/// Configuration of the array of IODA. The trace comes with the figure.
pub const IODA_ARRAY: &str = r#"
[array]
level = "raid5"
members = 4
stripe_unit = "4KiB"
[ssd]
preset = "ioda-femu"
[workload]
address_fit = "wrap"
"#;

/// Configuration of mirrors of the same drives under small random requests. Statistics begin when collection has settled.
pub const MIRRORS: &str = r#"
[array]
level = "raid10"
members = 4
stripe_unit = "64KiB"
[ssd]
preset = "ioda-femu"
[workload]
kind = "synthetic"
requests = 600000
read_fraction = 0.7
size = "4KiB"
arrivals = { process = "poisson", mean_gap = "20us" }
[report]
skip_requests = 200000
"#;

/// Configuration of the device of PGC.
pub const PGC_DEVICE: &str = r#"
[array]
preset = "pgc-single"
[ssd]
preset = "pgc2011"
"#;

/// Configuration of the arrays of LAWC. By default, caches have the paper's sizes: 32 KiB for each member, a quarter of it in the first
/// level.
pub const LAWC_ARRAY: &str = r#"
[array]
preset = "lawc-raid0-8"
[ssd]
preset = "lawc2017"
"#;

/// Requests of hpc-w before erases count in GGC's array. They write twice the reserve, which is 10 % of 8 × 32 GiB. Each request writes 102
/// pages.
const SETTLED_HPC: u64 = 135_000;
/// Requests of financial before erases count in GGC's array. Each writes 1.6 pages.
const SETTLED_FINANCIAL: u64 = 9_300_000;
/// Number of requests that are then measured, as a share of those before.
const MEASURED: f64 = 0.5;

/// Divisor of the size of devices, and of all that depends on it, for `--quick`.
const QUICK_GGC: u64 = 8;
const QUICK_PGC: u64 = 8;

/// Returns the address space of the papers' generator (see [`CHOICES`]) on devices that are `divisor` times smaller.
fn footprint(divisor: u64) -> String {
    format!("{}KiB", 3427 * 1024 / divisor)
}

/// Returns true if the workload is that of the papers' generator.
fn is_generated(workload: &str) -> bool {
    workload.starts_with("hpc-") || workload == "pgc-synthetic"
}

fn is_stand_in(workload: &str) -> bool {
    catalogue::find_workload(workload).is_ok_and(|workload| workload.is_stand_in)
}

/// Sets the number of requests, of which the first `skipped` do not count. Both are fewer in the quick size.
fn length(point: Point, requests: u64, skipped: u64, quick_divisor: u64) -> Point {
    point
        .set(REQUESTS, requests)
        .set(SKIPPED_REQUESTS, skipped)
        .quick(REQUESTS, requests / quick_divisor)
        .quick(SKIPPED_REQUESTS, skipped / quick_divisor)
}

/// Overwrites the devices by the workload itself before the run begins.
pub fn worn_in(point: Point) -> Point {
    point.set("ssd.warm_up.pattern", "workload").set("ssd.warm_up.overwrites", 0.5)
}

/// Creates a point on the array of GGC.
pub fn ggc(name: impl Into<String>, workload: &str, scheme: &str) -> Point {
    let point = Point::new(name, GGC_ARRAY).set("workload.preset", workload);
    let point = if ["local", "ideal"].contains(&scheme) { point.set("coordination.scheme", scheme) } else { coordinated(point, scheme) };
    let point =
        worn_in(point).set("ssd.summary_page", "spread").set("ssd.gc.parallel_planes", true).quick("ssd.geometry.blocks", 512 / QUICK_GGC);
    let point = match is_stand_in(workload) {
        true => length(point, 1_000_000, 500_000, 5),
        false => length(point, 40_000, 0, 4).quick("workload.address.footprint", footprint(QUICK_GGC)),
    };
    point.one_seed(!SCATTERED.contains(&workload))
}

/// Workloads of which three seeds differ by up to 9 % in their means. With the others, the median difference is below 1 %, and the largest
/// is 4 %. Reductions are steadier: both of their points share a seed, and they differ by less than 1 % of themselves.
const SCATTERED: [&str; 2] = ["cello", "tpc-h"];

/// Creates a point whose collections are coordinated, forced as GGC does it.
fn coordinated(point: Point, scheme: &str) -> Point {
    point.set("coordination.scheme", scheme).set("coordination.force_until", "pool-victims-and-watermark")
}

/// Creates a point on the array of GGC that is long enough to count erases. Three seeds differ by 2 % in the median of the points, and by
/// at most 10 %.
pub fn ggc_settled(name: impl Into<String>, workload: &str, scheme: &str) -> Point {
    let settled = if workload == "financial" { SETTLED_FINANCIAL } else { SETTLED_HPC };
    length(ggc(name, workload, scheme), settled + (settled as f64 * MEASURED) as u64, settled, QUICK_GGC)
}

/// Creates a point on the device of PGC, which is full when it begins. All requests count. With the generator's workload, means and
/// variances of three seeds differ by at most 1 %.
pub fn pgc(name: impl Into<String>, workload: &str) -> Point {
    let point = Point::new(name, PGC_DEVICE).set("workload.preset", workload).set("ssd.warm_up.overwrites", 0);
    let point = length(point, 1_500_000, 0, QUICK_PGC).quick("ssd.geometry.blocks", 2048 / QUICK_PGC);
    if is_generated(workload) { point.quick("workload.address.footprint", footprint(QUICK_PGC)).one_seed(true) } else { point }
}

/// Creates a point on an array of LAWC with a write cache. The policy `ggc` stands for `wow` with coordinated collection.
pub fn lawc(name: impl Into<String>, level: &str, policy: &str, workload: &str) -> Point {
    let array = if level == "raid5" { "lawc-raid5-9" } else { "lawc-raid0-8" };
    let point = Point::new(name, LAWC_ARRAY).set("workload.preset", workload).set("array.preset", array);
    let point = match is_stand_in(workload) {
        // Three seeds of a sixth of the length would tell no more.
        true => length(point.set("ssd.warm_up.overwrites", 0), 600_000, 300_000, 30).one_seed(true),
        false => length(point, 30_000, 0, 5),
    };
    let point = point.set("cache.room", "whole").set("cache.recency", "stores");
    match policy {
        "ggc" => coordinated(point.set("cache.policy", "wow"), "reactive-inclusive"),
        _ => point.set("cache.policy", policy),
    }
}

/// Most requests in work and bandwidth of the measured arrays' controller, fitted together with the drives (docs/measured-drives.md).
const CONTROLLER_OUTSTANDING: u32 = 4;
const CONTROLLER_BANDWIDTH: &str = "1500MB/s";

/// Creates a point on `members` drives of the measurements.
pub fn drives(name: impl Into<String>, device: &str, level: &str, members: u32, workload: &str) -> Point {
    let point = Point::new(name, DRIVE).set("ssd.preset", device).set("workload.preset", workload);
    let point = match level {
        "single" => point,
        _ => {
            let point = point.set("array.level", level).set("array.members", members).set("array.stripe_unit", "256KiB");
            point.set("array.controller.outstanding", CONTROLLER_OUTSTANDING).set("array.controller.bandwidth", CONTROLLER_BANDWIDTH)
        }
    };
    point.quick("workload.duration", "20s").quick("report.skip_time", "4s").quick("ssd.geometry.blocks", 128)
}

/// Returns how often the host had written the devices' reserve when statistics began. It assumes that writes before were as those that are
/// measured.
pub fn turnovers(report: &serde_json::Value) -> Option<f64> {
    let number = |pointer: &str| report.pointer(pointer)?.as_f64();
    let skipped = number("/config/report/skip_requests").unwrap_or(0.0) / number("/requests/all")?;
    let of_geometry = |key: &str| number(&format!("/config/ssd/geometry/{key}"));
    let raw =
        of_geometry("dies")? * of_geometry("planes")? * of_geometry("blocks")? * of_geometry("pages")? * number("/config/array/members")?;
    Some(number("/flash/host_pages_written")? * skipped / (RESERVE * raw))
}

/// Share of the raw capacity of GGC's devices between the threshold of collection (5 %) and all that is reserved (15 %).
const RESERVE: f64 = 0.10;
/// Least number of times that the reserve must be written before erases count.
pub const TURNOVERS_MIN: f64 = 2.0;
