//! How results are shown and kept, beside what [`flashraid_report`] makes of them.

pub mod json;
pub mod narrow;
pub mod reference;
pub mod reproduction;
