//! How a run went on: response times, requests, requests outstanding, write amplification, cache and rebuilding over time.

use serde_json::Value;

use super::{Axis, Chart, Line, Lines, unit_of};

/// The charts of what a report has of `/over_time`, over a common axis of time and with the same marks.
pub fn of_run(report: &Value) -> Vec<Chart> {
    let marks = marks(report);
    let chart = |id: &str, title: &str, y: Axis, series: Vec<Line>| {
        let series = series.into_iter().filter(|line| line.points.len() > 1).collect();
        Chart::of_lines(id, title, Lines { marks: marks.clone(), ..Lines::plain(Axis::linear("time, s"), y, series) })
    };
    let line = |name: &str, key: &str, scale: f64| Line::new(name, points(report, key, scale));

    let times = [("mean", "mean_us"), ("p50", "p50_us"), ("p99", "p99_us"), ("max", "max_us")];
    let longest = times.iter().flat_map(|(_, key)| points(report, key, 1.0)).map(|point| point.1).fold(0.0, f64::max);
    let (unit, scale) = unit_of(longest);
    let times: Vec<Line> = times.iter().map(|(name, key)| line(name, key, 1.0 / scale)).collect();
    let of_times = Axis::of(format!("response, {unit}"), times.iter().flat_map(|line| line.points.iter().map(|point| point.1)));
    let charts = [
        chart("time-response", "Response time over time", of_times, times),
        chart("time-iops", "Requests done over time", Axis::linear("requests per second"), vec![line("reads and writes", "iops", 1.0)]),
        chart(
            "time-outstanding",
            "Requests outstanding over time",
            Axis::linear("requests"),
            vec![line("outstanding", "outstanding", 1.0)],
        ),
        chart(
            "time-amplification",
            "Write amplification over time",
            Axis::linear("(written + moved) / written"),
            vec![line("of what requests write", "write_amplification", 1.0)],
        ),
        chart("time-cache", "Write cache over time", Axis::linear("full, %"), vec![line("occupancy", "cache_occupancy", 100.0)]),
        chart("time-rebuild", "Rebuilding over time", Axis::linear("rebuilt, %"), vec![line("strips rebuilt", "rebuilt_fraction", 100.0)]),
    ];
    charts.into_iter().flatten().collect()
}

/// The figures of a list, each in the middle of its interval, in seconds.
fn points(report: &Value, key: &str, scale: f64) -> Vec<(f64, f64)> {
    let over_time = &report["over_time"];
    let end_ms = report["simulated_ns"].as_f64().map_or(f64::INFINITY, |ns| ns / 1e6);
    let (Some(interval_ms), Some(from_ms), Some(values)) =
        (over_time["interval_ms"].as_f64(), over_time["from_ms"].as_array(), over_time[key].as_array())
    else {
        return Vec::new();
    };
    let point = |(from_ms, value): (&Value, &Value)| {
        let from_ms = from_ms.as_f64()?;
        // The end of the run cuts the last one off.
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
    use crate::chart::Content;
    use serde_json::json;

    #[test]
    fn points_lie_in_the_middle_of_their_intervals() {
        let report = json!({
            "simulated_ns": 5_000_000_000_u64,
            "over_time": {
                "interval_ms": 2000.0, "from_ms": [0.0, 2000.0, 4000.0], "iops": [5.0, 7.0, 9.0],
                "mean_us": [1500.0, null, 2500.0], "rebuilt_fraction": [null, 0.5, 1.0],
                "marks": [{ "at_ns": 3_000_000_000_u64, "what": "failed", "member": 2 }],
            },
        });
        let charts = of_run(&report);
        assert_eq!(charts.iter().map(|chart| chart.id.as_str()).collect::<Vec<_>>(), ["time-response", "time-iops", "time-rebuild"]);
        let lines = |index: usize| match &charts[index].content {
            Content::Lines(lines) => lines,
            other => panic!("{other:?}"),
        };
        assert_eq!(lines(0).series[0].points, [(1.0, 1.5), (4.5, 2.5)]);
        assert_eq!(lines(1).series[0].points, [(1.0, 5.0), (3.0, 7.0), (4.5, 9.0)]);
        assert_eq!(lines(2).series[0].points, [(3.0, 50.0), (4.5, 100.0)]);
        assert_eq!(lines(2).marks, [("member 2 fails".to_owned(), 3.0)]);
        assert!(of_run(&json!({})).is_empty());
    }
}
