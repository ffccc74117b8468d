//! `flashraid advise`: each kind of answer, refusals, files, and the same answer for the same number of requests.

use serde_json::Value;

use crate::program::{Ended, Place};
use crate::start::fits_a_terminal;

/// Drives of blocks in pools with a load of reads and writes, under which collection delays reads.
const LOAD: &str = r#"
array = { level = "raid0", members = 2 }
ssd.preset = "ggc2014"
ssd.geometry = { dies = 2, planes = 2, blocks = 24, pages = 16, reserved = 0.4 }
ssd.gc = { start = "2 blocks", stop = "start+1" }
ssd.warm_up.overwrites = 0.8
[workload]
read_fraction = 0.5
size = "4KiB"
arrivals = { process = "poisson", mean_gap = "900us" }
"#;

/// Settings that make the load one of reads, for which strips do not matter.
const READS: [&str; 4] = ["--set", "workload.read_fraction=1.0", "--set", "workload.arrivals={process=\"poisson\",mean_gap=\"100us\"}"];

const CHUNKS: &str = "[space]\nmembers = [2]\nchunk = [\"16KiB\", \"64KiB\"]\n";
const PREEMPTION: &str = "[space]\nmembers = [2]\n\"ssd.gc.preemption\" = [\"none\", \"semi\"]\n";

fn place() -> Place {
    let place = Place::new();
    place.write("load.toml", LOAD);
    place.write("chunks.toml", CHUNKS);
    place.write("preemption.toml", PREEMPTION);
    place
}

/// Runs `flashraid advise load.toml` with these arguments.
fn advise(place: &Place, arguments: &[&str]) -> Ended {
    place.run(&[&["advise", "load.toml", "--capacity", "1MB", "--requests", "1M", "--quiet"], arguments].concat())
}

/// Returns the text of an answer, which fits a terminal.
fn answer(place: &Place, arguments: &[&str]) -> String {
    let ended = advise(place, arguments);
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""), "{}", ended.stdout);
    fits_a_terminal(&ended.stdout);
    ended.stdout
}

fn expect(text: &str, parts: &[&str]) {
    // Lines are wrapped, so that phrases may continue on the next one.
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in parts {
        assert!(flat.contains(part), "{part}: {text}");
    }
}

#[test]
fn the_better_array_is_taken() {
    let place = place();
    let arguments = ["--space", "preemption.toml", "--allow", "firmware", "--prefer", "tail", "--goal", "read p99 <= 1s"];
    let text = answer(&place, &arguments);
    expect(
        &text,
        &["Take RAID-0 of 2 ggc2014, ssd.gc.preemption=semi.", "goal read p99 <= 1s: sure", "Left: worse in read p99 than another"],
    );
}

/// A change of the firmware is not chosen unless the user allows it.
#[test]
fn needs_must_be_allowed() {
    let place = place();
    let text = answer(&place, &["--space", "preemption.toml", "--goal", "read p99 <= 1s"]);
    expect(&text, &["Take RAID-0 of 2 ggc2014, ssd.gc.preemption=none.", "needs firmware, which is not allowed"]);
}

#[test]
fn equal_arrays_are_named_together() {
    let place = place();
    let text = answer(&place, &[&READS[..], &["--space", "chunks.toml", "--goal", "read p99 <= 1s"]].concat());
    expect(&text, &["Either RAID-0 of 2 ggc2014, chunk", "they differ by less than can be told or matters", "Nothing gained: chunk"]);
}

#[test]
fn the_present_array_is_kept_if_no_other_is_better() {
    let place = place();
    place.write("now.toml", format!("{LOAD}\n").replace("members = 2 }", "members = 2, stripe_unit = \"32KiB\" }"));
    let text = answer(&place, &[&READS[..], &["--space", "chunks.toml", "--now", "now.toml", "--goal", "read p99 <= 1s"]].concat());
    expect(&text, &["Keep RAID-0 of 2 ggc2014: the best of the others is better by less than 5 %."]);
}

#[test]
fn goals_out_of_reach_name_the_nearest_array() {
    let place = place();
    let text = answer(&place, &["--space", "chunks.toml", "--goal", "read p99 <= 1us"]);
    expect(&text, &["Not reachable: the nearest is RAID-0 of 2 ggc2014", "is missed by", "misses \"read p99 <= 1us\" surely"]);
}

/// No drive of the report cards has a published 99th percentile of writes that anything was compared with.
#[test]
fn a_figure_that_nothing_backs_is_never_called_met() {
    let place = place();
    let text = answer(&place, &["--space", "chunks.toml", "--goal", "write p99 <= 10s"]);
    expect(&text, &["Can't tell: RAID-0 of 2 ggc2014", "no published figure of a drive backs write p99", "flashraid probe --gentle"]);
}

