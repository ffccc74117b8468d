//! `flashraid probe`: measures a drive by fio.

use std::path::{Path, PathBuf};

use flashraid_fit::Base;
use flashraid_fit::sets::Set;
use flashraid_fit::simulated::{SimulatedOptions, results};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::{DEFAULT_OUT, ProbeArgs};
use crate::failure::{Failure, Outcome};
use crate::out_folder::{OutFolder, all_or_nothing};
use crate::output::json;
use crate::{files, interrupt};

#[cfg(unix)]
use flashraid_fit::drive_log::DriveLog;

/// Runs `flashraid probe` with its arguments.
pub fn run(arguments: &ProbeArgs) -> Outcome {
    match (&arguments.simulate, &arguments.target) {
        (Some(base), _) => simulate(arguments, base),
        (None, Some(target)) => probe(arguments, target),
        (None, None) => Err(Failure::Input("name a file or device, or --simulate".to_owned())),
    }
}

/// The set of jobs that the options name.
fn set(arguments: &ProbeArgs) -> Set {
    if arguments.gentle { Set::Gentle } else { arguments.set }
}

fn folder(arguments: &ProbeArgs) -> PathBuf {
    arguments.out.clone().unwrap_or_else(|| Path::new(DEFAULT_OUT).join("probe"))
}

/// Creates a progress bar over so many steps, which only a terminal shows.
fn bar(steps: u64, quiet: bool) -> ProgressBar {
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(4) };
    let bar = ProgressBar::with_draw_target(Some(steps), target);
    bar.set_style(ProgressStyle::with_template("{spinner} {wide_bar} {msg}").expect("the template is constant"));
    bar
}

fn simulate(arguments: &ProbeArgs, base: &str) -> Outcome {
    let set = set(arguments);
    if set == Set::Ggc {
        return Err(Failure::Input(format!("--simulate: the set {set} is for real drives; the set fit and --gentle can be simulated")));
    }
    let base = Base::read(base)?;
    let out = OutFolder::claim(&folder(arguments), None)?;
    interrupt::stop_at_next_step()?;
    let bar = bar(1, arguments.quiet);
    let begins = |index: usize, count: usize, name: &str| {
        bar.set_length(count as u64);
        bar.set_position(index as u64);
        bar.set_message(format!("{}/{count} {name}", index + 1));
    };
    let options = SimulatedOptions { set, scale: arguments.scale, times: 1, seed: 1, stopped: &interrupt::requested, begins: &begins };
    let documents = results(&base, options);
    bar.finish_and_clear();
    let documents = documents?;
    all_or_nothing(out.path(), || {
        documents
            .iter()
            .try_for_each(|(name, document)| Ok(files::write(&out.path().join(format!("{name}.json")), json::text(document).as_bytes())?))
    })?;
    files::print(&format!("written: {} jobs to {}\n", documents.len(), out.path().display()))
}

#[cfg(not(unix))]
fn probe(_: &ProbeArgs, _: &Path) -> Outcome {
    Err(Failure::Input("drives can be measured on Linux only; --simulate works everywhere".to_owned()))
}

