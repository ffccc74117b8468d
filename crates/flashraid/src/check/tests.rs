//! Checks compared with figures that are known from elsewhere.

use super::*;
use crate::config;

fn checked(text: &str) -> CheckReport {
    check_scenario(&config::scenario_from_toml("test.toml", text, &[], None).unwrap_or_else(|problems| panic!("{problems}")))
}

#[test]
fn the_main_job() {
    let report = checked("");
    // The reference simulator has a write amplification of 4.75 under 4 KiB random writes, and a prototype 50 pages and 12.7 ms per clean.
    assert!((report.gc.write_amplification / 4.75 - 1.0).abs() < 0.03, "{}", report.gc.write_amplification);
    assert!((report.gc.pages_moved_per_clean - 50.0).abs() < 1.0, "{}", report.gc.pages_moved_per_clean);
    assert!((report.gc.clean_us / 12_700.0 - 1.0).abs() < 0.05, "{}", report.gc.clean_us);
    assert_eq!(report.first_collection, FirstCollectionEstimate::AtOnce);
    let load = report.load.unwrap();
    assert!(!load.is_saturated && load.dies_with_gc > load.dies_without_gc);
    insta::assert_snapshot!(checked("").to_string());
}

#[test]
fn memory_is_what_the_members_take() {
    let scenario = config::scenario_from_toml("test.toml", "[ssd.geometry]\ndies = 2\nblocks = 64\npages = 48\n", &[], None).unwrap();
    let ssd = flashraid_model::ssd::SsdParams { ..scenario.array.ssd.clone() };
    let resident = flashraid_model::space::Mapping::new_filled(&ssd.mapping_params(), 1, 0).simulator_memory_bytes();
    let expected = memory::bytes_of_ssd(&ssd);
    assert!(expected.abs_diff(resident) < resident / 50, "{expected} {resident}");
}

#[test]
fn collection_begins_when_the_reserve_is_used_up() {
    // With 64 blocks, 9 reserved, and start at 3, collection begins after 9 − 1 − 3 blocks of 63 pages in each of 8 pools.
    let text = "array.level = \"single\"\n[ssd]\nwarm_up.overwrites = 0\n[ssd.geometry]\ndies = 4\nplanes = 2\nblocks = 64\n[workload]\npreset = \"random-write\"\n";
    let pages = 5 * 63 * 8;
    let report = checked(&format!("{text}requests = 100000\n"));
    assert_eq!(report.first_collection, FirstCollectionEstimate::After { pages_per_member: pages, seconds: None });
    let report = checked(&format!("{text}requests = 1000\n"));
    assert_eq!(report.first_collection, FirstCollectionEstimate::Never { pages_per_member: pages });
    assert!(report.warnings.iter().any(|warning| warning.contains("no garbage will be collected")));
    let report = checked(&text.replace("overwrites = 0", "load = \"x\""));
    assert_eq!(report.first_collection, FirstCollectionEstimate::Unknown);
}

#[test]
fn idle_reads_need_exactly_their_time() {
    // The load is 1000 reads/s of one page on 64 dies: 1000 × 130.6 µs / 64.
    let report = checked(
        "array.level = \"single\"\n[workload]\nkind = \"synthetic\"\nread_fraction = 1\nsize = \"4KiB\"\narrivals = { process = \"fixed\", gap = \"1ms\" }\n",
    );
    let load = report.load.unwrap();
    assert!((load.dies_with_gc.unwrap() - 0.1306 / 64.0).abs() < 1e-9);
    assert!((load.requests_per_s_max.unwrap() - 64.0 / 130.6e-6).abs() < 1.0);
}

#[test]
fn no_more_requests_are_examined_than_the_run_sends() {
    let closed = "kind = \"synthetic\"\nsize = \"4KiB\"\narrivals = { process = \"closed\", depth = 4 }\n";
    let poisson = "kind = \"synthetic\"\nsize = \"4KiB\"\narrivals = { process = \"poisson\", mean_gap = \"1ms\" }\n";
    for (load, limit, most) in [
        (poisson, "duration = \"20ms\"", None),
        (poisson, "duration = \"20ms\"\nrequests = 7", Some(7)),
        (poisson, "duration = \"20ms\"\nlimit = 5", Some(5)),
        (closed, "duration = \"20ms\"", Some(sample::REQUESTS)),
    ] {
        let text = format!("[ssd.geometry]\ndies = 1\nblocks = 64\n[workload]\n{load}{limit}\n");
        let sampled = checked(&text).workload.unwrap().requests;
        let sent = most.unwrap_or_else(|| crate::Simulation::from_toml(&text).unwrap().run().unwrap().requests.all);
        assert_eq!(sampled, sent, "{limit}");
        assert!(sent > 0);
    }
}

