//! `flashraid compare --slurm` and `--parallel`: the same comparison in parts, for a cluster's scheduler or for GNU parallel.

use std::env;
use std::ffi::OsString;
use std::fmt::Write as _;
#[cfg(unix)]
use std::fs;
use std::path::{Path, PathBuf};

use flashraid::Stop;
use flashraid::config::Scenario;
use flashraid::duration::{self, WallClockEstimator};
use flashraid::memory;
use flashraid::study::{MachineResources, StudyPlan};
use flashraid_report::files::ReplacementFile;
use flashraid_report::number::count_with_noun;

use crate::args::CompareArgs;
use crate::failure::{Failure, Outcome};
use crate::{files, interrupt};

/// Parts at most, unless the user says how many.
const PARTS_MAX: usize = 64;
/// Options of `compare` that a part has values of its own for, and whether a value follows them.
const REPLACED: [(&str, bool); 8] = [
    ("--slurm", true),
    ("--parallel", false),
    ("--parts", true),
    ("--out", true),
    ("--jobs", true),
    ("--force", false),
    ("--quiet", false),
    ("-q", false),
];
/// Room for what an estimate of memory does not see, and for the page cache.
const MEMORY_FACTOR: f64 = 1.25;
/// Bytes that any process of ours is given.
const MEMORY_LEAST: f64 = 256e6;
/// Factor between the time that was measured here and the limit. Nodes differ, and a part may wait for another's warm-up.
const MEASURED_FACTOR: f64 = 2.0;
/// The same for an estimate, which may be off by a factor of two by itself.
const ESTIMATED_FACTOR: f64 = 4.0;
/// Seconds in any case, for the start of a node and slow disks.
const SECONDS_LEAST: f64 = 600.0;
/// Seconds where nobody knows how long a run takes.
const SECONDS_UNKNOWN: f64 = 86_400.0;

/// The parts of a comparison, as a scheduler has to know them.
struct Parts {
    count: usize,
    at_once: Option<usize>,
    /// Simulations at a time in each.
    jobs: usize,
    memory_bytes: f64,
    seconds: f64,
    /// The origin of the seconds, in words.
    measured: String,
    simulations: usize,
}

/// Writes the script for Slurm, or prints the line for GNU parallel.
pub fn run(arguments: &CompareArgs, plan: StudyPlan, out: &Path) -> Outcome {
    if arguments.scenario.file.as_os_str() == "-" {
        return Err(Failure::Input("standard input can be read only once, but each part reads the configuration; name a file".to_owned()));
    }
    interrupt::stop_at_next_step()?;
    let hash = plan.hash();
    let parts = Parts::of(arguments, plan, out)?;
    let command = Command::of_this_process(out, parts.jobs)?;
    match &arguments.slurm {
        Some(path) => write_slurm(arguments, path, &parts, &command, &hash),
        None => files::print(&parallel(&parts, &command)?),
    }
}

impl Parts {
    fn of(arguments: &CompareArgs, plan: StudyPlan, out: &Path) -> Outcome<Self> {
        let simulations = plan.simulation_count();
        let (count, at_once) = arguments.parts.unwrap_or((simulations.min(PARTS_MAX), None));
        if count > simulations {
            return Err(Failure::Input(format!(
                "{count} parts are more than the {} of this comparison; --parts takes 1 to {simulations}",
                count_with_noun(simulations as u64, "simulation")
            )));
        }
        let jobs = usize::from(arguments.jobs.unwrap_or(1));
        let members = plan.divide_into_parts(count);
        let largest = members.iter().max_by_key(|part| part.len()).map_or(&[][..], Vec::as_slice);
        let (memory_bytes, estimate_s) = {
            let scenarios = plan.scenarios();
            let of = |part: &[usize]| part.iter().map(|&index| scenarios[index]).collect::<Vec<&Scenario>>();
            let needed = members.iter().map(|part| memory::peak_memory_needed_bytes(of(part), jobs)).max().unwrap_or(0);
            let resources = MachineResources { simulations_at_once: jobs, threads_per_simulation: 1, warm_state_cache: None };
            let seconds = WallClockEstimator::default().estimate_all(&of(largest), &resources, &Stop::stop_when(interrupt::requested));
            ((needed as f64 * MEMORY_FACTOR).max(MEMORY_LEAST), seconds.run.map(|run| seconds.warm_up + run))
        };
        // What is done in the folder tells how long a simulation takes on this machine.
        let done: Vec<f64> = if out.is_dir() {
            let plan = plan.folder(out);
            plan.unfinished_simulations_by_warm_up()?;
            plan.take_finished_reports().rows.iter().map(|row| row.report.wall_s).collect()
        } else {
            Vec::new()
        };
        let turns = largest.len().div_ceil(jobs) as f64;
        let (seconds, measured) = if !done.is_empty() {
            let mean = done.iter().sum::<f64>() / done.len() as f64;
            (mean * turns * MEASURED_FACTOR, format!("measured on {} that are done", count_with_noun(done.len() as u64, "simulation")))
        } else if let Some(seconds) = estimate_s {
            (seconds * ESTIMATED_FACTOR, format!("estimated: {} for the largest part", duration::rounded_duration_text(seconds)))
        } else {
            (SECONDS_UNKNOWN, "not known: the workload does not say how many requests it has".to_owned())
        };
        Ok(Self { count, at_once, jobs, memory_bytes, seconds: seconds.max(SECONDS_LEAST), measured, simulations })
    }

