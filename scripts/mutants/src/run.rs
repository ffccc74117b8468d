//! Runs the tests for each mutant and writes down what they said.

use crate::change::{LIST, MODEL};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Processor time in seconds for each [`CASES`] random cases after which a run of the tests hangs: some five times what it takes without a
/// mutant. The clock says nothing on a machine that is busy with other things.
const PATIENCE_S: u32 = 15;
/// Usual number of random cases of each kind.
pub const CASES: u32 = 20;
/// The signal that ends a program which has used up its processor time.
const SIGXCPU: i32 = 24;

/// One of the two test programs, and the tests of it that are run.
struct Tests {
    name: &'static str,
    program: PathBuf,
    filters: &'static [&'static str],
    /// Random cases of each kind that the model and the slow reference are compared on.
    cases: u32,
    /// Places where it panics without a mutant, too: tests that want a panic.
    wanted: BTreeSet<String>,
}

/// End of a run of tests.
enum Ended {
    Passed,
    Hangs,
    /// Place and message of the first panic that the tests do not want.
    Failed {
        place: String,
        said: String,
    },
}

/// The test programs of the model as cargo names them.
fn build(copy: &Path) -> Result<Vec<PathBuf>, String> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(copy).args(["test", "-p", "flashraid-model", "--lib", "--test", "it", "--no-run", "--locked"]);
    let output = cargo.stdout(Stdio::inherit()).stderr(Stdio::piped()).output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Err(said);
    }
    // `Executable unittests src/lib.rs (target/debug/deps/flashraid_model-…)`
    let programs: Vec<PathBuf> = said
        .lines()
        .filter(|line| line.trim_start().starts_with("Executable"))
        .filter_map(|line| Some(copy.join(line.rsplit_once('(')?.1.trim_end_matches(')'))))
        .collect();
    if programs.len() == 2 { Ok(programs) } else { Err(format!("cargo names no two test programs:\n{said}")) }
}

impl Tests {
    /// Runs them with a mutant, or without one, until they panic where they do not want to.
    fn run(&self, copy: &Path, mutant: Option<&str>) -> Result<Ended, String> {
        let mut command = Command::new("sh");
        let patience = if mutant.is_some() { format!("ulimit -S -t {};", PATIENCE_S * self.cases.div_ceil(CASES)) } else { String::new() };
        command.args(["-c", &format!("{patience} exec \"$0\" \"$@\"")]).arg(&self.program);
        command.current_dir(copy.join(MODEL)).args(self.filters).args(["--test-threads", "1", "--nocapture"]);
        command.env("FLASHRAID_AGREEMENT_CASES", self.cases.to_string()).env("RUST_BACKTRACE", "0");
        if let Some(mutant) = mutant {
            command.env("FLASHRAID_MUTANT", mutant);
        }
        let log = self.log();
        let file = std::fs::File::create(&log).map_err(|error| error.to_string())?;
        let both = file.try_clone().map_err(|error| error.to_string())?;
        let mut child = command.stdout(file).stderr(both).spawn().map_err(|error| error.to_string())?;
        loop {
            let status = child.try_wait().map_err(|error| error.to_string())?;
            let panic = panics(&log)?.into_iter().find(|(place, _)| !self.wanted.contains(place));
            let ended = match (status, panic) {
                (_, Some((place, said))) if mutant.is_some() => Ended::Failed { place, said },
                (Some(status), _) if status.success() => return Ok(Ended::Passed),
                (Some(status), _) if status.signal() == Some(SIGXCPU) => return Ok(Ended::Hangs),
                (Some(status), _) => return Ok(Ended::Failed { place: "nowhere".to_owned(), said: status.to_string() }),
                (None, _) => {
                    std::thread::sleep(Duration::from_millis(100));
                    continue;
                }
            };
            if status.is_none() {
                child.kill().and_then(|()| child.wait()).map_err(|error| error.to_string())?;
            }
            return Ok(ended);
        }
    }

    fn log(&self) -> PathBuf {
        std::env::temp_dir().join(format!("flashraid-mutants-{}-{}", std::process::id(), self.name))
    }
}

/// The panics that a log tells of so far: where, and the line behind.
fn panics(log: &Path) -> Result<Vec<(String, String)>, String> {
    let said = std::fs::read(log).map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&said);
    let lines: Vec<&str> = said.lines().collect();
    let panic = |(at, line): (usize, &&str)| {
        let place = line.split_once(" panicked at ")?.1.trim_end_matches(':').to_owned();
        // What it says may still be on its way.
        Some((place, (*lines.get(at + 1)?).to_owned()))
    };
    Ok(lines.iter().enumerate().filter_map(panic).collect())
}

