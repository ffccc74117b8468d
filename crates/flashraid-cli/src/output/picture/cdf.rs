//! Distributions of response times (GGC Fig. 12).

use std::error::Error;

use plotters::prelude::*;
use serde_json::Value;

use super::{FONT, GRID, INK, PALETTE, TITLE, svg, tick, unit_of};

const HEIGHT: u32 = 420;

/// One curve for each labelled report that has requests; time is logarithmic.
pub fn draw(reports: &[(String, &Value)]) -> Result<Option<String>, Box<dyn Error>> {
    let curve = |report: &Value| -> Vec<(f64, f64)> {
        let points = report.pointer("/response_us/all/cdf").and_then(Value::as_array);
        points.map_or(Vec::new(), |points| points.iter().filter_map(|point| Some((point[0].as_f64()?, point[1].as_f64()?))).collect())
    };
    let curves: Vec<(&str, Vec<(f64, f64)>)> =
        reports.iter().map(|(label, report)| (label.as_str(), curve(report))).filter(|(_, points)| !points.is_empty()).collect();
    let times = || curves.iter().flat_map(|(_, points)| points).map(|point| point.0).filter(|time| *time > 0.0);
    let (shortest, longest) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
    if longest == 0.0 {
        return Ok(None);
    }
    let (unit, scale) = unit_of(longest.sqrt() * shortest.sqrt());
    svg(HEIGHT, |area| {
        let mut chart = ChartBuilder::on(area)
            .caption("Share of the requests that took no longer", TITLE.into_font().color(&INK))
            .margin_right(24)
            .margin_top(6)
            .x_label_area_size(46)
            .y_label_area_size(70)
            .build_cartesian_2d((shortest / scale * 0.9..longest / scale * 1.1).log_scale(), 0.0..1.0)?;
        chart
            .configure_mesh()
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .axis_style(INK)
            .label_style(FONT)
            .x_label_formatter(&tick)
            .x_desc(format!("response, {unit}"))
            .y_label_formatter(&|share| format!("{:.0} %", share * 100.0))
            .draw()?;
        for (index, (label, points)) in curves.iter().enumerate() {
            let style = PALETTE[index % PALETTE.len()].stroke_width(if index < PALETTE.len() { 2 } else { 1 });
            let line = points.iter().map(|(time, share)| (time.max(shortest) / scale, *share));
            chart
                .draw_series(LineSeries::new(line, style))?
                .label(*label)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], style));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerRight)
            .background_style(WHITE.mix(0.85))
            .label_font(FONT)
            .draw()?;
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn one_curve_for_each_report_with_requests() {
        let report = json!({ "response_us": { "all": { "cdf": [[0.0, 0.1], [10.0, 0.5], [1000.0, 1.0]] } } });
        let empty = json!({ "response_us": { "all": { "cdf": [] } } });
        let picture = draw(&[("local".to_owned(), &report), ("none".to_owned(), &empty), ("ideal".to_owned(), &report)]).unwrap().unwrap();
        assert!(picture.contains("local") && picture.contains("ideal") && !picture.contains("none\n"));
        assert_eq!(draw(&[("none".to_owned(), &empty)]).unwrap(), None);
    }
}
