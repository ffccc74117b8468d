//! Finds everything in a value that does not fit its JSON Schema. Knows the keywords that our own schema uses; a test names any other.

use serde_json::Value;

use super::quantities::CHECKERS;
use super::schema::follow;

/// One thing that does not fit.
pub(super) struct Misfit<'a> {
    /// Place in the whole value.
    pub(super) path: Vec<String>,
    pub(super) found: &'a Value,
    /// The part of the schema that it does not fit.
    pub(super) schema: &'a Value,
    pub(super) why: Why<'a>,
}

pub(super) enum Why<'a> {
    Type,
    /// A number below the minimum or above the maximum.
    Range,
    /// None of these texts.
    Name(Vec<&'a str>),
    /// A text that its kind of quantity does not allow.
    Quantity,
    TooFewItems(u64),
    TooManyItems(u64),
    MissingKey(&'a str),
    UnknownKeys(Vec<&'a str>),
    /// None of the alternatives, each with what does not fit it.
    NoAlternative(Vec<Vec<Misfit<'a>>>),
}

/// Returns everything in `value` that does not fit `schema`, a part of `root`. `path` is the place of the value.
pub(super) fn misfits<'a>(root: &'a Value, schema: &'a Value, value: &'a Value, path: &[String]) -> Vec<Misfit<'a>> {
    let mut all = Vec::new();
    collect(root, schema, value, &mut path.to_vec(), &mut all);
    all
}

fn collect<'a>(root: &'a Value, schema: &'a Value, value: &'a Value, path: &mut Vec<String>, all: &mut Vec<Misfit<'a>>) {
    let mut add = |path: &[String], why| all.push(Misfit { path: path.to_vec(), found: value, schema, why });
    let is_of_type = is_of_type(&schema["type"], value);
    if !is_of_type {
        add(path, Why::Type);
    }
    // What could have stood there is told for a value of another type, too.
    let names = schema["enum"].as_array().map_or(std::slice::from_ref(&schema["const"]), Vec::as_slice);
    if !names.contains(&Value::Null) && !names.contains(value) {
        add(path, Why::Name(names.iter().filter_map(Value::as_str).collect()));
    }
    if !is_of_type {
        return;
    }
    if let Some(number) = value.as_f64() {
        let is_below = schema["minimum"].as_f64().is_some_and(|minimum| number < minimum);
        let is_above = schema["maximum"].as_f64().is_some_and(|maximum| number > maximum);
        if is_below || is_above {
            add(path, Why::Range);
        }
    }
    if let Some(text) = value.as_str()
        && CHECKERS.iter().any(|checker| schema["format"] == checker.name && (checker.check)(text).is_err())
    {
        add(path, Why::Quantity);
    }
    if let Some(items) = value.as_array() {
        let count = items.len() as u64;
        match (schema["minItems"].as_u64(), schema["maxItems"].as_u64()) {
            (Some(minimum), _) if count < minimum => add(path, Why::TooFewItems(minimum)),
            (_, Some(maximum)) if count > maximum => add(path, Why::TooManyItems(maximum)),
            _ => {}
        }
        for (index, item) in items.iter().enumerate() {
            if let Some(part) = schema["prefixItems"].get(index).or(schema.get("items")) {
                path.push(index.to_string());
                collect(root, part, item, path, all);
                path.pop();
            }
        }
    }
    if let Some(table) = value.as_object() {
        let mut add = |why| all.push(Misfit { path: path.clone(), found: value, schema, why });
        if schema["additionalProperties"] == false {
            let unknown: Vec<&str> = table.keys().map(String::as_str).filter(|key| schema["properties"].get(key).is_none()).collect();
            if !unknown.is_empty() {
                add(Why::UnknownKeys(unknown));
            }
        }
        for key in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !table.contains_key(key) {
                add(Why::MissingKey(key));
            }
        }
        for (key, part) in schema["properties"].as_object().into_iter().flatten() {
            if let Some(below) = table.get(key) {
                path.push(key.clone());
                collect(root, part, below, path, all);
                path.pop();
            }
        }
    }
    // Variants exclude each other by their tags: one that fits is the only one.
    for alternatives in ["anyOf", "oneOf"].iter().filter_map(|word| schema[*word].as_array()) {
        let failed: Vec<Vec<Misfit>> = alternatives.iter().map(|part| misfits(root, part, value, path)).collect();
        if failed.iter().all(|branch| !branch.is_empty()) {
            all.push(Misfit { path: path.clone(), found: value, schema, why: Why::NoAlternative(failed) });
        }
    }
    let referred = follow(root, schema);
    if !std::ptr::eq(referred, schema) {
        collect(root, referred, value, path, all);
    }
}

