//! Reads pictures (SVG) back: every kind of mark lies where the numbers of its axes say.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::marks::{Marks, doubt, is_yardstick, shown_name};

/// The colours of names, then the greys of yardsticks.
const PALETTE: [&str; 14] = [
    "#1C4FB6", "#D73E19", "#229684", "#8D386A", "#D39F16", "#2AB2F2", "#3B1B5C", "#9A56FF", "#5B6470", "#98A1AB", "#3F4750", "#5C6571",
    "#99A2AC", "#404851",
];

/// The colour of a line, bar or group, and the attribute that has it: yardsticks have outlines instead of surfaces.
fn look(content: &Value, index: usize, name: &Value) -> (&'static str, String) {
    let colour = PALETTE[content["look"]["colours"][index].as_u64().unwrap() as usize];
    let is_hollow = is_yardstick(content, name.as_str().unwrap());
    (colour, format!("{}=\"{colour}\"", if is_hollow { "stroke" } else { "fill" }))
}

/// The middles of the diamonds of this look, which stand for doubtful values.
fn diamonds(picture: &str, surface: &str) -> Vec<(f64, f64)> {
    let is_hollow = surface.starts_with("stroke");
    let corners = |element: &str| -> Path {
        let pair = |pair: &str| pair.split_once(',').map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap())).unwrap();
        attribute(element, "points").unwrap().split_whitespace().map(pair).collect()
    };
    let shapes = elements(picture, if is_hollow { "polyline" } else { "polygon" }, surface).into_iter().map(corners);
    let is_diamond = |corners: &Path| corners.len() == 5 && corners[0] == corners[4] && corners[0].0 == corners[2].0;
    shapes.filter(is_diamond).map(|corners| (corners[0].0, corners[1].1)).collect()
}

/// Symbols of doubt are explained below the picture.
fn expect_explained(content: &Value, texts: &[Text], about: &str, read: &mut Marks) {
    let series = content["series"].as_array().unwrap().iter();
    let symbols: String = series.flat_map(|series| series["doubts"].as_array().into_iter().flatten().filter_map(Value::as_str)).collect();
    for symbol in "∅✗!?≈".chars().filter(|symbol| symbols.contains(*symbol)) {
        assert!(
            texts.iter().any(|text| text.text.starts_with(&format!("{symbol} ")) && text.text.ends_with('.')),
            "{about}: {symbol} is not explained"
        );
        count(read, "explanation", 1);
    }
}

/// An attribute of an element.
fn attribute<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    let key = format!("{name}=\"");
    let from = if element.starts_with(&key) { 0 } else { element.find(&format!(" {key}"))? + 1 };
    element[from + key.len()..].split('"').next()
}

fn number(element: &str, name: &str) -> f64 {
    attribute(element, name).and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("no {name}: {element}"))
}

/// The elements of this name with this text in them, in order.
fn elements<'a>(picture: &'a str, name: &str, with: &str) -> Vec<&'a str> {
    let elements = picture.split(&format!("<{name} ")).skip(1).map(|part| part.split_once('>').unwrap().0).collect::<Vec<_>>();
    elements.into_iter().filter(|element| element.contains(with)).collect()
}

/// The texts of a picture: text, x, y, whether they stand below a point of an axis, before one, or elsewhere.
struct Text<'a> {
    text: String,
    x: f64,
    y: f64,
    /// Anchor of the text relative to its point.
    anchor: (&'a str, &'a str),
}

fn texts(picture: &str) -> Vec<Text<'_>> {
    let text = |part| -> Option<Text<'_>> {
        let (element, rest): (&str, &str) = str::split_once(part, '>')?;
        let text = rest.split("</text>").next()?.trim().replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        let anchor = (attribute(element, "text-anchor")?, attribute(element, "dy")?);
        (!element.contains("rotate")).then(|| Text { text, x: number(element, "x"), y: number(element, "y"), anchor })
    };
    picture.split("<text ").skip(1).filter_map(text).collect()
}

/// Pairs of x and y.
type Path = Vec<(f64, f64)>;

/// The polylines of this stroke.
fn polylines(picture: &str, stroke: &str) -> Vec<Path> {
    let pair = |pair: &str| pair.split_once(',').map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap())).unwrap();
    let path = |element: &str| attribute(element, "points").unwrap().split_whitespace().map(pair).collect();
    elements(picture, "polyline", stroke).into_iter().map(path).collect()
}

