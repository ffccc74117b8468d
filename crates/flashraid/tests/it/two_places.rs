//! Tests that a policy is added in two places: its own file, and one line of a list. A figure of a report is written in two places, too.
//!
//! The test of policies adds the examples of docs/own-policy.md to a copy of the model, exactly as the page says. A program then uses them
//! there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Source of a program that uses the added policies. It checks their names, the schema, the random cases, and the behaviour.
const PROGRAM: &str = r##"//! Uses an added policy.
use flashraid_model::cache::{CachePolicy, LayoutAwareWriteCache, StowCache};
use flashraid_model::flash::Geometry;
use flashraid_model::space::pools::{PageMapping, GcAlgorithm, PlaneChoice, BlockPoolScope, BlockPoolsFtlParams};
use flashraid_model::space::victim::VictimPolicy;
use flashraid_model::ids::DieId;
use flashraid_model::rng;

fn main() {
    // Users write the name alone, or a table with parameters. Reports show them in the same form.
    let named: VictimPolicy = serde_json::from_str("\"oldest-half\"").unwrap();
    let table: VictimPolicy = serde_json::from_str(r#"{ "policy": "oldest-half", "share": 0.25 }"#).unwrap();
    assert_ne!(named, table);
    assert_eq!(serde_json::to_string(&named).unwrap(), "\"oldest-half\"");
    assert_eq!(serde_json::to_string(&table).unwrap(), r#"{"policy":"oldest-half","share":0.25}"#);
    for wrong in [r#"{ "policy": "oldest-half", "shaer": 0.25 }"#, "\"oldest\""] {
        assert!(serde_json::from_str::<VictimPolicy>(wrong).is_err(), "{wrong}");
    }
    let nothing: VictimPolicy = serde_json::from_str(r#"{ "policy": "oldest-half", "share": 0 }"#).unwrap();
    assert_eq!((named.problems().len(), nothing.problems().len()), (0, 1));
    // The reference page is made from this schema.
    let schema = schemars::schema_for!(VictimPolicy).to_value().to_string();
    assert!(schema.contains("Greedy among the older blocks") && schema.contains("Share of the useful blocks"), "{schema}");
    // Random test cases must draw the new policy, with different parameters.
    let mut stream = rng::stream(1, "test", 0);
    let drawn: Vec<VictimPolicy> = (0..200).map(|_| VictimPolicy::random_for_tests(&mut stream)).collect();
    let different = drawn.iter().filter(|policy| policy.name() == "oldest-half" && **policy != named).count();
    assert!(different > 10, "{drawn:?}");
    assert!(drawn.iter().all(|policy| policy.problems().is_empty()));
    // The policy must differ from greedy collection, which takes any block. It must also move fewer pages than FIFO, which takes the
    // oldest.
    let moved = |name: &str| moves(serde_json::from_str(&format!("\"{name}\"")).unwrap());
    let (greedy, half, fifo) = (moved("greedy"), moved("oldest-half"), moved("fifo"));
    assert!(greedy != half && half < fifo, "{greedy} {half} {fifo}");
    // The page also adds a write cache.
    let cache: CachePolicy = serde_json::from_str("\"lawc-stow\"").unwrap();
    assert_eq!((cache.stripe_and_member_caches().dirty_stripe_cache, cache.stripe_and_member_caches().member_caches), (StowCache::STRIPE_AND_MEMBER_CACHES.dirty_stripe_cache, LayoutAwareWriteCache::STRIPE_AND_MEMBER_CACHES.member_caches));
    assert!((0..200).any(|_| CachePolicy::random_for_tests(&mut stream).name() == "lawc-stow"));
    assert!(schemars::schema_for!(CachePolicy).to_value().to_string().contains("a queue of its own for sequential writes in the first level"));
    print!("two places suffice");
}

/// Returns the number of pages that collection moves while every page is overwritten ten times in random order.
fn moves(victim: VictimPolicy) -> usize {
    let geometry = Geometry {
        dies: 1,
        planes: 1,
        blocks_per_plane: 64,
        pages_per_block: 32,
        page_bytes: 4096,
        overprovisioned_blocks_per_plane: 12,
        has_summary_page: false,
    };
    let mut ftl = PageMapping::filled_in_address_order(
        &BlockPoolsFtlParams {
            geometry,
            overwrites_may_change_die: false,
            plane_choice: PlaneChoice::MostFreePages,
            pool: BlockPoolScope::Plane,
            start_threshold_free_blocks: 2,
            stop_threshold_free_blocks: 3,
            victim,
            separate_open_block_for_moves: false,
            gc_algorithm: GcAlgorithm::VictimByPolicy,
            fill_seals_last_block: true,
            starts_empty: false,
        },
        1,
        0,
    );
    let (die, mut stream, mut moved) = (DieId(0), rng::stream(1, "writes", 0), 0);
    for _ in 0..10 * geometry.exported_pages_per_die() {
        while ftl.needs_clean(die) {
            let (pool, block) = ftl.next_victim(die, 0).expect("there is garbage");
            moved += ftl.clean(die, pool, block).pages_moved as usize;
        }
        let lpn = ftl.lpn_of_die_logical_page(die, rng::below(&mut stream, u64::from(geometry.exported_pages_per_die())) as u32);
        let pool = ftl.choose_pool_for_write(die, lpn, 0).expect("there is room");
        ftl.write(die, pool, lpn);
    }
    ftl.verify().unwrap();
    moved
}
"##;

#[test]
#[ignore = "builds a copy of the model: make release-check"]
fn a_file_and_a_line_add_a_policy() {
    let page = fs::read_to_string(root().join("docs/own-policy.md")).expect("the page is there");
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("two-places");
    copy_model(&copy);
    add(&copy, &page, "space/victim", "oldest_half.rs", r#"        random::Random = "random","#);
    add(&copy, &page, "cache/policy", "lawc_stow.rs", r#"        lawc::LayoutAwareWriteCache = "lawc","#);

    fs::create_dir_all(copy.join("crates/flashraid-model/src/bin")).expect("a folder of programs");
    fs::write(copy.join("crates/flashraid-model/src/bin/added.rs"), PROGRAM).expect("a program");
    let run = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--offline", "--bin", "added"])
        .current_dir(&copy)
        .env("CARGO_TARGET_DIR", copy.join("target"))
        .env_remove("RUSTFLAGS")
        .output()
        .expect("cargo runs");
    assert_eq!(String::from_utf8_lossy(&run.stdout), "two places suffice", "{}", String::from_utf8_lossy(&run.stderr));
}

/// Adds a policy of the page to a copy of the model: its file, and its line after the last one of the list.
fn add(copy: &Path, page: &str, folder: &str, file: &str, last: &str) {
    let policies = copy.join("crates/flashraid-model/src").join(folder);
    fs::write(policies.join(file), block_after(page, &format!("`{folder}/{file}`"))).expect("a new file");
    let list = fs::read_to_string(policies.join("mod.rs")).expect("the list");
    let line = block_after(page, &format!("`{folder}/mod.rs`"));
    assert_eq!(list.matches(last).count(), 1);
    fs::write(policies.join("mod.rs"), list.replace(last, &format!("{last}\n{line}"))).expect("the list");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the folder of all")
}

/// Returns the first block of code after the line of the page that ends in `name` and a colon.
fn block_after(page: &str, name: &str) -> String {
    let heading = format!("{name}:\n");
    let (_, rest) = page.split_once(&heading).unwrap_or_else(|| panic!("the page has no {name}"));
    let (_, rest) = rest.split_once("```rust\n").expect("code follows");
    rest.split_once("```\n").expect("code ends").0.to_owned()
}

/// Copies the model into a workspace that has no other crate.
fn copy_model(copy: &Path) {
    let from = root().join("crates/flashraid-model");
    let to = copy.join("crates/flashraid-model");
    let _ = fs::remove_dir_all(&to);
    fs::create_dir_all(&to).expect("a folder for the copy");
    copy_folder(&from.join("src"), &to.join("src"));
    let manifest = fs::read_to_string(from.join("Cargo.toml")).expect("the manifest");
    // Tests and their dependencies are not copied: the section of dependencies for tests is cut out.
    let (before, rest) = manifest.split_once("[dev-dependencies]").expect("tests need something");
    let (_, lints) = rest.split_once("[lints]").expect("lints");
    fs::write(to.join("Cargo.toml"), format!("{before}[lints]{lints}")).expect("the manifest of the copy");
    let workspace = fs::read_to_string(root().join("Cargo.toml")).expect("the manifest of all");
    let (_, shared) = workspace.split_once("[workspace.package]").expect("what all packages share");
    let (shared, _) = shared.split_once("[profile.release]").expect("profiles come last");
    let head = "[workspace]\nresolver = \"3\"\nmembers = [\"crates/flashraid-model\"]\n\n[workspace.package]";
    fs::write(copy.join("Cargo.toml"), format!("{head}{shared}")).expect("the manifest of the copies");
    fs::copy(root().join("Cargo.lock"), copy.join("Cargo.lock")).expect("the versions");
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder of the copy");
    for entry in fs::read_dir(from).expect("a folder of the source") {
        let path = entry.expect("an entry of the source").path();
        let name = path.file_name().expect("an entry has a name");
        if path.is_dir() {
            copy_folder(&path, &to.join(name));
        } else {
            fs::copy(&path, to.join(name)).expect("a file of the copy");
        }
    }
}

/// A figure of a report is written twice: as a counter of the model, and as an entry of the list of its part. Structs, values, rows and the
/// schema are made of the lists.
#[test]
fn a_counter_and_an_entry_make_a_figure() {
    let schema = flashraid::report::report_schema();
    let report = production(&root().join("crates/flashraid/src/report"));
    let (lists, elsewhere) = bodies(&report, "figures! {");
    // The sources of a report may have the names of its figures.
    let (_, elsewhere) = bodies(&elsewhere, "pub struct ReportInputs<'a> {");
    let (_, elsewhere) = bodies(&elsewhere, "pub struct SuperblockDriveInputs {");
    let listed: Vec<&str> = lists.lines().filter_map(|line| line.trim().strip_prefix("pub struct ")?.split('(').next()).collect();
    let mut parts = Vec::new();
    for section in ["flash", "gc", "members", "parity", "cache", "controller", "failure", "failures", "lost", "drive", "front"] {
        reach(&schema, &schema["properties"][section], &mut parts);
    }
    // These stand in other parts of a report, too.
    parts.retain(|part| !["ResponseTime", "TotalReadWrite"].contains(&part.as_str()));
    assert!(parts.len() > 20, "{parts:?}");
    for part in &parts {
        assert!(listed.contains(&part.as_str()), "{part} is not made of a list of figures");
    }
    // A name that another struct has may stand there.
    let definitions = schema["$defs"].as_object().expect("definitions");
    let parts = &parts;
    let names = |is_part: bool| {
        let of = definitions.iter().filter(move |(name, _)| parts.contains(name) == is_part);
        of.flat_map(|(_, definition)| definition["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str()))
    };
    let of_report = schema["properties"].as_object().expect("parts of a report").keys().map(String::as_str);
    let others: Vec<&str> = names(false).chain(of_report).collect();
    let figures: Vec<&str> = names(true).filter(|name| !others.contains(name)).collect();
    assert!(figures.len() > 100, "{figures:?}");
    // Classes of Python are made of the schema; what is written by hand there has none of these.
    let python = fs::read_to_string(root().join("python/flashraid/_report.py")).expect("the reports of Python");
    for name in &figures {
        let again = elsewhere.lines().chain(python.lines()).find(|line| writes(line, name));
        assert_eq!(again, None, "{name} is written outside of its list");
    }
}

/// A counter is a line of a list, of which come differences and sums.
#[test]
fn a_counter_is_a_line() {
    let model = production(&root().join("crates/flashraid-model/src"));
    let (lists, elsewhere) = bodies(&model, "counts! {");
    let is_name = |name: &&str| !name.is_empty() && name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_');
    let counters: Vec<&str> = lists.lines().filter_map(|line| line.trim().strip_suffix(',')?.split(':').next()).filter(is_name).collect();
    assert!(counters.len() > 100, "{counters:?}");
    for name in counters {
        let by_hand = [format!("{name}: self.{name} "), format!("{name}: sum.{name} "), format!("{name}: now.{name} ")];
        let again = elsewhere.lines().find(|line| by_hand.iter().any(|text| line.contains(text)));
        assert_eq!(again, None, "{name} is added or subtracted by hand");
    }
}

/// Appends the names of all definitions with properties that a schema leads to.
fn reach(root: &serde_json::Value, schema: &serde_json::Value, found: &mut Vec<String>) {
    match schema {
        serde_json::Value::Object(entries) => {
            if let Some(name) = entries.get("$ref").and_then(|reference| reference.as_str()?.strip_prefix("#/$defs/")) {
                let definition = &root["$defs"][name];
                if definition["properties"].is_object() && !found.iter().any(|known| known == name) {
                    found.push(name.to_owned());
                    reach(root, definition, found);
                }
            }
            entries.values().for_each(|entry| reach(root, entry, found));
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| reach(root, item, found)),
        _ => {}
    }
}

/// Returns true if a line declares or fills a field of this name, or spells it as a key.
fn writes(line: &str, name: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let line = line.trim_start();
    !line.starts_with("//")
        && line.match_indices(name).any(|(at, _)| {
            let (before, after) = (&line[..at], &line[at + name.len()..]);
            let is_whole = !before.ends_with(is_part) && !before.ends_with(['.', '"']);
            let is_field = is_whole && after.starts_with(':') && !after.starts_with("::");
            let is_key = before.ends_with('.') && before.contains('"') && after.starts_with('"');
            is_field || is_key
        })
}

/// Returns the bodies of all lists that begin so, and the text around them.
fn bodies(text: &str, begin: &str) -> (String, String) {
    let (mut inside, mut outside, mut is_inside) = (String::new(), String::new(), false);
    for line in text.lines() {
        is_inside |= line == begin;
        let of = if is_inside { &mut inside } else { &mut outside };
        of.push_str(line);
        of.push('\n');
        is_inside &= line != "}";
    }
    (inside, outside)
}

/// Returns all source below a folder, without tests.
fn production(folder: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder).expect("a folder of the source") {
        let path = entry.expect("an entry of the source").path();
        let name = path.file_name().expect("an entry has a name").to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            text += &production(&path);
        } else if name.ends_with(".rs") && !name.contains("tests") {
            text += &own_text(&path);
        }
    }
    text
}

/// Returns a source without the tests at its end.
fn own_text(file: &Path) -> String {
    let text = fs::read_to_string(file).expect("a file of the source");
    text.split("#[cfg(test)]").next().expect("a first part").to_owned()
}
