//! The length that the runs of a comparison need, so that it can speak.

use serde_json::Value;

use super::judge::MEAN;
use super::{Grid, Point};
use flashraid::report::WarningMark;

/// Goal for which the points of a comparison are run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Until {
    /// Collection has happened often enough in every point, and no point lives on credit.
    Judged,
    /// The points are judged, and means are certain. Half of the 95 % interval of each difference is at most this share of the baseline's
    /// mean response time.
    HalfWidth(f64),
}

/// Longer by this factor than the estimate, which rests on a short run.
pub(super) const MARGIN: f64 = 1.1;

impl Grid {
    /// Returns by which factor the runs should be longer, or `None` if longer runs of at most `times_max` would not help. The factor has a
    /// margin, and may exceed `times_max` by it.
    ///
    /// Without a judged baseline, the other points of its workload cannot be compared, so that they do not count.
    pub fn times_needed(&self, until: Until, times_max: f64) -> Option<f64> {
        let mut times: f64 = 1.0;
        for workload in self.workloads() {
            let reachable = |point: usize| self.times_needed_by(point, until).filter(|times| *times <= times_max);
            let Some(baseline) = workload.points.first().and_then(|point| reachable(self.baselines[*point])) else { continue };
            let others: Vec<f64> =
                workload.points.iter().filter(|point| self.baselines[**point] != **point).filter_map(|point| reachable(*point)).collect();
            // A baseline alone is not worth a longer run, unless it is all that there is.
            if !others.is_empty() || workload.points.len() == 1 {
                times = others.into_iter().fold(times.max(baseline), f64::max);
            }
        }
        (times > 1.0).then_some(times * MARGIN)
    }

    /// Returns by which factor the runs of a point have to be longer, at least 1. Returns `None` if it is unknown, or if longer runs do not
    /// help.
    fn times_needed_by(&self, index: usize, until: Until) -> Option<f64> {
        let point = &self.points[index];
        if !point.is_measured() || point.has_lost() || point.is_overloaded() {
            return None;
        }
        let baseline = self.baselines[index];
        let for_cycles = if self.may_speak_of(index) { 1.0 } else { point.times_until_judged()? };
        let half_width = || match baseline == index {
            // A point without another has the interval of its own mean.
            true if self.points.len() > 1 => None,
            true => point.estimate(MEAN).and_then(|mean| Some(mean.interval_half_width? / mean.mean)),
            false => self.ratio(index, baseline, MEAN)?.interval_half_width,
        };
        Some(match until {
            Until::Judged => for_cycles,
            Until::HalfWidth(share) => half_width().map_or(1.0, |half_width| (half_width / share).powi(2)).max(for_cycles),
        })
    }

    /// Returns true if all that was wanted of the runs holds.
    pub fn has_reached(&self, until: Until) -> bool {
        (0..self.points.len()).all(|point| self.times_needed_by(point, until) == Some(1.0))
    }

    /// Returns the greatest number of measured requests of a run.
    pub fn requests(&self) -> u64 {
        self.points.iter().flat_map(|point| &point.reports).filter_map(|report| report["requests"]["all"].as_u64()).max().unwrap_or(0)
    }
}

impl Point {
    /// Returns true if requests pile up, so that a longer run would only have longer queues.
    fn is_overloaded(&self) -> bool {
        self.reports.iter().any(|report| report["verdict"]["load"] == "unstable" || report["verdict"]["load"] == "saturated")
    }

