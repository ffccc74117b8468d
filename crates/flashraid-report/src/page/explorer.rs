//! An explorer for the points of a study. It has a control for each varied key. It shows figures and charts of the chosen point beside
//! those of its baseline.

use flashraid::documented_names;
use serde_json::{Value, json};

use super::Drawn;
use crate::chart::{self, Chart, Colours, Content};
use crate::figures;
use crate::grid::{Grid, RESULT_KEY};
use crate::sheet::Tone;

/// Most points whose data a page holds: some kilobytes each.
const POINTS_MAX: usize = 250;
/// Points of one varied key up to which the other charts of a page show all that there is.
const SHOWN_ANYWAY: usize = 8;

/// Data from which a page can show any point of a study.
pub struct Explorer {
    /// The varied keys, points, figures and conclusions as the script reads them.
    data: Value,
    /// Charts with a series for each point, or a group for each point and share of its requests where parts stand on each other.
    charts: Vec<Chart>,
}

impl Explorer {
    /// Makes the explorer of a grid, unless there is nothing to explore or more than a page can hold.
    pub fn of(grid: &Grid) -> Option<Explorer> {
        let is_study = grid.axes.iter().all(|axis| axis.key != RESULT_KEY);
        let is_worth_it = grid.axes.len() > 1 || grid.points.len() > SHOWN_ANYWAY;
        if !is_study || !is_worth_it || grid.points.len() > POINTS_MAX {
            return None;
        }
        let place = |axis: usize, value: &str| grid.axes[axis].values.iter().position(|known| known == value);
        let points: Option<Vec<Value>> = grid.points.iter().zip(&grid.baselines).map(|(point, baseline)| {
            let at: Option<Vec<usize>> = point.settings.iter().enumerate().map(|(axis, setting)| place(axis, &setting.value)).collect();
            Some(json!({ "at": at?, "name": point.label(), "marks": point.marks(), "yardstick": point.is_yardstick(), "baseline": baseline }))
        }).collect();
        let names = grid.key_names();
        let axes: Vec<Value> = grid
            .axes
            .iter()
            .zip(names)
            .map(|(axis, name)| json!({ "key": axis.key, "name": name, "values": axis.values, "hint": documented_names::explanation_of(&axis.key) }))
            .collect();
        let conclusions = grid.conclusions();
        let workloads = grid.workloads();
        let conclusion_of = |point: usize| workloads.iter().position(|workload| workload.points.contains(&point));
        let conclusion_of: Vec<Option<usize>> = (0..grid.points.len()).map(conclusion_of).collect();
        // A remedy that is compared with another one says more than a baseline or a yardstick.
        let is_other = |(point, baseline): &(usize, &usize)| point != *baseline && !grid.points[*point].is_yardstick();
        let first = grid.baselines.iter().enumerate().find(is_other).map_or(0, |(point, _)| point);
        let data = json!({
            "axes": axes, "points": points?, "figures": figures_of(grid), "conclusions": conclusions, "conclusion_of": conclusion_of,
            "first": first, "shares": chart::SHARES_OF_POINTS,
        });
        Some(Explorer { data, charts: chart::of_each_point(grid) })
    }

    /// The charts, whose names may need colours.
    pub fn charts(&self) -> &[Chart] {
        &self.charts
    }

    /// The data as the script reads them, ids beginning with `prefix`.
    pub(super) fn json(&self, prefix: &str, colours: &Colours) -> Value {
        let drawn = |chart: &Chart| {
            let chart = Chart { id: format!("{prefix}explore-{}", chart.id), ..rounded(chart.clone()) };
            serde_json::to_value(Drawn::of(&chart, colours)).expect("charts are plain data")
        };
        let mut data = self.data.clone();
        data["charts"] = self.charts.iter().map(drawn).collect();
        data
    }

    /// The frame that the script fills.
    pub(super) fn html(&self, prefix: &str) -> String {
        format!(
            "<section class=\"explorer\" id=\"{prefix}explorer\">\n<h2>Explore the points</h2>\n<div class=\"controls\"></div>\n\
             <p class=\"conclusion\" role=\"status\"></p>\n<section class=\"explored table\" id=\"{prefix}explored\">\n\
             <header><h2>Figures of the chosen point</h2><div class=\"export\"></div></header>\n<div class=\"scroll\" tabindex=\"0\">\n\
             <table><thead></thead><tbody></tbody></table>\n</div>\n</section>\n<div class=\"charts explored\"></div>\n</section>\n"
        )
    }
}

