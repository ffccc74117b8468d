//! The first five minutes: demo, init, a trace in place of a configuration, folders that are not overwritten, help for shells.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use crate::program::{Ended, FILES_OF_A_RUN, Place, SMALL, ended, without_wall_clock};

/// Runs the program with this text on standard input.
fn run_with_input(place: &Place, arguments: &[&str], input: &[u8]) -> Ended {
    place.write("input", input);
    let file = fs::File::open(place.path("input")).unwrap();
    let output = place.command(arguments).stdin(file).stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
    fs::remove_file(place.path("input")).unwrap();
    ended(output)
}

/// The document that a process printed.
fn ended_of(child: std::process::Child) -> serde_json::Value {
    let ended = ended(child.wait_with_output().unwrap());
    succeeds(&ended);
    serde_json::from_str(&ended.stdout).unwrap()
}

fn succeeds(ended: &Ended) {
    assert_eq!(ended.status, 0, "{}", ended.stderr);
}

/// An SPC trace of writes, one each millisecond, over so many bytes.
fn spc(requests: u32, bytes: u64) -> String {
    (0..requests).map(|at| format!("0,{},4096,w,{}.{:03}\n", (u64::from(at) * 4096 * 7 % bytes) / 512, at / 1000, at % 1000)).collect()
}

/// Options that make any array small.
const TINY: [&str; 10] = [
    "--set",
    "ssd.geometry.dies=2",
    "--set",
    "ssd.geometry.planes=1",
    "--set",
    "ssd.geometry.blocks=64",
    "--set",
    "ssd.geometry.pages=16",
    "--set",
    "ssd.warm_up.overwrites=0.5",
];

fn tiny<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    arguments.iter().chain(&TINY).copied().collect()
}

#[test]
fn without_a_command_the_program_prints_its_help() {
    let place = Place::new();
    let ended = place.run(&[]);
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    assert!(ended.stdout.contains("Usage: flashraid") && ended.stdout.contains("demo"), "{}", ended.stdout);
    assert_eq!(place.files(), Vec::<String>::new());
}

/// The text fits a terminal as it opens: 40 lines of 80 characters.
pub fn fits_a_terminal(text: &str) {
    assert!(text.lines().count() <= 40, "{} lines:\n{text}", text.lines().count());
    let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(longest <= 80, "{longest} characters:\n{text}");
}

#[test]
fn a_quick_demo_compares_remedies_twice_in_one_report() {
    let place = Place::new();
    let ended = place.run(&["demo", "--quick"]);
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    fits_a_terminal(&ended.stdout);
    for text in ["reactive-inclusive", "preemption (semi)", "(collection in 0 s)", "\nA  ", "\nB  ", "flashraid-out/report.html"] {
        assert!(ended.stdout.contains(text), "{text}: {}", ended.stdout);
    }
    assert_eq!(ended.stdout.matches("⇒ ").count(), 2, "{}", ended.stdout);
    let report = place.json("flashraid-out/report.json");
    let points = report["points"].as_array().unwrap();
    assert_eq!((points.len(), report["conclusions"].as_array().unwrap().len()), (14, 2));
    for case in points.chunks(7) {
        let mean = |index: usize| case[index]["report"]["response_us"]["all"]["mean"].as_f64().unwrap();
        assert!(mean(6) <= mean(0) && mean(1) <= mean(0), "collection in 0 s {} and preemption {} against {}", mean(6), mean(1), mean(0));
        assert!(case[0]["report"]["gc"]["runs"].as_u64().unwrap() > 0, "something is collected");
    }
    let page = place.read("flashraid-out/report.html");
    assert!(page.contains("</html>") && page.contains("id=\"part2-result\""));
    for picture in ["response-cdf.svg", "whole-array-response-cdf.svg"] {
        assert!(place.path(&format!("flashraid-out/{picture}")).exists(), "{picture}");
    }
    // Another time beside it.
    let first = place.read("flashraid-out/report.json");
    let ended = place.run(&["demo", "--quick", "--quiet"]);
    succeeds(&ended);
    assert!(ended.stderr.contains("flashraid-out-2"), "{}", ended.stderr);
    assert_eq!(place.read("flashraid-out/report.json"), first);
    assert_eq!(without_wall_clock(place.json("flashraid-out-2/report.json")), without_wall_clock(place.json("flashraid-out/report.json")));
}

