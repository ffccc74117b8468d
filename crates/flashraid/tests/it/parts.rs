//! Tests that the parts of response times add up.
//!
//! Every mechanism runs ten thousand requests. The parts of each request add up to its response time to the nanosecond. The means of the
//! parts in the report add up to the mean response time.

use flashraid::model::metrics::breakdown::{RESPONSE_TIME_CAUSE_NAMES, times_ns_by_cause};
use flashraid::report::MeanResponseTimeByCause;
use flashraid::{CompletedRequest, Observer, OpKind, Report, Request, RequestSource, Simulation, SourceError};

use crate::drives::DRIVES;

const BASE: &str = r#"
[array]
level = "raid0"
members = 4
[ssd]
preset = "ggc2014"
channel.dies_per_channel = 2
[ssd.warm_up]
overwrites = 0.8
[ssd.geometry]
dies = 2
planes = 2
blocks = 24
pages = 16
reserved = 0.4
[ssd.gc]
start = "2 blocks"
stop = "start+1"
[cache]
size = "256KiB"
[workload]
requests = 10000
read_fraction = 0.4
arrivals = { process = "poisson", mean_gap = "700us" }
size = { distribution = "exponential", mean = "8KiB", grain = "page" }
"#;

/// Name of a mechanism, the settings that switch it on, and the parts of response times that must then be above zero.
type Mechanism = (&'static str, &'static [(&'static str, &'static str)], &'static [&'static str]);

/// Setting that makes dies stall for work of their own.
const STALLS: (&str, &str) = ("ssd.background", "{every=\"20ms\", lasts=\"2ms\"}");

/// Setting that makes pages need further array reads.
const RETRIES: (&str, &str) = ("ssd.read_retry", "{share=0.1, times=3}");

const MECHANISMS: &[Mechanism] = &[
    ("nothing special", &[], &["queue", "collection", "flash", "transfer"]),
    ("a closed loop", &[("workload.arrivals", "{process=\"closed\", depth=16}")], &["queue", "collection"]),
    ("semi preemption", &[("ssd.gc.preemption", "semi")], &["queue", "collection"]),
    (
        "semi preemption with all options",
        &[("ssd.gc.preemption", "semi"), ("ssd.gc.merge", "true"), ("ssd.gc.reorder", "true"), ("ssd.gc.pipeline", "true")],
        &["queue", "collection"],
    ),
    ("suspension", &[("ssd.gc.preemption", "suspend")], &["queue", "collection"]),
    ("idle collection", &[("ssd.gc.idle", "300us")], &["collection"]),
    ("plane blocking", &[("ssd.gc.blocking", "plane"), ("ssd.gc.pool", "plane")], &["queue", "collection"]),
    ("dynamic allocation", &[("ssd.allocation", "dynamic")], &["queue", "collection"]),
    ("channels", &[("ssd.transfer", "channel")], &["transfer", "queue"]),
    ("the drive of today", &[("ssd.preset", "nvme-simple")], &["flash"]),
    ("stalls of dies", &[STALLS], &["other"]),
    ("read retries", &[RETRIES], &["flash"]),
    ("a limit of the link", &[("ssd.link.rate", "20MB/s")], &["transfer"]),
    ("the host's port", &[("array.controller.outstanding", "4"), ("array.controller.bandwidth", "60MB/s")], &["queue", "transfer"]),
    ("reactive-inclusive", &[("coordination.scheme", "reactive-inclusive")], &["collection"]),
    ("reactive-selective", &[("coordination.scheme", "reactive-selective")], &["collection"]),
    ("proactive-idle", &[("coordination.scheme", "proactive-idle")], &["collection"]),
    ("proactive-soft-limit", &[("coordination.scheme", "proactive-soft-limit")], &["collection"]),
    ("stagger", &[("coordination.scheme", "stagger")], &["collection"]),
    ("windows", &[("coordination.scheme", "windows")], &["collection"]),
    ("rotate", &[("coordination.scheme", "rotate")], &["collection"]),
    ("ideal", &[("coordination.scheme", "ideal")], &["queue", "flash"]),
    ("wow", &[("cache.policy", "wow")], &["cache"]),
    ("iwc", &[("cache.policy", "iwc")], &["cache"]),
    ("iwc-sync", &[("cache.policy", "iwc-sync")], &["cache"]),
    ("lawc", &[("cache.policy", "lawc")], &["cache"]),
    ("raid4", &[("array.level", "raid4")], &["parity"]),
    ("raid5", &[("array.level", "raid5")], &["parity", "collection"]),
    ("raid6", &[("array.level", "raid6")], &["parity"]),
    ("raid5 behind a cache", &[("array.level", "raid5"), ("cache.policy", "lawc")], &["cache"]),
    ("raid1", &[("array.level", "raid1"), ("array.members", "2")], &["queue"]),
    ("raid10", &[("array.level", "raid10")], &["queue"]),
    ("a failure", &[("array.level", "raid5"), ("array.failure", "{member=1, at=\"1s\"}")], &["parity"]),
    ("a slow member", &[("array.level", "raid5"), ("array.slow", "{member=1, factor=10, share=0.2}")], &["flash"]),
    ("a member that stalls", &[("array.slow", "{member=1, stall=\"20ms\", every=\"100ms\"}")], &["other"]),
    (
        "a rebuild",
        &[
            ("array.level", "raid5"),
            ("array.failure", "{member=1, at=\"1s\"}"),
            ("array.rebuild", "{delay=\"500ms\", rate=\"5MB/s\", spare=\"blank\"}"),
        ],
        &["parity", "queue"],
    ),
    (
        "two failures",
        &[
            ("array.level", "raid6"),
            ("array.members", "6"),
            ("array.failure", "[{member=1, at=\"1s\"}, {member=3, at=\"2s\"}]"),
            ("array.rebuild", "{delay=\"500ms\", rate=\"5MB/s\", spare=\"blank\", spares=2}"),
        ],
        &["parity"],
    ),
    ("soft notification", &[("coordination.scheme", "reactive-inclusive"), ("coordination.notify", "soft")], &["collection"]),
    ("a delay of the controller", &[("coordination.scheme", "reactive-selective"), ("coordination.delay", "1ms")], &["collection"]),
];

