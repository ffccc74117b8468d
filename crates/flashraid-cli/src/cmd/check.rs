//! `flashraid check`: explains a configuration without running it.

use crate::args::CheckArgs;
use crate::failure::Outcome;
use crate::files;
use crate::output::json;
use crate::scenario;

/// Runs the command.
pub fn run(arguments: &CheckArgs) -> Outcome {
    let report = scenario::simulation(&arguments.scenario, &[])?.check()?;
    match arguments.json {
        true => json::print(&json::document(&report)?),
        false => files::print(&format!("{}\n", report.to_string().trim_end())),
    }
}
