//! Lines over a common axis.

use std::error::Error;
use std::ops::Range;

use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{Area, Drawn, FONT, GRID, INK, Key, KeyMark, Look, ORANGE, SKY, TITLE, VERMILLION, dashed, linear, svg, tick};
use crate::chart::{Lines, ticks};

const HEIGHT: u32 = 400;
const BANDS: [RGBColor; 3] = [SKY, ORANGE, VERMILLION];

/// Draws a chart of lines.
pub fn draw(title: &str, lines: &Lines, looks: &[Look], notes: Vec<String>) -> Result<String, Box<dyn Error>> {
    let range = |(from, to): (f64, f64)| from..to;
    let (x, y) = (range(lines.across()), range(lines.upwards()));
    let log = |range: &Range<f64>| range.clone().log_scale().with_key_points(ticks::logarithmic(range.start, range.end));
    let key = Key { notes, ..key(lines, looks) };
    let picture = svg(HEIGHT + key.height(), |area| {
        let (upper, lower) = area.split_vertically(HEIGHT);
        let drawing = Drawing { title, lines, looks, x: &x, y: &y };
        let (x_linear, y_linear) = (|| linear(&x, ticks::ACROSS_MAX, lines.is_whole()), || linear(&y, ticks::UPWARDS_MAX, false));
        match (lines.x.log, lines.y.log) {
            (false, false) => drawing.draw(&upper, x_linear(), y_linear()),
            (true, false) => drawing.draw(&upper, log(&x), y_linear()),
            (false, true) => drawing.draw(&upper, x_linear(), log(&y)),
            (true, true) => drawing.draw(&upper, log(&x), log(&y)),
        }?;
        key.draw(&lower)
    })?;
    Ok(dashed(picture))
}

fn key(lines: &Lines, looks: &[Look]) -> Key {
    let bands = lines.bands.iter().zip(BANDS).map(|(band, colour)| (band.name.clone(), KeyMark::Fill(colour.mix(0.35))));
    let series = looks.iter().map(|look| (look.name.clone(), KeyMark::Line(look.colour)));
    let levels = lines.levels.iter().map(|(name, level)| (format!("{name} = {level}"), KeyMark::Level));
    Key { entries: bands.chain(series).chain(levels).collect(), notes: Vec::new() }
}

/// A picture that is being drawn.
struct Drawing<'a> {
    title: &'a str,
    lines: &'a Lines,
    looks: &'a [Look],
    /// Ends of the axes.
    x: &'a Range<f64>,
    y: &'a Range<f64>,
}

