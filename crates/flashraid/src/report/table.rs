//! The values of a report as sections of rows, which are laid out for a terminal elsewhere.

use serde_json::Value;

use flashraid_model::ssd::DieDelayMechanismCounters;

use flashraid_model::units::with_commas;

use super::counters::counter_sections;
use super::{
    ControllerThrottlingReport, DriveQueuesAndBuffersReport, LostPagesReport, Member, Parity, Report, ResponseTime, SuperblockDriveReport,
    TotalReadWrite, WarningMark,
};

/// Warning sign beside a percentile that fewer than ten requests exceed.
pub const FEW_SAMPLES_MARK: &str = " ?";

/// A heading with its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSection {
    /// Text of the heading.
    pub title: &'static str,
    /// Headings of the columns of values; empty if there is only one column.
    pub columns: Vec<String>,
    /// Rows of the section.
    pub rows: Vec<TableRow>,
}

/// One row: a name, and its value in every column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableRow {
    /// Name of the value.
    pub label: String,
    /// Value in every column, ready to show.
    pub values: Vec<String>,
    /// Unit of the values, which may be empty.
    pub unit: &'static str,
    /// Key of the value in the JSON document, such as `gc.runs`, which [`crate::documented_names`] explains; empty if the row shows several
    /// values.
    pub json_key: String,
}

impl TableRow {
    pub(super) fn new(name: impl Into<String>, values: impl IntoIterator<Item = String>, unit: &'static str) -> Self {
        Self { label: name.into(), values: values.into_iter().collect(), unit, json_key: String::new() }
    }

    /// Returns the row with the key of its value.
    pub(super) fn of(self, figure: impl Into<String>) -> Self {
        Self { json_key: figure.into(), ..self }
    }

    /// Returns a row for the value with this key.
    pub(super) fn figure(figure: &str, name: impl Into<String>, values: impl IntoIterator<Item = String>, unit: &'static str) -> Self {
        Self::new(name, values, unit).of(figure)
    }
}

/// Formats a value with at least four significant digits, down to a millionth, and with commas (`12,345`, `123.4`, `1.235`, `0.01235`).
/// Whole numbers have no decimals, and a value that is not defined is a dash.
#[must_use]
pub fn format_figure(figure: Option<f64>) -> String {
    let Some(value) = figure.filter(|value| value.is_finite()) else { return "–".to_owned() };
    let decimals = match value.abs() {
        size if size.fract() == 0.0 => 0,
        size if size >= 1000.0 => 0,
        size if size >= 100.0 => 1,
        size if size >= 10.0 => 2,
        size if size >= 1.0 => 3,
        size if size >= 0.1 => 4,
        size if size >= 0.01 => 5,
        _ => 6,
    };
    with_commas(&format!("{value:.decimals$}"))
}

/// Title of the table of the parts of response times.
pub const WAITED_TITLE: &str = "Where requests waited";

/// Maximum number of streams of a mix in a table.
const STREAMS_MAX: usize = 8;

pub(super) fn count(count: u64) -> String {
    with_commas(&count.to_string())
}

impl Report {
    /// Returns the report as the tables that `flashraid run` prints: response times, bandwidth, counters of flash and garbage
    /// collection, and so on. Each table is a section with a heading and rows.
    #[must_use]
    pub fn table_sections(&self) -> Vec<TableSection> {
        let mut sections = vec![self.run_section(), self.response_section()];
        sections.extend(self.streams_section());
        sections.extend(self.time_section());
        sections.extend([self.bandwidth_section(), self.flash.section(self.run_warning_mark()), self.gc.section()]);
        sections.extend(self.gc.scheme.sections("gc."));
        sections.extend(self.cycles.section());
        if self.lost != LostPagesReport::default() {
            sections.push(self.lost.section());
        }
        sections.extend(self.controller.as_ref().map(ControllerThrottlingReport::section));
        sections.extend(self.parity.as_ref().map(Parity::section));
        sections.extend(self.read_plan.sections(""));
        if let Some(failure) = &self.failure {
            sections.extend(failure.sections(&self.failures));
        }
        sections.extend(self.drive.as_ref().map(SuperblockDriveReport::section));
        sections.extend(self.front.as_ref().map(DriveQueuesAndBuffersReport::section));
        sections.extend(counter_sections(&DieDelayMechanismCounters::default().counter_tables(), &self.mechanisms, "mechanisms."));
        if !self.cache.is_empty() {
            sections.push(self.cache_section());
        }
        if self.members.len() > 1 {
            sections.push(Member::section(&self.members));
        }
        sections.push(self.perf_section());
        sections
    }

