//! `run --output-format fio+`: what tools for fio read.

use serde_json::{Value, json};

use crate::program::Place;

/// Returns the sums of a direction's bins in order, as fio's `fio_jsonplus_clat2csv` computes them.
fn cumulated(direction: &Value) -> Vec<(u64, u64)> {
    let bins = direction["clat_ns"]["bins"].as_object().unwrap();
    let mut bins: Vec<(u64, u64)> = bins.iter().map(|(ns, count)| (ns.parse().unwrap(), count.as_u64().unwrap())).collect();
    bins.sort_unstable();
    let mut sum = 0;
    bins.iter()
        .map(|(ns, count)| {
            sum += count;
            (*ns, sum)
        })
        .collect()
}

#[test]
fn a_reader_of_fio_finds_the_figures_of_the_report() {
    let place = Place::new();
    for set in ["workload.requests=2000", "report.skip_requests=500", "workload.read_fraction=1"] {
        let report = place.run_json(&["run", "small.toml", "--json", "--set", set]);
        let fio = place.run_json(&["run", "small.toml", "--output-format", "fio+", "--set", set]);
        assert!(fio["fio version"].as_str().unwrap().starts_with("fio-3."));
        let job = &fio["jobs"][0];
        assert_eq!((&job["jobname"], &job["error"], &job["job options"]["bs"]), (&json!("small"), &json!(0), &json!("8KiB")), "{set}");
        for name in ["read", "write"] {
            let (direction, times) = (&job[name], &report["response_us"][name]);
            let count = times["count"].as_u64().unwrap();
            assert_eq!(direction["total_ios"], times["count"], "{set}");
            assert_eq!(direction["io_bytes"].as_u64().unwrap(), count * 8192, "{set}");
            let near = |a: &Value, b: f64, most: f64| assert!((a.as_f64().unwrap() - b).abs() <= most * b, "{set} {name}: {a} {b}");
            if count == 0 {
                assert_eq!((&direction["iops"], direction["clat_ns"].get("bins")), (&json!(0.0), None), "{set}");
                continue;
            }
            near(&direction["iops"], report["iops"][name].as_f64().unwrap(), 1e-9);
            for (key, of_report) in [("min", "min"), ("max", "max"), ("mean", "mean"), ("stddev", "stddev")] {
                near(&direction["clat_ns"][key], times[of_report].as_f64().unwrap() * 1e3, 1e-9);
                assert_eq!(direction["lat_ns"][key], direction["clat_ns"][key]);
            }
            for (key, of_report) in [("50.000000", "p50"), ("90.000000", "p90"), ("99.000000", "p99")] {
                // Half a bin of fio's, which is a 64th, and a thousandth of ours.
                near(&direction["clat_ns"]["percentile"][key], times[of_report].as_f64().unwrap() * 1e3, 1.0 / 128.0 + 2e-3);
            }
            let cumulated = cumulated(direction);
            assert!(cumulated.is_sorted() && cumulated.last().unwrap().1 == count, "{set}");
            assert_eq!(direction["slat_ns"]["N"], 0);
        }
        let shares: f64 = ["latency_ns", "latency_us", "latency_ms"]
            .iter()
            .flat_map(|unit| job[*unit].as_object().unwrap().values())
            .map(|share| share.as_f64().unwrap())
            .sum();
        assert!((shares - 100.0).abs() < 1e-6, "{set}");
    }
}

#[test]
fn one_form_at_a_time() {
    let place = Place::new();
    let ended = place.run(&["run", "small.toml", "--json", "--output-format", "fio+"]);
    assert_eq!(ended.status, 2, "{}", ended.stderr);
    let [json, form] = [&["--json"][..], &["--output-format", "json"]].map(|form| place.run_json(&[&["run", "small.toml"], form].concat()));
    assert_eq!(json["response_us"], form["response_us"]);
}
