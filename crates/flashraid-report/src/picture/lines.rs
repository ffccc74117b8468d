//! Lines over a common axis.

use std::error::Error;
use std::ops::Range;

use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

use super::{Area, Drawn, FONT, GRID, INK, ORANGE, PALETTE, SKY, TITLE, VERMILLION, svg, tick};
use crate::chart::{Axis, Lines};

const HEIGHT: u32 = 400;
const BANDS: [RGBColor; 3] = [SKY, ORANGE, VERMILLION];

/// Draws lines.
pub fn draw(title: &str, lines: &Lines) -> Result<String, Box<dyn Error>> {
    let points = || lines.series.iter().flat_map(|line| &line.points);
    let x = range(points().map(|point| point.0), &lines.x);
    let levels = lines.levels.iter().map(|level| level.1);
    let y = range(points().map(|point| point.1).chain(levels), &lines.y);
    svg(HEIGHT, |area| match (lines.x.log, lines.y.log) {
        (false, false) => draw_in(area, title, lines, (&x, &y), x.clone(), y.clone()),
        (true, false) => draw_in(area, title, lines, (&x, &y), x.clone().log_scale(), y.clone()),
        (false, true) => draw_in(area, title, lines, (&x, &y), x.clone(), y.clone().log_scale()),
        (true, true) => draw_in(area, title, lines, (&x, &y), x.clone().log_scale(), y.clone().log_scale()),
    })
}

/// What an axis has to cover; linear ones that hold amounts begin at 0.
fn range(values: impl Iterator<Item = f64>, axis: &Axis) -> Range<f64> {
    let (least, most) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| (least.min(value), most.max(value)));
    match axis.log {
        true => least * 0.9..most * 1.1,
        false => least.min(0.0)..if most > 0.0 { most * 1.05 } else { 1.0 },
    }
}

fn draw_in<X, Y>(area: &Area, title: &str, lines: &Lines, (x_range, y_range): (&Range<f64>, &Range<f64>), x: X, y: Y) -> Drawn
where
    X: AsRangedCoord<Value = f64>,
    Y: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64>,
    Y::CoordDescType: ValueFormatter<f64>,
{
    let mut chart = ChartBuilder::on(area)
        .caption(title, TITLE.into_font().color(&INK))
        .margin_right(24)
        .margin_top(6)
        .x_label_area_size(46)
        .y_label_area_size(76)
        .build_cartesian_2d(x, y)?;
    for (band, colour) in lines.bands.iter().zip(BANDS) {
        let fill = colour.mix(0.35).filled();
        let corners = |stretch: &Range<f64>| [(stretch.start, y_range.start), (stretch.end, y_range.end)];
        chart
            .draw_series(band.stretches.iter().map(|stretch| Rectangle::new(corners(stretch), fill)))?
            .label(&band.name)
            .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 16, y + 5)], fill));
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
    for (index, line) in lines.series.iter().enumerate() {
        // Colours come again after the palette's last, thinner.
        let style = PALETTE[index % PALETTE.len()].stroke_width(if index < PALETTE.len() { 2 } else { 1 });
        chart
            .draw_series(LineSeries::new(line.points.iter().copied(), style))?
            .label(&line.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], style));
    }
    for (name, level) in &lines.levels {
        let ends = [(x_range.start, *level), (x_range.end, *level)];
        chart
            .draw_series(DashedLineSeries::new(ends, 6, 4, INK.stroke_width(1)))?
            .label(format!("{name} = {level}"))
            .legend(|(x, y)| PathElement::new([(x, y), (x + 16, y)], INK));
    }
    if lines.series.len() + lines.bands.len() + lines.levels.len() > 1 {
        let mut labels = chart.configure_series_labels();
        labels.position(SeriesLabelPosition::LowerRight).label_font(FONT).background_style(WHITE.mix(0.85)).draw()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Band, Line};

    #[test]
    fn every_combination_of_axes_is_drawn() {
        let line = |name: &str| Line { name: name.to_owned(), points: vec![(0.5, 1.0), (100.0, 3.0)] };
        for (x_log, y_log) in [(false, false), (true, false), (false, true), (true, true)] {
            let axis = |log| Axis { label: "quantity".to_owned(), log };
            let lines = Lines {
                x: axis(x_log),
                y: axis(y_log),
                series: vec![line("local"), line("ideal")],
                bands: vec![Band { name: "waiting".to_owned(), stretches: vec![1.0..2.0] }],
                levels: vec![("T_soft".to_owned(), 1.0)],
            };
            let picture = draw("title", &lines).unwrap();
            assert!(["local", "ideal", "waiting", "T_soft = 1", "quantity"].iter().all(|text| picture.contains(text)));
        }
    }
}
