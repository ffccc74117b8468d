//! The outcome of a figure: its rows, and its claims with their verdicts.

use std::collections::BTreeSet;

use flashraid_model::metrics::Estimate;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::results::{PointsRead, Used, Values};
use crate::verdict::{FALSE, Kind, Verdict};
use crate::{Evidence, Fact, Figure, Results, Role, Shown, Variation};

/// One point of a figure with its measured values.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct Row {
    /// Name of the point.
    pub point: String,
    /// Means over the seeds by name, each with half the width of its 95 % confidence interval (`null` with one seed).
    #[serde(flatten)]
    pub values: Map<String, Value>,
}

/// A claim with our measurement.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct Claim {
    /// Name of the claim, as in `claims.toml`.
    pub id: String,
    /// Figure or table of the paper that has the claim.
    pub figure: String,
    /// Text of the claim.
    pub what: String,
    /// The paper's value, or values by name; `null` for a statement.
    pub paper: Value,
    /// Our values in the same form; for a statement, the values that it is based on.
    pub measured: Value,
    /// Half the widths of the 95 % confidence intervals, in the same form.
    pub ci95: Value,
    /// Unit of the values.
    pub unit: String,
    /// Kind of evidence behind the paper's figures.
    pub evidence: Evidence,
    /// Meaning of an agreement.
    pub role: Role,
    /// True if our sign or order is that of the paper.
    pub direction_holds: bool,
    /// Verdict on the claim.
    pub verdict: Verdict,
    /// Derivation of a number that the paper does not print from numbers that it prints.
    pub derived: String,
    /// Facts to know before judging the claim.
    pub about: String,
    /// Reason for the difference, if the claim does not agree.
    pub note: String,
    /// Each value of the claim.
    pub parts: Vec<Part>,
    /// Runs without a meaningful mean; saturated ones are marked. With any such run, the verdict is unstable, unless the paper's own load
    /// is more than its device can serve.
    pub unstable: Vec<String>,
    /// Names of the points that the claim was measured with; empty if it comes from an earlier document.
    #[serde(skip)]
    pub points: BTreeSet<String>,
    /// Results with other settings, if the claim does not agree.
    pub sensitivity: Vec<Sensitivity>,
    /// True if other settings confirm the reason for the difference. With settings that the paper does not contradict, the claim then
    /// agrees or comes nearer, and loses no part that agrees.
    pub established: bool,
}

/// A claim measured with another setting.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct Sensitivity {
    /// The keys with their values.
    pub setting: String,
    /// The measured values of the claim.
    pub parts: Vec<Part>,
    /// Effect on the whole claim; `None` if a run gives no mean.
    pub effect: Option<Effect>,
    /// True if a part that otherwise agrees does not agree with this setting.
    pub loses: bool,
    /// Statement of the paper that contradicts the setting.
    pub contradicts: String,
    /// True if the result confirms the reason for the difference.
    pub bears_out: bool,
}

/// Effect of other settings on a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// The whole claim agrees.
    Holds,
    /// The values come nearer to the paper's.
    Nearer,
    /// The distance stays the same, within a hundredth.
    Alike,
    /// The distance becomes larger.
    Farther,
}

impl Effect {
    /// Returns the name of the effect.
    pub fn name(self) -> &'static str {
        match self {
            Effect::Holds => "holds",
            Effect::Nearer => "nearer",
            Effect::Alike => "alike",
            Effect::Farther => "farther",
        }
    }

    /// Returns the effect, from the parts of a claim and those measured with other settings. Parts that were not measured again keep their
    /// values.
    fn of(kind: Kind, own: &[Part], varied: &[Part]) -> Effect {
        let again = |part: &Part| varied.iter().find(|varied| varied.name == part.name);
        if own.iter().filter(|part| !part.fitted).all(|part| again(part).unwrap_or(part).holds) {
            return Effect::Holds;
        }
        let (before, after) = distances(kind, own, varied);
        match after {
            after if after < 0.99 * before => Effect::Nearer,
            after if after > 1.01 * before => Effect::Farther,
            _ => Effect::Alike,
        }
    }
}

