//! Configurations and traces that are wrong, in every way that was tried.

use super::{ends, run_with, trace};
use crate::program::{Place, SMALL};

/// Once: 61 of 66 values of `kind` were taken in silence, and any preset that is no text.
#[test]
fn kind_and_preset_of_a_workload_are_judged() {
    let place = Place::new();
    let text = SMALL.replace("kind = \"synthetic\"\n", "");
    place.write("small.toml", text);
    for value in ["\"tracee\"", "3", "[]", "true", "{}", "\"\"", "1.5"] {
        ends(&run_with(&place, "run", &[&format!("workload.kind={value}")]), 2, &["workload.kind"]);
    }
    for value in ["3", "[]", "true", "{ a = 1 }"] {
        ends(&run_with(&place, "run", &[&format!("workload.preset={value}")]), 2, &["workload.preset"]);
    }
    ends(&place.run(&["compare", "small.toml", "--vary", "workload.kind=a,b"]), 2, &["workload.kind"]);
    ends(&run_with(&place, "run", &["workload.kind=\"synthetic\""]), 0, &[]);
}

/// Once: "error: invalid type: floating point 8.0, expected u32", without file, key or place.
#[test]
fn whole_numbers_may_be_written_with_a_point_and_others_are_refused_with_their_key() {
    let place = Place::new();
    for set in ["array.members=2.0", "workload.requests=1e3", "seed=1.0", "ssd.geometry.dies=2e0"] {
        ends(&run_with(&place, "run", &[set]), 0, &[]);
    }
    for (set, key) in [
        ("array.members=2.5", "array.members"),
        ("array.members=1e99", "array.members"),
        ("array.members=4294967298", "array.members"),
        ("coordination.shallow_depth=9223372036854775807", "coordination.shallow_depth"),
        ("ssd.endurance=9223372036854775807", "ssd.endurance"),
        ("ssd.gc.suspend_ns=1e308", "ssd.gc.suspend_ns"),
        ("ssd.gc.suspensions_max=1e12", "ssd.gc.suspensions_max"),
        ("workload.requests=-1.0", "workload.requests"),
        ("workload.arrivals={process=\"closed\", depth=1e18}", "workload.arrivals"),
    ] {
        ends(&run_with(&place, "run", &[set]), 2, &[key]);
    }
}

/// Once: everything was measured, the skipped part included, without a word.
#[test]
fn a_skip_that_never_ends_measures_nothing_and_says_so() {
    let place = Place::new();
    place.write("ok.spc", trace(2000));
    place.write("t.toml", "array = { level = \"single\", members = 1 }\nssd.geometry = { dies = 2, planes = 1, blocks = 64, pages = 16 }\nworkload.path = \"ok.spc\"");
    for skip in ["report.skip_requests=5000", "report.skip_time=\"1h\""] {
        let report = place.run_json(&["run", "t.toml", "--json", "--set", skip]);
        assert_eq!(report["requests"]["all"], 0, "{skip}");
        assert_eq!(report["flash"]["host_pages_written"], 0, "{skip}");
        assert_eq!(report["response_us"]["all"]["count"], 0, "{skip}");
        let warnings = report["warnings"].to_string();
        assert!(warnings.contains("nothing was measured") && warnings.contains("report.skip_"), "{warnings}");
    }
}

/// Once: status 0, empty tables and no word.
#[test]
fn a_run_without_requests_says_so() {
    let place = Place::new();
    place.write("ok.spc", trace(50));
    place.write("t.toml", "ssd.geometry = { dies = 2, planes = 1, blocks = 64, pages = 16 }\nworkload.path = \"ok.spc\"");
    for set in ["workload.start=50", "workload.limit=0", "workload.start=\"1h\""] {
        let report = place.run_json(&["run", "t.toml", "--json", "--set", set]);
        assert!(report["warnings"].to_string().contains("nothing was measured"), "{set}: {}", report["warnings"]);
    }
}

/// Once: accepted without the warning that the documentation promises.
#[test]
fn keys_without_effect_are_told() {
    let place = Place::new();
    let warns = |sets: &[&str], part: &str| {
        let mut arguments = vec!["run", "small.toml", "--json"];
        sets.iter().for_each(|set| arguments.extend(["--set", set]));
        let report = place.run_json(&arguments);
        assert!(report["warnings"].to_string().contains(part), "{part}: {}", report["warnings"]);
    };
    ends(&run_with(&place, "run", &["ssd.warm_up.save=\"state\""]), 0, &[]);
    warns(&["ssd.warm_up.load=\"state\"", "ssd.warm_up.overwrites=1"], "ssd.warm_up.overwrites has no effect");
    warns(&["ssd.warm_up.load=\"state\"", "ssd.warm_up.pattern=\"random\""], "ssd.warm_up.pattern has no effect");
    warns(&["ssd.channel.dies_per_channel=2"], "ssd.channel has no effect");
    warns(&["coordination.scheme=\"ideal\"", "ssd.gc.preemption=\"semi\""], "ssd.gc.preemption has no effect");
    warns(&["coordination.scheme=\"ideal\"", "ssd.gc.idle=\"1ms\""], "ssd.gc.idle has no effect");
    warns(&["array.level=\"single\"", "array.members=1", "coordination.scheme=\"reactive-inclusive\""], "has nothing to coordinate");
}

