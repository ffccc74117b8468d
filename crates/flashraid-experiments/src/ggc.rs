//! Kim et al., *Coordinating Garbage Collection for Arrays of Solid-State Drives*, IEEE TC 2014: Tables 3, 4, 6, 10 and Figures 1–4, 6–13.

use crate::results::{
    BANDWIDTH, BANDWIDTH_CV, BANDWIDTH_STDDEV, ERASES, MAX, MEAN, STDDEV, VARIANCE, Values, combine, least_over_mean, mean, z_moment,
};
use crate::settings::{TURNOVERS_MIN, drives, ggc, ggc_settled, turnovers};
use crate::verdict::{FACTOR, Kind};
use crate::{Evaluation, Figure, Point, Results};

const DRIVES: [(&str, &str); 2] = [("mlc", "mlc-sata2"), ("slc", "slc-sata2")];
const WRITES: [u32; 4] = [80, 60, 40, 20];
const ENTERPRISE: [&str; 5] = ["financial", "tpc-c", "cello", "tpc-h", "openmail"];
const HPC: [&str; 4] = ["hpc-w", "hpc-w-skew", "hpc-w-burst-m", "hpc-w-burst-h"];
/// Workloads from even to bursty arrivals.
const BURSTS: [&str; 3] = ["hpc-w", "hpc-w-burst-m", "hpc-w-burst-h"];
const LOCAL: &str = "local";
const INCLUSIVE: &str = "reactive-inclusive";
const SELECTIVE: &str = "reactive-selective";
const IDLE: &str = "proactive-idle";
const IDEAL: &str = "ideal";
/// Multiples of the arrival rate of Table 8.
const RATES: [f64; 5] = [0.5, 0.75, 1.0, 1.25, 1.5];
/// Prefix of points with single drives, which are compared with arrays of six.
const ONE: &str = "one ";
const SIX: &str = "six ";
const MEMBERS: [u32; 6] = [2, 4, 8, 12, 16, 18];

pub fn figures() -> Vec<Figure> {
    let figure = |id, title, points, evaluate| Figure { id, title, points, evaluate };
    vec![
        figure("ggc.table3", "Bandwidth of one SSD over the share of writes", single_drives(""), table3),
        figure("ggc.fig1", "Bandwidth of one SSD over time", single_drives(""), no_claims),
        figure("ggc.table4", "Bandwidth of RAID-0 of six over the share of writes", [arrays(), single_drives(ONE)].concat(), table4),
        figure("ggc.fig2", "Bandwidth of RAID-0 of six over time", arrays(), fig2),
        figure("ggc.fig3", "Bandwidth over the number of drives", fig3_points(), fig3),
        figure("ggc.table6", "Bandwidth over RAID levels", levels(), table6),
        figure("ggc.fig4", "Variability over RAID levels", levels(), fig4),
        figure("ggc.fig6", "Response times of HPC workloads", schemes(&["hpc-r", "hpc-w"], &[LOCAL, INCLUSIVE]), fig6),
        figure("ggc.fig7", "Response times over the arrival rate", fig7_points(), fig7),
        figure("ggc.fig8", "Response times over the number of drives", fig8_points(), fig8),
        figure("ggc.fig9", "Response times of enterprise workloads", fig9_points(), fig9),
        figure("ggc.fig10", "A window of hpc-w", windows("hpc-w", &[LOCAL, INCLUSIVE, IDEAL]), fig10),
        figure("ggc.fig11", "All schemes: response times and erases", fig11_points(), fig11),
        figure("ggc.proactive", "Proactive against reactive collection", fig11_points(), proactive),
        figure("ggc.fig12", "Distributions of response times", schemes(&["financial", "hpc-w-burst-h"], &[LOCAL, IDLE, IDEAL]), fig12),
        figure("ggc.fig13", "A window of hpc-w-burst-h", windows("hpc-w-burst-h", &[SELECTIVE, IDLE]), fig13),
        figure("ggc.table10", "Which scheme for which workload", table10_points(), table10),
        figure("ggc.subset", "Some members alone know the protocol", subset_points(), subset),
        figure("ggc.packages", "Whether a forced member cleans in all of its dies", packages_points(), packages),
    ]
}

