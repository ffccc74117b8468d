//! Tests of the results of correct configurations.

use flashraid_model::coordination::JointCollectionRequestTiming;
use proptest::prelude::*;

use super::*;
use flashraid_model::space::victim::CostBenefit;
use flashraid_model::ssd;
use flashraid_workload::units::{Duration, Fraction};
use flashraid_workload::{SourceSpec, catalogue};

/// A grid over the mode of preemption sets its options for every point, `none` included.
#[test]
fn options_of_preemption_without_preemption_are_warned_of() {
    let text = "[ssd.gc]\npipeline = true\nmerge = true\nreorder = true\nt_hard = 0.2\nsuspend_ns = 7\n";
    let keys = |mode: &str| {
        let sets = [("ssd.gc.preemption".to_string(), mode.to_string())];
        let scenario = scenario_from_toml("test.toml", text, &sets, None).unwrap();
        let warnings = scenario.warnings.iter().filter(|w| w.contains("has no effect without"));
        warnings.map(|w| w.split(' ').next().unwrap()["ssd.gc.".len()..].to_string()).collect::<Vec<_>>()
    };
    assert_eq!(keys("none"), ["pipeline", "merge", "reorder", "t_hard", "suspend_ns"]);
    assert_eq!(keys("semi"), ["suspend_ns"]);
    assert!(keys("suspend").is_empty());
}

/// Booleans keep their meaning, and the variation has a name.
#[test]
fn pipelining_is_off_on_or_in_flight() {
    let of = |value: &str| {
        let gc = good(&format!("[ssd.gc]\npreemption = \"semi\"\npipeline = {value}\n")).array.ssd.gc;
        gc.preemption.expect("it is set").pipeline
    };
    assert_eq!(of("false"), ssd::HostOverlapWithMoves::NoOverlap);
    assert_eq!(of("true"), ssd::HostOverlapWithMoves::RequestsWaitingAtStepStart);
    assert_eq!(of("\"in-flight\""), ssd::HostOverlapWithMoves::RequestsWaitingOrArrivingDuringStep);
}

#[test]
fn members_that_are_slow_for_a_time() {
    use flashraid_model::array::SlowMemberPeriod;
    let slow = |text: &str| good(text).array.slow;
    let time = |ns| Duration { ns };
    let always = SlowMemberPeriod {
        member: 3,
        from: time(0),
        until: None,
        factor: 10.0,
        add: time(0),
        share: Fraction(0.05),
        stall: None,
        every: None,
    };
    assert_eq!(slow("[array.slow]\nmember = 3\nfactor = 10\nshare = 0.05\n"), [always]);
    let text = "[[array.slow]]\nmember = 1\nuntil = \"1s\"\nadd = \"2ms\"\n[[array.slow]]\nmember = 1\nfrom = \"1s\"\nstall = \"5ms\"\nevery = \"1s\"\n";
    let second = time(1_000_000_000);
    let added = SlowMemberPeriod { member: 1, until: Some(second), factor: 1.0, add: time(2_000_000), share: Fraction(1.0), ..always };
    let stalls = SlowMemberPeriod { from: second, until: None, add: time(0), stall: Some(time(5_000_000)), every: Some(second), ..added };
    assert_eq!(slow(text), [added, stalls]);
}

/// Each remedy was refused in earlier versions for one of these, all at once here (rules 90 to 109).
#[test]
fn remedies_exclude_nothing() {
    let drive = "[ssd]\nallocation = \"dynamic\"\ntransfer = \"channel\"\nchannel.dies_per_channel = 8\n";
    let gc = "[ssd.gc]\nstart = \"8 blocks\"\npreemption = \"suspend\"\nblocking = \"plane\"\nidle = \"1ms\"\n";
    let scenario = good(&format!("{drive}{gc}[coordination]\nscheme = \"proactive-idle\"\n[cache]\npolicy = \"lawc\"\n"));
    assert!(scenario.warnings.is_empty(), "{:?}", scenario.warnings);
    let ideal = good(&format!("{drive}{gc}[coordination]\nscheme = \"ideal\"\n")).warnings;
    assert_eq!(ideal.iter().filter(|warning| warning.contains("has no effect with coordination.scheme")).count(), 3, "{ideal:?}");
}

