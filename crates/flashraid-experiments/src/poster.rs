//! Kim et al., poster at SC 2011: Figures 1–3. Figure 3 repeats two figures of PGC (9a, 9b).

use crate::results::{BANDWIDTH, BANDWIDTH_CV, BANDWIDTH_STDDEV, Values, Z_BIN, least_over_mean, mean};
use crate::settings::drives;
use crate::{Evaluation, Figure, Point, Results};

pub fn figures() -> Vec<Figure> {
    let figure = |id, title, points, evaluate| Figure { id, title, points, evaluate };
    vec![
        figure("poster.fig1", "Bandwidth of one SSD over the share of reads", shares(), fig1),
        figure("poster.fig2", "Density of bandwidth over queue depths", depths(), fig2),
        figure("poster.fig3", "Preemption under server workloads (as PGC Fig. 9)", Vec::new(), |_, _| {}),
    ]
}

const DRIVES: [(&str, &str); 2] = [("mlc", "mlc-sata2"), ("slc", "slc-sata2")];

fn shares() -> Vec<Point> {
    let point = |(label, device), writes| {
        let point = drives(format!("{label} {writes} %"), device, "single", 1, &format!("w1({writes})"));
        // The poster's "large sequential" means that each request starts where the one before ended.
        point.set("workload.sequential_fraction", 1)
    };
    DRIVES.iter().flat_map(|drive| [80, 60, 40, 20].map(|writes| point(*drive, writes))).collect()
}

fn fig1(results: &Results, evaluation: &mut Evaluation) {
    let rise = |label: &str| -> Values {
        let ratios = results.ratio(&format!("{label} 20 %"), &format!("{label} 80 %"), BANDWIDTH);
        ratios.into_iter().map(|ratio| ratio - 1.0).collect()
    };
    evaluation.numbers("poster.fig1", vec![("mlc", rise("mlc")), ("slc", rise("slc"))]);
    let lower = mean(&rise("mlc")).min(mean(&rise("slc")));
    let swings = |label: &str| mean(&results.ratio(&format!("{label} 80 %"), &format!("{label} 20 %"), BANDWIDTH_CV));
    let swing = swings("mlc").min(swings("slc"));
    evaluation.statement(
        "poster.fig1.swings",
        vec![
            (
                "CV at 80 % writes over that at 20 %, the lesser of both drives; above 1, and bandwidth is lower",
                swing,
                swing > 1.0 && lower > 0.0,
            ),
            ("rise of bandwidth from 80 % to 20 % writes, the lesser", lower, lower > 0.0),
        ],
    );

    let over_mean = mean(&least_over_mean(results, "mlc 80 %"));
    let over_greatest = mean(&least_over_greatest(results, "slc 80 %"));
    evaluation.statement(
        "poster.fig1.dips",
        vec![
            ("MLC at 80 % writes: least second over the mean, at most 0.75", over_mean, over_mean <= 0.75),
            ("SLC: least second over the greatest, at most 0.6", over_greatest, over_greatest <= 0.6),
        ],
    );
    let slc_over_mlc = |figure| mean(&results.ratio("slc 80 %", "mlc 80 %", figure));
    let (deviation, bandwidth) = (slc_over_mlc(BANDWIDTH_STDDEV), slc_over_mlc(BANDWIDTH));
    evaluation.statement(
        "poster.fig1.drives",
        vec![
            ("deviation at 80 % writes, SLC over MLC", deviation, deviation > 1.0),
            ("bandwidth at 80 % writes, SLC over MLC", bandwidth, bandwidth > 1.0),
        ],
    );
}

/// Returns the ratio of the smallest to the largest bandwidth over all intervals, for each seed.
fn least_over_greatest(results: &Results, point: &str) -> Values {
    results.each(point, |report| {
        let series = report.pointer("/bandwidth_mb_s/series")?.as_array()?;
        let whole = series[..series.len().checked_sub(1)?].iter().map(|value| value.as_f64()).collect::<Option<Vec<f64>>>()?;
        let (least, greatest) = whole.iter().fold((f64::INFINITY, 0.0), |(least, greatest), value| (value.min(least), value.max(greatest)));
        Some(least / greatest)
    })
}

/// Returns the points with writes of 512 KiB, at both queue depths.
pub fn depths() -> Vec<Point> {
    let point = |(label, device), depth: u32| {
        let point = drives(format!("{label} depth {depth}"), device, "single", 1, "w1(80)");
        let point = point.set("workload.size", "512KiB").set("workload.read_fraction", 0.0);
        let point = point.set("workload.arrivals", format!("{{ process = \"closed\", depth = {depth} }}"));
        // Tails and skewness are measured over many seconds.
        point.set("workload.duration", "130s").quick("workload.duration", "40s")
    };
    DRIVES.iter().flat_map(|drive| [8, 64].map(|depth| point(*drive, depth))).collect()
}

/// Returns the share of seconds with a bandwidth more than two standard deviations from the mean.
fn tails(results: &Results, point: &str) -> f64 {
    mean(&results.each(point, |report| {
        let density = report.pointer("/bandwidth_mb_s/z_density")?.as_array()?;
        let beyond = density.iter().filter(|bin| bin[0].as_f64().is_some_and(|z| z.abs() > 2.0)).filter_map(|bin| bin[1].as_f64());
        Some(beyond.sum::<f64>() * Z_BIN)
    }))
}

fn fig2(results: &Results, evaluation: &mut Evaluation) {
    let heavier = |label: &str| tails(results, &format!("{label} depth 64")) - tails(results, &format!("{label} depth 8"));
    let (mlc, slc) = (heavier("mlc"), heavier("slc"));
    evaluation.statement(
        "poster.fig2",
        vec![("share beyond two deviations at depth 64 less that at 8, MLC", mlc, mlc > 0.0), ("the same, SLC", slc, slc > 0.0)],
    );
}
