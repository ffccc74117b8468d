//! A cache of states after warm-ups, which is kept from one run to the next. It is a folder with a file for each member. When the folder is
//! full, the files that were not used for the longest time are removed.
//!
//! The name of a file depends only on the settings that determine its state. Arrays of other sizes, schemes and timings can therefore share
//! it. If a file is damaged or does not fit, the warm-up is computed instead.

use crate::files::{ReplacementFile, is_abandoned_temporary_file, is_temporary_name};
use crate::warm_claim::{self, ClaimOutcome};
use crate::warm_state;
use flashraid_model::ssd::Ssd;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Default limit for the total size of all saved states in a cache, in bytes.
pub const DEFAULT_LIMIT_BYTES: u64 = 4 << 30;
/// Number of page writes, over all members, from which on computing a warm-up takes longer than finding a file.
pub(crate) const WRITES_MIN: f64 = 1e6;
/// Beginning and end of the name of a state's file.
const NAME: (&str, &str) = ("warm-", ".state");

/// A folder of saved states, each of one member after its warm-up, with a limit on the size of all files together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WarmStateCache {
    folder: PathBuf,
    limit_bytes: u64,
}

/// The saved state of one member after its warm-up, which is a file in the folder of the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedMemberWarmState {
    /// Path of the file that holds the state.
    pub path: PathBuf,
    /// Number of bytes in the file that holds the state.
    pub bytes: u64,
    /// Time at which the state was saved or last used.
    pub last_used: SystemTime,
    /// Description of the state: a summary in words, and after it all settings that determine the state. If the file cannot be used, the
    /// description is the reason.
    pub description: String,
}

/// Text that separates the words of a description from the settings.
pub(crate) const AFTER_WORDS: &str = " | ";

impl CachedMemberWarmState {
    /// Returns the first part of the description, which says in words what the state is. The rest lists all settings.
    pub fn readable_description(&self) -> &str {
        self.description.split(AFTER_WORDS).next().unwrap_or_default()
    }
}

impl WarmStateCache {
    /// Returns a cache in `folder` that keeps at most `limit_bytes` bytes.
    pub fn new(folder: impl Into<PathBuf>, limit_bytes: u64) -> Self {
        Self { folder: folder.into(), limit_bytes }
    }

    /// Returns the cache of the user: the folder `$FLASHRAID_CACHE`, or else `flashraid` in `$XDG_CACHE_HOME` or `~/.cache`. The folder
    /// need not exist yet.
    ///
    /// The result is `None` if none of the variables `FLASHRAID_CACHE`, `XDG_CACHE_HOME` and `HOME` names a folder. The latter two count
    /// only with an absolute path. The result is also `None` if `FLASHRAID_CACHE` is `off`.
    pub fn of_user_folder() -> Option<Self> {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let folder = match variable("FLASHRAID_CACHE") {
            Some(own) if own.as_os_str() == "off" => return None,
            Some(own) => own,
            None => {
                let of_system = variable("XDG_CACHE_HOME").filter(|folder| folder.is_absolute());
                // A relative path would be another folder wherever the program starts.
                let home = || variable("HOME").filter(|home| home.is_absolute()).map(|home| home.join(".cache"));
                of_system.or_else(home)?.join("flashraid")
            }
        };
        Some(Self::new(folder, DEFAULT_LIMIT_BYTES))
    }

    /// Returns the folder of this cache, which holds the saved states of members after their warm-ups.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the limit for the total size of all states (of members after their warm-ups) that this cache keeps, in bytes.
    pub fn limit_bytes(&self) -> u64 {
        self.limit_bytes
    }

    /// Returns the states (of members after their warm-ups) that this cache holds, the most recently used first.
    ///
    /// # Errors
    /// Returns an error if the folder exists and cannot be read.
    pub fn list_states(&self) -> io::Result<Vec<CachedMemberWarmState>> {
        let mut states: Vec<CachedMemberWarmState> = self
            .files(|name| name.starts_with(NAME.0) && name.ends_with(NAME.1))?
            .into_iter()
            .map(|(path, bytes, used)| {
                let of = File::open(&path)
                    .map_err(|error| error.to_string())
                    .and_then(|file| warm_state::read_header(&mut BufReader::new(file)));
                CachedMemberWarmState {
                    description: of.unwrap_or_else(|problem| format!("not usable: {problem}")),
                    path,
                    bytes,
                    last_used: used,
                }
            })
            .collect();
        states.sort_by(|a, b| b.last_used.cmp(&a.last_used).then_with(|| a.path.cmp(&b.path)));
        Ok(states)
    }

