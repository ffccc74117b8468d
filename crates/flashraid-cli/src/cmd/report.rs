//! `flashraid report`: one page of results that are there.

use std::path::Path;

use flashraid_report::page::Page;
use flashraid_report::{picture, results};

use crate::args::{DEFAULT_OUT, ReportArgs};
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::out_folder::{OutFolder, all_or_nothing};

/// Runs the command.
pub fn run(arguments: &ReportArgs) -> Outcome {
    let results = results::read(&arguments.results).map_err(|error| Failure::Input(error.to_string()))?;
    let parts = results::parts(&results);
    let names: Vec<&str> = results.iter().map(|result| result.name.as_str()).collect();
    let title = format!("flashraid report {}", names.join(" "));
    let wanted = arguments.out.clone().unwrap_or_else(|| Path::new(DEFAULT_OUT).join("report"));
    let out = OutFolder::claim(&wanted, None)?;
    all_or_nothing(out.path(), || {
        files::write(&out.path().join("report.html"), Page { title: &title, parts: &parts }.html().as_bytes())?;
        // Pictures have names of their own only where there is one result.
        match parts.as_slice() {
            [part] => Ok(picture::write(&part.charts, out.path())?),
            _ => Ok(()),
        }
    })?;
    let headlines: String = parts.iter().filter_map(|part| part.headline.as_ref()).map(|headline| format!("{headline}\n")).collect();
    files::print(&format!("{headlines}written: {}\n", out.path().join("report.html").display()))
}
