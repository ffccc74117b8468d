//! `flashraid schema`: the JSON Schema of the configuration.

use crate::failure::Outcome;
use crate::output::json;

/// Runs the command.
pub fn run() -> Outcome {
    json::print(&flashraid::config::schema())
}
