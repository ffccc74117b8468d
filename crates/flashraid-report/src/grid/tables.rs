//! A grid as tables and as the document of `compare --json`.

use flashraid_model::metrics::breakdown::RESPONSE_TIME_CAUSE_NAMES;
use serde_json::{Map, Value, json};

use super::judge::has_mark;
use super::{AxisUnit, Estimate, Grid, Point};
use crate::data::{Table, column_name};
use crate::figures::{self, Figure, Unit};
use crate::number;
use crate::sheet::{Cell, Sheet};
use flashraid::report::{FEW_SAMPLES_MARK, WarningMark};

/// Percentiles and extremes that points have in files, for each kind of request.
const PERCENTILES: [&str; 8] = ["mean", "p50", "p90", "p95", "p99", "p99_9", "p99_99", "max"];

impl Grid {
    /// The tables: each figure, and its ratio to the baseline. Nothing is said of lost data where none were lost.
    pub fn sheets(&self) -> Vec<Sheet> {
        let is_lost =
            |figure: &Figure| self.points.iter().filter_map(|point| point.figure(figure.pointer)).flatten().any(|lost| lost > 0.0);
        let says_something = |figures: &[Figure]| figures.iter().any(|figure| !figure.pointer.starts_with("/lost/") || is_lost(figure));
        figures::TABLES.iter().filter(|(_, figures)| says_something(figures)).map(|(title, figures)| self.sheet(title, figures)).collect()
    }

    fn sheet(&self, title: &str, figures: &[Figure]) -> Sheet {
        let (mut header, mut columns_of) = self.label_header();
        let label_columns = header.len();
        let has_ratios = self.baselines.iter().enumerate().any(|(point, baseline)| point != *baseline);
        let mut rows: Vec<Vec<Cell>> = (0..self.points.len()).map(|point| self.labels(point)).collect();
        for figure in figures {
            let (unit, texts) = self.texts(figure);
            header.push(heading(figure.name, unit));
            columns_of.push(figure.key());
            if has_ratios {
                header.push("×".to_owned());
                columns_of.push(String::new());
            }
            for (index, (row, text)) in rows.iter_mut().zip(texts).enumerate() {
                row.push(text.into());
                if has_ratios {
                    row.push(self.ratio_cell(index, figure));
                }
            }
        }
        let rows = self.in_order().into_iter().map(|index| std::mem::take(&mut rows[index])).collect();
        Sheet { header, label_columns, rows, columns_of, ..Sheet::new(title, &[]) }
    }

    /// Returns a figure of every point as its column shows it, and the common unit. The unit is empty if each value has its own.
    pub(crate) fn texts(&self, figure: &Figure) -> (&'static str, Vec<String>) {
        let means: Vec<Option<Estimate>> = self.points.iter().map(|point| point.estimate(figure.pointer)).collect();
        let scale = Scale::of(figure.unit, means.iter().flatten());
        let guess = |point: &Point| if point.is_guess(figure.pointer) { FEW_SAMPLES_MARK } else { "" };
        let text = |(point, mean): (&Point, &Option<Estimate>)| mean.map_or("–".to_owned(), |mean| scale.text(mean) + guess(point));
        (scale.unit(), self.points.iter().zip(&means).map(text).collect())
    }

    /// The ratio of a figure to the baseline's.
    pub(crate) fn ratio_cell(&self, point: usize, figure: &Figure) -> Cell {
        let Some(ratio) = self.ratio_to_baseline(point, figure) else { return "–".into() };
        let text = match ratio.interval_half_width {
            None => number::rounded(ratio.mean),
            Some(half_width) => format!("{} ±{}", number::rounded(ratio.mean), number::rounded(half_width)),
        };
        self.toned(point, figure, ratio, text)
    }

    /// A line that explains the tables.
    pub fn legend(&self) -> String {
        let intervals = match self.seeds() {
            0 | 1 => "; ± half the 95 % confidence interval from ten batches of the seed".to_owned(),
            seeds => format!("; means over {seeds} seeds, ± half the 95 % confidence interval (Student's t; ratios are paired by seed)"),
        };
        let order = self.sorted_by.map_or(String::new(), |figure| format!("; sorted by {}, the best first", figure.key()));
        let yardstick = self.yardstick_line().map_or(String::new(), |line| format!("; {line}"));
        let baseline = self.baseline_name().map_or("the baseline".to_owned(), |setting| format!("the point with {setting}"));
        format!("× is the ratio to {baseline} under the same load{intervals}{order}{yardstick}.")
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
        document["conclusions"] = self.conclusions().into();
        document["costs_of_collection"] = self.costs_of_collection().into();
        document["summary"] = (0..self.points.len()).map(|index| self.figures_of(index)).collect();
        document
    }

