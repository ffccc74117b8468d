//! Files of other simulators: devices and workloads in and out.

pub mod femu;
mod medium;
pub mod mqsim;
pub mod nvmevirt;
#[cfg(test)]
mod tests;

use flashraid_workload::import::{self, ImportError, Imported, xml};

/// A file for another program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// Name that the other program usually gives it.
    pub name: &'static str,
    /// All of its content.
    pub text: String,
}

/// Files for another program, and what it cannot say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Export {
    /// The files, the device first.
    pub files: Vec<Exported>,
    /// Sentences about everything that was left out or changed.
    pub notes: Vec<String>,
}

/// Takes over a device of MQSim, or a workload of fio or MQSim; `part` chooses one of several workloads.
///
/// # Errors
/// The text is none of them, or asks for what cannot be expressed.
pub fn import(text: &str, part: Option<&str>) -> Result<Imported, ImportError> {
    if text.trim_start_matches('\u{feff}').trim_start().starts_with('<') {
        let root = xml::parse(text)?;
        if mqsim::is_device(&root) {
            return match part {
                Some(_) => Err(ImportError::Whole("it describes one device, so that there is no part to choose".to_owned())),
                None => mqsim::import(&root),
            };
        }
    }
    import::import(text, part)
}