#[test]
fn a_comparison_of_nine_points_fits_a_terminal() {
    let place = Place::new();
    let nine = [
        "compare",
        "small.toml",
        "--vary",
        "coordination.scheme=local,reactive-inclusive,proactive-soft-limit",
        "--vary",
        "workload.read_fraction=0.1,0.3,0.5",
        "--out",
        "nine",
    ];
    let ended = place.run(&nine);
    succeeds(&ended);
    fits_a_terminal(&ended.stdout);
    assert_eq!(ended.stdout.matches("⇒ read_fraction = ").count(), 3, "{}", ended.stdout);
    let all = place.run(&[&nine[..], &["--tables"]].concat());
    assert!(all.stdout.starts_with(ended.stdout.split("written:").next().unwrap()), "{}", all.stdout);
    assert!(all.stdout.contains("Distribution of response times"), "{}", all.stdout);
}

#[test]
fn an_idle_array_is_called_idle() {
    let place = Place::new();
    // Nothing is left to collect from the warm-up: one collection is a tenth of the response times of 300 reads.
    let idle = [
        "--set",
        "workload.arrivals.mean_gap=2s",
        "--set",
        "workload.requests=300",
        "--set",
        "workload.read_fraction=1.0",
        "--set",
        "ssd.gc.trigger=write",
    ];
    for command in
        [&["check", "small.toml"][..], &["run", "small.toml"], &["compare", "small.toml", "--vary", "array.stripe_unit=4KiB,8KiB"]]
    {
        let ended = place.run(&[command, &idle].concat());
        succeeds(&ended);
        let text = ended.stdout.replace("\n  ", " ");
        assert!(text.contains("the array is idle") && text.contains("times this load"), "{command:?}: {}", ended.stdout);
    }
    let busy = place.run(&["check", "small.toml"]);
    assert!(!busy.stdout.contains("is idle"), "{}", busy.stdout);
}

#[test]
fn a_run_never_overwrites_unasked() {
    let place = Place::new();
    let run = |more: &[&str]| {
        let ended = place.run(&[&["run", "small.toml", "--out", "results", "--json"], more].concat());
        succeeds(&ended);
        ended
    };
    assert_eq!(run(&[]).stderr, "");
    let first = place.read("results/report.json");
    let said = run(&["--seed", "8"]).stderr;
    assert!(said.contains("results holds files") && said.contains("results-2") && said.lines().count() == 1, "{said}");
    assert!(run(&["--seed", "9"]).stderr.contains("results-3"));
    assert_eq!(place.read("results/report.json"), first);
    assert_eq!((&place.json("results-2/report.json")["seed"], &place.json("results-3/report.json")["seed"]), (&8.into(), &9.into()));
    // What is asked for is done.
    assert_eq!(run(&["--seed", "10", "--force"]).stderr, "");
    assert_eq!(place.json("results/report.json")["seed"], 10);
    // An empty folder is as good as none.
    fs::create_dir(place.path("empty")).unwrap();
    succeeds(&place.run(&["run", "small.toml", "--out", "empty/"]));
    assert_eq!(place.files().iter().filter(|name| name.starts_with("empty/")).count(), FILES_OF_A_RUN.len());
    // The working folder has no number.
    let ended = place.run(&["run", "small.toml", "--out", "."]);
    assert_eq!(ended.status, 2);
    assert!(ended.stderr.contains("name a new folder"), "{}", ended.stderr);
    // An option without its partner is refused.
    assert_eq!(place.run(&["run", "small.toml", "--force"]).status, 2);
}

