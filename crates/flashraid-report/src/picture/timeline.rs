//! Requests, collections and destages of a window of time, a lane for each member (GGC Figs. 10 and 13, LAWC Figs. 2 and 5).

use std::collections::BTreeSet;
use std::error::Error;

use plotters::prelude::*;

use super::{Area, Drawn, FONT, GRID, INK, Mark, PALETTE, TITLE, WIDTH, legend, linear, svg, tick};
use crate::chart::{FIXED, Panel, Timeline, ticks};
use crate::number::count_with_noun;

/// Colours of what is drawn, as in all other charts.
const READ: RGBColor = fixed(1);
const WRITE: RGBColor = fixed(2);
const OWN: RGBColor = fixed(3);
const FORCED: RGBColor = fixed(4);
const DESTAGE: RGBColor = fixed(5);

const fn fixed(name: usize) -> RGBColor {
    PALETTE[FIXED[name].1]
}

const RESPONSES_HEIGHT: u32 = 280;
const LANE_HEIGHT: u32 = 34;
const LEFT: u32 = 90;
/// Additional height of a lane that shows destages.
const DESTAGES_HEIGHT: u32 = 14;
/// Height of everything around the lanes: margins, times, description.
const LANES_FRAME: u32 = 74;
/// Room for the legend above the lanes.
const LANES_TOP: u32 = 24;

/// Room above a panel for its name and its slowest request.
const NAME_HEIGHT: u32 = 26;

/// Draws a timeline: for each array the response times, and below them its lanes.
pub fn draw(title: &str, timeline: &Timeline) -> Result<String, Box<dyn Error>> {
    let heights: Vec<u32> = timeline.panels.iter().map(|panel| NAME_HEIGHT + RESPONSES_HEIGHT + lanes_height(panel)).collect();
    svg(heights.iter().sum(), |area| {
        let mut rest = area.clone();
        for (index, (panel, height)) in timeline.panels.iter().zip(heights).enumerate() {
            let (own, below) = rest.split_vertically(height);
            let (name, own) = own.split_vertically(NAME_HEIGHT);
            let (upper, lower) = own.split_vertically(RESPONSES_HEIGHT);
            // The legend of the first panel is that of all.
            let is_first = index == 0;
            draw_responses(&upper, if is_first { title } else { "" }, timeline, panel)?;
            draw_lanes(&lower, timeline, panel)?;
            if is_first {
                draw_legends(&upper, &lower, timeline)?;
            }
            draw_name(&name, panel)?;
            rest = below;
        }
        Ok(())
    })
}

fn lanes_height(panel: &Panel) -> u32 {
    // A single member has room for its dies.
    let lane_height = if panel.members == 1 { (panel.dies * 16).clamp(LANE_HEIGHT, 320) } else { LANE_HEIGHT };
    let lane_height = lane_height + if panel.destages.is_empty() { 0 } else { DESTAGES_HEIGHT };
    lane_height * panel.members + LANES_FRAME
}

/// Names a panel, if it is one of several, and its slowest request.
fn draw_name(area: &Area, panel: &Panel) -> Drawn {
    let slowest = panel.slowest.as_ref().map_or("", |slowest| slowest.text.as_str());
    let gap = if panel.name.is_empty() || slowest.is_empty() { "" } else { ". " };
    area.draw_text(&format!("{}{gap}{slowest}", panel.name), &FONT.into_font().color(&INK), (LEFT as i32, 8))?;
    Ok(())
}

