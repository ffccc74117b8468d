//! The report of one run.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::Float64Array;
use flashraid::Report as Inner;
use flashraid_report::page::{self, Page};
use flashraid_report::{chart, json, run as tables, text};
use pyo3::prelude::*;

use crate::error::{of_output, refused, simulation_error};
use crate::table::{Table, numbers_u32};

/// Writes a text as a file that appears whole or not at all.
#[pyfunction]
pub fn write_file(py: Python<'_>, path: PathBuf, text: &str) -> PyResult<()> {
    let written = py.detach(|| flashraid::files::write_atomically(&path, text.as_bytes()));
    written.map_err(|error| {
        let text = format!("can't write {}: {error}", path.display());
        if flashraid::files::is_wrong_path(&error) { refused(py, &text) } else { simulation_error(py, &text) }
    })
}

/// The report of one run.
#[pyclass(frozen, module = "flashraid._native")]
pub struct Report(pub Inner);

#[pymethods]
impl Report {
    /// Reads the document that `json` returned.
    #[staticmethod]
    pub fn from_json(py: Python<'_>, text: &str) -> PyResult<Report> {
        py.detach(|| serde_json::from_str(text))
            .map(Report)
            .map_err(|error| refused(py, &format!("this is no report of flashraid: {error}")))
    }

    /// The document of `flashraid run --json`.
    fn json(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.to_json())
    }

    /// The same without what differs between two runs of the same inputs.
    fn json_without_wall_clock(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.without_wall_clock().to_json())
    }

    /// The tables of `flashraid run`.
    fn text(&self) -> String {
        let notes: String = tables::notes(&self.0, true).into_iter().map(|note| note + "\n").collect();
        format!("{notes}{}", text::render(&tables::sheets(&self.0)))
    }

    /// The page of `flashraid run --out`.
    fn html(&self, py: Python<'_>, title: &str) -> PyResult<String> {
        let document = json::document(&self.0).map_err(|error| of_output(py, &error))?;
        let part = page::of_run(title, &self.0, &document);
        Ok(Page { title, parts: std::slice::from_ref(&part) }.html())
    }

    /// Returns the contents of the page's charts, as a JSON text.
    fn charts(&self, py: Python<'_>) -> PyResult<String> {
        let document = json::document(&self.0).map_err(|error| of_output(py, &error))?;
        Ok(serde_json::to_string(&chart::of_run(&document)).expect("charts are plain data"))
    }

    /// Returns bandwidth over time.
    fn series(&self) -> Table {
        let bandwidth = &self.0.bandwidth_mb_s;
        let begin_ms = |index: usize| index as f64 * bandwidth.series_interval_ms;
        let column = |values: Vec<f64>| Arc::new(Float64Array::from(values)) as _;
        let count = bandwidth.series.len();
        Table::of(vec![
            ("from_ms".to_owned(), column((0..count).map(begin_ms).collect())),
            ("to_ms".to_owned(), column((1..=count).map(begin_ms).collect())),
            ("bandwidth_mb_s".to_owned(), column(bandwidth.series.clone())),
        ])
    }

    /// Free blocks of every member over time.
    fn free_blocks(&self) -> Table {
        let rows: Vec<(u32, (f64, f64, f64, f64))> =
            (0..).zip(&self.0.free_blocks).flat_map(|(member, points)| points.iter().map(move |point| (member, *point))).collect();
        let column =
            |of: fn(&(f64, f64, f64, f64)) -> f64| Arc::new(rows.iter().map(|(_, point)| Some(of(point))).collect::<Float64Array>()) as _;
        Table::of(vec![
            ("member".to_owned(), numbers_u32(rows.iter().map(|(member, _)| *member).collect())),
            ("from_ms".to_owned(), column(|point| point.0)),
            ("min_thresholds".to_owned(), column(|point| point.1)),
            ("mean_thresholds".to_owned(), column(|point| point.2)),
            ("max_thresholds".to_owned(), column(|point| point.3)),
        ])
    }
}
