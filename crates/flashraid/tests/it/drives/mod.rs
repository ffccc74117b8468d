//! Tests that every remedy runs on arrays of drives with superblocks; the whole state is checked at the end of each run.

use crate::combinations::SCHEMES;
use flashraid::report::WarningMark;
use flashraid::{Error, Report, Simulation};
use flashraid_model::space::victim::VictimPolicy;

mod handles_apart;
mod steady;

/// Drives small enough that a short load fills them several times.
pub(crate) const DRIVES: &str = r#"
[array]
members = 4
[ssd]
preset = "nvme-gen5"
scale = 1
[ssd.channel]
dies_per_channel = 2
[ssd.geometry]
dies = 2
planes = 2
blocks = 40
pages = 72
reserved = 0.5
[coordination]
check_interval = "200us"
idle_threshold = "100us"
[cache]
size = "96KiB"
[workload]
requests = 1500
read_fraction = 0.3
arrivals = { process = "poisson", mean_gap = "400us" }
size = { distribution = "exponential", mean = "32KiB", grain = "page" }
"#;

/// Settings for parity on one of two dies, which takes half of the spare area.
const PARITY: [(&str, &str); 2] = [("ssd.superblock.rain", "true"), ("ssd.geometry.reserved", "0.75")];

/// Returns one setting for each remedy of an array.
fn remedies<'a>(scheme: &'a str, preemption: &'a str, idle: &'a str, cache: &'a str, level: &'a str) -> [(&'static str, &'a str); 5] {
    [
        ("coordination.scheme", scheme),
        ("ssd.gc.preemption", preemption),
        ("ssd.gc.idle", idle),
        ("cache.policy", cache),
        ("array.level", level),
    ]
}

fn run(settings: &[(&str, &str)]) -> Result<Report, Error> {
    let simulation = Simulation::from_toml(DRIVES)?;
    settings.iter().try_fold(simulation, |simulation, (key, value)| simulation.set(key, value))?.verify().run()
}

/// Arrays of drives as they are bought, at their real size, run in the memory of a small machine.
#[test]
fn arrays_of_real_size_run() {
    for (preset, members, exported) in [("nvme-gen5-25600", 24, 563e12), ("nvme-qlc", 8, 368e12)] {
        let text = format!(
            "[array]\nlevel = \"raid6\"\nmembers = {members}\n[ssd]\npreset = \"{preset}\"\nscale = 1\n\
             [workload]\nkind = \"synthetic\"\nread_fraction = 0.7\nsize = \"16KiB\"\nrequests = 200000\n"
        );
        let check = Simulation::from_toml(&text).unwrap().check().unwrap();
        assert!(check.memory_bytes < 3 << 30, "{preset}: {}", check.memory_bytes);
        assert!((check.array_bytes as f64 / exported - 1.0).abs() < 0.01, "{preset}: {}", check.array_bytes);
        let report = Simulation::from_toml(&text).unwrap().set("workload.requests", "3000").unwrap().run().unwrap();
        assert_eq!(report.drive.as_ref().unwrap().scale, 1);
        assert!(report.flash.host_pages_read > 0 && report.drive.as_ref().unwrap().write_amplification.unwrap() > 1.0, "{preset}");
    }
}

/// Returns the verdict on the array of the README under this many requests, of which so many are outstanding.
fn readme(depth: u32, requests: u32, more: &[(&str, &str)]) -> Report {
    let text = include_str!("../../../../../README.md");
    let from = text.find("# array.toml").unwrap();
    let array = &text[from..from + text[from..].find("```").unwrap()];
    let (depth, requests) = (format!("{{ process = \"closed\", depth = {depth} }}"), requests.to_string());
    let load = [("workload.arrivals", depth.as_str()), ("workload.requests", requests.as_str())];
    let simulation = Simulation::from_toml(array).unwrap();
    load.iter().chain(more).fold(simulation, |simulation, (key, value)| simulation.set(key, value).unwrap()).run().unwrap()
}