    /// Removes all states (of members after their warm-ups) from this cache. Returns their number and their total size in bytes.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be read, or if a file cannot be removed.
    pub fn remove_all_states(&self) -> io::Result<(usize, u64)> {
        let files = self.files(is_own)?;
        files.iter().try_for_each(|(path, ..)| fs::remove_file(path))?;
        Ok((
            files.iter().filter(|(path, ..)| path.extension().is_some_and(|end| end == "state")).count(),
            files.iter().map(|file| file.1).sum(),
        ))
    }

    /// Loads the state of `key` into `member`.
    ///
    /// It returns `None` if there is no such state, and a text if the state is wrong. In the latter case, the member must be filled again
    /// before it is used.
    pub(crate) fn load(&self, key: &str, member: &mut Ssd) -> Option<Result<(), String>> {
        let path = self.path(key);
        // Opening a pipe would wait for a process that writes into it.
        if !path.metadata().ok()?.is_file() {
            return Some(Err(format!("{} is no regular file", path.display())));
        }
        let file = File::open(&path).ok()?;
        warm_claim::clear(&path);
        // The time of use protects the state from removal. If it cannot be set, the state is only kept for a shorter time.
        let _ = File::options().append(true).open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        let mut input = BufReader::new(file);
        let loaded = warm_state::read_header(&mut input).and_then(|of| match of == key {
            true => warm_state::read_state(&mut input, member),
            false => Err("belongs to something else".to_owned()),
        });
        Some(loaded.map_err(|problem| format!("{}: {problem}", path.display())))
    }

    /// Returns true if there is a file for the state of `key`.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.path(key).is_file()
    }

    /// Saves the state of `key`.
    pub(crate) fn save(&self, key: &str, member: &Ssd) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let path = self.path(key);
        if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{} is no regular file", path.display())));
        }
        let file = ReplacementFile::create_temporary(&path)?;
        warm_state::write_states(&mut file.temporary_file_handle()?, key, std::iter::once(member))?;
        // A state that a crash of the machine damages is made again.
        file.replace_target_without_sync()
    }

    /// Removes files, the least recently used first, until the rest is within the limit.
    pub(crate) fn trim(&self) -> io::Result<()> {
        let mut files = self.files(is_own)?;
        files.sort_by_key(|(_, _, used)| std::cmp::Reverse(*used));
        let mut kept_bytes = 0;
        for (path, bytes, used) in files {
            let is_temporary = path.extension().is_some_and(|end| end != "state");
            kept_bytes += bytes;
            if (is_temporary && is_abandoned_temporary_file(used)) || (!is_temporary && kept_bytes > self.limit_bytes) {
                kept_bytes -= bytes;
                // Another process may have removed the file, too.
                let _ = fs::remove_file(path);
            }
        }
        Ok(())
    }

    /// Waits until the caller must compute the states of these keys, or another process has computed all of them. There must be at least
    /// one key.
    pub(crate) fn turn(&self, keys: &[String], go_on: &mut dyn FnMut(f64) -> bool) -> ClaimOutcome {
        // A folder that can't be made keeps nothing, and is told of when the state is saved.
        let _ = fs::create_dir_all(&self.folder);
        warm_claim::wait(&self.path(&keys[0]), &|| keys.iter().all(|key| self.has(key)), go_on)
    }

    fn path(&self, key: &str) -> PathBuf {
        let hash = Sha256::digest(format!("{} {key}", warm_state::MAGIC));
        let hash: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        self.folder.join(format!("{}{hash}{}", NAME.0, NAME.1))
    }

    /// Returns path, size and time of last use of the files for whose name `wanted` returns true.
    fn files(&self, wanted: impl Fn(&str) -> bool) -> io::Result<Vec<(PathBuf, u64, SystemTime)>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry?;
            // A file may have been removed meanwhile.
            if let (true, Ok(metadata)) = (entry.file_name().to_str().is_some_and(&wanted), entry.metadata())
                && metadata.is_file()
            {
                files.push((entry.path(), metadata.len(), metadata.modified()?));
            }
        }
        Ok(files)
    }
}

/// Returns true for a file that this program wrote. Other files in the folder are never removed.
fn is_own(name: &str) -> bool {
    (name.starts_with(NAME.0) && (name.ends_with(NAME.1) || name.ends_with(warm_claim::CLAIM_SUFFIX))) || is_temporary_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_least_recently_used_goes_first_and_strangers_stay() {
        let folder = tempfile::tempdir().unwrap();
        let cache = WarmStateCache::new(folder.path(), 250);
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
        let names: Vec<_> = cache.list_states().unwrap().iter().map(|state| state.path.file_name().unwrap().to_owned()).collect();
        assert_eq!(names, ["warm-b.state", "warm-c.state"]);
        assert_eq!(cache.remove_all_states().unwrap(), (2, 200));
        assert!(folder.path().join("thesis.txt").exists() && !folder.path().join(".flashraid-x.part").exists());
        assert_eq!(WarmStateCache::new(folder.path().join("none"), 1).list_states().unwrap(), []);
    }
}
