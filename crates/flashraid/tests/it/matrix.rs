//! Tests combinations of remedies, on a drive of today and on the papers' SSDs, with a check of the whole state and Little's law.
//!
//! A table of the book lists which settings are refused on which kind of device, and why. Nothing else is refused.

use std::collections::BTreeSet;

use flashraid::config::GcConfig;
use flashraid::{Report, Simulation};
use flashraid_model::space::victim::VictimPolicy;

/// An array so small that a short load makes it collect all the time.
const BASE: &str = r#"
[array]
level = "raid5"
members = 3
stripe_unit = "16KiB"
[ssd.geometry]
dies = 2
planes = 2
[ssd.warm_up]
pattern = "random"
overwrites = 1
[coordination]
check_interval = "200us"
idle_threshold = "100us"
[workload]
kind = "synthetic"
read_fraction = 0.4
arrivals = { process = "closed", depth = 16 }
"#;

/// A kind of device that suits the small load: its name in the book, and its settings.
type Kind = (&'static str, &'static [(&'static str, &'static str)]);

const DRIVES: Kind = (
    "superblocks",
    &[
        ("ssd.scale", "1"),
        ("ssd.channel.dies_per_channel", "2"),
        ("ssd.geometry.blocks", "40"),
        ("ssd.geometry.pages", "72"),
        ("ssd.geometry.reserved", "0.45"),
        ("ssd.superblock.cache_read", "true"),
        ("cache.size", "384KiB"),
        ("workload.requests", "3000"),
    ],
);

const POOLS: Kind = (
    "pools",
    &[
        ("ssd.geometry.blocks", "32"),
        ("ssd.geometry.pages", "16"),
        ("ssd.geometry.reserved", "0.3"),
        ("ssd.gc.start", "2 blocks"),
        ("cache.size", "96KiB"),
        ("workload.requests", "1500"),
    ],
);

const DEPTH: f64 = 16.0;

/// A value of a factor: its name, and the settings that select it.
type Value = (&'static str, &'static [(&'static str, &'static str)]);

/// All values of one factor, such as the scheme or the cache.
type Factor = Vec<Value>;

const PREEMPTION: &[Value] = &[
    ("none", &[("ssd.gc.preemption", "none")]),
    ("semi", &[("ssd.gc.preemption", "semi")]),
    ("semi with all", &[("ssd.gc.preemption", "semi"), ("ssd.gc.merge", "true"), ("ssd.gc.pipeline", "in-flight")]),
    ("suspend", &[("ssd.gc.preemption", "suspend"), ("ssd.gc.merge", "true"), ("ssd.gc.pipeline", "true")]),
];

const SCHEMES: &[Value] = &[
    ("local", &[("coordination.scheme", "local")]),
    ("reactive-inclusive", &[("coordination.scheme", "reactive-inclusive")]),
    ("reactive-selective", &[("coordination.scheme", "reactive-selective")]),
    ("proactive-idle", &[("coordination.scheme", "proactive-idle")]),
    ("proactive-soft-limit", &[("coordination.scheme", "proactive-soft-limit")]),
    ("stagger", &[("coordination.scheme", "stagger"), ("coordination.retry", "50us")]),
    ("windows", &[("coordination.scheme", "windows"), ("coordination.window", "20ms"), ("coordination.buffer", "5ms")]),
    ("rotate", &[("coordination.scheme", "rotate")]),
    ("ideal", &[("coordination.scheme", "ideal")]),
];

/// Write caches, each with the read plans that it allows.
const CACHES: &[Value] = &[
    ("no cache", &[("cache.policy", "none")]),
    ("no cache, avoid", &[("cache.policy", "none"), ("read.plan", "avoid")]),
    ("wow", &[("cache.policy", "wow")]),
    ("no cache, hedge", &[("cache.policy", "none"), ("read.plan", "hedge"), ("read.learn", "20")]),
    ("wow, avoid", &[("cache.policy", "wow"), ("read.plan", "avoid"), ("read.knowledge", "member")]),
    ("wow, predict", &[("cache.policy", "wow"), ("read.plan", "predict"), ("read.then_hedge", "true"), ("read.learn", "20")]),
    ("lawc", &[("cache.policy", "lawc")]),
];

