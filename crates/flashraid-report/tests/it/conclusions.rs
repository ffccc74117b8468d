//! Compares the concluding sentences with the table. The rule of docs/figures.md is written a second time here, as simply as possible.

use std::collections::BTreeSet;

use flashraid::report::{MayWin, WarningMark};
use flashraid::study::all_combinations;
use flashraid_report::grid::{Axis, Grid, Point};
use serde_json::{Value, json};

type Names = BTreeSet<String>;

/// Factors of the standard error that give half of a 95 % interval: Student's t for 2, 3 and 4 seeds, and for ten batches.
const T: [(usize, f64); 4] = [(2, 12.706), (3, 4.303), (4, 3.182), (10, 2.262)];

/// Figures of a made-up point.
#[derive(Clone)]
struct Made {
    /// Mean of each seed, in microseconds.
    means: Vec<f64>,
    p99: f64,
    p99_9: f64,
    requests: u64,
    /// Spread of the mean's ten batches, as a share; `None` for a report without batches.
    batches: Option<f64>,
    amplification: f64,
    load: &'static str,
    steady: bool,
    judged: bool,
    lost: u64,
}

const PLAIN: Made = Made {
    means: Vec::new(),
    p99: 2000.0,
    p99_9: 4000.0,
    requests: 20_000,
    batches: Some(0.01),
    amplification: 1.5,
    load: "stable",
    steady: true,
    judged: true,
    lost: 0,
};

fn made(mean: f64, p99_9: f64) -> Made {
    Made { means: vec![mean], p99: p99_9 / 2.0, p99_9, ..PLAIN }
}

/// Returns a number from -1 to 1 that depends only on `a` and `b`.
fn wobble(a: usize, b: usize) -> f64 {
    ((a * 7919 + b * 104_729) % 2001) as f64 / 1000.0 - 1.0
}

impl Made {
    fn reports(&self, point: usize) -> Vec<Value> {
        let report = |(seed, mean): (usize, &f64)| {
            let batch = |index: usize, of: f64| of * (1.0 + self.batches.unwrap_or(0.0) * wobble(point + 1, index));
            let batches: Vec<f64> = (0..10).map(|index| batch(index, *mean)).collect();
            let p99: Vec<f64> = (0..10).map(|index| batch(index + 10, self.p99)).collect();
            let mean = batches.iter().sum::<f64>() / 10.0;
            let tail = |of: f64| of * (1.0 + 0.001 * wobble(point, seed));
            let mut all = json!({ "count": self.requests, "mean": mean, "p99": tail(self.p99), "p99_9": tail(self.p99_9) });
            if self.requests == 0 {
                all = json!({ "count": 0, "mean": null, "p99": null, "p99_9": null });
            }
            let marks = [
                (self.requests == 0, "nothing measured"),
                (self.lost > 0, "data lost"),
                (!self.steady, "not steady"),
                (!self.judged, "not judged"),
            ];
            let marks: Vec<&str> = marks.into_iter().filter(|(holds, _)| *holds).map(|(_, name)| name).collect();
            let mut report = json!({
                "seed": seed + 1,
                "response_us": { "all": all },
                "flash": { "write_amplification": self.amplification },
                "verdict": { "load": self.load, "steady": self.steady, "marks": marks },
                "lost": { "requests": self.lost, "pages": self.lost },
            });
            if self.batches.is_some() && self.requests > 0 {
                report["batches"] = json!({ "mean_us": batches });
                // A batch needs ten requests beyond its percentile.
                if self.requests >= 10_000 {
                    report["batches"]["p99_us"] = p99.into();
                }
            }
            report
        };
        self.means.iter().enumerate().map(report).collect()
    }
}

/// Returns a comparison of these keys. The baseline has the first value of each key that is a remedy.
fn grid(keys: &[&str], points: Vec<Made>) -> Grid {
    let axes: Vec<Axis> = keys.iter().map(|key| key.parse().unwrap()).collect();
    let settings = all_combinations(&axes);
    assert_eq!(settings.len(), points.len(), "{keys:?}");
    let baseline = |index: usize| {
        let wanted: Vec<&str> = settings[index]
            .iter()
            .zip(&axes)
            .map(|(setting, axis)| if given(&setting.key) { setting.value.as_str() } else { axis.values[0].as_str() })
            .collect();
        settings.iter().position(|other| other.iter().map(|setting| setting.value.as_str()).eq(wanted.iter().copied())).unwrap()
    };
    let baselines = (0..settings.len()).map(baseline).collect();
    let points = settings
        .iter()
        .zip(points)
        .enumerate()
        .map(|(index, (settings, made))| Point { settings: settings.clone(), reports: made.reports(index) });
    Grid { axes, points: points.collect(), baselines, sorted_by: None }
}

