//! Why a result can't be written.

use std::io;
use std::path::{Path, PathBuf};

/// What writing returns.
pub type Outcome<T = ()> = Result<T, WriteError>;

/// Why a result can't be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// A file.
    #[error("can't write {}: {reason}", path.display())]
    File {
        /// Its final name.
        path: PathBuf,
        /// The system's own words.
        reason: String,
    },
    /// Standard output, whose reader has gone.
    #[error("whoever read standard output has gone")]
    ReaderGone,
    /// A folder.
    #[error("can't make the folder {}: {reason}", path.display())]
    Folder {
        /// Its name.
        path: PathBuf,
        /// The system's own words.
        reason: String,
    },
    /// A picture.
    #[error("can't draw the picture {id}: {reason}")]
    Picture {
        /// The chart's name.
        id: String,
        /// The library's words.
        reason: String,
    },
    /// A document.
    #[error("can't express the result as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl WriteError {
    /// A file that can't be written.
    pub fn writing(path: &Path, error: &io::Error) -> WriteError {
        if path == Path::new("-") && error.kind() == io::ErrorKind::BrokenPipe {
            return WriteError::ReaderGone;
        }
        WriteError::File { path: path.to_owned(), reason: error.to_string() }
    }
}