const IDLE: &[Value] = &[("idle off", &[("ssd.gc.idle", "off")]), ("idle on", &[("ssd.gc.idle", "100us")])];

const FRONTS: &[Value] = &[
    ("no front", &[]),
    ("buffer", &[("ssd.buffer.size", "64KiB")]),
    (
        "buffer, queues, cores",
        &[
            ("ssd.buffer.size", "64KiB"),
            ("ssd.queues.commands", "4"),
            ("ssd.firmware.cores", "2"),
            ("ssd.firmware.read", "3us"),
            ("ssd.firmware.write", "5us"),
        ],
    ),
];

const VICTIMS: &[Value] = &[
    ("greedy", &[("ssd.gc.victim", "greedy")]),
    ("greedy-wear-aware", &[("ssd.gc.victim", "greedy-wear-aware")]),
    ("cost-benefit", &[("ssd.gc.victim", "cost-benefit")]),
    ("d-choices", &[("ssd.gc.victim", "d-choices")]),
    ("fifo", &[("ssd.gc.victim", "fifo")]),
    ("random", &[("ssd.gc.victim", "random")]),
];

fn drives() -> (Kind, Vec<Factor>) {
    let devices = vec![("nvme-tlc-read", &[("ssd.preset", "nvme-tlc-read")][..]), ("nvme-gen5", &[("ssd.preset", "nvme-gen5")][..])];
    (DRIVES, vec![devices, VICTIMS.to_vec(), PREEMPTION.to_vec(), IDLE.to_vec(), SCHEMES.to_vec(), CACHES.to_vec()])
}

fn pools() -> (Kind, Vec<Factor>) {
    let devices = vec![("ggc2014", &[("ssd.preset", "ggc2014")][..]), ("pgc2011", &[("ssd.preset", "pgc2011")][..])];
    (POOLS, vec![devices, FRONTS.to_vec(), PREEMPTION.to_vec(), SCHEMES.to_vec(), CACHES.to_vec()])
}

/// Returns all combinations of values. Each is a row with the index of a value for each factor.
fn all(factors: &[Factor]) -> Vec<Vec<usize>> {
    factors.iter().fold(vec![Vec::new()], |rows, factor| {
        rows.iter().flat_map(|row| (0..factor.len()).map(move |value| [&row[..], &[value]].concat())).collect()
    })
}

/// Two factors, each with one of its values, as indices.
type Pair = ((usize, usize), (usize, usize));

fn pairs_of(row: &[usize]) -> impl Iterator<Item = Pair> + '_ {
    (0..row.len()).flat_map(move |a| (a + 1..row.len()).map(move |b| ((a, row[a]), (b, row[b]))))
}

/// Chooses combinations until each two values of two factors are together in one. Each choice covers most of the pairs that are left.
fn pairwise(factors: &[Factor]) -> Vec<Vec<usize>> {
    let rows = all(factors);
    let mut left: BTreeSet<Pair> = rows.iter().flat_map(|row| pairs_of(row).collect::<Vec<_>>()).collect();
    let mut chosen = Vec::new();
    while !left.is_empty() {
        let gain = |row: &[usize]| pairs_of(row).filter(|pair| left.contains(pair)).count();
        // The iterator is reversed because `max_by_key` returns the last of equal items.
        let best = rows.iter().rev().max_by_key(|row| gain(row)).expect("there are combinations").clone();
        pairs_of(&best).for_each(|pair| {
            left.remove(&pair);
        });
        chosen.push(best);
    }
    chosen
}

#[test]
fn any_two_values_of_two_factors_meet() {
    for (_, factors) in [drives(), pools()] {
        let chosen = pairwise(&factors);
        for a in 0..factors.len() {
            for b in a + 1..factors.len() {
                let met: BTreeSet<_> = chosen.iter().map(|row| (row[a], row[b])).collect();
                assert_eq!(met.len(), factors[a].len() * factors[b].len());
            }
        }
        let mut values: Vec<_> = factors.iter().map(Vec::len).collect();
        values.sort_unstable();
        let needed = values.iter().rev().take(2).product::<usize>();
        assert!(chosen.len() <= needed + needed / 5, "{} combinations are many more than the {needed} that are needed", chosen.len());
    }
}