const INK: &str = "stroke=\"#282C32\" stroke-width=\"1\"";

/// An axis as a reader understands it: by the numbers beside it and the ticks that they belong to.
#[derive(Debug)]
struct Axis {
    log: bool,
    /// Two values and their pixels, far from each other.
    ends: [(f64, f64); 2],
}

impl Axis {
    /// The axis whose numbers and ticks lie across or upwards; how many numbers it has.
    fn read(picture: &str, upwards: bool, log: bool, about: &str) -> (Axis, usize) {
        let anchor = if upwards { ("end", "0.5ex") } else { ("middle", "0.76em") };
        let numbers = texts(picture).into_iter().filter(|text| text.anchor == anchor);
        let mut ticks: Vec<(f64, f64)> =
            numbers.filter_map(|text| Some((text.text.replace(',', "").parse().ok()?, if upwards { text.y } else { text.x }))).collect();
        assert!(ticks.len() >= 2, "{about}: an axis with {} numbers", ticks.len());
        ticks.sort_by(|a, b| a.0.total_cmp(&b.0));
        let axis = Axis { log, ends: [ticks[0], ticks[ticks.len() - 1]] };
        for (value, pixel) in &ticks {
            assert!((axis.place(*value) - pixel).abs() <= 1.5, "{about}: {value} stands at {pixel} instead of {}", axis.place(*value));
            let is_its =
                |tick: &Path| tick.len() == 2 && tick.iter().all(|point| ((if upwards { point.1 } else { point.0 }) - pixel).abs() <= 0.5);
            assert!(polylines(picture, INK).iter().any(is_its), "{about}: no tick for {value}");
        }
        (axis, ticks.len())
    }

    fn place(&self, value: f64) -> f64 {
        let scale = |value: f64| if self.log { value.ln() } else { value };
        let [(low, from), (high, to)] = self.ends;
        from + (scale(value) - scale(low)) / (scale(high) - scale(low)) * (to - from)
    }
}

/// Pixels are whole, those of the numbers that say where values lie, too.
fn same(pixel: f64, expected: f64) -> bool {
    (pixel - expected).abs() <= 2.0
}

/// Asserts that the page and its picture show the same chart.
pub fn expect_same_in_picture(chart: &Value, about: &str, read: &mut Marks) {
    let (content, picture) = (&chart["content"], chart["picture"].as_str().unwrap());
    let about = format!("{about}, picture {}", chart["id"]);
    match content["kind"].as_str().unwrap() {
        "lines" => expect_lines(content, picture, &about, read),
        "bars" => expect_bars(content, picture, &about, read),
        "timeline" => expect_timeline(content, picture, &about, read),
        other => panic!("{about}: {other}"),
    }
}

fn points(line: &Value) -> Vec<(f64, f64)> {
    serde_json::from_value(line["points"].clone()).unwrap()
}

/// Both ends of each jump.
fn stepped(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut ends: Vec<(f64, f64)> = Vec::new();
    for &(x, y) in points {
        ends.extend(ends.last().map(|last| (x, last.1)));
        ends.push((x, y));
    }
    ends.dedup();
    ends
}

fn count(read: &mut Marks, kind: &'static str, more: usize) {
    if more > 0 {
        *read.entry(kind).or_default() += more;
    }
}

