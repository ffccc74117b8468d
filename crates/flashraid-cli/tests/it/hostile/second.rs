//! Findings of a second search, and what nobody had tried before it.

use std::fs::{self, File};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use super::draw::Draw;
use super::{ends, run_with, trace};
use crate::program::{Place, without_wall_clock};

/// A warm-up of more than a million page writes, so that its states are kept.
const KEPT: [&str; 8] = [
    "--set",
    "ssd.geometry.blocks=1024",
    "--set",
    "ssd.geometry.pages=128",
    "--set",
    "ssd.warm_up.overwrites=3",
    "--set",
    "workload.requests=500",
];

fn pipe(place: &Place, name: &str) {
    assert!(Command::new("mkfifo").arg(place.path(name)).status().unwrap().success());
}

/// Once: it waited for ever, and the first signal did not end it.
#[test]
fn a_pipe_under_the_name_of_a_kept_state_stops_nothing() {
    let place = Place::new();
    let arguments = [&["run", "small.toml", "--json"][..], &KEPT].concat();
    let mut first = place.run_json(&arguments);
    let states: Vec<String> = place.files().into_iter().filter(|file| file.starts_with("cache/warm-")).collect();
    assert_eq!(states.len(), 2, "{states:?}");
    fs::remove_file(place.path(&states[0])).unwrap();
    pipe(&place, &states[0]);
    let again = place.run(&arguments);
    ends(&again, 0, &[]);
    let mut again: Value = serde_json::from_str(&again.stdout).unwrap();
    let told = again["warnings"].to_string() + &again["trace_notes"].to_string();
    // What is said of the cache is said on its own.
    for report in [&mut again, &mut first] {
        report["warnings"] = Value::Null;
        report["trace_notes"] = Value::Null;
    }
    assert_eq!(without_wall_clock(again), without_wall_clock(first), "{told}");
    ends(&place.run(&["cache"]), 0, &[]);
}

/// Once: saving waited for ever, after the whole simulation.
#[test]
fn a_pipe_under_the_name_of_a_saved_point_is_refused() {
    let place = Place::new();
    let study = ["compare", "small.toml", "--vary", "seed=1,2", "--out", "grid"];
    ends(&place.run(&study), 0, &[]);
    let point = place.files().into_iter().find(|file| file.starts_with("grid/points/")).unwrap();
    for name in [&point, "grid/study.json"] {
        fs::remove_file(place.path(name)).unwrap();
        pipe(&place, name);
        for force in [&[][..], &["--force"]] {
            ends(&place.run(&[&study[..], force].concat()), 2, &[name, "no regular file", "remove it"]);
        }
        fs::remove_file(place.path(name)).unwrap();
        ends(&place.run(&[&study[..], &["--force"]].concat()), 0, &[]);
        assert!(place.path(name).is_file(), "{name}");
    }
}

/// Once: the trace was opened for each of some ten thousand passes, for more than a minute.
#[test]
fn a_warm_up_by_a_trace_of_one_write_is_soon_over() {
    let place = Place::new();
    place.write("one.spc", "0,8,4096,w,0.5\n");
    place.write("t.toml", "array = { level = \"raid0\", members = 2 }\nssd.geometry = { dies = 2, planes = 1, blocks = 256, pages = 64 }\nssd.warm_up = { pattern = \"workload\", overwrites = 8 }\nworkload.path = \"one.spc\"");
    let begin = Instant::now();
    ends(&place.run(&["run", "t.toml", "--json"]), 0, &[]);
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
}