/// Returns true if a place is in the model itself and not in a test.
fn is_of_the_model(copy: &Path, place: &str) -> bool {
    let mut parts = place.split(':');
    let (Some(file), Some(line)) = (parts.next(), parts.next().and_then(|line| line.parse::<usize>().ok())) else { return false };
    if file.contains("/tests") || file.ends_with("tests.rs") || file.ends_with("tiny.rs") {
        return false;
    }
    if !file.contains("flashraid-model/src") && !file.starts_with("src/") {
        // A library says that what it was given can't be.
        return file.contains("library/");
    }
    let path = [copy.join(file), copy.join(MODEL).join(file)].into_iter().find(|path| path.is_file());
    let Some(text) = path.and_then(|path| std::fs::read_to_string(path).ok()) else { return false };
    !text.lines().take(line).any(|line| line.trim_start().starts_with("mod tests"))
}

/// Runs the tests for each mutant that `record` lacks, or that has lived through fewer cases.
pub fn run(copy: &Path, record: &Path, cases: u32) -> Result<(), String> {
    let programs = build(copy)?;
    let is_unit = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("flashraid_model"));
    let program = |unit: bool| programs.iter().find(|path| is_unit(path) == unit).cloned().ok_or("a test program is missing");
    let mut all = [
        Tests { name: "unit", program: program(true)?, filters: &[], cases, wanted: BTreeSet::new() },
        Tests { name: "agreement", program: program(false)?, filters: &["agreement"], cases, wanted: BTreeSet::new() },
    ];
    for tests in &mut all {
        let begun = Instant::now();
        if !matches!(tests.run(copy, None)?, Ended::Passed) {
            return Err(format!("the {} tests fail without any mutant", tests.name));
        }
        println!("{} tests: {:.1} s", tests.name, begun.elapsed().as_secs_f64());
        tests.wanted = panics(&tests.log())?.into_iter().map(|(place, _)| place).collect();
    }
    let list = std::fs::read_to_string(copy.join(LIST)).map_err(|error| format!("{LIST}: {error}"))?;
    let known = std::fs::read_to_string(record).unwrap_or_default();
    let is_known = |mutant: &str| {
        known.lines().map(|line| line.split('\t').collect::<Vec<_>>()).any(|words| {
            let lived_through = words.get(2).filter(|_| words.get(1) == Some(&"lives")).and_then(|cases| cases.parse::<u32>().ok());
            words[0] == mutant && lived_through.is_none_or(|before| before >= cases)
        })
    };
    let mut out = std::fs::File::options().create(true).append(true).open(record).map_err(|error| error.to_string())?;
    for line in list.lines() {
        let (mutant, rest) = line.split_once('\t').ok_or("the list of mutants is damaged")?;
        if is_known(mutant) {
            continue;
        }
        let mut verdict = format!("lives\t{cases}\t");
        for tests in &all {
            verdict = match tests.run(copy, Some(mutant))? {
                Ended::Passed => continue,
                Ended::Hangs => format!("hangs\t{}\t", tests.name),
                Ended::Failed { place, said } if is_of_the_model(copy, &place) => format!("{}\t{place}\t{said}", kind_of(&said)),
                Ended::Failed { place, said } => format!("{}\t{place}\t{said}", tests.name),
            };
            break;
        }
        writeln!(out, "{mutant}\t{verdict}\t{rest}").and_then(|()| out.flush()).map_err(|error| error.to_string())?;
        println!("{mutant}\t{}", verdict.split('\t').next().unwrap_or(""));
    }
    sum(record)
}

/// By what in the model a mutant dies.
fn kind_of(said: &str) -> &'static str {
    if said.contains("overflow") || said.contains("index out of bounds") || said.contains("range end") || said.contains("divide by zero") {
        "bounds"
    } else {
        "assertion"
    }
}

/// Counts what a record says.
pub fn sum(record: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(record).map_err(|error| format!("{}: {error}", record.display()))?;
    // The last word on a mutant counts.
    let verdict = |line| -> Option<(&str, &str)> {
        str::split_once(line, '\t').map(|(mutant, rest)| (mutant, rest.split('\t').next().unwrap_or("")))
    };
    let last: BTreeMap<&str, &str> = text.lines().filter_map(verdict).collect();
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for verdict in last.into_values() {
        *counts.entry(verdict).or_default() += 1;
    }
    let mut said = String::new();
    for (kind, count) in counts {
        writeln!(said, "{count:>4} {kind}").map_err(|error| error.to_string())?;
    }
    print!("{said}");
    Ok(())
}