#[test]
fn keys_that_differ_from_the_preset_are_known() {
    let changed = |text: &str| {
        let scenario = read(text).unwrap();
        let named = catalogue::find_workload(scenario.config.workload.preset.as_deref().unwrap()).unwrap();
        (scenario.workload != named.spec).then(|| changed_workload_keys(&scenario.config.workload, &named.spec))
    };
    for preset in ["hpc-w", "hpc-w-burst-h", "cello", "tpc-h", "pgc-synthetic"] {
        assert_eq!(changed(&format!("[workload]\npreset = \"{preset}\"\nrequests = 5\n")), None);
    }
    let text = "[workload]\nrate_scale = 2\nsize = \"8KiB\"\n";
    assert_eq!(changed(text).unwrap(), ["rate_scale", "size"]);
}

#[test]
fn traces_take_a_share_of_high_priority_writes() {
    let text = "[workload]\nkind = \"trace\"\npath = \"t.spc\"\nhigh_priority_fraction = 0.25\n";
    assert_eq!(read(text).unwrap().workload.transform.high_priority_fraction, 0.25);
    let text = "[workload]\nkind = \"synthetic\"\nhigh_priority_fraction = 0.25\n";
    assert_eq!(read(text).unwrap().workload.transform.high_priority_fraction, 0.0);
}

#[test]
fn an_empty_file_is_the_main_job() {
    let scenario = good("");
    assert_eq!((scenario.array.members, scenario.array.stripe_unit_pages), (8, 1));
    assert_eq!(scenario.run_limit.max_requests, Some(DEFAULT_REQUESTS));
    assert_eq!(scenario.workload, catalogue::find_workload("hpc-w").unwrap().spec);
    assert_eq!(scenario.seed, 1);
}

/// A grid over the policy compares caches that are equal in everything else.
#[test]
fn another_policy_keeps_the_other_keys_of_the_cache() {
    let text = "[cache]\npolicy = \"lawc\"\nsize = \"1MiB\"\nlow = 0.5\nin_flight = 4\n";
    let sets = [("cache.high".to_string(), "0.6".to_string()), ("cache.policy".to_string(), "wow".to_string())];
    let cache = scenario_from_toml("test.toml", text, &sets, None).unwrap().array.cache.unwrap();
    assert_eq!(
        (
            cache.stripe_and_member_caches,
            cache.dirty_stripe_cache_capacity_pages,
            cache.destage_start_fill,
            cache.full_speed_destage_fill_fraction,
            cache.destages_in_flight_max
        ),
        (flashraid_model::cache::WowCache::STRIPE_AND_MEMBER_CACHES, 256, 0.5, 0.6, 4)
    );
}

