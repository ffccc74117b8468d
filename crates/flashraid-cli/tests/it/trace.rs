//! Tests of the command `flashraid trace`.

use crate::program::Place;

const SPC: &str = "0,0,4096,r,0.0\n0,8,8192,W,0.5\n0,24,4096,W,1.0\n1,8,512,r,2.0\n";

#[test]
fn info_sums_a_trace_up() {
    let place = Place::new();
    place.write("small.spc", SPC);
    let ended = place.run(&["trace", "info", "small.spc"]);
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    insta::assert_snapshot!("trace_info", ended.stdout);
    let document = place.run_json(&["trace", "info", "small.spc", "--json"]);
    assert_eq!((&document["requests"], &document["format"]), (&4.into(), &"spc".into()));
    assert_eq!(document["duration_s"], 2.0);
}

#[test]
fn convert_changes_the_format_and_keeps_the_requests() {
    let place = Place::new();
    place.write("small.spc", SPC);
    let ended = place.run(&["trace", "convert", "small.spc", "small.csv.zst", "--to", "msr"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert_eq!(ended.stdout, "small.csv.zst: 4 requests as msr\n");
    let (before, after) =
        (place.run_json(&["trace", "info", "small.spc", "--json"]), place.run_json(&["trace", "info", "small.csv.zst", "--json"]));
    assert_eq!(after["format"], "msr");
    assert_eq!(after["compression"], "zstd");
    for key in ["requests", "read_fraction", "duration_s", "footprint_bytes", "end_byte"] {
        assert_eq!(before[key], after[key], "{key}");
    }
}

/// FlashSim's files and DiskSim's differ only in what their numbers count; long requests look like sectors.
#[test]
fn convert_says_where_its_trace_would_be_taken_for_another() {
    let place = Place::new();
    place.write("long.spc", "0,0,65536,r,0.0\n0,128,65536,W,0.5\n0,384,65536,W,1.0\n");
    let ended = place.run(&["trace", "convert", "long.spc", "long.trace", "--to", "flashsim"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("(--format flashsim)") && ended.stdout.contains("taken for disksim"), "{}", ended.stdout);
    assert_eq!(place.run_json(&["trace", "info", "long.trace", "--json"])["format"], "disksim");
    let named = place.run_json(&["trace", "info", "long.trace", "--format", "flashsim", "--json"]);
    assert_eq!(named["end_byte"], place.run_json(&["trace", "info", "long.spc", "--json"])["end_byte"]);

    // A format that is found again needs no word.
    let ended = place.run(&["trace", "convert", "long.spc", "long.csv", "--to", "msr"]);
    assert_eq!(ended.stdout, "long.csv: 3 requests as msr\n");
}

#[test]
fn what_can_not_be_converted_is_refused() {
    let place = Place::new();
    place.write("small.spc", SPC);
    for arguments in [
        vec!["trace", "info", "missing.spc"],
        vec!["trace", "info", "."],
        vec!["trace", "convert", "missing.spc", "out.csv", "--to", "msr"],
        vec!["trace", "convert", "small.spc", "out.srt", "--to", "srt"],
        vec!["trace", "convert", "small.spc", "out.x", "--to", "nothing"],
        vec!["trace", "convert", "small.spc", "out.x"],
    ] {
        let ended = place.run(&arguments);
        assert_eq!((ended.status, ended.stdout.as_str()), (2, ""), "{arguments:?}: {}", ended.stderr);
        assert_eq!(place.files(), ["small.spc"]);
    }
}
