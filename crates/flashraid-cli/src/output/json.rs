//! Printing of JSON documents.

use serde_json::Value;

pub use flashraid_report::json::{document, text};

use crate::failure::Outcome;
use crate::files;

/// Prints the JSON document of a command.
pub fn print(document: &Value) -> Outcome {
    files::print(&text(document))
}
