//! Groups of bars, lying on their sides so that their names can be read (GGC Figs. 6 and 11); on logarithmic axes dots with intervals.

use std::error::Error;
use std::ops::Range;

use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

use super::{Area, DOT, Drawn, FONT, GRID, INK, Key, KeyMark, Look, TITLE, linear, svg, tick};
use crate::chart::{Bars, ticks};
use crate::number::three_digits;

const BAR_HEIGHT: u32 = 20;
/// Distance between groups, in pixels.
const GAP: u32 = 12;
/// Height of what is not bars.
const FRAME: u32 = 94;

/// Strength of the colour of a doubtful bar.
const PALE: f64 = 0.45;

/// Draws bars with their values and symbols of doubt; lines show 95 % confidence intervals. Doubtful bars are pale, doubtful dots diamonds.
pub fn draw(title: &str, bars: &Bars, looks: &[Look], notes: Vec<String>) -> Result<String, Box<dyn Error>> {
    let (from, to) = bars.range();
    let group_height = BAR_HEIGHT * rows(bars) + GAP;
    let mark = |look: &Look| if bars.y.log { KeyMark::Dot(look.surface()) } else { KeyMark::Surface(look.surface()) };
    // Groups have their names beside them.
    let named = looks.iter().filter(|_| !bars.by_group);
    let key = Key { entries: named.map(|look| (look.name.clone(), mark(look))).collect(), notes };
    let height = FRAME + group_height * bars.groups.len() as u32;
    svg(height + key.height(), |area| {
        let (upper, lower) = area.split_vertically(height);
        match bars.y.log {
            true => draw_in(&upper, title, bars, looks, from, (from..to).log_scale().with_key_points(ticks::logarithmic(from, to))),
            false => draw_in(&upper, title, bars, looks, from, linear(&(from..to), ticks::ACROSS_MAX, false)),
        }?;
        key.draw(&lower)
    })
}

/// Rows of a group.
fn rows(bars: &Bars) -> u32 {
    if bars.stacked { 1 } else { bars.series.len() as u32 }
}

/// The sum of what a group has before this series.
fn below(bars: &Bars, series: usize, group: usize) -> f64 {
    bars.series[..series].iter().filter_map(|series| series.values[group]).sum()
}

