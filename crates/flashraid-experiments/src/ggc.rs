//! Kim et al., *Coordinating Garbage Collection for Arrays of Solid-State Drives*, IEEE TC 2014: Tables 3, 4, 6, 10 and Figures 1–4, 6–13.

use crate::results::{BANDWIDTH, BANDWIDTH_CV, BANDWIDTH_STDDEV, ERASES, MEAN, STDDEV, Values, combine, mean};
use crate::settings::{drives, ggc};
use crate::{Evaluation, Figure, Point, Results};

const DRIVES: [(&str, &str); 2] = [("mlc", "mlc-sata2"), ("slc", "slc-sata2")];
const WRITES: [u32; 4] = [80, 60, 40, 20];
const ENTERPRISE: [&str; 5] = ["financial", "tpc-c", "cello", "tpc-h", "openmail"];
const HPC: [&str; 4] = ["hpc-w", "hpc-w-skew", "hpc-w-burst-m", "hpc-w-burst-h"];
const LOCAL: &str = "local";
const INCLUSIVE: &str = "reactive-inclusive";
const SELECTIVE: &str = "reactive-selective";
const IDLE: &str = "proactive-idle";
const IDEAL: &str = "ideal";
/// Multiples of the arrival rate of Table 8.
const RATES: [f64; 5] = [0.5, 0.75, 1.0, 1.25, 1.5];
const MEMBERS: [u32; 6] = [2, 4, 8, 12, 16, 18];

pub fn figures() -> Vec<Figure> {
    let figure = |id, title, points, evaluate| Figure { id, title, points, evaluate };
    vec![
        figure("ggc.table3", "Bandwidth of one SSD over the share of writes", single_drives(), table3),
        figure("ggc.fig1", "Bandwidth of one SSD over time", single_drives(), no_claims),
        figure("ggc.table4", "Bandwidth of RAID-0 of six over the share of writes", arrays(), table4),
        figure("ggc.fig2", "Bandwidth of RAID-0 of six over time", arrays(), no_claims),
        figure("ggc.fig3", "Bandwidth over the number of drives", fig3_points(), fig3),
        figure("ggc.table6", "Bandwidth over RAID levels", levels(), table6),
        figure("ggc.fig4", "Variability over RAID levels", levels(), fig4),
        figure("ggc.fig6", "Response times of HPC workloads", schemes(&["hpc-r", "hpc-w"], &[LOCAL, INCLUSIVE]), fig6),
        figure("ggc.fig7", "Response times over the arrival rate", fig7_points(), fig7),
        figure("ggc.fig8", "Response times over the number of drives", fig8_points(), fig8),
        figure("ggc.fig9", "Response times of enterprise workloads", schemes(&ENTERPRISE, &[LOCAL, INCLUSIVE]), fig9),
        figure("ggc.fig10", "A window of hpc-w", windows("hpc-w", &[LOCAL, INCLUSIVE]), fig10),
        figure("ggc.fig11", "All schemes: response times and erases", fig11_points(), fig11),
        figure("ggc.fig12", "Distributions of response times", schemes(&["financial", "hpc-w-burst-h"], &[LOCAL, IDLE, IDEAL]), fig12),
        figure("ggc.fig13", "A window of hpc-w-burst-h", windows("hpc-w-burst-h", &[SELECTIVE, IDLE]), fig13),
        figure("ggc.table10", "Which scheme for which workload", schemes(&HPC, &[INCLUSIVE, SELECTIVE, IDLE]), table10),
    ]
}

fn no_claims(_: &Results, _: &mut Evaluation) {}

fn name(workload: &str, scheme: &str) -> String {
    format!("{workload} {scheme}")
}

fn schemes(workloads: &[&str], schemes: &[&str]) -> Vec<Point> {
    workloads.iter().flat_map(|workload| schemes.iter().map(|scheme| ggc(name(workload, scheme), workload, scheme))).collect()
}

fn single_drives() -> Vec<Point> {
    let point = |(label, device), writes| drives(format!("{label} {writes} %"), device, "single", 1, &format!("w1({writes})"));
    DRIVES.iter().flat_map(|drive| WRITES.map(|writes| point(*drive, writes))).collect()
}