/// Returns how far the values of a claim are from the paper's, and how far they are with other settings. Each is a sum of logarithms over
/// the values that were measured again and are not fitted.
fn distances(kind: Kind, own: &[Part], varied: &[Part]) -> (f64, f64) {
    let distance = |part: &Part| match (part.paper, part.measured) {
        (Some(paper), Some(measured)) => kind.distance(paper, measured),
        _ if part.holds => 0.0,
        _ => FALSE,
    };
    let again = |part: &Part| varied.iter().find(|varied| varied.name == part.name);
    let measured = own.iter().filter(|part| !part.fitted).filter_map(|part| Some((distance(part), distance(again(part)?))));
    measured.fold((0.0, 0.0), |(before, after), (own, varied)| (before + own, after + varied))
}

/// One value of a claim, or one part of a statement.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct Part {
    /// Name of the value; empty if it is the only one.
    pub name: String,
    /// Value of the paper.
    pub paper: Option<f64>,
    /// Value that we measured.
    pub measured: Option<f64>,
    /// Half the width of the 95 % confidence interval.
    pub ci95: Option<f64>,
    /// True if the value is close to the paper's, or if the part of the statement is true.
    pub holds: bool,
    /// True if parameters were fitted to the value, so that it does not count.
    #[serde(default)]
    pub fitted: bool,
}

/// Number of first seeds with which claims on the edge are judged, and of those that must agree.
pub(crate) const FIRST_SEEDS: usize = 5;
const FIRST_SEEDS_THAT_AGREE: usize = 4;
/// Share of the distance from the paper that other settings must take away to establish a reason.
const SHARE_TAKEN_AWAY: f64 = 0.5;

/// Collects the rows and claims of one figure.
#[derive(Debug)]
pub struct Evaluation {
    facts: Vec<Fact>,
    used: Used,
    /// Names of traces that were not given.
    lacking: BTreeSet<String>,
    /// Measured points of the figure.
    pub rows: Vec<Row>,
    /// Claims with their verdicts.
    pub claims: Vec<Claim>,
}

impl Evaluation {
    /// Judges a figure. A claim without a judgement is an error in this crate.
    pub fn of(figure: &Figure, results: &Results) -> Evaluation {
        let (facts, lacking) = (figure.facts(), results.lacking().clone());
        let mut evaluation = Evaluation { facts, used: results.used(), lacking, rows: rows(figure, results), claims: Vec::new() };
        evaluation.used.take();
        (figure.evaluate)(results, &mut evaluation);
        evaluation.decide_edges(figure, results);
        let missing: Vec<&str> = evaluation
            .facts
            .iter()
            .map(|fact| fact.id.as_str())
            .filter(|id| !evaluation.claims.iter().any(|claim| claim.id == *id))
            .collect();
        assert!(missing.is_empty(), "{} does not judge {missing:?}", figure.id);
        evaluation
    }

    /// Judges claims on the edge with each of the first seeds by itself. They are undecided unless most of these verdicts are theirs.
    fn decide_edges(&mut self, figure: &Figure, results: &Results) {
        let is_open = |claim: &Claim| !matches!(claim.verdict, Verdict::Unstable | Verdict::NoTrace);
        let edges: Vec<String> = self.facts.iter().filter(|fact| fact.edge).map(|fact| fact.id.clone()).collect();
        if edges.is_empty() || results.seeds() < FIRST_SEEDS {
            return;
        }
        let of_seed = |seed: usize| {
            let results = results.of_seed(seed);
            let (facts, lacking) = (self.facts.clone(), self.lacking.clone());
            let mut alone = Evaluation { facts, used: results.used(), lacking, rows: Vec::new(), claims: Vec::new() };
            (figure.evaluate)(&results, &mut alone);
            alone.claims
        };
        let alone: Vec<Vec<Claim>> = (0..FIRST_SEEDS).map(of_seed).collect();
        for claim in self.claims.iter_mut().filter(|claim| edges.contains(&claim.id) && is_open(claim)) {
            let agrees = |claims: &&Vec<Claim>| claims.iter().any(|alone| alone.id == claim.id && alone.verdict == claim.verdict);
            if alone.iter().filter(agrees).count() < FIRST_SEEDS_THAT_AGREE {
                claim.verdict = Verdict::Undecided;
            }
        }
    }

    /// Takes a figure from an earlier document, as it was judged then.
    pub fn earlier(figure: &Figure, rows: Vec<Row>, claims: Vec<Claim>) -> Evaluation {
        Evaluation { facts: figure.facts(), used: Used::default(), lacking: BTreeSet::new(), rows, claims }
    }

