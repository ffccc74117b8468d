//! Results for people and other programs: tables, charts, pages, pictures, CSV and Parquet files.

pub mod advice;
pub mod chart;
pub mod claims;
pub mod data;
pub mod error;
pub mod figures;
pub mod files;
pub mod fio;
pub mod fio_logs;
pub mod grid;
pub mod hdr;
mod headline;
pub mod json;
pub mod number;
pub mod page;
pub mod parquet;
pub mod picture;
pub mod requests;
pub mod results;
pub mod run;
pub mod series;
pub mod sheet;
pub mod text;

pub use error::WriteError;
