//! Configurations of the first version still give its results.
//!
//! Texts of random configurations in the keys of commit ce519ae ([`draw`]) were run by the program of that commit. What it reported is kept
//! as one hash a case in `results-ce519ae.txt`, with the paths of all fields that its reports have in `fields-ce519ae.txt`; fields that were
//! added later are not compared. `scripts/compatibility` makes both files anew and shows how a case differs.

mod draw;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

use flashraid::{config, run};
use serde_json::Value;
use sha2::{Digest, Sha256};

const RESULTS: &str = "results-ce519ae.txt";
const FIELDS: &str = "fields-ce519ae.txt";
/// Cases that give another result, with the reason.
const KNOWN: &str = "known-differences.txt";
const CASES: usize = 2000;

/// Fields that say where, when or in which words something was run.
const LEFT_OUT: [&str; 7] = ["wall_s", "perf", "version", "config", "config_hash", "warnings", "workload_note"];
/// Fields that are not compared wherever they stand: the victims of a collection, which nobody needs any more, and the points of the
/// curves that are drawn, which have become more; the percentiles of the same histogram are compared.
const REMOVED: [&str; 2] = ["victims", "cdf"];
/// Collections of a timeline: once in order of begin, now of end.
const UNORDERED: &str = "timeline.gc";
/// What stands instead of a hash where the program refused the configuration.
const REFUSED: &str = "refused";

#[test]
fn configurations_of_the_first_version_give_its_results() {
    let (fields, results) = (read(FIELDS), read(RESULTS));
    let (fields, expected) = (fields.lines().collect(), results.lines().collect::<Vec<_>>());
    assert_eq!(expected.len(), CASES);
    let known = read(KNOWN);
    let known = known.lines().filter(|line| !line.starts_with('#')).map(|line| line.parse().expect("a case")).collect::<BTreeSet<usize>>();
    let differing = of_all_cases(|case| {
        let (_, expected) = expected[case].split_once(' ').expect("a number and a hash");
        if expected == REFUSED {
            // It may be allowed by now, but must not panic.
            let _ = todays_report(case);
            return None;
        }
        match todays_report(case) {
            Ok(report) if hash(&report, &fields) == expected => None,
            Ok(_) if known.contains(&case) => None,
            Ok(_) => Some(format!("{case}: another result\n")),
            Err(error) => Some(format!("{case}: {error}\n")),
        }
    });
    let differing: Vec<String> = differing.into_iter().flatten().collect();
    assert!(differing.is_empty(), "{} cases differ; scripts/compatibility OLD CASE shows how:\n{}", differing.len(), differing.concat());
}

#[test]
fn most_cases_were_run() {
    let refused = read(RESULTS).lines().filter(|line| line.ends_with(REFUSED)).count();
    assert!(refused < CASES / 10, "{refused} of {CASES} were refused");
}

/// Runs all cases, or the one that `FLASHRAID_CASE` names, by the program `FLASHRAID_OLD`, and writes down its results, or how that case
/// differs from today's.
#[test]
#[ignore = "needs a former program: scripts/compatibility"]
fn write_what_a_former_program_reports() {
    let program = PathBuf::from(env::var_os("FLASHRAID_OLD").expect("FLASHRAID_OLD is the program"));
    let folder = tempfile::tempdir().unwrap();
    if let Ok(case) = env::var("FLASHRAID_CASE") {
        return show(case.parse().expect("the number of a case"), &program, folder.path());
    }
    let reports = of_all_cases(|case| former_report(case, &program, folder.path()));
    let mut fields = BTreeSet::new();
    for report in reports.iter().flatten() {
        collect_fields(report, "", &mut fields);
    }
    let lines: String = fields.iter().map(|field| format!("{field}\n")).collect();
    fs::write(kept(FIELDS), lines).unwrap();
    let fields = fields.iter().map(String::as_str).collect();
    let mut lines = String::new();
    for (case, report) in reports.iter().enumerate() {
        let result = report.as_ref().map_or(REFUSED.to_string(), |report| hash(report, &fields));
        writeln!(lines, "{case:04} {result}").unwrap();
    }
    fs::write(kept(RESULTS), lines).unwrap();
}

fn kept(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/compatibility").join(name)
}

fn read(name: &str) -> String {
    fs::read_to_string(kept(name)).unwrap()
}

fn show(case: usize, program: &Path, folder: &Path) {
    eprintln!("{}", draw::configuration(case as u64));
    let Some(former) = former_report(case, program, folder) else { return eprintln!("refused by the former program") };
    let mut fields = BTreeSet::new();
    collect_fields(&former, "", &mut fields);
    match todays_report(case) {
        Ok(today) => differences(&former, &today, ""),
        Err(error) => eprintln!("refused today: {error}"),
    }
}

fn differences(former: &Value, today: &Value, path: &str) {
    match (former, today) {
        (Value::Object(of_former), Value::Object(of_today)) => {
            for (key, value) in of_former.iter().filter(|(key, _)| is_compared(path, key)) {
                differences(value, of_today.get(key).unwrap_or(&Value::Null), &format!("{path}.{key}"));
            }
        }
        (Value::Array(of_former), Value::Array(of_today)) if of_former.len() == of_today.len() => {
            for (at, (former, today)) in of_former.iter().zip(of_today).enumerate() {
                differences(former, today, &format!("{path}[{at}]"));
            }
        }
        _ if former != today => eprintln!("{path}: {former} then, {today} today"),
        _ => {}
    }
}