    /// Returns the variations of claims that do not agree, and the readings that are shown beside every claim, each with the claim.
    pub fn variations(&self) -> impl Iterator<Item = (&Claim, &Variation)> {
        let claim = |fact: &Fact| self.claims.iter().find(|claim| claim.id == fact.id);
        let judged = self.facts.iter().filter_map(move |fact| Some((fact, claim(fact)?)));
        let all = judged.flat_map(|(fact, claim)| fact.vary.iter().map(move |variation| (claim, variation)));
        all.filter(|(claim, variation)| match claim.verdict {
            Verdict::NoTrace => false,
            Verdict::Agrees => variation.reading == Some(Shown::Always),
            _ => true,
        })
    }

    /// Adds the result of a claim with other settings.
    pub fn add_sensitivity(&mut self, figure: &Figure, claim: &str, variation: &Variation, results: &Results) {
        let varied = Evaluation::of(figure, results).claims.into_iter().find(|varied| varied.id == claim);
        let own = self.claims.iter_mut().find(|own| own.id == claim);
        if let (Some(own), Some(varied)) = (own, varied) {
            let parts: Vec<Part> = varied.parts.into_iter().filter(|part| part.measured.is_some()).collect();
            let is_judged = !parts.is_empty() && varied.verdict != Verdict::Unstable;
            let effect = is_judged.then(|| Effect::of(Kind::of_unit(&own.unit), &own.parts, &parts));
            let held = |part: &Part| own.parts.iter().any(|own| own.name == part.name && own.holds);
            let loses = parts.iter().any(|part| !part.holds && held(part));
            // How far a claim without a mean is from the paper says nothing, so that coming nearer does not either.
            let (before, after) = distances(Kind::of_unit(&own.unit), &own.parts, &parts);
            let is_half_way = effect == Some(Effect::Nearer) && after <= (1.0 - SHARE_TAKEN_AWAY) * before;
            let comes_nearer = is_half_way && !loses && own.verdict != Verdict::Unstable;
            let examines = variation.reading.is_none() && variation.contradicts.is_empty();
            let bears_out = examines && (effect == Some(Effect::Holds) || comes_nearer);
            own.established |= bears_out;
            let (setting, contradicts) = (variation.set.clone(), variation.contradicts.clone());
            own.sensitivity.push(Sensitivity { setting, parts, effect, loses, contradicts, bears_out });
        }
    }

    fn fact(&self, id: &str) -> Fact {
        self.facts.iter().find(|fact| fact.id == id).unwrap_or_else(|| panic!("claims.toml has no {id}")).clone()
    }

    /// Judges a claim of one number.
    pub fn number(&mut self, id: &str, values: Values) {
        self.numbers(id, vec![("", values)]);
    }

    /// Judges a claim of several numbers, named as in `claims.toml`.
    pub fn numbers(&mut self, id: &str, measured: Vec<(&str, Values)>) {
        self.numbers_and(id, measured, Vec::new());
    }

    /// Judges a claim of several numbers and of statements about them: name, measured value, and true if the statement holds.
    ///
    /// The direction is that of the numbers.
    pub fn numbers_and(&mut self, id: &str, measured: Vec<(&str, Values)>, statements: Vec<(&str, f64, bool)>) {
        let fact = self.fact(id);
        let kind = Kind::of_unit(&fact.unit);
        let mut parts: Vec<Part> = fact
            .numbers()
            .into_iter()
            .map(|(name, paper)| {
                let values = measured.iter().find(|(own, _)| *own == name).unwrap_or_else(|| panic!("{id} does not measure {name:?}"));
                let estimate = Estimate::from_values(&values.1);
                let measured = estimate.map(|estimate| estimate.mean);
                let holds = measured.is_some_and(|measured| kind.is_within(fact.factor(&name), paper, measured));
                let (ci95, fitted) = (estimate.and_then(|estimate| estimate.interval_half_width), fact.is_fitted(&name));
                Part { name, paper: Some(paper), measured, ci95, holds, fitted }
            })
            .collect();
        let pairs: Vec<(&str, f64, f64)> = parts
            .iter()
            .filter(|part| !part.fitted)
            .map(|part| (part.name.as_str(), part.paper.unwrap_or(f64::NAN), part.measured.unwrap_or(f64::NAN)))
            .collect();
        let complete = parts.iter().all(|part| part.measured.is_some());
        let direction_holds = complete && kind.same_direction(&pairs);
        parts.extend(statements.into_iter().map(statement));
        self.judge(fact, parts, direction_holds);
    }

