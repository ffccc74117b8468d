//! Store of finished simulations on disk, with which an interrupted study continues where it stopped.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::Error;
use crate::files;
use crate::report::Report;

/// A folder of finished simulations.
#[derive(Debug)]
pub struct ReportStore {
    folder: PathBuf,
    /// Build of the program that computed the finished simulations. Another build may compute other results.
    build: String,
}

/// Name of the folder for finished simulations, in the folder of a study.
pub(super) const POINTS: &str = "points";

/// Name and version of the format of a saved simulation.
const SCHEMA: &str = "flashraid.point/2";
/// Number of seconds below which a simulation can be repeated faster than a disk saves it.
const CHEAP_S: f64 = 1.0;
/// Text between the checksum and the report in a saved simulation.
const REPORT: &str = "\",\"report\":";

impl ReportStore {
    /// Opens the store in the folder `points` of `out`, and makes the folder if necessary.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if it cannot be made.
    pub fn open(out: &Path) -> Result<ReportStore, Error> {
        let folder = out.join(POINTS);
        fs::create_dir_all(&folder).map_err(|error| Error::file("make the folder", &folder, &error))?;
        files::remove_abandoned_files(out);
        files::remove_abandoned_files(&folder);
        Ok(ReportStore { folder, build: BUILD.to_owned() })
    }

    /// Removes the folder of the store, unless it contains anything. Callers use this after an error, so that a study without finished
    /// simulations leaves no empty folder.
    pub fn remove_if_empty(self) {
        // Removing fails if the folder holds anything, as intended.
        let _ = fs::remove_dir(&self.folder);
    }

    /// Returns the store in the folder `points` of `out`, which must exist, for simulations of this build of the program.
    pub(super) fn of_this_build(out: &Path) -> ReportStore {
        ReportStore::of_build(out, BUILD)
    }

    /// Returns the store in the folder `points` of `out` for simulations of another build of the program, which are only read.
    pub(super) fn of_build(out: &Path, build: &str) -> ReportStore {
        ReportStore { folder: out.join(POINTS), build: build.to_owned() }
    }

    pub(super) fn build(&self) -> &str {
        &self.build
    }

    /// Returns the report of a finished simulation. A file that is damaged or of another build counts as missing.
    pub fn load_report(&self, id: &str) -> Option<Report> {
        let path = self.path(id);
        // Opening a pipe would wait for a process that writes into it.
        let file = if path.is_file() { fs::read_to_string(path).ok()? } else { return None };
        // The file must be exactly as it was written.
        let (checksum, report) = file.strip_prefix(&self.head(id))?.split_once(REPORT)?;
        let report = report.strip_suffix("}\n")?;
        if checksum == short_hash(report) { serde_json::from_str(report).ok() } else { None }
    }

    /// Checks that a simulation can be saved under its name, so that a mistake is found before it runs.
    ///
    /// # Errors
    /// Returns the error of [`refuse_other_than_files`].
    pub(super) fn can_save(&self, id: &str) -> Result<(), Error> {
        refuse_other_than_files(&self.path(id))
    }

    /// Saves the report of a finished simulation.
    ///
    /// Simulations of less than a second can be repeated faster than a disk writes many of their reports. The operating system may
    /// therefore write the reports later. After a crash of the machine, some of the last simulations may have to run again.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the report cannot be saved, and [`Error::UnusableInput`] if something else than a file has its name.
    pub fn save_report(&self, id: &str, report: &Report) -> Result<(), Error> {
        let is_cheap = report.wall_s < CHEAP_S;
        let report = serde_json::to_string(report).expect("a report is plain data");
        let text = format!("{}{}{REPORT}{report}}}\n", self.head(id), short_hash(&report));
        let path = self.path(id);
        if is_cheap {
            refuse_other_than_files(&path)?;
            files::write_atomically_without_sync(&path, text.as_bytes()).map_err(|error| Error::file("write", &path, &error))
        } else {
            write(&path, text.as_bytes())
        }
    }

    /// Returns the text with which a saved simulation begins. A checksum of the report follows, then the report itself.
    fn head(&self, id: &str) -> String {
        format!("{{\"schema\":\"{SCHEMA}\",\"build\":\"{}\",\"id\":\"{id}\",\"checksum\":\"", self.build)
    }

    fn path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }
}

/// Checks that `path` is a file or nothing. Opening a pipe would wait for another process.
///
/// # Errors
/// Returns [`Error::UnusableInput`] if a pipe, a folder or a device has the name.
pub(super) fn refuse_other_than_files(path: &Path) -> Result<(), Error> {
    match path.metadata() {
        Ok(metadata) if !metadata.is_file() => {
            let text =
                format!("{} is no regular file, so nothing can be saved under its name; remove it, or take another folder", path.display());
            Err(Error::UnusableInput(text))
        }
        _ => Ok(()),
    }
}

/// Writes a file that appears either complete or not at all.
pub(super) fn write(path: &Path, contents: &[u8]) -> Result<(), Error> {
    refuse_other_than_files(path)?;
    files::write_atomically(path, contents).map_err(|error| Error::file("write", path, &error))
}

/// Name of the build: the version and a hash of the sources. The program and the Python package share points if they were built from the
/// same sources.
const BUILD: &str = concat!(env!("CARGO_PKG_VERSION"), "-", env!("FLASHRAID_SOURCES"));

/// Returns the first 16 hexadecimal digits of the SHA-256 of a text.
pub(super) fn short_hash(text: &str) -> String {
    short_hex(&Sha256::digest(text.as_bytes()))
}

fn short_hex(bytes: &[u8]) -> String {
    bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Simulation;

    fn report() -> Report {
        let text = "array.members = 2\nssd.geometry = { dies = 1, blocks = 64 }\nworkload.requests = 200";
        Simulation::from_toml(text).unwrap().run().unwrap()
    }

    #[test]
    fn a_saved_point_comes_back_bit_for_bit() {
        let folder = tempfile::tempdir().unwrap();
        let store = ReportStore::open(folder.path()).unwrap();
        let report = report();
        assert_eq!(store.load_report("x"), None);
        store.save_report("x", &report).unwrap();
        assert_eq!(store.load_report("x").unwrap().to_json(), report.to_json());
        assert_eq!(fs::read_dir(folder.path().join("points")).unwrap().count(), 1, "nothing else is left");
    }

    #[test]
    fn damaged_and_foreign_points_are_computed_anew() {
        let folder = tempfile::tempdir().unwrap();
        let store = ReportStore::open(folder.path()).unwrap();
        store.save_report("x", &report()).unwrap();
        assert_eq!(ReportStore::of_build(folder.path(), "another").load_report("x"), None);
        fs::copy(store.path("x"), store.path("y")).unwrap();
        assert_eq!(store.load_report("y"), None, "a file under another point's name");
        let text = fs::read_to_string(store.path("x")).unwrap();
        let digit = text.rfind(|character: char| ('1'..='8').contains(&character)).unwrap();
        let mut changed = text.into_bytes();
        changed[digit] += 1;
        fs::write(store.path("x"), &changed).unwrap();
        assert_eq!(store.load_report("x"), None, "a changed digit");
        fs::write(store.path("x"), "{\"build\":").unwrap();
        assert_eq!(store.load_report("x"), None);
    }
}
