//! Charts of a run over time: response times, requests, write amplification, cache, rebuilding and members.

use serde_json::Value;

use super::{Axis, Chart, Content, Line, Lines, SERIES_MAX, facets, unit_of};

/// The charts of what a report has of `/over_time`, over a common axis of time and with the same marks.
pub fn of_run(report: &Value) -> Vec<Chart> {
    let marks = marks(report);
    let chart = |id: &str, title: &str, y: Axis, series: Vec<Line>| {
        let series = series.into_iter().filter(|line| line.points.len() > 1).collect();
        Chart::of_lines(id, title, Lines { marks: marks.clone(), ..Lines::plain(Axis::linear("time, s"), y, series) })
    };
    let line = |name: &str, key: &str, scale: f64| Line::new(name, points(report, &report["over_time"][key], scale));

    let times = [("mean", "mean_us"), ("p50", "p50_us"), ("p99", "p99_us"), ("max", "max_us")];
    let times: Vec<Line> = times.iter().map(|(name, key)| line(name, key, 1.0)).collect();
    let (of_times, times) = in_one_unit("response", times);
    let charts = [
        chart("time-response", "Response time over the run", of_times, times),
        chart("time-iops", "Throughput", Axis::linear("throughput, requests/s"), vec![line("reads and writes", "iops", 1.0)]),
        chart(
            "time-outstanding",
            "Requests outstanding",
            Axis::linear("outstanding, requests"),
            vec![line("outstanding", "outstanding", 1.0)],
        ),
        chart(
            "time-amplification",
            "Write amplification over the run",
            Axis::linear("(written + moved) / written"),
            vec![line("of what requests write", "write_amplification", 1.0)],
        ),
        chart("time-cache", "Write cache occupancy", Axis::linear("full, %"), vec![line("occupancy", "cache_occupancy", 100.0)]),
        chart("time-rebuild", "Rebuild progress", Axis::linear("rebuilt, %"), vec![line("strips rebuilt", "rebuilt_fraction", 100.0)]),
    ];
    let of_members = |key: &str, scale: f64| -> Vec<Line> {
        let members = report["over_time"]["members"].as_array().into_iter().flatten().enumerate();
        members.map(|(member, lists)| Line::new(format!("member {member}"), points(report, &lists[key], scale))).collect()
    };
    let (of_operations, operations) = in_one_unit("response of a page operation", of_members("response_us", 1.0));
    let members = [
        chart("member-utilisation", "Member utilisation", Axis::linear("time of dies, %"), of_members("utilisation", 100.0)),
        chart("member-response", "Member response time", of_operations, operations),
        chart("member-queue", "Member queue depth", Axis::linear("queue, page operations"), of_members("queue", 1.0)),
    ];
    let members = members.into_iter().flatten().flat_map(of_eight);
    charts.into_iter().flatten().chain(members).collect()
}

/// Mean response times over the run, a line for each report.
pub fn means<'a>(reports: impl IntoIterator<Item = (String, &'a Value)>) -> Option<Chart> {
    let line = |(name, report): (String, &Value)| Line::new(name, points(report, &report["over_time"]["mean_us"], 1.0));
    let series = reports.into_iter().map(line).filter(|line| line.points.len() > 1).collect();
    let (y, series) = in_one_unit("mean response", series);
    Chart::of_lines("time-response", "Mean response time over the run", Lines::plain(Axis::linear("time, s"), y, series))
}

/// A chart with a line for each member, spread over several if there are more than eight.
pub fn of_eight(chart: Chart) -> Vec<Chart> {
    let Content::Lines(lines) = &chart.content else { return vec![chart] };
    let number = |line: &Line| line.name.trim_start_matches("member ").to_owned();
    let name = |lines: &[Line]| match lines {
        [one] => one.name.clone(),
        lines => format!("members {} to {}", number(&lines[0]), number(&lines[lines.len() - 1])),
    };
    let names: Vec<String> = lines.series.chunks(SERIES_MAX).map(name).collect();
    facets(chart, SERIES_MAX, &names)
}

/// Lines of microseconds in the unit that suits the longest, and their axis.
fn in_one_unit(what: &str, mut lines: Vec<Line>) -> (Axis, Vec<Line>) {
    let (unit, scale) = unit_of(lines.iter().flat_map(|line| &line.points).map(|point| point.1).fold(0.0, f64::max));
    lines.iter_mut().flat_map(|line| &mut line.points).for_each(|point| point.1 /= scale);
    let values = lines.iter().flat_map(|line| line.points.iter().map(|point| point.1));
    (Axis::of(format!("{what}, {unit}"), values), lines)
}

