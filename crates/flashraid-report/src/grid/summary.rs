//! A grid in one table, and the lines that explain it.

use serde_json::Value;

use super::judge::{MEAN, Trend, doubts};
use super::tables::Scale;
use super::{Estimate, Grid};
use crate::figures::{self, CAPACITY, Figure};
use crate::number;
use crate::sheet::{Cell, Sheet, Tone};
use crate::text;
use flashraid::load_rise::LoadRiseUntilGcMatters;
use flashraid::report::{FEW_SAMPLES_MARK, WarningMark};
use flashraid::study::must_match_for_comparison;

/// Marks a figure that is worse than the baseline's.
pub const WORSE: &str = " ▲";
/// Stands in place of a change that a comparison does not speak of.
pub const NOT_JUDGED: &str = "not judged";
/// Characters of a little bar at least, or there is none, and at most.
const BAR_MIN: usize = 5;
const BAR_MAX: usize = 20;

/// A column of the summary.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Column {
    Figure(&'static str),
    /// The change of the mean against the baseline.
    Change,
    /// Requests of which data were lost.
    Lost,
    /// The mean as a little bar of so many characters.
    Bar(usize),
}

/// The columns as they stand, each with its rank: where the table is too wide, those of high rank go.
const COLUMNS: [(Column, u8); 8] = [
    (Column::Figure(MEAN), 0),
    (Column::Change, 1),
    (Column::Figure("/response_us/all/p99"), 4),
    (Column::Figure("/response_us/all/p99_9"), 2),
    (Column::Figure("/iops/all"), 6),
    (Column::Figure("/flash/write_amplification"), 5),
    (Column::Figure(CAPACITY), 3),
    (Column::Lost, 0),
];

impl Grid {
    /// Returns the table to read first. It has at most `width` characters, unless the settings alone are wider. Points that do the same
    /// work stand together, and yardsticks stand below the others.
    pub fn summary(&self, width: usize) -> Sheet {
        let mut columns: Vec<(Column, u8)> = COLUMNS.into_iter().filter(|(column, _)| self.has(*column)).collect();
        loop {
            let shown: Vec<Column> = columns.iter().map(|(column, _)| *column).collect();
            let sheet = self.summary_of(&shown);
            let last = columns.iter().map(|(_, rank)| *rank).max().unwrap_or(0);
            if last == 0 || text::width(&sheet) <= width {
                return sheet;
            }
            columns.retain(|(_, rank)| *rank != last);
        }
    }

    /// The summary without what does not change under a given load, and with little bars where there is room.
    pub fn summary_with_bars(&self, width: usize) -> Sheet {
        let figures = [MEAN, "/response_us/all/p99", "/response_us/all/p99_9", "/flash/write_amplification"].map(Column::Figure);
        let columns = [figures[0], Column::Change, figures[1], figures[2], figures[3]];
        let sheet = self.summary_of(&columns);
        let room = width.saturating_sub(text::width(&sheet) + 2).min(BAR_MAX);
        match room {
            0..BAR_MIN => sheet,
            room => self.summary_of(&[columns.as_slice(), &[Column::Bar(room)]].concat()),
        }
    }

    /// Returns true if a column says something about these points.
    fn has(&self, column: Column) -> bool {
        match column {
            Column::Figure(CAPACITY) => {
                let mut capacities = self.points.iter().filter_map(|point| point.figure(CAPACITY)).flatten();
                let first = capacities.next();
                capacities.any(|capacity| Some(capacity) != first)
            }
            Column::Figure(pointer) => self.points.iter().any(|point| point.figure(pointer).is_some()),
            Column::Change => self.is_contest(),
            Column::Lost => self.points.iter().any(super::Point::has_lost),
            Column::Bar(_) => true,
        }
    }

    /// Returns true if some point has another one as its baseline.
    fn is_contest(&self) -> bool {
        self.baselines.iter().enumerate().any(|(point, baseline)| point != *baseline)
    }

    /// The positions of the points in the order of the summary.
    fn together(&self) -> Vec<usize> {
        if self.sorted_by.is_some() {
            return self.in_order();
        }
        let of_workload = |workload: super::Workload| {
            let (yardsticks, rest): (Vec<usize>, Vec<usize>) =
                workload.points.into_iter().partition(|point| self.points[*point].is_yardstick());
            rest.into_iter().chain(yardsticks)
        };
        self.workloads().into_iter().flat_map(of_workload).collect()
    }