    /// Returns mebibytes, rounded up to a number that reads well.
    fn memory_mib(&self) -> u64 {
        ((self.memory_bytes / f64::from(1 << 20) / 50.0).ceil() * 50.0) as u64
    }

    /// Returns the limit in Slurm's notation, rounded up to minutes.
    fn time(&self) -> String {
        let minutes = (self.seconds / 60.0).ceil() as u64;
        let (days, hours, minutes) = (minutes / 1440, minutes / 60 % 24, minutes % 60);
        if days > 0 { format!("{days}-{hours:02}:{minutes:02}:00") } else { format!("{hours:02}:{minutes:02}:00") }
    }
}

/// The commands that a script runs, quoted for a shell.
struct Command {
    folder: String,
    program: String,
    /// The comparison without its part.
    compare: String,
    out: String,
}

impl Command {
    /// The command of this process, without the options that a part has values of its own for.
    fn of_this_process(out: &Path, jobs: usize) -> Outcome<Self> {
        let unknown = |error: std::io::Error| Failure::Run(format!("the working folder or this program can't be found: {error}"));
        let (folder, program) = (env::current_dir().map_err(unknown)?, env::current_exe().map_err(unknown)?);
        let mut given = env::args_os().skip(1);
        let mut compare = String::new();
        while let Some(argument) = given.next() {
            let text = argument.to_string_lossy();
            let (name, has_value) = text.split_once('=').map_or((&*text, false), |(name, _)| (name, true));
            if let Some((_, takes_value)) = REPLACED.iter().find(|(option, _)| *option == name) {
                if *takes_value && !has_value {
                    given.next();
                }
                continue;
            }
            let _ = write!(compare, "{} ", quoted(&argument)?);
        }
        let out = quoted(out.as_os_str())?;
        let _ = write!(compare, "--out {out} --jobs {jobs} --quiet");
        Ok(Self { folder: quoted(folder.as_os_str())?, program: quoted(program.as_os_str())?, compare, out })
    }
}

fn parallel(parts: &Parts, command: &Command) -> Outcome<String> {
    let Command { folder, program, compare, out } = command;
    let at_once = parts.at_once.map_or(String::new(), |jobs| format!(" --jobs {jobs}"));
    Ok(format!(
        // GNU parallel hands what it reads to a shell once more, but replaces no braces in it, as it does in arguments.
        "cd {folder} && seq {count} | while read -r part; do printf '%s --shard %s\\0' {compare} \"$part/{count}\"; done | \
         parallel{at_once} --halt now,fail=1 --null && {program} merge {out} --out {out} --force\n",
        compare = quoted(format!("{program} {compare}").as_ref())?,
        count = parts.count,
    ))
}

fn write_slurm(arguments: &CompareArgs, path: &Path, parts: &Parts, command: &Command, hash: &str) -> Outcome {
    let merging = merging_path(path);
    for path in [path, &merging] {
        if path.exists() && !arguments.force {
            return Err(Failure::Input(format!("{} exists; --force writes over it", path.display())));
        }
    }
    // The name stands in comments and in options of Slurm, which have no quotes.
    let name = path.file_name().and_then(|name| name.to_str()).filter(|name| name.bytes().all(is_plain) && !name.contains('%'));
    let Some(name) = name else {
        return Err(Failure::Input(format!("--slurm {}: the name of a script takes letters, digits and -_.=,:+@", path.display())));
    };
    let stem = Path::new(name).file_stem().map_or(name.into(), |stem| stem.to_string_lossy());
    // Both scripts are written or none, even on a full disk.
    let scripts = [(path, array_script(parts, command, hash, name, &stem)), (merging.as_path(), merge_script(parts, command, hash, &stem))];
    let begin = |(path, text): (&Path, String)| -> Outcome<ReplacementFile> {
        let file = ReplacementFile::begin(path)?;
        file.write(text.as_bytes())?;
        make_executable(&file);
        Ok(file)
    };
    let files = scripts.into_iter().map(begin).collect::<Outcome<Vec<_>>>()?;
    files.into_iter().try_for_each(ReplacementFile::finish)?;
    let (array, merge) = (quoted(path.as_os_str())?, quoted(merging.as_os_str())?);
    files::print(&format!(
        "written: {} ({}, {} MiB and at most {} each; the time is {}) and {}\n\
         sbatch --dependency=afterok:$(sbatch --parsable {array}) {merge}\n",
        path.display(),
        count_with_noun(parts.count as u64, "part"),
        parts.memory_mib(),
        parts.time(),
        parts.measured,
        merging.display(),
    ))
}

