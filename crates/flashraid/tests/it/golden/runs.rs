//! The configuration of each golden run, and the traces that some of them read.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// One golden run: a short configuration of which the results are recorded.
pub(super) struct Run {
    pub name: &'static str,
    /// Text of the configuration that the settings change.
    pub base: &'static str,
    /// Keys that the run changes, with their values. The value of `workload.path` is the name of a trace from [`write_traces`].
    pub settings: &'static [(&'static str, &'static str)],
}

const fn run(name: &'static str, base: &'static str, settings: &'static [(&'static str, &'static str)]) -> Run {
    Run { name, base, settings }
}

/// Three SSDs with pools of blocks, small enough that a short load makes them collect all the time.
const POOLS: &str = r#"
[array]
level = "raid0"
members = 3
stripe_unit = "16KiB"
[ssd]
preset = "ggc2014"
[ssd.geometry]
dies = 4
planes = 2
blocks = 64
pages = 16
reserved = 0.25
[ssd.warm_up]
pattern = "random"
overwrites = 1
[coordination]
force_until = "victim-and-watermark"
check_interval = "300us"
idle_threshold = "200us"
[cache]
size = "192KiB"
[workload]
kind = "synthetic"
requests = 3000
read_fraction = 0.4
sequential_fraction = 0.2
arrivals = { process = "bursts", mean_gap = "700us", factor = 4, burst_requests = 30 }
size = { distribution = "exponential", mean = "8KiB", grain = "page" }
address = { pattern = "zipf", exponent = 0.8 }
"#;

/// The same SSDs as an array with parity.
const PARITY: &str = r#"
[array]
level = "raid5"
members = 5
stripe_unit = "8KiB"
[ssd]
preset = "ggc2014"
[ssd.geometry]
dies = 2
planes = 2
blocks = 64
pages = 16
reserved = 0.25
[ssd.warm_up]
pattern = "random"
overwrites = 1
[coordination]
force_until = "victim-and-watermark"
[cache]
size = "320KiB"
[workload]
kind = "synthetic"
requests = 2500
read_fraction = 0.5
high_priority_fraction = 0.1
arrivals = { process = "poisson", mean_gap = "2ms" }
size = { distribution = "bimodal", small = "4KiB", large = "32KiB", small_share = 0.7 }
address = { pattern = "hot-cold", request_share = 0.8, space_share = 0.3 }
"#;

/// Drives with superblocks, small enough that a short load fills them several times.
const DRIVES: &str = r#"
[array]
level = "raid0"
members = 2
stripe_unit = "64KiB"
[ssd]
preset = "nvme-tlc-read"
scale = 1
[ssd.channel]
dies_per_channel = 2
[ssd.geometry]
dies = 4
planes = 2
blocks = 40
pages = 96
reserved = 0.4
[ssd.warm_up]
pattern = "random"
overwrites = 1
[coordination]
check_interval = "200us"
idle_threshold = "100us"
[cache]
size = "1MiB"
[workload]
kind = "synthetic"
requests = 4000
read_fraction = 0.4
arrivals = { process = "poisson", mean_gap = "250us" }
size = { distribution = "exponential", mean = "32KiB", grain = "page" }
"#;

/// Two tenants of one drive, each with its own placement handle.
const TENANTS: &str = r#"
[array]
level = "single"
[ssd]
preset = "nvme-gen5"
scale = 1
[ssd.channel]
dies_per_channel = 2
[ssd.geometry]
dies = 2
planes = 2
blocks = 80
pages = 144
reserved = 0.2
[ssd.superblock]
target = 8
floor = 3
[ssd.placement_handles]
handles = 2
[ssd.warm_up]
pattern = "workload"
overwrites = 1
[workload]
kind = "mix"
requests = 6000
[[workload.streams]]
kind = "synthetic"
read_fraction = 0.2
size = "4KiB"
address = { pattern = "hot-cold", request_share = 0.9, space_share = 0.1 }
arrivals = { process = "poisson", mean_gap = "200us" }
[[workload.streams]]
kind = "synthetic"
read_fraction = 0
size = "32KiB"
sequential_fraction = 1
arrivals = { process = "markov-modulated", mean_gap = "700us", rate_ratio = 5, busy_share = 0.2, mean_burst = "20ms" }
rate_scale = 1.5
"#;

