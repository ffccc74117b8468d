//! The report of one run as tables.

use flashraid::counterfactual::{Because, PairedFigure, PairedFigures, WHY_THEY_DIFFER};
use flashraid::report::{
    FEW_SAMPLES_MARK, LoadVerdict, REPORTED_PERCENTILES, Report, ResponseTime, TableSection, WAITED_TITLE, WarningMark,
};

use super::headline::headline;
use super::number;
use super::sheet::{Cell, Sheet};

/// The tables of a report. What causes the response times stands below where requests waited.
pub fn sheets(report: &Report) -> Vec<Sheet> {
    let mut sheets: Vec<Sheet> = report.table_sections().into_iter().map(sheet).collect();
    let below = sheets.iter().position(|sheet| sheet.title == WAITED_TITLE).map_or(sheets.len(), |waited| waited + 1);
    sheets.splice(below..below, because(report));
    sheets
}

/// The tables of the pairs of runs with one thing changed; none without pairs.
pub fn because(report: &Report) -> Vec<Sheet> {
    let Some(because) = report.because.as_ref().filter(|because| because.pairs().next().is_some()) else { return Vec::new() };
    std::iter::once(differences(because)).chain(shares(because)).collect()
}

/// The figures of each changed run, with the change against the run as it is.
fn differences(because: &Because) -> Sheet {
    let directions = |figures: &flashraid::report::TotalReadWrite<PairedFigures>| {
        [("all", figures.all), ("reads", figures.read), ("writes", figures.write)]
    };
    let of = |figures: &PairedFigures| [figures.mean, figures.p99, figures.p99_9];
    let values = because.pairs().flat_map(|(_, pair)| directions(&pair.response_us)).filter_map(|(_, figures)| figures.p99_9.as_is);
    let (unit, divisor) = number::time_unit(values.fold(0.0, f64::max));
    let mut sheet = Sheet::new("What causes it: the same requests with one thing changed", &["", "", "mean", "p99", "p99.9", ""]);
    (sheet.label_columns, sheet.unit_column) = (2, true);
    let value = |value: Option<f64>| value.map_or("–".to_owned(), |value| number::three_digits(value / divisor));
    let mut row = |name: &str, direction: &str, cells: [String; 3]| {
        let cells = [name.to_owned(), direction.to_owned()].into_iter().chain(cells).chain([unit.to_owned()]);
        sheet.rows.push(cells.map(Cell::from).collect());
    };
    // All requests are compared with every change that keeps the writes, and reads with every change.
    for index in 0..3 {
        let mut with_figures = because.pairs().map(|(_, pair)| directions(&pair.response_us)[index]);
        if let Some((direction, figures)) = with_figures.find(|(_, figures)| figures.mean.as_is.is_some()) {
            row("as it is", direction, of(&figures).map(|figure| value(figure.as_is)));
        }
    }
    for (change, pair) in because.pairs() {
        for (direction, figures) in directions(&pair.response_us).into_iter().filter(|(_, figures)| figures.mean.without.is_some()) {
            let cell = |figure: PairedFigure| match figure.ratio() {
                Some((ratio, half_width)) => format!("{} ({})", value(figure.without), number::change(ratio, half_width)),
                None => value(figure.without),
            };
            row(change.label(), direction, of(&figures).map(cell));
        }
    }
    sheet
}

/// The shares of the mean that requests waited for, beside those that are caused.
fn shares(because: &Because) -> Option<Sheet> {
    let mut sheet = Sheet::new("Waited and caused: shares of the mean response", &["part", "requests", "waited", "caused"]);
    sheet.label_columns = 2;
    for (change, pair) in because.pairs() {
        let (Some(part), Some(shares)) = (change.part_of_time(), pair.shares) else { continue };
        for (group, share) in shares.named() {
            let Some(share) = share else { continue };
            let percent = |share: f64| format!("{} %", number::three_digits(share * 100.0).replace('-', "−"));
            let cells = [part.to_owned(), group.to_owned(), percent(share.waited), percent(share.caused)];
            sheet.rows.push(cells.map(Cell::from).into());
        }
    }
    (!sheet.rows.is_empty()).then_some(sheet)
}

/// Sentences about the pairs: why two shares differ, and which changes were left out.
fn notes_of_because(because: &Because) -> impl Iterator<Item = String> {
    let has_shares = because.pairs().any(|(_, pair)| pair.shares.is_some());
    let left_out = because.left_out.iter().map(|left_out| format!("left out, {}: {}", left_out.change.label(), left_out.reason));
    has_shares.then(|| WHY_THEY_DIFFER.to_owned()).into_iter().chain(left_out)
}

