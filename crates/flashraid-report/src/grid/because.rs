//! The costs of collection for the points of a comparison: each beside the same point with `ideal`, where the comparison has one.

use serde_json::Value;

use super::conclusion::best_points;
use super::judge::{MEAN, TAILS, Trend};
use super::{Estimate, Grid};
use crate::number;

impl Grid {
    /// Returns a sentence for each workload: what collection costs its baseline, and the best point if there is only one.
    ///
    /// A point is left out if the comparison does not have the same point with `ideal`. So it is if a mark makes all response times of one
    /// of the two doubtful.
    pub fn costs_of_collection(&self) -> Vec<String> {
        let workloads = self.workloads();
        let several = workloads.len() > 1;
        let sentence = |workload: &super::Workload| {
            let baseline = self.baselines[*workload.points.first()?];
            let best = match best_points(self, workload).as_slice() {
                [only] if *only != baseline => Some(*only),
                _ => None,
            };
            let costs: Vec<String> = std::iter::once(baseline).chain(best).filter_map(|point| self.cost_of_collection(point)).collect();
            let costs = costs.join(", and ");
            let text =
                || if several { format!("{}: collection costs {costs}.", workload.name) } else { format!("Collection costs {costs}.") };
            (!costs.is_empty()).then(text)
        };
        workloads.iter().filter_map(sentence).collect()
    }

    /// Returns the cost of collection for a point, as in `local 18 % of its mean and 55 % of its p99.9`.
    fn cost_of_collection(&self, point: usize) -> Option<String> {
        let of = &self.points[point];
        if of.is_yardstick() {
            return None;
        }
        let ideal = self.same_with_ideal(point)?;
        let is_usable = |point: usize| self.points[point].is_measured() && self.points[point].marks().is_empty();
        if !is_usable(point) || !is_usable(ideal) {
            return None;
        }
        let is_supported = |pointer: &str| [point, ideal].iter().all(|point| !self.points[*point].is_guess(pointer));
        let tail = TAILS.into_iter().find(|(pointer, _)| is_supported(pointer));
        let figures = std::iter::once((MEAN, "mean")).chain(tail);
        let cost = |(pointer, name): (&str, &str)| {
            let ratio = self.ratio(ideal, point, pointer)?;
            Some(format!("{} of its {name}", share(ratio, Trend::of(pointer, ratio))))
        };
        let costs: Vec<String> = figures.filter_map(cost).collect();
        (!costs.is_empty()).then(|| format!("{} {}", of.remedy(), costs.join(" and ")))
    }

    /// Returns the point that differs from `point` only by the coordination scheme `ideal`, if there is one.
    fn same_with_ideal(&self, point: usize) -> Option<usize> {
        let config = |point: usize| -> Option<Value> {
            let mut config = self.points[point].reports.first()?.get("config")?.clone();
            config.as_object_mut()?.remove("coordination");
            Some(config)
        };
        let own = config(point)?;
        let is_same = |other: &usize| {
            let [own_reports, reports] = [point, *other].map(|point| &self.points[point].reports);
            own_reports.len() == reports.len() && self.points[*other].is_yardstick() && config(*other).is_some_and(|config| config == own)
        };
        (0..self.points.len()).find(is_same)
    }
}

