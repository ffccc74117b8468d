//! The charts of a grid.

use std::cmp::Reverse;

use super::{Axis, BarSeries, Bars, Chart, Content, Line, Lines, SERIES_MAX, extent, facets, free_blocks, response, run, unit_of};
use crate::grid::{AxisUnit, Estimate, Grid, Point, Setting};

const PERCENTILES: [(&str, &str); 6] =
    [("p50", "p50"), ("p90", "p90"), ("p99", "p99"), ("p99.9", "p99_9"), ("p99.99", "p99_99"), ("max", "max")];

/// The means, over a varied quantity if there is one, else as bars; distributions, bandwidth and free blocks of each point's first seed.
/// What has more than eight series is spread over several charts.
pub fn of_grid(grid: &Grid) -> Vec<Chart> {
    let first = || grid.points.iter().map(|point| (point.label(), &point.reports[0]));
    let responses = || first().map(|(name, report)| (name, &report["response_us"]["all"]));
    let axes: Vec<usize> = (0..grid.axes.len()).collect();
    let by_point = |chart: Option<Chart>| -> Vec<Chart> {
        let (per_chart, names) = split(grid, &axes);
        chart.map_or(Vec::new(), |chart| facets(chart, per_chart, &names))
    };
    [
        figure(grid, "mean-response", "Mean response time", "/response_us/all/mean", Some("mean response")),
        figure(grid, "response-deviation", "Standard deviation of the response time", "/response_us/all/stddev", Some("deviation")),
        by_point(percentiles(grid)),
        by_point(response::distribution(responses())),
        by_point(response::tail(responses())),
        figure(grid, "write-amplification", "Write amplification", "/flash/write_amplification", None),
        by_point(run::bandwidth(first())),
        by_point(free_blocks::of_points(first())),
    ]
    .concat()
}

/// How many series one chart shows where every combination of these keys has one (the last key varies fastest), and what the charts are called.
///
/// The slowest keys are taken apart first, so that what a chart shows has them in common.
fn split(grid: &Grid, axes: &[usize]) -> (usize, Vec<String>) {
    let sizes: Vec<usize> = axes.iter().map(|&axis| grid.axes[axis].values.len()).collect();
    let together = |apart: usize| sizes[apart..].iter().product::<usize>();
    let apart = (0..=sizes.len()).find(|&apart| together(apart) <= SERIES_MAX).unwrap_or(sizes.len());
    // One series in each chart would be no comparison.
    if together(apart) == 1 {
        return (SERIES_MAX, Vec::new());
    }
    let names = grid.key_names();
    let mut of_charts = vec![String::new()];
    for &axis in &axes[..apart] {
        let with = |prefix: &String, value: &String| {
            let separator = if prefix.is_empty() { "" } else { ", " };
            format!("{prefix}{separator}{} = {value}", names[axis])
        };
        of_charts = of_charts.iter().flat_map(|prefix| grid.axes[axis].values.iter().map(move |value| with(prefix, value))).collect();
    }
    (together(apart), of_charts)
}

/// A figure over the varied quantity with the most values, with a line for each combination of the other keys; as bars without one.
fn figure(grid: &Grid, id: &str, title: &str, pointer: &str, duration: Option<&str>) -> Vec<Chart> {
    let quantities = grid.axes.iter().enumerate().filter_map(|(index, axis)| Some((index, crate::grid::numbers(axis)?)));
    let quantities = quantities.filter(|(_, (_, numbers))| numbers.len() > 1);
    match quantities.max_by_key(|(index, (_, numbers))| (numbers.len(), Reverse(*index))) {
        Some((across, (unit, numbers))) => {
            let others: Vec<usize> = (0..grid.axes.len()).filter(|&axis| axis != across).collect();
            let (per_chart, names) = split(grid, &others);
            let chart = over(grid, (id, title, pointer, duration), (across, unit, &numbers));
            chart.map_or(Vec::new(), |chart| facets(chart, per_chart, &names))
        }
        None => bars(grid, id, title, pointer, duration).map_or(Vec::new(), |chart| facets(chart, SERIES_MAX, &[])),
    }
}