fn no_claims(_: &Results, _: &mut Evaluation) {}

fn name(workload: &str, scheme: &str) -> String {
    format!("{workload} {scheme}")
}

fn schemes(workloads: &[&str], schemes: &[&str]) -> Vec<Point> {
    workloads.iter().flat_map(|workload| schemes.iter().map(|scheme| ggc(name(workload, scheme), workload, scheme))).collect()
}

fn single_drives(prefix: &str) -> Vec<Point> {
    let point = |(label, device), writes| drives(format!("{prefix}{label} {writes} %"), device, "single", 1, &format!("w1({writes})"));
    DRIVES.iter().flat_map(|drive| WRITES.map(|writes| point(*drive, writes))).collect()
}

fn arrays() -> Vec<Point> {
    let point = |(label, device), writes| drives(format!("{SIX}{label} {writes} %"), device, "raid0", 6, &format!("w3({writes})"));
    DRIVES.iter().flat_map(|drive| WRITES.map(|writes| point(*drive, writes))).collect()
}

/// Returns the names of the table's values with our measurements. The names of the points begin with this prefix.
fn bandwidths(results: &Results, conditions: &[String], prefix: &str) -> Vec<(String, Values)> {
    let mut measured = Vec::new();
    for (label, _) in DRIVES {
        for condition in conditions {
            let point = format!("{prefix}{label} {condition}");
            measured.push((format!("{label} mean {condition}"), results.values(&point, BANDWIDTH)));
            measured.push((format!("{label} stddev {condition}"), results.values(&point, BANDWIDTH_STDDEV)));
        }
    }
    measured
}

fn judge_bandwidths(id: &str, results: &Results, evaluation: &mut Evaluation, conditions: &[String], prefix: &str) {
    let measured = bandwidths(results, conditions, prefix);
    evaluation.numbers(id, measured.iter().map(|(name, values)| (name.as_str(), values.clone())).collect());
}

fn table3(results: &Results, evaluation: &mut Evaluation) {
    judge_bandwidths("ggc.table3", results, evaluation, &WRITES.map(|writes| format!("{writes} %")), "");
    judge_cvs("ggc.table3.cv", results, evaluation, &[80, 60, 40], ("", ""));
    let fall = |label: &str| -> Values {
        let ratios = results.ratio(&format!("{label} 20 %"), &format!("{label} 80 %"), BANDWIDTH);
        ratios.into_iter().map(|ratio| ratio - 1.0).collect()
    };
    evaluation.numbers("ggc.table3.fall", vec![("mlc", fall("mlc")), ("slc", fall("slc"))]);
}

/// Judges coefficients of variation. Points with the first prefix are compared with one drive at 20 % writes, whose point has the second.
fn judge_cvs(id: &str, results: &Results, evaluation: &mut Evaluation, shares: &[u32], (prefix, one): (&str, &str)) {
    let of = |(label, _): &(&str, &str), writes: &u32| {
        let name = format!("{label} {writes} %");
        let ratios = results.ratio(&format!("{prefix}{name}"), &format!("{one}{label} 20 %"), BANDWIDTH_CV);
        (name, ratios)
    };
    let measured: Vec<(String, Values)> = DRIVES.iter().flat_map(|drive| shares.iter().map(move |writes| of(drive, writes))).collect();
    evaluation.numbers(id, measured.iter().map(|(name, values)| (name.as_str(), values.clone())).collect());
}