/// Returns true for keys of the tests that describe the workload, and no remedy.
fn given(key: &str) -> bool {
    ["seed", "array.members", "array.level", "ssd.scale"].contains(&key) || key.starts_with("workload.")
}

fn name(point: &Point) -> String {
    let values: Vec<&str> = point.settings.iter().filter(|setting| !given(&setting.key)).map(|setting| setting.value.as_str()).collect();
    values.join(" · ")
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Way {
    Shorter,
    Longer,
    Unclear,
}

/// Returns a figure of each seed.
fn values(point: &Point, key: &str) -> Vec<f64> {
    point.reports.iter().filter_map(|report| report["response_us"]["all"][key].as_f64()).collect()
}

fn half_width(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    T.iter().find(|(count, _)| *count == values.len()).unwrap().1 * (variance / n).sqrt()
}

/// Returns the ratio of a figure of two points, and half of its interval, as the rule says.
fn ratio(own: &Point, base: &Point, key: &str) -> (f64, Option<f64>) {
    let (a, b) = (values(own, key), values(base, key));
    if a.len() > 1 {
        let ratios: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a / b).collect();
        return (ratios.iter().sum::<f64>() / ratios.len() as f64, Some(half_width(&ratios)));
    }
    let batches = |point: &Point| -> Option<Vec<f64>> {
        let list = point.reports[0]["batches"][format!("{key}_us")].as_array()?;
        Some(list.iter().map(|value| value.as_f64().unwrap()).collect())
    };
    let interval = batches(own).zip(batches(base)).map(|(a, b)| {
        let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
        half_width(&differences)
    });
    (a[0] / b[0], interval.map(|width| width / b[0]))
}

fn way(own: &Point, base: &Point, key: &str) -> Way {
    let (ratio, half) = ratio(own, base, key);
    let (low, high, half) = half.map_or((0.8, 1.25, 0.0), |half| (0.95, 1.05, half));
    if ratio <= low && ratio + half < 1.0 {
        Way::Shorter
    } else if ratio >= high && ratio - half > 1.0 {
        Way::Longer
    } else {
        Way::Unclear
    }
}

fn lost(point: &Point) -> bool {
    point.reports.iter().any(|report| report["lost"]["requests"].as_u64() > Some(0) || report["verdict"]["load"] == "data lost")
}

fn marked(point: &Point) -> bool {
    point.reports.iter().any(|report| report["verdict"]["steady"] == false || report["verdict"]["load"] == "unstable")
}

fn is_judged(point: &Point) -> bool {
    point.reports.iter().all(|report| report["verdict"]["marks"].as_array().unwrap().iter().all(|mark| mark != "not judged"))
}

/// Content of the sentence about one workload, by the rule.
#[derive(Debug, Default, PartialEq)]
struct Expected {
    best: Names,
    longer_tail: Names,
    longer_mean: Names,
    lost: Names,
    unmeasured: Names,
    not_judged: Names,
    marked: Names,
    yardstick: bool,
}

/// Returns the names of the points that pass a test.
fn names(points: &[&Point], test: impl Fn(&&&Point) -> bool) -> Names {
    points.iter().filter(test).map(|point| name(point)).collect()
}