/// Write buffers take nearly all that 120,000 requests write, and the moves that the rest costs are still to be made. Earlier, such a run
/// was called steady, at a write amplification below 1.
#[test]
fn a_run_that_buffers_and_free_space_take_is_not_steady() {
    let short = readme(4096, 120_000, &[]);
    assert!(short.verdict.has_mark(WarningMark::NotSteady) && !short.verdict.steady, "{:?}", short.verdict);
    assert!(short.drive.unwrap().write_amplification.unwrap() < 1.0);
    // Reads need no collection. A load below saturation goes on as the drives did before.
    let reads = readme(64, 20_000, &[("workload.read_fraction", "1")]);
    assert!(reads.verdict.steady, "{:?}", reads.verdict);
    // All that can be written until collection begins must have been written.
    let told = readme(16, 20_000, &[("coordination.scheme", "reactive-inclusive")]);
    assert!(!told.verdict.steady && told.drive.unwrap().write_amplification.unwrap() < 1.3);
}

#[test]
fn every_remedy_runs_on_drives_with_superblocks() {
    let mut forced = 0;
    // With `FLASHRAID_LONG` a combination runs on both levels, else on one of them in turn, with which the next scheme does not begin.
    let count = if std::env::var_os("FLASHRAID_LONG").is_some() { 2 } else { 1 };
    let mut levels = ["raid5", "raid10"].into_iter().cycle();
    // Each run takes the next victim policy. After six runs the order shifts by one, so that policies meet other remedies.
    let mut policies = (0..).map(|run| VictimPolicy::NAMES[(run + run / 6) % VictimPolicy::NAMES.len()]);
    for scheme in SCHEMES {
        levels.next();
        for preemption in ["none", "semi", "suspend"] {
            for idle in ["off", "300us"] {
                for cache in ["none", "wow", "lawc"] {
                    for level in levels.by_ref().take(count) {
                        let policy = ("ssd.gc.victim", policies.next().expect("there is always another"));
                        let settings = [&remedies(scheme, preemption, idle, cache, level)[..], &[policy]].concat();
                        let report = run(&settings).unwrap_or_else(|error| panic!("{settings:?}: {error}"));
                        assert_eq!(report.requests.all, 1500, "{settings:?}");
                        assert!(report.flash.erases > 0, "{settings:?}: nothing is collected");
                        let sent = |kind: &str| report.gc.messages.get(kind).copied().unwrap_or(0);
                        forced += sent("ForceGc");
                        let done = sent("GcDone");
                        // Counting ends with the last answer. At that time each member may still work on one forced collection. Collection
                        // without leave has an end, too.
                        let asked = sent("ForceGc") + if scheme == "stagger" { sent("Grant") + sent("GcRequest") } else { 0 };
                        let under_way = asked.checked_sub(done).expect("what ends was forced");
                        assert!(under_way <= report.members.len() as u64, "{settings:?}: {under_way} of {asked} never come to an end");
                    }
                }
            }
        }
    }
    assert!(forced > 100, "{forced} forced collections");
}

#[test]
fn remedies_run_on_drives_with_parity_in_each_row() {
    for scheme in SCHEMES {
        for (preemption, idle, cache) in [("none", "300us", "wow"), ("suspend", "off", "none")] {
            let settings = [&PARITY[..], &remedies(scheme, preemption, idle, cache, "raid5")].concat();
            let report = run(&settings).unwrap_or_else(|error| panic!("{settings:?}: {error}"));
            assert_eq!(report.requests.all, 1500, "{settings:?}");
            let drive = report.drive.unwrap();
            let of_parity = drive.write_amplification_of_parity.unwrap();
            // On two dies, every second superpage is parity.
            let share = of_parity / drive.write_amplification.unwrap();
            assert!((share - 0.5).abs() < 0.01, "{settings:?}: {share}");
            assert!(drive.die_time.parity_programs.unwrap() > 0.0 && drive.victims > 0, "{settings:?}");
        }
    }
}

