//! Folders of results: nothing is overwritten unasked, and no part of a set of results is left as if it were the whole.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use flashraid_report::files::make_folder;
use flashraid_workload::files::is_temporary;

use crate::failure::{Failure, Outcome};

/// A folder for the results of one command. Dropped while nothing is in it, it goes if it was not there before.
#[derive(Debug)]
pub struct OutFolder {
    path: PathBuf,
    is_new: bool,
}

impl OutFolder {
    /// `wanted` if it is new or empty, or whatever it holds with `force`; else the next of `wanted`-2, `wanted`-3 … that is, which is said.
    /// There is no `force` where the command has no such option.
    ///
    /// # Errors
    /// No such folder can be made.
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
        make_folder(flashraid_workload::files::folder_of(path))?;
        // One step, so that of two commands at the same time only one gets it.
        match fs::create_dir(path) {
            Ok(()) => return Ok(Some(OutFolder { path: path.to_owned(), is_new: true })),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            // With a message of its own.
            Err(_) => make_folder(path)?,
        }
        // What is no folder is refused in the same words.
        make_folder(path)?;
        let is_free = force || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
        Ok(is_free.then(|| OutFolder { path: path.to_owned(), is_new: false }))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for OutFolder {
    fn drop(&mut self) {
        if self.is_new {
            // Fails if there is anything in it.
            let _ = fs::remove_dir(&self.path);
        }
    }
}

/// The name that a number is put behind. `.` and `..` have none, and nobody who names them expects results beside them.
fn file_name(path: &Path) -> Outcome<OsString> {
    let refuse = || Failure::Input(format!("{} holds files already; name a new folder", path.display()));
    Ok(path.file_name().ok_or_else(refuse)?.to_owned())
}

/// Writes a set of files into `folder`; if one of them fails, those that were not there before go again.
pub fn all_or_nothing<T>(folder: &Path, write: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    let before: BTreeSet<OsString> = names(folder).collect();
    let written = write();
    if written.is_err() {
        for name in names(folder).filter(|name| !before.contains(name) && !name.to_str().is_some_and(is_temporary)) {
            // Folders stay.
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
