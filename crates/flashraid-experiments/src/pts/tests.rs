//! Tests of the criterion of steady state, of the tests on small drives, and of fio's jobs.

use super::*;

#[test]
fn steady_is_what_ranges_little_and_does_not_rise() {
    let of = |values: &[f64]| Steady::of(values);
    let even = of(&[7.0, 100.0, 101.0, 100.0, 99.0, 100.0]);
    assert_eq!((even.is_steady, even.from_round, even.round, even.mean), (true, Some(2), Some(6), Some(100.0)));
    assert!((even.range.unwrap() - 0.02).abs() < 1e-12 && (even.slope.unwrap() - 0.008).abs() < 1e-12, "{even:?}");
    // The range may be a fifth of the mean, and no more.
    assert!(of(&[100.0, 110.0, 90.0, 110.0, 90.0]).is_steady);
    assert!(!of(&[100.0, 111.0, 90.0, 110.0, 90.0]).is_steady);
    // The fitted line may rise by a tenth of the mean, and no more.
    let line = |rise: f64| [0.0, 0.25, 0.5, 0.75, 1.0].map(|at| 100.0 + (at - 0.5) * rise);
    assert!(of(&line(9.9)).is_steady && of(&line(-9.9)).is_steady);
    assert!(!of(&line(10.1)).is_steady && !of(&line(-10.1)).is_steady);
    assert!((of(&line(-8.0)).slope.unwrap() - 0.08).abs() < 1e-12);
    // Too few rounds are not steady, and figures of zero neither.
    assert_eq!(of(&[1.0; 4]).round, None);
    assert!(!of(&[0.0; 5]).is_steady);
}

/// Returns a drive that is full after a tenth of a simulated second.
fn small(test: Test, rounds_max: u32) -> Setup {
    let settings = [
        ("ssd.scale", "400"),
        ("ssd.geometry.dies", "4"),
        ("ssd.channel.dies_per_channel", "2"),
        ("ssd.geometry.blocks", "80"),
        ("ssd.geometry.reserved", "0.4"),
    ];
    let settings = settings.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    Setup { test, drive: "nvme-gen5".to_owned(), settings, rounds_max, seed: 3 }
}

fn run(setup: &Setup) -> Outcome {
    let simulation = setup.simulation().unwrap();
    let scenario = simulation.scenario().unwrap();
    let (requests, mut watch) = rounds(setup, &scenario);
    let report = simulation.source(requests).observe(&mut watch).verify().run().unwrap();
    let outcome = watch.outcome(setup, &scenario);
    // No request is lost between slots. Requests after the last slot belong to none.
    let measured: u64 = outcome.rounds.iter().flat_map(|round| &round.patterns).map(|figures| figures.requests).sum();
    assert!(measured <= report.requests.all && outcome.rounds.len() as u32 <= setup.rounds_max);
    outcome
}

#[test]
fn a_saturated_drive_is_steady_at_its_write_amplification() {
    let setup = small(Test::Wsat, 600);
    let outcome = run(&setup);
    assert!(outcome.steady.is_steady && !outcome.partial, "{:?}", outcome.steady);
    assert_eq!(outcome.steady.round, Some(outcome.rounds.len() as u32));
    let (first, last) = (&outcome.rounds[0], outcome.rounds.last().unwrap());
    assert!(first.patterns[0].iops > 1.2 * last.patterns[0].iops, "a fresh drive is faster: {first:?} {last:?}");
    assert!((first.write_amplification.unwrap() - 1.0).abs() < 0.05, "{first:?}");
    assert!(last.drive_fills >= FILLS_BEFORE_STEADY);
    assert!(outcome.rounds.windows(2).all(|rounds| rounds[0].drive_fills < rounds[1].drive_fills && rounds[0].from_s < rounds[1].from_s));
    // Rounds last the given time, and some requests longer.
    let lengths = outcome.rounds.windows(2).map(|rounds| rounds[1].from_s - rounds[0].from_s);
    assert!(lengths.into_iter().all(|length| length >= outcome.pattern_s && length < 1.2 * outcome.pattern_s));

    // The criterion may be met before the last change. The last round has the figures of a drive that was overwritten.
    let settings = [
        ("ssd.warm_up.start", "filled"),
        ("ssd.warm_up.overwrites", "3"),
        ("workload.read_fraction", "0"),
        ("workload.size", "4KiB"),
        ("workload.sequential_fraction", "0"),
        ("workload.arrivals", "{ process = \"closed\", depth = 128 }"),
        ("workload.address", "{ pattern = \"uniform\" }"),
        ("workload.requests", "200000"),
        ("report.skip_requests", "50000"),
    ];
    let simulation = settings.iter().try_fold(setup.simulation().unwrap(), |simulation, (key, value)| simulation.set(key, value)).unwrap();
    let report = simulation.run().unwrap();
    let differs = |found: f64, expected: f64| (found / expected - 1.0).abs();
    let expected = report.drive.as_ref().unwrap().write_amplification.unwrap();
    let found = last.write_amplification.unwrap();
    assert!(differs(found, expected) < 0.05, "expected {expected}, found {found}");
    assert!(differs(last.patterns[0].iops, report.iops.write.unwrap()) < 0.05, "{last:?} {:?}", report.iops);
    assert_eq!(outcome.histogram.iter().map(|band| band.requests).sum::<u64>(), outcome.window[0].requests);
}

