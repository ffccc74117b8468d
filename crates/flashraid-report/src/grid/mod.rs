//! The results of a grid of simulations: every combination of the varied keys, each with every seed.

mod tables;

use flashraid::study::StudyResult;
pub use flashraid::study::{Axis, Estimate, Setting, estimate, ratio};
use serde_json::Value;

use crate::error::Outcome;
use crate::json;

/// A finished grid.
pub struct Grid {
    /// The varied keys.
    pub axes: Vec<Axis>,
    /// Every combination; the last key varies fastest.
    pub points: Vec<Point>,
    /// For each point the position of the one it is compared with.
    pub baselines: Vec<usize>,
}

/// One combination of the varied keys and its reports, one for each seed.
pub struct Point {
    /// The varied keys with their values here.
    pub settings: Vec<Setting>,
    /// The report of every seed, in order.
    pub reports: Vec<Value>,
}

impl Grid {
    /// The results of a whole study.
    pub fn of(result: StudyResult) -> Outcome<Grid> {
        let StudyResult { axes, points, baselines, rows, .. } = result;
        let mut points: Vec<Point> = points.into_iter().map(|settings| Point { settings, reports: Vec::new() }).collect();
        for row in rows {
            points[row.point].reports.push(json::document(&row.report)?);
        }
        Ok(Grid { axes, points, baselines })
    }
}

impl Point {
    /// The values of the varied keys.
    pub fn label(&self) -> String {
        match self.settings.as_slice() {
            [] => "as given".to_owned(),
            settings => settings.iter().map(|setting| setting.value.as_str()).collect::<Vec<_>>().join(" · "),
        }
    }

    /// A figure of every seed's report; `None` if a report lacks it.
    pub fn figure(&self, pointer: &str) -> Option<Vec<f64>> {
        self.reports.iter().map(|report| report.pointer(pointer)?.as_f64()).collect()
    }
}