fn expect_lines(content: &Value, picture: &str, about: &str, read: &mut Marks) {
    let is_log = |axis: &str| content[axis]["log"] == true;
    let (across, of_x) = Axis::read(picture, false, is_log("x"), about);
    let (upwards, of_y) = Axis::read(picture, true, is_log("y"), about);
    count(read, "tick", of_x + of_y);
    // The plot: its left and lower edges are the longest lines in ink.
    let lines = polylines(picture, INK);
    let longest = |of: fn(&(f64, f64)) -> f64| {
        let ends = lines.iter().map(|line| (of(&line[0]).min(of(&line[line.len() - 1])), of(&line[0]).max(of(&line[line.len() - 1]))));
        ends.max_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0))).unwrap()
    };
    let ((left, right), (top, bottom)) = (longest(|point| point.0), longest(|point| point.1));
    for (index, line) in content["series"].as_array().unwrap().iter().enumerate() {
        let (colour, surface) = look(content, index, &line["name"]);
        let wanted = if content["steps"] == true { stepped(&points(line)) } else { points(line) };
        // The line, and before the next colour its mark in the key.
        let drawn = polylines(picture, &format!("stroke=\"{colour}\" stroke-width=\"2\""));
        let drawn = drawn.first().unwrap_or_else(|| panic!("{about}: no line {}", line["name"]));
        assert_eq!(drawn.len(), wanted.len(), "{about}: points of {}", line["name"]);
        for ((x, y), pixel) in wanted.iter().zip(drawn) {
            let expected = (across.place(*x), upwards.place(*y));
            assert!(same(pixel.0, expected.0) && same(pixel.1, expected.1), "{about} {}: {pixel:?} {expected:?}", line["name"]);
        }
        count(read, "line", 1);
        if content["look"]["marked"] == true {
            let mut circles = elements(picture, "circle", &surface).into_iter().map(|circle| (number(circle, "cx"), number(circle, "cy")));
            let mut doubtful = diamonds(picture, &surface).into_iter();
            assert_eq!(circles.len() + doubtful.len(), wanted.len(), "{about}: marks of {}", line["name"]);
            for (point, (x, y)) in wanted.iter().enumerate() {
                let is_doubtful = !doubt(line, point).is_empty();
                count(read, "doubtful point", usize::from(is_doubtful));
                let pixel = if is_doubtful { doubtful.next() } else { circles.next() };
                let pixel = pixel.unwrap_or_else(|| panic!("{about} {}: no mark of another kind", line["name"]));
                assert!(same(pixel.0, across.place(*x)) && same(pixel.1, upwards.place(*y)), "{about} {}: {pixel:?}", line["name"]);
                count(read, "point", 1);
            }
        }
        for ((x, y), half) in wanted.iter().zip(line["half_widths"].as_array().into_iter().flatten()) {
            let (low, high) = (y - half.as_f64().unwrap(), y + half.as_f64().unwrap());
            let low = if is_log("y") && low <= 0.0 { bottom } else { upwards.place(low).min(bottom) };
            let (at, high) = (across.place(*x), upwards.place(high));
            let is_it = |line: &Path| {
                line.len() == 2 && line.iter().all(|point| same(point.0, at)) && same(line[0].1, low) && same(line[1].1, high)
            };
            assert!(lines.iter().any(is_it), "{about} {}: no interval from {low} to {high} at {at}", line["name"]);
            count(read, "interval of a point", 1);
        }
    }
    expect_explained(content, &texts(picture), about, read);
    // Bands reach from the top to the bottom, and are a pixel wide at least.
    let bands = content["bands"].as_array().unwrap();
    for (band, colour) in bands.iter().zip(["#56B4E9", "#E69F00", "#D55E00"]) {
        let rectangles = elements(picture, "rect", &format!("opacity=\"0.35\" fill=\"{colour}\""));
        let stretches = band["stretches"].as_array().unwrap();
        // One stands in the key.
        assert_eq!(rectangles.len(), stretches.len() + 1, "{about}: {}", band["name"]);
        for (stretch, rectangle) in stretches.iter().zip(rectangles) {
            let [x, y, width, height] = ["x", "y", "width", "height"].map(|name| number(rectangle, name));
            let [from, to] = ["start", "end"].map(|end| across.place(stretch[end].as_f64().unwrap()));
            assert!(
                same(x, from) && same(x + width, to.max(from + 1.0)) && width >= 1.0 && same(y, top) && same(y + height, bottom),
                "{about} {}: {rectangle} is not from {from} to {to}",
                band["name"]
            );
        }
        count(read, "band", 1);
    }
    // Moments are dashes one below the other with a name beside them, thresholds dashes side by side with a name in the key.
    let texts = texts(picture);
    let dashes = |is_there: &dyn Fn(&(f64, f64)) -> bool| -> Vec<&Path> {
        let is_dash = |line: &&Path| {
            let length = (line[0].0 - line[line.len() - 1].0).abs() + (line[0].1 - line[line.len() - 1].1).abs();
            length <= 6.5
                && line.iter().all(|point| point.0 >= left - 0.5 && point.0 <= right + 0.5 && point.1 <= bottom + 0.5 && is_there(point))
        };
        lines.iter().filter(is_dash).collect()
    };
    let named = |key: &str| -> Vec<(String, f64)> { serde_json::from_value(content[key].clone()).unwrap() };
    for (name, at) in named("marks") {
        let x = across.place(at);
        let own = dashes(&|point| same(point.0, x));
        let reach = own.iter().flat_map(|dash| dash.iter().map(|point| point.1));
        let (from, to) = reach.fold((f64::INFINITY, 0.0_f64), |(from, to), y| (from.min(y), to.max(y)));
        assert!(
            own.len() > 20 && same(from, top) && (to - bottom).abs() <= 6.0,
            "{about}: {name} has {} dashes from {from} to {to}",
            own.len()
        );
        let beside = |text: &Text| text.text == name && (x - text.x).abs() <= 6.0 && text.y >= top && text.y <= bottom;
        let text = texts.iter().find(|text| beside(text)).unwrap_or_else(|| panic!("{about}: {name} is not beside its line"));
        let end = text.x + if text.anchor.0 == "end" { 0.0 } else { 7.0 * name.len() as f64 };
        assert!(end <= 960.0, "{about}: {name} is cut off");
        count(read, "mark of a moment", 1);
    }
    for (name, level) in named("levels") {
        let y = upwards.place(level);
        let own = dashes(&|point| same(point.1, y));
        let reach = own.iter().flat_map(|dash| dash.iter().map(|point| point.0));
        let (from, to) = reach.fold((f64::INFINITY, 0.0_f64), |(from, to), x| (from.min(x), to.max(x)));
        assert!(
            own.len() > 40 && same(from, left) && (to - right).abs() <= 12.0,
            "{about}: {name} has {} dashes from {from} to {to}",
            own.len()
        );
        assert!(texts.iter().any(|text| text.text == format!("{name} = {level}")), "{about}: {name} is not in the key");
        count(read, "level", 1);
    }
}