#[test]
fn what_is_refused_makes_no_folder() {
    let place = Place::new();
    for arguments in [
        &["run", "small.toml", "--set", "array.members=none", "--out", "deep/results"][..],
        &["run", "missing.toml", "--out", "results"],
        &["compare", "small.toml", "--vary", "array.members=2,none", "--out", "results"],
        &["run", "small.toml", "--seeds", "2", "--set", "ssd.gc.victim=none", "--out", "results"],
    ] {
        assert_eq!(place.run(arguments).status, 2);
    }
    assert!(!place.path("results").exists() && !place.path("deep").exists());
}

#[test]
fn a_comparison_goes_on_with_its_own_folder_and_refuses_anothers() {
    let place = Place::new();
    let grid = |more: &[&str]| place.run(&[&["compare", "small.toml", "--out", "grid", "--json"], more].concat());
    let own = ["--vary", "coordination.scheme=local,ideal"];
    let first = grid(&own);
    succeeds(&first);
    let again = grid(&[&own[..], &["--baseline", "ideal"]].concat());
    succeeds(&again);
    let wall = |ended: &Ended| serde_json::from_str::<serde_json::Value>(&ended.stdout).unwrap()["points"][0]["report"]["wall_s"].clone();
    assert_eq!(wall(&first), wall(&again), "nothing was computed again");
    let kept = place.read("grid/report.json");
    for other in [
        &["--vary", "array.members=2,4"][..],
        &["--vary", "coordination.scheme=local,ideal", "--seeds", "2"],
        &["--vary", "coordination.scheme=ideal,local"],
    ] {
        let ended = grid(other);
        assert_eq!((ended.status, ended.stdout.as_str()), (2, ""), "{other:?}");
        assert!(
            ended.stderr.contains("grid") && ended.stderr.contains("another study") && ended.stderr.contains("--force"),
            "{}",
            ended.stderr
        );
    }
    assert_eq!(place.read("grid/report.json"), kept);
    succeeds(&grid(&["--vary", "array.members=2,4", "--force"]));
    assert_eq!(place.json("grid/report.json")["vary"]["array.members"], serde_json::json!(["2", "4"]));

    // Results of something else.
    succeeds(&place.run(&["run", "small.toml", "--out", "single"]));
    let ended = place.run(&["compare", "small.toml", "--vary", "seed=1,2", "--out", "single"]);
    assert_eq!(ended.status, 2);
    assert!(ended.stderr.contains("single") && ended.stderr.contains("other results"), "{}", ended.stderr);
    // Files that nothing of ours would replace do no harm.
    fs::create_dir(place.path("notes")).unwrap();
    place.write("notes/notes.txt", "mine");
    succeeds(&place.run(&["compare", "small.toml", "--vary", "seed=1,2", "--out", "notes"]));
}

/// No point, no word of a study either.
#[cfg(target_os = "linux")]
#[test]
fn a_comparison_that_can_keep_nothing_leaves_nothing() {
    let place = Place::new();
    let program = place.command(&[]).get_program().to_owned();
    for (limit, arguments) in [
        ("0", "compare small.toml --vary array.members=2,4 --out results"),
        ("2", "compare small.toml --vary array.members=2,4 --out results"),
    ] {
        let script = format!("ulimit -f {limit}; exec {} {arguments}", program.display());
        let output = std::process::Command::new("sh")
            .args(["-c", &script])
            .current_dir(place.path(""))
            .env("FLASHRAID_CACHE", "off")
            .output()
            .unwrap();
        let ended = ended(output);
        assert_eq!((ended.status, ended.stderr.lines().count()), (1, 1), "{}", ended.stderr);
        assert!(!place.path("results").exists(), "ulimit {limit}: {:?}", place.files());
    }
}