    /// Means over the seeds, confidence intervals and ratios of one point.
    fn figures_of(&self, index: usize) -> Value {
        let (point, baseline) = (&self.points[index], &self.points[self.baselines[index]]);
        let figures = figures::all().map(|figure| {
            let mean = point.estimate(figure.pointer);
            let ratio = self.ratio_to_baseline(index, figure);
            let value = json!({
                "mean": mean.map(|estimate| estimate.mean),
                "ci95": mean.and_then(|estimate| estimate.interval_half_width),
                "ratio": ratio.map(|estimate| estimate.mean),
                "ratio_ci95": ratio.and_then(|estimate| estimate.interval_half_width),
            });
            (figure.key(), value)
        });
        let not_judged = point.shortfall_sentence(&point.label());
        json!({
            "settings": settings(point),
            "baseline": settings(baseline),
            "judged": self.may_speak_of(index),
            "not_judged": not_judged.filter(|_| !self.may_speak_of(index)),
            "figures": figures.collect::<Map<_, _>>(),
        })
    }

    /// A row for each point and seed: the varied keys, the seed and every figure, each named as in the document with underscores.
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
            let truth: Option<Vec<bool>> = rows.iter().map(|(_, report)| report.pointer(&pointer)?.as_bool()).collect();
            if let Some(truth) = truth {
                table.truth(of.key.clone(), truth.into_iter().map(Some));
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
        let mut number = |pointer: String| {
            let name = column_name(pointer[1..].replace('/', "."));
            // The tables have some of them already.
            if table.columns().iter().all(|(known, _)| *known != name) {
                table.number(name, rows.iter().map(|(_, report)| report.pointer(&pointer).and_then(Value::as_f64)));
            }
        };
        for kind in ["all", "read", "write"] {
            number(format!("/iops/{kind}"));
            PERCENTILES.iter().for_each(|percentile| number(format!("/response_us/{kind}/{percentile}")));
        }
        RESPONSE_TIME_CAUSE_NAMES.iter().for_each(|part| number(format!("/time_us/all/{part}")));
        let text = |pointer: &'static str| rows.iter().map(move |(_, report)| Some(report.pointer(pointer)?.as_str()?.to_owned()));
        let marks = |report: &Value| {
            let marks = report.pointer("/verdict/marks").and_then(Value::as_array)?;
            Some(marks.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "))
        };
        table.text("verdict.load", text("/verdict/load"));
        table.truth("verdict.steady", rows.iter().map(|(_, report)| report.pointer("/verdict/steady").and_then(Value::as_bool)));
        table.truth("verdict.judged", rows.iter().map(|(_, report)| Some(!has_mark(report, WarningMark::NotJudged))));
        table.whole("cycles.requests_until_judged", rows.iter().map(|(_, report)| report["cycles"]["requests_until_judged"].as_u64()));
        table.number("owed.credit_share", rows.iter().map(|(_, report)| report["owed"]["credit_share"].as_f64()));
        table.text("verdict.deepest_percentile", text("/verdict/deepest_percentile"));
        table.text("verdict.marks", rows.iter().map(|(_, report)| marks(report)));
        table
    }

    /// Returns a row for each point and figure: the varied keys, the mean over the seeds, and the ratio to the baseline.
    /// Both have half of their 95 % confidence interval. A figure is named as its column in [`Grid::table`].
    pub fn figures_table(&self) -> Table {
        let figures: Vec<&Figure> = figures::all().collect();
        let rows = || (0..self.points.len()).flat_map(|index| figures.iter().map(move |figure| (index, *figure)));
        let mut table = Table::default();
        for (axis, of) in self.axes.iter().enumerate() {
            table.text(of.key.clone(), rows().map(|(index, _)| self.points[index].settings.get(axis).map(|setting| setting.value.clone())));
        }
        let means: Vec<Option<Estimate>> = rows().map(|(index, figure)| self.points[index].estimate(figure.pointer)).collect();
        let ratios: Vec<Option<Estimate>> = rows().map(|(index, figure)| self.ratio_to_baseline(index, figure)).collect();
        let mean_of = |estimates: &[Option<Estimate>]| estimates.iter().map(|of| of.map(|of| of.mean)).collect::<Vec<_>>();
        let width_of =
            |estimates: &[Option<Estimate>]| estimates.iter().map(|of| of.and_then(|of| of.interval_half_width)).collect::<Vec<_>>();
        table.text("figure", rows().map(|(_, figure)| Some(column_name(figure.key()))));
        table.number("mean", mean_of(&means));
        table.number("ci95", width_of(&means));
        table.number("ratio", mean_of(&ratios));
        table.number("ratio_ci95", width_of(&ratios));
        table
    }
}

fn settings(point: &Point) -> Value {
    point.settings.iter().map(|setting| (setting.key.clone(), setting.value_as_json())).collect::<Map<_, _>>().into()
}

fn heading(name: &str, unit: &str) -> String {
    if unit.is_empty() { name.to_owned() } else { format!("{name}\n{unit}") }
}

/// Most that the values of a column may be apart to be written in the unit of the greatest.
const DECIMALS_MAX: f64 = 100.0;
/// Most that the values of a column may be apart to share a unit.
const DECADES_OF_ONE_UNIT: f64 = 1000.0;

/// One unit for a whole column, so that its numbers can be compared at a glance; durations more than three decades apart have one each.
pub(super) enum Scale {
    Column { unit: &'static str, divisor: f64 },
    EachItsOwn,
}

impl Scale {
    /// Returns one unit for all response times of a table. It is that of the greatest, unless the least is below a tenth of it; otherwise
    /// that of the median. If numbers would get too long, each value has its own unit.
    pub(super) fn shared(mut microseconds: Vec<f64>) -> Scale {
        /// Least number that reads well beside larger ones.
        const LEAST: f64 = 0.1;
        microseconds.retain(|value| *value > 0.0);
        microseconds.sort_by(f64::total_cmp);
        let [least, .., greatest] = microseconds[..] else { return Scale::EachItsOwn };
        let median = microseconds[microseconds.len() / 2];
        let of_greatest = number::time_unit(greatest);
        let (unit, divisor) = if least >= LEAST * of_greatest.1 { of_greatest } else { number::time_unit(median) };
        if least * DECADES_OF_ONE_UNIT < divisor || greatest >= DECADES_OF_ONE_UNIT * DECADES_OF_ONE_UNIT * divisor {
            return Scale::EachItsOwn;
        }
        Scale::Column { unit, divisor }
    }