fn table4(results: &Results, evaluation: &mut Evaluation) {
    judge_bandwidths("ggc.table4", results, evaluation, &WRITES.map(|writes| format!("{writes} %")), SIX);
    judge_cvs("ggc.table4.cv", results, evaluation, &WRITES, (SIX, ONE));
    let names: Vec<String> = DRIVES.iter().flat_map(|(label, _)| WRITES.map(|writes| format!("{label} {writes} %"))).collect();
    let sixth = |name: &String| -> Values {
        results.ratio(&format!("{SIX}{name}"), &format!("{ONE}{name}"), BANDWIDTH).into_iter().map(|ratio| ratio / 6.0).collect()
    };
    evaluation.numbers("ggc.table4.efficiency", names.iter().map(|name| (name.as_str(), sixth(name))).collect());

    let worse =
        names.iter().map(|name| results.mean(&format!("{SIX}{name}"), BANDWIDTH_CV) / results.mean(&format!("{ONE}{name}"), BANDWIDTH_CV));
    let least_worse = worse.fold(f64::INFINITY, |least, ratio| if ratio.is_nan() { f64::NAN } else { least.min(ratio) });
    evaluation.statement(
        "ggc.table4.above-one",
        vec![("CV of six drives over that of one, the least of both kinds and all shares: above 1", least_worse, least_worse > 1.0)],
    );
    let rise = |label: &str| -> Values {
        let ratios = results.ratio(&format!("{SIX}{label} 20 %"), &format!("{SIX}{label} 80 %"), BANDWIDTH);
        ratios.into_iter().map(|ratio| ratio - 1.0).collect()
    };
    evaluation.numbers("ggc.table4.rise", DRIVES.iter().map(|(label, _)| (*label, rise(label))).collect());
    let ahead = WRITES
        .map(|writes| results.mean(&format!("{SIX}slc {writes} %"), BANDWIDTH) / results.mean(&format!("{SIX}mlc {writes} %"), BANDWIDTH));
    let least_ahead = ahead.into_iter().fold(f64::INFINITY, |least, ratio| if ratio.is_nan() { f64::NAN } else { least.min(ratio) });
    evaluation.statement("ggc.table4.slc", vec![("SLC over MLC, six drives, where it is least: above 1", least_ahead, least_ahead > 1.0)]);
}

fn fig2(results: &Results, evaluation: &mut Evaluation) {
    let dip = mean(&least_over_mean(results, "six mlc 80 %"));
    evaluation.statement("ggc.fig2.dips", vec![("MLC at 80 % writes: least second over the mean, at most 0.75", dip, dip <= 0.75)]);
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

    let tails = |point: &str| mean(&z_moment(results, point, 4));
    let [mlc, slc] = ["mlc", "slc"].map(|label| [1, 4, 6].map(|members| tails(&format!("{label} {members}"))));
    let wider = |[one, four, six]: [f64; 3]| four > one && six > one;
    let apart = |[_, four, six]: [f64; 3]| (six / four).max(four / six);
    evaluation.statement(
        "ggc.fig3.spread",
        vec![
            ("kurtosis of four over that of one, MLC; those of four and of six are greater than that of one", mlc[1] / mlc[0], wider(mlc)),
            ("the same, SLC", slc[1] / slc[0], wider(slc)),
            ("four and six differ by more than a tenth, MLC", apart(mlc), apart(mlc) > 1.1),
            ("four and six differ by no more than a tenth, SLC", apart(slc), apart(slc) <= 1.1),
        ],
    );
}

fn levels() -> Vec<Point> {
    let point = |(label, device), level| drives(format!("{label} {level}"), device, level, 6, "w3(60)");
    DRIVES.iter().flat_map(|drive| ["raid0", "raid5", "raid6"].map(|level| point(*drive, level))).collect()
}

fn table6(results: &Results, evaluation: &mut Evaluation) {
    judge_bandwidths("ggc.table6", results, evaluation, &["raid0", "raid5", "raid6"].map(str::to_owned), "");
    let deviations = |label: &str| ["raid0", "raid5", "raid6"].map(|level| results.mean(&format!("{label} {level}"), BANDWIDTH_STDDEV));
    let falls = |[raid0, raid5, raid6]: [f64; 3]| raid0 > raid5 && raid5 > raid6;
    let [mlc, slc] = ["mlc", "slc"].map(deviations);
    evaluation.statement(
        "ggc.table6.stddev",
        vec![
            ("deviation of RAID-6 over that of RAID-0, MLC; it falls with each level", mlc[2] / mlc[0], falls(mlc)),
            ("the same, SLC", slc[2] / slc[0], falls(slc)),
        ],
    );
}