/// A trim tells drives that pages are not needed. They neither read nor write them.
#[test]
fn trims_are_no_load() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.fio");
    std::fs::write(&path, "fio version 3 iolog\n1 /dev/a add\n1 /dev/a open\n1000 /dev/a write 0 4096\n2000 /dev/a trim 4096 1048576\n")
        .unwrap();
    for (level, copies) in [("raid0", 1.0), ("raid10", 2.0)] {
        let text = format!("[array]\nlevel = \"{level}\"\nmembers = 4\n[workload]\nkind = \"trace\"\npath = \"{}\"\n", path.display());
        let sample = checked(&text).workload.unwrap();
        assert_eq!((sample.requests, sample.pages_trimmed_per_request), (2, 128.0));
        assert_eq!((sample.pages_read_per_request, sample.pages_written_per_request), (0.0, copies / 2.0), "{level}");
    }
}

#[test]
fn mirrors_and_skew_count() {
    let workload = "[workload]\nkind = \"synthetic\"\nsize = \"4KiB\"\narrivals = { process = \"fixed\", gap = \"1ms\" }\n";
    let mirrored = checked(&format!("array.level = \"raid10\"\narray.members = 4\n{workload}")).workload.unwrap();
    assert_eq!(mirrored.pages_written_per_request, 2.0);
    assert!((mirrored.busiest_member_share - 0.25).abs() < 0.01);
    let skewed = checked("workload.preset = \"hpc-w-skew\"").workload.unwrap();
    assert!((skewed.busiest_member_share - (0.5 + 0.5 / 8.0)).abs() < 0.03, "{}", skewed.busiest_member_share);
}

/// A read of a page on a RAID-5 of five costs one read, and a write two reads and two writes. A used spare is warmed up, too.
#[test]
fn parity_and_spares_count() {
    let text = |fraction: f64, more: &str| {
        format!(
            "[array]\nlevel = \"raid5\"\nmembers = 5\n{more}[workload]\nkind = \"synthetic\"\nsize = \"4KiB\"\nread_fraction = {fraction}\narrivals = {{ process = \"fixed\", gap = \"1ms\" }}\n"
        )
    };
    let pages = |fraction| checked(&text(fraction, "")).workload.map(|w| (w.pages_read_per_request, w.pages_written_per_request)).unwrap();
    assert_eq!((pages(1.0), pages(0.0)), ((1.0, 0.0), (2.0, 2.0)));
    let failing = |spare: &str| {
        let report = checked(&text(0.0, &format!("failure = {{ member = 0, at = \"1s\" }}\n{spare}")));
        (report.warm_up_pages, report.memory_bytes)
    };
    let (pages, bytes) = failing("");
    assert_eq!(failing("rebuild = { spare = \"blank\" }\n"), (pages, bytes / 5 * 6));
    assert_eq!(failing("rebuild = { }\n"), (pages, bytes / 5 * 6));
    assert_eq!(failing("rebuild = { spare = \"used\" }\n"), (pages / 5 * 6, bytes / 5 * 6));
}

#[test]
fn warnings() {
    let saturated = checked("array.level = \"single\"\nssd.geometry.dies = 2");
    assert!(saturated.load.unwrap().is_saturated);
    assert!(saturated.warnings.iter().any(|warning| warning.contains("saturated")), "{:?}", saturated.warnings);
    let missing = checked("workload.path = \"no/such/trace\"");
    assert!(missing.workload.is_none() && missing.warnings.iter().any(|warning| warning.contains("can't be read")));
    let drift = "[ssd.geometry]\nplanes = 2\nblocks = 64\n[ssd.gc]\nstart = \"4 blocks\"\n";
    assert!(checked(drift).warnings.iter().any(|warning| warning.contains("drift apart")));
    assert!(!checked(&format!("ssd.plane_choice = \"rotate\"\n{drift}")).warnings.iter().any(|warning| warning.contains("drift apart")));
    let loses_a_block = |sealed: bool| {
        let report = checked(&format!("ssd.fill_seals_last_block = {sealed}\n[ssd.geometry]\nplanes = 1\n"));
        report.warnings.iter().any(|warning| warning.contains("a block of each die is never collected"))
    };
    assert!(loses_a_block(false) && !loses_a_block(true));
    let partial = checked("[workload]\nkind = \"synthetic\"\nsize = \"512B\"\n");
    assert_eq!(partial.workload.unwrap().partial_page_writes, 1.0);
}

