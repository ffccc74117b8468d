//! The statistics of real traces agree with independent measurements.
//!
//! The traces may not be redistributed. They are looked for in the folder FLASHRAID_TRACES, otherwise in `../shared/traces` beside the
//! repository. Its README.md has tables with the figures. Without them, the test says so and passes.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::info::{TraceInfo, trace_info_of_bytes};
use super::{TraceSortMethod, TraceSpec, open_trace, survey_trace, trace_info};
use crate::RequestSource;

fn directory() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let directory = std::env::var_os("FLASHRAID_TRACES").map_or_else(beside, PathBuf::from);
    if directory.join("README.md").is_file() {
        return Some(directory);
    }
    eprintln!("skipped: no trace in {}", directory.display());
    None
}

/// Returns the rows of the README's tables that begin with the column `file`, as cells with the names of the columns.
fn rows(readme: &str) -> Vec<Vec<(String, String)>> {
    let mut header: Option<Vec<String>> = None;
    let mut rows = Vec::new();
    for line in readme.lines() {
        if !line.starts_with('|') {
            header = None;
            continue;
        }
        let cells: Vec<String> = line.trim_matches('|').split('|').map(|cell| cell.trim().replace("**", "")).collect();
        match &header {
            None => header = Some(cells),
            Some(names) if names[0] == "file" && !cells[0].starts_with("---") => {
                rows.push(names.iter().cloned().zip(cells).collect());
            }
            Some(_) => {}
        }
    }
    rows
}

/// Returns the first number of a cell, and half of the unit of its last digit.
fn number(cell: &str) -> Option<(f64, f64)> {
    let text: String = cell.replace(',', "").chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    text.parse().ok().map(|value| (value, 0.5 * 0.1_f64.powi(decimals as i32)))
}

fn check(file: &str, name: &str, cell: &str, measured: f64) {
    let Some((expected, half_digit)) = number(cell) else {
        panic!("{file}: {name}: no figure in \"{cell}\"");
    };
    // The tolerance is a little more than half a digit, because some figures of the README were rounded twice.
    assert!((measured - expected).abs() <= half_digit * 1.01, "{file}: {name}: measured {measured}, the README says {cell}");
}

fn compare(file: &str, row: &[(String, String)], info: &TraceInfo) {
    for (name, cell) in row {
        match name.as_str() {
            "requests" => check(file, name, cell, info.requests as f64),
            "duration s" if cell == "none" => assert_eq!(info.duration_s, None, "{file}"),
            "duration s" => check(file, name, cell, info.duration_s.expect(file)),
            "IOPS" if cell == "none" => assert_eq!(info.requests_per_s, None, "{file}"),
            "IOPS" => check(file, name, cell, info.requests_per_s.expect(file)),
            "mean KB" | "mean KB (read / write)" => {
                check(file, name, cell, info.all.mean_bytes / 1024.0);
                if let Some((read, write)) = cell.split_once('(').and_then(|(_, pair)| pair.split_once('/')) {
                    check(file, "mean KB of reads", read.trim(), info.read.mean_bytes / 1024.0);
                    check(file, "mean KB of writes", write.trim(), info.write.mean_bytes / 1024.0);
                }
            }
            "read %" => check(file, name, cell, info.read_fraction * 100.0),
            "footprint MB" => check(file, name, cell, info.footprint_bytes as f64 / 1e6),
            "rewritten" if cell == "n/a" => assert!(info.read_fraction > 0.999, "{file}: it has writes to speak of"),
            "rewritten" => check(file, name, cell, info.rewritten.expect(file)),
            _ => {}
        }
    }
}

/// Counts reads ahead (RA) as writes, as the README does. blkreplay and this reader read there; everything else must agree.
fn with_read_aheads_as_writes(spec: &TraceSpec, measured: &TraceInfo) -> TraceInfo {
    let mut text = Vec::new();
    flate2::read::MultiGzDecoder::new(std::fs::File::open(&spec.path).unwrap()).read_to_end(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let as_writes = trace_info_of_bytes(text.replace("RA ;", "W ;").into_bytes(), spec).unwrap();
    let told: u64 = measured.notes.iter().find_map(|note| note.split(' ').nth(1)?.parse().ok()).expect("the read-aheads are told");
    assert_eq!(told, text.matches("RA ;").count() as u64);
    assert!(measured.read.requests - as_writes.read.requests <= told && measured.read.requests > as_writes.read.requests);
    as_writes
}

#[test]
fn every_row_of_the_table_is_reproduced() {
    let Some(directory) = directory() else { return };
    let readme = std::fs::read_to_string(directory.join("README.md")).unwrap();
    let mut checked = 0;
    let mut file = String::new();
    for row in rows(&readme) {
        if !row.iter().any(|(name, _)| name == "read %") {
            continue;
        }
        let mut spec = TraceSpec::new("");
        if row[0].1 == "(same, duplicates removed)" {
            spec.drop_repeats_within_ns = Some(2_000_000);
        } else {
            file.clone_from(&row[0].1);
        }
        spec.path = directory.join(&file);
        let mut measured = trace_info(&spec).unwrap();
        if file.ends_with(".load.gz") {
            measured = with_read_aheads_as_writes(&spec, &measured);
        }
        compare(&file, &row, &measured);
        checked += 1;
    }
    assert_eq!(checked, 18, "the README's tables have changed");
}

#[test]
fn every_trace_loads_and_popularity_tables_are_refused() {
    let Some(directory) = directory() else { return };
    let mut loaded = 0;
    let mut files: Vec<PathBuf> = std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for path in files {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let mut spec = TraceSpec::new(&path);
        if name == "README.md" {
            continue;
        }
        if name.starts_with("msr-writefreq") {
            let message = open_trace(&spec).err().expect("a popularity table is no trace").to_string();
            assert!(message.contains("popularity table"), "{message}");
            continue;
        }
        if name.starts_with("desktop") {
            let mut reader = open_trace(&spec).unwrap();
            let message = loop {
                match reader.next_request() {
                    Ok(request) => assert!(request.is_some(), "times go backwards, which was not noticed"),
                    Err(error) => break error.to_string(),
                }
            };
            assert!(message.contains("goes backwards") && message.contains("line "), "{message}");
            let backwards = trace_info(&spec).unwrap().backwards;
            assert_eq!(backwards.stamps, 64);
            spec.reorder = TraceSortMethod::Window(backwards.reorder_window.unwrap());
        }
        let survey = survey_trace(&spec).unwrap();
        let mut reader = open_trace(&spec).unwrap();
        let (mut requests, mut last_ns) = (0, 0);
        while let Some(request) = reader.next_request().unwrap() {
            assert!(requests > 0 || request.arrival_ns == 0, "{name}: the first arrival is 0");
            assert!(request.arrival_ns >= last_ns, "{name}");
            assert!(request.length_bytes > 0 && request.offset_bytes + request.length_bytes <= survey.address_space_bytes, "{name}");
            last_ns = request.arrival_ns;
            requests += 1;
        }
        assert_eq!((requests, last_ns), (survey.requests, survey.duration_ns), "{name}");
        assert_eq!(reader.progress(), Some(1.0), "{name}");
        loaded += 1;
    }
    assert_eq!(loaded, 17, "files were added or removed");
}