fn arrays() -> Vec<Point> {
    let point = |(label, device), writes| drives(format!("{label} {writes} %"), device, "raid0", 6, &format!("w3({writes})"));
    DRIVES.iter().flat_map(|drive| WRITES.map(|writes| point(*drive, writes))).collect()
}

/// The names of the table's values with what we measure for them.
fn bandwidths(results: &Results, conditions: &[String]) -> Vec<(String, Values)> {
    let mut measured = Vec::new();
    for (label, _) in DRIVES {
        for condition in conditions {
            let point = format!("{label} {condition}");
            measured.push((format!("{label} mean {condition}"), results.values(&point, BANDWIDTH)));
            measured.push((format!("{label} stddev {condition}"), results.values(&point, BANDWIDTH_STDDEV)));
        }
    }
    measured
}

fn judge_bandwidths(id: &str, results: &Results, evaluation: &mut Evaluation, conditions: &[String]) {
    let measured = bandwidths(results, conditions);
    evaluation.numbers(id, measured.iter().map(|(name, values)| (name.as_str(), values.clone())).collect());
}

fn table3(results: &Results, evaluation: &mut Evaluation) {
    judge_bandwidths("ggc.table3", results, evaluation, &WRITES.map(|writes| format!("{writes} %")));
}

fn table4(results: &Results, evaluation: &mut Evaluation) {
    judge_bandwidths("ggc.table4", results, evaluation, &WRITES.map(|writes| format!("{writes} %")));
}

fn fig3_points() -> Vec<Point> {
    let points = |(label, device): (&str, &str)| {
        [
            drives(format!("{label} 1"), device, "single", 1, "w1(60)"),
            drives(format!("{label} 4"), device, "raid0", 4, "w2(60)"),
            drives(format!("{label} 6"), device, "raid0", 6, "w3(60)"),
        ]
    };
    DRIVES.into_iter().flat_map(points).collect()
}

fn fig3(results: &Results, evaluation: &mut Evaluation) {
    let mlc = ["mlc 1", "mlc 4", "mlc 6"].map(|point| (point, results.values(point, BANDWIDTH)));
    evaluation.numbers("ggc.fig3", mlc.to_vec());
    let drop = |label: &str| -> Values {
        let ratios = results.ratio(&format!("{label} 6"), &format!("{label} 1"), BANDWIDTH);
        ratios.into_iter().map(|ratio| 1.0 - ratio / 6.0).collect()
    };
    evaluation.numbers("ggc.fig3.per-drive", vec![("mlc", drop("mlc")), ("slc", drop("slc"))]);
}

fn levels() -> Vec<Point> {
    let point = |(label, device), level| drives(format!("{label} {level}"), device, level, 6, "w3(60)");
    DRIVES.iter().flat_map(|drive| ["raid0", "raid5", "raid6"].map(|level| point(*drive, level))).collect()
}

fn table6(results: &Results, evaluation: &mut Evaluation) {
    judge_bandwidths("ggc.table6", results, evaluation, &["raid0", "raid5", "raid6"].map(str::to_owned));
}

fn fig4(results: &Results, evaluation: &mut Evaluation) {
    let statements = DRIVES.map(|(label, _)| {
        let cv = ["raid0", "raid5", "raid6"].map(|level| results.mean(&format!("{label} {level}"), BANDWIDTH_CV));
        (label, cv)
    });
    let [(_, mlc), (_, slc)] = statements;
    let highest = mlc[2] > mlc[0] && slc[2] > slc[0];
    let between = mlc[0] < mlc[1] && mlc[1] < mlc[2] && slc[0] < slc[1] && slc[1] < slc[2];
    evaluation.statement(
        "ggc.fig4",
        vec![
            ("CV of RAID-6 over that of RAID-0, MLC", mlc[2] / mlc[0], highest),
            ("CV of RAID-5 over that of RAID-0, MLC", mlc[1] / mlc[0], between),
        ],
    );
}