/// The one table that is looked at first: response times of all requests, reads and writes.
pub fn summary(report: &Report) -> Sheet {
    let times = [("all", &report.response_us.all), ("reads", &report.response_us.read), ("writes", &report.response_us.write)];
    let longest = report.response_us.all.max.unwrap_or(0.0);
    let median = report.response_us.all.p50.unwrap_or(longest);
    // One unit for the whole table where numbers stay readable in it.
    let (unit, divisor) = number::time_unit(if longest > 1000.0 * median { median } else { longest });
    let mut sheet = Sheet::new(headline(report), &["", "requests", "mean", "p50", "p99", "p99.9", "max", ""]);
    sheet.unit_column = true;
    for (name, times) in times.into_iter().filter(|(_, times)| times.count > 0) {
        let figure = |value: Option<f64>, quantile: f64| {
            let guess = if times.has_enough_samples_for(quantile) { "" } else { FEW_SAMPLES_MARK };
            value.map_or("–".to_owned(), |value| number::three_digits(value / divisor) + guess)
        };
        let plain = |value: Option<f64>| value.map_or("–".to_owned(), |value| number::three_digits(value / divisor));
        let cells = [
            name.to_owned(),
            number::grouped(times.count),
            plain(times.mean),
            figure(times.p50, 0.5),
            figure(times.p99, 0.99),
            figure(times.p99_9, 0.999),
            plain(times.max),
            unit.to_owned(),
        ];
        sheet.rows.push(cells.map(Cell::from).into());
    }
    sheet
}

/// Rates, flash and verdict in one line.
pub fn facts(report: &Report) -> String {
    let figure = |name: &str, value: Option<f64>, unit: &str| Some(format!("{name}{}{unit}", number::three_digits(value?)));
    let steady = match report.verdict.steady_from_ns {
        Some(from_ns) => format!("steady from {} on", number::duration_us(from_ns as f64 / 1e3)),
        None => "not steady".to_owned(),
    };
    let mark = WarningMark::ShortLoop;
    let short = if report.verdict.has_mark(mark) { format!(" {}", mark.symbol()) } else { String::new() };
    let facts = [
        figure("", report.iops.all, &format!(" requests/s{short}")),
        figure("", report.bandwidth_mb_s.overall, &format!(" MB/s{short}")),
        figure("write amplification ", report.flash.write_amplification, ""),
        Some(match report.flash.erases {
            1 => "1 erase".to_owned(),
            erases => format!("{} erases", number::grouped(erases)),
        }),
        figure("collection ", report.gc.busy_fraction.map(|share| share * 100.0), " % of die time"),
        Some(format!("load {}, {steady}", report.verdict.load.name())),
    ];
    facts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// Lines that belong above the tables: what the figures are about and how far they can be trusted. `has_life` says that a life stands among
/// the figures: without one nothing is said of the wear that it is computed of.
pub fn notes(report: &Report, has_life: bool) -> Vec<String> {
    let partial = report.partial.then(|| {
        let reason = report.partial_reason.as_deref().map_or(String::new(), |reason| format!(": {reason}"));
        format!("PARTIAL: the run was stopped before its end{reason}")
    });
    let load = match report.verdict.load {
        LoadVerdict::Unstable => Some("verdict: unstable; requests pile up, so that response times grow with the length of the run"),
        LoadVerdict::Saturated => Some("verdict: saturated; less than 98 % of the requests are served in time"),
        LoadVerdict::DataLost | LoadVerdict::Stable | LoadVerdict::Closed => None,
    };
    let times = [&report.response_us.all, &report.response_us.read, &report.response_us.write];
    let is_guess =
        |of: &&ResponseTime| of.count > 0 && REPORTED_PERCENTILES.iter().any(|(_, quantile)| !of.has_enough_samples_for(*quantile));
    let has_guess = times.iter().any(is_guess);
    let holds = |mark: &WarningMark| match mark {
        WarningMark::FewSamples => has_guess || report.verdict.has_mark(*mark),
        WarningMark::LittleWear => has_life && report.verdict.has_mark(*mark),
        _ => report.verdict.has_mark(*mark),
    };
    let reason = |mark: WarningMark| match report.shortfall() {
        Some(shortfall) if mark == WarningMark::NotJudged => {
            format!("{}.", shortfall.sentence("the array", report.cycles.requests_until_judged))
        }
        _ => mark.explanation().to_owned(),
    };
    let marks = WarningMark::ALL.into_iter().filter(holds).map(|mark| format!("{} {}: {}", mark.symbol(), mark.json_name(), reason(mark)));
    let verdict = load.map(str::to_owned).into_iter().chain(marks);
    let idle = report.load_rise_until_gc_matters().map(|idle| idle.to_string());
    let warnings = report.warnings.iter().map(|warning| format!("warning: {warning}"));
    partial
        .into_iter()
        .chain(verdict)
        .chain(report.because.iter().flat_map(notes_of_because))
        .chain(idle)
        .chain(warnings)
        .chain(report.workload_note.clone())
        .chain(report.trace_notes.iter().cloned())
        .collect()
}

fn sheet(section: TableSection) -> Sheet {
    let has_units = section.rows.iter().any(|row| !row.unit.is_empty());
    let columns = if section.columns.is_empty() { vec![String::new()] } else { section.columns };
    let header = std::iter::once(String::new()).chain(columns).chain(has_units.then(String::new)).collect();
    let rows_of = section.rows.iter().map(|row| row.json_key.clone()).collect();
    let rows = section.rows.into_iter().map(|row| {
        let unit = has_units.then(|| row.unit.to_owned());
        std::iter::once(row.label).chain(row.values).chain(unit).map(Cell::from).collect()
    });
    Sheet { unit_column: has_units, header, rows: rows.collect(), rows_of, ..Sheet::new(section.title, &[]) }
}
