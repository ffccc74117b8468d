//! Use of the machine by a call: processors, memory and kept states. Nothing here changes a result.

use flashraid::config::Scenario;
use flashraid::study::MachineResources;
use flashraid::warm_state_cache::WarmStateCache;
use flashraid_report::text;
use pyo3::prelude::*;

use crate::error::refused;

/// Returns the resources for these simulations: `workers` at a time with `threads` each. By default, as many are used as there are
/// processors and memory for.
///
/// # Errors
/// They need more memory than there is.
pub fn means(
    py: Python<'_>,
    simulations: &[&Scenario],
    workers: Option<usize>,
    threads: Option<usize>,
    keep_warm: bool,
) -> PyResult<MachineResources> {
    let cache = if keep_warm { WarmStateCache::of_user_folder() } else { None };
    MachineResources::fit_to_this_machine(simulations, workers, threads, cache)
        .map_err(|lack| refused(py, &text::too_little_memory(&lack, "workers")))
}
