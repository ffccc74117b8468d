//! Tests of the command `flashraid run`.

use serde_json::Value;

use crate::program::{FILES_OF_A_RUN, Place, without_wall_clock};
use crate::tables;

#[test]
fn the_document_has_what_the_contract_names() {
    let report = Place::new().run_json(&["run", "small.toml", "--json"]);
    assert_eq!(report["schema"], "flashraid.report/2");
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(report["seed"], 7);
    assert!(report["config"]["ssd"].is_object());
    assert!(report["config_hash"].is_string());
    for pointer in [
        "/simulated_ns /wall_s /requests/all /requests/read /requests/write",
        "/bandwidth_mb_s/mean /bandwidth_mb_s/stddev /bandwidth_mb_s/cv /bandwidth_mb_s/interval_ms",
        "/flash/host_pages_read /flash/host_pages_written /flash/gc_pages_moved /flash/erases /flash/write_amplification",
        "/gc/runs /gc/forced_runs /gc/busy_fraction /gc/mean_length_us /gc/synchronised_mean /gc/preemptions /gc/merges /gc/pipelined",
        "/members/0/erases /members/1/host_pages_written",
        "/perf/host_page_ops /perf/flash_page_ops /perf/host_page_ops_per_s /perf/warm_up_s /perf/peak_rss_bytes",
    ]
    .iter()
    .flat_map(|line| line.split(' '))
    {
        assert!(report.pointer(pointer).is_some_and(Value::is_number), "{pointer}: {:?}", report.pointer(pointer));
    }
    for direction in ["all", "read", "write"] {
        for figure in ["count", "mean", "stddev", "min", "max", "p50", "p90", "p95", "p99", "p99_9", "p99_99"] {
            assert!(report["response_us"][direction][figure].is_number(), "{direction} {figure}");
        }
    }
    assert!(report["gc"]["messages"].is_object());
    assert!(report["cache"].is_object());
    assert_eq!(report["partial"], false);
    assert_eq!(report["requests"]["all"], 2000);
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let place = Place::new();
    let document = |seed: &str| without_wall_clock(place.run_json(&["run", "small.toml", "--json", "--seed", seed])).to_string();
    assert_eq!(document("3"), document("3"));
    assert_ne!(document("3"), document("4"));
}

#[test]
fn tables_without_a_terminal_are_plain() {
    let ended = Place::new().run(&["run", "small.toml", "--tables"]);
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    assert!(!ended.stdout.contains('\u{1b}'), "no escape sequences");
    let model: String = ended.stdout.split_inclusive('\n').take_while(|line| !line.starts_with("Simulator")).collect();
    insta::assert_snapshot!("run", model);
}

/// A member fails under load and is rebuilt: every request belongs to one stage, and all strips come to the spare.
#[test]
fn a_rebuild_is_reported_stage_by_stage() {
    let place = Place::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/raid5-rebuild.toml");
    let sped_up = ["array.failure.at=2s", "array.rebuild.delay=1s", "ssd.geometry.blocks=32", "ssd.geometry.reserved=50%"];
    let sets = sped_up.iter().chain(&["workload.requests=2500"]).flat_map(|set| ["--set", set]);
    let arguments: Vec<&str> = ["run", example, "--json"].into_iter().chain(sets).collect();
    let report = place.run_json(&arguments);
    let count = |pointer: &str| report.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("{pointer}"));
    let stages = ["normal", "degraded", "rebuilding", "rebuilt"].map(|stage| count(&format!("/failure/response_us/{stage}/all/count")));
    assert!(stages.iter().all(|&requests| requests > 0), "{stages:?}");
    assert_eq!(stages.iter().sum::<u64>(), 2500);
    assert_eq!((count("/failure/member"), count("/failure/spare")), (2, 5));
    assert_eq!((&report["failure"]["failed_ms"], &report["failure"]["rebuild_began_ms"]), (&2000.0.into(), &3000.0.into()));
    assert_eq!(report["failure"]["rebuilt_fraction"], 1.0);
    // Four dies of two planes, of 16 blocks of 64 pages.
    let member_pages = 4 * 2 * 16 * 64;
    assert_eq!((count("/failure/rebuild_pages_written"), count("/failure/rebuild_pages_read")), (member_pages, 4 * member_pages));
    assert!(count("/parity/read_modify_writes") > 0 && count("/parity/no_parity_writes") > 0);

    expect_members_over_time(&report);

    let shown = arguments.iter().map(|&argument| if argument == "--json" { "--tables" } else { argument });
    let table = place.run(&shown.collect::<Vec<_>>()).stdout;
    assert!(table.contains("Parity\n") && table.contains("Response time around the failure\n"), "{table}");
}

/// Asserts that the use of members over time adds up to their counters. Member 2 of the array fails, and spare 5 replaces it.
fn expect_members_over_time(report: &Value) {
    let over_time = &report["over_time"];
    let numbers = |list: &Value| -> Vec<f64> { list.as_array().unwrap().iter().map(|value| value.as_f64().unwrap_or(0.0)).collect() };
    let (from_ms, interval_ms) = (numbers(&over_time["from_ms"]), over_time["interval_ms"].as_f64().unwrap());
    let end_ms = report["simulated_ns"].as_f64().unwrap() / 1e6;
    let members = over_time["members"].as_array().unwrap();
    assert_eq!(members.len(), 6);
    for (index, (lists, counts)) in members.iter().zip(report["members"].as_array().unwrap()).enumerate() {
        let [utilisation, queue] = ["utilisation", "queue"].map(|key| numbers(&lists[key]));
        let total = |list: &[f64]| list.iter().zip(&from_ms).map(|(value, from)| value * interval_ms.min(end_ms - from)).sum::<f64>();
        let pages = |key: &str| counts[key].as_f64().unwrap();
        // Reads take 25 µs and programs 200 µs of one of four dies; nothing else takes time but collection.
        let expected_ms = (pages("host_pages_read") * 0.025 + pages("host_pages_written") * 0.2 + pages("gc_time_ms")) / 4.0;
        assert!((total(&utilisation) / expected_ms - 1.0).abs() < 0.01, "member {index}: {} {expected_ms}", total(&utilisation));
        // An operation that is served is in the member, too.
        assert!(total(&queue) >= 3.99 * expected_ms, "member {index}: {} {expected_ms}", total(&queue));
        assert_eq!(lists["response_us"].as_array().unwrap().len(), from_ms.len());
        for (at, from) in from_ms.iter().enumerate() {
            let is_there = match index {
                2 => *from < 2000.0,
                5 => from + interval_ms > 3000.0,
                _ => true,
            };
            assert!(is_there || (utilisation[at] == 0.0 && queue[at] == 0.0 && lists["response_us"][at].is_null()), "{index} at {from} ms");
        }
    }
}

