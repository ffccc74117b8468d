//! Opens reports in headless Chromium: no errors, no requests, the report's numbers in the charts, working zoom and switches.

use std::fs;

use serde_json::{Value, json};

use crate::chromium::{PageTime, read};
use crate::program::Place;

/// Watches for whatever goes wrong while the page loads.
pub const WATCH: &str = include_str!("browser_watch.js");
/// Uses the page as a reader would, and writes down what happened.
const PROBE: &str = include_str!("browser_probe.js");
/// Reads back what the charts of a page show.
pub const READ: &str = include_str!("browser_read.js");
/// Page around the tested one. It prints the results of the probe.
const AROUND: &str = "<!DOCTYPE html><meta name=\"color-scheme\" content=\"light dark\"><style>body { margin: 0 } iframe { border: 0; width: WIDTHpx; height: 900px }</style>\
    <script>addEventListener('message', ({ data }) => { const pre = document.createElement('pre'); pre.id = 'probe'; pre.textContent = data; document.body.append(pre); });</script>\
    <iframe src=\"probed.html\"></iframe>";

/// Settings of the window in which a page is opened.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// Width of the window, in pixels.
    pub width: u32,
    /// The reader prefers dark ground.
    pub dark: bool,
}

/// The widths of a large screen, of a small one and of a telephone, on either ground.
pub const LOOKS: [Look; 3] = [Look { width: 1440, dark: false }, Look { width: 1024, dark: true }, Look { width: 390, dark: false }];

impl Look {
    /// The same on the other ground.
    pub fn other(self) -> Look {
        Look { dark: !self.dark, ..self }
    }
}

/// Returns the results of the standard probe in a page, or `None` if there is no browser.
fn visit(place: &Place, page: &str, look: Look) -> Option<Value> {
    visit_with(place, page, look, PROBE)
}

/// Returns the results of a given probe.
///
/// The page is in a frame, because the windows of browsers cannot be as narrow as those of telephones.
pub fn visit_with(place: &Place, page: &str, look: Look, probe: &str) -> Option<Value> {
    let Look { width, dark } = look;
    let html = fs::read_to_string(place.path(page)).unwrap();
    let html = html.replacen("<head>", &format!("<head><script>{WATCH}</script>"), 1);
    place.write("probed.html", html.replacen("</body>", &format!("<script>{probe}</script></body>"), 1));
    place.write("around.html", AROUND.replace("WIDTH", &width.to_string()));
    let told = read(&place.path("around.html"), look, PageTime::Virtual, "document.getElementById('probe')?.textContent")?;
    let probe: Value = serde_json::from_str(told.as_str().expect("the probe has run")).unwrap();
    expect_sound(&probe, &format!("{page} at {width} pixels, dark: {dark}"));
    assert_eq!((&probe["width"], &probe["dark"]), (&json!(width), &json!(dark)), "the page is not looked at as it should be");
    Some(probe)
}

/// Asserts what must hold for every page: it is complete, uses no network, fits the window, and is readable.
fn expect_sound(probe: &Value, about: &str) {
    assert_eq!(probe["problems"], json!([]), "{about}: errors or refused requests");
    assert_eq!(
        (&probe["requests"], &probe["overflow"]),
        (&json!(0), &json!(0)),
        "{about}: the page asks for files, or is wider than the window"
    );
    // 4.5 is what WCAG 2 asks for of texts of this size.
    let [contrast, size] = ["contrast", "size"].map(|figure| (probe[figure][0].as_f64().unwrap(), &probe[figure][1]));
    assert!(contrast.0 >= 4.5, "{about}: {contrast:?}");
    assert!(size.0 >= 11.0, "{about}: a text of {size:?} pixels");
    for chart in probe["charts"].as_array().unwrap() {
        let panels: Vec<[f64; 2]> = serde_json::from_value(chart["panels"].clone()).unwrap();
        assert!(
            panels.iter().all(|panel| *panel == panels[0]),
            "{about}: panels of {} start or end at different pixels: {panels:?}",
            chart["id"]
        );
    }
}

fn chart<'a>(probe: &'a Value, id: &str) -> &'a Value {
    probe["charts"].as_array().unwrap().iter().find(|chart| chart["id"] == id).unwrap_or_else(|| panic!("no chart {id}: {probe}"))
}