const MECHANISMS_OF_DRIVES: &[Mechanism] = &[
    ("superblocks", &[], &["queue", "flash", "transfer"]),
    ("stalls of dies of superblocks", &[STALLS], &["other"]),
    ("read retries of superblocks", &[RETRIES], &["flash"]),
    ("a buffer that is not protected", &[("ssd.buffer.protected", "false")], &["flash"]),
    ("superblocks in RAID-5", &[("array.level", "raid5")], &["parity"]),
    ("superblocks behind a cache", &[("array.level", "raid5"), ("cache.policy", "lawc")], &["cache"]),
    ("superblocks, semi preemption", &[("ssd.gc.preemption", "semi")], &["flash"]),
    ("superblocks, idle collection", &[("ssd.gc.idle", "300us")], &["flash"]),
    ("coordinated superblocks", &[("coordination.scheme", "reactive-inclusive")], &["flash"]),
    ("superblocks that ask early", &[("coordination.scheme", "reactive-selective"), ("coordination.delay", "100us")], &["flash"]),
];

/// Adds up the response times of all requests, and each of their parts.
#[derive(Default)]
struct Sums {
    requests: u64,
    response_ns: u128,
    parts_ns: [u128; 7],
}

impl Observer for Sums {
    fn request_completed(&mut self, done: &CompletedRequest) {
        let response_ns = done.done_ns - done.arrival_ns;
        assert_eq!(done.time.total_ns(), response_ns, "{done:?}");
        self.requests += 1;
        self.response_ns += u128::from(response_ns);
        self.parts_ns.iter_mut().zip(times_ns_by_cause(&done.time)).for_each(|(sum, part)| *sum += u128::from(part));
    }
}