/// Once: they stayed for an hour at least.
#[test]
fn what_a_killed_comparison_has_left_is_removed_when_it_goes_on() {
    let place = Place::new();
    let mut gone = Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    let study = ["compare", "small.toml", "--vary", "seed=1,2,3", "--json", "--out", "grid"];
    let mut child = place.command(&study).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    sleep(Duration::from_millis(100));
    child.kill().unwrap();
    child.wait().unwrap();
    // As the program names what it has not finished, of a process that has ended.
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let space = fs::read_link("/proc/self/ns/pid").unwrap();
    let machine = {
        use std::hash::{Hash, Hasher};
        let mut hasher = std::hash::DefaultHasher::new();
        (boot, space).hash(&mut hasher);
        hasher.finish()
    };
    fs::create_dir_all(place.path("grid/points")).unwrap();
    let left = format!("grid/points/.flashraid-{machine:016x}-{}-abc.part", gone.id());
    place.write(&left, "half of it");
    place.run_json(&study);
    let parts: Vec<String> = place.files().into_iter().filter(|file| file.ends_with(".part")).collect();
    assert_eq!(parts, Vec::<String>::new());
}

/// Once: configurations that `check` refused.
#[test]
fn what_import_writes_can_be_run() {
    let place = Place::new();
    for (option, accepted) in [
        ("bsrange=0-4k", false),
        ("size=0", true),
        ("runtime=9999999999999999999", false),
        ("random_distribution=zipf:99", false),
        ("odd=a\u{1b}[31mb", false),
        ("description=a\u{1b}[31mb", true),
        ("bs=0", false),
    ] {
        place.write(
            "job.fio",
            format!("[job]\nrw=randread\nioengine=libaio\niodepth=4\nnumber_ios=100\n{option}\n")
                .replace(if option.starts_with("runtime") { "number_ios=100\n" } else { "\0" }, ""),
        );
        let imported = place.run(&["import", "job.fio", "--out", "job.toml", "--force"]);
        assert_eq!(imported.status, if accepted { 0 } else { 2 }, "{option}: {}", imported.stderr);
        assert!(!imported.stderr.contains('\u{1b}'), "{}", imported.stderr);
        if accepted {
            ends(&place.run(&["check", "job.toml"]), 0, &[]);
        } else {
            assert!(!place.path("job.toml").exists() && imported.stderr.contains("job.fio"), "{option}: {}", imported.stderr);
        }
        let _ = fs::remove_file(place.path("job.toml"));
    }
}

/// Once: 1024 acted as 128, without a word.
#[test]
fn a_scale_that_leaves_too_few_rows_is_told() {
    let place = Place::new();
    place.write("drive.toml", format!("array = {{ level = \"single\", members = 1 }}\n{}", crate::fit::DRIVE));
    let told = |scale: &str| place.run(&["check", "drive.toml", "--set", scale]).stdout;
    // 48 pages of a block are four rows of three flash pages of four.
    assert!(
        told("ssd.scale=64").replace("\n  ", " ").contains("ssd.scale is 64, but a superblock keeps 4 of its 4 rows at least"),
        "{}",
        told("ssd.scale=64")
    );
    assert!(!told("ssd.scale=1").contains("keeps"), "{}", told("ssd.scale=1"));
}

/// Once: "it holds no line with content", and "left out: nothing".
#[test]
fn traces_are_told_as_they_are() {
    let place = Place::new();
    place.write("long.txt", "1,".repeat(1 << 20));
    ends(&place.run(&["trace", "info", "long.txt"]), 2, &["its first line is longer than 1 MiB"]);
    let lines = "  8,16   1        1     0.000000000   697  Q   W 2048 + 8 [writer]\n  8,16   1        2     0.000100000   697  Q  FN [writer]\n  8,16   1        2     0.000150000   697  Q   N [writer]\n  8,16   1        3     0.000200000   697  Q   W 4096 + 8 [writer]\n";
    place.write("flushes.txt", lines);
    let told = place.run(&["trace", "info", "flushes.txt"]);
    ends(&told, 0, &[]);
    let words = told.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("requests 2 flushes 1 ") && words.contains("left out 1 commands without data"), "{words}");
    place.write("burst.spc", (0..20).map(|at| format!("0,{},4096,w,0.0\n", 8 * at)).collect::<String>());
    let told = place.run(&["trace", "info", "burst.spc"]).stdout;
    assert!(told.contains("all 20 requests have the same time"), "{told}");
    let told =
        place.run(&["run", "burst.spc", "--set", "ssd.warm_up.overwrites=0"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("all 20 requests have the same time"), "{told}");
    place.write("ok.spc", trace(20));
    assert!(!place.run(&["trace", "info", "ok.spc"]).stdout.contains("same time"));
}

