//! A grid as tables and as the document of `compare --json`.

use serde_json::{Map, Value, json};

use super::{AxisUnit, Estimate, Grid, Point};
use crate::data::Table;
use crate::figures::{self, Better, Figure, Unit};
use crate::number;
use crate::sheet::{Cell, Sheet, Tone};
use flashraid::report::GUESS;

impl Grid {
    /// The tables: each figure, and its ratio to the baseline.
    pub fn sheets(&self) -> Vec<Sheet> {
        figures::TABLES.iter().map(|(title, figures)| self.sheet(title, figures)).collect()
    }

    fn sheet(&self, title: &str, figures: &[Figure]) -> Sheet {
        let mut header: Vec<String> = self.key_names().into_iter().map(str::to_owned).collect();
        if header.is_empty() {
            header.push(String::new());
        }
        let label_columns = header.len();
        let mut rows: Vec<Vec<Cell>> = self.points.iter().map(labels).collect();
        for (row, point) in rows.iter_mut().zip(&self.points) {
            if let (Some(cell), false) = (row.first_mut(), doubts(point).is_empty()) {
                cell.text += DOUBTFUL;
            }
        }
        for figure in figures {
            let values: Vec<Option<Vec<f64>>> = self.points.iter().map(|point| point.figure(figure.pointer)).collect();
            let means: Vec<Option<Estimate>> = values.iter().map(|values| Estimate::of(values.as_deref()?)).collect();
            let scale = Scale::of(figure.unit, means.iter().flatten());
            header.push(heading(figure.name, scale.unit()));
            header.push("×".to_owned());
            for (index, row) in rows.iter_mut().enumerate() {
                let guess = if self.points[index].is_guess(figure.pointer) { GUESS } else { "" };
                row.push(means[index].map_or("–".to_owned(), |mean| scale.text(mean) + guess).into());
                let own_ratio = values[index]
                    .as_deref()
                    .zip(values[self.baselines[index]].as_deref())
                    .and_then(|(own, base)| Estimate::of_ratios(own, base));
                row.push(ratio_cell(own_ratio, figure.better));
            }
        }
        let rows = self.in_order().into_iter().map(|index| std::mem::take(&mut rows[index])).collect();
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
            let mean = Estimate::of(&own);
            let ratio = Estimate::of_ratios(&own, &base);
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
        // The seed has a column of its own, varied or not.
        for (axis, of) in self.axes.iter().enumerate().filter(|(_, of)| of.key != "seed") {
            let values = || rows.iter().map(|(point, _)| point.settings.get(axis).map(|setting| setting.value.clone()));
            // What a key takes decides what its column has, whatever the values of this study are.
            let pointer = format!("/config/{}", of.key.replace('.', "/"));
            let whole: Option<Vec<u64>> = rows.iter().map(|(_, report)| report.pointer(&pointer)?.as_u64()).collect();
            if let Some(whole) = whole {
                table.whole(of.key.clone(), whole.into_iter().map(Some));
                continue;
            }
            let numbers = super::numbers(of);
            if numbers.as_ref().is_none_or(|(unit, _)| *unit != AxisUnit::Plain) {
                table.text(of.key.clone(), values());
            }
            // What is a quantity can be computed with.
            if let Some((unit, numbers)) = numbers {
                let number = |value: Option<String>| Some(numbers[of.values.iter().position(|known| Some(known) == value.as_ref())?]);
                table.number(format!("{}{}", of.key, unit.suffix()), values().map(number));
            }
        }
        table.whole("seed", rows.iter().map(|(_, report)| report["seed"].as_u64()));
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

    /// What is to be said of single points before their figures are believed, and what the marks in the tables mean.
    pub fn doubts(&self) -> Vec<String> {
        let of_point = |point: &Point| {
            let doubts = doubts(point);
            (!doubts.is_empty()).then(|| format!("{}{DOUBTFUL}: {}", point.label(), doubts.join("; ")))
        };
        let mut lines: Vec<String> = self.points.iter().filter_map(of_point).collect();
        let pointers = || figures::all().map(|figure| figure.pointer);
        if self.points.iter().any(|point| pointers().any(|pointer| point.is_guess(pointer))) {
            lines.push(format!("{}: fewer than ten requests lie beyond this percentile.", GUESS.trim()));
        }
        lines
    }

    /// The point with the least mean response time, and that.
    pub fn best(&self) -> Option<(usize, f64)> {
        let means = self
            .points
            .iter()
            .enumerate()
            .filter_map(|(index, point)| Some((index, Estimate::of(&point.figure("/response_us/all/mean")?)?.mean)));
        means.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The comparison in a sentence: the point with the least mean response time against its baseline, or against the next best.
    pub fn conclusion(&self) -> Option<String> {
        const MEAN: &str = "/response_us/all/mean";
        let means: Vec<Option<f64>> = self.points.iter().map(|point| Some(Estimate::of(&point.figure(MEAN)?)?.mean)).collect();
        let best_of = |skip: Option<usize>| {
            let others = (0..self.points.len()).filter(|index| Some(*index) != skip && means[*index].is_some());
            others.min_by(|a, b| means[*a].partial_cmp(&means[*b]).expect("numbers"))
        };
        let best = best_of(None)?;
        let other = if self.baselines[best] == best { best_of(Some(best))? } else { self.baselines[best] };
        let ratio_of = |pointer: &str| Estimate::of_ratios(&self.points[other].figure(pointer)?, &self.points[best].figure(pointer)?);
        let (mean, name) = (ratio_of(MEAN)?, |index: usize| self.points[index].label());
        let supported = |(key, _): &&(&str, &str)| {
            let pointer = format!("/response_us/all/{key}");
            [best, other].iter().all(|index| !self.points[*index].is_guess(&pointer) && self.points[*index].figure(&pointer).is_some())
        };
        let tail = [("p99", "p99"), ("p99_9", "p99.9")].iter().rev().find(supported).and_then(|(key, name)| {
            let ratio = ratio_of(&format!("/response_us/all/{key}"))?;
            let text = match ratio.mean {
                _ if is_one(ratio) => "the same".to_owned(),
                mean if mean < 1.0 => format!("{} times as long", times(Estimate { mean: 1.0 / mean, half_width: None, ..ratio })),
                _ => format!("{} times as short", times(ratio)),
            };
            Some(match (is_one(mean), is_one(ratio)) {
                (false, _) => format!("; its {name} is {text}"),
                (true, true) => format!("; their {name} is {text}"),
                (true, false) => format!("; the {name} of {} is {text}", self.points[best].label()),
            })
        });
        let best_is = match is_one(mean) {
            true => format!("{} and {} are as fast as each other in the mean", name(best), name(other)),
            false => format!("{} is {} times as fast as {} in the mean", name(best), times(mean), name(other)),
        };
        let doubtful = [best, other].iter().any(|index| !doubts(&self.points[*index]).is_empty());
        let but = if doubtful { " (but see the marks)" } else { "" };
        Some(format!("{best_is}{}{but}.", tail.unwrap_or_default()))
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
        let order = self.sorted_by.map_or(String::new(), |figure| format!("; sorted by {}, the best first", figure.key()));
        format!("× is the ratio to {baseline}{intervals}{order}.")
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

/// Marks a point whose load is not met or that has not come to a steady state.
const DOUBTFUL: &str = " !";

/// A ratio and its interval.
fn times(ratio: Estimate) -> String {
    match ratio.half_width {
        None => number::rounded(ratio.mean),
        Some(half_width) => format!("{} ± {}", number::rounded(ratio.mean), number::rounded(half_width)),
    }
}

/// Whether a ratio is 1 as far as its interval tells; within 1 % without one.
fn is_one(ratio: Estimate) -> bool {
    (ratio.mean - 1.0).abs() <= ratio.half_width.unwrap_or(0.0).max(0.01)
}

/// Why the figures of a point are not to be taken at their face value; the first seed that says so counts.
fn doubts(point: &Point) -> Vec<&'static str> {
    let verdicts = || point.reports.iter().map(|report| &report["verdict"]);
    let load = |name: &str| verdicts().any(|verdict| verdict["load"] == name);
    let doubts = [
        (load("unstable"), "unstable: requests pile up, so that response times grow with the length of the run"),
        (load("saturated"), "saturated: less than 98 % of what is asked for is served in its time"),
        // What is unstable or saturated is not steady either.
        (
            verdicts().any(|verdict| verdict["steady"] == false && (verdict["load"] == "stable" || verdict["load"] == "closed")),
            "no steady state: another length of the run gives other figures",
        ),
    ];
    doubts.into_iter().filter(|(applies, _)| *applies).map(|(_, text)| text).collect()
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

fn heading(name: &str, unit: &str) -> String {
    if unit.is_empty() { name.to_owned() } else { format!("{name}\n{unit}") }
}

/// Most that the values of a column may be apart to share a unit.
const DECADES_OF_ONE_UNIT: f64 = 1000.0;

/// One unit for a whole column, so that its numbers can be compared at a glance; durations more than three decades apart have one each.
enum Scale {
    Column { unit: &'static str, divisor: f64 },
    EachItsOwn,
}

impl Scale {
    fn of<'a>(unit: Unit, values: impl Iterator<Item = &'a Estimate>) -> Scale {
        match unit {
            Unit::Microseconds => {
                let magnitudes = values.map(|value| value.mean.abs()).filter(|magnitude| *magnitude > 0.0);
                let (min, max) = magnitudes.fold((f64::INFINITY, 0.0), |(min, max), value| (value.min(min), value.max(max)));
                if max > DECADES_OF_ONE_UNIT * min {
                    return Scale::EachItsOwn;
                }
                let (unit, divisor) = number::time_unit(max);
                Scale::Column { unit, divisor }
            }
            Unit::Plain(unit) => Scale::Column { unit, divisor: 1.0 },
            Unit::Share => Scale::Column { unit: "%", divisor: 0.01 },
        }
    }

    /// The unit that the heading names.
    fn unit(&self) -> &'static str {
        match self {
            Scale::Column { unit, .. } => unit,
            Scale::EachItsOwn => "",
        }
    }

    fn text(&self, value: Estimate) -> String {
        let (unit, divisor) = match *self {
            Scale::Column { divisor, .. } => (String::new(), divisor),
            Scale::EachItsOwn => {
                let (unit, divisor) = number::time_unit(value.mean);
                (format!(" {unit}"), divisor)
            }
        };
        let mean = number::three_digits(value.mean / divisor);
        match value.half_width {
            None => format!("{mean}{unit}"),
            Some(half_width) => format!("{mean} ±{}{unit}", number::three_digits(half_width / divisor)),
        }
    }
}

fn ratio_cell(ratio: Option<Estimate>, better: Better) -> Cell {
    let Some(Estimate { mean, half_width, .. }) = ratio else { return "–".into() };
    let text = match half_width {
        None => number::rounded(mean),
        Some(half_width) => format!("{} ±{}", number::rounded(mean), number::rounded(half_width)),
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

    use super::super::Axis;
    use super::*;

    fn grid(means: &[&[f64]]) -> Grid {
        let axes = vec!["coordination.scheme=local,ideal".parse::<Axis>().unwrap()];
        let report = |(seed, mean): (usize, &f64)| json!({"seed": seed, "response_us": {"all": {"mean": mean}}, "flash": {"erases": 10}});
        let points = combinations(&axes)
            .into_iter()
            .zip(means)
            .map(|(settings, means)| Point { settings, reports: means.iter().enumerate().map(report).collect() })
            .collect();
        Grid { axes, points, baselines: vec![0, 0], sorted_by: None }
    }

    #[test]
    fn a_column_has_one_unit_and_ratios_follow() {
        let sheet = &grid(&[&[8000.0], &[200.0]]).sheets()[0];
        assert_eq!(sheet.header[..3], ["scheme", "all\nms", "×"]);
        let texts = |row: usize| sheet.rows[row].iter().map(|cell| cell.text.as_str()).take(4).collect::<Vec<_>>();
        assert_eq!(texts(0), ["local", "8.00", "1.00", "–"]);
        assert_eq!(texts(1), ["ideal", "0.200", "0.0250", "–"]);
        assert_eq!(sheet.rows[1][2].tone, Tone::Better);
        assert_eq!(sheet.rows[0][2].tone, Tone::Plain);
    }

    #[test]
    fn what_is_decades_apart_has_a_unit_each() {
        let sheet = &grid(&[&[4_085_859.1], &[2.0]]).sheets()[0];
        assert_eq!(sheet.header[1], "all");
        let texts = |row: usize| [sheet.rows[row][1].text.as_str(), sheet.rows[row][2].text.as_str()];
        assert_eq!((texts(0), texts(1)), (["4.09 s", "1.00"], ["2.00 µs", "4.89e-7"]));
        let sheet = &grid(&[&[10.0], &[4_085_859.1]]).sheets()[0];
        assert_eq!(sheet.rows[1][2].text, "409\u{202f}k");
    }

    #[test]
    fn seeds_bring_intervals() {
        let grid = grid(&[&[1000.0, 3000.0], &[500.0, 1500.0]]);
        let sheet = &grid.sheets()[0];
        // Half width for n = 2: 12.706 · √(2·10⁶ / 2) µs.
        assert_eq!(sheet.rows[0][1].text, "2.00 ±12.7");
        assert_eq!(sheet.rows[1][2].text, "0.500 ±0");
        let document = grid.document();
        assert_eq!(document["points"].as_array().unwrap().len(), 4);
        assert_eq!(document["points"][3]["settings"]["coordination.scheme"], "ideal");
        assert_eq!(document["points"][3]["seed"], 1);
        assert_eq!(document["summary"][1]["figures"]["response_us.all.mean"]["ratio"], 0.5);
        assert_eq!(document["summary"][1]["baseline"]["coordination.scheme"], "local");
        assert_eq!(document["summary"][1]["figures"]["gc.runs"]["mean"], Value::Null);
    }

    #[test]
    fn doubtful_points_and_guesses_are_marked() {
        let mut grid = grid(&[&[8000.0], &[200.0]]);
        let verdict = |load: &str, steady: bool| json!({ "load": load, "steady": steady });
        grid.points[0].reports[0]["verdict"] = verdict("stable", true);
        grid.points[1].reports[0]["verdict"] = verdict("unstable", false);
        for point in &mut grid.points {
            point.reports[0]["response_us"]["all"] = json!({ "count": 8000, "mean": 1.0, "p99": 2.0, "p99_9": 3.0 });
        }
        let sheets = grid.sheets();
        assert_eq!([0, 1].map(|row| sheets[0].rows[row][0].text.as_str()), ["local", "ideal !"]);
        assert_eq!([3, 5].map(|column| sheets[1].rows[0][column].text.as_str()), ["2.00", "3.00 ?"]);
        let doubts = grid.doubts();
        assert!(doubts[0].starts_with("ideal !: unstable") && doubts[1].starts_with("?: fewer than ten"), "{doubts:?}");
        assert_eq!(
            grid.conclusion().unwrap(),
            "local and ideal are as fast as each other in the mean; their p99 is the same (but see the marks)."
        );
    }

    #[test]
    fn the_conclusion_is_a_sentence() {
        assert_eq!(grid(&[&[8000.0], &[200.0]]).conclusion().unwrap(), "ideal is 40.0 times as fast as local in the mean.");
        assert_eq!(grid(&[&[100.0], &[200.0]]).conclusion().unwrap(), "local is 2.00 times as fast as ideal in the mean.");
        assert_eq!(
            grid(&[&[800.0, 840.0], &[200.0, 200.0]]).conclusion().unwrap(),
            "ideal is 4.10 ± 1.27 times as fast as local in the mean."
        );
    }
}
