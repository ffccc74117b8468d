//! Measurements of a known drive lead back to that drive.

use std::fs;

use flashraid::Simulation;
use flashraid_fit::fit::{Fit, FitOptions, Found, fit};
use flashraid_fit::measured::{self, Figures, Results, Times};
use flashraid_fit::sets::Set;
use flashraid_fit::simulated::{SimulatedOptions, results};
use flashraid_fit::{Base, Parameter};

/// A small drive with the short erases of a scaled one. Each value decides some job: the link decides sequential reads, and programs decide
/// sequential writes. Cores decide random reads and, by the units that they move, random writes.
pub const SMALL: &str = r#"
[ssd]
transfer = "channel"
link = { rate = "1.0GB/s", duplex = "full" }

[ssd.geometry]
dies = 8
planes = 2
blocks = 64
pages = 48
page_size = "4KiB"
reserved = 0.25

[ssd.timing]
page_read = "56us"
page_program = "1490us"
block_erase = "100us"
transfer_per_byte = "1.07GB/s"

[ssd.channel]
dies_per_channel = 4

[ssd.superblock]
pages_per_cell = 3

[ssd.buffer]
ack = "20us"

[ssd.firmware]
cores = 2
read = "14us"
write = "30us"
move = "30us"
latency = "20us"
"#;

fn base(settings: &[(&str, &str)]) -> Base {
    let simulation = Simulation::from_toml(SMALL).unwrap();
    let simulation = settings.iter().fold(simulation, |simulation, (key, value)| simulation.set(key, value).unwrap());
    Base::of("small.toml", &simulation.scenario().unwrap()).unwrap()
}

/// Returns what fio would measure, by way of its files. As fio measures real drives, each job is much longer than in a fit, and it meets
/// other addresses.
fn measure(drive: &Base, keep: impl Fn(&str) -> bool) -> Results {
    let options = SimulatedOptions { set: Set::Fit, scale: 1, times: 8, seed: 2, stopped: &|| false, begins: &|_, _, _| {} };
    let place = tempfile::tempdir().unwrap();
    for (name, document) in results(drive, options).unwrap().into_iter().filter(|(name, _)| keep(name)) {
        fs::write(place.path().join(format!("{name}.json")), document.to_string()).unwrap();
    }
    measured::read(&[place.path().to_owned()]).unwrap()
}

pub fn options(simplex_max: usize) -> FitOptions<'static> {
    FitOptions {
        parameters: Parameter::USUAL.to_vec(),
        hold_out: None,
        scale: 1,
        seed: 1,
        threads: 2,
        simplex_max,
        stopped: &|| false,
        progress: &|_, _| {},
    }
}

fn value(fit: &Fit, name: &str) -> Found {
    fit.parameters.iter().find(|found| found.name == name).unwrap().clone()
}

