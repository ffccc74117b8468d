//! `flashraid check`: explains a configuration without running it.

use crate::args::{CheckArgs, MachineArgs};
use crate::failure::Outcome;
use crate::files;
use crate::machine::resources;
use crate::output::json;
use crate::output::narrow::columns;
use crate::scenario;
use flashraid::check::CheckReport;
use flashraid::config::Scenario;
use flashraid_experiments::card::{self, Graded, RANDOM_WRITES};
use flashraid_report::number::grouped;
use flashraid_report::text::wrap;

/// Runs `flashraid check` with its arguments.
pub fn run(arguments: &CheckArgs) -> Outcome {
    let simulation = scenario::simulation(&arguments.scenario, &[])?;
    // Configurations that `run` would refuse are refused here, too.
    let drawn = simulation.scenario()?;
    resources(MachineArgs::default(), &[&drawn], None)?;
    let mut report = simulation.check()?;
    if writes_at_random(&drawn, &report) {
        report.warnings.extend(card::kept(&drawn.config.ssd.preset).iter().flat_map(doubts));
    }
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

/// Returns true unless all that the workload writes is known to be in order.
fn writes_at_random(scenario: &Scenario, report: &CheckReport) -> bool {
    let writes = report.workload.as_ref().is_none_or(|sample| sample.host_pages_written_per_request > 0.0);
    writes && scenario.config.workload.synthetic.sequential_fraction.is_none_or(|share| share.0 < 1.0)
}

/// Returns a warning if the random writes of a preset are far from the data sheet of the drive that it follows.
fn doubts(card: &Graded) -> Vec<String> {
    let of_writes = card.doubtful().filter(|figure| figure.name == RANDOM_WRITES);
    let warning = |figure: &card::Grade| {
        let (difference, simulated) = (figure.difference()?, figure.simulated?);
        let side = if difference > 0.0 { "above" } else { "below" };
        Some(format!(
            "random writes of {} are {:.0} % {side} the data sheet of the {} {} ({} against {} IOPS at depth 256); \
             take no rate of random writes from this preset (data sheet: {})",
            card.drive,
            100.0 * difference.abs(),
            card.after,
            card.capacity,
            grouped(simulated.round() as u64),
            grouped(figure.data_sheet.round() as u64),
            figure.source,
        ))
    };
    of_writes.filter_map(warning).collect()
}
