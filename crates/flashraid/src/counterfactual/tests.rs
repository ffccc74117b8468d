use super::*;
use crate::{OpKind, Simulation};
use serde_json::Value;

/// A member of pools of blocks with the times of a preset, small enough to collect within a few thousand requests.
const POOLS: &str = r#"
array = { level = "raid0", members = 2 }
ssd.preset = "ggc2014"
ssd.geometry = { dies = 2, planes = 2, blocks = 24, pages = 16, reserved = 0.4 }
ssd.gc = { start = "2 blocks", stop = "start+1" }
ssd.warm_up.overwrites = 0.8
[workload]
requests = 3000
read_fraction = 0.4
size = "4KiB"
arrivals = { process = "poisson", mean_gap = "900us" }
"#;

/// A drive with superblocks, small enough to collect within a few thousand requests.
fn drive(preset: &str) -> String {
    format!(
        r#"
array = {{ level = "raid0", members = 2 }}
[ssd]
preset = "{preset}"
scale = 1
channel.dies_per_channel = 2
geometry = {{ dies = 2, planes = 2, blocks = 40, pages = 72, reserved = 0.4 }}
[workload]
requests = 6000
read_fraction = 0.5
size = "16KiB"
arrivals = {{ process = "poisson", mean_gap = "400us" }}
"#
    )
}

fn scenario(text: &str, settings: &[(&str, &str)]) -> Scenario {
    let simulation = Simulation::from_toml(text).unwrap();
    settings.iter().fold(simulation, |simulation, (key, value)| simulation.set(key, value).unwrap()).scenario().unwrap()
}

/// Runs a changed scenario as `--because` does.
fn changed(change: Change, scenario: &Scenario) -> Report {
    assert_eq!(change.obstacle(scenario), None);
    run_changed(change, &change.scenario(scenario), &SharedWarmUps::default(), true, &mut ()).unwrap()
}

fn as_it_is(scenario: &Scenario) -> Report {
    run::run_scenario(scenario, &mut ()).unwrap()
}

/// Returns the document of a report, without times of the wall clock and warnings about settings.
fn document(report: &Report) -> Value {
    let mut document = serde_json::to_value(report.without_wall_clock()).unwrap();
    document.as_object_mut().unwrap().remove("warnings");
    document
}

#[test]
fn no_collection_equals_the_run_with_ideal_to_the_byte() {
    let drives = ["nvme-tlc-read", "nvme-gen5"].map(drive);
    for text in [POOLS, &drives[0], &drives[1]] {
        for preemption in ["none", "suspend"] {
            for scheme in ["local", "reactive-inclusive", "stagger"] {
                let settings = [("ssd.gc.preemption", preemption), ("coordination.scheme", scheme)];
                let given = scenario(text, &settings);
                let ideal = scenario(text, &[settings[0], ("coordination.scheme", "ideal")]);
                let found = changed(Change::NoCollection, &given);
                let expected = as_it_is(&ideal);
                assert!(expected.flash.erases > 0, "collection takes place");
                assert_eq!(document(&found), document(&expected), "{preemption}, {scheme}\n{text}");
                assert_ne!(as_it_is(&given).response_us, expected.response_us, "collection takes time");
            }
        }
    }
}