fn draw_in<X>(area: &Area, title: &str, bars: &Bars, looks: &[Look], from: f64, x: X) -> Drawn
where
    X: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64>,
{
    let group_name = |group: usize| if bars.by_group { looks[group].name.as_str() } else { bars.groups[group].as_str() };
    let longest_name = (0..bars.groups.len()).map(|group| group_name(group).chars().count() as u32 * 7).max().unwrap_or(0);
    let mut chart = ChartBuilder::on(area)
        .caption(title, TITLE.into_font().color(&INK))
        .margin_right(60)
        .margin_top(6)
        .x_label_area_size(46)
        .y_label_area_size(longest_name.clamp(50, 400) + 30)
        .build_cartesian_2d(x, bars.groups.len() as f64..0.0)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .axis_style(INK)
        .label_style(FONT)
        .y_labels(0)
        .x_label_formatter(&tick)
        .x_desc(&bars.y.label)
        .draw()?;
    let gap = f64::from(GAP) / f64::from(BAR_HEIGHT * rows(bars) + GAP);
    let thickness = (1.0 - gap) / f64::from(rows(bars));
    for (index, series) in bars.series.iter().enumerate() {
        let row = |group: usize| -> Range<f64> {
            let top = group as f64 + gap / 2.0 + if bars.stacked { 0.0 } else { thickness * index as f64 };
            top + thickness * 0.06..top + thickness * 0.94
        };
        let look = |group: usize| &looks[if bars.by_group { group } else { index }];
        for (group, (value, half)) in series.values.iter().zip(&series.half_widths).enumerate() {
            let (Some(value), row) = (*value, row(group)) else { continue };
            let (style, doubt) = (look(group).surface(), series.doubt(group));
            if bars.stacked {
                let left = below(bars, index, group);
                chart.draw_series([Rectangle::new([(left, row.start), (left + value, row.end)], style)])?;
                continue;
            }
            let middle = (row.start + row.end) / 2.0;
            if !bars.y.log {
                let corners = [(0.0, row.start), (value, row.end)];
                let is_pale = !doubt.is_empty() && !look(group).hollow;
                let style = if is_pale { look(group).colour.mix(PALE).filled() } else { style };
                chart.draw_series([Rectangle::new(corners, style)])?;
                if is_pale {
                    chart.draw_series([Rectangle::new(corners, look(group).colour.stroke_width(1))])?;
                }
            }
            if let Some(half) = half {
                let ends = [((value - half).max(from), middle), (value + half, middle)];
                chart.draw_series([PathElement::new(ends, INK.stroke_width(2))])?;
            }
            if bars.y.log && doubt.is_empty() {
                chart.draw_series([Circle::new((value, middle), DOT, style)])?;
            } else if bars.y.log {
                look(group).draw_diamond(area, chart.plotting_area().map_coordinate(&(value, middle)))?;
            }
            let (right, height) = chart.plotting_area().map_coordinate(&(value + half.unwrap_or(0.0), middle));
            let beside = if bars.y.log { DOT as i32 } else { 0 };
            let text = if doubt.is_empty() { three_digits(value) } else { format!("{} {doubt}", three_digits(value)) };
            area.draw_text(&text, &FONT.into_font().color(&INK), (right + 5 + beside, height - 7))?;
        }
    }
    if bars.stacked {
        for group in 0..bars.groups.len() {
            let whole = below(bars, bars.series.len(), group);
            let (right, height) = chart.plotting_area().map_coordinate(&(whole, group as f64 + 0.5));
            area.draw_text(&three_digits(whole), &FONT.into_font().color(&INK), (right + 5, height - 7))?;
        }
    }
    for group in 0..bars.groups.len() {
        let (_, y) = chart.plotting_area().map_coordinate(&(from.max(f64::MIN_POSITIVE), group as f64 + 0.5));
        area.draw_text(group_name(group), &FONT.into_font().color(&INK), (10, y - 7))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::PALETTE;
    use super::*;
    use crate::chart::{Axis, BarSeries};

    fn looks(names: &[&str]) -> Vec<Look> {
        names.iter().zip(PALETTE).map(|(name, colour)| Look { name: (*name).to_owned(), colour, hollow: *name == "ideal" }).collect()
    }

    #[test]
    fn every_value_has_its_number_and_a_bar_or_a_dot() {
        let series = BarSeries::new("mean", vec![Some(8.0), Some(0.2), None], vec![None, Some(0.1), None]);
        for (y, element) in [(Axis::linear("ms"), "<rect "), (Axis::log("ms"), "<circle ")] {
            let bars = Bars::side_by_side(["local", "ideal", "none"].map(str::to_owned).to_vec(), y, vec![series.clone()]);
            let picture = draw("title", &bars, &looks(&["mean"]), Vec::new()).unwrap();
            let marks = picture.split(element).skip(1).filter(|mark| mark.split('>').next().unwrap().contains("fill=\"#1C4FB6\""));
            assert_eq!(marks.count(), 2, "{picture}");
            assert!(["local", "ideal", "8.00", "0.200"].iter().all(|text| picture.contains(text)));
        }
    }

    #[test]
    fn groups_that_are_compared_have_colours_of_their_own_and_yardsticks_no_surface() {
        let series = BarSeries::plain("mean", vec![Some(8.0), Some(2.0)]);
        let groups = ["local", "ideal"].map(str::to_owned).to_vec();
        let bars = Bars { by_group: true, ..Bars::side_by_side(groups, Axis::linear("ms"), vec![series]) };
        let picture = draw("title", &bars, &looks(&["local", "ideal"]), Vec::new()).unwrap();
        assert_eq!((picture.matches("fill=\"#1C4FB6\"").count(), picture.matches("fill=\"#D73E19\"").count()), (1, 0));
        assert_eq!(picture.matches("stroke=\"#D73E19\"").count(), 1);
    }

    #[test]
    fn doubtful_values_look_different_and_have_their_symbols() {
        let series = BarSeries { doubts: ["", "!"].map(str::to_owned).to_vec(), ..BarSeries::plain("mean", vec![Some(8.0), Some(2.0)]) };
        let groups = ["one", "other"].map(str::to_owned).to_vec();
        for (y, mark) in [(Axis::linear("ms"), "opacity=\"0.45\" fill=\"#1C4FB6\""), (Axis::log("ms"), "<polygon ")] {
            let bars = Bars::side_by_side(groups.clone(), y, vec![series.clone()]);
            let picture = draw("title", &bars, &looks(&["mean"]), vec!["! not steady".to_owned()]).unwrap();
            assert_eq!(picture.matches(mark).count(), 1, "{picture}");
            assert!(picture.contains("2.00 !") && picture.contains("8.00\n") && picture.contains("! not steady"), "{picture}");
        }
    }

    #[test]
    fn stacked_bars_begin_where_those_before_them_end() {
        let part = |name: &str, value: f64| BarSeries::plain(name, vec![Some(value)]);
        let bars = Bars::side_by_side(vec!["all".to_owned()], Axis::linear("ms"), vec![part("queue", 2.0), part("flash", 6.0)]);
        let picture = draw("title", &Bars { stacked: true, ..bars }, &looks(&["queue", "flash"]), Vec::new()).unwrap();
        // The bar, not the square of the key below it.
        let bar = |colour: &str| -> (f64, f64) {
            let rectangles = picture.split("<rect ").skip(1).filter(|rectangle| rectangle.contains(colour));
            let number = |rectangle: &str, name: &str| {
                rectangle.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse::<f64>().unwrap()
            };
            rectangles.map(|rectangle| (number(rectangle, "x"), number(rectangle, "width"))).max_by(|a, b| a.1.total_cmp(&b.1)).unwrap()
        };
        let (queue, flash) = (bar("#1C4FB6"), bar("#D73E19"));
        assert!((queue.0 + queue.1 - flash.0).abs() <= 1.0 && (flash.1 / queue.1 - 3.0).abs() < 0.03, "{queue:?} {flash:?}");
        assert!(picture.contains("8.00"));
    }
}
