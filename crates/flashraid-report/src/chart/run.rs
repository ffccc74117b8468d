//! The charts of one run.

use serde_json::Value;

use super::{Axis, Chart, Line, Lines, free_blocks, over_time, response, time, timeline};

/// Returns all charts for which the document of a report has data.
pub fn of_run(report: &Value) -> Vec<Chart> {
    let directions = ["all", "read", "write"].map(|name| (name.to_owned(), &report["response_us"][name]));
    let charts = [
        response::distribution(directions.clone()),
        response::tail(directions),
        time::where_requests_waited(report),
        bandwidth([("all members".to_owned(), report)]),
    ];
    let free_blocks = free_blocks::of_members(report).map_or(Vec::new(), over_time::of_eight);
    let details = [timeline::of_run(report), free_blocks::of_pool(report)];
    let over_time = over_time::of_run(report);
    charts.into_iter().flatten().chain(over_time).chain(free_blocks).chain(details.into_iter().flatten()).collect()
}

/// Bandwidth over time, a line for each report.
pub fn bandwidth<'a>(reports: impl IntoIterator<Item = (String, &'a Value)>) -> Option<Chart> {
    let line = |(name, report): (String, &Value)| {
        let bandwidth = &report["bandwidth_mb_s"];
        let interval_s = bandwidth["series_interval_ms"].as_f64()? / 1e3;
        let from_s = report["measured_from_ns"].as_f64().unwrap_or(0.0) / 1e9;
        let values = bandwidth["series"].as_array()?.iter().enumerate();
        let points = values.filter_map(|(index, value)| Some((from_s + (index as f64 + 0.5) * interval_s, value.as_f64()?)));
        Some(Line::new(name, points.collect()))
    };
    let series: Vec<Line> = reports.into_iter().filter_map(line).filter(|line| line.points.len() > 1).collect();
    Chart::of_lines("bandwidth", "Bandwidth over time", Lines::plain(Axis::linear("time, s"), Axis::linear("bandwidth, MB/s"), series))
}

/// Density of bandwidth over its distance from the mean in standard deviations, a line for each report (PGC Fig. 2).
pub fn bandwidth_density<'a>(reports: impl IntoIterator<Item = (String, &'a Value)>) -> Option<Chart> {
    let line = |(name, report): (String, &Value)| {
        let points = report.pointer("/bandwidth_mb_s/z_density").and_then(Value::as_array).into_iter().flatten();
        Line::new(name, points.filter_map(|point| Some((point[0].as_f64()?, point[1].as_f64()?))).collect())
    };
    let lines = Lines::plain(Axis::linear("Z-score of the bandwidth"), Axis::linear("density"), reports.into_iter().map(line).collect());
    Chart::of_lines("bandwidth-density", "Density of the bandwidth", lines)
}

#[cfg(test)]
mod tests {
    use super::super::Content;
    use super::*;
    use serde_json::json;

    #[test]
    fn bandwidth_lies_in_the_middle_of_its_interval() {
        let report = json!({ "bandwidth_mb_s": { "series_interval_ms": 1000.0, "series": [5.0, 7.0] } });
        let Content::Lines(lines) = bandwidth([("a".to_owned(), &report)]).unwrap().content else { panic!("lines") };
        assert_eq!(lines.series[0].points, [(0.5, 5.0), (1.5, 7.0)]);
    }
}
