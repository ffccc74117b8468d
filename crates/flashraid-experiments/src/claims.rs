//! The papers' numbers, from `claims.toml`.

use serde::Deserialize;
use toml::Table;

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
    /// Why the model may differ.
    #[serde(default)]
    pub reason: String,
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
            assert!(["", "fraction", "ratio", "MB/s", "ms"].contains(&fact.unit.as_str()), "{}", fact.unit);
        }
    }

    #[test]
    fn every_claim_belongs_to_a_figure() {
        let figures = crate::figures();
        for fact in facts() {
            assert!(figures.iter().any(|figure| crate::evaluation::belongs(&fact.id, figure.id)), "{} has no figure", fact.id);
        }
    }
}