fn draw_responses(area: &Area, title: &str, timeline: &Timeline, panel: &Panel) -> Drawn {
    let (Timeline { window_ms: window, unit, .. }, requests, longest) = (timeline, &panel.requests, timeline.longest());
    let above = longest * 1.05;
    let mut chart = ChartBuilder::on(area)
        .margin_right(20)
        .margin_top(34)
        .x_label_area_size(8)
        .y_label_area_size(LEFT)
        .build_cartesian_2d(window.clone(), linear(&(0.0..above), ticks::UPWARDS_MAX, false))?;
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
    for (write, colour) in [(false, READ), (true, WRITE)] {
        // Marks on the same pixel would only make the file longer.
        let mut seen = BTreeSet::new();
        let pixel = |(done_ms, response, _): &(f64, f64, bool)| {
            let x = (done_ms - window.start) / (window.end - window.start) * f64::from(WIDTH);
            let y = response / longest * f64::from(RESPONSES_HEIGHT);
            seen.insert((x as i64, y as i64))
        };
        let marks = requests.iter().copied().filter(|request| request.2 == write).filter(pixel);
        let marks = marks.map(|(done_ms, response, _)| (done_ms, response));
        match write {
            true => chart.draw_series(marks.map(|at| Cross::new(at, 3, colour.stroke_width(1))))?,
            false => chart.draw_series(marks.map(|at| Circle::new(at, 2, colour.filled())))?,
        };
    }
    if let Some(slowest) = &panel.slowest {
        // From its arrival to its end, and a ring around it.
        let ends = [(slowest.from_ms, slowest.response), (slowest.done_ms, slowest.response)];
        chart.draw_series([PathElement::new(ends, INK.stroke_width(1))])?;
        chart.draw_series([Circle::new(ends[1], 6, INK.stroke_width(1))])?;
    }
    area.draw_text(title, &TITLE.into_font().color(&INK), (LEFT as i32, 8))?;
    Ok(())
}

/// Draws what the marks of all panels mean, above the first one's requests and above its lanes.
fn draw_legends(upper: &Area, lower: &Area, timeline: &Timeline) -> Drawn {
    legend(upper, 18, &[("read", Mark::Dot, READ), ("write", Mark::Cross, WRITE)])?;
    let destages = ("destage; thin: waits for the others", Mark::Bar, DESTAGE);
    let collections = [("collection of the member's own", Mark::Bar, OWN), ("forced by the controller", Mark::Bar, FORCED)];
    match timeline.panels.iter().all(|panel| panel.destages.is_empty()) {
        true => legend(lower, 10, &collections),
        false => legend(lower, 10, &[destages, collections[0], collections[1]]),
    }
}

fn draw_lanes(area: &Area, timeline: &Timeline, panel: &Panel) -> Drawn {
    let (window, Panel { members, dies, collections, .. }) = (&timeline.window_ms, panel);
    let (members, dies) = (*members, *dies);
    let rows = if dies == 1 { "its die".to_owned() } else { format!("a row for each of {}", count_with_noun(dies.into(), "die")) };
    // Destages have the upper part of a lane.
    let below = if panel.destages.is_empty() { 0.08 } else { 0.42 };
    let mut chart = ChartBuilder::on(area)
        .margin_right(20)
        .margin_top(LANES_TOP)
        .x_label_area_size(46)
        .y_label_area_size(LEFT)
        .build_cartesian_2d(linear(window, ticks::ACROSS_MAX, false), f64::from(members)..0.0)?;
    chart
        .configure_mesh()
        .disable_mesh()
        .axis_style(INK)
        .label_style(FONT)
        .y_labels(0)
        .x_label_formatter(&tick)
        .x_desc(match panel.destages.is_empty() {
            true => format!("time, ms; a lane for each member, in it {rows}"),
            false => format!("time, ms; a lane for each member, in it destages above {rows}"),
        })
        .draw()?;
    // What is shorter than a pixel has one: a rectangle without a width is not seen.
    let pixel_ms = 1.01 * (window.end - window.start) / f64::from(chart.plotting_area().dim_in_pixel().0);
    // Rows of one pixel at least, or a lane of many dies would look empty.
    let least_row = 1.0 / f64::from((area.dim_in_pixel().1 / members).max(1));
    for (forced, colour) in [(false, OWN), (true, FORCED)] {
        let rectangles = joined(collections.iter().filter(|collection| collection.4 == forced), pixel_ms / 2.0);
        let rectangles = rectangles.into_iter().map(|(member, die, start_ms, end_ms)| {
            let row = (0.92 - below) / f64::from(dies);
            let top = f64::from(member) + below + row * f64::from(die);
            let bottom = top + row.max(least_row);
            Rectangle::new([(start_ms, top), (end_ms.max(start_ms + pixel_ms), bottom)], colour.filled())
        });
        chart.draw_series(rectangles)?;
    }
    if let Some(met) = panel.slowest.as_ref().and_then(|slowest| collections.get(slowest.collection?)) {
        let top = f64::from(met.0) + below + (0.92 - below) / f64::from(dies) * f64::from(met.1);
        let bottom = top + ((0.92 - below) / f64::from(dies)).max(least_row);
        chart.draw_series([Rectangle::new([(met.2, top), (met.3.max(met.2 + pixel_ms), bottom)], INK.stroke_width(2))])?;
    }
    for &(member, begun_ms, ended_ms, done_ms) in &panel.destages {
        let bar = |from: f64, to: f64, top: f64, bottom: f64| {
            Rectangle::new([(from, f64::from(member) + top), (to, f64::from(member) + bottom)], DESTAGE.filled())
        };
        chart.draw_series([bar(begun_ms, ended_ms.max(begun_ms + pixel_ms), 0.1, 0.34)])?;
        if done_ms > ended_ms {
            chart.draw_series([bar(ended_ms, done_ms.max(ended_ms + pixel_ms), 0.2, 0.24)])?;
        }
    }
    let lines = (0..=members).map(|lane| PathElement::new([(window.start, f64::from(lane)), (window.end, f64::from(lane))], GRID));
    chart.draw_series(lines)?;
    let above = area.get_base_pixel().1;
    for member in 0..members {
        let (_, y) = chart.plotting_area().map_coordinate(&(window.start, f64::from(member) + 0.5));
        area.draw_text(&format!("member {member}"), &FONT.into_font().color(&INK), (10, y - above - 7))?;
    }
    Ok(())
}

