//! Fits of drives whose values are known.

mod recovery;
#[cfg(unix)]
mod runner;
