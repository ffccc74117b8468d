//! Bad input: one clear message, exit status 2, nothing left behind.

use crate::program::{Place, SMALL};

fn refused(place: &Place, arguments: &[&str]) -> String {
    let ended = place.run(arguments);
    assert_eq!((ended.status, ended.stdout.as_str()), (2, ""), "{}", ended.stderr);
    assert_eq!(place.files(), Vec::<String>::new(), "nothing is left behind");
    ended.stderr
}

#[test]
fn all_problems_are_reported_at_once() {
    let place = Place::new();
    let text = SMALL.replace("dies = 2", "deis = 2").replace("members = 2", "members = \"two\"").replace("2ms", "2 parsecs");
    place.write("bad.toml", text);
    insta::assert_snapshot!("all_problems", refused(&place, &["run", "bad.toml", "--out", "results"]));
}

#[test]
fn syntax_errors_show_their_place() {
    let place = Place::new();
    place.write("bad.toml", "[array\nmembers = 2\n");
    let text = refused(&place, &["run", "bad.toml"]);
    assert!(text.contains("bad.toml:1:"), "{text}");
}

#[test]
fn a_bad_option_shows_itself() {
    let place = Place::new();
    insta::assert_snapshot!(
        "bad_set",
        refused(&place, &["run", "small.toml", "--set", "ssd.gc.victim=lifo", "--set", "array.lewel=raid0"])
    );
    let text = refused(&place, &["run", "small.toml", "--set", "array.members"]);
    assert!(text.contains("write KEY=VALUE"), "{text}");
}

#[test]
fn a_missing_file_is_named() {
    let text = refused(&Place::new(), &["run", "missing.toml"]);
    assert!(text.contains("missing.toml"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn impossible_arrays_are_explained() {
    let place = Place::new();
    for (set, part) in [
        ("ssd.geometry.reserved=0", "reserved"),
        ("ssd.geometry.blocks=2", "blocks"),
        ("array.stripe_unit=\"5000B\"", "stripe_unit"),
        ("array.level=raid10", "members"),
    ] {
        let members = if set.contains("raid10") { "array.members=3" } else { "array.members=2" };
        let text = refused(&place, &["run", "small.toml", "--set", members, "--set", set]);
        assert!(text.contains(part), "{set}: {text}");
    }
}

#[test]
fn bad_traces_are_explained() {
    let place = Place::new();
    place.write("empty.csv", "");
    place.write("backwards.spc", "0,0,4096,w,2.0\n0,8,4096,w,1.0\n");
    place.write("bad.spc", "0,0,4096,w,0.0\n0,8,4096,w,0.1\n0,16,many,w,0.2\n");
    place.write("beyond.spc", "0,0,4096,w,0.0\n0,999999999999,4096,w,1.0\n");
    for (file, parts) in [
        ("empty.csv", vec!["empty.csv", "empty"]),
        ("backwards.spc", vec!["backwards.spc", "2"]),
        ("bad.spc", vec!["bad.spc", "3", "many"]),
        ("beyond.spc", vec!["beyond.spc"]),
        ("missing.spc", vec!["missing.spc"]),
    ] {
        let trace = format!("workload={{kind=\"trace\", path=\"{file}\"}}");
        place.write("trace.toml", SMALL.split("[workload]").next().unwrap());
        let ended = place.run(&["run", "trace.toml", "--set", &trace, "--out", "results"]);
        assert_eq!(ended.status, 2, "{file}: {}", ended.stderr);
        for part in parts {
            assert!(ended.stderr.contains(part), "{file}: {}", ended.stderr);
        }
        assert!(!place.files().iter().any(|name| name.starts_with("results")), "{:?}", place.files());
    }
}

#[test]
fn unknown_commands_and_presets_are_refused() {
    let place = Place::new();
    assert!(refused(&place, &["reprodce"]).contains("unrecognized subcommand"));
    assert!(refused(&place, &["preset", "show", "ggc2015"]).contains("ggc2014"));
}
