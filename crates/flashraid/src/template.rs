//! A configuration that is still being built: a text, and settings that override it.

use std::path::Path;

use serde_json::Value;

use crate::config::{self, Config, Problem, Problems, Scenario};

/// Name that stands for a configuration that is not a file.
const NAMELESS: &str = "configuration";

/// A configuration text with settings that override it.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    name: String,
    text: String,
    sets: Vec<(String, String)>,
    /// Seed that replaces the one in the configuration.
    pub(crate) seed: Option<u64>,
    /// Problems that make the text unusable. They are reported later, together with all other problems.
    refused: Option<Problems>,
}

impl Template {
    pub(crate) fn from_toml(text: &str) -> Result<Self, Problems> {
        Self::named(NAMELESS, text)
    }

    pub(crate) fn named(name: &str, text: &str) -> Result<Self, Problems> {
        config::check_syntax(name, text)?;
        Ok(Self { name: name.to_owned(), text: text.to_owned(), sets: Vec::new(), seed: None, refused: None })
    }

    pub(crate) fn from_file(path: &Path) -> Result<Self, Problems> {
        let text = config::read(path)?;
        // Paths in it are texts, which cannot contain such a folder's name.
        if path.parent().is_some_and(|folder| folder.to_str().is_none()) {
            let message = format!("the name of the folder of {} is not UTF-8, so that paths in it can't be found", path.display());
            let help = Some("run flashraid in that folder, with the name of the file alone".to_owned());
            return Err(Problems {
                list: vec![Problem { key: String::new(), message, suggested_fix: help, place: None }],
                ..Problems::default()
            });
        }
        Self::named(&path.display().to_string(), &text)
    }

    /// Converts a value to TOML text, so that problems can refer to lines. A `null` counts as a missing key.
    pub(crate) fn from_value(value: &Value) -> Result<Self, Problems> {
        let mut value = value.clone();
        leave_out_nulls(&mut value);
        let refused = |message: String| {
            let help = Some("a configuration is a table of tables, as in {\"array\": {\"members\": 4}}".to_owned());
            Problems { list: vec![Problem { key: String::new(), message, suggested_fix: help, place: None }], ..Problems::default() }
        };
        if !value.is_object() {
            return Err(refused("the configuration is not a table".to_owned()));
        }
        let text = toml::to_string(&value).map_err(|error| refused(format!("the configuration can't be written as TOML: {error}")))?;
        Self::from_toml(&text)
    }

    /// Returns a template for a configuration. Values that cannot be written as TOML are reported later, together with all other problems.
    pub(crate) fn new(config: &Config) -> Self {
        let mut value = serde_json::to_value(config).expect("a configuration is plain data");
        // Numbers of TOML are smaller than the largest seeds.
        let large_seed = Some(config.seed).filter(|seed| i64::try_from(*seed).is_err());
        if large_seed.is_some() {
            value.as_object_mut().map(|entries| entries.remove("seed"));
        }
        let template = Self::from_value(&value).unwrap_or_else(|problems| Self {
            name: NAMELESS.to_owned(),
            text: String::new(),
            sets: Vec::new(),
            seed: None,
            refused: Some(problems),
        });
        Self { seed: large_seed, ..template }
    }

    pub(crate) fn set(&mut self, key: &str, value: String) -> Result<(), Problems> {
        config::check_setting(key, &value)?;
        self.sets.push((key.to_owned(), value));
        Ok(())
    }

    /// Returns the checked scenario. The settings of `more` override its own, and `seed` replaces its own seed.
    pub(crate) fn scenario(&self, more: impl IntoIterator<Item = (String, String)>, seed: Option<u64>) -> Result<Scenario, Problems> {
        if let Some(problems) = &self.refused {
            return Err(problems.clone());
        }
        let sets: Vec<(String, String)> = self.sets.iter().cloned().chain(more).collect();
        config::scenario_from_toml(&self.name, &self.text, &sets, seed.or(self.seed))
    }
}

/// Removes keys without a value, which TOML does not have.
pub(crate) fn leave_out_nulls(value: &mut Value) {
    match value {
        Value::Object(entries) => {
            entries.retain(|_, child| !child.is_null());
            entries.values_mut().for_each(leave_out_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(leave_out_nulls),
        _ => {}
    }
}
