//! Lets fio run jobs one after the other, and keeps its output.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use flashraid::files;
use serde::{Deserialize, Serialize};

use crate::error::{FitError, Outcome, refused};
use crate::filename;
use crate::measured;
use crate::sets::{ProbeJob, Setup};
use crate::simulator::Stopped;
use crate::target::Target;

/// Interval at which the program looks whether fio has ended.
const LOOK: Duration = Duration::from_millis(50);
/// Time for fio to end by itself after the user stops it. From a terminal, fio gets the same Ctrl-C.
const GRACE: Duration = Duration::from_secs(2);
/// Name of the file that describes a folder of results.
const ABOUT: &str = "probe.toml";

/// Description of a folder of results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// Name of the set of jobs.
    pub set: String,
    /// Path of the file or device.
    pub target: String,
    /// Identity of the target, which distinguishes it from others.
    pub identity: String,
    /// Size of the target, in bytes.
    pub bytes: u64,
}

impl About {
    /// Returns the description of a set on a target.
    #[must_use]
    pub fn new(set: &str, target: &Target) -> Self {
        Self { set: set.to_owned(), target: target.path.display().to_string(), identity: target.identity.clone(), bytes: target.bytes }
    }

    /// Returns true if the folder holds a part of the same measurement.
    ///
    /// # Errors
    /// It holds another one's.
    pub fn is_of(&self, folder: &Path) -> Outcome<bool> {
        let path = folder.join(ABOUT);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return refused(format!("{} can't be read: {error}", path.display())),
        };
        let other: About = toml::from_str(&text)
            .map_err(|error| FitError::Input(format!("{} is damaged ({}); name another folder", path.display(), error.message())))?;
        if other != *self {
            return refused(format!(
                "{} holds a measurement of {} ({}, {} bytes, set {}), not of {} ({}, {} bytes, set {}); name another folder with --out",
                folder.display(),
                other.target,
                other.identity,
                other.bytes,
                other.set,
                self.target,
                self.identity,
                self.bytes,
                self.set,
            ));
        }
        Ok(true)
    }
}

/// Returns the version of fio that is installed.
///
/// # Errors
/// There is none, or it does not run.
pub fn version() -> Outcome<String> {
    match Command::new("fio").arg("--version").stdin(Stdio::null()).output() {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        Ok(output) => refused(format!("`fio --version` failed: {}", String::from_utf8_lossy(&output.stderr).trim())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => refused(
            "fio is not installed, or not in PATH: `apt-get install fio`, `dnf install fio` or your system's way; --dry-run shows the jobs without it",
        ),
        Err(error) => refused(format!("fio can't be started: {error}")),
    }
}

/// A measurement in progress.
#[derive(Clone, Copy)]
pub struct Runner<'a> {
    /// Folder for the files.
    pub folder: &'a Path,
    /// Settings for which the jobs are made.
    pub setup: &'a Setup,
    /// File or device that was examined, and that the jobs name.
    pub target: &'a Target,
    /// Called from time to time, to ask whether to stop.
    pub stopped: Stopped<'a>,
    /// Called several times a second, with the time since the job began.
    pub goes_on: &'a dyn Fn(Duration),
}

