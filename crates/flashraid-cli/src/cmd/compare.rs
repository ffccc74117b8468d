//! `flashraid compare`: every combination of the varied keys, side by side.

use std::path::{Path, PathBuf};

use crate::args::{CompareArgs, DEFAULT_OUT};
use crate::failure::Outcome;
use crate::files;
use crate::grid::{Grid, Plan, Store, default_threads};
use crate::output::{html, json, picture, text};
use crate::scenario;

/// Runs the command.
pub fn run(arguments: &CompareArgs) -> Outcome {
    let load = |settings: &[_], seed| scenario::load(&arguments.scenario, settings, seed);
    let plan = Plan::new(&arguments.vary, arguments.baseline.as_deref(), arguments.seed, arguments.seeds, load)?;

    let out = arguments.out.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_OUT).join(format!("compare-{}", plan.hash())));
    let store = Store::open(&out)?;
    let threads = arguments.jobs.map_or_else(default_threads, usize::from);
    let how_to_go_on = format!("The same command goes on from here; finished simulations are in {}.", out.display());
    let grid = plan.run(threads, Some(&store), &how_to_go_on)?;

    write_reports(&grid, &format!("flashraid compare {}", arguments.scenario.file.display()), &out)?;
    match arguments.json {
        true => json::print(&grid.document()),
        false => files::print(&tables(&grid, &out)),
    }
}

/// Writes report.json, report.html and the pictures.
pub fn write_reports(grid: &Grid, title: &str, out: &Path) -> Outcome {
    files::write(&out.join("report.json"), json::text(&grid.document()).as_bytes())?;
    let facts: Vec<String> = std::iter::once(grid.legend()).chain(grid.notes()).collect();
    let page = html::page(title, &facts, &grid.sheets(), &grid.points[0].reports[0]["config"]);
    files::write(&out.join("report.html"), page.as_bytes())?;
    picture::write_grid(grid, out)
}

/// The tables for standard output, and where the rest is.
pub fn tables(grid: &Grid, out: &Path) -> String {
    let (tables, legend) = (text::render(&grid.sheets()), grid.legend());
    let notes: String = grid.notes().into_iter().map(|note| note + "\n").collect();
    format!("{tables}{legend}\n{notes}written: {0}/report.html, {0}/report.json, {0}/*.svg\n", out.display())
}
