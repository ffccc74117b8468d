//! Tests of the book. Generated pages are fresh, code is that of the files it comes from, every page is listed, and every link leads
//! somewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::program::Place;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

#[test]
fn pages_made_of_the_program_are_fresh() {
    for (page, arguments) in [
        ("reference.md", ["schema", "--markdown"].as_slice()),
        ("report.md", &["schema", "--report", "--markdown"]),
        ("presets.md", &["preset", "list", "--markdown"]),
    ] {
        let made = Place::new().run(arguments).stdout;
        let kept = fs::read_to_string(docs().join(page)).unwrap();
        let differs = made.lines().zip(kept.lines()).position(|(made, kept)| made != kept);
        assert!(
            made == kept,
            "docs/{page} is out of date from line {:?} on: run `make pages` and read the diff",
            differs.map(|line| line + 1)
        );
    }
}

/// Code stands on the pages themselves, so that they can be read anywhere; a comment before it names the file that has the same.
#[test]
fn code_on_pages_is_that_of_its_file() {
    let mut compared = 0;
    for entry in fs::read_dir(docs()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let page = fs::read_to_string(&path).unwrap();
        assert!(!page.contains("{{#"), "{}: only mdBook shows what is included", path.display());
        for (before, rest) in page.match_indices(" -->\n```rust\n").map(|(at, mark)| (&page[..at], &page[at + mark.len()..])) {
            let name = before.rsplit_once("<!-- ").unwrap().1;
            let source = fs::read_to_string(docs().join("..").join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
            let code = rest.split_once("```\n").unwrap().0;
            assert!(source.contains(code), "{}: the code of {name} is not what stands there any more", path.display());
            compared += 1;
        }
    }
    assert!(compared > 5, "{compared}");
}

/// A page as its readers' links see it.
struct Page {
    /// Anchors of its headings.
    anchors: BTreeSet<String>,
    /// Targets of its links and pictures.
    targets: Vec<String>,
}

impl Page {
    fn read(path: &Path) -> Page {
        let text = fs::read_to_string(path).unwrap();
        let (mut anchors, mut targets, mut in_code) = (BTreeMap::<String, u32>::new(), Vec::new(), false);
        let mut all = BTreeSet::new();
        for line in text.lines() {
            if line.trim_start().starts_with("```") {
                in_code = !in_code;
            }
            if in_code {
                continue;
            }
            if let Some(heading) = line.strip_prefix('#') {
                let anchor = anchor(heading.trim_start_matches('#').trim());
                let count = anchors.entry(anchor.clone()).or_insert(0);
                all.insert(if *count == 0 { anchor } else { format!("{anchor}-{count}") });
                *count += 1;
            }
            // Every second part lies between backticks, where brackets mean nothing.
            for text in line.split('`').step_by(2) {
                targets.extend(text.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())));
            }
            // Links whose text holds code.
            targets.extend(line.split("`](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())));
        }
        Page { anchors: all, targets }
    }
}

/// The anchor that mdBook gives a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase().replace(' ', "-");
    kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
}

#[test]
fn every_page_is_listed_and_every_link_leads_somewhere() {
    let mut pages = BTreeMap::new();
    for entry in fs::read_dir(docs()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "md") {
            pages.insert(path.file_name().unwrap().to_str().unwrap().to_owned(), Page::read(&path));
        }
    }
    let listed: BTreeSet<&String> = pages["SUMMARY.md"].targets.iter().collect();
    let there: BTreeSet<&String> = pages.keys().filter(|name| *name != "SUMMARY.md").collect();
    assert_eq!(listed, there, "SUMMARY.md lists other pages than there are");

    let mut broken = Vec::new();
    for (name, page) in &pages {
        for target in page.targets.iter().filter(|target| !target.contains("://")) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() { name.as_str() } else { file };
            let leads_somewhere = match pages.get(file) {
                Some(page) => anchor.is_empty() || page.anchors.contains(anchor),
                None => docs().join(file).exists(),
            };
            if !leads_somewhere {
                broken.push(format!("{name}: {target}"));
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere: {broken:#?}");
}