    /// Returns the mark (a warning sign beside results) that applies to all results of the run. It stands for lost data or, if none were
    /// lost, for a run that was not steady, or else for one that is not judged. Returns `None` if neither applies.
    #[must_use]
    pub fn run_warning_mark(&self) -> Option<WarningMark> {
        [WarningMark::DataLost, WarningMark::NotSteady, WarningMark::NotJudged].into_iter().find(|mark| self.verdict.has_mark(*mark))
    }

    /// Formats a value, followed by the mark (a warning sign) that applies to all results of the run, if there is one.
    fn marked(&self, figure: Option<f64>) -> String {
        match self.run_warning_mark().filter(|_| figure.is_some()) {
            Some(mark) => format!("{} {}", format_figure(figure), mark.symbol()),
            None => format_figure(figure),
        }
    }

    /// Formats requests per second like [`Report::marked`], followed by the mark of a short closed loop, if it is one.
    fn marked_rate(&self, figure: Option<f64>) -> String {
        let mark = WarningMark::ShortLoop;
        let symbol = if figure.is_some() && self.verdict.has_mark(mark) { format!(" {}", mark.symbol()) } else { String::new() };
        self.marked(figure) + &symbol
    }

    fn cache_section(&self) -> TableSection {
        let shown = |value: &Value| value.as_str().map_or_else(|| format_figure(value.as_f64()), str::to_owned);
        let rows = self.cache.iter().flat_map(|(name, value)| match value {
            Value::Object(parts) => {
                let part = |(part, value): (&String, &Value)| {
                    TableRow::new(format!("{name}, {part}").replace('_', " "), [shown(value)], "").of(format!("cache.{name}.{part}"))
                };
                parts.iter().map(part).collect()
            }
            value => vec![TableRow::new(name.replace('_', " "), [shown(value)], "").of(format!("cache.{name}"))],
        });
        TableSection { title: "Cache", columns: Vec::new(), rows: rows.collect() }
    }

    fn run_section(&self) -> TableSection {
        let steady = match self.verdict.steady_from_ns {
            Some(from_ns) => format!("from {} s", format_figure(Some(from_ns as f64 / 1e9))),
            None => "not reached".to_owned(),
        };
        let rows = vec![
            TableRow::figure("simulated_ns", "simulated time", [format_figure(Some(self.simulated_ns as f64 / 1e9))], "s"),
            TableRow::figure("measured_from_ns", "statistics from", [format_figure(Some(self.measured_from_ns as f64 / 1e9))], "s"),
            TableRow::figure("measured_to_ns", "statistics to", [format_figure(Some(self.measured_to_ns as f64 / 1e9))], "s"),
            TableRow::figure("seed", "seed", [self.seed.to_string()], ""),
            TableRow::figure("verdict.load", "load", [self.verdict.load.name().to_owned()], ""),
            TableRow::figure("verdict.steady_from_ns", "steady state", [steady], ""),
            TableRow::figure("iops.all", "requests per second", [self.marked_rate(self.iops.all)], ""),
        ];
        TableSection { title: "Run", columns: Vec::new(), rows }
    }