    /// Returns by which factor the runs have to be longer to be judged; `None` if there is no estimate.
    fn times_until_judged(&self) -> Option<f64> {
        let of = |report: &Value| {
            if !super::judge::has_mark(report, WarningMark::NotJudged) {
                return Some(1.0);
            }
            let requests = report["response_us"]["all"]["count"].as_f64()?;
            Some((report["cycles"]["requests_until_judged"].as_f64()? / requests).max(1.0 + 1e-6))
        };
        self.reports.iter().map(of).try_fold(1.0, |most: f64, times| Some(most.max(times?)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Setting};
    use super::*;
    use serde_json::json;

    /// Returns a comparison of schemes. Of each, there is the number of requests until it is judged, and the spread of its batches.
    fn grid(points: &[(&str, Option<u64>, f64)]) -> Grid {
        let point = |(scheme, needed, spread): &(&str, Option<u64>, f64)| {
            let batches: Vec<f64> = (0..10).map(|batch| 100.0 + spread * f64::from(batch % 2)).collect();
            Point {
                settings: vec![Setting { key: "coordination.scheme".to_owned(), value: (*scheme).to_owned() }],
                reports: vec![json!({
                    "config": { "coordination": { "scheme": scheme } },
                    "requests": { "all": 1000 },
                    "response_us": { "all": { "count": 1000, "mean": 100.0 } },
                    "cycles": { "kinds": [], "requests_until_judged": needed },
                    "batches": { "mean_us": batches },
                    "verdict": { "load": "stable", "marks": if needed.is_some() { vec!["not judged"] } else { vec![] } },
                })],
            }
        };
        let axes = vec![Axis { key: "coordination.scheme".to_owned(), values: Vec::new() }];
        Grid { axes, points: points.iter().map(point).collect(), baselines: vec![0; points.len()], sorted_by: None }
    }

    fn times(points: &[(&str, Option<u64>, f64)], until: Until) -> Option<f64> {
        grid(points).times_needed(until, 20.0).map(|times| (times * 1000.0).round() / 1000.0)
    }

    #[test]
    fn the_farthest_point_within_reach_decides() {
        let judged = ("local", None, 0.0);
        assert_eq!(times(&[judged, ("stagger", None, 0.0)], Until::Judged), None);
        assert_eq!(times(&[judged, ("stagger", Some(4000), 0.0), ("windows", Some(7000), 0.0)], Until::Judged), Some(7.7));
        assert_eq!(times(&[judged, ("stagger", Some(4000), 0.0), ("windows", Some(70_000), 0.0)], Until::Judged), Some(4.4));
        assert_eq!(times(&[judged, ("stagger", Some(70_000), 0.0)], Until::Judged), None);
        assert_eq!(times(&[("local", Some(3000), 0.0), ("stagger", Some(2000), 0.0)], Until::Judged), Some(3.3));
    }

    /// Neither a baseline out of reach nor one without points to compare is worth a longer run.
    #[test]
    fn a_longer_run_must_lead_to_a_comparison() {
        assert_eq!(times(&[("local", Some(70_000), 0.0), ("stagger", Some(2000), 0.0)], Until::Judged), None);
        assert_eq!(times(&[("local", Some(3000), 0.0), ("stagger", Some(70_000), 0.0)], Until::Judged), None);
        assert_eq!(times(&[("local", Some(3000), 0.0)], Until::Judged), Some(3.3));
        let mut overloaded = grid(&[("local", None, 0.0), ("stagger", Some(2000), 0.0)]);
        overloaded.points[1].reports[0]["verdict"]["load"] = json!("unstable");
        assert_eq!(overloaded.times_needed(Until::Judged, 20.0), None);
        assert!(!overloaded.has_reached(Until::Judged));
    }

    /// Four times the requests halve an interval.
    #[test]
    fn a_narrower_interval_needs_requests_by_its_square() {
        let points = [("local", None, 0.0), ("stagger", None, 10.0)];
        let half_width = grid(&points).ratio(1, 0, MEAN).unwrap().interval_half_width.unwrap();
        let of = |share: f64| times(&points, Until::HalfWidth(share)).map(|times| times / MARGIN);
        assert!((of(half_width / 2.0).unwrap() - 4.0).abs() < 1e-2);
        assert_eq!(of(half_width), None);
        assert!(grid(&points).has_reached(Until::HalfWidth(half_width)) && !grid(&points).has_reached(Until::HalfWidth(half_width / 2.0)));
    }
}