fn expect_bars(content: &Value, picture: &str, about: &str, read: &mut Marks) {
    let series = content["series"].as_array().unwrap();
    let (by_group, stacked, is_dots) = (content["by_group"] == true, content["stacked"] == true, content["y"]["log"] == true);
    let names = content["groups"].as_array().unwrap().iter().map(|name| name.as_str().unwrap());
    let names: Vec<String> = names.map(|name| if by_group { shown_name(content, name) } else { name.to_owned() }).collect();
    let (axis, numbers) = Axis::read(picture, false, is_dots, about);
    count(read, "tick", numbers);
    // The names of the groups stand at the left edge, in the middle of their rows.
    let texts = texts(picture);
    let middles: Vec<f64> = texts.iter().filter(|text| text.x == 10.0 && names.contains(&text.text)).map(|text| text.y + 7.0).collect();
    assert_eq!(middles.len(), names.len(), "{about}: names of groups");
    let group_at = |y: f64| (0..middles.len()).min_by(|a, b| (middles[*a] - y).abs().total_cmp(&(middles[*b] - y).abs())).unwrap();
    expect_explained(content, &texts, about, read);
    let mut below = vec![0.0; names.len()];
    let intervals = polylines(picture, "stroke=\"#282C32\" stroke-width=\"2\"");
    // Marks of the same colour come one after the other.
    let mut used: BTreeMap<String, usize> = BTreeMap::new();
    let mut from = None;
    for (index, of_series) in series.iter().enumerate() {
        for group in 0..names.len() {
            let Some(value) = of_series["values"][group].as_f64() else { continue };
            let named = if by_group { &content["groups"][group] } else { &of_series["name"] };
            let (_, surface) = look(content, if by_group { group } else { index }, named);
            let symbols = doubt(of_series, group);
            let kind = match (is_dots, symbols) {
                (true, "") => "circle",
                (true, _) => "diamond",
                (false, _) => "rect",
            };
            let next = used.entry(format!("{kind} {surface}")).or_default();
            *next += 1;
            let dots = match kind {
                "diamond" => diamonds(picture, &surface),
                _ => elements(picture, "circle", &surface).into_iter().map(|dot| (number(dot, "cx"), number(dot, "cy"))).collect(),
            };
            let rectangles = elements(picture, "rect", &surface);
            let mark = if is_dots {
                dots.get(*next - 1).map(|dot| format!("{kind} {dot:?}"))
            } else {
                rectangles.get(*next - 1).map(|mark| (*mark).to_owned())
            };
            let mark = mark.unwrap_or_else(|| panic!("{about}: no {kind} of {named}"));
            count(read, if is_dots { "doubtful dot" } else { "doubtful bar" }, usize::from(!symbols.is_empty()));
            let is_pale = mark.contains("opacity=\"0.45\"");
            assert!(is_dots || is_pale == (!symbols.is_empty() && surface.starts_with("fill")), "{about}: {mark} {symbols}");
            let half = of_series["half_widths"][group].as_f64().filter(|_| !stacked);
            let (middle, right) = if is_dots {
                let (x, y) = dots[*next - 1];
                assert!(same(x, axis.place(value)), "{about}: {mark} is not at {value}");
                count(read, "dot", 1);
                (y, x)
            } else {
                let [left, top, width, height] = ["x", "y", "width", "height"].map(|name| number(&mark, name));
                let start = if stacked { below[group] } else { 0.0 };
                assert!(same(left, axis.place(start)), "{about}: {mark} begins where {start} is not");
                // Bars side by side begin at the same pixel.
                assert!(stacked || *from.get_or_insert(left) == left, "{about}");
                below[group] += value;
                let reach = if stacked { below[group] } else { value };
                assert!(same(left + width, axis.place(reach)), "{about}: {mark} ends where {reach} is not: {}", axis.place(reach));
                count(read, "bar", 1);
                (top + height / 2.0, left + width)
            };
            assert_eq!(group_at(middle), group, "{about}: {mark}");
            let end = half.map_or(right, |half| {
                let (low, high) = (value - half, axis.place(value + half));
                // A logarithmic axis has no place for zero and below, and one of amounts begins there.
                let is_low = |x: f64| match (low > 0.0, is_dots) {
                    (true, _) => same(x, axis.place(low)),
                    (false, true) => x < axis.place(value),
                    (false, false) => same(x, axis.place(0.0)),
                };
                let is_it =
                    |line: &Path| line.iter().all(|end| (end.1 - middle).abs() <= 2.0) && is_low(line[0].0) && same(line[1].0, high);
                assert!(intervals.iter().any(is_it), "{about} {named}: no interval from {low} to {high}");
                count(read, if is_dots { "interval of a dot" } else { "interval of a bar" }, 1);
                high
            });
            // What the number at its end says: of bars that stand on each other the whole.
            if !stacked || index + 1 == series.len() {
                let gap = if is_dots { 9.0 } else { 5.0 };
                let is_here = |text: &&Text| (text.y + 7.0 - middle).abs() <= 2.5 && (text.x - end - gap).abs() <= 3.0;
                let text = texts.iter().find(is_here).unwrap_or_else(|| panic!("{about}: no number at the end of {mark}"));
                let (said, symbols_said) = text.text.split_once(' ').unwrap_or((&text.text, ""));
                assert_eq!(symbols_said, symbols, "{about}: {mark}");
                let (said, reach) = (said.replace(',', "").parse::<f64>().unwrap(), if stacked { below[group] } else { value });
                assert!((said - reach).abs() <= 6e-3 * reach.abs(), "{about}: {said} at {reach}");
                count(read, "number of a bar", 1);
            }
        }
    }
}