/// Runs two tenants of one drive. One writes in order, over and over; the other writes at random into the last tenth of the space.
const TENANTS: &str = r#"
[array]
level = "single"
members = 1
[ssd]
preset = "nvme-gen5"
scale = 1
[ssd.channel]
dies_per_channel = 2
[ssd.geometry]
dies = 2
planes = 2
blocks = 240
pages = 144
reserved = 0.2
[ssd.superblock]
target = 8
floor = 3
[ssd.placement_handles]
handles = 2
[ssd.warm_up]
pattern = "workload"
overwrites = 3
[report]
skip_requests = 50000
[workload]
kind = "mix"
requests = 100000
[[workload.streams]]
kind = "synthetic"
read_fraction = 0
size = "4KiB"
address = { pattern = "hot-cold", request_share = 0.0, space_share = 0.9, scatter = false }
arrivals = { process = "poisson", mean_gap = "300us" }
[[workload.streams]]
kind = "synthetic"
read_fraction = 0
size = "32KiB"
sequential_fraction = 1
address = { pattern = "uniform", footprint = 0.9 }
arrivals = { process = "poisson", mean_gap = "1200us" }
"#;

fn tenants(settings: &[(&str, &str)]) -> Report {
    let simulation = Simulation::from_toml(TENANTS).unwrap();
    settings.iter().fold(simulation, |simulation, (key, value)| simulation.set(key, value).unwrap()).verify().run().unwrap()
}

/// A tenant that writes in order, with a handle of its own, fills whole superblocks. They become garbage as a whole, and the other tenant
/// keeps the whole spare area.
#[test]
fn write_amplification_falls_when_tenants_have_handles_of_their_own() {
    let of = |handles: &str, isolation: &str| {
        let report = tenants(&[("ssd.placement_handles.handles", handles), ("ssd.placement_handles.isolation", isolation)]);
        let drive = report.drive.unwrap();
        let placement = drive.placement.unwrap();
        let sum = |of: fn(&flashraid::report::HandleReport) -> u64| placement.handles.iter().map(of).sum::<u64>();
        assert_eq!(sum(|handle| handle.host_bytes), placement.host_bytes);
        assert_eq!(sum(|handle| handle.media_bytes) + placement.shared_media_bytes.unwrap_or(0), placement.media_bytes);
        let amplification = drive.write_amplification.unwrap();
        assert!((placement.media_bytes as f64 / placement.host_bytes as f64 / amplification - 1.0).abs() < 1e-9);
        (amplification, placement)
    };
    let (together, _) = of("1", "initially");
    assert!(together > 2.0, "{together}");
    for isolation in ["initially", "persistently"] {
        let (apart, placement) = of("2", isolation);
        assert!(apart < 1.1, "{isolation}: {apart} instead of {together}");
        let sequential = &placement.handles[1];
        assert!(sequential.host_bytes > placement.handles[0].host_bytes);
        assert!((sequential.media_bytes as f64 / sequential.host_bytes as f64 - 1.0).abs() < 0.01, "{isolation}: {sequential:?}");
        assert_eq!(placement.shared_media_bytes.is_some(), isolation == "initially");
    }
}

/// The array writes parity with the handle of the request that it protects. Writes of a cache, and of a rebuild, have handle 0.
#[test]
fn a_write_has_the_handle_of_its_request() {
    let host_bytes = |settings: &[(&str, &str)]| {
        let all = [&[("array.members", "4"), ("workload.requests", "3000"), ("report.skip_requests", "0")], settings].concat();
        let handles = tenants(&all).drive.unwrap().placement.unwrap().handles;
        [handles[0].host_bytes, handles[1].host_bytes]
    };
    let alone = host_bytes(&[("array.level", "raid0")]);
    assert!(alone[0] > 0 && alone[1] > alone[0]);
    let mirrored = host_bytes(&[("array.level", "raid10")]);
    assert_eq!(mirrored, alone.map(|bytes| 2 * bytes));
    // RAID 5 writes at least one page of parity for each small write, and one for each stripe of a large write.
    let parity = host_bytes(&[("array.level", "raid5")]);
    assert!(parity[0] >= 2 * alone[0] && parity[1] > alone[1] && parity[1] < 2 * alone[1] + 1, "{parity:?}, {alone:?}");
    let cached = host_bytes(&[("array.level", "raid5"), ("cache.policy", "wow"), ("cache.size", "96KiB")]);
    assert!(cached[0] > 0 && cached[1] == 0, "{cached:?}");
}

