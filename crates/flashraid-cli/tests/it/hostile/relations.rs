//! Relations between runs that must hold whatever the figures are.

use std::process::Command;

use serde_json::Value;

use crate::program::{Place, without_wall_clock};

fn figures(place: &Place, arguments: &[&str]) -> Value {
    let mut report = without_wall_clock(place.run_json(arguments));
    // What was asked for, and how it was read, may differ.
    for key in ["config", "config_hash", "trace_notes", "warnings", "notes"] {
        report.as_object_mut().unwrap().remove(key);
    }
    report
}

/// A closed loop takes exactly twice as long if all flash times are doubled.
#[test]
fn doubled_flash_times_double_a_closed_loop() {
    let place = Place::new();
    let run = |times: u64, more: &[&str]| {
        let us = |time: u64| format!("\"{}us\"", times * time);
        let sets = [
            format!("ssd.timing.page_read={}", us(25)),
            format!("ssd.timing.page_program={}", us(200)),
            format!("ssd.timing.block_erase={}", us(1500)),
            format!("ssd.timing.transfer_per_byte=\"{}ns\"", times * 25),
            format!("ssd.timing.command_overhead={}", us(1)),
            format!("ssd.gc.poll=\"{}ns\"", times * 600),
        ];
        let mut arguments = vec!["run", "small.toml", "--json", "--set", "workload.arrivals={process=\"closed\", depth=8}"];
        sets.iter().for_each(|set| arguments.extend(["--set", set]));
        arguments.extend(more);
        figures(&place, &arguments)
    };
    for more in [&[][..], &["--set", "ssd.gc.preemption=\"semi\""], &["--set", "array.level=\"raid5\"", "--set", "array.members=4"]] {
        let (once, twice) = (run(1, more), run(2, more));
        assert_eq!(2 * once["simulated_ns"].as_u64().unwrap(), twice["simulated_ns"].as_u64().unwrap(), "{more:?}");
        for name in ["min", "mean", "max"] {
            let of = |report: &Value| report["response_us"]["all"][name].as_f64().unwrap();
            assert!((2.0 * of(&once) - of(&twice)).abs() < 1e-6 * of(&twice), "{more:?} {name}: {} {}", of(&once), of(&twice));
        }
        for count in ["host_pages_read", "host_pages_written", "gc_pages_moved", "erases"] {
            assert_eq!(once["flash"][count], twice["flash"][count], "{more:?} {count}");
        }
    }
}

/// A trace gives the same results in every form: plain, compressed, sorted from another order, in another format, cut, or split into two
/// streams.
#[test]
fn the_same_trace_in_every_shape_gives_the_same() {
    let place = Place::new();
    // Two requests at a time, so that both halves begin at once.
    let line = |index: u64| {
        format!(
            "0,{},4096,{},{}.{:03}\n",
            8 * (index * 7919 % 700),
            if index.is_multiple_of(3) { 'r' } else { 'w' },
            index / 2 / 500,
            index / 2 * 2 % 1000
        )
    };
    let lines: Vec<String> = (0..2000).map(line).collect();
    place.write("plain.spc", lines.concat());
    place.write("shuffled.spc", lines.chunks(20).flat_map(|chunk| chunk[10..].iter().chain(&chunk[..10]).cloned()).collect::<String>());
    place.write("even.spc", lines.iter().step_by(2).cloned().collect::<String>());
    place.write("odd.spc", lines.iter().skip(1).step_by(2).cloned().collect::<String>());
    place.write("first.spc", lines[..1500].concat());
    place.write(
        "t.toml",
        "array.members = 2\nssd.geometry = { dies = 2, planes = 1, blocks = 64, pages = 16 }\nworkload.path = \"plain.spc\"",
    );
    place.write("mix.toml", "array.members = 2\nssd.geometry = { dies = 2, planes = 1, blocks = 64, pages = 16 }\nworkload.streams = [{ path = \"even.spc\" }, { path = \"odd.spc\" }]");
    assert!(Command::new("gzip").arg("-k").arg(place.path("plain.spc")).status().is_ok_and(|status| status.success()));
    for (name, format) in [("as.zst", "spc"), ("as.bz2", "mqsim"), ("as.csv", "libcachesim")] {
        let converted = place.run(&["trace", "convert", "plain.spc", name, "--to", format]);
        assert_eq!(converted.status, 0, "{}", converted.stderr);
    }
    let whole = figures(&place, &["run", "t.toml", "--json"]);
    let run = |sets: &[&str]| {
        let mut arguments = vec!["run", "t.toml", "--json"];
        sets.iter().for_each(|set| arguments.extend(["--set", set]));
        figures(&place, &arguments)
    };
    for name in ["plain.spc.gz", "as.zst", "as.bz2", "as.csv"] {
        assert_eq!(run(&[&format!("workload.path=\"{name}\"")]), whole, "{name}");
    }
    assert_eq!(run(&["workload.path=\"shuffled.spc\"", "workload.reorder=\"sort\""])["response_us"]["all"]["count"], 2000);
    assert_eq!(run(&["workload.path=\"first.spc\""]), run(&["workload.limit=1500"]));
    assert_eq!(run(&["workload.reorder=\"sort\""]), whole);
    assert_eq!(run(&["workload.rate_scale=1.0", "workload.start=0"]), whole);
    assert_eq!(figures(&place, &["run", "mix.toml", "--json"])["response_us"], whole["response_us"]);
}

