//! The JSON Schema of configurations, and the names that a schema has.

use std::sync::OnceLock;

use serde_json::Value;

use super::problems::nearest;

/// Returns the schema of the configuration.
pub(crate) fn schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(super::config_schema)
}

/// Returns every key that a configuration can have, as a path such as `ssd.gc.start`.
pub(super) fn keys() -> &'static [String] {
    static KEYS: OnceLock<Vec<String>> = OnceLock::new();
    KEYS.get_or_init(|| properties(schema(), false).into_iter().map(|property| property.path).collect())
}

/// A property at any depth below the root of a schema.
pub(crate) struct Property<'a> {
    /// Path to the property: names separated by dots.
    pub(crate) path: String,
    /// Schema of the property's value.
    pub(crate) schema: &'a Value,
}

/// Maximum depth below the root. A mix contains workloads, which may be mixes again, so the schema has no end.
const DEPTH_MAX: u32 = 6;

/// Returns every property below `root`, each path once. With `lists`, properties of list entries are included.
pub(crate) fn properties(root: &Value, lists: bool) -> Vec<Property<'_>> {
    let mut found = Vec::new();
    collect(root, root, "", 0, lists, &mut found);
    found
}

fn collect<'a>(root: &'a Value, schema: &'a Value, path: &str, depth: u32, lists: bool, found: &mut Vec<Property<'a>>) {
    if depth > DEPTH_MAX {
        return;
    }
    let schema = follow(root, schema);
    for (key, child) in schema["properties"].as_object().into_iter().flatten() {
        let below = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        collect(root, child, &below, depth + 1, lists, found);
        if !found.iter().any(|known| known.path == below) {
            found.push(Property { path: below, schema: child });
        }
    }
    for branch in ["anyOf", "oneOf"].iter().filter_map(|word| schema[*word].as_array()).flatten() {
        collect(root, branch, path, depth + 1, lists, found);
    }
    if lists && schema["items"].is_object() {
        collect(root, &schema["items"], path, depth + 1, lists, found);
    }
}

/// Returns the schema that a reference points to, or the schema itself.
pub(crate) fn follow<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str().and_then(|reference| reference.strip_prefix('#')) {
        Some(pointer) => root.pointer(pointer).unwrap_or(schema),
        None => schema,
    }
}

/// Maximum number of names that are suggested.
const SUGGESTED_MAX: usize = 4;

/// Returns the existing key that the user probably meant by an unknown name.
pub(super) fn likely_key(name: &str) -> Option<&'static str> {
    likely_among(name, || keys().iter().map(String::as_str)).first().copied()
}

/// Returns the names that the user probably meant. They resemble the whole name, or their last part resembles its last part.
pub(crate) fn likely_among<I: Iterator<Item = &'static str>>(name: &str, names: impl Fn() -> I) -> Vec<&'static str> {
    let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    let whole = nearest(name, names());
    let lasts: Vec<String> = names().map(last).collect();
    let near = nearest(&last(name), lasts.iter().map(String::as_str));
    let of_last = names().filter(|known| Some(last(known).as_str()) == near);
    let mut likely: Vec<&str> = Vec::new();
    for name in whole.into_iter().chain(of_last) {
        if !likely.contains(&name) && likely.len() < SUGGESTED_MAX {
            likely.push(name);
        }
    }
    likely
}
