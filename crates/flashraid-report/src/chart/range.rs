//! Ends of axes before a reader zooms. They are the same in pages and pictures.

use super::{Axis, Bars, Lines, extent};

/// Part of a plot that stays free at each end of an axis whose ends are data.
const MARGIN: f64 = 0.04;
/// Decades that a logarithmic axis adds at least at each end.
const DECADES_MIN: f64 = 0.04;
/// Part of a plot that the name of a moment takes above the lines, and most of them.
const NAME: f64 = 0.085;
const NAMES_MAX: usize = 4;

impl Lines {
    /// Returns both ends of the axis across.
    pub fn across(&self) -> (f64, f64) {
        let values = self.series.iter().flat_map(|line| &line.points).map(|point| point.0);
        around(values.chain(self.marks.iter().map(|mark| mark.1)), &self.x, self.is_marked() || self.steps)
    }

    /// Returns both ends of the axis upwards, with room for intervals, thresholds and the names of moments.
    pub fn upwards(&self) -> (f64, f64) {
        let intervals = self.series.iter().flat_map(|line| {
            let end = |(half, point): (&f64, &(f64, f64))| [point.1 - half, point.1 + half];
            line.half_widths.iter().zip(&line.points).flat_map(end)
        });
        let values = self.series.iter().flat_map(|line| &line.points).map(|point| point.1);
        let values = values.chain(intervals).chain(self.levels.iter().map(|level| level.1));
        let (min, max) = match self.y.log {
            true => around(values, &self.y, true),
            false => from_zero(values, &self.y),
        };
        let room = NAME * self.marks.len().min(NAMES_MAX) as f64;
        match self.y.log {
            true => (min, max * (max / min).powf(room / (1.0 - room))),
            false => (min, min + (max - min) / (1.0 - room)),
        }
    }

    /// Returns true if all values across are whole, so that fractions between them mean nothing.
    pub fn is_whole(&self) -> bool {
        self.series.iter().flat_map(|line| &line.points).all(|point| point.0.fract() == 0.0)
    }

    /// Returns true if each point has a mark: it has one value of few.
    pub fn is_marked(&self) -> bool {
        !self.steps && self.series.iter().all(|line| line.points.len() <= MARKED_MAX)
    }
}

/// Most points of a line that are marked each.
pub const MARKED_MAX: usize = 40;

impl Bars {
    /// Returns both ends of the axis of values, with room for intervals.
    pub fn range(&self) -> (f64, f64) {
        let of_series = self.series.iter().flat_map(|series| series.values.iter().zip(&series.half_widths));
        let ends = of_series.filter_map(|(value, half)| Some(((*value)?, half.unwrap_or(0.0))));
        let ends = ends.flat_map(|(value, half)| [value, value - half, value + half]);
        let wholes = (0..self.groups.len()).filter(|_| self.stacked);
        let wholes = wholes.map(|group| self.series.iter().filter_map(|series| series.values[group]).sum());
        match self.y.log {
            true => around(ends, &self.y, true),
            // An interval that reaches below zero says nothing of an amount.
            false => from_zero(ends.map(|end| end.max(0.0)).chain(wholes), &self.y),
        }
    }
}

/// An axis whose ends are data: with a margin if what lies there would be cut off.
fn around(values: impl Iterator<Item = f64>, axis: &Axis, with_margin: bool) -> (f64, f64) {
    let values = values.chain(axis.covered()).filter(|value| !axis.log || *value > 0.0);
    let (min, max) = extent(values);
    if !min.is_finite() {
        return (1.0, 10.0);
    }
    if axis.log {
        let margin = (max / min).log10() * MARGIN;
        let margin = 10_f64.powf(if with_margin { margin.max(DECADES_MIN) } else { margin.max(if max > min { 0.0 } else { DECADES_MIN }) });
        return (min / margin, max * margin);
    }
    match max > min {
        true if with_margin => (min - (max - min) * MARGIN, max + (max - min) * MARGIN),
        true => (min, max),
        false => (min, min + 1.0),
    }
}

/// An axis of amounts, which begins at zero unless some are below.
fn from_zero(values: impl Iterator<Item = f64>, axis: &Axis) -> (f64, f64) {
    let (min, max) = extent(values.chain(axis.covered()).chain([0.0]));
    (if min < 0.0 { min * 1.05 } else { 0.0 }, if max > 0.0 { max * 1.06 } else { 1.0 })
}

impl Axis {
    fn covered(&self) -> impl Iterator<Item = f64> {
        self.cover.into_iter().flat_map(|(min, max)| [min, max])
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BarSeries, Line};
    use super::*;

    fn lines(x: Axis, y: Axis, points: Vec<(f64, f64)>) -> Lines {
        Lines::plain(x, y, vec![Line { half_widths: vec![0.5; points.len()], ..Line::new("a", points) }])
    }

    #[test]
    fn everything_that_is_drawn_lies_within() {
        let lines = lines(Axis::log("x"), Axis::log("y"), vec![(0.1306, 0.25), (998.0, 7.0)]);
        let ((left, right), (bottom, top)) = (lines.across(), lines.upwards());
        assert!(left < 0.1306 && right > 998.0 && bottom > 0.0 && bottom < 0.25 && top > 7.5, "{left} {right} {bottom} {top}");
        let bars = Bars {
            groups: vec!["g".to_owned()],
            y: Axis::linear("y"),
            series: vec![BarSeries::new("a", vec![Some(2.0)], vec![Some(1.0)]), BarSeries::new("b", vec![Some(4.0)], vec![None])],
            stacked: true,
            by_group: false,
        };
        assert_eq!(bars.range(), (0.0, 6.0 * 1.06));
        assert_eq!(Bars { stacked: false, ..bars }.range(), (0.0, 4.0 * 1.06));
    }

    #[test]
    fn axes_without_an_extent_have_one() {
        for (x, at) in [(Axis::log("x"), 5.0), (Axis::linear("x"), 0.0)] {
            let lines = lines(x, Axis::linear("y"), vec![(at, 0.0)]);
            assert!(lines.across().0 < lines.across().1 && lines.upwards().0 < lines.upwards().1);
        }
    }
}
