//! Errors that prevent a device or a measurement.

/// Error that prevented an action. The text names the file or option, what was found, and what is allowed.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// The input of the user cannot be used.
    #[error("{0}")]
    Input(String),
    /// The base is no configuration that can run.
    #[error(transparent)]
    Base(#[from] flashraid::Error),
    /// A simulation or fio failed.
    #[error("{0}")]
    Failed(String),
    /// The user stopped the action.
    #[error("stopped")]
    Interrupted,
}

/// Result with an error of this crate.
pub type Outcome<T = ()> = Result<T, FitError>;

/// Returns an error for input that cannot be used.
pub(crate) fn refused<T>(message: impl Into<String>) -> Outcome<T> {
    Err(FitError::Input(message.into()))
}
