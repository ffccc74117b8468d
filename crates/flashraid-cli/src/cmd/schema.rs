//! `flashraid schema`: prints the JSON Schema of the configuration or of a report.

use flashraid::config;

use crate::failure::Outcome;
use crate::files;
use crate::output::{json, reference};

/// Runs `flashraid schema`: prints a schema, or with `markdown` the page of what it describes.
pub fn run(report: bool, markdown: bool) -> Outcome {
    match (report, markdown) {
        (true, true) => files::print(&reference::figures()),
        (true, false) => json::print(&flashraid::report::report_schema()),
        (false, true) => files::print(&reference::keys(&config::config_schema(), config::quantity_types_and_allowed_texts())),
        (false, false) => json::print(&config::config_schema()),
    }
}
