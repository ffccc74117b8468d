//! Comparisons in parts on clusters: scripts for Slurm and GNU parallel, and many processes on one folder that share their warm-ups.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::program::{Ended, Place, without_wall_clock};

const VARY: [&str; 6] = ["compare", "small.toml", "--vary", "coordination.scheme=local,ideal", "--vary", "array.members=2,4"];

fn expect(place: &Place, status: i32, arguments: &[&str]) -> Ended {
    let ended = place.run(arguments);
    assert_eq!(ended.status, status, "{arguments:?}: {}{}", ended.stdout, ended.stderr);
    ended
}

/// The report without what the wall clock decides.
fn comparable(place: &Place, folder: &str) -> Value {
    without_wall_clock(place.json(&format!("{folder}/report.json")))
}

/// Names of all files in a folder, those that are hidden included.
fn names(place: &Place, folder: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(place.path(folder)).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn shell(place: &Place, script: &str, variables: &[(&str, &str)]) -> (bool, String) {
    let mut command = Command::new("sh");
    command.arg("-c").arg(script).current_dir(place.path("")).env("FLASHRAID_CACHE", "cache").stdin(Stdio::null());
    let output = command.envs(variables.iter().copied()).output().unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_script_for_slurm_runs_the_parts_and_merges_the_whole() {
    let place = Place::new();
    expect(&place, 0, &[&VARY[..], &["--seeds", "2", "--out", "whole"]].concat());
    let ended = expect(
        &place,
        0,
        &[&VARY[..], &["--seeds", "2", "--out", "a study", "--slurm", "job.sh", "--parts", "3%2", "--jobs", "2"]].concat(),
    );
    assert!(ended.stdout.contains("sbatch --dependency=afterok:$(sbatch --parsable job.sh) job-merge.sh"), "{}", ended.stdout);
    let script = place.read("job.sh");
    assert!(script.contains("goes on where it stopped: sbatch --array=NUMBER job.sh."), "{script}");
    let options: Vec<&str> = script.lines().filter_map(|line| line.strip_prefix("#SBATCH --")).collect();
    let value = |name: &str| options.iter().find_map(|option| option.strip_prefix(name)?.strip_prefix('=')).unwrap();
    assert_eq!((value("array"), value("cpus-per-task"), value("output")), ("1-3%2", "2", "job-%a.log"));
    let memory: u64 = value("mem").strip_suffix('M').unwrap().parse().unwrap();
    assert!((244..2000).contains(&memory), "{memory} MiB");
    let time: Vec<u64> = value("time").split(':').map(|part| part.parse().unwrap()).collect();
    assert!(time.len() == 3 && time[0] * 60 + time[1] >= 10, "{time:?}");
    // Merging before all is there says what is missing.
    for part in ["2", "1", "3"] {
        let (merged, _) = shell(&place, "./job-merge.sh", &[]);
        assert!(!merged, "merged before part {part}");
        let (succeeded, output) = shell(&place, "./job.sh", &[("SLURM_ARRAY_TASK_ID", part)]);
        assert!(succeeded, "{output}");
    }
    let (succeeded, output) = shell(&place, "./job-merge.sh", &[]);
    assert!(succeeded, "{output}");
    assert_eq!(comparable(&place, "a study"), comparable(&place, "whole"));
    let (marks, files): (BTreeSet<String>, BTreeSet<String>) =
        names(&place, "a study").into_iter().partition(|name| name.starts_with("shard-"));
    assert_eq!(marks.into_iter().collect::<Vec<_>>(), ["shard-1-of-3", "shard-2-of-3", "shard-3-of-3"]);
    assert_eq!(files, names(&place, "whole"), "otherwise the same files as of the whole");
    // A second script takes the time from what is done.
    let again = [&VARY[..], &["--seeds", "2", "--out", "a study", "--slurm", "job.sh"]].concat();
    let refused = expect(&place, 2, &again);
    assert!(refused.stderr.contains("--force"), "{}", refused.stderr);
    let ended = expect(&place, 0, &[&again[..], &["--force"]].concat());
    assert!(ended.stdout.contains("measured on 8 simulations"), "{}", ended.stdout);
}

/// Names that a shell, or GNU parallel, would take apart.
const HOSTILE: [&str; 7] =
    ["it's small", "a; touch made", "$(touch made)", "`touch made` {}", "a {.} {#} {= $_ =} b", "\"a\" \\ & | < > *", "a\nb ${HOME} ~ #"];

/// Stands in for GNU parallel: runs what it reads, up to each null, in a shell.
const PARALLEL: &str = "#!/bin/sh\n[ \"$*\" = '--jobs 1 --halt now,fail=1 --null' ] && exec xargs -0 -n 1 sh -c\n";

#[test]
fn the_line_for_parallel_runs_the_parts_whatever_is_in_names() {
    let place = Place::new();
    let is_there = Command::new("parallel").arg("--version").output().is_ok_and(|out| String::from_utf8_lossy(&out.stdout).contains("GNU"));
    let mut path = std::env::var("PATH").unwrap();
    if !is_there {
        fs::create_dir(place.path("bin")).unwrap();
        place.write("bin/parallel", PARALLEL);
        fs::set_permissions(place.path("bin/parallel"), fs::Permissions::from_mode(0o755)).unwrap();
        path = format!("{}:{path}", place.path("bin").display());
    }
    expect(&place, 0, &["compare", "small.toml", "--vary", "coordination.scheme=local,ideal", "--out", "whole"]);
    for name in HOSTILE {
        let (file, out) = (format!("{name}.toml"), format!("{name} study"));
        place.write(&file, place.read("small.toml"));
        let vary = ["compare", &file, "--vary", "coordination.scheme=local,ideal", "--parallel", "--parts", "2%1", "--out", &out];
        let line = expect(&place, 0, &vary).stdout;
        let (succeeded, output) = shell(&place, &line, &[("HOME", "."), ("PATH", &path)]);
        assert!(succeeded, "{line}{output}");
        assert_eq!(comparable(&place, &out), comparable(&place, "whole"), "{name:?}");
        assert!(!place.path("made").exists(), "{line}");
        // A script for Slurm has the same words.
        expect(&place, 0, &[&vary[..4], &["--slurm", "job.sh", "--force", "--parts", "1", "--out", "scripted"]].concat());
        let (succeeded, output) = shell(&place, "./job.sh && ./job-merge.sh", &[("SLURM_ARRAY_TASK_ID", "1")]);
        assert!(succeeded && !place.path("made").exists(), "{name:?}: {output}");
        assert_eq!(comparable(&place, "scripted"), comparable(&place, "whole"), "{name:?}");
        fs::remove_dir_all(place.path("scripted")).unwrap();
    }
}

#[test]
fn both_scripts_are_written_or_none() {
    let place = Place::new();
    fs::create_dir(place.path("disk")).unwrap();
    // One page, which one script takes.
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=4k", "tmpfs"]).arg(place.path("disk")).status();
    if !mounted.is_ok_and(|status| status.success()) {
        eprintln!("skipped: only root may mount");
        return;
    }
    let ended = place.run(&[&VARY[..], &["--slurm", "disk/job.sh"]].concat());
    let left = names(&place, "disk");
    assert!(Command::new("umount").arg(place.path("disk")).status().unwrap().success());
    assert!(ended.status == 1 && left.is_empty(), "{left:?}: {}", ended.stderr);
}

#[test]
fn scripts_that_can_not_be_are_refused() {
    let place = Place::new();
    let refuse = |more: &[&str], word: &str| {
        let ended = expect(&place, 2, &[&VARY[..], more].concat());
        assert!(ended.stderr.contains(word), "{more:?}: {}", ended.stderr);
    };
    refuse(&["--parts", "2"], "--slurm");
    refuse(&["--slurm", "job.sh", "--parallel"], "--parallel");
    refuse(&["--slurm", "job.sh", "--shard", "1/2"], "--shard");
    refuse(&["--parallel", "--parts", "5"], "5 parts are more than the 4 simulations");
    refuse(&["--parallel", "--parts", "0"], "from 1 to 100000");
    refuse(&["--slurm", "small.toml"], "small.toml exists");
    for name in ["a b.sh", "a\n#SBATCH --wrap=x.sh", "a%j.sh", "$x.sh"] {
        refuse(&["--slurm", name], "the name of a script takes letters");
    }
    let ended = expect(&place, 2, &["compare", "-", "--vary", "array.members=2,4", "--parallel"]);
    assert!(ended.stderr.contains("standard input"), "{}", ended.stderr);
    assert!(!place.path("job.sh").exists() && !place.path("flashraid-out").exists());
}

/// A small array whose warm-up is long enough to be kept: a million page writes.
const LONG_WARM_UP: &str = r#"
array.members = 2
ssd.geometry = { dies = 2, planes = 1, blocks = 512, pages = 64 }
ssd.warm_up.overwrites = 120
workload = { kind = "synthetic", requests = 50, read_fraction = 0.25, size = "8KiB", arrivals = { process = "poisson", mean_gap = "2ms" } }
"#;

#[test]
fn many_processes_on_one_folder_warm_up_once_and_two_are_killed() {
    // Most of the processes only load the state, which `make test-long` does with more of them.
    let is_long = std::env::var_os("FLASHRAID_LONG").is_some();
    let (rates, parts) = if is_long { ("1,2,3,4,5,6,7,8", 64) } else { ("1,2", 16) };
    let rates = format!("workload.rate_scale={rates}");
    let place = Place::new();
    place.write("array.toml", LONG_WARM_UP);
    let grid = [
        "compare",
        "array.toml",
        "--vary",
        "ssd.gc.preemption=none,semi",
        "--vary",
        "coordination.scheme=local,ideal",
        "--vary",
        &rates,
        "--vary",
        "ssd.gc.poll=1us,2us",
    ];
    expect(&place, 0, &[&grid[..], &["--no-cache", "--exactly", "--out", "whole"]].concat());
    let begin = |part: usize, cache: &str| -> Child {
        let shard = format!("{part}/{parts}");
        let mut command = place.command(&[&grid[..], &["--jobs", "1", "--out", "study", "--shard", &shard]].concat());
        command.env("FLASHRAID_CACHE", cache).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut running: Vec<(usize, Child)> = (1..=parts).map(|part| (part, begin(part, "warm"))).collect();
    // The one that makes the state, and another that waits.
    let claimed = || names(&place, "warm").into_iter().find(|name| name.ends_with(".making"));
    let patience = Instant::now();
    let maker = loop {
        let text =
            place.path("warm").is_dir().then(claimed).flatten().and_then(|name| fs::read_to_string(place.path("warm").join(name)).ok());
        if let Some(process) = text.as_deref().and_then(|text| text.split_once(' ')?.0.split_once('-')?.1.parse::<u32>().ok()) {
            break process;
        }
        assert!(patience.elapsed() < Duration::from_secs(60), "nobody makes the state");
        thread::sleep(Duration::from_millis(1));
    };
    let position = running.iter().position(|(_, child)| child.id() == maker).expect("a part of ours");
    let mut killed = vec![running.swap_remove(position)];
    killed.push(running.pop().unwrap());
    for (_, child) in &mut killed {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let (mut made, mut loaded) = (0, 0);
    let mut ended = |part: usize, child: Child| {
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "part {part}: {stderr}");
        if stderr.contains("warm state from the cache") { loaded += 1 } else { made += 1 }
    };
    running.into_iter().for_each(|(part, child)| ended(part, child));
    for (part, _) in killed {
        ended(part, begin(part, "warm"));
    }
    // A state has two members, which two processes may make, each one.
    assert!((1..=2).contains(&made) && made + loaded == parts, "{made} warmed up, {loaded} took the state from the folder");
    let states = names(&place, "warm");
    assert!(states.len() == 2 && states.iter().all(|name| name.ends_with(".state")), "left over: {states:?}");
    expect(&place, 0, &["merge", "study", "--out", "study", "--force"]);
    assert_eq!(comparable(&place, "study"), comparable(&place, "whole"));
    for folder in ["study", "study/points"] {
        let left: Vec<String> = names(&place, folder).into_iter().filter(|name| name.starts_with('.')).collect();
        assert!(left.is_empty(), "left over: {left:?}");
    }
    assert_eq!(names(&place, "study/points").len(), parts);
}