#[test]
fn a_pair_says_what_collection_costs() {
    let given = scenario(POOLS, &[("workload.requests", "12000")]);
    let pair = counterfactual(&given, Change::NoCollection).unwrap();
    let (own, other) = (as_it_is(&given), as_it_is(&scenario(POOLS, &[("workload.requests", "12000"), ("coordination.scheme", "ideal")])));
    for (figures, own, other) in [
        (pair.response_us.all, &own.response_us.all, &other.response_us.all),
        (pair.response_us.read, &own.response_us.read, &other.response_us.read),
        (pair.response_us.write, &own.response_us.write, &other.response_us.write),
    ] {
        for (figure, own, other) in
            [(figures.mean, own.mean, other.mean), (figures.p99, own.p99, other.p99), (figures.p99_9, own.p99_9, other.p99_9)]
        {
            assert_eq!((figure.as_is, figure.without), (own, other));
            assert_eq!(figure.difference, Some(own.unwrap() - other.unwrap()));
        }
        // The interval of a mean needs one request of a batch, and the interval of a percentile ten requests beyond it.
        assert!(figures.mean.interval_half_width.is_some_and(|half_width| half_width > 0.0));
        assert!(figures.p99_9.interval_half_width.is_none());
    }
    assert!(pair.response_us.all.p99.interval_half_width.is_some());
    let mean = pair.response_us.all.mean;
    let (ratio, half_width) = mean.ratio().unwrap();
    assert!((ratio - other.response_us.all.mean.unwrap() / own.response_us.all.mean.unwrap()).abs() < 1e-12);
    assert!(ratio < 1.0 && ratio + half_width.unwrap() < 1.0, "collection costs time for certain: {mean:?}");
    let share = pair.shares.unwrap().all.unwrap();
    let parts = own.time_us.all.unwrap();
    assert_eq!(share.waited, parts.collection / parts.total());
    assert!((share.caused - (1.0 - ratio)).abs() < 1e-9, "{share:?}");
    assert!(share.caused > share.waited, "requests also wait behind others that wait: {share:?}");
}

#[test]
fn no_parity_leaves_the_data_where_they_are() {
    for level in ["raid4", "raid5", "raid6"] {
        let given = scenario(POOLS, &[("array.level", level), ("array.members", "5"), ("workload.requests", "1500")]);
        let (own, other) = (as_it_is(&given), changed(Change::NoParity, &given));
        assert!(own.parity.as_ref().unwrap().parity_pages_written > 0);
        let counters = other.parity.as_ref().unwrap();
        assert_eq!((counters.parity_pages_written, counters.data_pages_read, counters.lock_waits), (0, 0, 0));
        assert_eq!(own.requests, other.requests);
        // Each page is written once, to its data strip.
        assert!(other.flash.host_pages_written < own.flash.host_pages_written / 2 + 10);
        assert!(other.response_us.write.mean < own.response_us.write.mean, "{level}");
        assert_eq!(other.time_us.all.unwrap().parity, 0.0);
        let pair = PairedDifference::new(Change::NoParity, &own, &other);
        assert!(pair.response_us.write.mean.difference.unwrap() > 0.0 && pair.shares.unwrap().all.unwrap().waited > 0.0);
    }
}

/// Sees the requests of a run.
#[derive(Default)]
struct Seen(Vec<(u64, u64, OpKind, u64)>);

impl Observer for Seen {
    fn request_completed(&mut self, done: &crate::CompletedRequest) {
        self.0.push((done.arrival_index, done.arrival_ns, done.request.kind, done.done_ns));
    }
}

fn seen(change: Option<Change>, scenario: &Scenario) -> (Report, Vec<(u64, u64, OpKind, u64)>) {
    let mut seen = Seen::default();
    let report = match change {
        Some(change) => run_changed(change, &change.scenario(scenario), &SharedWarmUps::default(), true, &mut seen).unwrap(),
        None => run::run_scenario(scenario, &mut seen).unwrap(),
    };
    seen.0.sort_unstable_by_key(|request| request.0);
    (report, seen.0)
}