/// Values of a known drive, in nanoseconds and bytes per second.
type Known = [(&'static str, f64); 6];

const FAST: (&[(&str, &str)], Known) = (
    &[
        ("ssd.timing.page_program", "1100us"),
        ("ssd.link", "{ rate = \"1.3GB/s\", duplex = \"full\" }"),
        ("ssd.firmware.latency", "31us"),
        ("ssd.buffer.ack", "30us"),
        ("ssd.firmware.read", "11us"),
        ("ssd.firmware.write", "22us"),
        ("ssd.firmware.move", "22us"),
    ],
    [("page_program", 1.1e6), ("link", 1.3e9), ("latency", 31e3), ("ack", 30e3), ("read", 11e3), ("move", 22e3)],
);
const SLOW: (&[(&str, &str)], Known) = (
    &[
        ("ssd.timing.page_program", "2300us"),
        ("ssd.link", "{ rate = \"700MB/s\", duplex = \"full\" }"),
        ("ssd.firmware.latency", "45us"),
        ("ssd.buffer.ack", "50us"),
        ("ssd.firmware.read", "22us"),
        ("ssd.firmware.write", "48us"),
        ("ssd.firmware.move", "48us"),
    ],
    [("page_program", 2.3e6), ("link", 7e8), ("latency", 45e3), ("ack", 50e3), ("read", 22e3), ("move", 48e3)],
);
const MIXED: (&[(&str, &str)], Known) = (
    &[
        ("ssd.timing.page_program", "1800us"),
        ("ssd.link", "{ rate = \"900MB/s\", duplex = \"full\" }"),
        ("ssd.firmware.latency", "12us"),
        ("ssd.buffer.ack", "35us"),
        ("ssd.firmware.read", "17us"),
        ("ssd.firmware.write", "27us"),
        ("ssd.firmware.move", "27us"),
    ],
    [("page_program", 1.8e6), ("link", 9e8), ("latency", 12e3), ("ack", 35e3), ("read", 17e3), ("move", 27e3)],
);

fn assert_recovers((settings, known): (&[(&str, &str)], Known), simplex_max: usize, keep: impl Fn(&str) -> bool) -> Fit {
    let found = fit(&base(&[]), measure(&base(settings), keep), &options(simplex_max)).unwrap();
    for (name, known) in known {
        let found = value(&found, name);
        assert!((found.value / known - 1.0).abs() < 0.05, "{name}: {known}, but {found:?}");
    }
    let held_out: Vec<_> = found.jobs.iter().filter(|job| job.held_out).collect();
    assert_eq!(held_out.len(), 1);
    assert!(held_out[0].name.ends_with("randrw50-4k-q64") && held_out[0].iops_error_percent.abs() < 5.0, "{held_out:?}");
    found
}

/// Returns the known values that are not in their 95 % intervals.
fn outside(fit: &Fit, known: Known) -> Vec<Found> {
    let is_outside = |found: &Found, known: f64| !(found.low.unwrap() <= known && known <= found.high.unwrap());
    known
        .into_iter()
        .map(|(name, known)| (value(fit, name), known))
        .filter(|(found, known)| is_outside(found, *known))
        .map(|(found, _)| found)
        .collect()
}

/// Returns true for enough jobs for all values, without the longest ones.
fn short(name: &str) -> bool {
    let reads = ["randread-4k-q1", "randread-4k-q4", "randread-4k-q16", "randread-4k-q64"];
    !name.contains("randread") && !name.ends_with("q256") || reads.iter().any(|read| name.ends_with(read))
}

#[test]
#[ignore = "half a minute: make test-long"]
fn a_known_drive_is_found_again() {
    let found = assert_recovers(FAST, 0, short);
    assert_eq!(outside(&found, FAST.1), []);
    for name in ["page_program", "link", "read", "move"] {
        assert!(value(&found, name).is_determined, "{name}: {found:?}");
    }
    // The file is that drive.
    let again = Base::of("again", &Simulation::from_toml(&found.device).unwrap().scenario().unwrap()).unwrap();
    assert_eq!(again.capacity_bytes(), base(&[]).capacity_bytes());
    assert!(found.device.contains("# fitted, 95 %") && found.device.contains("# assumed"), "{}", found.device);
    let page = flashraid_fit::page::html(&found, &[], "title");
    assert!(page.contains("iops-over-depth") && page.contains("measured") && page.contains("held out"));
}

/// Long runs of the base itself change no value by more than its interval.
#[test]
#[ignore = "a minute: make test-long"]
fn a_drive_is_found_in_its_own_measurements() {
    let own = base(&[]);
    let found = fit(&own, measure(&own, short), &options(0)).unwrap();
    for found in &found.parameters {
        let (low, high) = (found.low.unwrap(), found.high.unwrap());
        assert!(low <= found.base && found.base <= high, "{found:?}");
    }
}

#[test]
fn the_same_results_give_the_same_bytes() {
    let measured = measure(&base(FAST.0), |name| name.contains("128k") || name.ends_with("read-4k-q1"));
    let once = |threads: usize| {
        let options = FitOptions { threads, parameters: vec![Parameter::Link, Parameter::Latency], ..options(1) };
        fit(&base(&[]), measured.clone(), &options).unwrap()
    };
    let (first, second) = (once(1), once(3));
    assert_eq!((&first.device, &first.parameters, &first.jobs), (&second.device, &second.parameters, &second.jobs));
    let value = value(&first, "link");
    assert!((value.value / 1.3e9 - 1.0).abs() < 0.05, "{value:?}");
}

#[test]
fn what_no_job_tells_is_undetermined() {
    let measured = measure(&base(FAST.0), |name| name.contains("read-"));
    let found = fit(&base(&[]), measured, &options(0)).unwrap();
    for name in ["page_program", "ack", "move"] {
        let found = value(&found, name);
        assert!(!found.is_determined && found.low.is_none(), "{found:?}");
        assert_eq!(found.value, found.base, "it is left as it is");
    }
    assert!(value(&found, "link").is_determined);
    assert!(found.device.contains("# undetermined: no job tells"));

    // Of a file in memory, and of a slow drive, these would be the same jobs at other rates.
    for (times, instead) in [(50.0, "it may be memory"), (0.1, "it may be a SATA drive")] {
        let mut other = found.clone();
        other.mean_error_percent = 90.0;
        other.jobs.iter_mut().for_each(|job| job.measured.iops *= times);
        let reason = other.unlike_base().unwrap();
        assert!(reason.starts_with("this is no drive of the kind of small.toml") && reason.contains(instead), "{reason}");
    }
}

#[test]
fn jobs_that_are_not_there_are_not_held_out() {
    let measured = measure(&base(&[]), |name| name.contains("128k"));
    let refused = |options: &FitOptions<'_>| fit(&base(&[]), measured.clone(), options).unwrap_err().to_string();
    assert!(
        refused(&FitOptions { hold_out: Some("x".to_owned()), ..options(0) })
            .contains("hold out x: there is no such job; there are 01-write-128k-q32")
    );
    assert!(refused(&FitOptions { hold_out: Some("01-write-128k-q32".to_owned()), ..options(0) }).contains("two jobs at least"));
    assert!(matches!(
        fit(&base(&[]), measured.clone(), &FitOptions { stopped: &|| true, ..options(0) }),
        Err(flashraid_fit::FitError::Interrupted)
    ));
}

/// The user stops a search that has taken long enough.
#[test]
fn a_stopped_search_keeps_the_best_values_so_far() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let measured = measure(&base(FAST.0), |name| name.contains("128k") || name.contains("read-4k-q1."));
    let is_enough = AtomicBool::new(false);
    let options = FitOptions {
        parameters: vec![Parameter::Link, Parameter::Latency],
        stopped: &|| is_enough.load(Ordering::Relaxed),
        progress: &|evaluations, _| is_enough.store(evaluations > 1, Ordering::Relaxed),
        ..options(10)
    };
    let found = fit(&base(&[]), measured.clone(), &options).unwrap();
    assert!(found.stopped && found.notes.iter().any(|note| note.contains("best values so far")), "{:?}", found.notes);
    assert!(found.jobs.iter().all(|job| !job.held_out) && found.jobs.len() == measured.jobs.len());
    for name in ["link", "latency"] {
        let value = value(&found, name);
        assert!(!value.is_determined && value.low.is_none() && value.interval() == "stopped before the end", "{value:?}");
    }
    // By then other values have been tried, and better ones are kept.
    assert!(found.parameters.iter().any(|found| found.value != found.start), "{:?}", found.parameters);
    assert!(found.device.contains("The search was stopped") && Simulation::from_toml(&found.device).is_ok(), "{}", found.device);
}

/// Returns the same figures with an error of `deviation`, normally distributed and always the same.
fn with_noise(mut results: Results, deviation: f64, mut state: u64) -> Results {
    let mut factor = || {
        // Irwin and Hall: twelve uniform numbers less six have a deviation of 1.
        let sum: f64 = (0..12)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 11) as f64 / (1_u64 << 53) as f64
            })
            .sum();
        1.0 + deviation * (sum - 6.0)
    };
    for job in &mut results.jobs {
        let mut times = |times: Option<Times>| {
            times.map(|Times { mean_us, p99_us }| Times { mean_us: mean_us * factor(), p99_us: p99_us.map(|p99| p99 * factor()) })
        };
        let (read, write) = (times(job.figures.read), times(job.figures.write));
        job.figures = Figures { iops: job.figures.iops * factor(), read, write };
    }
    results
}

