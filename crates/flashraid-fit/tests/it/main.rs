//! Fits of drives whose values are known.

mod datasheet;
mod recovery;
#[cfg(unix)]
mod runner;
