//! Judges points of a grid: which of them may be compared, how their figures relate, and which figures are doubtful.

use serde_json::Value;

use super::RESULT_KEY;
use super::length::MARGIN;
use super::{Axis, Estimate, Grid, Point, Setting};
use crate::figures::{Better, CAPACITY, Figure};
use flashraid::model::metrics::confidence_interval::{half_width_of_batches, half_width_of_paired_batches};
use flashraid::report::{Cycles, Shortfall, WarningMark};
use flashraid::study::must_match_for_comparison;

/// JSON pointer to the figure that points are judged by first.
pub(super) const MEAN: &str = "/response_us/all/mean";
/// JSON pointers to the percentiles that points are judged by next, with their names. The first that exists is used.
pub(super) const TAILS: [(&str, &str); 2] = [("/response_us/all/p99_9", "p99.9"), ("/response_us/all/p99", "p99")];

/// Smallest relative change that counts.
const CHANGE_MIN: f64 = 0.05;
/// Smallest factor that counts for a response time without an interval.
const FACTOR_MIN: f64 = 1.25;
/// Greatest relative difference of programs and erases at which two points count as having the same flash work.
const SAME_WORK_MAX: f64 = 0.01;
/// Table of keys that choose where reads are served. Points that differ only in them collect alike.
const READ_KEYS: &str = "read.";

/// Direction of a change, as far as it is certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trend {
    /// The figure is less than the baseline's.
    Less,
    /// The figure is more than the baseline's.
    More,
    /// The difference is too small or uncertain.
    Undecided,
}

impl Trend {
    /// Judges the ratio of a figure to the baseline's. A change of 5 % or more counts if the interval does not contain 1. A response time
    /// without an interval counts from a factor of 1.25 on.
    pub fn of(pointer: &str, ratio: Estimate) -> Trend {
        let Estimate { mean, interval_half_width: half_width, .. } = ratio;
        let (less, more) = match half_width {
            None if pointer.starts_with("/response_us/") => (1.0 / FACTOR_MIN, FACTOR_MIN),
            _ => (1.0 - CHANGE_MIN, 1.0 + CHANGE_MIN),
        };
        let half_width = half_width.unwrap_or(0.0);
        match mean {
            mean if mean <= less && mean + half_width < 1.0 => Trend::Less,
            mean if mean >= more && mean - half_width > 1.0 => Trend::More,
            _ => Trend::Undecided,
        }
    }

    /// Returns true if the figure is worse than the baseline's.
    pub fn is_worse(self, better: Better) -> bool {
        matches!((self, better), (Trend::More, Better::Less) | (Trend::Less, Better::More))
    }

    /// Returns true if the figure is better than the baseline's.
    pub fn is_better(self, better: Better) -> bool {
        matches!((self, better), (Trend::Less, Better::Less) | (Trend::More, Better::More))
    }
}

/// Points that do the same work, so that they can be compared.
#[derive(Debug)]
pub struct Workload {
    /// Settings that make the workload, for instance `members = 4`. Empty if there is only one workload.
    pub name: String,
    /// Positions of the workload's points in the grid.
    pub points: Vec<usize>,
}

impl Grid {
    /// Groups the points by workload, in the order of their first points.
    pub fn workloads(&self) -> Vec<Workload> {
        let names = self.key_names();
        let mut workloads: Vec<(Vec<String>, Workload)> = Vec::new();
        for (index, point) in self.points.iter().enumerate() {
            let given = point.settings.iter().enumerate().filter(|(_, setting)| must_match_for_comparison(&setting.key));
            let given: Vec<(usize, &Setting)> = given.collect();
            let mut key: Vec<String> = given.iter().map(|(_, setting)| setting.value.clone()).collect();
            key.extend(point.work());
            let name = match given.as_slice() {
                [(_, only)] if only.key.ends_with(".preset") => only.value.clone(),
                given => given.iter().map(|(axis, setting)| format!("{} = {}", names[*axis], setting.value)).collect::<Vec<_>>().join(", "),
            };
            match workloads.iter_mut().find(|(known, _)| *known == key) {
                Some((_, workload)) => workload.points.push(index),
                None => workloads.push((key, Workload { name, points: vec![index] })),
            }
        }
        workloads.into_iter().map(|(_, workload)| workload).collect()
    }