#[test]
fn reads_alone_come_at_the_same_times_and_nothing_else_does() {
    let drive = drive("nvme-gen5");
    // The first array serves requests ahead of their time, and the others do not.
    for (text, settings) in [
        (POOLS, vec![]),
        (POOLS, vec![("ssd.gc.preemption", "semi"), ("report.skip_requests", "1000")]),
        (POOLS, vec![("array.level", "raid5"), ("array.members", "3"), ("report.skip_time", "500ms")]),
        (drive.as_str(), vec![("workload.duration", "500ms")]),
    ] {
        let given = scenario(text, &settings);
        let ((own_report, own), (report, alone)) = (seen(None, &given), seen(Some(Change::ReadsAlone), &given));
        let arrivals = |all: &[(u64, u64, OpKind, u64)]| -> Vec<(u64, u64)> {
            all.iter().filter(|(_, _, kind, _)| *kind == OpKind::Read).map(|(index, at, ..)| (*index, *at)).collect()
        };
        assert_eq!(arrivals(&own), arrivals(&alone));
        assert!(alone.len() < own.len() && alone.iter().all(|(_, _, kind, _)| *kind == OpKind::Read));
        assert_eq!((report.requests.read, report.requests.write), (own_report.requests.read, 0));
        assert_eq!((report.flash.host_pages_written, report.batches.read.requests.clone()), (0, own_report.batches.read.requests.clone()));
        let pair = PairedDifference::new(Change::ReadsAlone, &own_report, &report);
        assert!(pair.response_us.read.mean.difference.unwrap() > 0.0 && pair.response_us.read.mean.interval_half_width.is_some());
        assert_eq!((pair.response_us.all.mean.as_is, pair.response_us.write.p99.without, pair.shares), (None, None, None));
    }
}

#[test]
fn one_request_at_a_time_waits_for_no_other() {
    let drive = drive("nvme-tlc-read");
    for (text, gap) in [(POOLS, "150us"), (drive.as_str(), "100us")] {
        let given = scenario(text, &[("workload.arrivals.mean_gap", gap)]);
        let ((_, own), (report, one)) = (seen(None, &given), seen(Some(Change::OneAtATime), &given));
        assert_eq!(own.len(), one.len());
        let mut free_from = 0;
        let mut is_late = 0;
        for ((index, at, kind, _), (other_index, other_at, other_kind, done)) in own.iter().zip(&one) {
            assert_eq!((index, kind), (other_index, other_kind));
            assert_eq!(*other_at, *at.max(&free_from), "request {index}");
            is_late += usize::from(other_at > at);
            free_from = *done;
        }
        assert!(is_late > 100, "some requests had to wait for the one before");
        assert_eq!(report.over_time.outstanding.iter().filter(|outstanding| **outstanding > 1.001).count(), 0);
    }
    // A closed loop keeps its think time.
    let arrivals = r#"{ process = "closed", depth = 8, think = "1ms" }"#;
    let given = scenario(POOLS, &[("workload.arrivals", arrivals), ("workload.requests", "500")]);
    let (_, one) = seen(Some(Change::OneAtATime), &given);
    assert!(one.windows(2).all(|pair| pair[1].1 == pair[0].3 + 1_000_000));
}

#[test]
fn a_report_has_the_pairs_that_its_run_can_have() {
    let run = |text: &str, settings: &[(&str, &str)]| {
        let simulation = Simulation::from_toml(text).unwrap();
        let simulation = settings.iter().fold(simulation, |simulation, (key, value)| simulation.set(key, value).unwrap());
        simulation.because().run().unwrap()
    };
    let short = ("workload.requests", "400");
    let names = |report: &Report| report.because.as_ref().unwrap().pairs().map(|(change, _)| change.json_name()).collect::<Vec<_>>();
    let left_out = |report: &Report| -> Vec<(Change, String)> {
        report.because.as_ref().unwrap().left_out.iter().map(|left_out| (left_out.change, left_out.reason.clone())).collect()
    };

    let open = run(POOLS, &[short]);
    assert_eq!(names(&open), ["no_collection", "reads_alone", "one_at_a_time"]);
    assert!(left_out(&open).is_empty(), "a level without parity is no news");
    let parity = run(POOLS, &[short, ("array.level", "raid5"), ("array.members", "3")]);
    assert_eq!(names(&parity), Change::ALL.map(Change::json_name));

    // The report is that of the run without pairs, but for the pairs.
    let mut alone = open.clone();
    alone.because = None;
    assert_eq!(document(&alone), document(&as_it_is(&scenario(POOLS, &[short]))));

    let closed = run(POOLS, &[short, ("workload.arrivals", "{ process = \"closed\", depth = 1 }")]);
    assert_eq!(names(&closed), ["no_collection"]);
    assert_eq!(left_out(&closed).iter().map(|(change, _)| *change).collect::<Vec<_>>(), [Change::ReadsAlone, Change::OneAtATime]);
    let ideal = run(POOLS, &[short, ("coordination.scheme", "ideal")]);
    assert_eq!(names(&ideal), ["reads_alone", "one_at_a_time"]);
    assert!(left_out(&ideal)[0].1.contains("takes no time"), "{:?}", left_out(&ideal));
    let reads = run(POOLS, &[short, ("workload.read_fraction", "1.0")]);
    assert_eq!(left_out(&reads), [(Change::ReadsAlone, "the run has no writes".to_owned())]);
    let needs_parity = [
        ("cache", "{ policy = \"wow\", size = \"256KiB\" }"),
        ("array.failure", "{ member = 1, at = \"20ms\" }"),
        ("read", "{ plan = \"avoid\" }"),
    ];
    for (key, value) in needs_parity {
        let report = run(POOLS, &[short, ("array.level", "raid5"), ("array.members", "3"), (key, value)]);
        assert_eq!(left_out(&report)[0].0, Change::NoParity, "{key}");
        assert!(report.because.unwrap().no_parity.is_none());
    }
}

