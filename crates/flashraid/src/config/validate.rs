//! Compares a configuration with its JSON Schema, and explains values that do not fit.

use serde_json::Value;

use super::misfits::{Misfit, Why, misfits};
use super::problems::{Problem, Problems, TextPlace, nearest, one_of};
use super::quantities::CHECKERS;
use super::schema::{follow, keys, likely_key, schema};
use super::tree::Tree;

/// Reports everything in `tree` that does not fit the schema, and returns its paths.
pub(super) fn validate(tree: &Tree, problems: &mut Vec<Problem>) -> Vec<Vec<String>> {
    let json = tree.to_json();
    let mut report = Report { tree, problems, reported: Vec::new() };
    for misfit in misfits(schema(), schema(), &json, &[]) {
        if report.is_full() {
            break;
        }
        report.add(&misfit);
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

    fn add(&mut self, misfit: &Misfit<'_>) {
        let Misfit { path, found, schema, why } = misfit;
        // A null stands for a value that could not be read and was reported.
        if found.is_null() {
            self.reported.push(path.clone());
            return;
        }
        match why {
            Why::UnknownKeys(unknown) => {
                for key in unknown.iter().take(Problems::MAX + 1) {
                    self.unknown_key(path, key, schema);
                }
            }
            Why::MissingKey(key) => self.push(path, format!("{} needs `{key}`", self.subject(path)), None),
            Why::NoAlternative(alternatives) => self.no_alternative(misfit, alternatives),
            _ => {
                let (allowed, help) = describe(misfit);
                let message = format!("{} is {}, but must be {allowed}", self.subject(path), show(found));
                self.push(path, message, help);
            }
        }
    }

    /// Reports a value that fits none of the allowed alternatives.
    fn no_alternative(&mut self, misfit: &Misfit<'_>, alternatives: &[Vec<Misfit<'_>>]) {
        let Misfit { path, found, schema, .. } = misfit;
        let depth = path.len();
        let mut flat = Vec::new();
        flatten(alternatives, depth, &mut flat);
        let of_type: Vec<_> = flat.iter().filter(|misfits| !misfits.iter().any(|misfit| is_wrong_type(misfit, depth))).collect();
        // Tables with the given tag (`kind`, `policy` …) come first. The nearest variant tells what is wrong inside.
        let fitting = of_type
            .iter()
            .filter(|misfits| !misfits.iter().any(|misfit| is_other_tag(misfit, depth) || missing_tag(misfit, depth).is_some()));
        let names_alone = |misfits: &[&Misfit<'_>]| misfits.iter().all(|misfit| matches!(misfit.why, Why::Name(_)));
        if let Some(misfits) = fitting.filter(|misfits| !names_alone(misfits)).min_by_key(|misfits| misfits.len())
            && !(found.is_string() && of_type.len() > 1)
        {
            misfits.iter().for_each(|misfit| self.add(misfit));
            return;
        }
        let untagged: Vec<_> =
            of_type.iter().flat_map(|misfits| misfits.iter()).filter_map(|misfit| Some((misfit, missing_tag(misfit, depth)?))).collect();
        if let [(_, tag), ..] = untagged[..] {
            let names: Vec<String> = untagged
                .iter()
                .filter_map(|(misfit, _)| misfit.schema["properties"][tag]["const"].as_str())
                .map(|name| format!("\"{name}\""))
                .collect();
            let message = format!("{} is a table without `{tag}`, which must be {}", self.subject(path), one_of(&names));
            self.push(path, message, None);
            return;
        }
        // The rest are names or tags that do not exist.
        let candidates = if of_type.is_empty() { flat.iter().collect() } else { of_type };
        let mut names: Vec<&str> = Vec::new();
        let mut named_path = path.clone();
        for misfit in candidates.iter().flat_map(|misfits| misfits.iter()) {
            if let Why::Name(allowed) = &misfit.why {
                named_path.clone_from(&misfit.path);
                for name in allowed {
                    if !names.contains(name) {
                        names.push(name);
                    }
                }
            }
        }
        if names.is_empty() || (found.is_object() && named_path.len() == depth) {
            let message = format!("{} is {}, but must be {}", self.subject(path), show(found), alternatives_in_words(schema));
            self.push(path, message, None);
        } else {
            let wrong = found.pointer(&pointer(&named_path[depth..])).unwrap_or(found);
            let is_here = named_path.len() == depth;
            self.not_one_of(&named_path, wrong, &names, is_here && takes_booleans(schema));
        }
    }

    fn not_one_of(&mut self, path: &[String], found: &Value, names: &[&str], or_boolean: bool) {
        let booleans = ["true", "false"].into_iter().filter(|_| or_boolean);
        let allowed: Vec<String> = booleans.clone().map(str::to_string).chain(names.iter().map(|name| format!("\"{name}\""))).collect();
        let message = format!("{} is {}, but must be {}", self.subject(path), show(found), one_of(&allowed));
        let help = found.as_str().and_then(|typed| match booleans.clone().find(|boolean| *boolean == typed) {
            Some(boolean) => Some(format!("without quotes: {boolean}")),
            None => nearest(typed, names.iter().copied()).map(|name| format!("did you mean \"{name}\"?")),
        });
        self.push(path, message, help);
    }

    fn unknown_key(&mut self, path: &[String], key: &str, schema: &Value) {
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
        } else if let Some(likely) = likely_key(&name) {
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
fn flatten<'m, 'a>(alternatives: &'m [Vec<Misfit<'a>>], depth: usize, flat: &mut Vec<Vec<&'m Misfit<'a>>>) {
    for misfits in alternatives {
        let nested = misfits.iter().find_map(|misfit| match &misfit.why {
            Why::NoAlternative(nested) if misfit.path.len() == depth => Some(nested),
            _ => None,
        });
        match nested {
            Some(nested) => flatten(nested, depth, flat),
            None => flat.push(misfits.iter().collect()),
        }
    }
}

/// Returns true if the value at `depth` has the wrong type.
fn is_wrong_type(misfit: &Misfit<'_>, depth: usize) -> bool {
    matches!(misfit.why, Why::Type) && misfit.path.len() == depth
}

/// Returns true if the value at `depth` is a table of another variant.
fn is_other_tag(misfit: &Misfit<'_>, depth: usize) -> bool {
    let is_tag = misfit.path.last().is_some_and(|key| TAGS.contains(&key.as_str()));
    matches!(misfit.why, Why::Name(_)) && !misfit.schema["const"].is_null() && is_tag && misfit.path.len() == depth + 1
}

/// Returns the key that names the variant of the table at `depth`, if the table lacks it.
fn missing_tag<'a>(misfit: &Misfit<'a>, depth: usize) -> Option<&'a str> {
    match misfit.why {
        Why::MissingKey(key) if misfit.path.len() == depth && TAGS.contains(&key) => Some(key),
        _ => None,
    }
}

