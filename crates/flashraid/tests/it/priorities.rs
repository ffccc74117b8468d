//! Tests of high-priority writes with preemption (rule 33). While free blocks stay above T_hard, priorities change nothing. Below it, the
//! mean response time is at most that without preemption.

use flashraid::{Report, Simulation};

/// The SSD and the workload of the PGC paper with fewer blocks. All of it is written, because collections take longest then.
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

/// Returns the mean response time of all requests in microseconds, and the share of collection in each of the states 1 to 3.
fn figures(report: &Report) -> (f64, [f64; 3]) {
    let [one, two, three] = report.gc.state_ms;
    let all = one + two + three;
    (report.response_us.all.mean.expect("requests are measured"), [one / all, two / all, three / all])
}

#[test]
fn above_t_hard_priorities_change_nothing() {
    // T_soft is 6 blocks, and T_hard 3 blocks or none. Under this load, free blocks do not fall below T_hard.
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
    // With a gap of 1 ms, free blocks just fall below T_hard, which equals T_soft here. With 0.8 ms, half of the collection is done below
    // it.
    for (gap, below_at_least) in [("1ms", 0.001), ("800us", 0.4)] {
        let arrivals = format!(r#"{{ process = "poisson", mean_gap = "{gap}" }}"#);
        for share in SHARES {
            let load = [("workload.arrivals", arrivals.as_str()), ("workload.high_priority_fraction", share)];
            let (none, _) = figures(&run(&load));
            let (mean, [_, two, three]) = figures(&run(&[&load[..], &[("ssd.gc.preemption", "semi"), ("ssd.gc.t_hard", "1.0")]].concat()));
            assert!(two + three > below_at_least, "{gap}, {share}: {two:.4} and {three:.4} of collection are below T_hard");
            if share == "0.0" {
                assert_eq!(three, 0.0, "{gap}: state 3 is for high-priority writes");
            } else if gap == "800us" {
                assert!(three > 0.1, "{gap}, {share}: {three:.4} of collection is in state 3");
            }
            assert!(mean <= 1.01 * none, "{gap}, {share} of the writes: {mean} us, without preemption {none} us");
        }
    }
}
