//! Import and export of the device and workload files of other simulators.

pub mod femu;
mod medium;
pub mod mqsim;
pub mod nvmevirt;
#[cfg(test)]
mod tests;

use flashraid_workload::import::{self, ImportError, ImportedWorkload, JobFileSurroundings, xml};

/// A file for another program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileForOtherProgram {
    /// Name that the program for which the file is exported usually gives to such a file.
    pub file_name: &'static str,
    /// Content of the file.
    pub text: String,
}

/// Files for another program, with notes about everything that they cannot express.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FilesForOtherProgram {
    /// The exported files. The first one describes the device; a file that describes the workload may follow.
    pub files: Vec<FileForOtherProgram>,
    /// Notes about everything that was left out or changed.
    pub notes: Vec<String>,
}

/// Imports a device of MQSim, or a workload of fio or MQSim. `part` chooses one of several workloads. A job file of fio
/// may name files and environment variables of its surroundings.
///
/// # Errors
///
/// Returns an error if the text is in none of these formats, or if it needs something that a configuration cannot express.
pub fn import_file(text: &str, part: Option<&str>, surroundings: &JobFileSurroundings<'_>) -> Result<ImportedWorkload, ImportError> {
    if text.trim_start_matches('\u{feff}').trim_start().starts_with('<') {
        let root = xml::parse_xml(text)?;
        if mqsim::is_device_file(&root) {
            return match part {
                Some(_) => Err(ImportError::WholeFile("it describes one device, so that there is no part to choose".to_owned())),
                None => mqsim::import_drive_configuration(&root),
            };
        }
    }
    import::import_workload(text, part, surroundings)
}
