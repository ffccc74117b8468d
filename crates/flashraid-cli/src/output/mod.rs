//! Output of the program that [`flashraid_report`] does not provide.

pub mod json;
pub mod narrow;
pub mod reference;
pub mod remedies;
pub mod reproduction;
