//! Requests and collections of a window of time, a lane for each member (GGC Figs. 10 and 13).

use std::collections::BTreeSet;
use std::error::Error;

use plotters::prelude::*;
use serde_json::Value;

use super::{Area, BLUE, Drawn, FONT, GRID, INK, Mark, ORANGE, SKY, TITLE, VERMILLION, WIDTH, legend, svg, tick, unit_of};

const RESPONSES_HEIGHT: u32 = 280;
const LANE_HEIGHT: u32 = 34;
const LEFT: u32 = 90;
/// What the lanes need beside themselves: margins, times, description.
const LANES_FRAME: u32 = 74;
/// Room for the legend above the lanes.
const LANES_TOP: u32 = 24;

/// A collection as far as lanes show it.
struct Collection {
    member: u64,
    element: u64,
    start_ms: f64,
    end_ms: f64,
    forced: bool,
}

/// A request as far as the upper part shows it.
struct Request {
    done_ms: f64,
    response_us: f64,
    write: bool,
}

/// The picture, if the report has a timeline.
pub fn draw(report: &Value) -> Result<Option<String>, Box<dyn Error>> {
    let Some(timeline) = report.get("timeline").filter(|timeline| timeline.is_object()) else { return Ok(None) };
    let ms = |entry: &Value, key: &str| entry[key].as_f64().unwrap_or(0.0) / 1e6;
    let number = |entry: &Value, key: &str| entry[key].as_u64().unwrap_or(0);
    let entries = |key: &str| timeline[key].as_array().map_or(&[][..], Vec::as_slice);

    let window = ms(timeline, "from_ns")..ms(timeline, "to_ns");
    let requests = entries("requests").iter().map(|entry| Request {
        done_ms: ms(entry, "done_ns"),
        response_us: (ms(entry, "done_ns") - ms(entry, "arrival_ns")) * 1e3,
        write: entry["write"] == true,
    });
    let requests: Vec<Request> = requests.filter(|request| window.contains(&request.done_ms)).collect();
    let collections: Vec<Collection> = entries("gc")
        .iter()
        .map(|entry| Collection {
            member: number(entry, "member"),
            element: number(entry, "element"),
            start_ms: ms(entry, "start_ns").max(window.start),
            end_ms: ms(entry, "end_ns").min(window.end),
            forced: entry["forced"] == true,
        })
        .collect();
    let members = report["members"].as_array().map_or(1, Vec::len).max(1) as u32;
    let elements = report.pointer("/config/ssd/geometry/elements").and_then(Value::as_u64).unwrap_or(1).max(1);
    // A single member has room for its elements.
    let lane_height = if members == 1 { (elements as u32 * 16).clamp(LANE_HEIGHT, 320) } else { LANE_HEIGHT };

    svg(RESPONSES_HEIGHT + lane_height * members + LANES_FRAME, |area| {
        let (upper, lower) = area.split_vertically(RESPONSES_HEIGHT);
        draw_responses(&upper, &window, &requests)?;
        draw_lanes(&lower, &window, &collections, members, elements)
    })
}

fn draw_responses(area: &Area, window: &std::ops::Range<f64>, requests: &[Request]) -> Drawn {
    let longest = requests.iter().map(|request| request.response_us).fold(1.0, f64::max);
    let (unit, scale) = unit_of(longest);
    let mut chart = ChartBuilder::on(area)
        .margin_right(20)
        .margin_top(34)
        .x_label_area_size(8)
        .y_label_area_size(LEFT)
        .build_cartesian_2d(window.clone(), 0.0..longest / scale * 1.05)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(0)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .axis_style(INK)
        .label_style(FONT)
        .y_label_formatter(&tick)
        .y_desc(format!("response, {unit}"))
        .draw()?;
    for (write, colour) in [(false, SKY), (true, VERMILLION)] {
        // Marks on the same pixel would only make the file longer.
        let mut seen = BTreeSet::new();
        let pixel = |request: &&Request| {
            let x = (request.done_ms - window.start) / (window.end - window.start) * f64::from(WIDTH);
            let y = request.response_us / longest * f64::from(RESPONSES_HEIGHT);
            seen.insert((x as i64, y as i64))
        };
        let marks = requests.iter().filter(|request| request.write == write).filter(pixel);
        let marks = marks.map(|request| (request.done_ms, request.response_us / scale));
        match write {
            true => chart.draw_series(marks.map(|at| Cross::new(at, 3, colour.stroke_width(1))))?,
            false => chart.draw_series(marks.map(|at| Circle::new(at, 2, colour.filled())))?,
        };
    }
    area.draw_text("Response time of each request when it is done", &TITLE.into_font().color(&INK), (LEFT as i32, 8))?;
    legend(area, 18, &[("read", Mark::Dot, SKY), ("write", Mark::Cross, VERMILLION)])
}

