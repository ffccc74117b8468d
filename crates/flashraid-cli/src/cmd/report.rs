//! `flashraid report`: shows earlier results on the terminal, and writes them as one page.

use std::path::Path;

use flashraid_report::page::Page;
use flashraid_report::results::{self, BESIDE, Found, Named};
use flashraid_report::{picture, text};

use crate::args::{DEFAULT_OUT, ReportArgs};
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::out_folder::{OutFolder, all_or_nothing};

use super::{compare, reproduce, run as one_run};

/// Runs `flashraid report` with its arguments.
pub fn run(arguments: &ReportArgs) -> Outcome {
    let results = results::read(&arguments.results).map_err(|error| Failure::Input(error.to_string()))?;
    let parts = results::parts(&results);
    let names: Vec<&str> = results.iter().map(|result| result.name.as_str()).collect();
    let title = format!("flashraid report {}", names.join(" "));
    let wanted = arguments.out.clone().unwrap_or_else(|| Path::new(DEFAULT_OUT).join("report"));
    let out = OutFolder::claim(&wanted, None)?;
    all_or_nothing(out.path(), || {
        files::write(&out.path().join("report.html"), Page { title: &title, parts: &parts }.html().as_bytes())?;
        // Pictures of several results could have the same names, so only a single result has its pictures written.
        match parts.as_slice() {
            [part] => Ok(picture::write(&part.charts, out.path())?),
            _ => Ok(()),
        }
    })?;
    let written = format!("written: {}; --tables prints all tables", out.path().join("report.html").display());
    files::print(&format!("{}{written}\n", shown(&results, arguments.tables)))
}

/// Formats results as the commands that made them would. With several runs, a table that compares them comes first.
fn shown(results: &[Named], tables: bool) -> String {
    let beside = results::side_by_side(results).map(|(grid, differences)| {
        let differences = differences.map_or(String::new(), |sheet| format!("{}\n{}", sheet.title, text::compact(&sheet)));
        (BESIDE, format!("{}{differences}", compare::shown(&grid, None, tables)))
    });
    let each = results.iter().map(|result| {
        let text = match &result.found {
            Found::Run { report, .. } => one_run::shown(report, tables),
            Found::Grid(grid) => compare::shown(grid, None, tables),
            Found::Reproduction(document) => reproduce::shown(document, tables),
        };
        (result.name.as_str(), text)
    });
    let all: Vec<(&str, String)> = beside.into_iter().chain(each).collect();
    match all.as_slice() {
        [(_, only)] => only.clone(),
        several => several.iter().map(|(name, text)| format!("{name}\n{text}\n")).collect(),
    }
}
