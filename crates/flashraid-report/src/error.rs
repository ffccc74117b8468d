//! Errors of writing results.

use std::io;
use std::path::{Path, PathBuf};

/// Result of writing, with [`WriteError`] as its error.
pub type Outcome<T = ()> = Result<T, WriteError>;

/// Reason why a result can't be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// A file can't be written.
    #[error("can't write {}: {reason}", path.display())]
    File {
        /// Final name of the file.
        path: PathBuf,
        /// Text of the operating system's error.
        reason: String,
    },
    /// The reader of standard output has closed it.
    #[error("the reader of standard output has closed it")]
    ReaderGone,
    /// A folder can't be created.
    #[error("can't make the folder {}: {reason}", path.display())]
    Folder {
        /// Path of the folder.
        path: PathBuf,
        /// Text of the operating system's error.
        reason: String,
    },
    /// A picture can't be drawn.
    #[error("can't draw the picture {id}: {reason}")]
    Picture {
        /// Name of the chart.
        id: String,
        /// Text of the library's error.
        reason: String,
    },
    /// A result can't be expressed as JSON.
    #[error("can't express the result as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl WriteError {
    /// Makes the error for a file that can't be written. A closed standard output (`-`) becomes [`WriteError::ReaderGone`].
    pub fn writing(path: &Path, error: &io::Error) -> WriteError {
        if path == Path::new("-") && error.kind() == io::ErrorKind::BrokenPipe {
            return WriteError::ReaderGone;
        }
        WriteError::File { path: path.to_owned(), reason: error.to_string() }
    }
}
