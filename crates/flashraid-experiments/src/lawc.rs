//! Ganesh et al., *LAWC: Optimizing Write Cache Using Layout-Aware I/O Scheduling for All Flash Storage*, IEEE TC 2017: Figures 6–11.

use crate::results::{BANDWIDTH, MEAN, STDDEV, Values, combine, mean};
use crate::settings::lawc;
use crate::{Evaluation, Figure, Point, Results};

const LEVELS: [&str; 2] = ["raid0", "raid5"];
const WORKLOADS: [&str; 10] =
    ["exchange", "lawc-cello", "lawc-financial", "lawc-tpc-h", "fiu-vm", "fiu-mail", "ms-ec", "ms-ft", "ms-ecft", "lawc-skewed"];
/// Where synchronised caches are much better in the paper.
const INTENSIVE: [&str; 6] = ["exchange", "lawc-cello", "fiu-vm", "fiu-mail", "ms-ec", "ms-ecft"];
const POLICIES: [&str; 5] = ["wow", "ggc", "iwc", "iwc-sync", "lawc"];
/// Shares of the first level; 0.09375 and 0.25 are the paper's.
const FRONTS: [f64; 4] = [0.093_75, 0.25, 0.5, 0.75];
const SIZES_KIB: [u32; 3] = [64, 256, 1024];
/// Read and write latency of the cache (Table 5).
const LATENCIES: [(&str, &str, &str); 5] =
    [("FF", "31ns", "250ns"), ("F", "62ns", "500ns"), ("B", "125ns", "1us"), ("S", "250ns", "2us"), ("SS", "500ns", "4us")];
/// Of the synthetic workloads W(R, I, W) those that the paper gives figures of ...
const SPIDER: [&str; 3] = ["1024, 20, 60", "4096, 20, 60", "1024, 10, 60"];
/// ... and the other values of Table 4, one at a time.
const SPIDER_AROUND: [&str; 5] = ["4, 20, 60", "512, 20, 60", "1024, 40, 60", "1024, 20, 20", "1024, 20, 80"];

pub fn figures() -> Vec<Figure> {
    let figure = |id, title, points, evaluate| Figure { id, title, points, evaluate };
    vec![
        figure("lawc.fig6", "Response times over the share of the first level", first_levels(), fig6),
        figure("lawc.fig7", "Policies of the write cache", grid(&WORKLOADS, &POLICIES), fig7),
        figure("lawc.fig8", "Synchronised collections", grid(&WORKLOADS, &["wow", "ggc", "lawc"]), fig8),
        figure("lawc.fig9", "Synthetic workloads", spider(), fig9),
        figure("lawc.fig10", "Cache sizes", sizes(), fig10),
        figure("lawc.fig11", "Cache latencies", latencies(), fig11),
        figure("lawc.multi", "Workloads of several streams", grid(&["ms-ec", "ms-ft", "ms-ecft"], &["wow", "lawc"]), multi),
    ]
}

/// Name of a point: the level and what is varied.
fn name(level: &str, one: &str, other: &str) -> String {
    format!("{level} {one} {other}")
}

fn grid(workloads: &[&str], policies: &[&str]) -> Vec<Point> {
    let mut points = Vec::new();
    for level in LEVELS {
        for workload in workloads {
            points.extend(policies.iter().map(|policy| lawc(name(level, workload, policy), level, policy, workload)));
        }
    }
    points
}

fn first_levels() -> Vec<Point> {
    let point = |workload: &str, share: f64| {
        lawc(format!("{workload} {share}"), "raid0", "lawc", workload).set("cache.first_level_fraction", share)
    };
    ["exchange", "lawc-financial"].iter().flat_map(|workload| FRONTS.map(|share| point(workload, share))).collect()
}