#[test]
fn caches_share_out_their_size_as_the_paper_does() {
    use flashraid_model::cache::LayoutAwareWriteCache;
    let cache = |array: &str, policy: &str, more: &str| {
        good(&format!("array.preset = \"{array}\"\n[cache]\npolicy = \"{policy}\"\n{more}")).array.cache.unwrap()
    };
    // LAWC Table 2 in pages of 4 KiB has 64 KiB in front and 24 KiB for each of eight members. For nine, it is 72 KiB and 24 KiB.
    let pages = |array, policy| {
        let cache = cache(array, policy, "");
        (cache.dirty_stripe_cache_capacity_pages, cache.member_cache_pages)
    };
    assert_eq!([pages("lawc-raid0-8", "lawc"), pages("lawc-raid5-9", "lawc")], [(16, 6), (18, 6)]);
    assert_eq!([pages("lawc-raid0-8", "wow"), pages("lawc-raid5-9", "stow")], [(64, 0), (72, 0)]);
    assert_eq!([pages("lawc-raid0-8", "iwc"), pages("lawc-raid5-9", "iwc-sync")], [(0, 8); 2]);

    let by_default = cache("lawc-raid0-8", "lawc", "");
    assert_eq!(
        (
            by_default.stripe_and_member_caches,
            by_default.destage_start_fill,
            by_default.full_speed_destage_fill_fraction,
            by_default.destages_in_flight_max
        ),
        (LayoutAwareWriteCache::STRIPE_AND_MEMBER_CACHES, 0.0, 0.0, 1)
    );
    assert_eq!(
        (by_default.nvm_page_read_ns, by_default.nvm_page_write_ns, by_default.destage_wait_for_other_members_max_ns),
        (125, 1000, 1_000_000)
    );
    let other = cache("lawc-raid0-8", "wow", "size = \"1MiB\"\nlow = \"80%\"\nhigh = 0.9\nin_flight = 20\nnvm_write = \"0ns\"\n");
    assert_eq!(
        (
            other.dirty_stripe_cache_capacity_pages,
            other.destage_start_fill,
            other.full_speed_destage_fill_fraction,
            other.destages_in_flight_max,
            other.nvm_page_write_ns
        ),
        (256, 0.8, 0.9, 20, 0)
    );
    assert_eq!(cache("lawc-raid0-8", "wow", "low = 0.5\n").full_speed_destage_fill_fraction, 0.5, "at its full rate above");

    assert!(good("").array.cache.is_none());
    let warnings = good("[cache]\npolicy = \"iwc\"\nfirst_level_fraction = 0.1\nsync_timeout = \"2ms\"\n").warnings;
    assert_eq!(warnings.iter().filter(|warning| warning.contains("does not use it")).count(), 2, "{warnings:?}");
    assert_eq!(good("cache.size = \"1MiB\"\n").warnings.len(), 1);
}

#[test]
fn levels_with_parity_and_a_member_that_fails() {
    use flashraid_model::array::{InitialSpareState, MemberFailure, RaidLevel, RebuildParams, Rebuilding};
    let plain = |level: &str| good(&format!("array.level = \"{level}\"\n")).array;
    assert_eq!([plain("raid4").members, plain("raid5").members, plain("raid6").members], [9, 9, 10]);
    // There are eight members for data in each.
    assert_eq!(plain("raid6").layout().exported_pages(), plain("raid0").layout().exported_pages());

    let text = "[array]\npreset = \"lawc-raid5-9\"\n[array.failure]\nmember = 2\nat = \"10s\"\n";
    assert_eq!(good(text).array.failures, [MemberFailure { member: 2, at: Duration { ns: 10_000_000_000 } }]);
    let rebuild = |more: &str| good(&format!("{text}[array.rebuild]\n{more}")).array.rebuild.unwrap();
    // This is a strip of 128 KiB at 100 MB/s.
    let by_default = RebuildParams {
        strip_interval_min_ns: 1_310_720,
        settings: Rebuilding { delay: Duration { ns: 0 }, in_flight: 1, spares: 1, spare: InitialSpareState::Blank, finish: false },
    };
    assert_eq!(rebuild(""), by_default);
    let other = RebuildParams {
        strip_interval_min_ns: 131_072_000_000,
        settings: Rebuilding {
            delay: Duration { ns: 5 },
            in_flight: 3,
            spares: 2,
            spare: InitialSpareState::WarmedUpByOverwrites,
            finish: true,
        },
    };
    assert_eq!(rebuild("rate = \"1kB/s\"\ndelay = \"5ns\"\nin_flight = 3\nspares = 2\nspare = \"used\"\nfinish = true\n"), other);
    assert_eq!(good("array.level = \"raid4\"\n").array.level, RaidLevel::Raid4);
    let several = "array.level = \"raid6\"\n[[array.failure]]\nmember = 2\nat = \"10s\"\n[[array.failure]]\nmember = 0\nat = \"1s\"\n";
    let array = good(&format!("{several}[array.rebuild]\nspares = 3\n")).array;
    assert_eq!(array.failures_in_time_order().iter().map(|failure| failure.member).collect::<Vec<_>>(), [0, 2]);
    assert_eq!((array.spares_and_state(), array.warmed_up_spares()), ((2, Some(InitialSpareState::Blank)), 0));

    let warnings = good("array.rebuild.rate = \"1MB/s\"\n").warnings;
    assert!(warnings.iter().any(|warning| warning.contains("array.rebuild has no effect")), "{warnings:?}");
}