#[cfg(unix)]
fn probe(arguments: &ProbeArgs, path: &Path) -> Outcome {
    use flashraid_fit::FitError;
    use flashraid_fit::drive_log;
    use flashraid_fit::runner::{About, Runner, version};
    use flashraid_fit::sets::{self, ProbeJob, Setup};
    use flashraid_fit::target::look;

    let target = look(path)?;
    let set = set(arguments);
    let is_gentle = set == Set::Gentle;
    let setup = Setup {
        target_bytes: target.bytes,
        seconds: arguments.seconds.unwrap_or_else(|| set.seconds()),
        overwrites: arguments.overwrites,
        engine: arguments.engine.clone(),
        is_direct: !arguments.buffered,
        is_mounted: !target.in_use.is_empty(),
        reads_only: is_gentle,
    };
    let jobs = sets::jobs(set, &setup);
    if arguments.dry_run {
        let text: Vec<String> = jobs
            .iter()
            .map(|job| {
                format!("; {}.fio: fio --output-format=json+ --output={0}.json {0}.fio\n{}", job.name, job.file(&setup, &target.name))
            })
            .collect();
        crate::complain(&duration(&jobs));
        return files::print(&text.join("\n"));
    }
    let out = folder(arguments);
    let about = About::new(set.name(), &target);
    let is_own = about.is_of(&out)?;
    if let Some(objection) = target.objection(is_own).filter(|_| !(is_gentle || arguments.destroy_data && arguments.really)) {
        return Err(Failure::Input(format!(
            "{}: {objection}; all that it holds would be lost. If that is meant, say so twice: --destroy-data --really",
            path.display()
        )));
    }
    let version = version()?;
    let runner = Runner { folder: &out, setup: &setup, target: &target, stopped: &interrupt::requested, goes_on: &|_| {} };
    let mut left: Vec<&ProbeJob> = Vec::new();
    for job in &jobs {
        if !runner.is_done(job)? {
            left.push(job);
        }
    }
    let done = jobs.len() - left.len();
    if done > 0 {
        crate::complain(&format!("going on in {}: {done} of {} jobs are done", out.display(), jobs.len()));
    }
    if !left.is_empty() {
        let left: Vec<ProbeJob> = left.iter().map(|job| (*job).clone()).collect();
        crate::complain(&format!("{version} on {}, {}", path.display(), duration(&left)));
    }
    if is_gentle && target.has_holes {
        crate::complain(&format!(
            "{} has holes, which the file system answers without the drive: figures would be too good. Take a file that was written whole",
            path.display()
        ));
    }
    interrupt::stop_at_next_step()?;
    runner.begin(&about)?;
    let drive = if is_gentle { drive_log::drive_of(&target.path) } else { None };
    let log = |name: &str| -> Outcome<Option<DriveLog>> {
        let log = drive.as_deref().and_then(drive_log::read);
        if let Some(log) = &log {
            files::write(&out.join(format!("drive-{name}.log")), log.text.as_bytes())?;
        }
        Ok(log)
    };
    let before_log = log("before")?;
    let bar = bar(left.iter().map(|job| estimate(job)).sum(), arguments.quiet);
    let mut before = 0;
    for (index, job) in left.iter().enumerate() {
        bar.set_message(format!("{}/{} {}", done + index + 1, jobs.len(), job.name));
        let goes_on = |elapsed: std::time::Duration| bar.set_position(before + elapsed.as_secs().min(estimate(job)));
        let ran = if interrupt::requested() { Err(FitError::Interrupted) } else { Runner { goes_on: &goes_on, ..runner }.run(job) };
        match ran {
            Ok(()) => before += estimate(job),
            Err(error) => {
                bar.finish_and_clear();
                return Err(match error {
                    FitError::Interrupted => Failure::Interrupted(format!(
                        "stopped: {} of {} jobs are done and kept in {}; the same command continues",
                        done + index,
                        jobs.len(),
                        out.display()
                    )),
                    error => error.into(),
                });
            }
        }
    }
    bar.finish_and_clear();
    if is_gentle { finish_gentle(&out, &jobs, before_log.zip(log("after")?)) } else { finish(arguments, &out, &jobs) }
}

