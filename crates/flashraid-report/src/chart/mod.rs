//! What charts show, apart from how: the page draws them with a script, `picture` as SVG files.

mod compare;
mod data;
mod free_blocks;
mod response;
mod run;

use std::ops::Range;

use serde::Serialize;

use super::number;

pub use compare::of_grid;
pub use data::table;
pub use free_blocks::of_points;
pub use response::distribution;
pub use run::{bandwidth, bandwidth_density, of_run, timeline};

/// A chart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chart {
    /// Short name, unique on a page, also that of its file.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// Its content.
    #[serde(flatten)]
    pub content: Content,
}

impl Chart {
    /// A chart of the lines that have points, if there are any.
    fn of_lines(id: &str, title: impl Into<String>, mut lines: Lines) -> Option<Chart> {
        lines.series.retain(|line| !line.points.is_empty());
        (!lines.series.is_empty()).then(|| Chart { id: id.to_owned(), title: title.into(), content: Content::Lines(lines) })
    }
}

/// What a chart consists of.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Content {
    /// Values over a quantity.
    Lines(Lines),
    /// Values side by side.
    Bars(Bars),
    /// Requests and collections of a window of time.
    Timeline(Timeline),
}

/// A quantity with its unit, ready to be written beside an axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Axis {
    /// For instance `response, ms`.
    pub label: String,
    /// Logarithmic; values must be positive then.
    pub log: bool,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), log: false }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), log: true }
    }
}

/// Lines over a common axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lines {
    /// Across.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Line>,
    /// Stretches of the x axis with a meaning, behind the lines.
    pub bands: Vec<Band>,
    /// Named values of the y axis.
    pub levels: Vec<(String, f64)>,
}

impl Lines {
    /// Lines alone.
    fn plain(x: Axis, y: Axis, series: Vec<Line>) -> Lines {
        Lines { x, y, series, bands: Vec::new(), levels: Vec::new() }
    }
}

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// Points (x, y), x not decreasing.
    pub points: Vec<(f64, f64)>,
}

/// Stretches of the x axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Band {
    /// What they mean.
    pub name: String,
    /// Where they are.
    pub stretches: Vec<Range<f64>>,
}

/// Groups of bars.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bars {
    /// Names of the groups.
    pub groups: Vec<String>,
    /// Upwards.
    pub y: Axis,
    /// One bar of every group.
    pub series: Vec<BarSeries>,
}

/// A bar in every group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BarSeries {
    /// Its name.
    pub name: String,
    /// The heights, one for each group.
    pub values: Vec<Option<f64>>,
    /// Half the widths of the 95 % confidence intervals.
    pub half_widths: Vec<Option<f64>>,
}

/// A window of simulated time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Timeline {
    /// Its beginning and end, in ms.
    pub window_ms: Range<f64>,
    /// Members, each with a lane.
    pub members: u32,
    /// Dies of a member, each with a row in its lane.
    pub dies: u32,
    /// Unit of the response times.
    pub unit: &'static str,
    /// Requests that ended in the window: end in ms, response time, whether it is a write.
    pub requests: Vec<(f64, f64, bool)>,
    /// Collections: member, die, begin and end in ms, whether the controller forced it.
    pub collections: Vec<(u32, u32, f64, f64, bool)>,
    /// What members got of destages of the write cache: member, begin in ms, when the member was done, when all members were.
    pub destages: Vec<(u32, f64, f64, f64)>,
}

/// The unit in which durations up to this many microseconds read best, and its length in microseconds.
fn unit_of(longest_us: f64) -> (&'static str, f64) {
    number::time_unit(longest_us)
}
