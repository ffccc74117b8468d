//! Files that appear whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

use crate::error::{Outcome, WriteError};

/// Temporary files that a Ctrl-C which ends the process at once has to remove.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what is being written; only for the moment before the process ends.
pub fn discard_unfinished() {
    for path in unfinished().drain(..) {
        let _ = fs::remove_file(path);
    }
}

/// Adds a file that someone else is writing to those that an end of the process has to remove.
pub fn discard_if_stopped(path: PathBuf) {
    unfinished().push(path);
}

/// A file under a temporary name beside its final one; dropped without [`NewFile::finish`] it leaves nothing.
pub struct NewFile {
    path: PathBuf,
    temporary: NamedTempFile,
}

impl NewFile {
    /// Begins a file, making its folders.
    pub fn begin(path: &Path) -> Outcome<NewFile> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        make_folder(folder)?;
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        {
            // Otherwise the result would be readable by its owner only, unlike every other new file.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let temporary =
            builder.prefix(".flashraid-").suffix(".part").tempfile_in(folder).map_err(|error| WriteError::writing(path, &error))?;
        unfinished().push(temporary.path().to_owned());
        Ok(NewFile { path: path.to_owned(), temporary })
    }

    /// The open file.
    pub fn handle(&self) -> io::Result<File> {
        self.temporary.as_file().try_clone()
    }

    /// Gives the file its final name, replacing an older one.
    pub fn finish(self) -> Outcome {
        let written = self.temporary.path().to_owned();
        let result = self.temporary.persist(&self.path).map_err(|error| WriteError::writing(&self.path, &error.error));
        unfinished().retain(|path| *path != written);
        result.map(drop)
    }
}

/// Writes a whole file.
pub fn write(path: &Path, contents: &[u8]) -> Outcome {
    let file = NewFile::begin(path)?;
    let written = file.handle().and_then(|mut handle| handle.write_all(contents).and_then(|()| handle.sync_data()));
    written.map_err(|error| WriteError::writing(path, &error))?;
    file.finish()
}

/// Writes a whole file anew that is there: also where a link leads, and with the permissions that it has.
pub fn rewrite(path: &Path, contents: &[u8]) -> Outcome {
    let failed = |error: io::Error| WriteError::writing(path, &error);
    let path = fs::canonicalize(path).map_err(failed)?;
    let permissions = fs::metadata(&path).map_err(failed)?.permissions();
    let file = NewFile::begin(&path)?;
    let written = file.handle().and_then(|mut handle| {
        handle.write_all(contents)?;
        handle.set_permissions(permissions)?;
        handle.sync_data()
    });
    written.map_err(failed)?;
    file.finish()
}

/// Makes a folder and those above it.
pub fn make_folder(folder: &Path) -> Outcome {
    fs::create_dir_all(folder).map_err(|error| WriteError::Folder { path: folder.to_owned(), reason: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_finished_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/report.json");
        drop(NewFile::begin(&path).unwrap());
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 0);
    }

    #[test]
    fn a_finished_file_replaces_the_older_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        write(&path, b"old").unwrap();
        write(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
