//! `flashraid` without a command: the schemes of garbage collection on the built-in array.

use std::path::Path;

use flashraid::Study;
use flashraid_report::grid::Grid;

use crate::args::{DEFAULT_OUT, MachineArgs};
use crate::failure::Outcome;
use crate::files;
use crate::machine::Machine;

use super::compare::{run_plan, tables, write_reports};

/// 8 SSDs of the GGC paper under its write-dominated HPC workload, at full size.
const CONFIGURATION: &str = include_str!("main_job.toml");

/// The schemes that are compared, the baseline first.
const SCHEMES: &[&str] = &["local", "reactive-inclusive", "reactive-selective", "proactive-idle", "proactive-soft-limit", "ideal"];

/// Runs the main job.
pub fn run() -> Outcome {
    let plan = Study::from_toml(CONFIGURATION)?.vary("coordination.scheme", SCHEMES)?.plan()?;
    let means = Machine::new(MachineArgs::default(), &plan.scenarios(), None)?.means();
    let grid = Grid::of(run_plan(plan.by(means), "Nothing was written.")?)?;

    let out = Path::new(DEFAULT_OUT);
    write_reports(&grid, "Garbage collection of 8 SSDs under hpc-w", out)?;
    files::print(&format!(
        "8 × ggc2014, RAID-0, workload hpc-w (flashraid run and flashraid compare simulate arrays of your own)\n\n{}",
        tables(&grid, out)
    ))
}