fn expected(points: &[&Point], base: &Point) -> Expected {
    let measured: Vec<&Point> = points.iter().filter(|point| !values(point, "mean").is_empty()).copied().collect();
    let whole: Vec<&Point> = measured.iter().filter(|point| !lost(point)).copied().collect();
    let usable: Vec<&Point> = whole.iter().filter(|point| is_judged(point)).copied().collect();
    let mut expected = Expected {
        not_judged: names(&whole, |point| !is_judged(point)),
        lost: names(&measured, |point| lost(point)),
        unmeasured: names(points, |point| values(point, "mean").is_empty()),
        ..Expected::default()
    };
    let is_ideal = |point: &Point| point.settings.iter().any(|setting| setting.value == "ideal");
    let is_base = |point: &Point| point.settings == base.settings;
    if !usable.iter().any(|point| is_base(point)) {
        return expected;
    }
    let contestants: Vec<&Point> = usable.iter().filter(|point| !is_base(point) && !is_ideal(point)).copied().collect();
    expected.yardstick = usable.iter().any(|point| is_ideal(point) && !is_base(point));
    let count = |point: &Point| point.reports.iter().map(|report| report["response_us"]["all"]["count"].as_u64().unwrap()).min().unwrap();
    let tail = [("p99_9", 10_000), ("p99", 1000)].into_iter().find(|(_, least)| usable.iter().all(|point| count(point) >= *least));
    let tail = tail.map(|(key, _)| key);
    let mean_of = |point: &Point| way(point, base, "mean");
    let tail_of = |point: &Point| tail.map_or(Way::Unclear, |key| way(point, base, key));
    expected.longer_mean = names(&contestants, |point| mean_of(point) == Way::Longer);
    expected.longer_tail = names(&contestants, |point| tail_of(point) == Way::Longer);

    let mut clean: Vec<&Point> = contestants
        .iter()
        .filter(|point| {
            let ways = [mean_of(point), tail_of(point)];
            ways.contains(&Way::Shorter) && !ways.contains(&Way::Longer)
        })
        .copied()
        .collect();
    if clean.iter().any(|point| !marked(point)) {
        clean.retain(|point| !marked(point));
    }
    let mut best: Vec<&Point> = clean.iter().filter(|point| mean_of(point) == Way::Shorter).copied().collect();
    let keep_least = |points: &mut Vec<&Point>, key: &str| {
        let rank = |point: &&Point| ratio(point, base, key).0;
        if let Some(least) = points.iter().min_by(|a, b| rank(a).total_cmp(&rank(b))).copied() {
            points.retain(|point| point.settings == least.settings || way(point, least, key) == Way::Unclear);
        }
    };
    if best.is_empty() {
        best = clean
    } else {
        keep_least(&mut best, "mean")
    }
    if let Some(tail) = tail {
        keep_least(&mut best, tail);
    }
    expected.best = best.iter().map(|point| name(point)).collect();
    expected.marked = names(&usable, |point| marked(point) && (is_base(point) || expected.best.contains(&name(point))));
    expected
}

/// Splits a list of names such as `A, B and C`.
fn listed(text: &str) -> Names {
    text.replace(" and ", ", ").split(", ").map(str::to_owned).collect()
}

/// Content of a sentence, as the test reads it.
#[derive(Debug, Default)]
struct Said {
    expected: Expected,
    /// Change of the mean of those that lengthen it, if the sentence has it.
    longer_mean: Option<String>,
    /// Change of the mean of a single winner.
    mean: Option<String>,
    tail: Option<&'static str>,
}

fn read(sentence: &str) -> Said {
    let mut said = Said::default();
    let text = sentence.strip_suffix('.').unwrap();
    for part in text.split("; ") {
        if let Some((best, rest)) = part.split_once(" is best: mean ") {
            said.expected.best = listed(best);
            said.mean = Some(rest.split([',', 'a']).next().unwrap().trim().to_owned());
        } else if let Some((best, _)) = part.split_once(" are best and not distinguishable with ") {
            said.expected.best = listed(best);
        } else if let Some((what, rest)) = part.strip_prefix("longer ").and_then(|rest| rest.split_once(": ")) {
            let (names, changes) = rest.strip_suffix(')').unwrap().split_once(" (").unwrap();
            let (mean, tail) = match what.split_once(" and ") {
                Some((_, tail)) => (true, Some(tail)),
                None => (what == "mean", Some(what).filter(|what| *what != "mean")),
            };
            if mean {
                said.expected.longer_mean = listed(names);
                let of_mean = changes.strip_prefix("mean ").map_or(changes, |rest| rest.split_once(", ").unwrap().0);
                said.longer_mean = Some(of_mean.to_owned());
            }
            if let Some(tail) = tail {
                said.expected.longer_tail = listed(names);
                said.tail = Some(if tail == "p99.9" { "p99_9" } else { "p99" });
            }
        } else if let Some(rest) = part.strip_prefix("data lost: ") {
            said.expected.lost = listed(rest);
        } else if let Some(rest) = part.strip_prefix("nothing measured: ") {
            said.expected.unmeasured = listed(rest);
        } else if let Some(rest) = part.strip_prefix("not judged: ") {
            said.expected.not_judged = listed(rest.strip_suffix(" is not judged").unwrap_or(rest));
        } else if let Some(rest) = part.strip_prefix("not steady, so that longer runs may say otherwise: ") {
            said.expected.marked = listed(rest);
        } else if part.starts_with("collection in 0 s, the yardstick: ") {
            said.expected.yardstick = true;
        }
    }
    said
}

