//! The papers' numbers, from `claims.toml`.

use serde::Deserialize;
use toml::Table;

use crate::{Figure, Point};

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
    /// Why the model may differ.
    #[serde(default)]
    pub reason: String,
    /// What the reason rests on: the claim measured again with other settings.
    #[serde(default)]
    pub vary: Vec<Variation>,
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

impl Fact {
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
    #[derive(Deserialize)]
    struct File {
        claim: Vec<Fact>,
    }
    toml::from_str::<File>(include_str!("../claims.toml")).expect("claims.toml is well-formed").claim
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
