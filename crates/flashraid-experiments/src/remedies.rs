//! All remedies side by side on old drives and drives of today, and the loads at which collecting in turn beats collecting together.
//!
//! The grids follow section "Choosing a remedy" of the book. They have no claims: nobody has published such a comparison.

use std::collections::BTreeMap;

use flashraid_model::metrics::Estimate;
use serde_json::Value;

use crate::{Evaluation, Figure, Point, Results};

/// A remedy of the comparison.
#[derive(Debug, Clone, Copy)]
pub struct Remedy {
    /// Name in tables and charts.
    pub name: &'static str,
    /// Equipment or software that the remedy needs beyond an array of plain drives.
    pub needs: &'static str,
    settings: &'static [(&'static str, &'static str)],
}

const AVOID: (&str, &str) = ("read.plan", "avoid");
const SEMI: (&str, &str) = ("ssd.gc.preemption", "semi");
const STAGGER: (&str, &str) = ("coordination.scheme", "stagger");
const WINDOWS: (&str, &str) = ("coordination.scheme", "windows");
const CACHE_SIZE: (&str, &str) = ("cache.size", "16MiB");
const IN_FLIGHT: (&str, &str) = ("cache.in_flight", "20");

/// Name of the yardstick.
pub const IDEAL: &str = "ideal";
/// Name of the array without a remedy.
pub const LOCAL: &str = "local";

/// All remedies. The first is none, the second the yardstick.
pub const REMEDIES: [Remedy; 14] = [
    Remedy { name: LOCAL, needs: "nothing", settings: &[] },
    Remedy { name: IDEAL, needs: "cannot be had", settings: &[("coordination.scheme", "ideal")] },
    Remedy { name: "semi", needs: "firmware", settings: &[SEMI] },
    Remedy { name: "semi+avoid", needs: "firmware, protocol", settings: &[SEMI, AVOID] },
    Remedy { name: "inclusive", needs: "protocol", settings: &[("coordination.scheme", "reactive-inclusive")] },
    Remedy { name: "stagger", needs: "protocol", settings: &[STAGGER] },
    Remedy { name: "stagger+avoid", needs: "protocol", settings: &[STAGGER, AVOID] },
    Remedy { name: "windows", needs: "protocol, clock", settings: &[WINDOWS] },
    Remedy { name: "windows+avoid", needs: "protocol, clock", settings: &[WINDOWS, AVOID] },
    Remedy { name: "avoid", needs: "protocol", settings: &[AVOID] },
    Remedy { name: "hedge", needs: "nothing", settings: &[("read.plan", "hedge")] },
    Remedy { name: "predict", needs: "a predictor", settings: &[("read.plan", "predict")] },
    Remedy {
        name: "wow",
        needs: "memory",
        settings: &[("cache.policy", "wow"), CACHE_SIZE, IN_FLIGHT, ("cache.low", "0.8"), ("cache.high", "0.9")],
    },
    Remedy { name: "lawc", needs: "memory", settings: &[("cache.policy", "lawc"), CACHE_SIZE, IN_FLIGHT] },
];

/// Drives of the comparison, with the settings that make them small enough for it.
const DRIVES: [(&str, &[(&str, &str)]); 4] = [
    ("ggc2014", &[("ssd.geometry.blocks", "256"), ("workload.requests", "160000"), ("report.skip_requests", "20000")]),
    ("pgc2011", &[("ssd.geometry.blocks", "256"), ("workload.requests", "160000"), ("report.skip_requests", "20000")]),
    ("nvme-gen5", &[("ssd.scale", "512")]),
    ("nvme-tlc-read", &[("ssd.scale", "512")]),
];

/// RAID-5 of four under small random requests.
const ARRAY: &str = r#"
[array]
level = "raid5"
members = 4
stripe_unit = "64KiB"
[workload]
kind = "synthetic"
size = "4KiB"
"#;

/// Settings of the comparison: 70 % reads, always 64 requests at a time.
const CLOSED_LOOP: &[(&str, &str)] = &[
    ("workload.arrivals", "{ process = \"closed\", depth = 64 }"),
    ("workload.read_fraction", "0.7"),
    // Enough for ten joint collections of each member of a drive of today.
    ("workload.requests", "2000000"),
    ("report.skip_requests", "40000"),
];