/// Comparisons for the test, each with a name.
fn comparisons() -> Vec<(&'static str, Grid)> {
    let three = |values: [(f64, f64); 3]| values.map(|(mean, tail)| made(mean, tail)).to_vec();
    let seeds = |means: &[f64], p99_9: f64| Made { means: means.to_vec(), p99: p99_9 / 2.0, p99_9, batches: None, ..PLAIN };
    let s3 = &["coordination.scheme=local,a,b"][..];
    let with = |made: Made, change: fn(&mut Made)| {
        let mut made = made;
        change(&mut made);
        made
    };
    let lose = |made: Made| with(made, |made| (made.lost, made.load) = (5, "data lost"));
    let unsteady = |made: Made| with(made, |made| made.steady = false);
    let unjudged = |made: Made| with(made, |made| made.judged = false);
    let piled = |made: Made| with(made, |made| (made.load, made.steady) = ("unstable", false));
    let nothing = |made: Made| with(made, |made| made.requests = 0);
    let few = |made: Made, requests: u64| Made { requests, ..made };
    let wide = |made: Made, spread: f64| Made { batches: Some(spread), ..made };
    let bare = |made: Made| Made { batches: None, ..made };
    let numbers: Vec<Made> = [1000.0, 700.0, 500.0, 490.0, 900.0].map(|mean| made(mean, 4.0 * mean)).to_vec();
    let ideal = "coordination.scheme=local,a,ideal";
    let mut list = vec![
        ("one wins", grid(s3, three([(1000.0, 4000.0), (250.0, 2000.0), (600.0, 3000.0)]))),
        ("two alike", grid(s3, three([(1000.0, 4000.0), (250.0, 2000.0), (251.0, 2010.0)]))),
        ("alike in the mean, apart in the tail", grid(s3, three([(1000.0, 4000.0), (250.0, 3900.0), (252.0, 1500.0)]))),
        ("all alike", grid(s3, three([(1000.0, 4000.0), (1001.0, 4010.0), (999.0, 3990.0)]))),
        ("all worse", grid(s3, three([(1000.0, 4000.0), (1300.0, 6000.0), (1500.0, 9000.0)]))),
        ("a faster mean with a longer tail", grid(s3, three([(1000.0, 4000.0), (250.0, 12_000.0), (600.0, 3000.0)]))),
        ("every mean with a longer tail", grid(s3, three([(1000.0, 4000.0), (250.0, 12_000.0), (600.0, 9000.0)]))),
        ("only the tail", grid(s3, three([(1000.0, 4000.0), (1001.0, 1000.0), (1300.0, 900.0)]))),
        ("a tail within a quarter", grid(s3, three([(1000.0, 4000.0), (500.0, 4900.0), (800.0, 3300.0)]))),
        (
            "wide batches",
            grid(s3, three([(1000.0, 4000.0), (900.0, 4000.0), (700.0, 4000.0)]).into_iter().map(|made| wide(made, 0.9)).collect()),
        ),
        ("no batches", grid(s3, three([(1000.0, 4000.0), (900.0, 4000.0), (700.0, 2000.0)]).into_iter().map(bare).collect())),
        ("a yardstick", grid(&[ideal], three([(1000.0, 4000.0), (250.0, 2000.0), (100.0, 500.0)]))),
        ("a yardstick that is slower", grid(&[ideal], three([(1000.0, 4000.0), (250.0, 2000.0), (300.0, 2500.0)]))),
        ("nothing but a yardstick", grid(&["coordination.scheme=local,ideal"], vec![made(1000.0, 4000.0), made(100.0, 500.0)])),
        ("lost data win nothing", grid(s3, vec![made(1000.0, 4000.0), lose(made(10.0, 40.0)), made(800.0, 3000.0)])),
        ("only lost data", grid(s3, vec![made(1000.0, 4000.0), lose(made(10.0, 40.0)), lose(made(20.0, 50.0))])),
        ("a baseline that lost data", grid(s3, vec![lose(made(1000.0, 4000.0)), made(10.0, 40.0), made(800.0, 3000.0)])),
        ("nothing measured", grid(s3, vec![made(1000.0, 4000.0), nothing(made(10.0, 40.0)), made(800.0, 3000.0)])),
        ("marked ones come after", grid(s3, vec![made(1000.0, 4000.0), unsteady(made(10.0, 40.0)), made(800.0, 3000.0)])),
        ("points that are not judged win nothing", grid(s3, vec![made(1000.0, 4000.0), unjudged(made(10.0, 40.0)), made(800.0, 3000.0)])),
        ("only the baseline is judged", grid(s3, vec![made(1000.0, 4000.0), unjudged(made(10.0, 40.0)), unjudged(made(9.0, 30.0))])),
        ("a baseline that is not judged", grid(s3, vec![unjudged(made(1000.0, 4000.0)), made(10.0, 40.0), made(800.0, 3000.0)])),
        ("none is judged", grid(s3, three([(1000.0, 4000.0), (250.0, 2000.0), (600.0, 3000.0)]).into_iter().map(unjudged).collect())),
        ("all marked", grid(s3, three([(1000.0, 4000.0), (250.0, 2000.0), (600.0, 3000.0)]).into_iter().map(piled).collect())),
        ("a marked baseline", grid(s3, vec![piled(made(1000.0, 4000.0)), made(250.0, 2000.0), made(600.0, 3000.0)])),
        (
            "few requests: p99",
            grid(s3, three([(1000.0, 4000.0), (250.0, 12_000.0), (600.0, 3000.0)]).into_iter().map(|made| few(made, 5000)).collect()),
        ),
        (
            "very few requests",
            grid(s3, three([(1000.0, 4000.0), (250.0, 12_000.0), (600.0, 3000.0)]).into_iter().map(|made| few(made, 500)).collect()),
        ),
        ("two seeds", grid(s3, vec![seeds(&[1000.0, 1100.0], 4000.0), seeds(&[250.0, 262.0], 2000.0), seeds(&[600.0, 610.0], 3000.0)])),
        (
            "two seeds apart",
            grid(s3, vec![seeds(&[1000.0, 1100.0], 4000.0), seeds(&[250.0, 900.0], 4000.0), seeds(&[600.0, 1300.0], 4000.0)]),
        ),
        (
            "four seeds",
            grid(
                s3,
                vec![
                    seeds(&[1000.0, 1010.0, 990.0, 1005.0], 4000.0),
                    seeds(&[900.0, 905.0, 890.0, 903.0], 8000.0),
                    seeds(&[905.0, 900.0, 893.0, 900.0], 4001.0),
                ],
            ),
        ),
        ("numbers", grid(&["ssd.gc.t_hard=0.1,0.2,0.3,0.4,0.5"], numbers.clone())),
        ("numbers with another key", grid(&["ssd.gc.t_hard=0.1,0.2,0.3,0.4,0.5", "cache.policy=none"], numbers)),
        (
            "two workloads",
            grid(
                &["workload.preset=x,y", "coordination.scheme=local,a"],
                vec![made(1000.0, 4000.0), made(200.0, 900.0), made(5.0, 20.0), made(9.0, 40.0)],
            ),
        ),
        (
            "remedies before members",
            grid(
                &["coordination.scheme=local,a,ideal", "array.members=2,4"],
                [1000.0, 500.0, 400.0, 490.0, 100.0, 50.0].map(|mean| made(mean, 4.0 * mean)).to_vec(),
            ),
        ),
        (
            "two remedies",
            grid(
                &["coordination.scheme=local,a", "ssd.gc.preemption=none,semi"],
                [1000.0, 300.0, 400.0, 100.0].map(|mean| made(mean, 3.0 * mean)).to_vec(),
            ),
        ),
        (
            "depths, sizes and seeds",
            grid(
                &["workload.arrivals.depth=1,8", "workload.size=4KiB,64KiB", "cache.policy=none,wow"],
                (1..=8).map(|at| made(100.0 * f64::from(at), 500.0)).collect(),
            ),
        ),
        ("workloads alone", grid(&["workload.preset=x,y,z"], three([(1000.0, 4000.0), (250.0, 2000.0), (600.0, 3000.0)]))),
        (
            "members and seeds alone",
            grid(&["array.members=2,4", "seed=1,2"], vec![made(1.0, 2.0), made(2.0, 4.0), made(3.0, 4.0), made(9.0, 9.0)]),
        ),
        ("one point", grid(&[], vec![made(1000.0, 4000.0)])),
    ];
    // Further comparisons have arbitrary figures.
    for round in 0..20_usize {
        let at = |point: usize, what: usize| (1.0 + wobble(round * 31 + point, what * 17 + round)) / 2.0;
        let point = |point: usize| {
            let mut made = made(100.0 + 900.0 * at(point, 1), 500.0 + 4000.0 * at(point, 2));
            made.batches = (at(point, 3) < 0.8).then(|| 0.3 * at(point, 4));
            made.steady = at(point, 5) < 0.8;
            made.judged = at(point, 8) < 0.7;
            made.lost = u64::from(at(point, 6) > 0.85);
            made.requests = if at(point, 7) > 0.95 { 0 } else { 20_000 };
            made
        };
        list.push(("drawn", grid(&["workload.preset=x,y", "coordination.scheme=local,a,b,ideal"], (0..8).map(point).collect())));
    }
    list
}

