//! Twenty runs of different shapes: what their pages draw, read back by a browser, is what their reports say.

use serde_json::{Value, json};

use crate::browser::{LOOKS, READ, expect_steps, numbers, shown, visit_with};
use crate::pictures::expect_same_in_picture;
use crate::program::Place;

/// Runs of different shapes: settings of `small.toml`.
pub const SHAPES: [&[&str]; 20] = [
    &[],
    &["array.level=single", "array.members=1"],
    &["array.level=raid1", "workload.read_fraction=0.9"],
    &["array.level=raid5", "array.members=4"],
    &["array.level=raid6", "array.members=5", "workload.requests=800"],
    &["array.members=13", "workload.requests=600"],
    &["workload.read_fraction=1"],
    &["workload.read_fraction=0", "ssd.warm_up.overwrites=0.5"],
    &["workload.arrivals={process=\"closed\", depth=8}"],
    &["workload.arrivals={process=\"poisson\", mean_gap=\"200us\"}"],
    &["workload.requests=3"],
    &["workload.requests=20000", "workload.arrivals={process=\"poisson\", mean_gap=\"4ms\"}"],
    &["ssd.gc.preemption=semi", "ssd.gc.t_hard=0.5"],
    &["coordination.scheme=reactive-inclusive"],
    &["coordination.scheme=ideal"],
    &["cache.policy=wow", "cache.size=64KiB"],
    &["cache.policy=lawc", "cache.size=64KiB", "array.level=raid5", "array.members=3"],
    &["array.level=raid5", "array.members=4", "array.failure={member=1, at=\"1s\"}"],
    &[
        "array.level=raid5",
        "array.members=4",
        "array.failure={member=1, at=\"1s\"}",
        "array.rebuild={delay=\"200ms\", rate=\"2MB/s\", spare=\"fresh\"}",
    ],
    &["report.skip_requests=1000", "array.controller={outstanding=4, bandwidth=\"50MB/s\"}"],
];

#[test]
fn what_twenty_pages_draw_is_what_their_reports_say() {
    let mut bars = 0;
    for (index, shape) in SHAPES.iter().enumerate() {
        let place = Place::new();
        let set = shape.iter().flat_map(|setting| ["--set", setting]);
        let window = if index % 4 == 0 { vec!["--timeline", "0s..500ms"] } else { Vec::new() };
        let arguments: Vec<&str> = ["run", "small.toml", "--json", "--out", "out"].into_iter().chain(set).chain(window).collect();
        let report = place.run_json(&arguments);
        // Each width on either ground.
        let look = if index % 2 == 0 { LOOKS[index % 3] } else { LOOKS[index % 3].other() };
        let Some(probe) = visit_with(&place, "out/report.html", look, READ) else { return };
        let about = format!("{shape:?}");
        assert_eq!(probe["contents"], 0, "{about}: entries of the contents that lead nowhere");
        expect_first_screen(&probe, &report);
        for chart in probe["charts"].as_array().unwrap() {
            bars += expect_chart(chart, &report, &about);
            let picture = place.read(&format!("out/{}.svg", chart["id"].as_str().unwrap()));
            assert_eq!(
                picture.trim(),
                chart["picture"].as_str().unwrap().trim(),
                "{about}: the page saves another picture than the folder's"
            );
            expect_same_in_picture(chart, &about);
        }
        if index % 5 == 0 {
            expect_same_run(&place, &probe, &report);
        }
    }
    assert!(bars > 25, "only {bars} parts of bars were high enough to be measured");
}

/// What was simulated and what came out.
fn expect_first_screen(probe: &Value, report: &Value) {
    let headline = probe["headline"].as_str().unwrap();
    let mean = report["response_us"]["all"]["mean"].as_f64().unwrap();
    let said = headline.split(": ").nth(1).unwrap();
    let (number, unit) = said.split(" in the mean").next().unwrap().split_once(' ').unwrap();
    let us = number.parse::<f64>().unwrap() * unit_us(unit);
    assert!((us - mean).abs() <= 0.006 * mean, "{headline} {mean}");
    assert!(probe["tiles"][0].as_str().unwrap().starts_with(&format!("{number} {unit}")), "{probe}");
    // A table as it can be saved: every row as wide as the first, in both forms.
    for (form, separator) in [("markdown", " | "), ("csv", ",")] {
        let table = probe[form].as_array().unwrap().iter().find(|table| table.as_str().unwrap().contains("standard deviation")).unwrap();
        let table = table.as_str().unwrap();
        let widths: Vec<usize> = table.lines().filter(|line| !line.contains('"')).map(|line| line.matches(separator).count()).collect();
        assert!(widths.len() > 8 && widths.iter().all(|width| *width == widths[0]), "{table}");
    }
}

fn unit_us(unit: &str) -> f64 {
    match unit {
        "ns" => 1e-3,
        "µs" => 1.0,
        "ms" => 1e3,
        "s" => 1e6,
        other => panic!("{other}"),
    }
}