    /// Splits the grid into one for each workload, without the keys that make the workload.
    pub fn by_workload(self) -> Vec<Grid> {
        let workloads = self.workloads();
        let axes: Vec<Axis> = self.axes.iter().filter(|axis| !must_match_for_comparison(&axis.key)).cloned().collect();
        let mut points: Vec<Option<Point>> = self.points.into_iter().map(Some).collect();
        let grid = |workload: Workload| {
            let place = |point: usize| workload.points.iter().position(|other| *other == point).expect("a baseline does the same work");
            let baselines = workload.points.iter().map(|point| place(self.baselines[*point])).collect();
            let without_given = |point: Point| Point {
                settings: point.settings.into_iter().filter(|setting| !must_match_for_comparison(&setting.key)).collect(),
                ..point
            };
            let points = workload.points.iter().filter_map(|point| points[*point].take()).map(without_given).collect();
            Grid { axes: axes.clone(), points, baselines, sorted_by: self.sorted_by }
        };
        workloads.into_iter().map(grid).collect()
    }

    /// Returns true if a comparison may speak of two points. Both must be judged. Points with the same flash work that differ only in where
    /// reads are served can also be compared, because collection affects them alike.
    pub fn are_comparable(&self, own: usize, base: usize) -> bool {
        let is_other = own != base;
        let [own, base] = [own, base].map(|point| &self.points[point]);
        (own.is_judged() && base.is_judged()) || (is_other && own.differs_only_in_reads(base))
    }

    /// Returns true if a comparison may speak of a point: it can be compared with its baseline, or with some point whose baseline it is.
    pub fn may_speak_of(&self, point: usize) -> bool {
        let is_its = |(other, baseline): (usize, &usize)| *baseline == point && other != point && self.are_comparable(other, point);
        self.points[point].is_judged()
            || (self.baselines[point] != point && self.are_comparable(point, self.baselines[point]))
            || self.baselines.iter().enumerate().any(is_its)
    }

    /// Returns the ratio of a figure of a point to that of another point; `None` if they cannot be compared. The capacity can always be
    /// compared.
    pub fn ratio(&self, own: usize, base: usize, pointer: &str) -> Option<Estimate> {
        if pointer == CAPACITY || self.are_comparable(own, base) { self.unjudged_ratio(own, base, pointer) } else { None }
    }

    /// Returns the ratio of a figure of a point to that of another point, whether they are judged or not.
    ///
    /// Several seeds are paired. With one seed, the interval comes from Student's t of ten pairs of batches, if the report has batches.
    pub(super) fn unjudged_ratio(&self, own: usize, base: usize, pointer: &str) -> Option<Estimate> {
        let (own, base) = (&self.points[own], &self.points[base]);
        let (values, bases) = (own.figure(pointer)?, base.figure(pointer)?);
        let ratio = Estimate::from_ratios(&values, &bases)?;
        let [base_value] = bases.as_slice() else { return Some(ratio) };
        let batches = own.batches(pointer).zip(base.batches(pointer));
        let half_width = batches.and_then(|(own, base)| half_width_of_paired_batches(&own, &base));
        Some(Estimate { interval_half_width: half_width.map(|half_width| half_width / base_value), ..ratio })
    }

    /// Returns the ratio of a figure of a point to that of its baseline.
    pub fn ratio_to_baseline(&self, point: usize, figure: &Figure) -> Option<Estimate> {
        self.ratio(point, self.baselines[point], figure.pointer)
    }

    /// Returns the number of seeds of each point.
    pub fn seeds(&self) -> usize {
        self.points.iter().map(|point| point.reports.len()).max().unwrap_or(0)
    }
}

impl Point {
    /// Returns the values of the keys that are remedies. They name the point within its workload.
    pub fn remedy(&self) -> String {
        let remedies: Vec<&str> =
            self.settings.iter().filter(|setting| !must_match_for_comparison(&setting.key)).map(|setting| setting.value.as_str()).collect();
        if remedies.is_empty() { self.label() } else { remedies.join(" · ") }
    }

