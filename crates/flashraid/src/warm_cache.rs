//! States after warm-ups, kept from one run to the next: a folder with a file for each member, removed when it has not been used for the
//! longest time and the folder is full.
//!
//! A file is named by what determines its state and by nothing else, so that arrays of other sizes, schemes and timings find it.
//! Whatever is wrong with a file, the warm-up is done instead.

use crate::files::{NewFile, is_abandoned, is_temporary};
use crate::warm_state;
use flashraid_model::ssd::Ssd;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Bytes that all kept states may have together, unless told otherwise.
pub const LIMIT_BYTES: u64 = 4 << 30;
/// Page writes of a warm-up, over all members, from which on it takes longer than to find a file.
pub(crate) const WRITES_MIN: f64 = 1e6;
/// The name of a state begins and ends so.
const NAME: (&str, &str) = ("warm-", ".state");

/// A folder of kept states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WarmCache {
    folder: PathBuf,
    limit_bytes: u64,
}

/// A kept state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptState {
    /// Its file.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// When it was used last.
    pub used: SystemTime,
    /// What it is of: in words, and after them all that decides it.
    pub of: String,
}

/// What stands between a state's description in words and the rest of its key.
pub(crate) const AFTER_WORDS: &str = " | ";

impl KeptState {
    /// What it is of, in words.
    pub fn in_words(&self) -> &str {
        self.of.split(AFTER_WORDS).next().unwrap_or_default()
    }
}

impl WarmCache {
    /// States in `folder`, at most `limit_bytes` of them.
    pub fn new(folder: impl Into<PathBuf>, limit_bytes: u64) -> Self {
        Self { folder: folder.into(), limit_bytes }
    }

    /// The user's: `$FLASHRAID_CACHE`, else `flashraid` in `$XDG_CACHE_HOME` or `~/.cache`; `None` if there is no such folder or
    /// `FLASHRAID_CACHE` is `off`.
    pub fn of_user() -> Option<Self> {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let folder = match variable("FLASHRAID_CACHE") {
            Some(own) if own.as_os_str() == "off" => return None,
            Some(own) => own,
            None => {
                let of_system = variable("XDG_CACHE_HOME").filter(|folder| folder.is_absolute());
                of_system.or_else(|| variable("HOME").map(|home| home.join(".cache")))?.join("flashraid")
            }
        };
        Some(Self::new(folder, LIMIT_BYTES))
    }

    /// Where the states are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Bytes that all states may have together.
    pub fn limit_bytes(&self) -> u64 {
        self.limit_bytes
    }

    /// The states, that used last first.
    ///
    /// # Errors
    /// The folder is there and can't be read.
    pub fn list(&self) -> io::Result<Vec<KeptState>> {
        let mut states: Vec<KeptState> = self
            .files(|name| name.starts_with(NAME.0) && name.ends_with(NAME.1))?
            .into_iter()
            .map(|(path, bytes, used)| {
                let of = File::open(&path)
                    .map_err(|error| error.to_string())
                    .and_then(|file| warm_state::read_header(&mut BufReader::new(file)));
                KeptState { of: of.unwrap_or_else(|problem| format!("not usable: {problem}")), path, bytes, used }
            })
            .collect();
        states.sort_by(|a, b| b.used.cmp(&a.used).then_with(|| a.path.cmp(&b.path)));
        Ok(states)
    }

    /// Removes all states; says how many, and their bytes.
    ///
    /// # Errors
    /// The folder can't be read, or a file can't be removed.
    pub fn clear(&self) -> io::Result<(usize, u64)> {
        let files = self.files(is_own)?;
        files.iter().try_for_each(|(path, ..)| fs::remove_file(path))?;
        Ok((
            files.iter().filter(|(path, ..)| path.extension().is_some_and(|end| end == "state")).count(),
            files.iter().map(|file| file.1).sum(),
        ))
    }