#[test]
fn the_papers_devices_have_the_figures_of_the_reference() {
    let device = |name: &str| good(&format!("array.level = \"single\"\nssd.preset = \"{name}\"\n")).array.ssd;
    let ggc = device("ggc2014");
    // These are 64 dies × 4 planes × (512 − 76) blocks × 63 pages.
    assert_eq!(ggc.exported_pages(), 7_031_808);
    assert_eq!(ggc.gc.start_threshold_free_blocks, 25);
    let pgc = device("pgc2011");
    assert_eq!(pgc.exported_pages(), 7_019_712);
    assert_eq!((pgc.gc.start_threshold_free_blocks, pgc.gc.stop_threshold_free_blocks), (102, 103));
    for ssd in [&ggc, &pgc] {
        assert_eq!(ssd.timing.page_read.ns + ssd.timing.page_transfer_ns, 130_600);
        assert_eq!(ssd.timing.page_program.ns + ssd.timing.page_transfer_ns, 305_600);
        assert_eq!(ssd.timing.page_program.ns + ssd.timing.block_summary_page_transfer_ns, 213_200);
        assert!(ssd.gc.rules.copy_back && ssd.geometry.has_summary_page && ssd.link.is_none() && ssd.channel.is_none());
    }
    let lawc = device("lawc2017");
    assert_eq!(lawc.geometry.physical_pages() * 4096, 2 << 30);
    // This is ⌊5 % of 2048⌋, counted one too high (rule 130).
    assert_eq!((lawc.gc.start_threshold_free_blocks, lawc.gc.stop_threshold_free_blocks), (101, 103));
    assert_eq!(
        (lawc.gc.gc_algorithm, lawc.gc.rules.pool, lawc.gc.rules.copy_back),
        (ssd::GcAlgorithm::LikeDiskSimWithoutCopyBack, ssd::BlockPoolScope::Die, false)
    );
}

#[test]
fn a_procedure_replaces_what_a_preset_says_and_may_be_taken_back() {
    let gc = |text: &str| good(&format!("ssd.preset = {text}\n")).array.ssd.gc;
    let on_pgc = gc("\"pgc2011\"\nssd.gc.procedure = \"reference-no-copy-back\"");
    assert_eq!(
        (on_pgc.gc_algorithm, on_pgc.rules.pool, on_pgc.rules.copy_back),
        (ssd::GcAlgorithm::LikeDiskSimWithoutCopyBack, ssd::BlockPoolScope::Die, false)
    );
    // This is ⌊5 % of 8 × 2048⌋ blocks.
    assert_eq!((on_pgc.start_threshold_free_blocks, on_pgc.stop_threshold_free_blocks), (818, 820));
    let as_before = gc("\"lawc2017\"\nssd.gc.procedure = \"as-set\"\nssd.gc.pool = \"plane\"");
    assert_eq!(
        (as_before.gc_algorithm, as_before.rules.pool, as_before.rules.copy_back),
        (ssd::GcAlgorithm::VictimByPolicy, ssd::BlockPoolScope::Plane, false)
    );
    assert_eq!((as_before.start_threshold_free_blocks, as_before.stop_threshold_free_blocks), (25, 26));
    // The configuration in a report can be run again.
    let scenario = good("ssd.preset = \"pgc2011\"\nssd.gc.procedure = \"reference-no-copy-back\"\n");
    assert_eq!((scenario.config.ssd.gc.rules.pool, scenario.config.ssd.gc.rules.copy_back), (BlockPoolScope::Die, false));
}

