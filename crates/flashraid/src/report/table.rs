//! The figures of a report as sections of rows, which a terminal then lays out.

use serde_json::Value;

use flashraid_model::ssd::{Figure, MechanismCounters};

use flashraid_model::units::with_commas;

use super::{ByDirection, Controller, DriveReport, FailedMember, Failure, FrontReport, Lost, Mark, Member, Parity, Report, ResponseTime};

/// Most members that get separate columns.
const MEMBER_COLUMNS_MAX: usize = 8;

/// Mark of a percentile with fewer than ten requests beyond it.
pub const GUESS: &str = " ?";

/// A heading with its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Text of the heading.
    pub title: &'static str,
    /// Headings of the columns of values; empty if there is only one column.
    pub columns: Vec<String>,
    /// Rows of the section.
    pub rows: Vec<Row>,
}

/// A figure with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Name of the figure.
    pub name: String,
    /// Value in every column, ready to show.
    pub values: Vec<String>,
    /// Unit of the values, which may be empty.
    pub unit: &'static str,
    /// The key of the figure in the document, such as `gc.runs`, that [`crate::meaning`] explains; empty if it is no single one.
    pub figure: String,
}

impl Row {
    pub(super) fn new(name: impl Into<String>, values: impl IntoIterator<Item = String>, unit: &'static str) -> Self {
        Self { name: name.into(), values: values.into_iter().collect(), unit, figure: String::new() }
    }

    /// Returns the row with the key of its figure.
    pub(super) fn of(self, figure: impl Into<String>) -> Self {
        Self { figure: figure.into(), ..self }
    }

    /// Returns a row for the figure with this key.
    pub(super) fn figure(figure: &str, name: impl Into<String>, values: impl IntoIterator<Item = String>, unit: &'static str) -> Self {
        Self::new(name, values, unit).of(figure)
    }
}

/// Returns a figure with at least four significant digits, down to a millionth, and with commas (`12,345`, `123.4`, `1.235`, `0.01235`).
/// Whole numbers have no decimals, and a figure that is not defined is a dash.
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

/// Most streams of a mix in a table.
const STREAMS_MAX: usize = 8;

pub(super) fn count(count: u64) -> String {
    with_commas(&count.to_string())
}

impl Report {
    /// Returns the figures that a user looks at first.
    #[must_use]
    pub fn table(&self) -> Vec<Section> {
        let mut sections = vec![self.run_section(), self.response_section()];
        sections.extend(self.streams_section());
        sections.extend(self.time_section());
        sections.extend([self.bandwidth_section(), self.flash_section(), self.gc_section()]);
        if self.lost != Lost::default() {
            sections.push(lost_section(&self.lost));
        }
        sections.extend(self.controller.as_ref().map(controller_section));
        sections.extend(self.parity.as_ref().map(parity_section));
        if let Some(failure) = &self.failure {
            sections.extend(failure_sections(failure, &self.failures));
        }
        sections.extend(self.drive.as_ref().map(DriveReport::section));
        sections.extend(self.front.as_ref().map(FrontReport::section));
        sections.extend(self.mechanism_sections());
        if !self.cache.is_empty() {
            sections.push(self.cache_section());
        }
        if self.members.len() > 1 {
            sections.push(self.members_section());
        }
        sections.push(self.perf_section());
        sections
    }

    /// Returns the most serious mark that holds for all figures of the run.
    #[must_use]
    pub fn mark(&self) -> Option<Mark> {
        [Mark::DataLost, Mark::NotSteady].into_iter().find(|mark| self.verdict.has(*mark))
    }

    /// Returns a figure with the mark of all figures of the run.
    fn marked(&self, figure: Option<f64>) -> String {
        match self.mark().filter(|_| figure.is_some()) {
            Some(mark) => format!("{} {}", format_figure(figure), mark.symbol()),
            None => format_figure(figure),
        }
    }

    fn cache_section(&self) -> Section {
        let shown = |value: &Value| value.as_str().map_or_else(|| format_figure(value.as_f64()), str::to_owned);
        let rows = self.cache.iter().flat_map(|(name, value)| match value {
            Value::Object(parts) => {
                let part = |(part, value): (&String, &Value)| {
                    Row::new(format!("{name}, {part}").replace('_', " "), [shown(value)], "").of(format!("cache.{name}.{part}"))
                };
                parts.iter().map(part).collect()
            }
            value => vec![Row::new(name.replace('_', " "), [shown(value)], "").of(format!("cache.{name}"))],
        });
        Section { title: "Cache", columns: Vec::new(), rows: rows.collect() }
    }

