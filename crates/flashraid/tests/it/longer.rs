//! A run that is made longer is the run that was asked to be so long.

use flashraid::{Report, Simulation};

/// Small arrays of both kinds of drives, with twenty workloads. The length, and its threefold, stand in for `{}`.
const ARRAYS: [&str; 4] = [
    "array.members = 2\nssd.geometry = { dies = 1, blocks = 64, pages = 16 }",
    "array = { members = 3, level = \"raid5\" }\nssd.geometry = { dies = 2, blocks = 64, pages = 16 }\ncoordination.scheme = \"reactive-inclusive\"",
    "array = { members = 3, level = \"raid5\", stripe_unit = \"64KiB\" }\nssd = { preset = \"nvme-tlc-read\", scale = 1, channel.dies_per_channel = 2, \
     geometry = { dies = 4, planes = 2, blocks = 40, pages = 36, reserved = 0.4 }, warm_up = { pattern = \"steady\" } }",
    "array.members = 2\nssd.geometry = { dies = 1, blocks = 64, pages = 16 }\nssd.warm_up.pattern = \"workload\"\ncache.policy = \"wow\"",
];
const LENGTHS: [(&str, u64); 5] = [
    ("workload = { preset = \"hpc-w\", requests = {} }", 300),
    ("workload = { preset = \"exchange\", duration = \"{}ms\" }", 500),
    ("workload = { kind = \"synthetic\", arrivals = { process = \"closed\", depth = 4 }, limit = {} }", 300),
    ("workload = { path = \"TRACE\", address_fit = \"wrap\", repeat = {} }", 2),
    ("workload = { path = \"TRACE\", address_fit = \"scale\", limit = {}, repeat = 9, rate_scale = 2.5 }", 150),
];

fn report(simulation: Simulation<'_>) -> String {
    let report: Report = simulation.run().unwrap();
    let mut document = serde_json::to_value(&report).unwrap();
    ["wall_s", "perf"].iter().for_each(|key| drop(document.as_object_mut().unwrap().remove(*key)));
    document.to_string()
}

#[test]
fn twenty_longer_runs_are_those_that_were_asked_to_be_so_long() {
    let place = tempfile::tempdir().unwrap();
    let trace = place.path().join("trace.spc");
    let line = |request: u64| {
        format!("0,{},4096,{},{:.3}\n", request * 37 % 900 * 8, ["w", "r"][usize::from(request.is_multiple_of(3))], request as f64 * 0.002)
    };
    std::fs::write(&trace, (0..100).map(line).collect::<String>()).unwrap();
    let trace = trace.display().to_string().replace('\\', "/");
    for array in ARRAYS {
        for (workload, length) in LENGTHS {
            let of = |length: u64| {
                let text = format!("{array}\n{}", workload.replace("TRACE", &trace).replace("{}", &length.to_string()));
                Simulation::from_toml(&text).unwrap()
            };
            // The repetitions grow with the limit, too, and the limit decides.
            let long = if workload.contains("repeat = 9") { of(3 * length).set("workload.repeat", 27).unwrap() } else { of(3 * length) };
            assert_eq!(report(of(length).longer(3)), report(long), "{array}\n{workload}");
        }
    }
}