#[test]
fn summaries_can_be_spread_over_all_programs() {
    let spread = good("ssd.preset = \"pgc2011\"\nssd.summary_page = \"spread\"\n").array.ssd;
    assert_eq!(spread.geometry.data_pages_per_block(), 63);
    assert_eq!(spread.timing.with_summary_page_spread_over_programs(&spread.geometry).page_program.ns, 203_384);
    let plain = good("ssd.preset = \"pgc2011\"\n").array.ssd;
    assert_eq!(plain.timing.with_summary_page_spread_over_programs(&plain.geometry).page_program.ns, 200_000);
}

#[test]
fn options_of_other_schemes_have_no_effect_and_are_named() {
    let scenario = good("[coordination]\nscheme = \"reactive-inclusive\"\nt_soft = \"start+4\"\nforce_until = \"watermark\"\n");
    let coordination = scenario.array.coordination.expect("there is a controller");
    assert_eq!((coordination.coordinated_members.0, coordination.scheme.members_report_low_free_blocks()), (0xff, false));
    assert_eq!(scenario.warnings, ["coordination.t_soft is set, but this scheme does not use it"]);
    assert!(good("[coordination]\nforce_until = \"watermark\"\n").array.coordination.is_none());
}

#[test]
fn members_ask_softly_where_the_controller_may_wait() {
    let read = |keys: &str| {
        let scenario = good(&format!("[coordination]\nscheme = \"reactive-inclusive\"\n{keys}"));
        let coordination = scenario.array.coordination.expect("there is a controller");
        (coordination.notify(), coordination.at_idle, coordination.across_dies, scenario.warnings)
    };
    assert_eq!(read(""), (JointCollectionRequestTiming::AtStartThreshold, false, true, vec![]));
    assert_eq!(read("delay = \"1ms\"\nt_soft = \"start+4\"\n"), (JointCollectionRequestTiming::AtSoftThreshold, false, true, vec![]));
    assert_eq!(read("delay = \"1ms\"\nnotify = \"at-start\"\n"), (JointCollectionRequestTiming::AtStartThreshold, false, true, vec![]));
    assert_eq!(
        read("notify = \"soft\"\nat_idle = true\nacross_dies = false\n"),
        (JointCollectionRequestTiming::AtSoftThreshold, true, false, vec![])
    );
    let (.., warnings) = read("at_idle = true\nt_soft = \"start+4\"\n");
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[1].starts_with("coordination.at_idle has no effect with coordination.notify"), "{warnings:?}");
    let local = good("[coordination]\nnotify = \"soft\"\nat_idle = true\nacross_dies = false\n").warnings;
    let named = ["across_dies", "notify", "at_idle"].map(|key| format!("coordination.{key} is set, but this scheme does not use it"));
    assert_eq!(local, named);
    let of_ioda = good("[coordination]\nscheme = \"windows\"\ndtwin_reads_typical = 3\nndwin_time_minimum_low = \"50ms\"\n").warnings;
    let named = ["dtwin_reads_typical", "ndwin_time_minimum_low"];
    assert_eq!(of_ioda, named.map(|key| format!("coordination.{key} has no effect without coordination.protocol = \"nvme\"")));
    let of_nvme = good("[coordination]\nscheme = \"windows\"\nprotocol = \"nvme\"\ndtwin_reads_typical = 3\n").warnings;
    assert!(of_nvme.is_empty(), "{of_nvme:?}");
    let drive = good("ssd.preset = \"nvme-tlc-read\"\ncoordination.scheme = \"reactive-inclusive\"\ncoordination.across_dies = false\n");
    assert!(drive.warnings.iter().any(|warning| warning.contains("superblocks lie on all dies")), "{:?}", drive.warnings);
}

#[test]
fn the_idealised_device_is_one_setting_away() {
    let ideal = good("ssd.transfer = \"none\"\nssd.summary_page = false\n").array.ssd;
    assert_eq!((ideal.timing.page_transfer_ns, ideal.timing.block_summary_page_transfer_ns), (0, 0));
    assert_eq!(ideal.geometry.data_pages_per_block(), 64);
}