#[test]
fn a_trace_takes_the_place_of_a_configuration() {
    let place = Place::new();
    place.write("writes.trace", spc(3000, 1 << 30));
    let report = place.run_json(&tiny(&["run", "writes.trace", "--json", "--ssd", "pgc2011", "--level", "raid5", "--members", "5"]));
    assert_eq!(report["requests"]["write"], 3000);
    let config = &report["config"];
    assert_eq!(
        (&config["ssd"]["preset"], &config["array"]["level"], &config["array"]["members"]),
        (&"pgc2011".into(), &"raid5".into(), &5.into())
    );
    assert_eq!(config["workload"]["path"], "writes.trace");
    // One member is meant by `single`.
    let report = place.run_json(&tiny(&["run", "writes.trace", "--json", "--level", "single"]));
    assert_eq!(report["config"]["array"]["members"], 1);
    // The same options over a configuration, and in check and compare.
    let report = place.run_json(&["run", "small.toml", "--json", "--members", "4", "--set", "workload.requests=50"]);
    assert_eq!(report["config"]["array"]["members"], 4);
    succeeds(&place.run(&tiny(&["check", "writes.trace", "--members", "2"])));
    let document =
        place.run_json(&tiny(&["compare", "writes.trace", "--json", "--members", "2", "--vary", "coordination.scheme=local,ideal"]));
    assert_eq!(document["points"].as_array().unwrap().len(), 2);
    // Its format may be stated.
    let report = place.run_json(&tiny(&["run", "writes.trace", "--format", "spc", "--json", "--members", "2"]));
    assert_eq!(report["config"]["workload"]["format"], "spc");
    assert_eq!(place.run(&["run", "writes.trace", "--format", "nonsense"]).status, 2);
    let wrong = place.run(&tiny(&["run", "writes.trace", "--format", "msr"]));
    assert_eq!(wrong.status, 2, "{}", wrong.stderr);
    let ended = place.run(&["run", "writes.trace", "--ssd", "pgc2012"]);
    assert_eq!(ended.status, 2);
    assert!(ended.stderr.contains("pgc2011"), "{}", ended.stderr);
}

#[test]
fn configurations_are_told_by_their_content_where_the_name_does_not_say() {
    let place = Place::new();
    place.write("array.conf", SMALL);
    assert_eq!(place.run_json(&["run", "array.conf", "--json"])["seed"], 7);
    for (name, content, parts) in [
        (
            "letter.txt",
            "Dear all,\nno trace here, nor keys.\n",
            &["letter.txt is neither", "as a configuration", "as a trace", "--format"][..],
        ),
        ("empty", "", &["empty is neither"]),
        ("comments", "# nothing\n\n", &["comments is neither", "it says nothing"]),
        ("binary", "\u{0}\u{1}\u{2}\u{3}\u{0}\u{0}", &["binary is neither"]),
        ("almost.conf", "[array\nmembers = 2\n", &["almost.conf is neither"]),
    ] {
        place.write(name, content);
        let ended = place.run(&["run", name]);
        assert_eq!((ended.status, ended.stdout.as_str()), (2, ""), "{name}: {}", ended.stderr);
        for part in parts {
            assert!(ended.stderr.contains(part), "{name}: {part}: {}", ended.stderr);
        }
    }
    // What is called .toml is one, with its problems shown in place.
    place.write("trace.toml", spc(10, 1 << 20));
    let ended = place.run(&["run", "trace.toml"]);
    assert_eq!(ended.status, 2);
    assert!(ended.stderr.contains("trace.toml:1:"), "{}", ended.stderr);
}

