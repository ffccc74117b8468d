//! Resources of the machine that a command uses: processors, and kept warm states. They do not change results.

use flashraid::Stop;
use flashraid::config::Scenario;
use flashraid::duration::{self, EstimatedWallClockSeconds, WallClockEstimator};
use flashraid::study::MachineResources;
use flashraid::warm_state_cache::WarmStateCache;
use flashraid_report::number::count_with_noun;
use flashraid_report::text;

use crate::args::MachineArgs;
use crate::failure::{Failure, Outcome};
use crate::interrupt;

/// Chooses threads and the cache of warm states for these simulations. `jobs` is the number that run at a time; without it the machine's
/// processors decide.
///
/// # Errors
///
/// Fails if the simulations need more memory than the machine has.
pub fn resources(arguments: MachineArgs, simulations: &[&Scenario], jobs: Option<u16>) -> Outcome<MachineResources> {
    let cache = if arguments.no_cache { None } else { WarmStateCache::of_user_folder() };
    MachineResources::fit_to_this_machine(simulations, jobs.map(usize::from), arguments.threads.map(usize::from), cache)
        .map_err(|lack| Failure::Input(text::too_little_memory(&lack, "--jobs")))
}

/// Estimated work of at least so many seconds is announced before it begins.
const LONG_S: f64 = 10.0;

/// Tells on standard error how long the simulations will take, if that is long. Kept states and points shorten the estimate. Also makes
/// Ctrl-C stop at the next step, because opening a workload may take long.
///
/// # Errors
///
/// Fails if no handler for Ctrl-C can be installed.
pub fn announce(simulations: &[&Scenario], resources: &MachineResources, quiet: bool) -> Outcome {
    interrupt::stop_at_next_step()?;
    if !quiet {
        let seconds = WallClockEstimator::default().estimate_all(simulations, resources, &Stop::stop_when(interrupt::requested));
        announce_seconds(Some(seconds), simulations.len(), resources, quiet);
    }
    Ok(())
}

/// Tells how long simulations will take if the estimate, in seconds, is known already.
pub fn announce_seconds(seconds: Option<EstimatedWallClockSeconds>, simulations: usize, resources: &MachineResources, quiet: bool) {
    let Some(seconds) = seconds.filter(|seconds| seconds.total_seconds() >= LONG_S && !quiet && !interrupt::requested()) else { return };
    let run = seconds.run.map_or("and then the requests, however many there are".to_owned(), |run| {
        format!("{} of requests", duration::rounded_duration_text(run))
    });
    let count = if simulations == 1 {
        String::new()
    } else {
        format!(", {}, {} at a time", count_with_noun(simulations as u64, "simulation"), resources.simulations_at_once)
    };
    crate::complain(&format!(
        "note: this takes about {} ({} of warm-up, {run}{count})",
        duration::rounded_duration_text(seconds.total_seconds()),
        duration::rounded_duration_text(seconds.warm_up)
    ));
}