#[test]
fn latency_has_nine_patterns_on_a_drive_that_was_filled_twice() {
    let outcome = run(&small(Test::Latency, 25));
    assert!(outcome.steady.is_steady && outcome.rounds.len() >= WINDOW, "{:?}", outcome.steady);
    for round in &outcome.rounds {
        assert_eq!(round.patterns.iter().map(|figures| figures.pattern).collect::<Vec<_>>(), Test::Latency.patterns());
        assert!(round.drive_fills > 2.0 && round.write_amplification.is_some());
    }
    let mean = |read_percent: u8, block_bytes: u64| {
        let pattern = Pattern { read_percent, block_bytes };
        outcome.window.iter().find(|figures| figures.pattern == pattern).unwrap().mean_us.unwrap()
    };
    assert!(mean(0, 4096) < mean(100, 4096), "writes end in the buffer");
    // With one request at a time, Little's law holds.
    for figures in &outcome.window {
        assert!((figures.iops * figures.mean_us.unwrap() / 1e6 - 1.0).abs() < 0.05, "{figures:?}");
        assert!(figures.p99_999_us.is_none(), "not enough of them");
    }
}

#[test]
fn iops_has_fifty_six_patterns() {
    assert_eq!(Test::Iops.patterns().len(), 56);
    for test in Test::ALL {
        assert!(test.patterns().contains(&test.tracked()), "{test:?}");
    }
    let mut setup = small(Test::Iops, 5);
    // Each round lasts a few milliseconds.
    setup.settings[0].1 = "4000".to_owned();
    let outcome = run(&setup);
    assert_eq!((outcome.rounds.len(), outcome.window.len()), (5, 56));
    let iops = |read_percent, block_bytes| {
        outcome.window.iter().find(|figures| figures.pattern == Pattern { read_percent, block_bytes }).unwrap().iops
    };
    assert!(iops(100, 4096) > iops(0, 4096) && iops(0, 4096) > iops(0, 1 << 20));
}

#[test]
fn the_same_setup_gives_the_same_outcome() {
    let mut setup = small(Test::Wsat, 6);
    let outcome = run(&setup);
    assert_eq!(outcome, run(&setup));
    setup.seed = 4;
    assert_ne!(outcome.rounds, run(&setup).rounds);
}

#[test]
fn only_drives_that_can_be_empty_are_tested() {
    let setup = Setup { drive: "ggc2014".to_owned(), settings: Vec::new(), ..small(Test::Wsat, 600) };
    let error = setup.simulation().err().unwrap().to_string();
    assert!(error.contains("ggc2014 is a device with pools of blocks"), "{error}");
    let narrow = [("ssd.scale", "2"), ("ssd.scale_by", "width")].map(|(key, value)| (key.to_owned(), value.to_owned()));
    let error = Setup { settings: narrow.to_vec(), ..small(Test::Wsat, 600) }.simulation().err().unwrap().to_string();
    assert!(error.contains("bring the load of a whole drive"), "{error}");
}

#[test]
fn fio_gets_the_same_patterns() {
    let wsat = job_file(Test::Wsat, 5);
    let expected = "[wsat]\nrw=randwrite\nbs=4k\niodepth=16\nnumjobs=8\ntime_based\nruntime=10h\nwrite_iops_log=wsat\nlog_avg_msec=1000\n";
    assert!(wsat.ends_with(expected) && !wsat.contains("[fill]"), "{wsat}");
    let iops = job_file(Test::Iops, 5);
    assert_eq!((iops.matches("stonewall").count(), iops.matches("[fill]").count()), (5 * 56, 1));
    assert!(iops.contains("[round5-read65-1024k]\nstonewall\nrw=randrw\nrwmixread=65\nbs=1024k\niodepth=16\nnumjobs=8\n"), "{iops}");
    let latency = job_file(Test::Latency, 2);
    assert!(latency.contains("[round2-read0-512]\nstonewall\nrw=randwrite\nbs=512\niodepth=1\nnumjobs=1\n"), "{latency}");
    assert!(latency.starts_with('#') && latency.contains("DESTROYS ALL DATA"));
}
