//! `flashraid schema`: the JSON Schema of the configuration.

use flashraid::config;

use crate::failure::Outcome;
use crate::files;
use crate::output::{json, reference};

/// Runs the command.
pub fn run(markdown: bool) -> Outcome {
    let schema = config::schema();
    match markdown {
        true => files::print(&reference::keys(&schema, config::quantities())),
        false => json::print(&schema),
    }
}