    /// Judges a statement with several parts: name, measured value, and true if the part holds.
    ///
    /// The first part is the core and decides. If it fails, the statement differs, whatever else holds. If only the core holds, the
    /// direction agrees.
    pub fn statement(&mut self, id: &str, statements: Vec<(&str, f64, bool)>) {
        let direction_holds = statements.first().is_some_and(|(_, _, holds)| *holds);
        self.judge(self.fact(id), statements.into_iter().map(statement).collect(), direction_holds);
    }

    fn judge(&mut self, fact: Fact, parts: Vec<Part>, direction_holds: bool) {
        let close = !parts.is_empty() && parts.iter().filter(|part| !part.fitted).all(|part| part.holds);
        let PointsRead { all: points, without_mean } = self.used.take();
        let unstable: Vec<String> = without_mean.into_iter().collect();
        let has_means = unstable.is_empty() || fact.overload;
        let verdict = match (self.lacking.contains(&fact.trace), has_means) {
            (true, _) => Verdict::NoTrace,
            (false, true) => Verdict::of(close, direction_holds),
            (false, false) => Verdict::Unstable,
        };
        let values = |value: fn(&Part) -> Option<f64>| match parts.as_slice() {
            [only] if only.name.is_empty() => json!(value(only)),
            _ => parts.iter().map(|part| (part.name.clone(), json!(value(part)))).collect::<Map<_, _>>().into(),
        };
        let is_statement = fact.unit.is_empty();
        self.claims.push(Claim {
            paper: if is_statement { Value::Null } else { values(|part| part.paper) },
            measured: values(|part| part.measured),
            ci95: if is_statement { Value::Null } else { values(|part| part.ci95) },
            id: fact.id,
            figure: fact.figure,
            what: fact.what,
            unit: fact.unit,
            evidence: fact.evidence,
            role: fact.role,
            direction_holds: close || direction_holds,
            verdict,
            derived: fact.derived,
            about: fact.note,
            note: if verdict == Verdict::Agrees { String::new() } else { fact.reason },
            parts,
            unstable,
            points,
            sensitivity: Vec::new(),
            established: false,
        });
    }
}

fn statement((name, measured, holds): (&str, f64, bool)) -> Part {
    let measured = Some(measured).filter(|value| value.is_finite());
    Part { name: name.to_owned(), paper: None, measured, ci95: None, holds: holds && measured.is_some(), fitted: false }
}

/// Columns of the rows: name, place in a report, and divisor.
const COLUMNS: [(&str, &str, f64); 9] = [
    ("mean_ms", "/response_us/all/mean", 1e3),
    ("stddev_ms", "/response_us/all/stddev", 1e3),
    ("p99_ms", "/response_us/all/p99", 1e3),
    ("max_ms", "/response_us/all/max", 1e3),
    ("bandwidth_mb_s", "/bandwidth_mb_s/mean", 1.0),
    ("bandwidth_stddev_mb_s", "/bandwidth_mb_s/stddev", 1.0),
    ("erases", "/flash/erases", 1.0),
    ("write_amplification", "/flash/write_amplification", 1.0),
    ("synchronised_gc", "/gc/synchronised_mean", 1.0),
];