/// The unit at the end of an axis' label, in microseconds.
fn scale_of(chart: &Value, axis: usize) -> f64 {
    unit_us(chart["labels"][axis].as_str().unwrap().rsplit(", ").next().unwrap())
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs().max(1e-9)
}

/// A chart shows what the report says; how many bars were measured.
fn expect_chart(chart: &Value, report: &Value, about: &str) -> usize {
    let id = chart["id"].as_str().unwrap();
    let panels: Vec<[f64; 2]> = serde_json::from_value(chart["panels"].clone()).unwrap();
    assert!(panels.iter().all(|panel| *panel == panels[0]), "{about} {id}: {panels:?}");
    let directions: Vec<(&str, &Value)> = ["all", "read", "write"]
        .iter()
        .map(|name| (*name, &report["response_us"][*name]["cdf"]))
        .filter(|(_, cdf)| *cdf != &json!([]))
        .collect();
    let mut measured = 0;
    match id {
        "response-cdf" => expect_steps(chart, &directions, scale_of(chart, 0), |fraction| fraction * 100.0),
        "response-tail" => expect_steps(chart, &directions, scale_of(chart, 0), |fraction| (1.0 - fraction) * 100.0),
        "time-parts" => measured = expect_parts(chart, report, about),
        "bandwidth" => assert_eq!(numbers(&chart["data"][1]), numbers(&report["bandwidth_mb_s"]["series"])),
        "time-response" => expect_course(chart, report, &["mean_us", "p50_us", "p99_us", "max_us"], 1.0 / scale_of(chart, 1), about),
        "time-iops" => expect_course(chart, report, &["iops"], 1.0, about),
        "time-outstanding" => expect_course(chart, report, &["outstanding"], 1.0, about),
        "time-amplification" => expect_course(chart, report, &["write_amplification"], 1.0, about),
        "time-cache" => expect_course(chart, report, &["cache_occupancy"], 100.0, about),
        "time-rebuild" => expect_course(chart, report, &["rebuilt_fraction"], 100.0, about),
        id if id.starts_with("member-") => {
            let (figure, facet) = id["member-".len()..].split_once('-').unwrap_or((&id["member-".len()..], "1"));
            let (key, scale) = match figure {
                "utilisation" => ("utilisation", 100.0),
                "response" => ("response_us", 1.0 / scale_of(chart, 1)),
                _ => ("queue", 1.0),
            };
            let members = report["over_time"]["members"].as_array().unwrap().iter().map(|member| &member[key]);
            let drawn = members.filter(|list| list.as_array().unwrap().iter().filter(|value| !value.is_null()).count() > 1);
            let first = (facet.parse::<usize>().unwrap() - 1) * 8;
            expect_lists(chart, report, &drawn.skip(first).take(8).collect::<Vec<_>>(), scale, &format!("{about} {id}"));
        }
        "free-blocks" | "free-blocks-1" => {
            let members = report["free_blocks"].as_array().unwrap().iter().filter(|member| *member != &json!([]));
            for (column, points) in chart["data"].as_array().unwrap()[1..].iter().zip(members) {
                let least: Vec<f64> = points.as_array().unwrap().iter().map(|point| point[1].as_f64().unwrap()).collect();
                assert_eq!(numbers(column), least, "{about}");
            }
        }
        _ => {}
    }
    // What the tooltip and the legend say is the value at the cursor.
    if matches!(id, "time-iops" | "time-outstanding" | "bandwidth") {
        for reading in chart["readings"].as_array().unwrap() {
            let value = chart["data"][1][reading[0].as_u64().unwrap() as usize].as_f64().unwrap();
            let text = reading[1][1].as_str().unwrap();
            assert!((shown(text).unwrap() - value).abs() <= 6e-4 * value.abs() + 1e-12, "{about} {id}: {text} {value}");
            assert!(reading[2].as_str().unwrap().ends_with(text), "{about} {id}: the tooltip says {reading}");
        }
    }
    expect_pixels(chart, about);
    measured
}

/// Every point lies where the axes say.
fn expect_pixels(chart: &Value, about: &str) {
    let scale = &chart["scale"];
    let place = |axis: &str, value: f64, length: &str| {
        let [min, max] = [0, 1].map(|end| scale[axis][end].as_f64().unwrap());
        let share = if scale[axis][2] == true { (value / min).ln() / (max / min).ln() } else { (value - min) / (max - min) };
        share * scale[length].as_f64().unwrap()
    };
    for (x, pixel) in chart["data"][0].as_array().unwrap().iter().zip(chart["positions"].as_array().unwrap()) {
        if let (Some(x), Some(pixel)) = (x.as_f64(), pixel.as_f64()) {
            assert!((place("x", x, "width") - pixel).abs() < 0.51, "{about} {}: x {x} at {pixel}", chart["id"]);
        }
    }
    let height = scale["height"].as_f64().unwrap();
    for (column, pixels) in chart["data"].as_array().unwrap()[1..].iter().zip(chart["heights"].as_array().unwrap()) {
        for (y, pixel) in column.as_array().unwrap().iter().zip(pixels.as_array().unwrap()) {
            if let (Some(y), Some(pixel)) = (y.as_f64(), pixel.as_f64())
                && (y > 0.0 || scale["y"][2] != true)
            {
                assert!((height - place("y", y, "height") - pixel).abs() < 0.51, "{about} {}: y {y} at {pixel}", chart["id"]);
            }
        }
    }
}

