//! Lee et al., *A Semi-Preemptive Garbage Collector for Solid State Drives*, ISPASS 2011: Figures 2 and 8–12.

use crate::figure::{REQUESTS, SKIPPED_REQUESTS};
use crate::results::{MAX, MEAN, STDDEV, VARIANCE, Values, combine, mean, z_moment};
use crate::settings::{pgc, worn_in};
use crate::verdict::FACTOR;
use crate::{Evaluation, Figure, Point, Results, poster};

const SIZES_KIB: [u32; 4] = [8, 16, 32, 64];
const GAPS_MS: [u32; 4] = [10, 5, 3, 1];
const SHARES: [u32; 4] = [20, 40, 60, 80];
const TRACES: [&str; 4] = ["financial", "cello", "tpc-h", "openmail"];
const RATES: [u32; 5] = [1, 2, 4, 8, 16];
/// T_hard as a percentage of T_soft.
const T_HARD: [u32; 5] = [0, 20, 40, 60, 80];

/// Modes of preemption, and the name of the mode without it.
const NONE: &str = "npgc";
const SEMI: &str = "pgc";
const PIPELINED: &str = "pgc+pipeline";
const MERGED: &str = "pgc+merge";
const REORDERED: &str = "pgc+merge+reorder";

pub fn figures() -> Vec<Figure> {
    let figure = |id, title, points, evaluate| Figure { id, title, points, evaluate };
    let mut fig8 = sweep("size KiB", &SIZES_KIB, |point, kib| {
        point.set("workload.size", format!("{{ distribution = \"exponential\", mean = \"{kib}KiB\" }}"))
    });
    fig8.extend(sweep("gap ms", &GAPS_MS, |point, ms| {
        point.set("workload.arrivals", format!("{{ process = \"poisson\", mean_gap = \"{ms}ms\" }}"))
    }));
    fig8.extend(sweep("sequential %", &SHARES, |point, share| point.set("workload.sequential_fraction", f64::from(share) / 100.0)));
    fig8.push(page_point());
    fig8.extend(sweep("writes %", &SHARES, |point, share| point.set("workload.read_fraction", f64::from(100 - share) / 100.0)));
    vec![
        figure("pgc.fig2", "Density of bandwidth over queue depths", poster::depths(), fig2),
        figure("pgc.fig8", "Preemption under the synthetic workload", fig8, judge_fig8),
        figure("pgc.fig9", "Preemption under server workloads", traces(&[1], &[NONE, SEMI, PIPELINED]), fig9),
        figure("pgc.fig10", "Preemption over the arrival rate", fig10_points(), fig10),
        figure("pgc.merge", "Merging and reordering on top of preemption", traces(&[1], &[SEMI, MERGED, REORDERED]), merge),
        figure("pgc.fig11", "Free blocks over T_hard", thresholds(), fig11),
        figure("pgc.fig12", "Response times over T_hard", thresholds(), fig12),
        figure("pgc.poll", "Cost of looking at the queue", polls(), poll),
    ]
}

fn with(point: Point, preemption: &str) -> Point {
    match preemption {
        NONE => point,
        SEMI => point.set("ssd.gc.preemption", "semi"),
        MERGED => with(point, SEMI).set("ssd.gc.merge", true),
        REORDERED => with(point, MERGED).set("ssd.gc.reorder", true),
        _ => point.set("ssd.gc.preemption", "semi").set("ssd.gc.pipeline", true),
    }
}

fn sweep(axis: &str, values: &[u32], set: impl Fn(Point, u32) -> Point) -> Vec<Point> {
    let points = |value: &u32| {
        [NONE, SEMI].map(|preemption| with(set(pgc(format!("{axis} {value} {preemption}"), "pgc-synthetic"), *value), preemption))
    };
    values.iter().flat_map(points).collect()
}

/// Judges Fig. 2: slow seconds lie farther from the mean than fast ones do on the other side.
fn fig2(results: &Results, evaluation: &mut Evaluation) {
    let skewness = |label: &str| [8, 64].map(|depth| mean(&z_moment(results, &format!("{label} depth {depth}"), 3)));
    let [mlc, slc] = ["mlc", "slc"].map(skewness);
    let all = [mlc, slc].concat();
    let most = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    evaluation.statement(
        "pgc.fig2.skew",
        vec![
            ("skewness, the greatest of both drives and depths, below 0", most, all.iter().all(|skewness| *skewness < 0.0)),
            ("MLC at depth 64", mlc[1], mlc[1] < 0.0),
            ("SLC at depth 64", slc[1], slc[1] < 0.0),
        ],
    );
}

