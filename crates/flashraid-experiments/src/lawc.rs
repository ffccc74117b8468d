//! Ganesh et al., *LAWC: Optimizing Write Cache Using Layout-Aware I/O Scheduling for All Flash Storage*, IEEE TC 2017: Figures 6–11.

use crate::overlap::strips;
use crate::results::{BANDWIDTH, MAX, MEAN, STDDEV, Values, combine, mean};
use crate::settings::{lawc, worn_in};
use crate::verdict::FACTOR;
use crate::{Evaluation, Figure, Point, Results};

const LEVELS: [&str; 2] = ["raid0", "raid5"];
const WORKLOADS: [&str; 10] =
    ["exchange", "lawc-cello", "lawc-financial", "lawc-tpc-h", "fiu-vm", "fiu-mail", "ms-ec", "ms-ft", "ms-ecft", "lawc-skewed"];
/// Workloads for which synchronised caches are much better in the paper.
const INTENSIVE: [&str; 6] = ["exchange", "lawc-cello", "fiu-vm", "fiu-mail", "ms-ec", "ms-ecft"];
/// Workloads with little work.
const LIGHT: [&str; 2] = ["lawc-financial", "lawc-tpc-h"];
const POLICIES: [&str; 5] = ["wow", "ggc", "iwc", "iwc-sync", "lawc"];
/// Shares of the first level; 0.09375 and 0.25 are the paper's.
const FRONTS: [f64; 4] = [0.093_75, 0.25, 0.5, 0.75];
const SIZES_KIB: [u32; 3] = [64, 256, 1024];
/// The paper's "small" size of financial: a little below the baseline, at which lawc is nearly as far behind (8.19 against 9.57 %).
const SMALL_KIB: u32 = 224;
/// Read and write latency of the cache (Table 5).
const LATENCIES: [(&str, &str, &str); 5] =
    [("FF", "31ns", "250ns"), ("F", "62ns", "500ns"), ("B", "125ns", "1us"), ("S", "250ns", "2us"), ("SS", "500ns", "4us")];
/// Synthetic workloads W(R, I, W) for which the paper has figures.
const SPIDER: [&str; 3] = ["1024, 20, 60", "4096, 20, 60", "1024, 10, 60"];
/// Synthetic workloads with the other values of Table 4, one at a time.
const SPIDER_AROUND: [&str; 5] = ["4, 20, 60", "512, 20, 60", "1024, 40, 60", "1024, 20, 20", "1024, 20, 80"];

pub fn figures() -> Vec<Figure> {
    let figure = |id, title, points, evaluate| Figure { id, title, points, evaluate };
    vec![
        figure("lawc.fig4", "Reads and writes of members for two overlapping requests", Vec::new(), fig4),
        figure("lawc.intro", "Synchronised collections, all slices", grid(&WORKLOADS, &["wow", "lawc"]), intro),
        figure("lawc.fig6", "Response times over the share of the first level", first_levels(), fig6),
        figure("lawc.fig7", "Policies of the write cache", grid(&WORKLOADS, &POLICIES), fig7),
        figure("lawc.fig8", "Synchronised collections", grid(&WORKLOADS, &["wow", "ggc", "lawc"]), fig8),
        figure("lawc.fig9", "Synthetic workloads", spider(), fig9),
        figure("lawc.fig10", "Cache sizes", sizes(), fig10),
        figure("lawc.fig11", "Cache latencies", latencies(), fig11),
        figure("lawc.multi", "Workloads of several streams", grid(&["ms-ec", "ms-ft", "ms-ecft"], &["wow", "lawc"]), multi),
    ]
}

/// Returns the name of a point: the level, and the varied settings.
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

