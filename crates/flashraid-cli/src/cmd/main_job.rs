//! `flashraid` without a command: the schemes of garbage collection on the built-in array.

use std::path::Path;

use crate::args::{DEFAULT_OUT, MachineArgs};
use crate::failure::Outcome;
use crate::files;
use crate::grid::{Axis, Plan};
use crate::machine::Machine;
use crate::scenario;

use super::compare::{tables, write_reports};

/// 8 SSDs of the GGC paper under its write-dominated HPC workload, at full size.
const CONFIGURATION: &str = include_str!("main_job.toml");

/// The schemes that are compared, the baseline first.
const SCHEMES: &[&str] = &["local", "reactive-inclusive", "reactive-selective", "proactive-idle", "proactive-soft-limit", "ideal"];

/// Runs the main job.
pub fn run() -> Outcome {
    let schemes = Axis { key: "coordination.scheme".to_owned(), values: SCHEMES.iter().map(|name| (*name).to_owned()).collect() };
    let load = |settings: &[_], seed| scenario::from_text("built-in configuration", CONFIGURATION, settings, seed);
    let plan = Plan::new(&[schemes], None, None, 1, load)?;
    let machine = Machine::new(MachineArgs::default(), &plan.simulations(), None)?;
    let grid = plan.run(&machine, None, "Nothing was written.")?;

    let out = Path::new(DEFAULT_OUT);
    write_reports(&grid, "Garbage collection of 8 SSDs under hpc-w", out)?;
    files::print(&format!(
        "8 × ggc2014, RAID-0, workload hpc-w (flashraid run and flashraid compare simulate arrays of your own)\n\n{}",
        tables(&grid, out)
    ))
}
