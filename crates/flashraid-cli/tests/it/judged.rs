//! Comparisons speak only of points in which collection happened, and call only remedies better.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::program::Place;

/// Small drives with superblocks. Requests write less to each of them than its reserve of free superblocks.
const DRIVES: &str = r#"
seed = 1

[array]
level = "raid5"
members = 4
stripe_unit = "64KiB"

[ssd]
preset = "nvme-tlc-read"
scale = 1
channel.dies_per_channel = 2
geometry = { dies = 4, planes = 2, blocks = 40, pages = 144, reserved = 0.4 }
warm_up = { pattern = "steady" }

[workload]
kind = "synthetic"
requests = 3000
read_fraction = 0.5
size = "4KiB"
arrivals = { process = "poisson", mean_gap = "100us" }
"#;

/// Schemes of the comparison that once called a scheme best because it collected nothing.
const SCHEMES: [&str; 2] = ["--vary", "coordination.scheme=local,reactive-inclusive,ideal"];

/// Asserts that no point without collection is compared. Returns the number of such points.
fn expect_no_verdict_on_points_without_collection(document: &Value) -> usize {
    let (points, summary) = (document["points"].as_array().unwrap(), document["summary"].as_array().unwrap());
    let sentence = document["conclusions"][0].as_str().unwrap();
    let mut without = 0;
    for (point, summary) in points.iter().zip(summary).filter(|(point, _)| point["report"]["gc"]["cleans"] == 0) {
        without += 1;
        assert_eq!(summary["judged"], false, "{}", summary["settings"]);
        assert_eq!(summary["figures"]["response_us.all.mean"]["ratio"], Value::Null, "{}", summary["settings"]);
        assert!(summary["not_judged"].as_str().unwrap().contains("collected nothing in this run; it needs about"), "{summary}");
        let values: Vec<&str> = summary["settings"].as_object().unwrap().values().filter_map(Value::as_str).collect();
        assert!(!sentence.contains(&format!("{} is best", values.join(" · "))), "{sentence}");
        assert!(point["report"]["cycles"]["requests_until_judged"].as_u64() > point["report"]["requests"]["all"].as_u64());
    }
    without
}

#[test]
fn a_scheme_that_puts_collection_off_past_the_end_does_not_win() {
    let place = Place::new();
    place.write("drives.toml", DRIVES);
    let document = place.run_json(&[&["compare", "drives.toml", "--json", "--exactly"][..], &SCHEMES].concat());
    assert!(expect_no_verdict_on_points_without_collection(&document) >= 1);
    let owed = |index: usize| document["points"][index]["report"]["owed"]["credit_pages"].as_u64().unwrap();
    let amplification = |index: usize, name: &str| document["points"][index]["report"]["flash"][name].as_f64().unwrap();
    assert!(owed(1) > 0 && amplification(1, "write_amplification_max") > amplification(1, "write_amplification") + 0.1);
}

/// Returns the real trace, which may not be redistributed. The folder is FLASHRAID_TRACES or `../shared/traces` beside the repository.
fn mysql() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let trace = std::env::var_os("FLASHRAID_TRACES").map_or_else(beside, PathBuf::from).join("linux-mysql.load.gz");
    if trace.is_file() {
        return Some(trace);
    }
    eprintln!("skipped: no trace at {}", trace.display());
    None
}

/// The command of the README, with drives that are small enough for a test.
#[test]
fn the_real_trace_makes_no_winner_of_what_does_not_collect() {
    let Some(trace) = mysql() else { return };
    let place = Place::new();
    place.write("drives.toml", DRIVES.split("[workload]").next().unwrap());
    let path = format!("workload={{ kind = \"trace\", path = \"{}\", address_fit = \"wrap\", requests = 20000 }}", trace.display());
    let arguments =
        [&["compare", "drives.toml", "--json", "--exactly", "--set", &path, "--vary", "ssd.gc.preemption=none,suspend"][..], &SCHEMES]
            .concat();
    let document = place.run_json(&arguments);
    expect_no_verdict_on_points_without_collection(&document);
}

#[test]
fn levels_are_no_remedies() {
    let place = Place::new();
    let ended =
        place.run(&["compare", "small.toml", "--set", "array.members=4", "--vary", "array.level=raid0,raid5,raid10", "--out", "levels"]);
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    let text = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!text.contains("no remedy") && !text.contains("is best"), "{text}");
    assert!(text.contains("raid0: ") && text.contains("survives no failure") && text.contains("survives any one failure"), "{text}");
}
