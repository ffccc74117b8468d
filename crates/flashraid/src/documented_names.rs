//! The documentation of every configuration key and of every value in a report, found by its name.
//!
//! The texts are the comments of the types that hold the keys and values, as their JSON Schemas have them. `flashraid explain` prints them,
//! pages show them beside each value, and nothing is written twice.

use std::sync::OnceLock;

use serde_json::Value;

use crate::config::schema::{self, Property, follow, likely_among, properties};
use crate::report;

/// Kind of a documented name, which is the name of a configuration key or of a value in a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DocumentedNameKind {
    /// A key of a configuration.
    ConfigurationKey,
    /// A value of a report.
    ReportFigure,
}

/// A configuration key, or a value of a report, with its documentation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct KeyOrValueDocumentation {
    /// Full name, such as `ssd.gc.victim` or `response_us.all.p99`.
    pub name: String,
    /// Kind of the name: a configuration key, or a value of a report.
    pub kind: DocumentedNameKind,
    /// Documentation of the configuration key or report value that has this name, as one paragraph of plain text.
    pub documentation: String,
    /// JSON Schema of the value that has this name, which is the value of a configuration key or a value of a report.
    pub schema: &'static Value,
}

/// Returns all documented keys and report values, keys first.
pub fn all_key_and_value_documentation() -> &'static [KeyOrValueDocumentation] {
    static ALL: OnceLock<Vec<KeyOrValueDocumentation>> = OnceLock::new();
    static REPORT: OnceLock<Value> = OnceLock::new();
    ALL.get_or_init(|| {
        let (configuration, report) = (schema::schema(), REPORT.get_or_init(report::report_schema));
        let names = |root: &'static Value, kind: DocumentedNameKind| {
            let documented = move |property: Property<'static>| {
                let own = property.schema["description"].as_str();
                let text = own.or_else(|| follow(root, property.schema)["description"].as_str())?;
                Some(KeyOrValueDocumentation { name: property.path, kind, documentation: plain(text), schema: property.schema })
            };
            properties(root, kind == DocumentedNameKind::ReportFigure).into_iter().filter_map(documented)
        };
        // A report repeats the configuration, whose keys are there already.
        let figures = names(report, DocumentedNameKind::ReportFigure).filter(|figure| !figure.name.starts_with("config."));
        names(configuration, DocumentedNameKind::ConfigurationKey).chain(figures).collect()
    })
}

/// Returns documentation as one paragraph in which links are plain text.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace("[`", "`").replace("`]", "`")
}

/// Returns all entries whose full name is exactly `name`: a configuration key, a value of a report, or one of each. If there are none,
/// returns all entries whose full names end with a dot and `name`.
///
/// # Errors
///
/// Returns names that are similar to `name` if no entry is found, the most likely first. The list may be empty.
pub fn find_documentation_by_name(name: &str) -> Result<Vec<&'static KeyOrValueDocumentation>, Vec<&'static str>> {
    let name = name.trim().trim_start_matches("config.");
    let whole: Vec<&KeyOrValueDocumentation> =
        all_key_and_value_documentation().iter().filter(|documented| documented.name == name).collect();
    let tail = format!(".{name}");
    let found = if whole.is_empty() {
        all_key_and_value_documentation().iter().filter(|documented| documented.name.ends_with(&tail)).collect()
    } else {
        whole
    };
    if found.is_empty() { Err(likely(name)) } else { Ok(found) }
}

fn likely(name: &str) -> Vec<&'static str> {
    likely_among(name, || all_key_and_value_documentation().iter().map(|documented| documented.name.as_str()))
}

impl KeyOrValueDocumentation {
    /// Returns the documentation of this name, and then of the tables above it, one line each: `gc.runs: …`, `gc: …`.
    #[must_use]
    pub fn explanation_lines(&self) -> String {
        let line = |documented: &KeyOrValueDocumentation| format!("{}: {}", documented.name, documented.documentation);
        let mut lines = vec![line(self)];
        let mut name = self.name.as_str();
        while let Some((table, _)) = name.rsplit_once('.') {
            lines.extend(
                all_key_and_value_documentation()
                    .iter()
                    .find(|documented| documented.kind == self.kind && documented.name == table)
                    .map(line),
            );
            name = table;
        }
        lines.join("\n")
    }

    /// Returns the names directly below this one, if it is a table.
    pub fn names_directly_below(&self) -> impl Iterator<Item = &'static KeyOrValueDocumentation> + use<'_> {
        let is_part = |documented: &&KeyOrValueDocumentation| {
            let rest = documented.name.strip_prefix(&self.name).and_then(|rest| rest.strip_prefix('.'));
            documented.kind == self.kind && rest.is_some_and(|rest| !rest.contains('.'))
        };
        all_key_and_value_documentation().iter().filter(is_part)
    }
}

/// Returns the documentation of the key or report value with this name, to show beside it
/// ([`KeyOrValueDocumentation::explanation_lines`]). It is `None` for a name without documentation.
#[must_use]
pub fn explanation_of(name: &str) -> Option<String> {
    all_key_and_value_documentation().iter().find(|documented| documented.name == name).map(KeyOrValueDocumentation::explanation_lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_figures_are_found_by_their_whole_names_and_by_their_ends() {
        let victim = find_documentation_by_name("ssd.gc.victim").unwrap();
        assert_eq!((victim.len(), victim[0].kind), (1, DocumentedNameKind::ConfigurationKey));
        assert!(victim[0].documentation.starts_with("Choice of the block"), "{}", victim[0].documentation);
        assert_eq!(find_documentation_by_name("victim").unwrap()[0].name, "ssd.gc.victim");
        let p99 = find_documentation_by_name("response_us.all.p99").unwrap();
        assert_eq!(
            p99[0].explanation_lines(),
            "response_us.all.p99: 99th percentile, in microseconds: 99 % of the requests took no longer. The value exceeds the exact one by at \
             most 0.1 %.\n\
             response_us.all: Result for reads and writes together.\nresponse_us: Response times, in microseconds."
        );
        assert_eq!(find_documentation_by_name("config.ssd.gc.victim").unwrap(), victim, "as a report has it");
        assert!(find_documentation_by_name("gc").unwrap()[0].names_directly_below().any(|part| part.name == "gc.runs"));
    }

    #[test]
    fn near_misses_are_told() {
        assert_eq!(find_documentation_by_name("ssd.gc.victm").unwrap_err()[0], "ssd.gc.victim");
        assert_eq!(find_documentation_by_name("flash.erasse").unwrap_err()[0], "flash.erases");
        assert!(find_documentation_by_name("victm").unwrap_err().contains(&"ssd.gc.victim"));
        assert_eq!(find_documentation_by_name("qqqqqqqqqqqqqqqqqqqqqqqqqq").unwrap_err(), Vec::<&str>::new());
    }

    /// Every row of every table that names a figure names one that there is.
    #[test]
    fn every_figure_of_a_report_has_a_text() {
        let schema = report::report_schema();
        let missing: Vec<String> = properties(&schema, true)
            .into_iter()
            .filter(|property| property.schema["description"].is_null() && follow(&schema, property.schema)["description"].is_null())
            .map(|property| property.path)
            .filter(|path| !path.starts_with("config."))
            .collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
