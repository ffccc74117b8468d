//! Opens reports in headless Chromium: no errors, no requests, the report's numbers in the charts, working zoom and switches.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::program::Place;

/// Watches for whatever goes wrong while the page loads.
const WATCH: &str = include_str!("browser_watch.js");
/// Uses the page as a reader would, and writes down what happened.
const PROBE: &str = include_str!("browser_probe.js");

/// What the probe saw in a page, or `None` if there is no browser.
fn visit(place: &Place, page: &str, width: u32) -> Option<Value> {
    let html = fs::read_to_string(place.path(page)).unwrap();
    let html = html.replacen("<head>", &format!("<head><script>{WATCH}</script>"), 1);
    place.write("probed.html", html.replacen("</body>", &format!("<script>{PROBE}</script></body>"), 1));
    let output = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000", "--dump-dom"])
        .args([format!("--window-size={width},900"), format!("--user-data-dir={}", place.path("browser").display())])
        .arg(format!("file://{}", place.path("probed.html").display()))
        .stderr(Stdio::null())
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: no chromium");
        return None;
    };
    let dom = String::from_utf8(output.stdout).unwrap();
    let probe = dom.split_once("<pre id=\"probe\">").and_then(|(_, rest)| rest.split_once("</pre>")).expect("the probe has run").0;
    let probe = probe.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    Some(serde_json::from_str(&probe).unwrap())
}

fn chart<'a>(probe: &'a Value, id: &str) -> &'a Value {
    probe["charts"].as_array().unwrap().iter().find(|chart| chart["id"] == id).unwrap_or_else(|| panic!("no chart {id}: {probe}"))
}

/// What must hold of every page.
fn expect_sound(probe: &Value, charts: &[&str]) {
    assert_eq!(probe["problems"], json!([]), "errors or refused requests");
    assert_eq!(probe["requests"], 0);
    assert_eq!(probe["overflow"], 0, "the page is wider than the window");
    let ids: Vec<&str> = probe["charts"].as_array().unwrap().iter().map(|chart| chart["id"].as_str().unwrap()).collect();
    assert_eq!(ids, charts);
    for chart in probe["charts"].as_array().unwrap() {
        let chart = &Value::from_iter(chart.as_object().unwrap().clone().into_iter().filter(|(key, _)| key != "data"));
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

/// The numbers of a column, which has holes where another line has points.
fn numbers(column: &Value) -> Vec<f64> {
    column.as_array().unwrap().iter().filter_map(Value::as_f64).collect()
}

#[test]
fn the_report_of_a_run_works_in_a_browser() {
    let place = Place::new();
    let report = place.run_json(&["run", "small.toml", "--json", "--timeline", "1s..1.2s", "--out", "out"]);
    for width in [1280, 400] {
        let Some(probe) = visit(&place, "out/report.html", width) else { return };
        expect_sound(&probe, &["response-cdf", "bandwidth", "free-blocks", "timeline", "free-blocks-window"]);

        assert_eq!(numbers(&chart(&probe, "bandwidth")["data"][1]), numbers(&report["bandwidth_mb_s"]["series"]));
        let cdf = numbers(&chart(&probe, "response-cdf")["data"][1]);
        let shares = report["response_us"]["all"]["cdf"].as_array().unwrap();
        assert_eq!(cdf.len(), shares.len());
        assert!(cdf.iter().zip(shares).all(|(drawn, point)| (drawn - 100.0 * point[1].as_f64().unwrap()).abs() < 1e-9));

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
    let Some(probe) = visit(&place, "out/report.html", 1280) else { return };
    let bars = ["mean-response", "response-deviation", "percentiles"];
    expect_sound(&probe, &[&bars[..], &["response-cdf", "write-amplification", "bandwidth", "free-blocks"]].concat());

    let means: Vec<f64> = document["summary"]
        .as_array()
        .unwrap()
        .iter()
        .map(|point| point["figures"]["response_us.all.mean"]["mean"].as_f64().unwrap())
        .collect();
    let drawn = &chart(&probe, "mean-response")["data"];
    let drawn = [numbers(&drawn[1]), numbers(&drawn[2])].concat();
    let scale = drawn[0] / means[0];
    assert!(scale == 1.0 || (scale - 1e-3).abs() < 1e-12, "microseconds or milliseconds");
    assert!(drawn.iter().zip(&means).all(|(bar, mean)| (bar - mean * scale).abs() <= 1e-9 * bar), "{drawn:?} {means:?}");
}