/// A figure's means over the seeds, in the unit that fits the longest.
fn means(grid: &Grid, title: &str, pointer: &str, duration: Option<&str>) -> Option<(Vec<Option<Estimate>>, String)> {
    let mut estimates: Vec<Option<Estimate>> = grid.points.iter().map(|point| Estimate::of(&point.figure(pointer)?)).collect();
    let longest = estimates.iter().flatten().map(|estimate| estimate.mean).fold(0.0, f64::max);
    if longest == 0.0 {
        return None;
    }
    let (label, scale) = match (duration, unit_of(longest)) {
        (Some(name), (unit, scale)) => (format!("{name}, {unit}"), scale),
        (None, _) => (title.to_lowercase(), 1.0),
    };
    for estimate in estimates.iter_mut().flatten() {
        *estimate = Estimate { mean: estimate.mean / scale, half_width: estimate.half_width.map(|width| width / scale), ..*estimate };
    }
    Some((estimates, label))
}

/// Lines over the quantity of the varied key `across`.
fn over(
    grid: &Grid,
    (id, title, pointer, duration): (&str, &str, &str, Option<&str>),
    (across, unit, numbers): (usize, AxisUnit, &[f64]),
) -> Option<Chart> {
    let (estimates, label) = means(grid, title, pointer, duration)?;
    let (unit, scale) = shown_unit(unit, extent(numbers.iter().copied()).1);
    let numbers: Vec<f64> = numbers.iter().map(|number| number / scale).collect();
    let name = |point: &Point| {
        let others = point.settings.iter().enumerate().filter(|(axis, _)| *axis != across);
        let values: Vec<&str> = others.map(|(_, setting)| setting.value.as_str()).collect();
        if values.is_empty() { title.to_lowercase() } else { values.join(" · ") }
    };
    let mut series: Vec<Line> = Vec::new();
    for (point, estimate) in grid.points.iter().zip(&estimates) {
        let (name, Some(estimate)) = (name(point), estimate) else { continue };
        let index = series.iter().position(|line| line.name == name).unwrap_or_else(|| {
            series.push(Line::new(name, Vec::new()));
            series.len() - 1
        });
        let is_here = |value: &String| *value == point.settings[across].value;
        let x = numbers[grid.axes[across].values.iter().position(is_here).expect("a point has a value of the axis")];
        series[index].points.push((x, estimate.mean));
        series[index].half_widths.extend(estimate.half_width);
    }
    series.iter_mut().for_each(in_order);
    let key = grid.key_names()[across];
    let x = Axis::of(if unit.is_empty() { key.to_owned() } else { format!("{key}, {unit}") }, numbers);
    let y = Axis::of(label, estimates.iter().flatten().map(|estimate| estimate.mean));
    Chart::of_lines(id, title, Lines::plain(x, y, series))
}

/// Puts the points of a line in order of x.
fn in_order(line: &mut Line) {
    let mut order: Vec<usize> = (0..line.points.len()).collect();
    order.sort_by(|a, b| line.points[*a].0.total_cmp(&line.points[*b].0));
    line.points = order.iter().map(|&index| line.points[index]).collect();
    line.half_widths = order.iter().filter_map(|&index| line.half_widths.get(index).copied()).collect();
}

/// The unit in which an axis up to `most` reads best, and its length.
fn shown_unit(unit: AxisUnit, most: f64) -> (&'static str, f64) {
    match unit {
        AxisUnit::Plain => ("", 1.0),
        AxisUnit::Percent => ("%", 1.0),
        AxisUnit::Nanoseconds => {
            let (unit, microseconds) = unit_of(most / 1e3);
            (unit, microseconds * 1e3)
        }
        AxisUnit::BytesPerSecond => ("MB/s", 1e6),
        AxisUnit::Bytes if most >= (1_u64 << 30) as f64 => ("GiB", (1_u64 << 30) as f64),
        AxisUnit::Bytes if most >= (1 << 20) as f64 => ("MiB", (1 << 20) as f64),
        AxisUnit::Bytes => ("KiB", 1024.0),
    }
}

