//! Tests of the command `flashraid compare`.

use std::fs;

use crate::program::{Place, without_wall_clock};
use crate::tables;

const GRID: [&str; 6] = ["compare", "small.toml", "--vary", "coordination.scheme=local,ideal", "--vary", "array.members=2,4"];

fn grid(more: &[&'static str]) -> Vec<&'static str> {
    GRID.iter().chain(more).copied().collect()
}

#[test]
fn the_document_lists_every_combination() {
    let document = Place::new().run_json(&grid(&["--json"]));
    let points = document["points"].as_array().unwrap();
    let settings: Vec<String> = points.iter().map(|point| point["settings"].to_string()).collect();
    assert_eq!(
        settings,
        [
            r#"{"coordination.scheme":"local","array.members":2}"#,
            r#"{"coordination.scheme":"local","array.members":4}"#,
            r#"{"coordination.scheme":"ideal","array.members":2}"#,
            r#"{"coordination.scheme":"ideal","array.members":4}"#,
        ]
    );
    for point in points {
        assert_eq!(point["report"]["seed"], 7, "every point sees the same seed");
        assert_eq!(point["report"]["requests"]["all"], 2000);
    }
    let mean = |index: usize| points[index]["report"]["response_us"]["all"]["mean"].as_f64().unwrap();
    let ratio = |index: usize| document["summary"][index]["figures"]["response_us.all.mean"]["ratio"].as_f64().unwrap();
    assert_eq!(document["summary"][3]["baseline"]["coordination.scheme"], "local");
    assert_eq!(document["summary"][3]["baseline"]["array.members"], 4);
    assert_eq!(ratio(1), 1.0);
    assert_eq!(ratio(3), mean(3) / mean(1));
}

#[test]
fn the_number_of_threads_changes_no_result() {
    let document = |jobs| without_wall_clock(Place::new().run_json(&grid(&["--json", "--seeds", "2", "--jobs", jobs]))).to_string();
    assert_eq!(document("1"), document("3"));
}

#[test]
fn seeds_are_consecutive_and_give_intervals() {
    let document = Place::new().run_json(&grid(&["--json", "--seeds", "3", "--seed", "20"]));
    let seeds: Vec<u64> = document["points"].as_array().unwrap().iter().map(|point| point["seed"].as_u64().unwrap()).collect();
    assert_eq!(seeds[..6], [20, 21, 22, 20, 21, 22]);
    let figure = &document["summary"][0]["figures"]["response_us.all.mean"];
    assert!(figure["ci95"].as_f64().unwrap() > 0.0);
    assert_eq!(figure["ratio_ci95"], 0.0, "the baseline is exactly once itself");
}

#[test]
fn the_table_shows_figures_and_ratios() {
    let ended = Place::new().run(&grid(&["--baseline", "ideal", "--out", "grid"]));
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    insta::assert_snapshot!("compare", ended.stdout);
}

#[test]
fn tables_are_sorted_if_asked() {
    let place = Place::new();
    let vary = ["compare", "small.toml", "--vary", "workload.arrivals.mean_gap=4ms,1ms,2ms", "--out", "grid"];
    let order = |sort: &[&str]| -> Vec<String> {
        let ended = place.run(&[&vary[..], sort].concat());
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        let rows = ended.stdout.lines().filter(|line| line.contains("ms ") && line.starts_with([' ', '1', '2', '4']));
        let gaps = rows.filter_map(|line| line.split_whitespace().next()).filter(|first| first.ends_with("ms") && first.len() == 3);
        gaps.take(3).map(str::to_owned).collect()
    };
    let means = |document: &serde_json::Value, pointer: &str| -> Vec<(String, f64)> {
        let points = document["points"].as_array().unwrap().iter();
        points
            .map(|point| {
                (
                    point["settings"]["workload.arrivals.mean_gap"].as_str().unwrap().to_owned(),
                    point["report"].pointer(pointer).unwrap().as_f64().unwrap(),
                )
            })
            .collect()
    };
    assert_eq!(order(&[]), ["4ms", "1ms", "2ms"]);
    let kept = place.json("grid/report.json");
    for (figure, sign) in [("response_us.all.mean", 1.0), ("bandwidth_mb_s.mean", -1.0)] {
        let mut expected = means(&kept, &format!("/{}", figure.replace('.', "/")));
        expected.sort_by(|a, b| (sign * a.1).total_cmp(&(sign * b.1)));
        let expected: Vec<String> = expected.into_iter().map(|(gap, _)| gap).collect();
        assert_eq!(order(&["--sort", figure]), expected, "{figure}");
    }
    // Documents keep the order of the varied keys.
    assert_eq!(without_wall_clock(place.json("grid/report.json")), without_wall_clock(kept));
    let ended = place.run(&[&vary[..], &["--sort", "speed"]].concat());
    assert!(ended.status == 2 && ended.stderr.contains("response_us.all.p99"), "{}", ended.stderr);
}

#[test]
fn a_point_is_what_run_reports() {
    let place = Place::new();
    let run = place.run_json(&["run", "small.toml", "--json", "--set", "array.members=4", "--set", "coordination.scheme=ideal"]);
    let point = place.run_json(&grid(&["--json"]))["points"][3]["report"].clone();
    assert_eq!(without_wall_clock(run).to_string(), without_wall_clock(point).to_string());
}

#[test]
fn finished_points_are_not_computed_again() {
    let place = Place::new();
    let first = place.run_json(&grid(&["--json", "--out", "grid"]));
    let points: Vec<String> = place.files().into_iter().filter(|name| name.starts_with("grid/points/")).collect();
    assert_eq!(points.len(), 4);

    // The wall-clock figures show which points were computed anew: all were kept.
    assert_eq!(place.run_json(&grid(&["--json", "--out", "grid"])), first);

    // A kept report is taken as it stands; one that is damaged or gone is computed again.
    place.write(&points[1], "{\"half a");
    fs::remove_file(place.path(&points[2])).unwrap();
    let again = place.run_json(&grid(&["--json", "--out", "grid"]));
    assert_eq!(without_wall_clock(again.clone()), without_wall_clock(first.clone()));
    let (first, now) = (first["points"].as_array().unwrap(), again["points"].as_array().unwrap());
    let taken = first.iter().zip(now).filter(|(first, now)| first["report"]["wall_s"] == now["report"]["wall_s"]).count();
    assert_eq!(taken, 2);
    assert_eq!(place.json("grid/report.json"), again);
}

#[test]
fn the_folder_is_named_after_the_grid() {
    let place = Place::new();
    place.run(&grid(&[]));
    place.run(&grid(&["--jobs", "1", "--baseline", "ideal"]));
    place.run(&grid(&["--seed", "8"]));
    let mut folders: Vec<_> = fs::read_dir(place.path("flashraid-out")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    folders.sort();
    assert_eq!(folders.len(), 2, "{folders:?}");
    assert!(folders.iter().all(|name| name.to_string_lossy().starts_with("compare-")));
}

#[test]
fn values_with_commas_stay_whole() {
    let vary = r#"workload.arrivals={process="poisson", mean_gap="2ms"},{process="closed", depth=4}"#;
    let document = Place::new().run_json(&["compare", "small.toml", "--json", "--vary", vary]);
    let points = document["points"].as_array().unwrap();
    assert_eq!(points.len(), 2);
    assert_eq!(points[1]["report"]["config"]["workload"]["arrivals"]["depth"], 4);
}

#[test]
fn a_bad_point_stops_the_grid_before_it_starts() {
    let place = Place::new();
    let ended = place.run(&["compare", "small.toml", "--vary", "array.members=2,none"]);
    assert_eq!(ended.status, 2);
    assert!(ended.stderr.contains("array.members"), "{}", ended.stderr);
    assert_eq!(place.files(), Vec::<String>::new());
}

#[test]
fn what_can_not_be_compared_is_refused() {
    let place = Place::new();
    for (arguments, part) in [
        (grid(&["--baseline", "lokal"]), "choose one of local, ideal"),
        (grid(&["--vary", "array.members=8"]), "is there twice"),
        (grid(&["--vary", "seed=1,2", "--seeds", "3"]), "leave out one of them"),
        (grid(&["--seeds", "0"]), "0 is not in 1..=10000"),
        (vec!["compare", "small.toml"], "--vary <KEY=A,B,C>"),
        (vec!["compare", "small.toml", "--vary", "array.members"], "write KEY=A,B,C"),
    ] {
        let ended = place.run(&arguments);
        assert_eq!(ended.status, 2, "{arguments:?}");
        assert!(ended.stderr.contains(part), "{arguments:?}: {}", ended.stderr);
    }
    assert_eq!(place.files(), Vec::<String>::new());
}

#[test]
fn points_and_charts_are_kept_as_tables() {
    let place = Place::new();
    let document = place.run_json(&grid(&["--json", "--seeds", "2", "--out", "grid"]));
    let rows = tables::both(&place, "grid/points");
    assert_eq!(rows[0][..4], ["coordination_scheme", "array_members", "seed", "response_us_all_mean"]);
    assert!(rows[0].iter().all(|name| !name.contains(['.', '-'])), "SQL needs quotes: {:?}", rows[0]);
    assert_eq!(rows.len(), 1 + 4 * 2);
    for (row, point) in rows[1..].iter().zip(document["points"].as_array().unwrap()) {
        assert_eq!(row[0], point["settings"]["coordination.scheme"].as_str().unwrap());
        assert_eq!(row[1], point["settings"]["array.members"].to_string());
        assert_eq!(row[2], point["seed"].to_string());
        assert_eq!(row[3].parse::<f64>().unwrap(), point["report"]["response_us"]["all"]["mean"].as_f64().unwrap());
    }
    let charts = tables::both(&place, "grid/charts");
    for name in place.files().iter().filter_map(|name| name.strip_prefix("grid/")?.strip_suffix(".svg")) {
        assert!(charts.iter().any(|row| row[0] == name), "no data of the picture {name}");
    }
}

#[test]
fn shards_merged_are_the_whole_comparison() {
    let place = Place::new();
    let whole = without_wall_clock(place.run_json(&grid(&["--json", "--baseline", "ideal"])));
    let mut simulations = 0;
    for (shard, out) in [("1/2", "one"), ("2/2", "two")] {
        let document = place.run_json(&grid(&["--json", "--baseline", "ideal", "--shard", shard, "--out", out]));
        simulations += document["simulations"].as_u64().unwrap();
    }
    assert_eq!(simulations, 4);
    let merged = place.run_json(&["merge", "one", "two", "--json", "--out", "all"]);
    assert_eq!(without_wall_clock(merged.clone()).to_string(), whole.to_string());
    assert_eq!(place.json("all/report.json"), merged);
    assert!(place.read("all/report.html").contains("<title>flashraid merge: "));

    let ended = place.run(&["merge", "two"]);
    assert_eq!(ended.status, 2);
    assert!(ended.stderr.contains("2 of 4 simulations are in none of the folders") && ended.stderr.contains("2/2"), "{}", ended.stderr);
    let ended = place.run(&grid(&["--shard", "3/2"]));
    assert_eq!(ended.status, 2);
    assert!(ended.stderr.contains("1/2 to 2/2"), "{}", ended.stderr);
}
