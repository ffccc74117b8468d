//! Compares a configuration with its JSON Schema, and explains values that do not fit.

use std::sync::OnceLock;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use super::problems::{Problem, Problems, TextPlace, nearest, one_of};
use super::quantities::{CHECKERS, Checker};
use super::tree::Tree;
use crate::documented_names::{self, follow};

/// Returns the schema of the configuration.
pub(crate) fn schema() -> &'static Value {
    &compiled().schema
}

/// The compiled schema, and values that are derived from it once.
struct Compiled {
    schema: Value,
    validator: Validator,
    /// Every key that exists, as a path such as `ssd.gc.start`.
    keys: Vec<String>,
}

fn compiled() -> &'static Compiled {
    static COMPILED: OnceLock<Compiled> = OnceLock::new();
    COMPILED.get_or_init(|| {
        let schema = super::config_schema();
        let mut options = jsonschema::options().should_validate_formats(true);
        for Checker { name, check, .. } in CHECKERS {
            options = options.with_format(*name, move |text: &str| check(text).is_ok());
        }
        let validator = options.build(&schema).expect("the schema of the configuration is valid");
        let keys = documented_names::properties(&schema, false).into_iter().map(|property| property.path).collect();
        Compiled { schema, validator, keys }
    })
}

/// Returns every key that a configuration can have.
pub(super) fn keys() -> &'static [String] {
    &compiled().keys
}

/// Reports everything in `tree` that does not fit the schema, and returns its paths.
pub(super) fn validate(tree: &Tree, problems: &mut Vec<Problem>) -> Vec<Vec<String>> {
    let json = tree.to_json();
    let mut report = Report { tree, problems, reported: Vec::new() };
    for error in compiled().validator.iter_errors(&json) {
        if report.is_full() {
            break;
        }
        report.error(&error);
    }
    report.reported
}

struct Report<'a> {
    tree: &'a Tree,
    problems: &'a mut Vec<Problem>,
    /// Paths for which a problem has been reported. A text that breaks both `pattern` and `format` is one problem.
    reported: Vec<Vec<String>>,
}

