//! Runs of different shapes: what their pages draw, read back by a browser, is what their reports say.

use serde_json::{Value, json};

use crate::browser::{LOOKS, READ, expect_steps, numbers, shown, visit_with};
use crate::marks::{self, Faults, Marks, expect_marks};
use crate::pictures::expect_same_in_picture;
use crate::program::{Place, is_long};

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
        "array.rebuild={delay=\"200ms\", rate=\"2MB/s\", spare=\"blank\"}",
    ],
    &["report.skip_requests=1000", "array.controller={outstanding=4, bandwidth=\"50MB/s\"}"],
];

/// Positions of the runs that show a window of time.
const WITH_WINDOW: [usize; 9] = [0, 4, 8, 12, 13, 15, 16, 17, 18];
/// Positions of runs that show marks which no run at an even position has.
const WITH_ALL_MARKS: [usize; 2] = [13, 15];

#[test]
fn what_pages_draw_is_what_their_reports_say() {
    let (mut bars, mut marks, mut in_pictures) = (0, Marks::new(), Marks::new());
    let mut faults = Faults::default();
    for (index, shape) in SHAPES.iter().enumerate().filter(|(index, _)| is_long() || index % 2 == 0 || WITH_ALL_MARKS.contains(index)) {
        let place = Place::new();
        let set = shape.iter().flat_map(|setting| ["--set", setting]);
        let window = if WITH_WINDOW.contains(&index) { vec!["--timeline", "0s..500ms"] } else { Vec::new() };
        let arguments: Vec<&str> = ["run", "small.toml", "--json", "--out", "out"].into_iter().chain(set).chain(window).collect();
        let report = place.run_json(&arguments);
        // Each width on either ground.
        let look = if index % 2 == 0 { LOOKS[index % 3] } else { LOOKS[index % 3].other() };
        let Some(probe) = visit_with(&place, "out/report.html", look, READ) else { return };
        let about = format!("{shape:?}");
        assert_eq!(probe["contents"], 0, "{about}: entries of the contents that lead nowhere");
        expect_first_screen(&probe, &report);
        for chart in probe["charts"].as_array().unwrap() {
            faults.check(|| bars += expect_chart(chart, &report, &about));
            let picture = place.read(&format!("out/{}.svg", chart["id"].as_str().unwrap()));
            assert_eq!(
                picture.trim(),
                chart["picture"].as_str().unwrap().trim(),
                "{about}: the page saves another picture than the folder's"
            );
            faults.check(|| expect_same_in_picture(chart, &about, &mut in_pictures));
            faults.check(|| expect_marks(chart, &about, &mut marks));
        }
        if index % 5 == 0 {
            expect_same_run(&place, &probe, &report);
        }
    }
    drop(faults);
    assert!(bars > if is_long() { 25 } else { 12 }, "only {bars} parts of bars were high enough to be measured");
    for kind in marks::OF_RUNS {
        assert!(marks.contains_key(kind) && in_pictures.contains_key(kind), "no {kind} was read: {marks:?}, in pictures {in_pictures:?}");
    }
}

