//! High-priority writes and preemption (rule 33): above T_hard they change nothing, below it they cost no more than no preemption does.

use flashraid::{Report, Simulation};

/// The device and the workload of PGC with fewer blocks; all of it is written, where collections are longest.
const BASE: &str = r#"
[array]
level = "single"
members = 1
[ssd]
preset = "pgc2011"
geometry.blocks = 128
[workload]
preset = "pgc-synthetic"
address = { footprint = 1.0 }
requests = 8000
"#;

const SHARES: [&str; 4] = ["0.0", "0.1", "0.5", "1.0"];

fn run(settings: &[(&str, &str)]) -> Report {
    let simulation = Simulation::from_toml(BASE).expect("it is TOML");
    let simulation = settings.iter().try_fold(simulation, |simulation, (key, value)| simulation.set(key, value));
    simulation.expect("the keys exist").run().expect("it runs")
}

fn semi(t_hard: &str, share: &str) -> Report {
    run(&[("ssd.gc.preemption", "semi"), ("ssd.gc.t_hard", t_hard), ("workload.high_priority_fraction", share)])
}

/// The mean response time of all requests, and the shares of collection in states 1 to 3.
fn figures(report: &Report) -> (f64, [f64; 3]) {
    let [one, two, three] = report.gc.state_ms;
    let all = one + two + three;
    (report.response_us.all.mean.expect("requests are measured"), [one / all, two / all, three / all])
}

#[test]
fn above_t_hard_priorities_change_nothing() {
    // T_soft is 6 blocks, T_hard 3, to which the free blocks do not fall here; nor can they fall below none.
    for t_hard in ["0.5", "0.0"] {
        let of = |share: &str| {
            let report = semi(t_hard, share);
            let [_, two, three] = report.gc.state_ms;
            assert_eq!((two, three), (0.0, 0.0), "T_hard {t_hard}, {share}: the free blocks fall below T_hard");
            assert!(report.gc.preemptions > 1000, "{} preemptions", report.gc.preemptions);
            serde_json::to_value(&report).map(|json| [json["response_us"].clone(), json["gc"].clone(), json["members"].clone()]).unwrap()
        };
        let without = of(SHARES[0]);
        for share in &SHARES[1..] {
            assert_eq!(of(share), without, "T_hard {t_hard}, {share} of the writes");
        }
    }
}

#[test]
fn below_t_hard_the_mean_is_at_most_that_without_preemption() {
    // With T_hard at T_soft a single block that opens during a clean is enough.
    for t_hard in ["1.0", "0.8"] {
        for share in SHARES {
            let (none, _) = figures(&run(&[("workload.high_priority_fraction", share)]));
            let (mean, [one, two, three]) = figures(&semi(t_hard, share));
            eprintln!("T_hard {t_hard}, {share}: {mean:.1} us, without preemption {none:.1}; states {one:.3} {two:.3} {three:.3}");
            assert!(mean <= 1.01 * none, "T_hard {t_hard}, {share} of the writes: {mean} us, without preemption {none} us");
            assert!(t_hard != "1.0" || two + three > 0.01, "the free blocks fall below T_hard");
        }
    }
}