fn fig6(results: &Results, evaluation: &mut Evaluation) {
    for workload in ["hpc-r", "hpc-w"] {
        let reduction = results.reduction(&name(workload, LOCAL), &name(workload, INCLUSIVE), MEAN);
        evaluation.number(&format!("ggc.fig6.{workload}"), reduction);
    }
    let spread = results.reduction(&name("hpc-w", LOCAL), &name("hpc-w", INCLUSIVE), STDDEV);
    evaluation.number("ggc.fig6.hpc-w.variability", spread);
}

fn fig7_points() -> Vec<Point> {
    let mut points = Vec::new();
    for workload in ["hpc-w", "hpc-r"] {
        for scheme in [LOCAL, INCLUSIVE] {
            points
                .extend(RATES.map(|rate| ggc(format!("{workload} {scheme} × {rate}"), workload, scheme).set("workload.rate_scale", rate)));
        }
    }
    points
}

fn fig7(results: &Results, evaluation: &mut Evaluation) {
    let at = |workload: &str, scheme: &str, rate: f64, figure: &str| results.mean(&format!("{workload} {scheme} × {rate}"), figure);
    let growth = |workload: &str, scheme: &str, figure: &str| at(workload, scheme, 1.5, figure) - at(workload, scheme, 0.5, figure);
    let lower = RATES.iter().all(|rate| at("hpc-w", INCLUSIVE, *rate, MEAN) < at("hpc-w", LOCAL, *rate, MEAN));
    let (local, coordinated) = (growth("hpc-w", LOCAL, MEAN) / 1e3, growth("hpc-w", INCLUSIVE, MEAN) / 1e3);
    let (local_spread, spread) = (growth("hpc-w", LOCAL, STDDEV) / 1e3, growth("hpc-w", INCLUSIVE, STDDEV) / 1e3);
    let reads = growth("hpc-r", LOCAL, MEAN) / 1e3;
    evaluation.statement(
        "ggc.fig7",
        vec![
            ("coordinated is below local at every rate, ms at 1.5 times the rate", at("hpc-w", INCLUSIVE, 1.5, MEAN) / 1e3, lower),
            ("mean of local grows more than that of coordinated, ms", local - coordinated, local > coordinated),
            ("spread of local grows more than that of coordinated, ms", local_spread - spread, local_spread > spread),
            ("milder at 20 % writes, ms", reads, reads < local),
        ],
    );
}

fn fig8_points() -> Vec<Point> {
    let point = |members: u32, scheme: &str| ggc(format!("{members} {scheme}"), "hpc-w", scheme).set("array.members", members);
    MEMBERS.iter().flat_map(|members| [point(*members, LOCAL), point(*members, INCLUSIVE)]).collect()
}

fn fig8(results: &Results, evaluation: &mut Evaluation) {
    let ratio = |members: u32| results.ratio(&format!("{members} {LOCAL}"), &format!("{members} {INCLUSIVE}"), MEAN);
    evaluation.numbers("ggc.fig8.ratio", vec![("2 members", ratio(2)), ("18 members", ratio(18))]);
    let over =
        |local: u32, coordinated: u32| mean(&results.ratio(&format!("{local} {LOCAL}"), &format!("{coordinated} {INCLUSIVE}"), MEAN));
    let (worse, equal) = (over(18, 4), over(8, 2));
    evaluation.statement(
        "ggc.fig8.equal",
        vec![
            ("local at 18 over coordinated at 4", worse, worse > 1.0),
            ("local at 8 over coordinated at 2", equal, (0.75..=1.25).contains(&equal)),
        ],
    );
}

fn fig9(results: &Results, evaluation: &mut Evaluation) {
    let reductions = ENTERPRISE.map(|workload| results.reduction(&name(workload, LOCAL), &name(workload, INCLUSIVE), MEAN));
    evaluation.number("ggc.fig9", combine(&reductions, mean));
    let local = ENTERPRISE.map(|workload| {
        let means = results.values(&name(workload, LOCAL), MEAN);
        (workload, means.into_iter().map(|us| us / 1e3).collect())
    });
    evaluation.numbers("ggc.fig9.local", local.to_vec());
}

/// Points whose reports keep single requests and collections of 300 ms.
fn windows(workload: &str, schemes: &[&str]) -> Vec<Point> {
    let point = |scheme: &&str| {
        let point = ggc(name(workload, scheme), workload, scheme);
        point.set("report.timeline.from", "2s").set("report.timeline.to", "2300ms")
    };
    schemes.iter().map(point).collect()
}

