//! Runs the program in a folder of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::opened::expect_all_open;

/// A small array that fills its spare blocks within a few hundred requests.
pub const SMALL: &str = r#"
seed = 7

[array]
level = "raid0"
members = 2

[ssd]
preset = "ggc2014"

[ssd.geometry]
dies = 2
planes = 1
blocks = 64
pages = 16

[workload]
kind = "synthetic"
requests = 2000
read_fraction = 0.25
size = "8KiB"
arrivals = { process = "poisson", mean_gap = "2ms" }
"#;

/// Longest time that a program may run.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// True in `make test-long`, for more of the same.
pub fn is_long() -> bool {
    std::env::var_os("FLASHRAID_LONG").is_some()
}

/// A folder in which the program runs.
pub struct Place {
    folder: TempDir,
}

impl Drop for Place {
    /// Every page that a test writes passes through here.
    fn drop(&mut self) {
        if !thread::panicking() {
            expect_all_open(self.folder.path());
        }
    }
}

/// Everything that the program left behind.
pub struct Ended {
    /// Exit status of the program.
    pub status: i32,
    /// Text on standard output.
    pub stdout: String,
    /// Text on standard error.
    pub stderr: String,
}

impl Place {
    /// An empty folder with `small.toml` in it.
    pub fn new() -> Place {
        let place = Place { folder: TempDir::new().unwrap() };
        place.write("small.toml", SMALL);
        place
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file into the folder.
    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        fs::write(self.path(name), contents).unwrap();
    }

    /// Reads a text file of the folder.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Reads a JSON file of the folder.
    pub fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&fs::read(self.path(name)).unwrap()).unwrap()
    }

    /// The command with these arguments, not yet started.
    pub fn command(&self, arguments: &[&str]) -> Command {
        // Another program, to see how it did.
        let program = std::env::var_os("FLASHRAID_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_flashraid").into());
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        // Never the user's kept warm states.
        command.env("FLASHRAID_CACHE", "cache");
        for name in ["NO_COLOR", "CLICOLOR_FORCE", "RUST_BACKTRACE"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs the program with these arguments to its end.
    pub fn run(&self, arguments: &[&str]) -> Ended {
        let child = self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let pid = child.id().to_string();
        // A program that hangs or eats all memory is stopped, rather than the machine that tests it.
        let (finished, watch) = mpsc::channel::<()>();
        thread::spawn(move || {
            if watch.recv_timeout(TIME_LIMIT) == Err(RecvTimeoutError::Timeout) {
                Command::new("kill").args(["-KILL", &pid]).status().unwrap();
            }
        });
        let output = child.wait_with_output().unwrap();
        drop(finished);
        ended(output)
    }

    /// Runs it, expects success, and reads its output as one JSON document.
    pub fn run_json(&self, arguments: &[&str]) -> Value {
        let ended = self.run(arguments);
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        serde_json::from_str(&ended.stdout).unwrap()
    }

    /// Every file below the folder but the configuration, with `/` between the parts of a path, sorted.
    pub fn files(&self) -> Vec<String> {
        let mut names = Vec::new();
        collect(self.folder.path(), self.folder.path(), &mut names);
        names.retain(|name| !name.ends_with(".toml"));
        names.sort();
        names
    }
}

/// Files that `run --out` writes.
pub const FILES_OF_A_RUN: [&str; 19] = [
    "bandwidth.svg",
    "charts.csv",
    "charts.parquet",
    "free-blocks.svg",
    "member-queue.svg",
    "member-response.svg",
    "member-utilisation.svg",
    "report.html",
    "report.json",
    "requests.parquet",
    "response-cdf.svg",
    "response-tail.svg",
    "series.csv",
    "series.parquet",
    "time-amplification.svg",
    "time-iops.svg",
    "time-outstanding.svg",
    "time-parts.svg",
    "time-response.svg",
];

/// Returns everything that a finished process left behind.
pub fn ended(output: Output) -> Ended {
    Ended {
        status: output.status.code().expect("the program was killed by a signal"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn collect(root: &Path, folder: &Path, names: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => collect(root, &path, names),
            false => names.push(path.strip_prefix(root).unwrap().display().to_string()),
        }
    }
}

/// The document without figures of the wall clock, which differ from run to run.
pub fn without_wall_clock(mut document: Value) -> Value {
    forget(&mut document);
    document
}

fn forget(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("wall_s");
            fields.remove("perf");
            fields.values_mut().for_each(forget);
        }
        Value::Array(items) => items.iter_mut().for_each(forget),
        _ => {}
    }
}