    fn response_section(&self) -> TableSection {
        type Figure = (&'static str, &'static str, fn(&ResponseTime) -> Option<f64>);
        const FIGURES: [Figure; 10] = [
            ("mean", "mean", |times| times.mean),
            ("standard deviation", "stddev", |times| times.stddev),
            ("min", "min", |times| times.min),
            ("median", "p50", |times| times.p50),
            ("90 %", "p90", |times| times.p90),
            ("95 %", "p95", |times| times.p95),
            ("99 %", "p99", |times| times.p99),
            ("99.9 %", "p99_9", |times| times.p99_9),
            ("99.99 %", "p99_99", |times| times.p99_99),
            ("max", "max", |times| times.max),
        ];
        let TotalReadWrite { all, read, write, sync } = &self.response_us;
        let kinds: Vec<&ResponseTime> = [all, read, write].into_iter().chain(sync).collect();
        let each = |shown: &dyn Fn(&ResponseTime) -> String| kinds.iter().map(|times| shown(times)).collect::<Vec<_>>();
        let shown_count = |times: &ResponseTime| match times.count {
            0 if self.verdict.has_mark(WarningMark::NothingMeasured) => format!("0 {}", WarningMark::NothingMeasured.symbol()),
            number => count(number),
        };
        let requests = TableRow::figure("response_us.all.count", "requests", each(&shown_count), "");
        let figures = FIGURES.iter().map(|(name, key, figure)| {
            let percent = name.strip_suffix(" %").and_then(|percent| percent.parse::<f64>().ok());
            let is_guess =
                |times: &ResponseTime| times.count > 0 && percent.is_some_and(|percent| !times.has_enough_samples_for(percent / 100.0));
            TableRow::new(
                *name,
                each(&|times| match is_guess(times) {
                    true => format_figure(figure(times)) + FEW_SAMPLES_MARK,
                    false => self.marked(figure(times)),
                }),
                "µs",
            )
            .of(format!("response_us.all.{key}"))
        });
        let columns = ["all", "reads", "writes", "with flush"][..kinds.len()].iter().map(|name| (*name).to_owned()).collect();
        TableSection { title: "Response time", columns, rows: std::iter::once(requests).chain(figures).collect() }
    }

