//! Pictures for papers and pages, as SVG files.

mod bars;
mod lines;
mod timeline;

use std::error::Error;
use std::ops::Range;
use std::path::Path;

use super::chart::{COLOURS, Chart, Colours, Content, GREYS, ticks};
use crate::error::{Outcome, WriteError};
use crate::files;
use crate::number::with_commas;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

/// Eight colours that can be told apart with any kind of colour vision and on white, followed by the greys of yardsticks. The colours were
/// found by a search in OKLab for the greatest least distance, under the simulations of colour blindness of Machado et al. 2009.
const PALETTE: [RGBColor; COLOURS + GREYS] = [
    RGBColor(28, 79, 182),
    RGBColor(215, 62, 25),
    RGBColor(34, 150, 132),
    RGBColor(141, 56, 106),
    RGBColor(211, 159, 22),
    RGBColor(42, 178, 242),
    RGBColor(59, 27, 92),
    RGBColor(154, 86, 255),
    RGBColor(91, 100, 112),
    RGBColor(152, 161, 171),
    RGBColor(63, 71, 80),
    // The same for the eye, with other dashes.
    RGBColor(92, 101, 113),
    RGBColor(153, 162, 172),
    RGBColor(64, 72, 81),
];
/// Dashes that tell lines apart without their colours; yardsticks are dotted.
const DASHES: [&str; PALETTE.len()] =
    ["", "8 4", "2 3", "10 3 2 3", "5 2", "14 4", "3 6", "12 3 2 3 2 3", "2 2", "2 5", "2 2 6 2", "6 2 2 2 2 2", "6 6", "1 8"];
/// Colour of bands (Okabe and Ito, "Color Universal Design", 2008).
const VERMILLION: RGBColor = RGBColor(213, 94, 0);
const ORANGE: RGBColor = RGBColor(230, 159, 0);
const SKY: RGBColor = RGBColor(86, 180, 233);
const INK: RGBColor = RGBColor(40, 44, 50);
const GRID: RGBColor = RGBColor(225, 228, 232);

const FONT: (&str, u32) = ("sans-serif", 14);
const TITLE: (&str, u32) = ("sans-serif", 17);
const WIDTH: u32 = 960;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn Error>>;

/// Writes each chart as a file of its name.
pub fn write(charts: &[Chart], out: &Path) -> Outcome {
    let colours = Colours::of(charts);
    for chart in charts {
        let svg = draw(chart, &colours).map_err(|error| WriteError::Picture { id: chart.id.clone(), reason: error.to_string() })?;
        files::write(&out.join(format!("{}.svg", chart.id)), svg.as_bytes())?;
    }
    Ok(())
}

/// A chart as an SVG document, with the colours of the charts that it is looked at with.
pub fn draw(chart: &Chart, colours: &Colours) -> Result<String, Box<dyn Error>> {
    let looks: Vec<Look> =
        chart.names().into_iter().zip(colours.of_chart(chart)).map(|(name, place)| Look::of(chart, name, place)).collect();
    let notes = chart.explanations();
    match &chart.content {
        Content::Lines(lines) => lines::draw(&chart.title, lines, &looks, notes),
        Content::Bars(bars) => bars::draw(&chart.title, bars, &looks, notes),
        Content::Timeline(timeline) => timeline::draw(&chart.title, timeline),
    }
}

/// The style of a line, bar or dot.
#[derive(Debug, Clone)]
struct Look {
    /// Name as the legend shows it.
    name: String,
    colour: RGBColor,
    /// Yardsticks have outlines instead of surfaces.
    hollow: bool,
}

impl Look {
    fn of(chart: &Chart, name: &str, place: usize) -> Look {
        Look { name: chart.shown_name(name), colour: PALETTE[place % PALETTE.len()], hollow: chart.is_yardstick(name) }
    }

    /// Draws the diamond of a doubtful value around a pixel.
    fn draw_diamond(&self, area: &Area, at: (i32, i32)) -> Drawn {
        match self.hollow {
            true => area.draw(&PathElement::new(diamond(at), self.surface()))?,
            false => area.draw(&Polygon::new(diamond(at), self.surface()))?,
        }
        Ok(())
    }

