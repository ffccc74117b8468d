//! Results in files: [`flashraid::files`], with folders that are made and errors that name the file.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flashraid::files::{self, folder_of};
pub use flashraid::files::{discard_unfinished, try_discard_unfinished};

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

    /// Writes all that is to be in it.
    pub fn write(&self, contents: &[u8]) -> Outcome {
        let written = self.handle().and_then(|mut handle| handle.write_all(contents));
        written.map_err(|error| WriteError::writing(&self.path, &error))
    }

    /// Gives the file its final name, replacing an older one.
    pub fn finish(self) -> Outcome {
        self.file.finish().map_err(|error| WriteError::writing(&self.path, &error))
    }
}

/// A file that grows while a simulation runs; without [`GrowingFile::finish`] nothing is left of it.
pub struct GrowingFile {
    file: NewFile,
    out: BufWriter<File>,
}

impl GrowingFile {
    /// Begins a file, making its folders.
    pub fn begin(path: &Path) -> Outcome<GrowingFile> {
        let file = NewFile::begin(path)?;
        let handle = file.handle().map_err(|error| WriteError::writing(path, &error))?;
        Ok(GrowingFile { file, out: BufWriter::with_capacity(1 << 16, handle) })
    }

    /// Adds what `write` writes.
    pub fn add(&mut self, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Outcome {
        write(&mut self.out).map_err(|error| WriteError::writing(&self.file.path, &error))
    }

    /// Writes the rest and gives the file its name.
    pub fn finish(mut self) -> Outcome {
        self.add(BufWriter::flush)?;
        self.file.finish()
    }
}

/// Writes a whole file, making its folders.
pub fn write(path: &Path, contents: &[u8]) -> Outcome {
    make_folder(folder_of(path))?;
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