#[test]
fn every_preset_loads_and_is_listed_with_its_text() {
    let presets = all_presets();
    for preset in &presets {
        let name = preset.name.split('(').next().unwrap();
        let section = match preset.kind {
            PresetKind::Device => "ssd",
            PresetKind::Array => "array",
            PresetKind::Workload => "workload",
        };
        good(&format!("[{section}]\npreset = \"{name}\"\n"));
        assert!(!preset.summary.is_empty() && preset.toml_text.starts_with("# "), "{name}");
        // The text that `preset show` prints can be pasted into a file.
        let pasted: String = preset.toml_text.lines().map(|line| pasted_line(line, section)).collect();
        let pasted = format!("[{section}]\n{pasted}");
        good(&pasted);
    }
    for name in catalogue::WORKLOAD_NAMES {
        assert!(presets.iter().any(|preset| preset.name == name), "{name}");
    }
}

/// Returns a line of a preset as it stands in a file's section. Headers of tables go below it.
fn pasted_line(line: &str, section: &str) -> String {
    match line.strip_prefix("[[") {
        Some(rest) if line.ends_with("]]") => format!("[[{section}.{rest}\n"),
        _ if line.starts_with('[') && line.ends_with(']') && !line.contains(',') => format!("[{section}.{}\n", &line[1..]),
        _ => format!("{line}\n"),
    }
}

#[test]
fn workload_presets_are_those_of_the_catalogue_to_the_last_bit() {
    for name in catalogue::WORKLOAD_NAMES {
        let name = name.split('(').next().unwrap();
        let scenario = good(&format!("workload.preset = \"{name}\"\n"));
        assert_eq!(scenario.workload, catalogue::find_workload(name).unwrap().spec, "{name}");
    }
    let scenario = good("workload.preset = \"spider(1024,20,60)\"\n");
    assert_eq!(scenario.workload, catalogue::find_workload("spider(1024,20,60)").unwrap().spec);
}

#[test]
fn every_example_loads() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    assert!(files.len() >= 5, "{files:?}");
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("# "), "{} opens with what it shows", file.display());
        load_scenario(&file, &[], None).unwrap_or_else(|problems| panic!("{problems}"));
    }
}

#[test]
fn options_override_files_and_files_what_they_inherit() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("child.toml");
    std::fs::write(folder.path().join("base.toml"), "seed = 5\n[array]\nmembers = 4\nlevel = \"raid10\"\n[workload]\npath = \"t.spc\"\n")
        .unwrap();
    std::fs::write(&file, "inherits = \"base.toml\"\n[array]\nmembers = 6\n").unwrap();
    let scenario = load_scenario(&file, &[("array.stripe_unit".into(), "8KiB".into())], None).unwrap();
    assert_eq!((scenario.seed, scenario.array.members, scenario.array.stripe_unit_pages), (5, 6, 2));
    // Paths are relative to the file that names them.
    let SourceSpec::Trace(trace) = &scenario.workload.source else { panic!("not a trace") };
    assert_eq!(trace.path, folder.path().join("t.spc"));
    assert_eq!(load_scenario(&file, &[], Some(9)).unwrap().seed, 9);
}

#[test]
fn options_are_read_as_toml_or_as_words() {
    let scenario = read_with(
        "",
        &[
            "ssd.gc.victim=cost-benefit",
            "ssd.gc.start=8%",
            "array.members=4",
            "workload.arrivals={process=\"closed\", depth=64}",
            "ssd.gc.stop=start+3",
        ],
    )
    .unwrap();
    assert_eq!(scenario.array.ssd.gc.victim, CostBenefit {}.into());
    assert_eq!((scenario.array.ssd.gc.start_threshold_free_blocks, scenario.array.ssd.gc.stop_threshold_free_blocks), (40, 43));
    assert_eq!(scenario.array.members, 4);
    assert!(scenario.workload.is_closed_loop());
    // One key of a preset's table changes, and the others stay.
    let scenario = read_with("workload.preset = \"w1\"", &["workload.arrivals.depth=16"]).unwrap();
    assert!(scenario.workload.is_closed_loop());
}

