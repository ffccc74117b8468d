//! The papers' numbers, from `claims.toml` and `claims-later.toml`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use toml::Table;

use crate::{Claim, FACTOR, Figure, Point};

/// A claim of a paper.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// Name of the figure and of the claim, such as `ggc.fig6.hpc-w`.
    pub id: String,
    /// Figure or table of the paper that has the claim.
    pub figure: String,
    /// Text of the claim.
    pub what: String,
    /// Unit of the numbers; empty for a statement.
    #[serde(default)]
    pub unit: String,
    /// The paper's number, a table of named numbers, or nothing for a statement.
    #[serde(default)]
    paper: Option<toml::Value>,
    /// Derivation of a number that the paper does not print from numbers that it prints.
    #[serde(default)]
    pub derived: String,
    /// Facts to know before judging the claim.
    #[serde(default)]
    pub note: String,
    /// Kind of evidence behind the paper's figures.
    pub evidence: Evidence,
    /// Name of the trace without which the claim cannot be judged; empty if it needs none.
    #[serde(default)]
    pub trace: String,
    /// Meaning of an agreement.
    #[serde(default)]
    pub role: Role,
    /// True if the paper's own load is more than its device can serve. Response times are then compared over its number of requests.
    #[serde(default)]
    pub overload: bool,
    /// Words in the names of values to which parameters were fitted. These values are shown, and the others are judged.
    #[serde(default)]
    pub fitted: Vec<String>,
    /// True if first seeds give the claim different verdicts. It is then judged with five of them, at least four of which must agree.
    #[serde(default)]
    pub edge: bool,
    /// Factors within which values agree if their names contain these words. They follow from the paper's own repeatability.
    #[serde(default)]
    pub within: BTreeMap<String, f64>,
    /// Reason why the model may differ.
    #[serde(default)]
    pub reason: String,
    /// Evidence for the reason: the claim measured again with other settings.
    #[serde(default)]
    pub vary: Vec<Variation>,
}

/// Kinds of evidence behind the figures of a paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// The figures are measurements of drives.
    Hardware,
    /// The figures are simulations of generated requests, whose parameters the paper gives.
    Synthetic,
    /// The figures are simulations of traces, which we replace by stand-ins.
    Trace,
    /// The figures are measurements of emulated drives.
    Emulation,
}

impl Evidence {
    /// All kinds of evidence, in order.
    pub const ALL: [Evidence; 4] = [Evidence::Hardware, Evidence::Synthetic, Evidence::Trace, Evidence::Emulation];

    /// Returns the name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Evidence::Hardware => "hardware measurements",
            Evidence::Synthetic => "published synthetic parameters",
            Evidence::Trace => "traces, for which there are stand-ins",
            Evidence::Emulation => "emulated drives",
        }
    }
}

/// Meaning of an agreement of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Parameters were fitted to some of its values.
    Fitted,
    /// The claim follows from how things are built, or could hardly fail.
    ByConstruction,
    /// No parameter was fitted to it.
    #[default]
    Prediction,
}

impl Role {
    /// Returns the name of the meaning.
    pub fn name(self) -> &'static str {
        match self {
            Role::Fitted => "fitted",
            Role::ByConstruction => "by construction",
            Role::Prediction => "prediction",
        }
    }
}

/// A common cause of several claims that do not agree.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RootCause {
    /// Description of the cause.
    pub cause: String,
    /// Way in which it was found, or settings that show it.
    pub reading: String,
    /// Facts about it from outside the claims themselves.
    pub known: String,
    /// Names of the claims, or with `*` the beginnings of their names.
    pub claims: Vec<String>,
}

/// Other settings for a figure, to see their effect on a claim.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variation {
    /// Keys and values: `coordination.force_until=watermark; coordination.t_soft=start+4`.
    pub set: String,
    /// Parts of the names of points to measure. Values that the claim takes from other points are not measured. By default, all points of
    /// the claim are.
    #[serde(default)]
    pub points: Vec<String>,
    /// Parts of the names of points that get the settings. The other points stay as they are. By default, all points get them.
    #[serde(default)]
    pub only: Vec<String>,
    /// Parts of the names of points that do not get the settings.
    #[serde(skip)]
    pub except: Vec<String>,
    /// Statement of the paper that contradicts these settings, which then prove nothing.
    #[serde(default)]
    pub contradicts: String,
    /// Kind of these settings; none if they examine the reason of a claim.
    #[serde(skip)]
    pub reading: Option<Shown>,
}

/// Another reading of a paper, which is shown beside many of its claims.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reading {
    /// Keys and values, as those of a variation.
    set: String,
    /// Parts of the names of points in which these settings change nothing. These points stay as they are, so that they are not run again.
    #[serde(default)]
    except: Vec<String>,
    /// Names of the claims, or with `*` the beginnings of their names.
    claims: Vec<String>,
    shown: Shown,
}

/// Claims beside which a reading is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shown {
    /// Every claim that it names.
    Always,
    /// The claims that do not agree.
    Open,
}

impl Variation {
    /// Returns the keys with their values.
    fn settings(&self) -> impl Iterator<Item = (&str, &str)> {
        self.set.split("; ").map(|setting| setting.split_once('=').expect("claims.toml varies by key=value; key=value"))
    }

