//! Parts of the response times of requests (where they waited), stacked on each other.

use serde_json::Value;

use flashraid_model::metrics::breakdown::RESPONSE_TIME_CAUSE_NAMES;

use super::{Axis, BarSeries, Bars, Chart, Content, unit_of};

/// Shares of the requests by their keys in a report.
const SHARES: [(&str, &str); 4] = [
    ("all", "all"),
    ("slowest_10_percent", "slowest 10 %"),
    ("slowest_1_percent", "slowest 1 %"),
    ("slowest_0_1_percent", "slowest 0.1 %"),
];

/// A bar for all requests and for each share of the slowest (`/time_us` of a report); parts that are nowhere are left out.
pub fn where_requests_waited(report: &Value) -> Option<Chart> {
    let part = |share: &str, part: &str| report["time_us"][share][part].as_f64();
    let groups: Vec<(&str, &str)> = SHARES.into_iter().filter(|(share, _)| report["time_us"][*share].is_object()).collect();
    let total = |share: &str| RESPONSE_TIME_CAUSE_NAMES.iter().filter_map(|name| part(share, name)).sum::<f64>();
    let (unit, scale) = unit_of(groups.iter().map(|(share, _)| total(share)).fold(0.0, f64::max));
    let series = RESPONSE_TIME_CAUSE_NAMES.iter().map(|name| {
        let values = groups.iter().map(|(share, _)| part(share, name).map(|us| us / scale));
        BarSeries::plain(*name, values.collect())
    });
    let series: Vec<BarSeries> = series.filter(|part| part.values.iter().flatten().any(|value| *value > 0.0)).collect();
    let groups = groups.iter().map(|(_, name)| (*name).to_owned()).collect();
    let y = Axis::linear(format!("mean response, {unit}"));
    (!series.is_empty()).then(|| {
        let bars = Bars { stacked: true, ..Bars::side_by_side(groups, y, series) };
        Chart::new("time-parts", "Where requests waited", Content::Bars(bars))
    })
}

/// The shares of the requests of which a chart of several points has a group each.
pub const SHARES_OF_POINTS: [&str; 2] = ["all", "slowest 1 %"];

/// The parts of several reports: for each of them a group for each share.
pub fn of_points<'a>(reports: impl IntoIterator<Item = (String, &'a Value)>) -> Option<Chart> {
    let key = |name: &str| SHARES.iter().find(|(_, shown)| *shown == name).map_or("all", |(key, _)| *key);
    let groups: Vec<(String, &Value)> = reports
        .into_iter()
        .flat_map(|(name, report)| SHARES_OF_POINTS.map(|share| (format!("{name}: {share}"), &report["time_us"][key(share)])))
        .collect();
    let total = |spent: &Value| RESPONSE_TIME_CAUSE_NAMES.iter().filter_map(|part| spent[*part].as_f64()).sum::<f64>();
    let (unit, scale) = unit_of(groups.iter().map(|(_, spent)| total(spent)).fold(0.0, f64::max));
    let series = RESPONSE_TIME_CAUSE_NAMES
        .iter()
        .map(|part| BarSeries::plain(*part, groups.iter().map(|(_, spent)| spent[*part].as_f64().map(|us| us / scale)).collect()));
    let series: Vec<BarSeries> = series.filter(|part| part.values.iter().flatten().any(|value| *value > 0.0)).collect();
    let names = groups.into_iter().map(|(name, _)| name).collect();
    let y = Axis::linear(format!("mean response, {unit}"));
    (!series.is_empty()).then(|| {
        let bars = Bars { stacked: true, ..Bars::side_by_side(names, y, series) };
        Chart::new("time-parts", "Where requests waited", Content::Bars(bars))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn parts_that_are_nowhere_have_no_bar() {
        let report = json!({ "time_us": {
            "all": { "queue": 0.0, "collection": 1000.0, "flash": 500.0 },
            "slowest_10_percent": { "queue": 0.0, "collection": 3000.0, "flash": 500.0 },
            "slowest_1_percent": null,
        } });
        let Content::Bars(bars) = where_requests_waited(&report).unwrap().content else { panic!("bars") };
        assert_eq!(
            (bars.groups, bars.stacked, bars.y.label.as_str()),
            (vec!["all".to_owned(), "slowest 10 %".to_owned()], true, "mean response, ms")
        );
        let values: Vec<_> = bars.series.iter().map(|series| (series.name.as_str(), series.values.clone())).collect();
        assert_eq!(values, [("collection", vec![Some(1.0), Some(3.0)]), ("flash", vec![Some(0.5), Some(0.5)])]);
        assert_eq!(where_requests_waited(&json!({})), None);
    }
}
