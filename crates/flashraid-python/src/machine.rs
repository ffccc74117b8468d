//! What of the machine a call uses: processors, memory and kept states. Nothing of it changes a result.

use flashraid::config::Scenario;
use flashraid::memory;
use flashraid::study::{Means, default_workers};
use flashraid::warm_cache::WarmCache;
use flashraid_report::number::bytes;
use pyo3::prelude::*;

use crate::error::refused;

/// For these simulations: `workers` at a time and `threads` each, or as many as there are processors and memory for.
///
/// # Errors
/// They need more memory than there is.
pub fn means(
    py: Python<'_>,
    simulations: &[&Scenario],
    workers: Option<usize>,
    threads: Option<usize>,
    keep_warm: bool,
) -> PyResult<Means> {
    let processors = default_workers();
    let mut at_a_time = workers.unwrap_or(processors).min(simulations.len()).max(1);
    if let Some((available, bound)) = memory::available_bytes() {
        let needed = |workers| memory::needed_by_all(simulations.iter().copied(), workers);
        while workers.is_none() && at_a_time > 1 && needed(at_a_time) > available {
            at_a_time -= 1;
        }
        let needed = needed(at_a_time);
        if needed > available {
            let fewer = if at_a_time > 1 { "workers, " } else { "" };
            return Err(refused(
                py,
                &format!(
                    "this needs about {} of memory, and there is {} ({bound}); reduce {fewer}array.members or ssd.geometry (dies, planes, blocks, pages)",
                    bytes(needed as f64),
                    bytes(available as f64),
                ),
            ));
        }
    }
    let left = (processors / at_a_time).max(1);
    let threads = threads.map_or(left, |threads| threads.clamp(1, left));
    Ok(Means { workers: at_a_time, threads, cache: if keep_warm { WarmCache::of_user() } else { None } })
}
