//! `flashraid compare`: every combination of the varied keys, side by side.

use std::path::{Path, PathBuf};

use crate::args::{CompareArgs, DEFAULT_OUT};
use crate::failure::Outcome;
use crate::files;
use crate::grid::{Grid, Plan, Store};
use crate::machine::Machine;
use crate::output::json;
use crate::scenario;
use flashraid_report::page::Page;
use flashraid_report::{chart, picture, text};

/// Runs the command.
pub fn run(arguments: &CompareArgs) -> Outcome {
    let load = |settings: &[_], seed| scenario::load(&arguments.scenario, settings, seed);
    let plan = Plan::new(&arguments.vary, arguments.baseline.as_deref(), arguments.seed, arguments.seeds, load)?;

    let machine = Machine::new(arguments.machine, &plan.simulations(), arguments.jobs)?;
    let out = arguments.out.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_OUT).join(format!("compare-{}", plan.hash())));
    let store = Store::open(&out)?;
    let how_to_go_on = format!("The same command goes on from here; finished simulations are in {}.", out.display());
    let grid = plan.run(&machine, Some(&store), &how_to_go_on)?;

    write_reports(&grid, &format!("flashraid compare {}", arguments.scenario.file.display()), &out)?;
    match arguments.json {
        true => json::print(&grid.document()),
        false => files::print(&tables(&grid, &out)),
    }
}

/// Writes report.json, report.html, the points and what the charts show as data, and the pictures.
pub fn write_reports(grid: &Grid, title: &str, out: &Path) -> Outcome {
    files::write(&out.join("report.json"), json::text(&grid.document()).as_bytes())?;
    let facts: Vec<String> = grid.conclusion().into_iter().chain([grid.legend()]).chain(grid.doubts()).chain(grid.notes()).collect();
    let (sheets, charts) = (grid.sheets(), chart::of_grid(grid));
    let (summary, details) = sheets.split_at(1);
    let configuration = &grid.points[0].reports[0]["config"];
    let page = Page { title, facts: &facts, summary, details, charts: &charts, configuration };
    files::write(&out.join("report.html"), page.html().as_bytes())?;
    grid.table().of(configuration).write(out, "points")?;
    chart::table(&charts).of(configuration).write(out, "charts")?;
    Ok(picture::write(&charts, out)?)
}

/// The tables for standard output, and where the rest is.
pub fn tables(grid: &Grid, out: &Path) -> String {
    let (tables, legend) = (text::render(&grid.sheets()), grid.legend());
    let notes: String = grid.doubts().into_iter().chain(grid.notes()).chain(grid.conclusion()).map(|note| note + "\n").collect();
    format!(
        "{tables}{legend}\n{notes}written: {0}/report.html, {0}/report.json, {0}/*.svg, {0}/{{points,charts}}.{{csv,parquet}}\n",
        out.display()
    )
}
