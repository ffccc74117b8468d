//! Measures a drive by fio, and makes a device of what was measured.
//!
//! ```text
//!  sets ─▶ runner ─ fio ─▶ JSON ─▶ measured ─┐
//!   └───▶ simulated ──────▶ JSON ─▶          ├▶ fit ─▶ device file, page
//!  base (a preset or file) ─▶ simulator ─────┘
//! ```
//!
//! [`datasheet`] has `fit` look for the values with which the simulator gives the figures of a data sheet.
//!
//! [`sets`] lists the jobs, [`target`] finds out whether a file or device may be written to, [`runner`] has fio do it. [`fit::fit`] looks for the values of a
//! few [`Parameter`]s with which the simulator gives what fio measured. All but `runner` and `target` are deterministic: the same results give the same bytes.

mod base;
pub mod datasheet;
#[cfg(unix)]
pub mod drive_log;
mod error;
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
pub use job::Job;
pub use parameter::Parameter;
