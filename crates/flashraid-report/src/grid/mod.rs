//! The results of a grid of simulations: every combination of the varied keys, each with every seed.

mod because;
mod conclusion;
mod judge;
mod length;
mod numeric;
mod summary;
mod tables;

pub(crate) use conclusion::list;
use flashraid::report::REPORTED_PERCENTILES;
use flashraid::study::StudyResult;
pub use flashraid::study::{Axis, Estimate, Setting};
pub use judge::{Trend, Workload};
pub use length::Until;
pub use numeric::{Unit as AxisUnit, numbers};
use serde_json::Value;

use crate::error::Outcome;
use crate::figures::{Better, Figure};
use crate::json;

/// Key in which runs that are shown side by side differ: their names.
pub(crate) const RESULT_KEY: &str = "result";

/// Results of a finished comparison.
pub struct Grid {
    /// Varied keys with their values.
    pub axes: Vec<Axis>,
    /// All combinations of values; the last key varies fastest.
    pub points: Vec<Point>,
    /// Position of the point that each point is compared with.
    pub baselines: Vec<usize>,
    /// Figure that orders the points in tables, the best first. Charts and documents keep the order in which keys were varied.
    pub sorted_by: Option<&'static Figure>,
}

/// One combination of the varied keys and its reports, one for each seed.
pub struct Point {
    /// Values of the varied keys at this point.
    pub settings: Vec<Setting>,
    /// Reports of all seeds, in order.
    pub reports: Vec<Value>,
}

impl Grid {
    /// Returns a name for each varied key: its last part, or the whole key if two keys have the same last part.
    pub fn key_names(&self) -> Vec<&str> {
        let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
        let is_alone = |axis: &Axis| self.axes.iter().filter(|other| last(&other.key) == last(&axis.key)).count() == 1;
        let name = |axis: &Axis| if is_alone(axis) { axis.key.len() - last(&axis.key).len() } else { 0 };
        self.axes.iter().map(|axis| &axis.key[name(axis)..]).collect()
    }

    /// Returns a grid of one report.
    pub fn of_report(report: &Value) -> Grid {
        Grid {
            axes: Vec::new(),
            points: vec![Point { settings: Vec::new(), reports: vec![report.clone()] }],
            baselines: vec![0],
            sorted_by: None,
        }
    }

    /// Collects the results of a whole study.
    pub fn of(result: StudyResult) -> Outcome<Grid> {
        let StudyResult { axes, points, baseline_index_by_point: baselines, rows, .. } = result;
        let mut points: Vec<Point> = points.into_iter().map(|settings| Point { settings, reports: Vec::new() }).collect();
        for row in rows {
            points[row.point].reports.push(json::document(&row.report)?);
        }
        Ok(Grid { axes, points, baselines, sorted_by: None })
    }
}

impl Grid {
    /// Returns the positions of the points in the order of tables. Points without the figure come last.
    fn in_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.points.len()).collect();
        if let Some(figure) = self.sorted_by {
            let sign = if figure.better == Better::More { -1.0 } else { 1.0 };
            let rank = |index: usize| {
                let values = self.points[index].figure(figure.pointer);
                values.as_deref().and_then(Estimate::from_values).map_or(f64::INFINITY, |estimate| sign * estimate.mean)
            };
            order.sort_by(|a, b| rank(*a).total_cmp(&rank(*b)));
        }
        order
    }
}

impl Point {
    /// Returns the values of the varied keys as a text.
    pub fn label(&self) -> String {
        match self.settings.as_slice() {
            [] => "as given".to_owned(),
            settings => settings.iter().map(|setting| setting.value.as_str()).collect::<Vec<_>>().join(" · "),
        }
    }

    /// Returns true if the figure is a percentile with fewer than ten requests beyond it, with some seed.
    pub fn is_guess(&self, pointer: &str) -> bool {
        let Some((of, key)) = pointer.rsplit_once('/') else { return false };
        let Some((_, quantile)) = REPORTED_PERCENTILES.iter().find(|(name, _)| *name == key) else { return false };
        let count = |report: &Value| report.pointer(&format!("{of}/count")).and_then(Value::as_u64);
        // Reports without counts can't tell, so they do not make a guess.
        self.reports.iter().filter_map(count).any(|count| count as f64 * (1.0 - quantile) < 10.0 - 1e-6)
    }

    /// Returns a figure of the report of each seed. Returns `None` if a report lacks it.
    pub fn figure(&self, pointer: &str) -> Option<Vec<f64>> {
        self.reports.iter().map(|report| report.pointer(pointer)?.as_f64()).collect()
    }
}