/// The lists of `over_time`, each figure in the middle of its interval.
fn expect_course(chart: &Value, report: &Value, keys: &[&str], scale: f64, about: &str) {
    let lists: Vec<&Value> = keys.iter().map(|key| &report["over_time"][*key]).collect();
    expect_lists(chart, report, &lists, scale, about);
}

/// A line for each of these lists.
fn expect_lists(chart: &Value, report: &Value, lists: &[&Value], scale: f64, about: &str) {
    let over_time = &report["over_time"];
    let (interval_ms, end_ms) = (over_time["interval_ms"].as_f64().unwrap(), report["simulated_ns"].as_f64().unwrap() / 1e6);
    let from_ms = numbers(&over_time["from_ms"]);
    let xs = numbers(&chart["data"][0]);
    let columns = &chart["data"].as_array().unwrap()[1..];
    assert_eq!(columns.len(), lists.len(), "{about}");
    for (line, (column, values)) in columns.iter().zip(lists).enumerate() {
        let drawn = xs.iter().zip(column.as_array().unwrap()).filter_map(|(x, y)| Some((*x, y.as_f64()?)));
        let values = values.as_array().unwrap();
        let expected = from_ms
            .iter()
            .zip(values)
            .filter_map(|(from, value)| Some(((from + (from + interval_ms).min(end_ms)) / 2e3, value.as_f64()? * scale)));
        let (drawn, expected): (Vec<_>, Vec<_>) = (drawn.collect(), expected.collect());
        assert_eq!(drawn.len(), expected.len(), "{about} {line}");
        for (drawn, expected) in drawn.iter().zip(&expected) {
            assert!(near(drawn.0, expected.0) && near(drawn.1, expected.1), "{about} {line}: {drawn:?} {expected:?}");
        }
    }
}

/// The bars are as high as their parts, and stand on each other; how many were measured.
fn expect_parts(chart: &Value, report: &Value, about: &str) -> usize {
    let mut compared = 0;
    let scale = scale_of(chart, 1);
    let names: Vec<&str> = chart["names"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    let shares = ["all", "slowest_10_percent", "slowest_1_percent", "slowest_0_1_percent"];
    let [min, max] = [0, 1].map(|end| chart["scale"]["y"][end].as_f64().unwrap());
    assert_eq!(min, 0.0);
    let height = chart["scale"]["height"].as_f64().unwrap();
    for (group, share) in shares.iter().enumerate() {
        let times = &report["time_us"][*share];
        let parts: Vec<f64> = names.iter().map(|name| times[*name].as_f64().unwrap() / scale).collect();
        for (series, part) in parts.iter().enumerate() {
            assert!(near(chart["data"][series + 1][group].as_f64().unwrap(), *part), "{about} {share}");
        }
        let whole: f64 = parts.iter().sum();
        let of_document: f64 = times.as_object().unwrap().values().filter_map(Value::as_f64).sum();
        assert!(near(whole * scale, of_document), "{about}: a part is not drawn");
        // The pixels: what is high enough stands there in its order and with its height. Edges blend, and what is hardly higher than
        // they are can't be told from them.
        let heights: Vec<f64> = parts.iter().map(|part| part / max * height).collect();
        assert!(heights.iter().sum::<f64>() <= height, "{about}");
        if heights.iter().any(|pixels| (2.5..7.0).contains(pixels)) {
            continue;
        }
        let high: Vec<f64> = heights.into_iter().filter(|pixels| *pixels >= 7.0).collect();
        let stretches: Vec<(String, f64)> = serde_json::from_value(chart["stretches"][group].clone()).unwrap();
        let drawn: Vec<f64> = stretches.iter().map(|stretch| stretch.1).filter(|pixels| *pixels >= 3.5).collect();
        assert!(drawn.len() >= high.len(), "{about} {share}: {drawn:?} {high:?}");
        for (drawn, expected) in drawn.iter().zip(&high) {
            assert!((drawn - expected).abs() <= 3.0, "{about} {share}: {drawn} {expected}: {stretches:?}");
            compared += 1;
        }
    }
    compared
}

/// What the page gives to run it again is the same run.
fn expect_same_run(place: &Place, probe: &Value, report: &Value) {
    place.write("again.toml", probe["again"].as_str().unwrap());
    let again = place.run_json(&["run", "again.toml", "--json"]);
    for key in ["config_hash", "response_us", "flash", "gc", "time_us"] {
        assert_eq!(again[key], report[key], "{key}");
    }
}
