//! `flashraid check`: explains a configuration without running it.

use crate::args::{CheckArgs, MachineArgs};
use crate::failure::Outcome;
use crate::files;
use crate::machine::resources;
use crate::output::json;
use crate::output::narrow::columns;
use crate::scenario;
use flashraid_report::text::wrap;

/// Runs `flashraid check` with its arguments.
pub fn run(arguments: &CheckArgs) -> Outcome {
    let simulation = scenario::simulation(&arguments.scenario, &[])?;
    // Configurations that `run` would refuse are refused here, too.
    resources(MachineArgs::default(), &[&simulation.scenario()?], None)?;
    let report = simulation.check()?;
    match arguments.json {
        true => json::print(&json::document(&report)?),
        false => {
            let line = |line: &str| match line.starts_with("warning: ") {
                true => wrap(line, columns(), "  ") + "\n",
                false => format!("{line}\n"),
            };
            files::print(&report.to_string().trim_end().lines().map(line).collect::<String>())
        }
    }
}