    /// The style of its surfaces.
    fn surface(&self) -> ShapeStyle {
        if self.hollow { self.colour.stroke_width(2) } else { self.colour.filled() }
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

/// Key of a chart, under its axes: a mark and a name, in rows, and below them what symbols mean.
struct Key {
    entries: Vec<(String, KeyMark)>,
    /// Explanations, a row each.
    notes: Vec<String>,
}

#[derive(Clone, Copy)]
enum KeyMark {
    Line(RGBColor),
    Fill(RGBAColor),
    Surface(ShapeStyle),
    Dot(ShapeStyle),
    Level,
}

impl Key {
    const ROW_HEIGHT: u32 = 20;

    /// Returns the place of each entry: column in pixels, and row.
    fn places(&self) -> Vec<(i32, i32)> {
        let (mut x, mut row) = (76, 0);
        let place = |(name, _): &(String, KeyMark)| {
            let width = 8 * name.chars().count() as i32 + 52;
            if x + width > WIDTH as i32 - 16 && x > 76 {
                (x, row) = (76, row + 1);
            }
            let at = (x, row);
            x += width;
            at
        };
        self.entries.iter().map(place).collect()
    }

    /// Rows of entries. A single entry says nothing that the title does not.
    fn rows(&self) -> u32 {
        if self.entries.len() < 2 { 0 } else { self.places().last().map_or(0, |place| place.1) as u32 + 1 }
    }

    fn height(&self) -> u32 {
        match self.rows() + self.notes.len() as u32 {
            0 => 0,
            rows => rows * Self::ROW_HEIGHT + 6,
        }
    }

    fn draw(&self, area: &Area) -> Drawn {
        for (index, note) in self.notes.iter().enumerate() {
            let y = (self.rows() + index as u32) * Self::ROW_HEIGHT + 3;
            area.draw_text(note, &FONT.into_font().color(&INK), (76, y as i32))?;
        }
        if self.rows() == 0 {
            return Ok(());
        }
        for ((name, mark), (x, row)) in self.entries.iter().zip(self.places()) {
            let y = row * Self::ROW_HEIGHT as i32 + 10;
            match *mark {
                KeyMark::Line(colour) => area.draw(&PathElement::new([(x, y), (x + 30, y)], colour.stroke_width(2)))?,
                KeyMark::Level => area.draw(&PathElement::new([(x, y), (x + 30, y)], INK.stroke_width(1)))?,
                KeyMark::Fill(colour) => area.draw(&Rectangle::new([(x + 10, y - 5), (x + 30, y + 5)], colour.filled()))?,
                KeyMark::Surface(style) => area.draw(&Rectangle::new([(x + 10, y - 5), (x + 30, y + 5)], style))?,
                KeyMark::Dot(style) => area.draw(&Circle::new((x + 20, y), DOT, style))?,
            }
            area.draw_text(name, &FONT.into_font().color(&INK), (x + 36, y - 7))?;
        }
        Ok(())
    }
}

/// Radius of a dot that stands for a value.
const DOT: u32 = 4;
/// Half a diagonal of the diamond that stands for a doubtful value in place of a dot.
const DIAMOND: i32 = 6;

/// The corners of the diamond around a pixel; the first is there again at the end.
fn diamond((x, y): (i32, i32)) -> [(i32, i32); 5] {
    [(x, y - DIAMOND), (x + DIAMOND, y), (x, y + DIAMOND), (x - DIAMOND, y), (x, y - DIAMOND)]
}

/// Gives the lines of the palette their dashes, which the library knows only as many short lines.
fn dashed(mut svg: String) -> String {
    for (RGBColor(red, green, blue), dashes) in PALETTE.into_iter().zip(DASHES).filter(|(_, dashes)| !dashes.is_empty()) {
        let stroke = format!("stroke=\"#{red:02X}{green:02X}{blue:02X}\" stroke-width=\"2\"");
        svg = svg.replace(&stroke, &format!("{stroke} stroke-dasharray=\"{dashes}\""));
    }
    svg
}

/// Returns a linear axis with the numbers of a page ([`ticks::linear`]). The library can format given numbers only on axes that show a part
/// of their range.
fn linear(range: &Range<f64>, most: usize, whole: bool) -> impl AsRangedCoord<Value = f64, CoordDescType: ValueFormatter<f64>> + use<> {
    let numbers = ticks::linear(range.start, range.end, most, whole);
    range.clone().with_key_points(numbers).partial_axis(range.clone())
}

/// A number on an axis: no digits that say nothing, and none that are missing.
fn tick(value: &f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        magnitude if !(1e-6..1e9).contains(&magnitude) => format!("{value:e}"),
        magnitude => {
            // Six significant digits hide what computing left behind the last that is meant.
            let decimals = (5 - magnitude.log10().floor() as i32).clamp(0, 12) as usize;
            let text = format!("{value:.decimals$}");
            with_commas(if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// OKLab of a colour as seen with a kind of colour vision (Machado et al. 2009, whole loss of one cone).
    fn seen([red, green, blue]: [u8; 3], vision: &[[f64; 3]; 3]) -> [f64; 3] {
        let linear = |value: u8| {
            let value = f64::from(value) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        let product = |matrix: &[[f64; 3]; 3], vector: [f64; 3]| {
            matrix.map(|row| row.iter().zip(vector).map(|(factor, value)| factor * value).sum::<f64>())
        };
        let rgb = product(vision, [red, green, blue].map(linear)).map(|value| value.clamp(0.0, 1.0));
        let lms = product(&[[0.412_221, 0.536_333, 0.051_446], [0.211_903, 0.680_700, 0.107_397], [0.088_302, 0.281_719, 0.629_979]], rgb);
        product(
            &[[0.210_454, 0.793_618, -0.004_072], [1.977_998, -2.428_592, 0.450_594], [0.025_904, 0.782_772, -0.808_676]],
            lms.map(f64::cbrt),
        )
    }

    const VISIONS: [[[f64; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.152_286, 1.052_583, -0.204_868], [0.114_503, 0.786_281, 0.099_216], [-0.003_882, -0.048_116, 1.051_998]],
        [[0.367_322, 0.860_646, -0.227_968], [0.280_085, 0.672_501, 0.047_413], [-0.011_820, 0.042_940, 0.968_881]],
        [[1.255_528, -0.076_749, -0.178_779], [-0.078_411, 0.930_809, 0.147_602], [0.004_733, 0.691_367, 0.303_900]],
    ];

    /// The least distance of two colours of a palette.
    fn least_distance(palette: &[[u8; 3]]) -> f64 {
        let mut least = f64::INFINITY;
        for vision in &VISIONS {
            for (index, one) in palette.iter().enumerate() {
                for other in &palette[..index] {
                    let pairs = seen(*one, vision).into_iter().zip(seen(*other, vision));
                    least = least.min(pairs.map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt());
                }
            }
        }
        least
    }

    /// The colours of a palette of the page's script.
    fn of_page(name: &str) -> Vec<[u8; 3]> {
        let script = include_str!("../page/script/look.js");
        let theme = script.split(&format!("const {name} = ")).nth(1).unwrap();
        let series = theme.split("series: [").nth(1).unwrap().split(']').next().unwrap();
        let byte = |text: &str, at: usize| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
        series.split('#').skip(1).map(|text| [byte(text, 0), byte(text, 2), byte(text, 4)]).collect()
    }

    #[test]
    fn eight_colours_stay_apart_for_all_kinds_of_colour_vision() {
        let light = PALETTE.map(|RGBColor(red, green, blue)| [red, green, blue]).to_vec();
        assert_eq!(of_page("LIGHT"), light);
        for palette in [light, of_page("DARK")] {
            assert_eq!(palette.len(), PALETTE.len());
            // Greys are told from colours by what they look like: outlines and dots.
            assert!(least_distance(&palette[..COLOURS]) > 0.12, "{}", least_distance(&palette));
        }
        // The palette of Okabe and Ito with its grey would not do.
        let okabe_ito = [[0, 114, 178], [213, 94, 0], [0, 158, 115], [204, 121, 167], [230, 159, 0], [86, 180, 233], [60, 60, 60]];
        assert!(least_distance(&okabe_ito) < 0.08);
    }

    #[test]
    fn ticks_keep_their_digits() {
        let texts = [0.0, 0.1 + 0.2, 0.000_01, 1e-9, 1234.5, 40.0, 2_000_000.0].map(|value| tick(&value));
        assert_eq!(texts, ["0", "0.3", "0.00001", "1e-9", "1,234.5", "40", "2,000,000"]);
    }
}