#[test]
fn every_preset_can_be_checked() {
    for preset in config::all_presets().iter().filter(|preset| preset.kind != config::PresetKind::Workload) {
        let section = if preset.kind == config::PresetKind::Device { "ssd" } else { "array" };
        let report = checked(&format!("{section}.preset = \"{}\"\n", preset.name));
        assert!(report.gc.write_amplification > 1.0 && report.gc.write_amplification.is_finite());
        assert!(!report.to_string().is_empty() && serde_json::to_string(&report).is_ok());
    }
}

/// Returns the write amplification that a member really has while random writes run over a device at its working level.
fn measured(scenario: &config::Scenario) -> f64 {
    use flashraid_model::ids::{DieId, Lpn};
    let ssd = &scenario.array.ssd;
    let mut ftl = flashraid_model::space::Mapping::new_filled(&ssd.mapping_params(), 1, 0).into_pools().expect("the device has pools");
    let exported = ssd.geometry.exported_pages_per_die();
    let mut stream = flashraid_model::rng::stream(1, "check.theory", 0);
    let (mut moved, mut written) = (0_u64, 0_u64);
    for write in 0..6 * u64::from(exported) {
        while let Some((pool, victim)) = ftl.next_victim(DieId(0), 0) {
            let work = ftl.clean(DieId(0), pool, victim);
            moved += if write >= 3 * u64::from(exported) { u64::from(work.pages_moved) } else { 0 };
        }
        let lpn = Lpn(flashraid_model::rng::below(&mut stream, u64::from(exported)) as u32);
        let pool = ftl.choose_pool_for_write(DieId(0), lpn, 0).expect("after the cleans there is room");
        ftl.write(DieId(0), pool, lpn);
        written += u64::from(write >= 3 * u64::from(exported));
    }
    (written + moved) as f64 / written as f64
}

#[test]
fn theory_agrees_with_the_flash_translation_layer() {
    for reserved in ["7%", "12%", "20%", "28%"] {
        for victim in ["greedy", "fifo", "random"] {
            let text = format!(
                "array.level = \"single\"\n[ssd]\nsummary_page = false\n[ssd.geometry]\ndies = 1\nplanes = 1\nblocks = 1024\nreserved = \"{reserved}\"\n[ssd.gc]\nstart = \"2 blocks\"\nvictim = \"{victim}\"\n"
            );
            let scenario = config::scenario_from_toml("test.toml", &text, &[], None).unwrap_or_else(|problems| panic!("{problems}"));
            let (expected, measured) = (check_scenario(&scenario).gc.write_amplification, measured(&scenario));
            assert!((expected / measured - 1.0).abs() < 0.03, "{reserved} {victim}: theory {expected}, measured {measured}");
        }
    }
}

/// The figures of the main job were computed by hand. Each die gets 95.5 written pages a second, and a clean of 12.74 ms gains 14.
#[test]
fn the_main_job_in_turns() {
    let near = |found: f64, expected: f64, tolerance: f64| assert!((found / expected - 1.0).abs() < tolerance, "{found} {expected}");
    let report = checked("coordination.scheme = \"windows\"");
    let turns = report.turns.as_ref().unwrap();
    assert_eq!((turns.clean_free_blocks, turns.window_ms), (50, 100.0));
    near(turns.buffer_ms, 15.66, 0.001);
    // Four pools with 25 blocks of 63 pages last for seven other turns.
    near(turns.window_max_ms.unwrap(), 9400.0, 0.02);
    near(turns.window_min_ms, 28.4, 0.01);
    near(turns.pages_gained_in_turn.unwrap(), 98.0, 0.06);
    near(turns.pages_written_in_round.unwrap(), 76.0, 0.02);
    assert!(report.to_string().contains("turns to collect"), "{report}");
    // Turns may be too long, and too short.
    let warned = |window: &str| checked(&format!("[coordination]\nscheme = \"windows\"\nwindow = \"{window}\"")).warnings.join("\n");
    assert!(warned("10s").contains("free blocks last for turns of up to"), "{}", warned("10s"));
    assert!(warned("20ms").contains("a clean and the buffer take"), "{}", warned("20ms"));
    assert!(!warned("1s").contains("turn"), "{}", warned("1s"));
    assert_eq!(turns.deterministic_windows, None);
}