impl Report<'_> {
    /// Returns true if the maximum number of problems has been reached.
    fn is_full(&self) -> bool {
        self.problems.len() > Problems::MAX
    }

    fn error(&mut self, error: &ValidationError<'_>) {
        let path: Vec<String> = pointer_parts(error.instance_path().as_str());
        let found = error.instance();
        // A null stands for a value that could not be read and was reported.
        if found.is_null() {
            self.reported.push(path);
            return;
        }
        match error.kind() {
            ValidationErrorKind::AdditionalProperties { unexpected } => {
                for key in unexpected.iter().take(Problems::MAX + 1) {
                    self.unknown_key(&path, key, error.schema_path().as_str());
                }
            }
            ValidationErrorKind::Required { property } => {
                let property = property.as_str().unwrap_or_default();
                let message = format!("{} needs `{property}`", self.subject(&path));
                self.push(&path, message, None);
            }
            ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
                self.no_branch(&path, found, context, error.schema_path().as_str());
            }
            kind => {
                let schema = parent_schema(error.schema_path().as_str());
                let (allowed, help) = describe(kind, schema, found);
                let message = format!("{} is {}, but must be {allowed}", self.subject(&path), show(found));
                self.push(&path, message, help);
            }
        }
    }

    /// Reports a value that fits none of the allowed alternatives.
    fn no_branch(&mut self, path: &[String], found: &Value, branches: &[Vec<ValidationError<'static>>], schema_path: &str) {
        let depth = path.len();
        let mut flat = Vec::new();
        flatten(branches, depth, &mut flat);
        let of_type: Vec<_> = flat.iter().filter(|errors| !errors.iter().any(|error| is_wrong_type(error, depth))).collect();
        // Tables with the given tag (`kind`, `policy` …) come first. The nearest variant tells what is wrong inside.
        let fitting = of_type.iter().filter(|errors| !errors.iter().any(|error| is_other_tag(error, depth) || lacks_tag(error, depth)));
        let names_alone = |errors: &[&ValidationError<'_>]| errors.iter().all(|error| constants(error.kind(), &mut Vec::new()));
        if let Some(errors) = fitting.filter(|errors| !names_alone(errors)).min_by_key(|errors| errors.len())
            && !(found.is_string() && of_type.len() > 1)
        {
            errors.iter().for_each(|error| self.error(error));
            return;
        }
        let untagged: Vec<_> = of_type.iter().flat_map(|errors| errors.iter()).filter(|error| lacks_tag(error, depth)).collect();
        if let [first, ..] = untagged[..] {
            let tag = match first.kind() {
                ValidationErrorKind::Required { property } => property.as_str().unwrap_or_default(),
                _ => "",
            };
            let names: Vec<String> = untagged
                .iter()
                .filter_map(|error| parent_schema(error.schema_path().as_str())["properties"][tag]["const"].as_str())
                .map(|name| format!("\"{name}\""))
                .collect();
            let message = format!("{} is a table without `{tag}`, which must be {}", self.subject(path), one_of(&names));
            self.push(path, message, None);
            return;
        }
        // The rest are names or tags that do not exist.
        let candidates = if of_type.is_empty() { flat.iter().collect() } else { of_type };
        let mut names = Vec::new();
        let mut named_path = path.to_vec();
        for error in candidates.iter().flat_map(|errors| errors.iter()) {
            if constants(error.kind(), &mut names) {
                named_path = pointer_parts(error.instance_path().as_str());
            }
        }
        if names.is_empty() || (found.is_object() && named_path.len() == depth) {
            let message = format!("{} is {}, but must be {}", self.subject(path), show(found), alternatives(parent_schema(schema_path)));
            self.push(path, message, None);
        } else {
            let wrong = found.pointer(&pointer(&named_path[depth..])).unwrap_or(found);
            let is_here = named_path.len() == depth;
            self.not_one_of(&named_path, wrong, &names, is_here && takes_booleans(parent_schema(schema_path)));
        }
    }

    fn not_one_of(&mut self, path: &[String], found: &Value, names: &[String], or_boolean: bool) {
        let booleans = ["true", "false"].into_iter().filter(|_| or_boolean);
        let allowed: Vec<String> = booleans.clone().map(str::to_string).chain(names.iter().map(|name| format!("\"{name}\""))).collect();
        let message = format!("{} is {}, but must be {}", self.subject(path), show(found), one_of(&allowed));
        let help = found.as_str().and_then(|typed| match booleans.clone().find(|boolean| *boolean == typed) {
            Some(boolean) => Some(format!("without quotes: {boolean}")),
            None => nearest(typed, names.iter().map(String::as_str)).map(|name| format!("did you mean \"{name}\"?")),
        });
        self.push(path, message, help);
    }

    fn unknown_key(&mut self, path: &[String], key: &str, schema_path: &str) {
        let schema = parent_schema(schema_path);
        let siblings: Vec<&str> = schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        let mut whole = path.to_vec();
        whole.push(key.to_string());
        let name = dotted(&whole);
        let elsewhere: Vec<&String> = keys().iter().filter(|known| known.rsplit('.').next() == Some(key)).collect();
        let prefix = dotted(path);
        let help = if let Some(sibling) = nearest(key, siblings.iter().copied()) {
            let mut likely = path.to_vec();
            likely.push(sibling.to_string());
            format!("did you mean `{}`?", dotted(&likely))
        } else if let [only] = elsewhere[..] {
            format!("did you mean `{only}`?")
        } else if let Some(likely) = documented_names::likely_key(&name) {
            format!("did you mean `{likely}`?")
        } else {
            let place = if prefix.is_empty() { "at the top".to_string() } else { format!("in `{prefix}`") };
            let quoted: Vec<String> = siblings.iter().map(|name| format!("`{name}`")).collect();
            format!("the keys {place} are {}", quoted.join(", "))
        };
        let tree = self.tree.deepest(whole.iter().map(String::as_str));
        let problem = Problem {
            key: name.clone(),
            message: format!("there is no key `{name}`"),
            suggested_fix: Some(help),
            place: Some(tree.key_place.clone()),
        };
        self.problems.push(problem);
        self.reported.push(whole);
    }

    fn push(&mut self, path: &[String], message: String, help: Option<String>) {
        if self.reported.iter().any(|known| known == path) {
            return;
        }
        self.reported.push(path.to_vec());
        let place: TextPlace = self.tree.deepest(path.iter().map(String::as_str)).value_place.clone();
        self.problems.push(Problem { key: dotted(path), message, suggested_fix: help, place: Some(place) });
    }

    fn subject(&self, path: &[String]) -> String {
        if path.is_empty() { "the configuration".to_string() } else { format!("`{}`", dotted(path)) }
    }
}

/// Returns the alternatives as a flat list, with those that are nested in others.
fn flatten<'e>(branches: &'e [Vec<ValidationError<'static>>], depth: usize, flat: &mut Vec<Vec<&'e ValidationError<'static>>>) {
    for errors in branches {
        let nested = errors.iter().find_map(|error| match error.kind() {
            ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } if depth_of(error) == depth => {
                Some(context)
            }
            _ => None,
        });
        match nested {
            Some(context) => flatten(context, depth, flat),
            None => flat.push(errors.iter().collect()),
        }
    }
}

