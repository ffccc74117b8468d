//! Pictures for papers and pages, as SVG files.
//!
//! They are drawn from the document of a report, so that one saved earlier, or by an earlier version, gives a picture too.

mod bars;
mod cdf;
mod free_blocks;
mod timeline;

use std::error::Error;
use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;
use serde_json::Value;

use crate::failure::{Failure, Outcome};
use crate::files;
use crate::grid::Grid;

/// Colours that stay apart for all kinds of colour vision (Okabe and Ito, "Color Universal Design", 2008), readable on white.
const PALETTE: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(60, 60, 60),
];
const BLUE: RGBColor = PALETTE[0];
const VERMILLION: RGBColor = PALETTE[1];
const ORANGE: RGBColor = PALETTE[4];
const SKY: RGBColor = PALETTE[5];
const INK: RGBColor = RGBColor(40, 44, 50);
const GRID: RGBColor = RGBColor(225, 228, 232);

const FONT: (&str, u32) = ("sans-serif", 14);
const TITLE: (&str, u32) = ("sans-serif", 17);
const WIDTH: u32 = 960;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn Error>>;

/// Writes the pictures of one run: those that its report has data for.
pub fn write_run(report: &Value, out: &Path) -> Outcome {
    let label = report.pointer("/config/coordination/scheme").and_then(Value::as_str).unwrap_or("all requests");
    write(out, "cdf", cdf::draw(&[(label.to_owned(), report)]))?;
    write(out, "free-blocks", free_blocks::draw(report))?;
    write(out, "timeline", timeline::draw(report))
}

/// Writes the pictures of a grid.
pub fn write_grid(grid: &Grid, out: &Path) -> Outcome {
    let points: Vec<(String, &Value)> = grid.points.iter().map(|point| (point.label(), &point.reports[0])).collect();
    write(out, "cdf", cdf::draw(&points))?;
    write(out, "bars", bars::draw(grid))
}

fn write(out: &Path, name: &str, picture: Result<Option<String>, Box<dyn Error>>) -> Outcome {
    match picture.map_err(|error| Failure::Run(format!("can't draw the picture {name}: {error}")))? {
        Some(svg) => files::write(&out.join(format!("{name}.svg")), svg.as_bytes()),
        None => Ok(()),
    }
}

/// An SVG document of this height.
fn svg(height: u32, draw: impl FnOnce(&Area) -> Drawn) -> Result<Option<String>, Box<dyn Error>> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
        area.fill(&WHITE)?;
        draw(&area)?;
        area.present()?;
    }
    Ok(Some(text))
}

/// A mark in a legend.
#[derive(Clone, Copy)]
enum Mark {
    Dot,
    Cross,
    Bar,
}

/// Draws a legend on one line that ends at the right margin, so that it covers no data.
fn legend(area: &Area, y: i32, entries: &[(&str, Mark, RGBColor)]) -> Drawn {
    let mut x = WIDTH as i32 - 20;
    for (name, mark, colour) in entries.iter().rev() {
        x -= 8 * name.chars().count() as i32 + 34;
        match mark {
            Mark::Dot => area.draw(&Circle::new((x + 8, y), 3, colour.filled()))?,
            Mark::Cross => area.draw(&Cross::new((x + 8, y), 3, colour.stroke_width(1)))?,
            Mark::Bar => area.draw(&Rectangle::new([(x, y - 5), (x + 16, y + 5)], colour.filled()))?,
        }
        area.draw_text(name, &FONT.into_font().color(&INK), (x + 22, y - 7))?;
    }
    Ok(())
}

/// A number on an axis: no digits that say nothing.
fn tick(value: &f64) -> String {
    ((value * 1e4).round() / 1e4).to_string()
}

/// The unit in which durations up to this many microseconds read best, and its length in microseconds.
fn unit_of(longest_us: f64) -> (&'static str, f64) {
    crate::output::number::time_unit(longest_us)
}
