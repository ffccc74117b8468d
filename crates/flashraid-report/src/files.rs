//! Writes files of results. Adds to [`flashraid::files`] that missing folders are created, and that errors name the file.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flashraid::files::{self, parent_folder};
pub use flashraid::files::{discard_unfinished_files, try_discard_unfinished_files};

use crate::error::{Outcome, WriteError};

/// A file that is written completely or not at all. If it is dropped without [`ReplacementFile::finish`], the former file stays.
pub struct ReplacementFile {
    path: PathBuf,
    file: files::ReplacementFile,
}

impl ReplacementFile {
    /// Begins a new file, and creates missing folders.
    pub fn begin(path: &Path) -> Outcome<ReplacementFile> {
        make_folder(parent_folder(path))?;
        let file = files::ReplacementFile::create_temporary(path).map_err(|error| WriteError::writing(path, &error))?;
        Ok(ReplacementFile { path: path.to_owned(), file })
    }

    /// Returns a handle of the open file.
    pub fn handle(&self) -> io::Result<File> {
        self.file.temporary_file_handle()
    }

    /// Writes the whole content of the file.
    pub fn write(&self, contents: &[u8]) -> Outcome {
        let written = self.handle().and_then(|mut handle| handle.write_all(contents));
        written.map_err(|error| WriteError::writing(&self.path, &error))
    }

    /// Gives the file its final name, and replaces an older one.
    pub fn finish(self) -> Outcome {
        self.file.replace_target().map_err(|error| WriteError::writing(&self.path, &error))
    }
}

/// A file that grows while a simulation runs. If it is dropped without [`GrowingFile::finish`], nothing of it stays.
pub struct GrowingFile {
    file: ReplacementFile,
    out: BufWriter<File>,
}

impl GrowingFile {
    /// Begins a new file, and creates missing folders.
    pub fn begin(path: &Path) -> Outcome<GrowingFile> {
        let file = ReplacementFile::begin(path)?;
        let handle = file.handle().map_err(|error| WriteError::writing(path, &error))?;
        Ok(GrowingFile { file, out: BufWriter::with_capacity(1 << 16, handle) })
    }

    /// Calls `write` to append to the file.
    pub fn add(&mut self, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Outcome {
        write(&mut self.out).map_err(|error| WriteError::writing(&self.file.path, &error))
    }

    /// Writes buffered data, and gives the file its final name.
    pub fn finish(mut self) -> Outcome {
        self.add(BufWriter::flush)?;
        self.file.finish()
    }
}

/// Writes a whole file, and creates missing folders.
pub fn write(path: &Path, contents: &[u8]) -> Outcome {
    make_folder(parent_folder(path))?;
    files::write_atomically(path, contents).map_err(|error| WriteError::writing(path, &error))
}

/// Creates a folder and its parents, unless they exist.
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
        drop(ReplacementFile::begin(&path).unwrap());
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 0);
        write(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }
}
