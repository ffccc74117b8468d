//! Every kind of mark that a page can draw, read back from the pixels of its charts, is where the data say.
//!
//! The browser switches everything off and one entry of the legend on, so that what changes is what that entry draws (`browser_read.js`).

use std::collections::BTreeMap;

use serde_json::Value;

/// Number of marks of each kind that were read.
pub type Marks = BTreeMap<&'static str, usize>;

/// Kinds of marks that the page of a run can have besides bars.
pub const OF_RUNS: [&str; 12] = [
    "collection",
    "destage",
    "forced collection",
    "lane",
    "level",
    "line",
    "mark of a moment",
    "point",
    "read",
    "tick",
    "wait of a destage",
    "write",
];

/// Radius of a dot.
const DOT: f64 = 4.5;
/// Gaps between dashes of a line are no longer.
const GAP_MAX: usize = 9;

/// A plot: where its axes put values, in pixels from its corner.
struct Plot<'a> {
    chart: &'a Value,
    about: String,
    width: f64,
    height: f64,
}

impl Plot<'_> {
    fn place(&self, axis: &str, value: f64) -> f64 {
        let scale = &self.chart["scale"][axis];
        let [min, max] = [0, 1].map(|end| scale[end].as_f64().unwrap());
        let share = if scale[2] == true { (value / min).ln() / (max / min).ln() } else { (value - min) / (max - min) };
        if axis == "x" { share * self.width } else { (1.0 - share) * self.height }
    }

    fn x(&self, value: f64) -> f64 {
        self.place("x", value)
    }

    fn y(&self, value: f64) -> f64 {
        self.place("y", value)
    }

    /// Returns true if an axis can show a value.
    fn is_on(&self, axis: &str, value: f64) -> bool {
        value > 0.0 || self.chart["scale"][axis][2] != true
    }
}

/// Collects everything that is wrong with charts, because drawing them again takes long.
#[derive(Default)]
pub struct Faults(Vec<String>);

impl Faults {
    /// Notes what a check has to say.
    pub fn check(&mut self, check: impl FnOnce()) {
        if let Err(panic) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)) {
            self.0.push(panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "a panic without a text".to_owned()));
        }
    }
}

impl Drop for Faults {
    fn drop(&mut self) {
        assert!(self.0.is_empty() || std::thread::panicking(), "{} faults:\n{}", self.0.len(), self.0.join("\n"));
    }
}

/// Reads every mark of a chart but bars themselves.
pub fn expect_marks(chart: &Value, about: &str, read: &mut Marks) {
    let [width, height] = ["width", "height"].map(|side| chart["scale"][side].as_f64().unwrap());
    let plot = Plot { chart, about: format!("{about} {}", chart["id"]), width, height };
    let content = &chart["content"];
    expect_ticks(&plot, read);
    match content["kind"].as_str().unwrap() {
        "lines" => expect_lines(&plot, content, read),
        "bars" if content["y"]["log"] == true => expect_dots(&plot, content, read),
        "bars" => expect_whiskers(&plot, content, read),
        "timeline" => expect_timeline(&plot, content, read),
        other => panic!("{other}"),
    }
}

/// A text of a plot: what, where, how wide.
fn texts(chart: &Value, panel: usize) -> Vec<(String, f64, f64, f64)> {
    serde_json::from_value(chart["texts"][panel].clone()).unwrap()
}

/// A number on an axis, for instance `1,500` and `400 k`.
fn numeral(text: &str) -> Option<f64> {
    let (digits, scale) = match text.split_once(' ') {
        None => (text, 1.0),
        Some((digits, "k")) => (digits, 1e3),
        Some((digits, "M")) => (digits, 1e6),
        Some((digits, "G")) => (digits, 1e9),
        Some(_) => return None,
    };
    Some(digits.replace(',', "").replace('−', "-").parse::<f64>().ok()? * scale)
}

