//! Pages of comparisons, of several results and of reproductions: what a browser draws is what their documents and pictures say.

use serde_json::Value;

use crate::browser::{LOOKS, READ, expect_steps, shown, visit_with};
use crate::marks::{Faults, Marks, expect_marks};
use crate::pictures::expect_same_in_picture;
use crate::program::Place;

fn charts(probe: &Value) -> &[Value] {
    probe["charts"].as_array().unwrap()
}

/// Bars side by side are as high as their values, and the cursor reads these; how many were measured.
fn expect_bars(chart: &Value, about: &str) -> usize {
    let scale = &chart["scale"];
    let [min, max] = [0, 1].map(|end| scale["y"][end].as_f64().unwrap());
    let height = scale["height"].as_f64().unwrap();
    let mut measured = 0;
    let Some(bars) = chart["bars"].as_array() else { return 0 };
    for (index, (series, bars)) in chart["content"]["series"].as_array().unwrap().iter().zip(bars).enumerate() {
        for (group, bar) in bars.as_array().unwrap().iter().enumerate() {
            let Some(value) = series["values"][group].as_f64() else { continue };
            assert_eq!(chart["data"][index + 1][group].as_f64(), Some(value), "{about}");
            let share = if scale["y"][2] == true { (value / min).ln() / (max / min).ln() } else { value / max };
            if share * height < 3.0 {
                continue;
            }
            assert!(
                (share * height - bar.as_f64().unwrap()).abs() <= 2.0,
                "{about} {}: {value} is {bar} high instead of {}",
                chart["id"],
                share * height
            );
            measured += 1;
        }
        for reading in chart["readings"].as_array().unwrap() {
            let value = series["values"][reading[0].as_u64().unwrap() as usize].as_f64();
            let text = reading[1][index + 1].as_str().unwrap();
            match value {
                Some(value) => assert!((shown(text).unwrap() - value).abs() <= 6e-4 * value, "{about}: {text} {value}"),
                None => assert_eq!(text, "–", "{about}"),
            }
        }
    }
    measured
}

/// The unit at the end of an axis' label, in microseconds.
fn scale_of(chart: &Value, axis: &str) -> f64 {
    match chart["content"][axis]["label"].as_str().unwrap().rsplit(", ").next().unwrap() {
        "ns" => 1e-3,
        "µs" => 1.0,
        "ms" => 1e3,
        "s" => 1e6,
        other => panic!("{other}"),
    }
}

#[test]
fn what_a_comparison_draws_is_what_its_document_says() {
    let grids: [&[&str]; 3] = [
        // Bars in groups, with intervals.
        &["--vary", "coordination.scheme=local,ideal", "--vary", "ssd.gc.victim=greedy,fifo", "--seeds", "2"],
        // Lines over a number, logarithmic where values span decades.
        &["--vary", "workload.arrivals.mean_gap=500us,2ms,80ms", "--vary", "ssd.gc.victim=greedy,fifo", "--seeds", "3"],
        // More series than colours.
        &["--vary", "coordination.scheme=local,reactive-inclusive,ideal", "--vary", "ssd.gc.victim=greedy,fifo,d-choices,cost-benefit"],
    ];
    let (mut measured, mut marks, mut in_pictures) = (0, Marks::new(), Marks::new());
    let mut faults = Faults::default();
    for (index, vary) in grids.iter().enumerate() {
        let place = Place::new();
        let arguments = [&["compare", "small.toml", "--json", "--out", "out", "--set", "workload.requests=600"][..], vary].concat();
        let document = place.run_json(&arguments);
        let points = document["points"].as_array().unwrap();
        // The first seed of each setting.
        let seed = &points[0]["seed"];
        let first: Vec<&Value> = points.iter().filter(|point| point["seed"] == *seed).map(|point| &point["report"]).collect();
        let looks = if index == 0 { &LOOKS[..] } else { &[LOOKS[2].other(), LOOKS[0].other()][index - 1..index] };
        for look in looks {
            let about = format!("{vary:?}");
            let Some(probe) = visit_with(&place, "out/report.html", *look, READ) else { return };
            assert_eq!(probe["contents"], 0, "{about}: entries of the contents that lead nowhere");
            let mut curves = 0;
            for chart in charts(&probe) {
                let id = chart["id"].as_str().unwrap();
                let picture = place.read(&format!("out/{id}.svg"));
                assert_eq!(
                    picture.trim(),
                    chart["picture"].as_str().unwrap().trim(),
                    "{about}: the page saves another picture than the folder's"
                );
                faults.check(|| expect_same_in_picture(chart, &about, &mut in_pictures));
                faults.check(|| expect_marks(chart, &about, &mut marks));
                measured += expect_bars(chart, &about);
                assert!(chart["names"].as_array().unwrap().len() <= 9, "{about} {id}: more series than colours");
                if id.starts_with("response-cdf") {
                    let series = chart["content"]["series"].as_array().unwrap();
                    let named: Vec<(&str, &Value)> = series
                        .iter()
                        .map(|line| line["name"].as_str().unwrap())
                        .zip(first[curves..].iter().map(|report| &report["response_us"]["all"]["cdf"]))
                        .collect();
                    curves += named.len();
                    expect_steps(chart, &named, scale_of(chart, "x"), |fraction| fraction * 100.0);
                }
                let figure = match id.split_once("-1").map_or(id, |(id, _)| id) {
                    "mean-response" => Some(("/response_us/all/mean", 1.0 / scale_of(chart, "y"))),
                    "response-deviation" => Some(("/response_us/all/stddev", 1.0 / scale_of(chart, "y"))),
                    "write-amplification" => Some(("/flash/write_amplification", 1.0)),
                    _ => None,
                };
                if let Some((figure, scale)) = figure {
                    expect_means(chart, &document, figure, scale, &about);
                }
            }
            assert_eq!(curves, first.len(), "{about}: a curve for each point");
        }
    }
    drop(faults);
    assert!(measured > 30, "only {measured} bars were high enough to be measured");
    for kind in ["line", "point", "tick", "dot", "interval of a dot", "interval of a bar", "interval of a point"] {
        assert!(marks.contains_key(kind) && in_pictures.contains_key(kind), "no {kind} was read: {marks:?}, in pictures {in_pictures:?}");
    }
}

