//! Requests of the Python side, as JSON. The same text describes a simulation or a study to this process and to workers elsewhere.

use std::path::PathBuf;

use flashraid::advise::{Advisor, Space};
use flashraid::study::{Axis, Setting};
use flashraid::{Error, Simulation, Study};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::Value;

use crate::error::refused;

/// A configuration with settings over it, and what is varied.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    config: Config,
    #[serde(default)]
    set: Vec<(String, Value)>,
    #[serde(default)]
    seed: Option<u64>,
    #[serde(default)]
    vary: Vec<(String, Vec<Value>)>,
    #[serde(default)]
    variants: Vec<(String, Vec<Variant>)>,
    #[serde(default)]
    baseline: Option<Value>,
    #[serde(default)]
    seeds: u64,
    #[serde(default)]
    shard: Option<(usize, usize)>,
}

/// The name of several settings, and these.
type Variant = (String, Vec<(String, Value)>);

/// Forms in which a configuration can be given.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Config {
    Toml(String),
    Path(PathBuf),
    Value(Value),
}

impl Spec {
    /// Reads what `flashraid._config.spec` wrote.
    pub fn read(py: Python<'_>, text: &str) -> PyResult<Spec> {
        serde_json::from_str(text).map_err(|error| refused(py, &format!("the configuration can't be understood: {error}")))
    }

    /// Returns the simulation that was described.
    pub fn simulation(&self) -> Result<Simulation<'static>, Error> {
        let simulation = match &self.config {
            Config::Toml(text) => Simulation::from_toml(text)?,
            Config::Path(path) => Simulation::from_file(path)?,
            Config::Value(value) => Simulation::from_value(value)?,
        };
        let simulation = self.set.iter().try_fold(simulation, |simulation, (key, value)| simulation.set(key, typed(value)))?;
        Ok(match self.seed {
            Some(seed) => simulation.seed(seed),
            None => simulation,
        })
    }

    /// Returns the question about this load.
    pub fn advisor(&self, name: &str, space: Space, capacity_bytes: f64) -> Result<Advisor, Error> {
        let advisor = match &self.config {
            Config::Toml(text) => Advisor::from_toml(name, text, space, capacity_bytes)?,
            Config::Path(path) => Advisor::from_file(path, space, capacity_bytes)?,
            Config::Value(value) => Advisor::from_value(name, value, space, capacity_bytes)?,
        };
        self.set.iter().try_fold(advisor, |advisor, (key, value)| advisor.set(key, typed(value)))
    }

    /// The settings that a value of an axis of variants stands for.
    pub fn behind(&self, key: &str, value: &str) -> Option<Vec<Setting>> {
        let (_, variants) = self.variants.iter().find(|(name, _)| name == key)?;
        let (_, settings) = variants.iter().find(|(name, _)| name == value)?;
        Some(settings_of(settings))
    }

    /// Returns the study that was described.
    pub fn study(&self) -> Result<Study, Error> {
        let mut study = match &self.config {
            Config::Toml(text) => Study::from_toml(text)?,
            Config::Path(path) => Study::from_file(path)?,
            Config::Value(value) => Study::from_value(value)?,
        };
        for (key, value) in &self.set {
            study = study.set(key, typed(value))?;
        }
        // In the order in which they were asked for; an axis without values is one of variants.
        for (key, values) in &self.vary {
            let variants = self.variants.iter().find(|(name, _)| name == key);
            study = match variants {
                Some((name, variants)) => study.variants(name, variants.iter().map(|(value, settings)| (value, settings_of(settings))))?,
                None => study.vary_axis(Axis { key: key.clone(), values: values.iter().map(typed).collect() })?,
            };
        }
        if let Some(baseline) = &self.baseline {
            study = study.baseline(typed(baseline));
        }
        if let Some(seed) = self.seed {
            study = study.seed(seed);
        }
        if let Some((index, count)) = self.shard {
            study = study.shard(index, count)?;
        }
        Ok(study.seeds(self.seeds))
    }
}

fn settings_of(settings: &[(String, Value)]) -> Vec<Setting> {
    settings.iter().map(|(key, value)| Setting { key: key.clone(), value: typed(value) }).collect()
}

/// A value as one would type it on the command line.
fn typed(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        // What TOML has no words for, a null for instance, is refused with its key where it is read.
        value => toml::Value::try_from(value).map_or_else(|_| value.to_string(), |value| value.to_string()),
    }
}
