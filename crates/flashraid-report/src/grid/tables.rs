//! A grid as tables and as the document of `compare --json`.

use serde_json::{Map, Value, json};

use super::{Axis, Estimate, Grid, Point, estimate, ratio};
use crate::data::Table;
use crate::figures::{self, Better, Figure, Unit};
use crate::number;
use crate::sheet::{Cell, Sheet, Tone};

impl Grid {
    /// The tables: each figure, and its ratio to the baseline.
    pub fn sheets(&self) -> Vec<Sheet> {
        figures::TABLES.iter().map(|(title, figures)| self.sheet(title, figures)).collect()
    }

    fn sheet(&self, title: &str, figures: &[Figure]) -> Sheet {
        let mut header: Vec<String> = self.axes.iter().map(|axis| last_part(&axis.key).to_owned()).collect();
        if header.is_empty() {
            header.push(String::new());
        }
        let label_columns = header.len();
        let mut rows: Vec<Vec<Cell>> = self.points.iter().map(labels).collect();
        for figure in figures {
            let values: Vec<Option<Vec<f64>>> = self.points.iter().map(|point| point.figure(figure.pointer)).collect();
            let means: Vec<Option<Estimate>> = values.iter().map(|values| estimate(values.as_deref()?)).collect();
            let scale = Scale::of(figure.unit, means.iter().flatten());
            header.push(heading(figure.name, scale.unit));
            header.push("×".to_owned());
            for (index, row) in rows.iter_mut().enumerate() {
                row.push(means[index].map_or("–".to_owned(), |mean| scale.text(mean)).into());
                let own_ratio =
                    values[index].as_deref().zip(values[self.baselines[index]].as_deref()).and_then(|(own, base)| ratio(own, base));
                row.push(ratio_cell(own_ratio, figure.better));
            }
        }
        Sheet { title: title.to_owned(), header, label_columns, unit_column: false, rows }
    }

    /// The document of `compare --json`.
    pub fn document(&self) -> Value {
        let mut document = json!({
            "schema": "flashraid.compare/1",
            "version": env!("CARGO_PKG_VERSION"),
            "vary": self.axes.iter().map(|axis| (axis.key.clone(), json!(axis.values))).collect::<Map<_, _>>(),
        });
        let points = self.points.iter().flat_map(|point| {
            let settings = settings(point);
            point.reports.iter().map(move |report| json!({ "settings": settings, "seed": report["seed"], "report": report }))
        });
        document["points"] = points.collect();
        document["summary"] = (0..self.points.len()).map(|index| self.summary(index)).collect();
        document
    }

    /// Means over the seeds, confidence intervals and ratios of one point.
    fn summary(&self, index: usize) -> Value {
        let (point, baseline) = (&self.points[index], &self.points[self.baselines[index]]);
        let figures = figures::all().map(|figure| {
            let own = point.figure(figure.pointer).unwrap_or_default();
            let base = baseline.figure(figure.pointer).unwrap_or_default();
            let mean = estimate(&own);
            let ratio = (own.len() == base.len()).then(|| ratio(&own, &base)).flatten();
            let value = json!({
                "mean": mean.map(|estimate| estimate.mean),
                "ci95": mean.and_then(|estimate| estimate.half_width),
                "ratio": ratio.map(|estimate| estimate.mean),
                "ratio_ci95": ratio.and_then(|estimate| estimate.half_width),
            });
            (figure.key(), value)
        });
        json!({ "settings": settings(point), "baseline": settings(baseline), "figures": figures.collect::<Map<_, _>>() })
    }

    /// A row for each point and seed: the varied keys, the seed and every figure.
    pub fn table(&self) -> Table {
        let rows: Vec<(&Point, &Value)> =
            self.points.iter().flat_map(|point| point.reports.iter().map(move |report| (point, report))).collect();
        let mut table = Table::default();
        for (axis, Axis { key, .. }) in self.axes.iter().enumerate() {
            table.text(key.clone(), rows.iter().map(|(point, _)| point.settings.get(axis).map(|setting| setting.value.clone())));
        }
        table.number("seed", rows.iter().map(|(_, report)| report["seed"].as_f64()));
        for figure in figures::all() {
            table.number(figure.key(), rows.iter().map(|(_, report)| report.pointer(figure.pointer).and_then(Value::as_f64)));
        }
        table
    }

    /// What the reports say beside their figures, each remark once.
    pub fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        for report in self.points.iter().flat_map(|point| &point.reports) {
            let lists = ["warnings", "trace_notes"].iter().filter_map(|key| report[*key].as_array()).flatten();
            for note in lists.chain([&report["workload_note"]]).filter_map(Value::as_str) {
                if !notes.iter().any(|known| known == note) {
                    notes.push(note.to_owned());
                }
            }
        }
        notes
    }

    /// A line that explains the tables.
    pub fn legend(&self) -> String {
        let seeds = self.points.first().map_or(0, |point| point.reports.len());
        let intervals = match seeds {
            0 | 1 => String::new(),
            _ => format!("; means over {seeds} seeds, ± half the 95 % confidence interval (Student's t; ratios are paired by seed)"),
        };
        let baseline = match (self.baseline_setting(), self.axes.len()) {
            (None, _) => "the baseline".to_owned(),
            (Some(setting), 1) => format!("the point with {setting}"),
            (Some(setting), _) => format!("the point with {setting} and else the same settings"),
        };
        format!("× is the ratio to {baseline}{intervals}.")
    }

    /// The setting that all baselines share and that other points lack, as `KEY = VALUE`.
    fn baseline_setting(&self) -> Option<String> {
        let of_baseline = |point: usize, axis: usize| self.points[self.baselines[point]].settings.get(axis);
        let is_shared = |&axis: &usize| {
            let value = of_baseline(0, axis).map(|setting| &setting.value);
            let all = 0..self.points.len();
            all.clone().all(|point| of_baseline(point, axis).map(|setting| &setting.value) == value)
                && all.into_iter().any(|point| self.points[point].settings.get(axis).map(|setting| &setting.value) != value)
        };
        let axis = (0..self.axes.len()).find(is_shared)?;
        of_baseline(0, axis).map(|setting| format!("{} = {}", setting.key, setting.value))
    }
}