    /// Returns the points that a claim of the figure is measured with, with these settings.
    pub fn points(&self, figure: &Figure, claim: &Claim) -> Vec<Point> {
        let is_named = |point: &Point, parts: &[String]| parts.iter().any(|part| point.name.contains(part));
        let is_among = |point: &Point, parts: &[String]| parts.is_empty() || is_named(point, parts);
        let of_claim = figure.points.iter().filter(|point| claim.points.contains(&point.name));
        let points = of_claim.filter(|point| is_among(point, &self.points)).cloned();
        let gets_them = |point: &Point| is_among(point, &self.only) && !is_named(point, &self.except);
        points.map(|point| if gets_them(&point) { self.vary(point) } else { point }).collect()
    }

    /// Returns a point with these settings.
    fn vary(&self, point: Point) -> Point {
        self.settings().fold(point, |point, (key, value)| point.set(key, value))
    }
}

impl RootCause {
    /// Returns true if the claim has this cause.
    pub fn covers(&self, id: &str) -> bool {
        names_cover(&self.claims, id)
    }
}

/// Returns true if a claim is among these names, of which some end with `*`.
fn names_cover(names: &[String], id: &str) -> bool {
    names.iter().any(|name| name.strip_suffix('*').map_or(name == id, |begin| id.starts_with(begin)))
}

impl Fact {
    /// Returns true if parameters were fitted to one of its values.
    pub fn is_fitted(&self, name: &str) -> bool {
        self.fitted.iter().any(|words| name.contains(words.as_str()))
    }

    /// Returns the factor within which one of its values agrees.
    pub fn factor(&self, name: &str) -> f64 {
        self.within.iter().find(|(words, _)| name.contains(words.as_str())).map_or(FACTOR, |(_, factor)| *factor)
    }

    /// Returns the paper's numbers by name. A single number has no name.
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

/// Returns all claims, in the order of the papers.
pub fn facts() -> Vec<Fact> {
    let File { claim, reading, .. } = file();
    let mut facts = [claim, later_file().claim].concat();
    for Reading { set, except, claims, shown } in reading {
        let beside = Variation { set, except, reading: Some(shown), ..Variation::default() };
        facts.iter_mut().filter(|fact| names_cover(&claims, &fact.id)).for_each(|fact| fact.vary.push(beside.clone()));
    }
    facts
}

/// Returns the common causes of differences from the papers that the project began with, the most important first.
pub fn root_causes() -> Vec<RootCause> {
    file().root_cause
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    claim: Vec<Fact>,
    #[serde(default)]
    reading: Vec<Reading>,
    #[serde(default)]
    root_cause: Vec<RootCause>,
}

fn file() -> File {
    toml::from_str(include_str!("../../claims.toml")).expect("claims.toml is well-formed")
}

fn later_file() -> File {
    toml::from_str(include_str!("../../claims-later.toml")).expect("claims-later.toml is well-formed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Evaluation, Results};
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
        let facts = facts();
        let of_figure = |figure: Figure| {
            let claims = Evaluation::of(&figure, &Results::default()).claims;
            claims.into_iter().map(move |claim| (figure.clone(), claim))
        };
        for (figure, claim) in crate::figures().into_iter().flat_map(of_figure) {
            let fact = facts.iter().find(|fact| fact.id == claim.id).unwrap();
            for variation in &fact.vary {
                let points = variation.points(&figure, &claim);
                assert!(!points.is_empty(), "{}: the claim reads no point that is called {:?}", fact.id, variation.points);
                for words in variation.points.iter().chain(&variation.only) {
                    assert!(points.iter().any(|point| point.name.contains(words)), "{}: the claim reads no point of {words}", fact.id);
                }
                // The others differ in what no variation changes.
                for point in [points.first(), points.last()].into_iter().flatten() {
                    let loaded =
                        flashraid::config::scenario_from_toml(&point.name, point.text, &point.settings(crate::Size::Full, &[]), Some(7));
                    assert!(loaded.is_ok(), "{} {}: {}", fact.id, variation.set, loaded.unwrap_err());
                }
            }
        }
    }

    /// The answer to a message does not matter if nobody sends it; and `wow` sets its recency bit at hits in either reading (rule 72).
    #[test]
    fn readings_change_nothing_at_the_points_that_they_except() {
        let figures = crate::figures();
        for reading in file().reading.iter().filter(|reading| !reading.except.is_empty()) {
            let (key, without) = match reading.set.as_str() {
                "coordination.during_cycle=repeat" => ("coordination.scheme", ["local", "ideal"].as_slice()),
                "cache.recency=hits" => ("cache.policy", ["wow"].as_slice()),
                other => panic!("why does {other} change nothing at {:?}?", reading.except),
            };
            let read_it = |figure: &&Figure| figure.facts().iter().any(|fact| names_cover(&reading.claims, &fact.id));
            let points = figures.iter().filter(read_it).flat_map(|figure| &figure.points);
            let excepted: Vec<&Point> = points.filter(|point| reading.except.iter().any(|word| point.name.contains(word))).collect();
            assert!(!excepted.is_empty());
            for point in excepted {
                let set = point.settings.iter().rev().find(|(own, _)| own == key).map(|(_, value)| value.as_str());
                assert!(set.is_some_and(|value| without.contains(&value)), "{}: {key} is {set:?}", point.name);
            }
        }
    }

    #[test]
    fn values_that_were_fitted_have_names() {
        for fact in facts() {
            for words in &fact.fitted {
                assert!(fact.numbers().iter().any(|(name, _)| name.contains(words.as_str())), "{}: no value is called {words}", fact.id);
            }
            assert!(fact.fitted.is_empty() || fact.numbers().iter().any(|(name, _)| !fact.is_fitted(name)), "{}", fact.id);
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
            let examines = |variation: &Variation| variation.reading.is_none();
            assert_eq!(fact.reason.is_empty(), !fact.vary.iter().any(examines), "{}", fact.id);
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
