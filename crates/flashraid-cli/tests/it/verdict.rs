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

const LONG: &str = "workload.requests=40000";

#[test]
fn loads_beyond_what_the_array_can_do_are_not_stable() {
    let place = Place::new();
    for gap in ["1us", "5us", "10us", "20us", "40us"] {
        let arrivals = format!("workload.arrivals={{process=\"poisson\", mean_gap=\"{gap}\"}}");
        let verdict = verdict(&place, &[&arrivals, LONG]);
        assert!(verdict["load"] == "unstable" || verdict["load"] == "saturated", "{gap}: {verdict}");
        assert_eq!((&verdict["steady"], &verdict["steady_from_ns"]), (&Value::Bool(false), &Value::Null), "{gap}: {verdict}");
    }
}

/// Drives that are full but not worn in slow down while their garbage spreads.
#[test]
fn runs_that_change_on_the_way_are_not_steady() {
    let place = Place::new();
    for seed in 1..=5 {
        let seed = format!("seed={seed}");
        let settings = ["ssd.warm_up.overwrites=0", "ssd.geometry.blocks=512", "workload.read_fraction=0", "workload.requests=3000", &seed];
        let verdict = verdict(&place, &settings);
        assert_eq!(verdict["steady"], false, "{seed}: {verdict}");
    }
}

#[test]
fn runs_that_are_too_short_say_so() {
    let place = Place::new();
    for (requests, deepest) in [("1", None), ("19", None), ("20", Some("p50")), ("100", Some("p90")), ("400", Some("p95"))] {
        let verdict = verdict(&place, &[&format!("workload.requests={requests}")]);
        assert_eq!(verdict["steady"], false, "{requests}: {verdict}");
        assert_eq!(verdict["deepest_percentile"].as_str(), deepest, "{requests}: {verdict}");
    }
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
    let table = Place::new().run(&["run", "small.toml"]).stdout;
    let row = |name: &str| table.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
    assert!(row("99.9 %").contains(" ?") && !row("median").contains('?'), "{table}");
    assert!(table.contains("fewer than ten requests lie beyond"), "{table}");
}