/// Formats the share of a figure that goes away without collection.
fn share(ratio: Estimate, trend: Trend) -> String {
    let percent = |share: f64| number::three_digits(share * 100.0);
    match (trend, ratio.interval_half_width) {
        // Nothing costs more than all of a figure.
        (Trend::Less, Some(half_width)) if half_width > ratio.mean => format!("{:.0} to 100 %", (1.0 - ratio.mean - half_width) * 100.0),
        (Trend::Less, Some(half_width)) => format!("{:.1} ±{:.1} %", (1.0 - ratio.mean) * 100.0, half_width * 100.0),
        (Trend::Less, None) => format!("{} %", percent(1.0 - ratio.mean)),
        (Trend::More, _) => "nothing (without it, it is longer)".to_owned(),
        (Trend::Undecided, _) => "nothing that could be told".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Point;
    use super::*;
    use flashraid::study::{Axis, Setting};
    use serde_json::json;

    /// Returns a comparison of one key's values. Each point has its scheme, preemption, mean, and 99th percentile.
    fn grid(points: &[(&str, &str, f64, f64)]) -> Grid {
        let point = |(scheme, preemption, mean, p99): &(&str, &str, f64, f64)| {
            let batches: Vec<f64> = (0..10).map(|batch| mean * (1.0 + 0.001 * f64::from(batch))).collect();
            let setting = |key: &str, value: &str| Setting { key: key.to_owned(), value: value.to_owned() };
            Point {
                settings: vec![setting("coordination.scheme", scheme), setting("ssd.gc.preemption", preemption)],
                reports: vec![json!({
                    "config": { "coordination": { "scheme": scheme }, "ssd": { "gc": { "preemption": preemption } } },
                    "response_us": { "all": { "count": 5000, "mean": mean, "p99": p99, "p99_9": 9.9 * p99 } },
                    "batches": { "mean_us": batches },
                    "verdict": { "load": "stable", "marks": [] },
                })],
            }
        };
        let axis = |key: &str| Axis { key: key.to_owned(), values: Vec::new() };
        let axes = vec![axis("coordination.scheme"), axis("ssd.gc.preemption")];
        Grid { axes, points: points.iter().map(point).collect(), baselines: vec![0; points.len()], sorted_by: None }
    }

    #[test]
    fn the_baseline_and_the_best_are_compared_with_their_own_ideal() {
        let points = [
            ("local", "none", 100.0, 1000.0),
            ("local", "suspend", 50.0, 500.0),
            ("ideal", "none", 80.0, 450.0),
            ("ideal", "suspend", 49.0, 490.0),
        ];
        let costs = grid(&points).costs_of_collection();
        let expected = "Collection costs local · none 20.0 ±0.0 % of its mean and 55.0 % of its p99, and local · suspend nothing that could be \
                        told of its mean and nothing that could be told of its p99.";
        assert_eq!(costs, [expected]);
        // The best point has no partner here.
        assert_eq!(grid(&points[..3]).costs_of_collection().len(), 1);
        assert!(!grid(&points[..3]).costs_of_collection()[0].contains("suspend"));
        // The ideal of another preemption is no partner of the baseline.
        let other = [points[0], ("ideal", "suspend", 49.0, 490.0)];
        assert_eq!(grid(&other).costs_of_collection(), [""; 0]);
    }

    #[test]
    fn an_array_is_idle_unless_some_point_gains_much() {
        let of = |ideal: f64, mark: &[&str]| {
            let mut grid = grid(&[("local", "none", 100.0, 1000.0), ("ideal", "none", ideal, 1000.0)]);
            for point in &mut grid.points {
                point.reports[0]["verdict"]["marks"] = json!(mark);
                point.reports[0]["over_time"] = json!({ "interval_ms": 1000.0, "members": [{ "utilisation": vec![0.05; 100] }] });
                point.reports[0]["time_us"] = json!({ "all": { "flash": 95.0, "collection": 5.0 } });
            }
            grid.idle()
        };
        assert!(of(95.0, &[])[0].ends_with("write buffers"), "{:?}", of(95.0, &[]));
        assert_eq!(of(79.0, &[]), [""; 0], "the labels say 5 %, and it is 21 %");
        // Points that are not judged say nothing of what remedies gain.
        assert!(of(79.0, &["not judged"])[0].ends_with("--until judged"), "{:?}", of(79.0, &["not judged"]));
    }

    #[test]
    fn nothing_is_said_of_doubtful_points() {
        let points = [("local", "none", 100.0, 1000.0), ("ideal", "none", 80.0, 1450.0)];
        let marked = |mark: &str| {
            let mut grid = grid(&points);
            grid.points[1].reports[0]["verdict"]["marks"] = json!([mark]);
            grid.costs_of_collection()
        };
        let expected = "Collection costs local · none 20.0 ±0.0 % of its mean and nothing (without it, it is longer) of its p99.";
        assert_eq!(marked("few samples"), [expected]);
        for mark in ["not steady", "not judged", "data lost"] {
            assert_eq!(marked(mark), [""; 0], "{mark}");
        }
    }
}
