//! Machines that are too small: memory, threads.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use super::ends;
use crate::program::{Ended, Place, ended, without_wall_clock};

/// Runs it under limits, as a shell sets them.
fn limited(place: &Place, limit: &str, arguments: &[&str]) -> Ended {
    let program = place.command(&[]).get_program().to_owned();
    let mut command = place.command(&[]);
    let mut shell = std::process::Command::new("sh");
    shell.arg("-c").arg(format!("{limit}; exec \"$0\" \"$@\"")).arg(program).args(arguments);
    shell.current_dir(command.get_current_dir().unwrap()).stdin(Stdio::null()).env("FLASHRAID_CACHE", "cache");
    command.args(arguments);
    ended(shell.stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap())
}

/// Once: "memory allocation of … failed", a backtrace and status 134.
#[test]
fn too_little_memory_is_told_before_it_is_taken() {
    let place = Place::new();
    place.write("large.toml", "array.members = 128\nssd.preset = \"ggc2014\"\nworkload.requests = 10");
    for arguments in
        [&["run", "large.toml"][..], &["check", "large.toml"], &["compare", "large.toml", "--vary", "seed=1,2", "--out", "grid"]]
    {
        let ended = limited(&place, "ulimit -v 4000000", arguments);
        ends(&ended, 2, &["of memory", "ulimit -v"]);
        assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    }
    assert_eq!(place.files(), Vec::<String>::new());
}

/// The program does its work with any limit, or ends with one message and status 1 or 2. Earlier, it ended with 134 at most limits.
#[test]
fn no_limit_of_memory_ends_in_an_abort() {
    let place = Place::new();
    place.write("ok.spc", super::trace(3000));
    for megabytes in [48, 64, 96, 128, 192, 256, 400] {
        let limit = format!("ulimit -v {}", megabytes * 1024);
        for arguments in [
            &["run", "small.toml", "--out", "out"][..],
            &["compare", "small.toml", "--vary", "seed=1,2,3", "--jobs", "3", "--out", "grid"],
            &["trace", "convert", "ok.spc", "out.spc.zst", "--to", "spc"],
            &["trace", "info", "ok.spc"],
        ] {
            let ended = limited(&place, &limit, arguments);
            assert!((0..=2).contains(&ended.status), "{megabytes} MB, {arguments:?}: {} {}", ended.status, ended.stderr);
            assert!(!ended.stderr.contains("has a bug"), "{}", ended.stderr);
            assert!(place.files().iter().all(|name| !name.ends_with(".part")), "{:?}", place.files());
        }
    }
}

/// Once: "thread 'main' has overflowed its stack", status 134.
#[test]
fn a_small_stack_is_enough() {
    let place = Place::new();
    for kilobytes in [64, 128, 1024] {
        let limit = format!("ulimit -s {kilobytes}");
        for arguments in [&["--version"][..], &["run", "--help"], &["check", "small.toml"], &["run", "small.toml", "--json"]] {
            let ended = limited(&place, &limit, arguments);
            assert_eq!(ended.status, 0, "{limit}, {arguments:?}: {}", ended.stderr);
        }
        let refused = limited(&place, &limit, &["run", "none.toml"]);
        assert_eq!(refused.status, 2, "{limit}: {}", refused.stderr);
    }
}

/// Once: "flashraid has a bug: failed to spawn thread", status 134.
#[test]
fn few_threads_do_the_work_of_many() {
    let place = Place::new();
    let seeds: Vec<String> = (0..40).map(|seed| seed.to_string()).collect();
    let vary = format!("seed={}", seeds.join(","));
    let arguments = ["compare", "small.toml", "--set", "workload.requests=50", "--vary", &vary, "--jobs", "1000", "--out", "grid"];
    let ended = limited(&place, "ulimit -v 1200000", &arguments);
    assert!(ended.status == 0 || (ended.status == 2 && ended.stderr.contains("of memory")), "{} {}", ended.status, ended.stderr);
}

/// Once: "flashraid has a bug: failed to spawn thread". Limits of processes do not hold for root, who becomes nobody for it.
#[test]
fn a_limit_of_processes_leaves_a_program_that_works_or_says_why_not() {
    let place = Place::new();
    let program = place.command(&[]).get_program().to_owned();
    let as_nobody = |of: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).args(of).arg(&program).env("FLASHRAID_CACHE", "off");
        command.current_dir(place.path("")).stdin(Stdio::null());
        command
    };
    let any_user = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(place.path(""), any_user).unwrap();
    if !as_nobody(&[]).arg("--version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: not root, or no setpriv, or nobody can't run the program");
        return;
    }
    let mut outputs = BTreeSet::new();
    for processes in 1..=3 {
        let limit = format!("--nproc={processes}:{processes}");
        for arguments in [
            &["run", "small.toml", "--threads", "2", "--json"][..],
            &["compare", "small.toml", "--vary", "seed=1,2,3", "--jobs", "3", "--out", "grid", "--force"],
            &["reproduce", "ggc.fig6", "--quick", "--out", "figures"],
        ] {
            // With two of them there is nothing that it could still lack.
            if processes > 1 && arguments[0] == "reproduce" {
                continue;
            }
            let ended = ended(as_nobody(&["prlimit", &limit]).args(arguments).output().unwrap());
            // One thread runs the program, one waits for Ctrl-C; what is to be faster needs more of them, and is slower without.
            assert!(
                ended.status == 0 || (processes == 1 && ended.status == 1),
                "{processes}, {arguments:?}: {} {}",
                ended.status,
                ended.stderr
            );
            if ended.status == 1 {
                assert!(ended.stderr.contains("thread") && !ended.stderr.contains("has a bug"), "{}", ended.stderr);
                assert_eq!(ended.stderr.lines().filter(|line| line.starts_with("error")).count(), 1, "{}", ended.stderr);
            } else if arguments[0] == "run" {
                outputs.insert(without_wall_clock(serde_json::from_str(&ended.stdout).unwrap()).to_string());
            }
        }
    }
    assert_eq!(outputs.len(), 1, "the number of threads changes no result");
}
