//! Remedies of later papers on set-ups of their own: IODA (SOSP 2021), RackBlox (SOSP 2023), LinnOS (OSDI 2020), MittOS (SOSP 2017) and
//! Heimdall (EuroSys 2025). They are the second part of the ledger.

use crate::results::{Values, mean};
use crate::settings::{IODA_ARRAY, MIRRORS};
use crate::{Evaluation, Figure, Point, Results};

/// Traces of IODA's Fig. 5 whose percentiles its artifact has. Those of tpcc and msnfs are the same bytes.
const TRACES: [&str; 4] = ["azure", "bingselect", "dtrs", "lmbe"];
/// Modes of the drives and the host, from nothing to collection in no time.
const MODES: [&str; 6] = ["base", "iod1", "iod2", "iod3", "ioda", "ideal"];
/// Percentiles of reads: the name in claims, and the place in reports.
const PERCENTILES: [(&str, &str); 3] =
    [("p95", "/response_us/read/p95"), ("p99", "/response_us/read/p99"), ("p999", "/response_us/read/p99_9")];
const READ_MEAN: &str = "/response_us/read/mean";
/// The 99.9th percentile of reads within this factor of ideal is what IODA promises while its contract holds.
const PROMISED: f64 = 1.5;

pub fn figures() -> Vec<Figure> {
    let figure = |id, title, points, evaluate| Figure { id, title, points, evaluate };
    vec![
        figure("ioda.fig5", "Reads in six modes on traces", ioda_points(), ioda),
        figure("rackblox.tail", "Reads of mirrors whose drives take turns", mirrors(&["local", "rackblox"]), rackblox),
        figure("linnos.mean", "Reads predicted against hedged", mirrors(&["hedge", "linnos"]), linnos),
        figure("mittos.time", "Reads refused against hedged", mirrors(&["hedge", "mittos"]), mittos),
        figure("heimdall.tail", "Reads predicted well and less well", mirrors(&["local", "earlier", "heimdall"]), heimdall),
    ]
}

fn ioda_points() -> Vec<Point> {
    TRACES.iter().flat_map(|trace| MODES.map(|mode| ioda_point(trace, mode))).collect()
}

fn ioda_point(trace: &'static str, mode: &str) -> Point {
    let point = Point::new(format!("{trace} {mode}"), IODA_ARRAY).trace(trace).set("workload.time_unit", "us");
    let point = point.quick("workload.requests", 20_000);
    let in_turn = |point: Point| {
        let point = point.set("coordination.scheme", "windows").set("coordination.window", "100ms").set("coordination.buffer", "50ms");
        // Collection begins with 5 % of the blocks free, and in a turn with 10 %.
        point.set("ssd.gc.start", "12 blocks").set("coordination.clean_at", 2.08)
    };
    let avoid = |point: Point| point.set("read.plan", "avoid");
    match mode {
        "base" => point,
        "iod1" => avoid(point).set("read.remaining", "unknown"),
        "iod2" => avoid(point),
        "iod3" => avoid(in_turn(point)).set("read.knowledge", "turn").set("read.remaining", "unknown").set("read.pre_reads", false),
        "ioda" => avoid(in_turn(point)),
        _ => point.set("coordination.scheme", "ideal"),
    }
}

fn ioda(results: &Results, evaluation: &mut Evaluation) {
    for trace in TRACES {
        let of = |mode: &str, pointer: &str| results.values(&format!("{trace} {mode}"), pointer);
        let over_ideal = |mode: &str, pointer: &str| results.ratio(&format!("{trace} {mode}"), &format!("{trace} ideal"), pointer);
        for (name, pointer) in PERCENTILES {
            let measured = MODES[..5].iter().map(|mode| (*mode, over_ideal(mode, pointer))).collect();
            evaluation.numbers(&format!("ioda.fig5.{trace}.{name}"), measured);
        }
        let order = |pointer: &str| {
            let [base, iod1, iod2, ioda] = ["base", "iod1", "iod2", "ioda"].map(|mode| mean(&of(mode, pointer)));
            (base / ioda, base > iod1 && iod1 >= iod2 && iod2 > ioda)
        };
        let [p99, p999] = [order(PERCENTILES[1].1), order(PERCENTILES[2].1)];
        evaluation.statement(
            &format!("ioda.fig5.{trace}.order"),
            vec![("at the 99th percentile; base over ioda", p99.0, p99.1), ("at the 99.9th percentile; base over ioda", p999.0, p999.1)],
        );
        let tail = mean(&over_ideal("ioda", PERCENTILES[2].1));
        let [broken, overruns] = ["broken_contracts", "overruns"].map(|count| mean(&of("ioda", &format!("/gc/turns/{count}"))));
        evaluation.statement(
            &format!("ioda.fig5.{trace}.contract"),
            vec![
                ("99.9th percentile of ioda over ideal, at most 1.5", tail, tail <= PROMISED),
                ("cleans outside of turns, for each run", broken, broken == 0.0),
                ("turns that collection overran, for each run", overruns, overruns == 0.0),
            ],
        );
    }
}

fn mirrors(modes: &[&str]) -> Vec<Point> {
    let point = |mode: &str| {
        let point = Point::new(mode, MIRRORS).quick("workload.requests", 100_000).quick("report.skip_requests", 50_000);
        let predict =
            |point: Point, rate: f64| point.set("read.plan", "predict").set("read.false_accept", rate).set("read.false_reject", rate);
        match mode {
            "hedge" => point.set("read.plan", "hedge"),
            "rackblox" => {
                let point = point.set("coordination.scheme", "stagger").set("read.plan", "avoid").set("read.knowledge", "member");
                point.set("read.fast_fail", "0s")
            }
            "linnos" => predict(point, 0.08),
            "earlier" => predict(point, 0.13),
            "heimdall" => predict(point, 0.05),
            "mittos" => predict(point, 0.0).set("read.cost", "0s"),
            _ => point,
        }
    };
    modes.iter().map(|mode| point(mode)).collect()
}

fn rackblox(results: &Results, evaluation: &mut Evaluation) {
    evaluation.number("rackblox.tail", results.ratio("local", "rackblox", PERCENTILES[2].1));
}

fn linnos(results: &Results, evaluation: &mut Evaluation) {
    let reduction = mean(&results.reduction("hedge", "linnos", READ_MEAN));
    evaluation.statement(
        "linnos.mean",
        vec![
            ("reduction of the mean of reads, above 0", reduction, reduction > 0.0),
            ("between 0.096 and 0.796", reduction, (0.096..=0.796).contains(&reduction)),
        ],
    );
}

fn mittos(results: &Results, evaluation: &mut Evaluation) {
    evaluation.number("mittos.time", results.reduction("hedge", "mittos", READ_MEAN));
}

fn heimdall(results: &Results, evaluation: &mut Evaluation) {
    let reduction = |mode: &str| results.reduction("local", mode, PERCENTILES[1].1);
    let ratio: Values = std::iter::zip(reduction("heimdall"), reduction("earlier")).map(|(better, earlier)| better / earlier).collect();
    evaluation.number("heimdall.tail", ratio);
}
