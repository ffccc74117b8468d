//! Tests the direction of dependencies. A folder of the model uses only folders below it, and so do crates (ARCHITECTURE.md,
//! "Invariants").

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Folders that each folder of the model uses. Only folders that are named earlier are allowed, so no two use each other.
const FOLDERS: &[(&str, &[&str])] = &[
    ("counts", &[]),
    ("events", &[]),
    ("ids", &[]),
    ("request", &[]),
    ("rng", &[]),
    ("units", &["events"]),
    ("flash", &["units"]),
    ("policy", &["rng"]),
    ("placement", &["request"]),
    ("cache", &["counts", "events", "ids", "placement", "policy", "request", "rng", "units"]),
    ("coordination", &["counts", "events", "ids", "policy", "request", "rng", "units"]),
    ("space", &["flash", "ids", "policy", "rng", "units"]),
    ("metrics", &["events", "request", "units"]),
    ("ssd", &["coordination", "counts", "events", "flash", "ids", "policy", "request", "rng", "space", "units"]),
    ("array", &["cache", "coordination", "events", "ids", "placement", "policy", "request", "rng", "space", "ssd", "units"]),
];

/// Parts that each part of an SSD uses, in the same order. `Ssd` holds all parts, and none uses it.
const PARTS: &[(&str, &[&str])] = &[
    ("job", &[]),
    ("mechanism", &[]),
    ("usage", &[]),
    ("wire", &[]),
    ("work_times", &[]),
    ("outbox", &["job"]),
    ("params", &["mechanism"]),
    ("counters", &["params"]),
    ("agent", &["job", "outbox"]),
    ("collect", &["job", "params"]),
    ("front", &["counters", "job", "outbox", "params", "wire", "work_times"]),
    ("parts", &["agent", "counters", "outbox", "params", "usage", "work_times"]),
    ("die::activity", &["job", "mechanism", "parts"]),
    ("die::pages", &["agent", "collect", "die::activity", "front", "job", "mechanism", "outbox", "params", "parts", "wire"]),
    (
        "die::superpages",
        &["agent", "collect", "counters", "die::activity", "front", "job", "mechanism", "outbox", "params", "parts", "wire"],
    ),
    ("die", &["counters", "die::pages", "die::superpages", "front", "job", "mechanism", "outbox", "params", "parts"]),
];

/// Crates that each crate uses, in the same order.
const CRATES: &[(&str, &[&str])] = &[
    ("flashraid-model", &[]),
    ("flashraid-workload", &["flashraid-model"]),
    ("flashraid-driver", &["flashraid-model", "flashraid-workload"]),
    ("flashraid", &["flashraid-driver", "flashraid-model", "flashraid-workload"]),
    ("flashraid-bench", &["flashraid", "flashraid-model", "flashraid-workload"]),
    ("flashraid-c", &["flashraid"]),
    ("flashraid-experiments", &["flashraid", "flashraid-model", "flashraid-workload"]),
    ("flashraid-report", &["flashraid", "flashraid-model"]),
    ("flashraid-fit", &["flashraid", "flashraid-report"]),
    ("flashraid-python", &["flashraid", "flashraid-experiments", "flashraid-report"]),
    ("flashraid-unit-tests", &["flashraid-model"]),
    (
        "flashraid-cli",
        &[
            "flashraid",
            "flashraid-bench",
            "flashraid-experiments",
            "flashraid-fit",
            "flashraid-model",
            "flashraid-report",
            "flashraid-workload",
        ],
    ),
];

#[test]
fn every_folder_of_the_model_uses_only_what_stands_below_it() {
    assert_no_circle(FOLDERS);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = BTreeSet::new();
    for file in rust_files(&source) {
        let inside = file.strip_prefix(&source).expect("it was found there");
        let folder = inside.components().next().expect("a file has a name").as_os_str().to_string_lossy().replace(".rs", "");
        if folder == "lib" {
            continue;
        }
        found.insert((folder.clone(), None));
        for line in fs::read_to_string(&file).expect("source is readable").lines().filter(|line| !line.trim_start().starts_with("//")) {
            for path in line.split("crate::").skip(1) {
                let used = path.split(|c: char| !c.is_alphanumeric() && c != '_').next().expect("a path has a head");
                // The names of the crate's root: a type, and a macro, which stands there whatever file it is in.
                let used = match used {
                    "TimeNs" => "events",
                    "quantity_impls" => "units",
                    used => used,
                };
                assert!(!used.is_empty(), "{}: one path for each use, or this test does not see what is used: {line}", inside.display());
                if used != folder {
                    found.insert((folder.clone(), Some(used.to_owned())));
                }
            }
        }
    }
    assert_eq!(found, listed(FOLDERS), "left: what the source uses, right: what this test allows");
}

