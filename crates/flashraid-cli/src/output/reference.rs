//! Generates pages of the book: all configuration keys, from the JSON Schema, all figures of a report, from its schema, and all presets.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use flashraid::config::{Preset, PresetKind};
use flashraid::documented_names::{self, DocumentedNameKind, KeyOrValueDocumentation};
use flashraid_experiments::card::{self, Grade, Graded, GradedPercentile, Kind, Statistic};
use flashraid_report::number;
use serde_json::Value;

const KEYS_INTRO: &str = "\
# Configuration keys

<!-- Made by `flashraid schema --markdown`; `make pages` writes it anew, a test compares. -->

Every key of a configuration, from the types that the program reads it with; `flashraid schema` prints the same as JSON Schema, for editors.
Keys are written in [TOML](https://toml.io) or on the command line, as in `--set ssd.gc.victim=fifo`.

- *Default* is what holds where neither the configuration nor the [preset](presets.md) it builds on says anything. Without a default the key may be left out, and its meaning says what happens then; **required** ones may not.
- `ssd` always builds on a preset (`ggc2014` unless it names another), `workload` on `hpc-w` unless it names one or has keys of its own.
- Quantities such as [duration](#quantities) are texts with a unit and explained at the end.
- Keys that have no effect beside others are named in a warning, keys that contradict others are refused, both before anything runs.
";

/// Returns the page of all configuration keys. `quantities` has the name of each quantity, and the values that it allows.
pub fn keys<'a>(schema: &Value, quantities: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut page = Page { schema, text: KEYS_INTRO.to_owned(), done: BTreeSet::new(), homes: BTreeMap::new() };
    page.section("", schema);
    page.text += "\n## Quantities\n\n| quantity | written as |\n|---|---|\n";
    for (name, allowed) in quantities {
        let _ = writeln!(page.text, "| {} | {} |", name.replace('-', " "), cell(allowed));
    }
    page.text
}

const FIGURES_INTRO: &str = "\
# Figures by name

<!-- Made by `flashraid schema --report --markdown`; `make pages` writes it anew, a test compares. -->

Every value of a report, by its name in `--json`; `flashraid explain NAME` prints the same. How they are computed stands in [What the figures mean](figures.md).
";

/// Returns the page of all values of a report, with a section for each table of the report.
pub fn figures() -> String {
    let mut text = FIGURES_INTRO.to_owned();
    let all = documented_names::all_key_and_value_documentation();
    let (tables, single): (Vec<_>, Vec<_>) = all
        .iter()
        .filter(|name| name.kind == DocumentedNameKind::ReportFigure && !name.name.contains('.'))
        .partition(|name| name.names_directly_below().next().is_some());
    let mut section = |head: &str, words: &str, rows: &[&KeyOrValueDocumentation]| {
        let _ = write!(text, "\n## {head}\n\n{words}\n\n| figure | meaning |\n|---|---|\n");
        for row in rows {
            let _ = writeln!(text, "| `{}` | {} |", row.name, cell(&row.documentation));
        }
    };
    section("The run", "What is not part of a table.", &single);
    for table in tables {
        let prefix = format!("{}.", table.name);
        let below = |name: &&KeyOrValueDocumentation| name.kind == DocumentedNameKind::ReportFigure && name.name.starts_with(&prefix);
        section(&table.name, &cell(&table.documentation), &all.iter().filter(below).collect::<Vec<_>>());
    }
    text
}

/// Returns the allowed values of a key, its default, and the meaning of every name that it can have, as plain lines.
pub fn of_key(schema: &Value, property: &Value) -> Vec<String> {
    let mut page = Page { schema, text: String::new(), done: BTreeSet::new(), homes: BTreeMap::new() };
    let value = unmarked(&page.value("", property));
    let default = Some(&property["default"]).filter(|default| !default.is_null() && !default.is_object());
    let choices = page.choices("", property);
    let choices = choices.lines().filter_map(|line| line.strip_prefix("- ` = ")).map(|line| format!("  {}", unmarked(line)));
    [("value", Some(value)), ("default", default.map(Value::to_string))]
        .into_iter()
        .filter_map(|(what, text)| Some(format!("{what}: {}", text.filter(|text| !text.is_empty())?)))
        .chain(choices)
        .collect()
}

/// Returns a text without marks of code and links.
fn unmarked(text: &str) -> String {
    let mut rest = text.replace('`', "");
    while let Some((before, link)) = rest.split_once("](") {
        let (name, after) = (before.replacen('[', "", 1), link.split_once(')').map_or("", |(_, after)| after));
        rest = format!("{name}{after}");
    }
    rest
}

/// Keys of a table, each with its schema.
type Keys<'a> = Vec<(&'a String, &'a Value)>;

/// The page of keys while it is being written.
struct Page<'a> {
    schema: &'a Value,
    text: String,
    /// Definitions that already have a section. Streams contain workloads, which contain streams, so each is described once.
    done: BTreeSet<String>,
    /// The key below which a definition has its section, which is its first use.
    homes: BTreeMap<&'a str, String>,
}