#[test]
fn the_main_job_in_windows_of_nvme() {
    let of = |keys: &str| checked(&format!("[coordination]\nscheme = \"windows\"\nprotocol = \"nvme\"\n{keys}"));
    let report = of("dtwin_time_maximum = \"2s\"\ndtwin_writes_typical = 100\nndwin_time_minimum_high = \"400ms\"");
    let windows = report.turns.as_ref().and_then(|turns| turns.deterministic_windows.as_ref()).unwrap();
    // Eight members with turns of 100 ms, which restore a quarter.
    assert_eq!((windows.length_ms, windows.restored_ms, windows.restored_writes), (700.0, Some(500.0), Some(25.0)));
    let (written, round) = (windows.writes.unwrap(), report.turns.as_ref().unwrap().pages_written_in_round.unwrap());
    assert!((written / (round * 64.0 * 7.0 / 8.0) - 1.0).abs() < 0.001, "{written} {round}");
    let warnings = report.warnings.join("\n");
    assert!(warnings.contains("a turn restores 500.0000 ms of coordination.dtwin_time_maximum"), "{warnings}");
    assert!(warnings.contains("a turn restores 25 of coordination.dtwin_writes_typical"), "{warnings}");
    assert!(report.to_string().contains("deterministic windows"), "{report}");
    let report = of("dtwin_time_maximum = \"700ms\"");
    assert!(!report.warnings.join("\n").contains("deterministic"), "{:?}", report.warnings);
}

#[test]
fn the_main_job_with_leave() {
    let report = checked("coordination.scheme = \"stagger\"");
    let leave = report.leave.as_ref().unwrap();
    assert_eq!((leave.ask_at_free_blocks, leave.scope_members, leave.together), (35, 8, 1));
    assert!((leave.load.unwrap() / 0.70 - 1.0).abs() < 0.06, "{:?}", leave.load);
    assert!(report.to_string().contains("1 of 8 members at a time"), "{report}");
    // At a higher rate some have to collect unasked.
    let report = checked("[coordination]\nscheme = \"stagger\"\n[workload]\narrivals = { process = \"poisson\", mean_gap = \"800/s\" }");
    assert!(report.warnings.iter().any(|warning| warning.contains("some will collect unasked")), "{:?}", report.warnings);
    let report = checked("[array]\nlevel = \"raid10\"\n[coordination]\nscheme = \"stagger\"\ntogether = 2");
    let leave = report.leave.as_ref().unwrap();
    assert_eq!((leave.scope_members, leave.together), (2, 2));
    // Where all may collect, none is kept waiting.
    assert!(!report.warnings.iter().any(|warning| warning.contains("come away")), "{:?}", report.warnings);
}

#[test]
fn pools_that_begin_where_collection_must_begin() {
    let warned = |text: &str| {
        let report = checked(text);
        let is_warned = report.warnings.iter().any(|warning| warning.contains("may never come away from there"));
        (report.leave.map(|leave| leave.begins_at_start), is_warned)
    };
    assert_eq!(warned("coordination.scheme = \"stagger\""), (Some(true), true));
    assert_eq!(warned("coordination.scheme = \"windows\""), (None, false));
    // After the fill alone, all reserved blocks are free.
    let filled = "[ssd.warm_up]\npattern = \"random\"\noverwrites = 0\n";
    assert_eq!(warned(&format!("{filled}[coordination]\nscheme = \"stagger\"")), (Some(false), false));
    assert!(!warned("[array]\nlevel = \"raid10\"\n[coordination]\nscheme = \"stagger\"\ntogether = 2").1);
}