#[test]
fn parts_add_up_to_the_response_with_every_mechanism() {
    let of_drives = MECHANISMS_OF_DRIVES.iter().map(|mechanism| (DRIVES, mechanism));
    for (base, (name, settings, shown)) in MECHANISMS.iter().map(|mechanism| (BASE, mechanism)).chain(of_drives) {
        let mut sums = Sums::default();
        let simulation = Simulation::from_toml(base).unwrap().set("workload.requests", 10_000).unwrap();
        let simulation = settings.iter().fold(simulation, |simulation, (key, value)| simulation.set(key, value).unwrap());
        let report = simulation.observe(&mut sums).run().unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(sums.requests, 10_000, "{name}");
        for (setting, table, figure, title) in
            [(STALLS, "background", "stalls", "Background work of dies"), (RETRIES, "read_retry", "reads", "Read retries")]
        {
            let counted = report.mechanisms.get(table).map_or(0, |counted| counted[figure].as_u64().unwrap());
            assert_eq!(counted > 0, settings.contains(&setting), "{name}: {:?}", report.mechanisms);
            let is_shown = report.table_sections().iter().any(|section| section.title == title && section.rows.len() == 2);
            assert_eq!(is_shown, counted > 0, "{name}: {title}");
        }
        expect_sums(name, &report, &sums);
        let all = report.time_us.all.unwrap();
        for part in *shown {
            let spent = all.named_causes()[RESPONSE_TIME_CAUSE_NAMES.iter().position(|known| known == part).unwrap()].1;
            assert!(spent > 0.0, "{name} shows nothing of {part}: {all:?}");
        }
    }
}

/// Source of requests that mixes reads and writes with deallocations, flushes, and writes with "force unit access".
struct Commands {
    capacity_bytes: u64,
    at: u64,
}

impl RequestSource for Commands {
    fn next_request(&mut self) -> Result<Option<Request>, SourceError> {
        self.at += 1;
        let kind = match self.at % 8 {
            0 | 3 => OpKind::Read,
            1 => OpKind::Trim,
            5 if self.at.is_multiple_of(5) => OpKind::Flush,
            _ => OpKind::Write,
        };
        let length_bytes = if kind == OpKind::Flush { 0 } else { 16 << 10 };
        let offset_bytes = if kind == OpKind::Flush { 0 } else { self.at * 7919 * (16 << 10) % (self.capacity_bytes / 2) };
        let request = Request::new(kind, self.at * 300_000, offset_bytes, length_bytes);
        Ok(Some(Request { fua: kind == OpKind::Write && self.at % 4 == 2, ..request }))
    }
}

#[test]
fn parts_add_up_for_forced_writes_deallocations_and_flushes() {
    for level in ["raid0", "raid5", "raid10"] {
        for (base, key, value) in [(BASE, "seed", "1"), (DRIVES, "seed", "1"), (DRIVES, "ssd.buffer.protected", "false")] {
            let settings = [("workload.requests", "10000"), ("array.level", level), (key, value)];
            let simulation = Simulation::from_toml(base).unwrap();
            let simulation = settings.iter().fold(simulation, |simulation, (key, value)| simulation.set(key, value).unwrap());
            let mut sums = Sums::default();
            let commands = Commands { capacity_bytes: simulation.capacity_bytes().unwrap(), at: 0 };
            let report =
                simulation.source(commands).observe(&mut sums).run().unwrap_or_else(|error| panic!("{level} {key}={value}: {error}"));
            assert!(report.requests.trim > 1000 && report.requests.flush > 100, "{level}: {:?}", report.requests);
            // `Sums` has already compared the parts of each request with its response time.
            assert_eq!(sums.requests, 10_000, "{level} {key}={value}");
            assert!(sums.response_ns > 0 && sums.parts_ns.iter().sum::<u128>() == sums.response_ns, "{level} {key}={value}");
        }
    }
}

fn expect_sums(name: &str, report: &Report, sums: &Sums) {
    let near = |a: f64, b: f64| assert!((a - b).abs() <= 1e-9 * b.max(1e-3), "{name}: {a} {b}");
    let all = report.time_us.all.unwrap();
    near(all.total(), report.response_us.all.mean.unwrap());
    for ((_, part), sum) in all.named_causes().iter().zip(sums.parts_ns) {
        near(*part, sum as f64 / 1e3 / sums.requests as f64);
    }
    // Each group of requests in the report is slower than the group before it. So their means rise, and the last one is at most the
    // maximum.
    let totals: Vec<f64> = report
        .time_us
        .means_of_all_and_slowest_percents()
        .iter()
        .map(|(_, time)| time.as_ref().map_or(0.0, MeanResponseTimeByCause::total))
        .collect();
    assert!(totals.is_sorted(), "{name}: {totals:?}");
    assert!(totals[3] <= report.response_us.all.max.unwrap() * (1.0 + 1e-9), "{name}: {totals:?}");
}
