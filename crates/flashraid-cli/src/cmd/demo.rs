//! `flashraid demo`: the schemes of garbage collection on the built-in array, as in the paper and where the workload goes everywhere.

use std::path::Path;

use flashraid::Study;
use flashraid_report::grid::Grid;

use crate::args::{DEFAULT_OUT, DemoArgs};
use crate::failure::Outcome;
use crate::files;
use crate::machine;
use crate::out_folder::OutFolder;

use super::compare::{run_plan, tables, write_reports};

/// 8 SSDs of the GGC paper under its write-dominated HPC workload, at full size.
const CONFIGURATION: &str = include_str!("demo.toml");

/// The schemes that are compared, the baseline first.
const SCHEMES: &[&str] = &["local", "reactive-inclusive", "reactive-selective", "proactive-idle", "proactive-soft-limit", "ideal"];

/// Over the configuration with `--quick`: an eighth of the dies and of the blocks, a tenth of the requests.
const QUICK: &[(&str, &str)] =
    &[("ssd.geometry.dies", "8"), ("ssd.geometry.blocks", "64"), ("workload.requests", "2000"), ("workload.address.footprint", "0.4")];

/// One of the two comparisons.
struct Part {
    title: &'static str,
    /// What it shows.
    about: &'static str,
    /// Keys over the configuration.
    settings: &'static [(&'static str, &'static str)],
    /// Its folder below that of the results; empty for that itself.
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

/// Runs the command.
pub fn run(arguments: &DemoArgs) -> Outcome {
    // What the machine can't do is said before there are files.
    let plans = PARTS.each_ref().map(|part| Ok((part, study(part, arguments.quick)?.vary("coordination.scheme", SCHEMES)?.plan()?)));
    let plans = plans.into_iter().collect::<Outcome<Vec<_>>>()?;
    let means = plans.iter().map(|(_, plan)| machine::means(arguments.machine, &plan.scenarios(), None));
    let means = means.collect::<Outcome<Vec<_>>>()?;
    let out = OutFolder::claim(arguments.out.as_deref().unwrap_or(Path::new(DEFAULT_OUT)), Some(arguments.force))?;
    files::print("8 × ggc2014, RAID-0, workload hpc-w (flashraid run and flashraid compare simulate arrays of your own)\n")?;
    if arguments.quick {
        files::print("a quick look: smaller SSDs and fewer requests, so that the figures are not those of the full size\n")?;
    }
    for ((part, plan), means) in plans.into_iter().zip(means) {
        let grid = Grid::of(run_plan(plan.by(means), arguments.machine.quiet, "Nothing more was written.")?)?;
        let folder = out.path().join(part.folder);
        // `join` with nothing ends the path with a separator.
        let folder = if part.folder.is_empty() { out.path() } else { &folder };
        write_reports(&grid, part.title, folder)?;
        files::print(&format!("\n{}\n\n{}", part.about, tables(&grid, Some(folder))))?;
    }
    Ok(())
}

fn study(part: &Part, quick: bool) -> Outcome<Study> {
    let quick = if quick { QUICK } else { &[] };
    let settings = quick.iter().chain(part.settings);
    Ok(settings.into_iter().try_fold(Study::from_toml(CONFIGURATION)?, |study, (key, value)| study.set(key, value))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_parts_are_configurations_and_lie_apart() {
        let hashes =
            PARTS.each_ref().map(|part| study(part, false).unwrap().vary("coordination.scheme", SCHEMES).unwrap().plan().unwrap().hash());
        assert_ne!(hashes[0], hashes[1]);
        assert_ne!(PARTS[0].folder, PARTS[1].folder);
    }
}