/// Collections of a die that follow each other within `gap_ms` as one rectangle: (member, die, start, end).
fn joined<'a>(collections: impl Iterator<Item = &'a (u32, u32, f64, f64, bool)>, gap_ms: f64) -> Vec<(u32, u32, f64, f64)> {
    let mut sorted: Vec<_> = collections.collect();
    sorted.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
    let mut rectangles: Vec<(u32, u32, f64, f64)> = Vec::new();
    for &(member, die, start_ms, end_ms, _) in sorted {
        match rectangles.last_mut() {
            Some(last) if (last.0, last.1) == (member, die) && start_ms - last.3 < gap_ms => last.3 = last.3.max(end_ms),
            _ => rectangles.push((member, die, start_ms, end_ms)),
        }
    }
    rectangles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_collection_and_request_is_drawn() {
        let panel = Panel {
            name: String::new(),
            members: 2,
            dies: 2,
            requests: vec![(3.0, 2.0, true), (4.0, 1.0, false)],
            collections: vec![(1, 1, 2.0, 4.0, true), (0, 0, 5.0, 6.0, false)],
            destages: Vec::new(),
            slowest: None,
        };
        let timeline = Timeline { window_ms: 0.0..10.0, unit: "ms", panels: vec![panel.clone()] };
        let picture = draw("t", &timeline).unwrap();
        let marks = |colour: &str| picture.matches(colour).count();
        // Each has one mark, and one in the legend; a cross consists of two lines.
        assert_eq!((marks("fill=\"#1C4FB6\""), marks("fill=\"#D39F16\"")), (2, 2));
        assert_eq!((marks("stroke=\"#D73E19\""), marks("fill=\"#2AB2F2\"")), (4, 2));
        assert!(picture.contains("member 1") && !picture.contains("member 2") && marks("fill=\"#229684\"") == 0);

        let other = Panel { destages: vec![(0, 1.0, 2.0, 2.0), (1, 1.0, 2.0, 3.0)], ..panel.clone() };
        let with_destages = Timeline { panels: vec![other], ..timeline };
        // Three bars, of which one waits, and the legend.
        assert_eq!(draw("t", &with_destages).unwrap().matches("fill=\"#229684\"").count(), 4);

        // Two panels share the legend, which has what any of them shows.
        let both = Timeline { panels: vec![panel, with_destages.panels[0].clone()], ..with_destages };
        let picture = draw("t", &both).unwrap();
        for entry in ["read", "write", "collection of the member's own", "forced by the controller", "destage; thin: waits for the others"]
        {
            let entry = entry.replace('\'', "&apos;");
            assert_eq!(picture.lines().filter(|line| line.trim().replace('\'', "&apos;") == entry).count(), 1, "{entry}: {picture}");
        }
    }

    #[test]
    fn collections_closer_than_a_pixel_are_one_rectangle() {
        let collections = [(0, 0, 4.0, 5.0, false), (0, 0, 0.0, 1.0, false), (0, 0, 1.01, 2.0, false)];
        assert_eq!(joined(collections.iter(), 0.1), [(0, 0, 0.0, 2.0), (0, 0, 4.0, 5.0)]);
    }
}