fn array_script(parts: &Parts, command: &Command, hash: &str, own: &str, name: &str) -> String {
    let Command { folder, program, compare, .. } = command;
    let at_once = parts.at_once.map_or(String::new(), |at_once| format!("%{at_once}"));
    let (count, jobs, memory_mib, time) = (parts.count, parts.jobs, parts.memory_mib(), parts.time());
    format!(
        "#!/bin/sh\n\
         # {simulations} in {count} parts; the time is {measured}.\n\
         # A part that failed or was killed goes on where it stopped: sbatch --array=NUMBER {own}.\n\
         #SBATCH --job-name=flashraid-{hash}\n\
         #SBATCH --array=1-{count}{at_once}\n\
         #SBATCH --cpus-per-task={jobs}\n\
         #SBATCH --mem={memory_mib}M\n\
         #SBATCH --time={time}\n\
         #SBATCH --output={name}-%a.log\n\
         set -eu\n\
         cd {folder}\n\
         # Parts share the states after warm-ups in this folder, which all nodes have to see.\n\
         export FLASHRAID_CACHE=\"${{FLASHRAID_CACHE:-${{XDG_CACHE_HOME:-$HOME/.cache}}/flashraid}}\"\n\
         exec {program} {compare} --shard \"$SLURM_ARRAY_TASK_ID/{count}\"\n",
        simulations = count_with_noun(parts.simulations as u64, "simulation"),
        measured = parts.measured,
    )
}

fn merge_script(parts: &Parts, command: &Command, hash: &str, name: &str) -> String {
    let Command { folder, program, out, .. } = command;
    format!(
        "#!/bin/sh\n\
         # Puts the {} of {name} together, when all have ended.\n\
         #SBATCH --job-name=flashraid-{hash}-merge\n\
         #SBATCH --cpus-per-task=1\n\
         #SBATCH --mem=2G\n\
         #SBATCH --time=00:30:00\n\
         #SBATCH --output={name}-merge.log\n\
         set -eu\n\
         cd {folder}\n\
         exec {program} merge {out} --out {out} --force\n",
        count_with_noun(parts.count as u64, "part"),
    )
}

/// The script that merges, beside the one for the parts.
fn merging_path(path: &Path) -> PathBuf {
    let stem = path.file_stem().map_or_else(|| OsString::from("job"), OsString::from);
    let mut name = stem;
    name.push("-merge");
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// Lets a script be run without naming a shell; where that can't be, `sh` and `sbatch` run it all the same.
fn make_executable(script: &ReplacementFile) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let _ = script.handle().and_then(|file| file.set_permissions(fs::Permissions::from_mode(0o755)));
    }
    #[cfg(not(unix))]
    let _ = script;
}

/// Returns true for a character that means nothing to a shell.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_./=,:+@%".contains(&byte)
}

/// A word of a shell.
fn quoted(word: &std::ffi::OsStr) -> Outcome<String> {
    let Some(text) = word.to_str() else {
        return Err(Failure::Input(format!("{} is not UTF-8, which a script can't hold", word.to_string_lossy())));
    };
    if !text.is_empty() && text.bytes().all(is_plain) {
        return Ok(text.to_owned());
    }
    Ok(format!("'{}'", text.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_read_more_into_them() {
        let word = |text: &str| quoted(text.as_ref()).unwrap();
        assert_eq!(word("coordination.scheme=local,ideal"), "coordination.scheme=local,ideal");
        assert_eq!(word("a b"), "'a b'");
        assert_eq!(word("it's"), r"'it'\''s'");
        assert_eq!(word("$HOME"), "'$HOME'");
        assert_eq!(word(""), "''");
    }

    #[test]
    fn times_are_as_slurm_writes_them() {
        let time = |seconds| {
            Parts { count: 1, at_once: None, jobs: 1, memory_bytes: 1.0, seconds, measured: String::new(), simulations: 1 }.time()
        };
        assert_eq!([time(600.0), time(5400.5), time(90_000.0)], ["00:10:00", "01:31:00", "1-01:00:00"]);
    }

    #[test]
    fn the_merging_script_stands_beside_the_other() {
        assert_eq!(merging_path(Path::new("jobs/big.sh")), Path::new("jobs/big-merge.sh"));
        assert_eq!(merging_path(Path::new("job")), Path::new("job-merge"));
    }
}