fn fig4(results: &Results, evaluation: &mut Evaluation) {
    let points: Vec<(String, String)> = DRIVES
        .iter()
        .flat_map(|(label, _)| ["raid5", "raid6"].map(|level| (format!("{label} {level}"), format!("{label} raid0"))))
        .collect();
    let ratios = points.iter().map(|(point, base)| (point.as_str(), results.ratio(point, base, BANDWIDTH_CV)));
    evaluation.numbers("ggc.fig4.values", ratios.collect());
}

fn fig6(results: &Results, evaluation: &mut Evaluation) {
    let reduction = |workload: &str, figure| results.reduction(&name(workload, LOCAL), &name(workload, INCLUSIVE), figure);
    for workload in ["hpc-r", "hpc-w"] {
        evaluation.number(&format!("ggc.fig6.{workload}"), reduction(workload, MEAN));
    }
    evaluation.number("ggc.fig6.hpc-w.variability", reduction("hpc-w", STDDEV));
    let [writes, reads] = ["hpc-w", "hpc-r"].map(|workload| mean(&reduction(workload, VARIANCE)));
    evaluation.statement(
        "ggc.fig6.variance",
        vec![
            ("reduction of the variance, the lesser of hpc-w and hpc-r", writes.min(reads), writes > 0.0 && reads > 0.0),
            ("that of hpc-w", writes, writes > 0.0),
        ],
    );
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
    let below = RATES.map(|rate| (at("hpc-w", LOCAL, rate, MEAN) - at("hpc-w", INCLUSIVE, rate, MEAN)) / 1e3);
    let (local, coordinated) = (growth("hpc-w", LOCAL, MEAN) / 1e3, growth("hpc-w", INCLUSIVE, MEAN) / 1e3);
    let (local_spread, spread) = (growth("hpc-w", LOCAL, STDDEV) / 1e3, growth("hpc-w", INCLUSIVE, STDDEV) / 1e3);
    let reads = growth("hpc-r", LOCAL, MEAN) / 1e3;
    evaluation.statement(
        "ggc.fig7",
        vec![
            (
                "mean of local grows more than that of coordinated, and so does its spread: difference of the means' growth, ms",
                local - coordinated,
                local > coordinated && local_spread > spread,
            ),
            ("difference of the deviations' growth, ms", local_spread - spread, local_spread > spread),
            ("coordinated is below local at every rate: ms where it is nearest", least(&below), least(&below) > 0.0),
            ("milder at 20 % writes, ms", reads, reads < local),
        ],
    );
}

fn fig8_points() -> Vec<Point> {
    // With two members three seeds differ by 4 %.
    let point = |members: u32, scheme: &str| ggc(format!("{members} {scheme}"), "hpc-w", scheme).set("array.members", members).five_seeds();
    MEMBERS.iter().flat_map(|members| [point(*members, LOCAL), point(*members, INCLUSIVE)]).collect()
}

fn fig8(results: &Results, evaluation: &mut Evaluation) {
    let (local, coordinated) = (|members: u32| format!("{members} {LOCAL}"), |members: u32| format!("{members} {INCLUSIVE}"));
    let ratio = |over: String, under: String| results.ratio(&over, &under, MEAN);
    let pair = |members: u32| ratio(local(members), coordinated(members));
    evaluation.numbers("ggc.fig8.ratio", vec![("2 members", pair(2)), ("18 members", pair(18))]);

    let (worse, equal) = (mean(&ratio(local(18), coordinated(4))), mean(&ratio(local(8), coordinated(2))));
    evaluation.statement(
        "ggc.fig8.equal",
        vec![
            ("local at 8 over coordinated at 2 is 1, within a third", equal, Kind::Ratio.is_close(1.0, equal)),
            ("local at 18 over coordinated at 4", worse, worse > 1.0),
        ],
    );
    evaluation.number("ggc.fig8.184", ratio(local(18), coordinated(4)));
    evaluation.number("ggc.fig8.eight-two", ratio(local(8), coordinated(2)));

    let [of_local, of_coordinated] =
        [LOCAL, INCLUSIVE].map(|scheme| MEMBERS.map(|members| results.mean(&format!("{members} {scheme}"), MEAN)));
    let falls_least = |means: [f64; 6]| least(&std::iter::zip(means, &means[1..]).map(|(fewer, more)| fewer / more).collect::<Vec<_>>());
    let ahead = least(&std::iter::zip(of_local, of_coordinated).map(|(local, coordinated)| local / coordinated).collect::<Vec<_>>());
    evaluation.numbers_and(
        "ggc.fig8.scaling",
        vec![("local", ratio(local(2), local(8))), ("coordinated", ratio(coordinated(4), coordinated(18)))],
        vec![
            ("local: a step over the next where it falls least, above 1", falls_least(of_local), falls_least(of_local) > 1.0),
            ("the same, coordinated", falls_least(of_coordinated), falls_least(of_coordinated) > 1.0),
            ("local over coordinated where it is least, above 1", ahead, ahead > 1.0),
        ],
    );
}

