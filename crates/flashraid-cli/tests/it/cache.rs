//! Kept warm states: found by the second run, whatever is wrong with them ignored with a note, and refused where they are named.

use std::fs;

use crate::program::{Place, ended, without_wall_clock};

/// The warm-up is long enough to be kept.
const KEPT: &str = r#"
array = { level = "raid0", members = 3, stripe_unit = "4KiB" }
ssd.preset = "ggc2014"
ssd.geometry = { dies = 4, planes = 2, blocks = 64, pages = 64 }
ssd.warm_up.overwrites = 20.0
workload = { kind = "synthetic", requests = 3000, read_fraction = 0.25, size = "8KiB", arrivals = { process = "poisson", mean_gap = "2ms" } }
"#;

fn place() -> Place {
    let place = Place::new();
    place.write("kept.toml", KEPT);
    place
}

/// The report of a run, and what was said of the cache.
fn run(place: &Place, more: &[&str]) -> (String, String) {
    let ended = place.run(&[&["run", "kept.toml", "--json"], more].concat());
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    (without_wall_clock(serde_json::from_str(&ended.stdout).unwrap()).to_string(), ended.stderr)
}

#[test]
fn the_second_run_finds_the_state_and_gives_the_same() {
    let place = place();
    let (made, said) = run(&place, &["--no-cache"]);
    assert_eq!((said.as_str(), place.files().len()), ("", 0));
    for threads in ["1", "2"] {
        let (first, said) = run(&place, &["--threads", threads]);
        assert_eq!((&first, said.as_str()), (&made, ""));
        assert_eq!(place.files().len(), 3, "a file for each member");
        let (second, said) = run(&place, &["--threads", threads]);
        assert_eq!((&second, said.as_str()), (&made, "note: warm state from the cache (cache)\n"));
        let cleared = place.run(&["cache", "clear"]);
        assert!(cleared.stdout.contains("3 states removed"), "{}", cleared.stdout);
        assert!(place.files().is_empty());
    }
}

#[test]
fn what_only_takes_time_and_other_members_find_it_too() {
    let place = place();
    run(&place, &[]);
    for more in [["--set", "ssd.timing.page_read=31us"], ["--set", "coordination.scheme=ideal"], ["--set", "array.members=2"]] {
        let (_, said) = run(&place, &more);
        assert_eq!(said, "note: warm state from the cache (cache)\n", "{more:?}");
    }
    let (_, said) = run(&place, &["--set", "array.members=4"]);
    assert_eq!(said, "note: warm state of 3 of 4 SSDs from the cache (cache)\n");
    for more in [["--seed", "2"], ["--set", "ssd.warm_up.overwrites=21"], ["--set", "ssd.gc.victim=fifo"]] {
        assert_eq!(run(&place, &more).1, "", "{more:?}");
    }
    // In words, so that the table has lines that can be read.
    let table = place.run(&["cache", "list"]).stdout;
    assert!(table.contains("SSD 3: 4 dies of 2 × 64 blocks of 64 pages, 20 overwrites, seed 1"), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 160), "{table}");
    let listed = place.run_json(&["cache", "list", "--json"]);
    assert_eq!(listed["states"].as_array().unwrap().len(), 4 + 3 * 3);
    assert_eq!(listed["limit_bytes"], 4_u64 << 30);
}

#[test]
fn a_damaged_state_is_made_anew_and_the_user_is_told() {
    let place = place();
    let (made, _) = run(&place, &["--no-cache"]);
    for pattern in ["random", "workload"] {
        let more = ["--set".to_owned(), format!("ssd.warm_up.pattern={pattern}")];
        let more = more.each_ref().map(String::as_str);
        let (made, _) =
            if pattern == "random" { (made.clone(), String::new()) } else { run(&place, &[&more[..], &["--no-cache"]].concat()) };
        run(&place, &more);
        let path = place.path(&place.files()[0]);
        let whole = fs::read(&path).unwrap();
        let mut flipped = whole.clone();
        flipped[whole.len() / 2] ^= 4;
        let other_version = [b"[\"flashraid.warm-state/9\"".as_slice(), &whole[25..]].concat();
        for damaged in [&flipped[..], &whole[..whole.len() / 2], &[], &other_version] {
            fs::write(&path, damaged).unwrap();
            let (report, said) = run(&place, &more);
            assert_eq!(report, made);
            assert!(said.contains("note: a kept warm state is not used: cache/warm-"), "{said}");
            assert_eq!(fs::read(&path).unwrap(), whole, "it is made anew");
        }
        place.run(&["cache", "clear"]);
    }
}

#[test]
fn a_state_that_is_named_must_be_whole() {
    let place = place();
    let (made, _) = run(&place, &["--no-cache", "--set", "ssd.warm_up.save=state"]);
    let set = ["--set", "ssd.warm_up.load=state"];
    let unnamed = |report: &str| {
        let mut report: serde_json::Value = serde_json::from_str(report).unwrap();
        report["config"]["ssd"]["warm_up"].take();
        report["config_hash"].take();
        report
    };
    assert_eq!(unnamed(&run(&place, &set).0)["response_us"], unnamed(&made)["response_us"]);
    let whole = fs::read(place.path("state")).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 4;
    let mut longer = whole.clone();
    longer.push(0);
    for damaged in [&flipped[..], &whole[..whole.len() / 2], &[], &longer] {
        fs::write(place.path("state"), damaged).unwrap();
        let ended = place.run(&["run", "kept.toml", set[0], set[1]]);
        assert_eq!(ended.status, 2, "{}", ended.stderr);
        assert!(ended.stderr.contains("state"), "{}", ended.stderr);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn more_memory_than_there_is_is_refused_before_any_is_asked_for() {
    let place = Place::new();
    place.write(
        "large.toml",
        "array = { level = \"raid0\", members = 128, stripe_unit = \"4KiB\" }\nssd.preset = \"ggc2014\"\nworkload.preset = \"hpc-w\"\n",
    );
    for arguments in ["run large.toml", "compare large.toml --vary seed=1,2 --out out"] {
        let script = format!("ulimit -v 4000000; exec {} {arguments}", env!("CARGO_BIN_EXE_flashraid"));
        let mut command = std::process::Command::new("sh");
        let ended = ended(command.args(["-c", &script]).current_dir(place.path("")).env("FLASHRAID_CACHE", "off").output().unwrap());
        assert_eq!(ended.status, 2, "{}", ended.stderr);
        assert!(ended.stderr.contains("of memory, and there is") && ended.stderr.contains("(ulimit -v); reduce"), "{}", ended.stderr);
        assert!(place.files().is_empty());
    }
}
