//! Folders of results. Existing files are replaced only with `--force`, and a set of results is written completely or not at all.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use flashraid_report::files::make_folder;
use flashraid_workload::files::is_temporary_name;

use crate::failure::{Failure, Outcome};

/// A folder for the results of one command. A new folder that is still empty is removed when this is dropped.
#[derive(Debug)]
pub struct OutFolder {
    path: PathBuf,
    is_new: bool,
}

impl OutFolder {
    /// Creates the folder `wanted`, or takes it if it is empty. With `force` it may hold anything. Otherwise the first of `wanted`-2,
    /// `wanted`-3 … that is free is used, and the user is told. `force` is `None` for commands without this option.
    ///
    /// # Errors
    ///
    /// Fails if the folder can't be created.
    pub fn claim(wanted: &Path, force: Option<bool>) -> Outcome<OutFolder> {
        if let Some(folder) = Self::try_claim(wanted, force == Some(true))? {
            return Ok(folder);
        }
        let name = file_name(wanted)?;
        let mut number = 2_u64;
        loop {
            let mut next = name.clone();
            next.push(format!("-{number}"));
            if let Some(folder) = Self::try_claim(&wanted.with_file_name(&next), false)? {
                let Some(shown) = folder.path.to_str() else { return Ok(folder) };
                let overwrites = if force.is_some() { " (--force overwrites)" } else { "" };
                crate::complain(&format!("note: {} holds files; results go to {shown}{overwrites}", wanted.display()));
                return Ok(folder);
            }
            number += 1;
        }
    }

    fn try_claim(path: &Path, force: bool) -> Outcome<Option<OutFolder>> {
        make_folder(flashraid_workload::files::parent_folder(path))?;
        // Creating the folder is atomic, so only one of two simultaneous commands gets it.
        match fs::create_dir(path) {
            Ok(()) => return Ok(Some(OutFolder { path: path.to_owned(), is_new: true })),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            // `make_folder` reports the error in our own words.
            Err(_) => make_folder(path)?,
        }
        // If the path is no folder, `make_folder` reports that, too.
        make_folder(path)?;
        let is_free = force || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
        Ok(is_free.then(|| OutFolder { path: path.to_owned(), is_new: false }))
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for OutFolder {
    fn drop(&mut self) {
        if self.is_new {
            // Removing fails if the folder holds anything, as intended.
            let _ = fs::remove_dir(&self.path);
        }
    }
}

/// Returns the name to which a number is appended. The paths `.` and `..` have no name, and results beside them would be unexpected.
fn file_name(path: &Path) -> Outcome<OsString> {
    let refuse = || Failure::Input(format!("{} is not empty; name a new folder", path.display()));
    Ok(path.file_name().ok_or_else(refuse)?.to_owned())
}

/// Writes a set of files into `folder`. If one of them fails, the files that did not exist before are removed.
pub fn all_or_nothing<T>(folder: &Path, write: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    let before: BTreeSet<OsString> = names(folder).collect();
    let written = write();
    if written.is_err() {
        for name in names(folder).filter(|name| !before.contains(name) && !name.to_str().is_some_and(is_temporary_name)) {
            // Only files are removed; folders stay.
            let _ = fs::remove_file(folder.join(name));
        }
    }
    written
}

fn names(folder: &Path) -> impl Iterator<Item = OsString> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_free_folder_is_taken() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path();
        let claim = |force| OutFolder::claim(&place.join("results"), Some(force)).unwrap();
        let first = claim(false);
        assert_eq!(first.path(), place.join("results"));
        assert_eq!(claim(false).path(), place.join("results"), "an empty one is free");
        fs::write(first.path().join("x"), "").unwrap();
        let second = claim(false);
        assert_eq!(second.path(), place.join("results-2"));
        fs::write(second.path().join("x"), "").unwrap();
        assert_eq!(claim(false).path(), place.join("results-3"));
        assert!(!place.join("results-3").exists(), "nothing was put into it");
        assert_eq!(claim(true).path(), place.join("results"));
        drop((first, second));
        assert!(place.join("results").exists() && place.join("results-2").exists());
    }

    #[test]
    fn of_a_set_that_fails_nothing_new_stays() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path();
        fs::write(place.join("old"), "").unwrap();
        let failed: Outcome = all_or_nothing(place, || {
            fs::write(place.join("new"), "").unwrap();
            Err(Failure::Run("full".to_owned()))
        });
        assert!(failed.is_err());
        assert_eq!(names(place).collect::<Vec<_>>(), ["old"]);
        all_or_nothing(place, || {
            fs::write(place.join("new"), "").unwrap();
            Ok(())
        })
        .unwrap();
        assert_eq!(names(place).count(), 2);
    }
}