#[test]
fn doubtful_points_are_marked_where_they_are_drawn() {
    let place = Place::new();
    let flooded = ["--vary", "workload.arrivals.mean_gap=100us,500us,20ms", "--vary", "ssd.gc.victim=greedy,fifo"];
    let remedies = ["--set", "workload.arrivals.mean_gap=100us", "--vary", "coordination.scheme=local,reactive-inclusive,ideal"];
    let (mut marks, mut in_pictures, mut tips) = (Marks::new(), Marks::new(), 0);
    let mut faults = Faults::default();
    for (out, vary) in [("gaps", &flooded[..]), ("remedies", &remedies)] {
        let document =
            place.run_json(&[&["compare", "small.toml", "--json", "--out", out, "--set", "workload.requests=1500"][..], vary].concat());
        let is_doubtful = |point: &Value| point["report"]["verdict"]["marks"].as_array().unwrap().iter().any(|mark| mark == "not steady");
        let points = document["points"].as_array().unwrap();
        assert!(points.iter().any(is_doubtful), "{out}: a point is not steady");
        let Some(probe) = visit_with(&place, &format!("{out}/report.html"), LOOKS[0], READ) else { return };
        for chart in charts(&probe) {
            faults.check(|| expect_same_in_picture(chart, out, &mut in_pictures));
            faults.check(|| expect_marks(chart, out, &mut marks));
            let explanations: Vec<&str> = chart["doubts"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
            assert!(
                explanations.iter().any(|text| text.starts_with("! The run was not steady")),
                "{out} {}: {explanations:?}",
                chart["id"]
            );
            // An entry of the legend says what its symbol means, and so does what the cursor reads.
            for (name, title) in chart["names"].as_array().unwrap().iter().zip(chart["titles"].as_array().unwrap()) {
                assert_eq!(
                    name.as_str().unwrap().contains(" !"),
                    title.as_str().unwrap().contains("! The run was not steady"),
                    "{out} {name} {title}"
                );
            }
            for reading in chart["readings"].as_array().unwrap() {
                let has_symbol = reading[1].as_array().unwrap().iter().any(|text| text.as_str().unwrap().contains(" !"));
                let Some(tip) = reading[2].as_str() else { continue };
                assert_eq!(has_symbol, tip.contains("! The run was not steady"), "{out} {}: {tip}", chart["id"]);
                tips += usize::from(has_symbol);
            }
        }
        if out == "remedies" {
            let groups = |probe: &Value| -> Vec<bool> {
                let means = charts(probe).iter().find(|chart| chart["id"] == "mean-response").unwrap();
                let doubts = means["content"]["series"][0]["doubts"].as_array().unwrap();
                doubts.iter().map(|doubt| doubt.as_str().unwrap().contains('!')).collect()
            };
            assert_eq!(groups(&probe), points.iter().map(is_doubtful).collect::<Vec<_>>());
        }
    }
    drop(faults);
    assert!(tips > 3, "{tips} tips of doubtful values were read");
    for kind in ["doubtful point", "doubtful dot", "explanation"] {
        assert!(in_pictures.contains_key(kind), "no {kind} was read: {in_pictures:?}");
    }
}

/// The mean over the seeds of every setting is drawn once, with half of its interval where the summary has it.
fn expect_means(chart: &Value, document: &Value, figure: &str, scale: f64, about: &str) {
    let points = document["points"].as_array().unwrap();
    let key = figure[1..].replace('/', ".");
    let summary = document["summary"].as_array().unwrap().iter();
    let mut expected: Vec<(f64, Option<f64>)> = summary
        .map(|setting| {
            let own = points.iter().filter(|point| point["settings"] == setting["settings"]);
            let values: Vec<f64> = own.map(|point| point["report"].pointer(figure).unwrap().as_f64().unwrap()).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64 * scale;
            (mean, setting["figures"][&key]["ci95"].as_f64().map(|half| half * scale))
        })
        .collect();
    let series = chart["content"]["series"].as_array().unwrap();
    let halves = |series: &Value| -> Vec<f64> {
        series["half_widths"].as_array().into_iter().flatten().map(|half| half.as_f64().unwrap_or(0.0)).collect()
    };
    let values = |series: &Value| -> Vec<f64> {
        match series["points"].as_array() {
            Some(points) => points.iter().filter_map(|point| point[1].as_f64()).collect(),
            None => series["values"].as_array().unwrap().iter().filter_map(Value::as_f64).collect(),
        }
    };
    let mut drawn: Vec<(f64, f64)> = series
        .iter()
        .flat_map(|series| {
            let halves = halves(series);
            values(series)
                .into_iter()
                .enumerate()
                .map(move |(index, value)| (value, halves.get(index).copied().unwrap_or(0.0)))
                .collect::<Vec<_>>()
        })
        .collect();
    drawn.sort_by(|a, b| a.0.total_cmp(&b.0));
    expected.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert_eq!(drawn.len(), expected.len(), "{about} {figure}");
    for (drawn, expected) in drawn.iter().zip(&expected) {
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs().max(1e-9);
        assert!(near(drawn.0, expected.0), "{about} {figure}: {drawn:?} {expected:?}");
        assert!(expected.1.is_none_or(|half| near(drawn.1, half)), "{about} {figure}: {drawn:?} {expected:?}");
    }
}

#[test]
fn pages_of_several_results_and_of_reproductions_draw_what_their_pictures_show() {
    let place = Place::new();
    let runs: [(&str, &[&str]); 2] =
        [("plain", &["--timeline", "0s..200ms"]), ("many", &["--set", "array.members=9", "--timeline", "1s..1100ms"])];
    for (out, options) in runs {
        assert_eq!(place.run(&[&["run", "small.toml", "--set", "workload.requests=800", "--out", out], options].concat()).status, 0);
    }
    assert_eq!(place.run(&["compare", "small.toml", "--vary", "ssd.gc.victim=greedy,fifo", "--seeds", "2", "--out", "grid"]).status, 0);
    assert_eq!(place.run(&["report", "plain", "many", "grid", "--out", "all"]).status, 0);
    assert_eq!(place.run(&["reproduce", "pgc.poll", "--quick", "--out", "paper"]).status, 0);
    let mut faults = Faults::default();
    for (page, looks, least) in [("all", &LOOKS[..], 30), ("paper", &LOOKS[1..], 1)] {
        for look in looks {
            let Some(probe) = visit_with(&place, &format!("{page}/report.html"), *look, READ) else { return };
            assert_eq!(probe["contents"], 0, "{page}: entries of the contents that lead nowhere");
            assert!(charts(&probe).len() >= least, "{page}: {} charts", charts(&probe).len());
            for chart in charts(&probe) {
                faults.check(|| expect_same_in_picture(chart, page, &mut Marks::new()));
                faults.check(|| expect_marks(chart, page, &mut Marks::new()));
                expect_bars(chart, page);
            }
        }
    }
}
