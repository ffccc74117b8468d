//! Every remedy runs on arrays of drives with superblocks, with the check of the whole state at the end.

use flashraid::{Error, Report, Simulation};

use super::DRIVES;

const SCHEMES: [&str; 6] = ["local", "reactive-inclusive", "reactive-selective", "proactive-idle", "proactive-soft-limit", "ideal"];

fn run(settings: &[(&str, &str)]) -> Result<Report, Error> {
    let simulation = Simulation::from_toml(DRIVES)?;
    settings.iter().try_fold(simulation, |simulation, (key, value)| simulation.set(key, value))?.verify().run()
}

#[test]
fn every_remedy_runs_on_drives_with_superblocks() {
    let mut forced = 0;
    for scheme in SCHEMES {
        for preemption in ["none", "semi", "suspend"] {
            for idle in ["off", "300us"] {
                for cache in ["none", "wow", "lawc"] {
                    for level in ["raid5", "raid10"] {
                        let settings = [
                            ("coordination.scheme", scheme),
                            ("ssd.gc.preemption", preemption),
                            ("ssd.gc.idle", idle),
                            ("cache.policy", cache),
                            ("array.level", level),
                        ];
                        let report = run(&settings).unwrap_or_else(|error| panic!("{settings:?}: {error}"));
                        assert_eq!(report.requests.all, 1500, "{settings:?}");
                        assert!(report.flash.erases > 0, "{settings:?}: nothing is collected");
                        forced += report.gc.messages.get("ForceGc").copied().unwrap_or(0);
                        let done = report.gc.messages.get("GcDone").copied().unwrap_or(0);
                        assert_eq!(
                            report.gc.messages.get("ForceGc").copied().unwrap_or(0),
                            done,
                            "{settings:?}: all that is forced comes to its end"
                        );
                    }
                }
            }
        }
    }
    assert!(forced > 100, "{forced} forced collections");
}

#[test]
fn the_same_configuration_gives_the_same_report() {
    let settings = [("array.level", "raid5"), ("coordination.scheme", "reactive-selective"), ("ssd.gc.preemption", "semi")];
    let report = || {
        let mut report = serde_json::to_value(run(&settings).unwrap()).unwrap();
        let fields = report.as_object_mut().unwrap();
        assert!(fields.remove("perf").is_some() && fields.remove("wall_s").is_some());
        report
    };
    assert_eq!(report(), report());
}

/// The steady state in one pass is that of many overwrites: write amplification is the same from the first write on, within 2 %.
#[test]
fn steady_is_what_overwriting_comes_to() {
    for reserved in ["0.12", "0.2", "0.35"] {
        let found = ["random", "steady"].map(|pattern| {
            let settings = [
                ("array.level", "single"),
                ("array.members", "1"),
                ("ssd.geometry.blocks", "960"),
                ("ssd.geometry.pages", "144"),
                ("ssd.geometry.reserved", reserved),
                ("ssd.warm_up.overwrites", "5"),
                ("ssd.warm_up.pattern", pattern),
                ("cache.policy", "none"),
                ("workload.read_fraction", "0"),
                ("workload.size", "4KiB"),
                ("workload.arrivals", "{ process = \"closed\", depth = 32 }"),
                ("workload.requests", "150000"),
            ];
            run(&settings).unwrap().drive.unwrap().write_amplification.unwrap()
        });
        assert!((found[1] / found[0] - 1.0).abs() < 0.02, "reserved {reserved}: {found:?}");
    }
}

/// Uniform random writes: write amplification is that of greedy collection of large blocks, `alpha / (alpha + W(−alpha·e^−alpha))`, with `alpha` of
/// the superblocks that hold data. With steady writes no superpage of the host waits for one, and collection pads nothing.
#[test]
fn write_amplification_is_what_theory_expects() {
    for reserved in ["0.2", "0.3"] {
        let settings = [
            ("array.level", "single"),
            ("array.members", "1"),
            ("ssd.geometry.blocks", "960"),
            ("ssd.geometry.pages", "144"),
            ("ssd.geometry.reserved", reserved),
            ("ssd.warm_up.overwrites", "4"),
            ("cache.policy", "none"),
            ("workload.read_fraction", "0"),
            ("workload.size", "4KiB"),
            ("workload.arrivals", "{ process = \"closed\", depth = 32 }"),
            ("workload.requests", "120000"),
            ("report.skip_requests", "40000"),
        ];
        let simulation =
            settings.iter().try_fold(Simulation::from_toml(DRIVES).unwrap(), |simulation, (key, value)| simulation.set(key, value));
        let expected = simulation.unwrap().check().unwrap().gc.write_amplification;
        let report = run(&settings).unwrap();
        // What is moved is seen over time, too.
        let over_time: Vec<f64> = report.over_time.write_amplification.iter().copied().flatten().collect();
        let mean = over_time.iter().sum::<f64>() / over_time.len() as f64;
        assert!((mean / expected - 1.0).abs() < 0.2, "reserved {reserved}: expected {expected}, over time {mean}");
        let drive = report.drive.unwrap();
        let found = drive.write_amplification.unwrap();
        assert!((found / expected - 1.0).abs() < 0.02, "reserved {reserved}: expected {expected}, found {found}");
        assert_eq!((drive.foreground, drive.units_padded), (0, 0), "reserved {reserved}");
    }
}