#[test]
fn sentences_follow_the_rule_and_the_table() {
    let comparisons = comparisons();
    assert!(comparisons.len() >= 50);
    let mut won = 0;
    for (about, grid) in &comparisons {
        let sentences = grid.conclusions();
        // Points are grouped by the settings that describe the workload.
        let work = |point: &Point| -> Vec<String> {
            point.settings.iter().filter(|setting| given(&setting.key)).map(|setting| setting.value.clone()).collect()
        };
        let mut workloads: Vec<Vec<String>> = Vec::new();
        for point in &grid.points {
            if !workloads.contains(&work(point)) {
                workloads.push(work(point));
            }
        }
        let of =
            |workload: &Vec<String>| -> Vec<usize> { (0..grid.points.len()).filter(|at| work(&grid.points[*at]) == *workload).collect() };
        if workloads.iter().any(|workload| of(workload).len() < 2) {
            assert!(sentences.len() <= 1 && !sentences.iter().any(|sentence| sentence.contains("best")), "{about}: {sentences:?}");
            continue;
        }
        assert_eq!(sentences.len(), workloads.len(), "{about}: a sentence for each workload");
        let table = grid.summary(1000);
        let column = |name: &str| table.header.iter().position(|heading| heading.starts_with(name));
        for (workload, sentence) in workloads.iter().zip(&sentences) {
            let at = of(workload);
            let points: Vec<&Point> = at.iter().map(|at| &grid.points[*at]).collect();
            let base = &grid.points[grid.baselines[at[0]]];
            let text = if workloads.len() == 1 { sentence.clone() } else { sentence.split_once(": ").unwrap().1.to_owned() };
            assert!(
                workloads.len() == 1 || workload.iter().all(|value| sentence.split_once(": ").unwrap().0.contains(value)),
                "{sentence}"
            );
            let said = read(&text);
            let expected = expected(&points, base);
            assert_eq!(said.expected, expected, "{about}: {sentence}");
            won += usize::from(!expected.best.is_empty());
            // Cell of the table for a point and a column.
            let cell = |point: &str, name: &str| -> String {
                let of_row = |row: &&Vec<flashraid_report::sheet::Cell>| {
                    let labels: Vec<&str> =
                        row[..table.label_columns].iter().map(|cell| cell.text.trim_end_matches([' ', '!', '‡', '✗', '∅'])).collect();
                    let is_work = workload.iter().all(|value| labels.contains(&value.as_str()));
                    let remedies: Vec<&str> =
                        labels.iter().zip(&grid.axes).filter(|(_, axis)| !given(&axis.key)).map(|(label, _)| *label).collect();
                    is_work && remedies.join(" · ") == point
                };
                table.rows.iter().find(of_row).map(|row| row[column(name).unwrap()].text.clone()).unwrap()
            };
            if let (Some(mean), [winner]) = (&said.mean, said.expected.best.iter().collect::<Vec<_>>().as_slice()) {
                assert_eq!(*mean, cell(winner, "change"), "{about}: {sentence}");
            }
            if let (Some(change), [name]) = (&said.longer_mean, expected.longer_mean.iter().collect::<Vec<_>>().as_slice()) {
                assert_eq!(*change, cell(name, "change"), "{about}: {sentence}");
            }
            if let Some(tail) = said.tail {
                for name in &expected.longer_tail {
                    let heading = if tail == "p99" { "p99 " } else { "p99.9" };
                    assert!(cell(name, heading).ends_with('▲'), "{about}: {sentence}\n{table:?}");
                }
            }
        }
    }
    assert!(won >= 20, "{won} comparisons have a winner");
}