#[test]
fn a_dash_is_standard_input() {
    let place = Place::new();
    let from_file = without_wall_clock(place.run_json(&["run", "small.toml", "--json"]));
    let ended = run_with_input(&place, &["run", "-", "--json"], SMALL.as_bytes());
    succeeds(&ended);
    assert_eq!(without_wall_clock(serde_json::from_str(&ended.stdout).unwrap()), from_file);
    succeeds(&run_with_input(&place, &["check", "-"], SMALL.as_bytes()));
    succeeds(&run_with_input(&place, &["compare", "-", "--vary", "seed=1,2", "--json"], SMALL.as_bytes()));
    let trace = spc(500, 1 << 20);
    let ended = run_with_input(&place, &["trace", "info", "-", "--format", "spc", "--json"], trace.as_bytes());
    succeeds(&ended);
    let ended = run_with_input(&place, &tiny(&["run", "-", "--format", "spc", "--members", "2", "--json"]), trace.as_bytes());
    succeeds(&ended);
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(report["requests"]["all"], 500);
    // A pipe can be read only once.
    let mut child = place
        .command(&tiny(&["run", "-", "--format", "spc", "--members", "2", "--json"]))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(trace.as_bytes()).unwrap();
    let piped = ended_of(child);
    assert_eq!(piped["requests"]["all"], 500);
    let mut child = place
        .command(&["trace", "info", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(trace.as_bytes()).unwrap();
    assert_eq!(ended_of(child)["requests"], 500);
    let ended = run_with_input(&place, &["run", "-"], b"\xff\xfe\x00");
    assert_eq!(ended.status, 2);
    assert!(ended.stderr.contains("standard input") && ended.stderr.contains("--format"), "{}", ended.stderr);
}

#[test]
fn a_first_configuration_runs_as_it_is_and_overwrites_nothing() {
    let place = Place::new();
    let ended = place.run(&["init"]);
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    assert!(ended.stdout.contains("array.toml written"), "{}", ended.stdout);
    let report = place.run_json(&["run", "array.toml", "--json"]);
    assert_eq!(report["warnings"], serde_json::json!([]));
    assert!(report["gc"]["runs"].as_u64().unwrap() > 0, "it collects");
    assert_eq!(report["verdict"]["load"], "stable");
    place.write("array.toml", "seed = 2");
    let ended = place.run(&["init"]);
    assert_eq!((ended.status, ended.stdout.as_str()), (2, ""));
    assert!(ended.stderr.contains("array.toml is there already"), "{}", ended.stderr);
    assert_eq!(place.read("array.toml"), "seed = 2");
    succeeds(&place.run(&["init", "--force"]));
    assert_eq!(place.read("array.toml"), place.run(&["init", "-"]).stdout);
    succeeds(&place.run(&["init", "other.toml"]));
    assert_eq!(place.run(&["init", "."]).status, 2);
    assert!(place.read("other.toml").lines().filter(|line| line.contains(" = ")).all(|line| line.contains('#')), "a comment at every key");
}

#[test]
fn every_preset_is_a_configuration_as_it_is_shown() {
    let place = Place::new();
    let document = place.run_json(&["preset", "list", "--json"]);
    let presets = document["presets"].as_array().unwrap();
    assert!(presets.len() > 30);
    for preset in presets {
        let (name, section) = (preset["name"].as_str().unwrap(), preset["section"].as_str().unwrap());
        let shown = place.run(&["preset", "show", name]).stdout;
        assert_eq!(preset["toml"], shown);
        place.write("shown.toml", &shown);
        place.write("named.toml", format!("[{section}]\npreset = {:?}\n", name.split('(').next().unwrap()));
        // Small enough to run; the same for both. A stand-in's footprint may be larger than the array.
        let mut more = vec![
            "--set",
            "ssd.geometry={dies=2, planes=2, blocks=64, pages=16}",
            "--set",
            "ssd.warm_up.overwrites=0",
            "--set",
            "workload.requests=20",
            "--json",
        ];
        if section != "array" {
            more.extend(["--set", "array.members=2"]);
        }
        let run = |file: &'static str| place.run(&[&["run", file][..], &more].concat());
        let (shown, named) = (run("shown.toml"), run("named.toml"));
        assert_eq!(shown.status, named.status, "{name}: {}{}", shown.stderr, named.stderr);
        if named.status == 0 {
            let document = |ended: &Ended| without_wall_clock(serde_json::from_str(&ended.stdout).unwrap());
            let (mut shown, mut named) = (document(&shown), document(&named));
            for report in [&mut shown, &mut named] {
                report["warnings"].take();
            }
            assert_eq!(shown, named, "{name}");
        } else {
            // At full size it is one.
            succeeds(&place.run(&["check", "shown.toml"]));
        }
    }
}

#[test]
fn seeds_of_a_run_give_intervals() {
    let place = Place::new();
    let ended = place.run(&["run", "small.toml", "--seeds", "3", "--out", "results"]);
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    assert!(ended.stdout.contains('±'), "{}", ended.stdout);
    let document = place.json("results/report.json");
    let seeds: Vec<u64> = document["points"].as_array().unwrap().iter().map(|point| point["seed"].as_u64().unwrap()).collect();
    assert_eq!(seeds, [7, 8, 9]);
    assert!(document["summary"][0]["figures"]["response_us.all.mean"]["ci95"].as_f64().unwrap() > 0.0);
    let compared = place.run_json(&["compare", "small.toml", "--vary", "array.members=2", "--seeds", "3", "--json"]);
    assert_eq!(
        document["summary"][0]["figures"]["response_us.all.mean"]["ci95"],
        compared["summary"][0]["figures"]["response_us.all.mean"]["ci95"]
    );
    assert!(place.path("results/report.html").exists());
    for more in [&["--check"][..], &["--timeline", "1s..2s"]] {
        let ended = place.run(&[&["run", "small.toml", "--seeds", "2", "--json"], more].concat());
        assert_eq!(ended.status, 2, "{more:?}");
    }
}

#[test]
fn ranges_are_values_of_a_comparison() {
    let place = Place::new();
    let settings = |vary: &str, key: &str| -> Vec<serde_json::Value> {
        let document = place.run_json(&["compare", "small.toml", "--vary", vary, "--set", "workload.requests=50", "--json"]);
        document["points"].as_array().unwrap().iter().map(|point| point["settings"][key].clone()).collect()
    };
    assert_eq!(settings("array.members=2..4", "array.members"), [2, 3, 4]);
    assert_eq!(settings("ssd.timing.page_program=100us..10ms:log:3", "ssd.timing.page_program"), ["100us", "1000us", "10ms"]);
    for (vary, part) in
        [("array.members=4..2", "write 2..4"), ("array.members=2..4:log", "FROM..TO:log:N"), ("array.members=1..1e9", "at most")]
    {
        let ended = place.run(&["compare", "small.toml", "--vary", vary]);
        assert_eq!(ended.status, 2);
        assert!(ended.stderr.contains(part), "{vary}: {}", ended.stderr);
    }
}

#[test]
fn quiet_says_nothing_on_standard_error() {
    let place = Place::new();
    // A state that is kept is a note.
    let long = [
        "--set",
        "ssd.geometry.blocks=2048",
        "--set",
        "ssd.geometry.pages=64",
        "--set",
        "ssd.geometry.dies=8",
        "--set",
        "workload.requests=50",
    ];
    let run = |more: &[&str]| {
        let ended = place.run(&[&["run", "small.toml"], &long[..], more].concat());
        succeeds(&ended);
        ended.stderr
    };
    run(&[]);
    let noted = run(&[]);
    assert!(noted.contains("note: "), "this needs something to be quiet about: {noted:?}");
    assert_eq!(run(&["--quiet"]), "");
    assert_eq!(run(&["-q"]), "");
}

#[test]
fn shells_and_man_pages_know_every_command() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ended = place.run(&["completions", shell]);
        assert_eq!((ended.status, ended.stderr.as_str()), (0, ""), "{shell}");
        for word in ["compare", "reproduce", "--baseline", "drop-repeats-within-us"] {
            assert!(ended.stdout.contains(word.trim_start_matches("--")), "{shell}: {word}");
        }
    }
    assert_eq!(place.run(&["completions", "tcsh"]).status, 2);
    place.write("completions.sh", place.run(&["completions", "bash"]).stdout);
    let checked = std::process::Command::new("bash").args(["-n"]).arg(place.path("completions.sh")).status().unwrap();
    assert!(checked.success(), "bash reads it");

    let page = place.run(&["man"]);
    assert_eq!((page.status, page.stderr.as_str()), (0, ""));
    assert!(page.stdout.contains(".TH FLASHRAID 1") && page.stdout.contains("flashraid\\-run(1)"), "{}", page.stdout);
    succeeds(&place.run(&["man", "--out", "man"]));
    assert_eq!(place.read("man/flashraid.1"), page.stdout);
    let pages = place.files().iter().filter(|name| name.starts_with("man/")).count();
    for name in ["run", "compare", "demo", "init", "trace-info", "trace-convert", "preset-show", "cache-clear"] {
        let page = place.read(&format!("man/flashraid-{name}.1"));
        assert!(page.contains(&format!(".TH FLASHRAID-{} 1", name.to_uppercase())), "{name}: {page}");
    }
    assert!(pages > 15, "{pages}");
}