/// The elements of a picture that begin between two heights.
fn cropped(picture: &str, top: f64, bottom: f64) -> String {
    let is_here = |piece: &&str| -> bool {
        let height = |name: &str| attribute(piece, name).and_then(|text| text.parse::<f64>().ok());
        let first = |points: &str| points.split_whitespace().next()?.split_once(',')?.1.parse::<f64>().ok();
        let at = height("y").or_else(|| height("cy")).or_else(|| height("y1")).or_else(|| attribute(piece, "points").and_then(first));
        // The end of a text has no place of its own.
        at.is_none_or(|at| (top..bottom).contains(&at))
    };
    picture.split('<').filter(is_here).map(|piece| format!("<{piece}")).collect()
}

/// Panels stand above each other, each under its name if there are several. The first one has the legend of all.
fn expect_timeline(content: &Value, picture: &str, about: &str, read: &mut Marks) {
    let panels = content["panels"].as_array().unwrap();
    let mut tops = vec![0.0];
    if panels.len() > 1 {
        let texts = texts(picture);
        tops.clear();
        for panel in panels {
            let name = panel["name"].as_str().unwrap();
            let below = |text: &&Text| text.text.starts_with(name) && tops.last().is_none_or(|top| text.y > *top + 300.0);
            let at = texts.iter().filter(below).map(|text| text.y).min_by(f64::total_cmp).unwrap_or_else(|| panic!("{about}: no {name}"));
            // Names stand eight pixels below the upper edge.
            tops.push(at - 8.0);
        }
        count(read, "panel", panels.len());
    }
    let has_destages = panels.iter().any(|panel| !panel["destages"].as_array().unwrap().is_empty());
    for (index, panel) in panels.iter().enumerate() {
        let bottom = tops.get(index + 1).copied().unwrap_or(f64::INFINITY);
        let own = cropped(picture, tops[index], bottom);
        let legend = Legend { is_here: index == 0, has_destages };
        expect_panel(panel, &own, &legend, &format!("{about}, panel {index}"), read);
    }
}

