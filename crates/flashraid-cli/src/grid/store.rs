//! Finished points on disk, so that an interrupted grid goes on where it stopped.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::failure::{Failure, Outcome};
use crate::files;

/// A folder of finished points.
pub struct Store {
    folder: PathBuf,
    /// Which build of the program computed a point: another build may compute another result.
    build: String,
}

impl Store {
    /// Opens `DIR/points`, making it if need be.
    pub fn open(out: &Path) -> Outcome<Store> {
        let folder = out.join("points");
        files::make_folder(&folder)?;
        Ok(Store { folder, build: build_id()? })
    }

    /// The report of a point that is finished. A file that is damaged or of another build counts as not there.
    pub fn load(&self, id: &str) -> Option<Value> {
        let mut saved: Value = serde_json::from_slice(&fs::read(self.path(id)).ok()?).ok()?;
        let usable = saved["id"] == id && saved["build"] == self.build.as_str();
        usable.then(|| saved["report"].take()).filter(Value::is_object)
    }

    /// Keeps the report of a finished point.
    pub fn save(&self, id: &str, report: &Value) -> Outcome {
        let saved = json!({ "schema": "flashraid.point/1", "build": self.build, "id": id, "report": report });
        Ok(files::write(&self.path(id), format!("{saved}\n").as_bytes())?)
    }

    fn path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }
}

/// Hash of the program file.
fn build_id() -> Outcome<String> {
    let program = std::env::current_exe().and_then(fs::File::open).and_then(|mut file| {
        let mut hasher = Sha256::new();
        io::copy(&mut file, &mut hasher)?;
        Ok(short_hex(&hasher.finalize()))
    });
    program
        .map_err(|error| Failure::Run(format!("can't read the program's own file, needed to tell its saved points from others': {error}")))
}

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

    #[test]
    fn a_saved_point_comes_back_bit_for_bit() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let report = json!({"b": 0.1 + 0.2, "a": u64::MAX, "tiny": 5e-324, "third": 1.0 / 3.0});
        assert_eq!(store.load("x"), None);
        store.save("x", &report).unwrap();
        assert_eq!(store.load("x").unwrap().to_string(), report.to_string());
    }

    #[test]
    fn damaged_and_foreign_points_are_computed_anew() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        store.save("x", &json!({"a": 1})).unwrap();
        let other = Store { folder: store.folder.clone(), build: "another".to_owned() };
        assert_eq!(other.load("x"), None);
        fs::copy(store.path("x"), store.path("y")).unwrap();
        assert_eq!(store.load("y"), None, "a file under another point's name");
        fs::write(store.path("x"), "{\"build\":").unwrap();
        assert_eq!(store.load("x"), None);
    }
}