/// Returns true if a schema's `type`, which may be missing or a list, allows the value.
fn is_of_type(allowed: &Value, value: &Value) -> bool {
    let is = |name: &Value| match name.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        Some("number") => value.is_number(),
        Some("integer") => value.is_u64() || value.is_i64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => true,
    };
    allowed.as_array().map_or_else(|| is(allowed), |names| names.iter().any(is))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Keywords that say nothing about which values fit, and those that this module knows.
    const KNOWN: [&str; 20] = [
        "$schema",
        "$defs",
        "$ref",
        "title",
        "description",
        "default",
        "type",
        "format",
        "pattern",
        "minimum",
        "maximum",
        "enum",
        "const",
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "properties",
        "required",
        "additionalProperties",
    ];

    fn expect_known(schema: &Value, path: &str) {
        let Some(table) = schema.as_object() else { return };
        if table.contains_key("pattern") {
            // A pattern tells editors what the quantity's own parser checks.
            assert!(CHECKERS.iter().any(|checker| table["format"] == checker.name), "{path} has a pattern that nothing checks");
        }
        for (word, inner) in table {
            assert!(KNOWN.contains(&word.as_str()) || matches!(word.as_str(), "anyOf" | "oneOf"), "{path} has the keyword {word}");
            match word.as_str() {
                "properties" | "$defs" => {
                    inner.as_object().unwrap().iter().for_each(|(key, part)| expect_known(part, &format!("{path}/{key}")))
                }
                "anyOf" | "oneOf" | "prefixItems" => inner.as_array().unwrap().iter().for_each(|part| expect_known(part, path)),
                "items" => expect_known(inner, path),
                "additionalProperties" => assert_eq!(inner, &json!(false), "{path}"),
                _ => {}
            }
        }
    }

    #[test]
    fn every_keyword_of_the_configuration_is_known() {
        expect_known(super::super::schema::schema(), "");
    }

    #[test]
    fn each_keyword_refuses_what_it_should() {
        let schema = json!({"$defs": {"few": {"type": "array", "maxItems": 2, "minItems": 1, "items": {"type": "integer", "maximum": 9}}},
            "type": "object", "additionalProperties": false, "required": ["kind"], "properties": {
                "kind": {"enum": ["a", "b"]},
                "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "number", "minimum": 1}]},
                "few": {"$ref": "#/$defs/few"},
                "either": {"anyOf": [{"const": "x"}, {"type": ["boolean", "null"]}]},
                "time": {"type": "string", "format": "duration"}}});
        let whole = json!({"kind": "a", "pair": ["x", 1.5], "few": [3.0], "either": null, "time": "3 ms"});
        assert!(misfits(&schema, &schema, &whole, &[]).is_empty());
        for (key, wrong, place, why) in [
            ("kind", json!("c"), "kind", "Name"),
            ("pair", json!([1, 2]), "pair/0", "Type"),
            ("pair", json!(["x", 0.5]), "pair/1", "Range"),
            ("few", json!([]), "few", "TooFewItems"),
            ("few", json!([1, 2, 3]), "few", "TooManyItems"),
            ("few", json!([1.5]), "few/0", "Type"),
            ("few", json!([10]), "few/0", "Range"),
            ("either", json!("y"), "either", "NoAlternative"),
            ("time", json!("3 mss"), "time", "Quantity"),
            ("other", json!(1), "", "UnknownKeys"),
        ] {
            let mut changed = whole.clone();
            changed[key] = wrong;
            let found = misfits(&schema, &schema, &changed, &[]);
            assert_eq!(found.len(), 1, "{key}");
            let kind = match found[0].why {
                Why::Type => "Type",
                Why::Range => "Range",
                Why::Name(_) => "Name",
                Why::Quantity => "Quantity",
                Why::TooFewItems(_) => "TooFewItems",
                Why::TooManyItems(_) => "TooManyItems",
                Why::MissingKey(_) => "MissingKey",
                Why::UnknownKeys(_) => "UnknownKeys",
                Why::NoAlternative(_) => "NoAlternative",
            };
            assert_eq!((found[0].path.join("/").as_str(), kind), (place, why));
        }
        assert!(matches!(misfits(&schema, &schema, &json!({}), &[])[0].why, Why::MissingKey("kind")));
    }
}
