//! `flashraid schema`: prints the JSON Schema of the configuration or of a report.

use flashraid::config;

use crate::failure::Outcome;
use crate::files;
use crate::output::{json, reference};

/// Runs `flashraid schema`: prints a schema, or with `markdown` the page of all keys.
pub fn run(report: bool, markdown: bool) -> Outcome {
    if report {
        return json::print(&flashraid::report::report_schema());
    }
    let schema = config::config_schema();
    match markdown {
        true => files::print(&reference::keys(&schema, config::quantity_types_and_allowed_texts())),
        false => json::print(&schema),
    }
}
