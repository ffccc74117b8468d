//! Tests of rates over the measured time: Little's law for closed and open loops. Events after the last answer change none of them.

use flashraid::config::{PresetKind, all_presets};
use flashraid::report::{LoadVerdict, WarningMark};
use flashraid::workload::HostLoop;
use flashraid::{CompletedRequest, Error, Observer, OpKind, Report, Request, RequestSource, Simulation, SourceError};

/// Two SSDs with pools of blocks; a short load makes them collect all the time.
const POOLS: &str = r#"
[array]
members = 4
stripe_unit = "16KiB"
[ssd]
preset = "ggc2014"
[ssd.geometry]
dies = 4
planes = 2
blocks = 128
pages = 16
reserved = 0.25
[ssd.warm_up]
pattern = "random"
overwrites = 1
[cache]
size = "192KiB"
[workload]
kind = "synthetic"
requests = 1600
read_fraction = 0.4
arrivals = { process = "closed", depth = 8 }
"#;

/// Drives with superblocks, small enough that a short load fills them several times.
const DRIVES: &str = r#"
[array]
members = 4
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
pages = 144
reserved = 0.4
[ssd.warm_up]
pattern = "random"
overwrites = 1
[cache]
size = "1MiB"
[workload]
kind = "synthetic"
requests = 6400
read_fraction = 0.3
arrivals = { process = "closed", depth = 32 }
"#;

/// Settings that are tried on both kinds of SSD.
const REMEDIES: &[(&str, &[(&str, &str)])] = &[
    ("plain", &[]),
    ("a think time", &[("workload.arrivals.think", "300us")]),
    ("semi", &[("ssd.gc.preemption", "semi")]),
    ("suspend", &[("ssd.gc.preemption", "suspend")]),
    ("idle", &[("ssd.gc.idle", "100us")]),
    ("reactive-inclusive", &[("coordination.scheme", "reactive-inclusive")]),
    ("reactive-selective", &[("coordination.scheme", "reactive-selective")]),
    ("proactive-idle", &[("coordination.scheme", "proactive-idle")]),
    ("proactive-soft-limit", &[("coordination.scheme", "proactive-soft-limit")]),
    ("stagger", &[("coordination.scheme", "stagger")]),
    ("windows", &[("coordination.scheme", "windows")]),
    ("rotate", &[("coordination.scheme", "rotate")]),
    ("ideal", &[("coordination.scheme", "ideal")]),
    ("wow", &[("cache.policy", "wow")]),
    ("stow", &[("cache.policy", "stow")]),
    ("iwc", &[("cache.policy", "iwc")]),
    ("iwc-sync", &[("cache.policy", "iwc-sync")]),
    ("lawc", &[("cache.policy", "lawc")]),
    ("raid1", &[("array.level", "raid1"), ("array.members", "2")]),
    ("raid5", &[("array.level", "raid5")]),
    ("raid6", &[("array.level", "raid6")]),
    ("a limit of the controller", &[("array.controller.outstanding", "5")]),
    (
        "a rebuild that outlasts the load",
        &[
            ("array.level", "raid5"),
            ("array.failure.member", "1"),
            ("array.failure.at", "1ms"),
            ("array.rebuild.rate", "1MB/s"),
            ("array.rebuild.finish", "true"),
        ],
    ),
    ("without its beginning", &[("workload.requests", "12800"), ("report.skip_requests", "2000")]),
];

fn with(base: &str, settings: &[(&str, &str)]) -> Simulation<'static> {
    let simulation = Simulation::from_toml(base).unwrap();
    settings.iter().fold(simulation, |simulation, (key, value)| simulation.set(key, value).unwrap_or_else(|error| panic!("{key}: {error}")))
}

fn run(base: &str, settings: &[(&str, &str)]) -> Report {
    with(base, settings).verify().run().unwrap_or_else(|error| panic!("{settings:?}: {error}"))
}

/// Returns the mean number of outstanding requests by Little's law: requests per second × (mean response time + think time).
fn outstanding(report: &Report, think_s: f64) -> f64 {
    report.iops.all.unwrap() * (report.response_us.all.mean.unwrap() / 1e6 + think_s)
}

/// Name of a case, its base configuration, its settings, and the depth of its closed loop.
type Case<'a> = (String, &'a str, Vec<(&'a str, &'a str)>, f64);