    pub(super) fn of<'a>(unit: Unit, values: impl Iterator<Item = &'a Estimate>) -> Scale {
        match unit {
            Unit::Microseconds => {
                let magnitudes = values.map(|value| value.mean.abs()).filter(|magnitude| *magnitude > 0.0);
                let (min, max) = magnitudes.fold((f64::INFINITY, 0.0), |(min, max), value| (value.min(min), value.max(max)));
                if max > DECADES_OF_ONE_UNIT * min {
                    return Scale::EachItsOwn;
                }
                // Small numbers with many zeros read worse than large ones.
                let (unit, divisor) = number::time_unit(if max > DECIMALS_MAX * min { min } else { max });
                Scale::Column { unit, divisor }
            }
            Unit::Plain(unit) => Scale::Column { unit, divisor: 1.0 },
            Unit::Share => Scale::Column { unit: "%", divisor: 0.01 },
            Unit::Bytes => match values.map(|value| value.mean).fold(0.0, f64::max) {
                most if most >= 1e12 => Scale::Column { unit: "TB", divisor: 1e12 },
                most if most >= 1e9 => Scale::Column { unit: "GB", divisor: 1e9 },
                _ => Scale::Column { unit: "MB", divisor: 1e6 },
            },
        }
    }

    /// The unit that the heading names.
    pub(super) fn unit(&self) -> &'static str {
        match self {
            Scale::Column { unit, .. } => unit,
            Scale::EachItsOwn => "",
        }
    }