#[test]
fn too_few_requests_cannot_tell() {
    let place = place();
    let ended = place.run(&[
        "advise",
        "load.toml",
        "--capacity",
        "1MB",
        "--requests",
        "3k",
        "-q",
        "--space",
        "chunks.toml",
        "--goal",
        "mean <= 1s",
    ]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    expect(&ended.stdout, &["Can't tell", "ran out of requests", "More requests (--requests, --effort)"]);
}

#[test]
fn an_idle_load_gets_an_answer_without_a_search() {
    let place = place();
    let text = answer(&place, &["--set", "workload.arrivals={process=\"poisson\",mean_gap=\"1s\"}", "--space", "chunks.toml"]);
    expect(&text, &["Idle: even in the busiest moment", "choose by capacity", "--set workload.rate_scale="]);
    assert!(text.lines().count() <= 3, "{text}");
}

#[test]
fn without_goals_there_is_a_front_and_no_best() {
    let place = place();
    place.write("members.toml", "[space]\nmembers = [2, 3]\n");
    let text = answer(&place, &["--space", "members.toml"]);
    expect(&text, &["Without goals there is no best.", "read p99.9", "life"]);
    assert!(!text.contains("Take "), "{text}");
}

/// The number of workers and the machine change nothing.
#[test]
fn the_same_number_of_requests_gives_the_same_bytes() {
    let place = place();
    let with = |jobs: &str| {
        let arguments = ["--space", "preemption.toml", "--allow", "firmware", "--goal", "read p99 <= 1s", "--json", "--jobs", jobs];
        advise(&place, &arguments).stdout
    };
    let document = with("1");
    assert_eq!(document, with("3"));
    let document: Value = serde_json::from_str(&document).unwrap();
    assert_eq!((document["schema"].as_str(), document["verb"].as_str()), (Some("flashraid.advice/1"), Some("take")));
    let points = document["points"].as_array().unwrap();
    assert_eq!(points.len(), 2);
    for point in points {
        let is_named = point["reason"] == "";
        assert_eq!(is_named, document["named"].as_array().unwrap().iter().any(|index| points[index.as_u64().unwrap() as usize] == *point));
        assert!(point["score"].is_number() && is_named == (point["stage"] == "confirmed"), "{point}");
    }
    let figures = points[document["named"][0].as_u64().unwrap() as usize]["figures"].as_array().unwrap();
    let read = figures.iter().find(|figure| figure["figure"] == "read p99").unwrap();
    let (value, least, most) = (&read["value"], &read["with_model"][0], &read["with_model"][1]);
    assert!(least.as_f64() < value.as_f64() && value.as_f64() < most.as_f64(), "{read}");
}

#[test]
fn the_answer_is_written_as_a_configuration_that_runs() {
    let place = place();
    let text = answer(&place, &["--space", "preemption.toml", "--allow", "firmware", "--goal", "read p99 <= 1s", "--out", "advice"]);
    expect(&text, &["Written: advice/advice.html, advice.json, points.csv, advice.toml"]);
    let page = place.read("advice/advice.html");
    assert!(page.contains("ssd.gc.preemption=semi") && page.contains("All arrays"), "{page}");
    assert_eq!(place.json("advice/advice.json")["verb"], "take");
    let ended = place.run(&["run", "advice/advice.toml", "--json"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(report["config"]["ssd"]["gc"]["preemption"], "semi");
}

#[test]
fn a_goal_under_a_failure_is_simulated() {
    let place = place();
    place.write("levels.toml", "[space]\nmembers = [4]\nlevel = [\"raid0\", \"raid10\", \"raid5\"]\n");
    let arguments = ["--space", "levels.toml", "--prefer", "tail", "--goal", "read mean <= 1s", "--goal", "read p99 <= 1s under failed"];
    let text = answer(&place, &arguments);
    expect(&text, &["a failed member: read p99", "(sure)", "does not survive the failure of a member, which a goal is about (1)"]);
}

/// Each change on the way from the present array is told with what it is worth, and together they are the whole difference.
#[test]
fn steps_from_the_present_array_are_told() {
    let place = place();
    let now = LOAD
        .replace("members = 2 }", "members = 2, stripe_unit = \"32KiB\" }")
        .replace("stop = \"start+1\"", "stop = \"start+1\", preemption = \"none\"");
    place.write("now.toml", now);
    place.write("space.toml", "[space]\nmembers = [3]\nchunk = [\"4KiB\"]\n\"ssd.gc.preemption\" = [\"semi\"]\n");
    let question = ["--space", "space.toml", "--now", "now.toml", "--allow", "firmware", "--prefer", "tail", "--goal", "read p99 <= 1s"];
    let text = answer(&place, &question);
    expect(
        &text,
        &[
            "Take RAID-0 of 3",
            "Why, in read p99: ssd.gc.preemption=semi instead of none (−",
            "RAID-0 of 3 instead of RAID-0 of 2",
            " now 3.",
        ],
    );
    let document: Value = serde_json::from_str(&advise(&place, &[&question[..], &["--json"]].concat()).stdout).unwrap();
    let steps = document["why"].as_array().unwrap();
    assert_eq!(steps.len(), 3, "{steps:?}");
    let product: f64 = steps.iter().map(|step| step["ratio"].as_f64().unwrap()).product();
    assert!(product < 0.8, "{steps:?}");
}

/// Prices make the cheapest array one in money, and drives that wear out are bought again.
#[test]
fn prices_decide_what_is_cheapest() {
    let place = place();
    place.write("small.toml", LOAD.replace("ssd.preset = \"ggc2014\"", "ssd.preset = \"ggc2014\"\nssd.endurance = 4000000"));
    let other = LOAD.replace("ssd.preset = \"ggc2014\"", "ssd.preset = \"ggc2014\"\nssd.endurance = 50");
    place.write("weak.toml", other);
    place.write("space.toml", "[space]\ndrive = [\"small.toml\", \"weak.toml\"]\nmembers = [2]\n");
    let prices = |weak: &str| {
        format!(
            "years = \"0.1y\"\nslot = \"10 EUR\"\n[drives.\"small.toml\"]\nprice = \"100 EUR\"\n[drives.\"weak.toml\"]\nprice = \"{weak}\"\n"
        )
    };
    place.write("prices.toml", prices("60 EUR"));
    let question = ["--space", "space.toml", "--prices", "prices.toml", "--goal", "read p99 <= 1s"];
    let text = answer(&place, &question);
    expect(&text, &["Take RAID-0 of 2 small.toml", "cost 220 EUR", "cost over 0.1 years at the given prices"]);
    for (prices, goal, part) in [
        ("years = \"5y\"\n[drives.a]\nprice = \"5\"\n".to_owned(), "read p99 <= 1s", "is no sum of money; write 900 EUR"),
        (prices("60 USD"), "read p99 <= 1s", "other prices are in EUR"),
        (prices("60 EUR"), "cost <= 60TB", "with prices, write a sum in EUR"),
        (prices("60 EUR"), "cost <= 90 USD", "is in USD, and the prices are in EUR"),
        (prices("60 EUR").replace("weak", "other"), "read p99 <= 1s", "the prices have no [drives.weak.toml]"),
    ] {
        place.write("prices.toml", prices);
        let ended = advise(&place, &["--space", "space.toml", "--prices", "prices.toml", "--goal", goal]);
        assert_eq!(ended.status, 2, "{}", ended.stdout);
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
    let ended = advise(&place, &["--space", "space.toml", "--goal", "cost <= 90 EUR"]);
    assert!(ended.status == 2 && ended.stderr.contains("name a file of prices with --prices"), "{}", ended.stderr);
}

/// A rebuild takes as long as its rate lets it.
#[test]
fn a_rebuild_is_timed_at_its_rate() {
    let place = place();
    place.write("rates.toml", "[space]\nmembers = [4]\nlevel = [\"raid5\"]\n\"array.rebuild.rate\" = [\"500kB/s\", \"50kB/s\"]\n");
    let arguments = ["--space", "rates.toml", "--prefer", "tail", "--goal", "read mean <= 1s", "--goal", "rebuild hours <= 0.004"];
    let text = answer(&place, &arguments);
    // A member has 24 × 4 × 16 pages of 4 KiB, of which 60 % are in use.
    expect(&text, &["Take RAID-5 of 4 ggc2014, array.rebuild.rate=500kB/s", "rebuilt in 0.002", "hours (sure)"]);
}

/// A hedge that is automatic waits for one and a half times the time of single reads.
#[test]
fn an_automatic_hedge_has_a_time_of_the_drive() {
    let place = place();
    place.write("plans.toml", "[space]\nmembers = [3]\nlevel = [\"raid5\"]\n\"read.plan\" = [\"hedge:auto\"]\n");
    answer(&place, &["--space", "plans.toml", "--goal", "read p99 <= 1s", "--out", "advice"]);
    let text = place.read("advice/advice.toml");
    assert!(text.contains("plan = \"hedge\""), "{text}");
    let after = text.lines().find_map(|line| line.strip_prefix("after = ")).unwrap_or_else(|| panic!("{text}"));
    // 25 µs to read, and 25 ns to transfer each of 4,224 bytes.
    assert!(["\"195.9us\"", "\"195900ns\""].contains(&after), "{after}");
}

#[test]
fn what_makes_no_sense_is_refused_with_what_is_allowed() {
    let place = place();
    place.write("wide.toml", "[space]\nmembers = \"1..101\"\nchunk = \"4KiB..203KiB\"\n");
    place.write("axis.toml", "[space]\nmemmbers = [4]\n");
    place.write("key.toml", "[space]\n\"ssd.gc.victm\" = [\"greedy\"]\n");
    let base = ["advise", "load.toml", "--requests", "1M", "-q"];
    let one = ["--capacity", "1MB"];
    for (arguments, part) in [
        (&["--goal", "speed <= 1ms"][..], "is no figure of a goal"),
        (&["--goal", "read p99 <= 1"], "is no time; write 500us"),
        (&["--space", "axis.toml"], "there is no axis memmbers; the axes are drive, members, level, chunk, use"),
        (&["--space", "wide.toml"], "at most 5000 can be searched; chunk has 200 values"),
        (&["--space", "key.toml"], "did you mean `ssd.gc.victim`"),
        (&["--space", "none.toml"], "can't read none.toml"),
        (&["--space", "chunks.toml", "--drives", "ggc2014"], "cannot be used with"),
        (&["--drives", "nvme-tlc-reed"], "nvme-tlc-reed"),
        (&["--prefer", "speed"], "write cost, tail or both"),
        (&["--allow", "magic"], "write now, application"),
        (&["--under", "water"], "write healthy, failed, rebuild or slow"),
        (&["--bays", "0"], "write N or MIN..MAX"),
        (&["--sure", "100%"], "from 80% to 99.9%"),
        (&["--growth", "0"], "write a factor"),
        (&["--effort", "2"], "2"),
        (&["--goal", "read p99 <= 1ms", "--goal", "read p99 <= 2ms"], "contradict each other"),
        (&["--goal", "cost <= 1kB"], "contradict each other"),
        (&["--force"], "--out"),
        (&["--prices", "none.toml"], "can't read none.toml"),
        (&["--goal", "rebuild hours <= soon"], "is no number above 0"),
        (&["--set", "workload.read_fraction=0.0", "--goal", "read p99 <= 1ms"], "have no reads"),
    ] {
        let ended = place.run(&[&base[..], &one[..], arguments].concat());
        assert_eq!((ended.status, ended.stdout.as_str()), (2, ""), "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(part), "{arguments:?}: {}", ended.stderr);
    }
    for (capacity, part) in
        [("900TB", "no array of the space offers as much; the largest is"), ("0MB", "needs no drives"), ("many", "--capacity")]
    {
        let ended = place.run(&[&base[..], &["--space", "chunks.toml", "--capacity", capacity]].concat());
        assert_eq!(ended.status, 2, "{capacity}: {}", ended.stderr);
        assert!(ended.stderr.contains(part), "{capacity}: {}", ended.stderr);
    }
    let ended = place.run(&["advise", "load.toml"]);
    assert_eq!(ended.status, 2);
    assert!(ended.stderr.contains("--capacity"), "{}", ended.stderr);
}

/// Requests whose trace says nothing of when they came cannot be sent to arrays at a rate.
#[test]
fn a_trace_without_times_is_refused() {
    let place = place();
    let lines: String = (0..200).map(|at| format!("0 0 {} 8 {}\n", at * 8, at % 2)).collect();
    place.write("trace.txt", lines);
    let ended = place.run(&["advise", "trace.txt", "--format", "mqsim", "--capacity", "1TB", "-q"]);
    assert_eq!(ended.status, 2, "{}", ended.stdout);
    assert!(ended.stderr.contains("come at the same time, so that they have no rate"), "{}", ended.stderr);
}

#[test]
fn errors_of_the_model_are_shown_by_kind() {
    let place = place();
    let ended = place.run(&["preset", "card", "--residuals"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    expect(&ended.stdout, &["read p99", "waf", "published figures"]);
    let ended = place.run(&["preset", "card", "--residuals", "--json"]);
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert!(document["kinds"].as_array().unwrap().iter().any(|kind| kind["kind"] == "read p99" && kind["figures"] == 7), "{document}");
}
