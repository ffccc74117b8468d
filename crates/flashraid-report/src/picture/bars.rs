//! Groups of bars, lying on their sides so that their names can be read (GGC Figs. 6 and 11).

use std::error::Error;
use std::ops::Range;

use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

use super::{Area, Drawn, FONT, GRID, INK, Key, KeyMark, PALETTE, TITLE, svg, tick, with_numbers};
use crate::chart::Bars;
use crate::number::three_digits;

const BAR_HEIGHT: u32 = 20;
/// Between groups.
const GAP: u32 = 12;
/// Height of what is not bars.
const FRAME: u32 = 94;

/// Draws bars with their values; lines show 95 % confidence intervals where there are several seeds.
pub fn draw(title: &str, bars: &Bars) -> Result<String, Box<dyn Error>> {
    let values = || bars.series.iter().flat_map(|series| series.values.iter().zip(&series.half_widths));
    let most = values().filter_map(|(value, width)| Some((*value)? + width.unwrap_or(0.0))).fold(f64::MIN_POSITIVE, f64::max);
    let most =
        if bars.stacked { (0..bars.groups.len()).map(|group| below(bars, bars.series.len(), group)).fold(most, f64::max) } else { most };
    let most = bars.y.cover.map_or(most, |(_, max)| most.max(max));
    let least = values().filter_map(|(value, _)| *value).chain(bars.y.cover.map(|(min, _)| min)).fold(most, f64::min);
    let range = if bars.y.log { with_numbers(least * 0.5..most * 1.2) } else { 0.0..most * 1.05 };
    let group_height = BAR_HEIGHT * rows(bars) + GAP;
    let entries = bars.series.iter().zip(PALETTE.iter().cycle());
    let key = Key { entries: entries.map(|(series, colour)| (series.name.as_str(), KeyMark::Fill(colour.to_rgba()))).collect() };
    let height = FRAME + group_height * bars.groups.len() as u32;
    svg(height + key.height(), |area| {
        let (upper, lower) = area.split_vertically(height);
        match bars.y.log {
            true => draw_in(&upper, title, bars, range.start, range.clone().log_scale()),
            false => draw_in(&upper, title, bars, range.start, range.clone()),
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

fn draw_in<X>(area: &Area, title: &str, bars: &Bars, from: f64, x: X) -> Drawn
where
    X: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64>,
{
    let longest_name = bars.groups.iter().map(|name| name.chars().count() as u32 * 7).max().unwrap_or(0);
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
        let colour = PALETTE[index % PALETTE.len()];
        let row = |group: usize| -> Range<f64> {
            let top = group as f64 + gap / 2.0 + if bars.stacked { 0.0 } else { thickness * index as f64 };
            top + thickness * 0.06..top + thickness * 0.94
        };
        let drawn = series
            .values
            .iter()
            .zip(&series.half_widths)
            .enumerate()
            .filter_map(|(group, (value, width))| Some((row(group), (*value)?, *width)));
        let drawn: Vec<_> = drawn.collect();
        if bars.stacked {
            let part = |(group, value): (usize, &Option<f64>)| {
                let (left, row) = (below(bars, index, group), row(group));
                Some(Rectangle::new([(left, row.start), (left + (*value)?, row.end)], colour.filled()))
            };
            chart.draw_series(series.values.iter().enumerate().filter_map(part))?;
            continue;
        }
        let rectangles = drawn.iter().map(|(row, value, _)| Rectangle::new([(from, row.start), (*value, row.end)], colour.filled()));
        chart.draw_series(rectangles)?;
        for (row, value, width) in drawn {
            let middle = (row.start + row.end) / 2.0;
            if let Some(width) = width {
                let ends = [((value - width).max(from), middle), (value + width, middle)];
                chart.draw_series([PathElement::new(ends, INK.stroke_width(2))])?;
            }
            let (right, height) = chart.plotting_area().map_coordinate(&(value + width.unwrap_or(0.0), middle));
            area.draw_text(&three_digits(value), &FONT.into_font().color(&INK), (right + 5, height - 7))?;
        }
    }
    if bars.stacked {
        for group in 0..bars.groups.len() {
            let whole = below(bars, bars.series.len(), group);
            let (right, height) = chart.plotting_area().map_coordinate(&(whole, group as f64 + 0.5));
            area.draw_text(&three_digits(whole), &FONT.into_font().color(&INK), (right + 5, height - 7))?;
        }
    }
    for (group, name) in bars.groups.iter().enumerate() {
        let (_, y) = chart.plotting_area().map_coordinate(&(from.max(f64::MIN_POSITIVE), group as f64 + 0.5));
        area.draw_text(name, &FONT.into_font().color(&INK), (10, y - 7))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Axis, BarSeries};

    #[test]
    fn every_value_has_a_bar_and_its_number() {
        let series =
            BarSeries { name: "mean".to_owned(), values: vec![Some(8.0), Some(0.2), None], half_widths: vec![None, Some(0.1), None] };
        for y in [Axis::linear("ms"), Axis::log("ms")] {
            let bars =
                Bars { groups: ["local", "ideal", "none"].map(str::to_owned).to_vec(), y, series: vec![series.clone()], stacked: false };
            let picture = draw("title", &bars).unwrap();
            assert_eq!(picture.matches("fill=\"#1C4FB6\"").count(), 2);
            assert!(["local", "ideal", "8.00", "0.200"].iter().all(|text| picture.contains(text)));
        }
    }

    #[test]
    fn stacked_bars_begin_where_those_before_them_end() {
        let part = |name: &str, value: f64| BarSeries { name: name.to_owned(), values: vec![Some(value)], half_widths: vec![None] };
        let series = vec![part("queue", 2.0), part("flash", 6.0)];
        let bars = Bars { groups: vec!["all".to_owned()], y: Axis::linear("ms"), series, stacked: true };
        let picture = draw("title", &bars).unwrap();
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
