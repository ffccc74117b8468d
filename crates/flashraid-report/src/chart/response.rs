//! Distributions of response times (GGC Fig. 12).

use serde_json::Value;

use super::{Axis, Chart, Line, Lines, unit_of};

/// A curve for each name with a response time (`/response_us/…` of a report) that counts requests; time is logarithmic.
pub fn distribution<'a>(responses: impl IntoIterator<Item = (String, &'a Value)>) -> Option<Chart> {
    let curve = |response: &Value| -> Vec<(f64, f64)> {
        let points = response["cdf"].as_array().into_iter().flatten();
        // A logarithmic axis has no zero: a response that takes no time is shown as a nanosecond.
        points.filter_map(|point| Some((point[0].as_f64()?.max(1e-3), point[1].as_f64()?))).collect()
    };
    let mut series: Vec<Line> = responses.into_iter().map(|(name, response)| Line { name, points: curve(response) }).collect();
    let longest = series.iter().flat_map(|line| &line.points).map(|point| point.0).fold(0.0, f64::max);
    let (unit, scale) = unit_of(longest);
    series.iter_mut().flat_map(|line| &mut line.points).for_each(|point| *point = (point.0 / scale, point.1 * 100.0));
    let lines = Lines::plain(Axis::log(format!("response, {unit}")), Axis::linear("share of requests, %"), series);
    Chart::of_lines("response-cdf", "Share of the requests that took no longer", lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Content;
    use serde_json::json;

    #[test]
    fn only_what_has_requests_has_a_curve() {
        let (some, none) = (json!({ "cdf": [[0.0, 0.1], [10.0, 0.5], [1000.0, 1.0]] }), json!({ "cdf": [] }));
        let chart = distribution([("a".to_owned(), &some), ("b".to_owned(), &none)]).unwrap();
        let Content::Lines(lines) = chart.content else { panic!("lines") };
        assert_eq!(lines.series, [Line { name: "a".to_owned(), points: vec![(1e-6, 10.0), (0.01, 50.0), (1.0, 100.0)] }]);
        assert_eq!(lines.x.label, "response, ms");
        assert_eq!(distribution([("b".to_owned(), &none)]), None);
    }
}
