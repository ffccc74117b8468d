//! Axes over many ranges, drawn by the script and the library of a page: each ends, with the numbers of the pictures.

use flashraid_report::chart::{Axis, Chart, Content, Line, Lines, ticks};
use flashraid_report::page::{Page, Part};
use serde_json::Value;

use crate::browser::{LOOKS, visit_with};
use crate::program::{Place, is_long};

/// Number of ranges; all of them in `make test-long`.
fn range_count() -> usize {
    if is_long() { 1000 } else { 150 }
}

/// Ends at which axes go wrong: on powers of ten, just beside them, and those of a drive whose fastest read takes 130.6 µs.
const CORNERS: [(f64, f64); 8] =
    [(0.1306, 998.0), (0.0999, 1000.0), (0.1, 0.1), (1.0, 10.0), (0.999_999_999, 1.000_000_001), (1e-6, 1e9), (9.99, 10.01), (3e-7, 4e-7)];

/// Draws each chart, then a part of it as when it is zoomed; tells the ends and the numbers of its axes.
const PROBE: &str = r#"(async () => {
  const home = document.querySelector(".charts"), axes = [];
  for (const [index, chart] of CHARTS.entries()) {
    flashraid.draw(chart, home);
    const section = home.lastElementChild, u = section.querySelector(".plot").uplots[0];
    const note = async () => {
      await Promise.resolve();
      axes.push(...["x", "y"].map((key, axis) => [u.scales[key].min, u.scales[key].max, u.axes[axis]._splits, u.width]));
    };
    await note();
    const { min, max } = u.scales.x, at = (share) => (chart.x.log ? min * (max / min) ** share : min + (max - min) * share);
    u.setScale("x", { min: at(((index * 37) % 100) / 250), max: at(0.5 + ((index * 61) % 100) / 250) });
    await note();
    u.destroy();
    section.remove();
  }
  tell({ axes, charts: [] });
})();"#;

/// Numbers from 0 to 1 that look like chance.
fn shares() -> impl Iterator<Item = f64> {
    (1_u64..).map(|index| {
        let mixed = (index.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (index << 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed >> 11) as f64 / (1_u64 << 53) as f64
    })
}

/// Numbers that an axis across of a chart so wide has room for, at most.
fn most_across(width: f64) -> usize {
    (((width - 100.0) / 85.0).floor() as usize).clamp(3, ticks::ACROSS_MAX)
}

#[test]
fn every_axis_ends_and_has_the_numbers_of_the_pictures() {
    let mut shares = shares();
    let mut share = || shares.next().unwrap();
    let mut ranges: Vec<[(f64, f64); 2]> = CORNERS.iter().map(|range| [*range, *range]).collect();
    ranges.extend((CORNERS.len()..range_count()).map(|_| {
        [(); 2].map(|()| {
            let min = 10_f64.powf(-7.0 + 14.0 * share());
            (min, min * 10_f64.powf(9.0 * share().powi(2)))
        })
    }));
    // Every third chart is linear.
    let is_log = |index: usize| index % 3 < 2;
    let chart = |(index, [x, y]): (usize, &[(f64, f64); 2])| {
        let axis = |label| if is_log(index) { Axis::log(label) } else { Axis::linear(label) };
        let lines = Lines {
            x: axis("response, ms"),
            y: axis("share of requests, %"),
            steps: false,
            series: vec![Line::new("all", vec![(x.0, y.0), (x.1, y.1)])],
            bands: Vec::new(),
            levels: Vec::new(),
            marks: Vec::new(),
        };
        Chart::new("axes", "Axes", Content::Lines(lines))
    };
    let part = Part { title: "Axes".to_owned(), charts: ranges.iter().enumerate().map(chart).collect(), ..Part::default() };
    let html = Page { title: "Axes", parts: &[part] }.html();

    // The page itself has none of them, since so many at a time are more than a browser can hold.
    let begin = "<script type=\"application/json\" id=\"charts-data\">";
    let (before, rest) = html.split_once(begin).unwrap();
    let (data, after) = rest.split_once("</script>").unwrap();
    let charts: Vec<Value> = serde_json::from_str::<Vec<Vec<Value>>>(data).unwrap().remove(0);
    let before = before.split_once("<noscript>").unwrap().0;
    let place = Place::new();
    place.write("axes.html", format!("{before}{begin}[[]]</script>{after}"));
    let probe = PROBE.replace("CHARTS", &serde_json::to_string(&charts).unwrap().replace('<', "\\u003c"));
    let Some(seen) = visit_with(&place, "axes.html", LOOKS[0], &probe) else { return };
    let axes: Vec<(f64, f64, Vec<f64>, f64)> = serde_json::from_value(seen["axes"].clone()).unwrap();
    assert_eq!(axes.len(), 4 * ranges.len());
    for (index, (min, max, numbers, width)) in axes.into_iter().enumerate() {
        if !is_log(index / 4) {
            let most = if index % 2 == 0 { most_across(width) } else { ticks::UPWARDS_MAX };
            let whole = ranges[index / 4][0].0.fract() == 0.0 && ranges[index / 4][0].1.fract() == 0.0 && index % 2 == 0;
            assert_eq!(numbers, ticks::linear(min, max, most, whole), "from {min} to {max}");
            assert!(numbers.len() <= most, "from {min} to {max}: {numbers:?}");
            continue;
        }
        assert_eq!(numbers, ticks::logarithmic(min, max), "from {min} to {max}");
        assert!((3..=9).contains(&numbers.len()) || max / min < 1.0001, "from {min} to {max}: {numbers:?}");
    }
}
