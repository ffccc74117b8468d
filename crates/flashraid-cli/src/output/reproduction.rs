//! The papers' claims and our results as tables, charts and the document of `reproduce --json`.

use flashraid_experiments::ledger::Origin;
use flashraid_experiments::{Claim, Curves, Evaluation, Figure, Size, Verdict};
use serde_json::{Value, json};

use super::json::document as to_json;
use crate::failure::Outcome;
use flashraid_report::chart::{Axis, BarSeries, Bars, Chart, Content, bandwidth, bandwidth_density, distribution, of_points, timeline};
use flashraid_report::data::Table;
use flashraid_report::number::three_digits;
use flashraid_report::sheet::{Cell, Sheet, Tone};
use flashraid_report::text::wrap;

/// A figure with what came out of it.
pub type Evaluated = [(Figure, Evaluation)];

/// The document of `reproduce --json`.
pub fn document(evaluated: &Evaluated, origin: &Origin) -> Outcome<Value> {
    let figure = |(figure, evaluation): &(Figure, Evaluation)| -> Outcome<Value> {
        Ok(json!({ "id": figure.id, "title": figure.title, "rows": to_json(&evaluation.rows)?, "claims": to_json(&evaluation.claims)? }))
    };
    let figures = evaluated.iter().map(figure).collect::<Outcome<Vec<Value>>>()?;
    Ok(json!({
        "schema": "flashraid.reproduction/1",
        "version": origin.version,
        "date": origin.date,
        "size": if origin.size == Size::Quick { "quick" } else { "full" },
        "seeds": (origin.first_seed..origin.first_seed + origin.seeds).collect::<Vec<_>>(),
        "figures": figures,
    }))
}

/// The document of `reproduce list --json`.
pub fn list_document(figures: &[Figure]) -> Value {
    let figure =
        |figure: &Figure| json!({ "id": figure.id, "title": figure.title, "points": figure.points.len(), "claims": claims_of(figure) });
    json!({ "figures": figures.iter().map(figure).collect::<Vec<_>>() })
}

fn claims_of(figure: &Figure) -> Vec<String> {
    figure.facts().into_iter().map(|fact| fact.id).collect()
}

/// Titles of this width leave room for the other columns on a terminal of 80.
const TITLE_WIDTH: usize = 40;

/// What can be reproduced.
pub fn list(figures: &[Figure]) -> Sheet {
    let mut sheet = Sheet { label_columns: 2, ..Sheet::new("Figures and tables", &["id", "title", "points", "claims"]) };
    let row = |figure: &Figure| {
        let counts = [figure.points.len(), claims_of(figure).len()];
        vec![figure.id.into(), wrap(figure.title, TITLE_WIDTH, "").into(), counts[0].to_string().into(), counts[1].to_string().into()]
    };
    sheet.rows = figures.iter().map(row).collect();
    sheet
}

/// The claims with their verdicts.
pub fn sheets(evaluated: &Evaluated) -> Vec<Sheet> {
    let mut sheet = Sheet { label_columns: 2, ..Sheet::new("Claims", &["claim", "", "paper", "measured", "verdict"]) };
    for claim in evaluated.iter().flat_map(|(_, evaluation)| &evaluation.claims) {
        let shown = |value: Option<f64>| value.map_or("–".to_owned(), three_digits);
        for (index, part) in claim.parts.iter().enumerate() {
            let id = if index == 0 { claim.id.as_str() } else { "" };
            let verdict = if index == 0 { verdict(claim) } else { "".into() };
            let measured = match part.ci95 {
                Some(half_width) => format!("{} ±{}", shown(part.measured), three_digits(half_width)),
                None => shown(part.measured),
            };
            sheet.rows.push(vec![id.into(), part_name(claim, &part.name).into(), shown(part.paper).into(), measured.into(), verdict]);
        }
        if claim.parts.is_empty() {
            sheet.rows.push(vec![claim.id.as_str().into(), "not measured".into(), "–".into(), "–".into(), verdict(claim)]);
        }
    }
    vec![sheet]
}

