//! The data of charts as one table in long form, with a row for each point, bar, request or range.

use super::{Axis, Chart, Content};
use crate::data::Table;

/// One row of the table.
#[derive(Default)]
struct Row {
    chart: String,
    series: String,
    /// Name of a group of bars, of a member, or of a level.
    group: Option<String>,
    x: Option<f64>,
    x_end: Option<f64>,
    y: Option<f64>,
    y_ci95: Option<f64>,
    x_axis: Option<String>,
    y_axis: Option<String>,
}

/// Returns the data of all charts.
pub fn table(charts: &[Chart]) -> Table {
    let rows: Vec<Row> = charts.iter().flat_map(rows).collect();
    let mut table = Table::default();
    table.text("chart", rows.iter().map(|row| Some(row.chart.clone())));
    table.text("series", rows.iter().map(|row| Some(row.series.clone())));
    table.text("group", rows.iter().map(|row| row.group.clone()));
    table.number("x", rows.iter().map(|row| row.x));
    table.number("x_end", rows.iter().map(|row| row.x_end));
    table.number("y", rows.iter().map(|row| row.y));
    table.number("y_ci95", rows.iter().map(|row| row.y_ci95));
    table.text("x_axis", rows.iter().map(|row| row.x_axis.clone()));
    table.text("y_axis", rows.iter().map(|row| row.y_axis.clone()));
    table
}

fn rows(chart: &Chart) -> Vec<Row> {
    let row = |series: &str| Row { chart: chart.id.clone(), series: series.to_owned(), ..Row::default() };
    let label = |axis: &Axis| Some(axis.label.clone());
    let mut rows = Vec::new();
    match &chart.content {
        Content::Lines(lines) => {
            let (x_axis, y_axis) = (label(&lines.x), label(&lines.y));
            for line in &lines.series {
                // What is drawn in steps has a row for each end of a jump.
                let points = if lines.steps { line.stepped() } else { line.points.clone() };
                let point = |(index, (x, y)): (usize, (f64, f64))| Row {
                    x: Some(x),
                    y: Some(y),
                    y_ci95: line.half_widths.get(index).copied(),
                    x_axis: x_axis.clone(),
                    y_axis: y_axis.clone(),
                    ..row(&line.name)
                };
                rows.extend(points.into_iter().enumerate().map(point));
            }
            for band in &lines.bands {
                let stretch = |stretch: &std::ops::Range<f64>| Row {
                    x: Some(stretch.start),
                    x_end: Some(stretch.end),
                    x_axis: x_axis.clone(),
                    ..row(&band.name)
                };
                rows.extend(band.stretches.iter().map(stretch));
            }
            rows.extend(lines.marks.iter().map(|(name, at)| Row { x: Some(*at), x_axis: x_axis.clone(), ..row(name) }));
            rows.extend(lines.levels.iter().map(|(name, level)| Row { y: Some(*level), y_axis: y_axis.clone(), ..row(name) }));
        }
        Content::Bars(bars) => {
            for series in &bars.series {
                let bar = |(index, group): (usize, &String)| Row {
                    group: Some(group.clone()),
                    y: series.values[index],
                    y_ci95: series.half_widths[index],
                    y_axis: label(&bars.y),
                    ..row(&series.name)
                };
                rows.extend(bars.groups.iter().enumerate().map(bar));
            }
        }
        Content::Timeline(timeline) => {
            let x_axis = Some("time, ms".to_owned());
            for panel in &timeline.panels {
                let row = |series: &str| match panel.name.as_str() {
                    "" => row(series),
                    name => row(&format!("{name}: {series}")),
                };
                for (done_ms, response, is_write) in &panel.requests {
                    let y_axis = Some(format!("response, {}", timeline.unit));
                    let series = if *is_write { "write" } else { "read" };
                    rows.push(Row { x: Some(*done_ms), y: Some(*response), x_axis: x_axis.clone(), y_axis, ..row(series) });
                }
                for (member, die, start_ms, end_ms, forced) in &panel.collections {
                    let group = Some(format!("member {member} die {die}"));
                    let series = if *forced { "forced collection" } else { "collection" };
                    rows.push(Row { group, x: Some(*start_ms), x_end: Some(*end_ms), x_axis: x_axis.clone(), ..row(series) });
                }
                // A member's own part, and what it then waits for the others.
                for (member, begun_ms, ended_ms, done_ms) in &panel.destages {
                    for (series, from, to) in [("destage", begun_ms, ended_ms), ("destage waits for the others", ended_ms, done_ms)] {
                        let group = Some(format!("member {member}"));
                        rows.push(Row { group, x: Some(*from), x_end: Some(*to), x_axis: x_axis.clone(), ..row(series) });
                    }
                }
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::super::{Panel, Timeline};
    use super::*;

    #[test]
    fn a_timeline_is_a_row_for_each_request_collection_and_part_of_a_destage() {
        let panel = Panel {
            name: String::new(),
            members: 2,
            dies: 1,
            requests: vec![(3.0, 2.0, true)],
            collections: vec![(1, 0, 2.0, 10.0, true)],
            destages: vec![(1, 1.0, 2.0, 4.0)],
            slowest: None,
        };
        let timeline = Timeline { window_ms: 0.0..10.0, unit: "ms", panels: vec![panel] };
        let chart = Chart::new("timeline", "", Content::Timeline(timeline));
        let cells = |row: &Row| (row.series.clone(), row.group.clone().unwrap_or_default(), row.x, row.x_end, row.y);
        let row = |series: &str, group: &str, x, x_end, y| (series.to_owned(), group.to_owned(), Some(x), x_end, y);
        assert_eq!(
            rows(&chart).iter().map(cells).collect::<Vec<_>>(),
            [
                row("write", "", 3.0, None, Some(2.0)),
                row("forced collection", "member 1 die 0", 2.0, Some(10.0), None),
                row("destage", "member 1", 1.0, Some(2.0), None),
                row("destage waits for the others", "member 1", 2.0, Some(4.0), None),
            ]
        );
    }
}