/// Judges Fig. 4. A destage of wow has the whole stripe in the cache, so that nothing is read. An independent cache computes parity when
/// data arrive. It must therefore read the strip that the first request does not bring (LAWC 3.1).
fn fig4(_: &Results, evaluation: &mut Evaluation) {
    let [wow, iwc] = ["wow", "iwc"].map(strips);
    let part = |name, strips: u64| (name, vec![strips as f64]);
    evaluation.numbers(
        "lawc.fig4",
        vec![part("wow writes", wow.written), part("wow reads", wow.read), part("iwc writes", iwc.written), part("iwc reads", iwc.read)],
    );
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

/// Returns the reduction of a figure by a policy against wow.
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
    let best = |workloads: &[&str], level: &str| {
        let of = |workload: &&str| over(&[*workload], &["iwc-sync", "lawc"], level, MEAN, most);
        combine(&workloads.iter().map(of).filter(|best| !best.is_empty()).collect::<Vec<_>>(), mean)
    };
    let alone = LEVELS.map(|level| mean(&best(&["exchange"], level)));
    evaluation.numbers_and(
        "lawc.fig7.best",
        on_both(&|level| best(&INTENSIVE, level)),
        // They are there to be seen; the verdict is that of the averages.
        vec![("exchange alone, raid0, not judged", alone[0], true), ("exchange alone, raid5, not judged", alone[1], true)],
    );

    let average_on = |level: &str, policy: &str, workloads: &[&str], figure: &str| mean(&over(workloads, &[policy], level, figure, mean));
    // On the level on which it is less, or more.
    let lesser = |policy: &str, workloads: &[&str]| least(&LEVELS.map(|level| average_on(level, policy, workloads, MEAN)));
    let greater = |policy: &str, workloads: &[&str]| most(&LEVELS.map(|level| average_on(level, policy, workloads, MEAN)));
    // Each claim reads what it needs itself, so that it is known which runs it rests on.
    let iwc = || greater("iwc", &WORKLOADS);
    let sync = lesser("iwc-sync", &INTENSIVE);
    let least_sync = least(&LEVELS.map(|level| mean(&over(&INTENSIVE, &["iwc-sync"], level, MEAN, least))));
    let ahead = least(&LEVELS.map(|level| average_on(level, "ggc", &WORKLOADS, MEAN) - average_on(level, "lawc", &WORKLOADS, MEAN)));
    evaluation.statement(
        "lawc.fig7.iwc",
        vec![
            ("average reduction by iwc against wow, the greater of both levels: negative", iwc(), iwc() < 0.0),
            ("average reduction by iwc-sync against wow on the write-intensive workloads, the lesser of both levels", sync, sync > 0.0),
            ("the least reduction by iwc-sync on one of them", least_sync, least_sync > 0.0),
            ("average reduction by coordinated collection less that by lawc, the lesser of both levels; the greatest", ahead, ahead > 0.0),
        ],
    );
    let against_iwc =
        |level: &str, workload: &str| mean(&results.reduction(&name(level, workload, "iwc"), &name(level, workload, "iwc-sync"), MEAN));
    let gains = LEVELS.iter().flat_map(|level| INTENSIVE.map(|workload| against_iwc(level, workload))).collect::<Vec<_>>();
    evaluation.statement(
        "lawc.fig7.sync",
        vec![
            (
                "reduction by iwc-sync against iwc on the write-intensive workloads, the least: above 0.25",
                least(&gains),
                least(&gains) > 0.25,
            ),
            ("average reduction by iwc against wow is not positive", iwc(), iwc() <= 0.0),
        ],
    );

    let behind = most(&LEVELS.map(|level| most(&LIGHT.map(|workload| mean(&reduction(results, level, workload, "iwc-sync", MEAN))))));
    evaluation.statement(
        "lawc.fig7.light-sync",
        vec![("reduction by iwc-sync against wow on financial and tpc-h, the greatest: negative", behind, behind < 0.0)],
    );
    let bypassing = LEVELS.iter().flat_map(|level| {
        INTENSIVE.map(|workload| {
            mean(&results.each(&name(level, workload, "lawc"), |report| {
                Some(report.pointer("/cache/front/bypasses")?.as_f64()? / report.pointer("/requests/write")?.as_f64()?)
            }))
        })
    });
    let bypassing = least(&bypassing.collect::<Vec<_>>());
    evaluation.statement(
        "lawc.fig7.bypass",
        vec![("writes that go past the first level, as a share of all, where it is least: above one half", bypassing, bypassing > 0.5)],
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

    let by_policy =
        |level: &str, figure: &str| ["ggc", "iwc", "iwc-sync", "lawc"].map(|policy| average_on(level, policy, &WORKLOADS, figure));
    let [deviations, means] = [STDDEV, MEAN].map(|figure| LEVELS.map(|level| by_policy(level, figure)));
    let rank = |values: [f64; 4]| {
        let mut order = [0, 1, 2, 3];
        order.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
        order
    };
    evaluation.statement(
        "lawc.fig7.stddev-order",
        vec![
            (
                "average reduction of the deviation by coordinated collection less that by lawc, the lesser of both levels; it is the greatest, and lawc's is above 0",
                least(&deviations.map(|of| of[0] - of[3])),
                deviations.iter().all(|of| of[0] >= most(of) && of[3] > 0.0),
            ),
            (
                "that by lawc, the lesser of both levels; the order of the policies is that of their means",
                least(&deviations.map(|of| of[3])),
                (0..LEVELS.len()).all(|level| rank(deviations[level]) == rank(means[level])),
            ),
        ],
    );
    let spread = |level: &str, workload: &str| {
        let greatest = POLICIES.map(|policy| results.mean(&name(level, workload, policy), MAX));
        greatest.iter().copied().fold(f64::NAN, f64::max) / least(&greatest)
    };
    let spreads = LEVELS.iter().flat_map(|level| WORKLOADS.map(|workload| spread(level, workload))).collect::<Vec<_>>();
    evaluation.statement(
        "lawc.fig7.max",
        vec![(
            "greatest response of the five policies, greatest over least, below 2 under each workload",
            most(&spreads),
            spreads.iter().all(|spread| *spread < 2.0),
        )],
    );
}

fn fig8(results: &Results, evaluation: &mut Evaluation) {
    let points = LEVELS.iter().flat_map(|level| WORKLOADS.map(|workload| (*level, workload)));
    let ratios = points
        .map(|(level, workload)| results.ratio(&name(level, workload, "lawc"), &name(level, workload, "wow"), "/gc/synchronised_mean"));
    // A workload under which nothing is collected has no such number.
    let ratios: Vec<Values> = ratios.filter(|ratio| !ratio.is_empty()).collect();
    evaluation.number("lawc.fig8", combine(&ratios, most));

    let of = |level: &str, workload: &str, over: &str, under: &str| {
        mean(&results.ratio(&name(level, workload, over), &name(level, workload, under), "/gc/synchronised_mean"))
    };
    let over_all = |over: &str, under: &str| {
        let ratios = LEVELS.iter().flat_map(|level| WORKLOADS.map(|workload| of(level, workload, over, under)));
        least(&ratios.filter(|ratio| ratio.is_finite()).collect::<Vec<_>>())
    };
    let (lawc, ggc) = (over_all("lawc", "wow"), over_all("ggc", "lawc"));
    evaluation.statement(
        "lawc.fig8.order",
        vec![
            ("lawc over wow where it is least, above 1", lawc, lawc > 1.0),
            ("coordinated collection over lawc where it is least, above 1", ggc, ggc > 1.0),
        ],
    );
}

/// Returns the mean number of members that collect in a slice, over all slices, with those without collection.
fn members_collecting(results: &Results, point: &str) -> Values {
    results.each(point, |report| {
        let slices: Vec<f64> = report.pointer("/gc/slices_by_members")?.as_array()?.iter().filter_map(|count| count.as_f64()).collect();
        let weighted: f64 = slices.iter().enumerate().map(|(members, count)| members as f64 * count).sum();
        Some(weighted / slices.iter().sum::<f64>())
    })
}

fn intro(results: &Results, evaluation: &mut Evaluation) {
    let ratio = |level: &str, workload: &str| {
        let [wow, lawc] = ["wow", "lawc"].map(|policy| members_collecting(results, &name(level, workload, policy)));
        combine(&[lawc, wow], |values| values[0] / values[1]).into_iter().filter(|ratio| ratio.is_finite()).collect::<Values>()
    };
    let ratios = LEVELS.iter().flat_map(|level| WORKLOADS.map(|workload| ratio(level, workload)));
    evaluation.number("lawc.intro.sync", combine(&ratios.filter(|ratio| !ratio.is_empty()).collect::<Vec<_>>(), most));
}

fn spider() -> Vec<Point> {
    let mut points = Vec::new();
    for level in LEVELS {
        for parameters in SPIDER.iter().chain(&SPIDER_AROUND) {
            let workload = format!("spider({})", parameters.replace(' ', ""));
            let kib: u64 = parameters.split(',').next().and_then(|size| size.parse().ok()).expect("W(R, I, W) begins with a size");
            // "W(R, I, W) denotes request size R", and "the 1 MB request constitutes a write group": all of one size, and aligned.
            let point = |policy| {
                worn_in(lawc(name(level, parameters, policy), level, policy, &workload))
                    .set("workload.size", format!("{kib}KiB"))
                    .set("workload.address.align", format!("{}KiB", kib.min(1024)))
                    .set("workload.requests", 10_000)
                    .one_seed(true)
            };
            points.extend(["wow", "ggc", "lawc"].map(point));
        }
    }
    points
}

fn fig9(results: &Results, evaluation: &mut Evaluation) {
    for level in LEVELS {
        let reductions = SPIDER.map(|parameters| (parameters, reduction(results, level, parameters, "lawc", MEAN)));
        evaluation.numbers(&format!("lawc.fig9.{level}"), reductions.to_vec());
    }
    let of = |level: &str, parameters: &str| mean(&reduction(results, level, parameters, "lawc", MEAN));
    let around = ["1024, 10, 60", "1024, 40, 60", "1024, 20, 20", "1024, 20, 80"];
    let gains = LEVELS.iter().flat_map(|level| around.map(|parameters| of(level, parameters))).collect::<Vec<_>>();
    let small = LEVELS.map(|level| of(level, "4, 20, 60"));
    let large = LEVELS.map(|level| of(level, "1024, 20, 60"));
    evaluation.statement(
        "lawc.fig9.trend",
        vec![
            ("reduction by lawc around W(1024, 20, 60), the least: above 0", least(&gains), least(&gains) > 0.0),
            (
                "reduction of W(1024, 20, 60) less that of W(4, 20, 60), RAID-0; large requests gain more on both levels",
                large[0] - small[0],
                large[0] > small[0] && large[1] > small[1],
            ),
        ],
    );
}

fn sized(level: &str, workload: &str, kib: u32, policy: &str) -> String {
    format!("{level} {workload} {kib} KiB {policy}")
}

fn sizes() -> Vec<Point> {
    let mut points = Vec::new();
    for level in LEVELS {
        for workload in ["exchange", "lawc-financial"] {
            let small = (workload == "lawc-financial").then_some(SMALL_KIB);
            for kib in SIZES_KIB.into_iter().chain(small) {
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
    let small = |level: &str| against(level, "lawc-financial", SMALL_KIB, "lawc", "wow");
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

    let means = |level: &str, workload: &str, kib: u32| POLICIES.map(|policy| results.mean(&sized(level, workload, kib, policy), MEAN));
    let everywhere = || LEVELS.iter().flat_map(|level| SIZES_KIB.map(|kib| (*level, kib)));
    // wow over the worst of the others; above 1 where it is the worst.
    let worst = everywhere().map(|(level, kib)| {
        let [wow, others @ ..] = means(level, "exchange", kib);
        wow / most(&others)
    });
    let worst = least(&worst.collect::<Vec<_>>());
    let behind = everywhere().map(|(level, kib)| {
        let [_, ggc, _, _, lawc] = means(level, "exchange", kib);
        lawc / ggc
    });
    let behind = most(&behind.collect::<Vec<_>>());
    evaluation.statement(
        "lawc.fig10.order",
        vec![
            ("exchange: wow over the worst of the others where it is least, above 1", worst, worst > 1.0),
            ("lawc over coordinated collection where it is most, at most a third", behind, behind <= FACTOR),
        ],
    );
    let light = LEVELS.iter().flat_map(|level| {
        SIZES_KIB[1..].iter().map(|kib| {
            let [.., sync, lawc] = means(level, "lawc-financial", *kib);
            sync / lawc
        })
    });
    let light = least(&light.collect::<Vec<_>>());
    evaluation.statement("lawc.fig10.light", vec![("financial: iwc-sync over lawc where it is least, above 1", light, light > 1.0)]);
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
    let mean_ms = |policy: &str| results.values(&name("raid0", policy, "B"), MEAN).into_iter().map(|us| us / 1e3).collect::<Values>();
    evaluation.numbers_and(
        "lawc.fig11.absolute",
        vec![("lawc", mean_ms("lawc"))],
        vec![
            ("wow, ms; implied 0.294, above lawc", mean(&mean_ms("wow")), mean(&mean_ms("wow")) > mean(&mean_ms("lawc"))),
            (
                "coordinated collection, ms; implied 0.0415, below lawc",
                mean(&mean_ms("ggc")),
                mean(&mean_ms("ggc")) < mean(&mean_ms("lawc")),
            ),
        ],
    );
}

fn multi(results: &Results, evaluation: &mut Evaluation) {
    let greatest =
        |level: &str| combine(&["ms-ec", "ms-ft", "ms-ecft"].map(|workload| reduction(results, level, workload, "lawc", MEAN)), most);
    evaluation.numbers("lawc.multi", LEVELS.map(|level| (level, greatest(level))).to_vec());
}