#[test]
fn set_replaces_any_key() {
    let place = Place::new();
    let report = place.run_json(&[
        "run",
        "small.toml",
        "--json",
        "--set",
        "array.members=4",
        "--set",
        "ssd.gc.victim=fifo",
        "--set",
        "workload.arrivals={process=\"closed\", depth=4}",
        "--set",
        "workload.size=\"4KiB\"",
        "--set",
        "seed=11",
        "--set",
        "workload.requests=100",
    ]);
    assert_eq!(report["members"].as_array().unwrap().len(), 4);
    assert_eq!(report["config"]["ssd"]["gc"]["victim"], "fifo");
    assert_eq!(report["config"]["workload"]["arrivals"]["depth"], 4);
    assert_eq!(report["config"]["workload"]["size"], "4KiB");
    assert_eq!((&report["seed"], &report["requests"]["all"]), (&11.into(), &100.into()));
}

#[test]
fn seed_wins_over_the_file() {
    let report = Place::new().run_json(&["run", "small.toml", "--json", "--seed", "123"]);
    assert_eq!(report["seed"], 123);
}

#[test]
fn out_keeps_the_report_and_every_request() {
    let place = Place::new();
    place.run_json(&["run", "small.toml", "--json", "--out", "results/small"]);
    assert_eq!(place.files(), FILES_OF_A_RUN.map(|name| format!("results/small/{name}")));
    let report = place.run_json(&["run", "small.toml", "--json", "--out", "results/small", "--csv", "--force"]);
    assert_eq!(place.json("results/small/report.json"), report);

    let rows = tables::both(&place, "results/small/requests");
    assert_eq!(rows.len(), 1 + 2000);
    let charts = tables::both(&place, "results/small/charts");
    let series = report["bandwidth_mb_s"]["series"].as_array().unwrap();
    let drawn: Vec<f64> = charts.iter().filter(|row| row[0] == "bandwidth").map(|row| row[5].parse().unwrap()).collect();
    assert_eq!(drawn, series.iter().map(|value| value.as_f64().unwrap()).collect::<Vec<_>>());

    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;
    let file = std::fs::File::open(place.path("results/small/requests.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let fields = reader.metadata().file_metadata().schema().get_fields();
    let columns: Vec<&str> = fields.iter().map(|field| field.name()).collect();
    assert_eq!(
        columns,
        [
            "index",
            "arrival_ns",
            "done_ns",
            "response_ns",
            "offset_bytes",
            "length_bytes",
            "direction",
            "stream",
            "high_priority",
            "gc_members_met",
            "queue_ns",
            "collection_ns",
            "parity_ns",
            "cache_ns",
            "transfer_ns",
            "flash_ns",
            "other_ns",
        ]
    );
    let (mut rows, mut response_ns, mut reads) = (0_u64, 0_u64, 0_u64);
    for row in reader.get_row_iter(None).unwrap() {
        let row = row.unwrap();
        assert_eq!(row.get_ulong(2).unwrap() - row.get_ulong(1).unwrap(), row.get_ulong(3).unwrap());
        let parts: u64 = (10..17).map(|column| row.get_ulong(column).unwrap()).sum();
        assert_eq!(parts, row.get_ulong(3).unwrap(), "where the request waited");
        rows += 1;
        response_ns += row.get_ulong(3).unwrap();
        reads += u64::from(row.get_string(6).unwrap() == "read");
    }
    assert_eq!(rows, 2000);
    assert_eq!(reads, report["requests"]["read"]);
    let mean_us = report["response_us"]["all"]["mean"].as_f64().unwrap();
    assert!((response_ns as f64 / 1e3 / rows as f64 - mean_us).abs() < 1e-6 * mean_us);
}

#[test]
fn a_window_is_drawn_and_a_bad_one_refused() {
    let place = Place::new();
    let report = place.run_json(&["run", "small.toml", "--json", "--timeline", "1s..1.2s", "--out", "results"]);
    assert_eq!(report["timeline"]["to_ns"], 1_200_000_000);
    let picture = std::fs::read_to_string(place.path("results/timeline.svg")).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("member 1"));
    // A table has no place for it.
    let ended = place.run(&["run", "small.toml", "--timeline", "1s..1.2s"]);
    assert_eq!((ended.status, ended.stdout.as_str()), (2, ""));
    assert!(ended.stderr.contains("--out DIR"), "{}", ended.stderr);
    for (window, part) in [("1s", "FROM..TO"), ("1s..2parsec", "parsec"), ("2s..1s", "ends before it begins")] {
        let ended = place.run(&["run", "small.toml", "--timeline", window]);
        assert_eq!(ended.status, 2, "{}", ended.stderr);
        assert!(ended.stderr.contains(part), "{}", ended.stderr);
    }
}