/// Share of the requests that took longer.
fn share_above(results: &Results, point: &str, us: f64) -> Values {
    results.each(point, |report| {
        let cdf = report.pointer("/response_us/all/cdf")?.as_array()?;
        let below = cdf.iter().filter(|point| point[0].as_f64().is_some_and(|time| time <= us)).filter_map(|point| point[1].as_f64());
        Some(1.0 - below.fold(0.0, f64::max))
    })
}

fn fig10(results: &Results, evaluation: &mut Evaluation) {
    let (local, coordinated) = (name("hpc-w", LOCAL), name("hpc-w", INCLUSIVE));
    // A spike takes longer than any request without collection: ten milliseconds.
    let spikes = [&local, &coordinated].map(|point| mean(&share_above(results, point, 10_000.0)));
    let runs = mean(&results.ratio(&coordinated, &local, "/gc/runs"));
    let together = [&local, &coordinated].map(|point| results.mean(point, "/gc/synchronised_mean"));
    evaluation.statement(
        "ggc.fig10",
        vec![
            ("share of spikes above 10 ms, local over coordinated", spikes[0] / spikes[1], spikes[0] > spikes[1]),
            ("collections of coordinated over local", runs, (runs - 1.0).abs() <= 0.1),
            ("members collecting together, coordinated", together[1], together[1] > together[0]),
        ],
    );
}

fn fig11_points() -> Vec<Point> {
    let workloads: Vec<&str> = ENTERPRISE.into_iter().chain(HPC).collect();
    schemes(&workloads, &[LOCAL, INCLUSIVE, SELECTIVE, IDLE, IDEAL])
}