/// Once: the states went to a folder of this name wherever the program was started.
#[test]
fn a_relative_home_has_no_cache() {
    let place = Place::new();
    let mut command = place.command(&[&["run", "small.toml", "--json"][..], &KEPT].concat());
    command.env_remove("FLASHRAID_CACHE").env_remove("XDG_CACHE_HOME").env("HOME", "relative");
    assert!(command.output().unwrap().status.success());
    assert_eq!(place.files(), Vec::<String>::new());
}

/// Once: a line of some hundred characters.
#[test]
fn warnings_are_wrapped() {
    let place = Place::new();
    let ended = run_with(&place, "check", &["coordination.scheme=\"ideal\"", "ssd.gc.preemption=\"semi\""]);
    ends(&ended, 0, &[]);
    let lines: Vec<&str> = ended.stdout.lines().skip_while(|line| !line.starts_with("warning: ")).collect();
    assert!(lines.len() > 1 && lines.iter().all(|line| line.chars().count() <= 80), "{lines:#?}");
}

/// Never tried before: files that are younger than the clock, as after it was set back.
#[test]
fn a_clock_that_was_set_back_changes_nothing() {
    let place = Place::new();
    let run = [&["run", "small.toml", "--json"][..], &KEPT].concat();
    let study = ["compare", "small.toml", "--vary", "seed=1,2", "--json", "--out", "grid"];
    let (report, grid) = (place.run_json(&run), place.run_json(&study));
    let later = SystemTime::now() + Duration::from_secs(400 * 24 * 3600);
    for file in place.files() {
        File::options().append(true).open(place.path(&file)).unwrap().set_modified(later).unwrap();
    }
    File::options().append(true).open(place.path("small.toml")).unwrap().set_modified(later).unwrap();
    let again = place.run_json(&run);
    let plain = |mut report: Value| {
        report["trace_notes"] = Value::Null;
        without_wall_clock(report)
    };
    assert_eq!(plain(again), plain(report));
    assert_eq!(without_wall_clock(place.run_json(&study)), without_wall_clock(grid));
    ends(&place.run(&["cache"]), 0, &[]);
    let listed = place.run(&["cache", "list", "--json"]);
    ends(&listed, 0, &[]);
    ends(&place.run(&["cache", "clear"]), 0, &[]);
    assert!(!place.files().iter().any(|file| file.starts_with("cache/warm-")), "{:?}", place.files());
}

