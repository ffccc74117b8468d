//! The verdict on a run: saturated, unsteady, too short and good ones.

use serde_json::Value;

use crate::program::Place;

/// The verdict of a run of `small.toml` with these settings.
fn verdict(place: &Place, settings: &[&str]) -> Value {
    let sets = settings.iter().flat_map(|setting| ["--set", setting]);
    let arguments: Vec<&str> = ["run", "small.toml", "--json"].into_iter().chain(sets).collect();
    let report = place.run_json(&arguments);
    assert!(report["warnings"].is_array() && report["iops"]["all"].as_f64().unwrap() > 0.0);
    report["verdict"].clone()
}

/// Writes a trace of several stretches. Each has a number of requests, a gap in ms at its begin and at its end, and an area in pages.
fn trace(place: &Place, stretches: &[(u32, f64, f64, u32)]) {
    let (mut lines, mut now_s, mut state) = (String::new(), 0.0, 12_345_u64);
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1_u32 << 31)
    };
    for &(requests, from_ms, to_ms, area) in stretches {
        for index in 0..requests {
            let mean_ms = from_ms + (to_ms - from_ms) * f64::from(index) / f64::from(requests);
            now_s -= draw().max(1e-9).ln() * mean_ms / 1e3;
            let (kind, page) = (if draw() < 0.25 { 'r' } else { 'w' }, (draw() * f64::from(area)) as u32);
            lines += &format!("0,{},8192,{kind},{now_s:.6}\n", 16 * page);
        }
    }
    place.write("trace.csv", lines);
    let array = crate::program::SMALL.split("[workload]").next().unwrap();
    place.write("small.toml", format!("{array}[workload]\nkind = \"trace\"\npath = \"trace.csv\"\n"));
}

#[test]
fn loads_beyond_what_the_array_can_do_are_not_stable() {
    let shapes: [&[&str]; 5] = [
        // Requests come too fast.
        &["workload.arrivals={process=\"poisson\", mean_gap=\"10us\"}", "workload.requests=40000"],
        // Every write costs several.
        &[
            "array.level=raid6",
            "array.members=5",
            "workload.read_fraction=0",
            "workload.arrivals={process=\"poisson\", mean_gap=\"500us\"}",
            "workload.requests=20000",
        ],
        // The controller is the bottleneck.
        &["array.controller={outstanding=4, bandwidth=\"2MB/s\"}", "workload.requests=40000"],
        // Large reads without any collection.
        &[
            "workload.size=256KiB",
            "workload.read_fraction=1",
            "workload.arrivals={process=\"poisson\", mean_gap=\"200us\"}",
            "workload.requests=10000",
        ],
        // Pauses between bursts are too short to recover in.
        &["workload.arrivals={process=\"bursts\", mean_gap=\"400us\", factor=20, burst_requests=500}", "workload.requests=20000"],
    ];
    for shape in shapes {
        let verdict = verdict(&Place::new(), shape);
        assert!(verdict["load"] == "unstable" || verdict["load"] == "saturated", "{shape:?}: {verdict}");
        assert_eq!((&verdict["steady"], &verdict["steady_from_ns"]), (&Value::Bool(false), &Value::Null), "{shape:?}: {verdict}");
    }
}

#[test]
fn runs_that_change_on_the_way_are_not_steady() {
    let expect = |place: &Place, settings: &[&str], load: &str, about: &str| {
        let verdict = verdict(place, settings);
        assert_eq!((&verdict["load"], &verdict["steady"]), (&Value::from(load), &Value::Bool(false)), "{about}: {verdict}");
        assert_eq!(verdict["steady_from_ns"], Value::Null, "{about}: {verdict}");
    };
    let place = Place::new();
    let cold = ["ssd.warm_up.overwrites=0", "ssd.geometry.blocks=512", "workload.read_fraction=0", "workload.requests=3000"];
    expect(&place, &cold, "stable", "garbage spreads over drives that are full, but not worn in");
    let cache = [
        "cache.policy=wow",
        "cache.size=24MiB",
        "workload.read_fraction=0",
        "workload.requests=6000",
        "workload.arrivals={process=\"closed\", depth=4}",
    ];
    expect(&place, &cache, "closed", "a cache takes writes until it is full");
    let failure = [
        "array.level=raid5",
        "array.members=4",
        "array.failure={member=1, at=\"50s\"}",
        "array.rebuild={delay=\"200ms\", rate=\"20kB/s\", spare=\"blank\"}",
        "workload.requests=20000",
        "workload.arrivals={process=\"poisson\", mean_gap=\"4ms\"}",
    ];
    expect(&place, &failure, "stable", "a member fails and is rebuilt in the second half");
    trace(&place, &[(12_000, 7.2, 1.2, 1500)]);
    expect(&place, &[], "stable", "the rate grows to six times what it was");
    trace(&place, &[(8000, 4.0, 4.0, 100), (4000, 4.0, 4.0, 1500)]);
    expect(&place, &[], "stable", "after two thirds, requests go to fifteen times the area");
    // The same without the change is steady.
    trace(&place, &[(12_000, 4.0, 4.0, 1500)]);
    assert_eq!(verdict(&place, &[])["steady"], true, "neither the rate nor the area changes");
}

#[test]
fn runs_that_are_too_short_say_so() {
    let place = Place::new();
    let shapes: [(&[&str], Option<&str>); 5] = [
        (&["workload.requests=1"], None),
        (&["workload.requests=19", "workload.arrivals={process=\"closed\", depth=4}"], None),
        (&["workload.requests=20", "array.level=raid5", "array.members=4", "workload.read_fraction=1"], Some("p50")),
        (&["workload.duration=\"500ms\""], Some("p95")),
        // What is left after most were skipped.
        (&["report.skip_requests=1600", "array.level=raid1", "cache.policy=wow"], Some("p95")),
    ];
    for (settings, deepest) in shapes {
        let verdict = verdict(&place, settings);
        assert_eq!((&verdict["steady"], &verdict["steady_from_ns"]), (&Value::Bool(false), &Value::Null), "{settings:?}: {verdict}");
        assert_eq!(verdict["deepest_percentile"].as_str(), deepest, "{settings:?}: {verdict}");
    }
    trace(&place, &[(150, 4.0, 4.0, 1500)]);
    let verdict = verdict(&place, &[]);
    assert_eq!(
        (&verdict["steady"], &verdict["deepest_percentile"]),
        (&Value::Bool(false), &Value::from("p90")),
        "a short trace: {verdict}"
    );
}

#[test]
fn good_runs_are_steady() {
    let place = Place::new();
    for (settings, load) in [
        (["workload.requests=40000", "seed=1"], "stable"),
        (["workload.requests=100000", "workload.read_fraction=1.0"], "stable"),
        (["workload.requests=40000", "workload.arrivals={process=\"closed\", depth=4}"], "closed"),
    ] {
        let verdict = verdict(&place, &settings);
        assert_eq!((verdict["load"].as_str(), verdict["steady"].as_bool()), (Some(load), Some(true)), "{settings:?}: {verdict}");
        assert!(verdict["steady_from_ns"].is_u64() && verdict["deepest_percentile"].as_str().unwrap() >= "p99_9", "{verdict}");
    }
}

#[test]
fn percentiles_without_samples_are_marked_in_the_table() {
    let table = Place::new().run(&["run", "small.toml", "--tables"]).stdout;
    let row = |name: &str| table.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
    assert!(row("99.9 %").contains(" ?") && !row("median").contains('?'), "{table}");
    assert!(table.contains("? few samples: Fewer than ten requests"), "{table}");
}