/// Says how reads fared, and what the drive's own log says.
#[cfg(unix)]
fn finish_gentle(out: &Path, jobs: &[flashraid_fit::sets::ProbeJob], logs: Option<(DriveLog, DriveLog)>) -> Outcome {
    use flashraid_fit::percentiles;
    use flashraid_report::number;
    let times = percentiles::of_folder(out, jobs)?;
    files::write(&out.join("percentiles.csv"), percentiles::csv(&times).as_bytes())?;
    let mut text = flashraid_report::text::render(&[percentiles::sheet(&times)]);
    match logs {
        None => text += "\nThe drive's own log can't be read: nvme-cli or smartctl, and the right to use it, are needed.\n",
        Some((before, after)) => {
            let bytes = |bytes: Option<u64>| bytes.map_or_else(|| "unknown".to_owned(), |bytes| number::bytes(bytes as f64));
            let written = after.host_written_bytes.zip(before.host_written_bytes).map(|(after, before)| after.saturating_sub(before));
            let degrees = |log: &DriveLog| log.temperature_c.map_or_else(|| "unknown".to_owned(), |degrees| format!("{degrees} °C"));
            text += &format!(
                "\nDrive's log: {} written by hosts in its life, {} to flash; {} by others during these jobs; temperature {} before, {} after.\n",
                bytes(after.host_written_bytes),
                bytes(after.media_written_bytes),
                bytes(written),
                degrees(&before),
                degrees(&after)
            );
        }
    }
    let folder = out.display();
    text += &format!(
        "\nNothing was written. Reads leave open how fast flash is programmed, what writes cost the controller, and collection.\n\
         written: {folder}/percentiles.csv\nnext: flashraid fit {folder} --parameters link,latency,read --out device.toml\n"
    );
    files::print(&text)
}

/// Reports the end of all jobs: the next command, or how much the measured bandwidth varies.
#[cfg(unix)]
fn finish(arguments: &ProbeArgs, out: &Path, jobs: &[flashraid_fit::sets::ProbeJob]) -> Outcome {
    use flashraid_fit::{page, variability};
    let varied = variability::of_folder(out, arguments.set, jobs)?;
    if varied.is_empty() {
        let next = format!("flashraid fit {} --out device.toml", out.display());
        return files::print(&format!("{} jobs are done: {}\nnext: {next}\n", jobs.len(), out.display()));
    }
    let html = page::variability_html(&varied, &format!("flashraid probe --set {}", arguments.set));
    all_or_nothing(out, || {
        files::write(&out.join("report.html"), html.as_bytes())?;
        Ok(files::write(&out.join("variability.json"), json::text(&serde_json::json!({ "variability": varied })).as_bytes())?)
    })?;
    let tables = flashraid_report::text::render(&[page::variability_sheet(&varied)]);
    files::print(&format!("{tables}\nwritten: {0}/report.html, {0}/variability.json\n", out.display()))
}

/// Assumed rate of filling a drive, for estimates. Slow drives reach it.
#[cfg(unix)]
const FILL_BYTES_PER_S: u64 = 1_000_000_000;

/// Estimates the seconds that a job takes; for jobs that prepare the drive this is a guess.
#[cfg(unix)]
fn estimate(job: &flashraid_fit::sets::ProbeJob) -> u64 {
    use flashraid_fit::sets::Length;
    match job.length {
        Length::Seconds(seconds) => seconds,
        Length::Bytes(bytes) => (bytes / FILL_BYTES_PER_S).max(1),
    }
}

/// Formats the estimated time of jobs as a sentence.
#[cfg(unix)]
fn duration(jobs: &[flashraid_fit::sets::ProbeJob]) -> String {
    use flashraid_fit::sets::Length;
    let bytes: u64 = jobs.iter().map(|job| if let Length::Bytes(bytes) = job.length { bytes } else { 0 }).sum();
    let measured: u64 = jobs.iter().map(|job| if let Length::Seconds(seconds) = job.length { seconds } else { 0 }).sum();
    let all: u64 = jobs.iter().map(estimate).sum();
    let minutes = |seconds: u64| if seconds < 120 { format!("{seconds} s") } else { format!("{} min", seconds.div_ceil(60)) };
    let written = match bytes {
        0 => String::new(),
        bytes => format!(" and {} to write first, at 1 GB/s", flashraid_report::number::bytes(bytes as f64)),
    };
    format!("{} jobs, about {}: {} of measuring{written}", jobs.len(), minutes(all), minutes(measured))
}