/// Collection never moves more if more of the flash is in reserve.
#[test]
fn more_spare_never_raises_write_amplification() {
    let place = Place::new();
    for victim in ["greedy", "fifo", "random", "d-choices"] {
        let amplification: Vec<f64> = ["0.12", "0.18", "0.25", "0.35", "0.5"]
            .iter()
            .map(|reserved| {
                let (victim, reserved) = (format!("ssd.gc.victim=\"{victim}\""), format!("ssd.geometry.reserved={reserved}"));
                let arguments = [
                    "run",
                    "small.toml",
                    "--json",
                    "--set",
                    &victim,
                    "--set",
                    &reserved,
                    "--set",
                    "ssd.geometry.blocks=128",
                    "--set",
                    "ssd.warm_up.overwrites=3",
                    "--set",
                    "workload.requests=6000",
                    "--set",
                    "workload.read_fraction=0.0",
                ];
                figures(&place, &arguments)["flash"]["write_amplification"].as_f64().unwrap()
            })
            .collect();
        assert!(amplification.is_sorted_by(|a, b| a >= b), "{victim}: {amplification:?}");
    }
}

/// Members that are renumbered give the same figures, each under its new number; with `iwc-sync`, whose members begin in the order of their
/// numbers, nearly.
#[test]
fn renumbered_members_give_permuted_figures() {
    const MEMBERS: u64 = 4;
    let place = Place::new();
    // One request for one member at a time, and bursts in which several have their turn in the same millisecond.
    let lines = |number: &dyn Fn(u64) -> u64| -> String {
        let line = |index: u64| {
            let (member, row) = (index * 7 % MEMBERS, index * 7919 % 400);
            let kind = if index.is_multiple_of(5) { 'r' } else { 'w' };
            format!("0,{},4096,{kind},{}.{:03}\n", 8 * (row * MEMBERS + number(member)), index / 1500, index / 3 * 2 % 1000)
        };
        (0..3000).map(line).collect()
    };
    place.write("one.spc", lines(&|member| member));
    place.write("other.spc", lines(&|member| (member + 3) % MEMBERS));
    place.write(
        "t.toml",
        "array = { members = 4, stripe_unit = \"4KiB\" }\nssd.geometry = { dies = 2, planes = 1, blocks = 64, pages = 16 }\nssd.warm_up.overwrites = 0\n\
         workload = { path = \"one.spc\", reorder = \"sort\" }\ncache.size = \"512KiB\"",
    );
    for policy in ["none", "iwc", "iwc-sync"] {
        let run = |path: &str| {
            let (path, policy) = (format!("workload.path=\"{path}\""), format!("cache.policy={policy}"));
            figures(&place, &["run", "t.toml", "--json", "--set", &path, "--set", &policy])
        };
        let (one, other) = (run("one.spc"), run("other.spc"));
        let mean = |report: &Value| report["response_us"]["all"]["mean"].as_f64().unwrap();
        assert!(mean(&one) > 0.0, "{policy}");
        if policy == "iwc-sync" {
            let difference = (mean(&one) / mean(&other) - 1.0).abs();
            assert!(difference < 0.01, "{difference}");
            continue;
        }
        assert_eq!(one["response_us"], other["response_us"], "{policy}");
        assert_eq!(one["flash"], other["flash"], "{policy}");
    }
}
