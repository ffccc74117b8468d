//! Configurations of the benchmarks. They give each key, so that no preset and no default changes the measured work.

/// Eight SSDs in RAID-0 under large requests, each collecting on its own.
pub(super) const ARRAY: &str = include_str!("array.toml");
/// Settings with which the controller makes all members collect at once, one victim each.
pub(super) const COORDINATED: &[(&str, &str)] = &[
    ("coordination.scheme", "\"reactive-inclusive\""),
    ("coordination.force_until", "\"one-victim\""),
    ("coordination.answer", "\"prompt\""),
    ("coordination.notify", "\"at-start\""),
    ("coordination.across_dies", "true"),
    ("coordination.delay", "\"0s\""),
    ("coordination.latency", "{ gc_request = \"0s\", participate = \"0s\", force_gc = \"0s\", gc_state = \"0s\", gc_done = \"0s\" }"),
];
/// One SSD under random writes.
pub(super) const DEVICE: &str = include_str!("device.toml");
/// Settings that let requests interrupt the collection of `DEVICE`.
pub(super) const SEMI: &[(&str, &str)] = &[
    ("ssd.gc.preemption", "\"semi\""),
    ("ssd.gc.t_hard", "0.5"),
    ("ssd.gc.poll", "\"600ns\""),
    ("ssd.gc.pipeline", "false"),
    ("ssd.gc.merge", "false"),
    ("ssd.gc.reorder", "false"),
];
/// The settings that send its requests at times of their own.
pub(super) const AT_TIMES: &[(&str, &str)] = &[("workload.arrivals", "{ process = \"poisson\", mean_gap = \"4000/s\" }")];
/// Eight SSDs behind a write cache.
pub(super) const LAWC: &str = include_str!("lawc.toml");
/// One drive with channels and dynamic allocation.
pub(super) const NVME: &str = include_str!("nvme.toml");
/// One drive that writes superpages out of a buffer and collects superblocks little by little.
pub(super) const NVME_FULL: &str = include_str!("nvme_full.toml");
/// Settings that make eight small devices of `DEVICE` a RAID-5, under requests at times of their own, half of them reads.
pub(super) const PARITY: &[(&str, &str)] = &[
    ("array", "{ level = \"raid5\", members = 8, stripe_unit = \"4KiB\" }"),
    ("ssd.geometry.blocks", "256"),
    ("workload.read_fraction", "0.5"),
    ("workload.arrivals", "{ process = \"poisson\", mean_gap = \"4000/s\" }"),
];
/// Settings that make eight drives of `NVME_FULL` a RAID-5 that begins in the steady state.
pub(super) const PARITY_NVME: &[(&str, &str)] = &[
    ("array", "{ level = \"raid5\", members = 8, stripe_unit = \"64KiB\" }"),
    ("ssd.warm_up", "{ pattern = \"steady\" }"),
    ("workload.arrivals", "{ process = \"closed\", depth = 256 }"),
];
/// Settings that make `LAWC` a RAID-5.
pub(super) const CACHED: &[(&str, &str)] = &[("array", "{ level = \"raid5\", members = 8, stripe_unit = \"128KiB\" }")];
/// Settings of a first answer: eight drives of `PARITY_NVME` under the load of a database, in bursts.
pub(super) const ANSWER: &[(&str, &str)] = &[
    ("workload.read_fraction", "0.27"),
    ("workload.size", "{ distribution = \"exponential\", mean = \"24KiB\" }"),
    (
        "workload.arrivals",
        "{ process = \"markov-modulated\", mean_gap = \"29000/s\", rate_ratio = 8.0, busy_share = 0.1, mean_burst = \"20ms\" }",
    ),
];
/// A small array, which the study simulates with different members and schemes.
pub(super) const STUDY: &str = include_str!("study.toml");
