//! Warm states in files are compressed with zstd, which this build leaves out.

use crate::run::RunError;
use flashraid_model::array::{Array, ArrayParams};
use std::path::Path;

fn left_out(path: &Path) -> RunError {
    RunError::Input(format!("{}: this build leaves out zstd, which warm states need; build it with the feature `zstd`", path.display()))
}

/// Refuses.
///
/// # Errors
/// Always.
pub fn save(path: &Path, _: &ArrayParams, _: &Array) -> Result<(), RunError> {
    Err(left_out(path))
}

/// Refuses.
///
/// # Errors
/// Always.
pub fn load(path: &Path, _: &ArrayParams, _: &mut Array) -> Result<(), RunError> {
    Err(left_out(path))
}