#[test]
fn every_part_of_an_ssd_uses_only_what_stands_below_it() {
    assert_no_circle(PARTS);
    let ssd = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ssd");
    let mut found = BTreeSet::new();
    for file in rust_files(&ssd) {
        let inside = file.strip_prefix(&ssd).expect("it was found there").with_extension("");
        let names: Vec<String> = inside.components().map(|name| name.as_os_str().to_string_lossy().into_owned()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).filter(|name| *name != "mod").collect();
        let part = match names[..] {
            // The SSD itself, and what tests and warm-ups do with it.
            [] | ["warm_up" | "tiny"] => continue,
            ["die", folder, ..] => format!("die::{folder}"),
            [part, ..] => part.to_owned(),
        };
        found.insert((part.clone(), None));
        // In these files `super` is the SSD, or the folder of its dies.
        let above = match (names.len(), file.ends_with("mod.rs")) {
            (1, _) => Some(""),
            (2, true) if names[0] == "die" => Some("die::"),
            _ => None,
        };
        let source = fs::read_to_string(&file).expect("source is readable");
        let source = source.split("#[cfg(test)]\nmod tests {").next().expect("a first part");
        for line in source.lines().filter(|line| !line.trim_start().starts_with("//")) {
            let by_name = line.split("crate::ssd::").skip(1).map(|path| ("", path));
            let by_super = line.split("super::").skip(1).filter_map(|path| above.map(|above| (above, path)));
            let own = line.trim_start_matches("pub ").strip_prefix("use ").filter(|path| part == "die" && !path.starts_with("crate"));
            let by_folder = own.filter(|path| !path.starts_with("super::")).map(|path| ("die::", path));
            for (folder, path) in by_name.chain(by_super).chain(by_folder) {
                let mut names = path.split("::").map(|name| name.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(""));
                let mut used = format!("{folder}{}", names.next().expect("a path has a head"));
                if used == "die" {
                    used = format!("die::{}", names.next().expect("a path into the folder of dies"));
                }
                assert!(
                    !used.is_empty() && !used.starts_with(char::is_uppercase),
                    "{}: a part is used by its name: {line}",
                    file.display()
                );
                if used != part && !path.starts_with('{') {
                    found.insert((part.clone(), Some(used)));
                }
            }
        }
    }
    assert_eq!(found, listed(PARTS), "left: what the source uses, right: what this test allows");
}

#[test]
fn every_crate_uses_only_what_stands_below_it() {
    assert_no_circle(CRATES);
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(crates()).expect("the folder of all crates is readable") {
        let folder = entry.expect("an entry").path();
        let Ok(manifest) = fs::read_to_string(folder.join("Cargo.toml")) else { continue };
        let name = folder.file_name().expect("it has a name").to_string_lossy().into_owned();
        found.insert((name.clone(), None));
        let mut section = "";
        for line in manifest.lines() {
            if line.starts_with('[') {
                section = line;
            }
            // Tests may use every crate, and an optional one only lends its features.
            let used = line.split(['.', ' ', '=']).next().expect("a first part");
            if section == "[dependencies]" && (used == "flashraid" || used.starts_with("flashraid-")) && !line.contains("optional = true") {
                found.insert((name.clone(), Some(used.to_owned())));
            }
        }
    }
    assert_eq!(found, listed(CRATES), "left: what the manifests say, right: what this test allows");
}

