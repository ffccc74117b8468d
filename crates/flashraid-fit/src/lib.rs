//! Measures a drive with fio, and fits a device of the simulator to the measurements.
//!
//! ```text
//!  sets ─▶ runner ─ fio ─▶ JSON ─▶ measured ─┐
//!   └───▶ simulated ──────▶ JSON ─▶          ├▶ fit ─▶ device file, page
//!  base (a preset or file) ─▶ simulator ─────┘
//! ```
//!
//! - [`sets`] lists the jobs, and [`runner`] lets fio run them.
//! - [`target`] decides whether a file or device may be overwritten.
//! - [`fit::fit`] looks for values of a few [`Parameter`]s with which the simulator gives the measured figures.
//! - [`datasheet`] lets `fit` do the same for the figures of a data sheet.
//!
//! All modules except `runner` and `target` are deterministic: the same results give the same bytes.

mod base;
pub mod datasheet;
#[cfg(unix)]
pub mod drive_log;
mod error;
mod filename;
pub mod fit;
mod job;
mod least_squares;
pub mod measured;
pub mod page;
mod parameter;
pub mod percentiles;
#[cfg(unix)]
pub mod runner;
pub mod sets;
pub mod simulated;
mod simulator;
mod start;
#[cfg(unix)]
pub mod target;
pub mod variability;

pub use base::Base;
pub use error::FitError;
pub use filename::Filename;
pub use job::Job;
pub use parameter::Parameter;
