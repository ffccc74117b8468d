//! The papers' claims and the simulated results: as tables, as charts, and as the document of `reproduce --json`.

use flashraid::duration;
use flashraid_experiments::ledger::Origin;
use flashraid_experiments::{Claim, Curves, Evaluation, Figure, Size};
use serde_json::{Value, json};

use super::json::document as to_json;
use crate::failure::Outcome;
use flashraid_report::chart::{Axis, BarSeries, Bars, Chart, Content, bandwidth, bandwidth_density, distribution, of_points, timeline};
use flashraid_report::data::Table;
use flashraid_report::sheet::Sheet;
use flashraid_report::text::wrap;

/// Figures of the papers, each with the results of its simulations.
pub type Evaluated = [(Figure, Evaluation)];

/// Returns the document of `reproduce --json`.
pub fn document(evaluated: &Evaluated, origin: &Origin) -> Outcome<Value> {
    let figure = |(figure, evaluation): &(Figure, Evaluation)| -> Outcome<Value> {
        Ok(json!({ "id": figure.id, "title": figure.title, "rows": to_json(&evaluation.rows)?, "claims": to_json(&evaluation.claims)? }))
    };
    let figures = evaluated.iter().map(figure).collect::<Outcome<Vec<Value>>>()?;
    let mut document = identity(origin);
    document["figures"] = figures.into();
    Ok(document)
}

/// Returns what the document of `reproduce --json` says of the whole run.
pub fn identity(origin: &Origin) -> Value {
    json!({
        "schema": "flashraid.reproduction/1",
        "version": origin.version,
        "date": origin.date,
        "size": if origin.size == Size::Quick { "quick" } else { "full" },
        "seeds": (origin.first_seed..origin.first_seed + origin.seeds).collect::<Vec<_>>(),
    })
}

/// Returns the document of `reproduce list --json`. `seconds` has the estimated time of each figure.
pub fn list_document(figures: &[Figure], seconds: &[f64]) -> Value {
    let figure = |(figure, seconds): (&Figure, &f64)| {
        json!({
            "id": figure.id,
            "title": figure.title,
            "points": figure.points.len(),
            "claims": claims_of(figure),
            "traces": figure.traces(),
            "seconds_about": seconds,
        })
    };
    json!({ "figures": figures.iter().zip(seconds).map(figure).collect::<Vec<_>>() })
}

fn claims_of(figure: &Figure) -> Vec<String> {
    figure.facts().into_iter().map(|fact| fact.id).collect()
}

/// Width of titles that leaves room for the other columns on a terminal of 80 columns.
const TITLE_WIDTH: usize = 28;

/// Returns the table of figures that can be reproduced. `seconds` has the estimated time of each.
pub fn list(figures: &[Figure], seconds: &[f64]) -> Sheet {
    let mut sheet = Sheet { label_columns: 2, ..Sheet::new("Figures and tables", &["id", "title", "points", "claims", "takes"]) };
    let row = |(figure, seconds): (&Figure, &f64)| {
        let counts = [figure.points.len(), claims_of(figure).len()];
        let [points, claims] = counts.map(|count| count.to_string());
        vec![
            figure.id.into(),
            wrap(figure.title, TITLE_WIDTH, "").into(),
            points.into(),
            claims.into(),
            if figure.traces().is_empty() { duration::rounded_duration_text(*seconds).into() } else { "by trace".into() },
        ]
    };
    sheet.rows = figures.iter().zip(seconds).map(row).collect();
    sheet
}

/// Columns of measured values in rows.csv and rows.parquet.
const COLUMNS: [&str; 8] =
    ["mean_ms", "stddev_ms", "p99_ms", "max_ms", "bandwidth_mb_s", "bandwidth_stddev_mb_s", "erases", "write_amplification"];

/// Returns a table of all rows of all figures.
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

/// Returns the charts of all figures: one of its points, those that compare the paper's numbers with ours, and its curves.
pub fn charts(evaluated: &Evaluated, curves: Vec<Vec<Chart>>) -> Vec<Chart> {
    let of_figure = |(figure, curves): (&(Figure, Evaluation), Vec<Chart>)| {
        let points = Some(bars(figure)).filter(|_| !figure.1.rows.is_empty());
        let beside: Vec<Chart> = figure.1.claims.iter().filter_map(beside).collect();
        points.into_iter().chain(beside).chain(curves)
    };
    evaluated.iter().zip(curves).flat_map(of_figure).collect()
}

/// Returns the curves of a figure, from one report for each point.
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

/// Returns a chart that compares the paper's numbers of a claim with ours, if the paper has numbers.
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
    // The suffix keeps the name apart from the chart of points, if a claim has the name of its figure.
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
