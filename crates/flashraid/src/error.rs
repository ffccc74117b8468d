//! Errors of the library.

use std::io;
use std::path::{Path, PathBuf};

use flashraid_driver::RefusedCall as DeviceError;
use flashraid_workload::SourceError;

use crate::config::Problems;
use crate::run::RunError;
use crate::study_problem::StudyProblem;

/// Error that ends a call of the library without a result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The configuration cannot be used. All problems are listed, each with its key, its place and the likely fix.
    #[error("{0}")]
    Config(Problems),
    /// The settings of a study do not fit together.
    #[error("{0}")]
    Study(#[from] StudyProblem),
    /// The source of requests cannot continue: a trace cannot be read, or requests do not fit the array.
    #[error("{0}")]
    RequestSource(SourceError),
    /// A file or a value that the caller named cannot be used in this call of the library. The text says which, why, and what to do.
    #[error("{0}")]
    UnusableInput(String),
    /// Reading or writing a file failed.
    #[error("{message}")]
    #[non_exhaustive]
    Io {
        /// Path of the file, if it is known.
        path: Option<PathBuf>,
        /// Description of the operation that failed, with the reason.
        message: String,
    },
    /// Simulated time would exceed the last moment that the clock can hold. The text says what to do.
    #[error("{0}")]
    SimulatedTimeOverflow(String),
    /// A closed loop gets its answers in no time, so that the run would never end. The text says what to do.
    #[error("{0}")]
    SimulatedTimeStandsStill(String),
    /// A [`Device`](crate::Device) refused a call, which has changed nothing.
    #[error("{0}")]
    DeviceRefusedCall(#[from] DeviceError),
    /// An observer stopped the run before its first request, so that there is nothing to report.
    #[error("stopped before the first request")]
    StoppedBeforeFirstRequest,
    /// An observer stopped a study. Finished simulations stay in its folder, and the same study continues from there.
    #[error("stopped: {simulations_done} of {total_simulations} simulations are done")]
    #[non_exhaustive]
    StudyInterrupted {
        /// Number of simulations that are done.
        simulations_done: usize,
        /// Number of simulations in the study or, if [`Study::shard`](crate::Study::shard) chose a part of it, in this part.
        total_simulations: usize,
    },
    /// The state of a member contradicts itself. [`Simulation::verify`](crate::Simulation::verify) has found a bug of the simulator.
    #[error("the state at the end is inconsistent: {0}")]
    InconsistentMemberState(String),
}

impl Error {
    /// Returns true if the error is due to the caller's input. Other causes are, for example, a disk, an interruption or a bug of the
    /// simulator. The program `flashraid` ends with status 2 if the input is the cause, with 130 after an interruption, and otherwise
    /// with 1.
    pub fn is_caller_mistake(&self) -> bool {
        match self {
            Self::Config(problems) => !problems.has_unreadable_file,
            Self::Study(_) | Self::UnusableInput(_) | Self::DeviceRefusedCall(_) => true,
            Self::RequestSource(error) => matches!(error, SourceError::InvalidInput(_)),
            Self::Io { .. }
            | Self::SimulatedTimeOverflow(_)
            | Self::SimulatedTimeStandsStill(_)
            | Self::StoppedBeforeFirstRequest
            | Self::StudyInterrupted { .. }
            | Self::InconsistentMemberState(_) => false,
        }
    }

    /// Returns the error for a file that cannot be read or written.
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
            RunError::RequestSource(SourceError::Stopped) => Self::StoppedBeforeFirstRequest,
            RunError::RequestSource(error) => Self::RequestSource(error),
            RunError::InvalidInput(text) => Self::UnusableInput(text),
            RunError::Io(message) => Self::Io { path: None, message },
            RunError::SimulatedTimeOverflow(text) => Self::SimulatedTimeOverflow(text),
            RunError::SimulatedTimeStandsStill(text) => Self::SimulatedTimeStandsStill(text),
            RunError::StoppedBeforeFirstRequest => Self::StoppedBeforeFirstRequest,
            RunError::FailedVerification(text) => Self::InconsistentMemberState(text),
        }
    }
}