impl Runner<'_> {
    /// Begins a folder, or continues one with a part of the same measurement.
    ///
    /// # Errors
    /// It can't be written to.
    pub fn begin(&self, about: &About) -> Outcome {
        let failed = |error: &dyn std::fmt::Display| FitError::Failed(format!("{}: can't be written: {error}", self.folder.display()));
        fs::create_dir_all(self.folder).map_err(|error| failed(&error))?;
        let text = toml::to_string(about).map_err(|error| failed(&error))?;
        files::write_atomically(&self.folder.join(ABOUT), text.as_bytes()).map_err(|error| failed(&error))
    }

    /// Returns true if a job was finished with the same options.
    ///
    /// # Errors
    /// It was finished with others.
    pub fn is_done(&self, job: &ProbeJob) -> Outcome<bool> {
        if !self.path(job, "json").exists() {
            return Ok(false);
        }
        let file = self.path(job, "fio");
        if fs::read_to_string(&file).is_ok_and(|text| text == job.file(self.setup, &self.target.name)) {
            return Ok(true);
        }
        refused(format!(
            "{} belongs to a job with other options (--seconds, --overwrites, --engine, --buffered); give the same as then, or another folder with --out",
            file.display()
        ))
    }

    /// Runs a job to its end, after which its results are in the folder.
    ///
    /// # Errors
    /// fio failed or opened something else than the target, or the user stopped it. Then it left nothing.
    pub fn run(&self, job: &ProbeJob) -> Outcome {
        let (jobs, partial, errors) = (self.path(job, "fio"), self.path(job, "json.part"), self.path(job, "log"));
        let failed = |path: &Path, error: io::Error| FitError::Failed(format!("{}: {error}", path.display()));
        files::write_atomically(&jobs, job.file(self.setup, &self.target.name).as_bytes()).map_err(|error| failed(&jobs, error))?;
        self.target.expect_same()?;
        self.expect_same_name(job)?;
        // fio appends nothing: what an earlier attempt left would stay in logs of bandwidth.
        let log = File::create(&errors).map_err(|error| failed(&errors, error))?;
        let mut fio = Command::new("fio");
        // Names relative to its folder, so that logs go there and no place is part of a job.
        fio.current_dir(self.folder).args(["--output-format=json+", "--eta=never"]).arg(format!("--output={}.json.part", job.name));
        if self.setup.reads_only {
            // fio opens nothing for writing then, whatever a job says.
            fio.arg("--readonly");
        }
        fio.arg(format!("{}.fio", job.name));
        let started = fio.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn();
        let ended =
            started.map_err(|error| FitError::Failed(format!("fio can't be started: {error}"))).and_then(|mut child| self.wait(&mut child));
        let finished = ended.and_then(|status| self.finish(job, &partial, &errors, status));
        if finished.is_err() {
            let _ = fs::remove_file(&partial);
        }
        finished
    }

    /// Lets fio read the job file without running it, and returns an error if it would open another file.
    fn expect_same_name(&self, job: &ProbeJob) -> Outcome {
        let mut fio = Command::new("fio");
        fio.current_dir(self.folder).arg("--showcmd").arg(format!("{}.fio", job.name)).stdin(Stdio::null());
        let output = fio.output().map_err(|error| FitError::Failed(format!("fio can't be started: {error}")))?;
        let option = format!("--{}=", filename::KEY);
        let wanted = format!("{option}{} ", self.target.name.in_job_file());
        // If this version of fio prints no name, the results tell it.
        let others = String::from_utf8_lossy(&output.stdout).replace(&wanted, "");
        match others.split_once(&option) {
            None => Ok(()),
            Some((_, other)) => refused(format!(
                "{}: fio would open another file: {option}{}; rename the file",
                self.target.path.display(),
                other.lines().next().unwrap_or_default()
            )),
        }
    }

    fn wait(&self, child: &mut Child) -> Outcome<bool> {
        let begin = Instant::now();
        let mut stopped_at = None;
        loop {
            let status = child.try_wait().map_err(|error| FitError::Failed(format!("fio was lost: {error}")))?;
            if let Some(status) = status {
                return if stopped_at.is_some() || (self.stopped)() { Err(FitError::Interrupted) } else { Ok(status.success()) };
            }
            if (self.stopped)() {
                let since = stopped_at.get_or_insert_with(Instant::now);
                if since.elapsed() > GRACE {
                    // It has no processes but this one (`thread=1`).
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err(FitError::Interrupted);
                }
            }
            (self.goes_on)(begin.elapsed());
            thread::sleep(LOOK);
        }
    }

    fn finish(&self, job: &ProbeJob, partial: &Path, errors: &Path, succeeded: bool) -> Outcome {
        let said = fs::read_to_string(errors).unwrap_or_default();
        let text = fs::read_to_string(partial).unwrap_or_default();
        let wanted = self.target.name.in_job_file();
        let reason = match measured::parse(&text) {
            Ok(_) if !succeeded => Some("it ended without success".to_owned()),
            Ok(_) => match measured::names_of_files(&text).as_slice() {
                [] => Some("its results do not say which file it opened".to_owned()),
                names => names.iter().find(|name| **name != wanted).map(|other| format!("it opened {other} instead of {wanted}")),
            },
            Err(reason) => Some(format!("its results {reason}")),
        };
        if let Some(reason) = reason {
            let before: String = text.split('{').next().unwrap_or_default().trim().to_owned();
            let mut message = format!("fio failed in job {}: {reason}", job.name);
            for said in [said.trim(), before.as_str()].into_iter().filter(|text| !text.is_empty()) {
                message += &format!("\n{said}");
            }
            if self.setup.is_direct && message.to_lowercase().contains("direct") {
                message += "\nfile systems in memory may know no direct I/O: --buffered";
            }
            return Err(FitError::Failed(message));
        }
        self.target.expect_same()?;
        let _ = fs::remove_file(errors);
        let path = self.path(job, "json");
        fs::rename(partial, &path).map_err(|error| FitError::Failed(format!("{}: {error}", path.display())))
    }

    fn path(&self, job: &ProbeJob, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", job.name))
    }
}
