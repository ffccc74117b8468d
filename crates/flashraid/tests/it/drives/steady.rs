//! Compares runs that begin in the steady state of uniform random writes with runs after long overwriting.

use flashraid::config::{Preset, PresetKind, all_presets, scenario_from_toml};
use flashraid::{Report, Simulation};

use super::DRIVES;

/// One drive of 442,000 mapping units, or fewer with a larger reserve, under a closed loop of single pages. It has one kind of pages, and
/// no suspension unless a case has it, as in the table of docs/drives.md.
const LOAD: [(&str, &str); 13] = [
    ("array.level", "single"),
    ("array.members", "1"),
    ("ssd.geometry.blocks", "960"),
    ("ssd.geometry.pages", "144"),
    ("ssd.geometry.reserved", "0.2"),
    ("ssd.superblock.page_reads", "[]"),
    ("ssd.gc.preemption", "none"),
    ("cache.policy", "none"),
    ("workload.kind", "synthetic"),
    ("workload.read_fraction", "0"),
    ("workload.size", "4KiB"),
    ("workload.arrivals", "{ process = \"closed\", depth = 32 }"),
    ("workload.requests", "60000"),
];

type Settings<'a> = &'a [(&'a str, &'a str)];

fn simulation(settings: Settings<'_>, more: Settings<'_>) -> Simulation<'static> {
    let all = LOAD.iter().chain(settings).chain(more);
    all.fold(Simulation::from_toml(DRIVES).unwrap(), |simulation, (key, value)| simulation.set(key, value).unwrap())
}