/// The numbers beside the axes stand where their values are; names of groups and lanes stand at theirs.
fn expect_ticks(plot: &Plot, read: &mut Marks) {
    let (chart, content) = (plot.chart, &plot.chart["content"]);
    let is_bars = content["kind"] == "bars";
    let labels: Vec<&str> = chart["labels"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let (mut across, mut upwards) = (0, 0);
    let mut groups = Vec::new();
    for (text, x, y, _) in texts(chart, 0) {
        if y > plot.height && is_bars {
            groups.push(text);
        } else if labels.contains(&text.as_str()) || text.is_empty() {
            continue;
        } else if y > plot.height {
            let value = numeral(&text).unwrap_or_else(|| panic!("{}: {text:?} is no number", plot.about));
            assert!((plot.x(value) - x).abs() <= 1.0, "{}: {text} at {x} instead of {}", plot.about, plot.x(value));
            across += 1;
        } else if x < 0.0 {
            let value = numeral(&text).unwrap_or_else(|| panic!("{}: {text:?} is no number", plot.about));
            assert!((plot.y(value) - y).abs() <= 1.0, "{}: {text} at {y} instead of {}", plot.about, plot.y(value));
            upwards += 1;
        }
    }
    assert!(upwards >= 2, "{}: an axis with {upwards} numbers", plot.about);
    *read.entry("tick").or_default() += across + upwards;
    if is_bars {
        let names = content["groups"].as_array().unwrap().iter().map(|name| name.as_str().unwrap());
        let names: Vec<String> =
            names.map(|name| if content["by_group"] == true { shown_name(content, name) } else { name.to_owned() }).collect();
        assert_eq!(groups, names, "{}", plot.about);
    } else if content["kind"] == "lines" {
        assert!(across >= 2, "{}: an axis with {across} numbers", plot.about);
    }
}

/// Returns true if a name of a chart stands for a yardstick.
pub fn is_yardstick(content: &Value, name: &str) -> bool {
    content["yardsticks"].as_array().into_iter().flatten().any(|yardstick| yardstick == name)
}

/// The symbols of doubt about a value of a line or series.
pub fn doubt(series: &Value, index: usize) -> &str {
    match series["doubts"].as_array().map_or(&[][..], Vec::as_slice) {
        [all] => all.as_str().unwrap(),
        each => each.get(index).map_or("", |text| text.as_str().unwrap()),
    }
}

/// A name as legends show it: with what it stands for, and with the symbols of its values.
pub fn shown_name(content: &Value, name: &str) -> String {
    let series = content["series"].as_array().into_iter().flatten();
    let group = content["groups"].as_array().into_iter().flatten().position(|group| group == name).filter(|_| content["by_group"] == true);
    let texts: String = match group {
        Some(group) => series.map(|series| doubt(series, group)).collect(),
        None => series
            .filter(|series| series["name"] == name)
            .flat_map(|series| series["doubts"].as_array().into_iter().flatten().filter_map(Value::as_str))
            .collect(),
    };
    let symbols: String = "∅✗!?≈".chars().filter(|symbol| texts.contains(*symbol)).collect();
    let yardstick = if is_yardstick(content, name) { " (yardstick)" } else { "" };
    format!("{name}{yardstick} {symbols}").trim_end().to_owned()
}

/// Marks that belong to an entry of the legend.
struct Drawn {
    /// Down each column or along each row the stretches [from, to).
    runs: Vec<Vec<(usize, usize)>>,
}

/// Returns the marks of the entry with this name, in the colour of the legend.
fn drawn(plot: &Plot, index: usize, name: &str) -> Drawn {
    let entry = &plot.chart["drawn"][index];
    let shown = Value::from(shown_name(&plot.chart["content"], name));
    assert_eq!((&entry["name"], &plot.chart["ratio"]), (&shown, &Value::from(1)), "{}", plot.about);
    let runs: Vec<Vec<(usize, usize)>> = serde_json::from_value(entry["runs"].clone()).unwrap();
    let content = &plot.chart["content"];
    // Most of a hollow dot is the ground, and groups that are compared have no entries.
    let is_hollow = content["kind"] == "bars" && is_yardstick(content, name);
    if runs.iter().any(|runs| !runs.is_empty()) && content["by_group"] != true && !is_hollow {
        let swatch = entry["swatch"].as_str().unwrap();
        let swatch: Vec<f64> = swatch.split(['(', ',', ')']).filter_map(|part| part.trim().parse().ok()).collect();
        let colour: Vec<f64> = serde_json::from_value(entry["colour"].clone()).unwrap();
        // What shines through is stored with few digits.
        let alike = swatch.iter().zip(&colour).take(3).all(|(swatch, colour)| (swatch - colour).abs() <= 3.0);
        assert!(alike, "{}: {name} is drawn in {colour:?}, the legend says {swatch:?}", plot.about);
    }
    Drawn { runs }
}

fn points(line: &Value) -> Vec<(f64, f64)> {
    serde_json::from_value(line["points"].clone()).unwrap()
}

/// The corners of a line.
fn corners(line: &Value, steps: bool) -> Vec<(f64, f64)> {
    let mut corners: Vec<(f64, f64)> = Vec::new();
    for (x, y) in points(line) {
        if let Some(&(_, before)) = corners.last().filter(|_| steps) {
            corners.push((x, before));
        }
        corners.push((x, y));
    }
    corners
}

/// The least and the greatest height of a path between two places across; nothing where it is not.
fn envelope(path: &[(f64, f64)], from: f64, to: f64) -> Option<(f64, f64)> {
    let mut found: Option<(f64, f64)> = None;
    let mut add = |y: f64| found = Some(found.map_or((y, y), |(low, high)| (y.min(low), y.max(high))));
    path.iter().filter(|point| (from..=to).contains(&point.0)).for_each(|point| add(point.1));
    for pair in path.windows(2) {
        for at in [from, to] {
            if pair[0].0 <= at && at <= pair[1].0 && pair[0].0 < pair[1].0 {
                add(pair[0].1 + (at - pair[0].0) / (pair[1].0 - pair[0].0) * (pair[1].1 - pair[0].1));
            }
        }
    }
    found
}

fn expect_lines(plot: &Plot, content: &Value, read: &mut Marks) {
    let about = &plot.about;
    let steps = content["steps"] == true;
    let series = content["series"].as_array().unwrap();
    let is_marked = content["look"]["marked"] == true;
    for (index, line) in series.iter().enumerate() {
        let drawn = drawn(plot, index, line["name"].as_str().unwrap());
        let on = |point: &(f64, f64)| plot.is_on("x", point.0) && plot.is_on("y", point.1);
        let path: Vec<(f64, f64)> = corners(line, steps).iter().filter(|point| on(point)).map(|(x, y)| (plot.x(*x), plot.y(*y))).collect();
        let own: Vec<(f64, f64)> = points(line).iter().filter(|point| on(point)).map(|(x, y)| (plot.x(*x), plot.y(*y))).collect();
        // Intervals stand on their points, as far as the plot reaches.
        let halves: Vec<f64> = line["half_widths"].as_array().into_iter().flatten().map(|half| half.as_f64().unwrap()).collect();
        let least = plot.chart["scale"]["y"][0].as_f64().unwrap();
        let interval = |((x, y), half): (&(f64, f64), &f64)| {
            let low = if content["y"]["log"] == true { (y - half).max(least) } else { y - half };
            (plot.x(*x), plot.y(y + half), plot.y(low))
        };
        let intervals: Vec<(f64, f64, f64)> = points(line).iter().zip(&halves).map(interval).collect();

        // Nothing is drawn elsewhere.
        let mut holes = 0;
        for (column, runs) in drawn.runs.iter().enumerate() {
            let middle = column as f64 + 0.5;
            let mut allowed = envelope(&path, middle - 2.5, middle + 2.5);
            let mut widen = |top: f64, bottom: f64| allowed = Some(allowed.map_or((top, bottom), |(a, b)| (a.min(top), b.max(bottom))));
            if is_marked {
                own.iter().filter(|point| (point.0 - middle).abs() <= 6.0).for_each(|point| widen(point.1 - 4.0, point.1 + 4.0));
            }
            intervals.iter().filter(|interval| (interval.0 - middle).abs() <= 2.0).for_each(|(_, top, bottom)| widen(*top, *bottom));
            for (top, bottom) in runs {
                let (from, to) = allowed.unwrap_or_else(|| panic!("{about} {}: drawn at column {column}", line["name"]));
                assert!(
                    *top as f64 >= from - 2.5 && *bottom as f64 <= to + 2.5,
                    "{about} {}: column {column} is drawn from {top} to {bottom}, the line is from {from} to {to}",
                    line["name"]
                );
            }
            // And the line is drawn wherever it is, but for the gaps of its dashes.
            let gap = if content["look"]["colours"][index] == 0 { 0 } else { GAP_MAX };
            match (envelope(&path, middle - 0.5, middle + 0.5), runs.first().zip(runs.last())) {
                (Some((from, to)), Some((first, last))) => {
                    holes = 0;
                    let slack = 2.0 + gap as f64;
                    let (from, to) = (from.clamp(0.0, plot.height), to.clamp(0.0, plot.height));
                    assert!(
                        first.0 as f64 <= from + slack && last.1 as f64 >= to - slack,
                        "{about} {}: column {column} is drawn from {} to {} instead of {from} to {to}",
                        line["name"],
                        first.0,
                        last.1
                    );
                }
                // Rounding decides over the columns of both ends.
                (Some(_), None) if path.len() > 1 && middle > path[0].0 + 2.0 && middle < path[path.len() - 1].0 - 2.0 => {
                    holes += 1;
                    assert!(holes <= gap + 2, "{about} {}: nothing is drawn up to column {column}", line["name"]);
                }
                _ => {}
            }
        }
        *read.entry("line").or_default() += usize::from(path.len() > 1);
        let column = |x: f64| drawn.runs.get((x as usize).min(drawn.runs.len() - 1)).unwrap();
        if is_marked {
            for (x, y) in &own {
                let is_there = |run: &(usize, usize)| run.0 as f64 <= y - 2.0 && run.1 as f64 >= y + 2.0;
                let whole = (4.0..plot.width - 4.0).contains(x) && (4.0..plot.height - 4.0).contains(y);
                assert!(!whole || column(*x).iter().any(is_there), "{about} {}: no point at {x} {y}", line["name"]);
                *read.entry("point").or_default() += usize::from(whole);
            }
        }
        for (x, top, bottom) in intervals.iter().filter(|interval| interval.2 - interval.1 > 12.0) {
            let near = |reach: fn(&(usize, usize)) -> f64, best: fn(f64, f64) -> f64| {
                let columns = (*x as usize).saturating_sub(1)..=*x as usize + 1;
                columns.filter_map(|column| drawn.runs.get(column)).flatten().map(reach).reduce(best).unwrap()
            };
            let (first, last) = (near(|run| run.0 as f64, f64::min), near(|run| run.1 as f64, f64::max));
            assert!(
                (first - top.max(0.0)).abs() <= 2.0 && (last - bottom.min(plot.height)).abs() <= 2.0,
                "{about} {}: an interval from {first} to {last} instead of {top} to {bottom}",
                line["name"]
            );
            *read.entry("interval of a point").or_default() += 1;
        }
    }
    for (index, band) in content["bands"].as_array().unwrap().iter().enumerate() {
        expect_band(plot, &drawn(plot, series.len() + index, band["name"].as_str().unwrap()), band);
        *read.entry("band").or_default() += 1;
    }
    expect_dashed(plot, content, "marks", "upright", read);
    expect_dashed(plot, content, "levels", "level", read);
}

/// A band is as wide as its stretches, and as high as the plot.
fn expect_band(plot: &Plot, drawn: &Drawn, band: &Value) {
    let is_covered = |runs: &Vec<(usize, usize)>| runs.iter().map(|run| run.1 - run.0).sum::<usize>() as f64 > 0.8 * plot.height;
    let columns: Vec<bool> = drawn.runs.iter().map(is_covered).collect();
    let stretch = |stretch: &Value| {
        let [start, end] = ["start", "end"].map(|end| plot.x(stretch[end].as_f64().unwrap()));
        (start, end.max(start + 1.0))
    };
    let stretches: Vec<(f64, f64)> = band["stretches"].as_array().unwrap().iter().map(stretch).collect();
    for (column, is_drawn) in columns.iter().enumerate() {
        let (from, to) = (column as f64, column as f64 + 1.0);
        let is_part = stretches.iter().any(|stretch| stretch.0 - 1.0 <= from && to <= stretch.1 + 1.0);
        assert!(!is_drawn || is_part, "{} {}: a band at column {column}: {stretches:?}", plot.about, band["name"]);
        let is_within = stretches.iter().any(|stretch| stretch.0 + 0.5 <= from && to <= stretch.1 - 0.5);
        // A line of the grid is there with and without the band.
        let beside = [column.saturating_sub(1), column + 1].iter().any(|column| columns.get(*column) == Some(&true));
        assert!(!is_within || *is_drawn || beside, "{} {}: no band at column {column}: {stretches:?}", plot.about, band["name"]);
    }
    assert!(columns.contains(&true), "{} {}: nothing is drawn", plot.about, band["name"]);
}

/// Moments and thresholds are dashed lines with their names beside them, and nothing else is one.
fn expect_dashed(plot: &Plot, content: &Value, key: &str, direction: &str, read: &mut Marks) {
    let names: Vec<(String, f64)> = serde_json::from_value(content[key].clone()).unwrap();
    let pixels: Vec<f64> = serde_json::from_value(plot.chart[direction].clone()).unwrap();
    let texts = texts(plot.chart, 0);
    let expected: Vec<f64> = names.iter().map(|(_, at)| if key == "marks" { plot.x(*at) } else { plot.y(*at) }).collect();
    for pixel in &pixels {
        assert!(expected.iter().any(|at| (pixel + 0.5 - at).abs() <= 2.0), "{}: a dashed line at {pixel}: {expected:?}", plot.about);
    }
    for ((name, _), at) in names.iter().zip(&expected) {
        assert!(
            pixels.iter().any(|pixel| (pixel + 0.5 - at).abs() <= 2.0),
            "{}: no dashed line for {name} at {at}: {pixels:?}",
            plot.about
        );
        let is_beside = |(text, x, y, width): &(String, f64, f64, f64)| {
            let beside =
                if key == "marks" { (x - at - 4.0).abs() <= 1.0 || (x + width + 4.0 - at).abs() <= 1.0 } else { (y - at).abs() <= 16.0 };
            text == name && beside && *x >= 0.0 && x + width <= plot.width
        };
        assert!(texts.iter().any(is_beside), "{}: {name} is not beside its line: {texts:?}", plot.about);
        *read.entry(if key == "marks" { "mark of a moment" } else { "level" }).or_default() += 1;
    }
}

/// Asserts that dots with their intervals are at their values, in the middle of their groups, and that nothing else is drawn. Each series
/// is drawn alone.
fn expect_dots(plot: &Plot, content: &Value, read: &mut Marks) {
    let least = plot.chart["scale"]["y"][0].as_f64().unwrap();
    for (index, series) in content["series"].as_array().unwrap().iter().enumerate() {
        let drawn = drawn(plot, index, series["name"].as_str().unwrap());
        let values = series["values"].as_array().unwrap().iter().enumerate();
        // Place, and the ends of the interval if there is one.
        let dots: Vec<([f64; 2], Option<[f64; 2]>)> = values
            .filter_map(|(group, value)| {
                let (value, half) = (value.as_f64()?, series["half_widths"][group].as_f64());
                let reach = half.map(|half| [plot.y(value + half), plot.y((value - half).max(least))]);
                Some(([plot.x(group as f64), plot.y(value)], reach))
            })
            .collect();
        for ([x, y], reach) in &dots {
            let [top, bottom] = reach.unwrap_or([*y, *y]);
            let (top, bottom) = (top.min(y - DOT).max(0.0), bottom.max(y + DOT).min(plot.height));
            let columns = (*x as usize).saturating_sub(1)..=*x as usize + 1;
            let runs = || columns.clone().filter_map(|column| drawn.runs.get(column)).flatten();
            let first = runs().map(|run| run.0 as f64).fold(f64::INFINITY, f64::min);
            let last = runs().map(|run| run.1 as f64).fold(0.0, f64::max);
            assert!(
                (first - top).abs() <= 2.0 && (last - bottom).abs() <= 2.0,
                "{} {}: a dot from {first} to {last} instead of {top} to {bottom}",
                plot.about,
                series["name"]
            );
            *read.entry("dot").or_default() += 1;
            *read.entry("interval of a dot").or_default() += usize::from(reach.is_some());
        }
        for (column, runs) in drawn.runs.iter().enumerate() {
            let is_dot = dots.iter().any(|dot| (dot.0[0] - column as f64 - 0.5).abs() <= DOT + 2.5);
            assert!(runs.is_empty() || is_dot, "{} {}: drawn at column {column}", plot.about, series["name"]);
        }
    }
}

/// The intervals of bars.
fn expect_whiskers(plot: &Plot, content: &Value, read: &mut Marks) {
    for (series, whiskers) in content["series"].as_array().unwrap().iter().zip(plot.chart["whiskers"].as_array().unwrap()) {
        for (group, whisker) in whiskers.as_array().unwrap().iter().enumerate() {
            let (value, half) = (series["values"][group].as_f64(), series["half_widths"][group].as_f64());
            let (Some(value), false) = (value, whisker == "narrow" || content["stacked"] == true) else { continue };
            let Some(half) = half else {
                assert!(whisker.is_null(), "{} {}: an interval that is not there: {whisker}", plot.about, series["name"]);
                continue;
            };
            let least = plot.chart["scale"]["y"][0].as_f64().unwrap();
            let (top, bottom) = (plot.y(value + half), plot.y((value - half).max(least)));
            if bottom - top < 4.0 {
                continue;
            }
            let (first, last): (f64, f64) =
                serde_json::from_value(whisker.clone()).unwrap_or_else(|_| panic!("{} {}: no interval", plot.about, series["name"]));
            assert!(
                (first - top).abs() <= 2.0 && (last - bottom).abs() <= 2.0,
                "{} {}: an interval from {first} to {last} instead of {top} to {bottom}",
                plot.about,
                series["name"]
            );
            *read.entry("interval of a bar").or_default() += 1;
        }
    }
}

/// A rectangle: left, top, right, bottom.
type Rectangle = (f64, f64, f64, f64);

/// Pixels around an edge of the frame of a collection that its line covers.
const FRAME: f64 = 3.5;

/// Asserts that these rectangles are drawn and nothing else, and returns their number. `frame` has the left and the right edge of a frame
/// whose line covers them.
fn expect_rectangles(plot: &Plot, drawn: &Drawn, rectangles: &[Rectangle], frame: &[f64], what: &str) -> usize {
    let is_covered = |x: f64| frame.iter().any(|edge| (edge - x).abs() <= FRAME);
    let joined = |runs: &[(usize, usize)]| -> Vec<(usize, usize)> {
        let mut joined: Vec<(usize, usize)> = Vec::new();
        for &(from, to) in runs {
            match joined.last_mut() {
                Some(last) if (from - last.1) as f64 <= FRAME && is_covered(last.1 as f64) && is_covered(from as f64) => last.1 = to,
                _ => joined.push((from, to)),
            }
        }
        joined
    };
    for &(left, top, right, bottom) in rectangles {
        if is_covered(left) && is_covered(right) && right - left <= FRAME {
            continue;
        }
        let [slack_left, slack_right] = [left, right].map(|x| if is_covered(x) { FRAME } else { 1.5 });
        let row = (f64::midpoint(top, bottom) as usize).min(drawn.runs.len() - 1);
        let rows = row.saturating_sub(1)..=(row + 1).min(drawn.runs.len() - 1);
        let covers =
            |run: &(usize, usize)| run.0 as f64 <= left.max(0.0) + slack_left && run.1 as f64 >= right.min(plot.width) - slack_right;
        assert!(
            rows.clone().any(|row| joined(&drawn.runs[row]).iter().any(covers)),
            "{}: no {what} from {left} to {right} in row {row}: {:?}",
            plot.about,
            drawn.runs[row]
        );
    }
    for (row, runs) in drawn.runs.iter().enumerate() {
        let middle = row as f64 + 0.5;
        let here = rectangles.iter().filter(|rectangle| rectangle.1 - 1.0 <= middle && middle <= rectangle.3.max(rectangle.1 + 1.0) + 1.0);
        let mut here: Vec<(f64, f64)> = here.map(|rectangle| (rectangle.0 - 1.5, rectangle.2 + 1.5)).collect();
        here.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut joined: Vec<(f64, f64)> = Vec::new();
        for (from, to) in here {
            match joined.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => joined.push((from, to)),
            }
        }
        for (from, to) in runs {
            let within = joined.iter().any(|stretch| stretch.0 <= *from as f64 && *to as f64 <= stretch.1);
            assert!(within, "{}: row {row} shows a {what} from {from} to {to}: {joined:?}", plot.about);
        }
    }
    rectangles.len()
}