fn labels(point: &Point) -> Vec<Cell> {
    match point.settings.as_slice() {
        [] => vec!["as given".into()],
        settings => settings.iter().map(|setting| setting.value.clone().into()).collect(),
    }
}

fn settings(point: &Point) -> Value {
    point.settings.iter().map(|setting| (setting.key.clone(), setting.json())).collect::<Map<_, _>>().into()
}

fn last_part(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

fn heading(name: &str, unit: &str) -> String {
    if unit.is_empty() { name.to_owned() } else { format!("{name}\n{unit}") }
}

/// One unit for a whole column, so that its numbers can be compared at a glance.
struct Scale {
    unit: &'static str,
    divisor: f64,
}

impl Scale {
    fn of<'a>(unit: Unit, values: impl Iterator<Item = &'a Estimate>) -> Scale {
        match unit {
            Unit::Microseconds => {
                let (unit, divisor) = number::time_unit(values.map(|value| value.mean).fold(0.0, f64::max));
                Scale { unit, divisor }
            }
            Unit::Plain(unit) => Scale { unit, divisor: 1.0 },
            Unit::Share => Scale { unit: "%", divisor: 0.01 },
        }
    }

    fn text(&self, value: Estimate) -> String {
        let mean = number::three_digits(value.mean / self.divisor);
        match value.half_width {
            None => mean,
            Some(half_width) => format!("{mean} ±{}", number::three_digits(half_width / self.divisor)),
        }
    }
}

fn ratio_cell(ratio: Option<Estimate>, better: Better) -> Cell {
    let Some(Estimate { mean, half_width }) = ratio else { return "–".into() };
    let text = match half_width {
        None => format!("{mean:.2}"),
        Some(half_width) => format!("{mean:.2} ±{half_width:.2}"),
    };
    let (less, more) = (mean <= 0.95, mean >= 1.05);
    let tone = match better {
        Better::Less if less => Tone::Better,
        Better::Less if more => Tone::Worse,
        Better::More if more => Tone::Better,
        Better::More if less => Tone::Worse,
        _ => Tone::Plain,
    };
    Cell { text, tone }
}

#[cfg(test)]
mod tests {
    use flashraid::study::combinations;

    use super::*;

    fn grid(means: &[&[f64]]) -> Grid {
        let axes = vec!["coordination.scheme=local,ideal".parse::<Axis>().unwrap()];
        let report = |(seed, mean): (usize, &f64)| json!({"seed": seed, "response_us": {"all": {"mean": mean}}, "flash": {"erases": 10}});
        let points = combinations(&axes)
            .into_iter()
            .zip(means)
            .map(|(settings, means)| Point { settings, reports: means.iter().enumerate().map(report).collect() })
            .collect();
        Grid { axes, points, baselines: vec![0, 0] }
    }

    #[test]
    fn a_column_has_one_unit_and_ratios_follow() {
        let sheet = &grid(&[&[8000.0], &[200.0]]).sheets()[0];
        assert_eq!(sheet.header[..3], ["scheme", "all\nms", "×"]);
        let texts = |row: usize| sheet.rows[row].iter().map(|cell| cell.text.as_str()).take(4).collect::<Vec<_>>();
        assert_eq!(texts(0), ["local", "8.00", "1.00", "–"]);
        assert_eq!(texts(1), ["ideal", "0.200", "0.03", "–"]);
        assert_eq!(sheet.rows[1][2].tone, Tone::Better);
        assert_eq!(sheet.rows[0][2].tone, Tone::Plain);
    }

    #[test]
    fn seeds_bring_intervals() {
        let grid = grid(&[&[1000.0, 3000.0], &[500.0, 1500.0]]);
        let sheet = &grid.sheets()[0];
        // Half width for n = 2: 12.706 · √(2·10⁶ / 2) µs.
        assert_eq!(sheet.rows[0][1].text, "2.00 ±12.7");
        assert_eq!(sheet.rows[1][2].text, "0.50 ±0.00");
        let document = grid.document();
        assert_eq!(document["points"].as_array().unwrap().len(), 4);
        assert_eq!(document["points"][3]["settings"]["coordination.scheme"], "ideal");
        assert_eq!(document["points"][3]["seed"], 1);
        assert_eq!(document["summary"][1]["figures"]["response_us.all.mean"]["ratio"], 0.5);
        assert_eq!(document["summary"][1]["baseline"]["coordination.scheme"], "local");
        assert_eq!(document["summary"][1]["figures"]["gc.runs"]["mean"], Value::Null);
    }
}
