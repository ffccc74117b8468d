//! `flashraid import`: converts workloads and devices of other programs to configurations.

use std::io::ErrorKind;
use std::path::Path;

use flashraid::exchange;
use flashraid::files::read_file_with_size_limit;
use flashraid::workload::import::JobFileSurroundings;
use flashraid::{Error, Simulation};

use crate::args::ImportArgs;
use crate::failure::{Failure, Outcome, shown};
use crate::files;

/// Largest accepted job file; the largest that are known have some kilobytes.
const BYTES_MAX: u64 = 1 << 20;

/// Returns the text of a file that a job file includes. Like fio, it looks in the folder of the job file if the name alone leads nowhere.
fn included(job_file: &Path, name: &Path) -> std::io::Result<String> {
    let beside = job_file.parent().unwrap_or(Path::new("")).join(name);
    let path = if name.exists() { name } else { &beside };
    String::from_utf8(read_file_with_size_limit(path, BYTES_MAX)?).map_err(|_| std::io::Error::other("it is not text"))
}

/// Runs `flashraid import` with its arguments.
pub fn run(arguments: &ImportArgs) -> Outcome {
    let refused = |reason: String| Failure::Input(format!("{}: {reason}", arguments.file.display()));
    let text = read_file_with_size_limit(&arguments.file, BYTES_MAX).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => {
            let expected = "a fio job file, or a device or workload of MQSim, is expected (traces are read as they are)";
            refused(format!("is larger than 1 MiB; {expected}"))
        }
        _ => refused(format!("can't be read: {error}")),
    })?;
    let text = String::from_utf8(text)
        .map_err(|_| refused("is not text; a fio job file, or a device or workload of MQSim, is expected".to_owned()))?;
    let surroundings =
        JobFileSurroundings { variable: &|name| std::env::var(name).ok(), include: &|name| included(&arguments.file, Path::new(name)) };
    let imported = exchange::import_file(&text, arguments.part.as_deref(), &surroundings).map_err(|error| refused(error.to_string()))?;
    // What no run would take is refused here, where the job stands, rather than written.
    Simulation::from_toml(&imported.toml).and_then(|simulation| simulation.validate()).map_err(|error| match error {
        Error::Config(problems) => {
            let why: Vec<&str> = problems.list.iter().map(|problem| problem.message.as_str()).collect();
            refused(format!("needs things that cannot be simulated: {}", why.join("; ")))
        }
        error => error.into(),
    })?;
    for note in &imported.notes {
        crate::complain(&format!("note: {}", shown(note)));
    }
    match &arguments.out {
        None => files::print(&imported.toml),
        Some(out) if out.exists() && !arguments.force => {
            Err(Failure::Input(format!("{} is there already; --force writes over it", out.display())))
        }
        Some(out) => Ok(files::write(out, imported.toml.as_bytes())?),
    }
}