/// Name of the point that keeps single requests.
const PAGE: &str = "single pages npgc";

/// Returns the point with Table III's defaults. Its report keeps the requests of a minute, long after collection has begun. Few of them are
/// single pages behind a collection.
fn page_point() -> Point {
    let point = pgc(PAGE, "pgc-synthetic").five_seeds().set("report.timeline.from", "3000s").set("report.timeline.to", "3060s");
    point.quick("report.timeline.from", "400s").quick("report.timeline.to", "460s")
}

/// Returns the response times of one-page requests on the timeline that met a collection (or none), in ms and ascending.
fn one_page(report: &serde_json::Value, met: bool) -> Option<Vec<f64>> {
    let requests = report.pointer("/timeline/requests")?.as_array()?;
    let wanted = |request: &&serde_json::Value| request["length_bytes"] == 4096 && (request["gc_members_met"] != 0) == met;
    let time = |request: &serde_json::Value| Some((request["done_ns"].as_f64()? - request["arrival_ns"].as_f64()?) / 1e6);
    let mut times = requests.iter().filter(wanted).map(time).collect::<Option<Vec<f64>>>()?;
    times.sort_by(f64::total_cmp);
    Some(times)
}

fn judge_fig8(results: &Results, evaluation: &mut Evaluation) {
    let without = mean(&results.each(PAGE, |report| Some(mean(&one_page(report, false)?))));
    let behind = mean(&results.each(PAGE, |report| {
        let times = one_page(report, true)?;
        times.get((times.len() * 95).div_ceil(100).checked_sub(1)?).copied()
    }));
    evaluation.statement(
        "pgc.fig8.page",
        vec![
            ("behind a collection, 95th percentile, ms: 3 to 4, within a third", behind, (3.0 / FACTOR..=4.0 * FACTOR).contains(&behind)),
            ("without one, mean, ms: less than 1", without, without < 1.0),
        ],
    );
    let reduction = |kib: u32, figure| results.reduction(&format!("size KiB {kib} {NONE}"), &format!("size KiB {kib} {SEMI}"), figure);
    evaluation.numbers(
        "pgc.fig8.size",
        vec![
            ("8 KiB mean", reduction(8, MEAN)),
            ("8 KiB variance", reduction(8, VARIANCE)),
            ("64 KiB mean", reduction(64, MEAN)),
            ("64 KiB variance", reduction(64, VARIANCE)),
        ],
    );

    evaluation.numbers("pgc.fig8.size-deviation", vec![("8 KiB", reduction(8, STDDEV)), ("64 KiB", reduction(64, STDDEV))]);

    let reductions = SIZES_KIB.map(|kib| mean(&reduction(kib, MEAN)));
    evaluation.statement(
        "pgc.fig8.size-order",
        vec![(
            "reduction at 64 KiB less that at 8 KiB; it grows with each size",
            reductions[3] - reductions[0],
            reductions.is_sorted_by(|small, large| small < large),
        )],
    );

    let growth = |axis: &str, from: u32, to: u32, preemption: &str, figure| {
        mean(&results.ratio(&format!("{axis} {to} {preemption}"), &format!("{axis} {from} {preemption}"), figure))
    };
    let [mean_none, mean_semi] = [NONE, SEMI].map(|preemption| growth("gap ms", 10, 1, preemption, MEAN));
    let variance = growth("gap ms", 10, 1, NONE, VARIANCE);
    evaluation.statement(
        "pgc.fig8.gap",
        vec![
            (
                "mean at 1 ms over that at 10 ms without preemption; it and the variance rise, more than the mean with it",
                mean_none,
                mean_none > 1.0 && variance > 1.0 && mean_none > mean_semi,
            ),
            ("variance at 1 ms over that at 10 ms without preemption", variance, variance > 1.0),
            ("mean at 1 ms over that at 10 ms with preemption is below 1.5", mean_semi, mean_semi < 1.5),
        ],
    );

    let spread = |preemption: &str| {
        let means = SHARES.map(|share| results.mean(&format!("sequential % {share} {preemption}"), MEAN));
        means.into_iter().fold(f64::NAN, f64::max) / means.into_iter().fold(f64::NAN, f64::min)
    };
    let rise = growth("sequential %", 20, 60, NONE, MEAN);
    let constant = spread(SEMI);
    evaluation.statement(
        "pgc.fig8.sequential",
        vec![
            ("mean at 60 % over that at 20 % without preemption is above 1.25", rise, rise > 1.25),
            ("mean with preemption over all levels, greatest over least, is below 1.25", constant, constant < 1.25),
        ],
    );

    let writes = |preemption: &str| results.ratio(&format!("writes % 80 {preemption}"), &format!("writes % 20 {preemption}"), MEAN);
    evaluation.numbers("pgc.fig8.writes", vec![("semi-preemptive", writes(SEMI)), ("non-preemptive", writes(NONE))]);
    let [semi, none] = [SEMI, NONE].map(|preemption| growth("writes %", 20, 80, preemption, VARIANCE));
    evaluation.statement(
        "pgc.fig8.writes-variance",
        vec![("variance at 80 % writes over that at 20 %, without preemption over with it", none / semi, none > semi)],
    );
}

