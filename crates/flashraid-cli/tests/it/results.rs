//! Writing results: broken pipes, full disks, interruptions.

use std::io::Read;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::program::{FILES_OF_A_RUN, Place, ended};

#[test]
fn the_demo_is_a_configuration_and_refuses_unknown_arguments() {
    // At full size it is too slow for a test; its configuration is checked here, and `start` runs a small one.
    let place = Place::new();
    place.write("demo.toml", include_str!("../../src/cmd/demo.toml"));
    let ended = place.run(&["check", "demo.toml", "--set", "coordination.scheme=ideal"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert_eq!(place.run(&["--json"]).status, 2);
    assert_eq!(place.run(&["demo", "--json"]).status, 2);
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let place = Place::new();
    let mut child = place.command(&["schema"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 1];
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut first).unwrap();
    drop(stdout);
    let ended = ended(child.wait_with_output().unwrap());
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_one_message() {
    let place = Place::new();
    for arguments in [vec!["run", "small.toml", "--json"], vec!["run", "small.toml"], vec!["schema"], vec!["preset"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ended = ended(place.command(&arguments).stdout(full).stderr(Stdio::piped()).output().unwrap());
        assert_eq!(ended.status, 1, "{arguments:?}");
        assert_eq!(ended.stderr, "error: can't write to standard output: No space left on device (os error 28)\n");
    }
}

/// A limit on the size of files stands for a full disk: the kernel then refuses to write.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_nothing_half_written() {
    let place = Place::new();
    let program = env!("CARGO_BIN_EXE_flashraid");
    for arguments in ["run small.toml --out results", "compare small.toml --vary array.members=2,4 --out results"] {
        let script = format!("ulimit -f 2; exec {program} {arguments}");
        let ended = ended(Command::new("sh").args(["-c", &script]).current_dir(place.path("")).output().unwrap());
        assert_eq!(ended.status, 1, "{arguments}: {}", ended.stderr);
        assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
        assert!(ended.stderr.starts_with("error: can't write results/"), "{}", ended.stderr);
        assert_eq!(place.files(), Vec::<String>::new());
    }
}

#[test]
fn a_folder_that_can_not_be_made_is_one_message() {
    let place = Place::new();
    place.write("results", "a file");
    for arguments in
        [vec!["run", "small.toml", "--out", "results"], vec!["compare", "small.toml", "--vary", "array.members=2,4", "--out", "results"]]
    {
        let ended = place.run(&arguments);
        assert_eq!(ended.status, 1, "{}", ended.stderr);
        assert!(ended.stderr.starts_with("error: can't make the folder results"), "{}", ended.stderr);
    }
    assert_eq!(place.files(), ["results"]);
}

/// Interrupts the program once it has run for a while.
#[cfg(unix)]
fn interrupt(place: &Place, arguments: &[&str]) -> crate::program::Ended {
    let child = place.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pid = child.id().to_string();
    let interrupter = thread::spawn(move || {
        thread::sleep(Duration::from_millis(700));
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    });
    let started = Instant::now();
    let output = child.wait_with_output().unwrap();
    interrupter.join().unwrap();
    assert!(started.elapsed() < Duration::from_secs(20), "it stops soon");
    ended(output)
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_reports_what_was_done() {
    let place = Place::new();
    let ended = interrupt(&place, &["run", "small.toml", "--set", "workload.requests=1000000000", "--json", "--out", "results"]);
    assert_eq!(ended.status, 130, "{}", ended.stderr);
    assert!(ended.stderr.contains("marked as partial"), "{}", ended.stderr);
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(report["partial"], true);
    let done = report["requests"]["all"].as_u64().unwrap();
    assert!(0 < done && done < 1_000_000_000);
    assert_eq!(place.json("results/report.json"), report);
    assert_eq!(place.files(), FILES_OF_A_RUN.map(|name| format!("results/{name}")));
}

#[cfg(unix)]
#[test]
fn an_interrupted_grid_keeps_what_is_finished() {
    let place = Place::new();
    let arguments = ["compare", "small.toml", "--vary", "workload.requests=100,1000000000", "--jobs", "2", "--out", "grid"];
    let ended = interrupt(&place, &arguments);
    assert_eq!((ended.status, ended.stdout.as_str()), (130, ""), "{}", ended.stderr);
    assert!(ended.stderr.contains("1 of 2 simulations are done"), "{}", ended.stderr);
    assert!(ended.stderr.contains("The same command continues from here"), "{}", ended.stderr);
    let files = place.files();
    assert_eq!((files.len(), files[1].as_str()), (2, "grid/study.json"), "{files:?}");
    assert!(files[0].starts_with("grid/points/") && files[0].ends_with(".json"));
    assert_eq!(place.json(&files[0])["report"]["requests"]["all"], 100);
}
