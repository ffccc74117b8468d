//! `flashraid schema --report`: real reports are valid by it, and nothing else is.

use serde_json::{Value, json};

use crate::pages_of_runs::SHAPES;
use crate::program::Place;

/// A small array of drives with superblocks.
const DRIVES: &str = r#"
[array]
level = "raid5"
members = 3
[ssd]
preset = "nvme-gen5"
scale = 1
[ssd.channel]
dies_per_channel = 2
[ssd.geometry]
dies = 2
planes = 2
blocks = 40
pages = 72
reserved = 0.5
[workload]
requests = 400
read_fraction = 0.5
size = "16KiB"
arrivals = { process = "closed", depth = 8 }
"#;

fn validator(place: &Place) -> (Value, jsonschema::Validator) {
    let schema = place.run_json(&["schema", "--report"]);
    let validator = jsonschema::options().build(&schema).unwrap();
    (schema, validator)
}

fn expect_valid(validator: &jsonschema::Validator, report: &Value, about: &str) {
    let errors: Vec<String> = validator.iter_errors(report).take(5).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{about}:\n{}", errors.join("\n"));
}

#[test]
fn reports_of_all_shapes_are_valid() {
    let place = Place::new();
    let (_, validator) = validator(&place);
    for (index, shape) in SHAPES.iter().enumerate() {
        let set = shape.iter().flat_map(|setting| ["--set", setting]);
        let window = if index % 4 == 0 { vec!["--timeline", "0s..100ms"] } else { Vec::new() };
        let arguments: Vec<&str> =
            ["run", "small.toml", "--json", "--set", "workload.requests=1200"].into_iter().chain(set).chain(window).collect();
        expect_valid(&validator, &place.run_json(&arguments), &format!("{shape:?}"));
    }
    place.write("drives.toml", DRIVES);
    let report = place.run_json(&["run", "drives.toml", "--json"]);
    assert!(report["drive"].is_object());
    expect_valid(&validator, &report, "drives with superblocks");
    place.write("trace.csv", "0,0,4096,r,0.1\n0,8,4096,w,0.2\n");
    expect_valid(&validator, &place.run_json(&["run", "trace.csv", "--json"]), "a trace");
    let grid = place.run_json(&["compare", "small.toml", "--vary", "array.members=2,3", "--set", "workload.requests=100", "--json"]);
    for point in grid["points"].as_array().unwrap() {
        expect_valid(&validator, &point["report"], "a point of a grid");
    }
}

#[test]
fn what_is_no_report_is_not_valid() {
    let place = Place::new();
    let (schema, validator) = validator(&place);
    assert!(schema["$schema"].is_string() && schema["description"].is_string());
    let report = place.run_json(&["run", "small.toml", "--json", "--set", "cache.policy=wow", "--set", "cache.size=64KiB"]);
    expect_valid(&validator, &report, "before it is changed");
    let objects =
        ["", "/response_us/all", "/verdict", "/members/0", "/over_time/members/0", "/time_us/all", "/cache/occupancy", "/config/array"];
    for pointer in objects {
        let mut changed = report.clone();
        changed.pointer_mut(pointer).unwrap()["another"] = json!(1);
        assert!(!validator.is_valid(&changed), "another key in {pointer:?}");
    }
    for (pointer, key, wrong) in [
        ("", "schema", json!(1)),
        ("/verdict", "load", json!("busy")),
        ("/response_us/all", "count", json!(-1)),
        ("/requests", "read", json!("many")),
        ("/over_time", "iops", json!([null])),
        ("/cache/reads", "hit", json!(0.5)),
        ("/config/array", "level", json!("raid7")),
    ] {
        let mut changed = report.clone();
        changed.pointer_mut(pointer).unwrap()[key] = wrong;
        assert!(!validator.is_valid(&changed), "{pointer}/{key}");
        let mut changed = report.clone();
        changed.pointer_mut(pointer).unwrap().as_object_mut().unwrap().remove(key);
        assert!(pointer == "/config/array" || !validator.is_valid(&changed), "without {pointer}/{key}");
    }
}

#[test]
fn one_schema_at_a_time() {
    let ended = Place::new().run(&["schema", "--report", "--markdown"]);
    assert_eq!(ended.status, 2, "{}", ended.stderr);
}