    /// Brings `member` to the state of `key`. `None`: it is not there; a text: what is wrong with it. Then the member is not to be used before
    /// it is filled anew.
    pub(crate) fn load(&self, key: &str, member: &mut Ssd) -> Option<Result<(), String>> {
        let path = self.path(key);
        let file = File::open(&path).ok()?;
        // What is used is kept; where this is not allowed, it is only kept for less long.
        let _ = File::options().append(true).open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        let mut input = BufReader::new(file);
        let loaded = warm_state::read_header(&mut input).and_then(|of| match of == key {
            true => warm_state::read_state(&mut input, member),
            false => Err("belongs to something else".to_owned()),
        });
        Some(loaded.map_err(|problem| format!("{}: {problem}", path.display())))
    }

    /// Whether a state of `key` seems to be there.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.path(key).is_file()
    }

    /// Keeps the state of `key`.
    pub(crate) fn save(&self, key: &str, member: &Ssd) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let file = NewFile::begin(&self.path(key))?;
        warm_state::write_states(&mut file.handle()?, key, std::iter::once(member))?;
        // A state that a crash of the machine damages is one that is made anew.
        file.finish_undurable()
    }

    /// Removes what has not been used for the longest time until the rest is within the limit.
    pub(crate) fn trim(&self) -> io::Result<()> {
        let mut files = self.files(is_own)?;
        files.sort_by_key(|(_, _, used)| std::cmp::Reverse(*used));
        let mut kept_bytes = 0;
        for (path, bytes, used) in files {
            let is_temporary = path.extension().is_some_and(|end| end != "state");
            kept_bytes += bytes;
            if (is_temporary && is_abandoned(used)) || (!is_temporary && kept_bytes > self.limit_bytes) {
                kept_bytes -= bytes;
                // Another process may have removed it, too.
                let _ = fs::remove_file(path);
            }
        }
        Ok(())
    }

    fn path(&self, key: &str) -> PathBuf {
        let hash = Sha256::digest(format!("{} {key}", warm_state::MAGIC));
        let hash: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        self.folder.join(format!("{}{hash}{}", NAME.0, NAME.1))
    }

    /// Path, size and time of last use of the files whose name is `wanted`.
    fn files(&self, wanted: impl Fn(&str) -> bool) -> io::Result<Vec<(PathBuf, u64, SystemTime)>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry?;
            // A file that has gone meanwhile is none.
            if let (true, Ok(metadata)) = (entry.file_name().to_str().is_some_and(&wanted), entry.metadata())
                && metadata.is_file()
            {
                files.push((entry.path(), metadata.len(), metadata.modified()?));
            }
        }
        Ok(files)
    }
}

/// Only what this program wrote is removed, whatever else the folder holds.
fn is_own(name: &str) -> bool {
    (name.starts_with(NAME.0) && name.ends_with(NAME.1)) || is_temporary(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_least_recently_used_goes_first_and_strangers_stay() {
        let folder = tempfile::tempdir().unwrap();
        let cache = WarmCache::new(folder.path(), 250);
        let file = |name: &str, age_s: u64| {
            let path = folder.path().join(name);
            fs::write(&path, [0; 100]).unwrap();
            File::options().append(true).open(&path).unwrap().set_modified(SystemTime::now() - Duration::from_secs(age_s)).unwrap();
        };
        for (name, age_s) in
            [("warm-a.state", 30), ("warm-b.state", 10), ("warm-c.state", 20), ("thesis.txt", 99), (".flashraid-x.part", 9999)]
        {
            file(name, age_s);
        }
        cache.trim().unwrap();
        let names: Vec<_> = cache.list().unwrap().iter().map(|state| state.path.file_name().unwrap().to_owned()).collect();
        assert_eq!(names, ["warm-b.state", "warm-c.state"]);
        assert_eq!(cache.clear().unwrap(), (2, 200));
        assert!(folder.path().join("thesis.txt").exists() && !folder.path().join(".flashraid-x.part").exists());
        assert_eq!(WarmCache::new(folder.path().join("none"), 1).list().unwrap(), []);
    }
}