fn fig9_points() -> Vec<Point> {
    [schemes(&ENTERPRISE, &[LOCAL, INCLUSIVE, IDLE]), schemes(&["hpc-r", "hpc-w"], &[LOCAL, INCLUSIVE])].concat()
}

fn greatest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, |most, value| if value.is_nan() { f64::NAN } else { most.max(value) })
}

fn least(values: &[f64]) -> f64 {
    -greatest(&values.iter().map(|value| -value).collect::<Vec<_>>())
}

fn fig9(results: &Results, evaluation: &mut Evaluation) {
    let reduction = |workload: &str, scheme: &str| results.reduction(&name(workload, LOCAL), &name(workload, scheme), MEAN);
    let of_enterprise = |scheme: &str| ENTERPRISE.map(|workload| reduction(workload, scheme));
    evaluation.number("ggc.fig9", combine(&of_enterprise(INCLUSIVE), mean));
    let local = ENTERPRISE.map(|workload| {
        let means = results.values(&name(workload, LOCAL), MEAN);
        (workload, means.into_iter().map(|us| us / 1e3).collect())
    });
    evaluation.numbers("ggc.fig9.local", local.to_vec());

    let deviations = ENTERPRISE.map(|workload| mean(&results.ratio(&name(workload, INCLUSIVE), &name(workload, LOCAL), STDDEV)));
    evaluation.statement(
        "ggc.fig9.robust",
        vec![
            ("deviation relative to local, the greatest of the five, below 1", greatest(&deviations), greatest(&deviations) < 1.0),
            ("their mean", mean(&deviations), mean(&deviations) < 1.0),
        ],
    );
    let most = greatest(&of_enterprise(INCLUSIVE).map(|values| mean(&values)));
    let of_hpc = least(&["hpc-w", "hpc-r"].map(|workload| mean(&reduction(workload, INCLUSIVE))));
    evaluation.statement(
        "ggc.fig9.smaller",
        vec![
            ("greatest reduction of the enterprise workloads, below those of hpc-w and hpc-r", most, most < of_hpc),
            ("the lesser of hpc-w and hpc-r", of_hpc, of_hpc > 0.0),
        ],
    );
    let by = |scheme: &str| combine(&of_enterprise(scheme), greatest);
    let financial = mean(&reduction("financial", INCLUSIVE));
    let of_idle = mean(&by(IDLE));
    evaluation.numbers_and(
        "ggc.fig9.financial",
        vec![("", by(INCLUSIVE))],
        vec![
            ("financial's, the greatest", financial, financial >= mean(&by(INCLUSIVE))),
            ("greatest by proactive-idle, for which the paper has 0.1493", of_idle, Kind::Reduction.is_close(0.1493, of_idle)),
        ],
    );
}

/// Returns points whose reports keep single requests and collections of 300 ms.
fn windows(workload: &str, schemes: &[&str]) -> Vec<Point> {
    let point = |scheme: &&str| {
        let point = ggc(name(workload, scheme), workload, scheme);
        point.set("report.timeline.from", "2s").set("report.timeline.to", "2300ms")
    };
    schemes.iter().map(point).collect()
}

/// Returns the share of requests that took longer than `us`.
fn share_above(results: &Results, point: &str, us: f64) -> Values {
    results.each(point, |report| {
        let cdf = report.pointer("/response_us/all/cdf")?.as_array()?;
        let below = cdf.iter().filter(|point| point[0].as_f64().is_some_and(|time| time <= us)).filter_map(|point| point[1].as_f64());
        Some(1.0 - below.fold(0.0, f64::max))
    })
}