/// Returns a row for each figure that some point has. For each point it has the text, the ratio to the baseline, and the colour of the
/// ratio.
fn figures_of(grid: &Grid) -> Vec<Value> {
    let row = |title: &str, figure: &figures::Figure| {
        let (unit, texts) = grid.texts(figure);
        let ratios: Vec<_> = (0..grid.points.len()).map(|point| grid.ratio_cell(point, figure)).collect();
        let tone = |tone: Tone| match tone {
            Tone::Plain => "",
            Tone::Better => "better",
            Tone::Worse => "worse",
        };
        let values = || grid.points.iter().filter_map(|point| point.figure(figure.pointer)).flatten();
        // As in the tables nothing is said of lost data where none were lost.
        let is_known = if figure.pointer.starts_with("/lost/") { values().any(|lost| lost > 0.0) } else { values().next().is_some() };
        is_known.then(|| {
            json!({
                "group": title, "key": figure.key(), "name": figure.name, "unit": unit, "hint": documented_names::explanation_of(&figure.key()), "texts": texts,
                "ratios": ratios.iter().map(|cell| &cell.text).collect::<Vec<_>>(),
                "tones": ratios.iter().map(|cell| tone(cell.tone)).collect::<Vec<_>>(),
            })
        })
    };
    figures::TABLES.iter().flat_map(|(title, figures)| figures.iter().filter_map(move |figure| row(title, figure))).collect()
}

/// The chart with six digits of each value: no screen shows more, and a page holds twice as many points.
fn rounded(mut chart: Chart) -> Chart {
    let six = |value: f64| format!("{value:.5e}").parse::<f64>().unwrap_or(value);
    match &mut chart.content {
        Content::Lines(lines) => {
            lines.series.iter_mut().flat_map(|line| &mut line.points).for_each(|point| *point = (six(point.0), six(point.1)));
        }
        Content::Bars(bars) => bars.series.iter_mut().flat_map(|series| &mut series.values).for_each(|value| *value = value.map(six)),
        Content::Timeline(_) => {}
    }
    chart
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Axis, Point};

    fn grid(axes: &[&str]) -> Grid {
        let axes: Vec<Axis> = axes.iter().map(|axis| axis.parse().unwrap()).collect();
        let report = |mean: f64| {
            let times = json!({ "all": { "count": 100, "mean": mean, "p50": mean, "max": mean, "cdf": [[mean, 1.0]] } });
            json!({ "seed": 1, "response_us": times, "time_us": { "all": { "flash": mean }, "slowest_1_percent": { "flash": mean } } })
        };
        let points = flashraid::study::all_combinations(&axes).into_iter().enumerate();
        let points: Vec<Point> =
            points.map(|(index, settings)| Point { settings, reports: vec![report((index + 1) as f64 / 3.0)] }).collect();
        let baselines = vec![0; points.len()];
        Grid { axes, points, baselines, sorted_by: None }
    }

    #[test]
    fn every_point_has_its_place_its_figures_and_its_series() {
        let explorer = Explorer::of(&grid(&["a=x,y", "array.members=2,4,8"])).unwrap();
        let data = explorer.json("part2-", &Colours::default());
        assert_eq!(data["points"][4]["at"], json!([1, 1]));
        assert_eq!((data["points"][4]["name"].as_str(), data["first"].as_u64()), (Some("y · 4"), Some(1)));
        let mean = data["figures"].as_array().unwrap().iter().find(|row| row["key"] == "response_us.all.mean").unwrap();
        assert_eq!(
            (mean["texts"][4].as_str(), mean["ratios"][4].as_str(), mean["unit"].as_str()),
            (Some("1.67"), Some("5.00"), Some("µs"))
        );
        assert!(mean["hint"].as_str().unwrap().contains("Response times"), "{mean}");
        let charts = data["charts"].as_array().unwrap();
        let series = |chart: &Value| chart["series"].as_array().map_or(0, Vec::len);
        let cdf = charts.iter().find(|chart| chart["id"] == "part2-explore-response-cdf").unwrap();
        assert_eq!((series(cdf), &cdf["series"][4]["points"][0][0]), (6, &json!(1.66667)));
        let parts = charts.iter().find(|chart| chart["id"] == "part2-explore-time-parts").unwrap();
        assert_eq!(parts["groups"].as_array().unwrap().len(), 6 * chart::SHARES_OF_POINTS.len());
    }

    #[test]
    fn what_other_charts_show_whole_and_what_is_too_much_has_no_explorer() {
        assert!(Explorer::of(&grid(&["a=x,y,z"])).is_none());
        assert!(Explorer::of(&grid(&["seed=1..9"])).is_some());
        assert!(Explorer::of(&grid(&["a=x,y", "seed=1..126"])).is_none());
        assert!(Explorer::of(&grid(&["result=x,y", "seed=1..3"])).is_none());
    }
}