/// Asserts that the first screen shows the simulation and its outcome.
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
        "free-blocks-window" => expect_pool(chart, report, about),
        id if id.starts_with("free-blocks") => {
            let first = id.strip_prefix("free-blocks-").map_or(0, |facet| (facet.parse::<usize>().unwrap() - 1) * 8);
            let members = report["free_blocks"].as_array().unwrap().iter().filter(|member| *member != &json!([]));
            let (columns, members) = (&chart["data"].as_array().unwrap()[1..], members.skip(first).take(8).collect::<Vec<_>>());
            assert_eq!(columns.len(), members.len(), "{about} {id}");
            for (column, points) in columns.iter().zip(members) {
                let least: Vec<f64> = points.as_array().unwrap().iter().map(|point| point[1].as_f64().unwrap()).collect();
                assert_eq!(numbers(column), least, "{about}");
            }
        }
        "timeline" => expect_window(chart, report, about),
        _ => panic!("{about}: what does {id} show?"),
    }
    if chart["content"]["kind"] == "lines" {
        expect_named(chart, report, about);
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

/// Moments are those of the report where time goes across, thresholds those of its configuration where free blocks are shown.
fn expect_named(chart: &Value, report: &Value, about: &str) {
    let names = |key: &str| -> Vec<(String, f64)> { serde_json::from_value(chart["content"][key].clone()).unwrap() };
    let id = chart["id"].as_str().unwrap();
    let has_marks = id.starts_with("time-") || id.starts_with("member-");
    let marks = report["over_time"]["marks"].as_array().into_iter().flatten().filter(|_| has_marks);
    let mark = |mark: &Value| {
        let what = match mark["what"].as_str().unwrap() {
            "failed" => "fails",
            "rebuild-began" => "is being rebuilt",
            "rebuild-ended" => "is rebuilt",
            other => panic!("{other}"),
        };
        (format!("member {} {what}", mark["member"]), mark["at_ns"].as_f64().unwrap() / 1e9)
    };
    assert_eq!(names("marks"), marks.map(mark).collect::<Vec<_>>(), "{about} {id}");
    let gc = &report["config"]["ssd"]["gc"];
    let levels = match (id.starts_with("free-blocks"), gc["preemption"] == "semi") {
        (false, _) => Vec::new(),
        (true, false) => vec![("T_soft".to_owned(), 1.0)],
        (true, true) => vec![("T_soft".to_owned(), 1.0), ("T_hard".to_owned(), gc["t_hard"].as_f64().unwrap())],
    };
    assert_eq!(names("levels"), levels, "{about} {id}");
}

/// The poorest pool of the window: its free blocks, and when it collected in which state.
fn expect_pool(chart: &Value, report: &Value, about: &str) {
    let timeline = &report["timeline"];
    let least = timeline["gc"].as_array().unwrap().iter().filter_map(|clean| clean["free_blocks_least"].as_u64()).min().unwrap();
    let title = chart["title"].as_str().unwrap();
    let of_pool =
        |clean: &&Value| title.ends_with(&format!("(member {}, die {}, pool {})", clean["member"], clean["element"], clean["pool"]));
    let cleans: Vec<&Value> = timeline["gc"].as_array().unwrap().iter().filter(of_pool).collect();
    assert!(cleans.iter().any(|clean| clean["free_blocks_least"] == least), "{about}: not the poorest pool");
    let ms = |clean: &Value, key: &str| clean[key].as_f64().unwrap() / 1e6;
    let blocks = |clean: &Value, key: &str| clean[key].as_f64().unwrap() / timeline["t_soft_free_blocks"].as_f64().unwrap();
    let mut expected: Vec<(f64, f64)> = cleans
        .iter()
        .flat_map(|clean| {
            let after = blocks(clean, "free_blocks_least") + 1.0 / timeline["t_soft_free_blocks"].as_f64().unwrap();
            let end = ms(clean, "end_ns");
            [(ms(clean, "start_ns"), blocks(clean, "free_blocks_before")), (end, blocks(clean, "free_blocks_least")), (end, after)]
        })
        .collect();
    let mut drawn: Vec<(f64, f64)> = serde_json::from_value(chart["content"]["series"][0]["points"].clone()).unwrap();
    let order = |a: &(f64, f64), b: &(f64, f64)| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1));
    expected.sort_by(order);
    drawn.sort_by(order);
    assert_eq!(drawn.len(), expected.len(), "{about}");
    assert!(drawn.iter().zip(&expected).all(|(a, b)| near(a.0, b.0) && near(a.1, b.1)), "{about}: {drawn:?} {expected:?}");

    let states = [
        ("collecting, requests go in between", "start_ns", "writes_wait_from_ns"),
        ("collecting, writes wait", "writes_wait_from_ns", "all_wait_from_ns"),
        ("collecting, all wait", "all_wait_from_ns", "end_ns"),
    ];
    let mut bands = chart["content"]["bands"].as_array().unwrap().iter();
    for (name, from, to) in states {
        let mut stretches: Vec<(f64, f64)> =
            cleans.iter().map(|clean| (ms(clean, from), ms(clean, to))).filter(|stretch| stretch.0 < stretch.1).collect();
        if stretches.is_empty() {
            continue;
        }
        stretches.sort_by(order);
        let band = bands.next().unwrap_or_else(|| panic!("{about}: no band {name}"));
        assert_eq!(band["name"], name, "{about}");
        let mut drawn: Vec<(f64, f64)> = band["stretches"]
            .as_array()
            .unwrap()
            .iter()
            .map(|stretch| (stretch["start"].as_f64().unwrap(), stretch["end"].as_f64().unwrap()))
            .collect();
        drawn.sort_by(order);
        assert_eq!(drawn, stretches, "{about} {name}");
    }
    assert!(bands.next().is_none(), "{about}: a band too many");
}