/// Once: problems of `read_size.bytes` where `size` was written, of a chunk that nobody wrote, and a hint at a key that does not exist.
#[test]
fn problems_name_the_keys_that_were_written() {
    let place = Place::new();
    let ended = run_with(&place, "run", &["workload.size=\"1TiB\""]);
    ends(&ended, 2, &["`workload.size`"]);
    assert!(!ended.stderr.contains("read_size") && !ended.stderr.contains("write_size"), "{}", ended.stderr);
    let pages = ["ssd.geometry.page_size=\"8KiB\"", "workload.address={pattern=\"zipf\"}"];
    ends(&run_with(&place, "run", &pages), 0, &[]);
    place.write("ok.spc", trace(200));
    place.write("t.toml", "ssd.geometry = { dies = 2, planes = 1, blocks = 64, pages = 16 }\nworkload = { path = \"ok.spc\", address_fit = \"scale\", address_extent = \"8KiB\" }");
    ends(&place.run(&["run", "t.toml"]), 2, &["`address_extent`"]);
    ends(&run_with(&place, "run", &["workload.path=\"\"", "workload.kind=\"trace\""]), 2, &["workload.path"]);
    ends(&place.run(&["reproduce", "lawc.fig7", "--trace", "financial"]), 2, &["NAME=FILE"]);
}

/// Once: the trace was ignored, even if there was no such file.
#[test]
fn a_trace_that_no_figure_uses_is_refused() {
    let place = Place::new();
    ends(
        &place.run(&["reproduce", "lawc.fig7", "--quick", "--trace", "financial=missing.spc"]),
        2,
        &["financial", "none of the chosen figures"],
    );
}

/// Once: a stack overflow (status 134) at 10,000 files, memory without end for /dev/zero, 7 s for a key of 300 kB and more than 30 s for one
/// of 5 MB, 14 s for 20,000 unknown keys, messages of 10 MB.
#[test]
fn configurations_of_any_size_are_judged_at_once_and_in_few_words() {
    let place = Place::new();
    for index in 0..300 {
        place.write(&format!("{index}.toml"), format!("inherits = \"{}.toml\"", index + 1));
    }
    place.write("300.toml", SMALL);
    let begin = std::time::Instant::now();
    let judged = |arguments: &[&str], parts: &[&str]| {
        let ended = place.run(arguments);
        ends(&ended, 2, parts);
        let longest = ended.stderr.lines().map(str::len).max().unwrap_or(0);
        assert!(ended.stderr.len() < 200_000 && longest < 4000, "{} bytes, a line of {longest}", ended.stderr.len());
    };
    judged(&["check", "0.toml"], &["inherits", "file to file"]);
    judged(&["check", "/dev/zero"], &["larger than 16 MiB"]);
    place.write("zero.toml", "inherits = \"/dev/zero\"");
    judged(&["check", "zero.toml"], &["/dev/zero"]);
    place.write("long.toml", format!("{} = 1\n", "k".repeat(5_000_000)));
    judged(&["check", "long.toml"], &["there is no key"]);
    place.write("many.toml", (0..20_000).map(|index| format!("unknown{index} = 1\n")).collect::<String>());
    judged(&["check", "many.toml"], &["there are more problems"]);
    place.write("list.toml", format!("[coordination]\nscheme = \"reactive-selective\"\nggc_aware = [{}]", "1e9, ".repeat(100_000)));
    judged(&["check", "list.toml"], &["ggc_aware"]);
    place.write("value.toml", format!("[array]\nlevel = \"{}\"", "r".repeat(3_000_000)));
    judged(&["check", "value.toml"], &["array.level"]);
    judged(&["run", "small.toml", "--set", "ssd.gc.victim={policy=\"d-choices\", d=4294967295}"], &["ssd.gc.victim"]);
    // With a machine that is busy with other things; once it took minutes.
    assert!(begin.elapsed() < std::time::Duration::from_secs(40), "{:?}", begin.elapsed());
}

/// Once: they went to the terminal as they were.
#[test]
fn control_characters_are_shown_and_not_obeyed() {
    let place = Place::new();
    place.write("esc.toml", "\"a\\u001b[31mb\" = 1\n[workload]\npath = \"\\u001b[2Jx\"\nkind = \"trace\"\n");
    place.write("raw.toml", b"# \x1b[31m\n[array]\nlevel = 'r\x1b[2J'\n");
    for arguments in [
        &["check", "esc.toml"][..],
        &["check", "raw.toml"],
        &["check", "\u{1b}[2Jmissing.toml"],
        &["run", "small.toml", "--set", "a\u{7}b=1"],
    ] {
        let ended = place.run(arguments);
        ends(&ended, 2, &[]);
        let bad = |character: char| character.is_control() && character != '\n' && character != '\t';
        assert!(!ended.stderr.contains(bad), "{:?}", ended.stderr);
    }
}