fn fig10(results: &Results, evaluation: &mut Evaluation) {
    let (local, coordinated) = (name("hpc-w", LOCAL), name("hpc-w", INCLUSIVE));
    let spike_us = greatest(&results.values(&name("hpc-w", IDEAL), MAX));
    let spikes = [&local, &coordinated].map(|point| mean(&share_above(results, point, spike_us)));
    let erased = mean(&results.ratio(&coordinated, &local, ERASES));
    let together = [&local, &coordinated].map(|point| results.mean(point, "/gc/synchronised_mean"));
    evaluation.statement(
        "ggc.fig10",
        vec![
            ("share of responses above the greatest under ideal, local over coordinated", spikes[0] / spikes[1], spikes[0] > spikes[1]),
            ("blocks erased, coordinated over local, as many within a tenth", erased, (erased - 1.0).abs() <= 0.1),
            ("members collecting together, coordinated; more than under local", together[1], together[1] > together[0]),
        ],
    );
}

/// Returns the name of a point that is long enough to measure erases.
fn settled(workload: &str, scheme: &str) -> String {
    format!("{workload} settled {scheme}")
}

fn settled_points(workloads: &[&str], schemes: &[&str]) -> Vec<Point> {
    let points =
        |workload: &&str| schemes.iter().map(|scheme| ggc_settled(settled(workload, scheme), workload, scheme)).collect::<Vec<_>>();
    workloads.iter().flat_map(points).collect()
}

/// Returns the erases of one scheme divided by those of another. There are none before the reserve has been written twice.
fn erases(results: &Results, workload: &str, over: &str, under: &str) -> Values {
    let (over, under) = (settled(workload, over), settled(workload, under));
    let is_settled = |point: &String| results.reports(point).iter().all(|report| turnovers(report) >= Some(TURNOVERS_MIN));
    // Both are read, whatever the first says: the claim then needs the same points under other settings.
    if is_settled(&over) & is_settled(&under) { results.ratio(&over, &under, ERASES) } else { Values::new() }
}

fn fig11_points() -> Vec<Point> {
    let workloads: Vec<&str> = ENTERPRISE.into_iter().chain(HPC).collect();
    let settled = [settled_points(&["financial"], &[INCLUSIVE, IDLE]), settled_points(&HPC, &[INCLUSIVE, SELECTIVE, IDLE])];
    [schemes(&workloads, &[LOCAL, INCLUSIVE, SELECTIVE, IDLE, IDEAL]), settled.concat()].concat()
}

