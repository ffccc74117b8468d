//! fio is run, goes on, and is stopped. Where there is no fio a script stands in for it only in the tests of the program.

use std::cell::Cell;
use std::fs::{self, File};
use std::time::Duration;

use flashraid_fit::FitError;
use flashraid_fit::runner::{About, Runner, version};
use flashraid_fit::sets::{Length, ProbeJob, Set, Setup, jobs};
use flashraid_fit::target::{TARGET_BYTES_MIN, Target, look};

use crate::names::NAMES;

fn setup(target: &Target) -> Setup {
    Setup {
        target_bytes: target.bytes,
        seconds: 1,
        overwrites: 0.0,
        engine: "psync".to_owned(),
        is_direct: false,
        is_mounted: false,
        reads_only: false,
    }
}

#[test]
fn jobs_of_fio_run_and_can_be_stopped() {
    if version().is_err() {
        eprintln!("skipped: no fio");
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("target");
    File::create(&file).unwrap().set_len(TARGET_BYTES_MIN).unwrap();
    let target = look(&file).unwrap();
    let setup = setup(&target);
    let jobs = jobs(Set::Fit, &setup);
    let folder = place.path().join("out");
    let runner = Runner { folder: &folder, setup: &setup, target: &target, stopped: &|| false, goes_on: &|_| {} };
    let about = About::new("fit", &target);
    assert!(!about.is_of(&folder).unwrap());
    runner.begin(&about).unwrap();
    runner.run(&jobs[0]).unwrap();
    assert!(runner.is_done(&jobs[0]).unwrap() && !runner.is_done(&jobs[1]).unwrap());
    assert!(about.is_of(&folder).unwrap(), "gone on with");
    let other = About { identity: "another".to_owned(), ..about };
    assert!(other.is_of(&folder).unwrap_err().to_string().contains("holds a measurement of"));
    let longer = Setup { seconds: 2, ..setup.clone() };
    let changed = Runner { setup: &Setup { engine: "sync".to_owned(), ..setup.clone() }, ..runner };
    assert!(changed.is_done(&jobs[0]).unwrap_err().to_string().contains("other options"));

    // The file is fio's now: refused to others, not to the same measurement.
    let again = look(&file).unwrap();
    assert!(again.objection(false).is_some() && again.objection(true).is_none());

    let seconds = Cell::new(0);
    let begun = std::sync::atomic::AtomicBool::new(false);
    let stopped = || begun.load(std::sync::atomic::Ordering::Relaxed);
    let goes_on = |elapsed: Duration| {
        seconds.set(elapsed.as_secs());
        begun.store(elapsed > Duration::from_millis(200), std::sync::atomic::Ordering::Relaxed);
    };
    let long = flashraid_fit::sets::jobs(Set::Fit, &Setup { seconds: 600, ..longer });
    let runner = Runner { folder: &folder, setup: &setup, target: &target, stopped: &stopped, goes_on: &goes_on };
    assert!(matches!(runner.run(&long[1]), Err(FitError::Interrupted)));
    assert!(seconds.get() < 10, "fio was ended");
    let names: Vec<String> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(!names.iter().any(|name| name.contains("json.part")), "{names:?}");
    assert!(names.contains(&format!("{}.json", jobs[0].name)), "what was finished stays: {names:?}");
}

/// Returns a job that reads one block, and writes the names of the files that fio opens into `log`.
fn one_block() -> ProbeJob {
    let options = [("rw", "read"), ("bs", "4k"), ("io_size", "4k"), ("write_iolog", "log")];
    ProbeJob { name: "one".to_owned(), options: options.map(|(key, value)| (key, value.to_owned())).into(), length: Length::Bytes(4096) }
}

#[test]
fn fio_opens_the_file_that_is_named_and_no_other() {
    let has_fio = version().is_ok();
    // A start of fio takes it a third of a second, to measure its clock. A script in its place opens all of them, as fio does in
    // `make test-long`.
    let every = if std::env::var_os("FLASHRAID_LONG").is_some() { 1 } else { 4 };
    for (at, (name, is_refused)) in NAMES.into_iter().enumerate() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join(name);
        File::create(&file).unwrap().set_len(TARGET_BYTES_MIN).unwrap();
        let target = match look(&file) {
            Ok(target) => target,
            Err(error) => {
                assert!(is_refused && error.to_string().contains("fio"), "{name:?}: {error}");
                continue;
            }
        };
        assert!(!is_refused, "{name:?}");
        if has_fio && at % every == 0 {
            let folder = place.path().join("out");
            let runner = Runner { folder: &folder, setup: &setup(&target), target: &target, stopped: &|| false, goes_on: &|_| {} };
            runner.begin(&About::new("fit", &target)).unwrap();
            runner.run(&one_block()).unwrap_or_else(|error| panic!("{name:?}: {error}"));
            let log = fs::read_to_string(folder.join("log")).unwrap();
            let opened: Vec<&str> = log.lines().filter_map(|line| line.strip_suffix(" open")?.split_once(' ')).map(|line| line.1).collect();
            assert_eq!(opened, [target.path.to_str().unwrap()], "{log}");
        }
    }
}

#[test]
fn a_file_that_took_the_place_of_the_target_is_not_opened() {
    if version().is_err() {
        eprintln!("skipped: no fio");
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let (file, other) = (place.path().join("target"), place.path().join("other"));
    for file in [&file, &other] {
        File::create(file).unwrap().set_len(TARGET_BYTES_MIN).unwrap();
    }
    let target = look(&file).unwrap();
    let folder = place.path().join("out");
    let runner = Runner { folder: &folder, setup: &setup(&target), target: &target, stopped: &|| false, goes_on: &|_| {} };
    runner.begin(&About::new("fit", &target)).unwrap();
    fs::rename(&other, &file).unwrap();
    assert!(runner.run(&one_block()).unwrap_err().to_string().contains("no longer what it was"));
    assert!(!folder.join("log").exists(), "fio did not run");
}