impl Drawing<'_> {
    fn draw<X, Y>(&self, area: &Area, x: X, y: Y) -> Drawn
    where
        X: AsRangedCoord<Value = f64>,
        Y: AsRangedCoord<Value = f64>,
        X::CoordDescType: ValueFormatter<f64>,
        Y::CoordDescType: ValueFormatter<f64>,
    {
        let Drawing { title, lines, looks, x: x_range, y: y_range } = *self;
        let mut chart = ChartBuilder::on(area)
            .caption(title, TITLE.into_font().color(&INK))
            .margin_left(10)
            .margin_right(24)
            .margin_top(6)
            .x_label_area_size(46)
            .y_label_area_size(76)
            .build_cartesian_2d(x, y)?;
        let from = area.get_base_pixel();
        for (band, colour) in lines.bands.iter().zip(BANDS) {
            let fill = colour.mix(0.35).filled();
            // A stretch is a pixel wide at least, or it would not be seen.
            let corners = |stretch: &Range<f64>| {
                let place = |x: f64, y: f64| chart.plotting_area().map_coordinate(&(x, y));
                let ((left, bottom), (right, top)) = (place(stretch.start, y_range.start), place(stretch.end, y_range.end));
                [(left, top), (right.max(left + 1), bottom)]
            };
            for stretch in &band.stretches {
                area.draw(&Rectangle::new(corners(stretch).map(|(x, y)| (x - from.0, y - from.1)), fill))?;
            }
        }
        chart
            .configure_mesh()
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .axis_style(INK)
            .label_style(FONT)
            .x_label_formatter(&tick)
            .y_label_formatter(&tick)
            .x_desc(&lines.x.label)
            .y_desc(&lines.y.label)
            .draw()?;
        for (line, look) in lines.series.iter().zip(looks) {
            let points = if lines.steps { line.stepped() } else { line.points.clone() };
            chart.draw_series(LineSeries::new(points, look.colour.stroke_width(2)))?;
            if lines.is_marked() {
                let (doubtful, sound): (Vec<_>, Vec<_>) =
                    line.points.iter().enumerate().partition(|(index, _)| !line.doubt(*index).is_empty());
                chart.draw_series(sound.into_iter().map(|(_, point)| Circle::new(*point, 3, look.surface())))?;
                for (_, point) in doubtful {
                    let (x, y) = chart.plotting_area().map_coordinate(point);
                    look.draw_diamond(area, (x - from.0, y - from.1))?;
                }
            }
            let interval = |(half, (x, y)): (&f64, &(f64, f64))| {
                let low = if lines.y.log { (y - half).max(y_range.start) } else { y - half };
                PathElement::new([(*x, low), (*x, y + half)], INK.stroke_width(1))
            };
            chart.draw_series(line.half_widths.iter().zip(&line.points).map(interval))?;
        }
        // What happened together has its names one below the other.
        for (index, (name, at)) in lines.marks.iter().enumerate() {
            chart.draw_series(DashedLineSeries::new([(*at, y_range.start), (*at, y_range.end)], 3, 3, INK.stroke_width(1)))?;
            let (x, top) = chart.plotting_area().map_coordinate(&(*at, y_range.end));
            // Near the right end a name stands before its line.
            let (width, right) = (7 * name.chars().count() as i32, chart.plotting_area().get_pixel_range().0.end);
            let (left, anchor) = if x + 4 + width > right { (x - 4, HPos::Right) } else { (x + 4, HPos::Left) };
            let style = FONT.into_font().color(&INK).pos(Pos::new(anchor, VPos::Top));
            area.draw_text(name, &style, (left - from.0, top - from.1 + 2 + 15 * (index as i32 % 4)))?;
        }
        for (_, level) in &lines.levels {
            let ends = [(x_range.start, *level), (x_range.end, *level)];
            chart.draw_series(DashedLineSeries::new(ends, 6, 4, INK.stroke_width(1)))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::PALETTE;
    use super::*;
    use crate::chart::{Axis, Band, Line};

    /// The looks of lines in the order of the palette; the last ones are yardsticks.
    fn looks(lines: &Lines) -> Vec<Look> {
        let look = |(line, colour): (&Line, RGBColor)| Look { name: line.name.clone(), colour, hollow: line.name.starts_with("ideal") };
        lines.series.iter().zip(PALETTE).map(look).collect()
    }

    fn example(x_log: bool, y_log: bool) -> Lines {
        let line = |name: &str| Line { half_widths: vec![0.5, 0.0], ..Line::new(name, vec![(0.5, 1.0), (100.0, 3.0)]) };
        let axis = |log| Axis { log, ..Axis::linear("quantity") };
        Lines {
            x: axis(x_log),
            y: axis(y_log),
            steps: false,
            series: vec![line("local"), line("ideal")],
            bands: vec![Band { name: "waiting".to_owned(), stretches: vec![1.0..2.0] }],
            levels: vec![("T_soft".to_owned(), 1.0)],
            marks: vec![("member 0 fails".to_owned(), 2.0)],
        }
    }

    #[test]
    fn every_combination_of_axes_is_drawn() {
        for (x_log, y_log) in [(false, false), (true, false), (false, true), (true, true)] {
            let picture = draw("title", &example(x_log, y_log), &looks(&example(x_log, y_log)), Vec::new()).unwrap();
            assert!(["local", "ideal", "waiting", "T_soft = 1", "quantity", "member 0 fails"].iter().all(|text| picture.contains(text)));
        }
    }

    #[test]
    fn doubtful_points_are_diamonds() {
        let lines = Lines {
            series: vec![Line { doubts: vec![String::new(), "!".to_owned()], ..example(false, false).series[0].clone() }],
            ..example(false, true)
        };
        let picture = draw("title", &lines, &looks(&lines), vec!["! not steady".to_owned()]).unwrap();
        assert_eq!((picture.matches("<circle ").count(), picture.matches("<polygon ").count()), (1, 1), "{picture}");
        assert!(picture.contains("! not steady"));
    }

    /// The polylines of this stroke.
    fn polylines(picture: &str, stroke: &str) -> Vec<Vec<(f64, f64)>> {
        let points = |element: &str| {
            let points = element.split("points=\"").nth(1).unwrap().split('"').next().unwrap();
            let point = |pair: &str| pair.split_once(',').map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap())).unwrap();
            points.split_whitespace().map(point).collect()
        };
        picture.split("<polyline").skip(1).filter(|element| element.contains(stroke)).map(points).collect()
    }

    #[test]
    fn what_is_drawn_is_the_data_to_the_pixel() {
        let series: Vec<Line> = (0..3_u32)
            .map(|series| {
                let point = |step: u32| (0.1 * 1.9_f64.powi(step as i32 + series as i32), f64::from(step * step * (series + 1)).min(100.0));
                Line::new(format!("series {series}"), (0..10).map(point).collect())
            })
            .collect();
        for (x_log, y_log, steps) in [(true, false, true), (true, true, true), (false, false, false)] {
            let mut series = series.clone();
            series.iter_mut().flat_map(|line| &mut line.points).for_each(|point| point.1 += 0.01);
            let axis = |log| Axis { log, ..Axis::linear("quantity") };
            let lines = Lines { x: axis(x_log), y: axis(y_log), steps, series, bands: Vec::new(), levels: Vec::new(), marks: Vec::new() };
            let picture = draw("title", &lines, &looks(&lines), Vec::new()).unwrap();

            // The frame: the axes are the lines of the ink that are as long as the plot.
            let axes = polylines(&picture, "stroke=\"#282C32\"");
            let longest = |of: fn(&(f64, f64)) -> f64| {
                let ends = axes.iter().map(|axis| (of(&axis[0]).min(of(&axis[1])), of(&axis[0]).max(of(&axis[1]))));
                ends.max_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0))).unwrap()
            };
            let ((left, right), (top, bottom)) = (longest(|point| point.0), longest(|point| point.1));
            let (x, y) = (lines.across(), lines.upwards());
            let share = |value: f64, range: &(f64, f64), log: bool| match log {
                true => (value / range.0).ln() / (range.1 / range.0).ln(),
                false => (value - range.0) / (range.1 - range.0),
            };
            for (line, RGBColor(red, green, blue)) in lines.series.iter().zip(PALETTE) {
                let drawn = polylines(&picture, &format!("stroke=\"#{red:02X}{green:02X}{blue:02X}\" stroke-width=\"2\""));
                let wanted = if steps { line.stepped() } else { line.points.clone() };
                // The line, and its mark in the key.
                assert_eq!((drawn.len(), drawn[0].len()), (2, wanted.len()));
                for (pixel, (x_value, y_value)) in drawn[0].iter().zip(wanted) {
                    let expected = (left + share(x_value, &x, x_log) * (right - left), bottom - share(y_value, &y, y_log) * (bottom - top));
                    assert!((pixel.0 - expected.0).abs() <= 1.5 && (pixel.1 - expected.1).abs() <= 1.5, "{pixel:?} {expected:?}");
                }
            }
        }
    }
}
