//! The charts of one run.

use serde_json::Value;

use super::{Axis, Chart, Content, Line, Lines, Timeline, free_blocks, over_time, response, time, unit_of};

/// What the document of a report has data for.
pub fn of_run(report: &Value) -> Vec<Chart> {
    let directions = ["all", "read", "write"].map(|name| (name.to_owned(), &report["response_us"][name]));
    let charts = [
        response::distribution(directions.clone()),
        response::tail(directions),
        time::where_it_went(report),
        bandwidth([("all members".to_owned(), report)]),
    ];
    let free_blocks = free_blocks::of_members(report).map_or(Vec::new(), over_time::of_eight);
    let details = [timeline(report), free_blocks::of_pool(report)];
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

/// Requests, collections and destages of the window that was asked for (GGC Figs. 10 and 13, LAWC Figs. 2 and 5).
pub fn timeline(report: &Value) -> Option<Chart> {
    let timeline = report.get("timeline").filter(|timeline| timeline.is_object())?;
    let ms = |entry: &Value, key: &str| entry[key].as_f64().map(|ns| ns / 1e6);
    let small = |entry: &Value, key: &str| entry[key].as_u64().map(|number| number as u32);
    let entries = |key: &str| timeline[key].as_array().into_iter().flatten();
    let window_ms = ms(timeline, "from_ns")?..ms(timeline, "to_ns")?;

    let request = |entry: &Value| {
        let done_ms = ms(entry, "done_ns")?;
        Some((done_ms, (done_ms - ms(entry, "arrival_ns")?) * 1e3, entry["write"] == true))
    };
    let mut requests: Vec<(f64, f64, bool)> = entries("requests").filter_map(request).filter(|done| window_ms.contains(&done.0)).collect();
    requests.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (unit, scale) = unit_of(requests.iter().map(|request| request.1).fold(0.0, f64::max));
    requests.iter_mut().for_each(|request| request.1 /= scale);

    let collection = |entry: &Value| {
        let (start_ms, end_ms) = (ms(entry, "start_ns")?.max(window_ms.start), ms(entry, "end_ns")?.min(window_ms.end));
        Some((small(entry, "member")?, small(entry, "element")?, start_ms, end_ms, entry["forced"] == true))
    };
    let collections = entries("gc").filter_map(collection).collect();
    let destage = |entry: &Value| {
        let begun_ms = ms(entry, "begun_ns")?.max(window_ms.start);
        let within = |key| Some(ms(entry, key)?.min(window_ms.end));
        Some((small(entry, "member")?, begun_ms, within("ended_ns")?, within("done_ns")?))
    };
    let destages: Vec<_> = entries("destages").filter_map(destage).collect();
    let members = report["members"].as_array().map_or(1, Vec::len).max(1) as u32;
    let dies = report["config"]["ssd"]["geometry"]["dies"].as_u64().unwrap_or(1).max(1) as u32;
    let title = match destages.is_empty() {
        true => "Requests by the time they are done, and collections",
        false => "Requests by the time they are done, destages and collections",
    };
    Some(Chart::new("timeline", title, Content::Timeline(Timeline { window_ms, members, dies, unit, requests, collections, destages })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_timeline_holds_what_happens_in_its_window() {
        let timeline = json!({
            "from_ns": 0, "to_ns": 10_000_000,
            "requests": [
                { "arrival_ns": 1_000_000, "done_ns": 3_000_000, "write": true },
                { "arrival_ns": 0, "done_ns": 11_000_000, "write": false },
                { "arrival_ns": 0, "done_ns": 1_000_000, "write": false },
            ],
            "gc": [{ "member": 1, "element": 1, "start_ns": 2_000_000, "end_ns": 14_000_000, "forced": true }],
            "destages": [{ "member": 1, "begun_ns": 1_000_000, "ended_ns": 2_000_000, "done_ns": 14_000_000 }],
        });
        let report = json!({ "members": [{}, {}], "config": { "ssd": { "geometry": { "dies": 2 } } }, "timeline": timeline });
        let charts = of_run(&report);
        let Content::Timeline(timeline) = &charts[0].content else { panic!("{charts:?}") };
        assert_eq!(timeline.requests, [(1.0, 1.0, false), (3.0, 2.0, true)]);
        assert_eq!(timeline.collections, [(1, 1, 2.0, 10.0, true)]);
        assert_eq!(timeline.destages, [(1, 1.0, 2.0, 10.0)]);
        assert_eq!((timeline.members, timeline.dies, timeline.unit), (2, 2, "ms"));
        assert!(of_run(&json!({})).is_empty());
    }

    #[test]
    fn bandwidth_lies_in_the_middle_of_its_interval() {
        let report = json!({ "bandwidth_mb_s": { "series_interval_ms": 1000.0, "series": [5.0, 7.0] } });
        let Content::Lines(lines) = bandwidth([("a".to_owned(), &report)]).unwrap().content else { panic!("lines") };
        assert_eq!(lines.series[0].points, [(0.5, 5.0), (1.5, 7.0)]);
    }
}
