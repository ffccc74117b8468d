//! Errors that end a run.

use flashraid_driver::DriverError;
use flashraid_workload::SourceError;

/// Error that ends a run without a report.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The source of requests cannot continue.
    #[error("{0}")]
    RequestSource(#[from] SourceError),
    /// The input is wrong, so that the program exits with status 2.
    #[error("{0}")]
    InvalidInput(String),
    /// Reading or writing failed, so that the program exits with status 1.
    #[error("{0}")]
    Io(String),
    /// Simulated time would exceed the last moment that the clock can hold. The program exits with status 1.
    #[error("{0}")]
    SimulatedTimeOverflow(String),
    /// A closed loop gets its answers in no time, and would never end. The program exits with status 1.
    #[error("{0}")]
    SimulatedTimeStandsStill(String),
    /// The run was stopped before its first request, so that there is nothing to report.
    #[error("stopped before the first request")]
    StoppedBeforeFirstRequest,
    /// An invariant does not hold at the end of the run.
    #[error("the state at the end is inconsistent: {0}")]
    FailedVerification(String),
}

impl From<DriverError> for RunError {
    fn from(error: DriverError) -> Self {
        match error {
            DriverError::SimulatedTimeOverflow => Self::SimulatedTimeOverflow(error.to_string()),
            DriverError::SimulatedTimeStandsStill => Self::SimulatedTimeStandsStill(error.to_string()),
            DriverError::RequestSource(error) => Self::RequestSource(error),
        }
    }
}