fn part_name(claim: &Claim, part: &str) -> String {
    match (part, claim.unit.as_str()) {
        ("", unit) => unit.to_owned(),
        (part, "") => part.to_owned(),
        (part, unit) => format!("{part}, {unit}"),
    }
}

fn verdict(claim: &Claim) -> Cell {
    let tone = match claim.verdict {
        Verdict::Agrees => Tone::Better,
        Verdict::Direction => Tone::Plain,
        Verdict::Differs | Verdict::Unstable => Tone::Worse,
    };
    Cell { text: claim.verdict.name().to_owned(), tone }
}

/// The columns that tables and the file of rows show.
const COLUMNS: [&str; 8] =
    ["mean_ms", "stddev_ms", "p99_ms", "max_ms", "bandwidth_mb_s", "bandwidth_stddev_mb_s", "erases", "write_amplification"];

/// The same in tables, with what they are measured in below.
const HEADER: [&str; 9] = [
    "point",
    "mean\nms",
    "deviation\nms",
    "p99\nms",
    "max\nms",
    "bandwidth\nMB/s",
    "its deviation\nMB/s",
    "erases",
    "write\namplification",
];

/// The measured values of every figure.
pub fn row_sheets(evaluated: &Evaluated) -> Vec<Sheet> {
    let sheet = |(figure, evaluation): &(Figure, Evaluation)| {
        let mut sheet = Sheet::new(format!("{}: {}", figure.id, figure.title), &HEADER);
        let cell = |value: &Value| value.as_f64().map_or("–".to_owned(), three_digits).into();
        let row = |row: &flashraid_experiments::Row| {
            std::iter::once(Cell::from(row.point.as_str())).chain(COLUMNS.map(|name| cell(&row.values[name]))).collect()
        };
        sheet.rows = evaluation.rows.iter().map(row).collect();
        sheet
    };
    evaluated.iter().filter(|(_, evaluation)| !evaluation.rows.is_empty()).map(sheet).collect()
}

/// All rows of all figures.
pub fn table(evaluated: &Evaluated) -> Table {
    let rows: Vec<_> = evaluated.iter().flat_map(|(figure, evaluation)| evaluation.rows.iter().map(move |row| (figure, row))).collect();
    let mut table = Table::default();
    table.text("figure", rows.iter().map(|(figure, _)| Some(figure.id.to_owned())));
    table.text("point", rows.iter().map(|(_, row)| Some(row.point.clone())));
    for name in COLUMNS.iter().flat_map(|name| [(*name).to_owned(), format!("{name}_ci95")]) {
        table.number(name.clone(), rows.iter().map(|(_, row)| row.values[name.as_str()].as_f64()));
    }
    table
}

/// For every figure a chart of its points, charts of the paper's numbers beside ours, and its curves.
pub fn charts(evaluated: &Evaluated, curves: Vec<Vec<Chart>>) -> Vec<Chart> {
    let of_figure = |(figure, curves): (&(Figure, Evaluation), Vec<Chart>)| {
        let points = Some(bars(figure)).filter(|_| !figure.1.rows.is_empty());
        let beside: Vec<Chart> = figure.1.claims.iter().filter_map(beside).collect();
        points.into_iter().chain(beside).chain(curves)
    };
    evaluated.iter().zip(curves).flat_map(of_figure).collect()
}