fn fig11(results: &Results, evaluation: &mut Evaluation) {
    let against =
        |workload: &str, baseline: &str, figure: &str| results.reduction(&name(workload, baseline), &name(workload, IDLE), figure);
    let reductions = ENTERPRISE.map(|workload| against(workload, LOCAL, MEAN));
    evaluation.numbers(
        "ggc.fig11.proactive",
        vec![("least", combine(&reductions, least)), ("greatest", combine(&reductions, greatest)), ("average", combine(&reductions, mean))],
    );

    let above = ENTERPRISE.map(|workload| -> Values {
        results.ratio(&name(workload, IDLE), &name(workload, IDEAL), MEAN).into_iter().map(|ratio| ratio - 1.0).collect()
    });
    evaluation.numbers(
        "ggc.fig11.ideal-overhead",
        vec![("least", combine(&above, least)), ("greatest", combine(&above, greatest)), ("average", combine(&above, mean))],
    );

    let fewer = erases(results, "financial", IDLE, INCLUSIVE).into_iter().map(|ratio| 1.0 - ratio).collect();
    evaluation.numbers("ggc.fig11.financial-erases", vec![("erases", fewer), ("mean", against("financial", INCLUSIVE, MEAN))]);
    evaluation.number("ggc.fig11.skew-erases", erases(results, "hpc-w-skew", INCLUSIVE, SELECTIVE));
    let response = mean(&results.ratio(&name("hpc-w-skew", INCLUSIVE), &name("hpc-w-skew", SELECTIVE), MEAN));
    evaluation.statement("ggc.fig11.skew-response", vec![("mean of inclusive over selective", response, (response - 1.0).abs() <= 0.1)]);
    let bursts = BURSTS.map(|workload| (workload, against(workload, SELECTIVE, MEAN)));
    evaluation.numbers("ggc.fig11.burst", bursts.to_vec());

    let financial = [INCLUSIVE, SELECTIVE, IDLE].map(|scheme| results.mean(&name("financial", scheme), MEAN) / 1e3);
    let others = ENTERPRISE[1..].iter().map(|workload| {
        let means = [INCLUSIVE, SELECTIVE, IDLE].map(|scheme| results.mean(&name(workload, scheme), MEAN));
        greatest(&means) / least(&means)
    });
    let others = greatest(&others.collect::<Vec<_>>());
    evaluation.statement(
        "ggc.fig11.financial-order",
        vec![
            (
                "financial: mean of inclusive over proactive-idle; selective lies between",
                financial[0] / financial[2],
                financial[0] > financial[1] && financial[1] > financial[2],
            ),
            ("the other four: greatest mean of the three over the least, at most 1.1", others, others <= 1.1),
        ],
    );

    let gains = BURSTS.map(|workload| mean(&against(workload, SELECTIVE, MEAN)));
    let more = ["hpc-w-burst-m", "hpc-w-burst-h"].map(|workload| mean(&erases(results, workload, IDLE, SELECTIVE)));
    evaluation.statement(
        "ggc.fig11.burst-order",
        vec![
            (
                "reduction by proactive-idle against selective under hpc-w-burst-h; it grows with burstiness",
                gains[2],
                gains.is_sorted_by(|even, bursty| even < bursty),
            ),
            (
                "erases of proactive-idle over selective under bursts, more by at most a third",
                greatest(&more),
                more.iter().all(|more| *more > 1.0 && *more <= FACTOR),
            ),
        ],
    );
}

/// Judges the greatest reduction over all workloads.
fn proactive(results: &Results, evaluation: &mut Evaluation) {
    let greatest_of = |figure: &str| {
        let reductions = ENTERPRISE.iter().chain(&HPC).filter_map(|workload| {
            let [local, inclusive] = [LOCAL, INCLUSIVE].map(|scheme| results.mean(&name(workload, scheme), figure));
            let reduction = results.reduction(&name(workload, INCLUSIVE), &name(workload, IDLE), figure);
            // Where reactive collection itself loses against local, to lose less is no gain.
            let loses = inclusive > local;
            (!loses).then_some(reduction)
        });
        combine(&reductions.collect::<Vec<_>>(), greatest)
    };
    evaluation.numbers("ggc.proactive.variability", vec![("mean", greatest_of(MEAN)), ("stddev", greatest_of(STDDEV))]);
}

/// Returns the greatest vertical distance between the distributions of two points, for the first seed.
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
    let farthest = greatest(&gaps.map(|(idle, _)| idle));
    evaluation.statement(
        "ggc.fig12",
        vec![
            ("greatest distance from ideal, of both workloads, at most 0.1", farthest, farthest <= 0.1),
            ("that of local less that of proactive-idle, financial; nearer than local for both", gaps[0].1 - gaps[0].0, nearer),
        ],
    );
}

/// Returns the share of requests that met a collection.
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

fn table10_points() -> Vec<Point> {
    [schemes(&HPC, &[INCLUSIVE, SELECTIVE, IDLE]), settled_points(&HPC, &[INCLUSIVE, SELECTIVE, IDLE])].concat()
}