#[test]
fn closed_loops_use_their_depth() {
    let mut cases: Vec<Case> = Vec::new();
    for (base, depth) in [(POOLS, 8.0), (DRIVES, 32.0)] {
        for (name, settings) in REMEDIES {
            cases.push(((*name).to_owned(), base, settings.to_vec(), depth));
        }
    }
    let devices: Vec<_> = all_presets().into_iter().filter(|preset| preset.kind == PresetKind::Device).collect();
    for preset in &devices {
        let name = &preset.name;
        let is_drive = preset.toml_text.contains("[superblock]");
        let (base, depth) = if is_drive { (DRIVES, 32.0) } else { (POOLS, 8.0) };
        cases.push((name.clone(), base, vec![("ssd.preset", name)], depth));
    }
    for linger in ["1ms", "1h"] {
        cases.push((format!("linger {linger}"), DRIVES, vec![("ssd.buffer.linger", linger)], 32.0));
    }
    let mut wrong = Vec::new();
    for (name, base, settings, depth) in &cases {
        let report = run(base, settings);
        let think_s = if name == "a think time" { 300e-6 } else { 0.0 };
        let found = outstanding(&report, think_s) / depth;
        if (found - 1.0).abs() > 0.005 {
            wrong.push(format!("{name}: {found:.4}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Earlier, places of the depth that never had a request counted as well, so that rates were too high by depth / requests.
#[test]
fn places_without_a_request_do_not_count() {
    for requests in [1, 2, 20] {
        let depth_of = |depth: u32| {
            let arrivals = format!("{{ process = \"closed\", depth = {depth} }}");
            run(DRIVES, &[("workload.requests", requests.to_string().as_str()), ("workload.arrivals", arrivals.as_str())])
        };
        let (enough, more) = (depth_of(requests), depth_of(100_000));
        assert_eq!(enough.load_ns, more.load_ns, "{requests} requests");
        assert_eq!(measured(&enough), measured(&more), "{requests} requests");
        // The rate is that of the whole measured time, in which some places have nothing to do.
        assert_eq!(more.load_ns, more.measured_to_ns - more.measured_from_ns, "{requests} requests");
        assert!(outstanding(&more, 0.0) < f64::from(requests) * (1.0 + 1e-6), "{requests} requests");
        assert!(more.verdict.has_mark(WarningMark::ShortLoop));
    }
    let one = run(DRIVES, &[("workload.requests", "1"), ("workload.arrivals", "{ process = \"closed\", depth = 100000 }")]);
    assert!((one.iops.all.unwrap() * one.response_us.all.mean.unwrap() / 1e6 - 1.0).abs() < 1e-6, "{:?}", one.iops);
}

#[test]
fn a_loop_with_few_requests_for_each_place_is_marked() {
    let is_marked = |requests: &str, arrivals: &str| {
        let report = run(POOLS, &[("workload.requests", requests), ("workload.arrivals", arrivals)]);
        report.verdict.has_mark(WarningMark::ShortLoop)
    };
    let closed = "{ process = \"closed\", depth = 8 }";
    assert!(is_marked("79", closed) && !is_marked("80", closed));
    // Seven places are used, and each has one request.
    assert!(is_marked("7", closed));
    assert!(!is_marked("7", "{ process = \"fixed\", gap = \"1ms\" }"));
    // A loop that skips its beginning counts the requests that are measured.
    let skipped = run(POOLS, &[("report.skip_requests", "1530")]);
    assert!(skipped.verdict.has_mark(WarningMark::ShortLoop));
}

/// Arrival and end of each request, in nanoseconds.
#[derive(Default)]
struct Rows(Vec<(u64, u64)>);

impl Observer for Rows {
    fn request_completed(&mut self, request: &CompletedRequest) {
        self.0.push((request.arrival_ns, request.done_ns));
    }
}

/// A short closed loop in which a response takes more than half a per cent of the measured time.
const LONG_AT_THE_BORDER: &str = r#"
seed = 848090510071
array.level = "raid5"
array.members = 6
array.stripe_unit = "8KiB"
ssd.geometry.dies = 2
ssd.geometry.planes = 3
ssd.geometry.blocks = 90
ssd.geometry.pages = 4
ssd.geometry.reserved = 0.44
ssd.gc.start = 0.06
ssd.gc.pool = "plane"
ssd.gc.victim = "d-choices"
ssd.gc.preemption = "suspend"
ssd.gc.pipeline = false
ssd.gc.merge = false
ssd.gc.separate_open_block = false
ssd.gc.copy_back = false
ssd.gc.trigger = "write"
ssd.gc.blocking = "plane"
coordination.scheme = "reactive-inclusive"
cache.policy = "lawc"
ssd.warm_up.overwrites = 0.5
workload.kind = "synthetic"
workload.requests = 1109
workload.read_fraction = 0.6
workload.size = "12KiB"
workload.arrivals = { process = "closed", depth = 2 }
report.skip_requests = 391
array.failure = { member = 5, at = "316ms" }
"#;

/// A random case of the soak: one of two places is taken for milliseconds when the measured time begins, of which it has 0.2 s.
#[test]
fn a_long_request_at_the_border_of_a_short_run_is_allowed_for() {
    let report = Simulation::from_toml(LONG_AT_THE_BORDER).unwrap().verify().run().unwrap();
    assert!(
        report.response_us.all.max.unwrap() * 1e3 > 0.005 * report.load_ns as f64,
        "a response is longer than half a per cent of the time"
    );
}

/// Integrates the number of outstanding requests from `from_ns` to `to_ns`, in request nanoseconds.
fn integral(rows: &[(u64, u64)], from_ns: u64, to_ns: u64) -> f64 {
    let cut = |at: u64| at.clamp(from_ns, to_ns);
    let mut changes: Vec<(u64, i64)> = rows.iter().flat_map(|&(arrival, done)| [(cut(arrival), 1), (cut(done), -1)]).collect();
    changes.sort_unstable();
    let (mut sum, mut outstanding, mut since) = (0.0, 0, from_ns);
    for (at, change) in changes {
        sum += outstanding as f64 * (at - since) as f64;
        (outstanding, since) = (outstanding + change, at);
    }
    sum
}

#[test]
fn the_response_times_of_open_loops_add_up_to_what_is_outstanding() {
    for (base, mean_gap) in [(POOLS, "600us"), (POOLS, "20us"), (DRIVES, "30us"), (DRIVES, "1us")] {
        for (_, settings) in REMEDIES.iter().filter(|(name, _)| !["a think time", "without its beginning"].contains(name)) {
            let arrivals = format!("{{ process = \"poisson\", mean_gap = \"{mean_gap}\" }}");
            let settings = [*settings, &[("workload.arrivals", arrivals.as_str())]].concat();
            let mut rows = Rows::default();
            let report = with(base, &settings).verify().observe(&mut rows).run().unwrap_or_else(|error| panic!("{settings:?}: {error}"));
            let (from_ns, to_ns) = (report.measured_from_ns, report.measured_to_ns);
            assert_eq!(Some(to_ns), rows.0.iter().map(|row| row.1).max(), "{settings:?}: it ends with the last answer");
            assert_eq!(report.load_ns, to_ns - from_ns);
            let expected = integral(&rows.0, from_ns, to_ns) / (to_ns - from_ns) as f64;
            let found = outstanding(&report, 0.0);
            assert!((found / expected - 1.0).abs() < 1e-9, "{settings:?}: {found} outstanding in the report, {expected} by its rows");
        }
    }
}

/// The rate counts requests that end in the measured time, even if they arrived before it. It does not count those that end after it.
#[test]
fn requests_per_second_are_those_done_in_the_measured_time() {
    // An overloaded drive: requests pile up, and the measured ones wait for all that came before them.
    let arrivals = ("workload.arrivals", "{ process = \"poisson\", mean_gap = \"1us\" }");
    let mut rows = Rows::default();
    let report = with(DRIVES, &[arrivals, ("report.skip_requests", "3200")]).verify().observe(&mut rows).run().unwrap();
    let (from_ns, to_ns) = (report.measured_from_ns, report.measured_to_ns);
    let done = rows.0.iter().filter(|row| row.1 > from_ns && row.1 <= to_ns).count() as f64;
    let iops = report.iops.all.unwrap();
    assert!((iops / (done * 1e9 / (to_ns - from_ns) as f64) - 1.0).abs() < 1e-9, "{iops}");
    assert!(done > 1.3 * report.response_us.all.count as f64, "{done} were done, {} of them measured", report.response_us.all.count);
    let whole = run(DRIVES, &[arrivals]).iops.all.unwrap();
    assert!((iops / whole - 1.0).abs() < 0.3, "{iops} in its second half, {whole} in all");
}

/// Returns the report as JSON without the values that depend on events after the last answer, and without those that identify the run.
fn measured(report: &Report) -> serde_json::Value {
    let mut document = serde_json::to_value(report.without_wall_clock()).unwrap();
    let all = document.as_object_mut().unwrap();
    for key in ["simulated_ns", "config", "config_hash", "failure", "failures", "warnings"] {
        all.remove(key);
    }
    document
}

#[test]
fn what_happens_after_the_last_answer_moves_nothing() {
    let same = |base: &str, short: &[(&str, &str)], long: &[(&str, &str)]| {
        let (short, long) = (run(base, short), run(base, long));
        assert!(long.simulated_ns > 2 * short.simulated_ns.min(short.measured_to_ns * 2), "{} {}", short.simulated_ns, long.simulated_ns);
        assert_eq!(measured(&short), measured(&long));
    };
    // The buffer keeps its last data for 2 s or for an hour.
    same(DRIVES, &[("ssd.buffer.linger", "2s")], &[("ssd.buffer.linger", "1h")]);
    // A rebuild either goes on until it is finished, or stops with the load.
    for base in [POOLS, DRIVES] {
        let failure =
            [("array.level", "raid5"), ("array.failure.member", "1"), ("array.failure.at", "1ms"), ("array.rebuild.rate", "1MB/s")];
        same(base, &failure, &[&failure[..], &[("array.rebuild.finish", "true")]].concat());
    }
}

#[test]
fn drives_with_superblocks_count_their_collections() {
    for settings in [&[][..], &[("report.skip_requests", "1000")], &[("ssd.gc.preemption", "suspend")]] {
        let report = run(DRIVES, settings);
        let (gc, drive) = (&report.gc, report.drive.as_ref().unwrap());
        assert!(gc.runs > 0 && gc.runs == drive.victims && gc.cleans == gc.runs, "{gc:?}");
        let busy = gc.busy_fraction.unwrap();
        let time = &drive.die_time;
        let parts = time.collection_programs.unwrap() + time.collection_reads.unwrap() + time.erases.unwrap();
        assert!(busy > 0.05 && (busy - parts).abs() < 1e-9, "{busy} {time:?}");
        assert!(parts + time.host_programs.unwrap() <= 1.0, "{time:?}");
        for member in &report.members {
            let (busy, any) = (member.gc_busy_fraction.unwrap(), member.gc_any_fraction.unwrap());
            assert!(busy > 0.0 && busy <= any && any <= 1.0 && member.gc_runs > 0, "{member:?}");
        }
        // Both places of the report show the same write amplification.
        assert_eq!(report.flash.write_amplification, drive.write_amplification);
        assert!(report.flash.write_amplification_max >= report.flash.write_amplification && report.owed.buffered_bytes > 0);
    }
}

#[test]
fn an_array_that_has_lost_data_is_not_stable() {
    let failures = |members: &[u32]| {
        let list: Vec<String> = members.iter().map(|member| format!("{{ member = {member}, at = \"1ms\" }}")).collect();
        format!("[{}]", list.join(", "))
    };
    let load = |level: &str, members: &[u32]| {
        let report = run(POOLS, &[("array.level", level), ("array.failure", &failures(members))]);
        let said = report.warnings.iter().any(|warning| warning.contains("data are lost"));
        assert_eq!(said, report.verdict.has_mark(WarningMark::DataLost), "{level} {members:?}: {:?}", report.warnings);
        (report.verdict.load, report.verdict.has_mark(WarningMark::DataLost), report.lost.requests > 0)
    };
    let (lost, kept) = ((LoadVerdict::DataLost, true, true), (LoadVerdict::Closed, false, false));
    assert_eq!(load("raid5", &[0]), kept);
    assert_eq!(load("raid5", &[0, 1]), lost);
    assert_eq!(load("raid6", &[0, 1]), kept);
    assert_eq!(load("raid6", &[0, 1, 2]), lost);
    assert_eq!(load("raid10", &[0, 2]), kept);
    assert_eq!(load("raid10", &[2, 3]), lost);
    assert_eq!(load("raid1", &[0, 1, 3]), kept);
    assert_eq!(load("raid5", &[0, 1, 2, 3]), lost);
}

/// A closed loop that never ends. Its requests are done in the nanosecond in which they arrive.
struct Flushes;

impl RequestSource for Flushes {
    fn host_loop(&self) -> HostLoop {
        HostLoop::Closed { depth: 3, think_ns: 0 }
    }

    fn next_request(&mut self) -> Result<Option<Request>, SourceError> {
        Ok(Some(Request::new(OpKind::Flush, 0, 0, 0)))
    }
}

/// Earlier, it went on for ever.
#[test]
fn a_closed_loop_in_which_no_time_passes_is_stopped() {
    let endless = with(POOLS, &[("workload.duration", "1s")]).source(Flushes);
    let error = endless.set("workload.requests", "12000000").unwrap().run().unwrap_err();
    assert!(matches!(&error, Error::SimulatedTimeStandsStill(text) if text.contains("workload.requests")), "{error}");
}
