//! The charts of a grid.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{
    Axis, BarSeries, Bars, Chart, Content, Line, Lines, SERIES_MAX, extent, facets, free_blocks, over_time, response, run, time, timeline,
    unit_of,
};
use crate::grid::{AxisUnit, Estimate, Grid, Point, Setting};
use crate::number;

const PERCENTILES: [(&str, &str); 6] =
    [("p50", "p50"), ("p90", "p90"), ("p99", "p99"), ("p99.9", "p99_9"), ("p99.99", "p99_99"), ("max", "max")];

/// Returns the charts of a grid: means over a varied quantity, or as bars, and distributions, bandwidth and free blocks of each point's
/// first seed.
pub fn of_grid(grid: &Grid) -> Vec<Chart> {
    let first = || grid.points.iter().map(|point| (point.label(), &point.reports[0]));
    let responses = || first().map(|(name, report)| (name, &report["response_us"]["all"]));
    let axes: Vec<usize> = (0..grid.axes.len()).collect();
    let by_point = |chart: Option<Chart>| -> Vec<Chart> {
        if grid.points.len() > EACH_MAX {
            return Vec::new();
        }
        let (per_chart, names) = split(grid, &axes);
        chart.map_or(Vec::new(), |chart| facets(chart, per_chart, &names))
    };
    let of_lines = |chart: Option<Chart>| chart.map(|chart| of_points(grid, chart));
    let [means, deviations, amplification] = FIGURES.map(|figure| of_figure(grid, figure));
    let over_time = run::bandwidth(first()).filter(|chart| !is_one_line(chart));
    let charts = [
        differing(means),
        differing(deviations),
        by_point(percentiles(grid)),
        by_point(of_lines(response::distribution(responses()))),
        by_point(of_lines(response::tail(responses()))),
        differing(amplification),
        by_point(of_lines(over_time)),
        by_point(of_lines(free_blocks::of_points(first()).filter(varies))),
        beside_baselines(grid),
    ];
    charts.into_iter().flatten().collect()
}

/// Returns the timeline of each point below that of its baseline, if the first seeds have one.
fn beside_baselines(grid: &Grid) -> Vec<Chart> {
    let named = |point: usize| (grid.points[point].label(), &grid.points[point].reports[0]);
    let pairs = grid.baselines.iter().enumerate().filter(|(point, baseline)| *point != **baseline);
    let charts = pairs.enumerate().filter_map(|(number, (point, baseline))| {
        let id = if number == 0 { "timeline".to_owned() } else { format!("timeline-{}", number + 1) };
        timeline::of_several(&id, &[named(*baseline), named(point)])
    });
    let charts: Vec<Chart> = charts.collect();
    // The points say what they show, where there are several.
    let of = |chart: Chart| match &chart.content {
        Content::Timeline(timeline) => Chart { title: format!("{}: {}", chart.title, timeline.panels[1].name), ..chart },
        _ => chart,
    };
    if charts.len() > 1 { charts.into_iter().map(of).collect() } else { charts }
}

/// Number of points beyond which there are too many charts with a series for each: three charts of eight series.
const EACH_MAX: usize = 24;

/// Returns charts for an explorer, which shows two points at a time. Some have a series for each point. Others have a group for each point
/// and share of its requests, with the parts of the response time.
pub fn of_each_point(grid: &Grid) -> Vec<Chart> {
    let first = || grid.points.iter().map(|point| (point.label(), &point.reports[0]));
    let responses = || first().map(|(name, report)| (name, &report["response_us"]["all"]));
    let charts = [
        percentiles(grid),
        response::distribution(responses()).map(|chart| of_points(grid, chart)),
        time_parts(grid),
        response::tail(responses()).map(|chart| of_points(grid, chart)),
        over_time::means(first()).map(|chart| of_points(grid, chart)),
        run::bandwidth(first()).map(|chart| of_points(grid, chart)),
    ];
    charts.into_iter().flatten().collect()
}

/// Parts of the response time of each point's first seed, with a group for each point and share of its requests.
pub fn time_parts(grid: &Grid) -> Option<Chart> {
    time::of_points(grid.points.iter().map(|point| (point.label(), &point.reports[0])))
}