#[test]
fn size_speaks_for_both_directions() {
    let scenario = read_with("workload.preset = \"exchange\"", &["workload.size=4KiB"]).unwrap();
    let SourceSpec::Synthetic(spec) = &scenario.workload.source else { panic!("not synthetic") };
    assert_eq!(spec.read_size, spec.write_size);
}

#[test]
fn only_what_never_ends_is_given_an_end() {
    let requests = |text: &str| good(text).run_limit.max_requests;
    assert_eq!(requests("workload.preset = \"ms-ec\""), Some(DEFAULT_REQUESTS));
    assert_eq!(requests("workload.path = \"t\""), None);
    assert_eq!(requests("[[workload.streams]]\npath = \"t\"\n[[workload.streams]]\npreset = \"exchange\"\nlimit = 100\n"), None);
    assert_eq!(requests("[[workload.streams]]\npath = \"t\"\n[[workload.streams]]\npreset = \"exchange\"\n"), Some(DEFAULT_REQUESTS));
    assert_eq!(good("workload.duration = \"1s\"").run_limit, RunLimit { max_requests: None, max_duration_ns: Some(1_000_000_000) });
}

#[test]
fn the_hash_leaves_out_the_seed_and_nothing_else() {
    let hash = |text: &str| good(text).config_hash;
    assert_eq!(hash(""), hash("seed = 7"));
    assert_eq!(hash(""), hash("ssd.preset = \"ggc2014\"\narray.members = 8\nworkload.preset = \"hpc-w\"\n"));
    assert_ne!(hash(""), hash("array.members = 4"));
    assert_eq!(hash("").len(), 64);
}

#[test]
fn the_resolved_configuration_reads_back_as_itself() {
    for text in [
        "",
        "ssd.preset = \"nvme-simple\"",
        "ssd.preset = \"nvme-gen5\"\nssd.superblock.page_reads = [\"40us\", \"60us\"]",
        "workload.preset = \"ms-ecft\"",
        "workload.path = \"x\"",
        "ssd.gc.victim = { policy = \"d-choices\", d = 4 }",
    ] {
        let scenario = good(text);
        let written = toml::to_string(&scenario.config).unwrap();
        let again = good(&written);
        assert_eq!(again.config_hash, scenario.config_hash, "{written}");
        assert_eq!(again, scenario);
    }
}

#[test]
fn schema_describes_every_key() {
    let schema = config_schema();
    fn undescribed(schema: &serde_json::Value, path: &str, found: &mut Vec<String>) {
        if let Some(properties) = schema["properties"].as_object() {
            for (key, child) in properties {
                let is_tag = child.get("const").is_some();
                if child.get("description").is_none() && !is_tag {
                    found.push(format!("{path}.{key}"));
                }
                undescribed(child, &format!("{path}.{key}"), found);
            }
        }
        for (name, child) in schema["$defs"].as_object().into_iter().flatten() {
            undescribed(child, name, found);
        }
    }
    let mut found = Vec::new();
    undescribed(&schema, "", &mut found);
    assert!(found.is_empty(), "{found:?}");
}

/// Draws texts that look enough like configurations to get far.
fn any_configuration() -> impl Strategy<Value = String> {
    let key = prop::sample::select(
        schema::keys().iter().cloned().chain(["x".into(), "ssd".into(), "workload.streams".into(), "array.".into()]).collect::<Vec<_>>(),
    );
    let value = prop_oneof![
        Just("1".to_string()),
        Just("\"hpc-w\"".to_string()),
        Just("0.5".to_string()),
        Just("true".to_string()),
        Just("[1, \"a\", {}]".to_string()),
        Just("{ kind = \"x\", process = 3 }".to_string()),
        Just("\"4KiB\"".to_string()),
        Just("\"1ms\"".to_string()),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>().prop_map(|number| format!("{number:?}")),
        ".*".prop_map(|text| text),
    ];
    prop::collection::vec((key, value), 0..6).prop_map(|lines| lines.iter().map(|(key, value)| format!("{key} = {value}\n")).collect())
}