    fn summary_of(&self, columns: &[Column]) -> Sheet {
        let order = self.together();
        let (mut header, mut columns_of) = self.label_header();
        let label_columns = header.len();
        let mut rows: Vec<Vec<Cell>> = order.iter().map(|point| self.labels(*point)).collect();
        let mut text_columns = Vec::new();
        for column in columns {
            if matches!(column, Column::Bar(_)) {
                text_columns.push(header.len());
            }
            let (heading, cells) = self.column(*column, &order);
            header.push(heading);
            columns_of.push(match column {
                Column::Figure(pointer) => figures::at(pointer).key(),
                Column::Lost => "lost.requests".to_owned(),
                Column::Change | Column::Bar(_) => String::new(),
            });
            rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
        }
        let count = match self.points.len() {
            1 => "1 point".to_owned(),
            points => format!("{points} points"),
        };
        let seeds = match self.seeds() {
            1 => "one seed".to_owned(),
            seeds => format!("{seeds} seeds each"),
        };
        // Bars begin at the left like texts.
        let unit_column = text_columns.contains(&(header.len() - 1));
        Sheet { header, label_columns, unit_column, rows, columns_of, ..Sheet::new(format!("{count}, {seeds}"), &[]) }
    }

    /// The headings of the columns that name a point, at least one, and the keys that they are of.
    pub(super) fn label_header(&self) -> (Vec<String>, Vec<String>) {
        match self.axes.is_empty() {
            true => (vec![String::new()], vec![String::new()]),
            false => (self.key_names().into_iter().map(str::to_owned).collect(), self.axes.iter().map(|axis| axis.key.clone()).collect()),
        }
    }

    /// The settings of a point with its marks; those of a yardstick in brackets.
    pub(super) fn labels(&self, point: usize) -> Vec<Cell> {
        let point = &self.points[point];
        let brackets = |text: String| if point.is_yardstick() { format!("({text})") } else { text };
        let mut labels: Vec<String> = match point.settings.as_slice() {
            [] => vec![brackets("as given".to_owned())],
            settings => {
                let label = |setting: &super::Setting| match must_match_for_comparison(&setting.key) {
                    true => setting.value.clone(),
                    false => brackets(setting.value.clone()),
                };
                settings.iter().map(label).collect()
            }
        };
        let marks = point.marks();
        if let (Some(last), false) = (labels.last_mut(), marks.is_empty()) {
            *last += &format!(" {marks}");
        }
        labels.into_iter().map(Cell::from).collect()
    }

    /// The heading and the cells of a column.
    fn column(&self, column: Column, order: &[usize]) -> (String, Vec<Cell>) {
        match column {
            Column::Figure(pointer) => self.figure_column(figures::at(pointer), order),
            Column::Change => {
                let mean = figures::at(MEAN);
                let cell = |point: &usize| match self.ratio_to_baseline(*point, mean) {
                    _ if self.baselines[*point] == *point => "".into(),
                    Some(ratio) => self.toned(*point, mean, ratio, number::change(ratio.mean, ratio.interval_half_width)),
                    None if !self.are_comparable(*point, self.baselines[*point]) => NOT_JUDGED.into(),
                    None => "–".into(),
                };
                ("change".to_owned(), order.iter().map(cell).collect())
            }
            Column::Lost => {
                let lost = |point: &usize| {
                    let counts = self.points[*point].reports.iter().map(|report| report["lost"]["requests"].as_u64().unwrap_or(0));
                    let lost: u64 = counts.sum();
                    if self.points[*point].has_lost() { number::grouped(lost) } else { String::new() }.into()
                };
                ("lost".to_owned(), order.iter().map(lost).collect())
            }
            Column::Bar(width) => {
                let means: Vec<Option<f64>> = order.iter().map(|point| Some(self.points[*point].estimate(MEAN)?.mean)).collect();
                let greatest = means.iter().flatten().copied().fold(0.0, f64::max);
                let bar = |mean: &Option<f64>| mean.map_or(String::new(), |mean| number::bar(mean, greatest, width)).into();
                (String::new(), means.iter().map(bar).collect())
            }
        }
    }