/// The charts do what their buttons, keys and legends say.
fn expect_working(probe: &Value, charts: &[&str]) {
    let ids: Vec<&str> = probe["charts"].as_array().unwrap().iter().map(|chart| chart["id"].as_str().unwrap()).collect();
    assert_eq!(ids, charts);
    for chart in probe["charts"].as_array().unwrap() {
        let chart =
            &Value::from_iter(chart.as_object().unwrap().clone().into_iter().filter(|(key, _)| key != "data" && key != "positions"));
        assert!(chart["colours"].as_u64().unwrap() > 2, "nothing is drawn: {chart}");
        assert_eq!(chart["hover_shows_values"], true, "{chart}");
        assert_eq!(chart["key_shows_values"], true, "{chart}");
        assert_eq!(chart["switched"], json!([false, true]), "{chart}");
        assert_eq!(chart["looks_other_when_switched_off"], true, "{chart}");
        if chart["zooms"] == true {
            let spans: Vec<f64> = serde_json::from_value(chart["spans"].clone()).unwrap();
            let [full, by_key, by_reset, by_drag, by_button] = spans[..] else { panic!("{chart}") };
            assert!(by_key < 0.6 * full && by_drag < 0.6 * full && by_button < 0.6 * full, "{chart}");
            assert!((by_reset - full).abs() < 1e-9 * full, "{chart}");
        }
    }
}

/// The lines of a chart as they are drawn: over each x the value of each series.
fn columns(chart: &Value) -> (Vec<f64>, Vec<Vec<Option<f64>>>) {
    let data = chart["data"].as_array().unwrap();
    let column = |column: &Value| column.as_array().unwrap().iter().map(Value::as_f64).collect();
    (numbers(&data[0]), data[1..].iter().map(column).collect())
}

/// A number as the page shows it, with four significant digits.
pub fn shown(text: &str) -> Option<f64> {
    text.split([' ', '±']).next()?.replace(',', "").parse().ok()
}

/// Asserts that every step of a distribution is at its place in the data, with both ends of its jump. The page must show the same under the
/// cursor.
pub fn expect_steps(chart: &Value, curves: &[(&str, &Value)], scale: f64, share: impl Fn(f64) -> f64) {
    let (xs, columns) = columns(chart);
    assert!(xs.is_sorted());
    assert_eq!(columns.len(), curves.len());
    for (series, (column, (name, curve))) in columns.iter().zip(curves).enumerate() {
        let points: Vec<(f64, f64)> = serde_json::from_value((*curve).clone()).unwrap();
        let points: Vec<(f64, f64)> = points.into_iter().map(|(us, fraction)| (us.max(1e-3) / scale, fraction)).collect();
        let after = |x: f64| points.iter().rev().find(|point| point.0 <= x).map(|point| point.1);
        let before = |x: f64| points.iter().rev().find(|point| point.0 < x).map(|point| point.1);
        let last = points.last().unwrap().0;
        let mut jumps = 0;
        for index in (0..xs.len()).filter(|index| xs[*index] <= last) {
            // An x that is there twice has the value before it first.
            let is_before = xs.get(index + 1) == Some(&xs[index]);
            // Where it begins with a jump, that has a lower end, too.
            let mut here = points.iter().filter(|point| point.0 == xs[index]).map(|point| point.1);
            let begin = here.next().filter(|_| here.next().is_some());
            let expected = if is_before { before(xs[index]).or(begin) } else { after(xs[index]) };
            let expected = expected.map(&share).filter(|share| *share > 1e-5);
            let drawn = column[index].filter(|drawn| *drawn > 1e-5);
            // The tail ends with its last step.
            if xs[index] == last && !is_before && expected.is_none() {
                continue;
            }
            jumps += usize::from(is_before && drawn.is_some());
            match (drawn, expected) {
                (Some(drawn), Some(expected)) => assert!((drawn - expected).abs() < 1e-4, "{name} at {}: {drawn} {expected}", xs[index]),
                (drawn, expected) => assert_eq!(drawn, expected, "{name} at {}", xs[index]),
            }
        }
        assert!(jumps > 0, "{name}");
        for reading in chart["readings"].as_array().unwrap() {
            let x = xs[reading[0].as_u64().unwrap() as usize];
            let texts: Vec<&str> = reading[1].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
            let where_ = shown(texts[0].rsplit(": ").next().unwrap()).unwrap();
            assert!((where_ - x).abs() <= 1e-3 * x, "{texts:?} {x}");
            if x < last {
                let (read, expected) = (shown(texts[series + 1]), after(x).map(&share));
                assert!(
                    read.unwrap_or(0.0) - expected.unwrap_or(0.0) <= 1e-3 * expected.unwrap_or(1.0) + 1e-4,
                    "{name}: {texts:?} {expected:?}"
                );
            }
        }
    }
    // And the pixels are where the axis says.
    let [min, max] = [0, 1].map(|end| chart["scale"]["x"][end].as_f64().unwrap());
    let width = chart["scale"]["width"].as_f64().unwrap();
    for (x, pixel) in xs.iter().zip(chart["positions"].as_array().unwrap()) {
        assert!(((x / min).ln() / (max / min).ln() * width - pixel.as_f64().unwrap()).abs() < 0.51, "{x}");
    }
}