    /// Returns the figures of each mechanism that the members have.
    fn mechanism_sections(&self) -> impl Iterator<Item = Section> {
        let all = MechanismCounters::default().figures().into_iter();
        all.filter_map(|figures| {
            let counted = self.mechanisms.get(figures.table)?;
            let row = |figure: &Figure| {
                let key = format!("mechanisms.{}.{}", figures.table, figure.key);
                Row::new(figure.label, [format_figure(counted[figure.key].as_f64())], figure.unit()).of(key)
            };
            Some(Section { title: figures.title, columns: Vec::new(), rows: figures.figures.iter().map(row).collect() })
        })
    }

    fn run_section(&self) -> Section {
        let steady = match self.verdict.steady_from_ns {
            Some(from_ns) => format!("from {} s", format_figure(Some(from_ns as f64 / 1e9))),
            None => "not reached".to_owned(),
        };
        let rows = vec![
            Row::figure("simulated_ns", "simulated time", [format_figure(Some(self.simulated_ns as f64 / 1e9))], "s"),
            Row::figure("measured_from_ns", "statistics from", [format_figure(Some(self.measured_from_ns as f64 / 1e9))], "s"),
            Row::figure("measured_to_ns", "statistics to", [format_figure(Some(self.measured_to_ns as f64 / 1e9))], "s"),
            Row::figure("seed", "seed", [self.seed.to_string()], ""),
            Row::figure("verdict.load", "load", [self.verdict.load.name().to_owned()], ""),
            Row::figure("verdict.steady_from_ns", "steady state", [steady], ""),
            Row::figure("iops.all", "requests per second", [self.marked(self.iops.all)], ""),
        ];
        Section { title: "Run", columns: Vec::new(), rows }
    }

    fn response_section(&self) -> Section {
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
        let kinds = [&self.response_us.all, &self.response_us.read, &self.response_us.write];
        let shown_count = |times: &ResponseTime| match times.count {
            0 if self.verdict.has(Mark::NothingMeasured) => format!("0 {}", Mark::NothingMeasured.symbol()),
            number => count(number),
        };
        let requests = Row::figure("response_us.all.count", "requests", kinds.map(shown_count), "");
        let figures = FIGURES.iter().map(|(name, key, figure)| {
            let percent = name.strip_suffix(" %").and_then(|percent| percent.parse::<f64>().ok());
            let is_guess = |times: &ResponseTime| times.count > 0 && percent.is_some_and(|percent| !times.supports(percent / 100.0));
            Row::new(
                *name,
                kinds.map(|times| if is_guess(times) { format_figure(figure(times)) + GUESS } else { self.marked(figure(times)) }),
                "µs",
            )
            .of(format!("response_us.all.{key}"))
        });
        let columns = ["all", "reads", "writes"].map(str::to_owned).to_vec();
        Section { title: "Response time", columns, rows: std::iter::once(requests).chain(figures).collect() }
    }