/// Returns a sentence for each figure that is equal at all points and has no chart.
pub fn equal_figures(grid: &Grid) -> Vec<String> {
    let is_same = |charts: &[Chart]| charts.iter().map(only_value).collect::<Option<Vec<f64>>>();
    let sentence = |figure: (&str, &str, &str, Option<&str>)| {
        let charts = of_figure(grid, figure);
        let value = is_same(&charts).filter(|values| !values.is_empty())?[0];
        let unit = charts[0].upwards_unit().map_or(String::new(), |unit| format!(" {unit}"));
        Some(format!("{} is the same at every point: {}{unit}.", figure.1, number::three_digits(value)))
    };
    FIGURES.into_iter().filter_map(sentence).collect()
}

/// Figures with a separate chart: name of the chart, title, place in a report, and label if it is a duration.
const FIGURES: [(&str, &str, &str, Option<&str>); 3] = [
    ("mean-response", "Mean response time", "/response_us/all/mean", Some("mean response")),
    ("response-deviation", "Standard deviation of the response time", "/response_us/all/stddev", Some("deviation")),
    ("write-amplification", "Write amplification", "/flash/write_amplification", None),
];

/// Returns the charts in which points differ visibly.
fn differing(charts: Vec<Chart>) -> Vec<Chart> {
    if charts.iter().all(|chart| only_value(chart).is_some()) { Vec::new() } else { charts }
}

/// Returns the number of series in one chart, and the names of the charts. There is a series for each combination of these keys, of which
/// the last varies fastest.
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

/// Returns a chart of a figure over the varied quantity with most values. It has a line for each combination of the other keys. Without
/// such a quantity, it has bars.
fn of_figure(grid: &Grid, (id, title, pointer, duration): (&str, &str, &str, Option<&str>)) -> Vec<Chart> {
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

/// Returns a figure's means over the seeds with their intervals, in the unit that fits the longest.
fn means(grid: &Grid, title: &str, pointer: &str, duration: Option<&str>) -> Option<(Vec<Option<Estimate>>, String)> {
    let mut estimates: Vec<Option<Estimate>> = grid.points.iter().map(|point| point.estimate(pointer)).collect();
    let longest = estimates.iter().flatten().map(|estimate| estimate.mean).fold(0.0, f64::max);
    if longest == 0.0 {
        return None;
    }
    let (label, scale) = match (duration, unit_of(longest)) {
        (Some(name), (unit, scale)) => (format!("{name}, {unit}"), scale),
        (None, _) => (title.to_lowercase(), 1.0),
    };
    estimates.iter_mut().for_each(|estimate| *estimate = scaled(*estimate, scale));
    Some((estimates, label))
}

/// Returns lines over the quantity of the varied key `across`.
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
        series[index].half_widths.extend(estimate.interval_half_width);
        series[index].doubts.push(point.marks());
    }
    series.iter_mut().for_each(in_order);
    let key = grid.key_names()[across];
    let x = Axis::of(if unit.is_empty() { key.to_owned() } else { format!("{key}, {unit}") }, numbers);
    let y = Axis::of(label, estimates.iter().flatten().map(|estimate| estimate.mean));
    let chart = Chart::of_lines(id, title, Lines::plain(x, y, series))?;
    Some(apart(chart, grid.points.iter().map(|point| (name(point), point))))
}

/// Sorts the points of a line by x.
fn in_order(line: &mut Line) {
    let mut order: Vec<usize> = (0..line.points.len()).collect();
    order.sort_by(|a, b| line.points[*a].0.total_cmp(&line.points[*b].0));
    line.points = order.iter().map(|&index| line.points[index]).collect();
    line.half_widths = order.iter().filter_map(|&index| line.half_widths.get(index).copied()).collect();
    line.doubts = doubts_of(order.iter().filter_map(|&index| line.doubts.get(index).cloned()).collect());
}

/// Returns the unit in which an axis up to `most` is easiest to read, and its length.
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

