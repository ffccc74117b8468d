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

/// Three writes of a volatile drive, each with a flush, as a recorder saw them.
const WITH_FLUSHES: &str = "time_us,op,offset,size,latency_us\n0,W,0,4096,30\n50,flush,0,0,2000\n9000,W,4096,4096,50\n9100,flush,0,0,2500\n\
                            18000,R,0,4096,90\n";

#[test]
fn measured_times_stand_beside_simulated_ones() {
    let place = Place::new();
    place.write("log.csv", WITH_FLUSHES);
    let info = place.run(&["trace", "info", "log.csv"]).stdout;
    for part in ["flushes                          2", "Measured response times", " flushes          2", "2.50 ms", "90.0 µs"] {
        assert!(info.contains(part), "{part} in {info}");
    }
    let document = place.run_json(&["trace", "info", "log.csv", "--json"]);
    assert_eq!((&document["flushes"], &document["measured_response_us"]["write"]["mean"]), (&2.into(), &40.0.into()));
    assert_eq!(document["measured_response_us"]["total"]["count"], 3);

    place.write(
        "small-trace.toml",
        format!("{}[workload]\nkind = \"trace\"\npath = \"log.csv\"\n", place.read("small.toml").split("[workload]").next().unwrap()),
    );
    let compared = place.run(&["compare", "small-trace.toml", "--vary", "array.level=raid0,raid1", "--exactly"]);
    assert_eq!(compared.status, 0, "{}", compared.stderr);
    assert!(
        compared.stdout.replace("\n  ", " ").contains("measured: when the trace was recorded, it took 1 reads 90.0 µs in the mean"),
        "{}",
        compared.stdout
    );
    let report = place.run_json(&["run", "small-trace.toml", "--json"]);
    assert_eq!((&report["measured_response_us"]["flush"]["max"], &report["requests"]["flush"]), (&2500.0.into(), &2.into()));
    assert_eq!(report["response_us"]["sync"]["count"], 2);
    let ignored = place.run_json(&["run", "small-trace.toml", "--json", "--set", "workload.flushes=ignore"]);
    assert!(ignored["response_us"].get("sync").is_none() && ignored["requests"].get("flush").is_none());
}

#[test]
fn columns_are_named_by_an_option_and_a_key() {
    let place = Place::new();
    place.write("plain.txt", "7 5000 0 80 8\n8 7000 1 96 16\n");
    let columns = "-,time:us,op:0=read,address:512,length:512";
    let document = place.run_json(&["trace", "info", "plain.txt", "--columns", columns, "--json"]);
    assert_eq!((&document["format"], &document["read"]["bytes"], &document["end_byte"]), (&"columns".into(), &4096.into(), &57_344.into()));
    place.write(
        "plain.toml",
        format!("[workload]\nkind = \"trace\"\npath = \"plain.txt\"\ncolumns = {columns:?}\n[ssd.warm_up]\noverwrites = 0\n"),
    );
    assert_eq!(place.run_json(&["run", "plain.toml", "--json"])["requests"]["all"], 2);
    let refused = place.run(&["trace", "info", "plain.txt", "--columns", "time,address,size"]);
    assert_eq!(refused.status, 2);
    assert!(refused.stderr.contains("column \"size\" is not known; allowed are time, end, op"), "{}", refused.stderr);
    let refused = place.run(&["run", "plain.toml", "--set", "workload.columns=time"]);
    assert_eq!(refused.status, 2);
    assert!(refused.stderr.contains("address is missing"), "{}", refused.stderr);
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
