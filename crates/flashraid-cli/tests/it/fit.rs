//! `flashraid probe --simulate`, and `flashraid fit` of what it writes.

use crate::program::Place;

/// A small drive with superblocks.
pub const DRIVE: &str = r#"
[ssd]
transfer = "channel"
link = { rate = "1.0GB/s", duplex = "full" }
geometry = { dies = 4, planes = 2, blocks = 48, pages = 48, page_size = "4KiB", reserved = 0.3 }
timing = { page_read = "56us", page_program = "1490us", block_erase = "3500us", transfer_per_byte = "1.07GB/s" }
channel = { dies_per_channel = 2 }
superblock = { pages_per_cell = 3 }
buffer = { ack = "6us" }
firmware = { cores = 2, read = "25us", write = "60us", move = "60us", latency = "20us" }
"#;

#[test]
fn a_device_file_is_made_of_results() {
    let place = Place::new();
    place.write("drive.toml", DRIVE);
    place.write("other.toml", DRIVE.replace("1.0GB/s", "800MB/s").replace("latency = \"20us\"", "latency = \"30us\""));
    let ended = place.run(&["probe", "--simulate", "other.toml", "--scale", "1", "--out", "known"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("17 jobs to known"), "{}", ended.stdout);
    // A few of them are enough for two values.
    let of = |part: &str| place.files().into_iter().find(|name| name.contains(part)).unwrap();
    let (write, read, alone, deep) = (of("-write-128k"), of("-read-128k"), of("randread-4k-q1.json"), of("randread-4k-q16.json"));
    let results = [write.as_str(), &read, &alone, &deep];
    let fit = |more: &[&str]| {
        let options = ["--base", "drive.toml", "--parameters", "link,latency", "--scale", "1", "--simplex", "8"];
        place.run(&[&["fit"], &results[..], &options, more].concat())
    };
    let ended = fit(&["--out", "found.toml"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    for said in ["2 of 2 values are determined", "Fitted values", "latency", "written: found.toml, found.html"] {
        assert!(ended.stdout.contains(said), "{said}\n{}", ended.stdout);
    }
    assert!(place.read("found.html").contains("iops-over-depth"));

    let refused = fit(&["--out", "found.toml"]);
    assert_eq!(refused.status, 2);
    assert!(refused.stderr.contains("found.toml is there already; --force"), "{}", refused.stderr);
    let again = fit(&["--out", "found.toml", "--force", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(document["parameters"][1]["name"], "latency");
    let latency = document["parameters"][1]["value"].as_f64().unwrap();
    assert!((latency / 30e3 - 1.0).abs() < 0.05, "{latency}");

    // The file is a device.
    place.write("run.toml", "inherits = \"found.toml\"\narray = { level = \"single\", members = 1 }\n[workload]\nkind = \"synthetic\"\nrequests = 500\nread_fraction = 1.0\nsize = \"4KiB\"\narrivals = { process = \"closed\", depth = 1 }\n");
    let report = place.run_json(&["run", "run.toml", "--json"]);
    assert!(report["response_us"]["read"]["mean"].as_f64().unwrap() > 30.0);
}

#[test]
fn what_cannot_be_fitted_is_refused() {
    let place = Place::new();
    place.write("drive.toml", DRIVE);
    place.write("result.json", r#"{"jobs": [{"jobname": "a", "error": 0, "job options": {"rw": "randread"}, "read": {"iops": 9000.0, "lat_ns": {"mean": 111000.0}}}]}"#);
    place.write("text.json", "nothing");
    for (arguments, named) in [
        (vec!["fit", "none.json", "--out", "x.toml"], "none.json: can't be read"),
        (vec!["fit", "text.json", "--out", "x.toml"], "text.json: there is no JSON in it"),
        (vec!["fit", "result.json", "--out", "x.json"], "ends in .toml"),
        (vec!["fit", "result.json", "--out", "x.toml", "--base", "pgc2011"], "no superblocks"),
        (vec!["fit", "result.json", "--out", "x.toml", "--base", "none"], "no such device"),
        (vec!["fit", "result.json", "--out", "x.toml", "--base", "drive.toml", "--scale", "1"], "two jobs at least"),
        (vec!["fit", "result.json", "--out", "x.toml", "--parameters", "link,colour"], "colour is none of page_program"),
        (vec!["fit", "result.json", "--out", "x.toml", "--hold-out", "b"], "hold out b: there is no such job"),
        (vec!["probe", "--simulate", "drive.toml", "--set", "ggc"], "the set ggc is for real drives"),
        (vec!["probe", "--simulate", "pgc2011"], "no superblocks"),
    ] {
        let ended = place.run(&arguments);
        assert_eq!(ended.status, 2, "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(named), "{named}\n{}", ended.stderr);
    }
    assert!(!place.files().iter().any(|name| name.contains('x') && name.ends_with("toml")), "{:?}", place.files());
}
