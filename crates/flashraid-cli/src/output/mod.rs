//! How results are shown and kept.

pub mod figures;
pub mod grid;
pub mod html;
pub mod json;
pub mod number;
pub mod parquet;
pub mod picture;
pub mod run;
pub mod sheet;
pub mod text;
