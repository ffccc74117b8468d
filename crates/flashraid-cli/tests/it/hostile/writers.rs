//! Every command that writes, where nothing can be written: one message, the right status, nothing half-written.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{ends, trace};
use crate::fit::DRIVE;
use crate::program::{Place, ended};

/// Makes the inputs of all commands: a trace, a job file, an old configuration, results, shards, and measurements.
fn prepared() -> Place {
    let place = Place::new();
    place.write("ok.spc", trace(20_000));
    place.write("job.fio", "[mixed]\nrw=randrw\nbs=8k\nnumber_ios=300\n");
    place.write("drive.toml", DRIVE);
    let grid = ["compare", "small.toml", "--vary", "seed=1,2", "--shard"];
    for arguments in [
        &["run", "small.toml", "--out", "done"][..],
        &[&grid[..], &["1/2", "--out", "one"]].concat(),
        &[&grid[..], &["2/2", "--out", "two"]].concat(),
        &["probe", "--simulate", "drive.toml", "--scale", "1", "--out", "known"],
    ] {
        ends(&place.run(arguments), 0, &[]);
    }
    place
}

/// Commands that write files; `@` is where. The first word, or the first two, are the command.
const FILES: [&str; 22] = [
    "run small.toml --out @/run",
    "run small.toml --timeline 0s..1s --out @/timeline",
    "run small.toml --seeds 2 --out @/seeds",
    "run small.toml --hdr @/times.hlog",
    "run small.toml --fio-logs @/logs",
    "run small.toml --set ssd.geometry.blocks=4096 --set ssd.warm_up.overwrites=0 --set ssd.warm_up.save=\"@/state\"",
    "compare small.toml --vary seed=1,2,3,4 --out @/grid",
    "compare small.toml --vary seed=1,2 --shard 1/2 --out @/shard",
    "compare small.toml --vary seed=1,2 --slurm @/job.sh",
    "merge one two --out @/merged",
    "advise small.toml --capacity 1MB --bays 4..4 --drives ggc2014 --requests 30k --quiet --out @/advice",
    "report done --out @/page",
    "report done done --out @/pages",
    "trace convert ok.spc @/out.spc --to spc",
    "trace convert ok.spc @/out.zst --to mqsim",
    "demo --quick --out @/demo",
    "init @/array.toml",
    "import job.fio --out @/workload.toml",
    "probe --simulate drive.toml --scale 1 --out @/probe",
    "fit known --base drive.toml --parameters link --hold-out none --scale 1 --simplex 0 --out @/device.toml",
    "man --out @/man",
    "reproduce lawc.fig4 --quick --out @/figures",
];

/// Commands that write to standard output.
const PRINTED: [&str; 29] = [
    "",
    "help",
    "run small.toml",
    "run small.toml --json",
    "run small.toml --output-format fio+",
    "run small.toml --hdr -",
    "run small.toml --seeds 2 --json",
    "compare small.toml --vary seed=1,2",
    "compare small.toml --vary seed=1,2 --json",
    "merge one two --json",
    "advise small.toml --capacity 1MB --bays 4..4 --drives ggc2014 --requests 30k --quiet",
    "report done",
    "check small.toml",
    "check small.toml --json",
    "trace info ok.spc",
    "trace info ok.spc --json",
    "trace convert ok.spc - --to spc",
    "init -",
    "import job.fio",
    "export --to mqsim nvme-simple",
    "explain gc.runs",
    "preset list",
    "preset show pgc2011",
    "schema",
    "schema --report",
    "pts iops --fio",
    "cache list --json",
    "completions bash",
    "man",
];

/// Commands that are not in the lists, with the reason.
const OTHERS: [(&str, &str); 5] = [
    ("preset card", "prints as the others do, after minutes"),
    ("bench", "prints as the others do, after seconds of measuring; runs with few threads in `machine`"),
    ("cache", "what it shows and removes has tests of its own"),
    ("trace", "only with the commands below it"),
    ("preset", "only with the commands below it"),
];

