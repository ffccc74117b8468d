use super::*;
use crate::config;
use crate::run::{run_scenario, run_with_shared_warm_ups};

fn scenario(sets: &[(&str, &str)]) -> Scenario {
    let text = r#"
[array]
level = "raid5"
members = 4
[ssd]
preset = "ggc2014"
geometry = { dies = 4, planes = 2, blocks = 64, pages = 16 }
[ssd.gc]
start = 0.1
[workload]
preset = "cello"
requests = 3000
"#;
    let sets: Vec<_> = sets.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    config::scenario_from_toml("test.toml", text, &sets, None).unwrap_or_else(|problems| panic!("{problems}"))
}

/// Returns the report without the values of the wall clock.
fn report(scenario: &Scenario, shared: Option<&SharedWarmUps>) -> serde_json::Value {
    let report = match shared {
        Some(shared) => run_with_shared_warm_ups(scenario, shared, &mut ()),
        None => run_scenario(scenario, &mut ()),
    };
    let mut report = serde_json::to_value(report.unwrap()).unwrap();
    let fields = report.as_object_mut().unwrap();
    assert!(fields.remove("perf").is_some() && fields.remove("wall_s").is_some());
    report
}

#[test]
fn runs_that_share_a_warm_up_are_as_by_themselves() {
    for pattern in ["random", "workload"] {
        let variants: [&[(&str, &str)]; 7] = [
            &[],
            &[("workload.rate_scale", "2")],
            &[("coordination.scheme", "ideal")],
            &[("coordination.scheme", "proactive-idle")],
            &[("ssd.gc.preemption", "semi")],
            &[("ssd.gc.idle", "1ms")],
            &[("cache.policy", "lawc")],
        ];
        let scenarios = variants.map(|variant| scenario(&[variant, &[("ssd.warm_up.pattern", pattern)]].concat()));
        assert!(scenarios.iter().all(|scenario| warm_up_key(scenario) == warm_up_key(&scenarios[0])));
        let shared = SharedWarmUps::for_runs(&scenarios);
        let key = warm_up_key(&scenarios[0]);
        assert!(shared.try_claim_warm_up(&key) && !shared.try_claim_warm_up(&key), "one run makes the state, others had better wait");
        for scenario in &scenarios {
            assert_eq!(lock(&shared.shared).len(), 1, "the state is kept until the last run has it");
            assert_eq!(report(scenario, Some(&shared)), report(scenario, None), "{pattern}");
            assert!(shared.try_claim_warm_up(&key), "what is made is free");
        }
        assert!(lock(&shared.shared).is_empty());
    }
}

/// Returns drives with superblocks, warmed up by more than a million page writes.
fn drives(sets: &[(&str, &str)]) -> Scenario {
    let text = r#"
[array]
level = "raid0"
members = 2
[ssd]
preset = "nvme-gen5"
scale = 400
[ssd.channel]
dies_per_channel = 2
[ssd.geometry]
dies = 4
blocks = 80
reserved = 0.4
[ssd.warm_up]
overwrites = 10
[workload]
requests = 2000
read_fraction = 0.3
arrivals = { process = "poisson", mean_gap = "100us" }
size = { distribution = "exponential", mean = "32KiB", grain = "page" }
"#;
    let sets: Vec<_> = sets.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    config::scenario_from_toml("test.toml", text, &sets, None).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn drives_with_superblocks_share_and_keep_their_states() {
    for pattern in ["random", "workload"] {
        let folder = tempfile::tempdir().unwrap();
        let cache = WarmStateCache::new(folder.path(), 1 << 30);
        for variant in [("coordination.scheme", "local"), ("coordination.scheme", "ideal"), ("ssd.gc.preemption", "suspend")] {
            let scenario = drives(&[variant, ("ssd.warm_up.pattern", pattern)]);
            let alone = report(&scenario, None);
            let kept = || SharedWarmUps::default().with_cache(Some(cache.clone()));
            assert_eq!(report(&scenario, Some(&kept())), alone, "{variant:?} {pattern}");
            let states = cache.list_states().unwrap();
            assert_eq!(states.len(), 2, "a state for each member, whatever takes time: {variant:?} {pattern}");
            assert_eq!(report(&scenario, Some(&kept())), alone, "{variant:?} {pattern}: from the cache");
            let shared = SharedWarmUps::kept_until_dropped([&scenario]);
            for _ in 0..2 {
                assert_eq!(report(&scenario, Some(&shared)), alone, "{variant:?} {pattern}: shared");
            }
        }
        // A damaged state is made again.
        let path = cache.list_states().unwrap()[0].path.clone();
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        let scenario = drives(&[("ssd.warm_up.pattern", pattern)]);
        assert_eq!(report(&scenario, Some(&SharedWarmUps::default().with_cache(Some(cache)))), report(&scenario, None), "{pattern}");
    }
}

#[test]
fn a_file_brings_drives_with_superblocks_to_their_state_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("drives.state");
    let file = file.to_str().unwrap();
    let saved = report(&drives(&[("ssd.warm_up.save", file)]), None);
    let loaded = report(&drives(&[("ssd.warm_up.load", file)]), None);
    assert_eq!((&saved["drive"], &saved["response_us"]), (&loaded["drive"], &loaded["response_us"]));
    let error = run_scenario(&drives(&[("ssd.warm_up.load", file), ("ssd.superblock.unit", "8KiB")]), &mut ()).unwrap_err().to_string();
    assert!(error.contains("belongs to another array"), "{error}");
}

