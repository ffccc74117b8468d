//! The JSON Schema of a report, made from its types.

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::Report;

/// Returns the JSON Schema of the document that [`Report::to_json`] writes. It names every key, so a document with any other key is not
/// valid.
#[must_use]
pub fn report_schema() -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<Report>();
    schema.insert("title".into(), "flashraid report".into());
    let mut schema = schema.to_value();
    close(&mut schema);
    schema
}

/// Forbids unknown keys in objects whose keys are known. The types themselves allow them, because readers ignore unknown keys.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(entries) => {
            let is_object =
                entries.get("properties").is_some_and(Value::is_object) && entries.get("type").is_some_and(|kind| kind == "object");
            if is_object && !entries.contains_key("additionalProperties") {
                entries.insert("additionalProperties".to_owned(), false.into());
            }
            entries.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}