    /// Returns true if collection takes no time in this point. It is then a yardstick, and no remedy.
    pub fn is_yardstick(&self) -> bool {
        let is_ideal = |report: &Value| report.pointer("/config/coordination/scheme").is_some_and(|scheme| scheme == "ideal");
        self.settings.iter().any(Setting::selects_ideal_coordination) || self.reports.iter().any(is_ideal)
    }

    /// Returns true if the mark holds with some seed.
    fn has(&self, mark: WarningMark) -> bool {
        self.reports.iter().any(|report| has_mark(report, mark))
    }

    /// Returns true if data were lost.
    pub fn has_lost(&self) -> bool {
        self.has(WarningMark::DataLost)
    }

    /// Returns true if collection happened often enough with every seed, and no run lived on credit.
    pub fn is_judged(&self) -> bool {
        !self.has(WarningMark::NotJudged)
    }

    /// Returns what is missing so that the point is judged, as a sentence without a full stop; `None` if it is judged.
    pub fn shortfall_sentence(&self, name: &str) -> Option<String> {
        let is_marked = |report: &&Value| has_mark(report, WarningMark::NotJudged);
        let report = self.reports.iter().find(is_marked)?;
        let cycles: Cycles = serde_json::from_value(report["cycles"].clone()).unwrap_or_default();
        let shortfall: Option<Shortfall> = cycles.shortfall(report["owed"]["credit_share"].as_f64());
        let sentence = shortfall.map_or_else(|| format!("{name} is not judged"), |it| it.sentence(name, cycles.requests_until_judged));
        Some(match cycles.requests_until_judged {
            Some(requests) => format!("{sentence} (--until judged --at-most {})", bound(requests)),
            None => sentence,
        })
    }

    /// Returns true if two points differ only in where reads are served, and have the same flash work with each seed.
    fn differs_only_in_reads(&self, other: &Point) -> bool {
        let is_alike = |(own, other): (&Setting, &Setting)| own == other || own.key.starts_with(READ_KEYS);
        let work = |report: &Value| {
            let of = |name: &str| report["flash"][name].as_f64();
            Some([of("host_pages_written")? + of("gc_pages_moved")?, of("erases")?])
        };
        let is_same_work = |(own, other): (&Value, &Value)| {
            let near = |(own, other): (f64, f64)| (own - other).abs() <= SAME_WORK_MAX * own.max(other);
            work(own).zip(work(other)).is_some_and(|(own, other)| own.into_iter().zip(other).all(near))
        };
        !self.settings.is_empty()
            && self.settings.iter().zip(&other.settings).all(is_alike)
            && self.reports.len() == other.reports.len()
            && self.reports.iter().zip(&other.reports).all(is_same_work)
    }

    /// Returns true if requests were measured with every seed.
    pub fn is_measured(&self) -> bool {
        self.figure(MEAN).is_some_and(|values| !values.is_empty())
    }

    /// Returns true if the figures depend on the length of the run.
    pub fn is_unsteady(&self) -> bool {
        self.has(WarningMark::NotSteady)
    }

    /// Returns the symbols of doubt about all figures of the point.
    pub fn marks(&self) -> String {
        self.doubtful().map(WarningMark::symbol).collect()
    }

    /// Returns the marks that concern all figures of the point.
    fn doubtful(&self) -> impl Iterator<Item = WarningMark> {
        let unmeasured = (!self.is_measured()).then_some(WarningMark::NothingMeasured);
        let rest = [WarningMark::DataLost, WarningMark::NotSteady, WarningMark::NotJudged].into_iter().filter(|mark| self.has(*mark));
        unmeasured.into_iter().chain(rest)
    }

    /// Returns the settings that separate runs must have in common to be compared. Empty for the points of a study, whose keys tell.
    fn work(&self) -> Vec<String> {
        if self.settings.first().is_none_or(|setting| setting.key != RESULT_KEY) {
            return Vec::new();
        }
        let report = self.reports.first().unwrap_or(&Value::Null);
        [&report["config"]["workload"], &report["config"]["array"]["members"], &report["seed"]].map(Value::to_string).to_vec()
    }