/// Once: status 1, which means that a disk has failed.
#[test]
fn paths_that_lead_nowhere_are_bad_input() {
    let place = Place::new();
    std::fs::create_dir(place.path("folder")).unwrap();
    std::os::unix::fs::symlink("loop", place.path("loop")).unwrap();
    for path in ["folder", "loop", "missing", "small.toml/x"] {
        ends(&place.run(&["run", path]), 2, &[path]);
        ends(&place.run(&["trace", "info", path]), 2, &[path]);
        place.write("t.toml", format!("workload = {{ kind = \"trace\", path = \"{path}\" }}"));
        ends(&place.run(&["run", "t.toml"]), 2, &[path]);
        ends(&place.run(&["check", "t.toml"]), 2, &[path]);
        ends(&place.run(&["compare", "t.toml", "--vary", "seed=1,2", "--out", "out"]), 2, &[path]);
        place.write("l.toml", format!("{SMALL}\n[ssd.warm_up]\nload = \"{path}\""));
        ends(&place.run(&["run", "l.toml"]), 2, &[path, "ssd.warm_up.load"]);
        ends(&place.run(&["check", "l.toml"]), 2, &[path, "ssd.warm_up.load"]);
    }
    assert!(!place.path("out").exists(), "nothing was begun");
}

/// Once: found out after seconds, on full arrays minutes, of warming up; `check` ended with 0.
#[test]
fn mistakes_are_found_before_the_warm_up() {
    let place = Place::new();
    // This warm-up takes minutes.
    let long = ["ssd.warm_up.overwrites=1000", "ssd.geometry.blocks=4096", "ssd.geometry.pages=128"];
    place.write("bad.spc", "this is no trace\n");
    place.write("late.spc", format!("{}nonsense\n", trace(300)));
    for (sets, parts) in [
        (&["workload={kind=\"trace\", path=\"missing.spc\"}"][..], &["workload.path", "missing.spc"][..]),
        (&["workload={kind=\"trace\", path=\"bad.spc\"}"], &["bad.spc"]),
        (&["workload={kind=\"trace\", path=\"late.spc\"}"], &["late.spc", "line 301"]),
        (&["ssd.warm_up.save=\"no/such/folder/state\""], &["ssd.warm_up.save"]),
        (&["ssd.warm_up.load=\"missing\""], &["ssd.warm_up.load"]),
        (&["workload.size_scale=1000000"], &["size_scale"]),
    ] {
        let text = if sets[0].starts_with("workload={") { SMALL[..SMALL.find("[workload]").unwrap()].to_owned() } else { SMALL.to_owned() };
        place.write("small.toml", text);
        let sets = [&long[..], sets].concat();
        for command in ["check", "run"] {
            ends(&run_with(&place, command, &sets), 2, parts);
        }
        let mut arguments = vec!["compare", "small.toml", "--vary", "seed=1,2", "--out", "grid"];
        sets.iter().for_each(|set| arguments.extend(["--set", set]));
        let ended = place.run(&arguments);
        assert_eq!(ended.status, 2, "{}", ended.stderr);
    }
}

/// Once: all times were 0 without a note, and the closed loop had become a burst.
#[test]
fn converting_a_trace_without_times_needs_a_rate() {
    let place = Place::new();
    place.write("wait.fio", "fio version 2 iolog\nf add\nf open\nf write 0 4096\nf write 8192 4096\nf close\n");
    let convert = |more: &[&str]| place.run(&[&["trace", "convert", "wait.fio"], more].concat());
    ends(&convert(&["out.spc", "--to", "spc"]), 2, &["has no times", "--rate"]);
    assert_eq!(place.files(), ["wait.fio"]);
    ends(&convert(&["out.spc", "--to", "spc", "--rate", "100"]), 0, &[]);
    assert_eq!(place.run_json(&["trace", "info", "out.spc", "--json"])["duration_s"], 0.01);
    for rate in ["0", "-1", "nan", "inf", "fast"] {
        ends(&convert(&["out.spc", "--to", "spc", &format!("--rate={rate}")]), 2, &["requests per second"]);
    }
    // fio's second version has no times, too.
    let ended = convert(&["out.fio", "--to", "fio2"]);
    ends(&ended, 0, &[]);
    assert!(ended.stdout.contains("without times"), "{}", ended.stdout);
    assert_eq!(place.run_json(&["trace", "info", "out.fio", "--json"])["duration_s"], serde_json::Value::Null);
    ends(&place.run(&["trace", "convert", "out.spc", "x.spc", "--to", "spc", "--rate", "5"]), 2, &["has times of its own"]);
}
