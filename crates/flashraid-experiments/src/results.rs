//! The reports of a figure's points, and figures taken from them seed by seed.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::Value;

/// Mean response time, in µs.
pub const MEAN: &str = "/response_us/all/mean";
/// Standard deviation of response times, in µs.
pub const STDDEV: &str = "/response_us/all/stddev";
/// Variance of response times, in µs².
pub const VARIANCE: &str = "/response_us/all/variance";
/// Greatest response time, in µs.
pub const MAX: &str = "/response_us/all/max";
/// Mean bandwidth, in MB/s.
pub const BANDWIDTH: &str = "/bandwidth_mb_s/mean";
/// Standard deviation of bandwidth, in MB/s.
pub const BANDWIDTH_STDDEV: &str = "/bandwidth_mb_s/stddev";
/// Coefficient of variation of bandwidth.
pub const BANDWIDTH_CV: &str = "/bandwidth_mb_s/cv";
/// Number of erased blocks.
pub const ERASES: &str = "/flash/erases";

/// One value for each seed; empty if a report lacks the figure.
pub type Values = Vec<f64>;

/// Points that were read since the last claim was judged.
#[derive(Debug, Default)]
pub(crate) struct PointsRead {
    /// Names of all of them, also of those that have no reports.
    pub all: BTreeSet<String>,
    /// Names of those without a meaningful mean. Saturated ones are marked.
    pub without_mean: BTreeSet<String>,
}

/// Record of the points that are read, which several results share.
#[derive(Debug, Clone, Default)]
pub(crate) struct Used(Rc<RefCell<PointsRead>>);

impl Used {
    /// Returns the points that were read, and begins anew.
    pub(crate) fn take(&self) -> PointsRead {
        std::mem::take(&mut *self.0.borrow_mut())
    }
}

/// Reports of a figure by point, one for each seed.
#[derive(Debug, Default)]
pub struct Results {
    reports: BTreeMap<String, Vec<Value>>,
    used: Used,
    /// Names of traces that were not given, so that their points have no reports.
    lacking: BTreeSet<String>,
}

impl Results {
    /// Returns an empty set of results. The points that are read are recorded in `used`.
    #[cfg(test)]
    pub(crate) fn with(used: Used) -> Self {
        Self { used, ..Self::default() }
    }

    /// Adds the reports of a point.
    pub fn insert(&mut self, point: &str, reports: Vec<Value>) {
        self.reports.insert(point.to_owned(), reports);
    }

    /// Notes that a trace was not given.
    pub fn lacks_trace(&mut self, name: &str) {
        self.lacking.insert(name.to_owned());
    }

    /// Returns the names of traces that were not given.
    pub(crate) fn lacking(&self) -> &BTreeSet<String> {
        &self.lacking
    }

    /// Returns the reports of a point.
    pub fn reports(&self, point: &str) -> &[Value] {
        let reports = self.reports.get(point).map_or(&[][..], Vec::as_slice);
        let has = |load: &str| reports.iter().any(|report| report["verdict"]["load"] == load);
        let mut used = self.used.0.borrow_mut();
        used.all.insert(point.to_owned());
        if has("unstable") {
            used.without_mean.insert(point.to_owned());
        } else if has("saturated") {
            used.without_mean.insert(format!("{point} (saturated)"));
        }
        reports
    }

    /// Returns the number of seeds of the point that has most of them.
    pub(crate) fn seeds(&self) -> usize {
        self.reports.values().map(Vec::len).max().unwrap_or(0)
    }

    /// Returns the results of one seed. Points with fewer seeds have their first one.
    pub(crate) fn of_seed(&self, seed: usize) -> Results {
        let one = |reports: &Vec<Value>| reports.get(seed).or(reports.first()).cloned().into_iter().collect();
        let reports = self.reports.iter().map(|(point, reports)| (point.clone(), one(reports))).collect();
        Results { reports, used: Used::default(), lacking: self.lacking.clone() }
    }

    /// Returns the record of the points that are read.
    pub(crate) fn used(&self) -> Used {
        self.used.clone()
    }

    /// Returns a figure of a point, for each seed.
    pub fn values(&self, point: &str, pointer: &str) -> Values {
        self.each(point, |report| report.pointer(pointer)?.as_f64())
    }

    /// Returns a value computed from each report of a point.
    pub fn each(&self, point: &str, compute: impl Fn(&Value) -> Option<f64>) -> Values {
        self.reports(point).iter().map(compute).collect::<Option<_>>().unwrap_or_default()
    }