impl<'a> Page<'a> {
    /// Resolves a reference. Returns the name of the definition, and the definition.
    fn follow(&self, schema: &'a Value) -> (Option<&'a str>, &'a Value) {
        let reference = schema["$ref"].as_str();
        let target = reference.and_then(|reference| self.schema.pointer(reference.trim_start_matches('#')));
        (reference, target.unwrap_or(schema))
    }

    /// Returns the alternatives of a value, without `null`, which stands for a key that is left out.
    fn alternatives(&self, schema: &'a Value) -> Vec<&'a Value> {
        let (_, target) = self.follow(schema);
        match target["anyOf"].as_array() {
            Some(branches) => {
                branches.iter().filter(|branch| branch["type"] != "null").flat_map(|branch| self.alternatives(branch)).collect()
            }
            None => vec![schema],
        }
    }

    /// Writes the table of keys of an object, or the tables of its variants. The sections of its subtables follow.
    fn section(&mut self, path: &str, schema: &'a Value) {
        let (reference, target) = self.follow(schema);
        if !reference.is_none_or(|reference| self.done.insert(reference.to_owned())) {
            return;
        }
        if !path.is_empty() {
            let _ = write!(self.text, "\n## {path}\n\n{}\n", own_words(target));
        }
        match (target["properties"].as_object(), target["oneOf"].as_array()) {
            (Some(properties), _) => self.table(path, &properties.iter().collect(), &target["required"]),
            (None, Some(variants)) => {
                for variant in variants {
                    let Some(properties) = variant["properties"].as_object() else { continue };
                    let Some((tag, name)) = properties.iter().find_map(|(key, value)| Some((key, value["const"].as_str()?))) else {
                        continue;
                    };
                    let _ = write!(self.text, "\n### {path} with {tag} = \"{name}\"\n\n{}\n", own_words(variant));
                    let others: Keys<'a> = properties.iter().filter(|(key, _)| *key != tag).collect();
                    if !others.is_empty() {
                        self.table(path, &others, &variant["required"]);
                    }
                }
            }
            (None, None) => {}
        }
    }

    fn table(&mut self, path: &str, keys: &Keys<'a>, required: &Value) {
        let is_required = |key: &str| required.as_array().is_some_and(|keys| keys.iter().any(|name| name == key));
        self.text += "\n| key | meaning | value | default |\n|---|---|---|---|\n";
        let mut choices = String::new();
        for &(key, property) in keys {
            let full = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            let default = match &property["default"] {
                Value::Null if is_required(key) => "**required**".to_owned(),
                Value::Null | Value::Object(_) => String::new(),
                value => format!("`{value}`"),
            };
            let value = self.value(&full, property);
            let _ = writeln!(self.text, "| `{full}` | {} | {value} | {default} |", cell(own_words(property)));
            choices += &self.choices(key, property);
        }
        if !choices.is_empty() {
            self.text += "\n";
            self.text += &choices;
        }
        for &(key, property) in keys {
            let full = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            for alternative in self.alternatives(property) {
                let (_, target) = self.follow(alternative);
                let has_variants =
                    target["oneOf"].as_array().is_some_and(|variants| variants.iter().any(|one| one["properties"].is_object()));
                if target["properties"].is_object() || has_variants {
                    self.section(&full, alternative);
                }
            }
        }
    }

    /// Returns the values that a key may have, as text.
    fn value(&mut self, path: &str, schema: &'a Value) -> String {
        let texts: Vec<String> = self.alternatives(schema).into_iter().map(|one| self.one_value(path, one)).collect();
        texts.join(" or ")
    }

    fn one_value(&mut self, path: &str, schema: &'a Value) -> String {
        let (reference, target) = self.follow(schema);
        if let Some(names) = names(target) {
            return names.into_iter().map(|name| format!("`\"{name}\"`")).collect::<Vec<_>>().join(", ");
        }
        if target["properties"].is_object() || target["oneOf"].is_array() {
            let home = reference.map_or(path, |reference| self.homes.entry(reference).or_insert_with(|| path.to_owned()));
            return format!("[table](#{})", anchor(home));
        }
        let kinds: Vec<&str> = match &target["type"] {
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null").collect(),
            kind => kind.as_str().into_iter().collect(),
        };
        let format = target["format"].as_str().filter(|_| target["pattern"].is_string());
        if let Some(format) = format {
            return format!("[{}](#quantities)", format.replace('-', " "));
        }
        let range = range(target);
        match kinds.first() {
            Some(&"boolean") => "`true`, `false`".to_owned(),
            Some(&"integer") => format!("whole number{range}"),
            Some(&"number") => format!("number{range}"),
            Some(&"array") => match target["items"].is_object() {
                true => format!("list, each {}", self.value(path, &target["items"])),
                false => "list".to_owned(),
            },
            _ => "text".to_owned(),
        }
    }

    /// Returns the meaning of each name that a key may have.
    fn choices(&self, key: &str, property: &'a Value) -> String {
        let mut text = String::new();
        for alternative in self.alternatives(property) {
            let (_, target) = self.follow(alternative);
            for one in target["oneOf"].as_array().into_iter().flatten().chain([target]) {
                if let (Some(name), Some(meaning)) = (one["const"].as_str(), one["description"].as_str()) {
                    let _ = writeln!(text, "- `{key} = \"{name}\"`: {}", in_one_line(meaning));
                }
            }
        }
        text
    }
}

/// Returns the names of an enumeration, or `None` if the schema is none.
fn names(schema: &Value) -> Option<Vec<&str>> {
    if let Some(name) = schema["const"].as_str() {
        return Some(vec![name]);
    }
    if let Some(names) = schema["enum"].as_array() {
        return names.iter().map(Value::as_str).collect();
    }
    let variants = schema["oneOf"].as_array()?;
    let names: Vec<Vec<&str>> = variants.iter().map(names).collect::<Option<_>>()?;
    Some(names.concat())
}

/// Returns the limits of a number as text.
fn range(schema: &Value) -> String {
    let whole = |number: &Value| number.as_f64().map(|number| number.to_string());
    // Limits that only come from the integer type are left out.
    let greatest = whole(&schema["maximum"]).filter(|_| schema["maximum"].as_f64() < Some(4e9));
    match (whole(&schema["minimum"]), greatest) {
        (Some(least), Some(greatest)) => format!(", {least} to {greatest}"),
        (Some(least), None) => format!(", at least {least}"),
        (None, Some(greatest)) => format!(", at most {greatest}"),
        (None, None) => String::new(),
    }
}

fn own_words(schema: &Value) -> &str {
    schema["description"].as_str().unwrap_or_default()
}

fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Escapes a text for a cell of a table.
fn cell(text: &str) -> String {
    in_one_line(text).replace('|', "\\|")
}

/// Returns the anchor that mdBook generates for a heading.
fn anchor(heading: &str) -> String {
    heading.chars().filter(|c| c.is_alphanumeric() || *c == '_' || *c == '-').collect::<String>().to_lowercase()
}

const PRESETS_INTRO: &str = "\
# Presets

<!-- Made by `flashraid preset list --markdown`; `make pages` writes it anew, a test compares. -->

The devices, arrays and workloads that come with the program, each as the section of a configuration that it stands for.
A configuration names one and replaces what it likes ([keys](reference.md)); `flashraid preset show NAME` prints one.
Comments give the source of every value: the paper, or the documented choice where the paper leaves it open.
Drives that follow a data sheet have a *report card*, which says how far the simulation meets it; `flashraid preset card NAME` simulates it again.
Of its figures some were *fitted*: a number of the preset was chosen to meet them. Others are *predicted*: nothing was chosen by them.
*Reported* figures stand beside the simulation, and nothing is claimed of them.
Where percentiles of the drive are published, a second table has them. A *bound* is a value that the data sheet does not exceed.
";

/// Returns the page of all presets. `card` returns the report card of a preset, if it has one.
pub fn presets(presets: &[Preset], card: &dyn Fn(&str) -> Option<Graded>) -> String {
    let mut text = PRESETS_INTRO.to_owned();
    for (kind, title, key) in [
        (PresetKind::Device, "Devices", "ssd.preset"),
        (PresetKind::Array, "Arrays", "array.preset"),
        (PresetKind::Workload, "Workloads", "workload.preset"),
    ] {
        let _ = write!(text, "\n## {title}\n\nFor `{key}`.\n");
        for preset in presets.iter().filter(|preset| preset.kind == kind) {
            let _ = write!(text, "\n### {}\n\n```toml\n{}\n```\n", preset.name, preset.toml_text.trim_end());
            if let Some(card) = Some(&preset.name).filter(|_| kind == PresetKind::Device).and_then(|name| card(name)) {
                text += &card_table(&card);
            }
        }
    }
    text
}

/// Formats the report card of a drive as a table.
fn card_table(card: &Graded) -> String {
    let (held, judged) = card.tally();
    let mut text =
        format!("\nReport card, after {} {}, at scale {}: {held} of {judged} figures hold.\n\n", card.after, card.capacity, card.scale);
    text += "| figure | unit | data sheet | simulated | difference | tolerance | kind | holds |\n|---|---|---:|---:|---:|---:|---|---|\n";
    for figure in &card.figures {
        let row = card_row(figure);
        let _ = writeln!(text, "| {} |", row.map(|text| cell(&text)).join(" | "));
    }
    if !card.percentiles.is_empty() {
        let (held, judged) = card.tally_of_percentiles();
        let of_them = if judged == 0 { "none is judged".to_owned() } else { format!("{held} of {judged} hold") };
        let _ = write!(text, "\nPercentiles, as published and as simulated: {of_them}.\n\n");
        text += "| load | figure | unit | published | simulated | allowed | kind | holds |\n|---|---|---|---:|---:|---:|---|---|\n";
        for percentile in &card.percentiles {
            let _ = writeln!(text, "| {} |", percentile_row(percentile).map(|text| cell(&text)).join(" | "));
        }
    }
    text
}

/// Formats a percentile of a report card: load, statistic, unit, both values, the tolerance, the kind, and the verdict.
pub fn percentile_row(percentile: &GradedPercentile) -> [String; 8] {
    let published = match (percentile.published, percentile.published_to) {
        (Some(from), Some(to)) => format!("{} to {}", number::three_digits(from), number::three_digits(to)),
        (Some(value), None) => number::three_digits(value),
        (None, _) => String::new(),
    };
    let allowed = percentile.tolerance.map_or_else(String::new, |tolerance| match (percentile.kind, percentile.of) {
        (Kind::Bound, _) if tolerance > 0.0 => format!("at most, times {}", 1.0 + tolerance),
        (Kind::Bound, _) => "at most".to_owned(),
        (_, Statistic::Consistency) => format!("{:.0} points", 100.0 * tolerance),
        _ => format!("{:.0} %", 100.0 * tolerance),
    });
    let holds = match percentile.holds {
        Some(true) => "yes",
        Some(false) => "no",
        None if percentile.is_unlike_drives() => "not what drives do",
        None => "",
    };
    let simulated = percentile.simulated.map_or_else(|| "too few requests".to_owned(), number::three_digits);
    [
        percentile.load.clone(),
        percentile.of.to_string(),
        percentile.unit.clone(),
        published,
        simulated + if percentile.steady { "" } else { " (not steady)" },
        allowed,
        percentile.kind.name().to_owned(),
        holds.to_owned(),
    ]
}

/// Formats a figure of a report card: title, unit, both values, their difference, the tolerance, the kind, and the verdict.
pub fn card_row(figure: &Grade) -> [String; 8] {
    let value = |value: f64| match figure.unit.as_str() {
        "IOPS" | "MB/s" => number::grouped(value.round() as u64),
        _ => number::three_digits(value),
    };
    let difference = |share: f64| format!("{:+.1} %", share * 100.0);
    let allowed = match (figure.range, figure.tolerance) {
        (Some([low, high]), _) => format!("{low} to {high}"),
        (None, Some(tolerance)) => format!("{:.0} %", tolerance * 100.0),
        (None, None) => String::new(),
    };
    let holds = match figure.holds {
        Some(true) => "yes",
        Some(false) => "no",
        None => "",
    };
    [
        card::title(&figure.name).to_owned(),
        figure.unit.clone(),
        value(figure.data_sheet),
        figure.simulated.map_or_else(|| "undefined".to_owned(), value) + if figure.steady { "" } else { " (not steady)" },
        figure.difference().map_or_else(String::new, difference),
        allowed,
        figure.kind.name().to_owned(),
        holds.to_owned(),
    ]
}
