//! The papers' numbers, from `claims.toml`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use toml::Table;

use crate::{FACTOR, Figure, Point};

/// What a paper reports.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// For instance `ggc.fig6.hpc-w`: the figure, then which of its claims.
    pub id: String,
    /// Where the paper says it.
    pub figure: String,
    /// What is claimed.
    pub what: String,
    /// Unit of the numbers; empty for a statement.
    #[serde(default)]
    pub unit: String,
    /// A number, a table of named numbers, or nothing for a statement.
    #[serde(default)]
    paper: Option<toml::Value>,
    /// How a number that the paper does not print follows from numbers that it prints.
    #[serde(default)]
    pub derived: String,
    /// What to know before judging.
    #[serde(default)]
    pub note: String,
    /// What the paper's figures come from.
    pub evidence: Evidence,
    /// What agreement would mean.
    #[serde(default)]
    pub role: Role,
    /// The paper's own load is more than its device can serve: response times are compared over its number of requests.
    #[serde(default)]
    pub overload: bool,
    /// Factors within which values agree whose names contain these words, from the paper's own repeatability.
    #[serde(default)]
    pub within: BTreeMap<String, f64>,
    /// Why the model may differ.
    #[serde(default)]
    pub reason: String,
    /// What the reason rests on: the claim measured again with other settings.
    #[serde(default)]
    pub vary: Vec<Variation>,
}

/// What the figures of a paper come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// Measurements of drives.
    Hardware,
    /// Simulations of generated requests whose parameters the paper gives.
    Synthetic,
    /// Simulations of traces, in whose place there are stand-ins.
    Trace,
}

impl Evidence {
    /// All of them.
    pub const ALL: [Evidence; 3] = [Evidence::Hardware, Evidence::Synthetic, Evidence::Trace];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Evidence::Hardware => "hardware measurements",
            Evidence::Synthetic => "published synthetic parameters",
            Evidence::Trace => "traces, for which there are stand-ins",
        }
    }
}

/// What it means if a claim agrees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Parameters were fitted to some of its values.
    Fitted,
    /// It follows from how things are built, or could hardly fail.
    ByConstruction,
    /// Nothing was fitted to it.
    #[default]
    Prediction,
}

impl Role {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Role::Fitted => "fitted",
            Role::ByConstruction => "by construction",
            Role::Prediction => "prediction",
        }
    }
}

/// What several claims come from that do not agree.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RootCause {
    /// The cause.
    pub cause: String,
    /// How it was read, or which settings show it.
    pub reading: String,
    /// What is known of it besides the claims themselves.
    pub known: String,
    /// Their names, or with `*` how these begin.
    pub claims: Vec<String>,
}

/// Other settings for a figure, to see what they do to a claim.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variation {
    /// Keys and values: `coordination.force_until=watermark; coordination.t_soft=start+4`.
    pub set: String,
    /// Only the points whose names contain one of these; what the claim takes from others is not measured. Without any all points.
    #[serde(default)]
    pub points: Vec<String>,
    /// Only the points whose names contain one of these have the settings, the others stay as they are. Without any all have them.
    #[serde(default)]
    pub only: Vec<String>,
    /// What the paper says against these settings, which then establish nothing.
    #[serde(default)]
    pub contradicts: String,
}

impl Variation {
    /// The keys with their values.
    fn settings(&self) -> impl Iterator<Item = (&str, &str)> {
        self.set.split("; ").map(|setting| setting.split_once('=').expect("claims.toml varies by key=value; key=value"))
    }

    /// A figure's points with these settings.
    pub fn points(&self, figure: &Figure) -> Vec<Point> {
        let is_among = |point: &Point, parts: &[String]| parts.is_empty() || parts.iter().any(|part| point.name.contains(part));
        let points = figure.points.iter().filter(|point| is_among(point, &self.points)).cloned();
        let vary = |point: Point| match is_among(&point, &self.only) {
            true => self.settings().fold(point, |point, (key, value)| point.set(key, value)),
            false => point,
        };
        points.map(vary).collect()
    }
}

impl RootCause {
    /// Returns true if the claim is one of its claims.
    pub fn covers(&self, id: &str) -> bool {
        self.claims.iter().any(|name| name.strip_suffix('*').map_or(name == id, |begin| id.starts_with(begin)))
    }
}

impl Fact {
    /// The factor within which one of its values agrees.
    pub fn factor(&self, name: &str) -> f64 {
        self.within.iter().find(|(words, _)| name.contains(words.as_str())).map_or(FACTOR, |(_, factor)| *factor)
    }

    /// The paper's numbers by name; a single one has no name.
    pub fn numbers(&self) -> Vec<(String, f64)> {
        match &self.paper {
            None => Vec::new(),
            Some(toml::Value::Table(table)) => named(table),
            Some(value) => vec![(String::new(), float(value))],
        }
    }
}

fn named(table: &Table) -> Vec<(String, f64)> {
    table.iter().map(|(name, value)| (name.clone(), float(value))).collect()
}

fn float(value: &toml::Value) -> f64 {
    value.as_float().or(value.as_integer().map(|number| number as f64)).expect("claims.toml holds numbers")
}

/// All of them, in the order of the papers.
pub fn facts() -> Vec<Fact> {
    file().claim
}

/// The root causes, in the order of their weight.
pub fn root_causes() -> Vec<RootCause> {
    file().root_cause
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    claim: Vec<Fact>,
    root_cause: Vec<RootCause>,
}

fn file() -> File {
    toml::from_str(include_str!("../claims.toml")).expect("claims.toml is well-formed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_claim_is_complete_and_unique() {
        let facts = facts();
        let ids: BTreeSet<&str> = facts.iter().map(|fact| fact.id.as_str()).collect();
        assert_eq!(ids.len(), facts.len());
        for fact in &facts {
            assert_eq!(fact.numbers().is_empty(), fact.unit.is_empty(), "{}", fact.id);
            assert!(["", "reduction", "fraction", "ratio", "MB/s", "ms", "strips"].contains(&fact.unit.as_str()), "{}", fact.unit);
        }
    }

    #[test]
    fn every_variation_is_of_points_and_is_a_configuration() {
        let figures = crate::figures();
        for (figure, fact) in figures.iter().flat_map(|figure| figure.facts().into_iter().map(move |fact| (figure, fact))) {
            for variation in &fact.vary {
                let points = variation.points(figure);
                assert!(!points.is_empty(), "{}: no point is called {:?}", fact.id, variation.points);
                for point in points {
                    let loaded = flashraid::config::from_str(&point.name, point.text, &point.settings(crate::Size::Full, &[]), Some(7));
                    assert!(loaded.is_ok(), "{} {}: {}", fact.id, variation.set, loaded.unwrap_err());
                }
            }
        }
    }

    #[test]
    fn root_causes_are_of_claims() {
        let facts = facts();
        for cause in root_causes() {
            for claim in &cause.claims {
                assert!(facts.iter().any(|fact| cause.covers(&fact.id)), "{}: no claim is called {claim}", cause.cause);
            }
        }
    }

    /// A reason without a run beside it would be an assertion.
    #[test]
    fn every_reason_has_runs_beside_it() {
        for fact in facts() {
            assert_eq!(fact.reason.is_empty(), fact.vary.is_empty(), "{}", fact.id);
        }
    }

    #[test]
    fn every_claim_belongs_to_a_figure() {
        let of_figures: BTreeSet<String> = crate::figures().iter().flat_map(Figure::facts).map(|fact| fact.id).collect();
        for fact in facts() {
            assert!(of_figures.contains(&fact.id), "{} has no figure", fact.id);
        }
    }
}