/// Returns a closed loop of single units on one drive of a preset.
fn preset(name: &str, more: Settings<'_>) -> Simulation<'static> {
    let text = format!("[array]\nlevel = \"single\"\n[ssd]\npreset = \"{name}\"\n[workload]\nkind = \"synthetic\"\nread_fraction = 0\n");
    let simulation = Simulation::from_toml(&text).unwrap().set("workload.arrivals", "{ process = \"closed\", depth = 64 }").unwrap();
    more.iter().fold(simulation, |simulation, (key, value)| simulation.set(key, value).unwrap())
}

/// Returns the write amplification, and the mean and the 99th percentile of the response time in microseconds.
fn figures(report: &Report) -> [f64; 3] {
    let response = &report.response_us.all;
    [report.drive.as_ref().unwrap().write_amplification.unwrap(), response.mean.unwrap(), response.p99.unwrap()]
}

/// Returns the figures of a run with these settings. With `overwritten`, a pattern first overwrites the capacity so many times. Without,
/// the run begins in the default state.
fn run(settings: Settings<'_>, overwritten: Option<(&str, &str)>) -> [f64; 3] {
    let warm_up = overwritten.map(|(pattern, overwrites)| [("ssd.warm_up.pattern", pattern), ("ssd.warm_up.overwrites", overwrites)]);
    figures(&simulation(settings, warm_up.as_ref().map_or(&[], |warm_up| warm_up)).run().unwrap())
}

/// Under uniform writes, a run from the steady state has the same figures as after overwriting the drive five times. This holds with any
/// spare area, with parity, with suspension, and with superblocks of one bit per cell.
#[test]
fn steady_is_what_overwriting_comes_to() {
    let cases: [(Settings<'_>, &str); 7] = [
        (&[("ssd.geometry.reserved", "0.12")], "random"),
        (&[], "random"),
        (&[("ssd.geometry.reserved", "0.35")], "random"),
        // On two dies, parity takes half of each superblock, so that this reserve leaves three superblocks in ten to garbage.
        (&[("ssd.geometry.reserved", "0.65"), ("ssd.superblock.rain", "true")], "random"),
        (&[("ssd.gc.preemption", "suspend"), ("workload.read_fraction", "0.5")], "random"),
        (&[("ssd.slc", "{ mode = \"dynamic\", share = 0.3, program = \"100us\", read = \"20us\" }")], "workload"),
        (&[("ssd.slc", "{ mode = \"static\", share = 0.05, program = \"100us\", read = \"20us\" }")], "workload"),
    ];
    for (settings, pattern) in cases {
        let (steady, overwritten) = (run(settings, None), run(settings, Some((pattern, "5"))));
        for ((of_steady, of_overwritten), within) in steady.iter().zip(overwritten).zip([0.02, 0.03, 0.08]) {
            assert!((of_steady / of_overwritten - 1.0).abs() < within, "{settings:?}: {steady:?} {overwritten:?}");
        }
        assert_eq!(simulation(settings, &[]).check().unwrap().own_write_amplification, None, "{settings:?}");
    }
}

/// Returns the write amplification of short runs over that of long runs, as a mean over `seeds`. Both begin in the steady state. Short runs
/// write sixteen superblocks of `superblock_requests` requests, and all of it counts. Of long runs, the last quarter counts.
fn short_over_long(of: &dyn Fn(Settings<'_>) -> Simulation<'static>, superblock_requests: u64, seeds: std::ops::Range<u64>) -> f64 {
    let requests = 16 * superblock_requests;
    let (short, long, skipped) = (requests.to_string(), (4 * requests).to_string(), (3 * requests).to_string());
    let report = |settings: Settings<'_>| of(settings).run().unwrap();
    // Seven tenths of what the drive serves at most.
    let mean_gap_ns = 1e9 / 0.7 / report(&[("workload.requests", &short)]).iops.all.unwrap();
    let arrivals = format!("{{ process = \"poisson\", mean_gap = \"{}ns\" }}", mean_gap_ns as u64);
    let count = seeds.clone().count() as f64;
    let ratio = |seed: u64| {
        let seed = seed.to_string();
        let load = [("workload.arrivals", arrivals.as_str()), ("seed", seed.as_str())];
        let [of_short, ..] = figures(&report(&[&load[..], &[("workload.requests", &short)]].concat()));
        let more = [("workload.requests", long.as_str()), ("report.skip_requests", skipped.as_str())];
        let [of_long, ..] = figures(&report(&[&load[..], &more].concat()));
        of_short / of_long
    };
    seeds.map(ratio).sum::<f64>() / count
}

/// A run from the steady state has the write amplification that a long run comes to, from its first write on.
#[test]
fn a_short_run_costs_what_a_long_one_does() {
    for settings in [&[("ssd.geometry.reserved", "0.12")][..], &[], &[("ssd.gc.victim", "fifo")]] {
        let ratio = short_over_long(&|more| simulation(settings, more), 576, 1..9);
        assert!((ratio - 1.0).abs() < 0.01, "{settings:?}: {ratio}");
    }
}

#[test]
#[ignore = "long runs of all presets: make test-long"]
fn short_runs_of_all_presets_cost_what_long_ones_do() {
    let mut ratios = Vec::new();
    let is_drive = |preset: &Preset| preset.kind == PresetKind::Device && preset.toml_text.contains("[superblock]");
    for device in all_presets().into_iter().filter(is_drive) {
        let text = format!("[ssd]\npreset = \"{}\"\n[workload]\nkind = \"synthetic\"\nrequests = 1\n", device.name);
        let ssd = scenario_from_toml("all.toml", &text, &[], None).unwrap().array.ssd;
        let own = ssd.superblock.as_ref().unwrap();
        let size = format!("{}B", ssd.geometry.page_bytes * own.pages_per_mapping_unit);
        let units = own.shape(&ssd.geometry).data_mapping_units_per_superblock();
        let of = |more: Settings<'_>| preset(&device.name, &[&[("workload.size", size.as_str())], more].concat());
        let ratio = short_over_long(&of, u64::from(units), 1..3);
        ratios.push((device.name, ratio));
    }
    assert!(ratios.iter().all(|(_, ratio)| (ratio - 1.0).abs() <= 0.01), "{ratios:?}");
}

/// Writes are not quite uniform with parity of the array, or with large requests. The figures differ by less than a tenth.
#[test]
fn parity_and_large_requests_differ_little() {
    let cases: [Settings<'_>; 2] = [
        &[("array.members", "4"), ("array.level", "raid5"), ("ssd.geometry.blocks", "480"), ("workload.requests", "40000")],
        &[("workload.size", "128KiB"), ("workload.requests", "6000")],
    ];
    for settings in cases {
        let (steady, overwritten) = (run(settings, None), run(settings, Some(("workload", "5"))));
        for (of_steady, of_overwritten) in steady.iter().zip(overwritten) {
            assert!((of_steady / of_overwritten - 1.0).abs() < 0.1, "{settings:?}: {steady:?} {overwritten:?}");
        }
    }
}

/// Other workloads have another steady state of their own. For them `check` tells the write amplification of that state, and warns if it is
/// far off.
#[test]
fn a_check_tells_how_far_from_the_own_state_a_run_begins() {
    let cases: [(Settings<'_>, bool); 6] = [
        (&[("workload.address", "{ pattern = \"uniform\", footprint = 0.5 }")], true),
        (&[("workload.address", "{ pattern = \"uniform\", footprint = 0.1 }")], true),
        (&[("workload.sequential_fraction", "1")], true),
        (&[("workload.sequential_fraction", "0.5")], false),
        (&[("workload.address", "{ pattern = \"hot-cold\", request_share = 0.95, space_share = 0.05 }")], true),
        (&[("workload.address", "{ pattern = \"zipf\" }")], true),
    ];
    for (settings, warns) in cases {
        let check = simulation(settings, &[]).check().unwrap();
        let ([begins_with, ..], [own, ..]) = (run(settings, None), run(settings, Some(("workload", "6"))));
        // The buffer absorbs repeated writes to popular pages. This lowers both figures by the same share, so the test compares their
        // ratio.
        let said = check.own_write_amplification.unwrap() / check.gc.write_amplification;
        assert!((said / (own / begins_with) - 1.0).abs() < 0.09, "{settings:?}: said {said}, found {own} / {begins_with}");
        let is_warned = check.warnings.iter().any(|warning| warning.contains("ssd.warm_up.pattern = \"workload\""));
        assert_eq!(is_warned, warns, "{settings:?}: {own} {:?}", check.warnings);
        let by_workload = simulation(settings, &[("ssd.warm_up.pattern", "workload")]).check().unwrap();
        assert_eq!(by_workload.own_write_amplification, None);
    }
}

/// The command `check` estimates the write amplification of a trace from the share of the space that is written, and from what is trimmed.
#[test]
fn a_check_tells_it_of_traces_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.csv");
    let check = |blocks: u64, trims: bool| {
        let line = |at: u64| {
            let op = if trims && at.is_multiple_of(4) { "trim" } else { "write" };
            // Each line writes a range of 64 pages. The ranges do not overlap, and cover `blocks` × 64 pages.
            format!("0.{at:06},{},262144,{op}\n", at * 37 % blocks * 512)
        };
        std::fs::write(&path, "time,obj_id,size,op\n".to_owned() + &(0..12_000).map(line).collect::<String>()).unwrap();
        let simulation = Simulation::from_toml(&DRIVES[..DRIVES.find("[workload]").unwrap()]).unwrap();
        let more = [("workload.path", path.to_str().unwrap()), ("workload.time_unit", "s"), ("workload.address_fit", "wrap")];
        let settings = LOAD[..6].iter().chain(&more);
        settings.fold(simulation, |simulation, (key, value)| simulation.set(key, value).unwrap()).check().unwrap()
    };
    let (all, tenth, trimmed) = (check(6912, false), check(691, false), check(6912, true));
    let own = |check: &flashraid::check::CheckReport| check.own_write_amplification.unwrap();
    assert!((own(&all) / all.gc.write_amplification - 1.0).abs() < 0.02, "{} {}", own(&all), all.gc.write_amplification);
    assert!(own(&tenth) < 1.1 && tenth.warnings.iter().any(|warning| warning.contains("begins")), "{}", own(&tenth));
    assert!(own(&trimmed) < 0.8 * own(&all), "{}", own(&trimmed));
}