fn expect_timeline(plot: &Plot, content: &Value, read: &mut Marks) {
    let content = &content["panels"][0];
    let requests: Vec<(f64, f64, bool)> = serde_json::from_value(content["requests"].clone()).unwrap();
    for (index, (name, kind, is_write)) in [("● read", "read", false), ("× write", "write", true)].into_iter().enumerate() {
        let drawn = drawn(plot, index, name);
        let own: Vec<(f64, f64)> =
            requests.iter().filter(|request| request.2 == is_write).map(|(ms, response, _)| (plot.x(*ms), plot.y(*response))).collect();
        for (x, y) in &own {
            let is_inside =
                |row: usize| drawn.runs.get(row).into_iter().flatten().any(|run| run.0 as f64 - 1.0 <= *x && *x <= run.1 as f64 + 1.0);
            let row = *y as usize;
            assert!((row.saturating_sub(1)..=row + 1).any(is_inside), "{}: no {kind} at {x} {y}", plot.about);
        }
        for (row, runs) in drawn.runs.iter().enumerate() {
            for column in runs.iter().flat_map(|run| run.0..run.1) {
                let (x, y) = (column as f64 + 0.5, row as f64 + 0.5);
                let is_near = |point: &(f64, f64)| (point.0 - x).abs() <= 5.0 && (point.1 - y).abs() <= 5.0;
                assert!(own.iter().any(is_near), "{}: a {kind} is drawn at {x} {y}", plot.about);
            }
        }
        *read.entry(kind).or_default() += own.len();
    }

    // The lanes: as many as members, with their names; rows of dies, below destages where there are any.
    let (members, dies) = (content["members"].as_f64().unwrap(), content["dies"].as_f64().unwrap());
    let collections: Vec<(f64, f64, f64, f64, bool)> = serde_json::from_value(content["collections"].clone()).unwrap();
    let destages: Vec<(f64, f64, f64, f64)> = serde_json::from_value(content["destages"].clone()).unwrap();
    let own = drawn(plot, 2, "collection of the member's own");
    let lane = own.runs.len() as f64 / members;
    let names = texts(plot.chart, 1);
    for member in 0..members as usize {
        let middle = (member as f64 + 0.5) * lane;
        let is_here = |(text, x, y, _): &(String, f64, f64, f64)| *text == format!("SSD {member}") && *x < 0.0 && (y - middle).abs() <= 1.0;
        assert!(names.iter().any(is_here), "{}: no SSD {member} at {middle}: {names:?}", plot.about);
        *read.entry("lane").or_default() += 1;
    }
    // Both panels have the time across; its numbers stand below the lanes.
    for (text, x, y, _) in &names {
        if *y > own.runs.len() as f64 && text != "time, ms" {
            let value = numeral(text).unwrap();
            assert!((plot.x(value) - x).abs() <= 1.0, "{}: {text} at {x} instead of {}", plot.about, plot.x(value));
            *read.entry("tick").or_default() += 1;
        }
    }
    // The collection that the slowest request met has a frame.
    let met = content["slowest"]["collection"].as_u64().map(|at| collections[at as usize]);
    let frame: Vec<f64> = met.iter().flat_map(|(_, _, start, end, _)| [plot.x(*start), plot.x(*end)]).collect();
    let below = if destages.is_empty() { 0.08 } else { 0.42 };
    let row = lane * (0.92 - below) / dies;
    for (index, kind, forced) in [(2, "collection", false), (3, "forced collection", true)] {
        let drawn = if forced { drawn(plot, index, "forced by the controller") } else { Drawn { runs: own.runs.clone() } };
        let rectangles = collections.iter().filter(|collection| collection.4 == forced).map(|(member, die, start, end, _)| {
            let (left, top) = (plot.x(*start), lane * (member + below) + row * die);
            (left, top, plot.x(*end).max(left + 1.0), top + row)
        });
        *read.entry(kind).or_default() += expect_rectangles(plot, &drawn, &rectangles.collect::<Vec<_>>(), &frame, kind);
    }
    if !destages.is_empty() {
        let drawn = drawn(plot, 4, "destage; thin: waits for the others");
        let whole = destages.iter().map(|(member, begun, ended, _)| {
            let left = plot.x(*begun);
            (left, lane * (member + 0.1), plot.x(*ended).max(left + 1.0), lane * (member + 0.34))
        });
        let waits = destages.iter().filter(|destage| destage.3 > destage.2).map(|(member, _, ended, done)| {
            let left = plot.x(*ended);
            (left, lane * (member + 0.2), plot.x(*done).max(left + 1.0), lane * (member + 0.24))
        });
        let (whole, waits): (Vec<_>, Vec<_>) = (whole.collect(), waits.collect());
        *read.entry("destage").or_default() += whole.len();
        *read.entry("wait of a destage").or_default() += waits.len();
        expect_rectangles(plot, &drawn, &[whole, waits].concat(), &frame, "destage");
    }
}