/// The legend of a timeline.
struct Legend {
    /// True if the panel has the legend.
    is_here: bool,
    /// True if the legend explains destages.
    has_destages: bool,
}

fn expect_panel(content: &Value, picture: &str, legend: &Legend, about: &str, read: &mut Marks) {
    let requests: Vec<(f64, f64, bool)> = serde_json::from_value(content["requests"].clone()).unwrap();
    let members = content["members"].as_f64().unwrap();
    let (across, of_x) = Axis::read(picture, false, false, about);
    let (upwards, of_y) = Axis::read(picture, true, false, about);
    count(read, "tick", of_x + of_y);
    // The legend has a mark of each kind at its end.
    let mut reads: Vec<(f64, f64)> =
        elements(picture, "circle", "fill=\"#2AB2F2\"").into_iter().map(|mark| (number(mark, "cx"), number(mark, "cy"))).collect();
    if legend.is_here {
        reads.pop();
    }
    let mut writes: Vec<(f64, f64)> = elements(picture, "line", "stroke=\"#D73E19\"")
        .chunks(2)
        .map(|cross| {
            (f64::midpoint(number(cross[0], "x1"), number(cross[0], "x2")), f64::midpoint(number(cross[0], "y1"), number(cross[0], "y2")))
        })
        .collect();
    if legend.is_here {
        writes.pop();
    }
    // Requests on the same pixel share a mark.
    for (kind, marks, is_write) in [("read", &reads, false), ("write", &writes, true)] {
        let own: Vec<(f64, f64)> = requests
            .iter()
            .filter(|request| request.2 == is_write)
            .map(|(ms, response, _)| (across.place(*ms), upwards.place(*response)))
            .collect();
        let near = |a: &(f64, f64), b: &(f64, f64)| (a.0 - b.0).abs() <= 2.5 && (a.1 - b.1).abs() <= 2.5;
        for request in &own {
            assert!(marks.iter().any(|mark| near(mark, request)), "{about}: no mark of a {kind} at {request:?}");
        }
        for mark in marks {
            assert!(own.iter().any(|request| near(mark, request)), "{about}: a mark of a {kind} at {mark:?}");
        }
        count(read, kind, own.len());
    }
    // Lanes lie between lines, with their names in the middle.
    let mut edges: Vec<f64> = polylines(picture, "stroke=\"#E1E4E8\"")
        .into_iter()
        .filter(|line| line[0].1 == line[1].1 && line[0].0 < 100.0)
        .map(|line| line[0].1)
        .collect();
    edges.sort_by(f64::total_cmp);
    assert_eq!(edges.len() as f64, members + 1.0, "{about}: lines between lanes");
    let (first, lane) = (edges[0], (edges[edges.len() - 1] - edges[0]) / members);
    for member in 0..members as usize {
        let is_here = |text: &Text| text.text == format!("member {member}") && same(text.y + 7.0, first + (member as f64 + 0.5) * lane);
        assert!(texts(picture).iter().any(is_here), "{about}: no member {member}");
        count(read, "lane", 1);
    }
    let destages: Vec<(f64, f64, f64, f64)> = serde_json::from_value(content["destages"].clone()).unwrap();
    let below = if destages.is_empty() { 0.08 } else { 0.42 };
    let row = (0.92 - below) / content["dies"].as_f64().unwrap();
    let rectangles = |colour: &str| -> Vec<[f64; 4]> {
        let mut found: Vec<[f64; 4]> = elements(picture, "rect", &format!("fill=\"{colour}\""))
            .into_iter()
            .map(|rectangle| ["x", "y", "width", "height"].map(|name| number(rectangle, name)))
            .collect();
        if legend.is_here {
            found.pop();
        }
        found
    };
    let is_in = |rectangle: &[f64; 4], member: f64, top: f64, bottom: f64| {
        let (from, to) = (first + (member + top) * lane, first + (member + bottom) * lane);
        same(rectangle[1], from) && (same(rectangle[1] + rectangle[3], to) || rectangle[3] <= 2.0)
    };
    // Collections that follow each other closely are one bar.
    let collections: Vec<(f64, f64, f64, f64, bool)> = serde_json::from_value(content["collections"].clone()).unwrap();
    for (kind, forced, colour) in [("collection", false, "#D39F16"), ("forced collection", true, "#1C4FB6")] {
        let bars = rectangles(colour);
        let own: Vec<_> = collections.iter().filter(|collection| collection.4 == forced).collect();
        let is_row = |bar: &[f64; 4], member: f64, die: f64| is_in(bar, member, below + row * die, below + row * (die + 1.0));
        for (member, die, start, end, _) in &own {
            let (from, to) = (across.place(*start), across.place(*end));
            let covers =
                |bar: &&[f64; 4]| is_row(bar, *member, *die) && bar[0] <= from + 2.0 && bar[0] + bar[2] >= to - 2.0 && bar[2] >= 1.0;
            assert!(bars.iter().any(|bar| covers(&bar)), "{about}: no bar from {from} to {to} for die {die} of member {member}");
        }
        for bar in &bars {
            let here: Vec<_> = own.iter().filter(|collection| is_row(bar, collection.0, collection.1)).collect();
            let begins = here.iter().any(|collection| same(bar[0], across.place(collection.2)));
            let end = bar[0] + bar[2];
            let ends = here.iter().any(|collection| same(end, across.place(collection.3).max(across.place(collection.2) + 1.0)));
            assert!(begins && ends, "{about}: a bar of a {kind} that is none: {bar:?}");
        }
        count(read, kind, own.len());
    }
    if let Some(slowest) = content["slowest"].as_object() {
        let at = |key: &str| slowest[key].as_f64().unwrap();
        let (from, to, y) = (across.place(at("from_ms")), across.place(at("done_ms")), upwards.place(at("response")));
        let is_line =
            |line: &Path| line.len() == 2 && line.iter().all(|end| same(end.1, y)) && same(line[0].0, from) && same(line[1].0, to);
        assert!(polylines(picture, INK).iter().any(is_line), "{about}: no line to the slowest request");
        let is_ring = |ring: &&str| same(number(ring, "cx"), to) && same(number(ring, "cy"), y);
        assert!(elements(picture, "circle", INK).iter().any(is_ring), "{about}: no ring around the slowest request");
        let text = slowest["text"].as_str().unwrap();
        assert!(texts(picture).iter().any(|own| own.text.ends_with(text)), "{about}: {text} is not said");
        count(read, "slowest request", 1);
        if let Some((member, die, start, end, _)) =
            slowest.get("collection").and_then(Value::as_u64).map(|index| &collections[index as usize])
        {
            let frames = elements(picture, "rect", "stroke=\"#282C32\"").into_iter();
            let frames = frames.map(|frame| ["x", "y", "width", "height"].map(|name| number(frame, name)));
            let (left, right) = (across.place(*start), across.place(*end));
            let is_frame = |frame: [f64; 4]| {
                is_in(&frame, *member, below + row * die, below + row * (die + 1.0))
                    && same(frame[0], left)
                    && same(frame[0] + frame[2], right.max(left + 1.0))
            };
            assert_eq!(
                frames.filter(|frame| is_frame(*frame)).count(),
                1,
                "{about}: the collection that the slowest request met has no frame"
            );
            count(read, "collection of the slowest request", 1);
        }
    }
    let mut expected = Vec::new();
    for (member, begun, ended, done) in &destages {
        expected.push((*member, *begun, *ended, 0.1, 0.34));
        count(read, "destage", 1);
        if done > ended {
            expected.push((*member, *ended, *done, 0.2, 0.24));
            count(read, "wait of a destage", 1);
        }
    }
    if !legend.has_destages {
        assert!(elements(picture, "rect", "fill=\"#229684\"").is_empty(), "{about}: destages that are none");
        return;
    }
    let bars = rectangles("#229684");
    assert_eq!(bars.len(), expected.len(), "{about}: destages");
    for (bar, (member, from, to, top, bottom)) in bars.iter().zip(expected) {
        let (left, right) = (across.place(from), across.place(to));
        assert!(
            is_in(bar, member, top, bottom) && same(bar[0], left) && same(bar[0] + bar[2], right.max(left + 1.0)) && bar[2] >= 1.0,
            "{about}: a destage of member {member} from {left} to {right} is drawn as {bar:?}"
        );
    }
}
