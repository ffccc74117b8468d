//! Tests that all settings of garbage collection run together on tiny devices of two presets.
//!
//! All combinations of schemes, modes of preemption, idle collection, blocking scopes, allocations, kinds of transfer, and caches run. At
//! the end of each run the whole state is checked.

use flashraid::{Error, Simulation};

/// Settings for a tiny device, for both presets. The reserve is large enough for all blocks that any setting keeps open.
const BASE: &str = r#"
[array]
level = "raid5"
members = 3
[ssd]
channel.dies_per_channel = 2
[ssd.warm_up]
overwrites = 0.6
[ssd.geometry]
dies = 2
planes = 2
blocks = 12
pages = 8
reserved = 0.5
[ssd.gc]
start = "1 block"
stop = "start+1"
[coordination]
check_interval = "200us"
idle_threshold = "100us"
[cache]
size = "96KiB"
[workload]
requests = 40
read_fraction = 0.3
arrivals = { process = "poisson", mean_gap = "150us" }
size = { distribution = "exponential", mean = "8KiB", grain = "page" }
"#;

pub(crate) const SCHEMES: [&str; 9] = [
    "local",
    "reactive-inclusive",
    "reactive-selective",
    "proactive-idle",
    "proactive-soft-limit",
    "stagger",
    "windows",
    "rotate",
    "ideal",
];
const PREEMPTION: [&str; 3] = ["none", "semi", "suspend"];
const IDLE: [&str; 2] = ["off", "300us"];
const CACHES: [&str; 3] = ["none", "wow", "lawc"];

#[test]
fn every_remedy_runs_on_nvme_simple() {
    run_all_on("nvme-simple");
}

#[test]
fn every_remedy_runs_on_ggc2014() {
    run_all_on("ggc2014");
}

fn run_all_on(device: &str) {
    let mut failed = Vec::new();
    let mut cleans = 0;
    for scheme in SCHEMES {
        for preemption in PREEMPTION {
            for idle in IDLE {
                for blocking in ["die", "plane"] {
                    for allocation in ["static", "dynamic"] {
                        for transfer in ["pins", "channel"] {
                            for cache in CACHES {
                                let mut settings = vec![
                                    ("ssd.preset", device),
                                    ("coordination.scheme", scheme),
                                    ("ssd.gc.preemption", preemption),
                                    ("ssd.gc.idle", idle),
                                    ("ssd.gc.blocking", blocking),
                                    ("ssd.allocation", allocation),
                                    ("ssd.transfer", transfer),
                                    ("cache.policy", cache),
                                ];
                                if blocking == "plane" {
                                    settings.push(("ssd.gc.pool", "plane"));
                                }
                                if preemption != "none" {
                                    let options = ["ssd.gc.merge", "ssd.gc.reorder", "ssd.gc.pipeline"];
                                    settings.extend(options.map(|key| (key, "true")));
                                }
                                match run(&settings) {
                                    Ok(more) => cleans += more,
                                    Err(text) => failed.push(format!("{settings:?}: {text}")),
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(failed.is_empty(), "{} do not run:\n{}", failed.len(), failed.join("\n"));
    assert!(cleans > 10_000, "only {cleans} cleans: the load is too small to show anything");
}

/// Runs the settings, and returns the number of erased blocks, or why the run failed.
fn run(settings: &[(&str, &str)]) -> Result<u64, String> {
    let verified = || -> Result<_, Error> {
        let simulation = Simulation::from_toml(BASE)?;
        settings.iter().try_fold(simulation, |simulation, (key, value)| simulation.set(key, value))?.verify().run()
    };
    let report = std::panic::catch_unwind(verified).map_err(|_| "the model panicked".to_owned())?;
    let report = report.map_err(|error| error.to_string())?;
    Ok(report.flash.erases)
}
