//! Hashes of the files that a result depends on. A hash depends on the contents of a file but not on its name.

use crate::config::Scenario;
use crate::run_error::RunError;
use flashraid_workload::files::is_wrong_path;
use flashraid_workload::trace::files_of_recording;
use flashraid_workload::{SourceSpec, WorkloadSpec};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Number of bytes between two calls that ask whether to continue. They take some milliseconds.
const CHUNK_BYTES: usize = 1 << 20;

/// Returns the SHA-256 of a file in hexadecimal digits. `go_on` is called from time to time, and may stop the computation with an error.
///
/// # Errors
/// Returns the error of `go_on`, or an error if the file cannot be read.
pub(crate) fn hash_of_file(path: &Path, go_on: &mut dyn FnMut() -> Result<(), RunError>) -> Result<String, RunError> {
    let failed = |error: io::Error| match is_wrong_path(&error) {
        true => RunError::InvalidInput(format!("can't read {}: {error}", path.display())),
        false => RunError::Io(format!("can't read {}: {error}", path.display())),
    };
    let mut file = File::open(path).map_err(failed)?;
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match file.read(&mut chunk) {
            Ok(0) => return Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            Ok(bytes) => hasher.update(&chunk[..bytes]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
        go_on()?;
    }
}

/// Hashes of the files that simulations read. Each is computed once.
#[derive(Debug, Default)]
pub struct InputFileHashes {
    known: HashMap<PathBuf, String>,
}

impl InputFileHashes {
    /// Returns the hashes of all files that `scenario` reads: its traces, and the state that it loads.
    pub(crate) fn hashes_of_inputs(&mut self, scenario: &Scenario) -> Result<Vec<String>, RunError> {
        let mut paths = Vec::new();
        traces(&scenario.workload, &mut paths);
        paths.extend(scenario.warm_state.load_from.as_deref());
        paths.into_iter().flat_map(files_of_recording).map(|path| self.of(&path)).collect()
    }

    fn of(&mut self, path: &Path) -> Result<String, RunError> {
        if let Some(hash) = self.known.get(path) {
            return Ok(hash.clone());
        }
        if path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
            let what = "it is no regular file, but simulations of a comparison may read it more than once; copy it to a file";
            return Err(RunError::InvalidInput(format!("{}: {what}", path.display())));
        }
        let hash = hash_of_file(path, &mut || Ok(()))?;
        self.known.insert(path.to_owned(), hash.clone());
        Ok(hash)
    }
}

/// Adds the files of all traces of a workload to `paths`.
pub(crate) fn traces<'a>(workload: &'a WorkloadSpec, paths: &mut Vec<&'a Path>) {
    match &workload.source {
        SourceSpec::Synthetic(_) => {}
        SourceSpec::Mix(streams) => streams.iter().for_each(|stream| traces(stream, paths)),
        SourceSpec::Trace(trace) => paths.push(&trace.path),
    }
}
