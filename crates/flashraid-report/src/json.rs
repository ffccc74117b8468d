//! JSON documents.

use serde::Serialize;
use serde_json::Value;

use crate::error::Outcome;

/// The document as text, ending with a line feed.
pub fn text(document: &Value) -> String {
    format!("{document:#}\n")
}

/// A value as a document.
pub fn document(value: &impl Serialize) -> Outcome<Value> {
    Ok(serde_json::to_value(value)?)
}
