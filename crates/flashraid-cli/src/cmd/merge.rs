//! `flashraid merge`: combines the parts that `flashraid compare --shard` ran into one comparison.

use std::path::Path;

use flashraid::Study;
use flashraid_report::grid::Grid;

use crate::args::{DEFAULT_OUT, MergeArgs};
use crate::failure::Outcome;
use crate::files;
use crate::out_folder::OutFolder;
use crate::output::json;

use super::compare::{shown, write_reports};

/// Runs `flashraid merge` with its arguments.
pub fn run(arguments: &MergeArgs) -> Outcome {
    let grid = Grid::of(Study::merge(&arguments.folders)?)?;
    let wanted = arguments.out.clone().unwrap_or_else(|| Path::new(DEFAULT_OUT).join("merge"));
    let out = OutFolder::claim(&wanted, Some(arguments.force))?;
    write_reports(&grid, &title(&grid), out.path())?;
    match arguments.json {
        true => json::print(&grid.document()),
        false => files::print(&shown(&grid, Some(out.path()), arguments.tables)),
    }
}

/// The title of the page, which says what was varied. Folders of parts say nothing, and there may be many.
fn title(grid: &Grid) -> String {
    let varied: Vec<&str> = grid.axes.iter().map(|axis| axis.key.as_str()).collect();
    match varied.is_empty() {
        true => "flashraid merge".to_owned(),
        false => format!("flashraid merge: {}", varied.join(", ")),
    }
}
