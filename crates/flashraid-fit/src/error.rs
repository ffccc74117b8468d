//! Why there is no device, or no measurement.

/// Why something was not done. The text names the file or option, what was found and what is allowed.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// What the user gave can't be used.
    #[error("{0}")]
    Input(String),
    /// The base is no configuration that runs.
    #[error(transparent)]
    Base(#[from] flashraid::Error),
    /// A simulation, or fio, failed.
    #[error("{0}")]
    Failed(String),
    /// The user stopped it.
    #[error("stopped")]
    Interrupted,
}

/// With an error of this crate.
pub type Outcome<T = ()> = Result<T, FitError>;

/// What the user gave can't be used.
pub(crate) fn refused<T>(message: impl Into<String>) -> Outcome<T> {
    Err(FitError::Input(message.into()))
}
