//! The explorer of a study's page, in headless Chromium. Each control changes figures and charts to those of the point, as in the JSON.

use std::fs;
use std::time::Instant;

use serde_json::{Value, json};

use crate::browser::{LOOKS, Look, visit_with};
use crate::program::Place;

/// Chooses every value of every control in turn and tells what the page shows then.
const PROBE: &str = r#"(async () => {
  const settle = () => new Promise((resolve) => setTimeout(resolve, 30));
  const section = document.querySelector(".explorer"), seen = [];
  const note = async () => {
    await settle();
    const figures = {};
    for (const row of section.querySelectorAll("tr[data-figure]")) {
      figures[row.dataset.figure] = [row.querySelector("[data-chosen]").textContent, row.querySelector(".unit").textContent, row.querySelector("[data-ratio]")?.textContent ?? "1"];
    }
    const charts = {};
    for (const chart of section.querySelectorAll(".chart")) {
      const u = chart.querySelector(".plot").uplots[0];
      charts[chart.id] = { data: u.data, names: [...chart.querySelectorAll(".legend .name")].map((name) => name.textContent), label: u.axes[1].label, x: u.axes[0].label };
    }
    seen.push({ point: Number(section.dataset.point), figures, charts, conclusion: section.querySelector(".conclusion").textContent });
  };
  await note();
  const fields = [...section.querySelectorAll(".controls fieldset")];
  for (const field of fields) {
    for (const input of field.querySelectorAll("input")) { input.click(); await note(); }
    const select = field.querySelector("select");
    if (select) {
      for (const option of select.options) { select.value = option.value; select.dispatchEvent(new Event("change")); await note(); }
      field.querySelector("button").click();
      await note();
    }
  }
  const last = [...section.querySelectorAll(".controls > button")].pop(), before = Number(section.dataset.point);
  last.click();
  await note();
  tell({ seen, before, controls: fields.map((field) => field.dataset.key), hints: fields.map((field) => field.querySelector("legend").title), charts: [] });
})();"#;

/// The number of a text such as `8.00 ±0.10 ?`.
fn number(text: &str) -> f64 {
    let text = text.split(' ').next().unwrap().replace([',', '\u{202f}'], "");
    text.parse().unwrap_or_else(|_| panic!("{text} is no number"))
}

/// Returns the factor from the unit of a report to the unit of a row.
fn factor(unit: &str) -> f64 {
    match unit {
        "s" => 1e6,
        "ms" => 1e3,
        "ns" => 1e-3,
        "%" => 0.01,
        "TB" => 1e12,
        "GB" => 1e9,
        "MB" => 1e6,
        _ => 1.0,
    }
}

/// Asserts that the figures shown at a point are those of its document, to three digits.
fn expect_point(seen: &Value, document: &Value) {
    let index = seen["point"].as_u64().unwrap() as usize;
    let summary = &document["summary"][index];
    let figures = seen["figures"].as_object().unwrap();
    assert!(figures.len() > 12, "{figures:?}");
    for (key, shown) in figures {
        let [text, unit, ratio] = [0, 1, 2].map(|part| shown[part].as_str().unwrap());
        let known = &summary["figures"][key];
        match known["mean"].as_f64() {
            None => assert_eq!(text, "–", "{key} of point {index}"),
            Some(mean) if text.contains('\u{202f}') => assert!(mean > 9999.0, "{key} of point {index}: {text}"),
            Some(mean) => {
                // A unit of its own stands behind the number.
                let own = text.split(' ').find(|word| factor(word) != 1.0).unwrap_or(unit);
                let value = number(text) * factor(own);
                assert!((value - mean).abs() <= 0.006 * mean.abs() + 1e-9, "{key} of point {index}: {text} {unit} instead of {mean}");
            }
        }
        if let (Some(known), false) = (known["ratio"].as_f64(), ratio == "–" || ratio.contains('\u{202f}')) {
            assert!((number(ratio) - known).abs() <= 0.006 * known.abs() + 1e-9, "{key} of point {index}: × {ratio} instead of {known}");
        }
    }
    // The charts are those of the point and its baseline.
    let seeds = document["points"].as_array().unwrap().len() / document["summary"].as_array().unwrap().len();
    let report = |point: usize| &document["points"][point * seeds]["report"];
    let baseline = document["summary"].as_array().unwrap().iter().position(|point| point["settings"] == summary["baseline"]).unwrap();
    let shown: Vec<usize> = if baseline == index { vec![index] } else { vec![baseline, index] };
    let chart = &seen["charts"]["explore-response-cdf"];
    let columns = chart["data"].as_array().unwrap();
    assert_eq!(columns.len(), shown.len() + 1, "{}", chart["names"]);
    let unit = chart["x"].as_str().unwrap().rsplit(", ").next().unwrap();
    for (column, point) in columns[1..].iter().zip(&shown) {
        let column = column.as_array().unwrap();
        let last = column.iter().rposition(|share| share.as_f64().is_some_and(|share| share > 99.999)).unwrap();
        let first = column.iter().position(|share| share.as_f64().is_some_and(|share| share > 99.999)).unwrap();
        let (at, longest) =
            (columns[0][first.min(last)].as_f64().unwrap() * factor(unit), report(*point)["response_us"]["all"]["max"].as_f64().unwrap());
        assert!((at - longest).abs() <= 2e-5 * longest, "the longest of point {point}: {at} instead of {longest}");
    }
    let percentiles = &seen["charts"]["explore-percentiles"];
    let unit = percentiles["label"].as_str().unwrap().rsplit(", ").next().unwrap();
    for (column, point) in percentiles["data"].as_array().unwrap()[1..].iter().zip(&shown) {
        let (median, known) = (column[0].as_f64().unwrap() * factor(unit), report(*point)["response_us"]["all"]["p50"].as_f64().unwrap());
        assert!((median - known).abs() <= 2e-5 * known, "the median of point {point}: {median} instead of {known}");
    }
    let parts = seen["charts"]["explore-time-parts"]["data"].as_array().unwrap();
    assert_eq!(parts[0].as_array().unwrap().len(), 2 * shown.len());
}

