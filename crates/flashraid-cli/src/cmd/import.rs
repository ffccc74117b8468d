//! `flashraid import`: workloads of other programs as `[workload]` tables.

use flashraid::workload::import;

use crate::args::ImportArgs;
use crate::failure::{Failure, Outcome};
use crate::files;

/// Most bytes of a job file; the largest are some kilobytes.
const BYTES_MAX: u64 = 1 << 20;

/// Runs the command.
pub fn run(arguments: &ImportArgs) -> Outcome {
    let refused = |reason: String| Failure::Input(format!("{}: {reason}", arguments.file.display()));
    let metadata = std::fs::metadata(&arguments.file).map_err(|error| refused(format!("can't be read: {error}")))?;
    if metadata.len() > BYTES_MAX {
        return Err(refused(
            "is larger than 1 MiB; a fio job file or an MQSim workload definition is expected (traces are read as they are)".to_owned(),
        ));
    }
    let text = std::fs::read(&arguments.file).map_err(|error| refused(format!("can't be read: {error}")))?;
    let text = String::from_utf8(text)
        .map_err(|_| refused("is not text; a fio job file or an MQSim workload definition is expected".to_owned()))?;
    let imported = import::import(&text, arguments.part.as_deref()).map_err(|error| refused(error.to_string()))?;
    for note in &imported.notes {
        crate::complain(&format!("note: {note}"));
    }
    match &arguments.out {
        None => files::print(&imported.toml),
        Some(out) if out.exists() && !arguments.force => {
            Err(Failure::Input(format!("{} is there already; --force writes over it", out.display())))
        }
        Some(out) => Ok(files::write(out, imported.toml.as_bytes())?),
    }
}