    /// Returns the mean of a figure over the seeds, with half of its 95 % confidence interval. With one seed, the interval comes from ten
    /// batches of the run, if the report has them.
    pub fn estimate(&self, pointer: &str) -> Option<Estimate> {
        let estimate = Estimate::from_values(&self.figure(pointer)?)?;
        let of_batches = || half_width_of_batches(&self.batches(pointer)?);
        Some(Estimate { interval_half_width: estimate.interval_half_width.or_else(of_batches), ..estimate })
    }

    /// Returns a figure of the ten batches of a single seed, if the report has it.
    fn batches(&self, pointer: &str) -> Option<Vec<f64>> {
        let key = match pointer {
            MEAN => "mean_us",
            "/response_us/all/p99" => "p99_us",
            "/response_us/all/p99_9" => "p99_9_us",
            _ => return None,
        };
        let [report] = self.reports.as_slice() else { return None };
        let values: Option<Vec<f64>> = report["batches"][key].as_array()?.iter().map(Value::as_f64).collect();
        values.filter(|values| values.len() > 1)
    }
}

/// Formats a number of requests with two digits, rounded up with a margin, as `--at-most` reads it.
fn bound(requests: u64) -> String {
    let most = requests as f64 * MARGIN;
    let digit = 10_f64.powf(most.log10().floor() - 1.0);
    let rounded = (most / digit).ceil() * digit;
    if rounded >= 1e6 { format!("{}M", (rounded / 1e5).round() / 10.0) } else { format!("{rounded:.0}") }
}

/// Returns true if a report has the mark.
pub(super) fn has_mark(report: &Value, mark: WarningMark) -> bool {
    report["verdict"]["marks"].as_array().is_some_and(|marks| marks.iter().any(|name| name == mark.json_name()))
}

/// Returns the marks of a point, each with its reason from the first seed that has one.
pub(super) fn doubts(point: &Point) -> Vec<(WarningMark, &'static str)> {
    let load = |name: &str| point.reports.iter().any(|report| report["verdict"]["load"] == name);
    let reason = |mark: WarningMark| match mark {
        WarningMark::NotSteady if load("unstable") => "unstable: requests pile up, so that response times grow with the length of the run",
        WarningMark::NotSteady if load("saturated") => "saturated: less than 98 % of the requests are served in time",
        mark => mark.explanation(),
    };
    point.doubtful().map(|mark| (mark, reason(mark))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn bounds_of_requests_have_a_margin() {
        assert_eq!([5000, 123_456, 950_000, 4_100_000, 64_000_000].map(bound), ["5500", "140000", "1.1M", "4.6M", "71M"]);
    }

    #[test]
    fn with_one_seed_an_interval_comes_from_batches_that_there_are() {
        let of = |batches: Value| {
            let report = json!({ "response_us": { "all": { "mean": 2.0, "p99": 618.0 } }, "batches": batches });
            Point { settings: Vec::new(), reports: vec![report] }
        };
        let point = of(json!({ "mean_us": [1.0, 3.0], "p99_us": [618.1, 618.1, 618.1], "p99_9_us": [null, null] }));
        // Student's t of two values is 12.706 · √2 / √2.
        assert!((point.estimate(MEAN).unwrap().interval_half_width.unwrap() - 12.706).abs() < 1e-3);
        assert_eq!(point.estimate(MEAN).unwrap().mean, 2.0);
        assert_eq!(point.estimate("/response_us/all/p99").unwrap().interval_half_width, Some(0.0));
        // The cases are a batch with too few requests, no batches, and a figure that batches do not have.
        let few = of(json!({ "mean_us": [1.0, 3.0], "p99_us": [null, 618.0] }));
        assert_eq!(few.estimate("/response_us/all/p99").unwrap().interval_half_width, None);
        assert_eq!(of(Value::Null).estimate(MEAN).unwrap().interval_half_width, None);
        // With several seeds, the interval comes from the seeds.
        let seeds = Point { reports: [point.reports.clone(), point.reports].concat(), settings: Vec::new() };
        assert_eq!(seeds.estimate(MEAN).unwrap().interval_half_width, Some(0.0));
    }
}
