//! Free blocks over time in multiples of the threshold at which collection starts, with the state of collection (PGC Fig. 11).

use std::collections::BTreeMap;
use std::error::Error;
use std::ops::Range;

use plotters::prelude::*;
use serde_json::Value;

use super::{BLUE, FONT, GRID, INK, ORANGE, SKY, TITLE, VERMILLION, svg, tick};

const HEIGHT: u32 = 360;

/// States 1 to 3 of PGC III.D: their names and colours.
const STATES: [(&str, RGBColor); 3] = [("requests go in between", SKY), ("writes wait", ORANGE), ("all requests wait", VERMILLION)];

/// A line over time, and what collection was doing.
struct Course {
    title: String,
    /// (ms, free blocks over T_soft).
    line: Vec<(f64, f64)>,
    /// Stretches of time in state 1, 2, 3.
    states: [Vec<Range<f64>>; 3],
}

/// The picture: of the pool that came closest to running out in the window of the timeline, else of the whole run's poorest member.
pub fn draw(report: &Value) -> Result<Option<String>, Box<dyn Error>> {
    let Some(course) = pool(report).or_else(|| member(report)) else { return Ok(None) };
    let (Some(first), Some(last)) = (course.line.first(), course.line.last()) else { return Ok(None) };
    let (from, to) = (first.0, last.0.max(first.0 + 1e-3));
    let most = course.line.iter().map(|point| point.1).fold(1.0, f64::max) * 1.1;
    svg(HEIGHT, |area| {
        let mut chart = ChartBuilder::on(area)
            .caption(&course.title, TITLE.into_font().color(&INK))
            .margin_right(20)
            .margin_top(6)
            .x_label_area_size(46)
            .y_label_area_size(70)
            .build_cartesian_2d(from..to, 0.0..most)?;
        for (stretches, (name, colour)) in course.states.iter().zip(STATES) {
            if !stretches.is_empty() {
                let bands =
                    stretches.iter().map(|stretch| Rectangle::new([(stretch.start, 0.0), (stretch.end, most)], colour.mix(0.35).filled()));
                chart
                    .draw_series(bands)?
                    .label(name)
                    .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 16, y + 5)], colour.mix(0.35).filled()));
            }
        }
        chart
            .configure_mesh()
            .disable_x_mesh()
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .axis_style(INK)
            .label_style(FONT)
            .x_label_formatter(&tick)
            .y_label_formatter(&tick)
            .x_desc("time, ms")
            .y_desc("free blocks / T_soft")
            .draw()?;
        chart
            .draw_series(LineSeries::new(course.line.iter().copied(), BLUE.stroke_width(2)))?
            .label("free blocks")
            .legend(|(x, y)| line(x, y, BLUE));
        for (name, level) in thresholds(report) {
            chart
                .draw_series(DashedLineSeries::new([(from, level), (to, level)], 6, 4, INK.stroke_width(1)))?
                .label(format!("{name} = {level}"))
                .legend(|(x, y)| line(x, y, INK));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerLeft)
            .background_style(WHITE.mix(0.85))
            .label_font(FONT)
            .draw()?;
        Ok(())
    })
}

fn line(x: i32, y: i32, colour: RGBColor) -> PathElement<(i32, i32)> {
    PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2))
}

/// Thresholds in multiples of T_soft.
fn thresholds(report: &Value) -> Vec<(&'static str, f64)> {
    let gc = &report["config"]["ssd"]["gc"];
    let t_hard = gc["t_hard"].as_f64().filter(|_| gc["preemption"] == "semi");
    std::iter::once(("T_soft", 1.0)).chain(t_hard.map(|level| ("T_hard", level))).collect()
}

