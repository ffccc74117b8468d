//! Tables and a page that compare measurements with simulations.

use flashraid_report::chart::{Axis, BarSeries, Bars, Chart, Content, Line, Lines};
use flashraid_report::number;
use flashraid_report::page::{Page, Part};
use flashraid_report::sheet::{Cell, Sheet};

use crate::datasheet::Held;
use crate::fit::{Compared, Fit, Shown};
use crate::variability::Variability;

/// The card of a drive that was made of a data sheet: each printed figure beside that of a long run.
fn card_sheet(card: &[Held]) -> Sheet {
    let mut sheet =
        Sheet::new("Figures of the data sheet, and of long runs", &["figure", "data sheet", "simulated", "error, %", "decides", ""]);
    sheet.unit_column = true;
    sheet.rows = card
        .iter()
        .map(|held| {
            let shown = |value: f64| format!("{} {}", number::rounded(value), held.unit);
            let verdict = if held.holds { "within 10 %" } else { "off by more than 10 %" };
            [
                held.name.replace('_', " "),
                shown(held.data_sheet),
                shown(held.simulated),
                format!("{:+.1}", 100.0 * (held.simulated / held.data_sheet - 1.0)),
                held.decides.to_owned(),
                verdict.to_owned(),
            ]
            .map(Cell::from)
            .into()
        })
        .collect();
    sheet
}

/// The tables of a fit: the card if there is one, the values that were found, and how the jobs are met.
#[must_use]
pub fn sheets(fit: &Fit, card: &[Held]) -> Vec<Sheet> {
    let mut values = Sheet::new("Fitted values", &["value", "base", "fitted", "95 % interval", ""]);
    values.unit_column = true;
    values.rows = fit
        .parameters
        .iter()
        .map(|found| {
            let shown = |value: f64| found.parameter.shown(value);
            let known = if found.is_determined { "" } else { "undetermined" };
            [found.name.to_owned(), shown(found.base), shown(found.value), found.interval(), known.to_owned()].map(Cell::from).into()
        })
        .collect();
    let header = ["job", "IOPS measured", "simulated", "error, %", "p99 measured, µs", "simulated", ""];
    let mut jobs = Sheet::new("Jobs", &header);
    jobs.unit_column = true;
    jobs.rows = fit
        .jobs
        .iter()
        .map(|job| {
            // Reads are what users look at; where there are none, writes.
            let p99 = |shown: &Shown| shown.read_p99_us.or(shown.write_p99_us).map_or_else(|| "–".to_owned(), number::three_digits);
            let note = if job.held_out { "held out" } else { "" };
            [
                job.name.clone(),
                number::rounded(job.measured.iops),
                number::rounded(job.simulated.iops),
                format!("{:+.1}", job.iops_error_percent),
                p99(&job.measured),
                p99(&job.simulated),
                note.to_owned(),
            ]
            .map(Cell::from)
            .into()
        })
        .collect();
    if card.is_empty() { vec![values, jobs] } else { vec![card_sheet(card), values] }
}

/// One sentence: how well it is met.
#[must_use]
pub fn headline(fit: &Fit, card: &[Held]) -> String {
    if !card.is_empty() {
        let held = card.iter().filter(|held| held.holds).count();
        return format!("{held} of {} figures of the data sheet are met within 10 % by long runs of the device", card.len());
    }
    let determined = fit.parameters.iter().filter(|found| found.is_determined).count();
    let held_out = fit.jobs.iter().find(|job| job.held_out);
    let held_out = held_out.map_or(String::new(), |job| format!("; {}, held out, by {:.1} %", job.name, job.iops_error_percent.abs()));
    format!(
        "{determined} of {} values are determined; requests per second are met by {:.1} % on average{held_out}",
        fit.parameters.len(),
        fit.mean_error_percent
    )
}

/// The page of a fit.
#[must_use]
pub fn html(fit: &Fit, card: &[Held], title: &str) -> String {
    let part = Part {
        title: title.to_owned(),
        headline: Some(headline(fit, card)),
        facts: fit.notes.clone(),
        summary: sheets(fit, card),
        charts: charts(fit),
        ..Part::default()
    };
    Page { title, parts: &[part] }.html()
}