#[test]
fn tables_fit_eighty_columns() {
    let place = Place::new();
    place.write("t.spc", spc(50, 1 << 20));
    for arguments in [
        &["run", "small.toml"][..],
        &[
            "compare",
            "small.toml",
            "--vary",
            "coordination.scheme=local,proactive-soft-limit,reactive-inclusive",
            "--vary",
            "array.members=2,4",
            "--seeds",
            "3",
        ],
        &["run", "small.toml", "--seeds", "3"],
        &["preset", "list"],
        &["trace", "info", "t.spc"],
        // All of its lines: in a test of the command itself.
        &["bench", "--quick", "--only", "device"],
    ] {
        let ended = place.run(arguments);
        succeeds(&ended);
        // Tables and lists; sentences are wrapped by the terminal.
        let (mut widest, mut is_table) = (0, false);
        for line in ended.stdout.lines() {
            if line.starts_with(['─', '═']) {
                widest = widest.max(line.chars().count());
                is_table = true;
            }
            if line.starts_with("  ") {
                widest = widest.max(line.chars().count());
            }
        }
        assert!(is_table || ["preset", "run", "compare"].contains(&arguments[0]), "{arguments:?}");
        assert!(widest <= 80, "{arguments:?}: {widest}\n{}", ended.stdout);
    }
}