fn table10(results: &Results, evaluation: &mut Evaluation) {
    let response = |workload: &str, over: &str, under: &str| mean(&results.ratio(&name(workload, over), &name(workload, under), MEAN));
    let erases = |workload: &str, over: &str, under: &str| mean(&erases(results, workload, over, under));
    // Fair: the same within a tenth.
    let fair = |value: f64| (value - 1.0).abs() <= 0.1;
    let bursty = BURSTS[1..].iter().flat_map(|workload| [INCLUSIVE, SELECTIVE].map(|reactive| response(workload, IDLE, reactive)));
    let bursty = greatest(&bursty.collect::<Vec<_>>());
    let [even, skewed] = ["hpc-w", "hpc-w-skew"].map(|workload| response(workload, IDLE, INCLUSIVE));
    let skewed_erases = erases("hpc-w-skew", INCLUSIVE, SELECTIVE);
    let bursty_erases = BURSTS[1..].iter().map(|workload| erases(workload, IDLE, INCLUSIVE)).collect::<Vec<_>>();
    evaluation.statement(
        "ggc.table10",
        vec![
            ("bursty response, proactive over each of the reactive schemes, the greatest: below 0.95", bursty, bursty < 0.95),
            ("even response, proactive over inclusive, fair", even, fair(even)),
            ("skewed response, proactive over inclusive, fair", skewed, fair(skewed)),
            ("skewed erases, inclusive over selective", skewed_erases, skewed_erases > 1.5),
            ("bursty erases, proactive over inclusive, the least", least(&bursty_erases), bursty_erases.iter().all(|ratio| *ratio > 1.0)),
        ],
    );

    let skewed = [SELECTIVE, IDLE].map(|scheme| erases("hpc-w-skew", INCLUSIVE, scheme));
    let even = [SELECTIVE, IDLE].map(|scheme| erases("hpc-w", scheme, INCLUSIVE));
    let reactive = BURSTS[1..].iter().map(|workload| erases(workload, SELECTIVE, INCLUSIVE)).collect::<Vec<_>>();
    let poor = BURSTS[1..].iter().map(|workload| response(workload, SELECTIVE, INCLUSIVE)).collect::<Vec<_>>();
    evaluation.statement(
        "ggc.table10.rest",
        vec![
            (
                "skewed erases, inclusive over selective and over proactive-idle, the lesser: above 1.5",
                least(&skewed),
                least(&skewed) > 1.5,
            ),
            ("even erases over those of inclusive, the greater, fair", greatest(&even), even.into_iter().all(fair)),
            ("bursty erases, selective over inclusive, at most fair", greatest(&reactive), greatest(&reactive) <= 1.1),
            ("bursty response, selective over inclusive, fair", greatest(&poor), poor.iter().all(|ratio| fair(*ratio))),
        ],
    );
}

/// Numbers of members, out of eight, that know the protocol.
const AWARE: [usize; 3] = [2, 4, 6];

fn subset_points() -> Vec<Point> {
    let some = AWARE.map(|aware| {
        let members = (0..aware).map(|member| member.to_string()).collect::<Vec<_>>().join(", ");
        ggc(format!("{aware} aware"), "hpc-w", INCLUSIVE).set("coordination.ggc_aware", format!("[{members}]"))
    });
    [some.to_vec(), schemes(&["hpc-w"], &[LOCAL, INCLUSIVE])].concat()
}

fn subset(results: &Results, evaluation: &mut Evaluation) {
    let some = AWARE.map(|aware| results.mean(&format!("{aware} aware"), MEAN) / 1e3);
    let [none, all] = [LOCAL, INCLUSIVE].map(|scheme| results.mean(&name("hpc-w", scheme), MEAN) / 1e3);
    evaluation.statement(
        "ggc.subset",
        vec![
            (
                "mean with four of eight, ms; with each number between that of none and that of all",
                some[1],
                some.iter().all(|mean| all < *mean && *mean < none),
            ),
            ("mean with six, ms; it falls with their number", some[2], some.is_sorted_by(|fewer, more| fewer > more)),
        ],
    );
}

/// Returns the points for the second claim: elements without a need for collection take no part in a forced one.
fn packages_points() -> Vec<Point> {
    // Collection stops one block above its start: two above it all elements would need it at any time.
    let needed = ggc("those that need it", "hpc-w", INCLUSIVE).set("coordination.across_dies", false).set("coordination.t_soft", "start+1");
    // They differ by less than seeds do.
    [ggc("all", "hpc-w", INCLUSIVE), needed].map(|point| point.one_seed(false)).to_vec()
}

fn packages(results: &Results, evaluation: &mut Evaluation) {
    let ratio = mean(&results.ratio("all", "those that need it", MEAN));
    evaluation.statement("ggc.packages", vec![("mean with all dies forced over that with those alone that need it", ratio, ratio < 1.0)]);
}