    /// Returns a column for each stream of a mix.
    fn streams_section(&self) -> Option<Section> {
        type Figure = (&'static str, fn(&ResponseTime) -> Option<f64>);
        const FIGURES: [Figure; 4] =
            [("mean", |times| times.mean), ("median", |times| times.p50), ("99 %", |times| times.p99), ("max", |times| times.max)];
        // A table has room for a few streams only.
        let streams = self.streams.get(..self.streams.len().min(STREAMS_MAX)).filter(|streams| !streams.is_empty())?;
        let requests = Row::new("requests", streams.iter().map(|stream| count(stream.response_us.all.count)), "");
        let per_second = Row::new("requests per second", streams.iter().map(|stream| format_figure(stream.iops.all)), "");
        let figures = FIGURES
            .iter()
            .map(|(name, figure)| Row::new(*name, streams.iter().map(|stream| format_figure(figure(&stream.response_us.all))), "µs"));
        let columns = (0..streams.len()).map(|number| format!("stream {number}")).collect();
        Some(Section { title: "Streams of the mix", columns, rows: [requests, per_second].into_iter().chain(figures).collect() })
    }

    /// Returns the parts of the requests' times. Parts that are 0 everywhere are left out.
    fn time_section(&self) -> Option<Section> {
        let shares = self.time_us.named();
        let all = shares[0].1?;
        let columns = shares.iter().map(|(name, _)| (*name).to_owned()).collect();
        // A part that is 0 in all requests is 0 in the slowest.
        let is_anywhere = |part: &usize| all.named()[*part].1 > 0.0;
        let row = |part: usize| {
            let figures = shares.iter().map(|(_, time)| format_figure(time.map(|time| time.named()[part].1)));
            Row::new(all.named()[part].0, figures, "µs").of(format!("time_us.all.{}", all.named()[part].0))
        };
        let mut rows: Vec<Row> = (0..all.named().len()).filter(is_anywhere).map(row).collect();
        rows.push(Row::new("response time", shares.iter().map(|(_, time)| format_figure(time.map(|time| time.total()))), "µs"));
        Some(Section { title: "Where the time went", columns, rows })
    }

    fn bandwidth_section(&self) -> Section {
        let bandwidth = &self.bandwidth_mb_s;
        let rows = vec![
            Row::figure("bandwidth_mb_s.mean", "mean", [format_figure(bandwidth.mean)], "MB/s"),
            Row::figure("bandwidth_mb_s.stddev", "standard deviation", [format_figure(bandwidth.stddev)], "MB/s"),
            Row::figure("bandwidth_mb_s.cv", "coefficient of variation", [format_figure(bandwidth.cv)], ""),
            Row::figure("bandwidth_mb_s.intervals", "intervals", [count(bandwidth.intervals)], ""),
            Row::figure("bandwidth_mb_s.interval_ms", "length of an interval", [format_figure(Some(bandwidth.interval_ms))], "ms"),
        ];
        Section { title: "Bandwidth", columns: Vec::new(), rows }
    }

    fn flash_section(&self) -> Section {
        let flash = &self.flash;
        let mut rows = vec![
            Row::figure("flash.host_pages_read", "host pages read", [count(flash.host_pages_read)], "pages"),
            Row::figure("flash.host_pages_written", "host pages written", [count(flash.host_pages_written)], "pages"),
            Row::figure("flash.gc_pages_moved", "pages moved", [count(flash.gc_pages_moved)], "pages"),
            Row::figure("flash.write_amplification", "write amplification", [self.marked(flash.write_amplification)], ""),
            Row::figure(
                "flash.write_amplification_max",
                "the same with all that is still owed",
                [format_figure(flash.write_amplification_max)],
                "",
            ),
            Row::figure("flash.erases", "erases", [count(flash.erases)], "blocks"),
            Row::figure("flash.wear.mean", "erases per block, mean", [format_figure(Some(flash.wear.mean))], ""),
            Row::figure("flash.wear.max", "erases per block, max", [count(u64::from(flash.wear.max))], ""),
        ];
        rows.extend(self.life_rows());
        Section { title: "Flash", columns: Vec::new(), rows }
    }

    /// Returns the projected life or, if too few blocks were erased, the implied life with a mark and its condition.
    fn life_rows(&self) -> Vec<Row> {
        let marked = |figure: Option<f64>| format!("{} {}", format_figure(figure), Mark::LittleWear.symbol());
        match (self.flash.lifetime, self.flash.implied_life) {
            (Some(life), _) => {
                let of = if life.levels_wear { "mean" } else { "most worn" };
                let name = format!("life at {} cycles, of the {of} block", life.endurance_cycles);
                let words = [
                    ("the same in years", "years", life.years, "years"),
                    ("writes to an SSD in this time (TBW)", "tbw", life.tbw, "TB"),
                    ("drive writes per day at this load (DWPD)", "dwpd", life.dwpd, "per day"),
                    ("drive writes per day for five years", "dwpd_five_years", life.dwpd_five_years, "per day"),
                ];
                let words = words.into_iter().filter(|(_, _, figure, _)| figure.is_some());
                let words = words
                    .map(|(name, key, figure, unit)| Row::new(name, [format_figure(figure)], unit).of(format!("flash.lifetime.{key}")));
                let days = if life.levels_wear { "flash.lifetime.days_levelled" } else { "flash.lifetime.days_worst_block" };
                std::iter::once(Row::figure(days, name, [format_figure(Some(life.days()))], "days")).chain(words).collect()
            }
            (None, Some(life)) => vec![
                Row::figure(
                    "flash.implied_life.days",
                    format!("even wear at {} cycles would give a life of", life.endurance_cycles),
                    [marked(life.days)],
                    "days",
                ),
                Row::figure("flash.implied_life.tbw", "even wear would let be written to an SSD (TBW)", [marked(Some(life.tbw))], "TB"),
                Row::figure(
                    "flash.implied_life.dwpd_five_years",
                    "the same per day for five years",
                    [marked(Some(life.dwpd_five_years))],
                    "drives per day",
                ),
            ],
            (None, None) => Vec::new(),
        }
    }

    fn gc_section(&self) -> Section {
        let gc = &self.gc;
        let mut rows = vec![
            Row::figure("gc.runs", "collections", [count(gc.runs)], ""),
            Row::figure("gc.forced_runs", "forced collections", [count(gc.forced_runs)], ""),
            Row::figure("gc.mean_length_us", "mean length of a collection", [format_figure(gc.mean_length_us)], "µs"),
            Row::figure("gc.busy_fraction", "share of die time", [format_figure(gc.busy_fraction.map(|fraction| fraction * 100.0))], "%"),
            Row::figure("gc.synchronised_mean", "members collecting together, mean", [format_figure(gc.synchronised_mean)], ""),
        ];
        let met: u64 = gc.requests_by_members_met.iter().skip(1).sum();
        let share = (self.requests.all > 0).then(|| met as f64 * 100.0 / self.requests.all as f64);
        rows.push(Row::figure("gc.requests_by_members_met", "requests that met a collection", [format_figure(share)], "%"));
        let optional = [
            ("preemptions", "gc.preemptions", gc.preemptions),
            ("merges", "gc.merges", gc.merges),
            ("pipelined operations", "gc.pipelined", gc.pipelined),
            ("suspensions", "gc.suspensions", gc.suspensions),
            ("writes that waited for a free block", "gc.exhausted", gc.exhausted),
            ("victims of idle time", "gc.idle_cleans", gc.idle_cleans),
        ];
        rows.extend(optional.into_iter().filter(|&(.., n)| n > 0).map(|(name, figure, n)| Row::figure(figure, name, [count(n)], "")));
        if gc.exhausted > 0 {
            let mean_us = gc.exhausted_ms * 1e3 / gc.exhausted as f64;
            rows.push(Row::figure("gc.exhausted_ms", "mean wait for a free block", [format_figure(Some(mean_us))], "µs"));
        }
        if let Some(cleans) = gc.uncoordinated_cleans {
            rows.push(Row::figure("gc.uncoordinated_cleans.unanswered", "uncoordinated cleans", [count(cleans.unanswered)], ""));
            rows.push(Row::figure(
                "gc.uncoordinated_cleans.during_cycles",
                "uncoordinated cleans during cycles",
                [count(cleans.during_cycles)],
                "",
            ));
        }
        rows.extend(gc.messages.iter().map(|(kind, &n)| Row::figure("gc.messages", format!("messages {kind}"), [count(n)], "")));
        Section { title: "Garbage collection", columns: Vec::new(), rows }
    }

    /// Returns a column for each member, or the spread over them if they would not fit on a line.
    fn members_section(&self) -> Section {
        type Figure = (&'static str, &'static str, &'static str, fn(&Member) -> Option<f64>);
        const FIGURES: [Figure; 4] = [
            ("host pages written", "members.host_pages_written", "pages", |member| Some(member.host_pages_written as f64)),
            ("write amplification", "members.write_amplification", "", |member| member.write_amplification),
            ("erases", "members.erases", "blocks", |member| Some(member.erases as f64)),
            ("time with a collection", "members.gc_any_fraction", "%", |member| member.gc_any_fraction.map(|share| share * 100.0)),
        ];
        let each = self.members.len() <= MEMBER_COLUMNS_MAX;
        let columns = if each {
            (0..self.members.len()).map(|member| member.to_string()).collect()
        } else {
            ["min", "mean", "max"].map(str::to_owned).to_vec()
        };
        let rows = FIGURES.iter().map(|&(name, key, unit, figure)| {
            let figures = self.members.iter().map(figure);
            if each {
                return Row::figure(key, name, figures.map(format_figure), unit);
            }
            let defined: Vec<f64> = figures.flatten().collect();
            let mean = (!defined.is_empty()).then(|| defined.iter().sum::<f64>() / defined.len() as f64);
            let spread = [defined.iter().copied().reduce(f64::min), mean, defined.iter().copied().reduce(f64::max)];
            Row::figure(key, name, spread.map(format_figure), unit)
        });
        Section { title: "Members", columns, rows: rows.collect() }
    }

    fn perf_section(&self) -> Section {
        let perf = &self.perf;
        let rows = vec![
            Row::figure("perf.warm_up_s", "warm-up", [format_figure(Some(perf.warm_up_s))], "s"),
            Row::figure("perf.run_s", "simulation", [format_figure(Some(perf.run_s))], "s"),
            Row::figure(
                "perf.host_page_ops_per_s",
                "host page operations",
                [format_figure(Some(perf.host_page_ops_per_s / 1e6))],
                "million/s",
            ),
            Row::figure(
                "perf.flash_page_ops_per_s",
                "flash page operations",
                [format_figure(Some(perf.flash_page_ops_per_s / 1e6))],
                "million/s",
            ),
            Row::figure("perf.peak_rss_bytes", "memory", [format_figure(perf.peak_rss_bytes.map(|bytes| bytes as f64 / 1e6))], "MB"),
        ];
        Section { title: "Simulator", columns: Vec::new(), rows }
    }
}

fn parity_section(parity: &Parity) -> Section {
    let mut rows = vec![
        Row::figure("parity.full_stripe_writes", "full-stripe writes", [count(parity.full_stripe_writes)], ""),
        Row::figure("parity.reconstruct_writes", "reconstruct writes", [count(parity.reconstruct_writes)], ""),
        Row::figure("parity.read_modify_writes", "read-modify writes", [count(parity.read_modify_writes)], ""),
        Row::figure("parity.data_pages_read", "data pages read for parity", [count(parity.data_pages_read)], "pages"),
        Row::figure("parity.parity_pages_read", "parity pages read", [count(parity.parity_pages_read)], "pages"),
        Row::figure("parity.parity_pages_written", "parity pages written", [count(parity.parity_pages_written)], "pages"),
        Row::figure("parity.lock_waits", "waits for a stripe", [count(parity.lock_waits)], ""),
        Row::figure("parity.lock_wait_mean_us", "mean wait for a stripe", [format_figure(parity.lock_wait_mean_us)], "µs"),
    ];
    if parity.no_parity_writes > 0 {
        rows.insert(3, Row::figure("parity.no_parity_writes", "writes without parity", [count(parity.no_parity_writes)], ""));
    }
    Section { title: "Parity", columns: Vec::new(), rows }
}

fn controller_section(controller: &Controller) -> Section {
    let rows = vec![
        Row::figure("controller.waits", "requests that waited for their turn", [count(controller.waits)], ""),
        Row::figure("controller.wait_mean_us", "mean wait", [format_figure(controller.wait_mean_us)], "µs"),
        Row::figure(
            "controller.busy_fraction",
            "time with data passing",
            [format_figure(controller.busy_fraction.map(|share| share * 100.0))],
            "%",
        ),
    ];
    Section { title: "Controller", columns: Vec::new(), rows }
}

/// Returns the names of the columns, if there are several.
fn failure_columns(failures: usize) -> Vec<String> {
    if failures > 1 { (1..=failures).map(|nth| format!("failure {nth}")).collect() } else { Vec::new() }
}

fn lost_section(lost: &Lost) -> Section {
    let rows = vec![
        Row::figure("lost.requests", "requests with lost pages, counted nowhere else", [count(lost.requests)], ""),
        Row::figure("lost.pages", "lost pages of reads, writes and destages", [count(lost.pages)], "pages"),
    ];
    Section { title: "Lost, since too many members had failed", columns: Vec::new(), rows }
}

/// Returns a column for each failure.
fn failure_sections(failure: &Failure, failures: &[FailedMember]) -> [Section; 2] {
    let by_failure = |figure: fn(&FailedMember) -> Option<f64>| failures.iter().map(move |failed| format_figure(figure(failed)));
    // The counts of all failures together stand in the first column.
    let total = |figure: u64| std::iter::once(count(figure)).chain(failures.iter().skip(1).map(|_| String::new()));
    let mut rows = vec![
        Row::figure("failures.member", "member", failures.iter().map(|failed| failed.member.to_string()), ""),
        Row::figure("failures.failed_ms", "failed at", by_failure(|failed| failed.failed_ms.map(|ms| ms / 1e3)), "s"),
        Row::figure("failure.pages_reconstructed", "pages reconstructed", total(failure.pages_reconstructed), "pages"),
        Row::figure("failure.pages_read_to_reconstruct", "pages read for these", total(failure.pages_read_to_reconstruct), "pages"),
    ];
    if failures.iter().any(|failed| failed.spare.is_some()) {
        rows.extend([
            Row::figure(
                "failures.rebuild_began_ms",
                "rebuilding began at",
                by_failure(|failed| failed.rebuild_began_ms.map(|ms| ms / 1e3)),
                "s",
            ),
            Row::figure(
                "failures.rebuild_ended_ms",
                "rebuilding ended at",
                by_failure(|failed| failed.rebuild_ended_ms.map(|ms| ms / 1e3)),
                "s",
            ),
            Row::figure("failures.rebuilt_fraction", "rebuilt", by_failure(|failed| Some(failed.rebuilt_fraction * 100.0)), "%"),
            Row::figure("failures.rebuild_mb_s", "rate of rebuilding", by_failure(|failed| failed.rebuild_mb_s), "MB/s"),
            Row::figure("failure.rebuild_pages_read", "pages read to rebuild", total(failure.rebuild_pages_read), "pages"),
            Row::figure("failure.rebuild_pages_written", "pages written to rebuild", total(failure.rebuild_pages_written), "pages"),
        ]);
    }
    if failures.iter().any(|failed| failed.strips_lost > 0) {
        rows.push(Row::figure("failures.strips_lost", "strips given up", failures.iter().map(|failed| count(failed.strips_lost)), ""));
    }
    let by = &failure.response_us;
    let by_health = [&by.normal, &by.degraded, &by.rebuilding, &by.rebuilt];
    let figures = |name: &str, figure: fn(&ByDirection<ResponseTime>) -> Option<f64>| {
        Row::new(name, by_health.map(|times| format_figure(figure(times))), "µs")
    };
    let responses = vec![
        Row::new("requests", by_health.map(|times| count(times.all.count)), ""),
        figures("mean", |times| times.all.mean),
        figures("mean of reads", |times| times.read.mean),
        figures("mean of writes", |times| times.write.mean),
        figures("99 %", |times| times.all.p99),
        figures("max", |times| times.all.max),
    ];
    let columns = ["normal", "degraded", "rebuilding", "rebuilt"].map(str::to_owned).to_vec();
    [
        Section { title: "Failure", columns: failure_columns(failures.len()), rows },
        Section { title: "Response time around the failure", columns, rows: responses },
    ]
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
        let sections = report.table();
        let titles: Vec<_> = sections.iter().map(|section| section.title).collect();
        assert_eq!(
            titles,
            ["Run", "Response time", "Where the time went", "Bandwidth", "Flash", "Garbage collection", "Members", "Simulator"]
        );
        for section in &sections {
            for row in &section.rows {
                assert_eq!(row.values.len(), section.columns.len().max(1), "{}: {}", section.title, row.name);
            }
        }
        assert_eq!(sections[6].columns, ["0", "1"]);
        let mean = &sections[1].rows[1];
        assert_eq!(
            (mean.name.as_str(), mean.values.as_slice(), mean.unit),
            ("mean", ["4 !", "4 !", "4 !"].map(String::from).as_slice(), "µs")
        );
    }

    #[test]
    fn many_members_are_shown_by_their_spread() {
        let mut report = crate::report::build::tests::example();
        let template = report.members[1].clone();
        report.members = (1..=10).map(|erases| Member { erases, ..template.clone() }).collect();
        let section = report.members_section();
        assert_eq!(section.columns, ["min", "mean", "max"]);
        assert_eq!(section.rows[2].values, ["1", "5.500", "10"]);
    }
}