fn of_all_cases<T: Send>(f: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let mut results: Vec<(usize, T)> = thread::scope(|scope| {
        let work = || {
            let mut done = Vec::new();
            loop {
                let case = next.fetch_add(1, Ordering::Relaxed);
                if case >= CASES {
                    return done;
                }
                done.push((case, f(case)));
            }
        };
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    results.sort_unstable_by_key(|(case, _)| *case);
    results.into_iter().map(|(_, result)| result).collect()
}

/// What the program reports today, of the configuration in the names of today.
fn todays_report(case: usize) -> Result<Value, String> {
    let text = draw::configuration(case as u64);
    let migrated = config::migrate("old.toml", &text).map_err(|problems| problems.to_string())?;
    let scenario =
        config::from_str("new.toml", &migrated.text, &former_readings(&migrated.text), None).map_err(|problems| problems.to_string())?;
    let report = run::run(&scenario, &mut ()).map_err(|error| error.to_string())?;
    Ok(serde_json::to_value(&report).unwrap())
}

/// What presets said that say something else today, where the configuration leaves it to them.
const FORMER_PRESETS: [(&str, &[(&str, &str)]); 3] = [
    ("lawc2017", &[("ssd.gc.procedure", "as-set"), ("ssd.gc.pool", "plane")]),
    (
        "mlc-sata2",
        &[("ssd.endurance", "3000"), ("ssd.timing.page_read", "95us"), ("ssd.timing.page_program", "112us"), ("ssd.gc.stop", "start+1")],
    ),
    ("slc-sata2", &[("ssd.timing.page_read", "85us"), ("ssd.timing.page_program", "70us"), ("ssd.gc.stop", "start+1")]),
];

/// The former readings of the drive that the configuration builds on.
fn former_readings(text: &str) -> Vec<(String, String)> {
    let written = toml::Value::Table(text.parse().expect("a migrated configuration is TOML"));
    let at = |key: &str| key.split('.').try_fold(&written, |value, name| value.get(name));
    // Members asked when they had begun to collect, whatever the delay.
    let notify = at("coordination.delay").map(|_| ("coordination.notify".to_owned(), "at-start".to_owned()));
    let preset = at("ssd.preset").and_then(toml::Value::as_str);
    let former = FORMER_PRESETS.iter().filter(|(name, _)| Some(*name) == preset).flat_map(|(_, readings)| *readings);
    let former = former.filter(|(key, _)| at(key).is_none()).map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    former.chain(notify).collect()
}

/// What a former program reports, unless it refuses the configuration.
fn former_report(case: usize, program: &Path, folder: &Path) -> Option<Value> {
    let file = folder.join(format!("{case}.toml"));
    fs::write(&file, draw::configuration(case as u64)).unwrap();
    let output = Command::new(program).args(["run", "--json"]).arg(&file).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => Some(serde_json::from_slice(&output.stdout).unwrap()),
        Some(2) if env::var_os("FLASHRAID_CASE").is_none() => None,
        Some(2) => {
            eprintln!("{said}");
            None
        }
        _ => panic!("case {case}: {said}"),
    }
}

/// The first 64 bits of a SHA-256 of the fields that are compared, in order of their names.
fn hash(report: &Value, fields: &BTreeSet<&str>) -> String {
    let text = compared(report, "", fields).to_string();
    Sha256::digest(text.as_bytes())[..8].iter().fold(String::new(), |hash, byte| hash + &format!("{byte:02x}"))
}

fn is_compared(path: &str, key: &str) -> bool {
    !(REMOVED.contains(&key) || path.is_empty() && LEFT_OUT.contains(&key))
}

fn compared(value: &Value, path: &str, fields: &BTreeSet<&str>) -> Value {
    match value {
        Value::Object(table) => {
            let mut kept: Vec<(&String, Value)> = Vec::new();
            for (key, value) in table.iter().filter(|(key, _)| is_compared(path, key)) {
                let path = below(path, key);
                if fields.contains(path.as_str()) {
                    kept.push((key, compared(value, &path, fields)));
                }
            }
            kept.sort_unstable_by_key(|(key, _)| *key);
            Value::Object(kept.into_iter().map(|(key, value)| (key.clone(), value)).collect())
        }
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(|item| compared(item, path, fields)).collect();
            if path == UNORDERED {
                items.sort_by_cached_key(Value::to_string);
            }
            Value::Array(items)
        }
        _ => value.clone(),
    }
}

fn collect_fields(value: &Value, path: &str, fields: &mut BTreeSet<String>) {
    match value {
        Value::Object(table) => {
            for (key, value) in table.iter().filter(|(key, _)| is_compared(path, key)) {
                let path = below(path, key);
                collect_fields(value, &path, fields);
                fields.insert(path);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_fields(item, path, fields)),
        _ => {}
    }
}

fn below(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_string() } else { format!("{path}.{key}") }
}