/// Returns the comparison, a figure for each drive.
pub fn comparison() -> Vec<Figure> {
    let of_drive = |(drive, shape): &(&'static str, &[(&str, &str)])| {
        let with = |point: Point, settings: &[(&str, &str)]| settings.iter().fold(point, |point, (key, value)| point.set(key, value));
        let point = |remedy: &Remedy| {
            let point = with(with(Point::new(remedy.name, ARRAY).set("ssd.preset", drive), CLOSED_LOOP), shape);
            let point = with(point, remedy.settings).quick("workload.requests", 6_000).quick("report.skip_requests", 2_000);
            if drive.starts_with("nvme") { point.quick("ssd.scale", 2048) } else { point.quick("ssd.geometry.blocks", 48) }
        };
        figure(drive, "Remedies side by side: RAID-5 of four, 4 KiB, 70 % reads, 64 at a time", REMEDIES.iter().map(point).collect())
    };
    DRIVES.iter().map(of_drive).collect()
}

/// Shares of writes at which collecting together and in turn are compared.
pub const WRITES: [u32; 3] = [10, 30, 70];
/// Schemes of the crossover: together, and in turn with reads that go round collection.
pub const SIDES: [&str; 2] = ["inclusive", "stagger+avoid"];

/// Returns the lines of the crossover: the name of each and the beginning of the names of its points.
pub fn crossover_lines() -> Vec<String> {
    let old = [4, 8].into_iter().flat_map(|members| [4, 64, 256].map(|kib| format!("ggc2014 × {members}, {kib} KiB")));
    old.chain(["nvme-tlc-read × 4, 4 KiB".to_owned()]).collect()
}

/// Returns the simulations of the crossover between collecting together and in turn.
pub fn crossover() -> Figure {
    let mut points = Vec::new();
    for members in [4, 8] {
        for kib in [4, 64, 256] {
            for writes in WRITES {
                let share = f64::from(writes) / 100.0;
                // A tenth of the time of the dies, if a written page costs three milliseconds with parity and collection.
                let work_us = f64::from(kib / 4) * (130.0 * (1.0 - share) + 3100.0 * share);
                let gap_us = work_us / f64::from(16 * members) * 10.0;
                let old = |point: Point| {
                    let point = point.set("ssd.preset", "ggc2014").set("ssd.geometry.dies", 16).set("ssd.geometry.blocks", 64);
                    point.set("array.members", members).set("coordination.window", "50ms")
                };
                points.extend(sides(&format!("ggc2014 × {members}, {kib} KiB"), kib, writes, gap_us, "16s", "8s", old));
            }
        }
    }
    for writes in WRITES {
        let share = f64::from(writes) / 100.0;
        // A fifth of the highest load.
        let gap_us = 5.0 * ((1.0 - share) + 6.0 * share);
        let new = |point: Point| point.set("ssd.preset", "nvme-tlc-read").set("ssd.scale", 512).quick("ssd.scale", 2048);
        // Enough for ten joint collections of each member, the rarest of which are 10 s apart.
        points.extend(sides("nvme-tlc-read × 4, 4 KiB", 4, writes, gap_us, "120s", "500ms", new));
    }
    figure("crossover", "Together or in turn: RAID-5, random requests", points)
}

fn sides(line: &str, kib: u32, writes: u32, gap_us: f64, duration: &str, skip: &str, set_up: impl Fn(Point) -> Point) -> Vec<Point> {
    let side = |side: &&str| {
        let remedy = REMEDIES.iter().find(|remedy| remedy.name == *side).expect("it is a remedy");
        let point = set_up(Point::new(format!("{line} {writes} {side}"), ARRAY)).set("workload.size", format!("{kib}KiB"));
        let point = point.set("workload.read_fraction", 1.0 - f64::from(writes) / 100.0);
        let gap_ns = (gap_us * 1e3).round();
        let point = point.set("workload.arrivals", format!("{{ process = \"poisson\", mean_gap = \"{gap_ns}ns\" }}"));
        let point = point.set("workload.duration", duration).set("report.skip_time", skip);
        let point =
            remedy.settings.iter().filter(|(key, _)| !key.starts_with("cache")).fold(point, |point, (key, value)| point.set(key, value));
        point.quick("workload.duration", "400ms").quick("report.skip_time", "100ms")
    };
    SIDES.iter().map(side).collect()
}

fn figure(id: &'static str, title: &'static str, points: Vec<Point>) -> Figure {
    let nothing_is_claimed = |_: &Results, _: &mut Evaluation| {};
    Figure { id, title, points, evaluate: nothing_is_claimed }
}