fn fig11(results: &Results, evaluation: &mut Evaluation) {
    let against =
        |workload: &str, baseline: &str, figure: &str| results.reduction(&name(workload, baseline), &name(workload, IDLE), figure);
    let reductions = ENTERPRISE.map(|workload| against(workload, LOCAL, MEAN));
    let least = combine(&reductions, |values| values.iter().copied().fold(f64::INFINITY, f64::min));
    let greatest = combine(&reductions, |values| values.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    evaluation.numbers("ggc.fig11.proactive", vec![("least", least), ("greatest", greatest), ("average", combine(&reductions, mean))]);

    let overhead = ENTERPRISE.map(|workload| mean(&results.ratio(&name(workload, IDLE), &name(workload, IDEAL), MEAN)) - 1.0);
    let local = ENTERPRISE.map(|workload| mean(&results.ratio(&name(workload, LOCAL), &name(workload, IDEAL), MEAN)) - 1.0);
    let most = |values: [f64; 5]| {
        values.into_iter().fold(f64::NEG_INFINITY, |most, value| if value.is_nan() { f64::NAN } else { most.max(value) })
    };
    evaluation.statement(
        "ggc.fig11.ideal",
        vec![
            (
                "most of local above ideal, over most of proactive-idle above ideal",
                most(local) / most(overhead),
                most(overhead) < 0.5 * most(local),
            ),
            ("most of proactive-idle above ideal", most(overhead), most(overhead) <= 0.001_57),
        ],
    );

    let financial = [("erases", ERASES), ("mean", MEAN)].map(|(part, figure)| (part, against("financial", INCLUSIVE, figure)));
    evaluation.numbers("ggc.fig11.financial-erases", financial.to_vec());
    let skew = |figure| results.ratio(&name("hpc-w-skew", INCLUSIVE), &name("hpc-w-skew", SELECTIVE), figure);
    evaluation.number("ggc.fig11.skew-erases", skew(ERASES));
    let response = mean(&skew(MEAN));
    evaluation.statement("ggc.fig11.skew-response", vec![("mean of inclusive over selective", response, (response - 1.0).abs() <= 0.1)]);
    let bursts = ["hpc-w", "hpc-w-burst-m", "hpc-w-burst-h"].map(|workload| (workload, against(workload, SELECTIVE, MEAN)));
    evaluation.numbers("ggc.fig11.burst", bursts.to_vec());
}

/// The greatest vertical distance between the distributions of two points, first seed.
fn distance(results: &Results, a: &str, b: &str) -> f64 {
    let cdf = |point: &str| -> Vec<(f64, f64)> {
        let points = results.reports(point).first().and_then(|report| report.pointer("/response_us/all/cdf")?.as_array());
        points.into_iter().flatten().filter_map(|point| Some((point[0].as_f64()?, point[1].as_f64()?))).collect()
    };
    let (a, b) = (cdf(a), cdf(b));
    if a.is_empty() || b.is_empty() {
        return f64::NAN;
    }
    let share = |cdf: &[(f64, f64)], time: f64| cdf.iter().take_while(|point| point.0 <= time).last().map_or(0.0, |point| point.1);
    a.iter().chain(&b).map(|point| (share(&a, point.0) - share(&b, point.0)).abs()).fold(0.0, f64::max)
}

fn fig12(results: &Results, evaluation: &mut Evaluation) {
    let gaps = ["financial", "hpc-w-burst-h"].map(|workload| {
        let to_ideal = |scheme| distance(results, &name(workload, scheme), &name(workload, IDEAL));
        (to_ideal(IDLE), to_ideal(LOCAL))
    });
    let nearer = gaps.iter().all(|(idle, local)| idle < local);
    evaluation.statement(
        "ggc.fig12",
        vec![
            ("greatest distance from ideal, financial; nearer than local for both workloads", gaps[0].0, nearer),
            ("financial overlaps: distance at most 0.1", gaps[0].0, gaps[0].0 <= 0.1),
            ("hpc-w-burst-h overlaps: distance at most 0.1", gaps[1].0, gaps[1].0 <= 0.1),
        ],
    );
}

/// Share of the requests that met a collection.
fn share_met(results: &Results, point: &str) -> f64 {
    mean(&results.each(point, |report| {
        let counts: Vec<f64> =
            report.pointer("/gc/requests_by_members_met")?.as_array()?.iter().filter_map(|count| count.as_f64()).collect();
        Some(1.0 - counts.first()? / counts.iter().sum::<f64>())
    }))
}

fn fig13(results: &Results, evaluation: &mut Evaluation) {
    let [selective, idle] = [SELECTIVE, IDLE].map(|scheme| share_met(results, &name("hpc-w-burst-h", scheme)));
    evaluation.statement(
        "ggc.fig13",
        vec![
            ("share of requests that meet a collection, selective over proactive-idle", selective / idle, selective > idle),
            (
                "share of requests that meet one under proactive-idle is less than half of that under selective",
                idle,
                idle < selective / 2.0,
            ),
        ],
    );
}

fn table10(results: &Results, evaluation: &mut Evaluation) {
    let ratio =
        |workload: &str, over: &str, under: &str, figure| mean(&results.ratio(&name(workload, over), &name(workload, under), figure));
    let fair = |value: f64| (value - 1.0).abs() <= 0.1;
    let even = ratio("hpc-w", IDLE, INCLUSIVE, MEAN);
    let skewed = ratio("hpc-w-skew", IDLE, INCLUSIVE, MEAN);
    let bursty = ["hpc-w-burst-m", "hpc-w-burst-h"].map(|workload| ratio(workload, IDLE, INCLUSIVE, MEAN));
    let skewed_erases = ratio("hpc-w-skew", INCLUSIVE, SELECTIVE, ERASES);
    let bursty_erases = ["hpc-w-burst-m", "hpc-w-burst-h"].map(|workload| ratio(workload, IDLE, INCLUSIVE, ERASES));
    evaluation.statement(
        "ggc.table10",
        vec![
            ("bursty response, proactive over inclusive", bursty[1], bursty.iter().all(|ratio| *ratio < 0.95)),
            ("even response, proactive over inclusive", even, fair(even)),
            ("skewed response, proactive over inclusive", skewed, fair(skewed)),
            ("skewed erases, inclusive over selective", skewed_erases, skewed_erases > 1.5),
            ("bursty erases, proactive over inclusive", bursty_erases[1], bursty_erases.iter().all(|ratio| *ratio > 1.0)),
        ],
    );
}
