//! Results in files: [`flashraid::files`], with folders that are made and errors that name the file.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

pub use flashraid::files::discard_unfinished;
use flashraid::files::{self, folder_of};

use crate::error::{Outcome, WriteError};

/// A file that appears whole or not at all; dropped without [`NewFile::finish`] it leaves what was there before.
pub struct NewFile {
    path: PathBuf,
    file: files::NewFile,
}

impl NewFile {
    /// Begins a file, making its folders.
    pub fn begin(path: &Path) -> Outcome<NewFile> {
        make_folder(folder_of(path))?;
        let file = files::NewFile::begin(path).map_err(|error| WriteError::writing(path, &error))?;
        Ok(NewFile { path: path.to_owned(), file })
    }

    /// The open file.
    pub fn handle(&self) -> io::Result<File> {
        self.file.handle()
    }

    /// Gives the file its final name, replacing an older one.
    pub fn finish(self) -> Outcome {
        self.file.finish().map_err(|error| WriteError::writing(&self.path, &error))
    }
}

/// Writes a whole file, making its folders.
pub fn write(path: &Path, contents: &[u8]) -> Outcome {
    make_folder(folder_of(path))?;
    rewrite(path, contents)
}

/// Writes a whole file in a folder that is there.
pub fn rewrite(path: &Path, contents: &[u8]) -> Outcome {
    files::write(path, contents).map_err(|error| WriteError::writing(path, &error))
}

/// Makes a folder and those above it.
pub fn make_folder(folder: &Path) -> Outcome {
    fs::create_dir_all(folder).map_err(|error| WriteError::Folder { path: folder.to_owned(), reason: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_makes_its_folders_and_leaves_nothing_if_not_finished() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/report.json");
        drop(NewFile::begin(&path).unwrap());
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 0);
        write(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }
}