/// A quantity over that without a remedy, as the mean of the seeds with half the width of its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Mean over the seeds.
    pub mean: f64,
    /// Half the width of the interval; `None` with one seed.
    pub half_width: Option<f64>,
}

impl Measured {
    fn of(values: &[f64]) -> Option<Measured> {
        let estimate = Estimate::from_values(values)?;
        Some(Measured { mean: estimate.mean, half_width: estimate.interval_half_width })
    }

    /// Returns true if the quantity is more than without a remedy, by more than the interval, and by at least a hundredth.
    pub fn is_loss(&self) -> bool {
        self.mean >= 1.005 && self.half_width.is_some_and(|half_width| self.mean - half_width > 1.0)
    }

    /// Returns true if both intervals have a value in common, or if there are none.
    fn overlaps(&self, other: &Measured) -> bool {
        match (self.half_width, other.half_width) {
            (Some(own), Some(others)) => (self.mean - other.mean).abs() <= own + others,
            _ => true,
        }
    }
}

/// A remedy on one drive.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Name of the remedy.
    pub remedy: Remedy,
    /// Quantities over those without a remedy, by name: mean, p99 and p99.9 of reads, erases, and pages that flash reads.
    pub over_local: BTreeMap<&'static str, Measured>,
    /// The 99th and 99.9th percentile of reads over those of collection in no time.
    pub tails_over_ideal: [f64; 2],
    /// Pages that flash reads and programs for each page of the host, beyond those of collection in no time.
    pub extra_work: f64,
    /// Pages that flash programs for each page that the host writes, parity and collection included.
    pub programs: f64,
    /// True if collection happened often enough, here and without a remedy. Otherwise the response times are not those of a longer run.
    pub is_judged: bool,
}

/// Returns true if collection happened often enough in the runs of a point, and none lived on credit.
fn is_judged(results: &Results, point: &str) -> bool {
    let is_marked =
        |report: &Value| report["verdict"]["marks"].as_array().is_some_and(|marks| marks.iter().any(|mark| mark == "not judged"));
    !results.reports(point).iter().any(is_marked)
}

/// Quantities of the table, with the place of the value, or the places of the values that are added.
pub const QUANTITIES: [(&str, &[&str]); 5] = [
    ("mean", &["/response_us/all/mean"]),
    ("read p99", &["/response_us/read/p99"]),
    ("read p99.9", &["/response_us/read/p99_9"]),
    ("erases", &["/flash/erases"]),
    ("flash reads", &["/flash/host_pages_read", "/flash/gc_pages_moved"]),
];
const PROGRAMS: [&str; 2] = ["/flash/host_pages_written", "/flash/gc_pages_moved"];

fn sum(results: &Results, point: &str, places: &[&str]) -> Vec<f64> {
    results.each(point, |report| places.iter().map(|place| report.pointer(place)?.as_f64()).sum())
}

/// Returns what each remedy does on a drive. Remedies without results are left out.
pub fn outcomes(results: &Results) -> Vec<Outcome> {
    let ratio = |over: &str, under: &str, places: &[&str]| -> Vec<f64> {
        std::iter::zip(sum(results, over, places), sum(results, under, places)).map(|(over, under)| over / under).collect()
    };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let work = |point: &str| {
        let pages = sum(results, point, &["/response_us/all/count"]);
        let flash = sum(results, point, &[QUANTITIES[4].1, &PROGRAMS].concat());
        mean(&std::iter::zip(flash, pages).map(|(flash, pages)| flash / pages).collect::<Vec<_>>())
    };
    let of = |remedy: &Remedy| {
        let over_local = QUANTITIES.iter().filter_map(|(name, places)| Some((*name, Measured::of(&ratio(remedy.name, LOCAL, places))?)));
        let over_local: BTreeMap<_, _> = over_local.collect();
        let written = sum(results, remedy.name, &["/response_us/write/count"]);
        let programs: Vec<f64> = std::iter::zip(sum(results, remedy.name, &PROGRAMS), written).map(|(all, host)| all / host).collect();
        (over_local.len() == QUANTITIES.len()).then(|| Outcome {
            remedy: *remedy,
            over_local,
            tails_over_ideal: [1, 2].map(|index| mean(&ratio(remedy.name, IDEAL, QUANTITIES[index].1))),
            extra_work: work(remedy.name) - work(IDEAL),
            programs: mean(&programs),
            is_judged: is_judged(results, remedy.name) && is_judged(results, LOCAL),
        })
    };
    REMEDIES.iter().filter_map(of).collect()
}