fn trace(name: &str, rate: u32, preemption: &str) -> String {
    format!("{name} × {rate} {preemption}")
}

fn traces(rates: &[u32], preemptions: &[&str]) -> Vec<Point> {
    let mut points = Vec::new();
    for name in TRACES {
        for rate in rates {
            points.extend(preemptions.iter().map(|preemption| trace_point(name, *rate, preemption)));
        }
    }
    points
}

/// Returns true if a point needs three seeds. If queues of a trace last long, the means of three seeds differ by 4 to 78 %. Otherwise they
/// differ by 0.7 % in the median of the points, and by at most 5 %. The effect of pipelining on cello is smaller than that.
fn needs_three_seeds(name: &str, rate: u32) -> bool {
    matches!((name, rate), ("cello", _) | ("openmail", 2..) | ("tpc-h", 4..))
}

fn trace_point(name: &str, rate: u32, preemption: &str) -> Point {
    let point = pgc(trace(name, rate, preemption), name).one_seed(!needs_three_seeds(name, rate));
    with(if rate == 1 { point } else { point.set("workload.rate_scale", rate) }, preemption)
}

fn fig9(results: &Results, evaluation: &mut Evaluation) {
    let reduction = |name: &str, preemption: &str, figure| results.reduction(&trace(name, 1, NONE), &trace(name, 1, preemption), figure);
    let writers = |figure| ["financial", "cello"].map(|name| (name, reduction(name, SEMI, figure))).to_vec();
    evaluation.numbers("pgc.fig9.mean", writers(MEAN));
    evaluation.numbers("pgc.fig9.variance", writers(VARIANCE));
    let openmail = [("openmail", reduction("openmail", SEMI, MAX)), ("openmail with pipelining", reduction("openmail", PIPELINED, MAX))];
    evaluation.numbers("pgc.fig9.max", writers(MAX).into_iter().chain(openmail).collect());
    let pipeline = |figure| results.reduction(&trace("cello", 1, SEMI), &trace("cello", 1, PIPELINED), figure);
    evaluation.numbers("pgc.fig9.pipeline", vec![("mean", pipeline(MEAN)), ("variance", pipeline(VARIANCE))]);

    let of = |name: &str, figure| mean(&reduction(name, SEMI, figure));
    let [mean_reduction, variance, most] = [MEAN, VARIANCE, MAX].map(|figure| of("openmail", figure));
    evaluation.statement(
        "pgc.fig9.openmail",
        vec![
            (
                "reduction of the mean, and that of the variance, below 0.10: the greater",
                mean_reduction.max(variance),
                mean_reduction < 0.1 && variance < 0.1,
            ),
            ("reduction of the greatest response", most, most > 0.0),
        ],
    );
    let openmail = [MEAN, VARIANCE].map(|figure| of("openmail", figure));
    let tpc_h = [MEAN, VARIANCE].map(|figure| of("tpc-h", figure));
    let least = tpc_h[0].min(tpc_h[1]);
    evaluation.statement(
        "pgc.fig9.tpc-h",
        vec![
            ("reduction of mean and variance, the lesser: above 0.10", least, least > 0.1),
            (
                "that of the mean less openmail's; both are greater",
                tpc_h[0] - openmail[0],
                tpc_h[0] > openmail[0] && tpc_h[1] > openmail[1],
            ),
        ],
    );
}