    fn figure_column(&self, figure: &'static Figure, order: &[usize]) -> (String, Vec<Cell>) {
        let means: Vec<Option<Estimate>> = self.points.iter().map(|point| point.estimate(figure.pointer)).collect();
        let is_response = |pointer: &str| pointer.starts_with("/response_us/");
        let scale = match is_response(figure.pointer) {
            // Mean and tail are read side by side.
            true => {
                let pointers = COLUMNS.iter().filter_map(|(column, _)| match column {
                    Column::Figure(pointer) if is_response(pointer) => Some(*pointer),
                    _ => None,
                });
                let all = pointers.flat_map(|pointer| self.points.iter().filter_map(move |point| Some(point.estimate(pointer)?.mean)));
                Scale::shared(all.collect())
            }
            false => Scale::of(figure.unit, means.iter().flatten()),
        };
        let cell = |&index: &usize| -> Cell {
            let Some(mean) = means[index] else { return "–".into() };
            // Where nothing is compared the interval is that of the figure itself.
            let half_width = if self.is_contest() { None } else { mean.interval_half_width };
            let text = scale.text(Estimate { interval_half_width: half_width, ..mean });
            if self.points[index].is_guess(figure.pointer) {
                return (text + FEW_SAMPLES_MARK).into();
            }
            match self.ratio_to_baseline(index, figure) {
                Some(ratio) if figure.pointer != MEAN => {
                    let is_worse = Trend::of(figure.pointer, ratio).is_worse(figure.better);
                    self.toned(index, figure, ratio, text + if is_worse { WORSE } else { "" })
                }
                _ => text.into(),
            }
        };
        let name = if figure.pointer == MEAN { "mean" } else { figure.name };
        let unit = scale.unit();
        let heading = if unit.is_empty() { name.to_owned() } else { format!("{name} {unit}") };
        (heading, order.iter().map(cell).collect())
    }

    /// A cell that is green or red by its ratio; where its point or the baseline is marked the colour would say too much.
    pub(super) fn toned(&self, point: usize, figure: &Figure, ratio: Estimate, text: String) -> Cell {
        // Points without a verdict have no ratio, or can be compared in spite of their mark.
        let is_doubted = |point: &usize| self.points[*point].marks().chars().any(|mark| !WarningMark::NotJudged.symbol().contains(mark));
        let is_marked = [point, self.baselines[point]].iter().any(is_doubted);
        let trend = Trend::of(figure.pointer, ratio);
        let tone = match () {
            () if is_marked => Tone::Plain,
            () if trend.is_better(figure.better) => Tone::Better,
            () if trend.is_worse(figure.better) => Tone::Worse,
            () => Tone::Plain,
        };
        Cell { text, tone }
    }

    /// Lines that explain the summary: what it compares, and the signs in it.
    pub fn summary_legend(&self) -> String {
        let mut lines = Vec::new();
        if let Some(baseline) = self.baseline_name().filter(|_| self.is_contest()) {
            let seeds = self.seeds();
            let has_interval = self.points.iter().enumerate().any(|(index, _)| {
                let ratio = self.ratio_to_baseline(index, figures::at(MEAN));
                self.baselines[index] != index && ratio.is_some_and(|ratio| ratio.interval_half_width.is_some())
            });
            let interval = match seeds {
                _ if !has_interval => "",
                1 => ", ± half its 95 % interval (ten batches of the run)",
                _ => ", ± half its 95 % interval (paired by seed)",
            };
            lines.push(format!("change: mean against {baseline}{interval}"));
        }
        let sheet = self.summary_of(&COLUMNS.map(|(column, _)| column));
        let is_there = |sign: &str| sheet.rows.iter().flatten().any(|cell| cell.text.ends_with(sign));
        if is_there(WORSE) {
            lines.push(format!("{} worse", WORSE.trim()));
        }
        if is_there(FEW_SAMPLES_MARK) {
            lines.push(format!("{} fewer than ten requests beyond", FEW_SAMPLES_MARK.trim()));
        }
        lines.extend(self.yardstick_line());
        lines.join("; ")
    }

    /// Returns a sentence that explains yardsticks, if there is one.
    pub(super) fn yardstick_line(&self) -> Option<String> {
        self.points.iter().any(super::Point::is_yardstick).then(|| "(…): a yardstick, its collections take no time".to_owned())
    }

