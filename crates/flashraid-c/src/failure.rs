//! Errors as codes, each with a message that a thread keeps until its next error.

use std::cell::RefCell;
use std::ffi::{CString, c_char};

use flashraid::{DeviceError, Error};

use crate::{
    FLASHRAID_BAD_ARGUMENT, FLASHRAID_BAD_CONFIG, FLASHRAID_BAD_EXTENT, FLASHRAID_BUG, FLASHRAID_CLOCK_ENDS, FLASHRAID_FAILED,
    FLASHRAID_OK, FLASHRAID_TIME_GOES_BACK,
};

/// The reason why a call failed.
#[derive(Debug)]
pub struct Failure {
    code: i64,
    message: String,
}

impl Failure {
    /// A failure with a code and a message.
    pub fn new(code: i64, message: String) -> Self {
        Self { code, message }
    }

    /// A failure because of a wrong argument.
    #[cold]
    pub fn argument(message: &str) -> Self {
        Self::new(FLASHRAID_BAD_ARGUMENT, message.to_owned())
    }
}

impl From<DeviceError> for Failure {
    #[cold]
    fn from(error: DeviceError) -> Self {
        let code = match error {
            DeviceError::TimeGoesBack { .. } => FLASHRAID_TIME_GOES_BACK,
            DeviceError::SimulatedTimeOverflow { .. } => FLASHRAID_CLOCK_ENDS,
            DeviceError::EmptyRequest { .. } | DeviceError::BeyondTheArray { .. } => FLASHRAID_BAD_EXTENT,
            _ => FLASHRAID_FAILED,
        };
        Self::new(code, error.to_string())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = match &error {
            Error::Config(_) => FLASHRAID_BAD_CONFIG,
            Error::InconsistentMemberState(_) => FLASHRAID_BUG,
            _ => FLASHRAID_FAILED,
        };
        Self::new(code, error.to_string())
    }
}

thread_local! {
    static LAST: RefCell<(i64, CString)> = RefCell::new((FLASHRAID_OK, CString::default()));
}

/// Keeps a failure and returns its code.
#[cold]
pub fn fail(failure: Failure) -> i64 {
    let Failure { code, message } = failure;
    let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
    // A thread that ends has nobody left who could ask.
    let _ = LAST.try_with(|last| *last.borrow_mut() = (code, message));
    code
}

/// Returns the code of the latest failure.
pub fn last_code() -> i64 {
    LAST.try_with(|last| last.borrow().0).unwrap_or(FLASHRAID_OK)
}

/// Returns the message of the latest failure.
pub fn last_message() -> *const c_char {
    LAST.try_with(|last| last.borrow().1.as_ptr()).unwrap_or(c"".as_ptr())
}