/// Asserts that values are found within 10 %. Of `latency` and `ack` only the sums are measured, by single reads and writes. Returns the
/// values that are not in their intervals.
fn assert_recovers_from_noise(
    (settings, known): (&[(&str, &str)], Known),
    seed: u64,
    simplex_max: usize,
    keep: impl Fn(&str) -> bool,
) -> Vec<Found> {
    let measured = with_noise(measure(&base(settings), keep), 0.03, seed);
    let fit = fit(&base(&[]), measured, &options(simplex_max)).unwrap();
    let known_of = |name: &str| known.iter().find(|(known, _)| *known == name).unwrap().1;
    for name in ["page_program", "link", "read", "move"] {
        let found = value(&fit, name);
        assert!(found.is_determined && (found.value / known_of(name) - 1.0).abs() < 0.10, "{name}: {}, but {found:?}", known_of(name));
    }
    // The array read and the transfer are known.
    for (what, of_flash, parts) in [("read", 60e3, vec!["latency", "read"]), ("write", 0.0, vec!["latency", "ack", "move"])] {
        let found: f64 = of_flash + parts.iter().map(|name| value(&fit, name).value).sum::<f64>();
        let known = of_flash + parts.iter().map(|name| known_of(name)).sum::<f64>();
        assert!((found / known - 1.0).abs() < 0.10, "a {what} alone: {known}, but {found}");
    }
    outside(&fit, known)
}