/// Returns the remedy with the least of a quantity. There is none if its interval overlaps that of the next one. The yardstick does not
/// take part, nor does a remedy that is not judged.
pub fn winner(outcomes: &[Outcome], quantity: &str) -> Option<&'static str> {
    let mut sorted: Vec<(&'static str, Measured)> = outcomes
        .iter()
        .filter(|outcome| outcome.remedy.name != IDEAL && outcome.is_judged)
        .map(|outcome| (outcome.remedy.name, outcome.over_local[quantity]))
        .collect();
    sorted.sort_by(|a, b| a.1.mean.total_cmp(&b.1.mean));
    match sorted.as_slice() {
        [first, second, ..] if !first.1.overlaps(&second.1) => Some(first.0),
        _ => None,
    }
}

/// Returns a figure of collecting in turn over that of collecting together, for a line and a share of writes.
///
/// There is none if one of the two is not judged.
pub fn in_turn_over_together(results: &Results, line: &str, writes: u32, place: &str) -> Option<f64> {
    let points = SIDES.map(|side| format!("{line} {writes} {side}"));
    if !points.iter().all(|point| is_judged(results, point)) {
        return None;
    }
    let [together, in_turn] = points.map(|point| results.values(&point, place));
    let ratios: Vec<f64> = std::iter::zip(in_turn, together).map(|(in_turn, together)| in_turn / together).collect();
    Measured::of(&ratios).map(|measured| measured.mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Size;
    use serde_json::json;

    #[test]
    fn every_point_is_a_configuration() {
        for figure in comparison().into_iter().chain([crossover()]) {
            for point in &figure.points {
                for size in [Size::Quick, Size::Full] {
                    let loaded = flashraid::config::scenario_from_toml(&point.name, point.text, &point.settings(size, &[]), Some(7));
                    assert!(loaded.is_ok(), "{} {}: {}", figure.id, point.name, loaded.unwrap_err());
                }
            }
        }
    }

    #[test]
    fn sides_that_hardly_collected_are_not_compared() {
        let report = |mark: &str| json!({ "response_us": { "all": { "mean": 3.0 } }, "verdict": { "marks": [mark] } });
        let mut results = Results::default();
        let of = |results: &Results| in_turn_over_together(results, "x", 30, "/response_us/all/mean");
        results.insert("x 30 inclusive", vec![report("few samples")]);
        results.insert("x 30 stagger+avoid", vec![report("few samples")]);
        assert_eq!(of(&results), Some(1.0));
        results.insert("x 30 inclusive", vec![report("not judged")]);
        assert_eq!(of(&results), None);
    }

    #[test]
    fn a_winner_is_ahead_of_the_next_by_both_intervals() {
        let report = |mean: f64| {
            let figures = json!({ "mean": mean, "p99": mean, "p99_9": mean, "count": 10 });
            json!({
                "response_us": { "all": figures, "read": figures, "write": figures },
                "flash": { "erases": 1, "host_pages_read": 30, "host_pages_written": 20, "gc_pages_moved": 10 },
            })
        };
        let mut results = Results::default();
        results.insert(LOCAL, vec![report(10.0), report(10.0)]);
        results.insert(IDEAL, vec![report(1.0), report(1.0)]);
        results.insert("semi", vec![report(5.0), report(5.1)]);
        let two = outcomes(&results);
        assert_eq!((two.len(), winner(&two, "mean")), (3, Some("semi")));
        assert_eq!((two[2].extra_work, two[2].programs, two[2].tails_over_ideal), (0.0, 3.0, [5.05, 5.05]));
        results.insert("avoid", vec![report(5.2), report(5.0)]);
        assert_eq!(winner(&outcomes(&results), "mean"), None);
        let mut postponed = report(1.0);
        postponed["verdict"] = json!({ "marks": ["not judged"] });
        results.insert("avoid", vec![report(1.0), postponed.clone()]);
        assert_eq!(winner(&outcomes(&results), "mean"), Some("semi"), "what hardly collected does not win");
        results.insert(LOCAL, vec![postponed]);
        assert_eq!(winner(&outcomes(&results), "mean"), None);
        assert!(Measured { mean: 1.2, half_width: Some(0.1) }.is_loss() && !Measured { mean: 1.2, half_width: None }.is_loss());
    }
}