/// The pool whose free blocks fell lowest in the window, if the collections of the timeline tell about free blocks.
fn pool(report: &Value) -> Option<Course> {
    let timeline = &report["timeline"];
    let t_soft = timeline["start_free_blocks"].as_f64().filter(|blocks| *blocks > 0.0)?;
    let mut pools: BTreeMap<[u64; 3], Vec<&Value>> = BTreeMap::new();
    for clean in timeline["gc"].as_array()? {
        let place = ["member", "element", "pool"].map(|key| clean[key].as_u64());
        pools.entry([place[0]?, place[1]?, place[2]?]).or_default().push(clean);
    }
    let least = |cleans: &[&Value]| cleans.iter().filter_map(|clean| clean["free_blocks_least"].as_u64()).min();
    let (place, mut cleans) = pools.into_iter().min_by_key(|(_, cleans)| (least(cleans).unwrap_or(u64::MAX), usize::MAX - cleans.len()))?;
    cleans.sort_by_key(|clean| clean["start_ns"].as_u64());

    let ms = |clean: &Value, key: &str| Some(clean[key].as_f64()? / 1e6);
    let mut course = Course {
        title: format!("Free blocks of member {}, element {}, pool {}", place[0], place[1], place[2]),
        line: Vec::new(),
        states: Default::default(),
    };
    for clean in cleans {
        let (start, end) = (ms(clean, "start_ns")?, ms(clean, "end_ns")?);
        let least = clean["free_blocks_least"].as_f64()?;
        course.line.push((start, clean["free_blocks_before"].as_f64()? / t_soft));
        course.line.push((end, least / t_soft));
        course.line.push((end, (least + 1.0) / t_soft));
        let bounds = [start, ms(clean, "writes_wait_from_ns")?, ms(clean, "all_wait_from_ns")?, end];
        for (state, bounds) in bounds.windows(2).enumerate() {
            // With writes and reads held from the same moment on, state 2 is empty.
            if bounds[0] < bounds[1] {
                course.states[state].push(bounds[0]..bounds[1]);
            }
        }
    }
    Some(course)
}

/// The least free blocks of the member that came closest to running out, over the whole run.
fn member(report: &Value) -> Option<Course> {
    let members = report["free_blocks"].as_array()?;
    let lines = members.iter().map(|points| -> Vec<(f64, f64)> {
        points
            .as_array()
            .map_or(Vec::new(), |points| points.iter().filter_map(|point| Some((point[0].as_f64()?, point[1].as_f64()?))).collect())
    });
    let least = |line: &[(f64, f64)]| line.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
    let (index, line) = lines.enumerate().filter(|(_, line)| !line.is_empty()).min_by(|(_, a), (_, b)| least(a).total_cmp(&least(b)))?;
    Some(Course { title: format!("Least free blocks of a pool of member {index}"), line, states: Default::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_poorest_pool_shows_its_states() {
        let clean = |pool: u64, least: u64, hold_ms: u64| {
            json!({
                "member": 0, "element": 0, "pool": pool, "start_ns": 1_000_000, "end_ns": 9_000_000, "free_blocks_before": 5, "free_blocks_least": least,
                "writes_wait_from_ns": hold_ms * 1_000_000, "all_wait_from_ns": 9_000_000,
            })
        };
        let report = json!({ "timeline": { "start_free_blocks": 4, "gc": [clean(0, 3, 9), clean(1, 1, 5)] } });
        let course = pool(&report).unwrap();
        assert_eq!(course.line, [(1.0, 1.25), (9.0, 0.25), (9.0, 0.5)]);
        assert_eq!(course.states, [vec![1.0..5.0], vec![5.0..9.0], vec![]]);
        assert!(draw(&report).unwrap().unwrap().contains("pool 1"));
    }

    #[test]
    fn without_a_window_the_poorest_member_is_shown() {
        let report = json!({ "free_blocks": [[[0.0, 1.0, 1.0, 1.2], [1.0, 0.9, 1.0, 1.0]], [[0.0, 0.5, 1.0, 1.2]], []] });
        assert_eq!(member(&report).unwrap().line, [(0.0, 0.5)]);
        assert!(draw(&report).unwrap().unwrap().contains("member 1"));
        assert_eq!(draw(&json!({ "free_blocks": [] })).unwrap(), None);
    }
}
