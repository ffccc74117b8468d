//! The contents of charts. Pages draw them with a script, and `picture` draws them as SVG files.

mod colours;
mod compare;
mod data;
mod doubt;
mod free_blocks;
mod over_time;
mod range;
mod response;
mod run;
pub mod ticks;
mod time;
mod timeline;

use std::ops::Range;

use flashraid::report::WarningMark;
use serde::Serialize;

use super::number;

pub use colours::{COLOURS, Colours, FIXED, GREYS};
pub use compare::{equal_figures, of_each_point, of_grid, time_parts};
pub use data::table;
pub use free_blocks::of_points;
pub use over_time::of_run as over_time;
pub use response::distribution;
pub use run::{bandwidth, bandwidth_density, of_run};
pub use time::{SHARES_OF_POINTS, where_requests_waited};
pub use timeline::{Panel, Timeline, of_run as timeline, of_several as timelines};

/// A chart with its title and content.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chart {
    /// Short name, unique on a page, also that of its file.
    pub id: String,
    /// Title of the chart.
    pub title: String,
    /// Names of lines, bars or groups that are yardsticks: nobody can build them. They are drawn in another style and named as such.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub yardsticks: Vec<String>,
    /// Content of the chart.
    #[serde(flatten)]
    pub content: Content,
}

impl Chart {
    /// Returns a chart without yardsticks.
    pub fn new(id: impl Into<String>, title: impl Into<String>, content: Content) -> Chart {
        Chart { id: id.into(), title: title.into(), yardsticks: Vec::new(), content }
    }

    /// Returns a chart of the lines that have points, if there are any.
    fn of_lines(id: &str, title: impl Into<String>, mut lines: Lines) -> Option<Chart> {
        lines.series.retain(|line| !line.points.is_empty());
        (!lines.series.is_empty()).then(|| Chart::new(id, title, Content::Lines(lines)))
    }
}

impl Chart {
    /// Returns the unit of the vertical values, if the axis names one.
    pub(super) fn upwards_unit(&self) -> Option<&str> {
        let label = match &self.content {
            Content::Lines(lines) => &lines.y.label,
            Content::Bars(bars) => &bars.y.label,
            Content::Timeline(timeline) => return Some(timeline.unit),
        };
        label.rsplit_once(", ").map(|(_, unit)| unit)
    }
}

/// Kinds of contents of a chart.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Content {
    /// Values as functions of a quantity.
    Lines(Lines),
    /// Values side by side.
    Bars(Bars),
    /// Requests and collections of a window of time.
    Timeline(Timeline),
}

/// A quantity with its unit, ready to be written beside an axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Axis {
    /// Text beside the axis, such as `response, ms`. The part after the last comma is the unit, which tooltips show, too.
    pub label: String,
    /// True for a logarithmic axis, whose values must be positive.
    pub log: bool,
    /// Range that the axis must cover at least, if several charts share it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cover: Option<(f64, f64)>,
}

impl Axis {
    /// Returns a linear axis with this label.
    pub fn linear(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), log: false, cover: None }
    }

    /// Returns an axis for these values. It is logarithmic if they are positive and span two decades.
    pub fn of(label: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Axis {
        let (min, max) = extent(values);
        Axis { label: label.into(), log: min > 0.0 && max >= 100.0 * min, cover: None }
    }

    /// Returns a logarithmic axis with this label.
    pub fn log(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), log: true, cover: None }
    }
}

/// Lines over a common axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lines {
    /// Horizontal axis of the chart.
    pub x: Axis,
    /// Vertical axis of the chart.
    pub y: Axis,
    /// True if a value holds until the next point and jumps there, false if points are joined.
    pub steps: bool,
    /// Lines in the order of the legend.
    pub series: Vec<Line>,
    /// Ranges of the x axis with a meaning, drawn behind the lines.
    pub bands: Vec<Band>,
    /// Named values of the y axis.
    pub levels: Vec<(String, f64)>,
    /// Named values of the x axis, at which something happened.
    pub marks: Vec<(String, f64)>,
}

impl Lines {
    /// Returns lines without bands, levels and marks.
    fn plain(x: Axis, y: Axis, series: Vec<Line>) -> Lines {
        Lines { x, y, steps: false, series, bands: Vec::new(), levels: Vec::new(), marks: Vec::new() }
    }
}

/// One line of a chart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// Name of the line.
    pub name: String,
    /// Points (x, y), x not decreasing.
    pub points: Vec<(f64, f64)>,
    /// Half the widths of the 95 % confidence intervals of y, one for each point; empty if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub half_widths: Vec<f64>,
    /// Symbols of doubt ([`WarningMark::symbol`]): a text for each point, or one for all points; empty without doubts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
}

impl Line {
    /// Returns a line without intervals and doubts.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Line {
        Line { name: name.into(), points, half_widths: Vec::new(), doubts: Vec::new() }
    }

    /// Returns the points of a line with steps, with both ends of every jump.
    pub fn stepped(&self) -> Vec<(f64, f64)> {
        let mut points: Vec<(f64, f64)> = Vec::with_capacity(2 * self.points.len());
        for &(x, y) in &self.points {
            if let Some(&(_, before)) = points.last() {
                points.push((x, before));
            }
            points.push((x, y));
        }
        points.dedup();
        points
    }
}