/// Returns bars of a figure. The values of the first varied key are the bars of a group, and the others make groups. With a single key,
/// each value is a group.
fn bars(grid: &Grid, id: &str, title: &str, pointer: &str, duration: Option<&str>) -> Option<Chart> {
    let per_series = match grid.axes.as_slice() {
        [_, _, ..] => grid.points.len() / grid.axes[0].values.len(),
        _ => grid.points.len(),
    };
    let (estimates, label) = means(grid, title, pointer, duration)?;
    let by_group = grid.axes.len() < 2;
    let group = |point: &Point| {
        let others = point.settings.iter().skip(usize::from(!by_group));
        let values: Vec<&str> = others.map(|Setting { value, .. }| value.as_str()).collect();
        if values.is_empty() { point.label() } else { values.join(" · ") }
    };
    let series = estimates.chunks(per_series).zip(grid.points.chunks(per_series)).enumerate().map(|(index, (estimates, points))| {
        let name = if by_group { title.to_lowercase() } else { grid.axes[0].values[index].clone() };
        let doubts = doubts_of(points.iter().map(Point::marks).collect());
        BarSeries { doubts, ..BarSeries::new(name, estimates.iter().map(mean_of).collect(), estimates.iter().map(half_width_of).collect()) }
    });
    let groups = grid.points[..per_series].iter().map(group).collect();
    let y = Axis::of(label, estimates.iter().flatten().map(|estimate| estimate.mean));
    let bars = Bars { by_group, ..Bars::side_by_side(groups, y, series.collect()) };
    let name = |point: &Point| if by_group { group(point) } else { point.settings[0].value.clone() };
    Some(apart(Chart::new(id, title, Content::Bars(bars)), grid.points.iter().map(|point| (name(point), point))))
}

fn mean_of(estimate: &Option<Estimate>) -> Option<f64> {
    estimate.map(|estimate| estimate.mean)
}

fn half_width_of(estimate: &Option<Estimate>) -> Option<f64> {
    estimate.and_then(|estimate| estimate.interval_half_width)
}

/// Returns percentiles of every point side by side, with their intervals, if enough requests lie beyond them.
fn percentiles(grid: &Grid) -> Option<Chart> {
    let estimate = |point: &Point, key: &str| {
        let pointer = format!("/response_us/all/{key}");
        // A value that a handful of requests decide would look like any other.
        point.estimate(&pointer).filter(|estimate| estimate.mean > 0.0 && !point.is_guess(&pointer))
    };
    let longest = grid.points.iter().filter_map(|point| Some(estimate(point, "max")?.mean)).fold(0.0, f64::max);
    let (unit, scale) = unit_of(longest);
    let is_known = |(_, key): &&(&str, &str)| grid.points.iter().any(|point| estimate(point, key).is_some());
    let shown: Vec<&(&str, &str)> = PERCENTILES.iter().filter(is_known).collect();
    let series = grid.points.iter().map(|point| {
        let estimates: Vec<Option<Estimate>> = shown.iter().map(|(_, key)| scaled(estimate(point, key), scale)).collect();
        let doubts = doubts_of(vec![point.marks(); estimates.len()]);
        let (values, half_widths) = (estimates.iter().map(mean_of).collect(), estimates.iter().map(half_width_of).collect());
        BarSeries { doubts, ..BarSeries::new(point.label(), values, half_widths) }
    });
    let groups = shown.iter().map(|(name, _)| (*name).to_owned()).collect();
    let bars = Bars::side_by_side(groups, Axis::log(format!("response, {unit}")), series.collect());
    let chart = Chart::new("percentiles", "Response-time percentiles", Content::Bars(bars));
    (longest > 0.0).then(|| apart(chart, grid.points.iter().map(|point| (point.label(), point))))
}

fn scaled(estimate: Option<Estimate>, scale: f64) -> Option<Estimate> {
    estimate.map(|estimate| Estimate {
        mean: estimate.mean / scale,
        interval_half_width: estimate.interval_half_width.map(|width| width / scale),
        ..estimate
    })
}

/// Returns the chart with its yardsticks: names of which all points are yardsticks.
fn apart<'a>(chart: Chart, named: impl IntoIterator<Item = (String, &'a Point)>) -> Chart {
    let mut of_names: BTreeMap<String, bool> = BTreeMap::new();
    for (name, point) in named {
        *of_names.entry(name).or_insert(true) &= point.is_yardstick();
    }
    let yardsticks = chart.names().into_iter().filter(|name| of_names.get(*name) == Some(&true)).map(str::to_owned).collect();
    Chart { yardsticks, ..chart }
}

/// Returns the chart of a line for each point, with the doubts about the points.
fn of_points(grid: &Grid, mut chart: Chart) -> Chart {
    if let Content::Lines(lines) = &mut chart.content {
        for line in &mut lines.series {
            let marks = grid.points.iter().find(|point| point.label() == line.name).map(Point::marks);
            line.doubts.extend(marks.filter(|marks| !marks.is_empty()));
        }
    }
    apart(chart, grid.points.iter().map(|point| (point.label(), point)))
}