fn rows(figure: &Figure, results: &Results) -> Vec<Row> {
    let row = |point: &crate::Point| {
        let mut values = Map::new();
        for (name, pointer, divisor) in COLUMNS {
            let estimate = Estimate::from_values(&results.values(&point.name, pointer));
            values.insert(name.to_owned(), json!(estimate.map(|estimate| estimate.mean / divisor)));
            values.insert(format!("{name}_ci95"), json!(estimate.and_then(|estimate| Some(estimate.interval_half_width? / divisor))));
        }
        Row { point: point.name.clone(), values }
    };
    let was_run = |point: &&crate::Point| point.trace.is_none_or(|trace| !results.lacking().contains(trace));
    figure.points.iter().filter(was_run).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts;

    fn evaluation() -> Evaluation {
        Evaluation { facts: facts(), used: Used::default(), lacking: BTreeSet::new(), rows: Vec::new(), claims: Vec::new() }
    }

    /// Returns a report with everything that claims are taken from. All numbers are random, those of another point or seed differ.
    fn random_report(state: &mut u64) -> Value {
        // Knuth's linear congruential generator.
        let mut number = || {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            1.0 + (*state >> 32) as f64 / 2_f64.powi(32)
        };
        let percentiles = json!({ "mean": number(), "p95": number(), "p99": number(), "p99_9": number() });
        let request = |met: u32, ns: f64| json!({ "length_bytes": 4096, "gc_members_met": met, "arrival_ns": 0, "done_ns": ns });
        let requests = [request(0, 1e6 * number()), request(1, 1e6 * number())];
        let cdf = json!([[0.5 * number(), 0.3], [number(), 0.3 + 0.1 * number()], [5.0 * number(), 1.0]]);
        json!({
            "response_us": {
                "all": { "mean": number(), "stddev": number(), "variance": number(), "max": number(), "p99": number(), "count": 9, "cdf": cdf },
                "read": percentiles,
                "write": { "count": 9 },
            },
            "bandwidth_mb_s": {
                "mean": number(), "stddev": number(), "cv": number(), "series": [number(), number(), number()],
                "z_density": [[-2.5, number()], [0.0, number()], [2.5, number()]],
            },
            "cache": { "front": { "bypasses": number() } },
            "config": {
                "array": { "members": 2 }, "report": { "skip_requests": 5 },
                "ssd": { "geometry": { "dies": 1, "planes": 1, "blocks": 1, "pages": 1 } },
            },
            "flash": { "erases": number(), "gc_pages_moved": number(), "host_pages_read": number(), "host_pages_written": 100.0 },
            "gc": {
                "exhausted": number(), "requests_by_members_met": [number(), number()], "slices_by_members": [number(), number(), number()],
                "synchronised_mean": number(), "time_ms": number(), "turns": { "broken_contracts": number(), "overruns": number() },
            },
            "requests": { "all": 10, "write": number() },
            "timeline": { "requests": requests },
            "free_blocks": [[[0, number()], [1, number()]]],
        })
    }

    /// A claim is measured with other settings at the points that it was measured with. It must not need what an earlier claim has read,
    /// nor read other points when the values are others.
    #[test]
    fn a_claim_needs_no_points_but_those_that_it_reads() {
        for figure in crate::figures() {
            let claims = |seed: u64, is_run: &dyn Fn(&str) -> bool| {
                let (mut random, mut results) = (seed, Results::default());
                for point in &figure.points {
                    let report = random_report(&mut random);
                    if is_run(&point.name) {
                        results.insert(&point.name, vec![report]);
                    }
                }
                Evaluation::of(&figure, &results).claims
            };
            let own = claims(1, &|_| true);
            for claim in &own {
                let alone = claims(1, &|name| claim.points.contains(name)).into_iter().find(|alone| alone.id == claim.id).unwrap();
                assert_eq!(json!(alone.parts), json!(claim.parts), "{} is taken from other points than {:?}", claim.id, claim.points);
                let lacking = claim.parts.iter().find(|part| part.measured.is_none());
                assert!(lacking.is_none(), "{}: the report lacks {lacking:?}", claim.id);
            }
            let other = claims(2, &|_| true);
            let read = |claims: &[Claim]| claims.iter().map(|claim| claim.points.clone()).collect::<Vec<_>>();
            assert_eq!(read(&own), read(&other), "{}: what is read depends on the values", figure.id);
        }
    }

    #[test]
    fn numbers_are_judged_together() {
        let mut evaluation = evaluation();
        evaluation.number("ggc.fig6.hpc-w", vec![0.70, 0.72]);
        evaluation.numbers("ggc.fig8.ratio", vec![("2 members", vec![2.8]), ("18 members", vec![17.0])]);
        evaluation.number("ggc.fig6.hpc-r", vec![-0.1]);
        evaluation.number("ggc.fig6.hpc-w.variability", vec![]);
        let verdicts: Vec<Verdict> = evaluation.claims.iter().map(|claim| claim.verdict).collect();
        assert_eq!(verdicts, [Verdict::Agrees, Verdict::Direction, Verdict::Differs, Verdict::Differs]);
        assert_eq!((&evaluation.claims[0].paper, evaluation.claims[0].note.as_str()), (&json!(0.71), ""));
        assert_eq!(evaluation.claims[1].measured, json!({ "2 members": 2.8, "18 members": 17.0 }));
        assert!(evaluation.claims[1].parts[0].holds && !evaluation.claims[1].parts[1].holds);
    }

    #[test]
    fn claims_that_agree_are_measured_with_no_other_settings() {
        let mut evaluation = evaluation();
        evaluation.number("ggc.fig6.hpc-w", vec![0.71]);
        evaluation.number("ggc.fig6.hpc-r", vec![-0.1]);
        let varied: Vec<(&str, &str)> =
            evaluation.variations().map(|(claim, variation)| (claim.id.as_str(), variation.set.as_str())).collect();
        assert!(varied.contains(&("ggc.fig6.hpc-r", "coordination.force_until=one-victim")));
        // Beside the claim that agrees stand only the readings that are always shown.
        let of_other: Vec<&str> = varied.iter().filter(|(claim, _)| *claim != "ggc.fig6.hpc-r").map(|(_, set)| *set).collect();
        assert!(of_other.len() == 1 && of_other[0].contains("reference-no-copy-back"), "{varied:?}");
    }

    /// A claim of two values: what other settings make of it.
    #[test]
    fn a_reason_is_established_by_the_claim_as_a_whole() {
        let part = |name: &str, measured: f64, holds| Part {
            name: name.into(),
            paper: Some(1.0),
            measured: Some(measured),
            ci95: None,
            holds,
            fitted: false,
        };
        let own = [part("a", 1.1, true), part("b", 4.0, false)];
        let effect = |varied: &[Part]| Effect::of(Kind::Ratio, &own, varied);
        assert_eq!(effect(&[part("a", 1.2, true), part("b", 1.3, true)]), Effect::Holds);
        assert_eq!(effect(&[part("b", 1.3, true)]), Effect::Holds, "the other value keeps its own");
        assert_eq!(effect(&[part("a", 1.1, true), part("b", 2.0, false)]), Effect::Nearer);
        // One value gained and another lost, farther than the first came.
        assert_eq!(effect(&[part("a", 8.0, false), part("b", 1.3, true)]), Effect::Farther);
        assert_eq!(effect(&[part("b", 4.01, false)]), Effect::Alike);
        let said = |holds| Part { name: "said".into(), paper: None, measured: Some(0.0), ci95: None, holds, fitted: false };
        let statement = |varied| Effect::of(Kind::Quantity, &[said(false)], &[said(varied)]);
        assert_eq!((statement(true), statement(false)), (Effect::Holds, Effect::Alike));
    }

    #[test]
    fn a_run_without_a_mean_silences_a_claim_unless_the_papers_load_is_an_overload() {
        let mut evaluation = evaluation();
        let note = |evaluation: &Evaluation| {
            let mut results = Results::with(evaluation.used.clone());
            results.insert("p", vec![json!({ "verdict": { "load": "saturated" } })]);
            results.values("p", "/x");
        };
        note(&evaluation);
        evaluation.number("ggc.fig6.hpc-w", vec![0.71]);
        note(&evaluation);
        evaluation.number("pgc.fig12", vec![0.18]);
        let [mean, overload] = evaluation.claims.as_slice() else { panic!("two claims") };
        assert_eq!((mean.verdict, overload.verdict), (Verdict::Unstable, Verdict::Agrees));
        assert_eq!((&mean.unstable, &overload.unstable), (&vec!["p (saturated)".to_owned()], &vec!["p (saturated)".to_owned()]));
    }

    #[test]
    fn a_statement_holds_in_direction_if_its_first_part_does() {
        let mut evaluation = evaluation();
        evaluation.statement("ggc.fig10", vec![("a", 1.0, true), ("b", 2.0, false)]);
        evaluation.statement("ggc.fig12", vec![("a", 1.0, false), ("b", 2.0, true)]);
        let verdicts: Vec<Verdict> = evaluation.claims.iter().map(|claim| claim.verdict).collect();
        assert_eq!(verdicts, [Verdict::Direction, Verdict::Differs]);
    }
}