fn depth_of(error: &ValidationError<'_>) -> usize {
    error.instance_path().as_str().matches('/').count()
}

/// Returns true if the error says that the value at `depth` has the wrong type.
fn is_wrong_type(error: &ValidationError<'_>, depth: usize) -> bool {
    matches!(error.kind(), ValidationErrorKind::Type { .. }) && depth_of(error) == depth
}

/// Returns true if the error says that the value at `depth` is a table of another variant.
fn is_other_tag(error: &ValidationError<'_>, depth: usize) -> bool {
    let is_tag = pointer_parts(error.instance_path().as_str()).last().is_some_and(|key| TAGS.contains(&key.as_str()));
    matches!(error.kind(), ValidationErrorKind::Constant { .. }) && is_tag && depth_of(error) == depth + 1
}

/// Returns true if the error says that the table at `depth` lacks the key that names its variant.
fn lacks_tag(error: &ValidationError<'_>, depth: usize) -> bool {
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            depth_of(error) == depth && property.as_str().is_some_and(|name| TAGS.contains(&name))
        }
        _ => false,
    }
}

/// Keys that choose the variant of a table. A table with another choice replaces the inherited one instead of adding to it.
pub(super) const TAGS: [&str; 4] = ["kind", "process", "distribution", "policy"];
/// Name of the table that has a key of [`TAGS`], but the same other keys for every choice. It keeps its keys if the choice changes.
pub(super) const WITHOUT_VARIANTS: &str = "cache";

/// Returns the allowed values in words, and a hint for the fix if there is one.
fn describe(kind: &ValidationErrorKind, schema: &Value, found: &Value) -> (String, Option<String>) {
    if let Some(checker) = CHECKERS.iter().find(|checker| schema["format"] == checker.name) {
        let why = found.as_str().and_then(|text| (checker.check)(text).err()).map(|why| why.to_string());
        return (checker.allowed.to_string(), why);
    }
    let limits = || match (&schema["minimum"], &schema["maximum"]) {
        (Value::Null, Value::Null) => String::new(),
        (min, Value::Null) => format!(" of at least {min}"),
        (Value::Null, max) => format!(" of at most {max}"),
        (min, max) => format!(" from {min} to {max}"),
    };
    match kind {
        ValidationErrorKind::Type { kind } => {
            let names = match kind {
                TypeKind::Single(json_type) => vec![type_name(&json_type.to_string()).to_string()],
                TypeKind::Multiple(types) => {
                    types.iter().map(|json_type| type_name(&json_type.to_string()).to_string()).filter(|name| name != "nothing").collect()
                }
            };
            let help = match found {
                Value::String(text) if text.parse::<f64>().is_ok() && names.iter().any(|name| name.contains("number")) => {
                    Some(format!("without quotes: {text}"))
                }
                Value::String(text) if matches!(text.as_str(), "true" | "false") => Some(format!("without quotes: {text}")),
                _ => None,
            };
            (format!("{}{}", one_of(&names), if names.iter().any(|n| n.contains("number")) { limits() } else { String::new() }), help)
        }
        ValidationErrorKind::Minimum { .. }
        | ValidationErrorKind::Maximum { .. }
        | ValidationErrorKind::ExclusiveMinimum { .. }
        | ValidationErrorKind::ExclusiveMaximum { .. } => (format!("a number{}", limits()), None),
        ValidationErrorKind::Enum { .. } | ValidationErrorKind::Constant { .. } => {
            let mut names = Vec::new();
            constants(kind, &mut names);
            let help = found
                .as_str()
                .and_then(|typed| nearest(typed, names.iter().map(String::as_str)))
                .map(|name| format!("did you mean \"{name}\"?"));
            let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
            (one_of(&quoted), help)
        }
        ValidationErrorKind::MinItems { limit } => (format!("a list of {limit} or more"), None),
        ValidationErrorKind::MaxItems { limit } => (format!("a list of {limit} or fewer"), None),
        _ => (schema["description"].as_str().unwrap_or("something else").to_string(), None),
    }
}