fn simulate((_, of_kind): Kind, settings: &[(&str, &str)]) -> Result<Report, String> {
    let simulated = || {
        let simulation = Simulation::from_toml(BASE)?;
        of_kind.iter().chain(settings).try_fold(simulation, |simulation, (key, value)| simulation.set(key, value))?.verify().run()
    };
    let report = std::panic::catch_unwind(simulated).map_err(|_| "the model panicked".to_owned())?;
    report.map_err(|error| error.to_string())
}

/// Simulates combinations on all processors. Returns the sum of their erased blocks, and of their forced collections.
fn run_all(kind: Kind, factors: &[Factor], rows: &[Vec<usize>]) -> (u64, u64) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = std::sync::atomic::AtomicUsize::new(0);
    let of_thread = || {
        let (mut failed, mut erases, mut forced) = (Vec::new(), 0, 0);
        while let Some(row) = rows.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
            let values: Vec<Value> = factors.iter().zip(row).map(|(factor, &value)| factor[value]).collect();
            let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
            let settings: Vec<(&str, &str)> = values.iter().flat_map(|(_, settings)| settings.iter().copied()).collect();
            let report = match simulate(kind, &settings) {
                Ok(report) => report,
                Err(why) => {
                    failed.push(format!("{}: {why}", names.join(", ")));
                    continue;
                }
            };
            // Little's law: a closed loop keeps as many requests outstanding as its depth.
            let outstanding = report.iops.all.unwrap_or(0.0) * report.response_us.all.mean.unwrap_or(0.0) / 1e6;
            if (outstanding / DEPTH - 1.0).abs() > 0.02 {
                failed.push(format!("{}: {outstanding:.3} requests outstanding instead of {DEPTH}", names.join(", ")));
            }
            erases += report.flash.erases;
            forced += report.gc.messages.get("ForceGc").copied().unwrap_or(0);
        }
        (failed, erases, forced)
    };
    let found: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(of_thread)).collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread ends")).collect()
    });
    let failed: Vec<String> = found.iter().flat_map(|(failed, ..)| failed.clone()).collect();
    assert!(failed.is_empty(), "{} of {} combinations fail:\n{}", failed.len(), rows.len(), failed.join("\n"));
    (found.iter().map(|found| found.1).sum(), found.iter().map(|found| found.2).sum())
}

fn run_pairs((kind, factors): (Kind, Vec<Factor>)) {
    let rows = pairwise(&factors);
    let (erases, forced) = run_all(kind, &factors, &rows);
    assert!(erases > 100 * rows.len() as u64, "{erases} erases in {} runs: the load is too small", rows.len());
    assert!(forced > rows.len() as u64, "{forced} forced collections in {} runs", rows.len());
}

#[test]
fn any_two_remedies_go_together_on_drives_of_today() {
    run_pairs(drives());
}

#[test]
fn any_two_remedies_go_together_on_the_papers_ssds() {
    run_pairs(pools());
}

#[test]
#[ignore = "takes minutes: make test-long"]
fn all_remedies_go_together_on_all_devices() {
    for (kind, factors) in [drives(), pools()] {
        run_all(kind, &factors, &all(&factors));
    }
}

#[test]
fn all_victim_policies_are_factors() {
    let names: Vec<&str> = VICTIMS.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, VictimPolicy::NAMES);
}

