//! Short runs of all examples and of random arrays: no report says more than its array can do. Runs verify this themselves.

use std::fs;
use std::path::PathBuf;

use flashraid::{Error, Simulation};

use super::draw::Draw;
use super::trace;

/// Small drives with superblocks.
const DRIVE: &str = r#"
[ssd]
scale = 1
[ssd.channel]
dies_per_channel = 2
[ssd.geometry]
dies = 4
planes = 2
blocks = 40
pages = 144
reserved = 0.4
"#;

impl Draw {
    /// Arrivals, the number of requests, which may be less than the depth of a closed loop, and how many are skipped.
    fn short_load(&mut self) -> [(&'static str, String); 3] {
        let gap_us = self.between(1, 2000);
        let arrivals = match self.between(0, 4) {
            0 => format!("{{ process = \"poisson\", mean_gap = \"{gap_us}us\" }}"),
            1 => format!("{{ process = \"closed\", depth = {}, think = \"{gap_us}us\" }}", self.between(1, 40)),
            2 => format!("{{ process = \"closed\", depth = {} }}", self.between(1, 100_000)),
            _ => format!("{{ process = \"closed\", depth = {} }}", self.between(1, 40)),
        };
        let requests = self.between(1, 120);
        let skipped = if self.chance(20) { self.between(0, requests) } else { 0 };
        [("workload.arrivals", arrivals), ("workload.requests", requests.to_string()), ("report.skip_requests", skipped.to_string())]
    }

    /// A small array of drives with superblocks.
    fn drives(&mut self) -> String {
        let preset = self.one_of(&["nvme-tlc-read", "nvme-tlc-mixed", "nvme-gen5-6400", "nvme-qlc-gen3"]);
        let level = self.one_of(&["raid0", "raid0", "raid10", "raid5", "raid6"]);
        let link =
            self.one_of(&["", "link = { rate = \"50MB/s\", duplex = \"full\" }", "link = { rate = \"200MB/s\", duplex = \"half\" }"]);
        let cache = self.one_of(&["", "", "[cache]\npolicy = \"wow\"\nsize = \"1MiB\"\n"]);
        let controller = self.one_of(&[
            "",
            "",
            "[array.controller]\nbandwidth = \"100MB/s\"\n",
            "[array.controller]\noutstanding = 3\n",
            "[array.controller.processor]\ncores = 2\nrequest = \"20us\"\nshared = \"5us\"\n",
        ]);
        let drive = DRIVE.replace("[ssd]\n", &format!("[ssd]\npreset = \"{preset}\"\n{link}\n"));
        let (size, read) = (4 << self.between(0, 8), self.between(0, 10));
        let read = format!("{}.{}", read / 10, read % 10);
        format!(
            "seed = {}\n[array]\nlevel = \"{level}\"\nmembers = 4\nstripe_unit = \"64KiB\"\n{controller}{drive}{cache}\
             [workload]\nkind = \"synthetic\"\nsize = \"{size}KiB\"\nread_fraction = {read}\nrequests = 1\n",
            self.between(1, 1 << 40)
        )
    }
}

/// Runs a simulation that is verified. Returns true if it was not refused; of a load that the configuration cannot have, nothing is said.
fn runs(name: &str, simulation: Result<Simulation, Error>) -> bool {
    match simulation.and_then(|simulation| simulation.verify().run()) {
        Ok(_) => true,
        Err(error @ Error::InconsistentMemberState(_)) => panic!("{name}: {error}"),
        Err(_) => false,
    }
}

fn with<'a>(simulation: Simulation<'a>, settings: &[(&str, String)]) -> Result<Simulation<'a>, Error> {
    settings.iter().try_fold(simulation, |simulation, (key, value)| simulation.set(key, value))
}

#[test]
fn examples_do_no_more_than_possible() {
    let folder = tempfile::tempdir().unwrap();
    let traced = folder.path().join("trace.spc");
    fs::write(&traced, trace(200)).unwrap();
    let examples = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples")).unwrap();
    let mut paths: Vec<PathBuf> =
        examples.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|it| it == "toml")).collect();
    paths.sort();
    let text = |text: &str| text.to_owned();
    for path in paths {
        let example = fs::read_to_string(&path).unwrap();
        let name = path.display().to_string();
        let mut small = vec![("workload.requests", text("150")), ("report.skip_requests", text("0"))];
        if example.contains("nvme-array.toml") || example.contains("nvme-tlc") {
            small.extend([("ssd.geometry.dies", text("8")), ("ssd.superblock.programs_at_once", text("8")), ("ssd.scale", text("4096"))]);
        } else if example.contains("nvme-simple") {
            let keys = ["ssd.geometry.blocks", "ssd.geometry.pages", "ssd.geometry.reserved", "ssd.warm_up.overwrites"];
            small.extend(keys.into_iter().zip(["128", "16", "0.15", "0.2"].map(text)));
        } else {
            let keys = [
                "ssd.geometry.dies",
                "ssd.geometry.planes",
                "ssd.geometry.blocks",
                "ssd.geometry.pages",
                "ssd.geometry.reserved",
                "ssd.warm_up.overwrites",
            ];
            small.extend(keys.into_iter().zip(["2", "1", "64", "16", "0.15", "0.2"].map(text)));
        }
        let is_trace = example.contains("kind = \"trace\"");
        if is_trace {
            small.push(("workload.path", traced.display().to_string()));
        }
        if example.contains("hpc-w") {
            small.push(("workload.address.footprint", text("0.5")));
        }
        let run = |more: &[(&str, String)]| {
            let settings = [&small[..], more].concat();
            let report = Simulation::from_file(&path).and_then(|simulation| with(simulation, &settings)).and_then(|run| run.verify().run());
            report.unwrap_or_else(|error| panic!("{name} {settings:?}: {error}"))
        };
        run(&[]);
        if !is_trace && !["kind = \"mix\"", "rate_scale"].iter().any(|key| example.contains(key)) {
            let closed = ("workload.arrivals", text("{ process = \"closed\", depth = 1000 }"));
            run(&[closed, ("workload.requests", text("30"))]);
        }
    }
}

#[test]
fn random_arrays_do_no_more_than_possible() {
    const CASES: u64 = 500;
    let case = |seed: &u64| {
        let mut draw = Draw::new(*seed);
        let text = if seed.is_multiple_of(4) { draw.drives() } else { draw.sensible_keys().concat() };
        let load = draw.short_load();
        let simulation = Simulation::from_toml(&text).and_then(|simulation| with(simulation, &load));
        runs(&format!("seed {seed}, {load:?}\n{text}"), simulation)
    };
    let done = (1..=CASES).filter(case).count() as u64;
    assert!(done > CASES * 3 / 4, "{done} cases of {CASES} were not refused");
}
