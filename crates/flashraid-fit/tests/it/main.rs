//! Fits of drives whose values are known.

mod datasheet;
#[cfg(unix)]
mod names;
mod recovery;
#[cfg(unix)]
mod runner;