#[test]
fn any_number_of_threads_gives_the_same() {
    any_number_of_threads_gives_the_same_with("1");
}

#[test]
#[ignore = "more of the same: make test-long"]
fn any_number_of_threads_gives_the_same_with_other_seeds() {
    ["2", "3"].iter().for_each(|seed| any_number_of_threads_gives_the_same_with(seed));
}

fn any_number_of_threads_gives_the_same_with(seed: &str) {
    let variants: [&[(&str, &str)]; 4] = [
        &[("array.level", "raid0")],
        &[("array.level", "raid10")],
        &[("array.level", "raid0"), ("ssd.gc.blocking", "plane"), ("workload.read_fraction", "0.5")],
        &[],
    ];
    for variant in variants {
        // The requests are large enough that batches are worth three threads.
        let load = [("seed", seed), ("workload.preset", "hpc-w"), ("workload.requests", "500")];
        let scenario = scenario(&[&load, variant].concat());
        let on = |threads| report(&scenario, Some(&SharedWarmUps::default().with_threads_per_run(threads)));
        let alone = on(1);
        for threads in [2, 3] {
            assert_eq!(on(threads), alone, "{variant:?}, {threads} threads");
        }
    }
}

#[test]
fn kept_states_are_those_of_the_members_and_not_of_what_takes_time() {
    let of = |sets: &[(&str, &str)]| keys_of_kept(&scenario(sets), 4, &mut |_| Ok(())).unwrap();
    let own = of(&[]);
    for same in [("ssd.timing.page_read", "31us"), ("array.level", "raid0"), ("array.members", "5"), ("workload.preset", "tpc-c")] {
        assert_eq!(of(&[same]), own, "{same:?}");
    }
    for other in [("seed", "2"), ("ssd.warm_up.pattern", "workload"), ("ssd.gc.victim", "fifo"), ("ssd.warm_up.overwrites", "1")] {
        assert!(of(&[other]).iter().all(|key| !own.contains(key)), "{other:?}");
    }
    let by_workload = |set| of(&[("ssd.warm_up.pattern", "workload"), set]);
    assert_ne!(by_workload(("array.level", "raid0")), by_workload(("array.level", "raid5")));
}

/// Stops a run at its first note.
#[derive(Default)]
struct UntilNoted(Vec<String>);

impl Observer for UntilNoted {
    fn note(&mut self, text: &str) {
        self.0.push(text.to_owned());
    }

    fn progress(&mut self, _: &Progress) -> bool {
        self.0.is_empty()
    }
}

#[test]
fn the_user_is_told_while_another_process_is_waited_for() {
    for (pattern, threads) in [("random", 1), ("random", 2), ("workload", 1)] {
        let folder = tempfile::tempdir().unwrap();
        let cache = WarmStateCache::new(folder.path(), 1 << 30);
        let scenario = drives(&[("ssd.warm_up.pattern", pattern)]);
        let shared = || SharedWarmUps::default().with_cache(Some(cache.clone())).with_threads_per_run(threads);
        report(&scenario, Some(&shared()));
        for state in cache.list_states().unwrap() {
            // A process of another machine, which may be alive.
            std::fs::write(state.path.with_extension("making"), "elsewhere-1 ").unwrap();
            std::fs::remove_file(state.path).unwrap();
        }
        let mut observer = UntilNoted::default();
        let stopped = run_with_shared_warm_ups(&scenario, &shared(), &mut observer);
        assert!(matches!(stopped, Err(RunError::StoppedBeforeFirstRequest)), "{pattern}");
        assert!(observer.0.len() == 1 && observer.0[0].starts_with("waiting for another process"), "{:?}", observer.0);
    }
}

#[test]
fn runs_that_begin_otherwise_share_nothing() {
    let own = warm_up_key(&scenario(&[]));
    let others = [
        ("seed", "2"),
        ("array.members", "5"),
        ("ssd.gc.start", "0.05"),
        ("ssd.gc.victim", "fifo"),
        ("ssd.warm_up.overwrites", "1"),
        ("ssd.warm_up.pattern", "workload"),
    ];
    for other in others {
        assert_ne!(warm_up_key(&scenario(&[other])), own, "{other:?}");
    }
    // The addresses of the workload only matter if the warm-up uses them.
    assert_eq!(warm_up_key(&scenario(&[("workload.preset", "tpc-c")])), own);
    for other in [("array.level", "raid6"), ("array.stripe_unit", "8KiB"), ("ssd.timing.page_read", "31us"), ("ssd.die_stride", "2")] {
        assert_eq!(warm_up_key(&scenario(&[other])), own, "{other:?} only takes time, or tells where pages go");
    }
    let by_workload = |name| warm_up_key(&scenario(&[("ssd.warm_up.pattern", "workload"), ("workload.preset", name)]));
    assert_ne!(by_workload("cello"), by_workload("tpc-c"));
}
