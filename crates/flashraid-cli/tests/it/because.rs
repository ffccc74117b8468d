//! `run --because`: the same requests with one thing changed, in tables, documents and folders.

use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use crate::program::{Place, ended, without_wall_clock};

fn number(document: &Value, pointer: &str) -> f64 {
    document.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer}"))
}

fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_document_has_the_pairs_under_a_key_of_their_own() {
    let place = Place::new();
    let settings = ["small.toml", "--json", "--set", "array.level=raid5", "--set", "array.members=3"];
    let run = |more: &[&str]| place.run_json(&[&["run"][..], &settings, more].concat());
    let (mut with, alone, ideal) = (run(&["--because"]), run(&[]), run(&["--set", "coordination.scheme=ideal"]));
    let because = with.as_object_mut().unwrap().remove("because").unwrap();
    assert_eq!(without_wall_clock(with.clone()), without_wall_clock(alone), "nothing else is changed");
    for change in ["no_collection", "no_parity", "reads_alone", "one_at_a_time"] {
        for figure in ["mean", "p99", "p99_9"] {
            let of = format!("/{change}/response_us/read/{figure}");
            let (as_is, without) = (number(&because, &format!("{of}/as_is")), number(&because, &format!("{of}/without")));
            assert_eq!(as_is, number(&with, &format!("/response_us/read/{figure}")), "{change}");
            assert_eq!(number(&because, &format!("{of}/difference")), as_is - without, "{change}");
        }
    }
    assert_eq!(because["stopped"], false);
    for direction in ["all", "read", "write"] {
        let of = |figure: &str| number(&because, &format!("/no_collection/response_us/{direction}/{figure}/without"));
        assert_eq!(of("mean"), number(&ideal, &format!("/response_us/{direction}/mean")));
        assert_eq!(of("p99_9"), number(&ideal, &format!("/response_us/{direction}/p99_9")));
    }
    assert!(because["reads_alone"]["response_us"]["write"]["mean"]["without"].is_null());
    assert!(number(&because, "/no_collection/shares/all/caused") > 0.0);
}

#[test]
fn the_pairs_are_a_table_and_a_stored_run_shows_them_again() {
    let place = Place::new();
    let shown = place.run(&["run", "small.toml", "--because", "--out", "results"]);
    assert_eq!(shown.status, 0, "{}", shown.stderr);
    let of_pairs = |text: &str| -> String {
        let begin = text.find("What causes it").unwrap_or_else(|| panic!("{text}"));
        text[begin..].lines().take_while(|line| !line.starts_with("written")).map(|line| format!("{line}\n")).collect()
    };
    let pairs = of_pairs(&shown.stdout);
    for text in ["as it is", "no collection", "reads alone", "one at a time", "Waited and caused", "slowest 1 %"] {
        assert!(pairs.contains(text), "{text}: {pairs}");
    }
    assert!(!pairs.contains("no parity"), "{pairs}");
    assert!(in_one_line(&shown.stdout).contains("caused is what goes away"), "one sentence says why they differ: {}", shown.stdout);
    assert_eq!(of_pairs(&place.run(&["report", "results"]).stdout), pairs);
    let page = place.read("results/report.html");
    assert!(page.contains("What causes it") && page.contains("Waited and caused"));
    // With all tables, the pairs stand below where requests waited, and only there.
    let tables = place.run(&["run", "small.toml", "--because", "--tables"]).stdout;
    let title = "What causes it: the same requests with one thing changed\n";
    assert_eq!(tables.matches(title).count(), 1, "{tables}");
    assert!(tables.find("Where requests waited").unwrap() < tables.find("What causes it").unwrap());
    assert!(tables.find("What causes it").unwrap() < tables.find("Garbage collection").unwrap());
    // A run without the option has neither.
    let alone = place.run(&["run", "small.toml"]).stdout;
    assert!(!alone.contains("causes") && !alone.contains("caused"), "{alone}");
}