#[test]
#[ignore = "a minute: make test-long"]
fn a_known_drive_is_found_again_from_noisy_results() {
    assert_recovers_from_noise(FAST, 1, 0, short);
}

/// Twenty measurements with errors of 3 % of each of two drives: of their intervals of 95 %, 90 % must have the truth. Takes
/// minutes; `make test-long` runs it.
#[test]
#[ignore = "minutes: make test-long"]
fn intervals_hold_the_truth_of_forty_measurements() {
    let mut missed = Vec::new();
    let mut of_each = 0;
    for drive in [FAST, MIXED] {
        let measured = measure(&base(drive.0), short);
        for seed in 1..21 {
            let found = fit(&base(&[]), with_noise(measured.clone(), 0.03, seed), &options(0)).unwrap();
            missed.extend(outside(&found, drive.1).into_iter().map(|found| (seed, found)));
            of_each += drive.1.len();
        }
    }
    eprintln!("{} of {of_each} intervals miss", missed.len());
    assert!(missed.len() * 10 <= of_each, "{}: {missed:#?}", missed.len());
}

/// Takes minutes; `make test-long` runs it.
#[test]
#[ignore = "minutes: make test-long"]
fn three_known_drives_are_found_again() {
    let mut missed = Vec::new();
    for (drive, seeds) in [(FAST, 1..4), (SLOW, 4..7), (MIXED, 7..10)] {
        missed.extend(outside(&assert_recovers(drive, 60, |_| true), drive.1));
        for seed in seeds {
            missed.extend(assert_recovers_from_noise(drive, seed, 60, |_| true));
        }
    }
    // Of 72 intervals of 95 % more than seven miss in one case of forty.
    assert!(missed.len() <= 7, "{}: {missed:#?}", missed.len());
}