/// Never tried before: the same sums in everything that a run writes.
#[test]
fn every_file_of_a_run_has_the_same_sums() {
    let place = Place::new();
    let report = place.run_json(&["run", "small.toml", "--json", "--out", "out", "--csv", "--hdr", "times.hdr", "--fio-logs", "log"]);
    let times = &report["response_us"]["all"];
    let (count, mean) = (times["count"].as_u64().unwrap(), times["mean"].as_f64().unwrap());
    let table = place.read("out/requests.csv");
    let mut lines = table.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |name: &str| head.iter().position(|known| *known == name).unwrap_or_else(|| panic!("{name} is not in {head:?}"));
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len() as u64, count);
    let number = |row: &Vec<&str>, name: &str| row[column(name)].parse::<f64>().unwrap();
    let length = |row: &Vec<&str>| number(row, "done_ns") - number(row, "arrival_ns");
    let sum_us = rows.iter().map(length).sum::<f64>() / 1e3;
    assert!((sum_us / count as f64 - mean).abs() <= 1e-6 * mean, "{sum_us} {count} {mean}");
    let parts = ["queue_ns", "collection_ns", "parity_ns", "cache_ns", "transfer_ns", "flash_ns", "other_ns"];
    assert!(rows.iter().all(|row| (parts.iter().map(|part| number(row, part)).sum::<f64>() - length(row)).abs() < 0.5));
    // fio's log has a line for each request, in nanoseconds.
    let log = place.read("log_lat.log");
    let of_log: Vec<f64> = log.lines().map(|line| line.split(", ").nth(1).unwrap().trim().parse().unwrap()).collect();
    assert_eq!(of_log.len() as u64, count);
    assert!((of_log.iter().sum::<f64>() / 1e3 - sum_us).abs() <= 1e-3 * sum_us, "{} {sum_us}", of_log.iter().sum::<f64>() / 1e3);
    // The log of HdrHistogram has its counts in the intervals.
    let hdr = place.read("times.hdr");
    assert!(hdr.lines().filter(|line| !line.starts_with('#') && line.contains("HIST")).count() > 0, "{hdr}");
    let written = report["requests"]["write"].as_u64().unwrap();
    assert_eq!(rows.iter().filter(|row| row.contains(&"write")).count() as u64, written, "{head:?}");
}