proptest! {
    // A check draws requests, which takes a tenth of a second. `make test-long` has more cases.
    #![proptest_config(ProptestConfig::with_cases(if std::env::var_os("FLASHRAID_LONG").is_some() { 300 } else { 60 }))]

    #[test]
    fn whatever_loads_can_be_checked(text in any_configuration()) {
        if let Ok(scenario) = read(&text) {
            let _ = crate::check::check_scenario(&scenario).to_string();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_text_panics(text in prop_oneof![any_configuration(), ".*".boxed()]) {
        if let Err(problems) = read(&text) {
            prop_assert!(!problems.list.is_empty());
            let _ = problems.to_string();
        }
    }

    #[test]
    fn no_option_panics(configuration in any_configuration(), key in ".*", value in ".*") {
        let sets: Vec<(String, String)> = configuration
            .lines()
            .filter_map(|line| line.split_once(" = "))
            .map(|(key, value)| (key.to_string(), value.to_string()))
            .chain([(key, value.clone()), ("ssd.gc.start".to_string(), value)])
            .collect();
        if let Err(problems) = scenario_from_toml("test.toml", "", &sets, None) {
            prop_assert!(!problems.list.is_empty());
            let _ = problems.to_string();
        }
    }
}

#[test]
fn a_footprint_may_be_more_than_the_array_if_it_says_so() {
    let written = |footprint: &str| format!("[workload]\n[workload.address]\nfootprint = \"{footprint}\"\n");
    assert!(read(&written("100TiB")).is_err());
    let scenario = read(&written("at most 100TiB")).unwrap();
    assert_eq!(serde_json::to_value(&scenario.config).unwrap().pointer("/workload/address/footprint").unwrap(), "at most 100TiB");
    assert!(read(&written("at most")).is_err() && read(&written("at most 10%")).is_err());
}

/// A run that is extended is the run that was asked to be so long.
#[test]
fn a_longer_scenario_is_that_of_a_longer_configuration() {
    let lengths = |times: u64| {
        [
            String::new(),
            format!("workload.requests = {}", 5000 * times),
            format!("workload.duration = \"{}s\"", 3 * times),
            format!("workload.limit = {}\nworkload.duration = \"{}ms\"", 700 * times, 5 * times),
            format!("workload.limit = \"{}s\"\nworkload.preset = \"exchange\"", 2 * times),
            format!(
                "workload.requests = {}\n[[workload.streams]]\npreset = \"exchange\"\n[[workload.streams]]\npreset = \"ms-ec\"",
                90 * times
            ),
        ]
    };
    for (short, long) in lengths(1).iter().zip(lengths(7)) {
        let long = if long.is_empty() { format!("workload.requests = {}", 7 * DEFAULT_REQUESTS) } else { long };
        assert_eq!(good(short).longer(7).unwrap(), good(&long), "{short}");
    }
    let trace = |repeat: &str| good(&format!("workload.path = \"t.spc\"\nworkload.limit = 100\n{repeat}"));
    let repeated = trace("workload.repeat = 3").longer(2).unwrap();
    assert_eq!(repeated.config.workload.trace.repeat, Some(6));
    assert_eq!(repeated, good("workload.path = \"t.spc\"\nworkload.limit = 200\nworkload.repeat = 6"));
    assert_eq!(trace("").longer(1).unwrap(), trace(""));
    let refused = good("[[workload.streams]]\npath = \"t\"\n[[workload.streams]]\npreset = \"exchange\"\n").longer(2);
    assert_eq!(refused.unwrap_err(), "workload.streams[0] ends by itself; only generated streams without a limit go on");
}