/// A run that puts collection off past its end must not be called the best.
#[test]
fn a_point_that_is_not_judged_is_named_and_never_wins() {
    let points = vec![made(150.0, 4000.0), Made { judged: false, ..made(120.0, 1000.0) }, made(119.0, 990.0)];
    let mut grid = grid(&["coordination.scheme=local,reactive-inclusive,ideal"], points);
    let report = &mut grid.points[1].reports[0];
    let nothing = json!({ "kind": "coordinated-cycles", "least": 0.0, "mean": 0.0, "most": 0.0 });
    report["cycles"] = json!({ "kinds": [nothing], "requests_until_judged": 4_123_456 });
    report["config"] = json!({ "workload": { "kind": "trace" } });
    let sentence = grid.conclusions().remove(0);
    assert!(
        sentence.starts_with("no point can be compared with local; a point that is not judged is faster: reactive-inclusive; "),
        "{sentence}"
    );
    assert!(sentence.ends_with("it needs about 4.1 M requests (--until judged --at-most 4.6M)."), "{sentence}");
    assert!(!sentence.contains("is best"), "{sentence}");
    let rows: Vec<String> = grid.summary(200).rows.iter().map(|row| row[2].text.clone()).collect();
    assert_eq!(rows[1], "not judged");
    let document = grid.document();
    assert_eq!(document["summary"][1]["figures"]["response_us.all.mean"]["ratio"], Value::Null);
    assert_eq!(
        document["summary"][1]["not_judged"],
        "reactive-inclusive collected nothing in this run; it needs about 4.1 M requests (--until judged --at-most 4.6M)"
    );
    assert_eq!((&document["summary"][0]["not_judged"], document["summary"][1]["judged"].as_bool()), (&Value::Null, Some(false)));
}