/// Keys that choose the variant of a table. A table with another choice replaces the inherited one instead of adding to it.
pub(super) const TAGS: [&str; 4] = ["kind", "process", "distribution", "policy"];
/// Name of the table that has a key of [`TAGS`], but the same other keys for every choice. It keeps its keys if the choice changes.
pub(super) const WITHOUT_VARIANTS: &str = "cache";

/// Returns the allowed values in words, and a hint for the fix if there is one.
fn describe(misfit: &Misfit<'_>) -> (String, Option<String>) {
    let Misfit { found, schema, why, .. } = misfit;
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
    match why {
        Why::Type => {
            let types = schema["type"].as_array().map_or(std::slice::from_ref(&schema["type"]), Vec::as_slice);
            let names: Vec<String> =
                types.iter().filter_map(Value::as_str).map(|name| type_name(name).to_string()).filter(|name| name != "nothing").collect();
            let help = match found {
                Value::String(text) if text.parse::<f64>().is_ok() && names.iter().any(|name| name.contains("number")) => {
                    Some(format!("without quotes: {text}"))
                }
                Value::String(text) if matches!(text.as_str(), "true" | "false") => Some(format!("without quotes: {text}")),
                _ => None,
            };
            (format!("{}{}", one_of(&names), if names.iter().any(|n| n.contains("number")) { limits() } else { String::new() }), help)
        }
        Why::Range => (format!("a number{}", limits()), None),
        Why::Name(names) => {
            let help =
                found.as_str().and_then(|typed| nearest(typed, names.iter().copied())).map(|name| format!("did you mean \"{name}\"?"));
            let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
            (one_of(&quoted), help)
        }
        Why::TooFewItems(least) => (format!("a list of {least} or more"), None),
        Why::TooManyItems(most) => (format!("a list of {most} or fewer"), None),
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
fn alternatives_in_words(schema: &Value) -> String {
    let root = self::schema();
    let mut words: Vec<String> = Vec::new();
    for branch in ["anyOf", "oneOf"].iter().filter_map(|word| schema[*word].as_array()).flatten() {
        let branch = follow(root, branch);
        if let Some(checker) = CHECKERS.iter().find(|checker| branch["format"] == checker.name) {
            words.push(checker.allowed.to_string());
        } else if let Some(json_type) = branch["type"].as_str() {
            words.push(type_name(json_type).to_string());
        } else {
            words.push(alternatives_in_words(branch));
        }
    }
    words.retain(|word| !word.is_empty() && word != "nothing");
    words.dedup();
    one_of(&words)
}

/// Returns true if one of the alternatives of a schema is `true` or `false`.
fn takes_booleans(schema: &Value) -> bool {
    let root = self::schema();
    let mut branches = ["anyOf", "oneOf"].iter().filter_map(|word| schema[*word].as_array()).flatten();
    branches.any(|branch| follow(root, branch)["type"] == "boolean")
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
