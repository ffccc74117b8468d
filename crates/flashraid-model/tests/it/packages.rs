//! Tests what a crate's package has beside its sources, as the registry of crates asks.

use std::fs;
use std::path::Path;

/// Lines of a manifest that come from the workspace.
const SHARED: &[&str] = &["license", "readme", "keywords", "repository"];

#[test]
fn every_package_has_licences_readme_and_links() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let root = crates.parent().unwrap();
    let mut published = 0;
    for entry in fs::read_dir(crates).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap();
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        if manifest.contains("publish = false") {
            continue;
        }
        published += 1;
        for key in SHARED {
            assert!(manifest.contains(&format!("{key}.workspace = true\n")), "{name}: {key}");
        }
        assert!(manifest.contains("\ncategories"), "{name}: categories");
        assert!(manifest.contains(&format!("documentation = \"https://docs.rs/{name}\"")), "{name}: documentation");
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let text = fs::read(folder.join(licence)).unwrap_or_else(|error| panic!("{name}/{licence}: {error}"));
            assert_eq!(text, fs::read(root.join(licence)).unwrap(), "{name}/{licence}");
        }
    }
    assert!(published >= 10, "{published}");
}
