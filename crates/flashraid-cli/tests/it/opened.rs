//! Every page that a test leaves behind opens in headless Chromium: no error, no refused request, loaded within five seconds.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::browser::{Look, WATCH};
use crate::chromium::{PageTime, read};

/// A reader does not wait longer.
const LOADED_WITHIN_MS: f64 = 5000.0;
/// Number of times that a slow page is opened again.
const TRIES: usize = 3;
/// Pages that are opened side by side.
const TOGETHER: usize = 4;
/// Tells what happened in a page to the one around it.
const TELL: &str = "<script>addEventListener('load', () => parent.postMessage(JSON.stringify({ page: PAGE, ms: performance.now() - begun, problems,\
     drawn: document.querySelectorAll('.chart canvas').length, charts: JSON.parse(document.getElementById('charts-data')?.textContent ?? '[]').flat().length }), '*'))</script></body>";
/// Writes down what pages tell.
const AROUND: &str = "<!DOCTYPE html><script>addEventListener('message', ({ data }) => { const pre = document.createElement('pre'); pre.className = 'opened'; \
     pre.textContent = data; document.body.append(pre); });</script><body>";

/// Opens all pages below a folder, unless there is no browser.
pub fn expect_all_open(folder: &Path) {
    let mut pages = Vec::new();
    collect(folder, &mut pages);
    for pages in pages.chunks(TOGETHER) {
        let Some(told) = open(pages) else { return };
        for (page, told) in pages.iter().zip(told) {
            // On a busy machine, pages wait for everything else, and a page that hangs delays those beside it. Each slow page is therefore
            // opened again alone.
            let is_slow = |told: &Value| told["ms"].as_f64().is_none_or(|ms| ms > LOADED_WITHIN_MS);
            let mut told = told;
            for _ in 0..TRIES {
                if is_slow(&told) {
                    told = open(std::slice::from_ref(page)).map_or(Value::Null, |mut told| told.remove(0));
                }
            }
            assert!(!is_slow(&told), "{} is not loaded within {LOADED_WITHIN_MS} ms: {told}", page.display());
            assert_eq!(told["problems"], json!([]), "{}", page.display());
            let (drawn, charts) = (told["drawn"].as_u64().unwrap(), told["charts"].as_u64().unwrap());
            assert!(drawn >= charts, "{}: {drawn} of {charts} charts are drawn", page.display());
        }
    }
}

fn collect(folder: &Path, pages: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // What a browser keeps for itself, and the copies that other tests make for it, are no pages of the program.
        let is_own = path.file_name().is_some_and(|name| ["browser", "probed.html", "around.html"].iter().any(|own| name == *own));
        match path.is_dir() {
            _ if is_own => {}
            true => collect(&path, pages),
            false if path.extension().is_some_and(|extension| extension == "html") => pages.push(path),
            false => {}
        }
    }
}

/// Returns the results of each page, which are null if a page gives none in time.
fn open(pages: &[PathBuf]) -> Option<Vec<Value>> {
    let folder = TempDir::new().unwrap();
    let mut around = AROUND.to_owned();
    for (index, page) in pages.iter().enumerate() {
        let html = fs::read_to_string(page).unwrap();
        let html = html.replacen("<head>", &format!("<head><script>{WATCH}; window.begun = performance.now();</script>"), 1);
        let html = html.replacen("</body>", &TELL.replace("PAGE", &index.to_string()), 1);
        fs::write(folder.path().join(format!("{index}.html")), html).unwrap();
        around += &format!("<iframe src=\"{index}.html\" width=\"1440\" height=\"900\"></iframe>");
    }
    fs::write(folder.path().join("around.html"), around).unwrap();
    let look = Look { width: 1440, dark: false };
    let all = format!(
        "(() => {{ const told = [...document.querySelectorAll('.opened')]; return told.length < {} ? null : told.map((pre) => pre.textContent); }})()",
        pages.len()
    );
    let told = read(&folder.path().join("around.html"), look, PageTime::Real, &all)?;
    let texts: Vec<String> = serde_json::from_value(told).unwrap_or_default();
    let told: Vec<Value> = texts.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    let of = |page: usize| told.iter().find(|told| told["page"] == page).cloned().unwrap_or_default();
    Some((0..pages.len()).map(of).collect())
}

#[test]
fn pages_that_hang_or_fail_are_found_out() {
    let page = |script: &str| {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("report.html"), format!("<html><head></head><body><script>{script}</script></body></html>")).unwrap();
        std::panic::catch_unwind(|| expect_all_open(folder.path())).is_err()
    };
    if Command::new("chromium").arg("--version").output().is_err() {
        return;
    }
    assert!(!page("1 + 1"));
    assert!(page("nothing.here()"));
    assert!(page("console.error('x')"));
    // Five seconds and a half rather than for ever.
    assert!(page("const end = performance.now() + 5500; while (performance.now() < end);"));
}
