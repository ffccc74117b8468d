//! The direction of dependencies: a module uses only what stands below it (ARCHITECTURE.md, "Who uses whom").

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What each module may use; `run`, `bench`, `warm_up` and `warm_state` stand on top and may use everything.
const MAY_USE: &[(&str, &[&str])] = &[
    ("agenda", &[]),
    ("rng", &[]),
    ("slab", &[]),
    ("units", &[]),
    ("flash", &[]),
    ("layout", &[]),
    // Of `ssd` only the parameters.
    ("ftl", &["flash", "rng", "ssd"]),
    ("workload", &["layout", "rng", "units"]),
    ("metrics", &["workload"]),
    // Of `coordination` only the messages.
    ("ssd", &["agenda", "coordination", "flash", "ftl", "metrics", "rng", "slab"]),
    ("coordination", &["agenda"]),
    ("cache", &["layout", "rng", "slab"]),
    ("array", &["agenda", "cache", "coordination", "layout", "metrics", "slab", "ssd", "workload"]),
    ("simulation", &["array", "cache", "coordination", "metrics", "slab", "ssd", "workload"]),
    ("report", &["array", "cache", "metrics", "ssd", "workload"]),
    ("config", &["array", "cache", "coordination", "flash", "layout", "metrics", "simulation", "ssd", "units", "workload"]),
    ("check", &["array", "config", "ssd", "units", "workload"]),
];

#[test]
fn every_module_uses_only_what_stands_below_it() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let allowed: BTreeMap<_, _> = MAY_USE.iter().copied().collect();
    let mut wrong = Vec::new();
    let mut uses = 0;
    for file in rust_files(&source) {
        let inside = file.strip_prefix(&source).expect("it was found there");
        let module = inside.components().next().expect("a file has a name").as_os_str().to_string_lossy().replace(".rs", "");
        let Some(allowed) = allowed.get(module.as_str()) else { continue };
        for line in fs::read_to_string(&file).expect("source is readable").lines() {
            let Some(path) = line.trim_start_matches("pub ").strip_prefix("use crate::") else { continue };
            let used = path.split(|c: char| !c.is_alphanumeric() && c != '_').next().expect("a path has a head");
            uses += 1;
            // `TimeNs` is the one name of the crate's root.
            if used != module && used != "TimeNs" && !allowed.contains(&used) {
                wrong.push(format!("{}: {line}", inside.display()));
            }
        }
    }
    assert!(uses > 100, "the test has found the source");
    assert!(wrong.is_empty(), "against the direction of dependencies:\n{}", wrong.join("\n"));
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