fn draw_lanes(area: &Area, window: &std::ops::Range<f64>, collections: &[Collection], members: u32, elements: u64) -> Drawn {
    let mut chart = ChartBuilder::on(area)
        .margin_right(20)
        .margin_top(LANES_TOP)
        .x_label_area_size(46)
        .y_label_area_size(LEFT)
        .build_cartesian_2d(window.clone(), f64::from(members)..0.0)?;
    chart
        .configure_mesh()
        .disable_mesh()
        .axis_style(INK)
        .label_style(FONT)
        .y_labels(0)
        .x_label_formatter(&tick)
        .x_desc(format!("time, ms; one lane for each member, in it a row for each of {elements} elements"))
        .draw()?;
    let pixel_ms = (window.end - window.start) / f64::from(WIDTH);
    // Rows of one pixel at least, or a lane of many elements would look empty.
    let least_row = 1.0 / f64::from((area.dim_in_pixel().1 / members).max(1));
    for (forced, colour) in [(false, ORANGE), (true, BLUE)] {
        let rectangles = joined(collections.iter().filter(|collection| collection.forced == forced), pixel_ms / 2.0);
        let rectangles = rectangles.into_iter().map(|(member, element, start_ms, end_ms)| {
            let top = member as f64 + 0.08 + 0.84 * element as f64 / elements as f64;
            let bottom = top + (0.84 / elements as f64).max(least_row);
            Rectangle::new([(start_ms, top), (end_ms.max(start_ms + pixel_ms / 2.0), bottom)], colour.filled())
        });
        chart.draw_series(rectangles)?;
    }
    let lines = (0..=members).map(|lane| PathElement::new([(window.start, f64::from(lane)), (window.end, f64::from(lane))], GRID));
    chart.draw_series(lines)?;
    let above = area.get_base_pixel().1;
    for member in 0..members {
        let (_, y) = chart.plotting_area().map_coordinate(&(window.start, f64::from(member) + 0.5));
        area.draw_text(&format!("member {member}"), &FONT.into_font().color(&INK), (10, y - above - 7))?;
    }
    legend(area, 10, &[("collection of the member's own", Mark::Bar, ORANGE), ("forced by the controller", Mark::Bar, BLUE)])
}

/// Collections of an element that follow each other within `gap_ms` as one rectangle: (member, element, start, end).
fn joined<'a>(collections: impl Iterator<Item = &'a Collection>, gap_ms: f64) -> Vec<(u64, u64, f64, f64)> {
    let mut sorted: Vec<&Collection> = collections.collect();
    sorted.sort_by(|a, b| (a.member, a.element).cmp(&(b.member, b.element)).then(a.start_ms.total_cmp(&b.start_ms)));
    let mut rectangles: Vec<(u64, u64, f64, f64)> = Vec::new();
    for collection in sorted {
        match rectangles.last_mut() {
            Some((member, element, _, end_ms))
                if (*member, *element) == (collection.member, collection.element) && collection.start_ms - *end_ms < gap_ms =>
            {
                *end_ms = end_ms.max(collection.end_ms);
            }
            _ => rectangles.push((collection.member, collection.element, collection.start_ms, collection.end_ms)),
        }
    }
    rectangles
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn report() -> Value {
        json!({
            "members": [{}, {}],
            "config": { "ssd": { "geometry": { "elements": 2 } } },
            "timeline": {
                "from_ns": 0, "to_ns": 10_000_000,
                "requests": [{ "arrival_ns": 1_000_000, "done_ns": 3_000_000, "write": true }, { "arrival_ns": 0, "done_ns": 11_000_000, "write": false }],
                "gc": [
                    { "member": 1, "element": 1, "start_ns": 2_000_000, "end_ns": 4_000_000, "forced": true },
                    { "member": 0, "element": 0, "start_ns": 5_000_000, "end_ns": 6_000_000, "forced": false },
                ],
            },
        })
    }

    #[test]
    fn every_collection_and_request_of_the_window_is_drawn() {
        let picture = draw(&report()).unwrap().unwrap();
        let marks = |colour: &str| picture.matches(colour).count();
        // One rectangle each, and one in the legend.
        assert_eq!((marks("fill=\"#0072B2\""), marks("fill=\"#E69F00\"")), (2, 2));
        // A cross is two lines, here and in the legend; the request that ends after the window is left out.
        assert_eq!((marks("stroke=\"#D55E00\""), marks("fill=\"#56B4E9\"")), (4, 1));
        assert!(picture.contains("member 1") && !picture.contains("member 2"));
        assert_eq!(draw(&json!({})).unwrap(), None);
    }

    #[test]
    fn collections_closer_than_a_pixel_are_one_rectangle() {
        let collection = |start_ms, end_ms| Collection { member: 0, element: 0, start_ms, end_ms, forced: false };
        assert_eq!(
            joined([collection(4.0, 5.0), collection(0.0, 1.0), collection(1.01, 2.0)].iter(), 0.1),
            [(0, 0, 0.0, 2.0), (0, 0, 4.0, 5.0)]
        );
    }
}