    /// Returns a table with a column for each stream of a mix.
    fn streams_section(&self) -> Option<TableSection> {
        type Figure = (&'static str, fn(&ResponseTime) -> Option<f64>);
        const FIGURES: [Figure; 4] =
            [("mean", |times| times.mean), ("median", |times| times.p50), ("99 %", |times| times.p99), ("max", |times| times.max)];
        // A table has room for a few streams only.
        let streams = self.streams.get(..self.streams.len().min(STREAMS_MAX)).filter(|streams| !streams.is_empty())?;
        let requests = TableRow::new("requests", streams.iter().map(|stream| count(stream.response_us.all.count)), "");
        let per_second = TableRow::new("requests per second", streams.iter().map(|stream| format_figure(stream.iops.all)), "");
        let figures = FIGURES
            .iter()
            .map(|(name, figure)| TableRow::new(*name, streams.iter().map(|stream| format_figure(figure(&stream.response_us.all))), "µs"));
        let columns = (0..streams.len()).map(|number| format!("stream {number}")).collect();
        Some(TableSection { title: "Streams of the mix", columns, rows: [requests, per_second].into_iter().chain(figures).collect() })
    }

    /// Returns the response times divided by what requests waited for. Parts that are 0 everywhere are left out.
    fn time_section(&self) -> Option<TableSection> {
        let shares = self.time_us.means_of_all_and_slowest_percents();
        let all = shares[0].1?;
        let columns = shares.iter().map(|(name, _)| (*name).to_owned()).collect();
        // A part that is 0 in all requests is 0 in the slowest.
        let is_anywhere = |part: &usize| all.named_causes()[*part].1 > 0.0;
        let row = |part: usize| {
            let figures = shares.iter().map(|(_, time)| format_figure(time.map(|time| time.named_causes()[part].1)));
            TableRow::new(all.named_causes()[part].0, figures, "µs").of(format!("time_us.all.{}", all.named_causes()[part].0))
        };
        let mut rows: Vec<TableRow> = (0..all.named_causes().len()).filter(is_anywhere).map(row).collect();
        rows.push(TableRow::new("response time", shares.iter().map(|(_, time)| format_figure(time.map(|time| time.total()))), "µs"));
        Some(TableSection { title: WAITED_TITLE, columns, rows })
    }

    fn bandwidth_section(&self) -> TableSection {
        let bandwidth = &self.bandwidth_mb_s;
        let rows = vec![
            TableRow::figure("bandwidth_mb_s.mean", "mean", [format_figure(bandwidth.mean)], "MB/s"),
            TableRow::figure("bandwidth_mb_s.stddev", "standard deviation", [format_figure(bandwidth.stddev)], "MB/s"),
            TableRow::figure("bandwidth_mb_s.cv", "coefficient of variation", [format_figure(bandwidth.cv)], ""),
            TableRow::figure("bandwidth_mb_s.intervals", "intervals", [count(bandwidth.intervals)], ""),
            TableRow::figure("bandwidth_mb_s.interval_ms", "length of an interval", [format_figure(Some(bandwidth.interval_ms))], "ms"),
        ];
        TableSection { title: "Bandwidth", columns: Vec::new(), rows }
    }

    fn perf_section(&self) -> TableSection {
        let perf = &self.perf;
        let rows = vec![
            TableRow::figure("perf.warm_up_s", "warm-up", [format_figure(Some(perf.warm_up_s))], "s"),
            TableRow::figure("perf.run_s", "simulation", [format_figure(Some(perf.run_s))], "s"),
            TableRow::figure(
                "perf.host_page_ops_per_s",
                "host page operations",
                [format_figure(Some(perf.host_page_ops_per_s / 1e6))],
                "million/s",
            ),
            TableRow::figure(
                "perf.flash_page_ops_per_s",
                "flash page operations",
                [format_figure(Some(perf.flash_page_ops_per_s / 1e6))],
                "million/s",
            ),
            TableRow::figure("perf.peak_rss_bytes", "memory", [format_figure(perf.peak_rss_bytes.map(|bytes| bytes as f64 / 1e6))], "MB"),
        ];
        TableSection { title: "Simulator", columns: Vec::new(), rows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_four_digits() {
        let cases = [
            (1_234_567.8, "1,234,568"),
            (1000.0, "1,000"),
            (999.96, "1,000.0"),
            (123.45, "123.5"),
            (12.345, "12.35"),
            (-1234.0, "-1,234"),
            (1.0, "1"),
            (1.5, "1.500"),
            (0.123_45, "0.1235"),
            (0.012_345, "0.01235"),
            (0.0, "0"),
        ];
        for (value, text) in cases {
            assert_eq!(format_figure(Some(value)), text, "{value}");
        }
        assert_eq!(format_figure(None), "–");
        assert_eq!(format_figure(Some(f64::INFINITY)), "–");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_000_000), "1,000,000");
    }

    #[test]
    fn every_row_fills_every_column() {
        let report = crate::report::build::tests::example();
        let sections = report.table_sections();
        let titles: Vec<_> = sections.iter().map(|section| section.title).collect();
        assert_eq!(
            titles,
            [
                "Run",
                "Response time",
                "Where requests waited",
                "Bandwidth",
                "Flash",
                "Garbage collection",
                "Cycles of collection, over members",
                "Members",
                "Simulator"
            ]
        );
        for section in &sections {
            for row in &section.rows {
                assert_eq!(row.values.len(), section.columns.len().max(1), "{}: {}", section.title, row.label);
            }
        }
        assert_eq!(sections[7].columns, ["0", "1"]);
        let mean = &sections[1].rows[1];
        assert_eq!(
            (mean.label.as_str(), mean.values.as_slice(), mean.unit),
            ("mean", ["4 !", "4 !", "4 !"].map(String::from).as_slice(), "µs")
        );
    }
}