    pub(super) fn text(&self, value: Estimate) -> String {
        let (unit, divisor) = match *self {
            Scale::Column { divisor, .. } => (String::new(), divisor),
            Scale::EachItsOwn => {
                let (unit, divisor) = number::time_unit(value.mean);
                (format!(" {unit}"), divisor)
            }
        };
        let mean = number::three_digits(value.mean / divisor);
        match value.interval_half_width {
            None => format!("{mean}{unit}"),
            Some(half_width) => format!("{mean} ±{}{unit}", number::three_digits(half_width / divisor)),
        }
    }
}

#[cfg(test)]
mod tests {
    use flashraid::study::all_combinations;

    use super::super::Axis;
    use super::*;
    use crate::sheet::Tone;

    fn grid(means: &[&[f64]]) -> Grid {
        let axes = vec!["coordination.scheme=local,ideal".parse::<Axis>().unwrap()];
        let report = |(seed, mean): (usize, &f64)| json!({"seed": seed, "response_us": {"all": {"mean": mean}}, "flash": {"erases": 10}});
        let points = all_combinations(&axes)
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
        assert_eq!(texts(1), ["(ideal)", "0.200", "0.0250", "–"]);
        assert_eq!(sheet.rows[1][2].tone, Tone::Better);
        assert_eq!(sheet.rows[0][2].tone, Tone::Plain);
    }

    #[test]
    fn response_times_of_a_table_share_the_unit_that_reads_best() {
        let unit = |microseconds: &[f64]| Scale::shared(microseconds.to_vec()).unit();
        assert_eq!(unit(&[287.0, 14_100.0, 259_000.0]), "ms", "0.287 to 259 ms");
        assert_eq!(unit(&[80.0, 90.0, 2_000.0]), "µs", "0.08 ms reads worse than 80 µs");
        assert_eq!(unit(&[2_380.0, 960_000.0, 1_730_000.0]), "ms", "the median decides where a second is too long");
        assert_eq!(unit(&[0.5, 2_000_000.0, 3_000_000.0]), "", "each its own");
        assert_eq!(unit(&[300.0]), "", "nothing to share");
    }

    #[test]
    fn lost_data_have_a_table_where_there_are_some() {
        let mut grid = grid(&[&[8000.0], &[200.0]]);
        let titles = |grid: &Grid| grid.sheets().into_iter().map(|sheet| sheet.title).collect::<Vec<_>>();
        grid.points.iter_mut().for_each(|point| point.reports[0]["lost"] = json!({ "requests": 0, "pages": 0 }));
        assert!(!titles(&grid).contains(&"Data lost".to_owned()));
        grid.points[1].reports[0]["lost"]["requests"] = 3.into();
        assert!(titles(&grid).contains(&"Data lost".to_owned()));
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
        let verdict = |load: &str, marks: &[&str]| json!({ "load": load, "marks": marks });
        grid.points[0].reports[0]["verdict"] = verdict("stable", &[]);
        grid.points[1].reports[0]["verdict"] = verdict("unstable", &["not steady"]);
        for (point, mean) in grid.points.iter_mut().zip([2.0, 1.0]) {
            point.reports[0]["response_us"]["all"] = json!({ "count": 8000, "mean": mean, "p99": 2.0, "p99_9": 3.0 });
        }
        let sheets = grid.sheets();
        assert_eq!([0, 1].map(|row| sheets[0].rows[row][0].text.as_str()), ["local", "(ideal) !"]);
        assert_eq!([3, 5].map(|column| sheets[1].rows[0][column].text.as_str()), ["2.00", "3.00 ?"]);
        assert_eq!(sheets[0].rows[1][2].tone, Tone::Plain, "a colour would say too much of a marked point");
        assert!(grid.doubts()[0].starts_with("! ideal: unstable"), "{:?}", grid.doubts());
        assert!(grid.summary_legend().contains("? fewer than ten"), "{}", grid.summary_legend());
        assert_eq!(grid.summary(80).rows[1][0].text, "(ideal) !");
    }

    #[test]
    fn a_warning_names_its_points() {
        let mut grid = grid(&[&[8000.0], &[200.0]]);
        grid.points[0].reports[0]["warnings"] = json!(["of one", "of both"]);
        grid.points[1].reports[0]["warnings"] = json!(["of both"]);
        assert_eq!(grid.notes(), ["warning, local: of one", "warning: of both"]);
    }
}