#[test]
fn no_command_is_left_out() {
    let listed: BTreeSet<String> = FILES.iter().chain(&PRINTED).map(|line| (*line).to_owned()).collect();
    let place = Place::new();
    ends(&place.run(&["man", "--out", "man"]), 0, &[]);
    let pages = place.files();
    assert!(pages.len() > 25, "{pages:?}");
    for page in pages {
        // A path looks like `man/flashraid-trace-info.1`.
        let command = page.trim_start_matches("man/flashraid").trim_end_matches(".1").replace('-', " ");
        let command = command.trim_start();
        let is_listed = listed.iter().any(|line| *line == *command || line.starts_with(&format!("{command} ")));
        assert!(is_listed || OTHERS.iter().any(|(other, _)| command == *other || command == format!("{other} clear")), "{command}");
    }
}

fn arguments(line: &str, folder: &str) -> Vec<String> {
    line.split_whitespace().map(|word| word.replace('@', folder)).collect()
}

/// All files below a folder.
fn below(folder: &Path) -> Vec<String> {
    let found = Command::new("find").arg(folder).args(["-type", "f"]).output().unwrap();
    String::from_utf8(found.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// Mounts a disk of so many bytes; only root may.
fn mount(disk: &Path, options: &str) -> bool {
    Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(disk).status().is_ok_and(|status| status.success())
}

/// Takes a disk away again, whatever becomes of the test.
struct Mounted<'a>(&'a Path);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

/// Runs every command that writes files into a folder that `options` mount, and says what is wrong with how it ends.
fn on_a_disk(place: &Place, options: &str, commands: &[&str], kept: &[&str]) -> Vec<String> {
    let disk = place.path("disk");
    let mut wrong = Vec::new();
    fs::create_dir(&disk).unwrap();
    for line in commands {
        if !mount(&disk, options) {
            eprintln!("skipped: only root may mount");
            break;
        }
        let mounted = Mounted(&disk);
        let arguments = arguments(line, "disk");
        let ended = place.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        let said: Vec<&str> = ended.stderr.lines().filter(|text| !text.starts_with("note: ")).collect();
        if ended.status != 1 || said.len() != 1 || ended.stderr.contains("bug") {
            wrong.push(format!("{line}: status {}: {}", ended.status, ended.stderr));
        }
        let mut left = below(&disk);
        left.retain(|file| !kept.iter().any(|part| file.contains(part)));
        if !left.is_empty() {
            wrong.push(format!("{line} leaves {left:?}"));
        }
        drop(mounted);
    }
    fs::remove_dir(&disk).unwrap();
    wrong
}

/// Finished simulations of comparisons, of which each is whole, stay for the next attempt.
const KEPT: [&str; 2] = ["/points/", "/study.json"];

#[test]
fn a_full_disk_a_folder_that_may_only_be_read_and_one_below_a_file() {
    let place = prepared();
    // What writes little fits the disk that is only too small.
    let little = ["init ", "import ", "--hdr ", "--shard ", "--slurm ", ".zst "];
    let (small, large): (Vec<&str>, Vec<&str>) = FILES.iter().partition(|line| little.iter().any(|part| line.contains(part)));
    let mut wrong = on_a_disk(&place, "size=40k", &large, &KEPT);
    wrong.extend(on_a_disk(&place, "size=4k,nr_inodes=1", &[&small[..], &large[..]].concat(), &[]));
    wrong.extend(on_a_disk(&place, "ro", &FILES, &[]));
    // Not even root can make anything below a file.
    for line in FILES {
        let arguments = arguments(line, "job.fio");
        let ended = place.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        // A state is looked after before the warm-up, as a path that is wrong.
        let status = if line.contains("warm_up.save") { 2 } else { 1 };
        if ended.status != status || ended.stderr.lines().filter(|text| !text.starts_with("note: ")).count() != 1 {
            wrong.push(format!("{line} below a file: status {}: {}", ended.status, ended.stderr));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn standard_output_that_is_full_or_closed() {
    let place = prepared();
    for line in PRINTED {
        let arguments = arguments(line, ".");
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = place.command(&arguments).stdout(full).stderr(Stdio::piped()).output().unwrap();
        let ended = ended(output);
        // What it is about to do is said, too, by those that do it.
        let said = ended.stderr.lines().filter(|text| text.starts_with("error")).count();
        assert!(ended.status == 1 && said == 1 && ended.stderr.contains("No space left"), "{line}: {} {}", ended.status, ended.stderr);

        let mut child = place.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        let status = child.wait().unwrap();
        assert!(status.code() == Some(0) && !said.contains("bug") && !said.contains("error"), "{line}: {status}: {said}");
    }
}
