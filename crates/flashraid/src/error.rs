//! Why there is no result.

use std::io;
use std::path::{Path, PathBuf};

use flashraid_workload::SourceError;

use crate::config::Problems;
use crate::run::RunError;
use crate::study::StudyProblem;

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The configuration can't be used: all that is wrong with it, each with its key, its place and the likely fix.
    #[error("{0}")]
    Config(Problems),
    /// The settings of a study don't fit together.
    #[error("{0}")]
    Study(#[from] StudyProblem),
    /// The source of requests can't go on: a trace that can't be read, or requests that the array has no room for.
    #[error("{0}")]
    Source(SourceError),
    /// A file that the configuration names can't be used; the text says which, why and what to do.
    #[error("{0}")]
    Input(String),
    /// Reading or writing a file failed.
    #[error("{message}")]
    #[non_exhaustive]
    Io {
        /// The file, if it is known.
        path: Option<PathBuf>,
        /// What failed and why.
        message: String,
    },
    /// Simulated time would pass its last moment; the text says what to do.
    #[error("{0}")]
    ClockEnds(String),
    /// An observer stopped the run before its first request, so that there is nothing to report.
    #[error("stopped before the first request")]
    Interrupted,
    /// An observer stopped a study. What is done stays in its folder, and the same study goes on from there.
    #[error("stopped: {done} of {all} simulations are done")]
    #[non_exhaustive]
    StudyInterrupted {
        /// Simulations that are done.
        done: usize,
        /// Simulations of the study, or of its shard.
        all: usize,
    },
    /// The state of a member contradicts itself: a bug of the simulator, found by [`Simulation::verify`](crate::Simulation::verify).
    #[error("the state at the end is inconsistent: {0}")]
    Inconsistent(String),
}

impl Error {
    /// Whether the caller's input is at fault, rather than a disk or the simulator; the program ends with status 2 for the former and 1
    /// for the latter.
    pub fn is_input(&self) -> bool {
        match self {
            Self::Config(problems) => !problems.unreadable,
            Self::Study(_) | Self::Input(_) => true,
            Self::Source(error) => matches!(error, SourceError::Input(_)),
            Self::Io { .. } | Self::ClockEnds(_) | Self::Interrupted | Self::StudyInterrupted { .. } | Self::Inconsistent(_) => false,
        }
    }

    /// A file that can't be read or written.
    pub(crate) fn file(what: &str, path: &Path, error: &io::Error) -> Self {
        Self::Io { path: Some(path.to_owned()), message: format!("can't {what} {}: {error}", path.display()) }
    }
}

impl From<Problems> for Error {
    fn from(problems: Problems) -> Self {
        Self::Config(problems)
    }
}

impl From<RunError> for Error {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Source(SourceError::Stopped) => Self::Interrupted,
            RunError::Source(error) => Self::Source(error),
            RunError::Input(text) => Self::Input(text),
            RunError::Io(message) => Self::Io { path: None, message },
            RunError::ClockEnds(text) => Self::ClockEnds(text),
            RunError::Interrupted => Self::Interrupted,
            RunError::Inconsistent(text) => Self::Inconsistent(text),
        }
    }
}