pub(super) const RUNS: [Run; 70] = [
    // Devices of the papers' presets.
    run("pools", POOLS, &[("ssd.preset", "ggc2014")]),
    run("device-pgc2011", POOLS, &[("ssd.preset", "pgc2011"), ("array.level", "single"), ("array.members", "1")]),
    run("device-ioda-femu", POOLS, &[("ssd.preset", "ioda-femu"), ("ssd.gc.start", "3 blocks"), ("read.plan", "avoid")]),
    run("device-lawc2017", POOLS, &[("ssd.preset", "lawc2017"), ("ssd.warm_up.pattern", "workload")]),
    run("device-mlc-sata2", POOLS, &[("ssd.preset", "mlc-sata2"), ("ssd.geometry.blocks", "128")]),
    run("device-slc-sata2", POOLS, &[("ssd.preset", "slc-sata2"), ("workload.arrivals", "{ process = \"closed\", depth = 16 }")]),
    run("device-nvme-simple", POOLS, &[("ssd.preset", "nvme-simple"), ("workload.arrivals.mean_gap", "1500us")]),
    // Schemes that coordinate garbage collection between members.
    run("reactive-inclusive", POOLS, &[("coordination.scheme", "reactive-inclusive")]),
    run("reactive-selective", POOLS, &[("coordination.scheme", "reactive-selective"), ("coordination.delay", "300us")]),
    run("proactive-idle", POOLS, &[("coordination.scheme", "proactive-idle"), ("coordination.force_until", "one-victim")]),
    run(
        "proactive-soft-limit",
        POOLS,
        &[("coordination.scheme", "proactive-soft-limit"), ("coordination.shallow_depth", "2"), ("coordination.across_dies", "false")],
    ),
    run("ideal", POOLS, &[("coordination.scheme", "ideal")]),
    run(
        "messages-take-time",
        POOLS,
        &[
            ("coordination.scheme", "reactive-inclusive"),
            ("coordination.notify", "soft"),
            ("coordination.at_idle", "true"),
            ("coordination.ggc_aware", "[0, 2]"),
            ("coordination.latency", "{ gc_request = \"20us\", force_gc = \"30us\", gc_state = \"10us\", gc_done = \"20us\" }"),
        ],
    ),
    // Preemption, collection when idle, allocation, and transfer to the dies.
    run("semi", POOLS, &[("ssd.gc.preemption", "semi"), ("ssd.gc.merge", "true"), ("ssd.gc.reorder", "true"), ("ssd.gc.pipeline", "true")]),
    run(
        "semi-in-flight",
        POOLS,
        &[
            ("ssd.gc.preemption", "semi"),
            ("ssd.gc.pipeline", "in-flight"),
            ("ssd.gc.t_hard", "0.8"),
            ("ssd.transfer", "channel"),
            ("ssd.channel.dies_per_channel", "2"),
            ("workload.high_priority_fraction", "0.2"),
        ],
    ),
    run(
        "suspend-planes",
        POOLS,
        &[("ssd.gc.preemption", "suspend"), ("ssd.gc.blocking", "plane"), ("ssd.gc.idle", "300us"), ("ssd.link", "200MB/s")],
    ),
    run("idle-dynamic", POOLS, &[("ssd.gc.idle", "300us"), ("ssd.allocation", "dynamic"), ("ssd.gc.trigger", "write")]),
    run(
        "semi-coordinated",
        POOLS,
        &[("ssd.gc.preemption", "semi"), ("ssd.gc.merge", "true"), ("coordination.scheme", "reactive-inclusive"), ("cache.policy", "wow")],
    ),
    // Policies that choose the block to collect.
    run("victim-cost-benefit", POOLS, &[("ssd.gc.victim", "cost-benefit"), ("ssd.gc.separate_open_block", "true")]),
    run("victim-d-choices", POOLS, &[("ssd.gc.victim", "d-choices"), ("ssd.gc.pool", "die"), ("ssd.gc.copy_back", "false")]),
    run("victim-fifo", POOLS, &[("ssd.gc.victim", "fifo"), ("ssd.summary_page", "\"spread\""), ("ssd.die_stride", "8")]),
    run("victim-random", POOLS, &[("ssd.gc.victim", "random"), ("ssd.plane_choice", "rotate")]),
    run(
        "victim-wear-aware",
        POOLS,
        &[("ssd.gc.victim", "{ policy = \"greedy-wear-aware\", threshold = 0.95 }"), ("ssd.endurance", "20"), ("ssd.gc.idle", "1ms")],
    ),
    // Levels of the array, failures of members, and write caches.
    run("raid1", PARITY, &[("array.level", "raid1"), ("array.members", "3"), ("array.failure", "{ member = 1, at = \"1s\" }")]),
    run(
        "raid10-rebuilt",
        PARITY,
        &[
            ("array.level", "raid10"),
            ("array.members", "4"),
            ("array.failure", "{ member = 2, at = \"500ms\" }"),
            ("array.rebuild", "{ rate = \"2MB/s\", delay = \"200ms\", in_flight = 4, spare = \"blank\", finish = true }"),
        ],
    ),
    run("raid4", PARITY, &[("array.level", "raid4"), ("array.controller", "{ outstanding = 8, bandwidth = \"50MB/s\" }")]),
    run(
        "raid5-rebuilt",
        PARITY,
        &[
            ("array.failure", "{ member = 3, at = \"1s\" }"),
            ("array.rebuild", "{ rate = \"3MB/s\", in_flight = 2 }"),
            ("coordination.scheme", "reactive-inclusive"),
        ],
    ),
    run(
        "raid6-two-failures",
        PARITY,
        &[
            ("array.level", "raid6"),
            ("array.members", "6"),
            ("array.failure", "[{ member = 0, at = \"1s\" }, { member = 5, at = \"2s\" }]"),
            ("array.rebuild", "{ rate = \"2MB/s\", spares = 2 }"),
        ],
    ),
    run("cache-wow", PARITY, &[("cache.policy", "wow"), ("cache.low", "0.5"), ("cache.high", "0.9"), ("cache.in_flight", "4")]),
    run("cache-stow", PARITY, &[("cache.policy", "stow"), ("workload.sequential_fraction", "0.5")]),
    run("cache-iwc", PARITY, &[("cache.policy", "iwc"), ("array.failure", "{ member = 4, at = \"1s\" }")]),
    run("cache-iwc-sync", PARITY, &[("cache.policy", "iwc-sync"), ("cache.sync_timeout", "3ms"), ("array.level", "raid0")]),
    run("cache-lawc", PARITY, &[("cache.policy", "lawc"), ("ssd.gc.preemption", "semi"), ("coordination.scheme", "proactive-soft-limit")]),
    // Members that ask for leave or take turns, read plans, and a slow member.
    run("stagger", PARITY, &[("coordination.scheme", "stagger"), ("coordination.retry", "500us"), ("coordination.idle_gap", "3ms")]),
    run(
        "stagger-mirrors-avoid",
        PARITY,
        &[
            ("coordination.scheme", "stagger"),
            ("coordination.scope", "mirror-set"),
            ("array.level", "raid10"),
            ("array.members", "4"),
            ("read.plan", "avoid"),
            ("read.knowledge", "member"),
        ],
    ),
    run(
        "windows",
        PARITY,
        &[("coordination.scheme", "windows"), ("coordination.window", "40ms"), ("array.failure", "{ member = 2, at = \"1s\" }")],
    ),
    run("rotate", PARITY, &[("coordination.scheme", "rotate"), ("array.failure", "{ member = 2, at = \"1s\" }")]),
    run("rotate-avoid", PARITY, &[("coordination.scheme", "rotate"), ("coordination.pause", "2ms"), ("read.plan", "avoid")]),
    run("windows-avoid", PARITY, &[("coordination.scheme", "windows"), ("coordination.window", "60ms"), ("read.plan", "avoid")]),
    run(
        "windows-avoid-turn",
        PARITY,
        &[
            ("coordination.scheme", "windows"),
            ("coordination.window", "60ms"),
            ("read.plan", "avoid"),
            ("read.knowledge", "turn"),
            ("read.remaining", "unknown"),
        ],
    ),
    run("avoid", PARITY, &[("read.plan", "avoid"), ("read.remaining", "unknown"), ("array.level", "raid6"), ("array.members", "6")]),
    run("hedge", PARITY, &[("read.plan", "hedge"), ("read.learn", "100"), ("read.cancel", "queued")]),
    run("predict", PARITY, &[("read.plan", "predict"), ("read.then_hedge", "true"), ("read.after", "2ms"), ("cache.policy", "wow")]),
    run(
        "slow-member",
        PARITY,
        &[
            (
                "array.slow",
                "[{ member = 1, factor = 10, share = 0.2 }, { member = 3, from = \"500ms\", until = \"3s\", add = \"1ms\", stall = \"5ms\", every = \"100ms\" }]",
            ),
            ("read.plan", "hedge"),
            ("read.after", "1ms"),
        ],
    ),
    run(
        "drives-in-turn",
        DRIVES,
        &[
            ("coordination.scheme", "windows"),
            ("coordination.window", "50ms"),
            ("array.level", "raid5"),
            ("array.members", "3"),
            ("read.plan", "hedge"),
        ],
    ),
    // Drives that write superblocks.
    run("drives", DRIVES, &[("ssd.preset", "nvme-tlc-read")]),
    run(
        "device-nvme-tlc-mixed",
        DRIVES,
        &[("ssd.preset", "nvme-tlc-mixed"), ("ssd.gc.preemption", "suspend"), ("ssd.superblock.cache_read", "true")],
    ),
    run("device-nvme-tlc-gen3", DRIVES, &[("ssd.preset", "nvme-tlc-gen3"), ("ssd.superblock.plane_reads", "die")]),
    run("device-nvme-tlc-16k", DRIVES, &[("ssd.preset", "nvme-tlc-16k"), ("ssd.superblock.programs_at_once", "2")]),
    run("device-nvme-qlc", DRIVES, &[("ssd.preset", "nvme-qlc"), ("ssd.warm_up.pattern", "steady"), ("workload.arrivals.mean_gap", "2ms")]),
    run("device-nvme-tlc-30720", DRIVES, &[("ssd.preset", "nvme-tlc-30720"), ("ssd.warm_up.pattern", "steady")]),
    run(
        "device-nvme-qlc-122880",
        DRIVES,
        &[("ssd.preset", "nvme-qlc-122880"), ("ssd.warm_up.pattern", "steady"), ("workload.arrivals.mean_gap", "2ms")],
    ),
    run(
        "device-nvme-qlc-gen3",
        DRIVES,
        &[
            ("ssd.preset", "nvme-qlc-gen3"),
            ("ssd.slc", "{ mode = \"dynamic\", share = 0.5, program = \"200us\", read = \"25us\" }"),
            ("workload.arrivals.mean_gap", "1ms"),
        ],
    ),
    run(
        "device-nvme-gen5",
        DRIVES,
        &[("ssd.preset", "nvme-gen5"), ("workload.arrivals", "{ process = \"closed\", depth = 24, think = \"20us\" }")],
    ),
    run(
        "device-nvme-gen5-6400",
        DRIVES,
        &[
            ("ssd.preset", "nvme-gen5-6400"),
            ("ssd.queues", "{ queues = 2, burst = 2, commands = 8 }"),
            ("workload.arrivals.mean_gap", "150us"),
        ],
    ),
    run(
        "device-nvme-gen5-12800",
        DRIVES,
        &[("ssd.preset", "nvme-gen5-12800"), ("ssd.superblock.refresh_reads", "40"), ("ssd.superblock.wear_difference", "3")],
    ),
    run(
        "device-nvme-gen5-25600",
        DRIVES,
        &[
            ("ssd.preset", "nvme-gen5-25600"),
            ("ssd.superblock.rain", "true"),
            ("ssd.geometry.reserved", "0.6"),
            ("ssd.buffer", "{ protected = false, linger = \"1ms\" }"),
            ("ssd.warm_up.start", "fresh"),
        ],
    ),
    run("device-nvme-mlc-9100", DRIVES, &[("ssd.preset", "nvme-mlc-9100"), ("workload.arrivals.mean_gap", "1ms")]),
    run(
        "device-nvme-mlc-p3700",
        DRIVES,
        &[("ssd.preset", "nvme-mlc-p3700"), ("ssd.gc.preemption", "suspend"), ("workload.arrivals.mean_gap", "1ms")],
    ),
    run(
        "device-nvme-client-xg6",
        DRIVES,
        &[("ssd.preset", "nvme-client-xg6"), ("ssd.background", "{ every = \"20ms\", lasts = \"1ms\" }")],
    ),
    run(
        "device-sata-mlc-s3700",
        DRIVES,
        &[("ssd.preset", "sata-mlc-s3700"), ("workload.arrivals", "{ process = \"closed\", depth = 64 }")],
    ),
    run(
        "device-sata-tlc-s4500",
        DRIVES,
        &[("ssd.preset", "sata-tlc-s4500"), ("ssd.read_retry", "{ share = 0.05, times = 2 }"), ("workload.arrivals.mean_gap", "1ms")],
    ),
    run("drives-slc", DRIVES, &[("ssd.slc", "{ mode = \"static\", share = 0.1, program = \"200us\", read = \"25us\" }")]),
    run("drives-coordinated", DRIVES, &[("coordination.scheme", "proactive-soft-limit"), ("array.level", "raid5"), ("array.members", "4")]),
    run(
        "drives-cached",
        DRIVES,
        &[
            ("cache.policy", "lawc"),
            ("coordination.scheme", "reactive-inclusive"),
            ("array.level", "raid5"),
            ("array.members", "3"),
            ("array.failure", "{ member = 1, at = \"300ms\" }"),
            ("array.rebuild", "{ rate = \"20MB/s\" }"),
            ("ssd.gc.preemption", "suspend"),
            ("ssd.suspension", "{ program = { suspensions_max = 2 }, erase = { suspend = \"300us\", resume = \"20us\" } }"),
        ],
    ),
    run("tenants", TENANTS, &[("ssd.queues", "{ queues = 2, commands = 16 }")]),
    run("tenants-apart", TENANTS, &[("ssd.placement_handles.isolation", "persistently"), ("ssd.gc.preemption", "suspend")]),
    // Traces with reads, writes, discards, zeroes, and forced writes.
    run(
        "trace-raid5",
        PARITY,
        &[
            ("workload", "{ kind = \"trace\", address_fit = \"wrap\" }"),
            ("workload.path", "blkparse.txt"),
            ("ssd.write_zeroes", "deallocate"),
            ("array.members", "3"),
            ("array.stripe_unit", "4KiB"),
        ],
    ),
    run(
        "trace-drives",
        DRIVES,
        &[
            ("workload", "{ kind = \"trace\", address_fit = \"wrap\", rate_scale = 4, limit = 2500 }"),
            ("workload.path", "blkparse.txt"),
            ("ssd.buffer.protected", "false"),
            ("ssd.write_zeroes", "deallocate"),
        ],
    ),
    run(
        "trace-devices",
        POOLS,
        &[
            (
                "workload",
                "{ kind = \"trace\", address_fit = \"scale\", rate_scale = 2, discards = \"ignore\", drop_repeats_within = \"1ms\" }",
            ),
            ("workload.path", "msr.csv"),
            ("coordination.scheme", "reactive-selective"),
        ],
    ),
];

/// Writes the traces of the runs to `folder`. The requests come from a generator in this function, so no change elsewhere alters them.
pub(super) fn write_traces(folder: &Path) {
    let mut state = 1_u64;
    let mut draw = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let (mut blkparse, mut msr) = (String::new(), String::new());
    let mut time_us = 0;
    for number in 1..=3000 {
        time_us += draw(3000);
        let kind = ["R", "RA", "W", "W", "WS", "WFS", "D", "WZ"][draw(8) as usize];
        let (sector, sectors) = (draw(1 << 15), 1 + draw(64));
        let (seconds, rest_us) = (time_us / 1_000_000, time_us % 1_000_000);
        writeln!(blkparse, "  8,16   1 {number:8} {seconds:5}.{rest_us:06}000   697  Q {kind:>3} {sector} + {sectors} [writer]").unwrap();
        let (disk, word) = (draw(2), ["Read", "Write"][draw(2) as usize]);
        writeln!(msr, "{},host,{disk},{word},{},{},77", 10 * time_us, sector * 512, sectors * 512).unwrap();
    }
    fs::write(folder.join("blkparse.txt"), blkparse).unwrap();
    fs::write(folder.join("msr.csv"), msr).unwrap();
}