/// The charts of a fit: curves over the depth where there are some, and all jobs side by side.
#[must_use]
pub fn charts(fit: &Fit) -> Vec<Chart> {
    let reads: Vec<&Compared> = by_depth(fit);
    let mut charts = Vec::new();
    if reads.len() >= 2 {
        let over_depth = |id: &str, title: &str, unit: &str, figure: &dyn Fn(&Shown) -> Option<f64>| -> Option<Chart> {
            let points = |side: &dyn Fn(&Compared) -> Shown| -> Vec<(f64, f64)> {
                reads.iter().filter_map(|job| Some((job.depth as f64, figure(&side(job))?))).collect()
            };
            let series = vec![Line::new("measured", points(&|job| job.measured)), Line::new("simulated", points(&|job| job.simulated))];
            let lines = lines(Axis::log("queue depth"), Axis::log(unit), series);
            lines.series.iter().all(|line| line.points.len() >= 2).then(|| chart(id, title, Content::Lines(lines)))
        };
        charts.extend(over_depth("iops-over-depth", "Random reads over the depth", "reads/s", &|shown| Some(shown.iops)));
        charts.extend(over_depth("mean-over-depth", "Mean response of random reads", "response, µs", &|shown| shown.read_mean_us));
        charts.extend(over_depth("p99-over-depth", "99th percentile of random reads", "response, µs", &|shown| shown.read_p99_us));
    }
    let bars = |id: &str, title: &str, unit: &str, figure: &dyn Fn(&Shown) -> Option<f64>| {
        let jobs: Vec<&Compared> = fit.jobs.iter().filter(|job| figure(&job.measured).is_some()).collect();
        let measured = BarSeries::plain("measured", jobs.iter().map(|job| figure(&job.measured)).collect());
        let simulated = BarSeries::plain("simulated", jobs.iter().map(|job| figure(&job.simulated)).collect());
        let groups = jobs.iter().map(|job| job.name.clone()).collect();
        let bars = Bars::side_by_side(groups, Axis::linear(unit), vec![measured, simulated]);
        (!jobs.is_empty()).then(|| chart(id, title, Content::Bars(bars)))
    };
    charts.extend(bars("iops-of-jobs", "Requests per second of all jobs", "requests/s", &|shown| Some(shown.iops)));
    charts.extend(bars("write-p99-of-jobs", "99th percentile of writes", "response, µs", &|shown| shown.write_p99_us));
    charts
}

/// Random reads of the size that most have, by depth.
fn by_depth(fit: &Fit) -> Vec<&Compared> {
    let reads = || fit.jobs.iter().filter(|job| job.read_percent == 100 && !job.is_sequential);
    let of_size = |size: u64| reads().filter(|job| job.size_bytes == size).count();
    let Some(size) = reads().map(|job| job.size_bytes).max_by_key(|&size| (of_size(size), std::cmp::Reverse(size))) else {
        return Vec::new();
    };
    let mut reads: Vec<&Compared> = reads().filter(|job| job.size_bytes == size).collect();
    reads.sort_by_key(|job| job.depth);
    reads.dedup_by_key(|job| job.depth);
    reads
}

/// The table of a measurement as in GGC, section 3.
#[must_use]
pub fn variability_sheet(jobs: &[Variability]) -> Sheet {
    let mut sheet =
        Sheet::new("Bandwidth second by second", &["job", "seconds", "mean, MB/s", "deviation, MB/s", "CV, %", "least Z", "greatest Z"]);
    sheet.rows = jobs
        .iter()
        .map(|job| {
            let z = job.z_scores();
            let (least, greatest) = (z.iter().copied().fold(0.0, f64::min), z.iter().copied().fold(0.0, f64::max));
            [
                job.name.clone(),
                job.seconds.to_string(),
                number::three_digits(job.mean_mb_s),
                number::three_digits(job.stddev_mb_s),
                format!("{:.2}", 100.0 * job.cv),
                format!("{least:.2}"),
                format!("{greatest:.2}"),
            ]
            .map(Cell::from)
            .into()
        })
        .collect();
    sheet
}

/// The page of such a measurement: bandwidth over time and Z-scores of each workload.
#[must_use]
pub fn variability_html(jobs: &[Variability], title: &str) -> String {
    // What stands before the share of writes is the workload: four jobs in a chart.
    let workload = |job: &Variability| job.name.split('-').nth(1).unwrap_or(&job.name).to_owned();
    let mut names: Vec<String> = jobs.iter().map(workload).collect();
    names.dedup();
    let mut charts = Vec::new();
    for name in names {
        let of_workload = || jobs.iter().filter(|job| workload(job) == name);
        let over_time = of_workload()
            .map(|job| Line::new(&job.name, job.mb_s.iter().enumerate().map(|(second, value)| (second as f64, *value)).collect()))
            .collect();
        let density = of_workload().map(|job| Line::new(&job.name, job.z_density())).collect();
        let time = lines(Axis::linear("time, s"), Axis::linear("bandwidth, MB/s"), over_time);
        let z = lines(Axis::linear("deviations from the mean"), Axis::linear("density"), density);
        charts.push(chart(&format!("bandwidth-{name}"), &format!("Bandwidth, {name}"), Content::Lines(time)));
        charts.push(chart(&format!("z-scores-{name}"), &format!("Z-scores of the bandwidth, {name}"), Content::Lines(z)));
    }
    let part = Part { title: title.to_owned(), summary: vec![variability_sheet(jobs)], charts, ..Part::default() };
    Page { title, parts: &[part] }.html()
}

fn chart(id: &str, title: &str, content: Content) -> Chart {
    Chart::new(id, title, content)
}

fn lines(x: Axis, y: Axis, series: Vec<Line>) -> Lines {
    Lines { x, y, steps: false, series, bands: Vec::new(), levels: Vec::new(), marks: Vec::new() }
}
