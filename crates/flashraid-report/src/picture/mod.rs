//! Pictures for papers and pages, as SVG files.

mod bars;
mod lines;
mod timeline;

use std::error::Error;
use std::path::Path;

use super::chart::{Chart, Content};
use crate::error::{Outcome, WriteError};
use crate::files;
use plotters::coord::Shift;
use plotters::prelude::*;

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
const GREEN: RGBColor = PALETTE[2];
const ORANGE: RGBColor = PALETTE[4];
const SKY: RGBColor = PALETTE[5];
const INK: RGBColor = RGBColor(40, 44, 50);
const GRID: RGBColor = RGBColor(225, 228, 232);

const FONT: (&str, u32) = ("sans-serif", 14);
const TITLE: (&str, u32) = ("sans-serif", 17);
const WIDTH: u32 = 960;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn Error>>;

/// Writes each chart as a file of its name.
pub fn write(charts: &[Chart], out: &Path) -> Outcome {
    for chart in charts {
        let svg = draw(chart).map_err(|error| WriteError::Picture { id: chart.id.clone(), reason: error.to_string() })?;
        files::write(&out.join(format!("{}.svg", chart.id)), svg.as_bytes())?;
    }
    Ok(())
}

fn draw(chart: &Chart) -> Result<String, Box<dyn Error>> {
    match &chart.content {
        Content::Lines(lines) => lines::draw(&chart.title, lines),
        Content::Bars(bars) => bars::draw(&chart.title, bars),
        Content::Timeline(timeline) => timeline::draw(&chart.title, timeline),
    }
}

/// An SVG document of this height.
fn svg(height: u32, draw: impl FnOnce(&Area) -> Drawn) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
        area.fill(&WHITE)?;
        draw(&area)?;
        area.present()?;
    }
    Ok(text)
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
        x -= 7 * name.chars().count() as i32 + 40;
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
