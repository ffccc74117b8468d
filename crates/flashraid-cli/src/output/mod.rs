//! How results are shown and kept.

pub mod chart;
pub mod data;
pub mod figures;
pub mod grid;
pub mod json;
pub mod number;
pub mod page;
pub mod parquet;
pub mod picture;
pub mod reference;
pub mod reproduction;
pub mod requests;
pub mod run;
pub mod sheet;
pub mod text;
