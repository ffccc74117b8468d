//! Charts of free blocks over time, with the state of collection (PGC Fig. 11). The unit is the threshold at which collection starts.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::Value;

use super::{Axis, Band, Chart, Line, Lines};

/// Names of the states 1 to 3 of PGC III.D.
const STATES: [&str; 3] = ["collecting, requests go in between", "collecting, writes wait", "collecting, all wait"];

/// Returns a chart of the fewest free blocks of any pool of each member, over the whole run.
pub fn of_members(report: &Value) -> Option<Chart> {
    let members = report["free_blocks"].as_array()?;
    let lines = members.iter().enumerate().map(|(index, points)| Line::new(format!("member {index}"), line(points)));
    chart("free-blocks", "Free blocks, lowest pool of each member".to_owned(), lines.collect(), Vec::new(), levels(report))
}

/// Returns a chart of the fewest free blocks of any pool of any member, with a line for each report.
pub fn of_points<'a>(reports: impl IntoIterator<Item = (String, &'a Value)>) -> Option<Chart> {
    let mut t_soft = Vec::new();
    let lines = reports.into_iter().map(|(name, report)| {
        t_soft = levels(report);
        let members = report["free_blocks"].as_array().into_iter().flatten().map(line);
        let poorest = members.filter(|line| !line.is_empty()).min_by(|a, b| least(a).total_cmp(&least(b)));
        Line::new(name, poorest.unwrap_or_default())
    });
    let lines = lines.collect();
    t_soft.truncate(1);
    chart("free-blocks", "Free blocks, lowest member".to_owned(), lines, Vec::new(), t_soft)
}

/// Returns a chart of the pool whose free blocks fell lowest in the window of the timeline, with its states.
pub fn of_pool(report: &Value) -> Option<Chart> {
    let timeline = &report["timeline"];
    let t_soft = timeline["t_soft_free_blocks"].as_f64().filter(|blocks| *blocks > 0.0)?;
    let mut pools: BTreeMap<[u64; 3], Vec<&Value>> = BTreeMap::new();
    for clean in timeline["gc"].as_array()? {
        let place = ["member", "element", "pool"].map(|key| clean[key].as_u64());
        pools.entry([place[0]?, place[1]?, place[2]?]).or_default().push(clean);
    }
    let least = |cleans: &[&Value]| cleans.iter().filter_map(|clean| clean["free_blocks_least"].as_u64()).min();
    let (place, mut cleans) = pools.into_iter().min_by_key(|(_, cleans)| (least(cleans), usize::MAX - cleans.len()))?;
    cleans.sort_by_key(|clean| clean["start_ns"].as_u64());

    let ms = |clean: &Value, key: &str| Some(clean[key].as_f64()? / 1e6);
    let mut points = Vec::new();
    let mut states: [Vec<Range<f64>>; 3] = Default::default();
    for clean in cleans {
        let (start, end) = (ms(clean, "start_ns")?, ms(clean, "end_ns")?);
        let least = clean["free_blocks_least"].as_f64()?;
        points.extend([(start, clean["free_blocks_before"].as_f64()?), (end, least), (end, least + 1.0)]);
        let bounds = [start, ms(clean, "writes_wait_from_ns")?, ms(clean, "all_wait_from_ns")?, end];
        for (state, bounds) in bounds.windows(2).enumerate().filter(|(_, bounds)| bounds[0] < bounds[1]) {
            states[state].push(bounds[0]..bounds[1]);
        }
    }
    points.iter_mut().for_each(|point| point.1 /= t_soft);
    let bands = STATES.iter().zip(states).map(|(name, stretches)| Band { name: (*name).to_owned(), stretches });
    let bands = bands.filter(|band| !band.stretches.is_empty()).collect();
    let title = format!("Free blocks, lowest pool of the window (member {}, die {}, pool {})", place[0], place[1], place[2]);
    chart("free-blocks-window", title, vec![Line::new("free blocks", points)], bands, levels(report))
}

fn chart(id: &str, title: String, series: Vec<Line>, bands: Vec<Band>, levels: Vec<(String, f64)>) -> Option<Chart> {
    Chart::of_lines(
        id,
        title,
        Lines { bands, levels, ..Lines::plain(Axis::linear("time, ms"), Axis::linear("free blocks / T_soft"), series) },
    )
}

/// Returns the points of a member: begin in milliseconds, and the fewest free blocks.
fn line(points: &Value) -> Vec<(f64, f64)> {
    points.as_array().into_iter().flatten().filter_map(|point| Some((point[0].as_f64()?, point[1].as_f64()?))).collect()
}

fn least(line: &[(f64, f64)]) -> f64 {
    line.iter().map(|point| point.1).fold(f64::INFINITY, f64::min)
}

/// Returns the names of the thresholds, and their values in multiples of T_soft.
fn levels(report: &Value) -> Vec<(String, f64)> {
    let gc = &report["config"]["ssd"]["gc"];
    let t_hard = gc["t_hard"].as_f64().filter(|_| gc["preemption"] == "semi");
    let t_hard = t_hard.map(|level| ("T_hard".to_owned(), level));
    std::iter::once(("T_soft".to_owned(), 1.0)).chain(t_hard).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Content;
    use serde_json::json;

    fn lines(chart: Option<Chart>) -> Lines {
        match chart.unwrap().content {
            Content::Lines(lines) => lines,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_poorest_pool_shows_its_states() {
        let clean = |pool: u64, least: u64, hold_ms: u64| {
            json!({
                "member": 0, "element": 0, "pool": pool, "start_ns": 1_000_000, "end_ns": 9_000_000, "free_blocks_before": 5,
                "free_blocks_least": least, "writes_wait_from_ns": hold_ms * 1_000_000, "all_wait_from_ns": 9_000_000,
            })
        };
        let gc = json!({ "preemption": "semi", "t_hard": 0.5 });
        let timeline = json!({ "t_soft_free_blocks": 4, "gc": [clean(0, 3, 9), clean(1, 1, 5)] });
        let lines = lines(of_pool(&json!({ "timeline": timeline, "config": { "ssd": { "gc": gc } } })));
        assert_eq!(lines.series[0].points, [(1.0, 1.25), (9.0, 0.25), (9.0, 0.5)]);
        let bands: Vec<_> = lines.bands.iter().map(|band| (band.name.as_str(), band.stretches.clone())).collect();
        assert_eq!(bands, [(STATES[0], vec![1.0..5.0]), (STATES[1], vec![5.0..9.0])]);
        assert_eq!(lines.levels, [("T_soft".to_owned(), 1.0), ("T_hard".to_owned(), 0.5)]);
    }

    #[test]
    fn members_without_collections_have_no_line() {
        let report = json!({ "free_blocks": [[[0.0, 1.0, 1.0, 1.2], [1.0, 0.9, 1.0, 1.0]], [[0.0, 0.5, 1.0, 1.2]], []] });
        let names: Vec<String> = lines(of_members(&report)).series.into_iter().map(|line| line.name).collect();
        assert_eq!(names, ["member 0", "member 1"]);
        assert_eq!(lines(of_points([("a".to_owned(), &report)])).series[0].points, [(0.0, 0.5)]);
        assert_eq!(of_members(&json!({ "free_blocks": [] })), None);
    }
}
