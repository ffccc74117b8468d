//! Configurations without running them.

use flashraid::config::{self, PresetKind};
use pyo3::prelude::*;

use crate::error::exception;
use crate::machine::means;
use crate::spec::Spec;

/// Explains a configuration: a JSON document, and the same as a text.
#[pyfunction]
pub fn check(py: Python<'_>, spec: &str) -> PyResult<(String, String)> {
    let simulation = Spec::read(py, spec)?.simulation().map_err(|error| exception(py, &error))?;
    let scenario = simulation.scenario().map_err(|error| exception(py, &error))?;
    // What `run` would refuse is refused here, too.
    means(py, &[&scenario], None, None, false)?;
    let report = simulation.check().map_err(|error| exception(py, &error))?;
    Ok((serde_json::to_string(&report).expect("a report is plain data"), report.to_string()))
}

/// Every preset: kind, name, summary, TOML.
#[pyfunction]
pub fn presets() -> Vec<(&'static str, String, String, String)> {
    let kind = |kind: PresetKind| match kind {
        PresetKind::Device => "device",
        PresetKind::Array => "array",
        PresetKind::Workload => "workload",
    };
    config::all_presets().into_iter().map(|preset| (kind(preset.kind), preset.name, preset.summary, preset.toml_text)).collect()
}

/// The JSON Schema of the configuration, as a JSON text.
#[pyfunction]
pub fn schema() -> String {
    config::config_schema().to_string()
}
