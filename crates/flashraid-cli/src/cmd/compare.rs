//! `flashraid compare`: every combination of the varied keys, side by side.

use std::path::{Path, PathBuf};

use flashraid::study::{Study, StudyPlan};
use flashraid::{Error, StudyResult};
use flashraid_report::grid::Grid;
use flashraid_report::page::{self, Page};
use flashraid_report::{chart, picture, text};

use crate::args::{CompareArgs, DEFAULT_OUT};
use crate::failure::{Failure, Outcome};
use crate::machine::means;
use crate::out_folder::all_or_nothing;
use crate::output::json;
use crate::output::narrow::narrow;
use crate::progress::Board;
use crate::{files, interrupt, scenario};

/// Runs the command.
pub fn run(arguments: &CompareArgs) -> Outcome {
    let plan = study(arguments)?.plan()?;
    let means = means(arguments.machine, &plan.scenarios(), arguments.jobs)?;
    let out = match &arguments.out {
        Some(out) if arguments.force => out.clone(),
        Some(out) => {
            plan.refuse_foreign_folder(out).map_err(|error| choose_another(error, "--out"))?;
            out.clone()
        }
        // Named after the study.
        None => PathBuf::from(DEFAULT_OUT).join(format!("compare-{}", plan.hash())),
    };
    let how_to_go_on = format!("The same command goes on from here; finished simulations are in {}.", out.display());
    let result = run_plan(plan.folder(&out).by(means), arguments.machine.quiet, &how_to_go_on)?;
    if let Some(shard) = arguments.shard {
        return report_shard(shard, &result, &out, arguments.json);
    }
    let grid = Grid { sorted_by: arguments.sort, ..Grid::of(result)? };

    write_reports(&grid, &format!("flashraid compare {}", arguments.scenario.file.display()), &out)?;
    match arguments.json {
        true => json::print(&grid.document()),
        false => files::print(&tables(&grid, Some(&out))),
    }
}

fn study(arguments: &CompareArgs) -> Outcome<Study> {
    let mut study = scenario::study(&arguments.scenario)?.seeds(arguments.seeds);
    for axis in &arguments.vary {
        study = study.vary_axis(axis.clone())?;
    }
    if let Some(baseline) = &arguments.baseline {
        study = study.baseline(baseline);
    }
    if let Some(seed) = arguments.seed {
        study = study.seed(seed);
    }
    if let Some((index, count)) = arguments.shard {
        study = study.shard(index, count)?;
    }
    Ok(study)
}

/// The refusal of a folder, with what can be done about it.
fn choose_another(error: Error, option: &str) -> Failure {
    match error {
        Error::Study(problem) => Failure::Input(format!("{problem}; choose another folder with {option}, or --force to write over it")),
        error => error.into(),
    }
}

/// A part of a comparison has nothing to compare; its simulations are in the folder.
fn report_shard((index, count): (usize, usize), result: &StudyResult, out: &Path, as_json: bool) -> Outcome {
    let simulations = result.rows.len();
    match as_json {
        true => json::print(&serde_json::json!({
            "schema": "flashraid.shard/1",
            "shard": [index, count],
            "simulations": simulations,
            "folder": out.display().to_string(),
        })),
        false => files::print(&format!(
            "shard {index}/{count}: {simulations} simulations are done and kept in {0}\nflashraid merge {0} … puts all shards together\n",
            out.display()
        )),
    }
}

/// Runs a plan with a progress bar and Ctrl-C.
pub fn run_plan(plan: StudyPlan, quiet: bool, how_to_go_on: &str) -> Outcome<StudyResult> {
    interrupt::stop_at_next_step()?;
    let board = Board::new(plan.len(), quiet);
    let result = plan.run(&board);
    board.clear();
    result.map_err(|error| match error {
        Error::StudyInterrupted { .. } => Failure::Interrupted(format!("{error}. {how_to_go_on}")),
        error => error.into(),
    })
}

/// Writes report.json, report.html, the points and what the charts show as data, and the pictures: all of them, or nothing that is new.
pub fn write_reports(grid: &Grid, title: &str, out: &Path) -> Outcome {
    let part = page::of_grid(title, grid);
    let configuration = &grid.points[0].reports[0]["config"];
    let page = Page { title, parts: std::slice::from_ref(&part) };
    all_or_nothing(out, || {
        files::write(&out.join("report.json"), json::text(&grid.document()).as_bytes())?;
        files::write(&out.join("report.html"), page.html().as_bytes())?;
        grid.table().of(configuration).write(out, "points")?;
        chart::table(&part.charts).of(configuration).write(out, "charts")?;
        Ok(picture::write(&part.charts, out)?)
    })
}

/// The tables for standard output, and where the rest is.
pub fn tables(grid: &Grid, out: Option<&Path>) -> String {
    let (tables, legend) = (text::render(&narrow(grid.sheets())), grid.legend());
    let notes: String = grid.doubts().into_iter().chain(grid.notes()).chain(grid.conclusion()).map(|note| note + "\n").collect();
    let written = out.map_or_else(String::new, |out| {
        format!("written: {0}/report.html, {0}/report.json, {0}/*.svg, {0}/{{points,charts}}.{{csv,parquet}}\n", out.display())
    });
    format!("{tables}{legend}\n{notes}{written}")
}
