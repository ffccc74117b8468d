//! Comparisons: what is written where, and when a result counts as the same.

use std::fs;

use super::ends;
use crate::program::{Place, SMALL, without_wall_clock};

/// Once: status 1 in 16 of 16 attempts, and a damaged state in 11 of 25; with one job the last point won in silence.
#[test]
fn simulations_do_not_save_their_states_over_each_other() {
    let place = Place::new();
    let ended = place.run(&["compare", "small.toml", "--set", "ssd.warm_up.save=\"state\"", "--vary", "seed=1,2,3,4", "--jobs", "2"]);
    ends(&ended, 2, &["ssd.warm_up.save", "several simulations"]);
    assert_eq!(place.files(), Vec::<String>::new());
    let by_name = ["compare", "small.toml", "--vary", "ssd.warm_up.save=a.state,b.state", "--out", "grid"];
    ends(&place.run(&by_name), 0, &[]);
    assert!(place.path("a.state").is_file() && place.path("b.state").is_file());
    // What is finished is taken from the folder, but not the state that somebody has removed.
    fs::remove_file(place.path("b.state")).unwrap();
    ends(&place.run(&by_name), 0, &[]);
    assert!(place.path("b.state").is_file());
}

/// The erases of the points of a comparison.
fn erases(place: &Place, arguments: &[&str]) -> Vec<u64> {
    let document = place.run_json(arguments);
    document["points"].as_array().unwrap().iter().map(|point| point["report"]["flash"]["erases"].as_u64().unwrap()).collect()
}

/// Once: the old figures with status 0, even when the state had been deleted. A trace that had changed with equal length and time, too.
#[test]
fn a_point_is_computed_anew_when_a_file_that_it_reads_has_changed() {
    let place = Place::new();
    let save = |overwrites: &str| {
        let set = format!("ssd.warm_up.overwrites={overwrites}");
        ends(&place.run(&["run", "small.toml", "--set", &set, "--set", "ssd.warm_up.save=\"state\""]), 0, &[]);
    };
    let grid = [
        "compare",
        "small.toml",
        "--set",
        "ssd.warm_up.load=\"state\"",
        "--vary",
        "array.stripe_unit=4KiB,8KiB",
        "--out",
        "grid",
        "--json",
    ];
    save("0");
    let fresh = erases(&place, &grid);
    assert_eq!(erases(&place, &grid), fresh);
    save("2");
    assert_ne!(erases(&place, &grid), fresh);
    fs::remove_file(place.path("state")).unwrap();
    ends(&place.run(&grid), 2, &["state"]);

    let of_trace = ["compare", "t.toml", "--vary", "seed=1", "--exactly", "--out", "traces", "--json"];
    place.write("t.toml", "ssd.geometry = { dies = 2, planes = 1, blocks = 64, pages = 16 }\nworkload.path = \"x.spc\"");
    let requests = |kind: char| (0..500).map(|at| format!("0,{},4096,{kind},{}.0\n", 8 * (at % 50), at)).collect::<String>();
    place.write("x.spc", requests('w'));
    let time = fs::metadata(place.path("x.spc")).unwrap().modified().unwrap();
    let written = place.run_json(&of_trace)["points"][0]["report"]["requests"]["write"].clone();
    place.write("x.spc", requests('r'));
    fs::File::options().append(true).open(place.path("x.spc")).unwrap().set_modified(time).unwrap();
    let read = place.run_json(&of_trace)["points"][0]["report"]["requests"]["write"].clone();
    assert_eq!((written, read), (500.into(), 0.into()));

    place.write("base.toml", SMALL);
    place.write("child.toml", "inherits = \"base.toml\"");
    let inherited = ["compare", "child.toml", "--vary", "seed=1", "--out", "inherited", "--json"];
    let before = erases(&place, &inherited);
    // Another configuration is another study, for which the folder has to be given up.
    place.write("base.toml", SMALL.replace("read_fraction = 0.25", "read_fraction = 0.0"));
    ends(&place.run(&inherited), 2, &["inherited", "another study"]);
    assert_ne!(erases(&place, &[&inherited[..], &["--force"]].concat()), before);
}

/// Once: believed. (A changed digit, or a report that is empty.)
#[test]
fn a_saved_point_that_was_changed_is_computed_anew() {
    let place = Place::new();
    let grid = ["compare", "small.toml", "--vary", "array.members=2,4", "--out", "grid", "--json"];
    let whole = without_wall_clock(place.run_json(&grid)).to_string();
    let points: Vec<String> = place.files().into_iter().filter(|name| name.starts_with("grid/points/")).collect();
    assert_eq!(points.len(), 2);
    for damage in [
        |text: &str| text.replacen("\"erases\":", "\"erases\":1", 1),
        |text: &str| text[..text.len() / 2].to_owned(),
        |_: &str| "{}".to_owned(),
    ] {
        for point in &points {
            let text = place.read(point);
            place.write(point, damage(&text));
        }
        assert_eq!(without_wall_clock(place.run_json(&grid)).to_string(), whole);
    }
}

/// Once: more than 6 GB, and an abort (status 134) after 46 s; for 3000³ after 5 s.
#[test]
fn grids_beyond_all_memory_are_refused_at_once() {
    let place = Place::new();
    let values = |count: u32| (0..count).map(|value| value.to_string()).collect::<Vec<_>>().join(",");
    let (seed, depth, requests) =
        (format!("seed={}", values(3000)), format!("ssd.endurance={}", values(3000)), format!("workload.requests={}", values(3000)));
    let ended = place.run(&["compare", "small.toml", "--vary", &seed, "--vary", &depth, "--vary", &requests]);
    ends(&ended, 2, &["27000000000 simulations", "at most"]);
}
