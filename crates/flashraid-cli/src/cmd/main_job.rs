//! `flashraid` without a command: the schemes of garbage collection on the built-in array, as in the paper and where the workload goes everywhere.

use std::path::PathBuf;

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

/// One of the two comparisons.
struct Part {
    title: &'static str,
    /// What it shows.
    about: &'static str,
    /// Keys over the configuration.
    settings: &'static [(&'static str, &'static str)],
    /// Its folder below the usual one; empty for that itself.
    folder: &'static str,
}

const PARTS: [Part; 2] = [
    Part {
        title: "Garbage collection of 8 SSDs under hpc-w",
        about: "as in the paper: requests go to 3427 MiB, the address space of its simulator's generator, so that victims are nearly empty",
        settings: &[],
        folder: "",
    },
    Part {
        title: "Garbage collection of 8 SSDs under hpc-w, all of the array in use",
        about: "the same array when the workload covers all of it: victims are half full, and collection costs far more",
        settings: &[("workload.address.footprint", "1.0"), ("ssd.warm_up.pattern", "random"), ("ssd.warm_up.overwrites", "2")],
        folder: "whole-array",
    },
];

/// Runs the main job.
pub fn run() -> Outcome {
    files::print("8 × ggc2014, RAID-0, workload hpc-w (flashraid run and flashraid compare simulate arrays of your own)\n")?;
    for part in &PARTS {
        let study = part.settings.iter().try_fold(Study::from_toml(CONFIGURATION)?, |study, (key, value)| study.set(key, value))?;
        let plan = study.vary("coordination.scheme", SCHEMES)?.plan()?;
        let means = Machine::new(MachineArgs::default(), &plan.scenarios(), None)?.means();
        let grid = Grid::of(run_plan(plan.by(means), "Nothing more was written.")?)?;
        let out: PathBuf = [DEFAULT_OUT, part.folder].iter().filter(|name| !name.is_empty()).collect();
        write_reports(&grid, part.title, &out)?;
        files::print(&format!("\n{}\n\n{}", part.about, tables(&grid, &out)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_parts_are_configurations_and_lie_apart() {
        let hashes = PARTS.map(|part| {
            let study =
                part.settings.iter().fold(Study::from_toml(CONFIGURATION).unwrap(), |study, (key, value)| study.set(key, value).unwrap());
            study.vary("coordination.scheme", SCHEMES).unwrap().plan().unwrap().hash()
        });
        assert_ne!(hashes[0], hashes[1]);
        assert_ne!(PARTS[0].folder, PARTS[1].folder);
    }
}