/// The curves of a figure, from one report for each point.
pub fn curves(figure: &Figure, reports: &[(String, &Value)]) -> Vec<Chart> {
    let named = || reports.iter().cloned();
    let charts: Vec<Chart> = match figure.curves() {
        None => Vec::new(),
        Some(Curves::Bandwidth) => bandwidth(named()).into_iter().collect(),
        Some(Curves::BandwidthDensity) => bandwidth_density(named()).into_iter().collect(),
        Some(Curves::Responses) => distribution(named().map(|(name, report)| (name, &report["response_us"]["all"]))).into_iter().collect(),
        Some(Curves::FreeBlocks) => of_points(named()).into_iter().collect(),
        Some(Curves::Windows) => named().filter_map(|(name, report)| Some(Chart { title: name, ..timeline(report)? })).collect(),
    };
    let named = |(index, chart): (usize, Chart)| Chart {
        id: format!("{}-{}{}", figure.id.replace('.', "-"), chart.id, if index == 0 { String::new() } else { format!("-{}", index + 1) }),
        title: format!("{}: {}", figure.id, chart.title),
        ..chart
    };
    charts.into_iter().enumerate().map(named).collect()
}

/// The paper's numbers of a claim beside ours.
fn beside(claim: &Claim) -> Option<Chart> {
    let parts: Vec<_> = claim.parts.iter().filter(|part| part.paper.is_some()).collect();
    if parts.is_empty() {
        return None;
    }
    let groups = parts.iter().map(|part| if part.name.is_empty() { claim.unit.clone() } else { part.name.clone() }).collect();
    let series = vec![
        BarSeries::plain("paper", parts.iter().map(|part| part.paper).collect()),
        BarSeries::new("measured", parts.iter().map(|part| part.measured).collect(), parts.iter().map(|part| part.ci95).collect()),
    ];
    let bars = Bars::side_by_side(groups, Axis::linear(claim.unit.clone()), series);
    // A figure with a claim of its own name has a chart of its points by that name.
    let id = format!("{}-beside-paper", claim.id.replace('.', "-"));
    Some(Chart::new(id, format!("{}: {}", claim.id, claim.figure), Content::Bars(bars)))
}

fn bars((figure, evaluation): &(Figure, Evaluation)) -> Chart {
    let (column, label) = match figure.measures_bandwidth() {
        true => ("bandwidth_mb_s", "bandwidth, MB/s"),
        false => ("mean_ms", "mean response, ms"),
    };
    let column_of = |name: &str| evaluation.rows.iter().map(|row| row.values[name].as_f64()).collect();
    let series = BarSeries::new(label, column_of(column), column_of(&format!("{column}_ci95")));
    let groups = evaluation.rows.iter().map(|row| row.point.clone()).collect();
    let bars = Bars::side_by_side(groups, Axis::linear(label), vec![series]);
    Chart::new(figure.id.replace('.', "-"), format!("{}: {}", figure.id, figure.title), Content::Bars(bars))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashraid_experiments::figures;
    use std::collections::BTreeSet;

    #[test]
    fn every_figure_that_has_curves_gets_them() {
        let report = json!({
            "bandwidth_mb_s": { "series": [1.0, 2.0, 3.0], "series_interval_ms": 1000, "z_density": [[-1.0, 0.2], [1.0, 0.3]] },
            "response_us": { "all": { "cdf": [[1.0, 0.5], [2.0, 1.0]] } },
            "timeline": { "from_ns": 0, "to_ns": 1_000_000, "requests": [], "gc": [] },
            "free_blocks": [[[0.0, 2.0], [1.0, 1.0]]],
            "members": [{}],
        });
        let reports = ["one", "other"].map(|name| (name.to_owned(), &report));
        let mut ids = BTreeSet::new();
        for figure in figures() {
            let charts = curves(&figure, &reports);
            assert_eq!(charts.is_empty(), figure.curves().is_none(), "{}", figure.id);
            for chart in charts {
                assert!(chart.id.starts_with(&figure.id.replace('.', "-")) && ids.insert(chart.id.clone()), "{}", chart.id);
            }
        }
        assert!(ids.contains("ggc-fig10-timeline") && ids.contains("ggc-fig10-timeline-2") && ids.contains("ggc-fig12-response-cdf"));
    }
}
