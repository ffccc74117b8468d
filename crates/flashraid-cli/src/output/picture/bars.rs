//! Mean response times side by side, with their deviations (GGC Figs. 6 and 11).

use std::error::Error;

use plotters::prelude::*;

use super::{BLUE, FONT, GRID, INK, TITLE, svg, tick, unit_of};
use crate::grid::{Grid, estimate};

const ROW_HEIGHT: u32 = 30;
/// Height of what is not bars.
const FRAME: u32 = 90;

/// One bar for each point; lines show 95 % confidence intervals where there are several seeds.
pub fn draw(grid: &Grid) -> Result<Option<String>, Box<dyn Error>> {
    let bar = |(index, point): (usize, &crate::grid::Point)| {
        let estimate = estimate(&point.figure("/response_us/all/mean")?)?;
        Some((index, point.label(), estimate))
    };
    let bars: Vec<_> = grid.points.iter().enumerate().filter_map(bar).collect();
    let longest = bars.iter().map(|(_, _, estimate)| estimate.mean + estimate.half_width.unwrap_or(0.0)).fold(0.0, f64::max);
    if longest == 0.0 {
        return Ok(None);
    }
    let (unit, scale) = unit_of(longest);
    let count = grid.points.len();
    let label_width = bars.iter().map(|(_, label, _)| label.chars().count() as u32 * 8).max().unwrap_or(0).clamp(60, 420) + 20;
    svg(FRAME + ROW_HEIGHT * count as u32, |area| {
        let mut chart = ChartBuilder::on(area)
            .caption("Mean response time", TITLE.into_font().color(&INK))
            .margin_right(60)
            .margin_top(6)
            .x_label_area_size(46)
            .y_label_area_size(label_width)
            .build_cartesian_2d(0.0..longest / scale * 1.05, count as f64..0.0)?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .axis_style(INK)
            .label_style(FONT)
            .y_labels(0)
            .x_label_formatter(&tick)
            .x_desc(format!("mean response, {unit}"))
            .draw()?;
        for (index, label, estimate) in &bars {
            let (row, mean) = (*index as f64, estimate.mean / scale);
            chart.draw_series([Rectangle::new([(0.0, row + 0.18), (mean, row + 0.82)], BLUE.filled())])?;
            let text = crate::output::number::three_digits(mean);
            let end = mean + estimate.half_width.unwrap_or(0.0) / scale;
            chart.draw_series([Text::new(format!(" {text}"), (end, row + 0.28), FONT.into_font().color(&INK))])?;
            if let Some(half_width) = estimate.half_width.map(|width| width / scale) {
                let ends = [((mean - half_width).max(0.0), row + 0.5), (mean + half_width, row + 0.5)];
                chart.draw_series([PathElement::new(ends, INK.stroke_width(2))])?;
            }
            let (_, y) = chart.plotting_area().map_coordinate(&(0.0, row + 0.5));
            area.draw_text(label, &FONT.into_font().color(&INK), (10, y - 7))?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Axis, Point, combinations};
    use serde_json::json;

    #[test]
    fn every_point_has_a_bar_and_its_number() {
        let axes = vec!["coordination.scheme=local,ideal".parse::<Axis>().unwrap()];
        let reports = |mean: f64| vec![json!({ "response_us": { "all": { "mean": mean } } })];
        let points = combinations(&axes).into_iter().zip([8000.0, 200.0]);
        let points = points.map(|(settings, mean)| Point { settings, reports: reports(mean) }).collect();
        let picture = draw(&Grid { axes, points, baselines: vec![0, 0] }).unwrap().unwrap();
        assert_eq!(picture.matches("fill=\"#0072B2\"").count(), 2);
        for text in ["local", "ideal", "8.00", "0.200"] {
            assert!(picture.contains(text), "{text}");
        }
    }
}