/// The window shows the requests, collections and destages of the report, cut off at its ends.
fn expect_window(chart: &Value, report: &Value, about: &str) {
    let (content, timeline) = (&chart["content"], &report["timeline"]);
    let ms = |entry: &Value, key: &str| entry[key].as_f64().unwrap() / 1e6;
    let window = ms(timeline, "from_ns")..ms(timeline, "to_ns");
    let within = |entry: &Value, key: &str| ms(entry, key).clamp(window.start, window.end);
    let entries = |key: &str| timeline[key].as_array().into_iter().flatten();
    let number = |entry: &Value, key: &str| entry[key].as_f64().unwrap();
    let scale = unit_us(content["unit"].as_str().unwrap());
    let sorted = |mut rows: Vec<Vec<f64>>| {
        rows.sort_by(|a, b| a.partial_cmp(b).unwrap());
        rows
    };
    let drawn = |key: &str| {
        let rows = content["panels"][0][key].as_array().unwrap().iter().map(|row| {
            row.as_array().unwrap().iter().map(|cell| cell.as_f64().unwrap_or_else(|| f64::from(u8::from(cell == true)))).collect()
        });
        sorted(rows.collect())
    };
    let flag = |entry: &Value, key: &str| f64::from(u8::from(entry[key] == true));
    let requests = entries("requests").filter(|request| window.contains(&ms(request, "done_ns"))).map(|request| {
        let response_us = (number(request, "done_ns") - number(request, "arrival_ns")) / 1e3;
        vec![ms(request, "done_ns"), response_us / scale, flag(request, "write")]
    });
    let collections = entries("gc").map(|clean| {
        let [from, to] = ["start_ns", "end_ns"].map(|key| within(clean, key));
        vec![number(clean, "member"), number(clean, "element"), from, to, flag(clean, "forced")]
    });
    let destages = entries("destages").map(|destage| {
        let [begun, ended, done] = ["begun_ns", "ended_ns", "done_ns"].map(|key| within(destage, key));
        vec![number(destage, "member"), begun, ended, done]
    });
    for (key, expected) in
        [("requests", sorted(requests.collect())), ("collections", sorted(collections.collect())), ("destages", sorted(destages.collect()))]
    {
        let drawn = drawn(key);
        assert_eq!(drawn.len(), expected.len(), "{about} {key}");
        for (drawn, expected) in drawn.iter().zip(&expected) {
            // Response times of a report are differences of large numbers.
            assert!(
                drawn.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 1e-6 * b.abs().max(1e-3)),
                "{about} {key}: {drawn:?} {expected:?}"
            );
        }
    }
    assert_eq!(content["panels"][0]["members"], report["members"].as_array().unwrap().len(), "{about}");
    assert_eq!(content["panels"][0]["dies"], report["config"]["ssd"]["geometry"]["dies"], "{about}");
    // What the cursor reads.
    for reading in chart["readings"].as_array().unwrap() {
        let Some(request) = content["panels"][0]["requests"].get(reading[0].as_u64().unwrap() as usize) else { continue };
        let (at, text) = (request[0].as_f64().unwrap(), reading[1][if request[2] == true { 2 } else { 1 }].as_str().unwrap());
        assert!(text.ends_with(content["unit"].as_str().unwrap()), "{about}: {reading}");
        assert!((shown(text).unwrap() - request[1].as_f64().unwrap()).abs() <= 6e-4 * request[1].as_f64().unwrap(), "{about}: {reading}");
        assert!(
            (shown(reading[1][0].as_str().unwrap().rsplit(": ").next().unwrap()).unwrap() - at).abs() <= 1e-3 * at + 1.0,
            "{about}: {reading}"
        );
    }
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
    let (interval_ms, end_ms) = (over_time["interval_ms"].as_f64().unwrap(), report["measured_to_ns"].as_f64().unwrap() / 1e6);
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

/// Asserts that the command on the page for running it again gives the same run.
fn expect_same_run(place: &Place, probe: &Value, report: &Value) {
    place.write("again.toml", probe["again"].as_str().unwrap());
    let again = place.run_json(&["run", "again.toml", "--json"]);
    for key in ["config_hash", "response_us", "flash", "gc", "time_us"] {
        assert_eq!(again[key], report[key], "{key}");
    }
}