fn type_name(json_type: &str) -> &str {
    match json_type {
        "integer" => "a whole number",
        "number" => "a number",
        "string" => "a text in quotes",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "a table",
        "null" => "nothing",
        other => other,
    }
}

/// Returns the alternatives of a schema in words.
fn alternatives(schema: &Value) -> String {
    let root = &compiled().schema;
    let mut words: Vec<String> = Vec::new();
    for branch in ["anyOf", "oneOf"].iter().filter_map(|word| schema[*word].as_array()).flatten() {
        let branch = follow(root, branch);
        if let Some(checker) = CHECKERS.iter().find(|checker| branch["format"] == checker.name) {
            words.push(checker.allowed.to_string());
        } else if let Some(json_type) = branch["type"].as_str() {
            words.push(type_name(json_type).to_string());
        } else {
            words.push(alternatives(branch));
        }
    }
    words.retain(|word| !word.is_empty() && word != "nothing");
    words.dedup();
    one_of(&words)
}

/// Returns true if one of the alternatives of a schema is `true` or `false`.
fn takes_booleans(schema: &Value) -> bool {
    let root = &compiled().schema;
    let mut branches = ["anyOf", "oneOf"].iter().filter_map(|word| schema[*word].as_array()).flatten();
    branches.any(|branch| follow(root, branch)["type"] == "boolean")
}

/// Appends the texts that would be allowed to `names`, if the error is about a wrong text. Returns false for any other error.
fn constants(kind: &ValidationErrorKind, names: &mut Vec<String>) -> bool {
    let mut add = |value: &Value| {
        if let Some(name) = value.as_str()
            && !names.iter().any(|known| known == name)
        {
            names.push(name.to_string());
        }
    };
    match kind {
        ValidationErrorKind::Constant { expected_value } => add(expected_value),
        ValidationErrorKind::Enum { options } => options.as_array().into_iter().flatten().for_each(add),
        _ => return false,
    }
    true
}

/// Returns the part of the schema that contains the keyword at this path.
fn parent_schema(schema_path: &str) -> &'static Value {
    let schema = &compiled().schema;
    let parent = schema_path.rsplit_once('/').map_or("", |(parent, _)| parent);
    schema.pointer(parent).unwrap_or(&Value::Null)
}

fn pointer_parts(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~")).collect()
}

fn pointer(parts: &[String]) -> String {
    parts.iter().map(|part| format!("/{}", part.replace('~', "~0").replace('/', "~1"))).collect()
}

/// Returns a path as a key, such as `ssd.gc.start` or `workload.streams[1].size`.
fn dotted(path: &[String]) -> String {
    let mut text = String::new();
    for part in path {
        if part.parse::<usize>().is_ok() {
            text.push_str(&format!("[{part}]"));
        } else {
            if !text.is_empty() {
                text.push('.');
            }
            text.push_str(part);
        }
    }
    text
}

/// Returns a value as the user wrote it, shortened.
pub(super) fn show(value: &Value) -> String {
    let text = match value {
        Value::Object(_) => return "a table".to_string(),
        Value::Array(items) => return format!("a list of {}", items.len()),
        other => other.to_string(),
    };
    if text.chars().count() > 60 { format!("{}…", text.chars().take(60).collect::<String>()) } else { text }
}