#[test]
fn nothing_is_compared_with_a_baseline_that_is_not_judged() {
    let grid = grid(&["coordination.scheme=local,a"], vec![Made { judged: false, ..made(150.0, 4000.0) }, made(120.0, 1000.0)]);
    let sentence = grid.conclusions().remove(0);
    assert_eq!(sentence, "no point is compared with local, the table has absolute figures only; not judged: local is not judged.");
    assert!(!grid.summary(200).rows.iter().flatten().any(|cell| cell.text.contains('%')));
}

/// Two points that are a fifth faster must not go unmentioned because they are marked.
#[test]
fn doubtful_points_that_are_faster_are_named() {
    let unsteady = |mean: f64| Made { steady: false, ..made(mean, 3000.0) };
    let points =
        vec![made(1000.0, 4000.0), unsteady(640.0), made(800.0, 3000.0), unsteady(630.0), Made { judged: false, ..made(9.0, 9.0) }];
    let sentence = grid(&["coordination.scheme=local,a,b,c,d"], points).conclusions().remove(0);
    assert!(sentence.starts_with("b is best"), "{sentence}");
    assert!(sentence.contains("two points that are not steady are faster: a and c"), "{sentence}");
    assert!(sentence.contains("a point that is not judged is faster: d"), "{sentence}");
}

/// The yardstick of a point is the same point with `ideal`, so that it never takes longer because of another key.
#[test]
fn a_winner_is_put_beside_its_own_yardstick() {
    let points = [1000.0, 400.0, 500.0, 900.0, 300.0, 200.0].map(|mean| made(mean, 4.0 * mean)).to_vec();
    let grid = grid(&["ssd.gc.preemption=none,suspend", "coordination.scheme=local,a,ideal"], points);
    let sentence = grid.conclusions().remove(0);
    assert!(sentence.contains("suspend · a is best"), "{sentence}");
    assert!(sentence.contains("the yardstick suspend · ideal: mean −80") && !sentence.contains("none · ideal"), "{sentence}");
}

/// Hedged reads change no collection, so that they can be compared although the run is too short to judge collection.
#[test]
fn read_plans_with_the_same_flash_work_are_compared() {
    let mut grid = grid(&["read.plan=home,hedge"], [1000.0, 500.0].map(|mean| Made { judged: false, ..made(mean, 4000.0) }).to_vec());
    let give = |point: &mut Point, erases: u64| {
        point.reports[0]["flash"] = json!({ "host_pages_written": 1000, "gc_pages_moved": 100, "erases": erases });
    };
    grid.points.iter_mut().for_each(|point| give(point, 200));
    assert!(grid.conclusions()[0].starts_with("hedge is best"), "{:?}", grid.conclusions());
    give(&mut grid.points[1], 190);
    assert!(grid.conclusions()[0].starts_with("no point is compared with home"), "{:?}", grid.conclusions());
}