#[test]
fn what_cannot_be_a_pair_is_refused_with_the_reason() {
    let error = counterfactual(&scenario(POOLS, &[("coordination.scheme", "ideal")]), Change::NoCollection).unwrap_err();
    assert!(error.is_caller_mistake() && error.to_string().contains("takes no time"), "{error}");
    let error = counterfactual(&scenario(POOLS, &[]), Change::NoParity).unwrap_err();
    assert!(error.to_string().contains("array.level"), "{error}");

    struct Nothing;
    impl RequestSource for Nothing {
        fn next_request(&mut self) -> Result<Option<crate::Request>, crate::SourceError> {
            Ok(None)
        }
    }
    let error = Simulation::from_toml(POOLS).unwrap().source(Nothing).because().run().unwrap_err();
    assert!(error.is_caller_mistake() && error.to_string().contains("read only once"), "{error}");
}

/// Stops after so many requests, or never. Watches that progress does not go back.
struct Impatient {
    requests_max: u64,
    fraction: f64,
    requests: u64,
}

impl Observer for Impatient {
    fn progress(&mut self, progress: &Progress) -> bool {
        let fraction = progress.phase_fraction_done.unwrap();
        assert!(progress.phase == RunPhase::WarmUp || fraction >= self.fraction, "{} after {}", fraction, self.fraction);
        if progress.phase == RunPhase::Run {
            (self.fraction, self.requests) = (fraction, progress.requests_sent);
        }
        progress.requests_sent < self.requests_max
    }
}

#[test]
fn a_run_that_is_stopped_has_no_pairs_and_a_pair_that_is_stopped_is_left_out() {
    let run = |requests_max: u64| {
        let mut observer = Impatient { requests_max, fraction: 0.0, requests: 0 };
        let simulation = Simulation::from_toml(POOLS).unwrap().set("workload.requests", 20_000).unwrap();
        (simulation.because().observe(&mut observer).run().unwrap(), observer)
    };
    let (report, observer) = run(u64::MAX);
    assert!(observer.fraction > 0.8 && observer.requests > 60_000, "{} {}", observer.fraction, observer.requests);
    assert!(!report.because.unwrap().stopped);
    let (report, _) = run(10_000);
    assert!(report.partial && report.because.is_none());
    let (report, _) = run(41_000);
    let because = report.because.unwrap();
    assert!(!report.partial && because.stopped && because.no_collection.is_some() && because.one_at_a_time.is_none());
    assert_eq!(because.left_out.iter().map(|left_out| left_out.change).collect::<Vec<_>>(), [Change::ReadsAlone, Change::OneAtATime]);
}
