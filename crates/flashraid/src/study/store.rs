//! Finished simulations on disk, so that an interrupted study goes on where it stopped.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::Error;
use crate::files;
use crate::report::Report;

/// A folder of finished simulations.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    /// Which build computed a point: one of other sources may compute another result.
    build: String,
}

/// The folder of points in that of a study.
pub(super) const POINTS: &str = "points";

/// What a saved point is.
const SCHEMA: &str = "flashraid.point/2";
/// Seconds of simulation below which nobody waits for the disk to have a point.
const CHEAP_S: f64 = 1.0;
/// Between the checksum and the report.
const REPORT: &str = "\",\"report\":";

impl Store {
    /// Opens `DIR/points`, making it if need be.
    ///
    /// # Errors
    /// [`Error::Io`] if it can't be made.
    pub fn open(out: &Path) -> Result<Store, Error> {
        let folder = out.join(POINTS);
        fs::create_dir_all(&folder).map_err(|error| Error::file("make the folder", &folder, &error))?;
        files::remove_abandoned(out);
        files::remove_abandoned(&folder);
        Ok(Store { folder, build: BUILD.to_owned() })
    }

    /// `DIR/points`, which is there.
    pub(super) fn of_this_build(out: &Path) -> Store {
        Store::of_build(out, BUILD)
    }

    /// What a given build left in `DIR/points`, for reading only.
    pub(super) fn of_build(out: &Path, build: &str) -> Store {
        Store { folder: out.join(POINTS), build: build.to_owned() }
    }

    pub(super) fn build(&self) -> &str {
        &self.build
    }

    /// The report of a simulation that is finished. A file that is damaged or of another build counts as not there.
    pub fn load(&self, id: &str) -> Option<Report> {
        let file = fs::read_to_string(self.path(id)).ok()?;
        // Exactly as it was written, or not at all.
        let (checksum, report) = file.strip_prefix(&self.head(id))?.split_once(REPORT)?;
        let report = report.strip_suffix("}\n")?;
        if checksum == short_hash(report) { serde_json::from_str(report).ok() } else { None }
    }

    /// Keeps the report of a finished simulation. What took less time than a second is made anew more quickly than a disk has written many of them:
    /// the system writes these when it likes, and after a crash of the machine a few of the last ones may have to be run again.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn save(&self, id: &str, report: &Report) -> Result<(), Error> {
        let is_cheap = report.wall_s < CHEAP_S;
        let report = serde_json::to_string(report).expect("a report is plain data");
        let text = format!("{}{}{REPORT}{report}}}\n", self.head(id), short_hash(&report));
        let path = self.path(id);
        if is_cheap {
            files::write_undurable(&path, text.as_bytes()).map_err(|error| Error::file("write", &path, &error))
        } else {
            write(&path, text.as_bytes())
        }
    }

    /// How the file of a point begins; a checksum of the report's text follows, then the report.
    fn head(&self, id: &str) -> String {
        format!("{{\"schema\":\"{SCHEMA}\",\"build\":\"{}\",\"id\":\"{id}\",\"checksum\":\"", self.build)
    }

    fn path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }
}

/// Writes a file that appears whole or not at all.
pub(super) fn write(path: &Path, contents: &[u8]) -> Result<(), Error> {
    files::write(path, contents).map_err(|error| Error::file("write", path, &error))
}

/// Which sources computed a point, and by which version: the program and the Python package that were built of the same sources share their points.
const BUILD: &str = concat!(env!("CARGO_PKG_VERSION"), "-", env!("FLASHRAID_SOURCES"));

/// The first 16 hexadecimal digits of the SHA-256 of a text.
pub fn short_hash(text: &str) -> String {
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
        let store = Store::open(folder.path()).unwrap();
        let report = report();
        assert_eq!(store.load("x"), None);
        store.save("x", &report).unwrap();
        assert_eq!(store.load("x").unwrap().to_json(), report.to_json());
        assert_eq!(fs::read_dir(folder.path().join("points")).unwrap().count(), 1, "nothing else is left");
    }

    #[test]
    fn damaged_and_foreign_points_are_computed_anew() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        store.save("x", &report()).unwrap();
        assert_eq!(Store::of_build(folder.path(), "another").load("x"), None);
        fs::copy(store.path("x"), store.path("y")).unwrap();
        assert_eq!(store.load("y"), None, "a file under another point's name");
        let text = fs::read_to_string(store.path("x")).unwrap();
        let digit = text.rfind(|character: char| ('1'..='8').contains(&character)).unwrap();
        let mut changed = text.into_bytes();
        changed[digit] += 1;
        fs::write(store.path("x"), &changed).unwrap();
        assert_eq!(store.load("x"), None, "a changed digit");
        fs::write(store.path("x"), "{\"build\":").unwrap();
        assert_eq!(store.load("x"), None);
    }
}
