//! Conversion of results to JSON documents.

use serde::Serialize;
use serde_json::Value;

use crate::error::Outcome;

/// Formats a document as text that ends with a line feed.
pub fn text(document: &Value) -> String {
    format!("{document:#}\n")
}

/// Converts a value to a JSON document.
pub fn document(value: &impl Serialize) -> Outcome<Value> {
    Ok(serde_json::to_value(value)?)
}
