//! Golden runs: small runs of everything that the model can do, compared with recorded results.
//!
//! The slow reference proves the rules. The golden runs guard what the reference does not see: reading configurations, reports, and
//! counters of members. For each run the file holds hashes over its completed requests (index, arrival, end) in sixteen parts. It also
//! holds what each member counted.
//!
//! After an intended change of results, run this test with `FLASHRAID_GOLDEN=write` and read the diff of `results.txt`. Name the change in
//! CHANGELOG.md under *Results*.

mod runs;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use flashraid::config::{PresetKind, Scenario, all_presets, workload_address_space};
use flashraid::driver::{Progress, RunWatcher, simulate};
use flashraid::warm_up::{SharedWarmUps, warmed_up_array};
use flashraid::{CompletedRequest, Simulation, Stop};
use flashraid_model::ssd::MemberCounters;
use flashraid_workload as workload;
use sha2::{Digest, Sha256};

/// Number of parts of a run that have their own hash. A difference then shows at which time of the run it begins.
const PARTS: usize = 16;

#[test]
fn results_are_those_recorded() {
    let folder = tempfile::tempdir().unwrap();
    runs::write_traces(folder.path());
    let found: Vec<(&str, String)> = in_parallel(&runs::RUNS, |run| (run.name, result(run, folder.path())));
    let mut text = String::from("# Written by FLASHRAID_GOLDEN=write; see mod.rs.\n");
    for (name, result) in &found {
        writeln!(text, "\n{name}\n{result}").unwrap();
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden/results.txt");
    match std::env::var("FLASHRAID_GOLDEN") {
        Ok(value) if value == "write" => fs::write(file, text).unwrap(),
        Ok(value) => panic!("FLASHRAID_GOLDEN is {value:?}; the only value is \"write\""),
        Err(_) => {
            // Git may check text files out with other line endings.
            let recorded = fs::read_to_string(file).unwrap().replace("\r\n", "\n");
            if let Some(difference) = first_difference(&recorded, &found) {
                panic!(
                    "{difference}\nif results were to change: FLASHRAID_GOLDEN=write, and name the change in CHANGELOG.md under Results"
                );
            }
        }
    }
}

#[test]
fn a_difference_is_named() {
    let found = [("one", "requests 3\nends aaaa bbbb\nerases 7 8".to_owned())];
    let compare = |recorded: &str| first_difference(recorded, &found);
    assert_eq!(compare("# head\n\none\nrequests 3\nends aaaa bbbb\nerases 7 8\n"), None);
    let other = compare("# head\n\none\nrequests 3\nends aaaa cccc\nerases 7 9\n").unwrap();
    assert!(other.contains("one: ends, part 2 of 2: recorded cccc, found bbbb"), "{other}");
    let other = compare("# head\n\none\nrequests 3\nends aaaa bbbb\nerases 6 8\n").unwrap();
    assert!(other.contains("one: erases, part 1 of 2: recorded 6, found 7"), "{other}");
    let other = compare("# head\n\ntwo\nrequests 3\n").unwrap();
    assert!(other.contains("recorded are the runs [\"two\"], found [\"one\"]"), "{other}");
}

#[test]
fn runs_have_names_of_their_own_and_every_device_has_one() {
    let mut names: Vec<_> = runs::RUNS.iter().map(|run| run.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(runs::RUNS.len(), names.len());
    for preset in all_presets().iter().filter(|preset| preset.kind == PresetKind::Device) {
        let device = preset.name.as_str();
        assert!(runs::RUNS.iter().any(|run| run.settings.contains(&("ssd.preset", device))), "no run of {device}");
    }
}

/// Describes the first line in which a run differs from the recorded results.
fn first_difference(recorded: &str, found: &[(&str, String)]) -> Option<String> {
    let recorded: Vec<(&str, &str)> =
        recorded.split("\n\n").skip(1).map(|run| run.trim_end().split_once('\n').expect("a name, and a result")).collect();
    let names = |runs: Vec<&str>| runs.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let (then, now) = (names(recorded.iter().map(|run| run.0).collect()), names(found.iter().map(|run| run.0).collect()));
    if then != now {
        return Some(format!("recorded are the runs {then:?}, found {now:?}"));
    }
    recorded.iter().zip(found).find_map(|((name, then), (_, now))| {
        let mut lines = then.lines().zip(now.lines());
        let (then, now) = lines.find(|(then, now)| then != now)?;
        let (then, now): (Vec<_>, Vec<_>) = (then.split(' ').collect(), now.split(' ').collect());
        let parts = then.len().max(now.len()) - 1;
        let part = (1..=parts).find(|&part| then.get(part) != now.get(part)).unwrap_or(0);
        let word = |words: &[&str]| (*words.get(part).unwrap_or(&"nothing")).to_owned();
        Some(format!("{name}: {}, part {part} of {parts}: recorded {}, found {}", then[0], word(&then), word(&now)))
    })
}

/// Returns the result of a run as lines: hashes of its requests, then the counts of each member.
fn result(run: &runs::Run, folder: &Path) -> String {
    let scenario = scenario(run, folder);
    let array = warmed_up_array(&scenario, &SharedWarmUps::default(), &mut ()).unwrap_or_else(|error| panic!("{}: {error}", run.name));
    let source =
        workload::open_stoppable_workload(&scenario.workload, scenario.seed, &workload_address_space(&scenario.array), &Stop::default())
            .unwrap_or_else(|error| panic!("{}: {error}", run.name));
    let mut seen = Seen::default();
    let outcome =
        simulate(array, source, scenario.run_limit, &scenario.metrics, &mut seen).unwrap_or_else(|error| panic!("{}: {error}", run.name));
    outcome.array.verify().unwrap_or_else(|error| panic!("{}: {error}", run.name));
    let Seen(mut requests) = seen;
    requests.sort_unstable();
    let hashes = requests.chunks(requests.len().div_ceil(PARTS).max(1)).map(|part| {
        let mut hash = Sha256::new();
        for numbers in part {
            numbers.iter().for_each(|number| hash.update(number.to_le_bytes()));
        }
        hash.finalize()[..4].iter().fold(String::new(), |hash, byte| hash + &format!("{byte:02x}"))
    });
    let mut text = format!("requests {}\nends {}", requests.len(), hashes.collect::<Vec<_>>().join(" "));
    let mut write_counts = |name: &str, of: fn(&MemberCounters) -> u64| {
        let counts = outcome.array.members().iter().map(|member| of(member.counters()).to_string());
        write!(text, "\n{name} {}", counts.collect::<Vec<_>>().join(" ")).unwrap();
    };
    write_counts("host_pages_read", |counters| counters.host_pages_read);
    write_counts("host_pages_written", |counters| counters.host_pages_written);
    write_counts("host_pages_trimmed", |counters| counters.host_pages_trimmed);
    write_counts("gc_pages_moved", |counters| counters.gc_pages_moved);
    write_counts("erases", |counters| counters.erases);
    text
}

/// Builds the simulation of a run; its traces are in `folder`.
fn scenario(run: &runs::Run, folder: &Path) -> Scenario {
    let simulation = Simulation::from_toml(run.base).unwrap_or_else(|error| panic!("{}: {error}", run.name));
    let set = |simulation: Simulation<'static>, (key, value): &(&str, &str)| {
        let path: PathBuf = folder.join(value);
        let value = if *key == "workload.path" { path.to_str().expect("a path of the test is UTF-8") } else { value };
        simulation.set(key, value)
    };
    let simulation = run.settings.iter().try_fold(simulation, set).unwrap_or_else(|error| panic!("{}: {error}", run.name));
    simulation.scenario().unwrap_or_else(|error| panic!("{}: {error}", run.name))
}

/// Keeps index, arrival, and end of each completed request.
#[derive(Default)]
struct Seen(Vec<[u64; 3]>);

impl RunWatcher for Seen {
    fn report_progress(&mut self, _: &Progress) -> bool {
        true
    }

    fn request_completed(&mut self, request: &CompletedRequest) {
        self.0.push([request.arrival_index, request.arrival_ns, request.done_ns]);
    }
}

/// Applies `f` to all items on all processors, and returns the results in the order of the items.
fn in_parallel<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    let work = || {
        while let Some((at, item)) = items.iter().enumerate().nth(next.fetch_add(1, Ordering::Relaxed)) {
            let result = f(item);
            results.lock().expect("no run panics with the lock").push((at, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let mut results = results.into_inner().expect("no run panics with the lock");
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}
