//! `flashraid explain`: what a key of the configuration or a figure of a report means.

use std::fmt::Write;

use flashraid::config;
use flashraid::documented_names::{self, DocumentedNameKind, KeyOrValueDocumentation};
use flashraid_report::data::column_name;
use flashraid_report::figures;
use flashraid_report::text::wrap;

use crate::failure::{Failure, Outcome};
use crate::files;
use crate::output::narrow::columns;
use crate::output::reference;

/// Most names of which everything is printed; of more only the names are.
const WHOLE_MAX: usize = 3;

/// Runs `flashraid explain` with a name.
pub fn run(name: &str) -> Outcome {
    // Tables head some figures with names of their own.
    let heads = |figure: &&figures::Figure| figure.name.eq_ignore_ascii_case(name);
    let key = figures::all().find(heads).map(figures::Figure::key);
    let found = documented_names::find_documentation_by_name(name).or_else(|likely| {
        key.and_then(|key| documented_names::find_documentation_by_name(&key).ok()).or_else(|| of_column(name)).ok_or(likely)
    });
    match found {
        Ok(found) => files::print(&shown(&found)),
        Err(likely) => Err(Failure::Input(unknown(name, &likely))),
    }
}

/// Returns what a column of `points.csv` has, if there is one of this name.
fn of_column(name: &str) -> Option<Vec<&'static KeyOrValueDocumentation>> {
    let is_it = |documented: &&KeyOrValueDocumentation| column_name(documented.name.as_str()) == name;
    let found: Vec<_> = documented_names::all_key_and_value_documentation().iter().filter(is_it).collect();
    (!found.is_empty()).then_some(found)
}

fn unknown(name: &str, likely: &[&str]) -> String {
    let hint = match likely {
        [] => "`flashraid schema --markdown` lists the keys, `flashraid schema --report --markdown` the figures".to_owned(),
        [only] => format!("did you mean {only}?"),
        several => format!("did you mean one of {}?", several.join(", ")),
    };
    format!("there is no key or figure \"{name}\"; {hint}")
}

fn shown(found: &[&KeyOrValueDocumentation]) -> String {
    let mut text = String::new();
    for documented in found.iter().take(WHOLE_MAX) {
        if !text.is_empty() {
            text += "\n";
        }
        text += &whole(documented);
    }
    for documented in found.iter().skip(WHOLE_MAX) {
        let _ = writeln!(text, "{}{}", if text.is_empty() { "" } else { "see also: " }, documented.name);
    }
    text
}

/// Everything about one name.
fn whole(documented: &KeyOrValueDocumentation) -> String {
    let width = columns();
    let kind = match documented.kind {
        DocumentedNameKind::ReportFigure => "a figure of a report",
        _ => "a key of a configuration",
    };
    let mut text = format!("{}, {kind}\n", documented.name);
    let mut line = |line: &str| text += &(wrap(line, width, "  ") + "\n");
    documented.explanation_lines().lines().for_each(&mut line);
    let parts: Vec<&KeyOrValueDocumentation> = documented.names_directly_below().collect();
    if documented.kind == DocumentedNameKind::ConfigurationKey {
        // What a table is made of stands below.
        let facts = reference::of_key(&config::config_schema(), documented.schema);
        facts.iter().filter(|fact| *fact != "value: table").for_each(|fact| line(fact));
    }
    for part in parts {
        line(&format!("  {}: {}", part.name, part.documentation));
    }
    text
}