/// The numbers of a column, which has holes where another line has points.
pub fn numbers(column: &Value) -> Vec<f64> {
    column.as_array().unwrap().iter().filter_map(Value::as_f64).collect()
}

/// Charts of a run in their order, with a window of time.
const CHARTS_OF_A_RUN: [&str; 14] = [
    "response-cdf",
    "response-tail",
    "time-parts",
    "bandwidth",
    "time-response",
    "time-iops",
    "time-outstanding",
    "time-amplification",
    "member-utilisation",
    "member-response",
    "member-queue",
    "free-blocks",
    "timeline",
    "free-blocks-window",
];

#[test]
fn the_report_of_a_run_works_in_a_browser() {
    let place = Place::new();
    let report = place.run_json(&["run", "small.toml", "--json", "--timeline", "1s..1.2s", "--out", "out"]);
    for look in LOOKS {
        let Some(probe) = visit(&place, "out/report.html", look) else { return };
        expect_working(&probe, &CHARTS_OF_A_RUN);

        assert_eq!(numbers(&chart(&probe, "bandwidth")["data"][1]), numbers(&report["bandwidth_mb_s"]["series"]));
        let curves = ["all", "read", "write"].map(|name| (name, &report["response_us"][name]["cdf"]));
        expect_steps(chart(&probe, "response-cdf"), &curves, 1e3, |fraction| fraction * 100.0);
        expect_steps(chart(&probe, "response-tail"), &curves, 1e3, |fraction| (1.0 - fraction) * 100.0);

        let timeline = &report["timeline"];
        let done: Vec<f64> =
            timeline["requests"].as_array().unwrap().iter().map(|request| request["done_ns"].as_f64().unwrap() / 1e6).collect();
        let mut done: Vec<f64> = done.into_iter().filter(|ms| (1000.0..1200.0).contains(ms)).collect();
        done.sort_by(f64::total_cmp);
        let data = &chart(&probe, "timeline")["data"];
        assert_eq!(numbers(&data[0]), done);
        let marks = |column: &Value| column.as_array().unwrap().iter().filter(|value| !value.is_null()).count();
        assert_eq!(marks(&data[1]) + marks(&data[2]), done.len(), "every request is a read or a write");
    }
}

#[test]
fn the_report_of_a_comparison_works_in_a_browser() {
    let place = Place::new();
    let vary = ["--vary", "ssd.gc.victim=greedy,fifo", "--vary", "array.members=2,4", "--seeds", "2"];
    let document = place.run_json(&[&["compare", "small.toml", "--json", "--out", "out"][..], &vary].concat());
    let Some(probe) = visit(&place, "out/report.html", LOOKS[1]) else { return };
    let lines = ["mean-response", "response-deviation", "percentiles", "response-cdf", "response-tail"];
    // Bandwidth and free blocks are the same at all points, so that they have no charts.
    expect_working(&probe, &[&lines[..], &["write-amplification"]].concat());

    // A line for each policy over the number of members.
    let figures = |pointer: &str| -> Vec<f64> {
        document["summary"]
            .as_array()
            .unwrap()
            .iter()
            .map(|point| point["figures"]["response_us.all.mean"][pointer].as_f64().unwrap())
            .collect()
    };
    let (means, intervals) = (figures("mean"), figures("ci95"));
    let drawn = chart(&probe, "mean-response");
    let (members, columns) = columns(drawn);
    assert_eq!(members, [2.0, 4.0]);
    let values: Vec<f64> = columns.into_iter().flatten().flatten().collect();
    let scale = values[0] / means[0];
    assert!(scale == 1.0 || (scale - 1e-3).abs() < 1e-12, "microseconds or milliseconds");
    assert!(values.iter().zip(&means).all(|(value, mean)| (value - mean * scale).abs() <= 1e-9 * value), "{values:?} {means:?}");
    for (reading, at) in [(0, 0), (3, 1)] {
        let texts: Vec<&str> = drawn["readings"][reading][1].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
        for (series, text) in texts[1..].iter().enumerate() {
            let (point, half) = (series * 2 + at, shown(text.rsplit('±').next().unwrap()).unwrap());
            assert!((shown(text).unwrap() - means[point] * scale).abs() <= 1e-3 * means[point] * scale, "{texts:?}");
            assert!((half - intervals[point] * scale).abs() <= 1e-3 * intervals[point] * scale, "{texts:?}");
        }
    }
}