fn start(place: &Place, arguments: &[&str]) -> Child {
    place.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Two runs fill one cache, and one of them may be killed. A third run must get from the cache the same result as without one.
pub fn one_cache(seed: u64) {
    let mut draw = Draw::new(seed);
    let place = Place::new();
    let set = format!("seed={}", draw.between(1, 1 << 30));
    let arguments = [&["run", "small.toml", "--json", "--set", &set][..], &KEPT].concat();
    let mut both = [start(&place, &arguments), start(&place, &arguments)];
    if draw.chance(60) {
        sleep(Duration::from_millis(draw.between(1, 1500)));
        // It may have ended.
        let _ = both[0].kill();
    }
    for child in both {
        child.wait_with_output().unwrap();
    }
    let plain = |mut report: Value| {
        report["trace_notes"] = Value::Null;
        without_wall_clock(report)
    };
    let third = plain(place.run_json(&arguments));
    let alone = plain(place.run_json(&[&arguments[..], &["--no-cache"]].concat()));
    assert_eq!(third, alone, "seed {seed}");
}

/// Parts of a study as processes on one folder and one cache, some of which are killed and begin again: together they are the whole.
pub fn killed_parts(seed: u64) {
    let mut draw = Draw::new(seed);
    let place = Place::new();
    let set = format!("seed={}", draw.between(1, 1 << 30));
    let pattern = format!("ssd.warm_up.pattern={}", draw.one_of(&["random", "workload"]));
    let vary = ["--set", &set, "--set", &pattern, "--vary", "coordination.scheme=local,ideal", "--vary", "array.members=2,3"];
    let grid = [&["compare", "small.toml", "-q"][..], &vary, &KEPT].concat();
    // On a busy machine this takes longer than a test waits for other programs.
    let ended = |child: Child| child.wait_with_output().unwrap().status.success();
    assert!(ended(start(&place, &[&grid[..], &["--no-cache", "--exactly", "--out", "whole"]].concat())), "seed {seed}");
    let count = draw.between(2, 4);
    let part = |index: u64| {
        let shard = format!("{index}/{count}");
        start(&place, &[&grid[..], &["--jobs", "1", "--out", "study", "--shard", &shard]].concat())
    };
    let mut running: Vec<(u64, Child)> = (1..=count).map(|index| (index, part(index))).collect();
    for (_, child) in &mut running {
        if draw.chance(40) {
            sleep(Duration::from_millis(draw.between(1, 700)));
            // It may have ended.
            let _ = child.kill();
        }
    }
    let killed: Vec<u64> = running.into_iter().filter_map(|(index, child)| (!ended(child)).then_some(index)).collect();
    for index in killed {
        assert!(ended(part(index)), "part {index} of seed {seed}");
    }
    ends(&place.run(&["merge", "study", "--out", "study", "--force"]), 0, &[]);
    let plain = |folder: &str| without_wall_clock(place.json(&format!("{folder}/report.json")));
    assert_eq!(plain("study"), plain("whole"), "seed {seed}");
    // Other tests look at pages.
    ["study", "whole"].iter().for_each(|folder| fs::remove_file(place.path(&format!("{folder}/report.html"))).unwrap());
}

/// Never tried before: parts that are killed while others wait for the state that they make.
#[test]
fn killed_parts_are_the_whole_in_the_end() {
    (1..=2).for_each(killed_parts);
}

/// Never tried before: two runs that begin in the same state at the same time, with one cache.
#[test]
fn two_runs_that_fill_one_cache_do_not_disturb_each_other() {
    let place = Place::new();
    let arguments = [&["run", "small.toml", "--json"][..], &KEPT].concat();
    let both = [start(&place, &arguments), start(&place, &arguments)];
    let [one, other] = both.map(|child| {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["trace_notes"] = Value::Null;
        without_wall_clock(report)
    });
    assert_eq!(one, other);
    let states = place.files().into_iter().filter(|file| file.starts_with("cache/warm-") && file.ends_with(".state")).count();
    assert_eq!(states, 2, "{:?}", place.files());
    assert!(!place.files().iter().any(|file| file.ends_with(".part")), "{:?}", place.files());
    let third = place.run(&arguments);
    ends(&third, 0, &[]);
    let mut third: Value = serde_json::from_str(&third.stdout).unwrap();
    third["trace_notes"] = Value::Null;
    assert_eq!(without_wall_clock(third), one);
}

/// Never tried before: `fit` to its end where its results can't be written, and where it is killed on the way.
#[test]
fn a_fit_that_cannot_be_written_leaves_nothing_and_can_be_done_again() {
    let place = Place::new();
    place.write("drive.toml", crate::fit::DRIVE);
    ends(&place.run(&["probe", "--simulate", "drive.toml", "--scale", "1", "--out", "known"]), 0, &[]);
    let known = |part: &str| place.files().into_iter().find(|name| name.contains(part)).unwrap();
    let results = [known("-write-128k"), known("-read-128k"), known("randread-4k-q1.json"), known("randread-4k-q16.json")];
    let results: Vec<&str> = results.iter().map(String::as_str).collect();
    let options = ["--base", "drive.toml", "--parameters", "link,latency", "--scale", "1", "--simplex", "2", "--out", "found.toml"];
    let arguments = [&["fit"], &results[..], &options].concat();
    let before = place.files();
    // Files of at most a block: the device file fits, its page does not.
    let program = place.command(&[]).get_program().to_owned();
    let mut limited = Command::new("sh");
    limited.arg("-c").arg("ulimit -f 4; exec \"$0\" \"$@\"").arg(&program).args(&arguments).current_dir(place.path(""));
    let ended = limited.env("FLASHRAID_CACHE", "cache").stdin(Stdio::null()).output().unwrap();
    assert_eq!(ended.status.code(), Some(1), "{}", String::from_utf8_lossy(&ended.stderr));
    assert!(!place.path("found.toml").exists() && !place.path("found.html").exists(), "{:?}", place.files());
    let mut child = start(&place, &arguments);
    sleep(Duration::from_millis(300));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!place.path("found.toml").exists(), "{:?}", place.files());
    let left =
        |files: Vec<String>| files.into_iter().filter(|file| !file.starts_with("cache/") && !file.ends_with(".part")).collect::<Vec<_>>();
    assert_eq!(left(place.files()), left(before));
    ends(&place.run(&arguments), 0, &[]);
    assert!(place.path("found.toml").exists() && place.path("found.html").exists());
}