/// Returns symbols of doubt, as an empty list if there are none.
fn doubts_of(marks: Vec<String>) -> Vec<String> {
    if marks.iter().all(String::is_empty) { Vec::new() } else { marks }
}

/// Relative difference within which values look equal in a chart. Their intervals must not extend farther.
const EQUAL: f64 = 0.01;
const NARROW: f64 = 0.1;

/// Returns the common value of a chart with several values, if all look equal and no interval is wider.
fn only_value(chart: &Chart) -> Option<f64> {
    let (values, halves): (Vec<f64>, Vec<f64>) = match &chart.content {
        Content::Bars(bars) => (
            bars.series.iter().flat_map(|series| series.values.iter().flatten().copied()).collect(),
            bars.series.iter().flat_map(|series| series.half_widths.iter().flatten().copied()).collect(),
        ),
        Content::Lines(lines) => (
            lines.series.iter().flat_map(|line| line.points.iter().map(|point| point.1)).collect(),
            lines.series.iter().flat_map(|line| line.half_widths.iter().copied()).collect(),
        ),
        Content::Timeline(_) => return None,
    };
    let (min, max) = extent(values.iter().copied());
    let widest = halves.into_iter().fold(0.0, f64::max);
    (values.len() > 1 && max - min <= EQUAL * max.abs() && widest <= NARROW * max.abs())
        .then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Least relative variation of free blocks that makes a chart of them useful.
const VARIES_MIN: f64 = 0.25;

/// Returns true if lines change visibly, along x or from one to the other.
fn varies(chart: &Chart) -> bool {
    let Content::Lines(lines) = &chart.content else { return true };
    let (min, max) = extent(lines.series.iter().flat_map(|line| &line.points).map(|point| point.1));
    max - min > VARIES_MIN * max
}

/// Returns true if lines over time lie on each other. They differ nowhere by more than a tenth of their mean, and have about equal means.
fn is_one_line(chart: &Chart) -> bool {
    let Content::Lines(lines) = &chart.content else { return false };
    let [first, others @ ..] = lines.series.as_slice() else { return false };
    let mean = |line: &Line| line.points.iter().map(|point| point.1).sum::<f64>() / line.points.len() as f64;
    let of_first = mean(first);
    let alike = |line: &Line| {
        let pairs = first.points.iter().zip(&line.points);
        let apart = pairs.map(|(a, b)| if a.0 == b.0 { (a.1 - b.1).abs() } else { f64::INFINITY }).fold(0.0, f64::max);
        // The end of a run cuts the last interval off.
        first.points.len().abs_diff(line.points.len()) <= 1 && (mean(line) - of_first).abs() <= EQUAL * of_first && apart <= 0.1 * of_first
    };
    !others.is_empty() && others.iter().all(alike)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Axis as Key;
    use flashraid::study::all_combinations;
    use serde_json::{Value, json};

    fn grid(keys: &[&str], means: &[&[f64]]) -> Grid {
        let axes: Vec<Key> = keys.iter().map(|key| key.parse().unwrap()).collect();
        let report = |mean: &f64| -> Value { json!({ "response_us": { "all": { "mean": mean, "cdf": [[mean, 0.0], [mean, 1.0]] } } }) };
        let points = all_combinations(&axes).into_iter().zip(means);
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
        let charts = of_figure(&grid(&["s=local,ideal", "m=2ms,16ms,4ms"], &means), ("m", "Mean", "/response_us/all/mean", Some("mean")));
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
        let title = "Response-time CDF: s = ";
        assert_eq!(seen, [("response-cdf-1", &*format!("{title}local"), 6), ("response-cdf-2", &*format!("{title}ideal"), 6)]);
        assert!(cdf.iter().all(|chart| lines_of(chart).x.cover == Some((1.0, 12.0))));
    }

    #[test]
    fn keys_that_end_alike_are_named_in_full() {
        let grid = grid(&["a.policy=x,y", "b.policy=x,y", "array.members=2"], &[&[1.0][..]; 4]);
        assert_eq!(grid.key_names(), ["a.policy", "b.policy", "members"]);
    }
}