    /// The settings of the baselines that are remedies, as `KEY = VALUE`; `None` where points have baselines of other settings.
    pub(super) fn baseline_name(&self) -> Option<String> {
        let remedies = |point: usize| -> Vec<String> {
            let remedies = self.points[point].settings.iter().filter(|setting| !must_match_for_comparison(&setting.key));
            remedies.map(|setting| format!("{} = {}", setting.key, setting.value)).collect()
        };
        let first = remedies(*self.baselines.first()?);
        let is_shared = self.baselines.iter().all(|baseline| remedies(*baseline) == first);
        (is_shared && !first.is_empty()).then(|| first.join(", "))
    }

    /// Returns all doubts, each with the points that it concerns.
    pub fn doubts(&self) -> Vec<String> {
        let mut points_of: Vec<((WarningMark, &str), Vec<usize>)> = Vec::new();
        for (index, point) in self.points.iter().enumerate() {
            for doubt in doubts(point) {
                match points_of.iter_mut().find(|(known, _)| *known == doubt) {
                    Some((_, points)) => points.push(index),
                    None => points_of.push((doubt, vec![index])),
                }
            }
        }
        let line =
            |((mark, reason), points): ((WarningMark, &str), Vec<usize>)| format!("{} {}: {reason}", mark.symbol(), self.named(&points));
        points_of.into_iter().map(line).collect()
    }

    /// Names of points; all of them, or all but a few, in a word.
    fn named(&self, points: &[usize]) -> String {
        /// Most names in a list.
        const NAMES_MAX: usize = 4;
        match points.len() {
            count if count == self.points.len() && count > 1 => "all points".to_owned(),
            count if count > NAMES_MAX => format!("{count} of {} points", self.points.len()),
            _ => points.iter().map(|point| self.points[*point].label()).collect::<Vec<_>>().join(", "),
        }
    }

    /// Workloads under which the array is idle, by their first points that can be bought.
    pub fn idle(&self) -> Vec<String> {
        let workloads = self.workloads();
        let several = workloads.len() > 1;
        let line = |workload: &super::Workload| {
            let idle = self.idle_under(workload)?;
            let is_judged = workload.points.iter().all(|point| self.may_speak_of(*point));
            let way = if is_judged { "" } else { ". What remedies change in its response times all the same: --until judged" };
            Some(if several { format!("{}: {idle}{way}", workload.name) } else { format!("{idle}{way}") })
        };
        workloads.iter().filter_map(line).collect()
    }

    /// Returns how little the array has to do under a workload, if it is idle.
    pub(super) fn idle_under(&self, workload: &super::Workload) -> Option<LoadRiseUntilGcMatters> {
        let real = workload.points.iter().find(|point| !self.points[**point].is_yardstick())?;
        let report = self.points[*real].reports.first()?;
        let gained = workload.points.iter().filter_map(|point| Some(1.0 - self.ratio(*point, self.baselines[*point], MEAN)?.mean));
        LoadRiseUntilGcMatters::of_report(report, gained.fold(0.0, f64::max))
    }

    /// Warnings of the reports and remarks on their workloads, each once; a warning names its points unless it is about all of them.
    pub fn notes(&self) -> Vec<String> {
        let mut notes: Vec<(String, bool, Vec<usize>)> = Vec::new();
        for (index, point) in self.points.iter().enumerate() {
            for report in &point.reports {
                let list = |key: &str| report[key].as_array().into_iter().flatten().chain([]).filter_map(Value::as_str).map(str::to_owned);
                let warnings = list("warnings").map(|text| (text, true));
                let remarks = list("trace_notes").chain(report["workload_note"].as_str().map(str::to_owned)).map(|text| (text, false));
                for (text, is_warning) in warnings.chain(remarks) {
                    match notes.iter_mut().find(|(known, ..)| *known == text) {
                        Some((.., points)) if points.last() == Some(&index) => {}
                        Some((.., points)) => points.push(index),
                        None => notes.push((text, is_warning, vec![index])),
                    }
                }
            }
        }
        let line = |(text, is_warning, points): (String, bool, Vec<usize>)| match is_warning {
            true if points.len() == self.points.len() => format!("warning: {text}"),
            true => format!("warning, {}: {text}", self.named(&points)),
            false => text,
        };
        // Warnings first: they are about the figures.
        notes.sort_by_key(|(_, is_warning, _)| !is_warning);
        notes.into_iter().map(line).collect()
    }
}
