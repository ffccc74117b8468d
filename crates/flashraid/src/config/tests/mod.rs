//! Tests of reading configurations.

mod bad_inputs;
mod drives;
mod good_inputs;
mod mechanisms;

use super::*;

/// Reads a configuration without options.
fn read(text: &str) -> Result<Scenario, Problems> {
    scenario_from_toml("test.toml", text, &[], None)
}

/// Reads a configuration with options written as on the command line.
fn read_with(text: &str, sets: &[&str]) -> Result<Scenario, Problems> {
    let sets: Vec<(String, String)> =
        sets.iter().map(|set| set.split_once('=').map(|(key, value)| (key.to_string(), value.to_string())).expect("KEY=VALUE")).collect();
    scenario_from_toml("test.toml", text, &sets, None)
}

/// The scenario of a configuration that must be right.
fn good(text: &str) -> Scenario {
    read(text).unwrap_or_else(|problems| panic!("{problems}"))
}