/// Ranges of the x axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Band {
    /// Meaning of the ranges.
    pub name: String,
    /// Ranges on the x axis.
    pub stretches: Vec<Range<f64>>,
}

/// Groups of values. They are bars from zero on a linear axis, and dots on a logarithmic one, where the length of a bar has no meaning.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bars {
    /// Names of the groups.
    pub groups: Vec<String>,
    /// Vertical axis of the chart.
    pub y: Axis,
    /// One bar of every group.
    pub series: Vec<BarSeries>,
    /// The bars of a group stand on each other: parts of a whole.
    pub stacked: bool,
    /// Groups rather than series are what is compared, so that each group has its colour. There is one series then.
    pub by_group: bool,
}

impl Bars {
    /// Values side by side.
    pub fn side_by_side(groups: Vec<String>, y: Axis, series: Vec<BarSeries>) -> Bars {
        Bars { groups, y, series, stacked: false, by_group: false }
    }
}

/// A bar in every group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BarSeries {
    /// Name of the series.
    pub name: String,
    /// The heights, one for each group.
    pub values: Vec<Option<f64>>,
    /// Half the widths of the 95 % confidence intervals.
    pub half_widths: Vec<Option<f64>>,
    /// Symbols of what is doubtful ([`WarningMark::symbol`]), one text for each group; empty if nothing is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
}

impl BarSeries {
    /// A value and half of its interval, if there is one, for each group.
    pub fn new(name: impl Into<String>, values: Vec<Option<f64>>, half_widths: Vec<Option<f64>>) -> BarSeries {
        BarSeries { name: name.into(), values, half_widths, doubts: Vec::new() }
    }

    /// Returns values without confidence intervals.
    pub fn plain(name: impl Into<String>, values: Vec<Option<f64>>) -> BarSeries {
        let half_widths = vec![None; values.len()];
        BarSeries::new(name, values, half_widths)
    }
}

/// Most lines or bars of a group that a chart shows; more are spread over several charts.
pub const SERIES_MAX: usize = 8;

/// Spreads the series of a chart over several, `per_chart` in each, which share their axes; their numbers are added to their names.
fn facets(chart: Chart, per_chart: usize, names: &[String]) -> Vec<Chart> {
    let count = match &chart.content {
        Content::Lines(lines) => lines.series.len(),
        Content::Bars(bars) => bars.series.len(),
        Content::Timeline(_) => 0,
    };
    if count <= SERIES_MAX {
        return vec![chart];
    }
    let part = |index: usize| {
        let of = index * per_chart..((index + 1) * per_chart).min(count);
        let content = match &chart.content {
            Content::Lines(lines) => {
                let (x, y) = (shared(&lines.x, lines, per_chart, |point| point.0), shared(&lines.y, lines, per_chart, |point| point.1));
                Content::Lines(Lines { x, y, series: lines.series[of].to_vec(), ..lines.clone() })
            }
            Content::Bars(bars) => {
                let values = |series: &[BarSeries]| extent(series.iter().flat_map(|series| series.values.iter().flatten().copied()));
                let extents: Vec<(f64, f64)> = bars.series.chunks(per_chart).map(values).collect();
                Content::Bars(Bars { y: bars.y.covering(&extents), series: bars.series[of].to_vec(), ..bars.clone() })
            }
            timeline => timeline.clone(),
        };
        let name = names.get(index).map_or_else(|| format!("part {}", index + 1), Clone::clone);
        let part = Chart::new(format!("{}-{}", chart.id, index + 1), format!("{}: {name}", chart.title), content);
        let yardsticks = part.names().into_iter().filter(|name| chart.is_yardstick(name)).map(str::to_owned).collect();
        Chart { yardsticks, ..part }
    };
    (0..count.div_ceil(per_chart)).map(part).collect()
}

/// The axis with what the lines of all charts need of it.
fn shared(axis: &Axis, lines: &Lines, per_chart: usize, of: fn(&(f64, f64)) -> f64) -> Axis {
    let values = |lines: &[Line]| extent(lines.iter().flat_map(|line| line.points.iter().map(of)));
    axis.covering(&lines.series.chunks(per_chart).map(values).collect::<Vec<_>>())
}

/// Charts whose values are further apart do not share an axis: on it some would be a line at its edge.
const SHARED_RATIO_MAX: f64 = 1e4;

impl Axis {
    /// The axis that charts with these extents share, unless it would span more than four decades.
    fn covering(&self, extents: &[(f64, f64)]) -> Axis {
        let (min, max) = extents.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |all, one| (all.0.min(one.0), all.1.max(one.1)));
        // Of a linear axis, which begins at zero, the least top decides.
        let least = if self.log { min } else { extents.iter().map(|extent| extent.1).fold(f64::INFINITY, f64::min) };
        let is_shared = max <= 0.0 || least > 0.0 && max <= SHARED_RATIO_MAX * least;
        Axis { cover: is_shared.then_some((min, max)), ..self.clone() }
    }
}

/// The least and the greatest of these.
fn extent(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    values.into_iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), value| (min.min(value), max.max(value)))
}

/// The unit in which durations up to this many microseconds read best, and its length in microseconds.
fn unit_of(longest_us: f64) -> (&'static str, f64) {
    number::time_unit(longest_us)
}