/// Further settings of an SSD, each with a value other than its default, and with the settings that it depends on.
const SETTINGS: &[(&str, &[(&str, &str)])] = &[
    ("ssd.allocation = \"dynamic\"", &[("ssd.allocation", "dynamic")]),
    ("ssd.die_stride = 2", &[("ssd.die_stride", "2")]),
    ("ssd.plane_choice = \"rotate\"", &[("ssd.plane_choice", "rotate")]),
    ("ssd.summary_page = \"spread\"", &[("ssd.summary_page", "spread")]),
    ("ssd.fill_seals_last_block = false", &[("ssd.fill_seals_last_block", "false")]),
    ("ssd.timing.command_overhead", &[("ssd.timing.command_overhead", "1us")]),
    ("ssd.transfer = \"none\"", &[("ssd.transfer", "none")]),
    ("ssd.link", &[("ssd.link", "300MB/s")]),
    ("ssd.write_zeroes = \"deallocate\"", &[("ssd.write_zeroes", "deallocate")]),
    ("ssd.buffer", &[("ssd.buffer.size", "256KiB")]),
    ("ssd.buffer.linger", &[("ssd.buffer.size", "256KiB"), ("ssd.buffer.linger", "1ms")]),
    ("ssd.queues", &[("ssd.queues.queues", "2")]),
    ("ssd.firmware", &[("ssd.firmware.read", "1us")]),
    ("ssd.firmware.move", &[("ssd.firmware.move", "1us")]),
    ("ssd.suspension", &[("ssd.suspension.program.suspend", "50us"), ("ssd.gc.preemption", "suspend")]),
    ("ssd.placement_handles", &[("ssd.placement_handles.handles", "2")]),
    ("ssd.slc", &[("ssd.slc.mode", "dynamic"), ("ssd.slc.share", "0.5"), ("ssd.slc.program", "200us"), ("ssd.slc.read", "20us")]),
    ("ssd.scale", &[("ssd.scale", "2")]),
    ("ssd.scale_by", &[("ssd.scale_by", "width")]),
    ("ssd.warm_up.start = \"fresh\"", &[("ssd.warm_up.start", "fresh")]),
    ("ssd.warm_up.pattern = \"steady\"", &[("ssd.warm_up.pattern", "steady")]),
    ("ssd.warm_up.pattern = \"workload\"", &[("ssd.warm_up.pattern", "workload")]),
    ("ssd.gc.procedure", &[("ssd.gc.procedure", "reference-no-copy-back"), ("ssd.gc.pool", "die"), ("ssd.gc.copy_back", "false")]),
    ("ssd.gc.victim", &[("ssd.gc.victim", "fifo")]),
    ("ssd.gc.start", &[("ssd.gc.start", "3 blocks")]),
    ("ssd.gc.stop", &[("ssd.gc.stop", "start+2")]),
    ("ssd.gc.trigger = \"write\"", &[("ssd.gc.trigger", "write")]),
    ("ssd.gc.pool = \"die\"", &[("ssd.gc.pool", "die")]),
    ("ssd.gc.blocking = \"plane\"", &[("ssd.gc.blocking", "plane")]),
    ("ssd.gc.separate_open_block = true", &[("ssd.gc.separate_open_block", "true")]),
    ("ssd.gc.copy_back = false", &[("ssd.gc.copy_back", "false")]),
    ("ssd.gc.parallel_planes = true", &[("ssd.gc.parallel_planes", "true")]),
    ("ssd.gc.parallel_planes with ssd.gc.pool = \"die\"", &[("ssd.gc.parallel_planes", "true"), ("ssd.gc.pool", "die")]),
    ("ssd.gc.parallel_planes with ssd.gc.blocking = \"plane\"", &[("ssd.gc.parallel_planes", "true"), ("ssd.gc.blocking", "plane")]),
    ("ssd.gc.parallel_planes with ssd.gc.copy_back = false", &[("ssd.gc.parallel_planes", "true"), ("ssd.gc.copy_back", "false")]),
    ("ssd.gc.parallel_planes with ssd.gc.preemption = \"semi\"", &[("ssd.gc.parallel_planes", "true"), ("ssd.gc.preemption", "semi")]),
    ("ssd.gc.preemption = \"semi\"", &[("ssd.gc.preemption", "semi")]),
    ("ssd.gc.preemption = \"suspend\"", &[("ssd.gc.preemption", "suspend")]),
    ("ssd.gc.t_hard", &[("ssd.gc.preemption", "semi"), ("ssd.gc.t_hard", "0.3")]),
    ("ssd.gc.pipeline", &[("ssd.gc.preemption", "semi"), ("ssd.gc.pipeline", "true")]),
    ("ssd.gc.merge", &[("ssd.gc.preemption", "semi"), ("ssd.gc.merge", "true")]),
    ("ssd.gc.reorder", &[("ssd.gc.preemption", "semi"), ("ssd.gc.merge", "true"), ("ssd.gc.reorder", "true")]),
    ("ssd.gc.poll", &[("ssd.gc.preemption", "semi"), ("ssd.gc.poll", "1us")]),
    ("ssd.gc.suspend_ns", &[("ssd.gc.preemption", "suspend"), ("ssd.gc.suspend_ns", "100")]),
    ("ssd.gc.resume_ns", &[("ssd.gc.preemption", "suspend"), ("ssd.gc.resume_ns", "100")]),
    ("ssd.gc.suspensions_max", &[("ssd.gc.preemption", "suspend"), ("ssd.gc.suspensions_max", "3")]),
    ("ssd.gc.idle", &[("ssd.gc.idle", "1ms")]),
    ("ssd.gc.reorder without ssd.gc.merge", &[("ssd.gc.preemption", "semi"), ("ssd.gc.reorder", "true")]),
    ("ssd.gc.blocking = \"plane\" with ssd.gc.pool = \"die\"", &[("ssd.gc.blocking", "plane"), ("ssd.gc.pool", "die")]),
    (
        "ssd.gc.pipeline without ssd.superblock.cache_read",
        &[("ssd.gc.preemption", "semi"), ("ssd.gc.pipeline", "true"), ("ssd.superblock.cache_read", "false")],
    ),
    ("read.plan = \"avoid\"", &[("read.plan", "avoid")]),
    ("read.plan = \"avoid\" with cache.policy = \"iwc\"", &[("read.plan", "avoid"), ("cache.policy", "iwc")]),
    ("read.plan = \"avoid\" with cache.policy = \"iwc-sync\"", &[("read.plan", "avoid"), ("cache.policy", "iwc-sync")]),
    ("read.plan = \"avoid\" with cache.policy = \"lawc\"", &[("read.plan", "avoid"), ("cache.policy", "lawc")]),
    ("read.plan = \"hedge\"", &[("read.plan", "hedge")]),
    ("read.plan = \"hedge\" with cache.policy = \"iwc\"", &[("read.plan", "hedge"), ("cache.policy", "iwc")]),
    ("read.plan = \"hedge\" with cache.policy = \"iwc-sync\"", &[("read.plan", "hedge"), ("cache.policy", "iwc-sync")]),
    ("read.plan = \"hedge\" with cache.policy = \"lawc\"", &[("read.plan", "hedge"), ("cache.policy", "lawc")]),
    ("read.plan = \"predict\"", &[("read.plan", "predict")]),
    ("read.plan = \"predict\" with cache.policy = \"iwc\"", &[("read.plan", "predict"), ("cache.policy", "iwc")]),
    ("read.plan = \"predict\" with cache.policy = \"iwc-sync\"", &[("read.plan", "predict"), ("cache.policy", "iwc-sync")]),
    ("read.plan = \"predict\" with cache.policy = \"lawc\"", &[("read.plan", "predict"), ("cache.policy", "lawc")]),
    ("array.slow", &[("array.slow", "{member=0, factor=10, share=0.1}")]),
    (
        "ssd.slc with ssd.placement_handles",
        &[
            ("ssd.slc.mode", "dynamic"),
            ("ssd.slc.share", "0.5"),
            ("ssd.slc.program", "200us"),
            ("ssd.slc.read", "20us"),
            ("ssd.placement_handles.handles", "2"),
        ],
    ),
    (
        "ssd.warm_up.pattern = \"steady\" with ssd.warm_up.start = \"fresh\"",
        &[("ssd.warm_up.start", "fresh"), ("ssd.warm_up.pattern", "steady")],
    ),
];

