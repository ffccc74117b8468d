//! What of the machine a command uses: processors, and kept warm states. Nothing of it changes a result.

use flashraid::config::Scenario;
use flashraid::study::Means;
use flashraid::warm_cache::WarmCache;
use flashraid_report::text;

use crate::args::MachineArgs;
use crate::failure::{Failure, Outcome};

/// For these simulations; `jobs` at a time, unless the machine is to say.
///
/// # Errors
/// They need more memory than there is.
pub fn means(arguments: MachineArgs, simulations: &[&Scenario], jobs: Option<u16>) -> Outcome<Means> {
    let cache = if arguments.no_cache { None } else { WarmCache::of_user() };
    Means::of_machine(simulations, jobs.map(usize::from), arguments.threads.map(usize::from), cache)
        .map_err(|lack| Failure::Input(text::too_little_memory(&lack, "--jobs")))
}
