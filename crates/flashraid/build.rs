//! Computes a hash of all sources that results depend on, so that saved points of another version can be recognised.

use std::fs;
use std::path::{Path, PathBuf};

/// Everything that a result depends on, relative to the folder of this crate. In a published crate some of it is missing; the version then
/// stands for it.
const SOURCES: [&str; 7] =
    ["src", "../flashraid-driver/src", "../flashraid-model/src", "../flashraid-workload/src", "presets", "../../Cargo.lock", "Cargo.toml"];

fn main() {
    let mut files = Vec::new();
    for source in SOURCES {
        if Path::new(source).exists() {
            println!("cargo::rerun-if-changed={source}");
            collect(Path::new(source), &mut files);
        }
    }
    files.sort();
    // FNV-1a is small, and no user forges the sources of their own build.
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for file in files {
        let name = file.to_string_lossy().replace('\\', "/");
        let content = fs::read(&file).unwrap_or_else(|error| panic!("can't read {}: {error}", file.display()));
        for byte in name.bytes().chain([0]).chain(content).chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    println!("cargo::rustc-env=FLASHRAID_SOURCES={hash:016x}");
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if !path.is_dir() {
        files.push(path.to_owned());
        return;
    }
    let entries = fs::read_dir(path).unwrap_or_else(|error| panic!("can't read {}: {error}", path.display()));
    for entry in entries {
        let path = entry.unwrap_or_else(|error| panic!("can't read {}: {error}", path.display())).path();
        // Other files are left there by editors and tests.
        if path.is_dir() || path.extension().is_some_and(|ending| ending == "rs" || ending == "toml") {
            collect(&path, files);
        }
    }
}
