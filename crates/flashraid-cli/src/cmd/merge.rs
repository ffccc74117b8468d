//! `flashraid merge`: combines the parts that `flashraid compare --shard` ran into one comparison.

use std::path::{Path, PathBuf};

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
    let folders: Vec<String> = arguments.folders.iter().map(|folder: &PathBuf| folder.display().to_string()).collect();
    write_reports(&grid, &format!("flashraid merge {}", folders.join(" ")), out.path())?;
    match arguments.json {
        true => json::print(&grid.document()),
        false => files::print(&shown(&grid, Some(out.path()), arguments.tables)),
    }
}