#[test]
fn what_is_left_out_is_said() {
    let place = Place::new();
    let shown = |settings: &[&str]| {
        let ended = place.run(&[&["run", "small.toml", "--because", "--set", "workload.requests=300"][..], settings].concat());
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        in_one_line(&ended.stdout)
    };
    let ideal = shown(&["--set", "coordination.scheme=ideal"]);
    assert!(ideal.contains("left out, no collection: collection takes no time in this run (coordination.scheme = \"ideal\")"), "{ideal}");
    let closed = shown(&["--set", "workload.arrivals={process=\"closed\", depth=4}"]);
    assert!(closed.contains("left out, reads alone: the load is a closed loop"), "{closed}");
    let cached = shown(&["--set", "array.level=raid5", "--set", "array.members=3", "--set", "cache.policy=wow"]);
    assert!(cached.contains("left out, no parity: the write cache"), "{cached}");
}

#[test]
fn pairs_that_cannot_be_are_refused() {
    let place = Place::new();
    for arguments in [["--seeds", "2"], ["--output-format", "fio+"]] {
        let refused = place.run(&[&["run", "small.toml", "--because"][..], &arguments].concat());
        assert_eq!((refused.status, refused.stdout.as_str()), (2, ""), "{}", refused.stderr);
        assert!(refused.stderr.contains("--because"), "{}", refused.stderr);
    }
}

/// A trace in a file can be read again, and one from a pipe cannot.
#[cfg(unix)]
#[test]
fn a_trace_is_read_again_unless_it_comes_from_a_pipe() {
    let place = Place::new();
    let trace: String = (0..500)
        .map(|number| format!("0,{},4096,{},{}.{:06}\n", number * 37 % 1000 * 8, if number % 3 == 0 { 'r' } else { 'w' }, 0, number * 1000))
        .collect();
    place.write("trace.spc", &trace);
    let set = ["--set", "ssd.geometry={dies=1, blocks=64, pages=16}", "--members", "2", "--json"];
    let report = place.run_json(&[&["run", "trace.spc", "--format", "spc", "--because"][..], &set].concat());
    assert!(report["because"]["no_collection"].is_object() && report["because"]["reads_alone"].is_object());
    let mut child = place
        .command(&[&["run", "-", "--format", "spc", "--because"][..], &set].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The program may have ended before it has read everything.
    let _ = child.stdin.take().unwrap().write_all(trace.as_bytes());
    let refused = ended(child.wait_with_output().unwrap());
    assert_eq!((refused.status, refused.stdout.as_str()), (2, ""), "{}", refused.stderr);
    assert!(refused.stderr.contains("can be read only once") && refused.stderr.contains("write them to a file"), "{}", refused.stderr);
    assert_eq!(place.files(), ["trace.spc"]);
}

#[test]
fn a_comparison_says_what_collection_costs_where_it_has_the_ideal() {
    let place = Place::new();
    let compare = |schemes: &str, json: &[&str]| {
        let vary = format!("coordination.scheme={schemes}");
        place.run(&[&["compare", "small.toml", "--vary", &vary, "--force", "--out", "grid"][..], json].concat())
    };
    let with = compare("local,reactive-inclusive,ideal", &[]);
    assert_eq!(with.status, 0, "{}", with.stderr);
    assert!(with.stdout.contains("Collection costs local"), "{}", with.stdout);
    assert!(place.read("grid/report.html").contains("Collection costs local"));
    assert!(!compare("local,reactive-inclusive", &[]).stdout.contains("Collection costs"));
    let document: Value = serde_json::from_str(&compare("local,ideal", &["--json"]).stdout).unwrap();
    let mean = |index: usize| number(&document, &format!("/points/{index}/report/response_us/all/mean"));
    let sentence = document["costs_of_collection"][0].as_str().unwrap();
    let percent = format!("{:.0}", (1.0 - mean(1) / mean(0)) * 100.0);
    assert!(sentence.starts_with("Collection costs local ") && sentence.contains(&percent[..1]), "{sentence} {percent}");
}