/// A part of a crate is a file or a folder below `src`. Files of one folder may use each other; parts may not.
#[test]
fn no_parts_of_a_crate_use_each_other_in_a_circle() {
    for entry in fs::read_dir(crates()).expect("the crates") {
        let source = entry.expect("a crate").path().join("src");
        let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        // Names that the root of the crate takes from its parts, each with the part.
        let root = fs::read_to_string(source.join("lib.rs")).unwrap_or_default();
        let taken = root.split("\npub use ").skip(1).filter_map(|line| line.split(';').next()?.split_once("::"));
        let of_root: BTreeMap<&str, &str> = taken
            .flat_map(|(part, names)| names.split([',', ' ', '\n', '{', '}']).map(move |name| (name, part)))
            .filter(|(name, _)| !name.is_empty())
            .collect();
        for file in if source.exists() { rust_files(&source) } else { Vec::new() } {
            let inside = file.strip_prefix(&source).expect("it was found there").with_extension("");
            let names: Vec<_> = inside.components().map(|name| name.as_os_str().to_string_lossy().into_owned()).collect();
            let (part, depth) = (&names[0], names.iter().filter(|name| *name != "mod").count());
            let text = fs::read_to_string(&file).expect("source is readable");
            let text = text.split("#[cfg(test)]\nmod tests {").next().expect("a first part");
            let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
            let name = |path: &str| path.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("").to_owned();
            for path in code.split("crate::").skip(1).chain(code.split(&"super::".repeat(depth)).skip(1)) {
                let group = path.strip_prefix('{').and_then(|group| group.split('}').next()).unwrap_or(path);
                let heads = if path.starts_with('{') { group.split(',').collect() } else { vec![group] };
                let name = |head: &str| of_root.get(name(head).as_str()).map_or_else(|| name(head), |part| (*part).to_owned());
                uses.entry(part.clone()).or_default().extend(heads.into_iter().map(|head| name(head.trim())).filter(|head| head != part));
            }
        }
        uses.retain(|part, _| !["lib", "main", "bin"].contains(&part.as_str()));
        // Parts that use only what is gone go, until what is left are circles and what uses them.
        while let Some(part) = uses.iter().find(|(_, used)| !used.iter().any(|used| uses.contains_key(used))).map(|(part, _)| part.clone())
        {
            uses.remove(&part);
        }
        let left: BTreeSet<String> = uses.keys().cloned().collect();
        uses.values_mut().for_each(|used| used.retain(|used| left.contains(used)));
        assert!(uses.is_empty(), "{} has circles among these, each with what it uses: {uses:#?}", source.display());
    }
}

/// Methods of an array that code outside the model calls.
const DOOR: [&str; 12] = [
    "advance",
    "counters",
    "members",
    "new",
    "next_time",
    "prefetch_into_cpu_cache",
    "announce_milestone",
    "shape",
    "submit",
    "submit_many",
    "untimed_access",
    "verify",
];

#[test]
fn an_array_has_a_dozen_methods() {
    let mut found = BTreeSet::new();
    for file in rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
        let text = fs::read_to_string(&file).expect("source is readable");
        for block in text.split("\nimpl Array {\n").skip(1) {
            let block = block.split("\n}\n").next().expect("a text has a first part");
            let methods = block.lines().filter_map(|line| line.strip_prefix("    pub fn "));
            found.extend(methods.map(|method| method.split(['(', '<']).next().expect("a method has a name").to_owned()));
        }
    }
    assert_eq!(found, DOOR.map(str::to_owned).into(), "left: public methods of `Array`, right: what this test allows");
}

/// A policy is added by its file and a line, so no other source names one. Greedy is an exception: it is the default, and has its own hint.
/// Configurations are texts, and may name all policies.
#[test]
fn no_victim_policy_is_named_elsewhere() {
    let mut elsewhere = Vec::new();
    for entry in fs::read_dir(crates()).expect("the crates") {
        let source = entry.expect("a crate").path().join("src");
        for file in if source.exists() { rust_files(&source) } else { Vec::new() } {
            let source = fs::read_to_string(&file).expect("a source");
            // What stands in tests inside a file comes last.
            let source = source.split("#[cfg(test)]").next().expect("a first part");
            // MQSim has four of the policies under names of its own.
            let is_own = file.parent().is_some_and(|folder| folder.ends_with("space/victim")) || file.ends_with("exchange/mqsim/export.rs");
            for name in
                ["GreedyWearAware", "CostBenefit", "DChoices", "Fifo {", "victim::Random", "VictimPolicy::Random", "VictimPolicy::Fifo"]
            {
                if !is_own && source.contains(name) {
                    elsewhere.push(format!("{}: {name}", file.display()));
                }
            }
        }
    }
    assert!(elsewhere.is_empty(), "{elsewhere:#?}");
}

fn assert_no_circle(layers: &[(&str, &[&str])]) {
    for (index, (user, used)) in layers.iter().enumerate() {
        for used in *used {
            assert!(layers[..index].iter().any(|(lower, _)| lower == used), "{user} uses {used}, which does not stand below it");
        }
    }
}

/// Every layer by itself and with each that it uses.
fn listed(layers: &[(&str, &[&str])]) -> BTreeSet<(String, Option<String>)> {
    let pairs = |&(user, used): &(&str, &[&str])| {
        let alone = std::iter::once((user.to_owned(), None));
        alone.chain(used.iter().map(|used| (user.to_owned(), Some((*used).to_owned())))).collect::<Vec<_>>()
    };
    layers.iter().flat_map(pairs).collect()
}

/// The folder of all crates.
fn crates() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder of all crates")
}

/// All files but those that hold tests only, which may use everything.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of the source") {
        let path = entry.expect("an entry of the source").path();
        let name = path.file_name().expect("an entry has a name").to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "tests" {
                files.extend(rust_files(&path));
            }
        } else if name.ends_with(".rs") && !name.contains("tests") {
            files.push(path);
        }
    }
    files
}