#[test]
fn remedies_run_on_drives_with_placement_handles() {
    for isolation in ["initially", "persistently"] {
        for scheme in SCHEMES {
            for (preemption, idle, rain) in [("none", "300us", "false"), ("suspend", "off", "true")] {
                let settings = [
                    ("array.members", "4"),
                    ("array.level", "raid5"),
                    ("coordination.scheme", scheme),
                    ("coordination.check_interval", "200us"),
                    ("coordination.idle_threshold", "100us"),
                    ("ssd.gc.preemption", preemption),
                    ("ssd.gc.idle", idle),
                    ("ssd.superblock.rain", rain),
                    ("ssd.geometry.reserved", if rain == "true" { "0.65" } else { "0.2" }),
                    ("ssd.geometry.pages", "72"),
                    ("ssd.placement_handles.isolation", isolation),
                    ("ssd.warm_up.overwrites", "1"),
                    ("workload.requests", "6000"),
                    ("report.skip_requests", "0"),
                ];
                let report = tenants(&settings);
                assert_eq!(report.requests.all, 6000, "{settings:?}");
                let placement = report.drive.unwrap().placement.unwrap();
                assert!(placement.handles.iter().all(|handle| handle.media_bytes > 0), "{settings:?}: {placement:?}");
                assert!(report.flash.erases > 0, "{settings:?}: nothing is collected");
            }
        }
    }
}

/// A state with handles that was saved and read goes on as the original does. A drive without handles refuses it.
#[test]
fn a_state_with_placement_handles_is_loaded_as_it_was_saved() {
    for isolation in ["initially", "persistently"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let path = path.to_str().unwrap();
        let settings = [("ssd.placement_handles.isolation", isolation), ("ssd.warm_up.overwrites", "1.3"), ("workload.requests", "60000")];
        let figures = |report: Report| (report.flash.erases, report.drive, report.response_us);
        let report = |with: &[(&str, &str)]| figures(tenants(&[&settings, with].concat()));
        let saved = report(&[("ssd.warm_up.save", path)]);
        assert!(saved == report(&[("ssd.warm_up.load", path)]) && saved == report(&[]), "{isolation}");
        let other = Simulation::from_toml(TENANTS).unwrap().set("ssd.placement_handles.handles", "1").unwrap();
        let error = other.set("ssd.warm_up.load", path).unwrap().run().unwrap_err().to_string();
        assert!(error.contains("belongs to another array") && error.contains("2 placement handles"), "{error}");
    }
}

/// A state with parity that was saved and read goes on as the original does. A drive without parity refuses it.
#[test]
fn a_state_with_parity_is_loaded_as_it_was_saved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let path = path.to_str().unwrap();
    let settings = [("array.level", "single"), ("array.members", "1"), ("cache.policy", "none"), ("ssd.warm_up.overwrites", "1.37")];
    let report = |with: &[(&str, &str)]| {
        run(&[&PARITY[..], &settings, with].concat()).map(|report| (report.flash.erases, report.drive, report.response_us))
    };
    let saved = report(&[("ssd.warm_up.save", path)]).unwrap();
    assert!(saved == report(&[("ssd.warm_up.load", path)]).unwrap() && saved == report(&[]).unwrap());
    let error = report(&[("ssd.warm_up.load", path), ("ssd.superblock.rain", "false")]).unwrap_err().to_string();
    assert!(error.contains("belongs to another array") && error.contains("parity in each row"), "{error}");
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