/// A level is a requirement and no remedy: none beats another.
#[test]
fn resources_are_laid_out_beside_each_other() {
    let points = [(100.0, 400.0), (150.0, 900.0), (200.0, 1000.0)].map(|(mean, tail)| made(mean, tail)).to_vec();
    let mut grid = grid(&["array.level=raid0,raid5,raid6"], points);
    for (point, terabytes) in grid.points.iter_mut().zip([8e12, 7e12, 6e12]) {
        point.reports[0]["capacity_bytes"] = json!(terabytes);
        point.reports[0]["config"] = json!({ "array": { "level": point.settings[0].value } });
    }
    let sentence = grid.conclusions().remove(0);
    assert!(!sentence.contains("no remedy beats"), "{sentence}");
    assert!(
        sentence.contains("raid0: 8.00 TB, survives no failure, mean") && sentence.contains("raid6: 6.00 TB, survives any two"),
        "{sentence}"
    );
    assert!(grid.summary(200).header.iter().all(|heading| heading != "change"));
}

#[test]
fn loads_are_told_apart_and_assumptions_should_not_matter() {
    let sentence = |key: &str, means: [f64; 2]| grid(&[key], means.map(|mean| made(mean, 4.0 * mean)).to_vec()).conclusions().join("");
    assert_eq!(sentence("workload.size=4KiB,8KiB", [100.0, 200.0]), "points under different loads are not compared.");
    assert!(sentence("ssd.scale=8,16", [100.0, 102.0]).starts_with("ssd.scale does not matter"));
    assert!(sentence("ssd.scale=8,16", [100.0, 130.0]).starts_with("ssd.scale matters"));
}

/// Sentences bar marked points from what the list of marks bars them from.
#[test]
fn sentences_follow_the_list_of_marks() {
    for mark in WarningMark::ALL {
        let mark_point = |at: usize, count: usize| {
            let means = [1000.0, 500.0, 800.0];
            let mut grid = grid(&["coordination.scheme=local,a,b"], means.map(|mean| made(mean, 4.0 * mean)).to_vec());
            grid.points[at..at + count].iter_mut().for_each(|point| point.reports[0]["verdict"]["marks"] = json!([mark.json_name()]));
            if mark == WarningMark::NothingMeasured {
                grid.points[at].reports[0]["response_us"]["all"] = json!({ "count": 0 });
            }
            grid.conclusions().remove(0)
        };
        let effect = mark.effect();
        assert_eq!(mark_point(1, 1).starts_with("a is best"), effect.may_win == MayWin::Yes, "{mark:?}: {}", mark_point(1, 1));
        if effect.may_win == MayWin::IfNoOther {
            assert!(mark_point(1, 2).starts_with("a is best"), "{mark:?}: {}", mark_point(1, 2));
        }
        assert_eq!(mark_point(0, 1).starts_with("a is best"), effect.may_be_baseline, "{mark:?}: {}", mark_point(0, 1));
    }
}

#[test]
fn a_yardstick_stands_below_the_others_in_brackets() {
    let grid = grid(
        &["coordination.scheme=ideal,local,a", "array.members=2,4"],
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(|mean| made(mean, 9.0)).to_vec(),
    );
    let rows: Vec<Vec<String>> = grid.summary(200).rows.iter().map(|row| row[..2].iter().map(|cell| cell.text.clone()).collect()).collect();
    assert_eq!(rows, [["local", "2"], ["a", "2"], ["(ideal)", "2"], ["local", "4"], ["a", "4"], ["(ideal)", "4"]]);
    assert!(grid.summary_legend().contains("a yardstick, its collections take no time"));
}

#[test]
fn a_summary_is_as_wide_as_it_may_be() {
    let grid = grid(
        &["coordination.scheme=local,reactive-inclusive,proactive-soft-limit"],
        vec![made(1000.0, 4000.0), made(250.0, 12_000.0), made(600.0, 3000.0)],
    );
    for width in [40, 60, 80, 120] {
        let sheet = grid.summary(width);
        assert!(flashraid_report::text::width(&sheet) <= width, "{width}: {sheet:?}");
    }
    assert_eq!(grid.summary(120).header[1..4], ["mean ms", "change", "p99 ms"]);
    assert_eq!(grid.summary(46).header[1..], ["mean ms", "change"]);
}