/// Reads the table of refused settings from the book, as pairs of setting and kind of device.
fn refused_by_the_book() -> BTreeSet<(String, &'static str)> {
    let page = include_str!("../../../../docs/drives.md");
    let section = page.split("\n## Combinations\n").nth(1).expect("the page has the section");
    let section = section.split("\n## ").next().expect("a section ends");
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let mut found = BTreeSet::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [settings, kinds, reason] = cells[..] else { panic!("three cells: {row}") };
        assert!(reason.len() > 10, "a reason: {row}");
        for setting in settings.split("`, `").map(|setting| setting.trim_matches('`')) {
            assert!(SETTINGS.iter().any(|(name, _)| *name == setting), "the test knows no {setting:?}");
            for kind in kinds.split(", ") {
                let kind = [DRIVES.0, POOLS.0].into_iter().find(|name| *name == kind);
                found.insert((setting.to_owned(), kind.unwrap_or_else(|| panic!("a kind of device: {row}"))));
            }
        }
    }
    found
}

#[test]
fn what_is_refused_stands_in_the_book_and_nothing_else_is() {
    let mut refused = BTreeSet::new();
    for (kind, preset) in [(DRIVES, "nvme-tlc-read"), (POOLS, "ggc2014")] {
        for (name, settings) in SETTINGS {
            if kind == POOLS && settings.iter().any(|(key, _)| key.starts_with("ssd.superblock")) {
                continue;
            }
            let settings = [&[("ssd.preset", preset), ("workload.requests", "200")], *settings].concat();
            match simulate(kind, &settings) {
                Ok(report) => assert_eq!(report.requests.all, 200, "{name}"),
                Err(why) => {
                    let key = name.split(' ').next().expect("a name begins with a key");
                    assert!(why.contains(key), "{name} is refused for another reason: {why}");
                    refused.insert(((*name).to_owned(), kind.0));
                }
            }
        }
    }
    let by_the_book = refused_by_the_book();
    let only = |these: &BTreeSet<_>, those: &BTreeSet<_>| these.difference(those).cloned().collect::<Vec<(String, &str)>>();
    assert_eq!((only(&refused, &by_the_book), only(&by_the_book, &refused)), (Vec::new(), Vec::new()), "refused only here, or in the book");
}