/// Bars of a figure. The first varied key tells the bars of a group apart, the others make groups; a single key makes groups of one bar.
fn bars(grid: &Grid, id: &str, title: &str, pointer: &str, duration: Option<&str>) -> Option<Chart> {
    let per_series = match grid.axes.as_slice() {
        [_, _, ..] => grid.points.len() / grid.axes[0].values.len(),
        _ => grid.points.len(),
    };
    let (estimates, label) = means(grid, title, pointer, duration)?;
    let one_key = grid.axes.len() < 2;
    let group = |point: &Point| {
        let others = point.settings.iter().skip(usize::from(!one_key));
        let values: Vec<&str> = others.map(|Setting { value, .. }| value.as_str()).collect();
        if values.is_empty() { point.label() } else { values.join(" · ") }
    };
    let series = estimates.chunks(per_series).enumerate().map(|(index, estimates)| BarSeries {
        name: if one_key { title.to_lowercase() } else { grid.axes[0].values[index].clone() },
        values: estimates.iter().map(|estimate| estimate.map(|estimate| estimate.mean)).collect(),
        half_widths: estimates.iter().map(|estimate| estimate.and_then(|estimate| estimate.half_width)).collect(),
    });
    let groups = grid.points[..per_series].iter().map(group).collect();
    let y = Axis::of(label, estimates.iter().flatten().map(|estimate| estimate.mean));
    let content = Content::Bars(Bars { groups, y, series: series.collect(), stacked: false });
    Some(Chart { id: id.to_owned(), title: title.to_owned(), content })
}