fn fig10_points() -> Vec<Point> {
    let pipelined = RATES.map(|rate| trace_point("cello", rate, PIPELINED));
    [traces(&RATES, &[NONE, SEMI]), pipelined.to_vec()].concat()
}

/// Judges the effect of merging beyond that of preemption. Reordering then finds more requests to merge.
fn merge(results: &Results, evaluation: &mut Evaluation) {
    let change = |name: &str, base: &str, other: &str| mean(&results.reduction(&trace(name, 1, base), &trace(name, 1, other), MEAN));
    let merged = TRACES.map(|name| change(name, SEMI, MERGED));
    let farthest = merged.iter().map(|change| change.abs()).fold(0.0, f64::max);
    let complete = merged.iter().all(|change| change.is_finite());
    evaluation.statement(
        "pgc.merge",
        vec![("change of the mean response, the greatest of the four traces, below 0.02", farthest, complete && farthest < 0.02)],
    );
    let reordered = TRACES.map(|name| change(name, MERGED, REORDERED));
    let least = reordered.iter().copied().fold(f64::INFINITY, f64::min);
    evaluation.statement(
        "pgc.merge.reorder",
        vec![(
            "reduction of the mean response, the least of the four traces: no loss",
            least,
            reordered.iter().all(|change| *change > -0.01),
        )],
    );
}