fn fig6(results: &Results, evaluation: &mut Evaluation) {
    let statements =
        [("exchange", "exchange: mean at 25 % over the least mean"), ("lawc-financial", "financial: mean at 25 % over the least mean")];
    let ratios = statements.map(|(workload, what)| {
        let at = |share: f64| results.mean(&format!("{workload} {share}"), MEAN);
        let least = FRONTS.into_iter().map(at).fold(f64::INFINITY, |least, value| if value.is_nan() { f64::NAN } else { least.min(value) });
        // Best within a hundredth, which no plot shows.
        (what, at(0.25) / least, at(0.25) <= 1.01 * least)
    });
    evaluation.statement("lawc.fig6", ratios.to_vec());
}

/// Reduction of a figure by a policy against wow.
fn reduction(results: &Results, level: &str, workload: &str, policy: &str, figure: &str) -> Values {
    results.reduction(&name(level, workload, "wow"), &name(level, workload, policy), figure)
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn fig7(results: &Results, evaluation: &mut Evaluation) {
    let on_both = |compute: &dyn Fn(&str) -> Values| LEVELS.map(|level| (level, compute(level))).to_vec();
    let over = |workloads: &[&str], policies: &[&str], level: &str, figure: &str, join: fn(&[f64]) -> f64| {
        let pairs = workloads.iter().flat_map(|workload| policies.iter().map(move |policy| (workload, policy)));
        let reductions = pairs.map(|(workload, policy)| reduction(results, level, workload, policy, figure));
        // Other settings are measured for some of the workloads only.
        combine(&reductions.filter(|reduction| !reduction.is_empty()).collect::<Vec<_>>(), join)
    };
    evaluation.numbers("lawc.fig7.best", on_both(&|level| over(&WORKLOADS, &["iwc-sync", "lawc"], level, MEAN, most)));

    let average = |policy: &str, workloads: &[&str]| mean(&over(workloads, &[policy], "raid0", MEAN, mean));
    let [ggc, iwc] = ["ggc", "iwc"].map(|policy| average(policy, &WORKLOADS));
    let sync = average("iwc-sync", &INTENSIVE);
    let least_sync = mean(&over(&INTENSIVE, &["iwc-sync"], "raid0", MEAN, least));
    evaluation.statement(
        "lawc.fig7.iwc",
        vec![
            ("average reduction by iwc-sync against wow on the write-intensive workloads", sync, sync > 0.0),
            ("the least reduction by iwc-sync on one of them", least_sync, least_sync > 0.0),
            ("average reduction by iwc against wow is negative", iwc, iwc < 0.0),
            ("average reduction by coordinated collection against wow, the greatest", ggc, ggc > average("lawc", &WORKLOADS)),
        ],
    );

    let light = |workload: &str| {
        let on_levels = LEVELS.map(|level| reduction(results, level, workload, "lawc", MEAN));
        combine(&on_levels, |values| most(&values.iter().map(|value| value.abs()).collect::<Vec<_>>()))
    };
    evaluation.numbers("lawc.fig7.light", vec![("financial", light("lawc-financial")), ("tpc-h", light("lawc-tpc-h"))]);
    evaluation.numbers("lawc.fig7.skewed", on_both(&|level| reduction(results, level, "lawc-skewed", "lawc", MEAN)));
    evaluation.numbers("lawc.fig7.stddev", on_both(&|level| over(&WORKLOADS, &["lawc"], level, STDDEV, mean)));
    let gain = |level: &str| over(&WORKLOADS, &["lawc"], level, BANDWIDTH, mean).into_iter().map(|reduction| -reduction).collect();
    evaluation.numbers("lawc.fig7.throughput", on_both(&gain));
}

fn fig8(results: &Results, evaluation: &mut Evaluation) {
    let points = LEVELS.iter().flat_map(|level| WORKLOADS.map(|workload| (*level, workload)));
    let ratios = points
        .map(|(level, workload)| results.ratio(&name(level, workload, "lawc"), &name(level, workload, "wow"), "/gc/synchronised_mean"));
    // A workload under which nothing is collected has no such number.
    let ratios: Vec<Values> = ratios.filter(|ratio| !ratio.is_empty()).collect();
    evaluation.number("lawc.fig8", combine(&ratios, most));
}

fn spider() -> Vec<Point> {
    let mut points = Vec::new();
    for level in LEVELS {
        for parameters in SPIDER.iter().chain(&SPIDER_AROUND) {
            let workload = format!("spider({})", parameters.replace(' ', ""));
            points.extend(
                ["wow", "ggc", "lawc"]
                    .map(|policy| lawc(name(level, parameters, policy), level, policy, &workload).set("workload.requests", 10_000)),
            );
        }
    }
    points
}

fn fig9(results: &Results, evaluation: &mut Evaluation) {
    for level in LEVELS {
        let reductions = SPIDER.map(|parameters| (parameters, reduction(results, level, parameters, "lawc", MEAN)));
        evaluation.numbers(&format!("lawc.fig9.{level}"), reductions.to_vec());
    }
}

fn sized(level: &str, workload: &str, kib: u32, policy: &str) -> String {
    format!("{level} {workload} {kib} KiB {policy}")
}

fn sizes() -> Vec<Point> {
    let mut points = Vec::new();
    for level in LEVELS {
        for workload in ["exchange", "lawc-financial"] {
            for kib in SIZES_KIB {
                let point =
                    |policy| lawc(sized(level, workload, kib, policy), level, policy, workload).set("cache.size", format!("{kib}KiB"));
                points.extend(POLICIES.map(point));
            }
        }
    }
    points
}

fn fig10(results: &Results, evaluation: &mut Evaluation) {
    let against = |level: &str, workload: &str, kib: u32, baseline: &str, policy: &str| {
        results.reduction(&sized(level, workload, kib, baseline), &sized(level, workload, kib, policy), MEAN)
    };
    let over_sizes =
        |baseline: &str, policy: &str| combine(&SIZES_KIB.map(|kib| against("raid0", "exchange", kib, baseline, policy)), most);
    let small = |level: &str| against(level, "lawc-financial", SIZES_KIB[0], "lawc", "wow");
    let behind = combine(
        &SIZES_KIB.map(|kib| results.ratio(&sized("raid0", "exchange", kib, "lawc"), &sized("raid0", "exchange", kib, "ggc"), MEAN)),
        most,
    );
    evaluation.numbers(
        "lawc.fig10",
        vec![
            ("exchange", over_sizes("wow", "lawc")),
            ("behind ggc", behind.into_iter().map(|ratio| ratio - 1.0).collect()),
            ("financial raid0", small("raid0")),
            ("financial raid5", small("raid5")),
        ],
    );
}

fn latencies() -> Vec<Point> {
    let mut points = Vec::new();
    for level in LEVELS {
        for policy in POLICIES {
            points.extend(LATENCIES.map(|(label, read, write)| {
                lawc(name(level, policy, label), level, policy, "exchange").set("cache.nvm_read", read).set("cache.nvm_write", write)
            }));
        }
    }
    points
}

fn fig11(results: &Results, evaluation: &mut Evaluation) {
    let spread = |policy: &str| {
        let means = LATENCIES.map(|(label, ..)| results.mean(&name("raid0", policy, label), MEAN));
        means.into_iter().fold(f64::NAN, f64::max) / means.into_iter().fold(f64::NAN, f64::min) - 1.0
    };
    let statements = [
        ("RAID-0, lawc: greatest mean over the least, less 1", spread("lawc")),
        ("RAID-0, wow: greatest mean over the least, less 1", spread("wow")),
    ];
    evaluation.statement("lawc.fig11", statements.map(|(what, spread)| (what, spread, spread <= 0.1)).to_vec());
}

fn multi(results: &Results, evaluation: &mut Evaluation) {
    let greatest =
        |level: &str| combine(&["ms-ec", "ms-ft", "ms-ecft"].map(|workload| reduction(results, level, workload, "lawc", MEAN)), most);
    evaluation.numbers("lawc.multi", LEVELS.map(|level| (level, greatest(level))).to_vec());
}
