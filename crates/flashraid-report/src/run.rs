//! The report of one run as tables.

use flashraid::report::{GUESS, Load, PERCENTILES, Report, ResponseTime, Section};

use super::sheet::{Cell, Sheet};

/// The tables of a report.
pub fn sheets(report: &Report) -> Vec<Sheet> {
    report.table().into_iter().map(sheet).collect()
}

/// Lines that belong above the tables: what the figures are about and how far they can be trusted.
pub fn notes(report: &Report) -> Vec<String> {
    let partial = report.partial.then(|| {
        let reason = report.partial_reason.as_deref().map_or(String::new(), |reason| format!(": {reason}"));
        format!("PARTIAL: the run was stopped before its end{reason}")
    });
    let load = match report.verdict.load {
        Load::Unstable => Some("verdict: unstable; requests pile up, so that response times grow with the length of the run"),
        Load::Saturated => Some("verdict: saturated; less than 98 % of what is asked for is served in its time"),
        Load::DataLost => Some("verdict: data lost; the figures are those of an array that does not do its work"),
        Load::Stable | Load::Closed if !report.verdict.steady => {
            Some("verdict: no steady state; the run is too short to tell, or another length of it gives other figures")
        }
        Load::Stable | Load::Closed => None,
    };
    let times = [&report.response_us.all, &report.response_us.read, &report.response_us.write];
    let is_guess = |of: &&ResponseTime| of.count > 0 && PERCENTILES.iter().any(|(_, quantile)| !of.supports(*quantile));
    let guesses = times.iter().any(is_guess).then(|| format!("{}: fewer than ten requests lie beyond this percentile", GUESS.trim()));
    let verdict = load.map(str::to_owned).into_iter().chain(guesses);
    let warnings = report.warnings.iter().map(|warning| format!("warning: {warning}"));
    partial
        .into_iter()
        .chain(verdict)
        .chain(warnings)
        .chain(report.workload_note.clone())
        .chain(report.trace_notes.iter().cloned())
        .collect()
}

fn sheet(section: Section) -> Sheet {
    let has_units = section.rows.iter().any(|row| !row.unit.is_empty());
    let columns = if section.columns.is_empty() { vec![String::new()] } else { section.columns };
    let header = std::iter::once(String::new()).chain(columns).chain(has_units.then(String::new)).collect();
    let rows = section.rows.into_iter().map(|row| {
        let unit = has_units.then(|| row.unit.to_owned());
        std::iter::once(row.name).chain(row.values).chain(unit).map(Cell::from).collect()
    });
    Sheet { title: section.title.to_owned(), header, label_columns: 1, unit_column: has_units, rows: rows.collect() }
}