fn fig10(results: &Results, evaluation: &mut Evaluation) {
    let reduction = |name: &str, rate, figure| results.reduction(&trace(name, rate, NONE), &trace(name, rate, SEMI), figure);
    let greatest = |figure| {
        combine(&TRACES.map(|name| reduction(name, 16, figure)), |values| values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
    };
    let of_mean = mean(&greatest(MEAN));
    evaluation.numbers_and(
        "pgc.fig10",
        vec![("variance", greatest(VARIANCE))],
        vec![("greatest reduction of the mean, above 0", of_mean, of_mean > 0.0)],
    );
    let growth = |name| mean(&reduction(name, 16, MEAN)) - mean(&reduction(name, 1, MEAN));
    let (financial, cello) = (growth("financial"), growth("cello"));
    evaluation.statement(
        "pgc.fig10.growth",
        vec![
            (
                "reduction at 16 times the rate less that at the plain rate, the better of financial and cello",
                financial.max(cello),
                financial.max(cello) > 0.0,
            ),
            ("the worse of the two", financial.min(cello), financial.min(cello) > 0.0),
        ],
    );

    let over_rates = |name: &str, figure| RATES[1..].iter().map(|rate| mean(&reduction(name, *rate, figure))).collect::<Vec<_>>();
    let average = |name: &str| mean(&over_rates(name, MEAN));
    let writers = average("financial").min(average("cello"));
    let readers = average("tpc-h").max(average("openmail"));
    let variances = over_rates("tpc-h", VARIANCE);
    evaluation.statement(
        "pgc.fig10.reads-writes",
        vec![
            (
                "reduction of the mean averaged over ×2 to ×16: the lesser of financial and cello less the greater of the others",
                writers - readers,
                writers > readers,
            ),
            (
                "reduction of TPC-H's variance at ×16 less that at ×2; it grows with the rate",
                variances[3] - variances[0],
                variances.is_sorted_by(|slow, fast| slow < fast),
            ),
        ],
    );
    let pipelining =
        |figure| RATES.map(|rate| mean(&results.reduction(&trace("cello", rate, SEMI), &trace("cello", rate, PIPELINED), figure)));
    let [of_mean, of_variance] = [MEAN, VARIANCE].map(pipelining);
    let grows = |reductions: [f64; 5]| reductions.is_sorted_by(|slow, fast| slow < fast);
    evaluation.statement(
        "pgc.fig10.pipeline",
        vec![
            (
                "reduction of the mean by pipelining at ×16 less that at ×1; it and that of the variance grow",
                of_mean[4] - of_mean[0],
                of_mean[4] > of_mean[0] && of_variance[4] > of_variance[0],
            ),
            ("the same of the variance; both grow with each rate", of_variance[4] - of_variance[0], grows(of_mean) && grows(of_variance)),
        ],
    );
}

/// Returns the points with cello at 16 times the rate, and requests of 300 KiB on average. Its own mean is 7.06 KiB.
fn thresholds() -> Vec<Point> {
    let point = |percent: u32| {
        // The burst is shorter than what the reserve takes, so that it has to begin where collection is due.
        let point = with(worn_in(pgc(format!("T_hard {percent} %"), "cello")), SEMI).set("ssd.gc.t_hard", f64::from(percent) / 100.0);
        let point = point.set("workload.rate_scale", 16).set("workload.size_scale", 300.0 / 7.06);
        // An overload from its first request on: free blocks run out within the first third of it.
        point.set(REQUESTS, 20_000).set(SKIPPED_REQUESTS, 0).quick(REQUESTS, 3000).quick(SKIPPED_REQUESTS, 0)
    };
    T_HARD.map(point).to_vec()
}

/// Returns the least number of free blocks in a run, divided by T_soft.
fn least_free(results: &Results, point: &str) -> f64 {
    mean(&results.each(point, |report| {
        let points = report["free_blocks"].as_array()?.iter().flat_map(|member| member.as_array().into_iter().flatten());
        points.map(|point| point[1].as_f64()).try_fold(f64::INFINITY, |least, free| Some(least.min(free?)))
    }))
}

fn fig11(results: &Results, evaluation: &mut Evaluation) {
    let name = |percent: u32| format!("T_hard {percent} %");
    let [without, with @ ..] = T_HARD.map(|percent| results.mean(&name(percent), "/gc/exhausted"));
    let [_, free @ ..] = T_HARD.map(|percent| least_free(results, &name(percent)));
    let [_, response @ ..] = T_HARD.map(|percent| results.mean(&name(percent), MEAN));
    let rises = |values: [f64; 4]| values.is_sorted_by(|lower, higher| lower < higher);
    evaluation.statement(
        "pgc.fig11",
        vec![
            ("writes that found no free block without T_hard", without, without > 0.0),
            ("with T_hard at 20 % and more", with.iter().sum(), with == [0.0; 4]),
            ("least free blocks over T_soft at 20 %, more at each higher T_hard", free[0], rises(free)),
            ("mean at 20 % over that at 80 %, rising with each T_hard between", response[0] / response[3], rises(response)),
        ],
    );
}

fn fig12(results: &Results, evaluation: &mut Evaluation) {
    evaluation.number("pgc.fig12", results.reduction("T_hard 80 %", "T_hard 20 %", MEAN));
}

/// Returns two points that differ only in the cost of a poll. They have so few requests that a collection is seldom interrupted.
fn polls() -> Vec<Point> {
    let point = |poll: &str| {
        let point = with(worn_in(pgc(format!("poll {poll}"), "pgc-synthetic")), SEMI).set("ssd.gc.poll", poll);
        let point = point.set("workload.arrivals", "{ process = \"poisson\", mean_gap = \"100ms\" }");
        // Victims that are half full: the more a clean moves, the less its erase counts.
        let point = point.set("workload.address.footprint", 1.0).quick("workload.address.footprint", 1.0);
        point.set(REQUESTS, 5000).quick(REQUESTS, 5000)
    };
    ["0ns", "600ns"].map(point).to_vec()
}

/// A page's move without transfers: PGC Table II, 25 µs of reading and 200 µs of programming.
const MOVE_NS: f64 = 225_000.0;

/// Returns the time of collection for each moved page, in ns.
fn time_per_move(results: &Results, point: &str) -> Values {
    results.each(point, |report| Some(report.pointer("/gc/time_ms")?.as_f64()? * 1e6 / report.pointer("/flash/gc_pages_moved")?.as_f64()?))
}

fn poll(results: &Results, evaluation: &mut Evaluation) {
    let both = [time_per_move(results, "poll 600ns"), time_per_move(results, "poll 0ns")];
    let cost = combine(&both, |values| (values[0] - values[1]) / MOVE_NS);
    evaluation.number("pgc.poll", cost);
}