/// A new key of collection must be added to [`SETTINGS`], which tries it on both kinds of device.
#[test]
fn all_keys_of_collection_are_tried() {
    let keys = serde_json::to_value(GcConfig::default()).unwrap();
    for key in keys.as_object().unwrap().keys() {
        let key = format!("ssd.gc.{key}");
        assert!(SETTINGS.iter().any(|(_, settings)| settings.iter().any(|(set, _)| *set == key)), "{key} is not tried");
    }
}

/// Failures around which a run is repeated. The first one comes at a different time in each run.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Failures {
    One,
    OneRebuilt,
    /// A second member fails after 200 µs, so that some requests are lost.
    Two,
}

/// Whenever a member fails, no request is forgotten: each ends or is lost. One failure loses none, with or without a rebuild.
#[test]
fn no_request_is_forgotten_whenever_a_member_fails() {
    const REQUESTS: u64 = 60;
    let home = ("home", &[("read.plan", "home")][..]);
    let plans: [Value; 3] = [
        ("avoid", &[("read.plan", "avoid")]),
        ("hedge", &[("read.plan", "hedge"), ("read.after", "100us"), ("read.cancel", "queued")]),
        ("predict", &[("read.plan", "predict"), ("read.then_hedge", "true"), ("read.after", "100us")]),
    ];
    let inclusive: Value = ("reactive-inclusive", &[("coordination.scheme", "reactive-inclusive")]);
    let rows: Vec<(Value, Value)> =
        SCHEMES.iter().map(|&scheme| (scheme, home)).chain(plans.iter().map(|&plan| (inclusive, plan))).collect();
    // The first requests take some hundred microseconds.
    let kinds = [Failures::One, Failures::OneRebuilt, Failures::Two];
    // Each row has moments of its own, so that all rows together see every one of 60.
    let every = if std::env::var_os("FLASHRAID_LONG").is_some() { 1 } else { 3 };
    let cases: Vec<(usize, u64, Failures)> = (0..rows.len())
        .flat_map(|row| (row % every..60).step_by(every).flat_map(move |step| kinds.map(|failures| (row, 1 + 9 * step as u64, failures))))
        .collect();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let of_thread = || {
        let (mut failed, mut lost_requests) = (Vec::new(), 0);
        while let Some(&(row, at_us, failures)) = cases.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
            let (scheme, plan) = rows[row];
            let second = if failures == Failures::Two { ", { member = 2, at = \"200us\" }" } else { "" };
            let failure = format!("[{{ member = 1, at = \"{at_us}us\" }}{second}]");
            let requests = REQUESTS.to_string();
            let mut settings = vec![
                ("ssd.preset", "ggc2014"),
                ("workload.requests", requests.as_str()),
                ("array.level", "raid5"),
                ("array.failure", failure.as_str()),
                ("cache.policy", "none"),
            ];
            if failures == Failures::OneRebuilt {
                settings.push(("array.rebuild", "{ rate = \"20MB/s\", in_flight = 2 }"));
            }
            settings.extend(scheme.1.iter().chain(plan.1));
            let seen = simulate(POOLS, &settings).map(|report| (report.requests.all, report.lost.requests));
            let may_lose = failures == Failures::Two;
            let is_right = seen.as_ref().is_ok_and(|&(done, lost)| done + lost == REQUESTS && (lost == 0 || may_lose));
            lost_requests += seen.as_ref().map_or(0, |&(_, lost)| lost);
            if !is_right {
                failed.push(format!("{}, {}, {at_us} us, {failures:?}: {seen:?}", scheme.0, plan.0));
            }
        }
        (failed, lost_requests)
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (failed, lost_requests): (Vec<Vec<String>>, Vec<u64>) = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(of_thread)).collect();
        running.into_iter().map(|thread| thread.join().expect("a thread does not panic")).unzip()
    });
    let failed = failed.concat();
    assert!(lost_requests.iter().sum::<u64>() > 0, "two failures lose requests");
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), cases.len(), failed.join("\n"));
}