/// Percentiles of every point side by side, where enough requests lie beyond them.
fn percentiles(grid: &Grid) -> Option<Chart> {
    let value = |point: &Point, key: &str| {
        let pointer = format!("/response_us/all/{key}");
        // What a handful of requests decide would be a bar like any other.
        let values = point.figure(&pointer).filter(|_| !point.is_guess(&pointer))?;
        Estimate::of(&values).map(|estimate| estimate.mean).filter(|mean| *mean > 0.0)
    };
    let longest = grid.points.iter().filter_map(|point| value(point, "max")).fold(0.0, f64::max);
    let (unit, scale) = unit_of(longest);
    let is_known = |(_, key): &&(&str, &str)| grid.points.iter().any(|point| value(point, key).is_some());
    let shown: Vec<&(&str, &str)> = PERCENTILES.iter().filter(is_known).collect();
    let series = grid.points.iter().map(|point| BarSeries {
        name: point.label(),
        values: shown.iter().map(|(_, key)| Some(value(point, key)? / scale)).collect(),
        half_widths: vec![None; shown.len()],
    });
    let groups = shown.iter().map(|(name, _)| (*name).to_owned()).collect();
    (longest > 0.0).then(|| Chart {
        id: "percentiles".to_owned(),
        title: "Percentiles of the response time".to_owned(),
        content: Content::Bars(Bars { groups, y: Axis::log(format!("response, {unit}")), series: series.collect(), stacked: false }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Axis as Key;
    use flashraid::study::combinations;
    use serde_json::{Value, json};

    fn grid(keys: &[&str], means: &[&[f64]]) -> Grid {
        let axes: Vec<Key> = keys.iter().map(|key| key.parse().unwrap()).collect();
        let report = |mean: &f64| -> Value { json!({ "response_us": { "all": { "mean": mean, "cdf": [[mean, 0.0], [mean, 1.0]] } } }) };
        let points = combinations(&axes).into_iter().zip(means);
        let points = points.map(|(settings, means)| Point { settings, reports: means.iter().map(report).collect() }).collect();
        Grid { axes, points, baselines: vec![0; means.len()], sorted_by: None }
    }

    fn means_of(grid: &Grid) -> Bars {
        match bars(grid, "m", "Mean", "/response_us/all/mean", Some("mean")).unwrap().content {
            Content::Bars(bars) => bars,
            other => panic!("{other:?}"),
        }
    }

    fn lines_of(chart: &Chart) -> &Lines {
        match &chart.content {
            Content::Lines(lines) => lines,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn one_key_makes_groups() {
        let bars = means_of(&grid(&["s=local,ideal"], &[&[8000.0, 8000.0], &[2000.0, 2000.0]]));
        assert_eq!(bars.groups, ["local", "ideal"]);
        assert_eq!((bars.series.len(), bars.y.label.as_str()), (1, "mean, ms"));
        assert_eq!(bars.series[0].values, [Some(8.0), Some(2.0)]);
        assert_eq!(bars.series[0].half_widths, [Some(0.0), Some(0.0)]);
    }

    #[test]
    fn the_first_of_several_keys_makes_series() {
        let bars = means_of(&grid(&["s=local,ideal", "w=a,b,c"], &[&[1.0], &[2.0], &[3.0], &[4.0], &[5.0], &[6.0]]));
        assert_eq!(bars.groups, ["a", "b", "c"]);
        let series: Vec<_> = bars.series.iter().map(|series| (series.name.as_str(), series.values.clone())).collect();
        assert_eq!(series[1], ("ideal", vec![Some(4.0), Some(5.0), Some(6.0)]));
    }

    #[test]
    fn figures_that_no_report_has_make_no_chart() {
        assert!(bars(&grid(&["s=local,ideal"], &[&[1.0], &[2.0]]), "e", "Erases", "/flash/erases", None).is_none());
    }

    #[test]
    fn quantities_make_lines_with_intervals() {
        let means: Vec<Vec<f64>> = [1.0, 3.0, 2.0, 10.0, 30.0, 200.0].map(|mean| vec![mean, mean]).to_vec();
        let means: Vec<&[f64]> = means.iter().map(Vec::as_slice).collect();
        let charts = figure(&grid(&["s=local,ideal", "m=2ms,16ms,4ms"], &means), "m", "Mean", "/response_us/all/mean", Some("mean"));
        let lines = lines_of(&charts[0]);
        assert_eq!((charts.len(), lines.x.label.as_str(), lines.y.label.as_str()), (1, "m, ms", "mean, µs"));
        assert_eq!((lines.x.log, lines.y.log), (false, true));
        assert_eq!(lines.series[0].name, "local");
        assert_eq!(lines.series[0].points, [(2.0, 1.0), (4.0, 2.0), (16.0, 3.0)]);
        assert_eq!(lines.series[1].half_widths, [0.0; 3]);
    }

    #[test]
    fn more_than_eight_series_are_several_charts_of_the_same_axes() {
        let means: Vec<f64> = (1..=12).map(f64::from).collect();
        let means: Vec<&[f64]> = means.chunks(1).collect();
        let charts = of_grid(&grid(&["s=local,ideal", "w=a,b,c,d,e,f"], &means));
        let cdf: Vec<&Chart> = charts.iter().filter(|chart| chart.id.starts_with("response-cdf")).collect();
        let seen: Vec<_> = cdf.iter().map(|chart| (chart.id.as_str(), chart.title.as_str(), lines_of(chart).series.len())).collect();
        let title = "Share of the requests that took no longer: s = ";
        assert_eq!(seen, [("response-cdf-1", &*format!("{title}local"), 6), ("response-cdf-2", &*format!("{title}ideal"), 6)]);
        assert!(cdf.iter().all(|chart| lines_of(chart).x.cover == Some((1.0, 12.0))));
    }

    #[test]
    fn keys_that_end_alike_are_named_in_full() {
        let grid = grid(&["a.policy=x,y", "b.policy=x,y", "array.members=2"], &[&[1.0][..]; 4]);
        assert_eq!(grid.key_names(), ["a.policy", "b.policy", "members"]);
    }
}