#[test]
fn the_base_of_a_workload_is_told() {
    let place = Place::new();
    let geometry = "ssd.geometry = { dies = 2, planes = 1, blocks = 64, pages = 16 }\narray.members = 2\n";
    let warnings = |workload: &str| {
        place.write("w.toml", format!("{geometry}[workload]\nrequests = 20\n{workload}"));
        place.run_json(&["run", "w.toml", "--json"])["warnings"].to_string()
    };
    let told = warnings("size = \"4KiB\"");
    assert!(told.contains("workload.size") && told.contains("hpc-w"), "{told}");
    for workload in ["", "preset = \"hpc-w\"\nsize = \"4KiB\"", "kind = \"synthetic\"\nsize = \"4KiB\""] {
        assert!(!warnings(workload).contains("hpc-w"), "{workload}");
    }
}

/// The trace looks as if it was recorded at two layers.
#[test]
fn trace_info_notices_repeats() {
    let place = Place::new();
    let line = |at: u32, late: u32| format!("0,{},4096,w,{}.{:06}\n", 8 * at, at, late);
    place.write("twice.spc", (0..90).map(|at| if at % 2 == 0 { line(at, 0) + &line(at, 50) } else { line(at, 0) }).collect::<String>());
    let ended = place.run(&["trace", "info", "twice.spc"]);
    succeeds(&ended);
    assert!(
        ended.stdout.contains("45 of the requests (33.3 %)") && ended.stdout.contains("--drop-repeats-within-us 2000"),
        "{}",
        ended.stdout
    );
    let dropped = place.run_json(&["trace", "info", "twice.spc", "--drop-repeats-within-us", "2000", "--json"]);
    assert_eq!((&dropped["requests"], &dropped["repeats"], &dropped["skipped"]["repeats"]), (&90.into(), &0.into(), &45.into()));
    place.write("once.spc", (0..90).map(|at| line(at, 0)).collect::<String>());
    assert!(!place.run(&["trace", "info", "once.spc"]).stdout.contains("note: repeats"));
}

#[test]
fn messages_on_traces_name_options_that_there_are() {
    let place = Place::new();
    place.write("bad.spc", "0,0,4096,w,0.0\n0,8,4096,w,0.1\n0,16,many,w,0.2\n");
    let ended = place.run(&["trace", "info", "bad.spc"]);
    assert_eq!(ended.status, 2);
    assert!(ended.stderr.contains("--skip-bad-lines") && !ended.stderr.contains("skip_bad_lines"), "{}", ended.stderr);
    succeeds(&place.run(&["trace", "info", "bad.spc", "--skip-bad-lines"]));
}
