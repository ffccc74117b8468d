//! JSON documents.

use serde::Serialize;
use serde_json::Value;

use crate::failure::{Failure, Outcome};
use crate::files;

/// Prints the one document of a `--json` command.
pub fn print(document: &Value) -> Outcome {
    files::print(&text(document))
}

/// The document as text, ending with a line feed.
pub fn text(document: &Value) -> String {
    format!("{document:#}\n")
}

/// A value as a document.
pub fn document(value: &impl Serialize) -> Outcome<Value> {
    serde_json::to_value(value).map_err(|error| Failure::Run(format!("can't express the result as JSON: {error}")))
}
