//! Charts of the distribution of response times (GGC Fig. 12).

use serde_json::Value;

use super::{Axis, Chart, Line, Lines, unit_of};

/// Smallest share that is drawn. Smaller shares are rounding errors of the report.
const SHARE_MIN: f64 = 5e-8;

/// Returns a chart with a step curve for each name that has requests. Each value is a response time of a report (`/response_us/…`). The
/// axis of time is logarithmic.
pub fn distribution<'a>(responses: impl IntoIterator<Item = (String, &'a Value)>) -> Option<Chart> {
    let (series, unit) = curves(responses);
    let percent = |line: Line| Line { points: line.points.iter().map(|(x, share)| (*x, share * 100.0)).collect(), ..line };
    let series = series.into_iter().map(percent).collect();
    let lines = Lines { steps: true, ..Lines::plain(Axis::log(format!("response, {unit}")), Axis::linear("share of requests, %"), series) };
    Chart::of_lines("response-cdf", "Response-time CDF", lines)
}

/// Returns the distribution from the other end: the share of requests that took longer. Both axes are logarithmic, so that the tail can be
/// read.
pub fn tail<'a>(responses: impl IntoIterator<Item = (String, &'a Value)>) -> Option<Chart> {
    let (series, unit) = curves(responses);
    let beyond = |line: Line| {
        let last_x = line.points.last().map(|point| point.0);
        let shares = line.points.iter().map(|(x, share)| (*x, 1.0 - share)).filter(|(_, share)| *share > SHARE_MIN);
        let mut points: Vec<(f64, f64)> = shares.map(|(x, share)| (x, share * 100.0)).collect();
        // The last step ends at the longest response time. The share beyond it is zero, which a logarithmic axis can't show.
        let end = last_x.zip(points.last()).map(|(x, (_, share))| (x, *share));
        points.extend(end);
        Line { points, ..line }
    };
    let series = series.into_iter().map(beyond).collect();
    let (x, y) = (Axis::log(format!("response, {unit}")), Axis::log("share of requests, %"));
    Chart::of_lines("response-tail", "Response-time tail (1 − CDF)", Lines { steps: true, ..Lines::plain(x, y, series) })
}

/// Returns the curves and their unit of time. Points are a response time, and the share of requests that took no longer.
fn curves<'a>(responses: impl IntoIterator<Item = (String, &'a Value)>) -> (Vec<Line>, &'static str) {
    let curve = |response: &Value| -> Vec<(f64, f64)> {
        let points = response["cdf"].as_array().into_iter().flatten();
        // A logarithmic axis has no zero: a response time of zero is drawn as a nanosecond.
        points.filter_map(|point| Some((point[0].as_f64()?.max(1e-3), point[1].as_f64()?))).collect()
    };
    let mut series: Vec<Line> = responses.into_iter().map(|(name, response)| Line::new(name, curve(response))).collect();
    let longest = series.iter().flat_map(|line| &line.points).map(|point| point.0).fold(0.0, f64::max);
    let (unit, scale) = unit_of(longest);
    series.iter_mut().flat_map(|line| &mut line.points).for_each(|point| point.0 /= scale);
    (series, unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Content;
    use serde_json::json;

    fn lines(chart: Option<Chart>) -> Lines {
        match chart.unwrap().content {
            Content::Lines(lines) => lines,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn only_what_has_requests_has_a_curve() {
        let (some, none) = (json!({ "cdf": [[0.0, 0.1], [10.0, 0.5], [1000.0, 1.0]] }), json!({ "cdf": [] }));
        let lines = lines(distribution([("a".to_owned(), &some), ("b".to_owned(), &none)]));
        assert_eq!(lines.series, [Line::new("a", vec![(1e-6, 10.0), (0.01, 50.0), (1.0, 100.0)])]);
        assert_eq!((lines.x.label.as_str(), lines.steps), ("response, ms", true));
        assert_eq!(distribution([("b".to_owned(), &none)]), None);
    }

    #[test]
    fn a_jump_has_two_ends() {
        let line = Line::new("a", vec![(1.0, 0.0), (1.0, 10.6), (5.0, 100.0)]);
        assert_eq!(line.stepped(), [(1.0, 0.0), (1.0, 10.6), (5.0, 10.6), (5.0, 100.0)]);
    }

    #[test]
    fn the_tail_ends_at_the_longest() {
        let some = json!({ "cdf": [[1.0, 0.0], [1.0, 0.5], [10.0, 0.9999999], [1000.0, 1.0]] });
        let lines = lines(tail([("a".to_owned(), &some)]));
        let points: Vec<(f64, f64)> = lines.series[0].points.iter().map(|(x, y)| (*x, (y * 1e6).round() / 1e6)).collect();
        assert_eq!(points, [(0.001, 100.0), (0.001, 50.0), (0.01, 0.00001), (1.0, 0.00001)]);
    }
}