/// Remedies of the table of the book, with the settings that select them.
const REMEDIES: &[Value] = &[
    ("avoid", &[("read.plan", "avoid")]),
    ("hedge", &[("read.plan", "hedge")]),
    ("predict", &[("read.plan", "predict")]),
    ("slow member", &[("array.slow", "{ member = 0, factor = 10, share = 0.1 }")]),
    ("stagger", &[("coordination.scheme", "stagger")]),
    ("windows", &[("coordination.scheme", "windows")]),
    ("rotate", &[("coordination.scheme", "rotate")]),
];

/// Columns of the table of the book: levels, and what the remedies are combined with.
const WITH: &[Value] = &[
    ("single", &[("array.level", "single"), ("array.members", "1")]),
    ("RAID-0", &[("array.level", "raid0")]),
    ("RAID-1", &[("array.level", "raid1"), ("array.members", "2")]),
    ("RAID-10", &[("array.level", "raid10"), ("array.members", "4")]),
    ("RAID-5", &[("array.level", "raid5")]),
    ("RAID-6", &[("array.level", "raid6"), ("array.members", "4")]),
    ("failure", &[("array.failure", "{ member = 1, at = \"1ms\" }")]),
    ("rebuild", &[("array.failure", "{ member = 1, at = \"1ms\" }"), ("array.rebuild", "{ rate = \"20MB/s\" }")]),
    ("`wow`", &[("cache.policy", "wow")]),
    ("`lawc`", &[("cache.policy", "lawc")]),
    ("`semi`", &[("ssd.gc.preemption", "semi")]),
    ("superblocks", &[]),
];

/// Returns what `check` says of a remedy.
fn verdict((name, remedy): Value, (column, with): Value) -> &'static str {
    let (kind, preset) = if column == "superblocks" { (DRIVES, "nvme-tlc-read") } else { (POOLS, "ggc2014") };
    let settings = [&[("ssd.preset", preset), ("cache.policy", "none")][..], kind.1, with, remedy].concat();
    let checked = Simulation::from_toml(BASE)
        .and_then(|simulation| settings.iter().try_fold(simulation, |simulation, (key, value)| simulation.set(key, value)))
        .and_then(|simulation| simulation.check());
    match checked {
        Ok(report) => {
            let says = |words: &str| report.warnings.iter().any(|warning| warning.contains(words));
            if says("has no effect with level") || says("has nothing to coordinate") { "no effect" } else { "works" }
        }
        Err(error) => {
            let key = remedy[0].0;
            assert!(error.to_string().contains(key), "{name} with {column} is refused for another reason: {error}");
            "refused"
        }
    }
}

#[test]
fn the_table_of_remedies_says_what_check_says() {
    let mut table = format!("| remedy | {} |\n|---|", WITH.iter().map(|with| with.0).collect::<Vec<_>>().join(" | "));
    table += &"---|".repeat(WITH.len());
    for &remedy in REMEDIES {
        let cells: Vec<&str> = WITH.iter().map(|&with| verdict(remedy, with)).collect();
        table += &format!("\n| {} | {} |", remedy.0, cells.join(" | "));
    }
    let page = include_str!("../../../../docs/drives.md").replace("\r\n", "\n");
    assert!(page.contains(&table), "docs/drives.md needs this table:\n{table}");
}