/// The figures of a list, each in the middle of its interval, in seconds.
fn points(report: &Value, values: &Value, scale: f64) -> Vec<(f64, f64)> {
    let over_time = &report["over_time"];
    let end_ms = report["measured_to_ns"].as_f64().map_or(f64::INFINITY, |ns| ns / 1e6);
    let (Some(interval_ms), Some(from_ms), Some(values)) =
        (over_time["interval_ms"].as_f64(), over_time["from_ms"].as_array(), values.as_array())
    else {
        return Vec::new();
    };
    let point = |(from_ms, value): (&Value, &Value)| {
        let from_ms = from_ms.as_f64()?;
        // The end of the measured time cuts the last one off.
        Some(((from_ms + (from_ms + interval_ms).min(end_ms)) / 2e3, value.as_f64()? * scale))
    };
    from_ms.iter().zip(values).filter_map(point).collect()
}

/// Failures and rebuilding, in seconds.
fn marks(report: &Value) -> Vec<(String, f64)> {
    let mark = |mark: &Value| {
        let what = match mark["what"].as_str()? {
            "failed" => "fails",
            "rebuild-began" => "is being rebuilt",
            "rebuild-ended" => "is rebuilt",
            _ => return None,
        };
        Some((format!("member {} {what}", mark["member"].as_u64()?), mark["at_ns"].as_f64()? / 1e9))
    };
    report["over_time"]["marks"].as_array().into_iter().flatten().filter_map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn points_lie_in_the_middle_of_their_intervals() {
        let report = json!({
            "measured_to_ns": 5_000_000_000_u64,
            "over_time": {
                "interval_ms": 2000.0, "from_ms": [0.0, 2000.0, 4000.0], "iops": [5.0, 7.0, 9.0],
                "mean_us": [1500.0, null, 2500.0], "rebuilt_fraction": [null, 0.5, 1.0],
                "members": [
                    { "utilisation": [0.25, 0.5, 1.0], "response_us": [2000.0, null, 4000.0], "queue": [0.0, 0.5, 2.0] },
                    { "utilisation": [0.0, 0.0, 0.0], "response_us": [null, null, null], "queue": [0.0, 0.0, 0.0] },
                ],
                "marks": [{ "at_ns": 3_000_000_000_u64, "what": "failed", "member": 2 }],
            },
        });
        let charts = of_run(&report);
        assert_eq!(
            charts.iter().map(|chart| chart.id.as_str()).collect::<Vec<_>>(),
            ["time-response", "time-iops", "time-rebuild", "member-utilisation", "member-response", "member-queue"]
        );
        // What the cursor reads has a unit.
        let units: Vec<_> = charts.iter().map(Chart::upwards_unit).collect();
        assert_eq!(units, ["ms", "requests/s", "%", "%", "ms", "page operations"].map(Some));
        let lines = |index: usize| match &charts[index].content {
            Content::Lines(lines) => lines,
            other => panic!("{other:?}"),
        };
        assert_eq!(lines(0).series[0].points, [(1.0, 1.5), (4.5, 2.5)]);
        assert_eq!(lines(1).series[0].points, [(1.0, 5.0), (3.0, 7.0), (4.5, 9.0)]);
        assert_eq!(lines(2).series[0].points, [(3.0, 50.0), (4.5, 100.0)]);
        assert_eq!(lines(2).marks, [("member 2 fails".to_owned(), 3.0)]);
        assert_eq!((lines(3).series[0].points[1], lines(3).series[1].points[2]), ((3.0, 50.0), (4.5, 0.0)));
        // A member without operations has no line.
        assert_eq!((lines(4).series.len(), lines(4).y.label.as_str()), (1, "response of a page operation, ms"));
        assert_eq!(lines(4).series[0].points, [(1.0, 2.0), (4.5, 4.0)]);
        assert_eq!((&lines(5).series[0].points[2], &lines(5).marks), (&(4.5, 2.0), &lines(2).marks));
        assert!(of_run(&json!({})).is_empty());
    }

    #[test]
    fn more_members_than_colours_are_spread_over_charts_with_the_same_axes() {
        let members: Vec<Value> = (0..17).map(|member| json!({ "utilisation": [0.0, f64::from(member) / 20.0] })).collect();
        let report = json!({
            "measured_to_ns": 2_000_000_000_u64,
            "over_time": { "interval_ms": 1000.0, "from_ms": [0.0, 1000.0], "members": members },
        });
        let charts = of_run(&report);
        let titles: Vec<_> = charts.iter().map(|chart| chart.title.rsplit(": ").next().unwrap()).collect();
        assert_eq!(titles, ["members 0 to 7", "members 8 to 15", "member 16"]);
        for chart in &charts {
            let Content::Lines(lines) = &chart.content else { panic!("{chart:?}") };
            assert_eq!(lines.y.cover, Some((0.0, 80.0)));
        }
    }
}
