//! Reads pictures (SVG) back: lines, bars and marks lie where the data say.

use serde_json::Value;

/// The colours of series, in their order.
const PALETTE: [&str; 8] = ["#1C4FB6", "#D73E19", "#229684", "#8D386A", "#D39F16", "#2AB2F2", "#3B1B5C", "#9A56FF"];

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

/// Where an axis puts values, by the pixels of the least and of the greatest of them; pixels are rounded to whole ones.
fn expect_on_axis(pairs: &[(f64, f64)], log: bool, about: &str) {
    let place = |value: f64| if log { value.ln() } else { value };
    let end = |of: fn(&f64, &f64) -> std::cmp::Ordering| *pairs.iter().max_by(|a, b| of(&a.0, &b.0)).unwrap();
    let (low, high) = (end(|a, b| b.total_cmp(a)), end(f64::total_cmp));
    let (from, to) = (place(low.0), place(high.0));
    for (value, pixel) in pairs {
        let share = if to > from { (place(*value) - from) / (to - from) } else { 0.0 };
        let expected = low.1 + share * (high.1 - low.1);
        assert!((expected - pixel).abs() <= 1.51, "{about}: {value} is drawn at {pixel} instead of {expected}");
    }
}

/// What the page drew and what its picture shows are the same chart.
pub fn expect_same_in_picture(chart: &Value, about: &str) {
    let (content, picture) = (&chart["content"], chart["picture"].as_str().unwrap());
    let about = format!("{about}, picture {}", chart["id"]);
    match content["kind"].as_str().unwrap() {
        "lines" => expect_lines(content, picture, &about),
        "bars" => expect_bars(content, picture, &about),
        "timeline" => expect_timeline(content, picture, &about),
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

fn expect_lines(content: &Value, picture: &str, about: &str) {
    let (mut across, mut upwards) = (Vec::new(), Vec::new());
    for (line, colour) in content["series"].as_array().unwrap().iter().zip(PALETTE) {
        let wanted = if content["steps"] == true { stepped(&points(line)) } else { points(line) };
        // The line, and before the next colour its mark in the key.
        let drawn = elements(picture, "polyline", &format!("stroke=\"{colour}\" stroke-width=\"2\""));
        let drawn = attribute(drawn.first().unwrap_or_else(|| panic!("{about}: no line {}", line["name"])), "points").unwrap();
        let drawn: Vec<(f64, f64)> = drawn
            .split_whitespace()
            .map(|pair| pair.split_once(',').map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap())).unwrap())
            .collect();
        assert_eq!(drawn.len(), wanted.len(), "{about}: points of {}", line["name"]);
        for ((x, y), (left, top)) in wanted.into_iter().zip(drawn) {
            across.push((x, left));
            // Pixels count from above.
            upwards.push((y, top));
        }
    }
    let log = |axis: &str| content[axis]["log"] == true;
    expect_on_axis(&across, log("x"), about);
    expect_on_axis(&upwards, log("y"), about);
    for name in content["marks"].as_array().unwrap().iter().chain(content["levels"].as_array().unwrap()) {
        assert!(picture.contains(name[0].as_str().unwrap()), "{about}: {name}");
    }
}

fn expect_bars(content: &Value, picture: &str, about: &str) {
    let series = content["series"].as_array().unwrap();
    let groups = content["groups"].as_array().unwrap().len();
    let mut below = vec![0.0; groups];
    let (mut left_ends, mut right_ends) = (Vec::new(), Vec::new());
    for (series, colour) in series.iter().zip(PALETTE) {
        let values: Vec<(usize, f64)> =
            series["values"].as_array().unwrap().iter().enumerate().filter_map(|(group, value)| Some((group, value.as_f64()?))).collect();
        let drawn = elements(picture, "rect", &format!("fill=\"{colour}\""));
        assert!(drawn.len() >= values.len(), "{about}: bars of {}", series["name"]);
        for ((group, value), bar) in values.into_iter().zip(drawn) {
            let (left, width) = (number(bar, "x"), number(bar, "width"));
            if content["stacked"] == true {
                left_ends.push((below[group], left));
                below[group] += value;
                right_ends.push((below[group], left + width));
            } else {
                left_ends.push((0.0, left));
                right_ends.push((value, left + width));
            }
        }
    }
    if content["stacked"] == true {
        left_ends.append(&mut right_ends);
    }
    // Bars side by side begin at the same pixel.
    expect_on_axis(&left_ends, false, about);
    if !right_ends.is_empty() {
        expect_on_axis(&right_ends, content["y"]["log"] == true, about);
    }
}

fn expect_timeline(content: &Value, picture: &str, about: &str) {
    let requests: Vec<(f64, f64, bool)> = serde_json::from_value(content["requests"].clone()).unwrap();
    // The legend has a mark of each kind at its end.
    let mut reads: Vec<(f64, f64)> =
        elements(picture, "circle", "fill=\"#56B4E9\"").into_iter().map(|mark| (number(mark, "cx"), number(mark, "cy"))).collect();
    reads.pop();
    let mut writes: Vec<(f64, f64)> = elements(picture, "line", "stroke=\"#D55E00\"")
        .chunks(2)
        .map(|cross| {
            (f64::midpoint(number(cross[0], "x1"), number(cross[0], "x2")), f64::midpoint(number(cross[0], "y1"), number(cross[0], "y2")))
        })
        .collect();
    writes.pop();
    assert!(reads.len() + writes.len() <= requests.len(), "{about}");
    if requests.len() < 2 {
        return;
    }
    // The first and the last mark, the lowest and the highest, say where the others have to lie.
    let marks = || reads.iter().chain(&writes);
    let pixels = |of: fn(&(f64, f64)) -> f64| {
        marks().map(of).fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), pixel| (least.min(pixel), most.max(pixel)))
    };
    let values = |of: fn(&(f64, f64, bool)) -> f64| {
        requests.iter().map(of).fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| (least.min(value), most.max(value)))
    };
    let ((left, right), (top, bottom)) = (pixels(|mark| mark.0), pixels(|mark| mark.1));
    let ((first, last), (least, most)) = (values(|request| request.0), values(|request| request.1));
    let across = |ms: f64| left + (ms - first) / (last - first) * (right - left);
    let upwards = |response: f64| bottom - (response - least) / (most - least) * (bottom - top);
    for (ms, response, is_write) in &requests {
        let (x, y) = (across(*ms), upwards(*response));
        let own = if *is_write { &writes } else { &reads };
        assert!(own.iter().any(|mark| (mark.0 - x).abs() <= 2.5 && (mark.1 - y).abs() <= 2.5), "{about}: no mark at {x} {y}");
    }
    // Collections that follow each other closely are one bar.
    let collections: Vec<(u32, u32, f64, f64, bool)> = serde_json::from_value(content["collections"].clone()).unwrap();
    for (forced, colour) in [(false, "#E69F00"), (true, "#0072B2")] {
        let bars = elements(picture, "rect", &format!("fill=\"{colour}\""));
        let own: Vec<_> = collections.iter().filter(|collection| collection.4 == forced).collect();
        assert!(bars.len() <= own.len() + 1, "{about}: more bars than collections");
        for (_, _, start_ms, end_ms, _) in own {
            let covers = |bar: &&str| {
                let (left, width) = (number(bar, "x"), number(bar, "width"));
                left <= across(*start_ms) + 2.5 && left + width >= across(*end_ms) - 2.5
            };
            assert!(bars.iter().any(covers), "{about}: no bar from {start_ms} to {end_ms}");
        }
    }
}