/// Uniform random writes have the write amplification of greedy collection, `alpha / (alpha + W(−alpha·e^−alpha))`. `alpha` is the ratio of
/// the superblocks that hold data to the data. With steady writes, no write of the host waits for a free superblock, and collection pads
/// nothing.
#[test]
fn write_amplification_is_what_theory_expects() {
    // The two reserves with parity leave as much space for garbage as 0.2 and 0.3 do without parity.
    for (reserved, rain) in [("0.2", "false"), ("0.3", "false"), ("0.6", "true"), ("0.65", "true")] {
        let settings = [
            ("array.level", "single"),
            ("array.members", "1"),
            ("ssd.geometry.blocks", "960"),
            ("ssd.geometry.pages", "144"),
            ("ssd.geometry.reserved", reserved),
            ("ssd.superblock.rain", rain),
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
        // The series over time counts moved pages, but no parity, which is half of all programmed pages here.
        let over_time: Vec<f64> = report.over_time.write_amplification.iter().copied().flatten().collect();
        let mean = over_time.iter().sum::<f64>() / over_time.len() as f64;
        let moving = if rain == "true" { expected / 2.0 } else { expected };
        assert!((mean / moving - 1.0).abs() < 0.2, "reserved {reserved}: expected {expected}, over time {mean}");
        let drive = report.drive.unwrap();
        let found = drive.write_amplification.unwrap();
        assert!((found / expected - 1.0).abs() < 0.02, "reserved {reserved}: expected {expected}, found {found}");
        assert_eq!((drive.foreground, drive.units_padded), (0, 0), "reserved {reserved}");
        let of_parity = drive.write_amplification_of_parity.map_or(0.0, |of_parity| of_parity / found);
        assert!((of_parity - if rain == "true" { 0.5 } else { 0.0 }).abs() < 0.005, "reserved {reserved}: {of_parity}");
    }
}

/// The width of a drive is halved and quartered, and the load with it. Write amplification and response times stay, and the throughput
/// scales with the width.
#[test]
fn scaled_by_width_times_and_write_amplification_stay() {
    let of = |scale: u32, read_fraction: &str, depth: u32, requests: u32| {
        let (scale_text, requests) = (scale.to_string(), (requests / scale).to_string());
        let arrivals = format!("{{ process = \"closed\", depth = {} }}", (depth / scale).max(1));
        let settings = [
            ("array.level", "single"),
            ("array.members", "1"),
            ("ssd.scale", &scale_text),
            ("ssd.scale_by", "width"),
            ("ssd.geometry.dies", "16"),
            ("ssd.superblock.programs_at_once", "16"),
            ("ssd.geometry.blocks", "240"),
            ("ssd.geometry.reserved", "0.3"),
            ("ssd.warm_up.pattern", "steady"),
            ("cache.policy", "none"),
            ("workload.read_fraction", read_fraction),
            ("workload.size", "4KiB"),
            ("workload.arrivals", &arrivals),
            ("workload.requests", &requests),
        ];
        run(&settings).unwrap()
    };
    let near = |a: f64, b: f64, within: f64| (a / b - 1.0).abs() < within;
    let [whole, half, quarter] =
        [1, 2, 4].map(|scale| (scale, of(scale, "0", 256, 240_000), of(scale, "1", 64, 80_000), of(scale, "1", 1, 8_000)));
    let drive = whole.1.drive.as_ref().unwrap();
    assert_eq!((drive.scale, drive.scale_by), (1, None));
    for (scale, writes, reads, alone) in [half, quarter] {
        let share = f64::from(scale);
        let scaled = writes.drive.as_ref().unwrap();
        assert_eq!((scaled.scale, scaled.scale_by), (scale, Some(flashraid::config::ScaledDriveDimension::Width)));
        let amplification = (scaled.write_amplification.unwrap(), drive.write_amplification.unwrap());
        assert!(near(amplification.0, amplification.1, 0.02), "{scale}: {amplification:?}");
        let iops = |scaled: &Report, whole: &Report| (scaled.iops.all.unwrap() * share, whole.iops.all.unwrap());
        let times = |scaled: &Report, whole: &Report| (scaled.response_us.all.mean.unwrap(), whole.response_us.all.mean.unwrap());
        for (what, found, within) in [
            ("writes per second", iops(&writes, &whole.1), 0.05),
            ("time of a write", times(&writes, &whole.1), 0.05),
            ("reads per second", iops(&reads, &whole.2), 0.05),
            ("time of a read", times(&reads, &whole.2), 0.05),
            ("time of a read at depth 1", times(&alone, &whole.3), 0.02),
        ] {
            assert!(near(found.0, found.1, within), "{scale}: {what}: {found:?}");
        }
    }
}

/// One stream sends 300 reads at once; the other sends a read now and then. With a queue for each, the drive fetches from both in turn.
#[test]
fn queues_protect_a_light_stream_from_a_noisy_one() {
    const STREAMS: &str = "
        [array]
        level = \"single\"
        members = 1
        [ssd]
        preset = \"nvme-gen5\"
        scale = 1
        channel = { dies_per_channel = 2 }
        geometry = { dies = 2, planes = 2, blocks = 40, pages = 72, reserved = 0.5 }
        [workload]
        duration = \"2s\"
        [[workload.streams]]
        read_fraction = 1.0
        size = \"4KiB\"
        arrivals = { process = \"bursts\", mean_gap = \"66us\", factor = 1000, burst_requests = 300 }
        [[workload.streams]]
        read_fraction = 1.0
        size = \"4KiB\"
        arrivals = { process = \"poisson\", mean_gap = \"1ms\" }
    ";
    let of = |queues: &str| Simulation::from_toml(&format!("{STREAMS}{queues}")).unwrap().verify().run().unwrap();
    let [without, one, two] = ["", "[ssd.queues]\nqueues = 1\ncommands = 8\n", "[ssd.queues]\nqueues = 2\ncommands = 8\n"].map(of);
    let p99 = |report: &Report, stream: usize| report.streams[stream].response_us.all.p99.unwrap();
    for report in [&without, &one, &two] {
        assert_eq!(report.streams.len(), 2);
        let counts: Vec<u64> = report.streams.iter().map(|stream| stream.response_us.all.count).collect();
        assert_eq!(counts.iter().sum::<u64>(), report.requests.all);
        assert!(counts[0] > 29_000 && counts[1] > 1800, "{counts:?}");
    }
    // With one queue, commands are fetched in the order of arrival, so those of a burst come first.
    assert!(p99(&one, 1) > 0.8 * p99(&without, 1), "{} against {} us", p99(&one, 1), p99(&without, 1));
    assert!(p99(&two, 1) < 0.15 * p99(&without, 1), "{} against {} us", p99(&two, 1), p99(&without, 1));
    // The stream with bursts hardly becomes slower.
    assert!(p99(&two, 0) < 1.1 * p99(&one, 0), "{} against {} us", p99(&two, 0), p99(&one, 0));
    let waits = |report: &Report| report.drive.as_ref().unwrap().fetch_waits;
    assert_eq!(waits(&without), None);
    assert!(waits(&two).is_some_and(|waits| waits > 20_000), "{:?}", waits(&two));
}

/// Queues run with all remedies of an array. Operations that follow from a request use its queue.
#[test]
fn remedies_run_on_drives_with_queues() {
    for scheme in SCHEMES {
        for (preemption, idle, cache) in [("none", "300us", "wow"), ("suspend", "off", "none"), ("semi", "off", "lawc")] {
            let settings = [&remedies(scheme, preemption, idle, cache, "raid5")[..], &[("ssd.queues.commands", "2")]].concat();
            let report = run(&settings).unwrap_or_else(|error| panic!("{settings:?}: {error}"));
            assert_eq!(report.requests.all, 1500, "{settings:?}");
            assert!(report.drive.unwrap().fetch_waits.unwrap() > 0, "{settings:?}");
        }
    }
}

/// An eighth of all superblocks may hold one bit per cell (SLC), which programs five times as fast.
const SLC: [(&str, &str); 4] =
    [("ssd.slc.mode", "static"), ("ssd.slc.share", "0.125"), ("ssd.slc.program", "150us"), ("ssd.slc.read", "25us")];

/// Superblocks with one bit per cell run with all remedies of an array.
#[test]
fn remedies_run_on_drives_with_one_bit_per_cell() {
    for scheme in SCHEMES {
        for (preemption, idle, cache) in [("none", "300us", "wow"), ("suspend", "off", "none"), ("semi", "off", "lawc")] {
            for mode in ["static", "dynamic"] {
                let settings = [&remedies(scheme, preemption, idle, cache, "raid5")[..], &SLC, &[("ssd.slc.mode", mode)]].concat();
                let report = run(&settings).unwrap_or_else(|error| panic!("{settings:?}: {error}"));
                assert_eq!(report.requests.all, 1500, "{settings:?}");
                let drive = report.drive.unwrap();
                let slc = drive.slc.unwrap();
                assert!(mode == "dynamic" || slc.units_programmed > 0, "{settings:?}");
                assert!(slc.units_programmed <= drive.units_programmed && slc.units_folded <= drive.units_moved, "{settings:?}");
            }
        }
    }
    assert!(run(&remedies("local", "none", "off", "none", "raid5")).unwrap().drive.unwrap().slc.is_none());
}

/// One bit per cell absorbs bursts, when there is time to fold between them.
#[test]
fn one_bit_per_cell_takes_bursts_faster_and_is_folded_in_between() {
    // Each burst is 1.6 MB and comes faster than dies program three bits per cell. The buffer holds less than a burst. The superblocks with
    // one bit hold a little more.
    const BURSTS: [(&str, &str); 8] = [
        ("array.level", "single"),
        ("array.members", "1"),
        ("workload.requests", "3000"),
        ("workload.read_fraction", "0"),
        ("workload.size", "16KiB"),
        ("workload.arrivals", "{ process = \"bursts\", mean_gap = \"2ms\", factor = 500, burst_requests = 100 }"),
        ("ssd.gc.idle", "2ms"),
        ("ssd.buffer.size", "600KiB"),
    ];
    let of = |slc: &[(&str, &str)]| run(&[&BURSTS[..], slc].concat()).unwrap();
    let (without, with) = (of(&[]), of(&SLC));
    let mean = |report: &Report| report.response_us.write.mean.unwrap();
    assert!(mean(&with) < 0.75 * mean(&without), "{} us with one bit per cell, {} without", mean(&with), mean(&without));
    let drive = with.drive.as_ref().unwrap();
    let slc = drive.slc.as_ref().unwrap();
    // All writes of the host went to one bit per cell. Most of it was folded; what was overwritten earlier was not.
    assert_eq!(slc.units_programmed, drive.units_programmed);
    assert!(slc.units_folded > slc.units_programmed / 2 && slc.units_folded <= slc.units_programmed, "{slc:?}");
    let write_amplification = |report: &Report| report.drive.as_ref().unwrap().write_amplification.unwrap();
    assert!(write_amplification(&with) > write_amplification(&without) + 0.5);
}

/// Upkeep, which is refreshing and wear levelling, runs with all remedies of an array.
#[test]
fn remedies_run_on_drives_with_upkeep() {
    const UPKEEP: [(&str, &str); 2] = [("ssd.superblock.refresh_reads", "2"), ("ssd.superblock.wear_difference", "2")];
    for scheme in SCHEMES {
        for (preemption, idle, cache) in [("none", "300us", "wow"), ("suspend", "off", "none"), ("semi", "off", "lawc")] {
            let settings = [&remedies(scheme, preemption, idle, cache, "raid5")[..], &UPKEEP].concat();
            let report = run(&settings).unwrap_or_else(|error| panic!("{settings:?}: {error}"));
            assert_eq!(report.requests.all, 1500, "{settings:?}");
            let upkeep = report.drive.unwrap().upkeep.unwrap();
            assert!(upkeep.refreshed + upkeep.levelled > 0, "{settings:?}");
        }
    }
}

/// Half of the addresses are never written again. Superblocks with such data are not erased, unless wear levelling moves the data.
#[test]
fn wear_levelling_keeps_superblocks_together() {
    const COLD: [(&str, &str); 7] = [
        ("array.level", "single"),
        ("array.members", "1"),
        ("workload.requests", "12000"),
        ("workload.read_fraction", "0"),
        ("workload.address.footprint", "50%"),
        ("ssd.warm_up.overwrites", "0"),
        ("workload.arrivals", "{ process = \"poisson\", mean_gap = \"2ms\" }"),
    ];
    let of = |settings: &[(&str, &str)]| run(&[&COLD[..], settings].concat()).unwrap();
    let spread = |report: &Report| report.flash.wear.stddev;
    let without = of(&[]);
    let [coarse, fine] = ["8", "3"].map(|difference| of(&[("ssd.superblock.wear_difference", difference)]));
    let upkeep = |report: &Report| report.drive.as_ref().unwrap().upkeep.clone().unwrap();
    assert!(upkeep(&fine).levelled > upkeep(&coarse).levelled && upkeep(&coarse).levelled > 0);
    let (fine_spread, coarse_spread, most) = (spread(&fine), spread(&coarse), spread(&without));
    assert!(fine_spread < 0.5 * coarse_spread && coarse_spread < 0.7 * most, "{fine_spread} {coarse_spread} {most}");
    // Wear levelling costs writes: cold data are programmed again.
    let amplification = |report: &Report| report.drive.as_ref().unwrap().write_amplification.unwrap();
    assert!(amplification(&fine) > amplification(&without));
}
