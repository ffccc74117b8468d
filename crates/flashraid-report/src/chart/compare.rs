//! The charts of a grid.

use super::{Axis, BarSeries, Bars, Chart, Content, free_blocks, response, run, unit_of};
use crate::grid::{Estimate, Grid, Point, estimate};

const PERCENTILES: [(&str, &str); 6] =
    [("p50", "p50"), ("p90", "p90"), ("p99", "p99"), ("p99.9", "p99_9"), ("p99.99", "p99_99"), ("max", "max")];

/// Bars of the means; distributions, bandwidth and free blocks of each point's first seed.
pub fn of_grid(grid: &Grid) -> Vec<Chart> {
    let first = || grid.points.iter().map(|point| (point.label(), &point.reports[0]));
    let charts = [
        bars(grid, "mean-response", "Mean response time", "/response_us/all/mean", Some("mean response")),
        bars(grid, "response-deviation", "Standard deviation of the response time", "/response_us/all/stddev", Some("deviation")),
        percentiles(grid),
        response::distribution(first().map(|(name, report)| (name, &report["response_us"]["all"]))),
        bars(grid, "write-amplification", "Write amplification", "/flash/write_amplification", None),
        run::bandwidth(first()),
        free_blocks::of_points(first()),
    ];
    charts.into_iter().flatten().collect()
}

/// Bars of a figure. The first varied key tells the bars of a group apart, the others make groups; a single key makes groups of one bar.
fn bars(grid: &Grid, id: &str, title: &str, pointer: &str, duration: Option<&str>) -> Option<Chart> {
    let per_series = match grid.axes.as_slice() {
        [_, _, ..] => grid.points.len() / grid.axes[0].values.len(),
        _ => grid.points.len(),
    };
    let mut estimates: Vec<Option<Estimate>> = grid.points.iter().map(|point| estimate(&point.figure(pointer)?)).collect();
    let longest = estimates.iter().flatten().map(|estimate| estimate.mean).fold(0.0, f64::max);
    if longest == 0.0 {
        return None;
    }
    let (label, scale) = match (duration, unit_of(longest)) {
        (Some(name), (unit, scale)) => (format!("{name}, {unit}"), scale),
        (None, _) => (title.to_lowercase(), 1.0),
    };
    for estimate in estimates.iter_mut().flatten() {
        *estimate = Estimate { mean: estimate.mean / scale, half_width: estimate.half_width.map(|width| width / scale) };
    }
    let one_key = grid.axes.len() < 2;
    let group = |point: &Point| {
        let values: Vec<&str> = point.settings.iter().skip(usize::from(!one_key)).map(|setting| setting.value.as_str()).collect();
        if values.is_empty() { point.label() } else { values.join(" · ") }
    };
    let series = estimates.chunks(per_series).enumerate().map(|(index, estimates)| BarSeries {
        name: if one_key { title.to_lowercase() } else { grid.axes[0].values[index].clone() },
        values: estimates.iter().map(|estimate| estimate.map(|estimate| estimate.mean)).collect(),
        half_widths: estimates.iter().map(|estimate| estimate.and_then(|estimate| estimate.half_width)).collect(),
    });
    let groups = grid.points[..per_series].iter().map(group).collect();
    let content = Content::Bars(Bars { groups, y: Axis::linear(label), series: series.collect() });
    Some(Chart { id: id.to_owned(), title: title.to_owned(), content })
}

/// Percentiles of every point side by side.
fn percentiles(grid: &Grid) -> Option<Chart> {
    let value = |point: &Point, key: &str| {
        let values = point.figure(&format!("/response_us/all/{key}"))?;
        estimate(&values).map(|estimate| estimate.mean).filter(|mean| *mean > 0.0)
    };
    let longest = grid.points.iter().filter_map(|point| value(point, "max")).fold(0.0, f64::max);
    let (unit, scale) = unit_of(longest);
    let series = grid.points.iter().map(|point| BarSeries {
        name: point.label(),
        values: PERCENTILES.iter().map(|(_, key)| Some(value(point, key)? / scale)).collect(),
        half_widths: vec![None; PERCENTILES.len()],
    });
    let groups = PERCENTILES.iter().map(|(name, _)| (*name).to_owned()).collect();
    (longest > 0.0).then(|| Chart {
        id: "percentiles".to_owned(),
        title: "Percentiles of the response time".to_owned(),
        content: Content::Bars(Bars { groups, y: Axis::log(format!("response, {unit}")), series: series.collect() }),
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
        let report = |mean: &f64| -> Value { json!({ "response_us": { "all": { "mean": mean } } }) };
        let points = combinations(&axes).into_iter().zip(means);
        let points = points.map(|(settings, means)| Point { settings, reports: means.iter().map(report).collect() }).collect();
        Grid { axes, points, baselines: vec![0; means.len()] }
    }

    fn means(grid: &Grid) -> Bars {
        match bars(grid, "m", "Mean", "/response_us/all/mean", Some("mean")).unwrap().content {
            Content::Bars(bars) => bars,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn one_key_makes_groups() {
        let bars = means(&grid(&["s=local,ideal"], &[&[8000.0, 8000.0], &[2000.0, 2000.0]]));
        assert_eq!(bars.groups, ["local", "ideal"]);
        assert_eq!((bars.series.len(), bars.y.label.as_str()), (1, "mean, ms"));
        assert_eq!(bars.series[0].values, [Some(8.0), Some(2.0)]);
        assert_eq!(bars.series[0].half_widths, [Some(0.0), Some(0.0)]);
    }

    #[test]
    fn the_first_of_several_keys_makes_series() {
        let bars = means(&grid(&["s=local,ideal", "w=a,b,c"], &[&[1.0], &[2.0], &[3.0], &[4.0], &[5.0], &[6.0]]));
        assert_eq!(bars.groups, ["a", "b", "c"]);
        let series: Vec<_> = bars.series.iter().map(|series| (series.name.as_str(), series.values.clone())).collect();
        assert_eq!(series[1], ("ideal", vec![Some(4.0), Some(5.0), Some(6.0)]));
    }

    #[test]
    fn figures_that_no_report_has_make_no_chart() {
        assert!(bars(&grid(&["s=local,ideal"], &[&[1.0], &[2.0]]), "e", "Erases", "/flash/erases", None).is_none());
    }
}