#[test]
fn each_control_of_an_explorer_moves_the_figures_to_the_points() {
    let place = Place::new();
    let vary = [
        "--vary",
        "coordination.scheme=local,ideal,reactive-inclusive,proactive-idle",
        "--vary",
        "workload.read_fraction=0.25,0.5,0.75",
        "--vary",
        "array.members=2,3,4,5,6",
    ];
    let document = place.run_json(&[&["compare", "small.toml", "--json", "--out", "out", "-q"][..], &vary].concat());
    assert_eq!(document["summary"].as_array().unwrap().len(), 60);
    let page = place.path("out/report.html");
    let bytes = fs::metadata(&page).unwrap().len();
    assert!(bytes < 5_000_000, "{bytes} bytes");
    // A line for each of sixty points would be no picture.
    assert!(!place.files().iter().any(|name| name.contains("response-cdf")), "{:?}", place.files());

    for look in [LOOKS[0], LOOKS[2], Look { width: 390, dark: true }] {
        let begun = Instant::now();
        let Some(probe) = visit_with(&place, "out/report.html", look, PROBE) else { return };
        eprintln!("{bytes} bytes, {} pixels: {:?} for everything", look.width, begun.elapsed());
        assert_eq!(probe["controls"], json!(["coordination.scheme", "workload.read_fraction", "array.members"]));
        for (key, hint) in probe["controls"].as_array().unwrap().iter().zip(probe["hints"].as_array().unwrap()) {
            let explained = place.run(&["explain", key.as_str().unwrap()]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
            let hint = hint.as_str().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(hint.len() > 20 && explained.contains(&hint), "{hint} is not in {explained}");
        }
        let seen = probe["seen"].as_array().unwrap();
        assert_eq!(seen.len(), 1 + 4 + 3 + 5 + 1);
        seen.iter().for_each(|seen| expect_point(seen, &document));
        // Each control moves its own key and no other: the last key varies fastest.
        let points: Vec<u64> = seen.iter().map(|seen| seen["point"].as_u64().unwrap()).collect();
        let first = points[0] as usize;
        let (rest, members) = (first % 15, first % 5);
        let of_scheme: Vec<u64> = (0..4).map(|scheme| (scheme * 15 + rest) as u64).collect();
        let of_share: Vec<u64> = (0..3).map(|share| (45 + share * 5 + members) as u64).collect();
        let of_members: Vec<u64> = (0..5).map(|members| 45 + 10 + members).collect();
        assert_eq!(points[1..13], [of_scheme, of_share, of_members].concat());
        assert_eq!(points[13], 14, "the baseline of the last point");
        let conclusions = document["conclusions"].as_array().unwrap();
        assert!(seen.iter().all(|seen| conclusions.contains(&seen["conclusion"])), "each load has its conclusion");
    }
}

/// Many values of a key make a list with buttons, and points beyond a few hundred make no explorer.
#[test]
fn long_keys_have_lists_and_large_studies_none_of_it() {
    let place = Place::new();
    let study = |vary: &str, out: &str| {
        let arguments = [
            "compare",
            "small.toml",
            "--set",
            "workload.requests=200",
            "--vary",
            "array.members=1,2",
            "--vary",
            vary,
            "--json",
            "-q",
            "--out",
            out,
        ];
        place.run_json(&arguments)
    };
    let document = study("seed=1..12", "few");
    if let Some(probe) = visit_with(&place, "few/report.html", LOOKS[0], PROBE) {
        let seen = probe["seen"].as_array().unwrap();
        assert_eq!(seen.len(), 1 + 2 + 12 + 1 + 1);
        seen.iter().for_each(|seen| expect_point(seen, &document));
        let points: Vec<u64> = seen.iter().map(|seen| seen["point"].as_u64().unwrap()).collect();
        assert_eq!(points[3..16], (12..24).chain([22]).collect::<Vec<u64>>());
    }
    study("seed=1..130", "many");
    let page = place.read("many/report.html");
    assert!(!page.contains("class=\"explorer\"") && page.contains("Mean response time"));
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
}