    /// Returns the mean over the seeds. It is NaN if the figure is missing, so that no comparison with it holds.
    pub fn mean(&self, point: &str, pointer: &str) -> f64 {
        mean(&self.values(point, pointer))
    }

    /// Returns the share by which a figure is less than that of the baseline, for each seed.
    pub fn reduction(&self, baseline: &str, other: &str, pointer: &str) -> Values {
        self.ratio(other, baseline, pointer).into_iter().map(|ratio| 1.0 - ratio).collect()
    }

    /// Returns a figure of one point divided by that of another, for each seed.
    pub fn ratio(&self, over: &str, under: &str, pointer: &str) -> Values {
        combine(&[self.values(over, pointer), self.values(under, pointer)], |values| values[0] / values[1])
    }
}

/// Returns the least bandwidth of an interval divided by the mean.
pub fn least_over_mean(results: &Results, point: &str) -> Values {
    results.each(point, |report| {
        let series = report.pointer("/bandwidth_mb_s/series")?.as_array()?;
        // The last interval is cut off by the end of the run.
        let whole = series.len().checked_sub(1)?;
        let least = series[..whole].iter().map(Value::as_f64).try_fold(f64::INFINITY, |least, value| Some(least.min(value?)))?;
        Some(least / report.pointer(BANDWIDTH)?.as_f64()?)
    })
}

/// Returns a moment of the Z-scores of bandwidth. The third is the skewness, the fourth the kurtosis.
pub fn z_moment(results: &Results, point: &str, power: i32) -> Values {
    results.each(point, |report| {
        let density = report.pointer("/bandwidth_mb_s/z_density")?.as_array()?;
        let bins = density.iter().map(|bin| Some(bin[0].as_f64()?.powi(power) * bin[1].as_f64()? * Z_BIN));
        bins.sum()
    })
}

/// Width of a bin in the density of Z-scores.
pub const Z_BIN: f64 = 0.25;

/// Returns the mean over the seeds.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Combines figures seed by seed. A figure with a single seed is combined with every seed of the others. The result is empty if one figure
/// is missing.
pub fn combine(figures: &[Values], compute: impl Fn(&[f64]) -> f64) -> Values {
    let is_single = |values: &Values| values.len() == 1;
    let several = figures.iter().filter(|values| !is_single(values)).map(Vec::len).min();
    let seeds = several.unwrap_or(usize::from(!figures.is_empty()));
    let of_seed = |seed: usize| figures.iter().map(|values| values[if is_single(values) { 0 } else { seed }]).collect::<Vec<_>>();
    (0..seeds).map(|seed| compute(&of_seed(seed))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_figure_of_one_seed_goes_with_every_seed_of_another() {
        let sum = |values: &[f64]| values.iter().sum();
        assert_eq!(combine(&[vec![1.0], vec![10.0, 20.0, 30.0]], sum), [11.0, 21.0, 31.0]);
        assert_eq!(combine(&[vec![1.0], vec![2.0]], sum), [3.0]);
        assert_eq!(combine(&[vec![1.0, 2.0], vec![10.0, 20.0, 30.0]], sum), [11.0, 22.0]);
        assert!(combine(&[vec![1.0], vec![]], sum).is_empty() && combine(&[], sum).is_empty());
    }

    #[test]
    fn runs_without_a_mean_are_noted() {
        let mut results = Results::default();
        for load in ["stable", "closed", "saturated", "unstable"] {
            results.insert(load, vec![json!({ "verdict": { "load": "stable" } }), json!({ "verdict": { "load": load } })]);
            results.values(load, MEAN);
        }
        let read = results.used().take();
        assert!(read.without_mean.iter().eq(["saturated (saturated)", "unstable"]) && read.all.len() == 4, "{read:?}");
        assert!(results.used().take().all.is_empty());
    }

    #[test]
    fn figures_are_paired_by_seed() {
        let mut results = Results::default();
        let report = |mean: f64| json!({ "response_us": { "all": { "mean": mean } } });
        results.insert("local", vec![report(4.0), report(10.0)]);
        results.insert("ideal", vec![report(1.0), report(5.0)]);
        assert_eq!(results.reduction("local", "ideal", MEAN), [0.75, 0.5]);
        assert!(results.reduction("local", "absent", MEAN).is_empty() && results.values("local", ERASES).is_empty());
        assert!(results.mean("absent", MEAN).is_nan());
    }
}
