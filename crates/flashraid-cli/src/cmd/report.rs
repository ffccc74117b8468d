//! `flashraid report`: one page of results that are there.

use std::path::{Path, PathBuf};

use flashraid_report::page::Page;
use flashraid_report::{picture, results};

use crate::args::{DEFAULT_OUT, ReportArgs};
use crate::failure::{Failure, Outcome};
use crate::files;

/// Runs the command.
pub fn run(arguments: &ReportArgs) -> Outcome {
    let results = results::read(&arguments.results).map_err(|error| Failure::Input(error.to_string()))?;
    let parts = results::parts(&results);
    let names: Vec<&str> = results.iter().map(|result| result.name.as_str()).collect();
    let title = format!("flashraid report {}", names.join(" "));
    let wanted = arguments.out.clone().unwrap_or_else(|| Path::new(DEFAULT_OUT).join("report"));
    let out = unused(&wanted);
    if out != wanted {
        crate::complain(&format!("{} has files in it: writing to {}", wanted.display(), out.display()));
    }
    files::write(&out.join("report.html"), Page { title: &title, parts: &parts }.html().as_bytes())?;
    // Pictures have names of their own only where there is one result.
    if let [part] = parts.as_slice() {
        picture::write(&part.charts, &out)?;
    }
    let headlines: String = parts.iter().filter_map(|part| part.headline.as_ref()).map(|headline| format!("{headline}\n")).collect();
    files::print(&format!("{headlines}written: {}\n", out.join("report.html").display()))
}

/// The folder, if it is new or empty; else the next of its name that is.
fn unused(wanted: &Path) -> PathBuf {
    let is_free = |folder: &Path| match std::fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(_) => !folder.exists(),
    };
    let numbered = |number: u32| {
        let mut name = wanted.as_os_str().to_owned();
        name.push(format!("-{number}"));
        PathBuf::from(name)
    };
    std::iter::once(wanted.to_owned()).chain((2..).map(numbered)).find(|folder| is_free(folder)).expect("some number is free")
}
